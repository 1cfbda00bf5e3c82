"""Any format through `read` and `write`: detection, ids, several files, wrong arguments."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, InputError, OutputError, UsageError
from fascicle.formats import (
    FORMATS,
    ConllOptions,
    JsonlOptions,
    ReadReport,
    detect,
    read,
    unique_ids,
    write,
)
from fascicle.formats.catalogue import READABLE

TAGGED = "a\tO\nb\tB-X\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.tsv", TAGGED, "conll"),
        ("a.annotated", "-DOCSTART- O\n\na O\n", "conll"),
        ("a.txt", "a NN O\n" * 10, "conll"),
        ("a.txt", "his blood group is O\n", "plain"),
        ("a.txt", "take vitamin B-12\n" * 3, "plain"),
        ("a.txt", "{curly} text", "plain"),
        ("a.txt", "1|t|Title\n1|a|Abstract\n", "pubtator"),
        ("a.txt", "", "plain"),
        ("a.conll", "broken", "conll"),
        ("a.jsonl", '{"text": "a"}\n', "records"),
        ("a.data", '{"text": "a"}\n', "records"),
        ("a.json", '[{"text": "a"}]', "records"),
        ("a.json", '[\n{"text": "a"}]', "records"),
        ("a.jsonl", '\ufeff{"fascicle":1,"id":"a","text":"b"}\n', "jsonl"),
        ("a.PubTator", "1|t|Title\n", "pubtator"),
    ],
)
def test_detection(tmp_path: Path, name: str, content: str, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert detect(str(path)) == expected
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert detect(str(packed)) == expected


def test_native_files_are_told_by_a_first_line_of_any_length(tmp_path: Path) -> None:
    document = Document(id="a", text="b" * 2**17)
    write(tmp_path / "a.jsonl", [document], format="jsonl")
    assert detect(str(tmp_path / "a.jsonl")) == "jsonl"
    assert list(read(tmp_path / "a.jsonl")) == [document]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('\ufeff{"text": "a"}\n{"text": "b"}\n', "records"),
        ('\n{"id":"a","text":"b","fascicle":1}', "jsonl"),
        ('{"text": "' + "a" * 2**17, "records"),
        ("{curly} text", "plain"),
        ('{"curly": text}\n', "plain"),
        ("[1] a reference", "plain"),
        ("", "plain"),
        ("TY  - JOUR\r\nTI  - Asthma\r\nER  - \r\n", "citations"),
        ("\nPMID- 1\nTI  - Asthma\n", "citations"),
        ("1|t|Asthma\n1|a|\n", "pubtator"),
        ("PMID 1 is wrong.\nTI is titanium.", "plain"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, content: str, expected: str, packed: bool
) -> None:
    data = gzip.compress(content.encode()) if packed else content.encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    assert detect("-") == expected
    assert sys.stdin.buffer.read() == data


def test_a_long_native_document_in_standard_input_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = codec.encode(Document(id="a", text="b" * 2**17))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))
    with pytest.raises(FormatError, match="format=jsonl"):
        list(read("-"))


def test_what_cannot_be_told(tmp_path: Path) -> None:
    path = tmp_path / "a.data"
    path.write_text("something else")
    with pytest.raises(
        FormatError, match=r"cannot be recognised; name it with format=NAME, one of jsonl, records"
    ):
        detect(str(path))
    path.write_text("")
    with pytest.raises(InputError, match="is empty"):
        detect(str(path))
    for content in ("document\ttype\tstart\tend\tscore\n", '{"fascicle_predictions":1,"id":"a"}\n'):
        path.write_text(content)
        with pytest.raises(FormatError, match="is a prediction file"):
            read(path)
    path.write_text("[" * 20_000)
    with pytest.raises(FormatError, match="cannot be recognised"):
        detect(str(path))


def test_wrong_arguments_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(TAGGED)
    with pytest.raises(
        UsageError, match=r"did you mean 'conll'.*choose auto or one of jsonl, records"
    ):
        read(path, format="conl")
    with pytest.raises(UsageError, match="they must be ConllOptions"):
        read(path, options=JsonlOptions())
    with pytest.raises(UsageError, match="it has none"):
        read(path, format="native", options=ConllOptions())
    with pytest.raises(UsageError, match="hold no texts"):
        read(path, format="tsv")
    with pytest.raises(InputError, match="there is no file"):
        read(tmp_path / "missing.txt")
    with pytest.raises(UsageError, match="no file was given"):
        read([])
    with pytest.raises(UsageError, match="stands for no output format") as refused:
        write(tmp_path / "a.nxml", [])
    assert str(refused.value).count("nxml") == 2  # of the file; it is not advised
    with pytest.raises(UsageError, match="did you mean"):
        write(tmp_path / "a.xyz", [], format="nativ")


# which are folders
@pytest.mark.parametrize("name", sorted(set(READABLE) - {"parquet", "offsets"}))
def test_empty_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"a{next(iter(FORMATS[name].suffixes), '.csv')}"
    path.write_bytes(b"")
    if FORMATS[name].reader.may_be_empty:
        assert len(list(read(path, format=name))) == 1
    else:
        with pytest.raises(InputError, match="is empty"):
            list(read(path, format=name))


def test_ids_are_unique_whatever_they_are() -> None:
    ids = ["a", "a", "a#2", "a", "b", "a#2"]
    found = list(unique_ids(Document(id=i, text="") for i in ids))
    assert len({d.id for d in found}) == len(ids)
    assert [d.id for d in found] == ["a", "a#2", "a#2#2", "a#3", "b", "a#2#3"]
    assert [d.meta.get("original-id") for d in found] == [None, "a", "a#2", "a", None, "a#2"]
    assert sum(event.code == "duplicate-id" for d in found for event in d.events) == 4


def test_several_files(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.tsv").write_text(TAGGED)
    (tmp_path / "t.txt").write_text("plain text")
    report = ReadReport()
    paths = [tmp_path / "one/train.tsv", tmp_path / "two/train.tsv", tmp_path / "t.txt"]
    documents = list(read(paths, report=report))
    assert [d.id for d in documents] == ["one/train:1", "two/train:1", "t"]
    assert report.documents == 3
    assert report.mentions == 2
    assert sorted(report.formats.values()) == ["conll", "conll", "plain"]


def test_a_corpus_of_many_files_beside_others(tmp_path: Path) -> None:
    write(
        tmp_path / "pairs",
        [Document(id="b", text="beta"), Document(id="a", text="alpha")],
        format="brat",
    )
    write(tmp_path / "pairs.zip", [Document(id="a", text="gamma")])
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/c.txt").write_text("delta")
    report = ReadReport()
    paths = [tmp_path / "texts", tmp_path / "pairs", tmp_path / "pairs.zip"]
    assert [(d.id, d.text) for d in read(paths, report=report)] == [
        ("c", "delta"),
        ("a", "alpha"),
        ("b", "beta"),
        ("a#2", "gamma"),
    ]
    assert sorted(report.formats.values()) == ["brat", "brat", "plain"]
    assert [d.text for d in read(tmp_path / "pairs", format="plain")] == ["alpha", "beta"]


def test_the_same_file_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    report = ReadReport()
    assert len({d.id for d in read([path, path], report=report)}) == 2
    assert report.events == {("repair", "duplicate-id"): 1}


def test_reading_streams(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "1", "text": "a"}\nnot json\n')
    documents = read(path)
    assert next(documents).id == "1"
    with pytest.raises(FormatError, match=r":2: not JSON"):
        next(documents)


def test_an_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(FORMATS["plain"].reader.read(Source(path=str(tmp_path)), None, ReadReport()))


def test_native_files(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"fascicle":1,"id":"a","text":"b"}\n\n{"fascicle":99,"id":"a","text":"b"}\n')
    documents = read(path)
    next(documents)
    with pytest.raises(FormatError, match=r"a\.jsonl:3: a document of schema 99"):
        next(documents)
    path.write_text(
        '{"fascicle":1,"id":"a","text":"b","mentions":[{"spans":[[0,9]],"type":"X"}]}\n'
    )
    with pytest.raises(FormatError, match=r"a\.jsonl:1: .*ends at 9"):
        list(read(path))
    path.write_text('{"fascicle":1,"id":"a","text":"b","x":' + "[" * 20_000)
    with pytest.raises(FormatError, match=r"a\.jsonl:1: "):
        list(read(path, format="jsonl"))


@pytest.mark.parametrize("encoding", ["base64", "zip", "rot13", "undefined", "idna", "none-such"])
def test_encodings_that_are_none(encoding: str) -> None:
    with pytest.raises(UsageError, match=f"the encoding '{encoding}' is not known"):
        Source(path="a.txt", encoding=encoding)


def test_writing_packed_is_reproducible(tmp_path: Path) -> None:
    documents = [Document(id="a", text="b")]
    for name in ("x.jsonl.gz", "y.jsonl.gz"):
        write(tmp_path / name, documents, format="jsonl")
    assert (tmp_path / "x.jsonl.gz").read_bytes() == (tmp_path / "y.jsonl.gz").read_bytes()
    assert list(read(tmp_path / "x.jsonl.gz")) == documents


def test_writing_refuses_what_exists(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists already"):
        write(path, [Document(id="a", text="b")])
    assert path.read_text() == "mine"
    write(path, [Document(id="a", text="b")], overwrite=True)
    assert json.loads(path.read_text())["id"] == "a"


def test_a_failing_stream_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a"}\nbroken\n')
    for target in ("out.fascicle.jsonl", "out.jsonl.gz"):
        with pytest.raises(FormatError):
            write(tmp_path / target, read(path))
    assert [p.name for p in tmp_path.iterdir()] == ["in.jsonl"]


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write("-", [Document(id="a", text="β")], format="jsonl")
    sys.stdout.flush()
    assert json.loads(capfdbinary.readouterr().out)["text"] == "β"
