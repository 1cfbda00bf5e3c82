"""Answer of a model for one document: its mentions, the text that the network did not read, and
what was left out.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec
import numpy as np
from msgspec.structs import replace

from fascicle.core.arrays import Bools, Floats, Ints
from fascicle.core.document import Document, Event, Mention, Patch, in_order
from fascicle.core.effects import make_event
from fascicle.core.mention import Span
from fascicle.core.wording import has_letters, plural
from fascicle.errors import ModelError
from fascicle.runtime.decoding.deciding import all_decided, find_no_types
from fascicle.runtime.decoding.decoders import SpansAndScores
from fascicle.runtime.decoding.evidence import FindTypes
from fascicle.runtime.decoding.selection import calibrate_scores, round_scores, type_thresholds
from fascicle.runtime.decoding.short_texts import (
    STOP,
    covering,
    may_be_name,
    may_be_read_again,
    short_cells,
)
from fascicle.runtime.decoding.tagger import split_spans
from fascicle.settings.decision import AbbreviationDecision, DocumentDecision, NameDecision
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.settings.folders.vocabularies import find_pack, shipped_packs
from fascicle.settings.recipes.ensemble import EnsembleManifest
from fascicle.terms.abbreviations.resolving import apply_rules
from fascicle.text.annotator import Annotator
from fascicle.text.language import other_language
from fascicle.text.pieces import Pieces
from fascicle.text.segment import segmenter
from fascicle.text.targets import begins_with
from fascicle.text.windows import truncated_units

if TYPE_CHECKING:
    from fascicle.terms.recognising import PackRecogniser


# for models that do not distinguish families from genes
_WIDER: Final = MappingProxyType({"GeneFamily": "Gene"})
_Predicts = Callable[[Sequence[Document]], Sequence[Patch]]


def add_whole_text_names(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    *,
    rules: NameDecision,
    pack: str,
    again: _Predicts,
    types: Collection[str],
    source: str,
) -> list[Patch]:
    """Returns answers in which texts of a few words become names if a second reading or a term pack
    supports it.

    Args:
        documents: of any length.
        patches: the answer for each.
        rules: which texts.
        pack: the pack that they are looked up in; empty for none.
        again: reads texts, and says no more than the first reading.
        types: the types that the model gives out; a mention of another type makes no text a name.
        source: of its mentions.
    """
    answers = list(patches)
    places = list(_unnamed_texts(documents, patches, rules, types))
    if not places:
        return answers
    texts = [documents[at].text for at in places]
    stopped = again([Document(id="", text=text.rstrip() + STOP) for text in texts])
    plain = [Document(id="", text=text) for text in texts]
    looked_up = _recogniser(pack).predict(plain) if pack else stopped
    for at, text, second, third in zip(places, texts, stopped, looked_up, strict=True):
        for mentions in (second.add, _with_types(third.add, types, source)):
            whole = _whole(text, mentions)
            if any(mention.type in types for mention in whole):
                answers[at] = replace(answers[at], add=whole)
                break
    return answers


def _unnamed_texts(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    rules: NameDecision,
    types: Collection[str],
) -> Iterator[int]:
    """Yields the numbers of the documents that may be names, and have no mention that is all of
    them.
    """
    for at, (document, patch) in enumerate(zip(documents, patches, strict=True)):
        text = document.text
        is_short = may_be_name(text, rules) and may_be_read_again(text)
        if is_short and not any(mention.type in types for mention in covering(text, patch.add)):
            yield at


def _with_types(mentions: Sequence[Mention], types: Collection[str], source: str) -> list[Mention]:
    """Returns names of a pack as mentions of a model with some types, without links."""
    own = []
    for mention in mentions:
        kind = mention.type if mention.type in types else _WIDER.get(mention.type)
        if kind in types:
            own.append(replace(mention, type=kind, source=source, links=()))
    return own


def _whole(text: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Mentions that are all of a text, which may have been read with more behind it."""
    return tuple(mention for mention in covering(text, mentions) if mention.end <= len(text))


def known_names(rules: DocumentDecision) -> FindTypes:
    """Returns a function from names to the type of each unambiguous one in the pack; its first
    call opens the pack.
    """
    return (lambda names: _open_names(rules.pack)(names)) if rules.pack else find_no_types


def check_pack(rules: DocumentDecision, *, model: str) -> None:
    """Refuses a decision whose pack this release does not ship, before anything is read.

    Raises:
        ModelError: this release does not ship the pack.
    """
    if rules.pack and rules.pack not in shipped_packs():
        raise ModelError(
            f"{model} needs the term pack {rules.pack!r}, and this release ships "
            f"{', '.join(shipped_packs())}; use the release that the model was made for, or "
            "calibrate the model again"
        )


@cache
def _recogniser(name: str) -> PackRecogniser:
    """A shipped pack, which is opened once. Most texts are no names, and start without what
    finds names.
    """
    from fascicle.terms.finding import open_packs

    return open_packs([find_pack(name)])


@cache
def _open_names(name: str) -> FindTypes:
    from fascicle.terms.finding import KnownNames
    from fascicle.terms.pack.pack import Pack

    return KnownNames(Pack.open(find_pack(name)))


def answer_cells(
    documents: Sequence[Document],
    patches: Sequence[Patch],
    *,
    rules: NameDecision,
    predict: _Predicts,
) -> list[Patch]:
    """Answers in which the mentions of short cells are those of the cells alone.

    Args:
        documents: of any kind; most have no cells.
        patches: the answer for each.
        rules: which cells.
        predict: answers for texts.
    """
    answers = list(patches)
    cells = {
        at: spans
        for at, document in enumerate(documents)
        if (spans := short_cells(document, rules))
    }
    texts = list(
        dict.fromkeys(
            documents[at].text[slice(*span)] for at, spans in cells.items() for span in spans
        )
    )
    if not texts:
        return answers
    alone = dict(zip(texts, predict([Document(id="", text=text) for text in texts]), strict=True))
    for at, spans in cells.items():
        text = documents[at].text
        inside = [
            _move(mention, start) for start, end in spans for mention in alone[text[start:end]].add
        ]
        outside = [mention for mention in answers[at].add if not _touches(mention, spans)]
        answers[at] = replace(answers[at], add=in_order([*outside, *inside]))
    return answers


def _move(mention: Mention, by: int) -> Mention:
    spans = tuple((start + by, end + by) for start, end in mention.spans)
    return replace(mention, spans=spans)


def _touches(mention: Mention, cells: Sequence[Span]) -> bool:
    """True if a mention overlaps a cell; the cells must be sorted and disjoint."""
    before = bisect_left(cells, (mention.end, 0)) - 1
    return before >= 0 and cells[before][1] > mention.start


class UnseenStretches:
    """Collects stretches of one text, part by part."""

    def __init__(self, document: Document, *, capacity: int, unknown: int | None) -> None:
        """Starts with nothing.

        Args:
            document: the document that is read.
            capacity: most pieces in a window.
            unknown: id of the piece that stands for what the tokenizer does not know, if there is
                one.
        """
        self.text = document.text
        self._capacity = capacity
        self._unknown = unknown
        self._long: list[Span] = []
        self._strange: list[Span] = []
        self._unread: list[Span] = []
        # a gap that reaches the end of what was taken, and perhaps further
        self._open: Span | None = None

    def take(self, pieces: Pieces, part: Span) -> None:
        """Takes the next part of the text.

        Args:
            pieces: of the part, with ranges in the text.
            part: its range; parts come in order and leave nothing out.
        """
        cut = pieces.units[truncated_units(pieces, capacity=self._capacity)]
        self._long += [(int(a), int(b)) for a, b in cut]
        self._strange += [
            span for span in _unknown_words(pieces, self._unknown) if self._has_letters(span)
        ]
        for start, end in _gaps(pieces, part):
            if part[0] < start and end < part[1] and self.text[start:end].isspace():
                continue  # nearly all gaps
            if self._open is not None and self._open[1] == start:
                start = self._open[0]
            else:
                self._close()
            self._open = (start, end)
            if end < part[1]:
                self._close()

    def events(self) -> tuple[Event, ...]:
        """Returns the events about text that the network could not read fully; call it after all
        windows were taken.
        """
        self._close()
        stretches = (
            (
                "long-word",
                self._long,
                f"with more pieces than a window holds, of which the first {self._capacity} were "
                "read",
            ),
            (
                "unknown-word",
                self._strange,
                "unknown to the tokenizer, so that the network did not see the letters",
            ),
            (
                "unread-text",
                self._unread,
                "that no word covers, so that the network did not see the characters",
            ),
        )
        return tuple(
            make_event(code, step="read", message=f"{many} {what}", span=spans[0])
            for code, spans, what in stretches
            for many in [plural(len(spans), "stretch of text", "stretches of text")]
            if spans
        )

    def _close(self) -> None:
        if self._open is not None and self._has_letters(self._open):
            self._unread.append(self._open)
        self._open = None

    def _has_letters(self, span: Span) -> bool:
        return has_letters(self.text[slice(*span)])


class AnswerBuilder:
    """Builder of the answer for one document, part by part."""

    def __init__(
        self,
        manifest: Manifest,
        unseen: UnseenStretches,
        *,
        breakers: str = "",
        hidden: Collection[str] = (),
    ) -> None:
        """Starts with nothing.

        Args:
            manifest: of the model.
            unseen: of the document; it is given the same parts.
            breakers: characters; a mention is cut at units that begin with one.
            hidden: types that the answer does not mention.
        """
        self._manifest = manifest
        self._hidden = [manifest.types.index(kind) for kind in hidden]
        self._breakers = breakers
        self._unseen = unseen
        self._mentions: list[Mention] = []
        self._below = 0

    def take(self, pieces: Pieces, part: Span, answer: SpansAndScores) -> None:
        """Takes the next part.

        Args:
            pieces: of the part, with ranges in the text.
            part: its range; parts come in order and leave nothing out.
            answer: spans in units of the part, and their scores.
        """
        self._unseen.take(pieces, part)
        spans, raw = (
            split_spans(*answer, begins_with(pieces.text, pieces.units, self._breakers))
            if self._breakers
            else answer
        )
        if self._hidden:
            is_public = ~np.isin(spans[:, 2], self._hidden)
            spans, raw = spans[is_public], raw[is_public]
        scores, is_sure = self._calibrated(spans, raw)
        self._below += int((~is_sure).sum())
        self._mentions += self._make_mentions(pieces, spans[is_sure], scores[is_sure])

    def patch(self) -> Patch:
        """Returns the patch of the whole document, after all parts were taken."""
        events = (*self._unseen.events(), *self._other_language())
        if count := self._below:
            what, were = (
                ("mention has a score", "was") if count == 1 else ("mentions have scores", "were")
            )
            message = f"{count:,} {what} below the threshold of the model and {were} left out"
            events = (
                *events,
                Event(step="decide", kind="note", code="below-threshold", message=message),
            )
        return Patch(add=tuple(self._mentions), events=events)

    def _other_language(self) -> Iterator[Event]:
        """Yields an event if the text is in another language than those that the model learnt."""
        expected = self._manifest.language or ""
        if expected and (language := other_language(self._unseen.text, expected)):
            message = f"this looks like {language}, and {self._manifest.name} reads {expected}"
            yield Event(step="read", kind="note", code="other-language", message=message)

    def _calibrated(self, spans: Ints, raw: Floats) -> tuple[Floats, Bools]:
        """Returns the scores under the decision, and which of them reach the threshold of their
        type.
        """
        scores, calibration = round_scores(raw), self._manifest.decision.calibration
        if not calibration:
            return scores, np.ones(len(scores), dtype=bool)
        scores = calibrate_scores(scores, calibration)
        return scores, scores >= type_thresholds(calibration, self._manifest.types)[spans[:, 2]]

    def _make_mentions(self, pieces: Pieces, spans: Ints, scores: Floats) -> list[Mention]:
        starts = pieces.units[spans[:, 0], 0].tolist()
        ends = pieces.units[spans[:, 1] - 1, 1].tolist()
        kinds = spans[:, 2].tolist()
        return [
            Mention(((a, b),), self._manifest.types[k], score=s, source=self._manifest.name)
            for a, b, k, s in zip(starts, ends, kinds, scores.tolist(), strict=True)
            if a < b
        ]


class RuledPredictor(Annotator):
    """Predictor that a manifest describes, and whose answers go through rules for abbreviations and
    for documents.

    Attributes:
        manifest: of the model or of the ensemble.
    """

    manifest: Manifest | EnsembleManifest

    @property
    def name(self) -> str:
        """Name of the model or ensemble; the source of its mentions."""
        return self.manifest.name

    @property
    def types(self) -> tuple[str, ...]:
        """Types that it looks for; of an ensemble those of any member."""
        return self.manifest.types

    @property
    def fingerprint(self) -> str:
        """Hash of the manifest, which holds the hashes of all files of the model, or those of
        the members.
        """
        return hashlib.sha256(msgspec.json.encode(self.manifest)).hexdigest()

    @property
    @abstractmethod
    def rules(self) -> ScoreDecision | EnsembleManifest:
        """What holds the rules."""

    @abstractmethod
    def ruled(self, **changes: Any) -> Self:
        """Returns the same predictor with other values of `rules`; those of members stay."""

    def with_abbreviations(self, rules: AbbreviationDecision | msgspec.UnsetType) -> Self:
        """Returns the same predictor with other rules for abbreviations."""
        return self.ruled(abbreviations=rules)

    def with_document(self, rules: DocumentDecision | msgspec.UnsetType) -> Self:
        """Returns the same predictor with another decision of documents."""
        return self.ruled(document=rules)

    def _by_rules(self, documents: Sequence[Document], patches: Iterable[Patch]) -> list[Patch]:
        """Returns the patches after the rules for abbreviations and for documents were applied."""
        rules, answers = self.rules, list(patches)
        if abbreviations := rules.abbreviations:
            apart = self.apart
            answers = [
                apply_rules(document, patch, abbreviations, apart=apart)
                for document, patch in zip(documents, answers, strict=True)
            ]
        if decision := rules.document:
            cuts, knows = segmenter(self.segmenter).sentences, known_names(decision)
            answers = all_decided(
                documents, answers, decision, sentences=cuts, knows=knows, source=self.name
            )
        return answers


def _unknown_words(pieces: Pieces, unknown: int | None) -> list[Span]:
    """Units whose only piece is the unknown token."""
    if unknown is None or not len(pieces.first):
        return []
    counts = np.bincount(pieces.unit_of[pieces.unit_of >= 0], minlength=len(pieces.first))
    units = np.flatnonzero((pieces.ids[pieces.first] == unknown) & (counts == 1))
    return [(int(a), int(b)) for a, b in pieces.units[units]]


def _gaps(pieces: Pieces, part: Span) -> list[Span]:
    """Stretches of a part in no unit."""
    order = np.argsort(pieces.units[:, 0], kind="stable")
    starts = np.append(pieces.units[order, 0], part[1])
    ends = np.maximum.accumulate(np.append(part[0], pieces.units[order, 1]))
    gaps = np.flatnonzero(ends < starts)
    return list(zip(ends[gaps].tolist(), starts[gaps].tolist(), strict=True))
