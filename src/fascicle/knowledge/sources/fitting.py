"""Which names of a record may be in a pack, by their tokens and by patterns: others are hardly ever in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from fascicle.core.patience import at_most
from fascicle.errors import InputError, Place
from fascicle.knowledge.keys.key import key
from fascicle.knowledge.sources.report import SourceReport
from fascicle.knowledge.terms import Name
from fascicle.settings.packs import SourceSettings

Fits = Callable[[Sequence[Name], SourceReport, Place], Sequence[Name]]
_SECONDS: Final = 5.0  # of processor time, for the names of one record


def unfit(settings: SourceSettings) -> Callable[[str], str]:
    """What says why `max_tokens` or `without` leave a name out; empty for one that stays."""
    patterns = [re.compile(pattern) for pattern in settings.without]
    most = settings.max_tokens

    def reason(surface: str) -> str:
        if any(pattern.search(surface) for pattern in patterns):
            return "without"
        long = len(surface) > most or not surface.isascii()  # a token has a character or more
        return "tokens" if long and key(surface, 2).count(" ") >= most else ""

    return reason


def fitting(settings: SourceSettings) -> Fits:
    """What gives back those names of a record that `max_tokens` and `without` let through.

    It counts the others, but for labels.

    Args:
        settings: of the source.

    Raises:
        InputError: later, if a pattern takes seconds for the names of a record.
    """
    if not settings.without and settings.max_tokens >= settings.max_length:
        return lambda names, report, place: names
    reason = unfit(settings)

    def fit(names: Sequence[Name], report: SourceReport, place: Place) -> Sequence[Name]:
        if not settings.without:
            return fitted(names, report, place)
        said = "without has a regular expression that finds no end; write it without a repetition inside of another"
        with at_most(_SECONDS, InputError(f"{place}: {said}", file=place.file, code="too-large")):
            return fitted(names, report, place)

    def fitted(names: Sequence[Name], report: SourceReport, place: Place) -> Sequence[Name]:
        kept = []
        for name in names:
            why = reason(name.surface)
            if not why:
                kept.append(name)
            elif name.kind != "label":  # which stays, or is lost with its record
                report.lose(why, place)
        return kept

    return fit
