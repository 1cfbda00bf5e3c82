"""An error costs the one document that causes it, and no document is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document, Mention, Patch
from fascicle.errors import InputError, PluginError
from fascicle.pipeline.pipeline import Pipeline
from fascicle.pipeline.runner import batches
from fascicle.settings.pipeline import Limits


class Plain:
    """A step that finds every ``x``, and does something else where a text has ``poison``."""

    needs: frozenset[str] = frozenset()
    gives = frozenset({"mentions"})
    drops: frozenset[str] = frozenset()
    fingerprint = "1"

    def __init__(self, name: str = "plain", poison: Any = None) -> None:
        self.name, self.poison, self.calls = name, poison, [0]

    def run(self, documents: Sequence[Document]) -> Any:
        self.calls[0] += 1
        if self.poison and any("poison" in one.text for one in documents):
            return self.poison(self, documents)
        return [self.patch(one) for one in documents]

    def patch(self, document: Document) -> Patch:
        places = (at for at, character in enumerate(document.text) if character == "x")
        return Patch(add=tuple(Mention(((at, at + 1),), "X", source=self.name) for at in places))


def raises(error: BaseException) -> Any:
    def poison(step: Plain, documents: Sequence[Document]) -> list[Patch]:
        raise error

    return poison


def endless(step: Plain, documents: Sequence[Document]) -> Iterator[Patch]:
    while True:
        yield Patch()


def instead_of_patch(other: Any) -> Any:
    def poison(step: Plain, documents: Sequence[Document]) -> list[Any]:
        return [other if "poison" in one.text else step.patch(one) for one in documents]

    return poison


POISONS: dict[str, tuple[Any, str]] = {
    "raises": (raises(KeyError("k")), "KeyError"),
    "an error of the system": (raises(FileNotFoundError("f")), "FileNotFoundError"),
    "an error of ours": (raises(PluginError("p")), "PluginError"),
    "exits": (raises(SystemExit(4)), "SystemExit"),
    "takes all memory": (raises(MemoryError()), "MemoryError"),
    "too few": (lambda step, documents: [], "ValueError"),
    "endless": (endless, "ValueError"),
    "no list": (lambda step, documents: 7, "TypeError"),
    "no patches": (instead_of_patch("x"), "UsageError"),
    "drops what it may not": (
        instead_of_patch(Patch(drop=(("gold", "X", ((0, 1),)),))),
        "ValueError",
    ),
    "outside the text": (
        instead_of_patch(Patch(add=(Mention(((0, 10_000),), "X", source="first"),))),
        "ValueError",
    ),
}


def documents(*texts: str) -> list[Document]:
    return [Document(id=f"d{at}", text=text) for at, text in enumerate(texts)]


@pytest.mark.parametrize(("poison", "error"), POISONS.values(), ids=POISONS)
def test_a_poison_document_is_alone_in_its_failure(poison: Any, error: str) -> None:
    first, after = Plain("first", poison), Plain("after")
    given_ = documents("x", "ax", "poison x", "bx", "")
    results = list(Pipeline([first, after]).results(given_))
    assert [result.given for result in results] == given_
    bad = results.pop(2)
    assert bad.document is None
    assert bad.failure is not None
    assert (bad.failure.step, bad.failure.error) == ("first", error)
    whole = list(Pipeline([Plain("first"), Plain("after")]).results([one.given for one in results]))
    assert [result.document for result in results] == [result.document for result in whole]


def test_a_failed_document_goes_no_further() -> None:
    seen: list[str] = []

    class Sees(Plain):
        def run(self, documents: Sequence[Document]) -> Any:
            seen.extend(one.id for one in documents)
            return super().run(documents)

    list(
        Pipeline([Plain("first", raises(ValueError())), Sees("after")]).results(
            documents("x", "poison")
        )
    )
    assert seen == ["d0"]


def test_an_interrupt_is_no_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        list(Pipeline([Plain("first", raises(KeyboardInterrupt()))]).results(documents("poison")))


@settings(max_examples=25)
@given(st.sets(st.integers(0, 40)), st.integers(1, 50))
def test_any_set_of_poison_documents_is_found(bad: set[int], characters: int) -> None:
    texts = ["poison" if at in bad else "x" * (at % 4) for at in range(41)]
    limits = Limits(batch=characters, failures=1_000)
    step = Plain("first", raises(ValueError()))
    results = list(Pipeline([step], limits=limits).results(documents(*texts)))
    assert {at for at, result in enumerate(results) if result.document is None} == bad
    assert [result.given.text for result in results] == texts


@given(st.lists(st.integers(0, 30)), st.integers(1, 40), st.sets(st.integers(0, 20)))
def test_batches_hold_every_document_once_and_cost_no_more_than_is_allowed(
    sizes: list[int], characters: int, alone: set[int]
) -> None:
    given_ = documents(*("x" * size for size in sizes))
    found = list(batches(given_, characters=characters, alone=alone))
    assert [one for batch in found for one in batch] == given_
    for batch in found:
        assert batch
        assert len(batch) == 1 or sum(len(one.text) for one in batch) <= characters
        assert len(batch) == 1 or not any(int(one.id[1:]) in alone for one in batch)


def test_a_step_that_fails_at_everything_ends_the_run() -> None:
    step = Plain("first", raises(ValueError("out of order")))
    pipeline = Pipeline([step], limits=Limits(failures=10))
    with pytest.raises(PluginError, match="out of order"):
        list(pipeline.results(documents(*["poison"] * 30)))
    assert len(list(pipeline.results(documents(*["poison"] * 9, "x", *["poison"] * 9)))) == 19


@given(st.lists(st.integers(0, 30)), st.integers(1, 30), st.integers(1, 40))
def test_what_is_too_long_fails_before_any_step_reads_it(
    sizes: list[int], longest: int, characters: int
) -> None:
    read: list[str] = []

    class Sees(Plain):
        def run(self, documents: Sequence[Document]) -> Any:
            read.extend(one.id for one in documents)
            return super().run(documents)

    given_ = documents(*("x" * size for size in sizes))
    limits = Limits(longest=longest, batch=characters, failures=1)
    results = list(Pipeline([Sees("first")], limits=limits).results(given_))
    assert [result.given for result in results] == given_
    assert read == [one.id for one in given_ if len(one.text) <= longest]
    assert {
        one.given.id: (one.failure.step, one.failure.error) for one in results if one.failure
    } == {one.id: ("length", "TooLong") for one in given_ if len(one.text) > longest}
    whole = Pipeline([Plain("first")]).results(one for one in given_ if len(one.text) <= longest)
    assert [one.document for one in results if one.document] == [one.document for one in whole]


def test_a_stream_raises_or_puts_aside() -> None:
    pipeline = Pipeline([Plain("first", raises(ValueError("bad")))])
    errors: list[InputError] = []
    found = list(pipeline.stream(["x", "poison", "x"], aside=errors.append))
    assert [one.id for one in found] == ["text-1", "text-3"]
    assert [error.key for error in errors] == ["text-2"]
    with pytest.raises(InputError, match="first"):
        list(pipeline.stream(["x", "poison", "x"]))


def test_the_cut_is_shared_and_kept_on_request() -> None:
    seen = []

    class Sees(Plain):
        needs = frozenset({"words", "sentences"})

        def run(self, documents: Sequence[Document]) -> Any:
            seen.append((documents[0].words, documents[0].sentences))
            return super().run(documents)

    own = Document(id="a", text="a b. C d.", words=((0, 9),))
    (kept,) = Pipeline([Sees("one"), Sees("two")], keep_cut=True).stream([own])
    assert seen[0] == seen[1] == (kept.words, kept.sentences)
    assert kept.words == own.words
    assert kept.sentences is not None
    (left,) = Pipeline([Sees("one")]).stream([own])
    assert (left.words, left.sentences) == (own.words, None)
