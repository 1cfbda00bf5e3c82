"""What a check finds: hits, and sentences about all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fascicle.core.document import Mention
from fascicle.core.spans import Fragments
from fascicle.doctor.parts import Item


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One case of a finding.

    Attributes:
        item: the document; ``None`` for a case that belongs to none.
        spans: where in its text, if anywhere.
        message: what there is to say beyond that; holds nothing of the text but what the check is about.
        where: what the case is counted under; the part of the document by default.
        path: of the file, where there is no document.
    """

    item: Item | None = None
    spans: Fragments = ()
    message: str = ""
    where: str = ""
    path: str = ""

    @property
    def counted_under(self) -> str:
        """See ``where``."""
        return self.where or (self.item.part.name if self.item is not None else self.path)


@dataclass(frozen=True, kw_only=True, slots=True)
class Detail:
    """A sentence about all cases of a finding, such as their share."""

    text: str


Found = Iterator[Hit | Detail]


def hit_of(item: Item, mention: Mention, message: str = "") -> Hit:
    """A hit at a mention."""
    return Hit(item=item, spans=mention.spans, message=f"{mention.type}{': ' if message else ''}{message}")


def shown(text: str, *, most: int = 60) -> str:
    """A string of a text in quotes, on one line, cut where it is long."""
    line = " ".join(text.split())
    return f'"{line if len(line) <= most else line[: most - 3] + "..."}"'


def percent(part: int, whole: int) -> str:
    """A share with one decimal; of nothing it is undefined."""
    return f"{100 * part / whole:.1f} %" if whole else "undefined"
