"""Matching by order, against a slow and obvious way to say where a mention stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.errors import InputError
from fascicle.evaluation.scoring.inputs import match_by_order

WORDS = st.lists(st.text("ab\u00e9\U0001f600", min_size=1, max_size=3), min_size=1, max_size=8)


def spelt(text: str, start: int, end: int) -> tuple[int, int]:
    """Which visible characters a stretch of a text holds: a slow count."""
    before = sum(not c.isspace() for c in text[:start])
    return before, before + sum(not c.isspace() for c in text[start:end])


@given(
    st.lists(WORDS, min_size=1, max_size=4),
    st.sampled_from([" ", "\n", "  ", "\u00a0", ""]),
    st.data(),
)
def test_a_mention_stands_on_the_same_characters(
    parts: list[list[str]], joint: str, data: st.DataObject
) -> None:
    gold = {f"g{n}": joint.join(words) for n, words in enumerate(parts)}
    texts = {f"p{n}": " ".join(words) for n, words in enumerate(parts)}
    number = data.draw(st.integers(0, len(parts) - 1))
    first = data.draw(st.integers(0, len(parts[number]) - 1))
    last = data.draw(st.integers(first, len(parts[number]) - 1))
    start = len(" ".join([*parts[number][:first], ""])) if first else 0
    mention = Mention(((start, start + len(" ".join(parts[number][first : last + 1]))),), "T")
    found = match_by_order(gold, texts, {f"p{number}": [mention]})
    (moved,) = found[f"g{number}"]
    assert spelt(gold[f"g{number}"], moved.start, moved.end) == spelt(
        texts[f"p{number}"], mention.start, mention.end
    )
    assert not gold[f"g{number}"][moved.start].isspace()
    assert sum(map(len, found.values())) == 1


def test_documents_may_be_cut_otherwise() -> None:
    gold = {"x": "a b.\nc d"}
    texts = {"p:1": "a b .", "p:2": "c d"}
    said = {"p:2": [Mention(((0, 3),), "T", score=0.5, source="s")]}
    assert match_by_order(gold, texts, said) == {
        "x": (Mention(((5, 8),), "T", score=0.5, source="s"),)
    }
    back = match_by_order(texts, gold, {"x": [Mention(((0, 1), (2, 4)), "T")]})
    assert back == {"p:1": (Mention(((0, 1), (2, 5)), "T"),), "p:2": ()}


def test_a_mention_over_two_documents_of_the_gold_is_refused() -> None:
    with pytest.raises(InputError, match="p:1"):
        match_by_order({"x": "a", "y": "b"}, {"p:1": "a b"}, {"p:1": [Mention(((0, 3),), "T")]})


@pytest.mark.parametrize(
    ("gold", "texts", "place"),
    [
        (
            {"x": "a b", "y": "c d"},
            {"p:1": "a b", "p:2": "c e"},
            ("'e' at 2 of document 'p:2'", "'d' at 2"),
        ),
        ({"x": "a b", "y": "c d"}, {"p:1": "a b"}, ("nothing more", "document 'y'")),
        ({"x": "a b"}, {"p:1": "a b", "p:2": "c"}, ("'p:2'", "nothing more")),
    ],
)
def test_the_first_difference_is_named(
    gold: dict[str, str], texts: dict[str, str], place: tuple[str, str]
) -> None:
    with pytest.raises(InputError) as error:
        match_by_order(gold, texts, {}, names=("g.tsv", "p.tsv"))
    assert all(part in str(error.value) for part in (*place, "g.tsv", "p.tsv"))
