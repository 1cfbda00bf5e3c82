"""Tests that steps read texts without characters that print nothing, and answer for the texts as
they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from fascicle.core.document import Document, Event, Link, Mention, Patch, Relation, Section
from fascicle.core.patches import apply
from fascicle.core.printed import as_printed, run_on_printed
from fascicle.core.stream import stream
from fascicle.loading import load
from fascicle.pipeline.pipeline import Pipeline
from fascicle.terms.abbreviations.finder import AbbreviationFinder
from fascicle.terms.variant_recogniser import VariantRecogniser

HIDDEN = (
    "\u00ad",
    "\u200b",
    "\u2060",
    "\ufeff",
    "\u200e",
    "\u200f",
    "\ufe0f",
    "\u202a",
    "\u2066",
    "\U000e0100",
)


class Words:
    """Step that marks each run of letters, and remembers the texts that it was given."""

    name = "words"
    needs: frozenset[str] = frozenset()
    gives = frozenset({"mentions", "words", "sentences"})
    drops = frozenset({"words"})
    fingerprint = "words"

    def __init__(self) -> None:
        self.texts: list[str] = []

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        self.texts += [document.text for document in documents]
        return [self._patch(document) for document in documents]

    def _patch(self, document: Document) -> Patch:
        spans = tuple(found.span() for found in re.finditer(r"\w+", document.text))
        event = Event(step="words", kind="note", code="first", message="first", span=spans[0])
        mentions = tuple(Mention((span,), "Word", source="words") for span in spans)
        return Patch(
            add=mentions,
            words=spans,
            sentences=((0, len(document.text)),),
            events=(event,),
            drop=tuple(
                mention.key
                for mention in document.layer("words")
                if mention.key not in map(key, mentions)
            ),
            links=tuple((mention.key, (Link(id="1"),)) for mention in document.layer("gold")),
        )


def key(mention: Mention) -> object:
    return mention.key


@pytest.mark.parametrize("character", HIDDEN)
def test_a_hidden_character_cuts_no_word(character: str) -> None:
    text, step = (
        f"{character}dia{character}betes{character} mel{character}{character}litus",
        Words(),
    )
    (document,) = stream(step.run, [text])
    assert step.texts == ["diabetes mellitus"]
    assert [one.text for one in document] == [
        f"dia{character}betes",
        f"mel{character}{character}litus",
    ]
    assert document.words == tuple(one.spans[0] for one in document.mentions)
    assert document.events[0].span == document.words[0]
    (other,) = Pipeline([Words()]).stream([text])
    assert other.mentions == document.mentions


@pytest.mark.parametrize("line_end", ["\n", "\r\n", " \n  "])
def test_a_soft_hyphen_at_a_line_end_joins_a_word(line_end: str) -> None:
    text = f"the hepato\u00ad{line_end}cellular part"
    (document,) = stream(Words().run, [text])
    assert [one.text for one in document] == ["the", f"hepato\u00ad{line_end}cellular", "part"]


def test_joiners_stay_and_plain_texts_are_the_same_objects() -> None:
    given = [
        Document(id="1", text="ab\u200ccd \U0001f468\u200d\U0001f469"),
        Document(id="2", text="é plain"),
    ]
    seen: list[Document] = []
    list(
        run_on_printed(
            lambda documents: seen.extend(documents) or [Patch()] * len(documents), given
        )
    )
    assert all(one is other for one, other in zip(seen, given, strict=True))


def test_parts_and_earlier_mentions_correspond() -> None:
    text = "\u200eLi\u00adthium\u200e helps \u00ad"
    document = Document(
        id="1",
        text=text,
        words=((0, 10), (11, 16), (17, 18)),
        sections=(Section(0, 17, "title"), Section(17, 18, "x")),
        mentions=(
            Mention(((0, 10),), "Chemical"),
            Mention(((17, 18),), "X"),
            Mention(((0, 3),), "Old", source="words"),
        ),
    )
    seen: list[Document] = []

    def run(documents: Sequence[Document]) -> list[Patch]:
        seen.extend(documents)
        return Words().run(documents)

    (patch,) = run_on_printed(run, [document])
    after = apply(document, patch, drops=["words"])
    assert (seen[0].text, seen[0].words) == ("Lithium helps ", ((0, 7), (8, 13)))
    assert [one.spans for one in after.layer("words")] == [((1, 9),), ((11, 16),)]
    assert after.layer("gold")[0].links == (Link(id="1"),)
    assert {one.type for one in after.mentions} == {"Chemical", "X", "Word"}


def test_abbreviations_and_variants_are_whole() -> None:
    text = "hepato\u00adcellular carci\u200bnoma (H\u00adCC) with BRAF V6\u200b00E mutation"
    (document,) = stream(AbbreviationFinder().run, [text])
    ((short, long),) = document.abbreviations or ()
    assert (text[slice(*short)], text[slice(*long)]) == (
        "H\u00adCC",
        "hepato\u00adcellular carci\u200bnoma",
    )
    assert [one.text for one in VariantRecogniser()(text)] == ["V6\u200b00E"]


def test_the_model_finds_whole_names() -> None:
    model = load("biomed-fast")
    for text in (
        "hepa\u00adto\u00adcellular carci\u00adnoma",
        "dia\u200bbetes",
        "nephro\u00adtoxicity",
        "asth\u200ema",
    ):
        (mention,) = model(f"A patient had {text}.").mentions[1:]
        assert (mention.type, mention.spans) == ("Disease", ((14, 14 + len(text)),))


def test_relations_are_between_the_printed_mentions() -> None:
    text = "asp\u00adirin caused \u200bpain"
    drug, pain = Mention(((0, 8),), "Chemical"), Mention(((17, 21),), "Disease")
    hidden = Mention(((16, 17),), "Disease")
    relations = (
        Relation(type="causes", arguments=(("agent", drug.key), ("harm", pain.key))),
        Relation(type="causes", arguments=(("agent", drug.key), ("harm", hidden.key))),
        Relation(type="CID", attributes=(("Chemical", "D1"), ("Disease", "D2"))),
    )
    printed = as_printed(
        Document(id="d", text=text, mentions=(drug, hidden, pain), relations=relations)
    )
    now = Mention(((0, 7),), "Chemical"), Mention(((15, 19),), "Disease")
    ends = tuple(zip(("agent", "harm"), (mention.key for mention in now), strict=True))
    assert printed.relations == (Relation(type="causes", arguments=ends), relations[2])
