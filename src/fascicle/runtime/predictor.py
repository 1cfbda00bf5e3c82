"""The one way from documents to mentions, for a torch model and for an ONNX session alike.

read (pieces, windows) -> score (batches) -> decode -> mentions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from itertools import islice
from operator import itemgetter
from typing import Any, Protocol, Self

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from fascicle.core.arguments import validate_documents
from fascicle.core.arrays import Floats, Ints
from fascicle.core.document import GOLD, Document, Mention, Patch
from fascicle.core.session import score_batches
from fascicle.core.stream import chunks
from fascicle.runtime.answer import AnswerBuilder
from fascicle.runtime.decoding.decoders import SpansAndScores, Tables
from fascicle.runtime.decoding.kinds import (
    KINDS,
    GoldDistribution,
    HeadKinds,
    find_kind,
    make_decoder,
    make_prober,
    make_tagger,
)
from fascicle.runtime.ruled import RuledPredictor, check_pack
from fascicle.runtime.second_reading import add_whole_text_names, answer_cells
from fascicle.runtime.unseen import UnseenStretches
from fascicle.settings.decision import CAPITALS
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.terms.abbreviations.definitions import abbreviations_in_capitals
from fascicle.text.annotator import Tagged, TagSpace, document_words, unit_rows_to_words
from fascicle.text.characters import with_capitals, with_plain_characters
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import (
    PART,
    DocumentPart,
    DocumentReader,
    Reading,
    can_read_in_parts,
    read_documents,
    read_in_parts,
)
from fascicle.text.segment import segmenter
from fascicle.text.windows import Batch, Window, collate


class Scorer(Protocol):
    """The network: one padded batch in, named score tables out.

    One with an attribute ``batch_tokens`` is given batches of at most so many padded pieces.
    """

    def run(self, inputs: Batch) -> Tables:
        """Scores one batch of ``text.windows.collate``."""


class Probed(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Predictions for one document, and the probabilities of each mention that was probed."""

    document: Document
    patch: Patch
    gold: tuple[GoldDistribution, ...]


class ModelPredictor(RuledPredictor):
    """A model as a predictor: ``predict`` is pure, ``annotate`` applies it to texts.

    Documents are cut (`_encode`), scored in batches of windows (`_score`), decoded by what fits the
    head (``decoding/kinds.py``), and answered (``answer.py``). Then rules (``ruled.py``) and second
    readings change the answer. A long document goes this way part by part; `tag` and `probe` take
    more from the same scores.

    The score of a mention is defined by its head, see ``models/``, and changed by the calibration
    of its decision if there is one.
    """

    def __init__(
        self,
        manifest: Manifest,
        tokenizer: PieceTokenizer,
        scorer: Scorer,
        *,
        max_characters: int = PART,
        kinds: HeadKinds = KINDS,
        read: DocumentReader = read_documents,
    ) -> None:
        """Puts the parts together.

        Args:
            manifest: of the model.
            tokenizer: of the model.
            scorer: the network.
            max_characters: a longer document is read part by part.
            kinds: of heads, by the class of their settings.
            read: cuts documents; ``runtime.inputs.make_reader`` for a model with inputs, and
                ``text.reading.CachedReader`` where the same ones are predicted again and again.

        Raises:
            InputError: the model was made with a segmenter that this release does not have.
            ValueError: a model with inputs, and a reader that looks nothing up.
        """
        if manifest.inputs and read is read_documents:
            raise ValueError(
                f"{manifest.name} looks units up: give a reader that does, see "
                "runtime.inputs.make_reader"
            )
        segmenter(manifest.reading.segmenter)
        if rules := manifest.decision.document:
            check_pack(rules, model=manifest.name)
        self.manifest: Manifest = manifest
        self._tokenizer = tokenizer
        self._scorer = scorer
        self._max_characters = max_characters
        self._kinds = kinds
        self._read = read
        head = manifest.answering
        self._breakers = find_kind(head, kinds).limits(head).breakers
        self._hidden: tuple[str, ...] = ()

    @property
    def segmenter(self) -> str:
        """The one that the model was trained with."""
        return self.manifest.reading.segmenter

    @property
    def kind(self) -> str:
        """The family of the head, its unit, and what runs the network."""
        head = self.manifest.answering
        return f"{head.family} over {head.level}s, {self.manifest.runtime}"

    @property
    def rules(self) -> ScoreDecision:
        """The decision of the model."""
        return self.manifest.decision

    @property
    def apart(self) -> tuple[str, ...]:
        """Conventions of single corpora, see ``ScoreDecision.apart``."""
        return self.manifest.decision.apart or ()

    @property
    def tag_space(self) -> TagSpace:
        """The tags of the answering head; BIO for a head that scores spans."""
        kind = find_kind(self.manifest.answering, self._kinds)
        if kind.tags is None:
            return TagSpace()
        scheme = make_tagger(self.manifest, self._kinds).scheme.name
        return TagSpace(
            scheme=scheme, meaning="sigmoid" if kind.definition == "sigmoid" else "marginal"
        )

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Mentions and events for each document.

        Args:
            documents: sentences and words are taken from them where given.

        Returns:
            One patch per document, in order; the documents stay as they are.
        """
        patches: list[Patch] = []
        for chunk in chunks(self._visible(validate_documents(documents))):
            patches.extend(self._predict_chunk(chunk))
        return patches

    def _predict_chunk(self, documents: Sequence[Document]) -> list[Patch]:
        if self._is_long(documents):
            return [self._predict_long(documents[0])]
        reading = self._encode(documents)
        return self._patches(documents, reading, self._find_spans(reading))

    def _visible(self, documents: Iterable[Document]) -> list[Document]:
        """Returns the documents as the network and the rules see them.

        Capitals show more short forms, and make some of ordinary words.
        """
        if self.manifest.decision.characters != CAPITALS:
            return list(documents)
        return [
            replace(capitals, abbreviations=abbreviations_in_capitals(document, capitals))
            if (capitals := with_capitals(document)) is not document
            else document
            for document in documents
        ]

    def _encode(self, documents: Sequence[Document]) -> Reading:
        level = self.manifest.answering.level
        plain = [self._plain(document) for document in documents]
        return self._read(plain, self._tokenizer, reading=self.manifest.reading, level=level)

    def _plain(self, document: Document) -> Document:
        """Returns the document as the network reads it."""
        return with_plain_characters(document) if self.manifest.decision.characters else document

    def _find_spans(self, reading: Reading) -> list[SpansAndScores]:
        """Scores and decodes documents: their spans, in units."""
        decoder = make_decoder(self.manifest, self._kinds)
        return decoder.decide(self._score(reading, decoder.take), reading.windows)

    def _score(
        self, reading: Reading, take: Callable[[Tables, Sequence[Window], Ints], list[Any]]
    ) -> list[list[Any]]:
        """Scores all windows and returns, for each document, what ``take`` extracts from each
        window.
        """
        windows = [w for cut in reading.windows for w in cut]
        results: list[Any] = [None] * len(windows)
        lengths = [w.pieces[1] - w.pieces[0] + self._extra_pieces for w in windows]

        def score(numbers: NDArray[np.intp]) -> tuple[list[Window], Ints, Tables]:
            together = [windows[i] for i in numbers]
            batch = collate(together, reading.pieces, self._tokenizer)
            return together, batch["unit_count"], self._scorer.run(batch)

        for numbers, (together, counts, tables) in score_batches(
            self._scorer, lengths, score=score
        ):
            for i, row in zip(numbers.tolist(), take(tables, together, counts), strict=True):
                results[i] = row
        in_order = iter(results)
        return [list(islice(in_order, len(cut))) for cut in reading.windows]

    def _patches(
        self, documents: Sequence[Document], reading: Reading, spans: Sequence[SpansAndScores]
    ) -> list[Patch]:
        """Returns the answers, with second readings of what may be a name alone."""
        patches = self._make_patches(documents, reading, spans)
        rules = self.rules.document
        if not (rules and rules.names):
            return patches
        answers = add_whole_text_names(
            documents,
            patches,
            rules=rules.names,
            pack=rules.pack,
            again=self.with_document(rules.keeping_all)._predict_again,
            types=[kind for kind in self.types if kind not in self.apart],
            source=self.name,
        )
        return answer_cells(documents, answers, rules=rules.names, predict=self.predict)

    def _make_patches(
        self, documents: Sequence[Document], reading: Reading, spans_of: Sequence[SpansAndScores]
    ) -> list[Patch]:
        patches = []
        for document, pieces, spans in zip(documents, reading.pieces, spans_of, strict=True):
            answer = self._answer(document)
            answer.take(pieces, (0, len(document.text)), spans)
            patches.append(answer.patch())
        return self._by_rules(documents, patches)

    def _answer(self, document: Document) -> AnswerBuilder:
        capacity = self.manifest.reading.max_length - self._extra_pieces
        unseen = UnseenStretches(document, capacity=capacity, unknown=self._tokenizer.unknown)
        return AnswerBuilder(self.manifest, unseen, breakers=self._breakers, hidden=self._hidden)

    @property
    def _extra_pieces(self) -> int:
        """Pieces that the tokenizer adds to each window."""
        return len(self._tokenizer.prefix) + len(self._tokenizer.suffix)

    def _predict_again(self, documents: Sequence[Document]) -> list[Patch]:
        reading = self._encode(documents)
        return self._make_patches(documents, reading, self._find_spans(reading))

    def _is_long(self, documents: Sequence[Document]) -> bool:
        """True if the documents are a single long document that must be read in parts."""
        is_long = len(documents) == 1 and len(documents[0].text) > self._max_characters
        return is_long and can_read_in_parts(self.manifest.reading)

    def _predict_long(self, document: Document) -> Patch:
        """Predicts for a long document, in memory that does not grow with its length."""
        answer = self._answer(document)
        for part in self._parts(document):
            (spans,) = self._find_spans(part.reading)
            answer.take(part.reading.pieces[0], part.span, spans)
        return self._decide(document, answer)

    def _parts(self, document: Document) -> Iterator[DocumentPart]:
        return read_in_parts(
            self._plain(document),
            self._encode,
            reading=self.manifest.reading,
            size=self._max_characters,
        )

    def _decide(self, document: Document, answer: AnswerBuilder) -> Patch:
        (patch,) = self._by_rules([document], [answer.patch()])
        return patch

    def tag(self, documents: Sequence[Document]) -> list[Tagged]:
        """Predicts, and computes the probability of each tag of each word, under the decision of
        the model.

        Args:
            documents: sentences and words are taken from them where given.

        Returns:
            What is said of each document, in order. A word has the numbers of its first piece,
            where pieces are tagged. Of a head that scores spans, the scores of its mentions; see
            `text.annotator.Tagged`.
        """
        if find_kind(self.manifest.answering, self._kinds).tags is None:
            return super().tag(documents)
        answers: list[Tagged] = []
        for chunk in chunks(self._visible(validate_documents(documents))):
            answers += self._tag_long(chunk[0]) if self._is_long(chunk) else self._tag_chunk(chunk)
        return answers

    def _tag_chunk(self, documents: Sequence[Document]) -> list[Tagged]:
        reading = self._encode(documents)
        spans, tables = self._unit_tags(reading)
        patches = self._patches(documents, reading, spans)
        return [
            self._tag_words(document, patch, units=pieces.units, table=table)
            for document, patch, pieces, table in zip(
                documents, patches, reading.pieces, tables, strict=True
            )
        ]

    def _unit_tags(self, reading: Reading) -> tuple[list[SpansAndScores], list[Floats]]:
        """Spans and tags of each document, in units."""
        tagger = make_tagger(self.manifest, self._kinds)
        rows = self._score(reading, tagger.take)
        return tagger.decide(rows, reading.windows), tagger.unit_tags(rows, reading.windows)

    def _tag_words(self, document: Document, patch: Patch, *, units: Ints, table: Floats) -> Tagged:
        words = document_words(self._plain(document), self.segmenter)
        return Tagged(
            patch=patch, words=words, probabilities=unit_rows_to_words(words, units, table)
        )

    def _tag_long(self, document: Document) -> list[Tagged]:
        answer, units, tables = self._answer(document), [], []
        for part in self._parts(document):
            (spans,), (table,) = self._unit_tags(part.reading)
            answer.take(part.reading.pieces[0], part.span, spans)
            units.append(part.reading.pieces[0].units)
            tables.append(table)
        patch = self._decide(document, answer)
        return [
            self._tag_words(
                document, patch, units=np.concatenate(units), table=np.concatenate(tables)
            )
        ]

    def probe(self, documents: Iterable[Document], *, source: str = GOLD) -> Iterator[Probed]:
        """Predicts, and computes the probabilities of mentions that documents already hold, in
        bounded memory.

        Args:
            documents: with mentions; of any number.
            source: whose mentions are asked for.

        Yields:
            For each document its patch, as `predict` gives it, and of each mention what the model
            says of its span.
        """
        for chunk in chunks(documents):
            yield from self._probe_chunk(chunk, [document.layer(source) for document in chunk])

    def _probe_chunk(
        self, documents: Sequence[Document], mentions_of: Sequence[Sequence[Mention]]
    ) -> Iterator[Probed]:
        visible = self._visible(documents)
        reading, decoder = self._encode(visible), make_decoder(self.manifest, self._kinds)
        prober, places = make_prober(self.manifest, reading, mentions_of, self._kinds)

        def take(tables: Tables, windows: Sequence[Window], counts: Ints) -> list[tuple[Any, Any]]:
            pair = decoder.take(tables, windows, counts), prober.take(tables, windows, counts)
            return list(zip(*pair, strict=True))

        rows = self._score(reading, take)
        spans = decoder.decide(_column(rows, 0), reading.windows)
        numbers = prober.probabilities(_column(rows, 1), reading.windows)
        patches = self._patches(visible, reading, spans)
        for document, patch, mentions, where, values in zip(
            documents, patches, mentions_of, places, numbers, strict=True
        ):
            yield Probed(document=document, patch=patch, gold=where.fill(mentions, values))

    def uncalibrated(self) -> ModelPredictor:
        """Returns the same model with raw scores, no threshold and no rules, for fitting a
        calibration.
        """
        return self.ruled(
            calibration=msgspec.UNSET, abbreviations=msgspec.UNSET, document=msgspec.UNSET
        )

    def with_nothing(self, nothing: float) -> ModelPredictor:
        """Returns the same model with another ``ScoreDecision.nothing``."""
        return self.ruled(nothing=nothing)

    def with_nothing_by_type(self, values: Sequence[float]) -> ModelPredictor:
        """Returns the same model with another ``ScoreDecision.nothing_by_type``; all else stays."""
        return self.ruled(nothing=0.0, nothing_by_type=tuple(values))

    def deciding(self, decision: ScoreDecision) -> Self:
        """Returns the same model with another decision."""
        changed = copy(self)
        changed.manifest = replace(self.manifest, decision=decision)
        return changed

    def ruled(self, **changes: Any) -> Self:
        """See `RuledPredictor`."""
        return self.deciding(replace(self.manifest.decision, **changes))

    def hiding(self, types: Iterable[str]) -> Self:
        """Returns the same model, whose answers say nothing of some of the types that it keeps
        apart.
        """
        changed = copy(self)
        changed._hidden = tuple(types)
        return changed


def _column(rows: Sequence[Sequence[tuple[Any, Any]]], number: int) -> list[list[Any]]:
    """Returns one of two values of each window of each document."""
    return [list(map(itemgetter(number), pairs)) for pairs in rows]
