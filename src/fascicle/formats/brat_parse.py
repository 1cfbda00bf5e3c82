"""What the annotation files of one brat document say, before it is laid over the text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from fascicle.core.document import Event, Link
from fascicle.core.effects import event_of
from fascicle.errors import FormatError, Place
from fascicle.formats.brat_lines import REFERENCE, TextBound, parse_reference, parse_text_bound

STEP: Final = "brat"
_LINE_ENDS: Final = re.compile(r"\r\n|\r|\n")
_TRIGGER: Final = re.compile(r"E\S*\t[^\s:]+:(\S+)")
# What is counted and not kept: code -> what it is, for the message.
_LEFT_OUT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "relations-left-out": "relations",
        "events-left-out": "events",
        "equivalences-left-out": "equivalences",
        "triggers-left-out": "triggers of events",
        "suffix-left-out": "text-bound annotations of files that were not asked for",
        "links-left-out": "normalisations of annotations that are not read",
        "attributes-left-out": "attributes of annotations that are not read",
        "notes-left-out": "notes on annotations that are not read",
        "types-left-out": "mentions of types that were asked to be left out",
    }
)
_ASKED: Final = "types-left-out"


@dataclass(frozen=True, kw_only=True)
class _Reference:
    """A line that speaks about another one."""

    target: str
    code: str
    place: str


class Standoff:
    """Collects the lines of one document, from all its annotation files.

    Attributes:
        rows: T lines, in order.
        links: id of a T line -> its links.
        attributes: id of a T line -> its attributes and notes.
        triggers: ids of the T lines that are triggers of events.
        left_out: code -> number of lines that are not kept.
        events: what was repaired or could not be read.
    """

    def __init__(self) -> None:
        """Starts with no line."""
        self.rows: list[TextBound] = []
        self.links: defaultdict[str, list[Link]] = defaultdict(list)
        self.attributes: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self.triggers: set[str] = set()
        self.left_out: Counter[str] = Counter()
        self.events: list[Event] = []
        self._ids: set[str] = set()
        self._references: list[_Reference] = []

    def take(self, content: str, *, name: str, path: str, listed: bool) -> None:
        """Takes one annotation file.

        A line that cannot be read is left out with the event ``malformed-line``.

        Args:
            content: of the file.
            name: of the file in its corpus, for events, which must not depend on where the corpus lies.
            path: of the file, for errors.
            listed: whether its T lines are mentions.

        Raises:
            FormatError: no line of the file can be read.
        """
        readable, first = 0, 0
        for number, line in enumerate(_LINE_ENDS.split(content), 1):
            if not line.strip():
                continue
            first = first or number
            place = f"{name}:{number}"
            if self._take_line(line, place, listed):
                readable += 1
            else:
                self.say("malformed-line", f"{place}: this is no line of a brat file; it was left out")
        if first and not readable:
            raise FormatError(
                "no line of this file is one of brat; a mention is written as T1<TAB>Type start end<TAB>text",
                at=Place(path, first),
            )

    def say(self, code: str, message: str, *, span: tuple[int, int] | None = None) -> None:
        """Adds a loss or a repair; its message may name places, but holds nothing of the text."""
        self.events.append(event_of(code, step=STEP, message=message, span=span))

    def note(self, code: str, message: str) -> None:
        """Adds what is neither."""
        self.events.append(Event(step=STEP, kind="note", code=code, message=message))

    def settle(self, kept: set[str]) -> None:
        """Says what was left out, when it is known which T lines were kept.

        Args:
            kept: ids of the T lines that became mentions.
        """
        for reference in self._references:
            if reference.target in kept:
                continue
            if reference.target.startswith("T") and reference.target not in self._ids:
                message = f"{reference.place}: {reference.target} is not in the files of this document"
                self.say("dangling-reference", message)
            else:
                self.left_out[reference.code] += 1
        for code, count in sorted(self.left_out.items()):
            (self.note if code == _ASKED else self.say)(code, f"not read: {count:,} {_LEFT_OUT[code]}")

    def _take_line(self, line: str, place: str, listed: bool) -> bool:
        """Takes one line; returns whether it could be read."""
        if line.startswith("T"):
            return self._take_text_bound(line, place, listed)
        takers: dict[str, Callable[[str, str], bool]] = {
            "N": self._take_normalisation,
            "A": self._take_attribute,
            "M": self._take_attribute,
            "#": self._take_note,
            "E": self._take_event,
        }
        others = {"R": "relations-left-out", "*": "equivalences-left-out"}
        if line[0] in others and "\t" in line:
            self.left_out[others[line[0]]] += 1
            return True
        return line[0] in takers and takers[line[0]](line, place)

    def _take_text_bound(self, line: str, place: str, listed: bool) -> bool:
        row = parse_text_bound(line, place=place, listed=listed)
        if row is None:
            return False
        if row.id in self._ids:
            message = f"{place}: the id {row.id} is there twice; what refers to it was given to the first"
            self.say("duplicate-annotation-id", message)
        self._ids.add(row.id)
        self.rows.append(row)
        return True

    def _take_normalisation(self, line: str, place: str) -> bool:
        columns = line.split("\t")
        name = columns[2] if len(columns) > 2 else ""
        found = parse_reference(columns[1].strip(" "), name) if len(columns) > 1 else None
        if found is None:
            return False
        target, link, reference = found
        if link is not None:
            self.links[target].append(link)
        else:  # "names no entry" is a fact too, and no link
            self.attributes[target].append((REFERENCE, f"{reference}\t{name}" if name else reference))
        self._references.append(_Reference(target=target, code="links-left-out", place=place))
        if len(columns) > 3:
            message = f"{place}: a normalisation has three columns; those after them were left out"
            self.say("malformed-line", message)
        return True

    def _take_attribute(self, line: str, place: str) -> bool:
        fields = line.partition("\t")[2].split(" ", 2)
        if len(fields) < 2 or not fields[0] or not fields[1].strip():
            return False
        target = fields[1].strip()
        self.attributes[target].append((fields[0], fields[2] if len(fields) > 2 else ""))
        self._references.append(_Reference(target=target, code="attributes-left-out", place=place))
        return True

    def _take_note(self, line: str, place: str) -> bool:
        columns = line.split("\t", 2)
        fields = columns[1].split(" ") if len(columns) > 1 else []
        if len(fields) != 2 or not all(fields):
            self.left_out["notes-left-out"] += 1  # a comment on nothing in particular
            return True
        self.attributes[fields[1]].append((fields[0], columns[2] if len(columns) > 2 else ""))
        self._references.append(_Reference(target=fields[1], code="notes-left-out", place=place))
        return True

    def _take_event(self, line: str, place: str) -> bool:
        if "\t" not in line:
            return False
        if trigger := _TRIGGER.match(line):
            self.triggers.add(trigger[1])
        self.left_out["events-left-out"] += 1
        return True
