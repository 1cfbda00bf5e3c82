"""The page ``how-to-serve``: its commands and its Python run, against a service as the page
starts it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from standing import Standing, standing
from tests.pages import blocks

from fascicle.serving.app import ROUTES
from fascicle.serving.server import PipelineOpener
from fascicle.settings.folders.vocabularies import demo_pipeline

pytest.importorskip("httpx2")
pytestmark = pytest.mark.loopback
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to-serve.md").read_text(encoding="utf-8")
CURLS = [block for block in blocks(PAGE, "sh") if "curl" in block]


@pytest.fixture(scope="module")
def demo() -> Iterator[Standing]:
    with standing({"demo": PipelineOpener(given=str(demo_pipeline()))}) as found:
        yield found


def test_every_route_has_a_line() -> None:
    told = "\n".join(CURLS)
    for one in ROUTES:
        if not one.path.startswith("/v1/curation"):
            path = one.path.replace("{id}", "$JOB").replace("{curie:path}", "MESH:D008094")
            assert path in told or one.path == "/api/kazu/ner_only", one.path


@pytest.mark.slow
@pytest.mark.parametrize("block", CURLS)
def test_commands_run(demo: Standing, block: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    script = block.replace("localhost:8080", f"localhost:{demo.port}").replace(
        "curl -s", "curl -fsS"
    )
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    if "annotate" in block and "Accept" not in block:
        assert json.loads(done.stdout)["documents"][0]["status"] == "done"


@pytest.mark.slow
def test_the_python_runs(demo: Standing, tmp_path: Path) -> None:
    (code,) = blocks(PAGE, "python")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code.replace("8080", str(demo.port))],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=200
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "('Chemical', 'Lithium')" in done.stdout
