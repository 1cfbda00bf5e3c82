"""A model in the form that ships: the weights of a run that learnt from dev, what its twin decided, in 8 bits."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.studies.six import thresholds
from benchmarks.studies.six.deciding import decided, dev_answers, fit_abbreviations, fit_scores
from fascicle.files.owned import RECORD
from fascicle.loading import load
from fascicle.settings.folders.manifest import Manifest, read_manifest, write_manifest
from fascicle.tasks.export import export


@dataclass(frozen=True, kw_only=True)
class Assembled:
    """What was made of two runs.

    Attributes:
        int8: the folder of the model that ships.
        fp32: the same model before its weights became 8 bits.
        decision: what was fitted on dev, and how.
    """

    int8: Path
    fp32: Path
    decision: dict[str, Any]


def assembled(refit: Path, twin: Path, place: Path, *, name: str) -> Assembled:
    """Decides by the twin, and exports.

    Args:
        refit: the run whose weights are taken.
        twin: the run of the same recipe from which dev was kept, with thresholds from `thresholds`.
        place: an empty folder for what is made.
        name: of the model.
    """
    chosen, decision = fitted(refit, twin, place)
    run = place / "run"  # as the refit one, with another decision
    shutil.copytree(refit / "best", run / "best")
    shutil.copy(refit / "recipe.json", run)
    write_manifest(run / "best", chosen)
    export(run, place / "int8", int8=True, name=name)
    export(run, place / "fp32", name=name)
    (place / "int8" / RECORD).unlink()  # it is about folders of users
    return Assembled(int8=place / "int8", fp32=place / "fp32", decision=decision)


def fitted(refit: Path, twin: Path, place: Path) -> tuple[Manifest, dict[str, Any]]:
    """What the refit model says of itself with the decisions of its twin, and what was fitted.

    The twin answers in 8 bits, as the model that ships does.
    """
    of_twin = read_manifest(twin / "best")
    export(twin, place / "twin", int8=True)
    dev = dev_answers(load(place / "twin"))
    scores, rules = fit_scores(dev), fit_abbreviations(dev)
    manifest = read_manifest(refit / "best")
    limits = thresholds.chosen(twin.name)
    by_type = tuple(limits[name] for name in manifest.types)
    chosen = decided(
        manifest, of_twin, nothing_by_type=by_type, calibration=scores.calibration, abbreviations=rules.rules
    )
    stages = [stage.as_dict() for stage in scores.stages]
    told = {"abbreviations": rules.as_dict(), "calibration": stages, "dev_documents": len(dev.documents)}
    return chosen, told
