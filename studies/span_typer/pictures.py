"""Draws what span typers said of test (*span-level-strategy* §3.2 to §3.5): loss, components,
violins, volcano.

usage: python -m studies.span_typer.pictures CORPUS ... --work FOLDER

The runs are those of ``span_typer.py`` with the same ``--work``, seed 1. Writes one sheet for each,
``studies/docs/span-typer/CORPUS.png``. Distributions files stay beside the runs: they hold the gold
of the corpora.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fascicle.evaluation.reports.plots.canvas import open_sheet, save_figure
from fascicle.evaluation.reports.plots.learning import draw_learning, load_runs
from fascicle.formats.distributions import DistributionsHeader, write
from fascicle.formats.files import read
from fascicle.models.span_typer import load_typer
from fascicle.training.typer.scores import given_mentions, to_distributions
from studies.common import HERE
from studies.span_typer.distributions_pictures import (
    draw_pca,
    draw_violins,
    draw_volcano,
    load_distributions,
)
from studies.span_typer.measure import CORPORA

OUT = HERE / "docs" / "span-typer"


def main() -> None:
    """Draws a sheet for each corpus."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="+", choices=CORPORA)
    parser.add_argument("--work", type=Path, default=Path("runs") / "span-typer")
    args = parser.parse_args()
    OUT.mkdir(exist_ok=True)
    for corpus in args.corpora:
        draw(corpus, args.work / corpus)


def draw(corpus: str, folder: Path) -> None:
    """One sheet."""
    run = folder / f"{corpus}-s1"
    said = run / "test.distributions.jsonl.gz"
    model = load_typer(run / "model")
    given = given_mentions(model, list(read(folder / "test.jsonl")))
    header = DistributionsHeader(
        model=model.manifest.name, family="span-typer", definition="softmax", types=model.types
    )
    write(said, header, to_distributions(given, model.types), overwrite=True)
    data = load_distributions(str(said))
    with open_sheet(width=12.5, height=8.8) as figure:
        (loss, components), (violins, volcano) = figure.subfigures(2, 2)
        draw_learning(loss, load_runs([str(run)]))
        draw_pca(components, data)
        draw_violins(violins, data)
        draw_volcano(volcano, data)
        save_figure(figure, OUT / f"{corpus}.png", overwrite=True)


if __name__ == "__main__":
    main()
