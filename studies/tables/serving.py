"""Tables of the service: what it withstands and costs, and what the order of uncertainty
teaches.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from studies.common import result
from studies.tables.grids import MISSING, markdown

_FAULT = 500


def measured(results: Path) -> str:
    """What the service withstands, and what it costs beside the pipeline in it."""
    rows = [
        [what, goal, show(found) if (found := result(name, results)) else MISSING]
        for what, goal, name, show in ROWS
    ]
    return markdown(("what", "goal", "measured"), rows)


def curve(results: Path, name: str = "curation-curve") -> str:
    """What a model learns from corrected documents: those that are least sure first, and those
    by chance.
    """
    rows = result(name, results).get("rows", [])
    seeds = sorted({row["seed"] for row in rows})
    at = {(row["seed"], row["arm"], row["documents"]): row for row in rows}
    shares = {
        key: what
        for key, what in (("f1", "F1"), ("recall@1", "recall@1"))
        if rows and key in rows[0]
    }
    body = []
    for count in sorted({row["documents"] for row in rows}):
        pairs = [(at[seed, "uncertainty", count], at[seed, "random", count]) for seed in seeds]
        cells = [
            "; ".join(f"{100 * pair[side][key]:.1f}" for pair in pairs)
            for key in shares
            for side in (0, 1)
        ]
        cells += [_agreed([pair[0][key] - pair[1][key] for pair in pairs]) for key in shares]
        sizes = [
            f"{statistics.mean(pair[side]['characters'] for pair in pairs):,.0f}" for side in (0, 1)
        ]
        body.append([str(count), *cells, *sizes])
    heads = [
        head for what in shares.values() for head in (f"{what}, least sure first", "by chance")
    ]
    heads += [f"difference in {what}" for what in shares.values()]
    told = (
        f"On dev, in percent; seeds: {', '.join(map(str, seeds))}, in this order where there "
        "are several."
    )
    table = markdown(("documents", *heads, "characters, least sure first", "by chance"), body)
    return f"{table}\n\n{told}" if rows else MISSING


def _agreed(differences: Sequence[float]) -> str:
    """The mean of differences, if all of them have one sign."""
    agreed = min(differences) > 0 or max(differences) < 0
    return (
        f"{100 * statistics.mean(differences):+.1f}"
        if agreed
        else "none"
        if not any(differences)
        else "seeds disagree"
    )


def _killed(found: dict[str, Any]) -> str:
    lost = sum(
        found[name]
        for name in ("answers_wrong", "given_up", "jobs_wrong", "decisions_lost", "errors")
    )
    kept = f"{found['answers']:,} answers, {found['jobs']:,} jobs, {found['decisions']:,} decisions"
    return (
        f"{found['kills']} kills, {found['kills_when_ready']} of them when ready; {kept}: "
        f"{lost} lost or wrong"
    )


def _project(found: dict[str, Any]) -> str:
    sums = sum((Counter(one) for one in found["runs"]), Counter[str]())
    wrong = ", ".join(f"{sums[name]} {name}" for name in ("lost", "doubled", "moved"))
    more = sum(sums[name] for name in ("exports_wrong", "refused", "errors", "damages", "orphans"))
    return (
        f"{sums['kills']} kills, {sums['answered']:,} steps answered: {wrong}, {more} other faults"
    )


def _crowd(found: dict[str, Any]) -> str:
    load, readers = found["twice"], found["readers"]
    refused = f"{load['statuses'].get('429', 0):,} of {load['sent']:,} requests refused"
    faults = found["log_faults"] + sum(load["statuses"].get(status, 0) for status in ("0", "500"))
    cut, whole = (readers.get(f"steady {name}", 0) for name in ("cut", "whole"))
    left = (
        f"{cut} of {cut + whole} steady readers cut, {found['connections_left']} connections left"
    )
    return f"{refused}; {load['wrong']} wrong, {faults} faults, {left}; {_memory(found)}"


def _hostile(found: dict[str, Any]) -> str:
    count = found["drawn"] + found["schemathesis_requests"]
    faults = found["log_faults"] + sum(
        n for status, n in found["statuses"].items() if int(status) >= _FAULT
    )
    wrong = found["wrong"] + sum(found["schemathesis_failures"].values())
    return f"{count:,} requests: {wrong} wrong, {faults} faults; {_memory(found)}"


def _tail(found: dict[str, Any]) -> str:
    half, twice = found["half"]["p99"], found["twice"]["p99"]
    return f"{twice / half:.2f} times ({1000 * half:,.0f} ms, {1000 * twice:,.0f} ms)"


def _answered(found: dict[str, Any]) -> str:
    parts = (found["half"], found["twice"])
    faults = sum(
        count
        for part in parts
        for status, count in part["statuses"].items()
        if int(status) >= _FAULT
    )
    silent = sum(part["statuses"].get("0", 0) for part in parts)
    return (
        f"{sum(part['wrong'] for part in parts)} wrong, {faults} with 5xx, {silent} without "
        "an answer"
    )


def _refused(found: dict[str, Any]) -> str:
    statuses = found["twice"]["statuses"]
    return (
        f"{statuses.get('200', 0):,} accepted, {statuses.get('429', 0):,} refused, of "
        f"{found['twice']['sent']:,}"
    )


def _memory(found: dict[str, Any]) -> str:
    sizes = [size for _, size in found["memory_mib"]]
    part = max(1, len(sizes) // 5)
    first, last = statistics.mean(sizes[:part]), statistics.mean(sizes[-part:])
    return f"{first:,.0f} MiB in the first fifth, {last:,.0f} MiB in the last"


def _throughput(found: dict[str, Any]) -> str:
    return f"{found['ratio']:.2f}"


def _latency(at: int) -> Callable[[dict[str, Any]], str]:
    def show(found: dict[str, Any]) -> str:
        took, bar, model = (
            1000 * found[name] for name in (f"service_p{at}", f"bar_p{at}", f"model_p{at}")
        )
        return f"{took:.1f} ms (goal {bar:.1f} ms; `model(text)` {model:.1f} ms)"

    return show


ROWS: tuple[tuple[str, str, str, Callable[[dict[str, Any]], str]], ...] = (
    (
        "killed with all its processes while clients ask",
        "50 kills, nothing lost",
        "killed-service",
        _killed,
    ),
    (
        "killed while three curators of a project and a reviewer decide",
        "100 kills, 0 lost, doubled, moved",
        "killed-project",
        _project,
    ),
    (
        "ten minutes at twice the capacity, with slow readers and half-open connections",
        "0 wrong, memory flat",
        "serving-overload",
        _crowd,
    ),
    (
        "hostile requests, all phases of schemathesis among them",
        "10,000: 0 wrong, 0 with 500, memory flat",
        "serving-hostile",
        _hostile,
    ),
    (
        "p99 of accepted requests at twice the capacity, against half of it",
        "at most 3",
        "serving-load",
        _tail,
    ),
    (
        "answers in it, each compared with the offline pipeline",
        "0 wrong, no 5xx",
        "serving-load",
        _answered,
    ),
    ("requests at twice the capacity", "the rest refused with 429", "serving-load", _refused),
    ("memory meanwhile", "flat", "serving-load", _memory),
    (
        "throughput for a client against the offline pipeline",
        "at least 0.85",
        "serving-throughput",
        _throughput,
    ),
    (
        "250 words, one client: median",
        "at most 1.3 times `model(text)` plus 5 ms",
        "serving-latency",
        _latency(50),
    ),
    ("the same: 95th percentile", "at most twice the goal above", "serving-latency", _latency(95)),
)
