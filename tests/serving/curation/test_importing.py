"""Gold from elsewhere as decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import parse_link
from fascicle.serving.curation.decisions import After, Edit, apply_steps, check_type
from fascicle.serving.curation.exchange import import_gold
from fascicle.serving.curation.store import ConflictError, GivenStep, Store
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


@pytest.mark.parametrize("name", ["", "i" * 1_001, "a\nb\x01", "a\u2028b", "\ufeffa", "a\uffff"])
def test_an_id_that_no_page_could_ask_for_or_no_file_of_gold_could_hold_takes_nothing(
    store: Store, name: str
) -> None:
    documents = [
        Document(id=one, text=TEXT, mentions=(mention(0, 7, source=GOLD),))
        for one in ("good", name)
    ]
    with pytest.raises(ValueError, match="the document id"):
        import_gold(store, documents, "Ada")
    assert store.count() == 0


@pytest.mark.parametrize("name", ["Bericht\u00a01.txt", "報告\u30001", "a/b?c|d"])
def test_names_of_files_are_ids(store: Store, name: str) -> None:
    store.add([Document(id=name, text=TEXT)], "Ada")
    assert store.document(name).document.id == name


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
    assert found == (second or first)
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


def linked(curie: str = "", **facts: Any) -> Mention:
    links = () if not curie else (msgspec.structs.replace(parse_link(curie), **facts),)
    return Mention(((22, 30),), "Disease", links=links)


def imported(store: Store, *gold: Mention, who: str = "Ada") -> int:
    return import_gold(store, [Document(id="a", text=TEXT, mentions=gold)], who).decisions


@pytest.mark.parametrize("before", ["", "MESH:D000001"])
def test_corrections_of_mentions_that_an_earlier_file_added_count(
    store: Store, before: str
) -> None:
    imported(store, linked(before))
    assert imported(store, linked("MESH:D006261")) == 1
    (now,) = apply_steps(*store.document("a")).gold
    assert now == linked("MESH:D006261")


def test_a_mention_that_an_earlier_file_added_is_taken_away(store: Store) -> None:
    imported(store, linked(), mention(0, 7, source=GOLD))
    assert imported(store, mention(0, 7, source=GOLD)) == 1
    assert apply_steps(*store.document("a")).gold == (mention(0, 7, source=GOLD),)


@pytest.mark.parametrize("gold", [mention(22, 30, source=GOLD), mention(22, 30, "Sign", GOLD)])
def test_what_a_curator_changed_is_as_the_file_has_it(store: Store, gold: Mention) -> None:
    model = mention(22, 30)
    store.add([Document(id="a", text=TEXT, mentions=(model,))], "Ada")
    after = After(spans=((0, 7),), type="Disease")
    edit = Edit(item=msgspec.json.encode(model.key).decode(), after=after)
    store.save(GivenStep(document="a", id="0" * 32, who="Ada", edits=(edit,)))
    imported(store, gold, who="Bob")
    assert apply_steps(*store.document("a")).gold == (gold,)
    assert imported(store, gold, who="Bob") == 0


def test_attributes_of_the_file_count(store: Store) -> None:
    imported(store, linked("MESH:D006261", name="Headache", score=0.8))
    negated = msgspec.structs.replace(linked("MESH:D006261"), attributes=(("negated", "true"),))
    assert imported(store, negated) == 1
    (now,) = apply_steps(*store.document("a")).gold
    assert now.attributes == negated.attributes
    assert now.links == linked("MESH:D006261", name="Headache", score=0.8).links


@pytest.mark.parametrize("source", ["model", GOLD])
def test_the_same_concepts_keep_what_only_the_decision_knows(store: Store, source: str) -> None:
    rich = linked("MESH:D006261", name="Headache", score=0.8, tier="exact")
    said = (rich, msgspec.structs.replace(rich, source=source))
    mentions = tuple({one.key: one for one in said}.values())
    import_gold(store, [Document(id="a", text=TEXT, mentions=mentions)], "Ada")
    assert imported(store, linked("MESH:D006261"), who="Bob") == 0
    (item,) = apply_steps(*store.document("a")).items
    assert (item.now, item.who) == (rich, "Ada")


def test_a_model_that_was_right_keeps_its_links(store: Store) -> None:
    rich = linked("MESH:D006261", name="Headache", score=0.8, tier="exact")
    said = msgspec.structs.replace(rich, source="model")
    store.add([Document(id="a", text=TEXT, mentions=(said,))], "Ada")
    assert imported(store, linked("MESH:D006261")) == 1
    assert apply_steps(*store.document("a")).gold == (rich,)


def test_a_file_is_taken_whole_or_not_at_all(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [Document(id=name, text=TEXT, mentions=(mention(0, 7, source=GOLD),)) for name in "efg"]
    save, saved = store.save, []

    def fails_at_last(new: GivenStep, *view: Any) -> Any:
        saved.append(new)
        if len(saved) == 3:
            raise ConflictError("others have decided")
        return save(new, *view)

    monkeypatch.setattr(store, "save", fails_at_last)
    with pytest.raises(ConflictError):
        import_gold(store, given, "Ada")
    assert store.count() == 0


def test_gold_of_one_document_at_two_places_takes_nothing(store: Store) -> None:
    given = [Document(id=name, text=TEXT, mentions=(mention(0, 7, source=GOLD),)) for name in "eff"]
    with pytest.raises(ValueError, match=r"'f' .* occurs twice; put its gold together"):
        import_gold(store, given, "Ada")
    assert store.count() == 0
