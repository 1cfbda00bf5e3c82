"""The scores and thresholds of a model are fitted on development data; the result is a copy of the model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from fascicle.core.arguments import checked
from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import InputError, UsageError
from fascicle.evaluation.calibration.fitting import Fitted, Target, fit_calibration
from fascicle.evaluation.calibration.reliability import Judged, judged
from fascicle.evaluation.scoring.inputs import layers
from fascicle.files.atomic import atomic_folder, check_folder
from fascicle.files.source import STDIN
from fascicle.formats.account import EventCounts
from fascicle.formats.sources import source_sha256
from fascicle.loading import find_model, load_single
from fascicle.settings.base import Positive
from fascicle.settings.calibration import Calibration, TemperatureCurve
from fascicle.settings.folders.described import CARD
from fascicle.settings.folders.manifest import Manifest, write_manifest
from fascicle.systems.model import Watch
from fascicle.tasks.given import File, gold_of, path_of
from fascicle.tasks.scored_types import ScoredTypes, Types, scored_types

if TYPE_CHECKING:
    from fascicle.runtime.predictor import ModelPredictor

_CARD = "\n## Calibration\n\n"


@dataclass(frozen=True, kw_only=True)
class CalibrateSettings:
    """What is fitted.

    Attributes:
        method: what makes scores truer; ``"none"`` leaves them.
        target: what the threshold is for; ``None`` for no threshold.
        per_type: a threshold for each type.
        types: as of ``evaluate``: the types of the gold that count, by default all; the model is fitted on these alone.
        name: of the new model, the source of its mentions; the old one by default.
        threads: CPU threads of the network; all usable cores by default.

    Raises:
        UsageError: settings of thresholds without a target.
    """

    method: Literal["temperature", "isotonic", "none"] = "temperature"
    target: Target | None = None
    per_type: bool = False
    types: Types = ()
    name: str = ""
    threads: Positive | None = None

    def __post_init__(self) -> None:
        """Refuses to fit nothing."""
        if self.target is None and (self.per_type or self.method == "none"):
            wrong = "per_type=True" if self.per_type else "method=none"
            raise UsageError(f"{wrong} needs a target for thresholds: a precision, a recall, or the best F1")


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """A calibrated model as it was written.

    Attributes:
        folder: of the new model.
        manifest: what it says of itself.
        fitted: what was fitted, and the scores at each stage.
        notes: sentences that a user must know.
    """

    folder: Path
    manifest: Manifest
    fitted: Fitted
    notes: tuple[str, ...]

    @property
    def calibration(self) -> Calibration:
        """Of the new model."""
        return self.fitted.calibration


@checked
def calibrate(
    model: Path | str,
    gold: File,
    folder: Path | str,
    settings: CalibrateSettings | None = None,
    *,
    overwrite: bool = False,
    events: EventCounts | None = None,
    watch: Watch = iter,
) -> Calibrated:
    """Fits the scores and thresholds of a model on development data, and writes a copy of the model with them.

    Args:
        model: a model folder, a run folder, or the name of a shipped model; no ensemble.
        gold: file of development documents with gold mentions, in any format; the model keeps its hash.
        folder: to write.
        settings: a temperature and no threshold by default.
        overwrite: replace an existing folder.
        events: counts the events of documents.
        watch: documents go through it one by one, to show progress.

    Raises:
        ModelError: there is no such model.
        UsageError: an ensemble, standard input, a name that no model may have, or a type that the model does not have.
        InputError: the gold cannot be read or has no mention of a type, or nothing can be fitted on it.
        OutputError: the folder exists.
    """
    chosen, events, output = settings or CalibrateSettings(), events or EventCounts(), Path(folder)
    path = path_of(gold)
    if path == STDIN:
        raise UsageError("the gold was given as standard input (-), but the model keeps its hash; give a file")
    source = find_model(model)
    check_folder(output, kind="model", overwrite=overwrite)
    predictor = load_single(source, threads=chosen.threads)
    manifest = _named(predictor.manifest, chosen.name)
    wanted = scored_types(chosen.types)
    wanted.check(manifest.types, system=manifest.name)
    documents = wanted.of_gold(gold_of(gold, events=events).documents, path=path)
    data = _judged(predictor.uncalibrated(), documents, wanted, events, watch)
    try:
        fitted = fit_calibration(
            data,
            method=chosen.method,
            target=chosen.target,
            types=manifest.types if chosen.per_type else (),
            chosen_on=source_sha256(path),
        )
    except InputError as error:
        raise InputError(f"{manifest.name} on {path}: {error}") from None
    notes = (*_notes(manifest, data.gold), *fitted.notes)
    decision = msgspec.structs.replace(manifest.decision, calibration=fitted.calibration)
    written = _write(source, output, msgspec.structs.replace(manifest, decision=decision), overwrite=overwrite)
    return Calibrated(folder=output, manifest=written, fitted=fitted, notes=notes)


def described(calibration: Calibration) -> list[str]:
    """What was fitted, as lines."""
    lines = []
    curve = calibration.curve
    if isinstance(curve, TemperatureCurve):
        word = "too sure" if curve.temperature > 1 else "not too sure"
        lines.append(f"temperature {curve.temperature:.4g}: the scores of the model are {word}")
    elif curve is not None:
        lines.append(f"isotonic curve with {counted(len(curve.scores), 'knot')}")
    if not calibration.wanted:
        return lines
    if not calibration.thresholds or calibration.threshold:
        rest = " of the other types" if calibration.thresholds else ""
        lines.append(f"threshold{rest} for {calibration.wanted}: {_threshold(calibration.threshold)}")
    lines += [f"threshold of {t} for {calibration.wanted}: {_threshold(v)}" for t, v in calibration.thresholds.items()]
    return lines


def _threshold(value: float) -> str:
    return f"{value:.4g}" if value else "0, which keeps all"


def _judged(
    predictor: ModelPredictor, documents: Sequence[Document], wanted: ScoredTypes, events: EventCounts, watch: Watch
) -> Judged:
    """What the model says of documents, none of whose mentions it sees."""
    bare = (msgspec.structs.replace(document, mentions=(), events=()) for document in documents)
    found = watch(events.observe(predictor.stream(bare)))
    return judged(layers(documents), wanted.among(layers(found, source=predictor.name)))


def _notes(manifest: Manifest, gold: Mapping[str, int]) -> Iterator[str]:
    if manifest.decision.calibration:
        yield f"{manifest.name} is calibrated already; the new calibration starts from its first scores"
    strange = {name: count for name, count in gold.items() if name not in manifest.types}
    if strange:
        listed = ", ".join(f"{name!r} ({count:,})" for name, count in strange.items())
        yield f"the model lacks types of the gold, {listed}; their mentions count as missed"


def _named(manifest: Manifest, name: str) -> Manifest:
    try:
        return msgspec.structs.replace(manifest, name=name or manifest.name)
    except ValueError as error:
        raise UsageError(f"the name {name} is not allowed: {error}") from None


def _write(source: Path, output: Path, manifest: Manifest, *, overwrite: bool) -> Manifest:
    """The model folder with another manifest, complete or not at all."""
    with atomic_folder(output, kind="model", overwrite=overwrite) as place:
        for file in manifest.files:
            shutil.copyfile(source / file, place / file)
        if (source / CARD).is_file():
            card = (source / CARD).read_text(encoding="utf-8").partition(_CARD)[0].rstrip("\n")
            (place / CARD).write_text(f"{card}\n{_CARD}{_card(manifest.decision.calibration)}", encoding="utf-8")
        return write_manifest(place, manifest)


def _card(calibration: Calibration | msgspec.UnsetType) -> str:
    assert calibration
    lines = "\n".join(f"- {line}" for line in described(calibration))
    return (
        "This is a copy whose scores and thresholds were fitted on development data (sha256 "
        f"{calibration.chosen_on}). What is said above of its accuracy was measured before.\n\n{lines}\n"
    )
