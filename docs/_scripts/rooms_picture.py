"""Draws ``docs/rooms.svg``: the rooms of the package, each above all rooms that it imports.

usage: python docs/_scripts/rooms_picture.py

An arrow that follows from others is left out: if ``a`` imports ``b`` and ``c``, and ``b`` imports
``c``, then ``a`` has no arrow to ``c``. Imports of any place count, also those inside functions.
Where rooms import each other, the fewest import statements are dashed arrows, which point upward.
Rooms are blue boxes, single modules are grey ones.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from html import escape
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "fascicle"
OUT = ROOT / "docs" / "rooms.svg"
LEFT_OUT = {"__main__", "assets", "version"}  # no code, or one line of it
FRONT = "fascicle"  # what `__init__.py` is called in the picture
HEIGHT, ROW, GAP, MARGIN, ADVANCE, PADDING, LANE = 38, 82, 22, 24, 8.2, 12, 10  # in pixels
SWEEPS = 12

Graph = Mapping[str, frozenset[str]]  # a room -> the rooms that it imports
# a room, or the place of an arrow in a row that it passes through
Node = str | tuple[str, str, int]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Where everything is, in pixels.

    Attributes:
        centres: the middle of each node, from the left.
        rows: the row of each node, from the top.
        arrows: the nodes that each arrow passes, its ends among them.
        width: of the picture.
    """

    centres: Mapping[Node, float]
    rows: Mapping[Node, int]
    arrows: Sequence[Sequence[Node]]
    width: float


def room_of(path: Path, package: Path) -> str:
    """The room of a file: its folder in the package, or its own name."""
    first = path.relative_to(package).parts[0].removesuffix(".py")
    return FRONT if first == "__init__" else first


def imported(tree: ast.AST, package: str) -> Iterator[str]:
    """The names behind the package in the imports of a file, as often as they stand there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == package:
            names = [f"{package}.{alias.name}" for alias in node.names]
        else:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            first, _, rest = name.partition(".")
            if first == package:
                yield rest.split(".")[0] or FRONT


def counts_of(package: Path) -> dict[str, Counter[str]]:
    """Each room of a package, and how many of its import statements name each other room."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(package.rglob("*.py")):
        room = room_of(path, package)
        if room not in LEFT_OUT:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found.setdefault(room, Counter()).update(imported(tree, package.name))
    return {
        room: Counter({one: n for one, n in own.items() if one in found and one != room})
        for room, own in found.items()
    }


def modules_of(package: Path) -> frozenset[str]:
    """What is drawn for single modules: files beside the rooms."""
    return frozenset(room_of(path, package) for path in package.glob("*.py"))


def upward(counts: Mapping[str, Counter[str]]) -> set[tuple[str, str]]:
    """The imports without which no room is above itself: of each cycle the one with the fewest
    statements.
    """
    found: set[tuple[str, str]] = set()
    while True:
        try:
            TopologicalSorter(without(counts, found)).prepare()
        except CycleError as error:
            cycle = error.args[1]  # each is imported by the next
            found.add(
                min(
                    zip(cycle[1:], cycle, strict=False),
                    key=lambda one: (counts[one[0]][one[1]], one),
                )
            )
        else:
            return found


def without(
    counts: Mapping[str, Counter[str]], arrows: set[tuple[str, str]]
) -> dict[str, frozenset[str]]:
    """What each room imports, but for some imports."""
    return {
        room: frozenset(one for one in sorted(own) if (room, one) not in arrows)
        for room, own in sorted(counts.items())
    }


def reduced(graph: Graph) -> dict[str, frozenset[str]]:
    """The same graph without arrows that follow from others."""
    reach: dict[str, set[str]] = {}
    kept = {}
    for room in TopologicalSorter(graph).static_order():
        through = set().union(*(reach[other] for other in graph[room]))
        reach[room] = through | graph[room]
        kept[room] = graph[room] - through
    return kept


def levels(graph: Graph) -> dict[str, int]:
    """The row of each room from the bottom: one above the highest room that it imports."""
    found: dict[str, int] = {}
    for room in TopologicalSorter(graph).static_order():
        found[room] = max((found[other] + 1 for other in graph[room]), default=0)
    return found


def drawing(graph: Graph) -> Drawing:
    """Places rooms row by row, so that arrows cross seldom."""
    level = levels(graph)
    top = max(level.values())
    rows: dict[Node, int] = {room: top - height for room, height in level.items()}
    arrows: list[list[Node]] = []
    for room in sorted(graph):
        for other in sorted(graph[room]):
            between: list[Node] = [(room, other, row) for row in range(rows[room] + 1, rows[other])]
            rows |= {node: node[2] for node in between if isinstance(node, tuple)}
            arrows.append([room, *between, other])
    order = _ordered(rows, arrows)
    wide = max(sum(map(_width, row)) + GAP * (len(row) - 1) for row in order)
    centres: dict[Node, float] = {}
    for row in order:
        free = (wide - sum(map(_width, row))) / len(row)
        at = MARGIN + free / 2
        for node in row:
            centres[node] = at + _width(node) / 2
            at += _width(node) + free
    return Drawing(centres=centres, rows=rows, arrows=arrows, width=wide + 2 * MARGIN)


def _ordered(rows: Mapping[Node, int], arrows: Sequence[Sequence[Node]]) -> list[list[Node]]:
    """The nodes of each row, each near the middle of its neighbours above and below, in turns."""
    order: list[list[Node]] = [[] for _ in range(max(rows.values()) + 1)]
    for node in sorted(rows, key=str):
        order[rows[node]].append(node)
    beside: dict[Node, list[Node]] = {node: [] for node in rows}
    for arrow in arrows:
        for first, second in pairwise(arrow):
            beside[first].append(second)
            beside[second].append(first)
    for sweep in range(SWEEPS):
        for number in range(len(order)) if sweep % 2 else reversed(range(len(order))):
            place = {node: (at + 0.5) / len(row) for row in order for at, node in enumerate(row)}
            middle = {
                node: sum(place[one] for one in beside[node]) / len(beside[node])
                if beside[node]
                else place[node]
                for node in order[number]
            }
            order[number].sort(key=lambda node: (middle[node], str(node)))
    return order


def _width(node: Node) -> float:
    return len(node) * ADVANCE + 2 * PADDING if isinstance(node, str) else LANE


def svg(counts: Mapping[str, Counter[str]], *, modules: Collection[str] = ()) -> str:
    """The picture of the rooms; its description names every import.

    Args:
        counts: of each room and module, see `counts_of`.
        modules: which of them are single modules.
    """
    up = upward(counts)
    placed = drawing(reduced(without(counts, up)))
    listed = "; ".join(
        f"{room}: {', '.join(sorted(own)) or 'nothing'}" for room, own in sorted(counts.items())
    )
    height = 2 * MARGIN + ROW * max(placed.rows.values()) + HEIGHT
    shape = f'viewBox="0 0 {placed.width:.0f} {height}" width="{placed.width:.0f}" role="img"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {shape}>',
            "<title>The rooms of the package, each above all rooms that it imports</title>",
            f"<desc>{escape(listed)}</desc>",
            "<style>text { font: 600 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', "
            "monospace; "
            "text-anchor: middle } path { fill: none; stroke: #6b7280 } "
            ".up { stroke: #b91c1c; stroke-dasharray: 5 3 } .room { fill: #eff6ff; stroke: "
            "#1d4ed8 } "
            ".module { fill: #f3f4f6; stroke: #6b7280 }</style>",
            f'<rect width="{placed.width:.0f}" height="{height}" rx="8" fill="#ffffff" '
            'stroke="#d1d5db"/>',
            *(_line(arrow, placed) for arrow in placed.arrows),
            *(_upward(*arrow, placed) for arrow in sorted(up)),
            *(
                _box(room, placed, kind="module" if room in modules else "room")
                for room in sorted(counts)
            ),
            "</svg>\n",
        ]
    )


def _line(arrow: Sequence[Node], placed: Drawing) -> str:
    """A curve from the lower edge of one box to the upper edge of another."""
    points = [(placed.centres[node], MARGIN + ROW * placed.rows[node]) for node in arrow]
    (x, y), *others = points
    drawn, at = f"M{x:.1f} {y + HEIGHT}", y + HEIGHT
    for number, (x, y) in enumerate(others, start=1):
        bend = (y - at) / 2
        drawn += f"C{points[number - 1][0]:.1f} {at + bend:g} {x:.1f} {y - bend:g} {x:.1f} {y}"
        at = y + HEIGHT
        drawn += f"V{at}" if number < len(others) else ""
    return f'<path d="{drawn}"/>'


def _upward(room: str, other: str, placed: Drawing) -> str:
    (x, y), (to_x, to_y) = (
        (placed.centres[one] + 8, MARGIN + ROW * placed.rows[one]) for one in (room, other)
    )
    return f'<path class="up" d="M{x:.1f} {y}L{to_x:.1f} {to_y + HEIGHT}"/>'


def _box(room: str, placed: Drawing, *, kind: str) -> str:
    x, y = placed.centres[room], MARGIN + ROW * placed.rows[room]
    wide = _width(room)
    place = f'x="{x - wide / 2:.1f}" y="{y}" width="{wide:.1f}" height="{HEIGHT}" rx="5"'
    return f'<rect class="{kind}" {place}/><text x="{x:.1f}" y="{y + 24}">{escape(room)}</text>'


def main(arguments: Sequence[str]) -> int:
    """Writes the picture; returns the exit code."""
    out = Path(arguments[0]) if arguments else OUT
    out.write_text(svg(counts_of(PACKAGE), modules=modules_of(PACKAGE)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
