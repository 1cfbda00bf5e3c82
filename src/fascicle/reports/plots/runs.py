"""What run folders say of their training, read without torch."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from fascicle.errors import FormatError, InputError

Unit = Literal["epoch", "step", "update"]
METRICS: Final = "metrics.jsonl"
_DEV: Final = "dev"


class _Rates(msgspec.Struct):
    f1: Annotated[float, Meta(ge=0.0, le=1.0)]


class _Scores(msgspec.Struct):
    micro: _Rates
    macro: _Rates | None = None
    average: Literal["micro", "macro"] = "micro"

    @property
    def f1(self) -> float:
        """Of the average that the model is chosen by."""
        rates = self.macro if self.average == "macro" and self.macro else self.micro
        return rates.f1


class _Epoch(msgspec.Struct):
    epoch: Annotated[int, Meta(ge=1)]
    loss: float | None  # a loss that is no number is written as NaN, which JSON does not have
    step: int | None = None


class _Update(msgspec.Struct):
    update: Annotated[int, Meta(ge=1)]
    mean: float | None


class _Chosen(msgspec.Struct):
    epoch: int
    step: int | None = None
    others: dict[str, _Chosen] = {}


@dataclass(frozen=True, kw_only=True)
class HeadCurve:
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
class RunCurves:
    """Where one run was scored on dev: after every epoch, or after some number of steps. A span typer never is.

    Attributes:
        name: of the folder.
        unit: what places count: ``"epoch"``, ``"step"``, or the ``"update"`` of a span typer.
        places: their numbers, rising.
        loss: mean training loss up to each; of a span typer, at each.
        heads: the answering one first; none of a span typer.
        finished: whether the run came to its end.
    """

    name: str
    unit: Unit
    places: tuple[int, ...]
    loss: tuple[float, ...]
    heads: tuple[HeadCurve, ...]
    finished: bool

    @property
    def note(self) -> str:
        """What the reader of a picture should know; empty if nothing."""
        if self.finished:
            return ""
        last = self.places[-1]
        so_far = f"its {len(self.places):,} epochs" if self.unit == "epoch" else f"its first {last:,} {self.unit}s"
        return f"the run {self.name} is not finished: {so_far} so far are drawn"


def read_run(folder: str) -> RunCurves:
    """Reads the metrics of a run folder; one that is still being trained has those of its epochs so far.

    Raises:
        InputError: no folder, or one without a single finished epoch.
        FormatError: metrics that no run writes.
    """
    path = Path(folder)
    metrics, scores = path / METRICS, path / "scores.json"
    if not path.is_dir():
        raise InputError(f"{folder} is no run folder; give the folder that fascicle train wrote", file=folder)
    if not metrics.is_file() or not metrics.stat().st_size:
        raise InputError(
            f"the run folder {folder} is incomplete: it holds no {METRICS} with a finished epoch; give the folder of a "
            "run that has been trained for one epoch at least"
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
        raise FormatError(f"{metrics} is not what a run writes ({error}); give the folder of a run") from None
    chosen = _chosen(scores) if scores.is_file() else None
    return _curves(path.resolve().name, rows, chosen, metrics)


def _of_typer(name: str, lines: list[str], *, finished: bool) -> RunCurves:
    rows = [msgspec.json.decode(_json(line), type=_Update) for line in lines]
    places = tuple(row.update for row in rows)
    if list(places) != sorted(set(places)):
        raise ValueError("updates are not in order")
    loss = tuple(_number(row.mean) for row in rows)
    return RunCurves(name=name, unit="update", places=places, loss=loss, heads=(), finished=finished)


def _json(line: str) -> str:
    """NaN and infinity are no JSON, but a diverged training writes them as its loss."""
    for name, word in itertools.product(("loss", "mean"), ("-Infinity", "Infinity", "NaN")):
        line = line.replace(f'"{name}": {word}', f'"{name}": null')
    return line


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _row(line: str) -> tuple[_Epoch, dict[str, float]]:
    """One epoch, and the F1 on dev of each head."""
    line = _json(line)
    fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    scores = {k: msgspec.json.decode(v, type=_Scores) for k, v in fields.items() if k.partition(".")[0] == _DEV}
    return msgspec.json.decode(line, type=_Epoch), {name: found.f1 for name, found in scores.items()}


def _chosen(path: Path) -> dict[str, _Chosen]:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Chosen)
    except msgspec.MsgspecError as error:
        raise FormatError(
            f"{path} is not what a run writes ({error}); give the folder of a run", file=str(path)
        ) from None
    return {_DEV: found} | {f"{_DEV}.{head}": one for head, one in found.others.items()}


def _curves(
    name: str, rows: list[tuple[_Epoch, dict[str, float]]], chosen: dict[str, _Chosen] | None, path: Path
) -> RunCurves:
    epochs = tuple(epoch.epoch for epoch, _ in rows)
    # Dev may be scored several times in an epoch; then the steps tell these apart.
    unit: Unit = "epoch" if len(set(epochs)) == len(epochs) else "step"
    places = epochs if unit == "epoch" else tuple(epoch.step or 0 for epoch, _ in rows)
    keys = list(rows[0][1])
    if list(places) != sorted(set(places)) or _DEV not in keys or any(list(scores) != keys for _, scores in rows):
        raise FormatError(
            f"{path} is not what a run writes (epochs in order, each with dev scores); copy it again", file=str(path)
        )
    heads = []
    for key in sorted(keys):
        f1 = tuple(scores[key] for _, scores in rows)
        said = (chosen or {}).get(key)
        best = places[f1.index(max(f1))] if said is None else said.epoch if unit == "epoch" else said.step or 0
        if best not in places:
            raise FormatError(
                f"{path} has no {unit} {best}, which scores.json says was chosen; copy the folder again", file=str(path)
            )
        heads.append(HeadCurve(head=key.removeprefix(_DEV).removeprefix("."), f1=f1, best=best))
    loss = tuple(_number(epoch.loss) for epoch, _ in rows)
    return RunCurves(name=name, unit=unit, places=places, loss=loss, heads=tuple(heads), finished=chosen is not None)
