"""A document that is read part by part is read as the whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fascicle
from fascicle.core.document import Document
from fascicle.core.mention import Span
from fascicle.loading import load_single
from fascicle.runtime.inputs import make_reader
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import Reading, can_read_in_parts, read_documents, read_in_parts
from fascicle.text.segment import segmenter

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "abstracts"
TOKENIZER = PieceTokenizer.from_file(
    Path(fascicle.__file__).parent / "assets" / "biomed@3" / "tokenizer.json"
)
READINGS = [
    ReadingSettings(max_length=length, overlap=4, unit=unit)  # type: ignore[arg-type]
    for length in (16, 40)
    for unit in ("sentence", "packed")
]
_WORDS = "Aspirin caused p53-dependent a.b (IL-2) no 5 \u00e4\u0301 \u4f60\u597d \u3002 \U0001f600"
WORDS = _WORDS.split()
TEXTS = st.lists(
    st.sampled_from([*WORDS, ". ", ".\n\n", "? ", " ", " ", "\t", "\u200b", "xyzzy" * 9, "."]),
    max_size=120,
).map(" ".join) | st.text(max_size=300)


def _whole(read: Reading) -> dict[str, Any]:
    (pieces,), (windows,) = read.pieces, read.windows
    return {
        **{
            name: getattr(pieces, name).tolist()
            for name in ("ids", "spans", "units", "first", "unit_of")
        },
        "windows": [(w.pieces, w.units, w.keep, w.segment) for w in windows],
    }


def _put_together(parts: Sequence[Reading]) -> dict[str, Any]:
    """All parts as one reading: pieces and units are counted on."""
    found: dict[str, Any] = {
        name: [] for name in ("ids", "spans", "units", "first", "unit_of", "windows")
    }
    for read in parts:
        before, units = len(found["ids"]), len(found["units"])
        (pieces,), (windows,) = read.pieces, read.windows
        for name in ("ids", "spans", "units"):
            found[name] += getattr(pieces, name).tolist()
        found["first"] += (pieces.first + before).tolist()
        found["unit_of"] += np.where(pieces.unit_of < 0, -1, pieces.unit_of + units).tolist()
        for w in windows:
            ranges = [(w.pieces, before), (w.units, units), (w.keep, units), (w.segment, units)]
            found["windows"].append(tuple((a + more, b + more) for (a, b), more in ranges))
    return found


def assert_equal_to_the_whole(
    document: Document, reading: ReadingSettings, level: Any, size: int
) -> int:
    def read(documents: Sequence[Document]) -> Reading:
        return read_documents(documents, TOKENIZER, reading=reading, level=level)

    parts = list(read_in_parts(document, read, reading=reading, size=size))
    assert _put_together([part.reading for part in parts]) == _whole(read([document]))
    if document.text:
        assert [part.span[0] for part in parts] == [0, *(part.span[1] for part in parts[:-1])]
        assert parts[-1].span[1] == len(document.text)
    return len(parts)


@st.composite
def ranges(draw: st.DrawFn, length: int) -> tuple[Span, ...] | None:
    borders = sorted(draw(st.sets(st.integers(0, length), max_size=40)))
    cuts = [(a, b) for a, b in pairwise(borders) if draw(st.integers(0, 3))]
    return draw(st.sampled_from([None, tuple(cuts)]))


@pytest.mark.parametrize("level", ["word", "piece"])
@pytest.mark.parametrize("reading", READINGS)
@given(data=st.data(), text=TEXTS, size=st.integers(1, 200))
def test_any_text_and_given_words_and_sentences(
    data: st.DataObject, text: str, size: int, reading: ReadingSettings, level: str
) -> None:
    sentences, words = data.draw(ranges(len(text))), data.draw(ranges(len(text)))
    try:
        document = Document(id="1", text=text, sentences=sentences, words=words)
    except ValueError:
        return
    assert_equal_to_the_whole(document, reading, level, size)


@pytest.mark.slow
def test_real_text_is_cut_into_many_parts() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(EXAMPLES.glob("*.txt")))
    rules = segmenter("rules@1")
    plain = Document(id="1", text=text)
    given_ = Document(id="1", text=text, sentences=rules.sentences(text), words=rules.words(text))
    for reading in READINGS:
        for document in (plain, given_):
            assert assert_equal_to_the_whole(document, reading, "word", 500) > len(text) / 1500


def test_sentences_with_context_are_not_parted() -> None:
    assert not can_read_in_parts(ReadingSettings(context_characters=10))
    assert can_read_in_parts(ReadingSettings(unit="packed"))


@pytest.mark.slow
def test_the_shipped_model_answers_as_for_the_whole() -> None:
    model = load_single("biomed@3")
    texts = [file.read_text(encoding="utf-8") for file in sorted(EXAMPLES.glob("*.txt"))]
    strange = " \u0915\u094d\u0937 \U000e0041 " + "carbamazepine" * 40 + " \U0001f9ec "
    document = Document(id="1", text=strange.join(texts * 3))
    of_model = (model.manifest, model._tokenizer, model._scorer)
    read = make_reader(fascicle.runtime.places.find_model("biomed@3"), model.manifest)
    small, large = (
        ModelPredictor(*of_model, max_characters=most, read=read) for most in (1500, 10**9)
    )
    (part_by_part,), (whole,) = small.predict([document]), large.predict([document])
    assert len(whole.add) > 100
    assert whole.events
    assert part_by_part == whole
    again = msgspec.structs.replace(document, id="2")
    assert small.predict([document, again]) == [whole, whole]
