"""Gold from elsewhere as decisions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention
from fascicle.serving.curation.decisions import decided
from fascicle.serving.curation.importing import take
from fascicle.serving.curation.store import Store

TEXT = "Aspirin helps against headache and pain."


@pytest.fixture
def store() -> Iterator[Store]:
    opened = Store.open(":memory:")
    yield opened
    opened.close()


def mention(start: int, end: int, kind: str = "Disease", source: str = "model") -> Mention:
    return Mention(((start, end),), kind, None if source == GOLD else 0.5, source)


def test_gold_accepts_rejects_and_adds(store: Store) -> None:
    said = (mention(0, 7), mention(22, 30))
    gold = (mention(22, 30, source=GOLD), mention(35, 39, source=GOLD))
    told = take(store, [Document(id="a", text=TEXT, mentions=(*said, *gold))], "Ada")
    found = decided(*store.document("a"))
    assert [one.verdict for one in found.items] == ["rejected", "accepted", "added"]
    assert told.decisions == 3


def test_a_file_without_gold_decides_nothing(store: Store) -> None:
    assert take(store, [Document(id="a", text=TEXT, mentions=(mention(0, 7),))], "Ada").decisions == 0
    assert decided(*store.document("a")).undecided


spans = st.sampled_from([(0, 7), (8, 13), (14, 21), (22, 30), (35, 39)])
layers = st.sets(st.tuples(spans, st.sampled_from(["Disease", "Chemical"])), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(layers, layers, layers)
def test_what_is_taken_is_the_gold_of_the_file(model: set, first: set, second: set) -> None:  # type: ignore[type-arg]
    store = Store.open(":memory:")
    for gold in (first, second):
        mentions = [mention(*span, kind) for span, kind in model]
        mentions += [mention(*span, kind, GOLD) for span, kind in gold]
        given_document = Document(id="a", text=TEXT, mentions=tuple(mentions))
        take(store, [given_document], "Ada")
        assert take(store, [given_document], "Ada").decisions == 0, "a second time changes nothing"
    found = {(one.spans[0], one.type) for one in decided(*store.document("a")).gold}
    added = first - model  # what an earlier file added stays
    wanted = second | added if second else first
    assert found == wanted
    store.close()
