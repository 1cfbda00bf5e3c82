"""Tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

UNDEFINED: Final = "–"
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|#~$&])")


def escaped(text: str) -> str:
    """Escapes text for Markdown and HTML, on one line, so that it is shown unchanged."""
    return (
        _SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("\\&", "&amp;").replace("\\<", "&lt;")
    )


def percent(value: float | None) -> str:
    """Returns a share in percent with two decimals."""
    return UNDEFINED if value is None else f"{100 * value:.2f}"


class MarkdownTable:
    """Table that collects the reasons why some of its cells are undefined."""

    def __init__(self, *header: str) -> None:
        """Begins with a header; its first column is text, the others are numbers."""
        self._rows = [list(header), [":--", *["--:"] * (len(header) - 1)]]
        self._reasons: dict[str, None] = {}

    def name(self, text: str) -> str:
        """Formats a name."""
        return escaped(text)

    def add(self, *cells: str) -> None:
        """Adds a row."""
        self._rows.append(list(cells))

    def share(self, row: Mapping[str, Any], name: str, *, best: float | None = None) -> str:
        """Formats a number of a row in percent; if it is undefined, the reason is kept for the
        notes. The best one looks like the others.
        """
        if row[name] is None:
            reasons = row.get("undefined", {})
            return self.because(reasons if isinstance(reasons, str) else reasons.get(name, ""))
        return percent(row[name])

    def because(self, reason: str) -> str:
        """Returns an undefined cell."""
        self._reasons[reason] = None
        return UNDEFINED

    def text(self) -> str:
        """Returns the table, and below it the reasons."""
        lines = ["| " + " | ".join(row) + " |" for row in self._rows]
        reasons = "; ".join(escaped(reason) for reason in self._reasons if reason)
        if reasons:
            lines += ["", f"{UNDEFINED} is undefined: {reasons}."]
        return "\n".join(lines)
