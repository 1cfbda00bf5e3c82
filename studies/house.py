"""Measures the size and the shape of the code: lines, files, rooms, imports, functions, public
names, words of docs.

usage: python -m studies.house NAME=FOLDER ... [--walk NAME:WALK=STAYS/CLIMBS ...]

Each folder is a checkout. Nothing of it is run: the numbers come from its source files. Lines of
code are those that hold a token of the language, without docstrings and comments. A chain counts
the modules of a sequence in which each imports the next one when it is imported itself. A walk
follows one argument of a function through all calls that pass it on; its counts come from another
program, and ``--walk`` adds them.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

from studies.common import result, write_result
from studies.tables.grids import MISSING, markdown

NAME: Final = "house"
PACKAGE: Final = "fascicle"
_WITHOUT_CODE: Final = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)
# Of the plan: what is measured -> in words, and the most that it may be.
_GOALS: Final[Mapping[str, tuple[str, int]]] = {
    "code_lines": ("lines of code", 57_500),
    "files": ("files", 460),
    "rooms": ("rooms", 14),
    "chain": ("longest chain of imports", 19),
    "function_p90": ("lines of a function, 90th percentile", 17),
    "public_names": ("public functions and classes of modules", 1_600),
    "words": ("words of `docs/`", 65_000),
}
_WALKS: Final[Mapping[str, tuple[str, int, int | None]]] = {
    "annotate": ("`annotate`, from the command and from the request", 30, 6),
    "linking": ("`Linker.predict`", 18, None),
}
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def main(argv: Sequence[str] | None = None) -> int:
    """Measures each checkout, and stores the numbers beside those of other names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkouts", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--walk", action="append", default=[], metavar="NAME:WALK=STAYS/CLIMBS")
    args = parser.parse_args(argv)
    stored = result(NAME).get("checkouts", {})
    found = {
        name: measure(Path(folder))
        for name, _, folder in (given.partition("=") for given in args.checkouts)
    }
    kept = {name: {"walks": stored.get(name, {}).get("walks", {}), **found[name]} for name in found}
    for given in args.walk:
        place, _, counts = given.partition("=")
        name, _, walk = place.partition(":")
        kept[name]["walks"][walk] = [int(count) for count in counts.split("/")]
    write_result(NAME, {"checkouts": {**stored, **kept}})
    return 0


def goals() -> str:
    """The numbers of each checkout beside their goals, as a table."""
    checkouts = result(NAME).get("checkouts", {})
    if not checkouts:
        return MISSING
    body = [
        [what, *(f"{one[key]:,}" for one in checkouts.values()), f"{most:,}"]
        for key, (what, most) in _GOALS.items()
    ]
    for walk, (what, stays, climbs) in _WALKS.items():
        goal = f"{stays}" if climbs is None else f"{stays} / {climbs}"
        body.append(
            [
                f"way of {what}: stays / climbs",
                *(_walked(one, walk) for one in checkouts.values()),
                goal,
            ]
        )
    return markdown(["", *checkouts, "goal, at most"], body)


def speed() -> str:
    """What a command costs in this checkout over the other one, as a table; medians of all
    rounds.
    """
    found = result("checkouts")
    works = {"start": "start, one sentence", "long_text": "a long text"}
    body = [
        [
            what,
            *(f"{found[work][f'{key}_ratio']:.2f}" for key in ("wall", "cpu", "peak")),
            str(len(found[work]["rounds"])),
        ]
        for work, what in works.items()
        if work in found
    ]
    head = [
        f"`{found.get('this')}` over `{found.get('other')}`",
        "time",
        "CPU time",
        "memory",
        "rounds",
    ]
    return markdown(head, body) if body else MISSING


def _walked(checkout: Mapping[str, Any], walk: str) -> str:
    return " / ".join(str(count) for count in checkout["walks"].get(walk, ())) or "not counted"


def measure(checkout: Path) -> dict[str, Any]:
    """Returns the numbers of one checkout.

    Args:
        checkout: folder with ``src`` and ``docs``.
    """
    package = checkout / "src" / PACKAGE
    sources = {
        _module(path, package): path.read_text(encoding="utf-8")
        for path in sorted(package.rglob("*.py"))
    }
    trees = {name: ast.parse(source) for name, source in sources.items()}
    lengths = [
        _length(node)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, _Function)
    ]
    pages = [
        len(path.read_text(encoding="utf-8").split())
        for path in sorted((checkout / "docs").rglob("*.md"))
    ]
    graph = {name: _imports(tree, set(trees)) - {name} for name, tree in trees.items()}
    return {
        "code_lines": sum(code_lines(source) for source in sources.values()),
        "files": len(sources),
        "rooms": sum((place / "__init__.py").is_file() for place in package.iterdir()),
        "chain": longest_chain(graph),
        "functions": len(lengths),
        "function_p90": round(quantiles(lengths, n=10)[8]),
        "function_longest": max(lengths),
        "public_names": sum(1 for tree in trees.values() for _ in _public(tree)),
        "imported_names": len(_used_elsewhere(trees)),
        "words": sum(pages),
    }


def code_lines(source: str) -> int:
    """Returns the number of lines that hold a token of the language and are no docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _WITHOUT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _Documented) and (text := _docstring(node)):
            lines.difference_update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return len(lines)


def longest_chain(graph: Mapping[str, set[str]]) -> int:
    """Returns the number of modules in the longest chain of imports.

    Args:
        graph: module -> modules that it imports.

    Raises:
        graphlib.CycleError: modules import each other in a circle.
    """
    depth: dict[str, int] = {}
    for module in TopologicalSorter(graph).static_order():
        depth[module] = 1 + max((depth[one] for one in graph.get(module, ())), default=0)
    return max(depth.values(), default=0)


def _module(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, modules: set[str]) -> set[str]:
    """Returns the modules of the package that are imported together with this one."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found & modules - {PACKAGE}


def _docstring(node: _Documented) -> ast.Expr | None:
    first = node.body[0] if node.body else None
    is_text = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return first if is_text and isinstance(first, ast.Expr) else None


def _length(node: _Function) -> int:
    """Returns the lines of a function without its docstring."""
    whole = (node.end_lineno or node.lineno) - node.lineno + 1
    text = _docstring(node)
    return whole - ((text.end_lineno or text.lineno) - text.lineno + 1 if text else 0)


def _public(tree: ast.Module) -> Iterator[str]:
    """Yields the functions and classes that a module defines without an underscore."""
    for node in tree.body:
        if isinstance(node, _Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def _used_elsewhere(trees: Mapping[str, ast.Module]) -> set[tuple[str, str]]:
    """Returns the public names, with their modules, that another module imports."""
    public = {(module, name) for module, tree in trees.items() for name in _public(tree)}
    imported = {
        (node.module or "", alias.name)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return public & imported


if __name__ == "__main__":
    sys.exit(main())
