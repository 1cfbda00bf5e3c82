"""Documents that go through formats many times, and through every pair of formats, stay the same:
nested and discontinuous mentions too, where the format holds them.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest

import fascicle
from fascicle.core.document import Document, Mention

WORDS = [
    "lung",
    "cancer",
    "of",
    "the",
    "IL-2",
    "receptor",
    "β-actin",
    "in",
    "naïve",
    "T",
    "cells",
    "and",
    "5-HT",
    "𝛼",
    "é",
    "déjà",
]
# of texts; CoNLL has words
FORMATS = (
    *("jsonl", "records", "pubtator", "pubtator3", "bioc", "bioc-json", "brat"),
    *("parquet", "spacy", "kazu", "label-studio"),
)
TIMES = 20
Content = list[tuple[str, set[tuple[object, str]]]]


def made_documents() -> list[Document]:
    draw, documents = Random(3), []
    for number in range(10):
        words = draw.choices(WORDS, k=30)
        starts = [sum(len(word) + 1 for word in words[:at]) for at in range(len(words))]
        spans = [(start, start + len(word)) for start, word in zip(starts, words, strict=True)]
        firsts = [draw.randrange(25) for _ in range(8)]
        mentions = {
            *(Mention(((spans[at][0], spans[at + 2][1]),), "Disease") for at in firsts[:3]),
            *(Mention((spans[at],), draw.choice(["Gene", "Chemical"])) for at in firsts[:6]),
            *(Mention((spans[at], spans[at + 3]), "Gene") for at in firsts[6:]),
        }
        documents.append(
            Document(id=f"d{number}", text=" ".join(words) + ".", mentions=tuple(mentions))
        )
    return documents


def content(documents: list[Document]) -> Content:
    return [(one.text, {(m.spans, m.type) for m in one.mentions}) for one in documents]


def there_and_back(documents: list[Document], name: str, folder: Path) -> list[Document]:
    path = folder / f"{name}-file"
    fascicle.write(path, documents, format=name, overwrite=True)
    return sorted(fascicle.read(path, format=name), key=lambda one: one.id)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Document]]:
    folder = tmp_path_factory.mktemp("once")
    return {name: there_and_back(made_documents(), name, folder) for name in FORMATS}


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_changes_after_the_first_time(
    name: str, once: dict[str, list[Document]], tmp_path: Path
) -> None:
    documents = once[name]
    for _ in range(TIMES):
        documents = there_and_back(documents, name, tmp_path)
        assert content(documents) == content(once[name])


@pytest.mark.parametrize(("first", "second"), list(product(FORMATS, FORMATS)))
def test_pairs_of_formats_keep_what_both_hold(
    first: str, second: str, once: dict[str, list[Document]], tmp_path: Path
) -> None:
    """Either format alone loses the same mentions."""
    expected = [
        (text, kept & also)
        for (text, kept), (_, also) in zip(content(once[first]), content(once[second]), strict=True)
    ]
    assert content(there_and_back(once[first], second, tmp_path)) == expected
    assert [text for text, _ in expected] == [one.text for one in made_documents()]
