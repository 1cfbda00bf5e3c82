"""What the benchmark scripts share: the place of results, and how they are written."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

from fascicle.core.document import Document
from fascicle.evaluate.inputs import by_sentence
from fascicle.evaluate.intervals import bootstrap_difference, bootstrap_f1
from fascicle.evaluate.scores import Scores, score
from fascicle.formats.atomic import atomic_text_writer
from fascicle.train.environment import describe_environment

HERE = Path(__file__).parent
RESULTS = HERE / "results"


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


def sentence_scores(documents: Sequence[Document], *, source: str) -> Scores:
    """Scores with the sentence as the unit of resampling; the micro figures are those of whole documents."""
    return score(by_sentence(documents), by_sentence(documents, source=source))


def row(scores: Scores) -> dict[str, object]:
    """Scores and the interval of F1, for a results file."""
    return {**scores.as_dict(), "f1_interval": bootstrap_f1(scores).as_dict()}


def paired(first: Scores, second: Scores) -> dict[str, float | int]:
    """F1 of the first less F1 of the second, on the same draws of sentences or documents."""
    return bootstrap_difference(first, second).as_dict()
