"""Names of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from fascicle.core.files.source import Source, distinguishing_folders, read_lines
from fascicle.errors import InputError
from fascicle.formats import predictions, read
from fascicle.terms.matcher import read_typed_names


def test_folders_that_tell_files_of_one_name_apart() -> None:
    paths = [
        "/a/one/x/dev.tsv",
        "/a/two/x/dev.tsv",
        "/a/one/y/test.tsv",
        "/b/one/x/same.tsv",
        "/b/one/x/same.json",
    ]
    assert distinguishing_folders(paths, ["dev", "dev", "test", "same", "same"]) == [
        "one",
        "two",
        "y",
        "x",
        "x",
    ]
    assert distinguishing_folders(["/dev.tsv", "/c/dev.tsv"], ["dev", "dev"]) == ["/", "c"]


JOINED = {
    "a.pubtator": ["1|t|One\n1|a|Two\n1\t0\t3\tOne\tX\t-\n\n", "2|t|Three\n2|a|\n"],
    "a.jsonl": ['{"text": "a"}\n', '{"text": "b"}\n'],
    "a.nbib": ["PMID- 1\nTI  - One\n\n", "PMID- 2\nTI  - Two\n"],
    "a.ris": ["TY  - JOUR\nTI  - One\nER  - \n", "TY  - JOUR\nTI  - Two\nER  - \n"],
    "a.conll": ["One\tB-X\ntwo\tO\n\n", "Three\tB-X\nfour\tO\n"],
    "d.conll": ["-DOCSTART-\tO\n\nOne\tB-X\n\n", "-DOCSTART-\tO\n\nThree\tB-X\n\n"],
    "n.jsonl": [
        '{"id": "1", "text": "a", "fascicle": 1}\n',
        '{"id": "2", "text": "b", "fascicle": 1}\n',
    ],
}


@pytest.mark.parametrize("name", sorted(JOINED))
def test_files_that_were_joined_with_their_byte_order_marks(tmp_path: Path, name: str) -> None:
    plain, marked = tmp_path / "plain" / name, tmp_path / name
    plain.parent.mkdir()
    plain.write_text("".join(JOINED[name]), encoding="utf-8")
    marked.write_bytes(b"".join(part.encode("utf-8-sig") for part in JOINED[name]))
    assert list(read(marked)) == list(read(plain))
    assert len(list(read(plain))) == 2


def test_predictions_that_were_joined_with_their_byte_order_marks(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(
        b"".join(
            f'{{"id": "{n}", "fascicle_predictions": 1}}\n'.encode("utf-8-sig") for n in range(2)
        )
    )
    assert [prediction.id for prediction in predictions.read(Source(path=str(path)))] == ["0", "1"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_dictionaries_that_were_joined_with_their_byte_order_marks(
    tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "names.tsv"
    path.write_bytes(
        b"".join(row.encode(encoding) for row in ("Drug\taspirin\n", "Drug\tibuprofen\n"))
    )
    assert [(one.name, one.type) for one in read_typed_names(str(path))] == [
        ("aspirin", "Drug"),
        ("ibuprofen", "Drug"),
    ]


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_never_ends_is_refused(device: str) -> None:
    with pytest.raises(InputError, match="may not end"):
        list(read_lines(Source(path=device)))


def test_the_empty_device_is_an_empty_file() -> None:
    assert list(read_lines(Source(path="/dev/null"))) == []
