"""The dictionary step of Kazu beside a term pack, with the same names and the same documents, and
with poison.

usage: FASCICLE_DATA=... python -m studies.speed.kazu_beside --kazu FOLDER [--names 20000]
[--documents 300]

Kazu is no dependency of Fascicle; ``FOLDER`` holds it (``pip install --target``, with spaCy 3.7.0
and numpy below 2; torch and transformers may be those that are there). The names are those of
MEDIC, the documents abstracts of ``text-abstracts``. No model pack is used, so that nothing of Kazu
that needs one is shown. Each system runs in a process of its own, one after the other, ``--rounds``
times in turn.

*Poison.* Of 20 documents one says what a step after the dictionary shall do: hang, leave the
process, write outside of its memory, allocate 30 GB, raise an error, or give offsets outside of the
text. Counted is how many documents come back from a pipeline of Kazu within ``--seconds``. What
ours does is in ``tests/running``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from studies.common import ROOT, write_result
from studies.speed.packs import built

POISONS = ("hang", "exit", "segfault", "allocate", "raise", "outside")
MEANS = {
    "hang": "hangs",
    "exit": "leaves the process",
    "segfault": "writes outside of its memory",
    "allocate": "allocates 30 GB (the process may have 12)",
    "raise": "raises an error",
    "outside": "gives offsets outside of the text",
}
PROGRAM = Path(__file__).with_name("_kazu_program.py")
OURS = """
import json, resource, sys, time
from pathlib import Path
import fascicle
from fascicle import Document
def memory():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6
before, start = memory(), time.perf_counter()
pack = fascicle.load(sys.argv[1])
built = time.perf_counter() - start
lines = Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()
documents = [Document(id=one["id"], text=one["text"]) for one in map(json.loads, lines)]
pack.predict(documents[:5])
start = time.perf_counter(), time.process_time()
patches = pack.predict(documents)
times = time.perf_counter() - start[0], time.process_time() - start[1]
found = [[d.id, m.start, m.end] for d, p in zip(documents, patches) for m in p.add]
print(json.dumps({"build": built, "wall": times[0], "cpu": times[1], "megabytes": memory() - before, "found": found}))
"""


def main() -> None:
    """Measures and writes ``results/kazu-beside.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kazu", type=Path, required=True)
    parser.add_argument("--names", type=int, default=20_000)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120.0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        build = built(work, args.names, medic(args.names))
        folder = work / str(args.names)
        texts = work / "texts.jsonl"
        characters = write_texts(texts, abstracts(args.documents))
        rounds = [side_by_side(folder, texts, args.kazu) for _ in range(args.rounds)]
        few = work / "few"
        few.mkdir()
        few = few / "names.tsv"
        few.write_text("".join((folder / "names.tsv").read_text().splitlines(keepends=True)[:200]))
        poison = {kind: poisoned(kind, few, work, args) for kind in POISONS}
    report = {
        **{
            "names": args.names,
            "documents": args.documents,
            "characters": characters,
            "our build": build,
        },
        **summary(rounds, characters),
        "poison": poison,
    }
    write_result("kazu-beside", report)
    print(json.dumps(report, indent=1))


def medic(count: int) -> Iterator[str]:
    """The first different names of MEDIC, in any case."""
    path = Path(os.environ["FASCICLE_DATA"]) / "dict-medic-ctd" / "medic_06Jul2012.txt.gz"
    seen: set[str] = set()
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            for name in line.rstrip("\n").split("|")[2:]:  # after the id and other ids
                if (
                    len(name) > 3
                    and name.lower() not in seen
                    and '"' not in name
                    and "\t" not in name
                ):
                    seen.add(name.lower())
                    yield name
                    if len(seen) == count:
                        return


def abstracts(count: int) -> Iterator[tuple[str, str]]:
    """Ids and texts."""
    path = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts" / "abstracts.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for number, line in zip(range(count), stream, strict=False):
            given = json.loads(line)
            yield str(number), " ".join(f"{given['title']} {given['abstract']}".split())


def write_texts(path: Path, texts: Iterator[tuple[str, str]]) -> int:
    """Writes documents, and says how many characters they have."""
    rows = list(texts)
    path.write_text(
        "".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in rows),
        encoding="utf-8",
    )
    return sum(len(text) for _, text in rows)


def side_by_side(folder: Path, texts: Path, kazu: Path) -> dict[str, Any]:
    """One run of each."""
    ours = subprocess.run(
        [sys.executable, "-c", OURS, str(folder / "pack"), str(texts)],
        check=True,
        capture_output=True,
        text=True,
    )
    theirs = run_kazu([str(folder / "names.tsv"), str(texts)], kazu, timeout=None)
    if theirs.returncode:
        raise RuntimeError(theirs.stderr)
    return {"ours": json.loads(ours.stdout), "kazu": json.loads(theirs.stdout.splitlines()[-1])}


def run_kazu(
    arguments: list[str], kazu: Path, *, timeout: float | None
) -> subprocess.CompletedProcess[str]:
    """Runs the program of Kazu; `subprocess.TimeoutExpired` if it does not end."""
    environment = {**os.environ, "PYTHONPATH": str(kazu), "TQDM_DISABLE": "1"}
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=ROOT.parent,
        check=False,
    )


def summary(rounds: list[dict[str, Any]], characters: int) -> dict[str, object]:
    """Medians, and what both find."""
    ours, theirs = (set(map(tuple, rounds[0][name]["found"])) for name in ("ours", "kazu"))
    rows: dict[str, object] = {}
    for name in ("ours", "kazu"):
        medians = {
            key: statistics.median(one[name][key] for one in rounds)
            for key in ("build", "wall", "cpu", "megabytes")
        }
        speed = characters / 1e6 / medians["cpu"]
        rows[name] = {
            **{key: round(value, 3) for key, value in medians.items()},
            "megabytes_a_second": round(speed, 3),
        }
    alone = {
        name: {
            "all": len(own - other),
            "overlapping one of the others": sum(_overlaps(one, other) for one in own - other),
        }
        for name, own, other in (("ours alone", ours, theirs), ("kazu alone", theirs, ours))
    }
    return {**rows, "mentions": {"both": len(ours & theirs), **alone}}


def _overlaps(one: tuple[str, int, int], others: set[tuple[str, int, int]]) -> bool:
    return any(one[0] == key and one[1] < end and start < one[2] for key, start, end in others)


def poisoned(kind: str, names: Path, work: Path, args: argparse.Namespace) -> dict[str, object]:
    """What comes back of 20 documents of which the eleventh is poison."""
    texts = work / f"{kind}.jsonl"
    write_texts(
        texts, ((key, f"!{kind} x" if key == "10" else text) for key, text in abstracts(20))
    )
    start = time.perf_counter()
    try:
        done = run_kazu([str(names), str(texts), "--poison"], args.kazu, timeout=args.seconds)
    except subprocess.TimeoutExpired:
        return {"ended": False, "came back": 0}
    found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"documents": 0}
    return {
        "ended": True,
        "code": done.returncode,
        "came back": found["documents"],
        "marked as failed": len(found.get("failed", ())),
        "entities outside of the text": found.get("outside", 0),
        "seconds": round(time.perf_counter() - start, 1),
    }


def tables_of(report: dict[str, Any]) -> str:
    """The tables of ``studies/docs/kazu.md``."""
    ours, theirs = report["ours"], report["kazu"]
    rows = [
        ("ready after, s", f"{ours['build']:.1f}", f"{theirs['build']:.1f}"),
        (
            "MB of text in a second of processor time",
            *(f"{one['megabytes_a_second']:.1f}" for one in (ours, theirs)),
        ),
        (
            "memory that names and run take, MB",
            *(f"{one['megabytes']:.0f}" for one in (ours, theirs)),
        ),
    ]
    lines = [
        "| | term pack | Kazu |",
        "|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]
    lines += [
        "| the eleventh of 20 documents | documents that come back | marked as failed |",
        "|---|---|---|",
    ]
    for kind, found in report["poison"].items():
        back = str(found["came back"]) if found["ended"] else "none: the process never ends"
        if found["ended"] and found["code"]:
            back = "none: the process is gone"
        outside = (
            ", with an entity outside of the text"
            if found.get("entities outside of the text")
            else ""
        )
        lines.append(f"| {MEANS[kind]} | {back}{outside} | {found.get('marked as failed', 0)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
