"""Scores: by default strict, where the document, the type and every offset must equal those of a
gold mention.

Other rules of matching are in ``fascicle.evaluation.scoring.rules``. The conventions, in one place:

* Both sides are *sets* of ``(document id, type, spans)``. Duplicates collapse first and are
  counted; where a mention comes from and how sure its source was play no part. A discontinuous
  mention is right or wrong as a whole.
* ``micro`` is computed from the sums of true positives, false positives and false negatives;
  ``macro`` is the unweighted mean of precision, recall and F1 over the types *that occur in the
  gold*.
* A quantity without a denominator is 0 under the rule ``"zero"`` (Verma et al.), the default. Under
  ``"binder"`` (Zhang et al., ICLR 2023) precision without predictions and recall without gold are
  1, so that nothing predicted where nothing is to be found scores 1. The rule changes tables per
  type, hardly ever micro scores.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, cast

from fascicle.core.arguments import check_argument
from fascicle.core.document import Identity, Mention, identities
from fascicle.core.results import TableRow, Tabular, cell_text
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.report_parts import LinePart
from fascicle.evaluation.scoring.rules import RULES, RuleName, compares_types, count_matches
from fascicle.runtime.combination.align import some_documents

ZeroRule = Literal["zero", "binder"]
ZERO_RULES: Mapping[str, float] = {"zero": 0.0, "binder": 1.0}


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Precision, recall and F1, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, kw_only=True)
class Counts:
    """True positives, false positives and false negatives.

    Attributes:
        tp: mentions that are both gold and predicted.
        fp: predicted only.
        fn: gold only.
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0

    @property
    def support(self) -> int:
        """Gold mentions."""
        return self.tp + self.fn

    @property
    def predicted(self) -> int:
        """Predicted mentions."""
        return self.tp + self.fp

    def rates(self, zero_rule: ZeroRule = "zero") -> Rates:
        """Computes precision, recall and F1 of these counts.

        Args:
            zero_rule: the value of a quantity whose denominator is zero.
        """
        values = vars(figures(self))
        return Rates(
            **{
                name: ZERO_RULES[zero_rule] if value is None else value
                for name, value in values.items()
            }
        )


class MicroRates(ABC):
    """Base class of results with precision, recall and F1, each from 0 to 1."""

    @property
    @abstractmethod
    def micro(self) -> Rates:
        """Rates of the sums over all types."""

    @property
    def precision(self) -> float:
        """Micro precision."""
        return self.micro.precision

    @property
    def recall(self) -> float:
        """Micro recall."""
        return self.micro.recall

    @property
    def f1(self) -> float:
        """Micro F1."""
        return self.micro.f1


@dataclass(frozen=True, kw_only=True, repr=False)
class Scores(MicroRates, Tabular):
    """The comparison of one system with the gold.

    Attributes:
        counts: over everything.
        by_type: type -> counts, for every type on either side, sorted by name; empty under a rule
            without types.
        by_document: document id -> counts, in the order of the gold; what intervals are computed
            from.
        duplicates_gold: gold mentions that were there more than once, beyond the first.
        duplicates_predicted: the same of the predictions.
        missing: gold documents without an entry among the predictions, scored as if nothing was
            found in them.
        zero_rule: the value of a quantity whose denominator is zero.
        rule: of matching.
        by_document_type: type -> document id -> counts, where there are any of the type; what the
            interval of the macro average is computed from, and empty where that was not counted, or
            under a rule without types.
    """

    counts: Counts
    by_type: Mapping[str, Counts]
    by_document: Mapping[str, Counts] = field(repr=False)
    duplicates_gold: int = 0
    duplicates_predicted: int = 0
    missing: tuple[str, ...] = ()
    zero_rule: ZeroRule = "zero"
    rule: RuleName = "strict"
    by_document_type: Mapping[str, Mapping[str, Counts]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def micro(self) -> Rates:
        """Rates of the sums over all types."""
        return self.counts.rates(self.zero_rule)

    @property
    def macro(self) -> Rates:
        """Unweighted mean of the rates of the types that occur in the gold."""
        rows = [counts.rates(self.zero_rule) for counts in self.by_type.values() if counts.support]
        if not rows:
            return Counts().rates(self.zero_rule)
        return Rates(
            precision=sum(row.precision for row in rows) / len(rows),
            recall=sum(row.recall for row in rows) / len(rows),
            f1=sum(row.f1 for row in rows) / len(rows),
        )

    def rates(self, type_: str) -> Rates:
        """Rates of one type."""
        return self.by_type.get(type_, Counts()).rates(self.zero_rule)

    def __repr__(self) -> str:
        """Returns the rule and the micro rates in one line."""
        return f"<Scores {self.rule}: {rates_text(self.counts)}>"

    def table(self) -> list[TableRow]:
        """Returns the figures of each type and of all, as shares; ``None`` for those that are
        undefined.
        """
        rows = [*self.by_type.items(), ("micro", self.counts)]
        return [{"type": name, **counts_row(counts)} for name, counts in rows]

    def as_dict(self) -> dict[str, Any]:
        """Returns everything except the counts per document, ready for JSON."""
        return {
            "micro": self._row(self.counts),
            "macro": {**vars(self.macro)},
            "types": {name: self._row(counts) for name, counts in self.by_type.items()},
            "documents": len(self.by_document),
            "missing_documents": len(self.missing),
            "duplicates": {"gold": self.duplicates_gold, "predicted": self.duplicates_predicted},
            "zero_rule": self.zero_rule,
        }

    def _row(self, counts: Counts) -> dict[str, float | int]:
        totals = {"support": counts.support, "predicted": counts.predicted}
        return {**vars(counts.rates(self.zero_rule)), **totals, **vars(counts)}


def score(
    gold: Mapping[str, Iterable[Mention]],
    predicted: Mapping[str, Iterable[Mention]],
    *,
    allow_missing: bool = False,
    zero_rule: ZeroRule = "zero",
    rule: RuleName = "strict",
) -> Scores:
    """Compares predictions with gold, mention by mention.

    Args:
        gold: document id -> its gold mentions; a document without any has an empty entry.
        predicted: the same of one system. ``fascicle.evaluation.scoring.inputs`` makes both from
            documents.
        allow_missing: take a document without an entry among the predictions for one in which
            nothing was found, instead of refusing; ``Scores.missing`` then names them.
        zero_rule: the value of a quantity whose denominator is zero.
        rule: of matching, see ``fascicle.evaluation.scoring.rules``.

    Raises:
        InputError: the two sides are not about the same documents, or one side mixes mentions of
            several sources.
        UsageError: an unknown rule.
    """
    return score_rules(
        gold, predicted, rules=(rule,), allow_missing=allow_missing, zero_rule=zero_rule
    )[rule]


def score_rules(
    gold: Mapping[str, Iterable[Mention]],
    predicted: Mapping[str, Iterable[Mention]],
    *,
    rules: Sequence[RuleName] = RULES,
    allow_missing: bool = False,
    zero_rule: ZeroRule = "zero",
) -> dict[RuleName, Scores]:
    """Returns the scores of the same mentions under several rules of matching, see ``score``.

    Args:
        gold: document id -> its gold mentions.
        predicted: the same of one system.
        rules: of matching.
        allow_missing: see ``score``.
        zero_rule: the value of a quantity whose denominator is zero.

    Returns:
        Rule -> scores.

    Raises:
        InputError: see ``score``.
        UsageError: an unknown rule.
    """
    for name, side in (("gold", gold), ("predicted", predicted)):
        means = "a mapping of document id to mentions, as layers() makes"
        check_argument(side, Mapping, name=name, means=means)
    _check_rules(rules, zero_rule)
    missing = check_documents(gold.keys(), predicted.keys(), allow_missing=allow_missing)
    golds, predictions = _Side("gold", gold), _Side("predictions", predicted)
    compared = _compare_documents(golds, predictions, rules)
    return {
        rule: sums.scores(
            duplicates_gold=golds.duplicates,
            duplicates_predicted=predictions.duplicates,
            missing=missing,
            zero_rule=zero_rule,
            rule=rule,
        )
        for rule, sums in compared.items()
    }


def _compare_documents(
    golds: _Side, predictions: _Side, rules: Sequence[RuleName]
) -> dict[RuleName, _Sums]:
    """Returns the counts of the documents under each rule."""
    compared = {rule: _Sums(typed=compares_types(rule)) for rule in rules}
    for identifier in golds.mentions:
        keys = golds.identities(identifier), predictions.identities(identifier)
        for rule, counts in _compare(*keys, rules=tuple(compared)):
            compared[rule].add(identifier, counts)
    golds.refuse_several_sources()
    predictions.refuse_several_sources()
    return compared


def _check_rules(rules: Iterable[RuleName], zero_rule: ZeroRule) -> None:
    check_argument(zero_rule, str, name="zero_rule", means=f"one of {', '.join(ZERO_RULES)}")
    if zero_rule not in ZERO_RULES:
        raise UsageError(
            f"the rule {zero_rule!r} was given for zero division; choose from "
            f"{', '.join(ZERO_RULES)}"
        )
    for rule in rules:
        if rule not in RULES:
            raise UsageError(
                f"the rule {rule!r} was given for matching; choose from {', '.join(RULES)}"
            )


def scores_of(compared: Mapping[str, Mapping[str, Counts]], *, typed: bool, **facts: Any) -> Scores:
    """Scores from document -> type -> counts."""
    sums = _Sums(typed=typed)
    for identifier, parts in compared.items():
        sums.add(identifier, parts)
    return sums.scores(**facts)


class _Sums:
    """Counts under one rule, added document by document: those of many documents share objects."""

    def __init__(self, *, typed: bool) -> None:
        self._typed = typed
        self._by_document: dict[str, Counts] = {}
        self._by_type: dict[str, dict[str, Counts]] = {}

    def add(self, identifier: str, parts: Mapping[str, Counts]) -> None:
        """Adds type -> counts of a document."""
        self._by_document[identifier] = sum_counts(parts.values())
        if self._typed:
            for name, counts in parts.items():
                self._by_type.setdefault(name, {})[identifier] = counts

    def scores(self, **facts: Any) -> Scores:
        """Returns the scores of all documents; types are sorted, documents in their order."""
        by_type = dict(sorted(self._by_type.items()))
        return Scores(
            counts=sum_counts(self._by_document.values()),
            by_type={name: sum_counts(parts.values()) for name, parts in by_type.items()},
            by_document=self._by_document,
            by_document_type=by_type,
            **facts,
        )


def _compare(
    gold: set[Identity], predicted: set[Identity], *, rules: Sequence[RuleName]
) -> Iterator[tuple[RuleName, dict[str, Counts]]]:
    """Yields for each rule type -> counts of one document; the type is empty under a rule without
    types.
    """
    hits = gold & predicted
    strict = _counts_by_type(gold, predicted, _tally(hits, "strict"), rule="strict")
    is_same = not (gold - hits and predicted - hits)  # nothing is left that could match
    for rule in rules:
        if rule == "strict" or (is_same and compares_types(rule)):
            yield rule, strict
        elif is_same:
            yield rule, _counts_by_type(gold, predicted, _tally(hits, rule), rule=rule)
        else:
            matches = count_matches(gold, predicted, rule=rule)
            yield rule, _counts_by_type(gold, predicted, matches, rule=rule)


def _counts_by_type(
    gold: set[Identity], predicted: set[Identity], matches: Mapping[str, int], *, rule: RuleName
) -> dict[str, Counts]:
    golds, predictions = _tally(gold, rule), _tally(predicted, rule)
    return {
        name: _counts(
            tp := matches.get(name, 0), predictions.get(name, 0) - tp, golds.get(name, 0) - tp
        )
        for name in golds | predictions
    }


@lru_cache(maxsize=1 << 12)
def _counts(tp: int, fp: int, fn: int) -> Counts:
    """Returns the same object for the same counts, for most documents have few mentions."""
    return Counts(tp=tp, fp=fp, fn=fn)


def _tally(side: set[Identity], rule: RuleName) -> dict[str, int]:
    """Type -> mentions; all are under the empty string if the rule does not look at types."""
    if not compares_types(rule):
        return {"": len(side)} if side else {}
    counts: dict[str, int] = {}
    for _, type_, _ in side:
        counts[type_] = counts.get(type_, 0) + 1
    return counts


def sum_counts(parts: Iterable[Counts]) -> Counts:
    """Adds counts up."""
    tp = fp = fn = 0
    for counts in parts:
        tp, fp, fn = tp + counts.tp, fp + counts.fp, fn + counts.fn
    return _counts(tp, fp, fn)


class _Side:
    """Mentions of the gold or of the predictions, document by document.

    Attributes:
        mentions: document id -> its mentions.
        duplicates: mentions that were left out, as they were there before.
    """

    def __init__(self, name: str, mentions: Mapping[str, Iterable[Mention]]) -> None:
        self._name, self.mentions = name, mentions
        self._sources: set[str] = set()
        self.duplicates = 0

    def identities(self, identifier: str) -> set[Identity]:
        """Returns the identities of a document."""
        checked = _mentions(self.mentions.get(identifier, ()), identifier, self._name)
        self._sources.update(mention.source for mention in checked)
        keys = identities(identifier, checked)
        self.duplicates += len(checked) - len(keys)
        return keys

    def refuse_several_sources(self) -> None:
        """Raises an error if the mentions are of several sources."""
        if len(self._sources) > 1:
            raise InputError(
                f"the {self._name} hold mentions of {plural(len(self._sources), 'source')} "
                f"({', '.join(sorted(self._sources))}); a score is about one: choose it with source"
            )


def _mentions(mentions: Iterable[Mention], identifier: str, side: str) -> list[Mention]:
    name = f"the {side} of document {identifier!r}"
    check_argument(mentions, Iterable, name=name, means="a list of mentions")
    checked = list(mentions)
    for mention in checked:
        check_argument(mention, Mention, name=f"each of {name}", means="a Mention")
    return checked


def check_documents(
    gold: Iterable[str], predicted: Iterable[str], *, allow_missing: bool
) -> tuple[str, ...]:
    """Refuses two sides that are not about the same documents; returns the documents without
    predictions.
    """
    gold_ids, predicted_ids = dict.fromkeys(gold), dict.fromkeys(predicted)
    missing = tuple(identifier for identifier in gold_ids if identifier not in predicted_ids)
    extra = tuple(identifier for identifier in predicted_ids if identifier not in gold_ids)
    lacking, unknown = (some_documents(identifiers, limit=5) for identifiers in (missing, extra))
    if gold_ids and predicted_ids and len(missing) == len(gold_ids):
        raise InputError(
            f"the gold ({lacking}) and the predictions ({unknown}) have no document in common; "
            "give predictions for the same corpus, with the same document ids"
        )
    if extra:
        raise InputError(
            f"the predictions name {unknown} that the gold does not have; give the gold of these "
            "documents too, or predictions for the gold documents only"
        )
    if missing and not allow_missing:
        raise InputError(
            f"the predictions lack {lacking} of the {plural(len(gold_ids), 'document')} in the "
            "gold; predict these too, or allow missing documents, which are then scored as if "
            "nothing was found in them"
        )
    return missing


NO_GOLD: Final = "there is no gold mention"
_UNDEFINED: Final[Mapping[str, str]] = {
    "precision": "nothing was predicted",
    "recall": NO_GOLD,
    "f1": f"{NO_GOLD} and nothing was predicted",
}
ONE_DOCUMENT: Final = "there is only one document, and an interval comes from drawing documents"
IN_ONE_DOCUMENT: Final = (
    "only one document has mentions of the type, and an interval comes from drawing documents"
)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Precision, recall and F1 for a reader: from 0 to 1, or ``None`` with a reason, never a zero
    that looks a failure.

    Attributes:
        precision: ``None`` if nothing was predicted.
        recall: ``None`` if there is no gold mention.
        f1: ``2 TP / (gold + predicted)``; ``None`` if both are 0. It is 0, and defined, where one
            side is empty.
    """

    precision: float | None
    recall: float | None
    f1: float | None

    @property
    def undefined(self) -> dict[str, str]:
        """Name of a number that is ``None`` -> why."""
        return {name: reason for name, reason in _UNDEFINED.items() if getattr(self, name) is None}

    def as_dict(self) -> dict[str, Any]:
        """Returns the numbers, and under ``"undefined"`` the reasons where there are any; ready for
        JSON.
        """
        return vars(self) | ({"undefined": self.undefined} if self.undefined else {})


def figures(counts: Counts) -> Figures:
    """Computes precision, recall and F1 of some counts."""
    total = counts.support + counts.predicted
    return Figures(
        precision=counts.tp / counts.predicted if counts.predicted else None,
        recall=counts.tp / counts.support if counts.support else None,
        f1=2 * counts.tp / total if total else None,
    )


def counts_row(counts: Counts) -> TableRow:
    """Returns the figures of some counts, and the numbers of gold and predicted mentions."""
    return {**vars(figures(counts)), "gold": counts.support, "predicted": counts.predicted}


def rates_text(counts: Counts) -> str:
    """Returns the figures of some counts in a few words, as shares."""
    return ", ".join(f"{name} {cell_text(value)}" for name, value in vars(figures(counts)).items())


def figures_row(counts: Counts) -> LinePart:
    """Counts with their figures, ready for JSON."""
    numbers = {
        "gold": counts.support,
        "predicted": counts.predicted,
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
    }
    return cast(LinePart, numbers | figures(counts).as_dict())


def no_interval(scores: Scores, name: str = "micro_f1") -> str:
    """Returns why a headline number has no interval; empty if it has one.

    Args:
        scores: the scores, with those of each document.
        name: see ``intervals.HEADLINE``.
    """
    documents = len(scores.by_document)
    if documents < 2:
        return ONE_DOCUMENT if documents else "there is no document"
    average, number = name.split("_")
    reasons = (
        figures(scores.counts).undefined
        if average == "micro"
        else macro_row(scores).get("undefined", {})
    )
    return str(reasons.get(number, ""))


def macro_row(scores: Scores) -> dict[str, Any]:
    """Returns the macro averages of some scores, ready for JSON.

    They are means over the types in the gold, in which a type without predictions has the precision
    that the zero rule of the scores gives it.
    """
    if not any(counts.support for counts in scores.by_type.values()):
        reason = (
            NO_GOLD
            if scores.by_type or not scores.counts.support
            else "this rule does not look at types"
        )
        names = tuple(_UNDEFINED)
        return dict.fromkeys(names) | {"undefined": dict.fromkeys(names, reason)}
    return {**vars(scores.macro)}


def undefined_numbers(scores: Scores) -> dict[str, dict[str, str]]:
    """Returns undefined numbers of some scores: ``"micro"``, or the name of a type, -> number ->
    reason.

    Types are listed under ``"type NAME"``, so that none is mistaken for ``"micro"``.
    """
    undefined = {"micro": figures(scores.counts).undefined}
    undefined |= {
        f"type {name}": figures(counts).undefined for name, counts in scores.by_type.items()
    }
    return {where: reasons for where, reasons in undefined.items() if reasons}
