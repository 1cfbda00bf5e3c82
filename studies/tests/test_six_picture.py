"""The picture of quality against speed: what is drawn, and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from studies.six import picture
from studies.six.corpora import TABLE_2


def rows(*f1: float) -> dict[str, Any]:
    """One number for each row of the paper, in the form that counts."""
    pairs = zip(TABLE_2, f1, strict=False)
    return {
        "rows": {
            r.name: {"given" if r.given else "raw": {"strict": {"micro": {"f1": f}}}}
            for r, f in pairs
        }
    }


def dial(**models: tuple[float, float]) -> dict[str, Any]:
    found = {
        name: {"sentences_per_second": {"1": one, "32": many}}
        for name, (one, many) in models.items()
    }
    return {"models": found, "all_rounds": {"pipeline": [30.0, 20.0, 10.0]}}


def test_a_system_stands_at_its_speed_and_mean() -> None:
    half = [0.5, 0.7] * (len(TABLE_2) // 2)
    found = picture.places(
        dial(a=(90.0, 300.0), b=(1.0, 2.0)), {"systems": {"a": rows(*half), "b": rows(0.5)}}
    )
    # of b rows are missing
    assert found == {"a": picture.Place(rates=(90.0, 300.0), f1=pytest.approx(60.0))}


def test_the_pipeline_has_the_rows_of_the_same_weights() -> None:
    value = {"systems": {"biomed@1-fp32": rows(*[0.25] * len(TABLE_2))}}
    assert picture.places(dial(), value) == {
        picture.PIPELINE: picture.Place(rates=(20.0,), f1=pytest.approx(25.0))
    }


def test_a_picture_is_drawn_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    assert picture.main(tmp_path / "p.svg", tmp_path) == 2
    assert "six.dial" in capsys.readouterr().err
    (tmp_path / "six-dial.json").write_text(json.dumps(dial(a=(90.0, 300.0))), encoding="utf-8")
    value = {"systems": {"a": rows(*[0.5] * len(TABLE_2))}}
    (tmp_path / "six-rows.json").write_text(json.dumps(value), encoding="utf-8")
    assert picture.main(tmp_path / "p.svg", tmp_path) == 0
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<svg")
