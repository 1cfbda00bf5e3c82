"""One bad document never costs the others: every reader goes on, and every loss is counted once."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.errors import FormatError, InputError
from fascicle.formats import ConllOptions, ReadReport, read
from fascicle.formats.predictions import read as read_predictions
from fascicle.formats.report import FailedDocuments


def _going_on() -> ReadReport:
    return ReadReport(aside=FailedDocuments(keep_going=True))


def _all(path: Path | Sequence[Path], **more: object) -> tuple[list[Document], ReadReport]:
    report = _going_on()
    return list(read(path, report=report, **more)), report  # type: ignore[arg-type]


def _line(number: int) -> bytes:
    return json.dumps({"id": f"d{number}", "text": f"text {number}", "entities": []}).encode()


BAD_LINES = [
    b"{",
    b"[1, 2]",
    b'{"text": 5, "entities": []}',
    b'{"id": "x", "text": "\xff", "entities": []}',
    b"\0",
]


@pytest.mark.parametrize("bad", BAD_LINES)
@pytest.mark.parametrize("at", [0, 3, 61])
def test_a_bad_json_line_costs_itself(tmp_path: Path, bad: bytes, at: int) -> None:
    rows = [_line(number) for number in range(61)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([*rows[:at], bad, *rows[at:]]) + b"\n")
    documents, report = _all(path)
    assert [document.id for document in documents] == [f"d{number}" for number in range(61)]
    assert report.aside.count == 1
    assert (
        f"a.jsonl:{at + 1}" in report.aside.sentences[0]
        or f"line {at + 1}" in report.aside.sentences[0]
    )
    with pytest.raises(FormatError):
        list(read(path))


def test_ids_that_are_numbers_do_not_move(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n{"text": 1}\nnonsense\n{"text": "b"}\n')
    documents, report = _all(path)
    assert [document.id for document in documents] == ["a:1", "a:4"]
    assert report.aside.count == 2


def test_a_bad_record_costs_the_document_of_its_group(tmp_path: Path) -> None:
    def row(group: str, start: int) -> str:
        mention = {"start": start, "end": start + 1, "entity_type": "X"}
        return json.dumps({"tokens": ["a", "b"], "doc_id": group, "entity_mentions": [mention]})

    path = tmp_path / "a.jsonl"
    bad = row("2", 0).replace('"X"', "7")
    path.write_text(
        "\n".join([row("1", 0), row("2", 0), bad, row("3", 0), "{", row("3", 1), "{", row("4", 0)])
        + "\n"
    )
    documents, report = _all(path)
    assert [document.id for document in documents] == ["1", "4"]
    assert report.aside.count == 3  # 2, 3 with the line inside it, and the line between 3 and 4


def test_a_bad_record_of_an_array_costs_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"text": "a"}, 3, {"text": "b"}]')
    documents, report = _all(path)
    assert [document.text for document in documents] == ["a", "b"]
    assert report.aside.count == 1
    path.write_text('[{"text": "a"}, ')
    other = tmp_path / "b.txt"
    other.write_text("c")
    documents, report = _all([path, other])
    assert [document.text for document in documents] == ["c"]
    assert report.aside.count == 1


def test_a_bad_native_line_costs_itself(tmp_path: Path) -> None:
    rows = [codec.encode(Document(id=f"d{number}", text="t")) for number in range(5)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([*rows[:3], rows[0][:-9], b"\xff", *rows[3:]]) + b"\n")
    documents, report = _all(path)
    assert [document.id for document in documents] == [f"d{number}" for number in range(5)]
    assert report.aside.count == 2


CONLL = "a\tB-X\nb\tO\n\nc\tO\nd\n\ne\tO\n\nf\tQ\n\ng\tI-X\n"


def test_a_bad_row_costs_its_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text(CONLL)
    documents, report = _all(path)
    assert [(document.id, document.text) for document in documents] == [
        ("a:1", "a b"),
        ("a:3", "e"),
        ("a:5", "g"),
    ]
    assert report.aside.count == 2
    assert "a.conll:5" in report.aside.sentences[0]
    assert "a.conll:9" in report.aside.sentences[1]


def test_a_bad_first_row_does_not_decide_about_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("what is this\n\na b\tB-X\n\nc\tO\n")
    documents, report = _all(path)
    assert [document.text for document in documents] == ["a b", "c"]
    assert report.aside.count == 1


def test_a_bad_row_costs_the_document_that_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    mark = "-DOCSTART-\tO\n\n"
    path.write_bytes(
        (mark + "a\tO\n\n" + mark + "b\tO\n\n\x00\tO\n\nc\n\n" + mark + "d\tO\n").encode()
    )
    documents, report = _all(path)
    assert [(document.id, document.text) for document in documents] == [("a:1", "a"), ("a:3", "d")]
    assert report.aside.count == 1
    documents, report = _all(path, options=ConllOptions(documents="file"))
    assert documents == []
    assert report.aside.count == 1


PUBTATOR = [
    "1|t|One\n1|a|Two\n1\t0\t3\tOne\tX\t-\n",
    "2|t|One\n2|a|Two\n2\tzero\n2\t0\t3\tOne\tX\t-\n",
    "3|t|One\n3|a|\n",
    "nonsense\n",
    "4|t|One\n4|a|Two\n5\t0\t3\tOne\tX\t-\n",
    "6|t|One\n",
]


def test_a_bad_line_costs_its_pubtator_document(tmp_path: Path) -> None:
    path = tmp_path / "a.pubtator"
    path.write_text("\n".join(PUBTATOR))
    documents, report = _all(path)
    assert [document.id for document in documents] == ["1", "3", "6"]
    assert report.aside.count == 3
    path.write_bytes(b"1|t|a\n1|a|\xff\n2|t|b\n2|a|c\n")
    documents, report = _all(path)
    assert [document.id for document in documents] == ["2"]
    assert report.aside.count == 1


def test_an_abstract_after_a_bad_title_is_no_document_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.pubtator"
    path.write_text("1|t|One\n1|a|Two\n2 t Three\n2|a|Four\n3|t|Five\n3|a|Six\n")
    documents, report = _all(path)
    assert [document.id for document in documents] == ["3"]
    assert report.aside.count == 1


@pytest.mark.parametrize("packed", [False, True])
def test_a_bad_file_of_brat_costs_its_pair(tmp_path: Path, packed: bool) -> None:
    files = {
        "a.txt": b"one",
        "a.ann": b"T1\tX 0 3\tone\n",
        "b.txt": b"\xff\xfe\x00",
        "b.ann": b"",
        "c.txt": b"two",
        "c.ann": b"nonsense\n",
        "d.ann": b"T1\tX 0 3\tone\n",
        "e.txt": b"three",
        "f.TXT": b"x",
        "f.txt": b"x",
        "g.txt": b"four",
    }
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    path = folder
    if packed:
        path = tmp_path / "corpus.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for file in sorted(folder.iterdir()):
                archive.write(file, file.name)
    documents, report = _all(path, format="brat")
    assert [document.id for document in documents] == ["a", "e", "g"]
    assert report.aside.count == 4
    assert {
        name for name in "bcdf" if any(f"{name}." in one.lower() for one in report.aside.sentences)
    } == set("bcdf")
    with pytest.raises(FormatError):
        list(read(path, format="brat"))


def test_what_can_be_read_of_damaged_gzip_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    whole = gzip.compress(
        b"".join(json.dumps({"text": str(hash(n) ** 9)}).encode() + b"\n" for n in range(9_000))
    )
    path.write_bytes(whole[: len(whole) // 2])
    documents, report = _all(path)
    assert len(documents) > 1000
    assert report.aside.count == 1
    assert "not read" in report.aside.sentences[0]


@pytest.mark.parametrize("name", ["a.conll.gz", "a.pubtator.gz"])
def test_a_document_that_damaged_gzip_cuts_off_is_not_given(tmp_path: Path, name: str) -> None:
    blocks = [f"w{n**7}\tO\nw{n**9}\tO\n\n" for n in range(9000)]
    if "pubtator" in name:
        blocks = [f"{n}|t|w{n**7}\n{n}|a|w{n**9}\n\n" for n in range(9000)]
    whole = gzip.compress("".join(blocks).encode())
    path = tmp_path / name
    path.write_bytes(whole[: len(whole) // 2])
    documents, report = _all(path)
    assert len(documents) > 1000
    assert all(document.text.count(" ") == 1 for document in documents)
    assert report.aside.count == 1


def test_a_bad_file_does_not_cost_the_other_files(tmp_path: Path) -> None:
    for name, content in {"a.txt": b"one", "b.txt": b"\x00\xff", "c.txt": b"two"}.items():
        (tmp_path / name).write_bytes(content)
    documents, report = _all(tmp_path)
    assert [document.id for document in documents] == ["a", "c"]
    assert report.aside.count == 1
    unknown, empty = tmp_path / "x.unknown", tmp_path / "e.jsonl"
    unknown.write_bytes(b"what\nis\nthis")
    empty.write_bytes(b"")
    documents, report = _all([unknown, empty, tmp_path / "a.txt"])
    assert [document.id for document in documents] == ["a"]
    assert report.aside.count == 2
    with pytest.raises(InputError):
        read([unknown, tmp_path / "a.txt"])


TSV = "document\ttype\tstart\tend\n1\tX\t0\t1\n2\tX\t3\t1\n2\tX\t0\t1\n3\tX\t0\t1\n1\tX\t5\t6\n4\tX\n5\tX\t0\t2\n"


def test_a_bad_row_costs_the_predictions_of_its_document(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv"
    path.write_bytes(TSV.encode() + b"\xff\n5\tX\t2\t3\n6\tX\t0\t1\n")
    aside = FailedDocuments(keep_going=True)
    found = list(read_predictions(Source(path=str(path)), aside=aside))
    assert [prediction.id for prediction in found] == ["1", "3", "6"]
    assert aside.count == 4  # 2, 1 once more, 4, and 5 with the line inside it
    with pytest.raises(FormatError):
        list(read_predictions(Source(path=str(path))))


def test_a_bad_line_costs_the_predictions_of_its_document(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    row = '{"id": "%s", "mentions": [], "fascicle_predictions": 1}'
    path.write_text("\n".join([row % "1", "{", row % "2", row % "1", row % "3"]))
    aside = FailedDocuments(keep_going=True)
    found = list(read_predictions(Source(path=str(path)), aside=aside))
    assert [prediction.id for prediction in found] == ["1", "2", "3"]
    assert aside.count == 2
