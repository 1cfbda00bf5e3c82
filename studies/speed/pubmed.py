"""How many hours PubMed takes, from what one core needs for a citation in each stage.

usage: python -m studies.speed.pubmed [--citations 38000000] [--cores 16] [--hours 12] [--efficiency
SHARE]

Reads ``results/citations.json`` of ``studies.speed.citations``, and how well two workers share a
machine from ``results/runs-workers-model.json`` of ``studies.speed.runs``. The interval is of the
mean over the rounds there, by Student's distribution: it says how well the machine was measured,
and not how alike another one is. Of the texts there 87 in 100 have an abstract, those of an update
file; records without one take less. Written: ``results/pubmed.json``.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from studies.common import result, write_result

# Quantiles of Student's distribution, 97.5 in 100, by degrees of freedom.
_STUDENT = (math.inf, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


def main() -> None:
    """Computes and writes ``results/pubmed.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--citations", type=int, default=38_000_000)
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--hours", type=float, default=12.0)
    parser.add_argument(
        "--efficiency", type=float, default=measured_efficiency(), help="of a core beside others"
    )
    args = parser.parse_args()
    measured = result("citations")
    if not measured:
        sys.exit("there is no results/citations.json; run python -m studies.speed.citations first")
    facts = {name: getattr(args, name) for name in ("citations", "cores", "hours", "efficiency")}
    models = {
        name: estimate(found["totals_ms"], found["shares"], **facts)
        for name, found in measured["models"].items()
    }
    report = {**facts, "measured": measured["date"], "beside": measured["beside"], "models": models}
    write_result("pubmed", report)
    sys.stdout.write(json.dumps(models, indent=1) + "\n")


def measured_efficiency() -> float:
    """What a worker does beside a second one, of what it does alone; runs of more workers were
    not measured.
    """
    return round(float(result("runs-workers-model")["ratio_of_work"]) / 2, 3)


def estimate(
    totals: Sequence[float],
    shares: Mapping[str, float],
    *,
    citations: int,
    cores: int,
    hours: float,
    efficiency: float,
) -> dict[str, Any]:
    """Hours of all citations on some cores, in all and by stage.

    Args:
        totals: CPU milliseconds of a citation, in each round.
        shares: of each stage.
        citations: how many.
        cores: how many.
        hours: that it may take.
        efficiency: of a core beside others, of one alone.
    """
    mean, off = statistics.fmean(totals), _off(totals)
    per_ms = citations / 1000 / 3600 / cores / efficiency
    return {
        "rounds": len(totals),
        "citations_per_second_and_core": round(1000 / mean, 2),
        "hours": round(mean * per_ms, 2),
        "interval": [round((mean - off) * per_ms, 2), round((mean + off) * per_ms, 2)],
        "hours_by_stage": {name: round(mean * share * per_ms, 3) for name, share in shares.items()},
        "times_too_slow": round(mean * per_ms / hours, 3),
    }


def _off(totals: Sequence[float]) -> float:
    """How far the mean may be off; ends with an error for one round, which says nothing about
    that.
    """
    if len(totals) < 2:
        sys.exit("one round has no interval; measure the citations with --rounds 3 or more")
    freedom = min(len(totals), len(_STUDENT)) - 1
    return _STUDENT[freedom] * statistics.stdev(totals) / math.sqrt(len(totals))


if __name__ == "__main__":
    main()
