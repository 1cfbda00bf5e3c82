"""Fitting of the decision on documents, from the predictions of a model on development texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.document import GOLD, Document, Mention, Patch, identities
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.evaluation.calibration.fitting import fit_logistic
from fascicle.evaluation.scoring.scores import Counts, figures, sum_counts
from fascicle.runtime.decoding.deciding import decide_mentions, find_no_types
from fascicle.runtime.decoding.evidence import FindTypes
from fascicle.settings.decision import DocumentDecision, Ends, TypeDecision

_LEAST: Final = 100  # gold mentions of a type in a file, below which it decides nothing
# scores below 0.45 are hardly given
_GRID: Final = (0.0, *(round(0.05 * step, 2) for step in range(9, 19)))
_Cuts = Callable[[str], Sequence[Span]]


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One type in one file of development texts.

    Attributes:
        file: its name.
        type: of the mentions.
        mentions: of the gold.
        before: strict F1 of the answers as they are.
        after: under the decision that was fitted.
        sentences: whether most of its texts are single sentences.
        used: whether it has enough mentions to decide anything.
    """

    file: str
    type: str
    mentions: int
    before: float
    after: float
    sentences: bool
    used: bool

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, ready for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class FittedDocuments:
    """A decision of documents, and what it changes on the texts that it was fitted on.

    Attributes:
        decision: for the model.
        rows: types of files.
        notes: what else to know, as sentences.
    """

    decision: DocumentDecision
    rows: tuple[_Row, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PredictedTexts:
    """Development texts of one file, with the predictions of a model.

    Attributes:
        file: its name.
        documents: with their gold.
        answers: mentions of each, before a decision of documents.
        types: the types that people marked in them.
    """

    file: str
    documents: Sequence[Document]
    answers: Sequence[Sequence[Mention]]
    types: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class _Texts:
    """The texts of a file with the gold and the answers of one type."""

    file: str
    type: str
    gold: Sequence[frozenset[Any]] = field(repr=False)
    answers: Sequence[tuple[Document, Patch]] = field(repr=False)
    sentences: bool
    how: Mapping[str, Any] = field(repr=False)  # `decide_mentions` needs it

    @property
    def mentions(self) -> int:
        return sum(map(len, self.gold))

    def halves(self) -> tuple[_Texts, _Texts]:
        middle = len(self.gold) // 2
        first, second = slice(middle), slice(middle, None)
        return replace(self, gold=self.gold[first], answers=self.answers[first]), replace(
            self, gold=self.gold[second], answers=self.answers[second]
        )

    def answers_under(self, rule: TypeDecision | None) -> list[tuple[Mention, ...]]:
        if rule is None:
            return [patch.add for _, patch in self.answers]
        rules = DocumentDecision(types={self.type: rule})
        return [
            decide_mentions(document, patch, rules, **self.how).add
            for document, patch in self.answers
        ]

    def judged(self, rule: TypeDecision | None) -> list[tuple[float, bool]]:
        """Score of each mention that stays, and whether it is right."""
        return [
            (
                1.0 if mention.score is None else mention.score,
                ("", mention.type, mention.spans) in gold,
            )
            for gold, mentions in zip(self.gold, self.answers_under(rule), strict=True)
            for mention in mentions
        ]

    def counts(self, rule: TypeDecision | None) -> Counts:
        right = [true for _, true in self.judged(rule)]
        tp = sum(right)
        return Counts(tp=tp, fp=len(right) - tp, fn=self.mentions - tp)

    def f1(self, rule: TypeDecision | None) -> float:
        return _f1([self.counts(rule)])


def fit_documents(
    answered: Sequence[PredictedTexts],
    *,
    sentences: _Cuts,
    types: Sequence[str],
    chosen_on: Mapping[str, str],
    knows: FindTypes = find_no_types,
) -> FittedDocuments:
    """Fits ``low``, ``high``, ``known``, ``alone``, ends and a curve for each type.

    The mean of strict F1 over the files with at least 100 gold mentions of a type decides; of
    equally good values the lowest are taken, and of ``known`` the highest. ``alone`` and
    ``ends_alone`` are fitted on files of single sentences, the others on the other files, where
    there are some. A type keeps neutral values if those that each half of the texts chooses do not
    help on the other half. A type without any file gets neutral edges alone. A curve is fitted on
    all files, each of which counts the same.

    Args:
        answered: development texts.
        sentences: cuts a text into sentences, where a document has none.
        types: of the model.
        chosen_on: sha256 of each file, by its name.
        knows: says which names mean one type alone.

    Raises:
        InputError: no type of any file has enough mentions.
    """
    how = {"sentences": sentences, "knows": knows}
    parts = [_texts(file, name, how) for file in answered for name in types if name in file.types]
    used = [texts for texts in parts if texts.mentions >= _LEAST]
    if not used:
        raise InputError(
            f"no type has {_LEAST} gold mentions in a file, and fewer decide nothing; give more "
            "development data"
        )
    rules = {
        name: _fit_type(list(filter(lambda texts: texts.type == name, used))) for name in types
    }
    fitted = {name: rule for name, rule in rules.items() if rule is not None}
    notes = tuple(
        f"no file has {_LEAST} gold mentions of {name!r}, so nothing but the edges of its "
        "mentions changes"
        for name in types
        if name not in fitted
    )
    rows = tuple(_row(texts, fitted.get(texts.type, TypeDecision())) for texts in parts)
    return FittedDocuments(
        decision=DocumentDecision(types=fitted, chosen_on=dict(chosen_on)), rows=rows, notes=notes
    )


def _texts(answered: PredictedTexts, kind: str, how: Mapping[str, Any]) -> _Texts:
    answers, gold, short = [], [], 0
    for document, mentions in zip(answered.documents, answered.answers, strict=True):
        bare = msgspec.structs.replace(document, mentions=())
        answers.append((bare, Patch(add=tuple(_of_type(mentions, kind)))))
        gold.append(frozenset(identities("", _of_type(document.layer(GOLD), kind))))
        sentences = document.sentences
        short += len(how["sentences"](document.text) if sentences is None else sentences) < 2
    return _Texts(
        file=answered.file,
        type=kind,
        gold=gold,
        answers=answers,
        sentences=2 * short > len(answers),
        how=how,
    )


def _of_type(mentions: Iterable[Mention], kind: str) -> list[Mention]:
    return [mention for mention in mentions if mention.type == kind]


def _row(texts: _Texts, rule: TypeDecision) -> _Row:
    return _Row(
        file=texts.file,
        type=texts.type,
        mentions=texts.mentions,
        before=texts.f1(None),
        after=texts.f1(rule),
        sentences=texts.sentences,
        used=texts.mentions >= _LEAST,
    )


def _fit_type(rows: Sequence[_Texts]) -> TypeDecision | None:
    """Fits the decision for one type; returns ``None`` without rows."""
    if not rows:
        return None
    rule = _search(rows) if _helps(rows) else TypeDecision()
    curve = fit_logistic([texts.judged(rule) for texts in rows])
    return msgspec.structs.replace(rule, curve=curve) if curve else rule


def _helps(rows: Sequence[_Texts]) -> bool:
    """Returns whether the values that each half of the texts chooses raise F1 over all mentions of
    the other halves.

    The halves of small files are too small for a mean over files.
    """
    first, second = zip(*(texts.halves() for texts in rows), strict=True)
    rules = ((_search(first), second), (_search(second), first))
    chosen = [texts.counts(rule) for rule, texts_of_half in rules for texts in texts_of_half]
    neutral = [texts.counts(TypeDecision()) for texts in (*first, *second)]
    return _f1(chosen) > _f1(neutral)


def _f1(counts: Iterable[Counts]) -> float:
    """F1 over several counts together."""
    return figures(sum_counts(counts)).f1 or 0.0


def _search(rows: Sequence[_Texts]) -> TypeDecision:
    longer = [texts for texts in rows if not texts.sentences]
    single = [texts for texts in rows if texts.sentences]
    rule = TypeDecision()
    # what is decided of known names changes what is best for the others
    for _ in range(2 if longer else 0):
        pairs = [(low, high) for low, high in product(_GRID, (*_GRID, 1.0)) if low <= high]
        rule = _best(
            [msgspec.structs.replace(rule, low=low, high=high) for low, high in pairs], longer
        )
        rule = _best(_with_known(rule), longer)
    rule = _best([msgspec.structs.replace(rule, alone=value) for value in _GRID], single)
    rule = rule if longer else _best(_with_known(rule), single)
    kinds: tuple[Ends, ...] = ("corpus", "bare")
    rule = _best([msgspec.structs.replace(rule, ends=ends) for ends in kinds], longer)
    return _best([msgspec.structs.replace(rule, ends_alone=ends) for ends in kinds], single)


def _with_known(rule: TypeDecision) -> list[TypeDecision]:
    return [msgspec.structs.replace(rule, known=value) for value in (1.0, *reversed(_GRID))]


def _best(rules: Sequence[TypeDecision], rows: Sequence[_Texts]) -> TypeDecision:
    """Returns the rule with the highest mean F1; the first of several, and of all without a row."""
    if not rows:
        return rules[0]
    merits = [np.mean([texts.f1(rule) for texts in rows]) for rule in rules]
    return rules[int(np.argmax(np.round(merits, 6)))]


def describe_fit(fitted: FittedDocuments) -> list[str]:
    """Describes what was fitted, as lines of text."""
    lines = []
    for name, rule in fitted.decision.types.items():
        curve = (
            f", log odds times {rule.curve.slope:.3g} plus {rule.curve.offset:.3g}"
            if rule.curve
            else ""
        )
        known_names = (
            f"; known names from {rule.known:.2f}" if rule.known < max(rule.low, rule.alone) else ""
        )
        lines.append(
            f"{name}: kept from {rule.low:.2f}, in a single sentence from "
            f"{rule.alone:.2f}{known_names}; names marked throughout from {rule.high:.2f}; ends: "
            f"{rule.ends}, in a single sentence {rule.ends_alone}{curve}"
        )
    for row in fitted.rows:
        few = "" if row.used else ", too few to decide anything"
        gold = plural(row.mentions, "gold mention")
        lines.append(
            f"{row.type} of {row.file}: F1 {100 * row.before:.2f} before, {100 * row.after:.2f} "
            f"after ({gold}{few})"
        )
    return lines
