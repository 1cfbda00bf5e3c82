"""Which part of the package may import which, and what no part may do; read from the sources,
nothing is run.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from tests.density import measure, share_of_vague

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "fascicle"
SOURCES = sorted(PACKAGE.rglob("*.py"))
EVERYWHERE = {"errors", "settings", "version"}
# What a room may import beside itself, and beside what every room may: rooms below it. A name with
# a dot is a room inside a room, which has walls of its own, or one module.
ROOMS: dict[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "assets": set(),
    "settings": set(),
    "core": set(),
    "plugins": {"core"},
    "text": {"core"},
    "formats": {
        "core",
        "text",
        "plugins",
        "terms.terms",
    },  # the last for facts of mentions that are identifiers
    "terms": {"core", "text", "plugins"},
    "linking": {"core", "text", "terms"},
    "runtime": {"core", "text", "terms", "linking", "plugins"},
    "runtime.decoding": {
        "core",
        "text",
        "terms.abbreviations",
        "terms.variant_recogniser",
    },  # the last two, because variants and short forms of other things are no genes
    "runtime.combination": {"core"},
    "models": {"core", "text", "runtime"},  # the last for export
    "models.nn": {"core.arrays"},  # names of arrays alone: it knows tensors, not documents
    "networks": {"core", "text", "runtime", "models"},
    "loading": {"core", "text", "terms", "runtime", "models", "networks", "plugins"},
    "evaluation": {"core", "text", "formats", "runtime", "loading"},
    "evaluation.scoring": {
        "core",
        "runtime.combination",
        "runtime.decoding",
        "text",
        "evaluation.report_parts",
    },
    "evaluation.uncertainty": {"core", "evaluation.scoring"},
    "pipeline": {"core", "text", "formats", "terms", "linking", "runtime", "loading", "plugins"},
    "pipeline.workers": {"core"},
    "pipeline.scale": {
        "core",
        "pipeline.running",
        "pipeline.workers",
    },  # the only room that imports Ray
    "training": {
        "core",
        "text",
        "formats",
        "terms",
        "runtime",
        "models",
        "loading",
        "evaluation",
        "pipeline.workers",
    },
    "training.labelling": {"core", "text", "formats", "terms", "runtime", "evaluation"},
    "serving": {  # speaks HTTP
        "core",
        "text",
        "formats",
        "terms",
        "linking",
        "runtime.places",
        "loading",
        "evaluation.comparison",
        "pipeline",
    },
    "serving.client": {"core", "serving.records", "serving.messages"},  # what a service answers
    "annotation": {"core", "text", "formats"},
    "graph": {"core", "text", "formats"},
    "interop": {"core", "text", "loading"},  # components of other tools
    "verbs": {"*"},
    "cli": {"*"},
    "__init__": {"*"},
    "__main__": {"cli"},
}
TORCH_ROOMS = {"models", "training"}  # every other room works in the base install
HEAVY = ("models", "training", "runtime")
LIGHT = (
    "runtime.combination",
    "runtime.decoding",
    "runtime.places",
    "training.labelling",
)  # no network
LATE = {
    "cli": HEAVY,
    "verbs": HEAVY,
    "loading": ("models",),
    "networks": HEAVY,
}  # what these rooms import when they need it
TORCH = {"torch", "transformers", "accelerate", "safetensors", "sentence_transformers"}
XML = {"xml", "lxml"}  # a reader of XML must refuse entities first, and is then named here
SAFE_XML = {
    "fascicle.core.files.elements",  # refuses declarations of entities, and bounds what it keeps
    # the class of an element alone
    "fascicle.formats.gate_xml",
    "fascicle.formats.knowtator",
    "fascicle.formats.ldc",
    "fascicle.formats.bioc_files",
    "fascicle.formats.jats",
    "fascicle.formats.endnote",
    "fascicle.formats.europepmc_search",
    "fascicle.formats.tei",
    "fascicle.formats.medline",
    "fascicle.formats.extraction",
    "fascicle.formats.sheets",  # of packages that `extraction` has checked
    "fascicle.terms.sources.mesh",
}
PICKLES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "shelve", "marshal"}


@dataclass(frozen=True, kw_only=True)
class Import:
    """One import statement: of which module, and whether importing the file runs it."""

    module: str
    lazy: bool
    line: int


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path) for path in SOURCES}


def inside(module: str, rooms: Iterable[str]) -> bool:
    """True if a module is one of some rooms, or in one; their names are without the package."""
    return any(f"{module}.".startswith(f"fascicle.{room}.") for room in rooms)


def room_of(module: str) -> str:
    """The smallest room that a module is in."""
    if module == "fascicle":
        return "__init__"
    found = [room for room in ROOMS if inside(module, [room])]
    return max(found, key=len) if found else module.split(".")[1]


@cache
def imports_of(path: Path) -> tuple[Import, ...]:
    return tuple(imports(parse(path)))


def imports(tree: ast.AST, *, lazy: bool = False) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (
                Import(module=alias.name, lazy=lazy, line=node.lineno) for alias in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                yield Import(
                    module=module if module in MODULES else node.module or "",
                    lazy=lazy,
                    line=node.lineno,
                )
        else:
            typing_only = isinstance(node, ast.If) and ast.unparse(node.test) in (
                "TYPE_CHECKING",
                "typing.TYPE_CHECKING",
            )
            function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports(node, lazy=lazy or function or typing_only)


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def allowed(room: str, module: str) -> bool:
    if module == "fascicle":  # the front door: nobody inside goes through it
        return False
    return inside(module, {room} | EVERYWHERE | ROOMS[room]) or "*" in ROOMS[room]


def in_sources(wrong: Callable[[Path], Iterable[str]]) -> list[str]:
    """What is wrong in any file, with the name of the file; one test for all, for there are
    thousands of cases.
    """
    return [f"{path.relative_to(PACKAGE)}: {found}" for path in SOURCES for found in wrong(path)]


def test_the_sources_are_found() -> None:
    assert len(SOURCES) > 300
    assert PACKAGE / "cli.py" in SOURCES


def test_a_room_imports_only_what_it_may() -> None:
    def wrong(path: Path) -> Iterator[str]:
        room = room_of(name_of(path))
        assert room in ROOMS, f"{room} is a new room: say in ROOMS what it may import"
        for found in imports_of(path):
            if found.module.split(".")[0] == "fascicle" and not allowed(room, found.module):
                yield f"line {found.line}: {found.module}"

    assert in_sources(wrong) == []


def test_heavy_rooms_are_imported_late() -> None:
    def wrong(path: Path) -> Iterator[str]:
        heavy = LATE.get(name_of(path).split(".")[1]) if name_of(path) != "fascicle" else None
        for found in imports_of(path) if heavy else ():
            if inside(found.module, heavy) and not inside(found.module, LIGHT) and not found.lazy:
                yield f"line {found.line}: {found.module}"

    assert in_sources(wrong) == []


def test_only_the_torch_rooms_import_torch() -> None:
    def wrong(path: Path) -> Iterator[str]:
        late = room_of(name_of(path)) in {
            "loading",
            "networks",
        }  # which brings torch in when a model needs it
        for found in imports_of(path) if not inside(name_of(path), TORCH_ROOMS) else ():
            if found.module.split(".")[0] in TORCH and not (late and found.lazy):
                yield f"line {found.line}: {found.module}"

    assert in_sources(wrong) == []


def test_ray_is_imported_in_one_room_and_late() -> None:
    def wrong(path: Path) -> Iterator[str]:
        for found in imports_of(path):
            if found.module.split(".")[0] == "ray" and not (
                found.lazy and room_of(name_of(path)) == "pipeline.scale"
            ):
                yield f"line {found.line}"

    assert in_sources(wrong) == []


# Packages whose modules have another name, and modules that come with a package that is declared.
MODULES_OF = {
    "dkpro-cassis": "cassis",
    "huggingface-hub": "huggingface_hub",
    "label-studio-sdk": "label_studio_sdk",
    "protobuf": "google",
    "python-docx": "docx",
}


def test_every_package_that_is_imported_is_declared_with_a_floor() -> None:
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    asked = [
        *project["dependencies"],
        *(one for extra in project["optional-dependencies"].values() for one in extra),
    ]
    floors = dict(
        re.fullmatch(r"([\w-]+)>=([\d.]+)", one).groups() for one in asked if "[" not in one
    )  # type: ignore[union-attr]
    declared = (
        {MODULES_OF.get(name, name) for name in floors} | {"fascicle"} | sys.stdlib_module_names
    )

    def wrong(path: Path) -> Iterator[str]:
        for found in imports_of(path):
            if found.module.split(".")[0] not in declared:
                yield f"line {found.line}: {found.module}"

    assert in_sources(wrong) == []


def test_the_package_and_its_tests_know_nothing_of_the_studies() -> None:
    """The studies are a project of their own, which imports the package."""
    taken = re.compile(r"^\s*(?:from|import) studies\b", re.MULTILINE)
    files = [*SOURCES, *Path(__file__).parent.rglob("*.py")]
    assert [path.name for path in files if taken.search(path.read_text(encoding="utf-8"))] == []


def test_no_import_cycles() -> None:
    graph: dict[str, set[str]] = {}
    for path in SOURCES:
        name = name_of(path)
        if (
            name != "fascicle"
        ):  # the root loads its names late, so that everything below may be imported first
            found = {i.module for i in imports_of(path)}
            graph[name] = {
                module for module in found if module.startswith("fascicle.") and module != name
            }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


def asks_for_a_kind(tree: ast.Module, kinds: set[str]) -> Iterator[str]:
    """Where a file asks of which class the settings of a head are, or of which family."""

    def names(node: ast.AST) -> bool:
        found = {getattr(one, "id", getattr(one, "attr", None)) for one in ast.walk(node)}
        return bool(found & kinds)

    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            asked = names(node.args[1])
        elif isinstance(node, ast.MatchClass):
            asked = names(node.cls)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            of_class = any(names(side) for side in sides)
            of_name = any(
                isinstance(side, ast.Attribute) and side.attr == "family" for side in sides
            )
            asked = of_class or (of_name and any(isinstance(side, ast.Constant) for side in sides))
        else:
            continue
        if asked:
            yield f"line {node.lineno}: {ast.unparse(node)}"


@cache
def kinds_of_heads() -> set[str]:
    """Every class of settings below that of all heads."""
    tree = parse(PACKAGE / "settings" / "heads.py")
    classes = {
        node.name: {ast.unparse(base) for base in node.bases}
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    found = {"HeadSettings"}
    for name, bases in classes.items():  # a base stands before what extends it
        found |= {name} if bases & found else set()
    return found - {"HeadSettings"}


def test_nothing_asks_for_the_kind_of_a_head() -> None:
    """What differs between kinds is in their records, under the class itself, or a property of
    their settings.
    """
    assert in_sources(lambda path: asks_for_a_kind(parse(path), kinds_of_heads())) == []


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(head, CrfSettings)",
        "isinstance(head, SpanHeadSettings | heads.BinderSettings)",
        "isinstance(head, (str, TaggerSettings))",
        "issubclass(kind, TaggerSettings)",
        "type(head) is SoftmaxSettings",
        "head.family == 'binder'",
        "match head:\n    case BinderSettings():\n        pass",
    ],
)
def test_the_check_for_kinds_finds_it(code: str) -> None:
    assert len(list(asks_for_a_kind(ast.parse(code), kinds_of_heads()))) == 1


@pytest.mark.parametrize(
    "code",
    ["KINDS[CrfSettings]", "isinstance(model, Head)", "head.family == name", "CrfSettings()"],
)
def test_the_check_for_kinds_leaves_the_rest(code: str) -> None:
    assert not list(asks_for_a_kind(ast.parse(code), kinds_of_heads()))


def unsafe(tree: ast.Module) -> Iterator[str]:
    """What a file does that could run code hidden in data."""
    for found in imports(tree):
        if found.module.split(".")[0] in PICKLES | XML:
            yield f"line {found.line}: import of {found.module}"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
        if called in ("eval", "exec", "compile", "__import__", "os.system"):
            yield f"line {node.lineno}: {called}("
        if keywords.get("trust_remote_code", "False") != "False":
            yield f"line {node.lineno}: trust_remote_code"
        if called == "torch.load" and keywords.get("weights_only") != "True":
            yield f"line {node.lineno}: torch.load without weights_only=True"
        if called in ("np.load", "numpy.load") and keywords.get("allow_pickle", "False") != "False":
            yield f"line {node.lineno}: numpy.load of pickles"
        if keywords.get("shell", "False") != "False":
            yield f"line {node.lineno}: a shell"


def test_no_data_can_run_code() -> None:
    def wrong(path: Path) -> Iterator[str]:
        safe = name_of(path) in SAFE_XML
        return (found for found in unsafe(parse(path)) if not (safe and "import of xml." in found))

    assert in_sources(wrong) == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "import xml.etree.ElementTree",
        "def f():\n    from pickle import load",
        "eval('1')",
        "exec(code)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
        "AutoModel.from_pretrained(name, trust_remote_code=flag)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path, allow_pickle=True)",
        "subprocess.run(command, shell=True)",
    ],
)
def test_the_check_for_unsafe_code_finds_it(code: str) -> None:
    assert len(list(unsafe(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code", ["model.eval()", "torch.load(path, weights_only=True)", "re.compile('a')"]
)
def test_the_check_for_unsafe_code_leaves_the_rest(code: str) -> None:
    assert not list(unsafe(ast.parse(code)))


# The numbers of `tests/density.py` may fall and never rise; lower a limit once the code is below it.
MOST_LARGE_FUNCTIONS = 25
MOST_LARGE_FILES = 0
MOST_NESTED = 1.1  # comprehensions inside comprehensions per 1,000 lines of code
MOST_VAGUE_NAMES = 0.3  # percent of bound names
MOST_VAGUE_FUNCTIONS = 0.1  # percent of private functions
MOST_SHARED_CLASSES = 3
MOST_TOKENS_A_LINE = 9.2


def test_the_code_does_not_become_denser() -> None:
    density = measure()
    assert len(density.large_functions) <= MOST_LARGE_FUNCTIONS, density.large_functions
    assert len(density.large_files) <= MOST_LARGE_FILES, density.large_files
    assert 1_000 * density.nested / density.lines <= MOST_NESTED + 0.05
    assert share_of_vague(density.bound) <= MOST_VAGUE_NAMES + 0.05
    assert share_of_vague(density.private) <= MOST_VAGUE_FUNCTIONS + 0.05
    assert len(density.shared_classes) <= MOST_SHARED_CLASSES, density.shared_classes
    assert density.tokens / density.lines <= MOST_TOKENS_A_LINE


# What may take the options of the command line: a command, what adds options, and what makes a
# request of them.
PARSES = re.compile(r"_?(run(_\w+)?|add_\w+|configure|\w+_of)")


def hands_options_on(tree: ast.Module) -> Iterator[str]:
    """Where a file hands on the options of the command line as they were parsed, or makes some
    up.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not PARSES.fullmatch(
            node.name
        ):
            given = [
                *node.args.posonlyargs,
                *node.args.args,
                *node.args.kwonlyargs,
                node.args.vararg,
                node.args.kwarg,
            ]
            if any(
                one and one.annotation and "Namespace" in ast.unparse(one.annotation)
                for one in given
            ):
                yield f"line {node.lineno}: {node.name}"
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Namespace":
            yield f"line {node.lineno}: {ast.unparse(node)}"


def test_options_become_requests_at_once() -> None:
    """No function but those that parse takes a ``Namespace``, and none is made up."""
    assert in_sources(lambda path: hands_options_on(parse(path))) == []


@pytest.mark.parametrize(
    "code",
    [
        "def read(path, args: argparse.Namespace): pass",
        "def _inputs(args: Namespace): pass",
        "def show(*, args: argparse.Namespace | None = None): pass",
        "class Work:\n    def write(self, args: argparse.Namespace): pass",
        "argparse.Namespace(**vars(args) | {'where': []})",
    ],
)
def test_the_check_for_options_finds_it(code: str) -> None:
    assert len(list(hands_options_on(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "def run(args: argparse.Namespace): pass",
        "def run_check(args: argparse.Namespace): pass",
        "def _request_of(args: argparse.Namespace): pass",
        "def parse(parser) -> argparse.Namespace: pass",
    ],
)
def test_the_check_for_options_leaves_the_rest(code: str) -> None:
    assert not list(hands_options_on(ast.parse(code)))
