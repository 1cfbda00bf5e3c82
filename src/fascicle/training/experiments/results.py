"""Results of a finished run: one JSON file, from which tables are made without the corpora, and its
predictions.

::

    RESULTS/RUN.json                          see ``make_result``
    RESULTS/predictions/RUN.test.tsv.gz       the test predictions, without text
    RESULTS/RUN.HEAD.json, ...                the same for the other head of a bundle

The JSON file of the run is written last: if it exists, the result is complete.
"""

from __future__ import annotations

import datetime
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.files.atomic import atomic_text_writer, open_output
from fascicle.core.files.source import Source
from fascicle.errors import InputError, OutputError
from fascicle.evaluation.scoring.inputs import layers, score_by_unit
from fascicle.evaluation.scoring.rules import gold_surfaces, subset_recall
from fascicle.evaluation.scoring.scores import Counts, Scores, score
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.formats.predictions import find_columns
from fascicle.formats.predictions import read as read_predictions
from fascicle.settings.recipes.any import AnyRecipe
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import read_part
from fascicle.training.engine.folder import differences
from fascicle.training.experiments.hashes import all_values
from fascicle.training.labelling import weak_labels
from fascicle.training.several import training_documents

COST: Final = "cost.json"
_MODEL: Final = "model"  # source of the mentions while predictions are scored
# written on one line, or with one line an entry; the rest is indented
_COMPACT: Final = ("test_counts", "epochs")


class GridTask(msgspec.Struct, frozen=True, kw_only=True):
    """Run of a grid as a task for its own process.

    Attributes:
        run: its name.
        recipe: with the paths of its corpora on this machine.
        portable: the same recipe with the paths as they are written.
        hash: identity of the recipe.
        labels: names that the grid gives the run.
        folder: of the run.
        results: folder for the results file.
        threads: CPU threads; ``None`` for torch's own choice.
        deadline: in seconds since the epoch of the clock, after which no epoch may end; ``None``
            for never.
        debug: show tracebacks.
        after: the run whose model it starts from, if that one is to be done first; the hash is
            empty then, and known when the task is begun.
    """

    run: str
    recipe: AnyRecipe
    portable: AnyRecipe
    hash: str
    labels: dict[str, str]
    folder: Path
    results: Path
    threads: int | None = None
    deadline: float | None = None
    debug: bool = False
    after: str = ""


class RunNote(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Event: a note of a run, as one sentence."""

    run: str
    text: str


class EpochEnded(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Event: one epoch of a run, or a part of one, is scored on dev and kept; the run can be
    resumed after it.

    The step is that of a part of an epoch; 0 for the end of one.
    """

    run: str
    epoch: int
    epochs: int
    loss: float
    figures: str
    seconds: float
    best: bool
    step: int = 0


class Done(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Event: the results file of a run is written; the run was trained, or collected from a
    complete run folder.
    """

    run: str
    trained: bool


class Postponed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Event: a run is left for later after some epochs, because its time is over."""

    run: str
    epoch: int
    epochs: int


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Event: a run failed, with one sentence; ``disk_full`` if there is no space for any other
    run either.
    """

    run: str
    error: str
    disk_full: bool = False


GridEvent = RunNote | EpochEnded | Done | Postponed | Failed
ENDS: Final = (Done, Postponed, Failed)


def make_result(
    folder: Path,
    recipe: AnyRecipe,
    *,
    portable: AnyRecipe,
    recipe_hash: str,
    labels: Mapping[str, str],
    head: str = "",
) -> dict[str, Any]:
    """Returns the content of the results file of a complete run.

    Args:
        folder: of the run, with ``scores.json``; ``cost.json`` with ``peak_rss_bytes`` and
            ``seconds``, if it is there.
        recipe: with the paths of its corpora on this machine.
        portable: the same recipe with the paths as they are written in the grid, which mean
            something on any machine.
        recipe_hash: its identity, see `fascicle.training.experiments.hashes.recipe_hash`.
        labels: names that the grid gives the run: ``grid``, ``tier``, ``corpus``, ``system``,
            ``variant``.
        head: the head of a bundle whose results these are, if it is not the answering one.

    Returns:
        Of a recogniser in this order: ``run``, ``hash``, ``date`` of its end, the labels, ``seed``;
        ``epoch``, ``step``, ``dev`` and ``test`` as in ``scores.json``; of the test part
        ``test_f1_interval``, ``test_unit`` (``"document"`` or ``"sentence"``: the unit of
        resampling and of counts), ``test_counts`` (``[tp, fp, fn]`` of each, in their order) and
        ``test_recall`` of the subsets of ``scoring.rules``, each ``None`` without a test part;
        ``seconds``, ``peak_rss_bytes`` (``None`` if it was not measured); ``recipe`` with every
        value, ``facts`` (``run.json``: versions, machine, data, what the model cannot represent)
        and ``epochs``, a line for each time that dev was scored. For a filter or a span typer, the
        content of ``scores.json`` replaces ``epoch`` to ``test_recall``.

    Raises:
        InputError: the corpus is not the one that the run was scored on.
        OutputError: the folder holds no complete run.
    """
    scores, suffix = _json(folder / "scores.json"), f".{head}" if head else ""
    seconds, heads = scores.pop("seconds"), scores.pop("others", {})
    own: dict[str, Any] = heads[head] if head else scores
    if isinstance(recipe, Recipe):
        own = own | _test_entries(folder, recipe, own["test"], suffix=suffix)
    cost = _json(folder / COST) if (folder / COST).exists() else {}
    return {
        "run": f"{portable.name}-s{portable.seed}{suffix}",
        **({"head": head or portable.answer()} if heads and isinstance(portable, Recipe) else {}),
        "hash": recipe_hash,
        "date": _end_date(folder),
        **labels,
        "seed": portable.seed,
        **own,
        "seconds": cost.get("seconds", seconds),
        "peak_rss_bytes": cost.get("peak_rss_bytes"),
        "recipe": all_values(portable),
        "facts": _json(folder / "run.json"),
        "epochs": _epochs(folder),
    }


def _end_date(folder: Path) -> str:
    ended = (folder / "scores.json").stat().st_mtime
    return datetime.datetime.fromtimestamp(ended, tz=datetime.UTC).date().isoformat()


def _epochs(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return list(map(json.loads, lines))


def result_paths(results: Path, run: str) -> tuple[Path, Path]:
    """Returns the paths of the results file of a run and of its test predictions."""
    return results / f"{run}.json", results / "predictions" / f"{run}.test.tsv.gz"


def check_result(results: Path, run: str) -> None:
    """Refuses to replace a file that is no result of the run; to be called before long work.

    Raises:
        OutputError: there is one under the name of its results or of its predictions.
    """
    path, predictions = result_paths(results, run)
    if path.exists() and read_result(results, run).get("run") != run:
        raise OutputError(
            f"{path} is not a result of the run {run}; move it away, or give another -o"
        )
    if predictions.exists() and not _is_predictions(predictions):
        raise OutputError(
            f"{predictions} holds no predictions of the run {run}; move it away, or give another -o"
        )


def _is_predictions(path: Path) -> bool:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return bool(find_columns(stream.readline(1000).rstrip("\n")))
    except (OSError, EOFError, UnicodeError, zlib.error):
        return False


def write_result(results: Path, value: Mapping[str, Any], predictions: Path | None) -> None:
    """Writes the predictions, if there are any, and then the results file.

    Args:
        results: folder; made if it is not there.
        value: see ``make_result``.
        predictions: the test predictions of the run folder.

    Raises:
        OutputError: the files cannot be written, or exist and are no results; existing files are
            then not changed.
    """
    check_result(results, value["run"])
    path, packed = result_paths(results, value["run"])
    try:
        (results / "predictions" if predictions else results).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"the folder {results} cannot be made: {error.strerror}; give another with -o"
        ) from error
    if predictions:
        with open_output(packed, overwrite=True) as stream:
            stream.write(predictions.read_bytes())
    with atomic_text_writer(path, overwrite=True) as text:
        text.write(_as_text(value))


def read_result(results: Path, run: str) -> dict[str, Any]:
    """Reads one results file; empty if it does not exist or is no JSON object."""
    try:
        return _json(results / f"{run}.json")
    except OutputError:
        return {}


def other_conditions(values: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lists differences in the conditions of several runs, beside recipe and seed, that affect
    their numbers.

    Args:
        values: contents of results files.

    Returns:
        See ``environment.differences``; each kind of difference once.
    """
    environments = [
        value["facts"].get("environment", {}) | {"precision": value["facts"].get("precision")}
        for value in values
    ]
    texts = (
        difference
        for other in environments[1:]
        for difference in differences(environments[0], other)
    )
    return list({text.partition(":")[0]: text for text in texts}.values())


def stored_scores(counts: Iterable[Sequence[int]]) -> Scores:
    """Computes scores from the ``test_counts`` of a results file, for intervals and paired
    differences; no types.
    """
    units = {str(i): Counts(tp=tp, fp=fp, fn=fn) for i, (tp, fp, fn) in enumerate(counts)}
    total = Counts(
        tp=sum(unit.tp for unit in units.values()),
        fp=sum(unit.fp for unit in units.values()),
        fn=sum(unit.fn for unit in units.values()),
    )
    return Scores(counts=total, by_type={}, by_document=units)


def other_heads(folder: Path) -> tuple[str, ...]:
    """Returns the names of the heads of a complete run beside the answering one."""
    return tuple(_json(folder / "scores.json").get("others", {}))


def _test_entries(
    folder: Path, recipe: Recipe, stored: Mapping[str, Any] | None, *, suffix: str
) -> dict[str, Any]:
    """Returns the entries about the test part that are not in its scores."""
    if stored is None:
        return dict.fromkeys(("test_f1_interval", "test_unit", "test_counts", "test_recall"))
    assert recipe.corpus  # several corpora have no test part
    documents = read_part(recipe.corpus, "test")
    predicted = _read_predictions(folder / "predictions" / f"test{suffix}.tsv", documents)
    whole = score(layers(documents), predicted)
    if whole.as_dict()["micro"] != stored["micro"]:
        raise InputError(
            f"the test predictions in {folder} do not give the scores that stand there, so the "
            f"test part {recipe.corpus.test} is not the one that was scored; restore it, or run "
            "again"
        )
    scores = score_by_unit(documents, predicted, whole)
    train, labels = training_documents(recipe.corpus), weak_labels(recipe)
    surfaces = gold_surfaces(train if labels is None else labels.of(train))
    recall = subset_recall(documents, predicted, known=surfaces)
    return {
        "test_f1_interval": bootstrap_f1(scores).as_dict(),
        "test_unit": "document" if scores is whole else "sentence",
        "test_counts": [[c.tp, c.fp, c.fn] for c in scores.by_document.values()],
        "test_recall": {name: value.as_dict() for name, value in recall.items()},
    }


def _read_predictions(path: Path, documents: Sequence[Document]) -> dict[str, tuple[Mention, ...]]:
    """Returns document id -> predicted mentions; a TSV does not list documents without mentions."""
    mentions = {
        p.id: p.mentions for p in read_predictions(Source(path=str(path)), mention_source=_MODEL)
    }
    unknown = mentions.keys() - {d.id for d in documents}
    if unknown:
        raise InputError(
            f"{path} names the document {min(unknown)!r}, which is not in the test part; run again"
        )
    return {d.id: mentions.get(d.id, ()) for d in documents}


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise OutputError(
            f"{path} of a run cannot be read ({error}); move the folder away to run again"
        ) from None
    if not isinstance(value, dict):
        raise OutputError(
            f"{path} of a run holds no JSON object; move the folder away to run again"
        )
    return value


def _as_text(value: Mapping[str, Any]) -> str:
    """Formats JSON for a person: indented, but with lists of numbers on one line, and one line
    for each epoch.
    """
    parts = []
    for key, inner in value.items():
        if key not in _COMPACT or inner is None:
            text = json.dumps(inner, indent=1, ensure_ascii=False).replace("\n", "\n ")
        elif key == "epochs":
            text = (
                "[\n"
                + ",\n".join(f"  {json.dumps(line, ensure_ascii=False)}" for line in inner)
                + "\n ]"
            )
        else:
            text = json.dumps(inner, separators=(",", ":"))
        parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
