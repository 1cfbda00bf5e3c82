"""The description of the service in programs that make clients from it."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
from fascicle.serving.app import app_of, service_of
from fascicle.settings.serving import ServeSettings


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("openapi") / "openapi.json"
    place.write_bytes(app_of(service_of({}, ServeSettings(tokens=()))).state.description)
    return place


def done(*command: object, folder: Path) -> str:
    found = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout + found.stderr


def test_it_keeps_the_rules_of_openapi(description: Path) -> None:
    validator = pytest.importorskip("openapi_spec_validator")
    validator.validate(json.loads(description.read_text(encoding="utf-8")))


def test_a_python_client_has_every_route_but_the_stream(
    description: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openapi_python_client")
    command = (
        "generate",
        "--path",
        description,
        "--output-path",
        tmp_path / "made",
        "--meta",
        "none",
    )
    done(sys.executable, "-m", "openapi_python_client", *command, folder=tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    told: dict[str, Any] = json.loads(description.read_text(encoding="utf-8"))
    wanted = {one["operationId"] for path in told["paths"].values() for one in path.values()}
    made = {one.stem for one in (tmp_path / "made" / "api").rglob("*.py")} - {"__init__"}
    assert made == wanted - {"stream"}  # whose lines it has no type for
    for place in (tmp_path / "made" / "api").rglob("*.py"):
        importlib.import_module(".".join(place.relative_to(tmp_path).with_suffix("").parts))
    models = importlib.import_module("made.models")
    given = {"id": "a", "text": "Aspirin", "mentions": [{"spans": [[0, 7]], "type": "Chemical"}]}
    assert models.GivenDocument.from_dict(given).to_dict() == given


def test_typescript_types_are_made_and_checked(description: Path, tmp_path: Path) -> None:
    for program in ("openapi-typescript", "tsc"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not there: npm install -g openapi-typescript typescript@5")
    done("openapi-typescript", description, "-o", "made.ts", folder=tmp_path)
    done("tsc", "--noEmit", "--strict", "made.ts", folder=tmp_path)
