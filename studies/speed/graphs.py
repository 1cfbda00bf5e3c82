"""What a graph costs beside the run that it is made of, whether its memory grows with the number of
documents, and how long it takes to see what rows of curation change.

usage: FASCICLE_DATA=... python -m studies.speed.graphs --work FOLDER [--documents 8885]
    [--copies 10000,100000,300000] [--texts 1000,10000] [--default 100]

Either list may be empty, and the last number 0.

The texts are titles and abstracts of ``text-abstracts``. The run finds the names of the shipped
pack with one worker; a graph is made of it by ``fascicle graph``. The same is done for a run of few
texts by the default pipeline, whose networks take most of the time. For memory, the documents of
the run are copied under new ids, so that only the graph is measured. Rows are tried by ``fascicle
index diff`` on a folder of texts, and as the page does it, in portions of 20 documents, with the
tried packs built for each portion (of the fewest texts alone), and once. Each measurement is a
process of its own, of which processor time and the peak of memory are taken: other programs share
the machine. Writes ``results/graphs.json``, ``results/graphs-default.json`` and
``results/names-tried.json`` after each measurement.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.formats.files import read
from fascicle.graph.kgx import write_graph
from fascicle.pipeline.running.parts import expand_runs
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.curation import CurationRule, format_rules
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.tried import try_on_pack
from studies.common import ROOT, write_result

PACK = ROOT / "src/fascicle/assets/packs/basic@2"
RULES = (
    CurationRule(action="ner_off", surface="Pain"),
    CurationRule(action="add", surface="side effects", concept="MESH:D064420"),
)
BEFORE = (CurationRule(action="ner_off", surface="Tremor"),)  # a row that is kept already
PORTION = 20  # documents that the page sends at once


def main() -> None:
    """Measures what the options say, or one thing in this process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=8_885)
    parser.add_argument("--copies", default="10000,100000,300000")
    parser.add_argument("--texts", default="1000,10000")
    parser.add_argument("--default", type=int, default=100)
    parser.add_argument("--only", nargs=2)
    args = parser.parse_args()
    if args.only:
        begun = time.monotonic()
        facts = PARTS[args.only[0]](args.work, int(args.only[1]))
        cost = _cost(resource.RUSAGE_SELF, begun) | {"peak_mib": peak()}
        print(json.dumps(cost | facts))
        return
    texts, copies = (list(map(int, filter(None, x.split(",")))) for x in (args.texts, args.copies))
    write_texts(args.work, max(args.documents, *texts, 0))
    measure_names(args.work, texts)
    if args.default:
        write_result("graphs-default", measured_pair(args.work, "default", args.default))
    if copies:
        measure_graphs(args.work, args.documents, copies)


def measure_names(work: Path, counts: list[int]) -> None:
    """Measures how long rows are tried, on so many texts each time."""
    results: dict[str, Any] = {"cores": os.cpu_count()}
    for count in counts:
        for part in ("diff", "once", "anew") if count == min(counts) else ("diff", "once"):
            results.setdefault(part, {})[count] = measured_alone(work, part, count)
            write_result("names-tried", results)


def measure_graphs(work: Path, documents: int, counts: list[int]) -> None:
    """Measures a run and the graph of it, and then graphs of so many copies each time; the ratio is
    of processor time.
    """
    results = measured_pair(work, "run", documents) | {"copies": {}}
    for count in counts:
        write_result("graphs", results)
        results["copies"][count] = measured_alone(work, "copies", count)
    write_result("graphs", results)


def measured_pair(work: Path, part: str, documents: int) -> dict[str, Any]:
    """Measures a run of so many texts, and the graph of it."""
    first = list(itertools.islice((work / "texts.jsonl").open(), documents))
    (work / "run.jsonl").write_text("".join(first))
    shutil.rmtree(work / "run", ignore_errors=True)
    run, graph = (measured_alone(work, name, documents) for name in (part, "graph"))
    ratio = round(1 + graph["processor_s"] / run["processor_s"], 2)
    return {"documents": documents, "run": run, "graph": graph, "ratio": ratio}


def write_texts(work: Path, count: int) -> None:
    """Writes the texts as one file."""
    place = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts/abstracts.jsonl.gz"
    work.mkdir(parents=True, exist_ok=True)
    with gzip.open(place, "rt") as source, (work / "texts.jsonl").open("w") as target:
        for line in itertools.islice(source, count):
            row = json.loads(line)
            text = f"{row['title'] or ''}.\n{row['abstract'] or ''}"
            target.write(json.dumps({"id": row["id"], "text": text}) + "\n")


def _cost(who: int, begun: float) -> dict[str, float]:
    used = resource.getrusage(who)
    return {
        "processor_s": round(used.ru_utime + used.ru_stime, 1),
        "wall_s": round(time.monotonic() - begun, 1),
        "peak_mib": used.ru_maxrss // 1024,
    }


def measured_alone(work: Path, part: str, count: int) -> dict[str, Any]:
    """Measures one thing in a process of its own."""
    call = [sys.executable, "-m", "studies.speed.graphs", "--work", work, "--only", part, count]
    done = subprocess.run([*map(str, call)], check=True, capture_output=True, text=True)
    facts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(part, count, facts, flush=True)
    return facts


def peak() -> int:
    """Returns the peak of memory of this process; that of ``getrusage`` begins with the parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def _command(*words: object) -> dict[str, Any]:
    """Runs a command; returns how many lines it wrote, and what it and its processes cost."""
    begun = time.monotonic()
    call = [sys.executable, "-m", "fascicle", *map(str, words)]
    done = subprocess.run(call, check=True, capture_output=True)
    return {"lines": done.stdout.count(b"\n"), **_cost(resource.RUSAGE_CHILDREN, begun)}


def _run(work: Path, count: int) -> dict[str, Any]:
    run = work / "run"
    return _command("run", work / "run.jsonl", "--pipeline", "basic", "--workers", 1, "-o", run)


def _default(work: Path, count: int) -> dict[str, Any]:
    return _command("run", work / "run.jsonl", "--workers", 1, "-o", work / "run")


def _graph(work: Path, count: int) -> dict[str, Any]:
    return _command("graph", work / "run", "-o", work / "graph", "--overwrite")


def _copies(work: Path, count: int) -> dict[str, Any]:
    totals = write_graph(copied(work, count), work / "copies", overwrite=True)
    return {"pairs": totals.pairs, "edges": totals.mentioned}


def copied(work: Path, count: int) -> Iterator[Document]:
    """Yields so many documents: those of the run under new ids, again and again."""
    names = expand_runs([str(work / "run")])
    endless = (one for _ in itertools.count() for name in names for one in read(name))
    for number, document in enumerate(itertools.islice(endless, count)):
        yield document.having(id=f"{document.id}-{number}")


def _diff(work: Path, count: int) -> dict[str, Any]:
    folder = work / f"texts-{count}"
    folder.mkdir(exist_ok=True)
    for number, document in enumerate(texts(work, count)):
        (folder / f"{number:05}.txt").write_text(document.text)
    (work / "rules.tsv").write_text(format_rules(RULES))
    return _command("index", "diff", PACK, work / "rules.tsv", "--corpus", folder)


def texts(work: Path, count: int) -> list[Document]:
    """Reads so many texts."""
    return list(itertools.islice(read(str(work / "texts.jsonl")), count))


def _try_anew(work: Path, count: int) -> dict[str, Any]:
    return tried(work, count, try_on_pack)


def _try_once(work: Path, count: int) -> dict[str, Any]:
    return tried(work, count, lru_cache(2)(try_on_pack))


def tried(work: Path, count: int, try_on: Any) -> dict[str, Any]:
    """Tries rules on texts in portions, as the page does."""
    # what a service imports would be part of the memory of graphs
    from fascicle.serving.messages import TryRules
    from fascicle.serving.trying import try_rules

    documents = [codec.encode(document) for document in texts(work, count)]
    order = TryRules(name="Pain", before=BEFORE, rules=RULES, documents=())
    pack, settings, changes = Pack.open(PACK), RecognitionSettings(), 0
    begun = time.process_time()
    for start in range(0, count, PORTION):
        portion = map(codec.decode, documents[start : start + PORTION])
        answer = try_rules(pack, order, settings, try_on, documents=portion)
        changes += len(answer["changes"])
    return {"changes": changes, "trying_s": round(time.process_time() - begun, 1)}


PARTS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    "run": _run,
    "default": _default,
    "graph": _graph,
    "copies": _copies,
    "diff": _diff,
    "anew": _try_anew,
    "once": _try_once,
}


if __name__ == "__main__":
    main()
