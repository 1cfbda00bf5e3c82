"""Span heads through the predictor: nested answers, windows that do not show, memory that does
not grow.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading import manifest_of

from fascicle.core.document import Document, Mention
from fascicle.runtime.decoding.decoders import Tables
from fascicle.runtime.decoding.selection import SpanDecoding
from fascicle.runtime.predictor import ModelPredictor, Scorer
from fascicle.settings.heads import SpanSettings
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.windows import Batch

TYPES = ("Chemical", "Disease", "Gene")
_WORDS = (
    "the patient has lung cancer pain aspirin caused fever liver failure heart , . "
    "hepatitis caffeine doctors"
)
WORDS = _WORDS.split()
DECODINGS: tuple[SpanDecoding, ...] = ("nested", "greedy", "optimal")


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder: Path) -> PieceTokenizer:
    return PieceTokenizer.from_file(tiny_encoder / "tokenizer.json")


def predictor(
    scorer: Scorer,
    tokenizer: PieceTokenizer,
    *,
    head: SpanSettings,
    max_length: int = 1000,
    overlap: int = 0,
) -> ModelPredictor:
    reading = ReadingSettings(max_length=max_length, overlap=overlap)
    return ModelPredictor(
        manifest_of(head, tokenizer, types=TYPES, reading=reading), tokenizer, scorer
    )


def sentence(words: Sequence[str], *, name: str = "d") -> Document:
    """One sentence, however long."""
    text = " ".join(words)
    return Document(id=name, text=text, sentences=((0, len(text)),))


@dataclass(frozen=True, kw_only=True)
class ContextFree:
    """Scores of a span that hang on nothing but its own words; what lies beyond the units of a
    window is noise.

    Attributes:
        width: of the head.
        seed: another one, another network.
        none: added to the scores of None; the higher, the fewer candidates.
    """

    width: int
    seed: int = 0
    none: float = 1.0

    def run(self, inputs: Batch) -> Tables:
        first, counts = inputs["first_piece"], inputs["unit_count"]
        words = np.take_along_axis(inputs["input_ids"], first, axis=1)
        chance = np.random.default_rng(self.seed)
        by_word = chance.normal(size=(2, 100, 1 + len(TYPES))).astype(np.float32)
        by_words = chance.normal(size=(997, 1 + len(TYPES))).astype(np.float32)
        widths = chance.normal(size=(self.width, 1 + len(TYPES))).astype(np.float32)
        by_words[:, 0] += self.none
        units = words.shape[1]
        padded = np.pad(words, ((0, 0), (0, self.width)))
        total, keys = np.zeros_like(words), []
        for step in range(self.width):
            total = 31 * total + padded[:, step : step + units]
            keys.append(total % len(by_words))
        tables = {
            "starts": by_word[0][words],
            "ends": by_word[1][words],
            "widths": widths,
            "spans": by_words[np.stack(keys, axis=2)],
        }
        beyond = np.arange(units) >= counts[:, None]
        for name in ("starts", "ends", "spans"):
            tables[name][beyond] = 1e6
        return tables


def brief(mentions: Sequence[Mention]) -> list[tuple[int, int, str, float | None]]:
    return sorted((m.start, m.end, m.type, m.score) for m in mentions)


def mentions_of(
    model: ModelPredictor, document: Document
) -> list[tuple[int, int, str, float | None]]:
    return brief(model.predict([document])[0].add)


TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60)


@given(data=st.data(), words=TEXTS, seed=st.integers(0, 999), decoding=st.sampled_from(DECODINGS))
def test_windows_do_not_show(
    tokenizer: PieceTokenizer,
    data: st.DataObject,
    words: list[str],
    seed: int,
    decoding: SpanDecoding,
) -> None:
    """A text in overlapping windows gives what it gives in one, where no span is longer than
    what windows share.
    """
    max_length = data.draw(st.integers(8, 30), label="max_length")
    overlap = data.draw(st.integers(1, (max_length - 2) // 2), label="overlap")
    width = data.draw(st.integers(1, overlap + 1), label="width")
    head = SpanSettings(level="piece", width=width, width_embedding=1, decoding=decoding)
    scorer = ContextFree(width=width, seed=seed)
    whole = predictor(scorer, tokenizer, head=head)
    cut = predictor(scorer, tokenizer, head=head, max_length=max_length, overlap=overlap)
    document = sentence(words)
    found = mentions_of(cut, document)
    assert found == mentions_of(whole, document)
    assert len({(start, end) for start, end, _, _ in found}) == len(found)


@given(
    words=TEXTS, seed=st.integers(0, 999), max_length=st.integers(8, 20), overlap=st.integers(0, 4)
)
def test_windows_that_share_less_lose_only_spans_that_reach_over_their_ends(
    tokenizer: PieceTokenizer, words: list[str], seed: int, max_length: int, overlap: int
) -> None:
    head = SpanSettings(width=6, width_embedding=1, decoding="nested")
    scorer = ContextFree(width=6, seed=seed)
    whole = mentions_of(predictor(scorer, tokenizer, head=head), sentence(words))
    model = predictor(scorer, tokenizer, head=head, max_length=max_length, overlap=overlap)
    found = mentions_of(model, sentence(words))
    assert set(found) <= set(whole)
    assert len(set(found)) == len(found)
    single = {m for m in whole if " " not in " ".join(words)[m[0] : m[1]]}
    assert single <= set(found)  # every word is in some window


# Long texts


@dataclass
class Watched:
    """A scorer whose largest table is remembered."""

    scorer: Scorer
    largest: int = 0
    widest: int = 0

    def run(self, inputs: Batch) -> Tables:
        tables = self.scorer.run(inputs)
        self.largest = max(self.largest, *(table.nbytes for table in tables.values()))
        self.widest = max(self.widest, inputs["input_ids"].shape[1])
        return tables


@pytest.mark.parametrize("decoding", DECODINGS)
def test_a_sentence_of_thousands_of_words_needs_no_larger_tables(
    tokenizer: PieceTokenizer, decoding: SpanDecoding
) -> None:
    """Neither the tables of the network nor what is held beside them grow with the length of a
    sentence.
    """
    head = SpanSettings(level="piece", width=32, width_embedding=1, decoding=decoding)
    chance = np.random.default_rng(1)
    used = {}
    for count in (2_000, 16_000):
        document = sentence([WORDS[i] for i in chance.integers(0, len(WORDS), count)])
        watched = Watched(ContextFree(width=32, none=7.0))
        model = predictor(watched, tokenizer, head=head, max_length=256, overlap=32)
        tracemalloc.start()
        (patch,) = model.predict([document])
        used[count] = (watched.largest, tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert watched.widest <= 256
        assert watched.largest <= 1024 * 32 * (1 + len(TYPES)) * 4
        assert len(patch.add) > count // 100
        assert patch.add[-1].end > 0.98 * len(document.text)
    assert used[16_000][0] == used[2_000][0]
    words_more = 16_000 - 2_000
    # pieces, windows and mentions; a band is 2,048 a word
    assert used[16_000][1] - used[2_000][1] < 1_000 * words_more
