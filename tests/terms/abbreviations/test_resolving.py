"""What short and long forms change about mentions, against a slow form of the same rules."""

from __future__ import annotations

from collections import Counter
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, Patch, in_order
from fascicle.core.mention import Span
from fascicle.settings.decision import AbbreviationRules
from fascicle.terms.abbreviations.finder import find_abbreviations
from fascicle.terms.abbreviations.resolving import all_rule_sets, apply_rules, fit_rules

Flat = dict[Span, tuple[str, float]]
ALL = [
    AbbreviationRules(spread=spread, drop=drop, one_type=one_type)
    for spread, drop, one_type in product(("no", "exact", "end"), (False, True), (False, True))
]


def clash(a: Span, b: Span) -> bool:
    return bool(set(range(*a)) & set(range(*b)))


def best_of(text: str, given: Flat, place: Span) -> tuple[str, float]:
    """The type of a mention, with the best score that its words have as this type; a first
    capital does not count.
    """

    def words(span: Span) -> str:
        return text[span[0] : span[0] + 1].lower() + text[span[0] + 1 : span[1]]

    kind = given[place][0]
    return kind, max(
        score for span, (of, score) in given.items() if of == kind and words(span) == words(place)
    )


def meaning(text: str, pairs: list[tuple[Span, Span]], span: Span) -> str:
    """The long form that plainly defines a short form at a place, if it has several definitions."""
    form = text[slice(*span)]
    mine = sorted(
        (min(short[0], long[0]), text[slice(*long)])
        for short, long in pairs
        if text[slice(*short)] == form
    )
    initials = "".join(filter(str.isalpha, form)).lower()
    plain = [
        (at, long)
        for at, long in mine
        if long.isalpha() or "".join(word[0] for word in long.lower().split()) == initials
    ]
    if len(mine) < 2 or not plain:
        return ""
    before = [one for one in plain if one[0] <= span[0]]
    return (before[-1] if before else plain[0])[1]


def slow(
    text: str,
    pairs: list[tuple[Span, Span]],
    given: Flat,
    rules: AbbreviationRules,
    *,
    defined: list[tuple[Span, Span]],
) -> Flat:
    """For mentions that do not overlap; ``defined``: all pairs of the text."""
    given = slow_widening(pairs, given) if rules.spread == "end" else given
    now, dropped = dict(given), list[Span]()
    forms = sorted({text[slice(*short)] for short, _ in pairs}, key=lambda form: (-len(form), form))
    for form, start in product(forms, range(len(text))):
        span = (start, start + len(form))
        if not text.startswith(form, start) or any(
            one.isalnum() for one in text[max(0, start - 1) : start]
        ):
            continue
        if text[span[1] : span[1] + 1].isalnum():
            continue
        mine = sorted(
            (min(short[0], long[0]), short, long)
            for short, long in pairs
            if text[slice(*short)] == form
        )
        before = [one for one in mine if one[0] <= start]
        long = (before[-1] if before else mine[0])[2]
        ends = sorted(one for one in given if one[1] == long[1])
        place = {
            "no": None,
            "exact": long if long in given else None,
            "end": ends[0] if ends else None,
        }[rules.spread]
        said = best_of(text, given, place) if place else None
        if said and span in now:
            if now[span][0] != said[0]:
                now[span] = said
        elif said and not any(clash(span, other) for other in [*now, *dropped]):
            now[span] = said
        elif not said and rules.drop:
            gone = slow_drops(text, now, given, span, long)
            dropped += gone
            now = {at: what for at, what in now.items() if at not in gone}
    if rules.one_type:
        for span in now:
            same = sorted(
                other
                for other in now
                if text[slice(*other)] == text[slice(*span)]
                and meaning(text, defined, other) == meaning(text, defined, span)
            )
            votes = Counter[str]()
            for other in same:
                votes[now[other][0]] += now[other][1]
            best = min(votes, key=lambda kind: (-votes[kind], kind))
            if now[span][0] != best:
                like = next(now[other] for other in same if now[other][0] == best)
                now |= {other: like for other in same if now[other][0] != best}
                return slow(text, [], now, rules, defined=defined)
    return now


def slow_drops(text: str, now: Flat, given: Flat, short: Span, long: Span) -> list[Span]:
    """Mentions at a short form of which the long form says nothing."""
    over = [other for other in given if clash(long, other)]
    last = long[0] + text[slice(*long)].rfind(" ") + 1
    is_headed = any(end > last for _, end in over)
    kinds = {given[other][0] for other in over}
    parts = [at for at in now if short[0] <= at[0] and at[1] <= short[1]]
    return [at for at in parts if not over or not (is_headed or now[at][0] in kinds)]


def slow_widening(pairs: list[tuple[Span, Span]], given: Flat) -> Flat:
    """Long forms of which only last words are mentions, with the type of their short form."""
    now = dict(given)
    for short, long in sorted(pairs):
        ends = [one for one in now if one[1] == long[1] and one[0] > long[0]]
        over = [one for one in now if clash(one, long)]
        if long in now or not ends or any(one[0] < long[0] for one in over) or short not in now:
            continue
        if now[short][0] == now[ends[0]][0]:
            best = now[short][0], max(now[short][1], now[ends[0]][1])
            now = {one: said for one, said in now.items() if one not in over} | {long: best}
    return now


WORDS = (
    "bone",
    "ash",
    "bad",
    "BA",
    "(BA)",
    "BB",
    "(bone ash, BA)",
    "bone ash (BA)",
    "bad bone (BB)",
    "BA-x",
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Document, tuple[Mention, ...]]:
    text = " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=9)))
    mentions, at = list[Mention](), 0
    borders = sorted({i for i in range(len(text) + 1) if not text[max(0, i - 1) : i + 1].isalnum()})
    while borders and draw(st.booleans()):
        free = [i for i in borders if i >= at]
        if len(free) < 2:
            break
        start = draw(st.sampled_from(free[:-1]))
        at = draw(st.sampled_from([i for i in free if i > start][:4]))
        score = draw(st.sampled_from([0.25, 0.5, 1.0]))
        mentions.append(
            Mention(((start, at),), draw(st.sampled_from("DC")), score=score, source="m")
        )
    return Document(id="1", text=text), tuple(mentions)


@given(cases(), st.sampled_from(ALL))
def test_mentions_are_those_of_the_slow_rules(
    case: tuple[Document, tuple[Mention, ...]], rules: AbbreviationRules
) -> None:
    document, mentions = case
    pairs = list(find_abbreviations(document))
    flat = {m.spans[0]: (m.type, m.score or 0.0) for m in mentions}
    expected = slow(document.text, pairs, flat, rules, defined=pairs)
    patch = apply_rules(document, Patch(add=mentions), rules)
    assert {m.spans[0]: (m.type, m.score) for m in patch.add} == expected
    assert all(m.source == "m" for m in patch.add)
    changes = [event for event in patch.events if event.step == "abbreviations"]
    before, after = ({(m.type, m.spans) for m in one} for one in (mentions, patch.add))
    assert bool(changes) >= (before != after)
    assert {event.span for event in changes} >= {spans[0] for _, spans in before ^ after}
    if not rules.drop and not rules.one_type and rules.spread != "end":
        assert {m.spans for m in mentions} <= {m.spans for m in patch.add}  # adding removes nothing
    known = msgspec.structs.replace(document, abbreviations=tuple(pairs))
    assert apply_rules(known, Patch(add=mentions), rules) == patch


def said(text: str, rules: AbbreviationRules, *mentions: tuple[str, str]) -> list[tuple[str, str]]:
    """Types and words after the rules, of mentions that are given by the first place of their
    words.
    """
    place = ((text.index(words), words, kind) for words, kind in mentions)
    given_ = tuple(
        Mention(((at, at + len(words)),), kind, score=0.5, source="m") for at, words, kind in place
    )
    document = Document(id="1", text=text)
    return [(m.type, m.text_in(text)) for m in apply_rules(document, Patch(add=given_), rules).add]


SPREAD = AbbreviationRules(spread="exact")


def test_a_short_form_gets_the_type_of_its_long_form_everywhere() -> None:
    text = "Multiple sclerosis (MS) is common. MS-like, MSX, and MS."
    found = said(text, SPREAD, ("Multiple sclerosis", "Disease"))
    assert found == [
        ("Disease", "Multiple sclerosis"),
        ("Disease", "MS"),
        ("Disease", "MS"),
        ("Disease", "MS"),
    ]


@pytest.mark.parametrize(
    ("text", "given", "after"),
    [
        (
            "the serotonin transporter (SERT)",
            [("serotonin", "C"), ("transporter", "G"), ("SERT", "G")],
            "serotonin transporter",
        ),
        ("a drug-induced nephropathy (DIN)", [("nephropathy", "D"), ("DIN", "D")], "nephropathy"),
        (
            "an anti-cytomegalovirus (CMV) drug",
            [("cytomegalovirus", "D"), ("CMV", "D")],
            "cytomegalovirus",
        ),
        (
            "soluble fms-like kinase (SFK) is",
            [("fms-like kinase", "G"), ("SFK", "G")],
            "fms-like kinase",
        ),
        ("the pancreatic cancer (PC) of", [("cancer", "D"), ("PC", "G")], "cancer"),
    ],
)
def test_a_long_form_is_a_mention_as_a_whole_if_its_short_form_is_one(
    text: str, given: list[tuple[str, str]], after: str
) -> None:
    mentions = said(text, AbbreviationRules(spread="end"), *given)
    assert mentions[0][1] == after
    assert len(mentions) == 2


def test_a_short_form_goes_if_its_long_form_names_something_else_that_is_not_its_last_word() -> (
    None
):
    rules = AbbreviationRules(spread="end", drop=True)
    text = "insulin sensitivity (IS) and cryo-electron microscopy (cryo-EM) by IS and cryo-EM"
    assert said(text, rules, ("insulin", "G"), ("IS", "D"), ("EM", "D")) == [("G", "insulin")]
    assert said(text, rules, ("sensitivity", "D"), ("IS", "G"))[:2] == [
        ("D", "sensitivity"),
        ("D", "IS"),
    ]
    assert said(text, rules, ("insulin", "D"), ("IS", "D")) == [("D", "insulin"), ("D", "IS")]


def test_the_last_definition_before_a_place_decides() -> None:
    text = "Mitral stenosis (MS): MS. Morphine sulphate (MS): MS."
    found = said(text, SPREAD, ("Mitral stenosis", "Disease"), ("Morphine sulphate", "Chemical"))
    assert [kind for kind, words in found if words == "MS"] == [
        "Disease",
        "Disease",
        "Chemical",
        "Chemical",
    ]


def test_a_short_form_that_is_defined_twice_has_a_type_for_each_meaning() -> None:
    text = "Mitral stenosis (MS): MS. Morphine sulphate (MS): MS."
    rules = AbbreviationRules(spread="exact", drop=True, one_type=True)
    found = said(text, rules, ("Mitral stenosis", "Disease"), ("Morphine sulphate", "Chemical"))
    assert [kind for kind, words in found if words == "MS"] == ["Disease"] * 2 + ["Chemical"] * 2


def test_a_short_form_without_a_mention_of_its_long_form_goes() -> None:
    text = "The control group (CG) and CG."
    assert said(text, AbbreviationRules(drop=True), ("CG", "Disease")) == []
    assert said(text, AbbreviationRules(drop=True), ("group", "Disease"), ("CG", "Disease")) == [
        ("Disease", "group"),
        ("Disease", "CG"),
    ]


def test_a_mention_with_one_of_several_types_of_the_long_form_stays() -> None:
    text = "Multiple sclerosis (MS)"
    both = (("Multiple sclerosis", "A"), ("Multiple sclerosis", "B"))
    assert said(text, SPREAD, *both, ("MS", "B"))[2:] == [("B", "MS")]
    assert said(text, SPREAD, *both, ("MS", "C"))[2:] == [("A", "MS"), ("B", "MS")]


def test_discontinuous_mentions_stay() -> None:
    text = "Bone ash (BA), BA"
    apart = Mention(((0, 4), (15, 17)), "D", source="m")
    patch = apply_rules(
        Document(id="1", text=text), Patch(add=(apart,)), AbbreviationRules(spread="end", drop=True)
    )
    assert patch.add == (apart,)


@given(cases(), st.sampled_from(ALL))
def test_types_kept_apart_change_no_other_mention(
    case: tuple[Document, tuple[Mention, ...]], rules: AbbreviationRules
) -> None:
    document, mentions = case
    own = tuple(msgspec.structs.replace(m, type=f"{m.type}.own") for m in mentions[::2])
    apart = ("C.own", "D.own")
    patch = apply_rules(document, Patch(add=in_order([*mentions, *own])), rules, apart=apart)
    alone = {kind: tuple(m for m in own if m.type == kind) for kind in apart}
    expected = [apply_rules(document, Patch(add=one), rules) for one in (mentions, *alone.values())]
    assert patch.add == in_order([m for one in expected for m in one.add])
    assert Counter(patch.events) == Counter(event for one in expected for event in one.events)


@pytest.mark.parametrize("merit", ["none", "all"])
def test_the_best_rules_are_chosen_and_none_may_be(merit: str) -> None:
    text = "Multiple sclerosis (MS) and MS. A control group (CG) and CG."
    document = Document(id="1", text=text)
    found = {"1": (Mention(((0, 18),), "D", source="m"), Mention(((49, 51),), "D", source="m"))}
    gold = {(0, 18), (20, 22), (28, 30)} if merit == "all" else {(0, 18), (49, 51)}

    def f1(changed: dict[str, tuple[Mention, ...]]) -> float:
        spans = {m.spans[0] for m in changed["1"]}
        return 2 * len(spans & gold) / (len(spans) + len(gold))

    fitted = fit_rules([document], found, merit=f1, chosen_on="hash")  # type: ignore[arg-type]
    assert fitted.rules.chosen_on == "hash"
    assert fitted.definitions == 2
    assert len(fitted.tried) == len(list(all_rule_sets())) == 12
    assert fitted.after == max(one for _, one in fitted.tried) >= fitted.before
    assert fitted.rules.change == (merit == "all")
    if merit == "all":
        assert (fitted.rules.spread, fitted.rules.drop, fitted.rules.one_type) == (
            "exact",
            True,
            False,
        )
        assert fitted.after == 1.0


def test_short_forms_have_the_best_score_of_their_long_form() -> None:
    text = "Human stem cells (HSCs) are rare. We grew human stem cells. HSCs died."
    long, again = (0, 16), (text.index("human"), text.index("human") + 16)
    given = tuple(
        Mention((span,), "CellType", score=score, source="m")
        for span, score in ((long, 0.6), (again, 0.8))
    )
    found = apply_rules(
        Document(id="1", text=text), Patch(add=given), AbbreviationRules(spread="end")
    )
    assert [(text[m.start : m.end], m.score) for m in found.add] == [
        ("Human stem cells", 0.6),
        ("HSCs", 0.8),
        ("human stem cells", 0.8),
        ("HSCs", 0.8),
    ]
