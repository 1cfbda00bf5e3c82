"""How long do `fascicle combine` and `fascicle compare` take, and how fast is the search beside its
literal form?

Files are made: systems that each find most of the same gold mentions, and others. Both commands run
whole, in this process, from files to files; start-up of the interpreter is not counted. The literal
search combines sets for every subset and rule, scores them, and draws documents for each. It is
first found to give the same counts and intervals; then both take turns, so that a busy machine
slows both alike. CPU time is counted. Run `python -m studies.speed.combine`; it writes
`studies/results/combine_speed.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from fascicle.cli import main as fascicle
from fascicle.core.document import Mention, in_order
from fascicle.evaluation.comparison.comparing import make_cells
from fascicle.evaluation.comparison.search import ScoredCombination, search
from fascicle.evaluation.scoring.scores import score
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.formats.predictions import Prediction, write
from fascicle.runtime.combination.align import System, align
from fascicle.runtime.combination.rules import Rule, combine
from studies.common import take_turns, write_result

DOCUMENTS, MENTIONS, LENGTH = 500, 30, 2000  # mentions and code points of each document
TYPES = ("Disease", "Chemical", "Gene")
FOUND = 0.85  # of the gold by each system; what is left of its mentions is false
Said = dict[str, tuple[Mention, ...]]


def drawn_spans(chance: np.random.Generator, count: int) -> list[tuple[int, int, str]]:
    """Distinct spans with types, of one document."""
    found: dict[tuple[int, int, str], None] = {}
    while len(found) < count:
        start = int(chance.integers(0, LENGTH - 30))
        found[
            start, start + int(chance.integers(3, 30)), TYPES[int(chance.integers(len(TYPES)))]
        ] = None
    return list(found)


def make(systems: int, *, seed: int) -> tuple[Said, list[Said]]:
    """Gold, and systems with as many mentions."""
    chance = np.random.default_rng(seed)
    gold: Said = {}
    said: list[Said] = [{} for _ in range(systems)]
    for number in range(DOCUMENTS):
        spans = drawn_spans(chance, MENTIONS)
        name = f"{number:05}"
        gold[name] = in_order(Mention(((start, end),), type_) for start, end, type_ in spans)
        for one in said:
            right = [span for span in spans if chance.random() < FOUND]
            false = [span for span in drawn_spans(chance, MENTIONS) if span not in spans][
                : MENTIONS - len(right)
            ]
            one[name] = in_order(
                Mention(((start, end),), type_, score=float(chance.random()), source="system")
                for start, end, type_ in (*right, *false)
            )
    return gold, said


def write_files(folder: Path, said: list[Said], suffix: str) -> list[str]:
    """One prediction file for each system."""
    paths = [str(folder / f"system{number}.{suffix}") for number in range(len(said))]
    for path, one in zip(paths, said, strict=True):
        write(path, [Prediction(id=name, mentions=mentions) for name, mentions in one.items()])
    return paths


def cpu_seconds(work: Callable[[], object], *, repeats: int) -> dict[str, float]:
    """Median and best of some runs, after one that warms up."""
    work()
    spent = []
    for _ in range(repeats):
        before = time.process_time()
        work()
        spent.append(time.process_time() - before)
    return {"median_s": round(statistics.median(spent), 3), "best_s": round(min(spent), 3)}


def quietly(*argv: str) -> None:
    """Runs a command; what it prints is thrown away.

    Raises:
        RuntimeError: it failed.
    """
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()) as said,
    ):
        code = fascicle(list(argv))
    if code:
        raise RuntimeError(said.getvalue())


def literal_search(
    gold: Said, said: list[Said], rules: list[tuple[tuple[int, ...], Rule]]
) -> list[object]:
    """Counts and interval of every combination, each on its own."""
    found = []
    for members, rule in rules:
        votes = align([System(name=str(member), mentions=said[member]) for member in members])
        scores = score(gold, combine(votes, rule))
        interval = bootstrap_f1(scores)
        found.append((scores.counts, (interval.low, interval.high)))
    return found


def our_search(gold: Said, said: list[Said]) -> tuple[ScoredCombination, ...]:
    """The same from the table of cells, which is made anew."""
    systems = [System(name=str(number), mentions=one) for number, one in enumerate(said)]
    cells = make_cells(System(name="the gold", mentions=gold), systems)
    return search(cells, cells.drawn(resamples=1000, seed=0))


def measure_search(gold: Said, said: list[Said], *, repeats: int) -> dict[str, object]:
    """Equality first, then both in turns."""
    ours = our_search(gold, said)
    rules = [(one.members, one.rule) for one in ours]
    for one, (counts, ends) in zip(ours, literal_search(gold, said, rules), strict=True):  # type: ignore[misc]
        if one.counts != counts or not np.allclose(one.f1_interval, ends):
            raise RuntimeError(f"the two forms differ for {one}")
    turns = take_turns(
        lambda: our_search(gold, said),
        lambda: literal_search(gold, said, rules),
        repeats=repeats,
        other="literal",
    )
    return {"systems": len(said), "combinations": len(rules), **turns}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description="Combining and comparing files of made predictions, CPU seconds."
    )
    parser.add_argument("--repeats", type=int, default=7, help="runs (default 7)")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    gold, said = make(6, seed=options.seed)
    report: dict[str, object] = {
        "what": f"{DOCUMENTS * MENTIONS:,} mentions in {DOCUMENTS} documents of each system, CPU "
        "seconds of one thread",
        "seed": options.seed,
        "repeats": options.repeats,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (truth,) = write_files(folder, [gold], "gold.tsv")
        for suffix in ("tsv", "jsonl"):
            files, out = write_files(folder, said, suffix), str(folder / f"out.{suffix}")
            for rule in ("union", "majority"):
                report[f"combine_5_{suffix}_{rule}"] = cpu_seconds(
                    lambda rule=rule, files=files, out=out: quietly(  # type: ignore[misc]
                        "combine", rule, *files[:5], "-o", out, "--overwrite"
                    ),
                    repeats=options.repeats,
                )
            report[f"compare_6_{suffix}"] = cpu_seconds(
                lambda files=files: quietly("compare", truth, *files, "--json"),  # type: ignore[misc]
                repeats=options.repeats,
            )
    subsets = sum(len(list(combinations(range(6), size))) for size in range(2, 7))
    report["compare_6_subsets"] = subsets
    report["search"] = measure_search(gold, said[:3], repeats=max(2, options.repeats // 3))
    write_result("combine_speed", report)
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
