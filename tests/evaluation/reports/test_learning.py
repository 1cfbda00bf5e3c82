"""Learning curves: what run folders hold is drawn, and what is not a run folder is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fascicle.errors import FormatError, InputError, UsageError
from fascicle.evaluation.reports.plots.canvas import STYLES, open_sheet, svg
from fascicle.evaluation.reports.plots.learning import draw_learning, load_runs, read_run

LOSS = [1.5, 0.5, 0.25]
F1 = {"dev": [0.25, 0.75, 0.5], "dev.softmax": [0.125, 0.25, 0.375]}


def folder(
    path: Path, *, heads: tuple[str, ...] = ("dev",), epochs: int = 3, scores: Any = None
) -> Path:
    path.mkdir()
    rows = [
        {"epoch": i + 1, "loss": LOSS[i], "seconds": 1.0}
        | {h: {"micro": {"f1": F1[h][i]}, "types": {}} for h in heads}
        for i in range(epochs)
    ]
    (path / "metrics.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    if scores is not None:
        (path / "scores.json").write_text(json.dumps(scores), encoding="utf-8")
    return path


def test_curves_of_a_bundle_are_drawn(tmp_path: Path) -> None:
    scores = {"epoch": 3, "dev": {}, "others": {"softmax": {"epoch": 2}}}
    path = folder(tmp_path / "run", heads=("dev.softmax", "dev"), scores=scores)
    (run,) = load_runs([str(path)])
    assert [(h.head, h.f1, h.best) for h in run.heads] == [
        ("", tuple(F1["dev"]), 3),
        ("softmax", tuple(F1["dev.softmax"]), 2),
    ]
    assert (run.loss, run.finished, run.note) == (tuple(LOSS), True, "")
    with open_sheet() as figure:
        draw_learning(figure, [run])
        above, below = figure.axes
        lines = [(line.get_xdata(), line.get_ydata()) for line in (*above.lines, *below.lines)]
        circles = [np.asarray(c.get_offsets()).tolist() for c in below.collections]
        texts = [text.get_text() for text in figure.legends[0].get_texts()]
    for (x, y), expected in zip(lines, (LOSS, F1["dev"], F1["dev.softmax"]), strict=True):
        np.testing.assert_array_equal(x, [1, 2, 3])
        np.testing.assert_array_equal(y, expected)
    assert circles[:2] == [[[3.0, 0.5]], [[2.0, 0.25]]]
    assert texts[:2] == ["run: 50.0 at epoch 3", "run, head softmax: 25.0 at epoch 2"]


def test_a_run_that_goes_on_has_its_best_so_far(tmp_path: Path) -> None:
    run = read_run(str(folder(tmp_path / "run", epochs=2)))
    assert (run.heads[0].best, run.finished) == (2, False)
    assert "not finished: its 2 epochs" in run.note


def test_of_equal_epochs_the_first_is_the_best(tmp_path: Path) -> None:
    path = folder(tmp_path / "run", epochs=1)
    line = (path / "metrics.jsonl").read_text(encoding="utf-8")
    (path / "metrics.jsonl").write_text(
        line + line.replace('"epoch": 1', '"epoch": 2'), encoding="utf-8"
    )
    assert read_run(str(path)).heads[0].best == 1


def test_a_loss_that_is_no_number_is_a_gap(tmp_path: Path) -> None:
    path = folder(tmp_path / "run")
    text = (
        (path / "metrics.jsonl").read_text(encoding="utf-8").replace('"loss": 0.5', '"loss": NaN')
    )
    (path / "metrics.jsonl").write_text(text, encoding="utf-8")
    run = read_run(str(path))
    np.testing.assert_array_equal(run.loss, [1.5, np.nan, 0.25])
    with open_sheet() as figure:
        draw_learning(figure, [run])


def test_bad_folders(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a run folder"):
        read_run(str(tmp_path / "nothing"))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="incomplete"):
        read_run(str(empty))
    (empty / "metrics.jsonl").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="incomplete"):
        read_run(str(empty))
    for content in (
        "{",
        '{"epoch": 1}\n',
        '{"epoch": 1, "loss": 1, "dev": {}}\n',
        "3\n",
        '{"epoch": 1, "loss": 1}\n',
    ):
        (empty / "metrics.jsonl").write_text(content, encoding="utf-8")
        with pytest.raises(FormatError, match="not what a run writes"):
            read_run(str(empty))
    with pytest.raises(FormatError, match="no epoch 9"):
        read_run(str(folder(tmp_path / "other", scores={"epoch": 9})))
    with pytest.raises(UsageError, match="8 run folders"):
        load_runs(["x"] * (len(STYLES) + 1))


def test_a_run_scored_within_epochs_is_drawn_over_steps(tmp_path: Path) -> None:
    path = folder(tmp_path / "run", scores={"epoch": 1, "step": 20, "dev": {}})
    rows = [
        json.loads(line)
        for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    told = [
        row | {"epoch": epoch, "step": 10 * at}
        for at, (row, epoch) in enumerate(zip(rows, (1, 1, 2), strict=True), start=1)
    ]
    (path / "metrics.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in told), encoding="utf-8"
    )
    (run,) = load_runs([str(path)])
    assert (run.unit, run.places, run.heads[0].best) == ("step", (10, 20, 30), 20)
    with open_sheet() as figure:
        draw_learning(figure, [run])
        assert figure.axes[1].get_xlabel() == "step"
        assert figure.legends[0].get_texts()[0].get_text() == "run: 75.0 at step 20"
    other = folder(tmp_path / "other")
    with pytest.raises(UsageError, match="other counts epochs and run steps; draw them apart"):
        load_runs([str(other), str(path)])


def test_of_a_span_typer_the_loss_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "typer"
    path.mkdir()
    rows = [{"update": at, "loss": 100.0 / at, "mean": 2.0 / at} for at in (1, 2, 3)]
    lines = [
        json.dumps(row)
        for row in [*rows, {"update": 4, "loss": float("nan"), "mean": float("nan")}]
    ]
    (path / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (run,) = load_runs([str(path)])
    assert (run.unit, run.places, run.heads, run.finished) == ("update", (1, 2, 3, 4), (), False)
    assert run.loss[:3] == (2.0, 1.0, pytest.approx(2 / 3))
    assert math.isnan(run.loss[3])
    assert run.note == "the run typer is not finished: its first 4 updates so far are drawn"
    with open_sheet() as figure:
        draw_learning(figure, [run])
        (axes,) = figure.axes
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("update", "mean training loss")
    with pytest.raises(UsageError, match="typer counts updates and run epochs; draw them apart"):
        load_runs([str(path), str(folder(tmp_path / "run"))])
    (path / "metrics.jsonl").write_text(f"{lines[1]}\n{lines[0]}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="updates are not in order"):
        load_runs([str(path)])
    (path / "metrics.jsonl").write_text(f"{lines[0]}\n{lines[1]}\n{lines[2][:9]}", encoding="utf-8")
    assert load_runs([str(path)])[0].places == (1, 2)  # it was killed while it wrote the third


@pytest.mark.parametrize("name", ["_run", "a$b^$c"])
def test_names_with_a_meaning_for_matplotlib_are_only_names(tmp_path: Path, name: str) -> None:
    (run,) = load_runs([str(folder(tmp_path / name))])
    with open_sheet() as figure:
        draw_learning(figure, [run])
        figure.suptitle("costs $5^ and $6")
        assert name in figure.legends[0].get_texts()[0].get_text()
        assert "<svg" in svg(figure)
