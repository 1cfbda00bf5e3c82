"""How fast and how large are term packs, beside other matchers of the same names? All of it on one
core.

usage: FASCICLE_DATA=... python -m studies.speed.packs --work FOLDER [--names 1000000] [--big
    10000000] [--megabytes 4] [--rounds 5] [--systems NAME ...] [--libraries FOLDER] [--print-only]

The others are no dependency of Fascicle. Install them into a folder of their own, and name it with
``--libraries``: ``pip install --target FOLDER pyahocorasick ahocorasick_rs marisa-trie spacy``.
Those that are missing are left out.

*Names* are real: those of all vocabularies of ``packs/biomed.toml`` (built below ``--work`` where
it is not there), in an order drawn with seed 0, as many as ``--names`` says. For ``--big``, where
there are not as many, a number is put behind names until there are; there, only the build, the
size, the opening and look-ups are measured. The texts are abstracts of ``text-abstracts``.

*Systems.* Each runs in a process of its own, loads the names, and waits; then the processes scan
the same texts in turn, one round after the other, so that a busy machine is busy for all.
``fascicle`` goes from texts to arrays of matches (`TokenReader.read`, `Table.find`), as many
characters at a time as the recogniser takes, and ``twin`` is a second process that does the same;
``mentions`` goes to mentions with links. The others match the names in lower case, and keep what
begins and ends at a border of tokens, as a list of (start, end). ``marisa-trie`` is asked at every
token start.

*Memory* is what a process alone has (USS, of ``/proc/self/smaps_rollup``): its growth from before
the names are loaded until after the texts are scanned. ``fascicle`` and ``twin`` share the pages of
one pack. Writes ``results/pack-speed.json``.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fascicle.terms.keys.key import KeyReader
from studies.common import write_result
from studies.packs.literal import lowered
from studies.packs.names import surfaces, whole
from studies.speed.matchers import LOADERS, MODULES, OURS, TWIN, WINDOW, names_of
from studies.speed.workers import Worker

NAME: Final = "pack-speed"
ASKED: Final = 200_000  # keys of a look-up
# A small process between this one and a build: the memory of a child is never less than that of
# what made it.
_LAUNCHER: Final = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(code)
"""
_SOURCES: Final = """
name = "speed"

[sources.x]
path = "names.tsv"
reader = "table"
type = "Chemical"
columns = { id = "id", name = "name" }
"""


def main() -> int:
    """Prepares, measures and writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--big", type=int, default=10_000_000, help="0 for none")
    parser.add_argument("--megabytes", type=float, default=4.0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--systems", nargs="+", choices=MODULES, default=list(MODULES))
    parser.add_argument("--libraries", type=Path, help="folder that the other libraries are in")
    parser.add_argument(
        "--print-only", action="store_true", help="write no results: for trying it with few names"
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.libraries:
        sys.path.append(str(args.libraries))
    if args.worker:
        return work(args.worker, args.work / str(args.names), args.megabytes)
    systems = [one for one in args.systems if importlib.util.find_spec(MODULES[one])]
    missing = sorted({*args.systems} - {*systems})
    result: dict[str, Any] = {"names": args.names, "missing": missing, "rounds": args.rounds}
    result["build"] = {
        str(count): built(args.work, count) for count in (args.names, args.big) if count
    }
    result |= turns(args, systems)
    if args.big:
        result["big"] = turns(
            argparse.Namespace(**{**vars(args), "names": args.big, "megabytes": 0.1}), [OURS, TWIN]
        )
    sys.stdout.write(json.dumps(result, indent=1) + "\n")
    if not args.print_only:
        write_result(NAME, result)
    return 0


def built(work: Path, count: int, names: Iterable[str] | None = None) -> dict[str, object]:
    """Writes the names where they are not there yet, builds their pack in its own process, and
    says what it took.
    """
    folder = work / str(count)
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "names.tsv").exists():
        with (folder / "names.tsv").open("w", encoding="utf-8") as stream:
            stream.write("id\tname\n")
            stream.writelines(
                f"x:{number}\t{name}\n" for number, name in enumerate(names or drawn(work, count))
            )
        (folder / "sources.toml").write_text(_SOURCES, encoding="utf-8")
    argv = [
        "-m",
        "fascicle",
        "index",
        "build",
        folder / "sources.toml",
        "-o",
        folder / "pack",
        "--overwrite",
    ]
    command = [sys.executable, "-c", _LAUNCHER, sys.executable, *map(str, argv)]
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    wall = time.perf_counter() - started
    cpu, peak = done.stdout.split()
    size = sum(path.stat().st_size for path in (folder / "pack").iterdir())
    return {
        "cpu_s": float(cpu),
        "wall_s": round(wall, 1),
        "peak_mb": int(peak) // 1000,
        "bytes": size,
    }


def drawn(work: Path, count: int) -> Iterator[str]:
    """Names of the vocabularies in a drawn order; behind the last one, the same with numbers."""
    names = [name for name in surfaces(whole(work)) if len(name) <= WINDOW and name.isprintable()]
    random.Random(0).shuffle(names)
    for number in range(count):
        turn, place = divmod(number, len(names))
        yield f"{names[place]} {turn}" if turn else names[place]


def turns(args: argparse.Namespace, systems: Sequence[str]) -> dict[str, object]:
    """Lets the processes load the names, and scan and look up in turn."""
    workers = {one: _worker(one, args) for one in systems}
    loaded = {one: worker.told() for one, worker in workers.items()}
    rounds = _rounds(workers, "scan", args.rounds)
    memory = {one: worker.ask("memory") for one, worker in workers.items()}
    lookups = _rounds(
        {one: workers[one] for one in (OURS, TWIN, "marisa-trie") if one in workers},
        "look",
        args.rounds,
    )
    rows = {}
    for one, told in rounds.items():
        scans = [each["seconds"] for each in told]
        ratios = [a / b["seconds"] for a, b in zip(scans, rounds[systems[0]], strict=True)]
        rows[one] = {
            **loaded[one],
            **memory[one],
            "scan_mb_s": round(loaded[one]["bytes"] / 1e6 / statistics.median(scans), 2),
            "matches": told[0]["found"],
            f"times_{systems[0]}": round(statistics.median(ratios), 2),
            "ratios": [round(ratio, 2) for ratio in ratios],
        }
        if one in lookups:
            rows[one]["lookups_s"] = round(
                statistics.median(each["asked"] / each["seconds"] for each in lookups[one])
            )
    for worker in workers.values():
        worker.end()
    return {"systems": rows}


def _rounds(
    workers: Mapping[str, Worker], what: str, count: int
) -> dict[str, list[dict[str, float]]]:
    """What the processes say of so many rounds, in which they take turns; the round that warms
    up is left out.
    """
    told = [{one: worker.ask(what) for one, worker in workers.items()} for _ in range(count + 1)]
    return {one: [each[one] for each in told[1:]] for one in workers}


def _worker(system: str, args: argparse.Namespace) -> Worker:
    """A process with one system."""
    given = [
        "--worker",
        system,
        "--work",
        args.work,
        "--names",
        args.names,
        "--megabytes",
        args.megabytes,
    ]
    return Worker(
        "studies.speed.packs",
        [*given, *(("--libraries", args.libraries) if args.libraries else ())],
    )


def work(system: str, folder: Path, megabytes: float) -> int:
    """What a process does: loads, says so, and answers until its input ends."""
    texts = list(abstracts(megabytes))
    names = (
        []
        if system in (OURS, TWIN, "mentions", "marisa-trie")
        else [lowered(name) for name in names_of(folder)]
    )
    __import__(MODULES[system])
    before = private()
    ready = LOADERS[system](folder, names)
    loaded = private()
    size = sum(len(text.encode()) for text in texts)
    _say(
        {
            "bytes": size,
            "open_ms": round(1000 * ready.opened, 1),
            "loaded_mb": round((loaded - before) / 1e6, 1),
        }
    )
    asked: list[str] = []
    for line in sys.stdin:
        if line.strip() == "memory":
            _say({"scanned_mb": round((private() - before) / 1e6, 1)})
            continue
        if line.strip() == "look" and not asked:
            asked = _asked(system, folder)
        started = time.process_time()
        found = (
            ready.lookup(asked) if line.strip() == "look" and ready.lookup else ready.scan(texts)
        )
        _say({"found": found, "seconds": time.process_time() - started, "asked": len(asked)})
    return 0


def _say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _asked(system: str, folder: Path) -> list[str]:
    """Names or keys to look up, half of which are there."""
    found = [one for name in names_of(folder, most=ASKED // 2) for one in (name, f"{name} no")]
    if system not in (OURS, TWIN):
        return [lowered(name) for name in found]
    return KeyReader()(found)


def private() -> int:
    """Bytes that only this process has in memory."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    found = dict(line.split(":", 1) for line in lines[1:])
    return sum(1024 * int(found[key].split()[0]) for key in ("Private_Clean", "Private_Dirty"))


def abstracts(megabytes: float) -> Iterator[str]:
    """Abstracts of open text, of about so many megabytes."""
    left = megabytes * 1e6
    path = Path(os.environ["FASCICLE_DATA"]) / "text-abstracts" / "abstracts.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for line in stream:
            text = json.loads(line).get("abstract")
            if text and left > 0:
                left -= len(text.encode())
                yield text
            if left <= 0:
                return


if __name__ == "__main__":
    sys.exit(main())
