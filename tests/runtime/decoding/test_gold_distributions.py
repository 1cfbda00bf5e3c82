"""What a predictor says of given mentions: which have a number, and that windows and batches do
not show in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.support.reading import TYPES, chain_of, manifest_of

from fascicle.core.document import Document, Mention
from fascicle.core.patches import apply
from fascicle.core.tags import SCHEMES
from fascicle.runtime.decoding.decoders import Tables
from fascicle.runtime.decoding.kinds import Definition, probability_definition
from fascicle.runtime.predictor import ModelPredictor, Probed
from fascicle.settings.heads import (
    AnyHead,
    BinderSettings,
    CrfSettings,
    MultiLabelSettings,
    SoftmaxSettings,
    SpanSettings,
    TaggerSettings,
)
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.windows import Batch

# one piece each
_WORDS = "the patient has lung cancer pain aspirin caused fever liver failure heart , . ibuprofen"
WORDS = _WORDS.split()
WIDTH = 4
HEADS: dict[Definition, tuple[AnyHead, ...]] = {
    "tag-path": (
        SoftmaxSettings(),
        SoftmaxSettings(decoding="lenient", scheme="IO"),
        CrfSettings(),
    ),
    "softmax": (SpanSettings(width=WIDTH, decoding="nested"), SpanSettings(width=WIDTH)),
    "sigmoid": (
        BinderSettings(width=WIDTH, decoding="nested"),
        BinderSettings(width=WIDTH, inference="joint"),
        MultiLabelSettings(),
        MultiLabelSettings(scheme="IO", decoding="strict"),
    ),
}
ALL = [(definition, head) for definition, heads in HEADS.items() for head in heads]


@dataclass(frozen=True, kw_only=True)
class ContextFree:
    """Scores that hang on nothing but the words; what lies beyond the units of a window is
    noise.
    """

    head: AnyHead

    def run(self, inputs: Batch) -> Tables:
        words = np.take_along_axis(inputs["input_ids"], inputs["first_piece"], axis=1)
        chance = np.random.default_rng(5)

        def by_word(*shape: int) -> np.ndarray:  # type: ignore[type-arg]
            return (2 * chance.normal(size=(100, *shape))).astype(np.float32)

        if isinstance(self.head, TaggerSettings):
            tags = SCHEMES[self.head.scheme].count(len(TYPES))
            tables = {"emissions": by_word(tags)[words]}
            return tables | (
                chain_of(np.random.default_rng(6), tags)
                if isinstance(self.head, CrfSettings)
                else {}
            )
        if isinstance(self.head, SpanSettings):
            classes = 1 + len(TYPES)
            widths = chance.normal(size=(self.head.width, classes)).astype(np.float32)
            return {
                "starts": by_word(classes)[words],
                "ends": by_word(classes)[words],
                "widths": widths,
            }
        spans = by_word(self.head.width, len(TYPES))[words]
        zeros = np.zeros((len(words), len(TYPES)), dtype=np.float32)
        tables = {"spans": spans, "span_threshold": zeros + 1}
        if self.head.inference == "joint":
            place = np.zeros((*words.shape, len(TYPES)), dtype=np.float32)
            tables |= {
                "starts": place,
                "ends": place,
                "start_threshold": zeros,
                "end_threshold": zeros,
            }
        return tables


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder: Path) -> PieceTokenizer:
    return PieceTokenizer.from_file(tiny_encoder / "tokenizer.json")


def predictor(
    head: AnyHead, tokenizer: PieceTokenizer, *, max_length: int = 300, overlap: int = 0
) -> ModelPredictor:
    reading = ReadingSettings(max_length=max_length, overlap=overlap)
    manifest = manifest_of(head, tokenizer, reading=reading, nothing=0.25)
    return ModelPredictor(manifest, tokenizer, ContextFree(head=head))


def sentence(words: Sequence[str], *, name: str = "d") -> Document:
    text = " ".join(words)
    return Document(id=name, text=text, sentences=((0, len(text)),))


def with_every_span(document: Document, *, longest: int) -> Document:
    """The document with a gold mention over every run of up to so many words."""
    ends = np.cumsum([len(word) + 1 for word in document.text.split()]).tolist()
    starts = [0, *ends[:-1]]
    mentions = [
        Mention(((a, ends[j] - 1),), TYPES[(i + j) % 2])
        for i, a in enumerate(starts)
        for j in range(i, min(i + longest, len(ends)))
    ]
    return Document(
        id=document.id, text=document.text, sentences=document.sentences, mentions=tuple(mentions)
    )


def documents(count: int = 6, *, longest: int = WIDTH) -> list[Document]:
    chance = np.random.default_rng(1)
    made = [
        sentence(chance.choice(WORDS, size=3 + 5 * i).tolist(), name=str(i)) for i in range(count)
    ]
    return [made[0], *(with_every_span(document, longest=longest) for document in made[1:])]


def numbers(probed: Probed) -> list[tuple[Mention, list[float]]]:
    return [
        (one.mention, one.probabilities.tolist())
        for one in probed.gold
        if one.probabilities is not None
    ]


@pytest.mark.parametrize(("definition", "head"), ALL)
def test_every_given_mention_has_numbers_and_predictions_stay(
    definition: Definition, head: AnyHead, tokenizer: PieceTokenizer
) -> None:
    model, given = predictor(head, tokenizer), documents()
    assert probability_definition(model.manifest) == definition
    found = list(model.probe(given))
    assert [one.patch for one in found] == model.predict(given)
    assert [one.document for one in found] == given
    for one in found:
        assert [two.mention for two in one.gold] == list(one.document.mentions)
        assert not [two for two in one.gold if two.unreachable]
        table = np.array([row for _, row in numbers(one)]).reshape(-1, 3)
        assert ((table >= 0) & (table <= 1)).all()
        if definition != "sigmoid":
            np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-9)


@pytest.mark.parametrize(("definition", "head"), ALL)
def test_what_is_returned_has_its_score(
    definition: Definition, head: AnyHead, tokenizer: PieceTokenizer
) -> None:
    model = predictor(head, tokenizer)
    annotated = [apply(d, p) for d, p in zip(documents(), model.predict(documents()), strict=True)]
    seen = 0
    for one in model.probe(annotated, source="tested"):
        for mention, row in numbers(one):
            seen += 1
            if not isinstance(head, SoftmaxSettings):  # its score is a mean over words
                assert mention.score is not None
                assert row[1 + TYPES.index(mention.type)] == pytest.approx(mention.score, abs=2e-6)
    assert seen > 10


@pytest.mark.parametrize(("definition", "head"), ALL)
def test_windows_and_batches_do_not_show(
    definition: Definition, head: AnyHead, tokenizer: PieceTokenizer
) -> None:
    whole = predictor(head, tokenizer)
    cut = predictor(head, tokenizer, max_length=16, overlap=8)
    for one, two in zip(whole.probe(documents()), cut.probe(documents()), strict=True):
        for (mention, expected), (other, found) in zip(numbers(one), numbers(two), strict=True):
            assert mention == other
            assert found == pytest.approx(expected, abs=1e-6)


REACH = "lung cancer pain . aspirin caused fever"


@pytest.mark.parametrize(
    ("head", "spans", "kind", "reason"),
    [
        (SoftmaxSettings(), ((0, 4),), "Gene", "unknown-type"),
        (SoftmaxSettings(), ((0, 4), (12, 16)), "Disease", "discontinuous"),
        (SoftmaxSettings(), ((5, 9),), "Disease", "inside-word"),
        (MultiLabelSettings(breakers="(c"), ((0, 16),), "Disease", "breaker"),
        (SoftmaxSettings(), ((12, 26),), "Disease", "crosses-segment"),
        (SpanSettings(width=1), ((0, 11),), "Disease", "too-wide"),
        (BinderSettings(width=1), ((0, 11),), "Disease", "too-wide"),
        (SpanSettings(width=WIDTH), ((0, 16),), "Disease", ""),
    ],
)
def test_what_cannot_be_returned_has_a_reason_and_no_number(
    head: AnyHead,
    spans: tuple[tuple[int, int], ...],
    kind: str,
    reason: str,
    tokenizer: PieceTokenizer,
) -> None:
    document = Document(
        id="d",
        text=REACH,
        sentences=((0, 18), (19, 39)),
        mentions=(Mention(spans, kind), Mention(((0, 4),), "Disease")),
    )
    (probed,) = predictor(head, tokenizer).probe([document])
    (asked,) = (
        one for one in probed.gold if one.mention.spans == spans and one.mention.type == kind
    )
    assert (asked.unreachable, asked.probabilities is None) == (reason, bool(reason))
    (other,) = (one for one in probed.gold if one is not asked)
    assert other.probabilities is not None


def test_what_crosses_a_window_has_no_number(tokenizer: PieceTokenizer) -> None:
    document = with_every_span(sentence(["lung"] * 30), longest=WIDTH)
    model = predictor(
        SpanSettings(width=WIDTH, decoding="nested"), tokenizer, max_length=10, overlap=0
    )
    (probed,) = model.probe([document])
    crossing = [
        one for one in probed.gold if one.mention.start // 40 != (one.mention.end - 1) // 40
    ]
    assert crossing
    assert all(one.unreachable == "crosses-window" for one in crossing)
    assert len(numbers(probed)) == len(probed.gold) - len(crossing)
