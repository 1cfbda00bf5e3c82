"""One bad document among good ones: the good ones are written, the bad one is named, counted and
set aside.

What must not be lost: the good documents, in every input format and every output format, and the
place of the bad one. The good documents alone, converted by the same command, are the oracle.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fascicle.cli import main

NAMES = ("first", "second", "third", "fourth")


@dataclass(frozen=True)
class Broken:
    """A file with one bad document among four.

    Attributes:
        suffix: of the file.
        good: the parts of the four good documents, in order.
        bad: the part that takes the place of one of them.
        head, between, tail: what else the file holds.
    """

    suffix: str
    good: tuple[bytes, ...]
    bad: bytes
    head: bytes = b""
    between: bytes = b"\n"
    tail: bytes = b"\n"
    options: tuple[str, ...] = ()

    def file(self, folder: Path, parts: Sequence[bytes]) -> Path:
        folder.mkdir(exist_ok=True)
        path = folder / f"corpus{self.suffix}"
        path.write_bytes(self.head + self.between.join(parts) + self.tail)
        return path

    def with_bad(self, folder: Path, at: int) -> Path:
        return self.file(folder, [*self.good[:at], self.bad, *self.good[at + 1 :]])

    def without(self, folder: Path, at: int) -> Path:
        return self.file(folder, [*self.good[:at], *self.good[at + 1 :]])

    @property
    def format(self) -> tuple[str, str]:
        """The option of the command that says what it is."""
        if self.suffix in (".pubtator", ".conll"):
            return "--input-format", self.suffix[1:]
        return "--input-format", "native" if b'"fascicle"' in self.good[0] else "jsonl"


def record(name: str) -> bytes:
    text = f"The {name} patient took lithium"
    entities = [{"start": len(text) - 7, "end": len(text), "type": "Chemical"}]
    return json.dumps({"id": name, "text": text, "entities": entities}).encode()


def tokens(name: str) -> bytes:
    return json.dumps(
        {"id": name, "tokens": ["The", name, "aspirin"], "tags": ["O", "O", "B-Chemical"]}
    ).encode()


def native(name: str) -> bytes:
    text = f"The {name} patient took lithium"
    spans = [[len(text) - 7, len(text)]]
    return json.dumps(
        {
            "fascicle": 1,
            "id": name,
            "text": text,
            "mentions": [{"spans": spans, "type": "Chemical"}],
        }
    ).encode()


def pubtator(name: str) -> bytes:
    title = f"The {name} patient took lithium"
    return f"{name}|t|{title}\n{name}|a|Well.\n{name}\t{len(title) - 7}\t{len(title)}\tlithium\tChemical\t-\n".encode()


def sentence(name: str) -> bytes:
    return f"The\tO\n{name}\tO\naspirin\tB-Chemical\n".encode()


RECORDS, TOKENS, NATIVE, PUBTATOR, SENTENCES = (
    tuple(map(made, NAMES)) for made in (record, tokens, native, pubtator, sentence)
)
BY_SENTENCE = ("--documents", "sentence")
CASES = {
    "records-not-json": Broken(".jsonl", RECORDS, b'{"id": "x", "text": '),
    "records-a-list": Broken(".jsonl", RECORDS, b"[1, 2]"),
    "records-a-number": Broken(".jsonl", RECORDS, b"17"),
    "records-null": Broken(".jsonl", RECORDS, b"null"),
    "records-text-is-a-number": Broken(
        ".jsonl", RECORDS, b'{"id": "x", "text": 3, "entities": []}'
    ),
    "records-no-text": Broken(".jsonl", RECORDS, b'{"id": "x", "entities": []}'),
    "records-entities-is-a-word": Broken(
        ".jsonl", RECORDS, b'{"id": "x", "text": "a", "entities": "b"}'
    ),
    "records-offset-is-a-word": Broken(
        ".jsonl",
        RECORDS,
        b'{"id": "x", "text": "ab", "entities": [{"start": "0", "end": 1, "type": "T"}]}',
    ),
    "records-offset-is-a-fraction": Broken(
        ".jsonl",
        RECORDS,
        b'{"id": "x", "text": "ab", "entities": [{"start": 0.5, "end": 1, "type": "T"}]}',
    ),
    "records-no-type": Broken(
        ".jsonl", RECORDS, b'{"id": "x", "text": "ab", "entities": [{"start": 0, "end": 1}]}'
    ),
    "records-other-shape": Broken(
        ".jsonl",
        RECORDS,
        b'{"id": "x", "text": "ab", "relations_of_spans": [], "mentions": [[0, 1, "T"]]}',
    ),
    "records-not-utf-8": Broken(
        ".jsonl", RECORDS, b'{"id": "x", "text": "\xff\xfe\xfa", "entities": []}'
    ),
    "records-lone-surrogate": Broken(
        ".jsonl", RECORDS, b'{"id": "x", "text": "\\ud800", "entities": []}'
    ),
    "records-a-nul": Broken(".jsonl", RECORDS, b'{"id": "x", "text": "a\x00b", "entities": []}'),
    "records-nested-deep": Broken(
        ".jsonl",
        RECORDS,
        b'{"id": "x", "text": "a", "entities": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    ),
    "tokens-a-tag-too-few": Broken(
        ".jsonl", TOKENS, b'{"id": "x", "tokens": ["a", "b"], "tags": ["O"]}'
    ),
    "tokens-an-empty-one": Broken(
        ".jsonl", TOKENS, b'{"id": "x", "tokens": ["a", ""], "tags": ["O", "O"]}'
    ),
    "tokens-an-unknown-tag": Broken(
        ".jsonl", TOKENS, b'{"id": "x", "tokens": ["a"], "tags": ["Q:Chemical"]}'
    ),
    "array-a-number": Broken(".json", RECORDS, b"17", head=b"[", between=b",\n", tail=b"]"),
    "array-no-text": Broken(
        ".json", RECORDS, b'{"id": "x", "entities": []}', head=b"[", between=b",\n", tail=b"]"
    ),
    "native-not-json": Broken(".jsonl", NATIVE, b'{"fascicle": 1, "id"'),
    "native-offset-outside": Broken(
        ".jsonl",
        NATIVE,
        b'{"fascicle": 1, "id": "x", "text": "ab", "mentions": [{"spans": [[0, 9]], "type": "T"}]}',
    ),
    "native-of-a-later-version": Broken(
        ".jsonl", NATIVE, b'{"fascicle": 99, "id": "x", "text": "ab"}'
    ),
    "native-unknown-field": Broken(
        ".jsonl", NATIVE, b'{"fascicle": 1, "id": "x", "text": "ab", "metnions": []}'
    ),
    "pubtator-two-columns": Broken(".pubtator", PUBTATOR, b"x|t|Aspirin\nx|a|\nx\t0\n"),
    "pubtator-end-is-a-word": Broken(
        ".pubtator", PUBTATOR, b"x|t|Aspirin\nx|a|\nx\t0\tend\tAspirin\tChemical\t-\n"
    ),
    "pubtator-of-another-document": Broken(
        ".pubtator", PUBTATOR, b"x|t|Aspirin\nx|a|\ny\t0\t7\tAspirin\tChemical\t-\n"
    ),
    "pubtator-two-titles": Broken(".pubtator", PUBTATOR, b"x|a|One\nx|a|Two\n"),
    "conll-no-tag": Broken(".conll", SENTENCES, b"The\tO\nword\n", options=BY_SENTENCE),
    "conll-an-unknown-tag": Broken(
        ".conll", SENTENCES, b"The\tO\nword\tChemical!\n", options=BY_SENTENCE
    ),
    "conll-not-utf-8": Broken(".conll", SENTENCES, b"The\tO\n\xff\xfe\tO\n", options=BY_SENTENCE),
}
OUTPUTS = {
    "jsonl": "out.jsonl",
    "records": "out.records.jsonl",
    "pubtator": "out.pubtator",
    "conll": "out.conll",
    "tsv": "out.tsv",
    "csv": "out.csv",
    "predictions": "out.predictions.jsonl",
    "brat": "out.zip",
    "text": "out.txt",
}


@pytest.fixture
def convert(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs ``fascicle corpus convert``; gives the exit code and what was printed on standard
    error.
    """

    def run(source: Path, target: Path, *options: str) -> tuple[int, str]:
        code = main(["corpus", "convert", str(source), "-o", str(target), *options])
        return code, capsys.readouterr().err

    return run


def content(path: Path) -> object:
    """What a file of documents holds, without what the archive says of itself."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    return path.read_bytes()


def numbered_alike(data: object) -> object:
    """Ids that count the documents of a file differ where one is missing."""
    return re.sub(rb"corpus:\d+", b"corpus:N", data) if isinstance(data, bytes) else data


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize("name", CASES)
def test_the_good_ones_are_written(
    convert: Callable[..., tuple[int, str]], tmp_path: Path, name: str, at: int
) -> None:
    case = CASES[name]
    options = (*case.format, *case.options)
    source = case.with_bad(tmp_path / "bad", at)
    before = source.read_bytes()
    code, err = convert(source, tmp_path / "bad.jsonl", *options)
    assert code == 3, err
    assert "Traceback" not in err
    assert "internal error" not in err
    assert "corpus" in err
    assert source.read_bytes() == before
    assert convert(case.without(tmp_path / "good", at), tmp_path / "good.jsonl", *options)[0] == 0
    written = numbered_alike((tmp_path / "bad.jsonl").read_bytes())
    assert written == numbered_alike((tmp_path / "good.jsonl").read_bytes())
    assert isinstance(written, bytes)
    assert written.count(b"\n") == 3


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize(
    "name", ["records-not-json", "native-not-json", "pubtator-two-columns", "records-not-utf-8"]
)
def test_every_output_format_has_them(
    convert: Callable[..., tuple[int, str]], tmp_path: Path, name: str, output: str
) -> None:
    case = CASES[name]
    options = (*case.format, "--format", output)
    bad, good = (tmp_path / f"{folder}-{OUTPUTS[output]}" for folder in ("bad", "good"))
    code, err = convert(case.with_bad(tmp_path / "bad", 2), bad, *options)
    assert code == 3, err
    assert convert(case.without(tmp_path / "good", 2), good, *options)[0] == 0
    assert content(bad) == content(good)


@pytest.mark.parametrize("name", CASES)
def test_all_bad_is_an_error_and_writes_nothing(
    convert: Callable[..., tuple[int, str]], tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    source = case.file(tmp_path, (case.bad,) * 3)
    code, err = convert(source, tmp_path / "out.jsonl", *case.format, *case.options)
    assert code == 2, err
    assert "internal error" not in err
    assert not (tmp_path / "out.jsonl").exists()
