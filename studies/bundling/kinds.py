"""Does bundling help on the mentions that the paper names? F1 by kind of mention, one head less
another.

usage: python -m studies.bundling.kinds

*bundling-learning* Table 6 shows F1 in the intervals of four attributes as colours. Reads the
stored predictions of ``studies/grids/bundling.toml`` on the test parts of the corpora that Table 6
has and that are at hand, below ``FASCICLE_DATA``. Seeds and texts are drawn with replacement, and
of BC5CDR abstracts are; both heads are scored on the same draws. Writes
``results/bundling-kinds.json``: points, each with the ends of its 95 % interval.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from fascicle.core.document import Document, Identity, Mention, identities
from fascicle.evaluation.breakdown.attributes import ATTRIBUTES, Ruler, assign
from fascicle.evaluation.breakdown.layout import read_lexicon
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.uncertainty.intervals import percentiles
from fascicle.formats.files import read as read_documents
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import Grid, read_grid
from studies.abstracts import ABSTRACTS, abstracts_of
from studies.common import GRIDS, write_result
from studies.families.reports import PAIRS, PAPER, corpora_of, model_of, predictions
from studies.tables.grids import Row

Floats = npt.NDArray[np.float64]
NAME: Final = "bundling-kinds"
CORPORA: Final = ("bc5cdr", "scierc", "wnut16", "wnut17")
FEWEST: Final = 20  # gold mentions of an interval that counts in the mean over all intervals
DRAWS: Final = 2000
MEAN: Final = "mean of all"


class Kinds:
    """The gold of a test part, each mention with the text and the intervals that it is in."""

    def __init__(
        self, documents: Sequence[Document], ruler: Ruler, *, abstracts: Mapping[str, str]
    ) -> None:
        """Measures the gold.

        Args:
            documents: with gold.
            ruler: over these documents and the train part.
            abstracts: id of a document -> the abstract that is drawn in its place; empty if
                documents are.
        """
        self._gold = {
            one for key, mentions in layers(documents).items() for one in identities(key, mentions)
        }
        names = [abstracts.get(document.id, document.id) for document in documents]
        places = {name: at for at, name in enumerate(dict.fromkeys(names))}
        self._units = {
            document.id: places[name] for document, name in zip(documents, names, strict=True)
        }
        self._ruler = ruler
        self.labels = [(name, one.label) for name in PAPER for one in ATTRIBUTES[name].ranges]

    def table(self, predicted: Mapping[str, Sequence[Mention]]) -> Floats:
        """True positives, false positives and false negatives; shape ``[texts, intervals, 3]``."""
        said = {one for key, mentions in predicted.items() for one in identities(key, mentions)}
        found = np.zeros((max(self._units.values()) + 1, len(self.labels), 3))
        for column, mentions in enumerate(
            (self._gold & said, said - self._gold, self._gold - said)
        ):
            self._add(found[:, :, column], sorted(mentions))
        return found

    def _add(self, counts: Floats, mentions: Sequence[Identity]) -> None:
        values, first = self._ruler.measure(mentions), 0
        units = [self._units[document] for document, _, _ in mentions]
        for name in PAPER:
            ranges = ATTRIBUTES[name].ranges
            np.add.at(
                counts,
                (units, first + assign(values[name], ranges, name=ATTRIBUTES[name].title)),
                1,
            )
            first += len(ranges)


def f1_of(sums: Floats) -> Floats:
    """F1 in percent, of counts of shape ``[..., 3]``; 0 where there is nothing to find and
    nothing was said.
    """
    return 200 * sums[..., 0] / np.maximum(2 * sums[..., 0] + sums[..., 1] + sums[..., 2], 1)


def differences(
    tables: Floats, labels: Sequence[tuple[str, str]], *, draws: int = DRAWS
) -> dict[str, Any]:
    """F1 of the first head less that of the second, in each interval and as the mean of all
    intervals that count.

    Args:
        tables: shape ``[seeds, 2, texts, intervals, 3]``.
        labels: of the intervals: attribute, and the interval in words.
        draws: of the bootstrap.

    Returns:
        Attribute -> interval -> ``[difference, low, high]``; under ``MEAN`` also how many intervals
        count and in how many of these the first head is above.
    """
    seeds, _, units, count, _ = tables.shape
    chance = np.random.default_rng(0)
    flat = np.moveaxis(tables, 2, 0).reshape(units, -1)
    drawn = np.empty((draws, count))
    for at in range(draws):
        weights = np.bincount(chance.integers(0, units, size=units), minlength=units)
        f1 = f1_of((weights @ flat).reshape(seeds, 2, count, 3))
        drawn[at] = (f1[:, 0] - f1[:, 1])[chance.integers(0, seeds, size=seeds)].mean(axis=0)
    sums = tables.sum(axis=2)
    exact = (f1_of(sums)[:, 0] - f1_of(sums)[:, 1]).mean(axis=0)
    used = sums[0, 0, :, 0] + sums[0, 0, :, 2] >= FEWEST
    found: dict[str, Any] = {}
    for at in np.flatnonzero(used):
        name, label = labels[at]
        found.setdefault(name, {})[label] = _told(exact[at], drawn[:, at])
    mean = _told(exact[used].mean(), drawn[:, used].mean(axis=1))
    return found | {
        MEAN: {"points": mean, "intervals": int(used.sum()), "above": int((exact[used] > 0).sum())}
    }


def _told(exact: float, drawn: Floats) -> list[float]:
    return [round(float(value), 3) for value in (exact, *percentiles(drawn, 0.95))]


def measured(rows: Sequence[Row]) -> dict[str, Any]:
    """The pairs of heads on one corpus, each with the seeds that both have."""
    corpus, name = rows[0].runs[0].resolved().corpus, rows[0].corpus
    documents = list(read_part(corpus, "test"))
    file = ABSTRACTS.get(name)
    abstracts = (
        abstracts_of(documents, read_documents(Path(os.environ["FASCICLE_DATA"]) / file))
        if file
        else {}
    )
    ruler = Ruler(documents, training=read_lexicon(read_part(corpus, "train")))
    kinds = Kinds(documents, ruler, abstracts=abstracts)
    heads = {name for pair in PAIRS.values() for name in pair}
    tables = {
        model_of(row): {
            seed: kinds.table(said) for seed, said in predictions(grid_of(), row, documents).items()
        }
        for row in rows
        if model_of(row) in heads
    }
    found = {}
    for pair, (first, second) in PAIRS.items():
        seeds = [seed for seed in tables[first] if seed in tables[second]]
        both = np.array([[tables[first][seed], tables[second][seed]] for seed in seeds])
        found[pair] = {"seeds": len(seeds), **differences(both, kinds.labels)}
    return found


def grid_of() -> Grid:
    """The plan whose predictions are read."""
    return read_grid(GRIDS / "bundling.toml")


def main() -> None:
    """Measures and writes the results file."""
    of = dict(corpora_of(grid_of()))
    write_result(NAME, {"corpora": {corpus: measured(of[corpus]) for corpus in CORPORA}})


if __name__ == "__main__":
    main()
