"""How fast are links? Keys to rows, similar names, links of gold mentions, and all steps from text
to links.

usage: FASCICLE_DATA=... python -m studies.speed.linking PACK LINKER [--other SRC] [--rounds 5]
[--print-only]

``PACK`` is a pack, such as that of ``packs/biomed.toml``, and ``LINKER`` a linker of it (``fascicle
linker fit``). With ``--other``, a second process runs with the sources of another checkout, and the
two take turns; a busy machine is busy for both. Times are processor times of one thread.

Each round has inputs of its own, so that no round finds in memory what another one asked for:

- ``keys``: keys of level 2 to rows, half of which are there.
- ``near``: keys of names with one letter changed, of any type; most are no name of the pack.
- ``diseases and chemicals``, ``genes``: links for the mentions of the test parts of BC5CDR and
  NCBI-disease, and of GNormPlus and NLM-Gene, whose own links are taken out; texts have their
  abbreviations. The rate is also stated without the time of the search for similar names.
- ``abbreviations``, ``dictionary``, ``links``: the three steps over abstracts of
  ``text-abstracts``.

*Memory* is what no file backs (anonymous pages), from before the pack and the linker are opened.
Writes ``results/linking-speed.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.document import Document, Patch
from fascicle.core.mention import Mention
from fascicle.core.patches import apply
from fascicle.formats.files import read
from fascicle.linking.finding import FoundTerms
from fascicle.linking.folder import read_manifest
from fascicle.linking.index import NameIndex
from fascicle.linking.linker import Linker
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.abbreviations.finder import find_abbreviations
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PackRecogniser
from studies.common import ROOT, write_result
from studies.speed.packs import abstracts
from studies.speed.workers import Worker

NAME: Final = "linking-speed"
CORPORA: Final[Mapping[str, tuple[str, ...]]] = {
    "diseases and chemicals": (
        "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
        "ncbi-disease/pubtator/test.PubTator.txt",
    ),
    "genes": ("gnormplus-bc2gn/Test.PubTator", "nlm-gene/Test.PubTator"),
}
TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("SpecificDisease", "DiseaseClass", "Modifier", "CompositeMention"), "Disease"),
    **{kind: kind for kind in ("Disease", "Chemical", "Gene", "Species")},
}
KEYS, NEAR, ABSTRACTS = 50_000, 200, 150  # of a round
TASKS: Final = ("keys", "near", *CORPORA, "abbreviations", "dictionary", "links")
Task = Callable[[int], dict[str, float]]


def main() -> int:
    """Measures, prints and writes; or does what a worker does."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pack", type=Path)
    parser.add_argument("linker", type=Path)
    parser.add_argument("--other", type=Path, help="the folder src of another checkout")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--print-only", action="store_true", help="write no results")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        return work(args.pack, args.linker, args.rounds)
    places = {"this": ROOT / "src", **({"other": args.other} if args.other else {})}
    workers = {side: _worker(args, place) for side, place in places.items()}
    opened = {side: worker.told() for side, worker in workers.items()}
    told: dict[str, list[dict[str, Any]]] = {side: [] for side in workers}
    for number in range(args.rounds):
        for side in sorted(workers, reverse=bool(number % 2)):
            told[side].append(workers[side].ask())
    memory = {side: _memory(worker) for side, worker in workers.items()}
    pack = Pack.open(args.pack)
    result: dict[str, Any] = {
        "pack": pack.full_name,
        "names": len(pack.active.keys.strings),
        "rounds": args.rounds,
        "opened": opened,
        "memory_mb": memory,
        "load": os.getloadavg()[1],
        "tasks": {
            task: summary({side: [one[task] for one in own] for side, own in told.items()})
            for task in TASKS
        },
    }
    sys.stdout.write(json.dumps(result, indent=1) + "\n")
    if not args.print_only:
        write_result(NAME, result)
    return 0


def summary(told: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, Any]:
    """Things a second of each side, over all rounds, and the median ratio of the times of
    neighbouring rounds.
    """
    found: dict[str, Any] = {
        f"{side}_per_second": round(
            sum(one["count"] for one in own) / sum(one["seconds"] for one in own), 1
        )
        for side, own in told.items()
    }
    for side, own in told.items():
        if "near_seconds" in own[0]:
            seconds = sum(one["seconds"] - one["near_seconds"] for one in own)
            found[f"{side}_per_second_without_near"] = round(
                sum(one["count"] for one in own) / seconds, 1
            )
    if "other" in told:
        ratios = [
            a["seconds"] / b["seconds"] for a, b in zip(told["other"], told["this"], strict=True)
        ]
        found["times_as_fast"] = round(statistics.median(ratios), 2)
        found["ratios"] = [round(ratio, 2) for ratio in ratios]
    return found


def _worker(args: argparse.Namespace, source: Path) -> Worker:
    """A process with the sources of one checkout."""
    given = [args.pack, args.linker, "--worker", "--rounds", args.rounds]
    paths = [
        str(source),
        str(ROOT),
        *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)),
    ]
    return Worker(
        "studies.speed.linking",
        given,
        {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
    )


def _memory(worker: Worker) -> dict[str, float]:
    """How its memory grew; it ends."""
    worker.close()
    found = worker.told()
    worker.end()
    return found


def work(place: Path, folder: Path, rounds: int) -> int:
    """Opens, and does one round for each line that it reads."""
    corpora = {name: gold(paths, rounds) for name, paths in CORPORA.items()}
    texts = list(islice(abstracts(100.0), ABSTRACTS * rounds))
    before, started = anonymous(), time.process_time()
    pack = Pack.open(place)
    linker = Linker.open(folder, read_manifest(folder), pack)
    opened = time.process_time() - started
    growth = {"opened": (anonymous() - before) / 1e6}
    _say({"seconds": round(opened, 3)})
    steps = Steps(pack, linker, NameIndex.open(folder, pack), corpora, texts)
    for number, _ in enumerate(sys.stdin):
        _say(steps.round(number))
    growth["worked"] = (anonymous() - before) / 1e6
    _say({name: round(value, 1) for name, value in growth.items()})
    return 0


def anonymous() -> int:
    """Bytes of this process that are no pages of a mapped file."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Anonymous:"))


def gold(paths: Sequence[str], rounds: int) -> list[list[Document]]:
    """The documents of corpora in as many groups as there are rounds, with mentions without
    links.
    """
    found = []
    data = Path(os.environ["FASCICLE_DATA"])
    for one in chain.from_iterable(read(data / path, format="pubtator") for path in paths):
        kept = {m.spans: Mention(m.spans, TYPES[m.type]) for m in one.mentions if m.type in TYPES}
        pairs = find_abbreviations(one) or None
        found.append(
            Document(id=one.id, text=one.text, mentions=tuple(kept.values()), abbreviations=pairs)
        )
    return [found[number::rounds] for number in range(rounds)]


class Steps:
    """What is measured, with its inputs."""

    def __init__(
        self,
        pack: Pack,
        linker: Linker,
        index: NameIndex,
        corpora: Mapping[str, list[list[Document]]],
        texts: Sequence[str],
    ) -> None:
        """Takes what is open."""
        self._pack, self._linker, self._index, self._corpora, self._texts = (
            pack,
            linker,
            index,
            corpora,
            texts,
        )
        self._dictionary = PackRecogniser(
            {"dictionary": pack}, settings=RecognitionSettings(links=False)
        )
        self._near_seconds = 0.0
        finder = linker._gatherer.finder
        find = finder.find_near

        def find_near(surfaces: Sequence[str], types: Sequence[str]) -> FoundTerms:
            started = time.process_time()
            found = find(surfaces, types)
            self._near_seconds += time.process_time() - started
            return found

        finder.find_near = find_near  # type: ignore[method-assign]

    def round(self, number: int) -> dict[str, dict[str, float]]:
        """Does everything once, with the inputs of a round: how many things, and in how many
        seconds.
        """
        generator = random.Random(number)
        found = {"keys": self._rows(generator), "near": self._near(generator)}
        for name, groups in self._corpora.items():
            self._near_seconds = 0.0
            found[name] = timed(
                lambda own=groups[number]: self._linker.predict(own), count_of(groups[number])
            )
            found[name]["near_seconds"] = self._near_seconds
        return {**found, **self._abstracts(number)}

    def _rows(self, generator: random.Random) -> dict[str, float]:
        strings = self._pack.active.keys.strings
        keys = strings.take([generator.randrange(len(strings)) for _ in range(KEYS)])
        asked = [f"{one} no" if place % 2 else one for place, one in enumerate(keys)]
        return timed(lambda: self._pack.rows(asked), len(asked))

    def _near(self, generator: random.Random) -> dict[str, float]:
        strings, asked = self._pack.active.keys.strings, []
        while len(asked) < NEAR:
            name = strings[generator.randrange(len(strings))]
            at = generator.randrange(len(name))
            if len(name) > 8:
                asked.append(name[:at] + generator.choice("aeinorst") + name[at + 1 :])
        types = np.full(len(asked), (1 << 63) - 1, dtype=np.uint64)
        return timed(lambda: self._index.near(asked, types), len(asked))

    def _abstracts(self, number: int) -> dict[str, dict[str, float]]:
        texts = self._texts[number * ABSTRACTS : (number + 1) * ABSTRACTS]
        documents = [Document(id=str(place), text=text) for place, text in enumerate(texts)]
        found = {}

        def step(name: str, run: Callable[[list[Document]], list[Patch]]) -> None:
            def all_of_it() -> None:
                documents[:] = list(map(apply, documents, run(documents)))

            found[name] = timed(all_of_it, len(documents))

        step(
            "abbreviations",
            lambda own: [Patch(abbreviations=find_abbreviations(one)) for one in own],
        )
        step("dictionary", self._dictionary.predict)
        step("links", self._linker.predict)
        found["links"]["mentions"] = count_of(documents)
        return found


def count_of(documents: Sequence[Document]) -> int:
    """How many mentions documents have."""
    return sum(len(document.mentions) for document in documents)


def timed(run: Callable[[], object], count: int) -> dict[str, float]:
    """Runs, and says how long it took."""
    started = time.process_time()
    run()
    return {"count": count, "seconds": time.process_time() - started}


def _say(what: Mapping[str, Any]) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
