"""Any number of documents through a predictor: lazily, in order, none at the cost of the others."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from fascicle.core.contracts import PARTS, Predictor, Step
from fascicle.core.document import Document, Mention, Patch
from fascicle.core.stream import annotate, chunks, stream
from fascicle.errors import InputError, ModelError, UsageError
from fascicle.runtime.choice import FilteredPredictor
from fascicle.text.annotator import Annotator


class Finder(Annotator):
    """Finds every ``x``; a text with ``!`` is more than it can bear, as it is for some network."""

    name = "finder"  # type: ignore[assignment]
    types = ("X", "Y")  # type: ignore[assignment]

    def __init__(self, error: Exception | None = None) -> None:
        self.calls = 0
        self._error = error or RuntimeError("node 7 of the graph has a shape of its own")

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        self.calls += 1
        if any("!" in document.text for document in documents):
            raise self._error
        return [
            Patch(
                add=tuple(
                    Mention(((at, at + 1),), "X", score=0.5)
                    for at, c in enumerate(d.text)
                    if c == "x"
                )
            )
            for d in documents
        ]


def texts(count: int, *, bad: Sequence[int] = ()) -> list[Document]:
    return [Document(id=f"d{at}", text="a x" + "!" * (at in bad)) for at in range(count)]


@pytest.mark.parametrize("bad", [[], [0], [7], [61], [3, 4, 5, 99], list(range(0, 200, 3))])
def test_a_document_that_breaks_the_predictor_costs_no_other(bad: list[int]) -> None:
    documents = texts(200, bad=bad)
    errors: list[InputError] = []
    found = list(Finder().stream(documents, aside=errors.append))
    alone = [
        d for document in documents if "!" not in document.text for d in Finder().stream([document])
    ]
    assert found == alone
    assert len(found) + len(errors) == 200
    assert all(f"'d{at}'" in str(error) for at, error in zip(bad, errors, strict=True))


def test_one_bad_document_of_many_is_found_in_few_calls() -> None:
    finder = Finder()
    list(finder.stream(texts(2000, bad=[1234]), aside=lambda _: None))
    good = Finder()
    list(good.stream(texts(2000)))
    assert finder.calls - good.calls <= 2 * 10


def test_without_a_place_for_bad_documents_the_error_is_raised() -> None:
    with pytest.raises(RuntimeError, match="node 7"):
        list(Finder().stream(texts(20, bad=[12])))


@pytest.mark.parametrize(
    "error", [ModelError("the folder is gone"), UsageError("no"), OSError(5, "no disk")]
)
def test_what_no_document_can_cause_is_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        list(Finder(error).stream(texts(20, bad=[12]), aside=lambda _: None))


def test_a_patch_that_does_not_fit_its_document_is_set_aside() -> None:
    class Beyond(Finder):
        def predict(self, documents: Sequence[Document]) -> list[Patch]:
            return [Patch(add=(Mention(((0, 3),), "X"),)) for _ in documents]

    errors: list[InputError] = []
    given = [Document(id="long", text="abcd"), Document(id="short", text="a")]
    assert [d.id for d in Beyond().stream(given, aside=errors.append)] == ["long"]
    assert "'short'" in str(errors[0])


def test_texts_pairs_and_documents_may_be_mixed() -> None:
    given = ["x", ("paper", "a x"), Document(id="d", text="x", meta={"year": "2020"}), "none"]
    found = list(Finder().stream(given))
    assert [(d.id, d.text, len(d.mentions)) for d in found] == [
        ("text-1", "x", 1),
        ("paper", "a x", 1),
        ("d", "x", 1),
        ("text-4", "none", 0),
    ]
    assert found[2].meta == {"year": "2020"}


@pytest.mark.parametrize(
    "bad", [3, ("id", 3), ("a", "b", "c"), None, b"x", "a\ud800", float("nan")]
)
def test_what_is_no_text_is_named_by_its_place(bad: object) -> None:
    given = ["x", bad, "x"]
    with pytest.raises(InputError, match=r"number 2|text-2"):
        list(Finder().stream(given))  # type: ignore[arg-type]
    errors: list[InputError] = []
    assert [d.id for d in Finder().stream(given, aside=errors.append)] == ["text-1", "text-3"]  # type: ignore[arg-type]
    assert len(errors) == 1


@pytest.mark.parametrize(
    "one", ["a text", Document(id="d", text="a text"), {"id": "a text"}, b"a text", None, 3]
)
def test_one_text_is_not_taken_for_its_letters(one: object) -> None:
    with pytest.raises(UsageError, match="list"):
        list(Finder().stream(one))  # type: ignore[arg-type]


def endless(read: list[int]) -> Iterator[str]:
    number = 0
    while True:
        read.append(number)
        yield f"x {number}"
        number += 1


def test_a_stream_without_end_is_read_as_it_is_needed() -> None:
    read: list[int] = []
    stream = Finder().stream(endless(read))
    assert read == []
    assert [next(stream).id for _ in range(3)] == ["text-1", "text-2", "text-3"]
    assert len(read) <= 9
    for _ in range(5000):
        next(stream)
    assert len(read) <= 5003 + 512


def test_annotate_gives_a_list_or_goes_as_it_is_read() -> None:
    finder = Finder()
    for given in (["x", "y"], ("x", "y"), {"x": 1, "y": 2}):
        found = finder.annotate(given)
        assert isinstance(found, list)
        assert [d.text for d in found] == ["x", "y"]
    assert [d.text for d in finder.annotate("x")] == ["x"]
    read: list[int] = []
    lazy = finder.annotate(endless(read))
    assert next(lazy).text == "x 0"
    assert len(read) <= 9


def test_chunks_hold_everything_once_and_stay_bounded() -> None:
    documents = [Document(id=str(n), text="a" * (n % 7 * 10_000)) for n in range(1500)]
    found = list(chunks(documents, first=8))
    assert [d for chunk in found for d in chunk] == documents
    assert len(found[0]) <= 8
    assert all(len(chunk) <= 512 and sum(len(d.text) for d in chunk) <= 1 << 17 for chunk in found)


def test_a_choice_of_types_and_scores() -> None:
    def kept(**choice: object) -> list[int]:
        return [len(d.mentions) for d in FilteredPredictor(Finder(), **choice).stream(["x x", "y"])]  # type: ignore[arg-type]

    assert kept() == kept(only=["X"]) == kept(threshold=0.5) == [2, 0]
    assert kept(only=["Y"]) == kept(threshold=0.51) == [0, 0]
    (document,) = FilteredPredictor(Finder(), only=["Y"]).stream(["x x"])
    assert [event.code for event in document.events] == ["other-type"]
    assert FilteredPredictor(Finder(), only=["Y"]).types == ("Y",)
    with pytest.raises(UsageError, match="'X'"):
        FilteredPredictor(Finder(), only=["x"])


def test_predictors_that_answer_alike_have_one_fingerprint() -> None:
    every = [
        Finder(),
        FilteredPredictor(Finder(), only=["X"]),
        FilteredPredictor(Finder(), only=["Y"]),
        FilteredPredictor(Finder(), threshold=0.5),
    ]
    assert len({predictor.fingerprint for predictor in every}) == 4
    assert (
        FilteredPredictor(Finder(), only=["X", "Y"]).fingerprint
        == FilteredPredictor(Finder(), only=["Y", "X"]).fingerprint
    )


class Bare:
    """A predictor of nobody's family."""

    name = "bare"
    types = ("X",)

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        return [Patch(add=(Mention(((0, 1),), "X", source=self.name),)) for _ in documents]


def test_whatever_predicts_can_stream_and_annotate() -> None:
    bare: Predictor = Bare()
    assert [
        d.layer("bare")[0].text_in(d.text) for d in stream(bare.predict, ["ab", ("id", "cd")])
    ] == ["a", "c"]
    assert [d.id for d in annotate(bare.predict, ["a", "b"])] == ["text-1", "text-2"]
    assert next(annotate(bare.predict, iter(["a"]))).mentions
    with pytest.raises(InputError):
        list(stream(bare.predict, [3]))  # type: ignore[list-item]


def test_earlier_mentions_of_the_same_source_give_way() -> None:
    gold, earlier = (Mention(((1, 2),), "X", source=source) for source in ("gold", "bare"))
    (found,) = stream(
        Bare().predict, [Document(id="d", text="ab", mentions=(gold, earlier))], source="bare"
    )
    assert (found.layer("gold"), found.layer("bare")) == (
        (gold,),
        (Mention(((0, 1),), "X", source="bare"),),
    )
    assert [event.code for event in found.events] == ["replaced"]


class Newer:
    """A step that takes a label back that another source gave, and gives its own."""

    name = "newer"
    needs = frozenset({"mentions"})
    gives = frozenset({"mentions"})
    drops = frozenset({"bare"})
    fingerprint = "newer 1"

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        return [Patch(drop=tuple(m.key for m in d.mentions if m.type == "X")) for d in documents]


def test_a_step_drops_what_it_declares_and_no_more() -> None:
    step: Step = Newer()
    given = list(stream(Bare().predict, ["ab", "c"]))
    found = list(stream(step.run, given, step=step.name, drops=step.drops))
    assert [d.mentions for d in found] == [(), ()]
    assert [d.layer("bare", original=True) for d in found] == [d.mentions for d in given]
    assert [(e.step, e.code) for d in found for e in d.events] == [("newer", "dropped")] * 2
    gold = Document(id="gold", text="ab", mentions=(Mention(((0, 1),), "X"),))
    errors: list[InputError] = []
    assert [
        d.id for d in stream(step.run, [gold, *given], drops=step.drops, aside=errors.append)
    ] == [
        "text-1",
        "text-2",
    ]
    assert "'gold'" in str(errors[0])


def test_every_annotator_is_a_step_and_a_predictor() -> None:
    finder = Finder()
    assert isinstance(finder, Step)
    assert isinstance(finder, Predictor)
    (document,) = texts(1)
    assert finder.run([document]) == finder.predict([document])
    assert finder.gives <= set(PARTS)


@pytest.mark.parametrize("missing", [None, float("nan"), ("id", np.float64("nan"))])
def test_a_missing_text_is_called_so(missing: Any) -> None:
    with pytest.raises(InputError, match=r"^number 2 is missing \((None|nan)\); leave such"):
        list(Finder().stream(["nan", missing]))


def test_a_data_frame_is_not_taken_for_the_names_of_its_columns() -> None:
    class Frame(list[Any]):
        columns = ("id", "text")

    for call in (Finder().stream, Finder(), Finder().annotate):
        with pytest.raises(UsageError, match=r'one Frame was given.*frame\["text"\]'):
            list(call(Frame(["id", "text"])))


def test_rows_with_names_are_pairs() -> None:
    identified = namedtuple("identified", ["id", "text"])  # as itertuples() of pandas gives them
    (document,) = Finder().stream([identified(11, "one")])
    assert (document.id, document.text) == ("11", "one")
    dated = namedtuple("dated", ["text", "year"])
    (document,) = Finder().stream([dated("one", "2020")])
    assert (document.id, document.text) == ("text-1", "one")


def test_numbers_are_ids() -> None:
    # as items() of a column of pandas gives them
    rows = zip(np.array([5, 7]), ["one", "two"], strict=True)
    assert [one.id for one in Finder().stream(rows)] == ["5", "7"]
