"""Scores predictions on dev, and fits the decision that converts scores of the network to mentions.

One corpus is scored as a whole; for several corpora, the score is the mean over each type of each
corpus. To fit a decision, the network runs once, and its scores are decoded many times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from msgspec.structs import replace

from fascicle.core.document import Document, Mention
from fascicle.evaluation.scoring.scores import Counts, Rates, Scores
from fascicle.runtime.decoding.decoders import Tables
from fascicle.runtime.decoding.kinds import APART, KINDS, head_limits
from fascicle.runtime.predictor import ModelPredictor, Scorer
from fascicle.settings.folders.manifest import Manifest, ScoreDecision
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import CachedReader, DocumentReader
from fascicle.text.windows import Batch
from fascicle.training.labelling import score_known

_Found = Mapping[str, tuple[Mention, ...]]
_NEVER: Final = 1e3  # a threshold that no score exceeds
_COARSE, _FINE = 25, 8


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Scorer of predictions on dev: of one corpus, over all types; see ``labelling.score_known``.

    Attributes:
        average: name of the average whose F1 chooses a model.
    """

    average: Literal["micro", "macro"] = "micro"

    def scores(self, documents: Sequence[Document], predicted: _Found) -> Scores:
        """Scores predictions.

        Args:
            documents: with their gold; ids must be unique.
            predicted: document id -> predicted mentions, for each document.
        """
        return score_known(documents, predicted)

    def rates(self, scores: Scores) -> Rates:
        """Returns the rates whose F1 chooses a model."""
        return scores.micro if self.average == "micro" else scores.macro

    def f1_of_type(self, scores: Scores, name: str) -> float:
        """Returns F1 of a type, 0 if dev does not have it."""
        return scores.by_type.get(name, Counts()).rates().f1


@dataclass(frozen=True, kw_only=True)
class _CellScores(Scores):
    """Scores whose types are cells, ``"PART/TYPE"``."""

    def as_dict(self) -> dict[str, Any]:
        """Returns the scores as ``Scores`` does, with the name of the average that chooses."""
        return {"average": "macro", **super().as_dict()}


@dataclass(frozen=True, kw_only=True)
class SeveralCorpora(Judge):
    """Judge for several corpora: the mean over cells, each type of each corpus that annotates it
    and has it in dev.

    Predictions of other types are neither right nor wrong there, because they are not annotated.

    Attributes:
        annotates: name of each part -> its types.
    """

    annotates: Mapping[str, Sequence[str]]
    average: Literal["micro", "macro"] = "macro"

    def scores(self, documents: Sequence[Document], predicted: _Found) -> Scores:
        """See ``Judge``; ids of documents begin with the name of their part and a slash."""
        part_of = {document.id: document.id.partition("/")[0] for document in documents}
        annotated = [
            replace(document, mentions=self._cells(part_of[document.id], document.mentions))
            for document in documents
        ]
        scores = score_known(
            annotated,
            {key: self._cells(part_of[key], mentions) for key, mentions in predicted.items()},
        )
        return _CellScores(**{name: getattr(scores, name) for name in Scores.__dataclass_fields__})

    def _cells(self, part: str, mentions: Sequence[Mention]) -> tuple[Mention, ...]:
        """Returns the mentions of the types that a part annotates, with their cells as types."""
        types = self.annotates[part]
        return tuple(replace(m, type=f"{part}/{m.type}") for m in mentions if m.type in types)

    def f1_of_type(self, scores: Scores, name: str) -> float:
        """Returns the mean over the corpora that annotate the type and have it in dev."""
        cells = [scores.by_type.get(f"{part}/{name}", Counts()) for part in self.annotates]
        rates = [counts.rates().f1 for counts in cells if counts.support]
        return sum(rates) / max(1, len(rates))


# Logits; a head trained on one in ten of the negative spans overestimates mentions by about log(10)
# = 2.3.
BIASES: Final = tuple(float(x) for x in np.arange(-2.0, 4.01, 0.25))

# max gives the first of several values that are equally good
_BIASES_FROM_ZERO: Final = tuple(sorted(BIASES, key=abs))
_ONE: Final = Judge()


class ReplayedScorer:
    """Scorer that runs a network once over a list of documents, and then returns the stored tables,
    batch by batch.

    Attributes:
        known: the tables of each batch so far.
    """

    def __init__(self, scorer: Scorer) -> None:
        """Wraps a scorer that gives the same tables for the same batch."""
        self._scorer = scorer
        self.known: list[Tables] = []
        self._at = 0

    def rewind(self) -> None:
        """Restarts at the first batch."""
        self._at = 0

    def run(self, inputs: Batch) -> Tables:
        """Scores one batch; see ``runtime.predictor.Scorer``."""
        if self._at == len(self.known):
            self.known.append(self._scorer.run(inputs))
        self._at += 1
        return self.known[self._at - 1]


def is_unfitted(manifest: Manifest) -> bool:
    """True if the answering head is not usable before thresholds are fitted for it (*binder*
    Table 6).
    """
    return bool(manifest.answering.needs.threshold)


def fit_threshold(
    manifest: Manifest,
    tokenizer: PieceTokenizer,
    scorer: Scorer,
    dev: Sequence[Document],
    *,
    reader: DocumentReader | None = None,
    judge: Judge = _ONE,
) -> tuple[ScoreDecision, dict[str, float]]:
    """Chooses ``ScoreDecision.nothing`` by dev F1; of equally good values the one nearest to 0.

    Where types do not compete, each type has its own value, in ``ScoreDecision.nothing_by_type``,
    chosen by its F1 alone.

    Where it is the threshold itself, and not a shift of one, the search goes from the highest score
    h to -h: in steps of h/25, and around the best of these in steps of h/200; of equally good
    values the middle one is taken. Thresholds of each type are searched in the same way, each by
    the F1 of its type alone; a type without any right prediction gets the best of the coarse values
    that all types share.

    Args:
        manifest: of the model, with the decision to change.
        tokenizer: of the model.
        scorer: the network.
        dev: development documents with gold.
        reader: cuts them, and keeps the result; by default a new reader.
        judge: scores the predictions.

    Returns:
        The decision, and dev F1 for each value that was tried, the same for all types; those of
        single types are not among them.
    """
    replayed = ReplayedScorer(scorer)
    reader = reader or CachedReader(dev)
    by_type = manifest.answering.needs.threshold == "types"
    kinds = APART if by_type else KINDS
    predictor = ModelPredictor(manifest, tokenizer, replayed, read=reader, kinds=kinds)
    trials = _Trials(predictor, replayed, dev, judge)
    if by_type:
        changes = {"nothing": 0.0, "nothing_by_type": _fit_by_type(trials)}
    elif head_limits(manifest.answering).across_types:
        changes = {"nothing_by_type": _best_biases(trials)}
    elif is_unfitted(manifest):
        changes = {"nothing": _fit_one_threshold(trials)}
    else:
        changes = {"nothing": max(_BIASES_FROM_ZERO, key=trials.f1)}
    decision = replace(manifest.decision, **changes)
    return decision, {str(value): f1 for value, f1 in trials.tried.items()}


class _Trials:
    """Scores on dev under different values of ``nothing``, each computed once."""

    def __init__(
        self,
        predictor: ModelPredictor,
        replayed: ReplayedScorer,
        dev: Sequence[Document],
        judge: Judge,
    ) -> None:
        self.tried: dict[float, float] = {}
        self.predictor = predictor
        self.judge = judge
        self.counts = Counts()  # under the last value; only of mentions that the labels can judge
        self._replayed = replayed
        self._dev = dev

    def scored(self, predictor: ModelPredictor, value: float | None) -> Scores:
        """Scores a predictor, which has this one value for all types; ``None``: it has several."""
        self._replayed.rewind()
        patches = predictor.predict(self._dev)
        scores = self.judge.scores(
            self._dev, {d.id: p.add for d, p in zip(self._dev, patches, strict=True)}
        )
        if value is not None:
            self.tried[value] = self.judge.rates(scores).f1
        return scores

    def f1(self, value: float) -> float:
        """Returns F1 of all types together."""
        if value not in self.tried:
            self.counts = self.scored(self.predictor.with_nothing(value), value).counts
        return self.tried[value]

    def f1_by_type(
        self, predictor: ModelPredictor, value: float | None
    ) -> tuple[dict[str, float], Scores]:
        """Returns F1 of each type of the model, and the scores of all."""
        scores = self.scored(predictor, value)
        return {name: self.judge.f1_of_type(scores, name) for name in predictor.types}, scores

    def highest(self) -> float:
        """Returns the highest score of a span, once the network has run; 0 if none is higher."""
        return max((float(t["spans"].max(initial=0.0)) for t in self._replayed.known), default=0.0)


def _fit_one_threshold(trials: _Trials) -> float:
    """Searches the threshold from the highest score downward, until a lower threshold cannot be
    better.

    A lower threshold returns more, so its micro F1 is at most 2 G / (G + P) with G gold and P
    returned mentions.
    """
    trials.f1(_NEVER)
    top = trials.highest()
    step = top / _COARSE
    for number in range(_COARSE, -_COARSE - 1, -1):
        trials.f1(step * number)
        most = 2 * trials.counts.support if trials.judge.average == "micro" else math.inf
        if most < max(trials.tried.values()) * (trials.counts.support + trials.counts.predicted):
            break
    near = _middle(trials.tried)
    for number in range(1 - _FINE, _FINE):
        trials.f1(near + number * step / _FINE)
    return _middle(trials.tried)


def _best_biases(trials: _Trials) -> tuple[float, ...]:
    """Returns for each type the bias with the best F1 of the type."""
    model = trials.predictor
    f1_of = {
        value: trials.f1_by_type(model.with_nothing(value), value)[0] for value in _BIASES_FROM_ZERO
    }
    return tuple(max(f1_of, key=lambda value: f1_of[value][name]) for name in model.types)


def _fit_by_type(trials: _Trials) -> tuple[float, ...]:
    """Searches one threshold for each type, all in the same passes over dev."""
    search = _TypeSearch(trials)
    never = [_NEVER] * len(search.tried)
    trials.scored(trials.predictor.with_nothing_by_type(never), _NEVER)
    step = trials.highest() / _COARSE
    for number in range(_COARSE, -_COARSE - 1, -1):
        value = step * number
        scores = search.score([value] * len(search.tried), value)
        if trials.judge.average == "micro" and not search.can_rise(scores):
            break
    near = search.best()
    for number in range(1 - _FINE, _FINE):
        values = [value + number * step / _FINE for value in near]
        search.score(values, values[0] if len(set(values)) == 1 else None)
    del trials.tried[_NEVER]
    of_all = _middle(trials.tried)
    return tuple(
        value if any(tried.values()) else of_all
        for value, tried in zip(search.best(), search.tried.values(), strict=True)
    )


class _TypeSearch:
    """Search of a threshold for each type by the F1 of the type alone.

    Attributes:
        tried: type -> threshold -> F1.
    """

    def __init__(self, trials: _Trials) -> None:
        self._trials = trials
        self.tried: dict[str, dict[float, float]] = {name: {} for name in trials.predictor.types}

    def score(self, values: Sequence[float], shared: float | None) -> Scores:
        """Scores one threshold for each type; ``shared`` is the one of all types, if it is."""
        predictor = self._trials.predictor.with_nothing_by_type(values)
        f1, scores = self._trials.f1_by_type(predictor, shared)
        for (name, tried), value in zip(self.tried.items(), values, strict=True):
            tried[value] = f1[name]
        return scores

    def best(self) -> list[float]:
        """Returns the middle one of the best thresholds of each type."""
        return [_middle(tried) for tried in self.tried.values()]

    def can_rise(self, scores: Scores) -> bool:
        """True if a lower threshold can still be better for a type; see ``_fit_one_threshold``.

        Args:
            scores: under the lowest threshold so far.
        """
        for name, tried in self.tried.items():
            counts = scores.by_type.get(name, Counts())
            most = max(tried.values()) * (counts.support + counts.predicted)
            if counts.support and 2 * counts.support >= most:
                return True
        return False


def _middle(tried: Mapping[float, float]) -> float:
    """Returns the middle one of the best values."""
    best = sorted(value for value, f1 in tried.items() if f1 == max(tried.values()))
    return best[(len(best) - 1) // 2]
