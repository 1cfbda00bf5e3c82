"""What predictors say of words: the tags of heads, the scores of mentions, and the mean of
several predictors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fascicle.core.document import Document, Mention, Patch
from fascicle.core.tags import SCHEMES
from fascicle.runtime.choice import FilteredPredictor
from fascicle.runtime.decoding.chains import ChainScores
from fascicle.runtime.decoding.decoders import Tables
from fascicle.runtime.decoding.tagger import TagDecision, tag_marginals
from fascicle.runtime.ensemble import EnsemblePredictor
from fascicle.runtime.predictor import ModelPredictor
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.settings.heads import (
    AnyHead,
    CrfSettings,
    MultiLabelSettings,
    SoftmaxSettings,
    SpanSettings,
)
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.recipes.ensemble import EnsembleManifest
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.terms.dictionary import DictionaryEntry
from fascicle.terms.matcher import Matcher
from fascicle.text.annotator import Annotator, TagSpace
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.windows import Batch

TYPES = ("Chemical", "Disease")
# "hepatitis" and "patients" have two pieces each
TEXTS = (
    "the patient has hepatitis . no pain",
    "",
    "aspirin caused hepatitis in patients",
    "fever " * 40,
)
HEADS = [
    SoftmaxSettings(),
    SoftmaxSettings(scheme="IO", decoding="lenient"),
    SoftmaxSettings(level="piece", decoding="lenient"),
    CrfSettings(),
    CrfSettings(level="piece"),
    MultiLabelSettings(),
    MultiLabelSettings(scheme="IO"),
]


class ByPiece:
    """Scores that hang on nothing but the piece that a unit begins with."""

    def __init__(self, head: AnyHead) -> None:
        self._head = head
        self.tags = SCHEMES[head.scheme].count(len(TYPES))  # type: ignore[union-attr]
        rng = np.random.default_rng(5)
        self.table = (2 * rng.normal(size=(100, self.tags))).astype(np.float32)
        self.chain = {
            "transitions": rng.normal(size=(self.tags, self.tags)),
            "start": rng.normal(size=self.tags),
            "end": rng.normal(size=self.tags),
        }

    def run(self, inputs: Batch) -> Tables:
        first = np.take_along_axis(inputs["input_ids"], inputs["first_piece"], axis=1)
        chain = self.chain if self._head.family == "crf" else {}
        return {"emissions": self.table[first], **chain}


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder: Path) -> PieceTokenizer:
    return PieceTokenizer.from_file(tiny_encoder / "tokenizer.json")


def predictor(
    head: AnyHead, tokenizer: PieceTokenizer, scorer: Any = None, **options: Any
) -> ModelPredictor:
    manifest = Manifest(
        name="tested",
        fascicle="0",
        runtime="onnx",
        types=TYPES,
        heads={"one": head},
        reading=ReadingSettings(
            max_length=options.pop("max_length", 300), overlap=options.pop("overlap", 0)
        ),
        tokenizer=TokenizerFacts(
            sha256="", prefix=tokenizer.prefix, suffix=tokenizer.suffix, pad=tokenizer.pad
        ),
        decision=ScoreDecision(answer="one", decoding=head.decoding, nothing=0.25),
    )
    return ModelPredictor(manifest, tokenizer, scorer or ByPiece(head), **options)


def documents() -> list[Document]:
    return [
        Document(id=str(at), text=text, sentences=((0, len(text)),) if text else ())
        for at, text in enumerate(TEXTS)
    ]


def expected_of(head: AnyHead, text: str, tokenizer: PieceTokenizer) -> np.ndarray:  # type: ignore[type-arg]
    """Tags of the words of a text of one sentence, by hand; the first piece of each word says
    them.
    """
    scorer = ByPiece(head)
    words = text.split()
    cut = [tokenizer.encode([word])[0][0] for word in words]
    by_piece = head.level == "piece"
    units = [piece for pieces in cut for piece in (pieces if by_piece else pieces[:1])]
    emissions = (
        scorer.table[np.array(units, dtype=np.int64)].copy()
        if units
        else np.zeros((0, scorer.tags))
    )
    if head.family == "multilabel":
        found = 1 / (1 + np.exp(-(emissions[:, 1:].astype(np.float64) - 0.25)))
    else:
        emissions[:, 0] += np.float32(0.25)
        chain = ChainScores(**scorer.chain) if head.family == "crf" else None
        decision = TagDecision(scheme=SCHEMES[head.scheme], decoding=head.decoding, chain=chain)  # type: ignore[union-attr]
        found = tag_marginals([emissions], decision)[0][:, 1:]
    firsts = np.cumsum([0, *(len(pieces) if by_piece else 1 for pieces in cut)])[:-1].astype(
        np.int64
    )
    return found[firsts]


@pytest.mark.parametrize("head", HEADS, ids=str)
def test_words_have_the_tags_of_the_head(head: AnyHead, tokenizer: PieceTokenizer) -> None:
    model = predictor(head, tokenizer)
    meaning = "sigmoid" if head.family == "multilabel" else "marginal"
    assert model.tag_space == TagSpace(scheme=head.scheme, meaning=meaning)  # type: ignore[union-attr]
    given = documents()
    found = model.tag(given)
    assert [one.patch for one in found] == model.predict(given)
    for document, one in zip(given, found, strict=True):
        assert [document.text[a:b] for a, b in one.words.tolist()] == document.text.split()
        np.testing.assert_allclose(
            one.probabilities, expected_of(head, document.text, tokenizer), atol=1e-6
        )
    assert sum(len(one.patch.add) for one in found) > 5
    assert model.tag([]) == []


@pytest.mark.parametrize(
    "head", [SoftmaxSettings(), MultiLabelSettings(), SoftmaxSettings(level="piece")], ids=str
)
def test_windows_and_parts_do_not_show(head: AnyHead, tokenizer: PieceTokenizer) -> None:
    text = " . ".join(TEXTS)
    (whole,) = predictor(head, tokenizer).tag([Document(id="d", text=text)])
    for options in ({"max_length": 16, "overlap": 8}, {"max_characters": 50}):
        (cut,) = predictor(head, tokenizer, **options).tag([Document(id="d", text=text)])
        assert cut.patch == whole.patch
        np.testing.assert_allclose(cut.probabilities, whole.probabilities, atol=1e-6)


def test_a_word_that_is_not_read_has_no_tags(tokenizer: PieceTokenizer) -> None:
    document = Document(id="d", text="no pain", words=((0, 2), (2, 3), (3, 7)))
    (one,) = predictor(MultiLabelSettings(), tokenizer).tag([document])
    assert one.probabilities[1].tolist() == [0, 0, 0, 0]
    assert (one.probabilities[[0, 2]] > 0).all()


def test_a_head_of_spans_says_the_scores_of_its_mentions(tokenizer: PieceTokenizer) -> None:
    class OneSpan:
        def run(self, inputs: Batch) -> Tables:
            tables = np.full((*inputs["first_piece"].shape, 4, 3), -9.0, dtype=np.float32)
            tables[..., 0] = 0
            tables[:, 3, 0, 2] = 3.0
            return {"spans": tables}

    model = predictor(SpanSettings(width=4), tokenizer, OneSpan())
    (one,) = model.tag([Document(id="d", text="the patient has hepatitis", sentences=((0, 25),))])
    (mention,) = one.patch.add
    assert model.tag_space == TagSpace(scheme="BIO", meaning="mention-score")
    expected = np.zeros((4, 4))
    expected[3, 2] = mention.score
    np.testing.assert_array_equal(one.probabilities, expected)


class Says(Annotator):
    """Gives the same mentions of each text."""

    def __init__(
        self, *said: tuple[int, int, str, float | None], types: Sequence[str] = TYPES
    ) -> None:
        self._said, self._types = said, tuple(types)

    name = "says"  # type: ignore[assignment]
    types = property(lambda self: self._types)

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        add = tuple(
            Mention(((a, b),), kind, score=score, source="says") for a, b, kind, score in self._said
        )
        return [Patch(add=add) for _ in documents]


def ensemble(
    *members: Annotator, types: Sequence[str] = TYPES, **settings: Any
) -> EnsemblePredictor:
    names = tuple(str(at) for at in range(len(members)))
    manifest = EnsembleManifest(
        name="all",
        fascicle="0",
        types=tuple(types),
        members=names,
        **{"rule": "majority", **settings},
    )
    openers: list[Callable[[], Annotator]] = [lambda one=one: one for one in members]  # type: ignore[misc]
    return EnsemblePredictor(manifest, openers)


LUNG = Document(id="d", text="no lung pain")  # words 0-2, 3-7, 8-12


def test_a_vote_without_scores_says_the_share_of_its_votes() -> None:
    voters = ensemble(
        Says((3, 12, "Disease", None)),
        Says((3, 12, "Disease", None)),
        Says((8, 12, "Disease", None)),
    )
    (one,) = voters.tag([LUNG])
    assert [(m.start, m.end) for m in one.patch.add] == [(3, 12)]
    np.testing.assert_allclose(one.probabilities, [[0] * 4, [0, 0, 2 / 3, 0], [0, 0, 1 / 3, 2 / 3]])
    assert voters.tag_space.meaning == "mean"


def test_a_vote_with_scores_says_their_mean_with_weights_over_those_that_know_the_type() -> None:
    members = (
        Says((3, 7, "Disease", 0.5), (8, 12, "Chemical", 0.9)),
        Says((3, 7, "Disease", 0.9)),
        Says((8, 12, "Chemical", 0.25), types=("Chemical",)),
    )
    (one,) = ensemble(*members, rule="weighted", weights=("1", "3", "2")).tag([LUNG])
    expected = np.zeros((3, 4))
    expected[1, 2] = (0.5 + 3 * 0.9) / 4
    expected[2, 0] = (0.9 + 2 * 0.25) / 6
    np.testing.assert_allclose(one.probabilities, expected)
    assert (
        one.patch == ensemble(*members, rule="weighted", weights=("1", "3", "2")).predict([LUNG])[0]
    )


def test_a_mean_of_models_is_in_io_if_one_of_them_is(tokenizer: PieceTokenizer) -> None:
    members = [
        predictor(head, tokenizer) for head in (SoftmaxSettings(), SoftmaxSettings(scheme="IO"))
    ]
    both = ensemble(*members)
    assert both.tag_space == TagSpace(scheme="IO", meaning="mean")
    (bio,), (io,), (one,) = (model.tag([LUNG]) for model in (*members, both))
    b, i = bio.probabilities[:, [0, 2]], bio.probabilities[:, [1, 3]]
    np.testing.assert_allclose(one.probabilities, (np.minimum(1, b + i) + io.probabilities) / 2)


def test_nothing_to_tag() -> None:
    assert ensemble(Says(), Says()).tag([]) == []


def test_a_dictionary_has_no_probabilities() -> None:
    names = Matcher([DictionaryEntry(name="lung pain", type="Disease")], rule="raw")
    assert names.tag_space.meaning == "none"
    (one,) = names.tag([LUNG])
    np.testing.assert_array_equal(one.probabilities, [[0, 0], [1, 0], [0, 1]])


def test_a_choice_of_types_is_one_of_columns(tokenizer: PieceTokenizer) -> None:
    model = predictor(MultiLabelSettings(), tokenizer)
    chosen = FilteredPredictor(model, only=["Disease"])
    (every,), (some,) = model.tag([LUNG]), chosen.tag([LUNG])
    assert chosen.tag_space == model.tag_space
    np.testing.assert_array_equal(some.probabilities, every.probabilities[:, 2:])
    assert some.patch == chosen.predict([LUNG])[0]
