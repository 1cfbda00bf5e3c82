"""Versions of a document: what becomes gold, and who sees what, against rules that are written
again here.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention, Relation
from fascicle.serving.curation.decisions import After, Edit, Step, apply_steps, check, gold_document
from fascicle.serving.curation.exchange import rules_table
from fascicle.serving.curation.store import GivenStep, Kept
from fascicle.serving.curation.versions import REVIEWED, Versions
from fascicle.serving.problems import ProblemError
from fascicle.settings.serving import NamedToken, Project, Role

TEXT = "Aspirin helps."
SPANS = [((0, 7),), ((8, 13),), ((0, 13),)]
CONCEPTS = ["", "MESH:D1", "MESH:D2"]
MODEL = Document(
    id="a",
    text=TEXT,
    mentions=(Mention(SPANS[0], "T", source="m"), Mention(SPANS[1], "T", source="m", score=0.5)),
)
NAMES = ("Ada", "Ben", "Cy")
PROJECT = Project(curators=NAMES)
# number of a span -> concept, and "open", "finished" or "skipped"
Side = tuple[dict[int, str], str]
sides = st.tuples(
    st.dictionaries(st.sampled_from([0, 1, 2]), st.sampled_from(CONCEPTS)),
    st.sampled_from(["open", "finished", "skipped"]),
)


def mention(number: int, concept: str) -> Mention:
    return Mention(SPANS[number], "T", links=(Link(id=concept, curie=concept),) if concept else ())


def edit(number: int, concept: str | None, *, reviewed: bool = False) -> Edit:
    source = "gold" if reviewed else "m"
    item = f'["{source}","T",[[{SPANS[number][0][0]},{SPANS[number][0][1]}]]]'
    item = f"added-{number}" if number == 2 and not reviewed else item
    return Edit(item=item, after=None if concept is None else After.of(mention(number, concept)))


def kept(given: dict[str, Side], review: dict[int, str | None] | None = None) -> Kept:
    steps: list[dict[str, Any]] = []
    for who, (said, state) in given.items():
        edits = tuple(
            edit(number, said.get(number)) for number in range(3) if number in said or number < 2
        )
        steps.append({"who": who, "edits": edits})
        if state == "finished":
            steps.append({"who": who, "finished": True})
        elif state == "skipped":
            steps.append({"who": who, "remark": {"skipped": True}})
    for number, concept in (review or {}).items():
        steps.append(
            {"who": "Rita", "version": REVIEWED, "edits": (edit(number, concept, reviewed=True),)}
        )
    return Kept(
        MODEL,
        tuple(
            msgspec.convert(
                {
                    "number": at,
                    "at": "2026-01-01",
                    **{k: msgspec.to_builtins(v) for k, v in one.items()},
                },
                Step,
            )
            for at, one in enumerate(steps, 1)
        ),
    )


def expected(
    given: dict[str, Side], review: dict[int, str | None]
) -> tuple[dict[int, str], set[int]]:
    """Gold, and what is disputed, as the documentation says."""
    done = {name: said for name, (said, state) in given.items() if state == "finished"}
    waits = not done or any(state == "open" for _, state in given.values())
    gold, disputed = {}, set()
    for number in {number for said in done.values() for number in said}:
        said = [of.get(number) for of in done.values()]
        if number in review:
            continue
        if len(set(said)) == 1 and not waits:
            gold[number] = str(said[0])
        else:
            disputed.add(number)
    gold |= {number: concept for number, concept in review.items() if concept is not None}
    return gold, disputed


@given(
    st.tuples(sides, sides, sides),
    st.dictionaries(st.integers(0, 2), st.sampled_from([None, *CONCEPTS])),
)
def test_gold_is_what_reviewers_decide_or_else_what_all_agree_on(
    said: tuple[Side, Side, Side], review: dict[int, str | None]
) -> None:
    given_ = dict(zip(NAMES, said, strict=True))
    there = {number for of, state in said if state == "finished" for number in of}
    review = {number: concept for number, concept in review.items() if number in there}
    versions = Versions(kept(given_, review), PROJECT)
    gold, disputed = expected(given_, review)
    number_of = {spans: number for number, spans in enumerate(SPANS)}

    def plain(mentions: tuple[Mention, ...]) -> dict[int, str]:
        return {number_of[one.spans]: one.links[0].curie if one.links else "" for one in mentions}

    assert plain(versions.reviewed.gold) == plain(versions.final.gold) == gold
    assert {number_of[one.spans] for one in versions.reviewed.undecided} == disputed
    assert plain(gold_document(versions.final).mentions) == gold
    everyone = all(state != "open" for _, state in said) and any(
        state == "finished" for _, state in said
    )
    assert versions.final.finished == (everyone and not disputed)


@given(
    st.tuples(sides, sides, sides),
    st.booleans(),
    st.sampled_from(["curator", "reviewer", "administrator"]),
)
def test_nobody_sees_others_before_their_own_version_is_done(
    said: tuple[Side, Side, Side], private: bool, role: Role
) -> None:
    project = Project(curators=NAMES, private=private)
    versions = Versions(kept(dict(zip(NAMES, said, strict=True))), project)
    for name in (*NAMES, "Rita", ""):
        who = NamedToken(name=name, role=role)
        at = NAMES.index(name) if name in NAMES else None
        may = role != "curator" if at is None else said[at][1] == "finished" or not private
        for version in (*NAMES, REVIEWED):
            if may or (version == name and at is not None):
                versions.check_seen(who, version)
            else:
                with pytest.raises(ProblemError) as caught:
                    versions.check_seen(who, version)
                assert caught.value.problem.code == "hidden"


def step(who: str, **parts: Any) -> GivenStep:
    return GivenStep(document="a", id="0" * 32, who=who, **parts)


def test_who_may_change_which_version() -> None:
    versions = Versions(
        kept({"Ada": ({}, "finished"), "Ben": ({}, "open")}), Project(curators=("Ada", "Ben", "Cy"))
    )
    ada, ben, rita = (
        NamedToken(name="Ada"),
        NamedToken(name="Ben", role="reviewer"),
        NamedToken(name="Rita", role="reviewer"),
    )
    edits = (edit(0, ""),)
    refused = [
        (ada, step("Ada", edits=edits), 409),
        (ada, step("Ada", finished=False), 409),
        (ada, step("Ada", undoes=2), 409),
        (ada, step("Ada", version=REVIEWED, edits=edits), 403),
        (ada, step("Ada", version="Ben", finished=False), 403),
        # a reviewer whose own version is not done
        (ben, step("Ben", version=REVIEWED, edits=edits), 403),
        (ben, step("Ben", version="Ada", finished=False), 403),
        (rita, step("Rita", edits=edits), 403),
        (rita, step("Rita", version="Ada", edits=edits), 403),
        (rita, step("Rita", version="Ada", finished=True), 403),
        (rita, step("Rita", version="Eve", finished=False), 404),
    ]
    for who, one, status in refused:
        with pytest.raises(ProblemError) as caught:
            versions.changed_by(who, one)
        assert caught.value.problem.status == status, one
    taken = [
        (ada, step("Ada", remark={"note": "x"}), "Ada"),
        (ben, step("Ben", edits=edits), "Ben"),
        (rita, step("Rita", version=REVIEWED, edits=edits), REVIEWED),
        (rita, step("Rita", version="Ada", finished=False), "Ada"),
    ]
    for who, one, version in taken:
        assert versions.changed_by(who, one) == versions.shown(version)


def test_a_curator_who_began_keeps_a_document_that_is_assigned_to_others_now() -> None:
    one = Project(curators=NAMES, per_document=1)
    (assigned,) = one.assigned("a")
    other = next(name for name in NAMES if name != assigned)
    assert Versions(kept({}), one).curators == (assigned,)
    assert set(Versions(kept({other: ({}, "open")}), one).curators) == {assigned, other}
    assert Versions(kept({"Eve": ({}, "open")}), one).curators == (assigned,)
    # as the page sends it
    begun = Step(number=1, who=other, at="2026-01-01", version=other, edits=(edit(0, ""),))
    assert set(Versions(Kept(MODEL, (begun,)), one).curators) == {assigned, other}


def test_what_nobody_decided_about_is_not_rejected() -> None:
    steps = (
        Step(number=1, who="Ada", at="2026-01-01", edits=(edit(0, ""),)),
        Step(number=2, who="Ada", at="2026-01-01", finished=True),
    )
    final = Versions(Kept(MODEL, steps), Project(curators=("Ada",))).final
    assert final.finished
    assert [one.verdict for one in final.items] == ["accepted", ""]
    assert "ner_off" not in rules_table([final])


def test_a_reviewer_changes_a_decision_about_a_mention_that_its_curator_took_back() -> None:
    reviewed = Step(
        number=3, who="Rita", at="2026-01-01", version=REVIEWED, edits=(edit(0, "", reviewed=True),)
    )
    again = Step(
        number=4,
        who="Rita",
        at="2026-01-01",
        version=REVIEWED,
        edits=(edit(0, None, reviewed=True),),
    )
    document, steps = Versions(Kept(MODEL, (reviewed,)), PROJECT).shown(REVIEWED)
    assert [one.spans for one in apply_steps(document, steps).gold] == [SPANS[0]]
    check(document, steps, again)
    assert not apply_steps(document, (*steps, again)).gold


def test_rules_and_tasks_are_about_what_models_found() -> None:
    both = {"Ada": ({1: ""}, "finished"), "Ben": ({1: "", 2: ""}, "finished")}
    rejects = [Edit(item='["gold","T",[[0,13]]]', after=None)]
    found = kept(both)
    steps = (
        *found.steps,
        Step(number=99, who="Rita", at="2026-01-01", version=REVIEWED, edits=tuple(rejects)),
    )
    final = Versions(Kept(found.document, steps), Project(curators=("Ada", "Ben"))).final
    assert final.finished
    assert "ner_off\tAspirin" in rules_table([final]).replace("\t\t", "\t")
    task = gold_document(final, beside=True)
    assert [(one.source, one.spans) for one in task.mentions] == [
        ("m", SPANS[0]),
        ("gold", SPANS[1]),
        ("m", SPANS[1]),
    ]


FATES = {"kept": (0, 7, "T"), "retyped": (0, 7, "U"), "moved": (0, 5, "T"), "rejected": None}


def fate(
    name: str, *, of: str, version: str | None = None, number: int = 1, who: str = "Rita"
) -> Step:
    place = FATES[name]
    after = None if place is None else After(spans=((place[0], place[1]),), type=place[2])
    return Step(
        number=number,
        who=who,
        at="2026-01-01",
        version=version,
        edits=(Edit(item=of, after=after),),
    )


@given(st.sampled_from([*FATES]), st.none() | st.sampled_from([*FATES]), st.integers(1, 2))
def test_relations_follow_what_became_of_a_mention_in_a_project(
    made: str, review: str | None, curators: int
) -> None:
    names, keys = NAMES[:curators], [one.key for one in MODEL.mentions]
    document = MODEL.having(
        relations=(Relation(type="R", arguments=(("a", keys[0]), ("b", keys[1]))),)
    )
    steps = [
        fate(made, of='["m","T",[[0,7]]]', number=at, who=name) for at, name in enumerate(names)
    ]
    steps += [
        Step(number=10 + at, who=name, at="2026-01-01", finished=True)
        for at, name in enumerate(names)
    ]
    end = made
    if review is not None and (now := FATES[made]) is not None:
        steps.append(
            fate(
                review, of=f'["gold","{now[2]}",[[{now[0]},{now[1]}]]]', number=20, version=REVIEWED
            )
        )
        end = review
    final = Versions(Kept(document, tuple(steps)), Project(curators=names)).final
    alone = apply_steps(document, (fate(end, of='["m","T",[[0,7]]]'),))
    assert [(one.origin, one.now, one.verdict) for one in final.items] == [
        (one.origin, one.now, one.verdict) for one in alone.items
    ]
    assert gold_document(final).relations == gold_document(alone).relations


def test_a_relation_follows_the_change_that_a_reviewer_chose() -> None:
    steps = (
        fate("kept", of='["m","T",[[0,7]]]', who="Ada"),
        fate("retyped", of='["m","T",[[0,7]]]', number=2, who="Ben"),
        *(
            Step(number=3 + at, who=name, at="2026-01-01", finished=True)
            for at, name in enumerate(("Ada", "Ben"))
        ),
        fate("rejected", of='["gold","T",[[0,7]]]', number=5, version=REVIEWED),
        fate("retyped", of='["gold","U",[[0,7]]]', number=6, version=REVIEWED),
    )
    final = Versions(Kept(MODEL, steps), Project(curators=("Ada", "Ben"))).final
    assert [(one.now and one.now.type, one.verdict) for one in final.items] == [
        ("U", "changed"),
        (None, ""),
    ]
