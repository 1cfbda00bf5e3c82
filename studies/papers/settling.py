"""What would settle a row that is open: seeds, test texts, a pair without its doubt, an interval or
a file, and what the seeds cost.

Each answer comes from the rule of the states itself. The number here is taken as the true number,
its interval shrinks as more seeds or texts would shrink it, and the rule judges it again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final, TypeVar

from studies.papers.rule import (
    DIFFERS,
    NEAR,
    NOT_AT_HAND,
    NOT_RUN,
    UNDECIDED,
    WITHIN_CHANCE,
    Compared,
    Evidence,
    Z,
    is_narrow,
)

OPEN: Final = (WITHIN_CHANCE, UNDECIDED, NOT_AT_HAND, NOT_RUN)
MOST_SEEDS: Final = 100
MOST_TEXTS: Final = 10_000.0
STEP: Final = 1.1  # between two factors of the number of texts that are tried
N = TypeVar("N", int, float)
SEVERAL: Final = 2  # so many seeds that an interval holds them already
MACHINE: Final = "both runs on one machine"
RATE: Final = "both runs at one rate"
MEASURED: Final = "more turns, for an interval"
AGAIN: Final = "the same figures of dev, from runs that keep predictions there"
DEV_PARTS: Final = "dev parts"  # those of several corpora, whose test parts the paper has
SECOND: Final = "a second corpus, since these are not the texts of the paper"
HOURS: Final = re.compile(r"\((?:about|at most) ([\d,.]+) h of training\)")
TEXTLESS: Final = ("quartiles of", "corpora here, and")  # doubts of numbers that no texts narrow
NO_SPLIT: Final = "the split of the paper, which it does not state"
LABELS: Final = "the labels of the paper, which are not at hand"
# part of a doubt -> what takes it away
REMEDIES: Final[Mapping[str, str]] = {
    "on a GPU and one on a CPU": MACHINE,
    "in bf16 and one in fp32": MACHINE,
    "alone at 1e-4": RATE,
    "a train part of": "the train part of the paper",
    "a split of our own, by sentence": "the official parts, of which train is not free",
    "of dev in the paper": AGAIN,
    "quartiles of": MEASURED,
    "chosen by this number": "a part by which the rate was not chosen",
    "a rule that was found by": "a corpus by which the rule was not found",
    "is that of BINDER alone": "predictions of the other labels, for an interval of the difference",
    "paper states no": NO_SPLIT,
    "paper states none": NO_SPLIT,
    "another teacher": LABELS,
    "with other labels": LABELS,
    "taught by other corpora": "the encoder and the corpora of the paper, not all of which are public",
    "carries the mean": "rows of more corpora",
    "corpora here, and": "the corpora of the paper, of which four are licensed",
    "of other texts": "the predictions of BERN2",
    "on a GPU in the paper": "the machine of the paper",
    "on another processor": "the machine of the paper",
    "on another machine": "the machine of the paper",
}
TRAINED: Final = frozenset((MACHINE, RATE, AGAIN))  # runs that have to be made again


def seeds_needed(one: Compared) -> int | None:
    """Returns the fewest seeds that settle a comparison on its test texts; ``None`` if more than
    `MOST_SEEDS` do, or if seeds and texts were drawn together.
    """
    if one.interval is None or one.seeds > 1:
        return None
    return _first(lambda count: _with_seeds(one, count), range(1, MOST_SEEDS + 1))


def texts_needed(one: Compared) -> float | None:
    """Returns how many times the texts, and seeds, settle a comparison; ``None`` if `MOST_TEXTS`
    times do not.
    """
    if one.interval is None:
        return None
    factors = takewhile(MOST_TEXTS.__gt__, (STEP**power for power in range(1000)))
    return _first(lambda factor: _shrunk(one, 1 / math.sqrt(factor)), factors)


def needs(found: Sequence[Evidence]) -> list[str]:
    """What the comparisons of an open row lack, in the words of the page.

    A row differs as soon as one of its comparisons does. So where some would, if their numbers are
    the true ones, the row needs what the cheapest of these needs, and not what all need.
    """
    unsettled = [one for one in found if isinstance(one, Compared) and one.verdict in OPEN]
    differing = [one for one in unsettled if _certain(one).verdict == DIFFERS]
    if differing:
        return min((_lacks([one]) for one in differing), key=_price)
    lacking = _lacks(unsettled)
    return [*lacking, _second(found)] if is_narrow(found) else lacking


def hours(settling: str) -> float | None:
    """Core hours of training that a row needs; ``None`` if it needs something else besides, such
    as more texts.
    """
    parts = settling.split("; ")
    costs = [0.0 if part == MEASURED else _trained(part) for part in parts]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _second(found: Sequence[Evidence]) -> str:
    """What a row lacks that has one corpus alone, which is not one of the paper."""
    on_dev = all(isinstance(one, Compared) and one.corpus == DEV_PARTS for one in found)
    return "scores of test parts" if on_dev else f"{SECOND}{_spent(found, 'about')}"


def _price(lacking: Sequence[str]) -> tuple[bool, float]:
    """What can be had by training comes first, the cheapest before the others."""
    spent = hours("; ".join(lacking))
    return spent is None, len(lacking) if spent is None else spent


def _trained(part: str) -> float | None:
    match = HOURS.search(part)
    return float(match[1].replace(",", "")) if match else None


def _certain(one: Compared) -> Compared:
    """A comparison as it is if its number is the true one, without doubt and chance."""
    ends = {"low": one.here, "high": one.here}
    return replace(one, doubt="", elsewhere=False, loose=False, seeds=SEVERAL, **ends)


def _lacks(unsettled: Sequence[Compared]) -> list[str]:
    return [*_remedies(unsettled), *_measures(unsettled)]


def _measures(unsettled: Sequence[Compared]) -> Iterator[str]:
    """Yields the texts, the interval and the seeds that are missing."""
    plain = [replace(one, doubt="") for one in unsettled]
    if any(one.elsewhere and one.is_level for one in plain):
        yield "the texts of the paper"
    plain = [replace(one, elsewhere=False) for one in plain]
    bare = [one for one in plain if one.interval is None]
    if bare:
        spent = _spent(bare)
        yield f"an interval{', from the predictions of both systems' if spent else ''}{spent}"
    loose = [one for one in plain if one.loose and replace(one, loose=False).verdict not in OPEN]
    if loose:
        yield "an interval of 95 %"
    textless = {one.what for one in unsettled if any(name in one.doubt for name in TEXTLESS)}
    yield from _counts(
        [
            one
            for one in plain
            if one.interval
            and one.verdict in OPEN
            and one not in loose
            and one.what not in textless
        ]
    )


def _remedies(unsettled: Sequence[Compared]) -> Iterator[str]:
    """Yields what takes the doubts away, and what the runs for it cost."""
    doubts = [doubt for one in unsettled if (doubt := one.doubt)]
    known = [name for name in REMEDIES if any(name in doubt for doubt in doubts)]
    for remedy in dict.fromkeys(REMEDIES[name] for name in known):
        names = [name for name in known if REMEDIES[name] == remedy]
        doubtful = [one for one in unsettled if any(name in one.doubt for name in names)]
        yield f"{remedy}{_spent(doubtful) if remedy in TRAINED else ''}"
    if any(not any(name in doubt for name in known) for doubt in doubts):
        yield "a pair without its doubt"


def _spent(found: Iterable[Evidence], bound: str = "at most") -> str:
    """What it costs to train all runs of comparisons again."""
    compared = [one for one in found if isinstance(one, Compared)]
    minutes = dict(pair for one in compared for pair in one.minutes.items())
    spent = sum(minutes.values()) / 60
    return f" ({bound} {spent:.1f} h of training)" if minutes else ""


def _counts(measured: Sequence[Compared]) -> Iterator[str]:
    """Yields the most seeds, and the most texts, that any comparison needs."""
    seeds = [(seeds_needed(one), one) for one in measured]
    by_seeds = [(count, one) for count, one in seeds if count]
    if by_seeds:
        count, one = max(by_seeds, key=lambda pair: pair[0])
        yield f"{count} seeds{_cost(one, count)}"
    others = [one for count, one in seeds if not count]
    factors = [(factor, one) for one in others if (factor := texts_needed(one))]
    if factors:
        factor, one = max(factors, key=lambda pair: pair[0])
        kind = "texts and seeds" if one.seeds > 1 else "test texts"
        shown = f"{factor:{',.0f' if factor >= 10 else '.1f'}} times the {kind}"
        trained = _cost(one, math.ceil(factor * one.seeds)) if one.seeds > 1 else ""
        yield f"{shown}{trained}, since these allow {_arm(one)}"
    endless = [one for one in others if not texts_needed(one)]
    for near in dict.fromkeys(map(_nearest, endless)):
        yield f"no number of texts, if the difference is as near to {near} as here"


def _nearest(one: Compared) -> str:
    """What a number is so near to that no texts tell it from that."""
    if one.unit == "level":
        return "the margin"
    distance = abs(math.log(one.here) if one.unit == "times" else one.here)
    return "none" if one.is_level or distance < NEAR[one.unit] else "half or twice the paper's"


def _cost(one: Compared, count: int) -> str:
    minutes = sum(one.minutes.values()) / one.seeds * (count - one.seeds)
    return f" (about {minutes / 60:.1f} h of training)" if minutes else ""


def _arm(one: Compared) -> str:
    assert one.interval is not None
    low, high = one.interval
    return f"{low:.2f} to {high:.2f} times" if one.unit == "times" else f"±{(high - low) / 2:.1f}"


def _first(judged: Callable[[N], Compared], numbers: Iterable[N]) -> N | None:
    """Returns the first number with which a comparison is settled."""
    return next((number for number in numbers if judged(number).verdict not in OPEN), None)


def _with_seeds(one: Compared, count: int) -> Compared:
    """Returns a comparison of one seed as it would be after several with the same mean."""
    assert one.low is not None
    assert one.high is not None
    between = Z * math.sqrt(2 / count) * one.deviation
    low = one.here - math.hypot(one.here - one.low, between)
    high = one.here + math.hypot(one.high - one.here, between)
    return replace(one, low=low, high=high, seeds=SEVERAL)


def _shrunk(one: Compared, scale: float) -> Compared:
    """Returns a comparison whose interval is narrower by a factor; that of a ratio on its
    logarithm.
    """
    assert one.interval is not None
    low, high = (_nearer(one, end, scale) for end in one.interval)
    return replace(one, low=low, high=high, seeds=SEVERAL)


def _nearer(one: Compared, end: float, scale: float) -> float:
    if one.unit == "times" and end > 0 and one.here > 0:
        return one.here * (end / one.here) ** scale
    return one.here + (end - one.here) * scale
