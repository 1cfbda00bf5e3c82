"""Where given forms stand in a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from fascicle.core.spans import Span

_LONGEST: Final = 64  # characters: longer forms are hardly written twice, and a bound keeps the search linear
_FEW: Final = 50  # so many forms are found faster one by one
_START: Final = re.compile(r"(?<![^\W_])\S")


def occurrences(text: str, forms: Collection[str]) -> dict[str, list[Span]]:
    """Where each form stands, with no letter or digit before or after it, as it is written.

    Args:
        text: any.
        forms: to look for; those of more than 64 characters are not found.

    Returns:
        The places of each form that was found, in order.
    """
    wanted = {form for form in forms if 0 < len(form) <= _LONGEST}
    if len(wanted) <= _FEW:
        each = ((form, list(_places(text, form))) for form in sorted(wanted))
        return {form: places for form, places in each if places}
    firsts = {form[0] for form in wanted}
    lengths = sorted({len(form) for form in wanted})
    found: dict[str, list[Span]] = {}
    for match in _START.finditer(text):
        start = match.start()
        if match[0] not in firsts:
            continue
        for length in lengths:
            form = text[start : start + length]
            if form in wanted and len(form) == length and not text[start + length : start + length + 1].isalnum():
                found.setdefault(form, []).append((start, start + length))
    return found


def _places(text: str, form: str) -> Iterator[Span]:
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if not (text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()):
            yield start, end
        start = text.find(form, start + 1)
