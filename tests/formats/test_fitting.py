"""A file of which most mentions do not fit says so, in every format with texts beside offsets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention
from fascicle.core.effects import make_event
from fascicle.formats import read
from fascicle.formats.files import note_misfits
from fascicle.formats.offset_units import BYTES, UTF16, conversion

TEXT = "IL-2 binds IL-6 and IL-8."
FITTING = [(0, 4), (11, 15), (20, 24)]
WORDS = ["IL-2", "IL-6", "IL-8"]


def native(rows: list[tuple[int, int, str]]) -> str:
    mentions = [
        {"spans": [[start, end]], "type": "Gene", "text": word} for start, end, word in rows
    ]
    return json.dumps({"fascicle": 2, "id": "1", "text": TEXT, "mentions": mentions}) + "\n"


def records(rows: list[tuple[int, int, str]]) -> str:
    mentions = [
        {"start": start, "end": end, "type": "Gene", "text": word} for start, end, word in rows
    ]
    return json.dumps({"id": "1", "text": TEXT, "entities": mentions}) + "\n"


def bigbio(rows: list[tuple[int, int, str]]) -> str:
    passages = [{"id": "p", "type": "title", "text": [TEXT], "offsets": [[0, len(TEXT)]]}]
    entities = [
        {"id": str(at), "type": "Gene", "text": [word], "offsets": [[start, end]], "normalized": []}
        for at, (start, end, word) in enumerate(rows)
    ]
    record = {"id": "1", "document_id": "1", "passages": passages, "entities": entities}
    return (
        json.dumps(record | {name: [] for name in ("events", "coreferences", "relations")}) + "\n"
    )


def label_studio(rows: list[tuple[int, int, str]]) -> str:
    result = [
        {"type": "labels", "value": {"start": start, "end": end, "labels": ["Gene"], "text": word}}
        for start, end, word in rows
    ]
    return json.dumps([{"id": 1, "data": {"text": TEXT}, "annotations": [{"result": result}]}])


def kazu(rows: list[tuple[int, int, str]]) -> str:
    entities = [
        {
            "match": word,
            "entity_class": "Gene",
            "spans": [{"start": start, "end": end}],
            "namespace": "x",
            "mention_confidence": "HIGHLY_LIKELY",
            "metadata": {},
        }
        for start, end, word in rows
    ]
    return (
        json.dumps(
            {"idx": "1", "sections": [{"text": TEXT, "name": "title", "entities": entities}]}
        )
        + "\n"
    )


def bioc_entry(rows: list[tuple[int, int, str]]) -> dict[str, object]:
    annotations = [
        {
            "id": "1",
            "infons": {"type": "Gene"},
            "text": word,
            "locations": [{"offset": start, "length": end - start}],
        }
        for start, end, word in rows
    ]
    passage = {"offset": 0, "infons": {"type": "title"}, "text": TEXT, "annotations": annotations}
    return {"id": "1", "infons": {}, "passages": [passage]}


def bioc_json(rows: list[tuple[int, int, str]]) -> str:
    return json.dumps({"source": "", "date": "", "key": "", "documents": [bioc_entry(rows)]})


def pubtator3(rows: list[tuple[int, int, str]]) -> str:
    return json.dumps({"PubTator3": [bioc_entry(rows)]})


def bioc_xml(rows: list[tuple[int, int, str]]) -> str:
    annotations = "".join(
        f'<annotation id="{at}"><infon key="type">Gene</infon><location offset="{start}" '
        f'length="{end - start}"/>'
        f"<text>{word}</text></annotation>"
        for at, (start, end, word) in enumerate(rows)
    )
    passage = f"<passage><offset>0</offset><text>{TEXT}</text>{annotations}</passage>"
    return f"<collection><document><id>1</id>{passage}</document></collection>"


def pubtator(rows: list[tuple[int, int, str]]) -> str:
    lines = [f"1\t{start}\t{end}\t{word}\tGene\t" for start, end, word in rows]
    return "\n".join([f"1|t|{TEXT}", "1|a|", *lines]) + "\n"


def brat(rows: list[tuple[int, int, str]]) -> str:
    return "".join(
        f"T{at}\tGene {start} {end}\t{word}\n" for at, (start, end, word) in enumerate(rows)
    )


def offsets(rows: list[tuple[int, int, str]]) -> str:
    lines = [f"1\t{start}\t{end}\tGene\t{word}" for start, end, word in rows]
    return "\n".join(["filename\tstart\tend\tlabel\ttext", *lines]) + "\n"


FORMATS: dict[str, tuple[Callable[[list[tuple[int, int, str]]], str], str, str]] = {
    "jsonl": (native, "a.jsonl", "jsonl"),
    "records": (records, "a.jsonl", "records"),
    "bigbio": (bigbio, "a.jsonl", "records"),
    "label-studio": (label_studio, "a.json", "records"),
    "kazu": (kazu, "a.kazu.jsonl", "kazu"),
    "bioc": (bioc_xml, "a.xml", "bioc"),
    "bioc-json": (bioc_json, "a.json", "bioc-json"),
    "pubtator3": (pubtator3, "a.json", "auto"),
    "pubtator": (pubtator, "a.pubtator", "pubtator"),
    "brat": (brat, "1.ann", "brat"),
    "offsets": (offsets, "a.tsv", "offsets"),
}


def said(tmp_path: Path, name: str, moves: tuple[int, int, int]) -> Counter[str]:
    make, file, format_name = FORMATS[name]
    rows = [
        (start + move, end + move, word)
        for (start, end), word, move in zip(FITTING, WORDS, moves, strict=True)
    ]
    (tmp_path / file).write_text(make(rows), encoding="utf-8")
    folder = name in ("brat", "offsets")
    if folder:
        (tmp_path / "1.txt").write_text(TEXT, encoding="utf-8")
    (found,) = read(tmp_path if folder else tmp_path / file, format=format_name)
    # offsets are kept
    assert {one.text for one in found} == {TEXT[start:end] for start, end, _ in rows}
    return Counter(event.code for event in found.events)


@pytest.mark.parametrize("name", FORMATS)
def test_mentions_that_fit_are_read_without_a_word(tmp_path: Path, name: str) -> None:
    assert said(tmp_path, name, (0, 0, 0)) == Counter()


@pytest.mark.parametrize("name", FORMATS)
def test_one_mention_that_does_not_fit_is_said(tmp_path: Path, name: str) -> None:
    assert said(tmp_path, name, (0, 1, 0)) == Counter({"text-mismatch": 1})


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_of_which_most_do_not_fit_says_so(tmp_path: Path, name: str) -> None:
    assert said(tmp_path, name, (0, 1, 1)) == Counter({"text-mismatch": 2, "most-offsets-wrong": 1})


def document(at: int, fitting: int, wrong: int, lost: int) -> Document:
    mentions = tuple(Mention(((start, start + 1),), "Gene") for start in range(fitting + wrong))
    told = [*(["text-mismatch"] * wrong), *(["offset-outside"] * lost)]
    events = tuple(make_event(code, step="test", message="") for code in told)
    return Document(id=str(at), text="x" * 20, mentions=mentions, events=events)


COUNTS = st.tuples(*[st.integers(0, 4)] * 3)


@given(st.lists(COUNTS, max_size=8))
def test_the_last_document_has_the_verdict(counts: list[tuple[int, int, int]]) -> None:
    """The same documents in the same order; the verdict is that of all of them together."""
    documents = [document(at, *three) for at, three in enumerate(counts)]
    found = list(note_misfits(iter(documents)))
    assert [one.id for one in found] == [one.id for one in documents]
    fitting, *misfits = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    told = [event.code for event in chain.from_iterable(one.events for one in found)]
    assert told.count("most-offsets-wrong") == (sum(misfits) > max(1, fitting))
    assert all(one == given for one, given in zip(found[:-1], documents, strict=False))


def test_a_file_without_a_fault_is_read_as_it_comes() -> None:
    taken = []

    def documents() -> object:
        for at in range(3):
            taken.append(at)
            yield document(at, 2, 0, 0)

    stream = note_misfits(documents())  # type: ignore[arg-type]
    next(stream)
    assert taken == [0]


@pytest.mark.parametrize(
    ("unit", "expected"),
    [(UTF16, [0, 1, 2, -1, 3, 4, -1]), (BYTES, [0, 1, -1, -1, 2, -1, -1, -1, 3, 4, -1])],
)
def test_units_change_at_the_borders_of_unicode(unit: str, expected: list[int]) -> None:
    """U+FFFF is the last character of one unit of UTF-16 and of three bytes; U+10000 has two,
    and four.
    """
    convert = conversion("a\uffff\U00010000b", unit)
    assert [convert(at) for at in range(len(expected))] == expected
