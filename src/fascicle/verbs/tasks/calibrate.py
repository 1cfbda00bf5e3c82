"""Fits scores, thresholds and rules of a model on development data, and writes a copy of the
model with them.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from fascicle.core.arguments import validate_arguments
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.atomic import atomic_folder, check_folder
from fascicle.core.files.source import STDIN
from fascicle.core.wording import plural
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.calibration.fitting import (
    FittedCalibration,
    Target,
    check_gold,
    fit_calibration,
)
from fascicle.evaluation.calibration.reliability import judged
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import score
from fascicle.evaluation.systems.model import Watch
from fascicle.evaluation.systems.taught import training_hashes
from fascicle.formats.account import EventCounts
from fascicle.formats.sources import source_sha256
from fascicle.loading import load, load_single
from fascicle.runtime.decoding.selection import calibrate_scores, type_thresholds
from fascicle.runtime.places import find_model
from fascicle.settings.base import Positive
from fascicle.settings.decision import Calibration, TemperatureCurve
from fascicle.settings.folders.described import CARD
from fascicle.settings.folders.manifest import Manifest, write_manifest
from fascicle.settings.recipes.ensemble import EnsembleManifest, is_ensemble, write_ensemble
from fascicle.terms.abbreviations.resolving import FittedRules, Found, fit_rules
from fascicle.text.annotator import Annotator
from fascicle.text.segment import segmenter
from fascicle.verbs.tasks import evaluate as scoring
from fascicle.verbs.tasks.scored import ScoredTypes, Types, scored_types

Method = Literal["temperature", "isotonic", "none"]
_CARD = "\n## Calibration\n\n"


@dataclass(frozen=True, kw_only=True)
class CalibrateSettings:
    """Settings of the fit.

    Attributes:
        method: method that turns scores into probabilities; ``"none"`` leaves them.
        target: criterion of the threshold; ``None`` for no threshold.
        per_type: a threshold for each type.
        abbreviations: choose, by F1, the rules by which short and long forms of a document change
            the kept mentions.
        types: as in ``evaluate``: the types of the gold that count, by default all; the model is
            fitted on these alone.
        name: of the new model, the source of its mentions; the old one by default.
        threads: CPU threads of the network; all usable cores by default.

    Raises:
        UsageError: settings of thresholds without a target.
    """

    method: Method = "temperature"
    target: Target | None = None
    per_type: bool = False
    abbreviations: bool = False
    types: Types = ()
    name: str = ""
    threads: Positive | None = None

    def __post_init__(self) -> None:
        """Refuses settings that fit nothing."""
        if self.target is None and (
            self.per_type or not (self.changes_scores or self.abbreviations)
        ):
            wrong = "per_type=True" if self.per_type else "method=none"
            raise UsageError(
                f"{wrong} needs a target for thresholds: a precision, a recall, or the best F1"
            )

    @property
    def changes_scores(self) -> bool:
        """True if a curve or a threshold is fitted."""
        return self.method != "none" or self.target is not None


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """Calibrated model as it was written.

    Attributes:
        folder: of the new model.
        manifest: of the new model.
        fitted: fitted curve and thresholds, and the scores at each stage; ``None`` if nothing was
            fitted.
        abbreviations: chosen rules for abbreviations; ``None`` if that was not requested.
        notes: sentences for the user.
    """

    folder: Path
    manifest: Manifest | EnsembleManifest
    fitted: FittedCalibration | None
    abbreviations: FittedRules | None
    notes: tuple[str, ...]

    @property
    def calibration(self) -> Calibration | None:
        """Fitted calibration of the scores."""
        return self.fitted.calibration if self.fitted else None


@validate_arguments
def calibrate(
    model: Path | str,
    gold: scoring.File,
    folder: Path | str,
    settings: CalibrateSettings | None = None,
    *,
    overwrite: bool = False,
    events: EventCounts | None = None,
    watch: Watch = iter,
) -> Calibrated:
    """Fits scores, thresholds and rules of a model on development data, and writes a copy of the
    model with them.

    Args:
        model: a model folder, a run folder, or the name of a shipped model; an ensemble only for
            ``abbreviations``.
        gold: file of development documents with gold mentions, in any format; the model keeps its
            hash.
        folder: to write.
        settings: a temperature and no threshold by default.
        overwrite: replace an existing folder.
        events: counts the events of documents.
        watch: wraps the stream of documents, to show progress.

    Raises:
        ModelError: there is no such model.
        UsageError: an ensemble whose scores would change, standard input, a name that no model may
            have, or a type that the model does not have.
        InputError: the gold cannot be read, holds a training text of the model by the list of its
            folder, has no mention of a type, or nothing can be fitted on it.
        OutputError: the folder exists.
    """
    options, events, output = settings or CalibrateSettings(), events or EventCounts(), Path(folder)
    path = _path_of(gold)
    source = find_model(model)
    check_folder(output, kind="ensemble" if is_ensemble(source) else "model", overwrite=overwrite)
    scored = scored_types(options.types)
    predictor, before = _opened(source, options)
    manifest = with_name(before, options.name)
    scored.check(manifest.types, system=manifest.name)
    gold_documents = scoring.open_gold(gold, events=events).documents
    cuts = segmenter(predictor.segmenter).sentences
    scoring.check_no_training_text(
        gold_documents, training_hashes(source), path=path, model=manifest.name, cuts=cuts
    )
    documents = scored.of_gold(gold_documents, path=path)
    work = _Fitting(
        documents=documents,
        found=_predict(predictor, documents, events, watch),
        wanted=scored,
        chosen_on=source_sha256(path),
        apart=predictor.apart,
    )
    notes = list(_notes(manifest, documents, settings=options))
    try:
        fitted = work.scores(options, manifest.types) if options.changes_scores else None
    except InputError as error:
        raise InputError(f"{manifest.name} on {path}: {error}") from None
    notes += fitted.notes if fitted else ()
    rules = None
    if options.abbreviations:
        rules = work.rules(fitted.calibration if fitted else None, manifest.types)
        notes += _rules_note(rules, documents)
    calibrated = Calibrated(
        folder=output,
        manifest=_decided(manifest, fitted, rules),
        fitted=fitted,
        abbreviations=rules,
        notes=tuple(notes),
    )
    return _written(calibrated, source, overwrite=overwrite)


def _written(calibrated: Calibrated, source: Path, *, overwrite: bool) -> Calibrated:
    """Writes a copy of the model with its calibration, and returns the description in it."""
    place, card = calibrated.folder, _card(calibrated)
    copy = write_copy(source, calibrated.manifest, place, card=card, overwrite=overwrite)
    return replace(calibrated, manifest=copy)


def _path_of(gold: scoring.File) -> str:
    path = scoring.input_path(gold)
    if path == STDIN:
        raise UsageError(
            "the gold was given as standard input (-), but the model keeps its hash; give a file"
        )
    return path


def describe_calibration(calibration: Calibration) -> list[str]:
    """Returns the fitted calibration as lines of text."""
    lines = []
    curve = calibration.curve
    if isinstance(curve, TemperatureCurve):
        word = "too sure" if curve.temperature > 1 else "not too sure"
        lines.append(f"temperature {curve.temperature:.4g}: the scores of the model are {word}")
    elif curve is not None:
        lines.append(f"isotonic curve with {plural(len(curve.scores), 'knot')}")
    if not calibration.wanted:
        return lines
    if not calibration.thresholds or calibration.threshold:
        rest = " of the other types" if calibration.thresholds else ""
        lines.append(
            f"threshold{rest} for {calibration.wanted}: {_threshold(calibration.threshold)}"
        )
    lines += [
        f"threshold of {t} for {calibration.wanted}: {_threshold(v)}"
        for t, v in calibration.thresholds.items()
    ]
    return lines


def _threshold(value: float) -> str:
    return f"{value:.4g}" if value else "0, which keeps all"


def describe_rules(fitted: FittedRules) -> list[str]:
    """Returns the chosen rules for abbreviations as lines of text."""
    rules = fitted.rules
    gain = 100 * (fitted.after - fitted.before)
    spread = {
        "no": "no",
        "exact": "from mentions of the whole long form",
        "end": "from mentions of its end",
    }
    return [
        f"short forms get the type of their long forms: {spread[rules.spread]}",
        f"short forms go whose long forms are no mentions: {'yes' if rules.drop else 'no'}",
        f"a string has one type in a document: {'yes' if rules.one_type else 'no'}",
        f"F1 with these rules: {gain:+.2f}, from {plural(fitted.definitions, 'definition')} of "
        "short forms",
    ]


def _opened(
    source: Path, settings: CalibrateSettings
) -> tuple[Annotator, Manifest | EnsembleManifest]:
    """Opens the model without the parts that will be fitted; also returns its manifest. An
    ensemble has only rules.
    """
    if is_ensemble(source) and not settings.changes_scores:
        from fascicle.runtime.ensemble import EnsemblePredictor

        ensemble = load(source, threads=settings.threads, link=())
        assert isinstance(ensemble, EnsemblePredictor)
        return ensemble.with_abbreviations(msgspec.UNSET), ensemble.manifest
    model = load_single(source, threads=settings.threads)
    plain = (
        model.uncalibrated()
        if settings.changes_scores
        else model.with_abbreviations(msgspec.UNSET).with_document(msgspec.UNSET)
    )
    return plain, model.manifest


@dataclass(frozen=True, kw_only=True)
class _Fitting:
    """Predictions of a model on development documents, and the fits on them.

    Attributes:
        documents: with the gold that counts.
        found: document id -> mentions of all types.
        wanted: types that count.
        chosen_on: sha256 of the documents.
        apart: types that the model keeps apart.
    """

    documents: Sequence[Document]
    found: Found
    wanted: ScoredTypes
    chosen_on: str
    apart: Sequence[str]

    def scores(self, settings: CalibrateSettings, types: Sequence[str]) -> FittedCalibration:
        """Fits a curve and thresholds."""
        return fit_calibration(
            judged(layers(self.documents), self._scored(self.found)),
            method=settings.method,
            target=settings.target,
            types=types if settings.per_type else (),
            chosen_on=self.chosen_on,
        )

    def rules(self, calibration: Calibration | None, types: Sequence[str]) -> FittedRules:
        """Chooses rules for abbreviations, for the mentions that a calibration keeps.

        Raises:
            InputError: there is no gold mention to score.
        """
        gold = layers(self.documents)
        check_gold(sum(map(len, gold.values())))
        mentions_of = {
            key: _rescore(mentions, calibration, types) for key, mentions in self.found.items()
        }

        def merit(changed: Found) -> float:
            return score(gold, self._scored(changed)).micro.f1

        return fit_rules(
            self.documents, mentions_of, merit=merit, chosen_on=self.chosen_on, apart=self.apart
        )

    def _scored(self, mentions: Found) -> Found:
        """Returns the mentions that count: of the scored types, and of those that the model keeps
        apart only if the gold has them, because they are not given out.
        """
        in_gold = {mention.type for document in self.documents for mention in document.layer(GOLD)}
        hidden = {*self.apart} - in_gold

        def shown(own: Sequence[Mention]) -> tuple[Mention, ...]:
            return tuple(mention for mention in own if mention.type not in hidden)

        return {name: shown(own) for name, own in self.wanted.among(mentions).items()}


def _rescore(
    mentions: tuple[Mention, ...], calibration: Calibration | None, types: Sequence[str]
) -> tuple[Mention, ...]:
    """Returns the mentions of a document under a calibration."""
    if calibration is None:
        return mentions
    scores = calibrate_scores(
        np.array([mention.score for mention in mentions], dtype=np.float64), calibration
    ).tolist()
    least = dict(zip(types, type_thresholds(calibration, types).tolist(), strict=True))
    return tuple(
        msgspec.structs.replace(mention, score=value)
        for mention, value in zip(mentions, scores, strict=True)
        if value >= least[mention.type]
    )


def _predict(
    predictor: Annotator, documents: Sequence[Document], events: EventCounts, watch: Watch
) -> Found:
    """Predicts on documents whose own mentions are removed."""
    bare = (msgspec.structs.replace(document, mentions=(), events=()) for document in documents)
    return layers(watch(events.observe(predictor.stream(bare))), source=predictor.name)


def _notes(
    manifest: Manifest | EnsembleManifest, gold: Sequence[Document], *, settings: CalibrateSettings
) -> Iterator[str]:
    decision = manifest.decision if isinstance(manifest, Manifest) else None
    if decision and settings.changes_scores:
        if decision.calibration:
            yield (
                f"{manifest.name} is calibrated already; the new calibration starts from its "
                "first scores"
            )
        if decision.document:
            yield (
                f"the decision of documents of {manifest.name} was fitted for its earlier "
                "scores, and is left out"
            )
        if decision.abbreviations and not settings.abbreviations:
            yield (
                f"the rules of {manifest.name} for abbreviations were chosen for its earlier "
                "scores, and stay"
            )
    counts = Counter(mention.type for document in gold for mention in set(document.layer(GOLD)))
    strange = {name: count for name, count in counts.items() if name not in manifest.types}
    if strange:
        listing = ", ".join(f"{name!r} ({count:,})" for name, count in strange.items())
        yield f"the model lacks types of the gold, {listing}; their mentions count as missed"


def _rules_note(fitted: FittedRules, documents: Sequence[Document]) -> Iterator[str]:
    if fitted.definitions < max(1, len(documents) // 10):
        yield (
            f"{plural(len(documents), 'document')} with "
            f"{plural(fitted.definitions, 'definition')} of short forms: "
            "rules for abbreviations need whole documents, and these may be single sentences"
        )


def _decided(
    manifest: Manifest | EnsembleManifest,
    fitted: FittedCalibration | None,
    rules: FittedRules | None,
) -> Manifest | EnsembleManifest:
    """Returns the manifest with the fitted values."""
    changes: dict[str, Any] = (
        {"calibration": fitted.calibration, "document": msgspec.UNSET} if fitted else {}
    )
    changes |= {"abbreviations": rules.rules} if rules else {}
    if isinstance(manifest, EnsembleManifest):  # the scores of an ensemble are not changed
        return msgspec.structs.replace(manifest, **changes)
    return msgspec.structs.replace(
        manifest, decision=msgspec.structs.replace(manifest.decision, **changes)
    )


def with_name(manifest: Manifest | EnsembleManifest, name: str) -> Manifest | EnsembleManifest:
    """Returns the manifest with another name of the model.

    Raises:
        UsageError: a name that no model may have.
    """
    try:
        return msgspec.structs.replace(manifest, name=name or manifest.name)
    except ValueError as error:
        raise UsageError(f"the name {name} is not allowed: {error}") from None


def write_copy(
    source: Path, manifest: Manifest | EnsembleManifest, folder: Path, *, card: str, overwrite: bool
) -> Manifest | EnsembleManifest:
    """Writes a copy of a model or an ensemble with another manifest, complete or not at all.

    Args:
        source: the model.
        manifest: of the copy.
        folder: to write.
        card: text on the calibration of the copy, in place of the text of the model on its own;
            ensembles have none.
        overwrite: replace an existing folder.
    """
    if isinstance(manifest, EnsembleManifest):
        with atomic_folder(folder, kind="ensemble", overwrite=overwrite) as place:
            shutil.copytree(source, place, ignore=shutil.ignore_patterns(".*"), dirs_exist_ok=True)
            write_ensemble(place, manifest)
        return manifest
    with atomic_folder(folder, kind="model", overwrite=overwrite) as place:
        for file in manifest.files:
            shutil.copyfile(source / file, place / file)
        if (source / CARD).is_file():
            before = (source / CARD).read_text(encoding="utf-8").partition(_CARD)[0].rstrip("\n")
            (place / CARD).write_text(f"{before}\n{_CARD}{card}", encoding="utf-8")
        return write_manifest(place, manifest)


def _card(calibrated: Calibrated) -> str:
    chosen_on, lines = "", list[str]()
    if calibrated.calibration:
        chosen_on, lines = (
            calibrated.calibration.chosen_on,
            describe_calibration(calibrated.calibration),
        )
    if calibrated.abbreviations:
        chosen_on, lines = (
            calibrated.abbreviations.rules.chosen_on,
            [*lines, *describe_rules(calibrated.abbreviations)],
        )
    return (
        "This is a copy whose decision was fitted on development data (sha256 "
        f"{chosen_on}). What is said above of its accuracy was measured before.\n\n"
    ) + "".join(f"- {line}\n" for line in lines)
