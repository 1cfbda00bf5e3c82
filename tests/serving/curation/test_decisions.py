"""What steps make of a document: against a slow fold that replays everything from the start."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Link, Mention, Relation
from fascicle.serving.curation.decisions import (
    After,
    Edit,
    Step,
    active,
    apply_steps,
    check,
    gold_document,
    mention_uncertainty,
)
from fascicle.serving.curation.table import write_decisions

TEXT = "Aspirin helps against headache 😀 and pain."
LINK = Link(id="D001241", ontology="MESH", curie="MESH:D001241", name="Aspirin")
MENTIONS = (
    Mention(((0, 7),), "Chemical", 0.9, "model", (LINK,)),
    Mention(((0, 7),), "Chemical", None, "names"),
    Mention(((22, 30),), "Disease", 0.5, "model"),
    Mention(((37, 41),), "Disease", 0.7, "model"),
)
DOCUMENT = Document(id="a", text=TEXT, mentions=MENTIONS)


def item(mention: Mention) -> str:
    return msgspec.json.encode(mention.key).decode()


def after(mention: Mention, **parts: Any) -> After:
    given = {"spans": mention.spans, "type": mention.type, "links": mention.links, **parts}
    return After(**given)


def edit(number: int, *edits: Edit, **rest: Any) -> Step:
    return Step(number=number, who="Ada", at="2026-01-01T00:00:00+00:00", edits=edits, **rest)


def verdicts(*steps: Step) -> list[str]:
    return [one.verdict for one in apply_steps(DOCUMENT, steps).items]


def test_nothing_is_gold_before_a_curator_says_so() -> None:
    found = apply_steps(DOCUMENT, ())
    assert found.gold == ()
    assert found.undecided == DOCUMENT.mentions


def test_mentions_are_accepted_changed_rejected_and_added() -> None:
    first, _, second, third = MENTIONS
    steps = [
        edit(1, Edit(item=item(first), after=after(first))),
        edit(2, Edit(item=item(second), after=after(second, type="Symptom"))),
        edit(3, Edit(item=item(third), after=None)),
        edit(4, Edit(item="added-1", after=After(spans=((8, 13),), type="Verb"))),
    ]
    found = apply_steps(DOCUMENT, steps)
    assert [one.verdict for one in found.items] == ["accepted", "", "changed", "rejected", "added"]
    assert {(one.type, one.spans, one.source) for one in found.gold} == {
        ("Chemical", ((0, 7),), GOLD),
        ("Symptom", ((22, 30),), GOLD),
        ("Verb", ((8, 13),), GOLD),
    }
    assert found.gold[0].links == (LINK,)


def test_layers_that_agree_give_one_gold_mention() -> None:
    step = edit(1, *(Edit(item=item(one), after=after(MENTIONS[0])) for one in MENTIONS[:2]))
    assert len(apply_steps(DOCUMENT, [step]).gold) == 1


def test_of_layers_that_agree_the_last_decision_counts_and_concepts_stay() -> None:
    one, other = MENTIONS[0], MENTIONS[1]
    both = edit(1, Edit(item=item(one), after=after(one)), Edit(item=item(other), after=after(one)))
    link = Link(id="D2", curie="MESH:D2")
    for changed in (one, other):
        again = edit(2, Edit(item=item(changed), after=after(one, links=(link,))))
        assert [found.links for found in apply_steps(DOCUMENT, [both, again]).gold] == [(link,)]
    for linked, bare in ((one, other), (other, one)):  # accepted at once, each as it is
        step = edit(
            1,
            Edit(item=item(linked), after=after(one)),
            Edit(item=item(bare), after=after(one, links=())),
        )
        assert [found.links for found in apply_steps(DOCUMENT, [step]).gold] == [(LINK,)]


def test_another_concept_or_none_is_a_change() -> None:
    other = Edit(item=item(MENTIONS[0]), after=after(MENTIONS[0], links=(Link(id="", nil=True),)))
    assert verdicts(edit(1, other))[0] == "changed"


def test_undoing_and_undoing_that() -> None:
    said = edit(1, Edit(item=item(MENTIONS[0]), after=None))
    undone, again = edit(2, undoes=1), edit(3, undoes=2)
    assert verdicts(said, undone)[0] == ""
    assert verdicts(said, undone, again)[0] == "rejected"


def test_a_mention_that_was_added_is_removed_without_a_trace() -> None:
    steps = [
        edit(1, Edit(item="added-1", after=After(spans=((8, 13),), type="Verb"))),
        edit(2, Edit(item="added-1", after=None)),
    ]
    assert len(apply_steps(DOCUMENT, steps).items) == len(MENTIONS)


def test_a_document_is_finished_until_it_is_opened_again() -> None:
    assert apply_steps(DOCUMENT, [edit(1, finished=True)]).finished
    assert not apply_steps(DOCUMENT, [edit(1, finished=True), edit(2, finished=False)]).finished


def slow_active(steps: list[Step]) -> list[int]:
    """Whether a step counts, asked anew for each: nothing after it that counts undoes it."""

    def counts(number: int) -> bool:
        return not any(
            one.undoes == number and counts(one.number) for one in steps if one.number > number
        )

    return [one.number for one in steps if counts(one.number)]


@given(st.lists(st.integers(0, 12), max_size=12))
def test_the_steps_that_count(draws: list[int]) -> None:
    steps = []
    for number, drawn in enumerate(draws, start=1):
        undoes = drawn if 0 < drawn < number else None
        steps.append(edit(number, undoes=undoes))
    assert [one.number for one in active(steps)] == slow_active(steps)


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["accept", "reject", "retype"])), max_size=8
    )
)
def test_undoing_every_step_gives_the_document_back(drawn: list[tuple[int, str]]) -> None:
    made = {
        "accept": lambda one: after(one),
        "reject": lambda one: None,
        "retype": lambda one: after(one, type="Other"),
    }
    steps = [
        edit(number, Edit(item=item(MENTIONS[which]), after=made[how](MENTIONS[which])))
        for number, (which, how) in enumerate(drawn, start=1)
    ]
    undone = [
        edit(len(steps) + back, undoes=number)
        for back, number in enumerate(range(len(steps), 0, -1), start=1)
    ]
    assert apply_steps(DOCUMENT, [*steps, *undone]).items == apply_steps(DOCUMENT, ()).items


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (edit(1), "only one"),
        (edit(1, Edit(item="added-1", after=None), undoes=1), "only one"),
        (edit(1, undoes=7), "undo"),
        (edit(1, Edit(item="[1]", after=None)), "key of a mention"),
        (edit(1, Edit(item='["other","Disease",[[22,30]]]', after=None)), "no mention"),
        (edit(1, Edit(item="added-1", after=After(spans=((40, 60),), type="X"))), "code points"),
        (edit(1, Edit(item="added-1", after=After(spans=((4, 2),), type="X"))), "4"),
        (edit(1, Edit(item="added-1", after=After(spans=((1, 2),), type=""))), "type"),
    ],
)
def test_steps_that_say_nothing_are_refused(step: Step, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        check(DOCUMENT, (), step)


def test_gold_stands_alone_or_beside_the_models() -> None:
    found = apply_steps(DOCUMENT, [edit(1, Edit(item=item(MENTIONS[0]), after=after(MENTIONS[0])))])
    assert {one.source for one in gold_document(found).mentions} == {GOLD}
    assert {one.source for one in gold_document(found, beside=True).mentions} == {
        GOLD,
        "model",
        "names",
    }
    assert gold_document(found).meta["curated by"] == "Ada"
    reopened = Step(number=9, who="Rita", at="2026-02-01T00:00:00+00:00", finished=False)
    again = apply_steps(found.document, (*found.steps, reopened))
    assert gold_document(again).meta == gold_document(found).meta


def test_relations_follow_mentions_that_become_gold() -> None:
    first, _, second, third = MENTIONS
    stated = Relation(
        type="treats", arguments=(("a", first.key), ("b", second.key), ("c", third.key))
    )
    moved = after(second, spans=((8, 13),), type="Sign")
    edits = [Edit(item=item(first), after=after(first)), Edit(item=item(second), after=moved)]
    for beside in (False, True):
        made = gold_document(
            apply_steps(DOCUMENT.having(relations=(stated,)), [edit(1, *edits)]), beside=beside
        )
        keys = [key for _, key in made.relations[0].arguments]
        assert keys == [(GOLD, "Chemical", ((0, 7),)), (GOLD, "Sign", ((8, 13),)), third.key]
        assert {*keys[:2]} <= {one.key for one in made.mentions}


def test_a_mention_is_least_sure_at_one_half() -> None:
    assert mention_uncertainty(MENTIONS[2]) == 1.0
    assert (
        mention_uncertainty(Mention(((0, 1),), "X", 1.0))
        == mention_uncertainty(Mention(((0, 1),), "X"))
        == 0.0
    )
    assert math.isclose(
        mention_uncertainty(MENTIONS[3]), -0.7 * math.log2(0.7) - 0.3 * math.log2(0.3)
    )
    assert (
        mention_uncertainty(Mention(((0, 1),), "X", 1.0, links=(Link(id="a", score=0.5),))) == 1.0
    )


def test_the_document_with_most_doubt_for_its_length_comes_first() -> None:
    sure = Document(id="sure", text=TEXT, mentions=(Mention(((0, 7),), "Chemical", 0.99, "model"),))
    long = Document(id="long", text=TEXT * 20, mentions=MENTIONS)
    asked = [apply_steps(one, ()) for one in (sure, long, DOCUMENT)]
    assert max(asked, key=lambda one: one.uncertainty).document.id == "a"
    finished = apply_steps(DOCUMENT, [edit(1, finished=True)])
    assert finished.uncertainty == 0.0


def test_a_table_of_decisions_says_that_no_entry_fits(tmp_path: Path) -> None:
    mention = Mention(
        ((0, 7),), "Chemical", source="m", links=(Link(id="", ontology="MESH", nil=True),)
    )
    decided = apply_steps(Document(id="a", text="Aspirin", mentions=(mention,)), ())
    write_decisions([decided], str(tmp_path / "decisions.tsv"))
    header, row = (tmp_path / "decisions.tsv").read_text("utf-8").splitlines()
    assert row.split("\t")[header.split("\t").index("concept")] == "NIL"
