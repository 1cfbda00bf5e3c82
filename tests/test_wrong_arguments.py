"""Public functions answer arguments of the wrong type with one sentence, and models say what
they are.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fascicle
from fascicle.core.document import Document, Link, Mention, Patch
from fascicle.errors import FascicleError, InputError, UsageError
from fascicle.evaluation.doctor.checks.contract import CheckSettings
from fascicle.evaluation.systems.model import ModelRequest
from fascicle.evaluation.systems.predictions import PredictionRequest
from fascicle.formats.records import JsonlOptions
from fascicle.formats.requests import ReadRequest
from fascicle.formats.unread import fields_argument
from fascicle.loading import load
from fascicle.runtime.combination.rules import RuleRequest
from fascicle.verbs.combine import TextsRequest
from fascicle.verbs.compare import CompareSettings
from fascicle.verbs.evaluate_links import LinkSettings
from fascicle.verbs.messages import with_options
from fascicle.verbs.tasks.calibrate import CalibrateSettings

WRONG: tuple[Any, ...] = (None, 3, ["x"], b"..", {}, 0.5, object())
CALLS = {
    name: getattr(fascicle, name)
    for name in fascicle.__all__
    if callable(getattr(fascicle, name)) and name != "errors"
}
DOCUMENT = Document(id="a", text="lung cancer")
# what is right where another argument is wrong; "+" is a file in a folder
GOOD: dict[str, dict[str, Any]] = {
    "AsyncClient": {"url": "http://127.0.0.1:9"},
    "Client": {"url": "http://127.0.0.1:9"},
    "Document": {"id": "a", "text": "lung cancer"},
    "Event": {"step": "a", "kind": "note", "code": "b", "message": "c"},
    "Link": {"id": "a"},
    "Mention": {"spans": ((0, 4),), "type": "Disease"},
    "Patch": {},
    "apply": {"document": DOCUMENT, "patch": Patch()},
    "Section": {"start": 0, "end": 1},
    "find_abbreviations": {"text": DOCUMENT},
    "layers": {"documents": [DOCUMENT]},
    "load": {"model": "biomed"},
    "to_arrow": {"documents": [DOCUMENT]},
    "read": {"paths": "+in.txt"},
    "score": {"gold": {"a": ()}, "predicted": {"a": ()}},
    "write": {"path": "+out.jsonl", "documents": [DOCUMENT]},
}


LIST, NONE = ["x"], None
NO_FORMAT = ReadRequest(format="nope")
# Arguments of the verbs: what is right where another argument is wrong (no such file: the arguments
# are looked at first), and which of WRONG each may be.
VERBS: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "annotate": (
        {"files": "none.txt", "output": "none.tsv"},
        {
            "files": [LIST],
            "model": [LIST],
            "also": [NONE, LIST],
            "link": [NONE, LIST],
            "ontology": [""],
            "types": [NONE, LIST],
            "careful": [LIST, ""],
            "only": [LIST, ""],
            "threshold": [{}, 0.5],
            "ends": [NONE],
            "relations": [NONE],
            "device": [NONE, ""],
        },
    ),
    "calibrate": (
        {"model": "none", "gold": "none.tsv", "folder": "none"},
        {"settings": [NONE], "events": [NONE]},
    ),
    "check": (
        {"train": "none.tsv"},
        {one: [LIST] for one in ("train", "dev", "test", "against")} | {"settings": [NONE]},
    ),
    "combine": (
        {"systems": ["none.tsv", "no.tsv"]},
        {"systems": [LIST], "texts": [NONE], "account": [NONE]},
    ),
    "compare": (
        {"gold": "none.tsv", "systems": ["none.tsv"]},
        {
            "systems": [LIST],
            "models": [LIST],
            "types": [LIST, {}, ""],
            "settings": [NONE],
            "events": [NONE],
        },
    ),
    "evaluate": (
        {"gold": "none.tsv", "predictions": "none.tsv"},
        {"predictions": [LIST], "events": [NONE], "types": [LIST, {}, ""], "map": [""]},
    ),
    "evaluate_links": (
        {"gold": "none.tsv", "predictions": "none.tsv"},
        {
            "predictions": [LIST],
            "pack": [LIST],
            "linker": [NONE, LIST],
            "ontology": [""],
            "settings": [NONE],
            "events": [NONE],
        },
    ),
    "export": ({"model": "none", "folder": "none"}, {"sample": [NONE], "name": [NONE]}),
    "link": (
        {"documents": [DOCUMENT], "linker": "none", "pack": "none"},
        {"documents": [LIST], "ontology": [""], "pack": [LIST], "linker": [LIST]},
    ),
    "train": (
        {"recipe": "none.toml"},
        {"folder": [NONE], "threads": [NONE, 3], "trackers": [LIST]},
    ),
}


def verb_cases() -> Iterable[Any]:
    for name, (good, _) in VERBS.items():
        for parameter in inspect.signature(CALLS[name]).parameters:
            for wrong in (*WRONG, "", "a\0b"):
                yield pytest.param(
                    name, good, parameter, wrong, id=f"{name}-{parameter}-{wrong!r:.9}"
                )


@pytest.mark.parametrize(("name", "good", "parameter", "wrong"), list(verb_cases()))
def test_verbs_name_the_argument_that_is_wrong(
    name: str,
    good: dict[str, Any],
    parameter: str,
    wrong: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FascicleError) as error:
        CALLS[name](**{**good, parameter: wrong})
    said = str(error.value)
    assert 20 < len(said) < 400
    assert list(tmp_path.iterdir()) == []
    # which an empty text may be; what it means is said later
    texts = {"format": [""], "name": [""]}
    if wrong not in (*VERBS[name][1].get(parameter, ()), *texts.get(parameter, ())):
        assert type(error.value) is UsageError
        assert said.startswith(f"{parameter} must be ")


ANNOTATED = Document(id="a", text="lung cancer", mentions=(Mention(((0, 4),), "Disease"),))
LINKED = Document(
    id="a", text="lung cancer", mentions=(Mention(((0, 4),), "Disease", links=(Link(id="D1"),)),)
)
LISTS: dict[str, Callable[[], Any]] = {
    "annotate": lambda: fascicle.annotate([], "out.tsv"),
    "evaluate": lambda: fascicle.evaluate("gold.tsv", []),
    "evaluate gold": lambda: fascicle.evaluate([], "gold.tsv"),
    "evaluate links": lambda: fascicle.evaluate_links([], "gold.tsv"),
    "evaluate links, nothing to score": lambda: fascicle.evaluate_links("gold.tsv"),
    "combine": lambda: fascicle.combine([]),
    "compare": lambda: fascicle.compare("gold.tsv", []),
    "check": lambda: fascicle.check([]),
    "export": lambda: fascicle.export("run", "out", int8=True, sample=[]),
    "calibrate": lambda: fascicle.calibrate("biomed", "empty.tsv", "out"),
}
NO_FILE: dict[str, Callable[[], Any]] = {
    "annotate": lambda: fascicle.annotate("none.txt", "out.tsv"),
    "evaluate": lambda: fascicle.evaluate("gold.tsv", "none.tsv"),
    "evaluate gold": lambda: fascicle.evaluate("none.tsv", [ANNOTATED]),
    "evaluate links": lambda: fascicle.evaluate_links(
        "gold.tsv", pack="none.pack", linker="linker"
    ),
    "evaluate links, train": lambda: fascicle.evaluate_links(
        [LINKED], [LINKED], settings=LinkSettings(train="none.tsv")
    ),
    "combine": lambda: fascicle.combine(["gold.tsv", "none.tsv"]),
    "compare": lambda: fascicle.compare("gold.tsv", ["gold.tsv", "none.tsv"]),
    "check": lambda: fascicle.check("none.tsv"),
    "export": lambda: fascicle.export("run", "out", int8=True, sample="none.tsv"),
    "calibrate": lambda: fascicle.calibrate("biomed", "none.tsv", "out"),
    "train": lambda: fascicle.train("none.toml"),
}
NO_MODEL: dict[str, Callable[[str], Any]] = {
    "load": lambda model: fascicle.load(model),
    "annotate": lambda model: fascicle.annotate("in.txt", "out.tsv", model=model),
    "evaluate": lambda model: fascicle.evaluate("gold.tsv", ModelRequest(model=model)),
    "calibrate": lambda model: fascicle.calibrate(model, "gold.tsv", "out"),
    "export": lambda model: fascicle.export(model, "out"),
    "combine": lambda model: fascicle.combine(
        ["gold.tsv"], RuleRequest(name="meta", filter=model), texts=TextsRequest(path="in.txt")
    ),
}
NO_SETTING: dict[str, Callable[[], Any]] = {
    "format": lambda: fascicle.annotate("in.txt", "out.tsv", format="nope"),
    "reading.format": lambda: fascicle.evaluate(
        "gold.tsv", PredictionRequest(path="gold.tsv", reading=NO_FORMAT)
    ),
    "rule": lambda: fascicle.combine(["gold.tsv", "in.txt"], "nope"),  # type: ignore[arg-type]
    "missing": lambda: fascicle.combine(["gold.tsv", "in.txt"], missing="nope"),  # type: ignore[arg-type]
    "settings.seed": lambda: fascicle.compare(
        "gold.tsv", ["gold.tsv", "in.txt"], CompareSettings(seed=-1)
    ),
    "settings.resamples": lambda: fascicle.compare(
        "gold.tsv", ["gold.tsv", "in.txt"], CompareSettings(resamples=-1)
    ),
    "settings.examples": lambda: fascicle.check("gold.tsv", settings=CheckSettings(examples=-1)),
    "settings.examples links": lambda: fascicle.evaluate_links(
        [LINKED], [LINKED], settings=LinkSettings(examples=-1)
    ),
    "settings.threads": lambda: fascicle.calibrate(
        "biomed", "gold.tsv", "out", CalibrateSettings(threads=0)
    ),
    "settings.method": lambda: fascicle.calibrate(
        "biomed",
        "gold.tsv",
        "out",
        CalibrateSettings(method="nope"),  # type: ignore[arg-type]
    ),
    "predictions.path": lambda: fascicle.evaluate("gold.tsv", PredictionRequest(path=3)),  # type: ignore[arg-type]
    "predictions[1].model": lambda: fascicle.evaluate(
        "gold.tsv",
        ["gold.tsv", ModelRequest(model=3)],  # type: ignore[arg-type]
    ),
    "predictions[1]": lambda: fascicle.evaluate("gold.tsv", [ANNOTATED, "gold.tsv"]),  # type: ignore[list-item]
    "threads": lambda: fascicle.train("none.toml", threads=0),
}
STREAMS: dict[str, Callable[[Any], Any]] = {
    "files": lambda wrong: fascicle.annotate(wrong, "out.tsv"),
    "train": lambda wrong: fascicle.check(wrong),
    "gold": lambda wrong: fascicle.evaluate(wrong, "gold.tsv"),
    "predictions": lambda wrong: fascicle.evaluate("gold.tsv", [wrong]),
    "systems": lambda wrong: fascicle.combine(wrong),
    "sample": lambda wrong: fascicle.export("run", "out", int8=True, sample=wrong),
}


@pytest.fixture
def place(tmp_path: Path, tiny_run: Path, monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """A folder with what the calls above read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gold.tsv").write_text("lung B-Disease\ncancer I-Disease\n", encoding="utf-8")
    (tmp_path / "in.txt").write_text("lung cancer", encoding="utf-8")
    (tmp_path / "empty.tsv").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "run").symlink_to(tiny_run)
    return set(tmp_path.iterdir())


def refused(call: Callable[[], Any], place: set[Path]) -> str:
    """The sentence of the error; nothing was written."""
    with pytest.raises(FascicleError) as error:
        call()
    said = str(error.value)
    assert 20 < len(said) < 400
    assert set(Path.cwd().iterdir()) == place
    return said


@pytest.mark.parametrize("call", LISTS.values(), ids=LISTS)
def test_nothing_in_place_of_files(call: Callable[[], Any], place: set[Path]) -> None:
    refused(call, place)


@pytest.mark.parametrize("call", NO_FILE.values(), ids=NO_FILE)
def test_a_file_that_is_not_there(call: Callable[[], Any], place: set[Path]) -> None:
    assert "none." in refused(call, place)


@pytest.mark.parametrize("model", ["nope", "folder", "empty.tsv"])
@pytest.mark.parametrize("call", NO_MODEL.values(), ids=NO_MODEL)
def test_a_model_that_is_none(call: Callable[[str], Any], model: str, place: set[Path]) -> None:
    refused(partial(call, model), place)


@pytest.mark.parametrize(("named", "call"), NO_SETTING.items(), ids=NO_SETTING)
def test_a_setting_that_is_not_allowed(
    named: str, call: Callable[[], Any], place: set[Path]
) -> None:
    assert named.removeprefix("reading.").partition(" ")[0] in refused(call, place)


@pytest.mark.parametrize(("named", "call"), STREAMS.items(), ids=STREAMS)
def test_streams_of_something_else(
    named: str, call: Callable[[Any], Any], place: set[Path]
) -> None:
    assert named in refused(lambda: call(iter([3])), place)


def test_streams_are_read(place: set[Path]) -> None:
    score = fascicle.evaluate(iter([ANNOTATED]), iter([ANNOTATED])).systems[0].strict.micro.f1
    assert score == fascicle.evaluate([ANNOTATED], [ANNOTATED]).systems[0].strict.micro.f1 == 1.0
    assert fascicle.check(Path().glob("gold.*")).report.parts


@pytest.mark.parametrize(
    ("document", "patch", "drops"),
    [(None, Patch(), ()), (DOCUMENT, None, ()), (DOCUMENT, Patch(), "a")],
)
def test_apply_refuses_what_is_no_patch(document: Any, patch: Any, drops: Any) -> None:
    with pytest.raises(UsageError):
        fascicle.apply(document, patch, drops=drops)


@pytest.mark.parametrize(
    "wrong", [{"add": (3,)}, {"drop": (3,)}, {"links": (3,)}, {"events": (3,)}, {"sentences": (3,)}]
)
def test_apply_refuses_parts_of_the_wrong_type(wrong: Any) -> None:
    with pytest.raises(ValueError, match="wrong type"):
        fascicle.apply(DOCUMENT, Patch(**wrong))


def cases() -> Iterable[Any]:
    for name, call in CALLS.items():
        if name not in GOOD:
            continue
        for parameter in inspect.signature(call).parameters:
            for wrong in WRONG:
                yield pytest.param(
                    name, parameter, wrong, id=f"{name}-{parameter}-{type(wrong).__name__}"
                )


def test_every_public_callable_is_tried() -> None:
    made_by_others = {"Scores", "TextMention"}
    assert CALLS.keys() - GOOD.keys() - VERBS.keys() == made_by_others


def outcome(call: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """What came of a call: a sentence, or nothing where it worked."""
    try:
        found = call(**arguments)
        if inspect.isgenerator(found) or hasattr(found, "__next__"):
            list(found)
    except (FascicleError, ValueError) as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("name", "parameter", "wrong"), list(cases()))
def test_no_raw_error_escapes(
    name: str, parameter: str, wrong: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("lung cancer", encoding="utf-8")
    good = {
        key: str(tmp_path / v[1:]) if isinstance(v, str) and v[:1] == "+" else v
        for key, v in GOOD[name].items()
    }
    said = outcome(CALLS[name], {**good, parameter: wrong})
    assert "\n" not in said
    if said:
        assert len(said) > 20
        assert not list(tmp_path.glob("*.jsonl"))


@pytest.mark.parametrize(
    ("call", "arguments", "named"),
    [
        (fascicle.load, (None,), "model"),
        (fascicle.read, (None,), "paths"),
        (fascicle.read, (b"in.txt",), "paths"),
        (fascicle.write, ("out.jsonl", ["x"]), "Document"),
        (fascicle.write, ("out.jsonl", DOCUMENT), "documents"),
        (fascicle.write, (None, [DOCUMENT]), "path"),
        (fascicle.score, ([DOCUMENT], [DOCUMENT]), "gold"),
        (fascicle.score, ({"a": ()}, [DOCUMENT]), "predicted"),
        (fascicle.score, ({"a": ["x"]}, {"a": ()}), "'a'"),
        (fascicle.layers, (None,), "documents"),
        (fascicle.layers, (["x"],), "Document"),
    ],
)
def test_the_sentence_names_the_argument(
    call: Callable[..., Any],
    arguments: tuple[Any, ...],
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((InputError, UsageError)) as error:
        call(*arguments)
    assert named in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_errors_speak_of_arguments_in_python_and_of_options_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from fascicle.cli import main

    path = tmp_path / "there.jsonl"
    fascicle.write(path, [DOCUMENT])
    with pytest.raises(FascicleError) as error:
        fascicle.write(path, [DOCUMENT])
    assert "overwrite=True" in str(error.value)
    assert "--" not in str(error.value)
    assert main(["annotate", "--text", "x", "-o", str(path)]) == 2
    said = capsys.readouterr().err
    assert "--overwrite" in said
    assert "overwrite=True" not in said


@pytest.mark.parametrize("name", ["predict", "stream", "annotate"])
@pytest.mark.parametrize("wrong", WRONG[:4], ids=lambda value: type(value).__name__)
def test_methods_of_a_model(model: Any, name: str, wrong: Any) -> None:
    if name in ("annotate", "stream") and wrong == ["x"]:
        return
    with pytest.raises((InputError, UsageError)):
        list(getattr(model, name)(wrong))


@pytest.fixture(scope="module")
def model() -> Any:
    return load()


def test_a_model_says_what_it_is(model: Any) -> None:
    said = repr(model)
    assert "\n" not in said
    assert all(part in said for part in (model.name, *model.types, model.kind))


# Texts of these are about the command line: what parses it, and cards and reports, which a command
# writes.
OPTIONS_MAY_STAND_IN = (
    "verbs",
    "cli.py",
    "evaluation/doctor/checks",
    "evaluation/reports/comparison_table.py",
)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*+(?!:)")  # no property of CSS
# a whole command, which a user of Python may give too
COMMAND = re.compile(r"fascicle [a-z]+\b[^;:]*")


def texts(tree: ast.Module) -> Iterable[str]:
    """The texts of a file but for docstrings; those of one expression are joined."""
    inside = {
        id(one)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for one in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                one.value if isinstance(one, ast.Constant) else "X" for one in node.values
            )  # type: ignore[misc]
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside
        ):
            yield node.value


def docstrings(tree: ast.Module) -> set[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.body[0].value.value
        for node in ast.walk(tree)
        if isinstance(node, kinds) and ast.get_docstring(node)
    }  # type: ignore[union-attr, attr-defined]


def test_texts_of_rooms_for_python_name_no_option() -> None:
    package = Path(fascicle.__file__).parent
    found = []
    for path in sorted(package.rglob("*.py")):
        if not str(path.relative_to(package)).startswith(OPTIONS_MAY_STAND_IN):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            said = set(texts(tree)) - docstrings(tree)
            found += [(path.name, one) for one in said if OPTION.search(COMMAND.sub("", one))]
    assert found == []


@pytest.mark.parametrize(
    ("in_python", "on_the_command_line"),
    [
        (fields_argument(("text", "body")), "--field text=body"),
        (
            f"such as {fields_argument(('text', 'a b'), ('type', 'c'))}.",
            "such as --field text='a b' --field type=c.",
        ),
        ("give overwrite=True or map=FILE", "give --overwrite or --map FILE"),
        ("the argument distinct_types, or fields=3", "--distinct-types, or fields=3"),
    ],
)
def test_the_command_line_names_its_options(in_python: str, on_the_command_line: str) -> None:
    assert with_options(in_python) == on_the_command_line


def test_what_the_error_of_a_reader_tells_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "Bonn", "annotations": [{"begin": 0, "end": 4, "label": "LOC"}]}\n',
        encoding="utf-8",
    )
    with pytest.raises(FascicleError) as error:
        list(fascicle.read(path))
    (told,) = re.findall(r"fields=(\[\(\"entities.*?\)\])", str(error.value))
    fields = tuple(ast.literal_eval(told))
    (document,) = fascicle.read(path, options=JsonlOptions(fields=fields))
    assert [mention.text for mention in document] == ["Bonn"]
    (listed,) = fascicle.read(path, options=JsonlOptions(fields=list(fields)))  # type: ignore[arg-type]
    assert listed == document


def test_an_object_that_compares_as_an_array_is_no_file() -> None:
    with pytest.raises(UsageError, match=r"^gold must be a name or path"):
        fascicle.evaluate(np.zeros(2), [DOCUMENT])  # type: ignore[arg-type]
