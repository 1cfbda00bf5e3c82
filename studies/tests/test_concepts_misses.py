"""Why a concept of gold is no answer, and what a wrong link is, on a document written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from studies.concepts.misses import lacking_kinds, wrong_kinds

TEXT = "p53 and BAX and IL6 and TNF"
LABELS = {
    "NCBIGene:1": "TP53",
    "NCBIGene:2": "Tp53",
    "NCBIGene:3": "BAX",
    "NCBIGene:4": "IL6",
    "NCBIGene:5": "TNF",
}


class _Pack:
    def concept_rows(self, curies: Sequence[str]) -> Any:
        return np.array(
            [list(LABELS).index(one) if one in LABELS else -1 for one in curies], dtype=np.int64
        )

    def label_at(self, row: int) -> str:
        return list(LABELS.values())[row]


def _mention(words: str, curie: str = "", score: float = 0.95) -> Mention:
    start = TEXT.index(words)
    links = (Link(id=curie.partition(":")[2], curie=curie, score=score),) if curie else ()
    return Mention(spans=((start, start + len(words)),), type="Gene", links=links)


def _gold(*mentions: Mention) -> list[Document]:
    return [Document(id="one", text=TEXT, mentions=mentions)]


@pytest.mark.parametrize(
    ("concept", "answer", "kind"),
    [
        ("NCBIGene:99", _mention("p53", "NCBIGene:1"), "not in the pack"),
        ("NCBIGene:1", _mention("BAX", "NCBIGene:3"), "no mention found"),
        ("NCBIGene:1", _mention("p53"), "mention without a concept"),
        ("NCBIGene:1", _mention("p53 and", "NCBIGene:2"), "mention with another concept"),
    ],
)
def test_why_a_concept_lacks(concept: str, answer: Mention, kind: str) -> None:
    gold = _gold(_mention("p53", concept))
    assert list(lacking_kinds(gold, [[answer]], "Gene", _Pack())) == [kind]
    assert list(lacking_kinds(gold, [[_mention("BAX", concept)]], "Gene", _Pack())) == []


@pytest.mark.parametrize(
    ("there", "kind"),
    [
        (_mention("BAX", "NCBIGene:3"), "gold has no mention there"),
        (_mention("p53"), "gold has no concept there"),
        (_mention("p53 and", "NCBIGene:2"), "the gene of another species"),
        (_mention("p53 and", "NCBIGene:4"), "other ends"),
        (_mention("p53", "NCBIGene:4"), "another concept"),
    ],
)
def test_what_a_wrong_link_is(there: Mention, kind: str) -> None:
    answers = [[_mention("p53", "NCBIGene:1"), _mention("TNF", "NCBIGene:5", score=0.8)]]
    assert list(wrong_kinds(_gold(there), answers, "Gene", _Pack())) == [kind]
    assert list(wrong_kinds(_gold(_mention("IL6", "NCBIGene:1")), answers, "Gene", _Pack())) == []
