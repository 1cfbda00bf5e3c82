"""What packs recognise on gold, in tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fascicle.training.experiments.results import read_result
from studies.packs.recognition import NAME
from studies.tables.grids import NOT_RUN, markdown

_DRAWS = {"first": "read before the rule was mended", "fresh": "of a fresh draw after it"}
_SAID = {
    "finding": "a finding",
    "change": "a change, such as a blood pressure that a drug reduced",
    "denied": "denied by words before them, such as *no*",
}


def recognition(results: Path) -> str:
    """Precision, recall and F1 of a pack and of literal matching, for each corpus and type."""
    rows = _rows(results)
    head = [
        "corpus",
        "type",
        "gold",
        "pack P / R",
        "**F1**",
        "literal P / R",
        "F1",
        "difference",
        "literal, 3 characters",
    ]
    body = []
    for row in rows:
        ours, literal, difference = row["dictionary"], row["literal"], row["difference"]
        low, high = (f"{100 * difference[end]:+.1f}" for end in ("low", "high"))
        body.append(
            [
                row["corpus"],
                row["type"],
                f"{row['gold']:,}",
                _both(ours),
                f"**{100 * ours['f1']:.1f}** ({_interval(ours)})",
                _both(literal),
                f"{100 * literal['f1']:.1f}",
                f"{100 * difference['estimate']:+.1f} ({low} to {high})",
                f"{100 * row['literal_longer']['f1']:.1f}",
            ]
        )
    return markdown(head, body) if body else NOT_RUN


def links(results: Path) -> str:
    """Of right mentions with identifiers in gold: how many are linked, and how many of the links
    are right.
    """
    head = [
        "corpus",
        "type",
        "mentions",
        "linked",
        "right",
        "right or equivalent",
        "right, of those in the vocabulary of gold",
    ]
    body = []
    for row in _rows(results):
        told = row["links"]
        if told["mentions"]:
            cells = [
                _share(told["linked"], told["mentions"]),
                _share(told["right"], told["linked"]),
                _share(told["equivalent"], told["linked"]),
                _share(told["right"], told["same vocabulary"]),
            ]
            body.append([row["corpus"], row["type"], f"{told['mentions']:,}", *cells])
    return markdown(head, body) if body else NOT_RUN


def names(results: Path) -> str:
    """How many concepts and names each type has."""
    packs = read_result(results, NAME).get("packs", {})
    body = [[kind, f"{told['concepts']:,}", f"{told['names']:,}"] for kind, told in packs.items()]
    return markdown(["type", "concepts", "names"], body) if body else NOT_RUN


def judged(results: Path) -> str:
    """How many matches of the shipped pack were read in open text, and how many of them were
    right.
    """
    body = []
    for row in read_result(results, "pack-judging").get("rows", []):
        low, high = _wilson(row["right"], row["read"])
        shown = f"{100 * row['right'] / row['read']:.0f} % ({100 * low:.0f} to {100 * high:.0f})"
        body.append([row["type"], f"{row['read']:,}", f"{row['right']:,}", shown])
    return markdown(["type", "matches read", "right", "precision"], body) if body else NOT_RUN


def composed(results: Path) -> str:
    """What the forms of composed names reach, and what the mentions that were read say."""
    told = read_result(results, "qualities-found")
    if not told:
        return NOT_RUN
    forms = told["forms"]
    body = [
        ["other forms in abstracts that are found", f"{forms:,}", _share(told["found"], forms)],
        [
            "the same without `qualities`",
            f"{forms:,}",
            _share(told["found without composed names"], forms),
        ],
    ]
    for draw, read in told["read"].items():
        low, high = (f"{100 * end:.1f}" for end in read["interval"])
        share = f"{_share(read['right'], read['read'])} ({low} to {high})"
        body.append(
            [
                f"mentions that say the quality of the entity, {_DRAWS[draw]}",
                f"{read['read']:,}",
                share,
            ]
        )
        body += [
            [
                f"of these right ones, {what}",
                f"{read['right']:,}",
                _share(read[kind], read["right"]),
            ]
            for kind, what in _SAID.items()
        ]
    return markdown(["what", "of", "share"], body)


def composed_in_words(results: Path) -> str:
    """The same in a sentence for those who build a pack."""
    told = read_result(results, "qualities-found")
    if not told:
        return NOT_RUN
    first = told["read"]["first"]
    low, high = (f"{100 * end:.1f}" for end in first["interval"])
    return (
        f"Of {told['forms']:,} other forms of names of HPO in abstracts, "
        f"{_share(told['found'], told['forms'])} are found.\n"
        f"Of {first['read']} mentions that were read, {_share(first['right'], first['read'])} "
        f"({low} to {high}) say the quality of the entity,\n"
        f"but {first['change']} say a change. Scans take {told['cost']:.2f} times as long."
    )


def speed(results: Path) -> str:
    """Scanning, memory and look-ups of packs and of other matchers, with the same names."""
    told = read_result(results, "pack-speed")
    body = [
        [
            name,
            f"{row['scan_mb_s']:.1f}",
            f"{row['times_fascicle']:.2f}",
            f"{row['open_ms']:,.0f}",
            f"{row['scanned_mb']:,.0f}",
            f"{row['lookups_s']:,}" if "lookups_s" in row else "–",
        ]
        for name, row in told.get("systems", {}).items()
    ]
    head = [
        "system",
        "MB/s of text",
        "time, fascicle = 1",
        "opened in ms",
        "own memory, MB",
        "look-ups a second",
    ]
    return markdown(head, body) if body else NOT_RUN


def builds(results: Path) -> str:
    """What building a pack of so many names takes, and how large it is."""
    told = read_result(results, "pack-speed")
    big = told.get("big", {}).get("systems", {}).get("fascicle", {})
    body = []
    for count, row in told.get("build", {}).items():
        ours = told["systems"].get("fascicle", {}) if int(count) == told["names"] else big
        size = f"{row['bytes'] / 1e6:,.0f} MB"
        cells = [
            f"{row['cpu_s']:,.0f} s",
            f"{row['peak_mb']:,} MB",
            size,
            f"{ours.get('open_ms', 0):,.0f} ms",
        ]
        body.append([f"{int(count):,}", *cells, f"{ours.get('lookups_s', 0):,}"])
    head = [
        "names",
        "build, processor time",
        "peak memory",
        "on disk",
        "opened in",
        "look-ups a second",
    ]
    return markdown(head, body) if body else NOT_RUN


def _wilson(right: int, read: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927)."""
    square = 1.96**2
    middle, half = right + square / 2, 1.96 * math.sqrt(right * (read - right) / read + square / 4)
    return (middle - half) / (read + square), (middle + half) / (read + square)


def _rows(results: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_result(results, NAME).get("rows", [])
    return sorted(rows, key=lambda row: (row["corpus"] == "craft", row["corpus"], row["type"]))


def _both(rates: Mapping[str, float]) -> str:
    return f"{100 * rates['precision']:.1f} / {100 * rates['recall']:.1f}"


def _interval(rates: Mapping[str, Any]) -> str:
    interval = rates["f1_interval"]
    return f"{100 * interval['low']:.1f} to {100 * interval['high']:.1f}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
