"""The wheel of a pack: found by its entry point after an ordinary installation, and the same
from the same sources.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fascicle.settings.packs import read_pack_settings
from fascicle.terms.sources.reading import check_source
from fascicle.verbs.tasks.index_build import build_pack
from studies.packs.ontologies import SOURCES, write_wheel

SMALL = """
name = "small@3"
[sources.anatomy]
path = "anatomy.tsv"
reader = "table"
type = "Anatomy"
licence = "CC0-1.0"
attribution = "nobody"
columns = { id = "id", label = ["name"] }
"""
PROGRAM = """
import fascicle
for name in ("small", "small@3"):
    document = fascicle.load(name)("The liver, heart, lung, brain and skin.")
    print([(one.text, one.links[0].curie) for one in document])
"""


def test_the_wheel_of_a_pack_is_found_by_name(tmp_path: Path) -> None:
    organs = {
        "liver": "0002107",
        "heart": "0000948",
        "lung": "0002048",
        "brain": "0000955",
        "skin": "0002097",
    }
    rows = "".join(f"UBERON:{number}\t{name}\n" for name, number in organs.items())
    (tmp_path / "anatomy.tsv").write_text(f"id\tname\n{rows}", encoding="utf-8")
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    wheels = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        manifest = build_pack(tmp_path / "small.toml", tmp_path / name / "pack")
        wheels.append(write_wheel(tmp_path / name / "pack", manifest, tmp_path / name))
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    place = tmp_path / "installed"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "--target", str(place), str(wheels[0])], check=True, timeout=120)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, str(place)])}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert (
        done.stdout.splitlines()
        == [str([(name, f"UBERON:{number}") for name, number in organs.items()])] * 2
    )


def test_the_sources_of_the_second_pack_are_open_and_credited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FASCICLE_DATA", "/data")
    settings = read_pack_settings(SOURCES)
    assert settings.name == "ontologies@1"
    for source in settings.sources.values():
        check_source(source)
        assert source.licence in ("CC0-1.0", "CC-BY-3.0", "CC-BY-4.0", "Apache-2.0")
        assert source.attribution
        assert source.sha256
