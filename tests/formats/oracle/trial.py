"""Writes files with the oracle, reads them, and counts what was wrong in silence.

    python -m tests.formats.oracle.trial --count 500

writes this number of files with faults and as many without for each format. A file depends on
nothing but its format, its fault and its number, so ``--only brat --fault CRLF --first 17 --count
1`` makes one again; ``--keep FOLDER`` keeps what failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Final

from tests.formats.oracle import (
    binary,
    bioc,
    cas,
    gate,
    knowtator,
    licensed,
    office,
    records,
    references,
    stam,
    standoff,
    texts,
    tokens,
    web_annotation,
    webanno,
)
from tests.formats.oracle.drafts import drafts
from tests.formats.oracle.format import Files, Oracle
from tests.formats.oracle.hand import BY_ONE, BYTES, PASSAGE, UNEVEN, UTF16, Hand
from tests.formats.oracle.judging import Page, differences, outcome

ORACLES: Final = {
    one.name: one
    for module in (
        tokens,
        standoff,
        bioc,
        records,
        references,
        binary,
        texts,
        licensed,
        office,
        webanno,
        cas,
        gate,
        knowtator,
        stam,
        web_annotation,
    )
    for one in module.ORACLES
    if not one.needs or find_spec(one.needs)
}
# PDFs have papers of their own, in oracle/papers.py.
WITHOUT: Final = (
    "pdf",
    *(one.reads for one in (*office.ORACLES, *cas.ORACLES) if one.name not in ORACLES),
)
FINE, TOLD, UNSEEN = "the same documents", "said", "no trace in the file"
SILENT, FALSE, CRASH = "SILENT DIFFERENCE", "FALSE WARNING", "TRACEBACK"
FAILURES: Final = (SILENT, FALSE, CRASH)
_TRACED: Final = (BY_ONE, PASSAGE, BYTES, UTF16, UNEVEN)


@dataclass(frozen=True)
class Verdict:
    """What became of one file: one of the six names above, and in what it went wrong."""

    kind: str
    why: str = ""


@dataclass(frozen=True)
class Written:
    """A file of the oracle, what it describes, and whether its fault can be seen in it."""

    files: Files
    wanted: list[Page]
    is_faulty: bool
    is_blind: bool


def written(oracle: Oracle, fault: str, number: int) -> Written:
    """The file of a number; the same documents with any fault."""
    clean, hand = (Hand(one, Random(f"hand {number}")) for one in ("", fault))
    made = drafts(Random(f"{oracle.name} {number}"), oracle.taste)
    changed = hand.prepared(made)
    files = oracle.write(changed, hand)
    is_faulty = bool(fault) and files != oracle.write(made, clean)
    unseen = fault in _TRACED and not hand.is_seen
    hidden = fault in oracle.hidden and not hand.is_outside
    return Written(
        files, oracle.wanted(changed, hand), is_faulty, is_blind=is_faulty and (unseen or hidden)
    )


def verdict(oracle: Oracle, fault: str, *, number: int, folder: Path) -> Verdict:
    """Writes one file, reads it and judges."""
    made = written(oracle, fault, number)
    for name, content in made.files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    try:
        found = outcome(folder / oracle.path, oracle.reads, options=oracle.options())
    except Exception:
        return Verdict(CRASH, traceback.format_exc())
    wrong = differences(made.wanted, found.documents, loose=fault in oracle.loose)
    if made.is_blind:
        return Verdict(UNSEEN)
    if not found.is_silent and not made.is_faulty:
        return Verdict(FALSE, f"{found.error} {dict(found.said)}")
    if not found.is_silent:
        return Verdict(TOLD, f"{found.error} {dict(found.said)}")
    return Verdict(SILENT, "; ".join(wrong)) if wrong else Verdict(FINE)


def trials(
    oracle: Oracle, numbers: Sequence[int], *, faults: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """A file with a fault, the faults one after the other, and one without, for each number."""
    for number in numbers:
        if faults:
            yield faults[number % len(faults)], number
        yield "", number


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--fault")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(arguments)
    numbers, failed, total = range(given.first, given.first + given.count), 0, Counter[str]()
    for oracle in [one for name, one in ORACLES.items() if given.only in ("", name)]:
        faults = (
            oracle.faults
            if given.fault is None
            else [one for one in oracle.faults if one == given.fault]
        )
        counts, shown = Counter[str](), Counter[str]()
        for fault, number in trials(oracle, numbers, faults=faults):
            failed += _one(oracle, fault, number=number, given=given, counts=counts, shown=shown)
        _say(_sentence(oracle.name, counts))
        total += counts
    _say(_sentence("all", total))
    return 1 if failed else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _sentence(name: str, counts: Counter[str]) -> str:
    return f"{name}: " + ", ".join(f"{what} {count:,}" for what, count in sorted(counts.items()))


def _one(
    oracle: Oracle,
    fault: str,
    *,
    number: int,
    given: argparse.Namespace,
    counts: Counter[str],
    shown: Counter[str],
) -> int:
    with tempfile.TemporaryDirectory(prefix="oracle-") as name:
        found = verdict(oracle, fault, number=number, folder=Path(name))
        counts[f"{'with' if fault else 'without'} a fault, {found.kind}"] += 1
        wrong = found.kind in FAILURES
        shown[fault] += wrong
        if given.verbose or (wrong and shown[fault] <= 2):
            _say(
                f"  {oracle.name} | {fault or 'no fault'} | {number} | {found.kind} | "
                f"{found.why[-900:]}"
            )
        if wrong and given.keep:
            shutil.copytree(name, given.keep / f"{oracle.name}-{fault.replace(' ', '-')}-{number}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
