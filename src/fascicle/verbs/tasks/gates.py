"""Gates: scores that systems must reach at least (``fascicle evaluate --at-least``)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

import msgspec

from fascicle.core.names import near_hint
from fascicle.core.wording import counted
from fascicle.errors import UsageError
from fascicle.evaluation.links.cases import LinkCase
from fascicle.evaluation.links.scores import score_links
from fascicle.evaluation.reports.table import drawn, percent
from fascicle.evaluation.scoring.figures import figures, macro_row
from fascicle.linking.gold import spelt
from fascicle.verbs.tasks.evaluate import Evaluation
from fascicle.verbs.tasks.evaluate_links import LinkEvaluation
from fascicle.verbs.tasks.link_cases import Reference, cases_of_predictions

_NUMBER: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?")
_OF_MENTIONS: Final = ("precision", "recall", "f1")
_OF_LINKS: Final = (*_OF_MENTIONS, "concept_precision", "concept_recall", "concept_f1")


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Score that a system must reach.

    Attributes:
        name: a type, a vocabulary (the prefix of its CURIEs), ``"micro"`` or ``"macro"``.
        figure: ``"precision"``, ``"recall"`` or ``"f1"``, of a vocabulary also ``"concept_recall"`` and so on.
        least: from 0 to 1.
    """

    name: str
    figure: str
    least: float

    @classmethod
    def of(cls, text: str) -> Gate:
        """Reads a gate, such as ``"Disease.f1=80"``.

        Raises:
            UsageError: it has another form, or no percentage from 0 to 100.
        """
        what, _, number = text.rpartition("=")
        name, _, figure = what.rpartition(".")
        least = Decimal(number) if _NUMBER.fullmatch(number) else None
        if not name or figure not in _OF_LINKS or least is None or least > 100:
            raise UsageError(
                f"{text!r} is no gate; give the name of a type or vocabulary, a figure ({', '.join(_OF_LINKS)}) and a "
                "percentage from 0 to 100, as in Disease.f1=80"
            )
        return cls(name=name, figure=figure, least=float(least / 100))


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """What a system reached at a gate.

    Attributes:
        system: its name.
        gate: the gate.
        found: the score, from 0 to 1; ``None`` if it is undefined, which meets no gate.
    """

    system: str
    gate: Gate
    found: float | None

    @property
    def met(self) -> bool:
        """True if the score is at least that of the gate."""
        return self.found is not None and self.found >= self.gate.least

    def as_dict(self) -> dict[str, Any]:
        """Returns the result, ready for JSON."""
        return {"system": self.system, **vars(self.gate), "found": self.found, "met": self.met}


def results_of(
    found: Evaluation | LinkEvaluation, gates: Iterable[str], *, prefixes: Mapping[str, str] | None = None
) -> list[GateResult]:
    """Compares the scores of systems with gates.

    The name of a gate is looked for among the types of the gold, then among the vocabularies of its links. The scores
    of a vocabulary are those of links, see `fascicle.evaluation.links.scores.LinkScores`, with the concepts of this
    vocabulary alone. Those of a type are scores of mentions, after `evaluate_links` of links.

    Args:
        found: scores of systems.
        gates: such as ``"Disease.f1=80"`` or ``"MESH.recall=70"``, in percent.
        prefixes: type -> prefix of the identifiers that have none, for links of an `Evaluation`.

    Raises:
        UsageError: a gate of another form, or a name that is neither a type nor a vocabulary of the gold, or both.
    """
    asked = [Gate.of(text) for text in gates]
    scores = _OfLinks.of(found) if isinstance(found, LinkEvaluation) else _OfMentions(found, prefixes or {})
    return [
        GateResult(system=system, gate=gate, found=scores.value(system, gate))
        for system in scores.systems
        for gate in asked
    ]


def gates_table(results: Sequence[GateResult]) -> str:
    """Formats the gates that were not met; one sentence if there are none."""
    short = [one for one in results if not one.met]
    if not short:
        return f"All of {counted(len(results), 'gate')} met.\n" if len(results) > 1 else "The gate is met.\n"
    several = len({one.system for one in results}) > 1
    rows: list[Sequence[str]] = [("fell short", *(["system"] if several else []), "found", "at least", "lacking")]
    for one in short:
        lacking = None if one.found is None else one.gate.least - one.found
        numbers = map(percent, (one.found, one.gate.least, lacking))
        rows.append((f"{one.gate.name}.{one.gate.figure}", *([one.system] if several else []), *numbers))
    return drawn(rows) + "\n"


@dataclass(frozen=True, kw_only=True)
class _OfLinks:
    """Scores of links, by type and by vocabulary."""

    cases: Mapping[str, Sequence[LinkCase]]
    documents: Sequence[str]
    concepts: Any = field(repr=False)

    @classmethod
    def of(cls, found: LinkEvaluation) -> _OfLinks:
        cases = {one.name: one.cases for one in found.systems}
        return cls(cases=cases, documents=[document.id for document in found.gold.documents], concepts=found.concepts)

    @property
    def systems(self) -> Iterable[str]:
        return self.cases

    @property
    def vocabularies(self) -> set[str]:
        cases = next(iter(self.cases.values()))
        return {_vocabulary(one) for case in cases for one in case.gold} - {""}

    def value(self, system: str, gate: Gate) -> float | None:
        types = {case.type for case in self.cases[system] if case.where != "spurious"}
        if _is_vocabulary(gate, types=types, vocabularies=self.vocabularies, averages=("micro",)):
            return self.of_vocabulary(system, gate)
        named = [case for case in self.cases[system] if gate.name in (case.type, "micro")]
        return score_links(named, self.documents, self.concepts).value(gate.figure)

    def of_vocabulary(self, system: str, gate: Gate) -> float | None:
        cases = _within(self.cases[system], gate.name)
        return score_links(cases, self.documents, self.concepts).value(gate.figure)


@dataclass(frozen=True)
class _OfMentions:
    """Scores of mentions by type, and of links by vocabulary."""

    found: Evaluation
    prefixes: Mapping[str, str]

    @property
    def systems(self) -> Iterable[str]:
        return [one.name for one in self.found.systems]

    def value(self, system: str, gate: Gate) -> float | None:
        scores = next(one.strict for one in self.found.systems if one.name == system)
        types = {kind for kind, counts in scores.by_type.items() if counts.support}
        links = self._links(system)
        if _is_vocabulary(gate, types=types, vocabularies=links.vocabularies, averages=("micro", "macro")):
            return links.of_vocabulary(system, gate)
        if gate.figure not in _OF_MENTIONS:
            raise UsageError(
                f"{gate.name}.{gate.figure} asks for links of a type; give {', '.join(_OF_MENTIONS)}, or the name of a "
                "vocabulary, or score links alone with links (--links)"
            )
        if gate.name == "macro":
            value: float | None = macro_row(scores)[gate.figure]
            return value
        counts = scores.counts if gate.name == "micro" else scores.by_type[gate.name]
        known: float | None = getattr(figures(counts), gate.figure)
        return known

    def _links(self, system: str) -> _OfLinks:
        documents = [spelt(one, self.prefixes) for one in self.found.gold.documents]
        predicted = self.found.predictions[system].mentions
        said = {
            one.id: spelt(one.having(mentions=predicted.get(one.id, ())), self.prefixes).mentions for one in documents
        }
        reference = Reference(documents=documents)
        cases = list(cases_of_predictions(reference, said))
        return _OfLinks(cases={system: cases}, documents=[one.id for one in documents], concepts=reference.concepts)


def _is_vocabulary(gate: Gate, *, types: Collection[str], vocabularies: Iterable[str], averages: Sequence[str]) -> bool:
    """True if a gate names a vocabulary, and false if it names a type or an average.

    Raises:
        UsageError: it names neither, or both.
    """
    kinds, known = {*types, *averages}, set(vocabularies)
    if gate.name in kinds and gate.name in known:
        raise UsageError(
            f"{gate.name} is both a type and a vocabulary of the gold; score its types with other names "
            f"(--type {gate.name}=NAME) to tell the two apart"
        )
    if gate.name not in kinds | known:
        raise UsageError(
            f"the gold has neither a type nor a vocabulary {gate.name!r}{near_hint(gate.name, sorted(kinds | known))}; "
            f"it has the types {', '.join(sorted(types))}, and "
            f"{'links of ' + ', '.join(sorted(known)) if known else 'no links with a prefix'}"
        )
    return gate.name in known


def _within(cases: Iterable[LinkCase], vocabulary: str) -> Iterator[LinkCase]:
    """Yields the cases that have concepts of a vocabulary, with these alone."""
    for case in cases:
        gold = frozenset(one for one in case.gold if _vocabulary(one) == vocabulary)
        answer = frozenset(one for one in case.answer if _vocabulary(one) == vocabulary)
        if gold or answer:
            yield msgspec.structs.replace(case, gold=gold, answer=answer)


def _vocabulary(curie: str) -> str:
    return curie.partition(":")[0] if ":" in curie else ""
