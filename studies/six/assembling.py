"""A model as it ships: the weights of a run that learnt from dev, under what its twin decided."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import msgspec

from fascicle.loading import load_all_types
from fascicle.settings.folders.manifest import Manifest, read_manifest, write_manifest
from fascicle.verbs.export import export
from studies.six import thresholds
from studies.six.deciding import decided, dev_answers, fit_abbreviations, fit_scores


def rewritten(refit: Path, manifest: Manifest, place: Path) -> Path:
    """A run folder with the weights of a run under another manifest.

    Args:
        refit: the run whose weights are taken.
        manifest: what the model says of itself, with its decision.
        place: a folder for what is made.
    """
    run = place / "run"
    shutil.copytree(refit / "best", run / "best")
    shutil.copy(refit / "recipe.json", run)
    write_manifest(run / "best", manifest)
    return run


def fitted(refit: Path, twin: Path, place: Path) -> tuple[Manifest, dict[str, Any]]:
    """What the refit model says of itself with the decisions of its twin, and what was fitted.

    The twin answers in 8 bits, as the model that ships does.

    Args:
        refit: the run whose weights are taken.
        twin: the run of the same recipe from which dev was kept, with thresholds from
            ``thresholds.py``.
        place: a folder for what is made.
    """
    of_twin = read_manifest(twin / "best")
    export(twin, place / "twin", int8=True)
    dev = dev_answers(load_all_types(place / "twin"))
    manifest = read_manifest(refit / "best")
    apart = tuple(name for name in manifest.types if "." in name)
    scores, rules = fit_scores(dev), fit_abbreviations(dev, apart=apart)
    limits = thresholds.chosen(twin.name)
    by_type = tuple(limits[name] for name in manifest.types)
    chosen = decided(
        manifest,
        of_twin,
        nothing_by_type=by_type,
        calibration=scores.calibration,
        abbreviations=rules.rules,
        apart=apart or msgspec.UNSET,
    )
    chosen = msgspec.structs.replace(chosen, language="English")
    stages = [stage.as_dict() for stage in scores.stages]
    told = {
        "abbreviations": rules.as_dict(),
        "calibration": stages,
        "dev_documents": len(dev.documents),
    }
    return chosen, told
