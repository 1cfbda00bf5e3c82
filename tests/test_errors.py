"""Messages are one line, whatever they quote."""

from __future__ import annotations

import ast
import gzip
import pickle
from pathlib import Path

import pytest

import fascicle
from fascicle.errors import (
    CODES,
    FascicleError,
    FormatError,
    InputError,
    LossError,
    MissingExtraError,
    ModelError,
    OutputError,
    PackError,
    Place,
    PluginError,
    RecipeError,
    UsageError,
    add_place,
)
from fascicle.formats.report import FailedDocuments, ReadReport
from fascicle.settings.recipes.any import read_recipe


@pytest.mark.parametrize("kind", [FascicleError, InputError, FormatError])
def test_one_line(kind: type[FascicleError]) -> None:
    said = str(kind("a.txt:1: the type 'a\nb\r\0\x85\u2028\ud800' is bad; rename it"))
    assert said.isprintable()
    assert said.startswith("a.txt:1: the type 'a\\nb\\r")
    assert said.endswith("is bad; rename it")
    assert str(kind("Größe — “fine” 😀")) == "Größe — “fine” 😀"


def test_bounded() -> None:
    said = str(FormatError(f"a.txt:1: the type {'x' * 100_000!r} is bad; rename it"))
    assert len(said) < 1_100
    assert said.startswith("a.txt:1: the type 'x")
    assert said.endswith("x' is bad; rename it")


def test_an_error_from_another_process() -> None:
    error = pickle.loads(pickle.dumps(FormatError("a\nb")))
    assert str(error) == "a\\nb"
    assert "pip install" in str(MissingExtraError("train", "torch"))


def test_an_error_has_fields_beside_its_sentence() -> None:
    error = FormatError("not JSON; give one object a line", at=Place("a.jsonl", 3), code="damaged")
    assert str(error).startswith("a.jsonl:3: not JSON")
    assert error.fields() == {
        "error": "FormatError",
        "code": "damaged",
        "message": str(error),
        "file": "a.jsonl",
        "line": 3,
    }
    assert FormatError("x", file=Place("a.jsonl", 3)).line == 3
    assert InputError("x", at="a.txt", key="k").fields() == {
        "error": "InputError",
        "code": "input",
        "message": "a.txt: x",
        "file": "a.txt",
        "key": "k",
    }


def test_the_fields_stay_with_another_sentence_and_in_another_process() -> None:
    error = FormatError("x", at=Place("a.jsonl", 3), key="k")
    other = error.saying("another\nsentence")
    assert (str(other), other.fields() | {"message": ""}) == (
        "another\\nsentence",
        error.fields() | {"message": ""},
    )
    missing = pickle.loads(pickle.dumps(MissingExtraError("train", "torch")))
    assert (missing.fields(), missing.extra) == (
        MissingExtraError("train", "torch").fields(),
        "train",
    )


def test_what_happens_inside_is_about_the_file() -> None:
    with pytest.raises(FascicleError) as error, add_place(file="a.txt", key="k"):
        raise InputError("x", file="b.txt")
    assert (error.value.file, error.value.key) == ("b.txt", "k")


KINDS = [
    FascicleError,
    InputError,
    FormatError,
    RecipeError,
    ModelError,
    PackError,
    OutputError,
    LossError,
    UsageError,
    PluginError,
]


def test_the_codes_are_a_closed_list() -> None:
    assert {kind("x").code for kind in KINDS} | {MissingExtraError("a", "b").code} <= CODES.keys()
    with pytest.raises(ValueError, match="is not in CODES"):
        InputError("x", code="no-such-code")
    used = set()
    for path in Path(fascicle.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error"):
                used |= {
                    ast.literal_eval(k.value)
                    for k in node.keywords
                    if k.arg == "code" and isinstance(k.value, ast.Constant)
                }
    assert used <= CODES.keys()
    assert used | {kind.code for kind in KINDS} | {"missing-extra"} == set(CODES)


@pytest.mark.parametrize(
    ("name", "content", "fields"),
    [
        ("a.jsonl", b'{"fascicle": 2, "id": "1", "text": "a"}\n{"fascicle": 2}\n', ("format", 2)),
        (
            "a.jsonl",
            b'{"fascicle": 2, "id": "1", "text": "a"}\n{"fascicle": 99, "id": "1", "text": "a"}',
            ("version", 2),
        ),
        ("a.jsonl", b'{"id": "1", "text": "a"}\n{"id": \n', ("format", 2)),
        ("a.pubtator", b"1|t|a\n1|a|b\n1\t0\n", ("format", 3)),
        ("a.conll", b"a\tO\nb\tX-\n", ("format", 2)),
        ("a.txt", b"a\nb\n\xff\xfe\x00", ("encoding", None)),
        ("a.conll", b"a\tO\n\x81\tO\n", ("encoding", 2)),
        ("a.jsonl", b"", ("empty", None)),
        ("a.txt", gzip.compress(b"some text" * 1000, mtime=0)[:-20], ("damaged", None)),
    ],
)
def test_errors_of_readers_name_file_line_and_code(
    tmp_path: Path, name: str, content: bytes, fields: tuple[str, int | None]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        list(fascicle.read(path))
    found = error.value
    assert (found.code, found.line) == fields
    assert found.file == str(path)
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    list(fascicle.read(path, report=report))
    assert [(e.code, e.line, e.file) for e in report.aside.errors] == [(*fields, str(path))]
    assert all(e.__traceback__ is None for e in report.aside.errors)


def test_other_errors_with_fields(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text('[model]\nencoder = "x"\n[training]\nepocs = 3\n')
    with pytest.raises(RecipeError) as unknown:
        read_recipe(recipe)
    assert (unknown.value.code, unknown.value.key, unknown.value.file) == (
        "unknown-key",
        "training.epocs",
        str(recipe),
    )
    with pytest.raises(ModelError) as missing:
        fascicle.load("no-such-model")
    assert (missing.value.code, missing.value.key) == ("not-found", "no-such-model")
    with pytest.raises(InputError) as absent:
        list(fascicle.read(tmp_path / "none.txt"))
    assert (absent.value.code, absent.value.file) == ("not-found", str(tmp_path / "none.txt"))
    with pytest.raises(OutputError) as there:
        fascicle.write(recipe, [], format="native")
    assert (there.value.code, there.value.file) == ("exists", str(recipe))
    with pytest.raises(UsageError) as format_error:
        fascicle.read(recipe, format="nativ")
    assert (format_error.value.code, format_error.value.key) == ("unknown-name", "nativ")
