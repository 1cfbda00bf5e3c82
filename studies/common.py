"""What the benchmark scripts share: the place of results, and how they are written."""

from __future__ import annotations

import datetime
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_text_writer
from fascicle.core.wording import plural
from fascicle.evaluation.scoring.scores import Scores
from fascicle.evaluation.uncertainty.intervals import bootstrap_difference, bootstrap_f1
from fascicle.formats import write
from fascicle.training.engine.folder import describe_environment

HERE = Path(__file__).parent
ROOT = HERE.parent
GRIDS = HERE / "grids"
RESULTS = HERE / "results"
BIOMED, BIOMED_FAST = MODELS = ("biomed@3", "biomed-fast@2")  # the models that ship


def write_result(name: str, value: dict[str, object]) -> None:
    """Writes one results file with the date and the machine."""
    RESULTS.mkdir(exist_ok=True)
    content = {
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        **value,
        "environment": describe_environment(),
    }
    with atomic_text_writer(RESULTS / f"{name}.json", overwrite=True) as stream:
        stream.write(json.dumps(content, indent=1) + "\n")


def result(name: str, results: Path = RESULTS) -> dict[str, Any]:
    """The content of one results file; empty if it is not there."""
    path = results / f"{name}.json"
    value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return value


def write_parts(
    folder: Path, parts: Mapping[str, Sequence[Document]], *, unit: str = "sentence"
) -> None:
    """Writes the parts of a corpus in the native format, as ``PART.jsonl``, and prints their
    sizes, in a unit that is what their documents are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for part, documents in parts.items():
        write(folder / f"{part}.jsonl", documents, format="native", overwrite=True)
        print(
            f"{part}: {plural(len(documents), unit)}, "
            f"{plural(sum(len(one.mentions) for one in documents), 'mention')}"
        )


def row(scores: Scores) -> dict[str, object]:
    """Scores and the interval of F1, for a results file."""
    return {**scores.as_dict(), "f1_interval": bootstrap_f1(scores).as_dict()}


def paired(first: Scores, second: Scores) -> dict[str, float | int]:
    """F1 of the first less F1 of the second, on the same draws of sentences or documents."""
    return bootstrap_difference(first, second).as_dict()


def take_turns(
    ours: Callable[[], object], theirs: Callable[[], object], *, repeats: int, other: str
) -> dict[str, object]:
    """Median CPU milliseconds of both, and the median and quartiles of the ratios of neighbouring
    runs.

    Args:
        ours: what is measured.
        theirs: what it is compared with; the two alternate, so that a busy machine is busy for
            both.
        repeats: pairs of runs, after a few that warm up.
        other: what the second one is called in the results.
    """
    for warm_up in (ours, theirs, ours, theirs):
        warm_up()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for work, spent in zip((ours, theirs), times, strict=True):
            before = time.process_time()
            work()
            spent.append(1000 * (time.process_time() - before))
    ratios = [slow / fast for fast, slow in zip(*times, strict=True)]
    return {
        "fascicle_ms": round(statistics.median(times[0]), 3),
        f"{other}_ms": round(statistics.median(times[1]), 3),
        "ratio": round(statistics.median(ratios), 2),
        "ratio_quartiles": [round(value, 2) for value in statistics.quantiles(ratios, n=4)[::2]],
    }
