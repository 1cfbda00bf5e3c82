"""Which family for which mention, and which errors does bundling move? From the test predictions of
two grids.

usage: python -m studies.families.reports

``FASCICLE_DATA`` names the corpora; predictions and seeds are those of ``studies/results/``. For
each corpus and system: counts in the buckets of each attribute, false positives and false negatives
by class of error, summed over seeds. For each head of a bundle against its single model, and for
the two single models: the difference of boundary and type errors (*bundling-learning* §4.3.2), as
shares of all errors and for 100 gold mentions, with seeds and test units drawn with replacement,
over all corpora with the corpora drawn too. Writes ``results/family-reports.json``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fascicle.core.document import Document, Mention
from fascicle.core.files.source import Source
from fascicle.evaluation.breakdown.attributes import Ruler
from fascicle.evaluation.breakdown.buckets import Bucketing
from fascicle.evaluation.breakdown.errors import BOUNDARY, Mistake, find_mistakes
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.uncertainty.intervals import percentiles
from fascicle.formats.predictions import read as read_predictions
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import Grid, read_grid
from studies.bundling.gains import MODELS
from studies.common import GRIDS, write_result
from studies.tables.grids import Row, rows_of

Floats = npt.NDArray[np.float64]
NAME = "family-reports"
ATTRIBUTES = ("length", "training_frequency", "label_consistency", "unknown_words", "nesting_depth")
PAPER = (
    "length",
    "text_length",
    "label_consistency",
    "entity_density",
)  # *bundling-learning*, Table 6
MEASURED = tuple(dict.fromkeys((*ATTRIBUTES, *PAPER)))
PAIRS: Mapping[str, tuple[str, str]] = {
    "BL-SeqNER less SeqNER": ("BL-SeqNER", "SeqNER"),
    "BL-SpanNER less SpanNER": ("BL-SpanNER", "SpanNER"),
    "SpanNER less SeqNER": ("SpanNER", "SeqNER"),
}
DRAWS = 4000
KINDS = ("boundary", "type")


def predictions(
    grid: Grid, row: Row, documents: Sequence[Document]
) -> dict[int, dict[str, tuple[Mention, ...]]]:
    """Seed -> document -> mentions, of the runs of a row that are done."""
    answer = row.runs[0].recipe.answer() if row.head else ""
    suffix = f".{row.head}" if row.head != answer else ""
    found = {}
    for run in row.runs:
        if run.recipe.seed in row.found:
            path = grid.results / "predictions" / f"{run.name}{suffix}.test.tsv.gz"
            said = {
                p.id: p.mentions
                for p in read_predictions(Source(path=str(path)), mention_source="model")
            }
            found[run.recipe.seed] = {d.id: said.get(d.id, ()) for d in documents}
    return found


def corpora_of(grid: Grid) -> Iterator[tuple[str, list[Row]]]:
    """The corpora that a grid scores on test, with the rows of these that are run, but for those
    tuned on dev.
    """
    rows = [r for r in rows_of(grid, grid.results) if r.found and r.runs[0].recipe.corpus.test]
    rows = [r for r in rows if r.variant in ("", "nested")]
    for corpus in dict.fromkeys(row.corpus for row in rows):
        yield corpus, [row for row in rows if row.corpus == corpus]


def report(grid: Grid, rows: Sequence[Row]) -> dict[str, Any]:
    """Buckets and errors of the systems of one corpus, and the rows that differences are made
    from.
    """
    corpus = rows[0].runs[0].resolved().corpus
    documents = list(read_part(corpus, "test"))
    gold = layers(documents)
    ruler = Ruler(documents, training=read_lexicon(read_part(corpus, "train")))
    bucketing = Bucketing(gold, ruler)
    systems: dict[str, Any] = {}
    tables: dict[str, dict[int, Floats]] = {}
    for row in rows:
        said = predictions(grid, row, documents)
        buckets = [bucketing.count(one) for one in said.values()]
        wrong = {seed: find_mistakes(gold, one) for seed, one in said.items()}
        systems[row.name] = {
            "seeds": list(said),
            "buckets": {name: _summed([of[name] for of in buckets]) for name in MEASURED},
            "errors": _classes(wrong.values()),
        }
        tables[model_of(row)] = {seed: error_table(gold, found) for seed, found in wrong.items()}
    return {
        "gold": sum(map(len, gold.values())),
        "intervals": {name: [one.label for one in bucketing.ranges[name]] for name in MEASURED},
        "systems": systems,
        "tables": tables,
    }


def error_table(gold: Mapping[str, Sequence[Mention]], found: Sequence[Mistake]) -> Floats:
    """Per unit: boundary errors, type errors, all errors, gold mentions; shape ``[units, 4]``."""
    place = {identifier: at for at, identifier in enumerate(gold)}
    table = np.zeros((len(gold), 4))
    for mistake in found:
        row = table[place[mistake.document]]
        row[2] += 1
        if mistake.side == "fp":
            row[0] += mistake.kind not in ("type", "spurious")
            row[1] += mistake.kind == "type"
    table[:, 3] = [len({(m.type, m.spans) for m in mentions}) for mentions in gold.values()]
    return table


def differences(
    corpora: Mapping[str, Mapping[str, Mapping[int, Floats]]], *, draws: int = DRAWS
) -> dict[str, Any]:
    """What ``PAIRS`` differ in, for each corpus and over all.

    Args:
        corpora: corpus -> model -> seed -> ``error_table``.
        draws: of the bootstrap.

    Returns:
        Pair -> corpus, or ``"all corpora"`` -> measure -> ``[estimate, low, high]``, in points or
        for 100 gold.
    """
    chance = np.random.default_rng(0)
    found: dict[str, Any] = {}
    for pair, (first, second) in PAIRS.items():
        drawn: dict[str, Floats] = {}
        exact: dict[str, Floats] = {}
        for corpus, tables in corpora.items():
            seeds = [s for s in tables.get(first, {}) if s in tables.get(second, {})]
            if seeds:
                both = np.array(
                    [[tables[first][s], tables[second][s]] for s in seeds]
                )  # [S, 2, units, 4]
                exact[corpus] = measures(both.sum(axis=2)).mean(axis=0)
                drawn[corpus] = _drawn(both, draws, chance)
        if drawn:
            found[pair] = {corpus: _told(exact[corpus], drawn[corpus]) for corpus in drawn}
        if len(drawn) > 1:
            chosen = chance.integers(0, len(drawn), size=(draws, len(drawn)))
            at = chance.integers(0, draws, size=chosen.shape)
            means = np.stack(list(drawn.values()))[chosen, at].mean(axis=1)
            found[pair]["all corpora"] = _told(np.mean(list(exact.values()), axis=0), means)
    return found


def measures(sums: Floats) -> Floats:
    """Differences of the first less the second system; of sums of shape ``[..., 2, 4]`` an array
    ``[..., 4]``.

    The share of boundary and of type errors among all errors, in points; then both for 100 gold
    mentions.
    """
    shares = 100 * sums[..., :2] / np.maximum(sums[..., 2:3], 1)
    counts = 100 * sums[..., :2] / np.maximum(sums[..., 3:4], 1)
    both = np.concatenate([shares, counts], axis=-1)
    return both[..., 0, :] - both[..., 1, :]


MEASURES = tuple(f"{kind} {what}" for what in ("share", "per 100 gold") for kind in KINDS)


def _drawn(both: Floats, draws: int, chance: np.random.Generator) -> Floats:
    """Shape ``[draws, 4]``: the mean over drawn seeds on drawn units."""
    seeds, units = both.shape[0], both.shape[2]
    flat = np.moveaxis(both, 2, 0).reshape(units, -1)
    found = np.empty((draws, 4))
    for at in range(draws):
        weights = np.bincount(chance.integers(0, units, size=units), minlength=units)
        values = measures((weights @ flat).reshape(seeds, 2, 4))
        found[at] = values[chance.integers(0, seeds, size=seeds)].mean(axis=0)
    return found


def _told(exact: Floats, drawn: Floats) -> dict[str, list[float]]:
    ends = [percentiles(drawn[:, at], 0.95) for at in range(len(MEASURES))]
    rows = zip(MEASURES, exact, ends, strict=True)
    return {
        name: [round(float(value), 3) for value in (one, *interval)] for name, one, interval in rows
    }


def _summed(buckets: Sequence[Sequence[Any]]) -> list[list[int]]:
    """Counts of each interval over seeds: true positives, false positives, false negatives."""
    return [
        [sum(getattr(b.counts, key) for b in row) for key in ("tp", "fp", "fn")]
        for row in zip(*buckets, strict=True)
    ]


def _classes(wrong: Any) -> dict[str, list[int]]:
    """Class of error -> false positives and false negatives over seeds; the sides of a boundary are
    one class.
    """
    counts = Counter(
        ("boundary" if m.kind in BOUNDARY else m.kind, m.side) for found in wrong for m in found
    )
    kinds = ("type", "boundary", "boundary-and-type", "split", "merged", "spurious", "missed")
    return {kind: [counts[kind, side] for side in ("fp", "fn")] for kind in kinds}


def model_of(row: Row) -> str:
    """What *bundling-learning* calls it, where it has a name for it."""
    return next((name for name, of in MODELS.items() if of == (row.system, row.head)), row.name)


def main() -> None:
    """Measures, prints what differs, writes the results file."""
    grids = {name: read_grid(GRIDS / f"{name}.toml") for name in ("span-heads", "bundling")}
    reports = {
        name: {corpus: report(grid, rows) for corpus, rows in corpora_of(grid)}
        for name, grid in grids.items()
    }
    told = differences({corpus: of["tables"] for corpus, of in reports["bundling"].items()})
    for of in reports.values():
        for one in of.values():
            del one["tables"]
    write_result(NAME, {"grids": reports, "differences": told})
    print(json.dumps({pair: of["all corpora"] for pair, of in told.items()}, indent=1))


if __name__ == "__main__":
    main()
