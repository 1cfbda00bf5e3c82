"""Public functions answer arguments of the wrong type with one sentence, and models say what they are."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import fascicle
from fascicle.core.document import Document
from fascicle.errors import FascicleError, InputError, UsageError
from fascicle.loading import load

WRONG: tuple[Any, ...] = (None, 3, ["x"], b"..", {}, 0.5, object())
CALLS = {
    name: getattr(fascicle, name) for name in fascicle.__all__ if callable(getattr(fascicle, name)) and name != "errors"
}
DOCUMENT = Document(id="a", text="lung cancer")
GOOD: dict[str, dict[str, Any]] = {  # what is right where another argument is wrong; "+" is a file in a folder
    "Document": {"id": "a", "text": "lung cancer"},
    "Event": {"step": "a", "kind": "note", "code": "b", "message": "c"},
    "Link": {"id": "a"},
    "Mention": {"spans": ((0, 4),), "type": "Disease"},
    "Patch": {},
    "Section": {"start": 0, "end": 1},
    "layers": {"documents": [DOCUMENT]},
    "load": {"model": "bc5cdr"},
    "read": {"paths": "+in.txt"},
    "score": {"gold": {"a": ()}, "predicted": {"a": ()}},
    "write": {"path": "+out.jsonl", "documents": [DOCUMENT]},
}


def cases() -> Iterable[Any]:
    for name, call in CALLS.items():
        if name not in GOOD:
            continue
        for parameter in inspect.signature(call).parameters:
            for wrong in WRONG:
                yield pytest.param(name, parameter, wrong, id=f"{name}-{parameter}-{type(wrong).__name__}")


def test_every_public_callable_is_tried() -> None:
    made_by_others = {"Scores", "TextMention"}
    verbs = {"annotate", "apply", "calibrate", "check", "combine", "compare", "evaluate", "export", "train"}
    assert CALLS.keys() - GOOD.keys() == made_by_others | verbs


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
    good = {key: str(tmp_path / v[1:]) if isinstance(v, str) and v[:1] == "+" else v for key, v in GOOD[name].items()}
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
    call: Callable[..., Any], arguments: tuple[Any, ...], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert all(part in said for part in (model.name, *model.types, model.manifest.answering.family))


# Rooms whose functions only commands call may name options; the others are called from Python too.
OPTIONS_MAY_STAND_IN = (
    "commands",
    "cli.py",
    "doctor",
    "reports/plots",
    "reports/comparison_table",
    "combination",
    "training",
    "experiments",
    "labelling",
    "tasks/init.py",
    "models",
)


def test_errors_of_rooms_for_python_name_no_option() -> None:
    package = Path(fascicle.__file__).parent
    found = []
    for path in sorted(package.rglob("*.py")):
        if str(path.relative_to(package)).startswith(OPTIONS_MAY_STAND_IN):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise):
                constants = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                text = "".join(one for one in constants if isinstance(one, str))
                if re.search(r"(?<!\w)--\w", text) and "in Python" not in text:  # some give both
                    found.append((path.name, text))
    assert found == []
