"""The description files of the corpora: complete, in agreement with the labels of the data, and
not copied from it.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.settings.types import check_types, parse_instance, read_types

FOLDER = Path(__file__).resolve().parents[2] / "recipes" / "types"
FILES = sorted(FOLDER.glob("*.toml"))

# Every file of the corpus in which the labels of a description file must be found, no more and no
# less.
CORPORA = {
    "bc2gm": ["bc2gm/iob/devel.tsv", "bc2gm/iob/test.tsv", "bc2gm/iob/train.tsv.gz"],
    "bc5cdr": ["bc5cdr/iob/devel.tsv", "bc5cdr/iob/test.tsv", "bc5cdr/iob/train.tsv"],
    "bc5cdr-chem": [
        "bc5cdr/iob-chem/devel.tsv",
        "bc5cdr/iob-chem/test.tsv",
        "bc5cdr/iob-chem/train.tsv",
    ],
    "bc5cdr-disease": [
        "bc5cdr/iob-disease/devel.tsv",
        "bc5cdr/iob-disease/test.tsv",
        "bc5cdr/iob-disease/train.tsv",
    ],
    "bionlp11id": [
        "bionlp11id/iob/devel.tsv",
        "bionlp11id/iob/test.tsv",
        "bionlp11id/iob/train.tsv",
    ],
    "bionlp11id-standoff": ["bionlp11id/standoff.zip"],
    "bionlp13cg": [
        "bionlp13cg/iob/train.tsv",
        "bionlp13cg/iob/devel.tsv",
        "bionlp13cg/standoff.zip",
    ],
    "conll04": [
        "conll04/conll04_train.json",
        "conll04/conll04_dev.json",
        "conll04/conll04_test.json",
    ],
    "conllpp": [
        "conllpp/conllpp_train.txt.gz",
        "conllpp/conllpp_dev.txt",
        "conllpp/conllpp_test.txt",
    ],
    "genia": [
        "genia/nested.train.jsonl.gz",
        "genia/nested.test.jsonl",
        "genia/event-docs.jsonl.gz",
    ],
    "jnlpba": ["jnlpba/iob2/train.iob2.gz", "jnlpba/iob2/devel.iob2", "jnlpba/iob2/test.iob2"],
    "linnaeus": ["linnaeus/iob/train.tsv.gz", "linnaeus/iob/test.tsv"],
    "litbank": ["litbank/litbank-entities.zip"],
    "ncbi-disease": [
        "ncbi-disease/iob/train.tsv",
        "ncbi-disease/iob/devel.tsv",
        "ncbi-disease/iob/test.tsv",
    ],
    "scierc": ["scierc/json/train.json", "scierc/json/dev.json", "scierc/json/test.json"],
    "wnut16": [
        "wnut16/train.conll",
        "wnut16/dev.conll",
        "wnut16/dev_2015.conll",
        "wnut16/test.conll",
    ],
    "wnut17": [
        "wnut17/wnut17train.conll",
        "wnut17/emerging.dev.conll",
        "wnut17/emerging.test.annotated",
    ],
}

# A corpus with its types made one, by a change of labels that the head of the file says.
MERGED = {"jnlpba-one": "jnlpba"}
# A corpus of a recipe that must be asked for.
NOT_AT_HAND = {"ace", "livingner"}


def test_every_corpus_has_its_file() -> None:
    assert {path.stem for path in FILES} == {*CORPORA, *MERGED, *NOT_AT_HAND}
    assert MERGED.keys().isdisjoint(CORPORA)


@pytest.mark.parametrize("name", sorted(MERGED))
def test_types_made_one_are_one(name: str) -> None:
    (one,) = read_types(FOLDER / f"{name}.toml").types
    rule = re.search(
        r"sed -E 's/(.*?)/(.*?)/'", (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    )
    assert rule is not None
    of_corpus = read_types(FOLDER / f"{MERGED[name]}.toml").names
    assert len(of_corpus) > 1
    assert {re.sub(rule[1], rule[2], f"of\tB-{label}") for label in of_corpus} == {
        f"of\tB-{one.name}"
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_holds_what_every_variant_needs(path: Path) -> None:
    found = read_types(path)
    assert len(found.texts("keyword")) == len(found.texts("guideline")) == len(found.names)
    for described in found.types:
        assert 8 <= len(described.description.split()) <= 60
        assert described.description.endswith(".")
        assert described.source
        assert len({parse_instance(example).surface for example in described.examples}) == 3
    sentences = [instance.text for three in found.instances(3) for instance in three]
    assert len(set(sentences)) == 3 * len(found.names)


def test_types_that_corpora_share_are_described_alike() -> None:
    found = {path.stem: {d.name: d for d in read_types(path).types} for path in FILES}
    assert found["bc5cdr"] == {**found["bc5cdr-chem"], **found["bc5cdr-disease"]}
    assert found["bionlp11id"].items() <= found["bionlp11id-standoff"].items()
    blank = msgspec.structs.replace
    genia, jnlpba = (
        {k: blank(d, source="") for k, d in found[name].items()} for name in ("genia", "jnlpba")
    )
    assert genia == jnlpba


def contents(path: Path) -> Iterator[tuple[str, str]]:
    """Name and text of each file, or of each member of a zip."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as members:
            for name in members.namelist():
                if Path(name).suffix in (".a1", ".ann", ".txt"):
                    yield name, members.read(name).decode("utf-8")
    elif path.suffix == ".gz":
        yield path.stem, gzip.decompress(path.read_bytes()).decode("utf-8")
    else:
        yield path.name, path.read_text(encoding="utf-8")


def labels(name: str, text: str) -> Iterator[str]:
    """Labels by the shortest way for each form of file, without the readers of the package."""
    if name.endswith((".a1", ".ann")):
        yield from (
            line.split("\t")[1].split()[0] for line in text.splitlines() if line.startswith("T")
        )
    elif name.endswith((".json", ".jsonl")):
        whole = text.lstrip().startswith("[")
        for record in json.loads(text) if whole else map(json.loads, io.StringIO(text)):
            yield from (tag[2:] for tag in record.get("tags", ()) if tag != "O")
            yield from (entity["type"] for entity in record.get("entities", ()))
            yield from (label for sentence in record.get("ner", ()) for _, _, label in sentence)
    elif not name.endswith(".txt") or name.startswith("conllpp"):
        last = (line.split()[-1] for line in text.splitlines() if line.strip())
        yield from (tag[2:] for tag in last if tag.startswith(("B-", "I-")) and len(tag) > 2)


@pytest.mark.parametrize("name", sorted(CORPORA))
def test_the_labels_are_those_of_the_corpus(name: str, fascicle_data: Path) -> None:
    found = {
        label
        for file in CORPORA[name]
        for part in contents(fascicle_data / file)
        for label in labels(*part)
    }
    check_types(read_types(FOLDER / f"{name}.toml"), found, origin=name)


def tokens(record: dict[str, Any]) -> Iterator[str]:
    yield from record.get("tokens", ())
    for sentence in record.get("sentences", ()):
        # of event-docs.jsonl they are ranges
        yield from (word for word in sentence if isinstance(word, str))


def words(name: str, text: str) -> str:
    """All running text of a file without blanks and punctuation, in lower case."""
    if name.endswith((".json", ".jsonl")):
        whole = text.lstrip().startswith("[")
        records = list(json.loads(text) if whole else map(json.loads, io.StringIO(text)))
        text = " ".join(" ".join([record.get("text", ""), *tokens(record)]) for record in records)
    elif name.endswith((".a1", ".ann")):
        text = ""
    elif not name.endswith(".txt") or name.startswith("conllpp"):
        text = " ".join(line.split()[0] for line in text.splitlines() if line.strip())
    return "".join(filter(str.isalnum, text)).lower()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CORPORA))
def test_no_example_is_a_sentence_of_the_corpus(name: str, fascicle_data: Path) -> None:
    running = [words(*part) for file in CORPORA[name] for part in contents(fascicle_data / file)]
    assert sum(map(len, running)) > 100_000
    for three in read_types(FOLDER / f"{name}.toml").instances(3):
        for instance in three:
            plain = "".join(filter(str.isalnum, instance.text)).lower()
            assert not any(plain in text for text in running), instance.text
