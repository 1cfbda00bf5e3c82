"""Lines of brat standoff files, and file names of documents: rules shared by reader and writer.

A line is ``T1<TAB>Type 0 5;10 15<TAB>text`` (text-bound), ``N1<TAB>Reference T1
Ontology:id<TAB>name`` (normalisation), ``A1<TAB>Name T1 value`` (attribute),
``#1<TAB>AnnotatorNotes T1<TAB>note``, ``R1<TAB>Type Role:T1 Role:T2`` (relation) or ``*<TAB>Equiv
T1 T2`` (equivalence).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from fascicle.core.document import Event, Link, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.mention import Span
from fascicle.errors import FormatError, Place

NOTE: Final = "AnnotatorNotes"
REFERENCE: Final = "Reference"
NO_ONTOLOGY: Final = "-"
_NO_ENTRY: Final = frozenset({"", "NULL", "NIL"})
_PAIR: Final = "-?[0-9]{1,18} -?[0-9]{1,18}"
# Words of a type after the first may not begin with a digit: they would be offsets.
_TYPE: Final = "[^\\t ]+(?: (?!-?[0-9])[^\\t ]+)*"
_TEXT_BOUND: Final = re.compile(
    rf"(T\S*)\t({_TYPE}) +({_PAIR}(?:;{_PAIR})*) *(?:\t(.*))?", re.DOTALL
)
# All characters that programs treat as line ends, and TAB: in the text column of a mention each
# becomes a blank.
_BREAKS: Final = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029\0]")
_BLANKS: Final = re.compile(r"\s+")
_NOT_IN_NAMES: Final = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029/\\\\:*?"<>|%]|^\\.')
_ESCAPED: Final = re.compile(r"(?:%[0-9A-F]{2})+")
STEP: Final = "brat"
_LINE_ENDS: Final = re.compile(r"\r\n|\r|\n")
EQUIVALENCE: Final = "Equiv"
_RELATION: Final = re.compile(r"(R\S*)\t(\S+)((?: +[^\s:]+:\S+)+) *(?:\t.*)?", re.DOTALL)
_EQUIVALENCE: Final = re.compile(r"\*\t(\S+)((?: +\S+){2,}) *(?:\t.*)?", re.DOTALL)
_TRIGGER: Final = re.compile(r"(E\S*)\t[^\s:]+:(\S+)")
# Lines that are counted and not kept: code -> name for the message.
_LEFT_OUT: Final = MappingProxyType(
    {
        "relations-left-out": "relations of annotations that are not read",
        "events-left-out": "events",
        "equivalences-left-out": "equivalences of annotations that are not read",
        "triggers-left-out": "triggers of events",
        "suffix-left-out": "text-bound annotations of files that were not asked for",
        "links-left-out": "normalisations of annotations that are not read",
        "attributes-left-out": "attributes of annotations that are not read",
        "notes-left-out": "notes on annotations that are not read",
        "types-left-out": "mentions of types that were asked to be left out",
    }
)
_ASKED: Final = "types-left-out"


class TextBound(NamedTuple):
    """T line (text-bound annotation) of a brat file.

    Attributes:
        id: as in the file, e.g. ``"T1"``.
        type: entity type.
        spans: offsets in the order of the file, unchecked.
        text: of the mention, as the line gives it; ``None`` if it gives none.
        place: file and line, for messages.
        is_mention: whether T lines of this file are mentions.
    """

    id: str
    type: str
    spans: tuple[Span, ...]
    text: str | None
    place: str
    is_mention: bool = True


def _parse_text_bound(line: str, *, place: str, is_mention: bool) -> TextBound | None:
    """Parses a T line; returns ``None`` if the line is not one."""
    match = _TEXT_BOUND.fullmatch(line)
    if match is None:
        return None
    identifier, kind, offsets, text = match.groups()
    spans = tuple([_offsets(pair) for pair in offsets.split(";")])
    return TextBound(identifier, kind, spans, text, place, is_mention)


def _offsets(pair: str) -> Span:
    start, end = pair.split(" ")
    return int(start), int(end)


def join_fragments(text: str, spans: Sequence[Span]) -> str:
    """Returns the text column of a mention: fragments joined by one blank, with blanks for line
    breaks and TABs.
    """
    return _BREAKS.sub(" ", " ".join(text[start:end] for start, end in spans))


def parts_on_lines(text: str, spans: Sequence[Span]) -> list[Span]:
    """Returns the fragments of a mention, divided at line ends and TABs, since brat refuses a
    fragment with one.
    """
    parts = []
    for start, end in spans:
        for gap in _BLANKS.finditer(text, start, end):
            if start < gap.start() and gap.end() < end and _BREAKS.search(gap[0]):
                parts.append((start, gap.start()))
                start = gap.end()
        parts.append((start, end))
    return parts


def agrees(expected: str, text: str, spans: Sequence[Span]) -> bool:
    """True if the text column of a line matches the text at these offsets.

    Fragments may be joined by a blank or, as before brat 1.3, by nothing; a line break may be one
    blank.
    """
    # Longer spans cannot match, so their text is not copied: a short file may refer to the whole
    # text many times.
    start, end = spans[0] if len(spans) == 1 else (-1, -1)
    if 0 <= start == end - len(expected) and text.startswith(expected, start):
        return True  # as nearly always
    if sum(max(0, end - start) for start, end in spans) > 4 * len(expected) + 100:
        return False
    fragments = [text[start:end] for start, end in spans]
    if fragments == [expected]:
        return True
    column = _BREAKS.sub(" ", expected)
    forms = [" ".join(fragments), "".join(fragments)]
    forms += [form.replace("\r\n", "\n") for form in forms]
    return any(column == _BREAKS.sub(" ", form) for form in forms)


def parse_reference(middle: str, name: str) -> tuple[str, Link | None, str] | None:
    """Parses the middle column of an N line.

    Three forms are known: ``Reference T1 Ontology:id``, where ``-`` means no ontology; the form of
    the BioNLP shared tasks, ``Ontology Annotation:T1 Referent:id``; and ``Ontology:id T1``.

    Args:
        middle: the column.
        name: of the entry, from the last column.

    Returns:
        The id of the mention, the link (``None`` for ids such as ``NULL``, which name no entry),
        and the reference ``Ontology:id``; or ``None`` if the column is none of these.
    """
    fields = middle.split(" ")
    may_be_task = len(fields) == 3 and fields[1].startswith(("Annotation", "Referent"))
    parts = dict(field.partition(":")[::2] for field in fields[1:]) if may_be_task else {}
    if parts.keys() == {"Annotation", "Referent"}:
        target, identifier = parts["Annotation"], parts["Referent"]
        reference = f"{fields[0]}:{identifier}" if fields[0] != REFERENCE else identifier
    elif len(fields) == 3:
        _, target, reference = fields
    elif len(fields) == 2:
        reference, target = fields
    else:
        return None
    ontology, sign, identifier = reference.partition(":")
    if identifier.startswith("//"):  # an address is an id as a whole
        ontology, identifier = NO_ONTOLOGY, reference
    if not sign or not ontology or not target:
        return None
    if not names_an_entry(identifier):
        return target, None, reference
    ontology = "" if ontology == NO_ONTOLOGY else ontology
    return target, Link(id=identifier, ontology=ontology, name=name), reference


def names_an_entry(identifier: str) -> bool:
    """True if an id names an entry of an ontology; false for ``NULL``, ``NIL`` or an empty id."""
    return identifier.upper() not in _NO_ENTRY


def format_reference(link: Link) -> str:
    """Returns the reference of a link as `parse_reference` reads it, without the leading
    ``Reference T1``.
    """
    return f"{link.ontology or NO_ONTOLOGY}:{link.id}"


def file_name(identifier: str) -> str:
    r"""Returns the file name for a document id, without a suffix.

    Characters that some system does not allow (control characters and ``/ \ : * ? " < > | %``, a
    dot in front) become ``%`` and two hexadecimal digits for each byte of their UTF-8.
    """
    return _NOT_IN_NAMES.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), identifier
    )


def document_id(name: str) -> str:
    """Returns the document id for a file name (without its suffix); reverses `file_name` where
    that made the name.
    """
    try:
        original = _ESCAPED.sub(
            lambda match: bytes.fromhex(match[0].replace("%", "")).decode(), name
        )
    except UnicodeDecodeError:
        return name
    return original if file_name(original) == name else name


class _Reference(NamedTuple):
    """Line that refers to another line."""

    target: str
    code: str
    place: str


class _Related(NamedTuple):
    """R line, or a line of an equivalence, which has neither an id nor roles."""

    id: str
    type: str
    arguments: tuple[tuple[str, str], ...]
    code: str
    place: str


class Standoff:
    """Collector for the lines of one document, from all its annotation files.

    Attributes:
        rows: T lines, in order.
        links: id of a T line -> its links.
        attributes: id of a T line -> its attributes and notes.
        triggers: ids of the T lines that are triggers of events.
        left_out: code -> number of lines that are not kept.
        events: what was repaired or could not be read.
    """

    def __init__(self) -> None:
        """Creates a collector without lines."""
        self.rows: list[TextBound] = []
        self.links: defaultdict[str, list[Link]] = defaultdict(list)
        self.attributes: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        self.triggers: set[str] = set()
        self.left_out: Counter[str] = Counter()
        self.events: list[Event] = []
        self._ids: set[str] = set()
        self._events: dict[str, str] = {}  # id of an event -> id of its trigger
        self._references: list[_Reference] = []
        self._related: list[_Related] = []
        self._takers: Mapping[str, Callable[[str, str], bool]] = {
            "N": self._take_normalisation,
            "A": self._take_attribute,
            "M": self._take_attribute,
            "#": self._take_note,
            "E": self._take_event,
            "R": self._take_relation,
            "*": self._take_equivalence,
        }

    def take(self, content: str, *, name: str, path: str, are_mentions: bool) -> None:
        """Reads one annotation file.

        A line that cannot be read is left out with the event ``malformed-line``.

        Args:
            content: of the file.
            name: of the file in its corpus, for events, which must not depend on the place of the
                corpus.
            path: of the file, for errors.
            are_mentions: whether its T lines are mentions.

        Raises:
            FormatError: no line of the file can be read.
        """
        readable, first = 0, 0
        for number, line in enumerate(_LINE_ENDS.split(content), 1):
            if not line.strip():
                continue
            first = first or number
            place = f"{name}:{number}"
            if self._take_line(line, place, are_mentions):
                readable += 1
            else:
                self.say(
                    "malformed-line", f"{place}: this is no line of a brat file; it was left out"
                )
        if first and not readable:
            message = (
                "no line of this file is one of brat; a mention is written as T1<TAB>Type "
                "start end<TAB>text"
            )
            raise FormatError(message, at=Place(path, first))

    def say(self, code: str, message: str, *, span: tuple[int, int] | None = None) -> None:
        """Adds a loss or a repair event; its message may name places, but contains nothing of
        the text.
        """
        self.events.append(make_event(code, step=STEP, message=message, span=span))

    def note(self, code: str, message: str) -> None:
        """Adds an event that is a note: neither a loss nor a repair."""
        self.events.append(Event(step=STEP, kind="note", code=code, message=message))

    def move_to_triggers(self) -> None:
        """Makes the attributes of events, such as ``M1<TAB>Negation E1``, those of their
        triggers, each once.
        """
        if not self._events:
            return
        for event, trigger in self._events.items():
            own = self.attributes[trigger]
            own += [pair for pair in self.attributes.pop(event, []) if pair not in own]
        self._references = [
            reference._replace(target=self._events.get(reference.target, reference.target))
            for reference in self._references
        ]

    def settle(self, keys: Mapping[str, MentionKey]) -> tuple[Relation, ...]:
        """Adds events for what was left out; call it when it is known which T lines were kept.

        Args:
            keys: ids of the T lines that became mentions, and the keys of these.

        Returns:
            The relations between these mentions.
        """
        whole = [statement for statement in self._related if self._is_whole(statement, keys)]
        relations = tuple(self._relation(statement, keys) for statement in whole)
        targets = keys.keys() | {statement.id for statement in whole}
        for reference in self._references:
            if reference.target in targets:
                continue
            if reference.target.startswith("T") and reference.target not in self._ids:
                message = (
                    f"{reference.place}: {reference.target} is not in the files of this document"
                )
                self.say("dangling-reference", message)
            else:
                self.left_out[reference.code] += 1
        for code, count in sorted(self.left_out.items()):
            (self.note if code == _ASKED else self.say)(
                code, f"not read: {count:,} {_LEFT_OUT[code]}"
            )
        return relations

    def _is_whole(self, statement: _Related, keys: Container[str]) -> bool:
        missing = [target for _, target in statement.arguments if target not in keys]
        self._references += [
            _Reference(target, statement.code, statement.place) for target in missing[:1]
        ]
        return not missing

    def _relation(self, statement: _Related, keys: Mapping[str, MentionKey]) -> Relation:
        if links := self.links.pop(statement.id, []):
            self.left_out["links-left-out"] += len(links)
        arguments = tuple((role, keys[target]) for role, target in statement.arguments)
        return Relation(
            type=statement.type,
            arguments=arguments,
            attributes=tuple(self.attributes.pop(statement.id, [])),
        )

    def _take_line(self, line: str, place: str, are_mentions: bool) -> bool:
        """Reads one line; returns true if the line could be parsed."""
        if line.startswith("T"):
            return self._take_text_bound(line, place, are_mentions)
        taker = self._takers.get(line[0])
        return taker is not None and taker(line, place)

    def _take_text_bound(self, line: str, place: str, are_mentions: bool) -> bool:
        row = _parse_text_bound(line, place=place, is_mention=are_mentions)
        if row is None:
            return False
        if row.id in self._ids:
            message = (
                f"{place}: the id {row.id} occurs twice; what refers to it was given to the first"
            )
            self.say("duplicate-annotation-id", message)
        self._ids.add(row.id)
        self.rows.append(row)
        return True

    def _take_normalisation(self, line: str, place: str) -> bool:
        _, middle, name, *more = [*line.split("\t"), "", ""]
        parsed = parse_reference(middle.strip(" "), name)
        if parsed is None:
            return False
        target, link, reference = parsed
        if link is not None:
            self.links[target].append(link)
        else:  # a reference without an entry is kept as an attribute, not as a link
            value = f"{reference}\t{name}" if name else reference
            self.attributes[target].append((REFERENCE, value))
        self._references.append(_Reference(target, "links-left-out", place))
        if len(more) > 2:
            message = f"{place}: a normalisation has three columns; those after them were left out"
            self.say("malformed-line", message)
        return True

    def _take_attribute(self, line: str, place: str) -> bool:
        name, target, value, *_ = [*line.partition("\t")[2].split(" ", 2), "", ""]
        target = target.strip()
        if not name or not target:
            return False
        self.attributes[target].append((name, value))
        self._references.append(_Reference(target, "attributes-left-out", place))
        return True

    def _take_note(self, line: str, place: str) -> bool:
        _, middle, value, *_ = [*line.split("\t", 2), "", ""]
        name, _, target = middle.partition(" ")
        if not name or not target or " " in target:
            self.left_out["notes-left-out"] += 1  # a comment on nothing in particular
            return True
        self.attributes[target].append((name, value))
        self._references.append(_Reference(target, "notes-left-out", place))
        return True

    def _take_relation(self, line: str, place: str) -> bool:
        match = _RELATION.fullmatch(line)
        if match is not None:
            arguments = tuple(field.partition(":")[::2] for field in match[3].split())
            self._related.append(
                _Related(match[1], match[2], arguments, "relations-left-out", place)
            )
        return match is not None

    def _take_equivalence(self, line: str, place: str) -> bool:
        match = _EQUIVALENCE.fullmatch(line)
        if match is not None:
            arguments = tuple(("", target) for target in match[2].split())
            self._related.append(_Related("", match[1], arguments, "equivalences-left-out", place))
        return match is not None

    def _take_event(self, line: str, place: str) -> bool:
        if "\t" not in line:
            return False
        if trigger := _TRIGGER.match(line):
            self.triggers.add(trigger[2])
            self._events[trigger[1]] = trigger[2]
        self.left_out["events-left-out"] += 1
        return True
