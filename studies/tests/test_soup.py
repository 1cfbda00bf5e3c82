from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file, save_file  # noqa: E402

from fascicle.errors import ModelError  # noqa: E402
from fascicle.loading import load  # noqa: E402
from fascicle.settings.decision import Calibration  # noqa: E402
from fascicle.settings.folders.manifest import read_manifest, write_manifest  # noqa: E402
from studies.soup import average_models  # noqa: E402


def shifted(source: Path, target: Path, by: float) -> Path:
    shutil.copytree(source, target)
    tensors = load_file(target / "model.safetensors")
    save_file({name: t + by for name, t in tensors.items()}, target / "model.safetensors")
    write_manifest(target, read_manifest(target))
    return target


def test_every_weight_is_the_mean(tiny_run: Path, tmp_path: Path) -> None:
    one = tiny_run / "best"
    members = [one, shifted(one, tmp_path / "two", 0.5), shifted(one, tmp_path / "three", -0.2)]
    average_models(members, tmp_path / "mean")
    expected = load_file(one / "model.safetensors")
    for name, tensor in load_file(tmp_path / "mean" / "model.safetensors").items():
        torch.testing.assert_close(tensor, expected[name] + 0.1)
    load(tmp_path / "mean").annotate("aspirin caused pain")


def test_the_mean_has_no_calibration_of_its_members(tiny_run: Path, tmp_path: Path) -> None:
    calibrated = shifted(tiny_run / "best", tmp_path / "calibrated", 0.0)
    manifest = read_manifest(calibrated)
    decision = msgspec.structs.replace(
        manifest.decision, calibration=Calibration(threshold=0.9, chosen_on="")
    )
    write_manifest(calibrated, msgspec.structs.replace(manifest, decision=decision))
    average_models([calibrated, tiny_run / "best"], tmp_path / "mean")
    assert read_manifest(calibrated).decision.calibration
    assert not read_manifest(tmp_path / "mean").decision.calibration


def test_models_of_different_kinds_have_no_mean(tiny_run: Path, tmp_path: Path) -> None:
    other = shifted(tiny_run / "best", tmp_path / "other", 0.0)
    write_manifest(
        other, msgspec.structs.replace(read_manifest(other), types=("Disease", "Chemical"))
    )
    with pytest.raises(ModelError, match="different kinds"):
        average_models([tiny_run / "best", other], tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
