"""Options of commands, recipes and Python become one request, and mean the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fascicle.core.document import Document, Mention
from fascicle.errors import RecipeError, UsageError
from fascicle.formats import read, write
from fascicle.formats.catalogue import FORMATS, format_named, format_of_output
from fascicle.formats.detection import detect
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, read_all_documents, read_file, resolve_inputs
from fascicle.formats.sources import distinct_files, notes_on
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.training.corpus import read_part, reading_of_part

DOCUMENT = Document(
    id="a", text="Bonn", mentions=(Mention(((0, 4),), "LOC", score=0.5, source="model"),)
)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "records.jsonl"
    path.write_text(
        "".join(
            json.dumps({"body": f"text {part}", "part": part}) + "\n"
            for part in ("train", "dev", "train")
        ),
        encoding="utf-8",
    )
    return path


def test_a_file_counts_once_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("Bonn", encoding="utf-8")
    (tmp_path / "b.txt").symlink_to("a.txt")
    monkeypatch.chdir(tmp_path)
    names = ["a.txt", "./a.txt", str(tmp_path / "a.txt"), ".", f"../{tmp_path.name}/a.txt"]
    found = resolve_inputs(names, (), ReadRequest()).inputs
    assert [one.name for one in found] == ["a.txt", "b.txt"]  # a link is a document of its own
    assert distinct_files(["-", "./-", "s3://a//b", "s3://a/b"]) == [
        "-",
        "./-",
        "s3://a//b",
        "s3://a/b",
    ]


@pytest.mark.parametrize("name", ["jsonl", "records", "native", "auto"])
def test_both_kinds_of_json_lines_are_read_under_both_names(
    tmp_path: Path, records: Path, name: str
) -> None:
    write(tmp_path / "own.jsonl", [DOCUMENT])
    assert detect(str(tmp_path / "own.jsonl")) == "jsonl"
    assert list(read(tmp_path / "own.jsonl", format=name)) == [DOCUMENT]
    request = ReadRequest(format=name, fields=(("text", "body"),))
    assert [document.text for document in read_file(str(records), request)] == [
        "text train",
        "text dev",
        "text train",
    ]


def test_one_name_is_one_format_for_reading_and_writing(tmp_path: Path) -> None:
    for name in ("jsonl", "native", "records"):
        write(tmp_path / name, [DOCUMENT], format=name)
        (found,) = read(tmp_path / name, format=name)
        assert (found == DOCUMENT) == (name != "records")
    assert (tmp_path / "jsonl").read_bytes() == (tmp_path / "native").read_bytes()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.jsonl", "jsonl"),
        ("a.fascicle.jsonl.gz", "jsonl"),
        ("a.records.jsonl", "records"),
        ("A.PREDICTIONS.JSONL", "predictions"),
        ("a.txt", "text"),
        ("a.zip", "brat"),
        ("a.docx", ""),
        ("jsonl", ""),
    ],
)
def test_the_name_of_an_output_tells_its_format(path: str, expected: str) -> None:
    assert format_of_output(path) == expected


def test_every_row_names_what_reads_and_writes() -> None:
    for name, row in FORMATS.items():
        assert row.name == name == format_named(name).name
        if row.writes:
            assert row.writer.holds.format
            assert ("mentions" in row.writer.holds.fields) == row.annotated
            assert (row.writer.into_folder is not None) == row.many
        else:
            assert not row.annotated
            with pytest.raises(UsageError, match="not written"):
                _ = row.writer
        if row.reads:
            assert callable(row.reader.read)
        else:
            with pytest.raises(UsageError, match="hold no texts"):
                _ = row.reader


def test_a_recipe_and_a_request_read_alike(records: Path) -> None:
    corpus = CorpusSettings(
        train=str(records),
        dev=str(records),
        format="jsonl",
        fields=("text=body",),
        where="part={part}",
    )
    assert [document.text for document in read_part(corpus, "train")] == [
        "text train",
        "text train",
    ]
    assert list(read_file(str(records), reading_of_part(corpus, "dev"))) == read_part(corpus, "dev")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"columns": "0,1"}, "columns"),
        ({"documents": "file"}, "documents"),
        ({"fields": ("text",)}, "NAME=VALUE"),
        ({"where": "part"}, "NAME=VALUE"),
        ({"fields": ("txt=body",)}, "did you mean 'text'"),
    ],
)
def test_a_setting_that_does_not_fit_is_an_error_of_the_recipe(
    records: Path, settings: dict[str, object], words: str
) -> None:
    corpus = CorpusSettings(train=str(records), dev=str(records), **settings)  # type: ignore[arg-type]
    with pytest.raises(RecipeError, match=words) as caught:
        read_part(corpus, "train")
    assert "corpus" in str(caught.value)


def test_ids_are_counted_once_over_all_inputs(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{name}.jsonl") for name in "ab"]
    for path in paths:
        Path(path).write_text('{"id": "x", "text": "a"}\n{"id": "x", "text": "b"}\n')
    found = list(read_all_documents(paths, ReadRequest(), report=ReadReport()))
    assert [document.id for document in found] == ["x", "x#2", "x#3", "x#4"]
    assert found == list(read(paths))
    assert [len(document.events) for document in found] == [0, 1, 1, 1]


def test_a_file_that_is_named_twice_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    resolved = resolve_inputs([str(tmp_path / "a.txt"), str(tmp_path)], (), ReadRequest())
    assert len(resolved.inputs) == 1
    (note,) = notes_on(resolved.places)
    assert note.startswith("1 input left out: the same file")
