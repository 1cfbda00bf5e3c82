"""A user's own names beside a model: every name is a mention, and the model answers elsewhere."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, Patch
from fascicle.errors import UsageError
from fascicle.loading import load
from fascicle.runtime.wrapped import OwnNamesPredictor
from fascicle.text.annotator import Annotator

SPANS = st.tuples(st.integers(0, 18), st.integers(1, 6)).map(lambda one: (one[0], one[0] + one[1]))
FOUND = st.lists(st.tuples(SPANS, st.sampled_from(["A", "B"])), max_size=6, unique=True)


class Says(Annotator):
    """Says the same of every document."""

    def __init__(
        self, name: str, found: list[tuple[tuple[int, int], str]], score: float | None
    ) -> None:
        self._name, self._found, self._score = name, found, score

    @property
    def name(self) -> str:
        return self._name

    @property
    def types(self) -> tuple[str, ...]:
        return ("A", "B")

    def predict(self, documents: object) -> list[Patch]:
        add = tuple(
            Mention((span,), kind, source=self._name, score=self._score)
            for span, kind in self._found
        )
        return [Patch(add=add) for _ in documents]  # type: ignore[attr-defined]


@given(FOUND, FOUND)
def test_names_stand_and_the_model_answers_where_they_do_not(
    of_model: list[tuple[tuple[int, int], str]], of_names: list[tuple[tuple[int, int], str]]
) -> None:
    both = OwnNamesPredictor(Says("model", of_model, 0.5), Says("names", of_names, None))
    document = both(Document(id="1", text="x" * 24))
    assert {(m.spans[0], m.type) for m in document.layer("names")} == set(of_names)
    free = {
        (span, kind)
        for span, kind in of_model
        if all(end <= span[0] or span[1] <= start for (start, end), _ in of_names)
    }
    assert {(m.spans[0], m.type) for m in document.layer("model")} == free
    others = [event for event in document.events if event.code == "overlap"]
    assert len(others) == bool(set(of_model) - free - set(of_names))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.tsv"
    path.write_text("Chemical\tlithium toxicity\nDrug\tfascicline\n", encoding="utf-8")
    return path


TEXT = "Lithium toxicity was seen after Fascicline, and nausea after lithium."


def told(model: Annotator) -> list[tuple[str, str, str]]:
    return [(mention.type, mention.text, mention.source) for mention in model(TEXT)]


def test_the_shipped_model_beside_a_list(own: Path) -> None:
    model = load("biomed-fast", also=own)
    found = told(model)
    assert found[:2] == [("Chemical", "Lithium toxicity", "own"), ("Drug", "Fascicline", "own")]
    assert {source for _, _, source in found[2:]} == {"biomed-fast@2"}
    assert "Drug" in model.types
    assert set(model.sources) == {"own", "biomed-fast@2"}


def test_one_type_may_be_a_plain_text(own: Path) -> None:
    assert {kind for kind, _, _ in told(load("biomed-fast", also=own, only="Chemical"))} == {
        "Chemical"
    }


def test_of_several_lists_the_first_answers(own: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text("Thing\tfascicline\nThing\tnausea\n", encoding="utf-8")
    kinds = {text: kind for kind, text, _ in told(load("biomed-fast", also=[own, other]))}
    assert (kinds["Fascicline"], kinds["nausea"]) == ("Drug", "Thing")
    kinds = {text: kind for kind, text, _ in told(load("biomed-fast", also=[other, own]))}
    assert kinds["Fascicline"] == "Thing"


def test_types_and_thresholds_count_for_both(own: Path) -> None:
    assert told(load("biomed-fast", also=own, only=["Drug"])) == [("Drug", "Fascicline", "own")]
    model = load("biomed-fast", also=own, threshold={"Disease": 1.0, "Chemical": 1.0})
    assert [one[2] for one in told(model)] == ["own", "own"]  # names have no score


def test_mentions_of_a_list_are_linked_too(own: Path) -> None:
    own.write_text("Chemical\taspirin\n", encoding="utf-8")
    (mention,) = load("biomed-fast", also=own, link="basic", only=["Chemical"])("Aspirin helps.")
    assert (mention.source, mention.links[0].curie) == ("own", "MESH:D001241")


def test_a_pack_beside_a_model_keeps_its_links() -> None:
    (mention,) = load("biomed-fast", also="basic", only=["Chemical"])("Aspirin helps.")
    assert (mention.source, mention.links[0].curie) == ("basic@2", "MESH:D001241")


def test_what_is_no_list_is_refused(own: Path) -> None:
    for wrong in ("biomed", "nothing.tsv", own.parent):
        with pytest.raises(UsageError, match="not a list of names"):
            load("biomed-fast", also=wrong)
    with pytest.raises(UsageError, match="lists of names"):
        load("biomed-fast", also="basic", case="exact")


def test_an_own_name_cuts_no_longer_mention_that_has_a_link(own: Path) -> None:
    own.write_text("Complaint\tangina\nComplaint\treflux\nComplaint\tzorbic\n", encoding="utf-8")
    text = "Angina pectoris and reflux were seen, then angina, and zorbic syndrome type 99."
    model = load("biomed-fast", also=own, link="basic")
    found = {mention.text: mention for mention in model(text)}
    assert found["Angina pectoris"].links[0].curie == "MESH:D000787"
    assert {name: found[name].type for name in ("angina", "reflux", "zorbic")} == dict.fromkeys(
        ("angina", "reflux", "zorbic"), "Complaint"
    )
    spans = [mention.spans[0] for mention in model(text)]
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    without = {mention.text for mention in load("biomed-fast", also=own, links=False)(text)}
    assert "Angina" in without
    assert {mention.text for mention in load("basic", also=own)(text)} >= {
        "Angina pectoris",
        "angina",
    }
