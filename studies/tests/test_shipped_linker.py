"""The linker that is shipped gives both forms of the annotated abbreviations of Ab3P one answer."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest
from tests.linking.test_shipped import SHIPPED, answers, check_pairs

from fascicle.terms.abbreviations.finder import find_abbreviations
from studies.abbreviations.finder import FILE, records


@SHIPPED
@pytest.mark.parametrize("kind", ["Gene", "Disease", "Chemical"])
def test_annotated_pairs_have_one_answer(kind: str, fascicle_data: Path) -> None:
    pairs = {
        (long, short, kind)
        for record in records(fascicle_data / FILE)
        for short, long in record.pairs
    }
    assert check_pairs(sorted(pairs)) > 50


@SHIPPED
@pytest.mark.parametrize("kind", ["Gene", "Disease", "Chemical"])
def test_definitions_in_abstracts_have_one_answer(kind: str, fascicle_data: Path) -> None:
    texts = ["\n".join(record.lines) for record in records(fascicle_data / FILE)]
    pairs = [find_abbreviations(text) for text in texts]
    said = answers([(text, [*chain(*own)], kind) for text, own in zip(texts, pairs, strict=True)])
    for text, own, found in zip(texts, pairs, said, strict=True):
        of = dict(found)
        assert all(of[short] == of[long] for short, long in own), text
