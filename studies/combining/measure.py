"""The rows of Table 1 of *comparing-and-combining*, from complete runs and trained filters: union,
vote, Meta.

usage: python -m studies.combining.measure choose CORPUS --runs FOLDER [--grid GRID.toml]
       python -m studies.combining.measure judge CORPUS --runs FOLDER --filters FOLDER
       python -m studies.combining.measure score CORPUS --runs FOLDER

The runs are those of ``studies/grids/combining.toml`` (CORPUS-SYSTEM-sSEED), or their packed
folders, see ``collect_predictions.py``. ``choose`` looks at dev alone: every subset of the systems
under every rule, and the best single system; it writes ``results/combining/CORPUS.choice.json``.
``score`` refuses to open test before that file is there. It writes
``results/combining/CORPUS.json``: every row with its interval, and its difference to the single
system that was best on dev, paired. The control is a vote of as many seeds of that system.

``judge`` lets filters look at test, and puts what they keep beside the runs, in folders of the same
form, from which ``score`` takes it. Filters are run folders ``CORPUS-meta2-s1`` (over SpanPred and
SEQ), ``CORPUS-meta3-s1`` (over all three), ``CORPUS-meta3-best-s1``, which saw mistakes of the best
epochs alone, and ``CORPUS-meta3-kept-s1``, which was taught for 15 epochs and chosen by what it
keeps. They learn from dev, so ``choose`` leaves them out; what they keep is a row, and never what
was chosen.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.atomic import atomic_text_writer
from fascicle.core.files.source import Source
from fascicle.errors import InputError
from fascicle.evaluation.comparison.comparing import make_cells
from fascicle.evaluation.comparison.search import search
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.evaluation.uncertainty.intervals import MEASURES, bootstrap_difference
from fascicle.formats.predictions import Prediction, read, write
from fascicle.formats.sources import source_sha256
from fascicle.loading import load_filter
from fascicle.runtime.combination.align import System, align
from fascicle.runtime.combination.rules import Rule, combine, k_of_n, majority, union, weighted
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import Grid, read_grid
from studies.abstracts import KNOWN, abstracts_in, by_abstract
from studies.collect_predictions import steady
from studies.common import GRIDS, RESULTS, row, write_result

SYSTEMS: Mapping[str, str] = {"SpanPred": "spanpred", "SEQ": "softmax", "SeqCRF": "crf"}
# where they were run, the choice has them too
MORE: Mapping[str, str] = {"SpanNER": "spanner", "BL-SpanNER": "bundle"}
FILTERS: Mapping[str, tuple[tuple[str, ...], str]] = {  # its members, and what its row says besides
    "meta2": (("SpanPred", "SEQ"), ""),
    "meta3": (("SpanPred", "SEQ", "SeqCRF"), ""),
    "meta3-best": (("SpanPred", "SEQ", "SeqCRF"), ", without earlier epochs"),
    "meta3-kept": (("SpanPred", "SEQ", "SeqCRF"), ", 15 epochs, chosen by what it keeps"),
}
PLACE = RESULTS / "combining"
Found = dict[str, tuple[Mention, ...]]


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a corpus, and what runs said of it.

    Attributes:
        documents: with gold.
        sha256: of the file.
        name: ``"dev"`` or ``"test"``.
        runs: the folder of the runs.
        corpus: its name in the grid.
        abstracts: of test, where a document is a sentence: its id -> the abstract, which intervals
            draw.
    """

    documents: list[Document]
    sha256: str
    name: str
    runs: Path
    corpus: str
    abstracts: Mapping[str, str] = field(default_factory=dict)

    def said(self, system: str, *, seed: int = 1) -> Found | None:
        """What one run predicted; ``None`` if there is no such run.

        Raises:
            InputError: the run saw other data.
        """
        folder = self.runs / f"{self.corpus}-{system}-s{seed}"
        files = [folder / "predictions" / f"{self.name}.tsv{end}" for end in ("", ".gz")]
        path = next((file for file in files if file.is_file()), None)
        if path is None:
            return None
        facts = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if facts["data"][self.name]["sha256"] != self.sha256:
            raise InputError(
                f"the run in {folder} saw another {self.name} part than the grid names; run it "
                "again"
            )
        found = {p.id: p.mentions for p in read(Source(path=str(path)))}
        return {document.id: found.get(document.id, ()) for document in self.documents}

    def score(self, found: Mapping[str, Sequence[Mention]]) -> Scores:
        """Against the gold."""
        bare = {
            i: tuple(Mention(m.spans, m.type) for m in mentions) for i, mentions in found.items()
        }
        return by_abstract(score(layers(self.documents), bare), self.abstracts)


def part_of(grid: Grid, corpus: str, name: str, runs: Path) -> Part:
    """Reads one part of a corpus of the grid.

    Raises:
        InputError: the grid has no such corpus.
    """
    named = (
        run for run in grid.runs if run.corpus == corpus or run.recipe.name.startswith(f"{corpus}-")
    )
    recipe = next((run.resolved() for run in named), None)
    if recipe is None:
        raise InputError(f"the grid {grid.name} has no corpus {corpus!r}")
    documents = read_part(recipe.corpus, name)  # type: ignore[arg-type]
    abstracts = {}
    if name == "test" and corpus in KNOWN:
        abstracts = abstracts_in(corpus, documents, Path(os.environ["FASCICLE_DATA"]))
    return Part(
        documents=documents,
        sha256=source_sha256(getattr(recipe.corpus, name)),
        name=name,
        runs=runs,
        corpus=corpus,
        abstracts=abstracts,
    )


def main() -> int:
    """Chooses or scores; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("step", choices=("choose", "judge", "score"))
    parser.add_argument("corpus")
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--filters", type=Path)
    parser.add_argument("--grid", type=Path, default=GRIDS / "combining.toml")
    args = parser.parse_args()
    if args.step == "judge" and args.filters is None:
        parser.error("judge needs --filters, the folder of the trained filters")
    grid = read_grid(args.grid)
    PLACE.mkdir(parents=True, exist_ok=True)
    if args.step == "choose":
        write_result(
            f"combining/{args.corpus}.choice", choice(part_of(grid, args.corpus, "dev", args.runs))
        )
        return 0
    place = PLACE / f"{args.corpus}.choice.json"
    if not place.is_file():
        sys.stderr.write(f"{place} is not there: choose on dev first, and commit what was chosen\n")
        return 2
    chosen = json.loads(place.read_text(encoding="utf-8"))
    part = part_of(grid, args.corpus, "test", args.runs)
    if args.step == "judge":
        judge(part, args.filters)
        return 0
    write_result(f"combining/{args.corpus}", scored(part, chosen))
    return 0


def singles(part: Part) -> dict[str, Found]:
    """What each of the systems said: the three of Table 1, and those that were run beside them.

    Raises:
        InputError: a run of the three is missing.
    """
    found = {name: part.said(system) for name, system in {**SYSTEMS, **MORE}.items()}
    lacking = [name for name in SYSTEMS if found[name] is None]
    if lacking:
        raise InputError(
            f"{part.runs} has no complete run of {', '.join(lacking)} on {part.corpus}; run the "
            "grid first"
        )
    return {name: said for name, said in found.items() if said is not None}


def choice(part: Part) -> dict[str, object]:
    """The best single system and the best combination on dev."""
    said = singles(part)
    single = {name: row(part.score(found)) for name, found in said.items()}
    gold = System(name=GOLD, mentions=layers(part.documents))
    cells = make_cells(gold, [System(name=name, mentions=found) for name, found in said.items()])
    candidates = search(cells, cells.drawn(resamples=1000, seed=0))
    best, names = candidates[0], tuple(said)
    return {
        "corpus": part.corpus,
        "dev_sha256": part.sha256,
        "single": max(single, key=lambda name: single[name]["micro"]["f1"]),  # type: ignore[index]
        "members": [names[at] for at in best.members],
        "rule": {
            "name": best.rule.name,
            "votes": best.rule.votes,
            "weights": [str(float(w)) for w in best.rule.weights],
        },
        "dev": {
            "singles": single,
            "combination": {"precision": best.precision, "recall": best.recall, "f1": best.f1},
        },
        "tried": len(candidates),
    }


def rule_of(said: Mapping[str, Any]) -> Rule:
    """The rule of a choice file."""
    if said["name"] == "kofn":
        return k_of_n(int(said["votes"]))
    if said["name"] == "weighted":
        return weighted(said["weights"])
    return union() if said["name"] == "union" else majority()


def combined(said: Mapping[str, Found], members: Sequence[str], rule: Rule) -> Found:
    """What a rule keeps of some systems."""
    return combine(align([System(name=name, mentions=said[name]) for name in members]), rule)


def combinations(said: Mapping[str, Found]) -> dict[str, Found]:
    """The unions and votes of Table 1."""
    rules = ((" ∪ ", union()), (" x ", majority()))
    return {
        sign.join(members): combined(said, members, rule)
        for members in (("SpanPred", "SEQ"), tuple(SYSTEMS))
        for sign, rule in rules
    }


def judge(part: Part, filters: Path) -> None:
    """Puts what the filters of a corpus keep beside the runs."""
    said = singles(part)
    for kind, (members, _) in FILTERS.items():
        name = f"{part.corpus}-{kind}-s1"
        if not (filters / name).is_dir():
            continue
        given = combined(said, members, union())
        patches = load_filter(filters / name).judge(
            part.documents, [given[d.id] for d in part.documents]
        )
        kept = (
            Prediction(id=d.id, mentions=p.add)
            for d, p in zip(part.documents, patches, strict=True)
        )
        (part.runs / name / "predictions").mkdir(parents=True, exist_ok=True)
        write(
            part.runs / name / "predictions" / f"{part.name}.tsv.gz", steady(kept), overwrite=True
        )
        _write_facts(part, filters / name)


def _write_facts(part: Part, run: Path) -> None:
    """What ``said`` checks, and how the filter judged the examples that were held out of its
    training.
    """
    held_out = json.loads((run / "scores.json").read_text(encoding="utf-8"))["held_out"]
    with atomic_text_writer(part.runs / run.name / "run.json", overwrite=True) as stream:
        stream.write(
            json.dumps(
                {"data": {part.name: {"sha256": part.sha256}}, "held_out": held_out}, indent=1
            )
            + "\n"
        )


def scored(part: Part, chosen: Mapping[str, Any]) -> dict[str, object]:
    """Every row on test; checks what must always hold."""
    said = singles(part)
    rows: dict[str, Found] = said | combinations(said)
    rows["chosen on dev"] = combined(said, chosen["members"], rule_of(chosen["rule"]))
    rows |= dict(_controls(part, chosen["single"]))
    kept = {}
    for kind in FILTERS:
        if (found := part.said(kind)) is not None:
            kept[kind] = name_of(kind)
            rows[kept[kind]] = found
    _check(rows, kept)
    scores = {name: part.score(found) for name, found in rows.items()}
    best = scores[chosen["single"]]
    on_dev = {name: one["micro"]["f1"] for name, one in chosen["dev"]["singles"].items()}
    return {
        "corpus": part.corpus,
        "test_sha256": part.sha256,
        "choice": {name: chosen[name] for name in ("single", "members", "rule", "date")},
        "rows": {
            name: {**row(of_one), "over_single": bootstrap_difference(of_one, best).as_dict()}
            for name, of_one in scores.items()
        },
        "control": _over_control(scores, chosen),
        "filters": {
            name: {
                **_gains(scores, name, FILTERS[kind][0], on_dev),
                "held_out": _held_out(part, kind),
            }
            for kind, name in kept.items()
        },
    }


def name_of(kind: str) -> str:
    """What the row of a filter is called."""
    members, besides = FILTERS[kind]
    return f"Meta({' ∪ '.join(members)}){besides}"


def _over_control(
    scores: Mapping[str, Scores], chosen: Mapping[str, Any]
) -> dict[str, object] | None:
    """What was chosen, against a vote of as many seeds of the best single system, if they were
    run.
    """
    name = f"{len(chosen['members'])} seeds of {chosen['single']}, vote"
    if name not in scores:
        return None
    return {"name": name, **bootstrap_difference(scores["chosen on dev"], scores[name]).as_dict()}


def _gains(
    scores: Mapping[str, Scores], name: str, members: Sequence[str], on_dev: Mapping[str, float]
) -> dict[str, object]:
    """What a filter gains over its member that was best on dev, in precision, recall and F1."""
    best = max(members, key=lambda member: on_dev[member])
    gains = {
        of: bootstrap_difference(scores[name], scores[best], measure=of).as_dict()
        for of in MEASURES
    }
    return {"over": best, **gains}


def _held_out(part: Part, kind: str) -> Any:
    """How a filter judged what was held out of its training, as ``judge`` wrote it down."""
    facts = json.loads(
        (part.runs / f"{part.corpus}-{kind}-s1" / "run.json").read_text(encoding="utf-8")
    )
    return facts["held_out"]


def _controls(part: Part, single: str) -> Iterator[tuple[str, Found]]:
    """A vote of as many seeds of the best single system as there are systems, where they were
    run.
    """
    system = {**SYSTEMS, **MORE}[single]
    for count in range(2, len(SYSTEMS) + len(MORE) + 1):
        seeds = [part.said(system, seed=seed) for seed in range(1, count + 1)]
        found = {str(seed): one for seed, one in enumerate(seeds, start=1) if one is not None}
        if len(found) == count:
            yield f"{count} seeds of {single}, union", combined(found, tuple(found), union())
            yield f"{count} seeds of {single}, vote", combined(found, tuple(found), majority())


def _check(rows: Mapping[str, Found], kept: Mapping[str, str]) -> None:
    """Union over every member, vote of two the intersection, Meta within its union."""
    sets = {
        name: {(i, m.type, m.spans) for i, mentions in found.items() for m in mentions}
        for name, found in rows.items()
    }
    pair, three = sets["SpanPred"] | sets["SEQ"], sets["SpanPred"] | sets["SEQ"] | sets["SeqCRF"]
    assert sets["SpanPred ∪ SEQ"] == pair
    assert sets["SpanPred x SEQ"] == sets["SpanPred"] & sets["SEQ"]
    assert sets["SpanPred ∪ SEQ ∪ SeqCRF"] == three
    for kind, name in kept.items():
        assert sets[name] <= sets[" ∪ ".join(FILTERS[kind][0])]


if __name__ == "__main__":
    sys.exit(main())
