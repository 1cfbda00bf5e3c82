"""The rule that gives a row of the page of papers its state: direction, interval, seeds and
corpora, and nothing else.

A row has comparisons: a number of the paper, and the same number here with its interval. Nobody
writes a state by hand that judges them, so a row cannot say more than its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

REPRODUCED: Final = "reproduced"
WITHIN_CHANCE: Final = "same direction, within chance"
OTHER_SIZE: Final = "same direction, other size"
UNDECIDED: Final = "undecided"
DIFFERS: Final = "differs"
TESTED: Final = "tested here"
DRAWN: Final = "drawn"
NOT_AT_HAND: Final = "not at hand"
NOT_RUN: Final = "not run"
BY_RULE: Final = (REPRODUCED, WITHIN_CHANCE, OTHER_SIZE, UNDECIDED, DIFFERS, NOT_RUN)
# another size stays another one
DOUBTED: Final[Mapping[str, str]] = {REPRODUCED: WITHIN_CHANCE, DIFFERS: UNDECIDED}
SAID: Final = (TESTED, DRAWN, NOT_AT_HAND)  # states that judge no number, and may be said of a row

LEVEL: Final = 0.15  # points: what a paper prints with one decimal as 0.1 or less is no difference
NEAR: Final[Mapping[str, float]] = {
    "points": 0.1,
    "times": 0.05,
}  # a difference here that is nearer to none has no sign
# of the difference of the paper that the one here must reach; it exceeds it at most as often
SHARE: Final = 0.5
# of an interval: an end that is nearer to no difference is at the border of chance
BORDER: Final = 0.05
FEWEST_CORPORA: Final = 2  # where none of the corpora is one of the paper
Z: Final = 1.96


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A number of the paper and the same number here.

    Attributes:
        what: is compared, such as ``BL-SpanNER less SpanNER``.
        paper: the number as printed; of a figure without numbers, 1 or -1; ``None`` where the paper
            makes no such comparison, or makes it in words that have no size.
        here: the number here.
        low: lower end of its 95 % interval; ``None`` where none can be computed.
        high: upper end.
        seeds: trained runs behind it.
        deviation: standard deviation between seeds of one F1; widens the interval of a single seed.
        margin: how far from the paper a number may be that is claimed to be level with it.
        unit: ``points``, a difference; ``times``, a ratio; ``level``, a number that is to be that
            of the paper.
        drawn: whether the paper shows it in a figure, without a number.
        doubt: why it cannot count as beyond chance although its interval says so, such as another
            split, train part or machine than in the paper; empty for none.
        corpus: that it was measured on.
        elsewhere: whether this is not the corpus of the paper, or not all of it.
        loose: whether the ends are none of a 95 % interval, so that no size can be another one.
        minutes: of training behind it, by run.
    """

    what: str
    paper: float | None
    here: float
    low: float | None = None
    high: float | None = None
    seeds: int = 1
    deviation: float = 0.0
    margin: float = 1.0
    unit: str = "points"
    drawn: bool = False
    doubt: str = ""
    corpus: str = ""
    elsewhere: bool = False
    loose: bool = False
    minutes: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ValueError if a direction alone has a size: ``much more time`` is no number
        that ours could reach.
        """
        if self.drawn and (self.paper not in (1, -1) or self.unit != "points"):
            raise ValueError(
                f"{self.what!r} is drawn, so it is above (1) or below (-1), in points; else "
                "leave paper out"
            )

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval, with the chance between seeds in it: that of one seed is of its test
        part alone.
        """
        if self.low is None or self.high is None:
            return None
        if self.seeds > 1 or not self.deviation:
            return self.low, self.high
        between = Z * math.sqrt(2) * self.deviation
        return self.here - math.hypot(self.here - self.low, between), self.here + math.hypot(
            self.high - self.here, between
        )

    @property
    def is_level(self) -> bool:
        """Whether it is to be level with the paper: a number of it, or a difference where the
        paper has none.
        """
        printed = self.paper
        return printed is not None and (
            self.unit == "level" or (self.unit == "points" and abs(printed) <= LEVEL)
        )

    @property
    def verdict(self) -> str:
        """What this comparison says alone; a doubt leaves nothing beyond chance, and so do other
        texts for a level.
        """
        if self.paper is None:
            return TESTED
        found = self._level(self.paper) if self.is_level else self._direction(self.paper)
        found = WITHIN_CHANCE if self.loose and found == OTHER_SIZE else found
        is_doubtful = self.doubt or (self.elsewhere and self.is_level)
        return DOUBTED.get(found, found) if is_doubtful else found

    def _level(self, paper: float) -> str:
        """Whether a number is that of the paper: within the margin, outside it, or too uncertain
        to tell.
        """
        shift = paper if self.unit == "level" else 0.0
        # a wide interval agrees with all
        near = WITHIN_CHANCE if abs(self.here - shift) <= self.margin else UNDECIDED
        if self.interval is None:
            return near
        low, high = (end - shift for end in self.interval)
        if max(-low, high) <= self.margin:
            return REPRODUCED
        # A difference where the paper has none is another result, but not at the border of chance.
        edge = self.margin if self.unit == "level" else BORDER * (high - low)
        return DIFFERS if low > edge or high < -edge else near

    def _direction(self, paper: float) -> str:
        """Whether the sign is that of the paper, beyond chance, and the size like that of the
        paper.
        """
        if abs(self._scaled(self.here)) < NEAR[self.unit]:
            return UNDECIDED
        sign = math.copysign(1.0, self._scaled(paper))
        is_other = sign * self._scaled(self.here) <= 0
        if self.interval is None:
            return UNDECIDED if is_other else WITHIN_CHANCE
        low, high = sorted(sign * self._scaled(end) for end in self.interval)
        if is_other:
            return DIFFERS if high < -BORDER * (high - low) else UNDECIDED
        if low <= BORDER * (high - low):
            return WITHIN_CHANCE
        size = abs(self._scaled(paper))
        return (
            REPRODUCED
            if self.drawn
            else self._size(size, sign * self._scaled(self.here), low, high)
        )

    def _size(self, size: float, here: float, low: float, high: float) -> str:
        """Whether it is from half to twice as large as in the paper, or its interval touches
        these sizes.
        """
        if self.unit == "times":
            size, here, low, high = (math.expm1(value) for value in (size, here, low, high))
        least, most = SHARE * size, size / SHARE
        if least <= here <= most:
            return REPRODUCED
        return WITHIN_CHANCE if high >= least and low <= most else OTHER_SIZE

    def _scaled(self, value: float) -> float:
        return (
            math.log(value)
            if self.unit == "times" and value > 0
            else -math.inf
            if self.unit == "times"
            else value
        )


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A count of the paper and the same count here."""

    what: str
    paper: int
    here: int

    @property
    def verdict(self) -> str:
        """Counts are equal or differ."""
        return REPRODUCED if self.paper == self.here else DIFFERS


Evidence = Compared | Counted


def state_of(found: Sequence[Evidence], said: str = "") -> str:
    """The state of a row.

    Args:
        found: its comparisons.
        said: a state that judges no number, for a row that compares nothing.

    Raises:
        ValueError: a state is said that only numbers give, or beside comparisons; or some
            comparisons are of the paper and others are not.
    """
    if said:
        if said not in SAID or (found and said != NOT_AT_HAND):
            raise ValueError(
                f"the state {said!r} may not be said of a row with {len(found)} comparisons"
            )
        return said
    if not found:
        return NOT_RUN
    verdicts = {one.verdict for one in found}
    if TESTED in verdicts and len(verdicts) > 1:
        raise ValueError(
            "what the paper does not compare stands in a row of its own, so that it hides no "
            "difference"
        )
    for strongest in (TESTED, DIFFERS, UNDECIDED, OTHER_SIZE):
        if strongest in verdicts:
            return strongest
    return WITHIN_CHANCE if WITHIN_CHANCE in verdicts or is_narrow(found) else REPRODUCED


def is_narrow(found: Sequence[Evidence]) -> bool:
    """Whether all comparisons are on corpora that the paper does not have, and these are too
    few.
    """
    compared = [one for one in found if isinstance(one, Compared)]
    if not compared or not all(one.elsewhere for one in compared):
        return False
    return len({one.corpus for one in compared}) < FEWEST_CORPORA
