"""Everyday names in sentences, with the models, the pack and the linker that are shipped.

A row has a type, a sentence with the name in brackets, and the concepts that are right; ``-`` for
none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import fascicle
from fascicle.core.document import Document, Mention
from fascicle.core.mention import Link
from fascicle.linking.opening import find

_SURE = 0.9


def rows_of(name: str) -> Iterator[tuple[Document, set[str]]]:
    """Yields texts, each with its name as a mention, and the concepts that are right."""
    lines = Path(__file__).with_name(f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    for number, (kind, marked, concepts) in enumerate(line.split("\t") for line in lines[1:]):
        name_match = re.search(r"\[(.*?)\]", marked)
        assert name_match
        start, words = name_match.start(), name_match[1]
        text = f"{marked[:start]}{words}{marked[name_match.end() :]}"
        mention = Mention(((start, start + len(words)),), kind)
        yield Document(id=str(number), text=text, mentions=(mention,)), set(concepts.split("|"))


def verdict(links: Sequence[Link], concepts: set[str]) -> str:
    if len(links) != 1 or links[0].nil:
        return "right" if "-" in concepts else "none"
    return "right" if {links[0].curie, *links[0].same} & concepts else "wrong"


def test_everyday_names_are_right_or_not_answered() -> None:
    documents, concepts = zip(*rows_of("everyday"), strict=True)
    patches = find("basic").opened().predict(documents)
    answers = [patch.links[0][1] for patch in patches]
    counts = Counter(map(verdict, answers, concepts))
    assert counts.total() == 150
    assert counts["right"] >= 141
    assert counts["wrong"] <= 3


def test_names_that_are_found_in_sentences_are_right_or_not_answered() -> None:
    """The concepts were written down before any of the names was linked."""
    documents, concepts = zip(*rows_of("annotated"), strict=True)
    model = fascicle.load("biomed", link="basic", variants=True)
    counts = Counter[str]()
    for document, answer, right in zip(
        documents,
        model.stream([Document(id=each.id, text=each.text) for each in documents]),
        concepts,
        strict=True,
    ):
        (name,) = document.mentions
        links = [
            mention.links
            for mention in answer.mentions
            if (mention.type, mention.spans) == (name.type, name.spans)
        ]
        said = verdict(links[0] if links else (), right)
        is_sure = said == "wrong" and (links[0][0].score or 0.0) >= _SURE
        counts["surely wrong" if is_sure else said] += 1
    assert counts.total() == 120
    assert counts["right"] >= 101
    assert counts["wrong"] <= 1
    assert counts["surely wrong"] == 0
