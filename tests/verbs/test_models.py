"""``fascicle models``: what it says of a model is what the model does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fascicle.loading import load, load_all_types
from fascicle.settings.folders.shipped import shipped_models


@pytest.mark.skipif(not shipped_models(), reason="no model is shipped")
def test_types_that_a_model_keeps_apart_are_told_apart(cli: Callable[..., Any]) -> None:
    rows = {
        row["name"]: row
        for row in json.loads(cli("models", "--json").out)
        if row["kind"] == "model"
    }
    lines = {line.split()[0]: line for line in cli("models").out.splitlines() if "onnx" in line}
    assert sorted(rows) == sorted(lines) == sorted(shipped_models())
    for name, row in rows.items():
        assert tuple(row["types"]) == load(name).types
        assert sorted((*row["types"], *row["apart"])) == sorted(load_all_types(name).types)
        assert all(kind in lines[name] for kind in row["apart"])
        assert ("only with --only" in lines[name]) is bool(row["apart"])
