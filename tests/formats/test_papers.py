"""Dumps of papers, written from the descriptions of S2ORC, CORD-19, OpenAlex and Europe PMC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.formats import read

TITLE, ABSTRACT, BODY = "Zetamycin in asthma", "Zetamycin helped 𝛽 mice.", "Gout is here."
TEXT = f"{TITLE}\n\n{ABSTRACT}"
ABSTRACT_AT = [{"start": len(TITLE) + 2, "end": len(TEXT)}]


def parsed(record: Any, folder: Path, name: str = "a.jsonl") -> Document:
    (folder / name).write_text(json.dumps(record) + "\n", encoding="utf-8")
    (document,) = read(folder / name)
    return document


def parts(document: Document) -> list[tuple[str, str]]:
    return [(one.name, document.text[one.start : one.end]) for one in document.sections or ()]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_cord_19_and_older_s2orc(name: str, tmp_path: Path) -> None:
    record = {
        "paper_id": "77",
        "metadata": {"title": TITLE, "authors": []},
        "abstract": [{"text": ABSTRACT, "section": "Abstract", "cite_spans": []}],
        "body_text": [{"text": BODY, "section": "Introduction", "cite_spans": []}],
        "bib_entries": {},
    }
    document = parsed(record, tmp_path, name)
    assert document.id == "77"
    assert parts(document) == [("title", TITLE), ("abstract", ABSTRACT), ("paragraph", BODY)]


def test_s2orc_with_places_of_its_parts(tmp_path: Path) -> None:
    annotations = {
        "title": json.dumps([{"start": 0, "end": len(TITLE)}]),
        "abstract": json.dumps(ABSTRACT_AT),
        "paragraph": json.dumps(ABSTRACT_AT),
        "bibref": json.dumps([{"start": 0, "end": 3, "attributes": {"id": "b0"}}]),
        "figure": None,
    }
    content = {"source": {"pdfurls": None}, "text": TEXT, "annotations": annotations}
    document = parsed({"corpusid": 3, "externalids": {"pubmed": "1"}, "content": content}, tmp_path)
    assert (document.id, document.text) == ("3", TEXT)
    assert parts(document) == [("title", TITLE), ("abstract", ABSTRACT)]


def test_places_outside_of_the_text_are_an_error(tmp_path: Path) -> None:
    content = {"text": "Gout.", "annotations": {"title": '[{"start": 0, "end": 9}]'}}
    with pytest.raises(InputError, match="not in the text"):
        parsed({"corpusid": 3, "content": content}, tmp_path)


def test_words_of_openalex_are_put_in_order(tmp_path: Path) -> None:
    index = {"mice": [2, 4], "and": [3], "Zetamycin": [0], "helped": [1]}
    record = {"id": "https://openalex.org/W1", "title": TITLE, "abstract_inverted_index": index}
    document = parsed(record, tmp_path)
    assert parts(document)[1] == ("abstract", "Zetamycin helped mice and mice")
    assert parsed({**record, "abstract_inverted_index": None}, tmp_path).text == TITLE


def test_a_search_of_europe_pmc(tmp_path: Path) -> None:
    result = {"id": "11", "pmid": "11", "title": TITLE, "abstractText": ABSTRACT}
    search = {"version": "6.9", "hitCount": 1, "resultList": {"result": [result]}}
    document = parsed(search, tmp_path, "a.json")
    assert (document.id, parts(document)) == ("11", [("title", TITLE), ("abstract", ABSTRACT)])
