"""How long other software takes to read the mentions of our Parquet tables into a data frame.

usage: python -m studies.speed.data_frames [--mentions 1000000] [--rounds 3]

The documents are made up: abstracts of 25 mentions, of which most have a link and a score, as a run
of a pipeline over PubMed gives them. Each reader runs in a process of its own, after a reading that
is not counted, and reads the columns that have one value, and then all columns.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from fascicle.core.document import Document, Link, Mention
from fascicle.formats import write
from studies.common import write_result

PER_DOCUMENT = 25
FLAT = ["document", "type", "start", "end", "text", "score", "source", "concept"]
READERS = {
    "pandas, flat columns": "import pandas; f = lambda p: pandas.read_parquet(p, columns=FLAT)",
    "pandas, all columns as Arrow": "import pandas; f = lambda p: pandas.read_parquet(p, "
    "dtype_backend='pyarrow')",
    "pandas, all columns": "import pandas; f = lambda p: pandas.read_parquet(p)",
    "polars, flat columns": "import polars; f = lambda p: polars.read_parquet(p, columns=FLAT)",
    "polars, all columns": "import polars; f = lambda p: polars.read_parquet(p)",
    "duckdb, counts by type": "import duckdb; "
    "f = lambda p: duckdb.sql(f\"select type, count(*) from '{p}' group by type\").fetchall()",
}
PROGRAM = """
import json, sys, time
FLAT = json.loads(sys.argv[2])
{reader}
f(sys.argv[1])
times = []
for _ in range(int(sys.argv[3])):
    start = time.perf_counter(), time.process_time()
    found = f(sys.argv[1])
    times.append([time.perf_counter() - start[0], time.process_time() - start[1]])
print(json.dumps(times))
"""


def documents(mentions: int) -> Iterator[Document]:
    """Made-up documents with so many mentions."""
    draw = random.Random(1)
    words = [
        f"{draw.choice(['lung', 'β', 'nov', 'cyclo', 'hyper'])}{number}itis"
        for number in range(5_000)
    ]
    for number in range(mentions // PER_DOCUMENT):
        chosen = draw.choices(words, k=4 * PER_DOCUMENT)
        text, places = " ".join(chosen), [0]
        for word in chosen:
            places.append(places[-1] + len(word) + 1)
        found = [_mention(places[4 * at], len(chosen[4 * at]), draw) for at in range(PER_DOCUMENT)]
        yield Document(id=str(30_000_000 + number), text=text, mentions=tuple(found))


def _mention(start: int, length: int, draw: random.Random) -> Mention:
    entry = f"D{draw.randrange(30_000):06}"
    linked = draw.random() < 0.8
    links = (
        (Link(id=entry, ontology="MESH", curie=f"MESH:{entry}", tier="exact", score=draw.random()),)
        if linked
        else ()
    )
    kind = draw.choice(("Disease", "Chemical", "Gene"))
    return Mention(
        ((start, start + length),), kind, score=draw.random(), source="model", links=links
    )


def main() -> None:
    """Measures and writes ``results/data-frames.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mentions", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, begin = Path(folder) / "run.parquet", time.perf_counter()
        write(path, documents(args.mentions))
        seconds = time.perf_counter() - begin
        found = {
            name: measure(path / "mentions.parquet", reader, args.rounds)
            for name, reader in READERS.items()
        }
        size = sum(file.stat().st_size for file in path.glob("*.parquet"))
    write_result(
        "data-frames",
        {
            "mentions": args.mentions,
            "megabytes": size / 1e6,
            "write_seconds": seconds,
            "median_seconds": found,
        },
    )
    print(json.dumps(found, indent=1))


def measure(table: Path, reader: str, rounds: int) -> dict[str, float] | None:
    """The median times in seconds, of the clock and of all cores; ``None`` where the software is
    not installed.
    """
    command = [
        sys.executable,
        "-c",
        PROGRAM.format(reader=reader),
        str(table),
        json.dumps(FLAT),
        str(rounds),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and "ModuleNotFoundError" in done.stderr:
        return None
    if done.returncode:
        raise RuntimeError(done.stderr)
    wall, cpu = zip(*json.loads(done.stdout), strict=True)
    return {"wall": round(statistics.median(wall), 3), "cpu": round(statistics.median(cpu), 3)}


if __name__ == "__main__":
    main()
