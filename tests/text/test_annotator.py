"""What every predictor does beside ``predict``: called with one text or several, and its names
for other tools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from fascicle.core.document import Document, Mention, Patch
from fascicle.errors import FascicleError, InputError, UsageError
from fascicle.text.annotator import Annotator


class FirstLetter(Annotator):
    """Finds the first character."""

    name = "first"  # type: ignore[assignment]
    types = ("Letter",)  # type: ignore[assignment]

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        return [
            Patch(add=(Mention(((0, 1),), "Letter", source="first"),) if one.text else ())
            for one in documents
        ]


@dataclass
class Doc:
    """As the objects of other tools: a sequence of words with a text."""

    text: str

    def __iter__(self) -> object:
        return iter(self.text.split())


def test_one_text_gives_a_document_and_several_a_list() -> None:
    model = FirstLetter()
    assert isinstance(model("a b"), Document)
    assert model(("id", "a b")).id == "id"
    assert model(Document(id="9", text="a b")).id == "9"
    assert model(Doc("a b")).text == "a b"  # type: ignore[call-overload]
    several = [
        ["a", "b"],
        iter(["a", "b"]),
        {"a": 1, "b": 2}.keys(),
        [Doc("a"), Document(id="text-2", text="b")],
    ]
    for given in several:
        found = model(given)  # type: ignore[call-overload]
        assert [(one.id, one.text, len(one.mentions)) for one in found] == [
            ("text-1", "a", 1),
            ("text-2", "b", 1),
        ]
    assert model([]) == []


@pytest.mark.parametrize("wrong", [3, None, b"bytes", {"a": "b"}, ["a", 3.5], [None]])
def test_what_is_no_text_is_refused_in_a_sentence(wrong: object) -> None:
    with pytest.raises(FascicleError) as caught:
        FirstLetter()(wrong)  # type: ignore[call-overload]
    assert isinstance(caught.value, InputError | UsageError)


def test_labels_are_the_types() -> None:
    assert FirstLetter().labels == ("Letter",)


def test_progress_changes_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    model, texts = FirstLetter(), [f"text {at}" for at in range(20)]
    assert model(texts, progress=True) == model(texts)
    assert list(model.stream(iter(texts), progress=True)) == model(texts)
    assert capsys.readouterr().out == ""
