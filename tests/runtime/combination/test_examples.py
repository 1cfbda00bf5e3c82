"""Examples of a filter, against sets written out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Mention
from fascicle.training.filter.data import examples

MENTIONS = st.builds(
    lambda start, width, type_, score, source: Mention(
        ((start, start + width),), type_, score=score, source=source
    ),
    st.integers(0, 5),
    st.integers(1, 3),
    st.sampled_from(["A", "B"]),
    st.sampled_from([None, 0.5]),
    st.sampled_from(["gold", "seq"]),
)
SAID = st.dictionaries(st.sampled_from(["1", "2", "3", "9"]), st.lists(MENTIONS, max_size=6))


@given(SAID, st.lists(SAID, max_size=4))
def test_correct_is_gold_and_incorrect_is_what_else_was_said(
    gold: dict[str, list[Mention]], predicted: list[dict[str, list[Mention]]]
) -> None:
    found = examples(gold, predicted)
    true = {(i, m.type, m.spans) for i, mentions in gold.items() for m in mentions}
    said = {
        (i, m.type, m.spans)
        for one in predicted
        for i, mentions in one.items()
        for m in mentions
        if i in gold
    }
    listed = [(e.document, e.mention.type, e.mention.spans) for e in found]
    assert len(listed) == len(set(listed))  # sets: what epochs repeat is one example
    assert {key for key, e in zip(listed, found, strict=True) if e.correct} == true
    assert {key for key, e in zip(listed, found, strict=True) if not e.correct} == said - true
    assert examples(gold, predicted[::-1] * 2) == found
