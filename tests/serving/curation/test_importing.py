"""Gold from elsewhere as decisions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention
from fascicle.serving.curation.decisions import apply_steps, check_type
from fascicle.serving.curation.exchange import import_gold
from fascicle.serving.curation.store import Store
from fascicle.settings.serving import Project

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
    told = import_gold(store, [Document(id="a", text=TEXT, mentions=(*said, *gold))], "Ada")
    found = apply_steps(*store.document("a"))
    assert [one.verdict for one in found.items] == ["rejected", "accepted", "added"]
    assert told.decisions == 3


@pytest.mark.parametrize("kind", ["", "A\nB", "Gene\u202e", "T" * 201])
def test_a_type_that_no_file_of_gold_could_hold_takes_nothing(store: Store, kind: str) -> None:
    good = Document(id="good", text=TEXT, mentions=(mention(0, 7, source=GOLD),))
    bad = (
        Document(id="bad", text=TEXT, mentions=(Mention(((0, 7),), kind or "x", None, GOLD),))
        if kind
        else None
    )
    if bad is None:
        with pytest.raises(ValueError, match="the type"):
            check_type(kind)
        return
    with pytest.raises(ValueError, match="the type"):
        import_gold(store, [good, bad], "Ada")
    assert store.count() == 0


@pytest.mark.parametrize("name", ["", "i" * 1_001])
def test_an_id_that_no_page_could_ask_for_takes_nothing(store: Store, name: str) -> None:
    documents = [
        Document(id=one, text=TEXT, mentions=(mention(0, 7, source=GOLD),))
        for one in ("good", name)
    ]
    with pytest.raises(ValueError, match="an id of"):
        import_gold(store, documents, "Ada")
    assert store.count() == 0


def test_a_file_without_gold_decides_nothing(store: Store) -> None:
    assert (
        import_gold(
            store, [Document(id="a", text=TEXT, mentions=(mention(0, 7),))], "Ada"
        ).decisions
        == 0
    )
    assert apply_steps(*store.document("a")).undecided


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
        import_gold(store, [given_document], "Ada")
        assert import_gold(store, [given_document], "Ada").decisions == 0, (
            "a second time changes nothing"
        )
    found = {(one.spans[0], one.type) for one in apply_steps(*store.document("a")).gold}
    added = first - model  # what an earlier file added stays
    wanted = second | added if second else first
    assert found == wanted
    store.close()


def test_gold_that_was_imported_before_there_was_a_project_is_taken_again_as_reviewed(
    store: Store,
) -> None:
    given = [Document(id="a", text=TEXT, mentions=(mention(0, 7, source=GOLD),))]
    project = Project(curators=("Ada",))
    assert [
        import_gold(store, given, "Rita").decisions,
        import_gold(store, given, "Rita", project).decisions,
    ] == [1, 1]
    assert import_gold(store, given, "Rita", project).decisions == 0
