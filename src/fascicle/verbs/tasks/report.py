"""What is said of an evaluation beside its scores: a report as one value for a file, and gates
that must be reached.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any, Final

import msgspec

from fascicle.core.files.intact import check_files
from fascicle.core.wording import near_hint
from fascicle.errors import MissingExtraError, UsageError
from fascicle.evaluation import report_parts
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.doctor.checks.reach import count_unreachable
from fascicle.evaluation.link_scores import LinkCase, LinkScores, score_links
from fascicle.evaluation.report import ReportSettings, build_report
from fascicle.evaluation.reports.table import percent, ruled_rows
from fascicle.evaluation.scoring.scores import figures, macro_row
from fascicle.formats.account import EventCounts
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.linking.gold import to_curies
from fascicle.runtime.places import find_model
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.folders.vocabularies import is_dictionary, is_pack
from fascicle.settings.recipes.ensemble import is_ensemble
from fascicle.text.pieces import PieceTokenizer
from fascicle.verbs.tasks.evaluate import Evaluation
from fascicle.verbs.tasks.link_cases import Reference, cases_of_predictions


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Contents of a report in addition to the scores.

    Attributes:
        settings: of the report.
        train: path of the training corpus, for scores of seen and unseen mentions; empty for none.
        train_reading: format and options of the training corpus.
        unreachable_for: folders or names of models, each `is_of_one_kind`: for the share of gold
            that no model of this kind can find.
    """

    settings: ReportSettings = field(default_factory=ReportSettings)
    train: str = ""
    train_reading: ReadRequest = field(default_factory=ReadRequest)
    unreachable_for: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class EvaluationReport:
    """Report of an evaluation.

    Attributes:
        value: see ``evaluation.report.build_report``.
        notes: sentences for its reader.
    """

    value: report_parts.Report
    notes: tuple[str, ...] = ()

    def text(self, suffix: str) -> tuple[str, str]:
        """Returns the content of a file.

        Args:
            suffix: of the file: ``".json"``, ``".md"`` or ``".html"``, one page with examples and,
                where Matplotlib is installed, pictures.

        Returns:
            The text, and a note on missing parts, which may be empty.
        """
        if suffix == ".json":
            return json.dumps(self.value, ensure_ascii=False, allow_nan=False, indent=1) + "\n", ""
        if suffix == ".md":
            from fascicle.evaluation.reports.markdown import markdown

            return markdown(self.value), ""
        from fascicle.evaluation.reports.page.page import page
        from fascicle.evaluation.reports.plots.report_pictures import report_pictures

        try:
            return page(self.value, pictures=report_pictures(self.value)), ""
        except MissingExtraError as error:
            text = page(self.value, notice=f"This page has tables only, no pictures: {error}")
            return text, f"the page has no pictures: {error}"


def report_on(
    evaluation: Evaluation,
    request: ReportRequest | None = None,
    *,
    events: EventCounts | None = None,
) -> EvaluationReport:
    """Analyses the errors of the systems.

    Args:
        evaluation: of the systems.
        request: further contents; by default none that need another file.
        events: counts the events of the training documents.

    Raises:
        InputError: the training corpus cannot be read.
        ModelError: there is no such model, or its folder is damaged.
    """
    request = request or ReportRequest()
    documents, training, notes = evaluation.gold.documents, None, list[str]()
    if request.train:
        taught = (events or EventCounts()).observe(read_file(request.train, request.train_reading))
        training = read_lexicon(evaluation.scored.of_training(taught))
        if not training.mentions:
            notes.append(
                f"{request.train} holds no gold mention, so nothing of it was seen in training"
            )
    value = build_report(
        documents,
        evaluation.systems,
        training=training,
        settings=request.settings,
        unreachable=_unreachable(request.unreachable_for, evaluation),
    )
    if evaluation.remarks:
        value["remarks"] = list(evaluation.remarks)
    return EvaluationReport(value=value, notes=tuple(notes))


def is_of_one_kind(model: str) -> bool:
    """True for a model that is no dictionary, pack or ensemble: its unreachable gold can be
    computed.

    Raises:
        ModelError: there is no such model.
    """
    return not is_dictionary(model) and not is_pack(model) and not is_ensemble(find_model(model))


def _unreachable(models: Iterable[str], evaluation: Evaluation) -> list[dict[str, Any]]:
    """Returns a part of the report for each model; only its manifest and its tokenizer are
    needed.
    """
    parts = []
    for model in dict.fromkeys(models):
        folder = find_model(model)
        manifest = read_manifest(folder)
        check_files(folder, manifest)
        tokenizer = PieceTokenizer.from_file(folder / "tokenizer.json", pad=manifest.tokenizer.pad)
        types = evaluation.scored.of_model(manifest.types, (manifest.name, model))
        parts.append(count_unreachable(evaluation.typed, manifest, tokenizer, types=types))
    return parts


_NUMBER: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?")
_OF_MENTIONS: Final = ("precision", "recall", "f1")
_OF_LINKS: Final = (*_OF_MENTIONS, "concept_precision", "concept_recall", "concept_f1")


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Score that a system must reach.

    Attributes:
        name: a type, a vocabulary (the prefix of its CURIEs), ``"micro"`` or ``"macro"``.
        figure: ``"precision"``, ``"recall"`` or ``"f1"``, of a vocabulary also ``"concept_recall"``
            and so on.
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
                f"{text!r} is not a gate; give micro or the name of a type or vocabulary, a figure "
                f"({', '.join(_OF_LINKS)}) and a percentage from 0 to 100, as in Disease.f1=80"
            )
        return cls(name=name, figure=figure, least=float(least / 100))


@dataclass(frozen=True, kw_only=True)
class GateResult:
    """What a system reached at a gate.

    Attributes:
        system: its name.
        gate: the gate.
        evaluation: the score, from 0 to 1; ``None`` if it is undefined, which meets no gate.
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


def check_gates(
    evaluation: Evaluation, gates: Iterable[str], *, prefixes: Mapping[str, str] | None = None
) -> list[GateResult]:
    """Compares the scores of systems with gates.

    The name of a gate is looked for among the types of the gold, then among the vocabularies of its
    links. The scores of a vocabulary are those of links, see
    `fascicle.evaluation.link_scores.LinkScores`, with the concepts of this vocabulary alone. Those
    of a type are scores of mentions.

    Args:
        evaluation: scores of systems.
        gates: such as ``"Disease.f1=80"`` or ``"MESH.recall=70"``, in percent.
        prefixes: type -> prefix of the identifiers that have none, for links.

    Raises:
        UsageError: a gate of another form, or a name that is neither a type nor a vocabulary of the
            gold, or both.
    """
    wanted_gates = [Gate.of(text) for text in gates]
    reached = _reached(evaluation, prefixes or {})
    return [
        GateResult(system=result.system, gate=gate, found=result.value(gate))
        for result in reached
        for gate in wanted_gates
    ]


def gates_table(results: Sequence[GateResult]) -> str:
    """Formats the gates that were not met; one sentence if there are none."""
    short = [result for result in results if not result.met]
    if not short:
        return (
            f"All {len(results):,} gates are met.\n" if len(results) > 1 else "The gate is met.\n"
        )
    several = len({result.system for result in results}) > 1
    rows: list[Sequence[str]] = [
        ("fell short", *(["system"] if several else []), "found", "at least", "lacking")
    ]
    for result in short:
        lacking = None if result.found is None else result.gate.least - result.found
        numbers = map(percent, (result.found, result.gate.least, lacking))
        rows.append(
            (
                f"{result.gate.name}.{result.gate.figure}",
                *([result.system] if several else []),
                *numbers,
            )
        )
    return ruled_rows(rows) + "\n"


@dataclass(frozen=True, kw_only=True)
class _Reached:
    """Scores of a system.

    Attributes:
        system: its name.
        named: type or average -> its figures.
        link_scores: scores links.
        cases: links of the system.
    """

    system: str
    named: Mapping[str, Mapping[str, float | None]]
    link_scores: Callable[[Iterable[LinkCase]], LinkScores]
    cases: Sequence[LinkCase]

    def value(self, gate: Gate) -> float | None:
        vocabularies = {_vocabulary(concept) for case in self.cases for concept in case.gold} - {""}
        if gate.name in self.named and gate.name in vocabularies:
            raise UsageError(
                f"{gate.name} is both a type and a vocabulary of the gold; score its types with "
                f"other names (--type {gate.name}=NAME) to tell the two apart"
            )
        if gate.name in vocabularies:
            return self.link_scores(_within(self.cases, gate.name)).value(gate.figure)
        if gate.name not in self.named:
            names = sorted({*self.named, *vocabularies})
            raise UsageError(
                "the gold has neither a type nor a vocabulary "
                f"{gate.name!r}{near_hint(gate.name, names)}; it has the "
                f"types {', '.join(self.named)}, and links of "
                f"{', '.join(sorted(vocabularies)) or 'no vocabulary'}"
            )
        if gate.figure not in self.named[gate.name]:
            raise UsageError(
                f"{gate.name}.{gate.figure} asks for links of a type; give "
                f"{', '.join(_OF_MENTIONS)}, or the name of a vocabulary"
            )
        return self.named[gate.name][gate.figure]


def _reached(evaluation: Evaluation, prefixes: Mapping[str, str]) -> Iterator[_Reached]:
    documents = [to_curies(system, prefixes) for system in evaluation.gold.documents]
    reference = Reference(documents=documents)
    scores = partial(
        score_links, documents=[system.id for system in documents], concepts=reference.concepts
    )
    for system in evaluation.systems:
        predicted = evaluation.predictions[system.name].mentions
        links = {
            each.id: to_curies(each.having(mentions=predicted.get(each.id, ())), prefixes).mentions
            for each in documents
        }
        counts = {kind: own for kind, own in system.strict.by_type.items() if own.support} | {
            "micro": system.strict.counts
        }
        figures_of = {kind: vars(figures(own)) for kind, own in counts.items()}
        figures_of["macro"] = {figure: macro_row(system.strict)[figure] for figure in _OF_MENTIONS}
        cases = list(cases_of_predictions(reference, links))
        yield _Reached(system=system.name, named=figures_of, link_scores=scores, cases=cases)


def _within(cases: Iterable[LinkCase], vocabulary: str) -> Iterator[LinkCase]:
    """Yields the cases that have concepts of a vocabulary, with these alone."""
    for case in cases:
        gold = frozenset(concept for concept in case.gold if _vocabulary(concept) == vocabulary)
        answer = frozenset(concept for concept in case.answer if _vocabulary(concept) == vocabulary)
        if gold or answer:
            yield msgspec.structs.replace(case, gold=gold, answer=answer)


def _vocabulary(curie: str) -> str:
    return curie.partition(":")[0] if ":" in curie else ""
