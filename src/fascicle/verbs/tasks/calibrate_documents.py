"""Fits the document-level decision of a model on development texts that it was not trained on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fascicle.core.arguments import validate_arguments
from fascicle.core.document import GOLD, Document
from fascicle.core.files.atomic import check_folder
from fascicle.core.files.source import STDIN
from fascicle.errors import UsageError
from fascicle.evaluation.calibration.documents import (
    FittedDocuments,
    PredictedTexts,
    describe_fit,
    fit_documents,
)
from fascicle.evaluation.systems.model import Watch
from fascicle.evaluation.systems.taught import training_hashes
from fascicle.formats.account import EventCounts
from fascicle.formats.sources import source_sha256
from fascicle.loading import load, load_single
from fascicle.runtime.places import find_model
from fascicle.settings.base import Positive
from fascicle.settings.decision import PLAIN, DocumentDecision
from fascicle.settings.folders.manifest import Manifest
from fascicle.settings.recipes.ensemble import EnsembleManifest, is_ensemble
from fascicle.text.annotator import Annotator
from fascicle.text.segment import segmenter
from fascicle.verbs.tasks import evaluate as scoring
from fascicle.verbs.tasks.calibrate import with_name, write_copy
from fascicle.verbs.tasks.scored import Types, scored_types

if TYPE_CHECKING:
    from fascicle.runtime.ensemble import EnsemblePredictor
    from fascicle.runtime.predictor import ModelPredictor


@dataclass(frozen=True, kw_only=True)
class DocumentCalibrated:
    """Model with a document-level decision as it was written.

    Attributes:
        folder: of the new model.
        manifest: of the new model.
        fitted: fitted decision.
        notes: sentences for the user.
    """

    folder: Path
    manifest: Manifest | EnsembleManifest
    fitted: FittedDocuments
    notes: tuple[str, ...]


@validate_arguments
def calibrate_documents(  # noqa: PLR0913
    model: Path | str,
    gold: Sequence[scoring.File],
    folder: Path | str,
    *,
    untaught: bool = False,
    types: Types = (),
    name: str = "",
    threads: Positive | None = None,
    overwrite: bool = False,
    events: EventCounts | None = None,
    watch: Watch = iter,
) -> DocumentCalibrated:
    """Fits decisions on mentions from whole documents, and writes a copy of the model with them.

    Each type counts in the files that have gold mentions of it. The scores are those of the model,
    after its calibration and its rules for abbreviations.

    Args:
        model: a model folder, a run folder, the name of a shipped model, or an ensemble, whose
            members are not changed.
        gold: files of development texts with gold mentions, in any format, without training texts
            of the model.
        folder: to write.
        untaught: the user states that no text was used to train the model; for a model that does
            not list its texts.
        types: as in ``evaluate``: the types of the gold that count, by default all.
        name: of the new model, the source of its mentions; the old one by default.
        threads: CPU threads of the network; all usable cores by default.
        overwrite: replace an existing folder.
        events: counts the events of documents.
        watch: wraps the stream of documents, to show progress.

    Raises:
        ModelError: there is no such model.
        UsageError: no file, standard input, or a model that lists no texts where nothing was
            stated.
        InputError: a file cannot be read, holds training texts of the model, or no type has enough
            mentions.
        OutputError: the folder exists.
    """
    from fascicle.runtime.ruled import known_names

    events, output = events or EventCounts(), Path(folder)
    names = _names([scoring.input_path(path) for path in gold])
    source = find_model(model)
    check_folder(output, kind="ensemble" if is_ensemble(source) else "model", overwrite=overwrite)
    predictor, before = _opened(source, threads)
    cuts = segmenter(predictor.segmenter).sentences
    scored = scored_types(types)
    scored.check(predictor.types, system=predictor.name)
    taught = _taught(source, predictor.name, stated=untaught)
    answered, hashes = [], {}
    for own, request in zip(names, gold, strict=True):
        path = scoring.input_path(request)
        documents = scoring.open_gold(request, events=events).documents
        scoring.check_no_training_text(
            documents, taught, path=path, model=predictor.name, cuts=cuts
        )
        answered.append(_answer(own, scored.of_gold(documents, path=path), predictor, watch))
        hashes[own] = source_sha256(path)
    fitted = fit_documents(
        answered, sentences=cuts, types=predictor.types, chosen_on=hashes, knows=known_names(before)
    )
    compared = None if taught is None else sum(len(answer.documents) for answer in answered)
    decision = _keep_names(fitted.decision, before, untaught=compared)
    fitted = replace(fitted, decision=decision)
    manifest = with_name(predictor.with_document(fitted.decision).manifest, name)
    copy = write_copy(source, manifest, output, card=_card(fitted), overwrite=overwrite)
    notes = (*fitted.notes, *_strange(answered, predictor.types))
    return DocumentCalibrated(folder=output, manifest=copy, fitted=fitted, notes=notes)


def _keep_names(
    decision: DocumentDecision, before: DocumentDecision, *, untaught: int | None
) -> DocumentDecision:
    """Returns the fitted decision with the old values that are not fitted: the use of names
    alone, and the pack.
    """
    fitted = msgspec.structs.replace(decision, names=before.names, pack=before.pack)
    return fitted if untaught is None else msgspec.structs.replace(fitted, untaught=untaught)


def _names(paths: Sequence[str]) -> list[str]:
    """Returns the name of each file in the folder of the model."""
    if not paths or STDIN in paths:
        where = "standard input (-)" if paths else "no development data"
        raise UsageError(
            f"{where} was given, but the model keeps the hash of each file; give files"
        )
    names = [Path(path).name for path in paths]
    twice = [name for name, count in Counter(names).items() if count > 1]
    return [str(path) for path in paths] if twice else names


def _opened(
    source: Path, threads: int | None
) -> tuple[ModelPredictor | EnsemblePredictor, DocumentDecision]:
    """Opens a model for plain characters, or an ensemble, without its document-level decision;
    returns both.
    """
    if is_ensemble(source):
        from fascicle.runtime.ensemble import EnsemblePredictor

        ensemble = load(source, threads=threads, link=())
        assert isinstance(ensemble, EnsemblePredictor)
        return ensemble.with_document(
            msgspec.UNSET
        ), ensemble.manifest.document or DocumentDecision()
    model = load_single(source, threads=threads)
    decision = msgspec.structs.replace(
        model.manifest.decision,
        characters=model.manifest.decision.characters or PLAIN,
        document=msgspec.UNSET,
    )
    return model.deciding(decision), model.manifest.decision.document or DocumentDecision()


def _taught(source: Path, name: str, *, stated: bool) -> frozenset[int] | None:
    """Returns hashes of the training texts of a model; ``None`` if it lists none and the user
    stated ``untaught``.
    """
    taught = training_hashes(source)
    if taught is not None or stated:
        return taught
    raise UsageError(
        f"{name} does not list its training texts, and its scores on training texts are too good; "
        "if none of these texts was used in training, state this with untaught=True",
        file=str(source),
    )


def _answer(
    name: str, documents: Sequence[Document], predictor: Annotator, watch: Watch
) -> PredictedTexts:
    bare = (msgspec.structs.replace(document, mentions=(), events=()) for document in documents)
    answers = [document.layer(predictor.name) for document in watch(predictor.stream(bare))]
    types = frozenset(mention.type for document in documents for mention in document.layer(GOLD))
    return PredictedTexts(file=name, documents=documents, answers=answers, types=types)


def _strange(answered: Sequence[PredictedTexts], types: Sequence[str]) -> list[str]:
    unknown = sorted({name for answer in answered for name in answer.types} - set(types))
    return (
        [f"the model lacks types of the gold, {', '.join(map(repr, unknown))}; they decide nothing"]
        if unknown
        else []
    )


def _card(fitted: FittedDocuments) -> str:
    decision = fitted.decision
    files = ", ".join(f"{name} (sha256 {value})" for name, value in decision.chosen_on.items())
    compared = (
        f"None of their {decision.untaught:,} texts taught the model, by the list of its folder."
        if isinstance(decision.untaught, int)
        else "That none of these texts taught the model is the statement of whoever fitted it: "
        "it lists no texts."
    )
    paragraph = f"This is a copy whose decision of documents was fitted on {files}. {compared}\n\n"
    return paragraph + "".join(f"- {line}\n" for line in describe_fit(fitted))
