"""Telling files apart by what is in them, however it is ordered, however long its lines are."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from fascicle.errors import FormatError
from fascicle.formats import detect, read
from fascicle.formats.detection import prediction_kind


def _prediction(mentions: int, *, last: bool = True) -> dict[str, Any]:
    found = [{"spans": [[n, n + 1]], "type": "X"} for n in range(mentions)]
    body = {"id": "1", "sha256": "0" * 64, "mentions": found}
    return {**body, "fascicle_predictions": 1} if last else {"fascicle_predictions": 1, **body}


@pytest.mark.parametrize("mentions", [0, 49, 200, 5_000])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("indent", ["", " "])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_predictions_are_told_wherever_their_key_is(
    tmp_path: Path, mentions: int, last: bool, indent: str, mark: bytes
) -> None:
    line = indent + json.dumps(_prediction(mentions, last=last))
    path = tmp_path / "p.jsonl"
    path.write_bytes(mark + f"{line}\n{line}\n".encode())
    assert prediction_kind(str(path)) == "predictions"
    with pytest.raises(FormatError, match="prediction"):
        detect(str(path))
    packed = tmp_path / "p.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert prediction_kind(str(packed)) == "predictions"


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("a.tsv", b"document\ttype\tstart\tend\tscore\n", "tsv"),
        ("a.tsv", b"end\tstart\ttype\tdocument\r\n1\t0\tX\td\r\n", "tsv"),
        ("a.tsv", b"word\tO\n", ""),
        ("a.jsonl", b'{"id": "1", "text": "\\"fascicle_predictions\\"", "fascicle": 1}\n', ""),
        ("a.jsonl", b'{"text": "x", "meta": {"fascicle_predictions": 1}}\n', ""),
        (
            "a.jsonl",
            b'{"id": "1", \n{"id": "2", "mentions": [], "fascicle_predictions": 1}\n',
            "predictions",
        ),
        ("a.txt", b"fascicle_predictions\n", ""),
        ("a.bin", b"\x00\xff\x00", ""),
        ("a.gz", b"\x1f\x8b\x08\x00broken", ""),
        ("a.jsonl", b"", ""),
    ],
)
def test_what_is_no_prediction_file(tmp_path: Path, name: str, content: bytes, wanted: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert prediction_kind(str(path)) == wanted
    assert (
        prediction_kind(str(tmp_path))
        == prediction_kind(str(tmp_path / "nothing"))
        == prediction_kind("-")
        == ""
    )


def test_a_long_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    line = json.dumps({"id": "1", "text": "x" * 1000}).encode() + b"\n"
    path.write_bytes(line * 30_000)
    tracemalloc.start()
    try:
        assert prediction_kind(str(path)) == ""
        assert detect(str(path)) == "records"
        assert tracemalloc.get_traced_memory()[1] < 2 * 2**20
    finally:
        tracemalloc.stop()


def test_a_damaged_first_line_does_not_hide_the_format(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"id": "1", "text": "a"\n'
        + json.dumps({"id": "2", "text": "b" * 70_000, "fascicle": 1})
        + "\n"
    )
    assert detect(str(path)) == "jsonl"
    path = tmp_path / "b"
    path.write_text('{"text": "a"\n{"text": "b"}\n')
    assert detect(str(path)) == "records"


LINES = {
    "a.conll": "one\tB-X\ntwo\tO\n\nthree\tI-X\n",
    "b.conll": "-DOCSTART-\tO\n\none\tB-X\n\n-DOCSTART-\tO\n\ntwo\tO\nthree\tO\n",
    "a.pubtator": "1|t|One\n1|a|Two\n1\t0\t3\tOne\tX\t-\n\n2|t|Three\n2|a|\n",
    "a.jsonl": '{"text": "a", "entities": []}\n{"text": "b", "entities": []}\n',
    "n.jsonl": '{"id": "1", "text": "a", "fascicle": 1}\n\n{"id": "2", "text": "b", "fascicle": '
    "1}\n",
}


@pytest.mark.parametrize("end", ["\r", "\r\n", "\r\r\n"])
@pytest.mark.parametrize("name", sorted(LINES))
def test_line_ends_of_all_systems(tmp_path: Path, name: str, end: str) -> None:
    plain, path = tmp_path / "plain" / name, tmp_path / name
    plain.parent.mkdir()
    plain.write_bytes(LINES[name].encode())
    path.write_bytes(LINES[name].replace("\n", end).encode())
    assert detect(str(path)) == detect(str(plain))
    assert list(read(path)) == list(read(plain))


def test_mixed_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_bytes(b"one\tB-X\rtwo\tO\r\r\r\rthree\tO\n\nfour\tO\r\nfive\tO\r\n\r\nsix\tO")
    assert [document.text for document in read(path)] == ["one two", "three", "four five", "six"]
    path.write_bytes(b"one\tB-X\rtwo\rthree\tO\n")
    with pytest.raises(FormatError, match=r"a\.conll:2"):
        list(read(path))


@pytest.mark.parametrize("depth", [0, 1, 6])
def test_annotation_below_folders_is_found(tmp_path: Path, depth: int) -> None:
    folder = tmp_path.joinpath(*["part"] * depth)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.txt").write_text("aspirin", encoding="utf-8")
    (folder / "a.ann").write_text("T1\tChemical 0 7\taspirin\n", encoding="utf-8")
    assert detect(str(tmp_path)) == "brat"
    assert [mention.type for document in read(str(tmp_path)) for mention in document.mentions] == [
        "Chemical"
    ]


@pytest.mark.parametrize("blanks", [1, 60_000])
@pytest.mark.parametrize(
    ("content", "wanted"),
    [(b'[ {"documents": [', "bioc-json"), (b"", "records"), (b"[", "records")],
)
def test_blanks_before_a_record_are_passed_once(
    tmp_path: Path, blanks: int, content: bytes, wanted: str
) -> None:
    """With 60,000 blanks a pattern that tried every way to share them out took a minute."""
    (tmp_path / "a.jsonl").write_bytes(b" " * blanks + content)
    assert detect(str(tmp_path / "a.jsonl")) == wanted


def test_a_short_text_file_that_begins_as_conll_is_conll(tmp_path: Path) -> None:
    path = tmp_path / "train.txt"
    path.write_text("-DOCSTART- -X- O O\n\nLung NN I-NP I-Disease\n. . O O\n")
    assert detect(str(path)) == "conll"
