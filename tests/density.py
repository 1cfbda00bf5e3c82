"""How dense the code is: tokens of functions and files, nested comprehensions, and names without a meaning of their own.

``make house`` prints the numbers and writes them to ``docs/contribute/house.md``. A token is what
`tokenize` yields, without comments, docstrings, line ends and indentation. A bound name is a
parameter or a name that is assigned. Lines say little about density: they depend on the width.
"""

from __future__ import annotations

import ast
import io
import statistics
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ROOT / "src/fascicle"
PAGE: Final = ROOT / "docs/contribute/house.md"

LARGE_FUNCTION: Final = 250  # tokens
LARGE_FILE: Final = 3_000  # tokens
VAGUE: Final = frozenset(
    [
        "found",
        "told",
        "one",
        "given",
        "said",
        "asked",
        "kept",
        "shown",
        "known",
        "taken",
        "made",
        "seen",
        "left",
        "read",
        "written",
        "done",
        "put",
        "got",
        "held",
        "lost",
        "named",
        "marked",
        "joined",
        "chosen",
        "listed",
        "meant",
        "wanted",
        "there",
        "here",
        "these",
        "those",
        "others",
        "both",
    ]
)

GOALS: Final = MappingProxyType(
    {
        "tokens": "748,000",
        "tokens a line of code": "8.0",
        "tokens of a function, 90th percentile": "160",
        f"functions above {LARGE_FUNCTION} tokens": "25",
        f"files above {LARGE_FILE:,} tokens": "0",
        "nested comprehensions per 1,000 lines": "1.0",
        "vague names among bound names": "1 %",
        "vague names among private functions": "1 %",
        "names of classes that are public in several files": "5",
    }
)

_LAYOUT: Final = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(kw_only=True)
class Density:
    """Counts over the files of a package."""

    tokens: int = 0
    lines: int = 0
    nested: int = 0
    functions: list[tuple[int, str]] = field(default_factory=list)
    files: list[tuple[int, str]] = field(default_factory=list)
    bound: Counter[str] = field(default_factory=Counter)
    private: Counter[str] = field(default_factory=Counter)
    classes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @property
    def large_functions(self) -> list[str]:
        """The functions above `LARGE_FUNCTION` tokens, the largest first."""
        return [
            name for size, name in sorted(self.functions, reverse=True) if size > LARGE_FUNCTION
        ]

    @property
    def large_files(self) -> list[str]:
        """The files above `LARGE_FILE` tokens, the largest first."""
        return [name for size, name in sorted(self.files, reverse=True) if size > LARGE_FILE]

    @property
    def shared_classes(self) -> list[str]:
        """The names of classes that are public in several files."""
        return sorted(name for name, files in self.classes.items() if len(files) > 1)

    def add(self, path: Path, root: Path) -> None:
        """Counts one file."""
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        place = path.relative_to(root).as_posix()
        starts, lines = code_of(text, docstring_lines(tree))
        self.tokens += len(starts)
        self.lines += len(lines)
        self.files.append((len(starts), place))
        for node in ast.walk(tree):
            self._add_node(node, starts, place)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                self.classes[node.name].add(place)

    def _add_node(self, node: ast.AST, starts: list[int], place: str) -> None:
        if isinstance(node, _FUNCTIONS):
            size = sum(node.lineno <= line <= (node.end_lineno or 0) for line in starts)
            self.functions.append((size, f"{place}: {node.name}"))
            self.bound.update(_parameters(node))
            if node.name.startswith("_") and not node.name.startswith("__"):
                self.private[node.name] += 1
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            self.bound[node.id] += 1
        elif isinstance(node, _COMPREHENSIONS):
            self.nested += sum(isinstance(inner, _COMPREHENSIONS) for inner in ast.walk(node)) - 1

    def table(self) -> dict[str, str]:
        """The numbers, each by its description."""
        sizes = sorted(size for size, _ in self.functions)
        return {
            "tokens": f"{self.tokens:,}",
            "tokens a line of code": f"{self.tokens / self.lines:.1f}",
            "tokens of a function, median": f"{statistics.median(sizes):.0f}",
            "tokens of a function, 90th percentile": f"{sizes[len(sizes) * 9 // 10]}",
            f"functions above {LARGE_FUNCTION} tokens": f"{len(self.large_functions)}",
            f"files above {LARGE_FILE:,} tokens": f"{len(self.large_files)}",
            "nested comprehensions per 1,000 lines": f"{1000 * self.nested / self.lines:.1f}",
            "vague names among bound names": f"{share_of_vague(self.bound):.1f} %",
            "vague names among private functions": f"{share_of_vague(self.private):.1f} %",
            "names of classes that are public in several files": f"{len(self.shared_classes)}",
        }


def share_of_vague(names: Counter[str]) -> float:
    """Returns the percentage of names that say nothing about their value, see `VAGUE`."""
    vague = sum(count for name, count in names.items() if name.strip("_") in VAGUE)
    return 100 * vague / max(1, names.total())


def measure(root: Path = SOURCES) -> Density:
    """Counts all Python files of a folder."""
    density = Density()
    for path in sorted(root.rglob("*.py")):
        density.add(path, root)
    return density


def docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.body and ast.get_docstring(node, clean=False) is not None:
            lines.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return lines


def code_of(text: str, docstrings: set[int]) -> tuple[list[int], set[int]]:
    """Returns the line in which each token of code begins, and all lines with code."""
    starts: list[int] = []
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT and token.start[0] not in docstrings:
            starts.append(token.start[0])
            lines.update(range(token.start[0], token.end[0] + 1))
    return starts, lines - docstrings


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return (argument.arg for argument in every if argument.arg not in ("self", "cls"))


def main() -> int:
    """Prints the numbers beside their goals, and what is large; writes the page."""
    density = measure()
    rows = density.table()
    for name, value in rows.items():
        sys.stdout.write(f"{value:>10}  {GOALS.get(name, ''):>8}  {name}\n")
    for name in (*density.large_files, *density.large_functions):
        sys.stdout.write(f"            large: {name}\n")
    table = "\n".join(
        f"| {name} | {value} | {GOALS.get(name, '')} |" for name, value in rows.items()
    )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- table density -->")
    after = rest.partition("<!-- end -->")[2]
    page = f"{before}<!-- table density -->\n\n| measure | today | goal |\n|---|---|---|\n{table}\n\n<!-- end -->{after}"
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
