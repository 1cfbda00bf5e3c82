"""Learning curves of run folders: the training loss, and the F1 on dev with the epoch that was
chosen.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from fascicle.errors import FormatError, InputError, UsageError
from fascicle.evaluation.reports.plots.canvas import STYLES, safe_name, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_Unit = Literal["epoch", "step", "update"]
_METRICS: Final = "metrics.jsonl"
_DEV: Final = "dev"
_MARKS: Final = 12  # on a curve of many places
_CIRCLE: Final[Mapping[str, Any]] = MappingProxyType(
    {"marker": "o", "s": 110, "facecolors": "none", "edgecolors": "black"}
)


class _Rates(msgspec.Struct):
    f1: Annotated[float, Meta(ge=0.0, le=1.0)]


class _Scores(msgspec.Struct):
    micro: _Rates
    macro: _Rates | None = None
    average: Literal["micro", "macro"] = "micro"

    @property
    def f1(self) -> float:
        """F1 of the average by which the model is chosen."""
        rates = self.macro if self.average == "macro" and self.macro else self.micro
        return rates.f1


class _Epoch(msgspec.Struct):
    epoch: Annotated[int, Meta(ge=1)]
    loss: float | None  # a loss that is no number is written as NaN, which JSON does not have
    step: int | None = None


class _Update(msgspec.Struct):
    update: Annotated[int, Meta(ge=1)]
    mean: float | None


class _BestEpoch(msgspec.Struct):
    epoch: int
    step: int | None = None
    others: dict[str, _BestEpoch] = {}


# of each head by its name, F1 on dev
_Row = tuple[_Epoch, dict[str, float]]


@dataclass(frozen=True, kw_only=True)
class _HeadCurve:
    """One head of a run.

    Attributes:
        head: its name; empty for the only head, and for the one that answers.
        f1: F1 on dev at each place: micro, or of several corpora macro.
        best: the place that was chosen; of a run that is not finished, the best so far.
    """

    head: str
    f1: tuple[float, ...]
    best: int


@dataclass(frozen=True, kw_only=True)
class _RunCurves:
    """Scores of one run on dev: after every epoch, or after some number of steps. A span typer has
    none.

    Attributes:
        name: of the folder.
        unit: what places count: ``"epoch"``, ``"step"``, or the ``"update"`` of a span typer.
        places: their numbers, rising.
        loss: mean training loss up to each; of a span typer, at each.
        heads: the answering one first; none of a span typer.
        finished: whether the run came to its end.
    """

    name: str
    unit: _Unit
    places: tuple[int, ...]
    loss: tuple[float, ...]
    heads: tuple[_HeadCurve, ...]
    finished: bool

    @property
    def note(self) -> str:
        """Note for the reader of a picture; empty if there is none."""
        if self.finished:
            return ""
        last = self.places[-1]
        so_far = (
            f"its {len(self.places):,} epochs"
            if self.unit == "epoch"
            else f"its first {last:,} {self.unit}s"
        )
        return f"the run {self.name} is not finished: {so_far} so far are drawn"


def read_run(folder: str) -> _RunCurves:
    """Reads the metrics of a run folder; during training, those of the epochs so far.

    Raises:
        InputError: no folder, or one without a single finished epoch.
        FormatError: metrics that no run writes.
    """
    path = Path(folder)
    metrics, scores = path / _METRICS, path / "scores.json"
    if not path.is_dir():
        raise InputError(
            f"{folder} is not a run folder; give the folder that fascicle train wrote", file=folder
        )
    if not metrics.is_file() or not metrics.stat().st_size:
        raise InputError(
            f"the run folder {folder} is incomplete: it holds no {_METRICS} with a finished epoch; "
            "give the folder of a run that has been trained for one epoch at least"
        )
    text = metrics.read_text(encoding="utf-8")
    lines = text.splitlines()
    if len(lines) > 1 and not text.endswith("\n"):
        lines.pop()  # of a run that was killed while it wrote, the last line is not whole
    try:
        if '"update"' in lines[0]:
            return _of_typer(path.resolve().name, lines, finished=scores.is_file())
        rows = [_row(line) for line in lines]
    except (msgspec.MsgspecError, ValueError, KeyError) as error:
        raise FormatError(
            f"{metrics} is not what a run writes ({error}); give the folder of a run"
        ) from None
    best = _read_best(scores) if scores.is_file() else None
    return _curves(path.resolve().name, rows, best, metrics)


def _of_typer(name: str, lines: list[str], *, finished: bool) -> _RunCurves:
    rows = [msgspec.json.decode(_json(line), type=_Update) for line in lines]
    places = tuple(row.update for row in rows)
    if list(places) != sorted(set(places)):
        raise ValueError("updates are not in order")
    loss = tuple(_number(row.mean) for row in rows)
    return _RunCurves(
        name=name, unit="update", places=places, loss=loss, heads=(), finished=finished
    )


def _json(line: str) -> str:
    """Prepares a line for JSON: a diverged training writes NaN and infinity, which JSON does not
    allow.
    """
    for name, word in itertools.product(("loss", "mean"), ("-Infinity", "Infinity", "NaN")):
        line = line.replace(f'"{name}": {word}', f'"{name}": null')
    return line


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _row(line: str) -> _Row:
    """Reads one epoch, with the F1 on dev of each head."""
    line = _json(line)
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    scores = {
        name: msgspec.json.decode(value, type=_Scores).f1
        for name, value in fields.items()
        if name.partition(".")[0] == _DEV
    }
    return msgspec.json.decode(line, type=_Epoch), scores


def _read_best(path: Path) -> dict[str, _BestEpoch]:
    try:
        answering = msgspec.json.decode(path.read_bytes(), type=_BestEpoch)
    except msgspec.MsgspecError as error:
        raise FormatError(
            f"{path} is not what a run writes ({error}); give the folder of a run", file=str(path)
        ) from None
    return {_DEV: answering} | {f"{_DEV}.{head}": best for head, best in answering.others.items()}


def _curves(
    name: str, rows: list[_Row], finished: dict[str, _BestEpoch] | None, path: Path
) -> _RunCurves:
    """Makes the curves of a run.

    Args:
        name: of the run.
        rows: one for each score on dev.
        finished: of a finished run, the epoch that was chosen for each head.
        path: of the metrics.

    Raises:
        FormatError: the rows are not those of a run.
    """
    unit, places = _number_rows(rows, path)
    heads = []
    for key in sorted(rows[0][1]):
        f1 = tuple(scores[key] for _, scores in rows)
        best = places[f1.index(max(f1))]
        if epoch := (finished or {}).get(key):
            best = epoch.epoch if unit == "epoch" else epoch.step or 0
        if best not in places:
            raise FormatError(
                f"{path} has no {unit} {best}, which scores.json says was chosen; copy the folder "
                "again",
                file=str(path),
            )
        heads.append(_HeadCurve(head=key.removeprefix(_DEV).removeprefix("."), f1=f1, best=best))
    return _RunCurves(
        name=name,
        unit=unit,
        places=places,
        loss=tuple(_number(epoch.loss) for epoch, _ in rows),
        heads=tuple(heads),
        finished=finished is not None,
    )


def _number_rows(rows: list[_Row], path: Path) -> tuple[_Unit, tuple[int, ...]]:
    """Returns what the places of a run count, and the place of each row."""
    epochs = tuple(epoch.epoch for epoch, _ in rows)
    # Dev may be scored several times in an epoch; then the steps tell these apart.
    unit: _Unit = "epoch" if len(set(epochs)) == len(epochs) else "step"
    places = epochs if unit == "epoch" else tuple(epoch.step or 0 for epoch, _ in rows)
    keys = list(rows[0][1])
    is_rising = list(places) == sorted(set(places))
    if not is_rising or _DEV not in keys or any(list(scores) != keys for _, scores in rows):
        raise FormatError(
            f"{path} is not what a run writes (epochs in order, each with dev scores); copy it "
            "again",
            file=str(path),
        )
    return unit, places


def load_runs(folders: Sequence[str]) -> list[_RunCurves]:
    """Reads run folders.

    Raises:
        UsageError: more of them than one picture can tell apart, or runs that count different
            things.
        InputError: see `reports.plots.learning.read_run`.
    """
    if len(folders) > len(STYLES):
        raise UsageError(
            f"{len(folders)} run folders were given; one picture can tell {len(STYLES)} apart, "
            "draw several"
        )
    runs = [read_run(folder) for folder in folders]
    other = next((run for run in runs if run.unit != runs[0].unit), None)
    if other is not None:
        raise UsageError(
            f"{runs[0].name} counts {runs[0].unit}s and {other.name} {other.unit}s; draw them apart"
        )
    return runs


def size(runs: Sequence[_RunCurves]) -> tuple[float, float]:
    """Width and height of the sheet, in inches: every curve has a line below the picture."""
    return 6.4, 4.4 + 0.2 * sum(max(1, len(run.heads)) for run in runs)


def draw_learning(figure: Figure, runs: Sequence[_RunCurves]) -> None:
    """Draws the loss above F1; a run has one style, and the second head has hollow marks and a
    thinner line.
    """
    if runs[0].unit == "update":
        _draw_loss(figure, runs)
    else:
        _draw_loss_and_f1(figure, runs)


def _draw_loss(figure: Figure, runs: Sequence[_RunCurves]) -> None:
    """Draws only the loss: a span typer is not scored on dev while it trains."""
    axes = figure.subplots()
    for number, run in enumerate(runs):
        every = max(1, len(run.places) // _MARKS)
        name = f"{safe_name(run.name)}{'' if run.finished else ', so far'}"
        axes.plot(run.places, run.loss, **style(number).of_line, markevery=every, label=name)
    axes.set_ylabel("mean training loss")
    axes.set_xlabel(runs[0].unit)
    axes.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=2)


def _draw_loss_and_f1(figure: Figure, runs: Sequence[_RunCurves]) -> None:
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 3))
    for number, run in enumerate(runs):
        marks = style(number).of_line
        above.plot(run.places, run.loss, **marks)
        for head in run.heads:
            _draw_f1(below, run, head, marks)
    above.set_ylabel("training loss")
    below.set_ylabel("micro F1 on dev")
    below.set_xlabel(runs[0].unit)
    below.xaxis.get_major_locator().set_params(integer=True)
    below.margins(y=0.1)
    unfinished = "" if all(run.finished for run in runs) else ", or best so far"
    below.scatter([], [], label=f"chosen {runs[0].unit}{unfinished}", **_CIRCLE)
    longest = max(len(run.name) for run in runs)
    figure.legend(loc="outside lower center", ncols=1 if longest > 16 else 2)


def _draw_f1(axes: Axes, run: _RunCurves, head: _HeadCurve, marks: Mapping[str, Any]) -> None:
    """Draws the F1 of a head, with a circle around the place that was chosen."""
    best = head.f1[run.places.index(head.best)]
    name = f"{run.name}, head {head.head}" if head.head else run.name
    thin: dict[str, Any] = {"markerfacecolor": "white", "linewidth": 0.9} if head.head else {}
    so_far = "" if run.finished else " so far"
    label = f"{safe_name(name)}: {100 * best:.1f} at {run.unit} {head.best}{so_far}"
    axes.plot(run.places, head.f1, label=label, **marks, **thin)
    axes.scatter([head.best], [best], zorder=4, **_CIRCLE)
