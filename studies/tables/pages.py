"""Writes every table of the documentation from ``studies/results/``: README.md, and pages of docs/
and studies/docs/.

usage: python -m studies.tables [--check]

A table stands between ``<!-- table NAME -->`` and ``<!-- end -->``; ``--check`` changes nothing and
fails where a table is not what the results say. Each grid of ``studies/grids/`` has the tables
``GRID``, from its results on test, and ``GRID-dev``, of the variants that are scored on dev alone.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections.abc import Callable, Mapping

from fascicle.training.experiments.grid import Grid, read_grid
from studies.abbreviations import tables as abbreviation_tables
from studies.assertions import tables as assertion_tables
from studies.best import tables as best_tables
from studies.binder import leads as binder_leads
from studies.binder import measured as binder_measured
from studies.binder import tables as binder_tables
from studies.bundling import study_tables as bundling_study_tables
from studies.bundling import tables as bundling_tables
from studies.combining import tables as combining_tables
from studies.common import GRIDS, HERE, MODELS, RESULTS, ROOT
from studies.concepts import tables as concept_tables
from studies.conventions import tables as conventions_tables
from studies.coordination import tables as coordination_tables
from studies.decision import tables as decision_tables
from studies.families import tables as family_tables
from studies.families.reports import ATTRIBUTES, PAPER
from studies.further import tables as further_tables
from studies.labels import rows as label_rows
from studies.linking import tables as link_tables
from studies.multilabel import touching
from studies.packs import tables as pack_tables
from studies.papers import PAPERS, ranking, summary
from studies.papers.row import PaperRow
from studies.papers.row import table as paper_table
from studies.parts import cells as parts_cells
from studies.parts import vote as teachers_vote
from studies.pretraining import record as pretraining
from studies.relations import tables as relation_tables
from studies.six import alone as six_alone
from studies.six import tables as six_tables
from studies.span_typer.tables import pictures, span_typer, speed
from studies.tables import front
from studies.tables import runs as run_tables
from studies.tables import serving as serve_tables
from studies.tables import speed as speed_tables
from studies.tables.costs import (
    head_cost,
    int8_heads,
)
from studies.tables.grids import dev_table, grid_table
from studies.tables.within import by_seed, by_type
from studies.variants import tables as variant_tables

DOCS = ROOT / "docs"
PAGES = (
    ROOT / "README.md",
    DOCS / "how-good.md",
    DOCS / "how-to-build-a-pack.md",
    DOCS / "how-to-run-on-many-machines.md",
    DOCS / "how-to-train-further.md",
    *sorted((HERE / "docs").glob("*.md")),
    HERE / "papers" / "plan.md",
)
_TABLE = re.compile(r"(<!-- table ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> int:
    """Rewrites or checks the pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    tell = functools.cache(table)  # some stand on several pages
    stale = []
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = _TABLE.sub(lambda found: f"{found[1]}{tell(found[2])}\n{found[3]}", old)
        if new != old:
            stale.append(page.name)
            if not args.check:
                page.write_text(new, encoding="utf-8")
    if args.check and stale:
        sys.stderr.write(f"not what studies/results say: {', '.join(stale)}; run make bench\n")
        return 1
    for name in TABLES:
        sys.stdout.write(f"\n{name}\n\n{tell(name)}\n")
    return 0


def table(name: str) -> str:
    """The table of this name: one of ``TABLES``, or of a grid."""
    if name in TABLES:
        return TABLES[name]()
    of_dev = name.endswith("-dev")
    grid = _grid(name.removesuffix("-dev"))
    return (dev_table if of_dev else grid_table)(grid, grid.results)


def _grid(name: str) -> Grid:
    return read_grid(GRIDS / f"{name}.toml")


def _bundling(make: Callable[[Grid], str]) -> Callable[[], str]:
    """A table of the grid ``bundling``."""
    return lambda: make(_grid("bundling"))


def _studies(make: Callable[[Grid], str]) -> Callable[[], str]:
    """A table of the grid ``bundling-studies``."""
    return lambda: make(_grid("bundling-studies"))


def _paper(name: str) -> str:
    """The rows of a paper."""
    return paper_table(PAPERS[name]())


def _papers() -> dict[str, list[PaperRow]]:
    """The rows of all papers."""
    return {name: make() for name, make in PAPERS.items()}


def _cells(name: str) -> str:
    """F1 of each type of each corpus on dev."""
    return parts_cells.table(_grid(name), _grid(name).results)


def _binder(number: int) -> Callable[[], str]:
    """One of the tables of variants of the grid ``binder``."""
    return lambda: binder_tables.variants(_grid("binder"), number)


TABLES: Mapping[str, Callable[[], str]] = {
    "papers-claims": lambda: summary.claims(_papers()),
    "papers-counts": lambda: summary.counts(_papers()),
    "papers-open": lambda: ranking.ranking(_papers()),
    **{f"papers-{name}": functools.partial(_paper, name) for name in PAPERS},
    "front": decision_tables.largest,
    "fast": front.fast,
    "environment": front.environment,
    "head-cost": head_cost,
    "touching": touching.table,
    "int8-heads": int8_heads,
    "inputs-seeds": lambda: by_seed(_grid("inputs"), "both"),
    "inputs-types": lambda: by_type(_grid("inputs"), "jnlpba"),
    "bundling-table3": _bundling(bundling_tables.published),
    "bundling-gains": _bundling(bundling_tables.gains),
    "bundling-gaps": _bundling(bundling_tables.gaps),
    "bundling-oov": _bundling(bundling_tables.unknown_words),
    "bundling-relations": _bundling(bundling_tables.relations),
    "bundling-weights": lambda: bundling_study_tables.weights(
        _grid("bundling-studies"), _grid("bundling")
    ),
    "bundling-taggers": _studies(bundling_study_tables.taggers),
    "bundling-representations": _studies(bundling_study_tables.representations),
    "bundling-others": lambda: bundling_study_tables.others(
        _grid("bundling-studies"), _grid("binder")
    ),
    "best-8-bits": lambda: best_tables.table(RESULTS),
    **{
        f"families-{name}": functools.partial(family_tables.bucketed, RESULTS, name)
        for name in ATTRIBUTES
    },
    **{
        f"bundling-{name}": functools.partial(family_tables.bundled, RESULTS, name)
        for name in PAPER
    },
    "families-errors": lambda: family_tables.errors(RESULTS),
    "bundling-errors": lambda: family_tables.moved(RESULTS),
    **{f"{name}-cells": functools.partial(_cells, name) for name in ("parts", "six")},
    "teachers-beside": teachers_vote.table,
    **speed_tables.TABLES,
    **{
        f"six-{name}": functools.partial(six_tables.stored, make)
        for name, make in six_tables.TABLES.items()
    },
    "six-alone": six_alone.table,
    "six-thresholds": functools.partial(
        six_tables.stored, six_tables.thresholds, name="six-thresholds"
    ),
    **{
        f"decision-{name}-{model.partition('@')[0]}": functools.partial(make, model)
        for name, make in {
            "foreign": decision_tables.foreign,
            "corpora": decision_tables.corpora,
            "ends": decision_tables.ends,
        }.items()
        for model in MODELS
    },
    "conventions-arms": conventions_tables.arms,
    "conventions-foreign": conventions_tables.foreign,
    "conventions-means": conventions_tables.means,
    "conventions-third": conventions_tables.third,
    "decision-names": decision_tables.names,
    "decision-cases": decision_tables.cases,
    "decision-careful": decision_tables.careful,
    "decision-evidence": decision_tables.evidence,
    "decision-retyped": decision_tables.retyped,
    "further-thirty": further_tables.thirty,
    "labels-rows": lambda: label_rows.stored(RESULTS, part="dev"),
    "pretraining": lambda: pretraining.table(RESULTS),
    "abbreviation-finder": lambda: abbreviation_tables.finder(RESULTS),
    "abbreviation-rules": lambda: abbreviation_tables.rules(RESULTS),
    "abbreviation-ablation": lambda: abbreviation_tables.ablation(RESULTS),
    "coordination-concepts": lambda: coordination_tables.concepts(RESULTS),
    "coordination-places": lambda: coordination_tables.places(RESULTS),
    "variants-mentions": lambda: variant_tables.mentions(RESULTS),
    "variants-identifiers": lambda: variant_tables.identifiers(RESULTS),
    "variants-open": lambda: variant_tables.read_one_by_one(RESULTS),
    "assertions": lambda: assertion_tables.scores(RESULTS),
    "pack-recognition": lambda: pack_tables.recognition(RESULTS),
    "pack-judging": lambda: pack_tables.judged(RESULTS),
    "pack-composed": lambda: pack_tables.composed(RESULTS),
    "pack-composed-words": lambda: pack_tables.composed_in_words(RESULTS),
    "pack-links": lambda: pack_tables.links(RESULTS),
    "pack-speed": lambda: pack_tables.speed(RESULTS),
    "pack-builds": lambda: pack_tables.builds(RESULTS),
    "pack-names": lambda: pack_tables.names(RESULTS),
    "linking": lambda: link_tables.figures(RESULTS),
    "linking-systems": lambda: link_tables.systems(RESULTS),
    "linking-raw": lambda: link_tables.raw(RESULTS),
    "linking-tiers": lambda: link_tables.tiers(RESULTS),
    "linking-unseen": lambda: link_tables.unseen(RESULTS),
    "linking-errors": lambda: link_tables.errors(RESULTS),
    "linking-ablation": lambda: link_tables.ablation(RESULTS),
    "linking-dense": lambda: link_tables.dense(RESULTS),
    "decision-sentences": decision_tables.sentences,
    "concepts-names": concept_tables.names,
    "concepts-shorts": concept_tables.shorts,
    "concepts-paths": concept_tables.paths,
    "concepts-corrections": concept_tables.corrections,
    "concepts-cost": concept_tables.cost,
    "relations-gold": relation_tables.gold,
    "relations-earlier": relation_tables.earlier,
    "relations-marked": relation_tables.marked,
    "relations-raw": relation_tables.raw,
    "relations-times": relation_tables.times,
    "concepts-raw": concept_tables.raw,
    "concepts-bars": concept_tables.bars,
    "concepts-goals": concept_tables.goals,
    "concepts-misses": concept_tables.misses,
    "concepts-stated": concept_tables.stated,
    "concepts-labels": concept_tables.labels,
    "concepts-everyday": concept_tables.everyday,
    "span-typer": lambda: span_typer(RESULTS),
    "span-typer-speed": lambda: speed(RESULTS),
    "span-typer-pictures": lambda: pictures(HERE / "docs"),
    "runs": lambda: run_tables.measured(RESULTS),
    "runs-cost": lambda: run_tables.costs(RESULTS),
    "serving": lambda: serve_tables.measured(RESULTS),
    "curation-curve": lambda: serve_tables.curve(RESULTS),
    "curation-biored": lambda: serve_tables.curve(RESULTS, "curation-biored"),
    **{
        f"combining-{corpus}": functools.partial(combining_tables.combining, corpus, RESULTS)
        for corpus in combining_tables.CORPORA
    },
    "combining-chosen": lambda: combining_tables.chosen(RESULTS),
    "combining-control": lambda: combining_tables.control(RESULTS),
    "combining-filters": lambda: combining_tables.filters(RESULTS),
    "combining-claims": lambda: combining_tables.claims(_grid("claims")),
    "binder-supervised": lambda: binder_tables.supervised(_grid("binder")),
    "binder-beside": lambda: binder_tables.beside(_grid("binder"), _grid("span-heads")),
    "binder-leads": lambda: binder_leads.leads(RESULTS),
    "binder-distant": lambda: binder_tables.distant(_grid("distant"), _grid("self-training")),
    "binder-rules": lambda: binder_tables.rules(RESULTS),
    "binder-token-rule": lambda: binder_measured.token_rule(RESULTS),
    "binder-windows": lambda: binder_tables.windows(_grid("binder")),
    "binder-table4": _binder(4),
    "binder-table5": _binder(5),
    "binder-table6": _binder(6),
    "binder-noise": lambda: binder_tables.noise(_grid("noise"), _grid("binder")),
    "binder-noise-parts": lambda: binder_tables.noise_parts(_grid("noise")),
    "binder-cost": lambda: binder_measured.cost(RESULTS),
    "binder-breakdown": lambda: binder_measured.breakdown(RESULTS),
    "binder-partly": lambda: binder_measured.partly(RESULTS),
    "binder-densities": lambda: binder_measured.densities(RESULTS),
    "binder-unseen": lambda: binder_measured.unseen(RESULTS),
    "binder-reworded": lambda: binder_measured.reworded(RESULTS),
}
