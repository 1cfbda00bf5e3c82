"""Decisions as rules for packs: what the rules then do to names is what curators said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from fascicle.core.document import Document, Link, Mention
from fascicle.serving.curation.decisions import After, Decided, Edit, Step, apply_steps
from fascicle.serving.curation.exchange import rules_table
from fascicle.terms.curation import Curation, CurationRule, NameRow, read_rules

TEXT = "CAT is fed. A cat sleeps. CAT again."
PLACES = ((0, 3), (14, 17), (26, 29))
OLD, NEW = "HGNC:1516", "NCBITaxon:9685"


def mention(span: tuple[int, int], curie: str = OLD) -> Mention:
    prefix, local = curie.split(":")
    return Mention((span,), "Gene", 0.6, "names", (Link(id=local, ontology=prefix, curie=curie),))


def link(curie: str) -> tuple[Link, ...]:
    prefix, local = curie.split(":")
    return (Link(id=local, ontology=prefix, curie=curie),)


def said(*afters: After | None) -> Decided:
    """Decisions about the first mentions of a text, one after the other."""
    mentions = tuple(mention(span) for span in PLACES)
    document = Document(id="a", text=TEXT, mentions=mentions)
    edits = tuple(
        Edit(item=msgspec.json.encode(one.key).decode(), after=after)
        for one, after in zip(mentions, afters, strict=False)
    )
    return apply_steps(document, [Step(number=1, who="Ada\tB", at="now", edits=edits)])


def rules(found: Sequence[Decided], folder: Path) -> list[CurationRule]:
    (folder / "rules.tsv").write_text(rules_table(found), encoding="utf-8")
    return read_rules([str(folder / "rules.tsv")])


def test_a_name_that_was_always_rejected_matches_no_text(tmp_path: Path) -> None:
    made = rules([said(None, None)], tmp_path)
    curation = Curation(made)
    assert not curation.decide(NameRow("CAT", "hgnc", OLD)).match
    assert not curation.decide(NameRow("cat", "hgnc", OLD)).match
    assert curation.decide(NameRow("Cat", "hgnc", OLD)).match


def test_decisions_that_differ_give_a_comment_and_no_rule(tmp_path: Path) -> None:
    keep = After(spans=(PLACES[2],), type="Gene", links=link(OLD))
    found = [said(None, keep, keep)]
    made = rules(found, tmp_path)
    assert {rule.surface for rule in made} == set()
    assert "# CAT: no rule" in rules_table(found)


def test_another_concept_is_added_and_preferred(tmp_path: Path) -> None:
    made = rules([said(None, After(spans=(PLACES[1],), type="Species", links=link(NEW)))], tmp_path)
    curation = Curation(made)
    assert curation.decide(NameRow("cat", "taxonomy", NEW)).preferred
    assert not curation.decide(NameRow("cat", "hgnc", OLD)).match
    assert curation.decide(NameRow("cat", "taxonomy", NEW)).match


def test_two_concepts_of_one_surface_are_left_to_a_person(tmp_path: Path) -> None:
    first = After(spans=(PLACES[0],), type="Gene", links=link("A:1"))
    third = After(spans=(PLACES[2],), type="Gene", links=link("B:2"))
    document = Document(id="a", text=TEXT, mentions=tuple(mention(PLACES[at]) for at in (0, 2)))
    edits = tuple(
        Edit(item=msgspec.json.encode(one.key).decode(), after=after)
        for one, after in zip(document.mentions, (first, third), strict=True)
    )
    made = rules(
        [apply_steps(document, [Step(number=1, who="Ada", at="now", edits=edits)])], tmp_path
    )
    assert {rule.action for rule in made} == {"ner_off"}


def test_what_was_accepted_or_not_decided_gives_no_rule(tmp_path: Path) -> None:
    assert rules([said(After(spans=(PLACES[0],), type="Gene", links=link(OLD)))], tmp_path) == []


def test_a_concept_that_stayed_with_another_span_was_not_given_to_its_words(tmp_path: Path) -> None:
    assert rules([said(After(spans=((0, 10),), type="Gene", links=link(OLD)))], tmp_path) == []
    given = rules([said(After(spans=((0, 10),), type="Gene", links=link(NEW)))], tmp_path)
    assert {(rule.action, rule.surface, rule.concept) for rule in given} == {
        ("add", "CAT is fed", NEW),
        ("prefer", "CAT is fed", NEW),
    }


def test_words_that_are_no_name_give_a_comment_and_leave_the_table_readable(
    tmp_path: Path,
) -> None:
    text = "a\x01b CAT \u00ad x"
    mentions = tuple(
        Mention((span,), "Gene", 0.6, "names") for span in ((0, 3), (4, 7), (8, 9), (10, 11))
    )
    items = [msgspec.json.encode(one.key).decode() for one in mentions]
    odd = (Link(id="1|2", ontology="OMIM", curie="OMIM:1|2"),)
    edits = (
        *(Edit(item=item, after=None) for item in items[:3]),
        Edit(item=items[3], after=After(spans=((10, 11),), type="Gene", links=odd)),
    )
    found = apply_steps(
        Document(id="a", text=text, mentions=mentions),
        [Step(number=1, who="Ada", at="now", edits=edits)],
    )
    assert [(rule.action, rule.surface) for rule in rules([found], tmp_path)] == [
        ("ner_off", "CAT")
    ]
    comments = [line for line in rules_table([found]).splitlines() if line.startswith("#")]
    assert len(comments) == 3
    assert all("\x01" not in line and "no rule for" in line for line in comments)
