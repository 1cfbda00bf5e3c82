"""What would settle a row that is open: seeds, test texts, a pair without its doubt, an interval or
a file, and what the seeds cost.

Each answer comes from the rule of the states itself. The number here is taken as the true number,
its interval shrinks as more seeds or texts would shrink it, and the rule judges it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final, TypeVar

from studies.papers.rule import (
    NOT_AT_HAND,
    NOT_RUN,
    UNDECIDED,
    WITHIN_CHANCE,
    Compared,
    Evidence,
    Z,
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
NO_SPLIT: Final = "the split of the paper, which it does not state"
LABELS: Final = "the labels of the paper, which are not public"
# part of a doubt -> what takes it away
REMEDIES: Final[Mapping[str, str]] = {
    "on a GPU and one on a CPU": MACHINE,
    "in bf16 and one in fp32": MACHINE,
    "alone at 1e-4": RATE,
    "a train part of": "the train part of the paper",
    "a split of our own, by sentence": "the official parts, of which train is not free",
    "of dev in the paper": "the same figures of dev, from predictions there",
    "quartiles of": MEASURED,
    "a rule that was found by": "a corpus by which the rule was not found",
    "is that of BINDER alone": "predictions of the other labels, for an interval of the difference",
    "paper states no": NO_SPLIT,
    "paper states none": NO_SPLIT,
    "another teacher": LABELS,
    "with other labels": LABELS,
    "taught by other corpora": "the encoder and the corpora of the paper, not all of which are public",
    "carries the mean": "rows of more corpora",
    "of other texts": "the predictions of BERN2",
    "on a GPU in the paper": "the machine of the paper",
    "on another processor": "the machine of the paper",
    "on another machine": "the machine of the paper",
}
TRAINED: Final = frozenset((MACHINE, RATE))  # runs that have to be made again


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


def needs(found: Sequence[Evidence]) -> Iterator[str]:
    """Yields what the comparisons of an open row lack, in the words of the page."""
    unsettled = [one for one in found if isinstance(one, Compared) and one.verdict in OPEN]
    if not unsettled:
        yield "a second corpus, since these are not the texts of the paper"
    yield from _remedies(unsettled)
    plain = [replace(one, doubt="") for one in unsettled]
    if any(one.elsewhere and one.is_level for one in plain):
        yield "the texts of the paper"
    plain = [replace(one, elsewhere=False) for one in plain]
    bare = [one for one in plain if one.interval is None]
    if bare:
        spent = _again(bare)
        yield f"an interval{', from the predictions of both systems' if spent else ''}{spent}"
    timed = {one.what for one in unsettled if "quartiles of" in one.doubt}  # no texts of theirs
    yield from _counts(
        [one for one in plain if one.interval and one.verdict in OPEN and one.what not in timed]
    )


def _remedies(unsettled: Sequence[Compared]) -> Iterator[str]:
    """Yields what takes the doubts away, and what the runs for it cost."""
    doubts = [doubt for one in unsettled if (doubt := one.doubt)]
    known = [name for name in REMEDIES if any(name in doubt for doubt in doubts)]
    for remedy in dict.fromkeys(REMEDIES[name] for name in known):
        names = [name for name in known if REMEDIES[name] == remedy]
        doubtful = [one for one in unsettled if any(name in one.doubt for name in names)]
        yield f"{remedy}{_again(doubtful) if remedy in TRAINED else ''}"
    if any(not any(name in doubt for name in known) for doubt in doubts):
        yield "a pair without its doubt"


def _again(compared: Sequence[Compared]) -> str:
    """Returns what it costs at most to train all runs of comparisons again."""
    minutes = dict(pair for one in compared for pair in one.minutes.items())
    spent = sum(minutes.values()) / 60
    return f" (at most {spent:.1f} h of training)" if minutes else ""


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
    if len(factors) < len(others):
        yield "no number of texts, if the difference is as near to none as here"


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
