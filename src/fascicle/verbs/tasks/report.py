"""Report of an evaluation as one value, for a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fascicle.core.document import Document
from fascicle.errors import MissingExtraError
from fascicle.evaluation import report_parts
from fascicle.evaluation.breakdown.layout import lexicon
from fascicle.evaluation.doctor.checks.relations import reach_of
from fascicle.evaluation.report import ReportSettings, build_report
from fascicle.formats.account import EventCounts
from fascicle.formats.requests import ReadRequest, read_file
from fascicle.runtime.places import find_model
from fascicle.settings.folders.manifest import check_files, read_manifest
from fascicle.settings.folders.vocabularies import is_dictionary, is_pack
from fascicle.settings.recipes.ensemble import is_ensemble
from fascicle.text.pieces import PieceTokenizer
from fascicle.verbs.tasks.evaluate import Evaluation


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Contents of a report in addition to the scores.

    Attributes:
        settings: of the report.
        train: path of the training corpus, for scores of seen and unseen mentions; empty for none.
        train_reading: format and options of the training corpus.
        unreachable_for: folders or names of models, each `is_of_one_kind`: for the share of gold that no model of
            this kind can find.
    """

    settings: ReportSettings = field(default_factory=ReportSettings)
    train: str = ""
    train_reading: ReadRequest = field(default_factory=ReadRequest)
    unreachable_for: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Report:
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
            suffix: of the file: ``".json"``, ``".md"`` or ``".html"``, one page with examples and, where Matplotlib is
                installed, pictures.

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
    evaluation: Evaluation, request: ReportRequest | None = None, *, events: EventCounts | None = None
) -> Report:
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
        training = lexicon((events or EventCounts()).observe(read_file(request.train, request.train_reading)))
        if not training.mentions:
            notes.append(f"{request.train} holds no gold mention, so nothing of it was seen in training")
    value = build_report(
        documents,
        evaluation.systems,
        training=training,
        settings=request.settings,
        unreachable=_unreachable(request.unreachable_for, documents),
    )
    return Report(value=value, notes=tuple(notes))


def is_of_one_kind(model: str) -> bool:
    """True for a model that is no dictionary, pack or ensemble: its unreachable gold can be computed.

    Raises:
        ModelError: there is no such model.
    """
    return not is_dictionary(model) and not is_pack(model) and not is_ensemble(find_model(model))


def _unreachable(models: Iterable[str], documents: Sequence[Document]) -> list[dict[str, Any]]:
    """Returns a part of the report for each model; only its manifest and its tokenizer are needed."""
    parts = []
    for model in dict.fromkeys(models):
        folder = find_model(model)
        manifest = read_manifest(folder)
        check_files(folder, manifest)
        tokenizer = PieceTokenizer.from_file(folder / "tokenizer.json", pad=manifest.tokenizer.pad)
        parts.append(reach_of(documents, manifest, tokenizer))
    return parts
