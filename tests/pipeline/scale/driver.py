"""A run on a Ray cluster, as a process of its own that a test can kill: prints the account as
JSON.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

import msgspec
from poison import open_poison, run_of

from fascicle.pipeline.scale import Cluster
from fascicle.settings.pipeline import Limits, Shards


def main() -> None:
    path, folder, address, seconds, documents = sys.argv[1:]
    run = run_of(
        [Path(path)],
        Path(folder),
        workers=2,
        shards=Shards(documents=int(documents)),
        limits=Limits(seconds=20, seconds_per_million=0, memory=300, start=120),
        open_pipeline=partial(open_poison, float(seconds)),
        pool=partial(Cluster, address=address),
    )
    with redirect_stdout(sys.stderr):  # as the command does it
        totals = run.do(resume=True)
    sys.stdout.write(msgspec.json.encode(totals).decode())


if __name__ == "__main__":
    main()
