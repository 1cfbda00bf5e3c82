"""Corpora as LDC publishes them: texts of ACE 2004 and 2005 with entities in XML, and names of
OntoNotes.

ACE has ``NAME.sgm`` with ``NAME.apf.xml`` beside it. The text of a document is that of the file
without its tags. Offsets count its code points, the last one included; those of some files count
``&amp;`` as five characters, others as one, and the texts of the mentions show which.

OntoNotes has ``.name`` files with sentences of tokens, a line each, and names in ENAMEX tags. The
tokens of a document are joined by one space, also across sentences. A tag stands between tokens;
``S_OFF`` and ``E_OFF`` say how many characters at the start of its first token and at the end of
its last one it leaves out.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

import msgspec

from fascicle.core.document import Document, Event, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.files.elements import elements_in
from fascicle.core.files.source import Source, is_integer
from fascicle.core.files.tree import Tree, open_tree
from fascicle.core.mention import Span
from fascicle.core.wording import plural, unescape_html
from fascicle.errors import FormatError, Place
from fascicle.formats.collect import MentionCollector, join_tokens
from fascicle.formats.handlers import FormatReader
from fascicle.formats.offset_units import CODE_POINTS, conversion
from fascicle.formats.report import ReadReport

_STEP: Final = "ace"
_TEXT: Final = ".sgm"
_ENTITIES: Final = ".apf.xml"
# of the four folders in which ACE 2005 has a text, that with the final annotation
_FINAL: Final = "timex2norm"
_TAG: Final = re.compile(r"<[^<>]*>")
_BLANK: Final = re.compile(r"\s")
_ESCAPE: Final = re.compile(r"&(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);")
_LEFT_OUT: Final = {"event": "events-left-out"} | dict.fromkeys(
    ("value", "timex2"), "parts-left-out"
)
_OF_RELATION: Final = ("SUBTYPE", "TENSE", "MODALITY")
_Move = Callable[[int], int]


class _Stated(NamedTuple):
    """Mention as the XML has it; the end is its last character."""

    start: int
    last: int
    text: str
    entity: Element
    mention: Element

    def span(self, move: _Move) -> Span:
        """Returns its range in the text without escapes."""
        return move(self.start), move(self.last + 1)


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the texts of a folder or zip, sorted by name, with the entity mentions of the files
    beside them.

    A mention has its whole extent, the type of its entity, and the attributes ``subtype``,
    ``mention`` (``NAM``, ``NOM`` or ``PRO``) and ``entity``, the id that all mentions of one entity
    share. Each mention of a relation is a relation; values and times are no arguments. Events,
    values and times are counted in events. If the place has folders called ``timex2norm``, only
    these are read.

    Args:
        source: the place.
        options: none.
        report: a text that cannot be read sets its document aside.

    Raises:
        FormatError: two texts of one name, a text without its entities, or a file that is no such
            XML.
    """
    with open_tree(source.path, suffixes=(_TEXT, PurePosixPath(_ENTITIES).suffix)) as tree:
        for name in tree.unnamed:
            report.aside.add(tree.refusal(name))
        for identifier, name in _texts(tree).items():
            with report.aside.one():
                yield _document(tree, name, identifier, source)


def _texts(tree: Tree) -> dict[str, str]:
    """Returns the text files by the ids of their documents."""
    names = [name for name in tree.names if name.lower().endswith(_TEXT)]
    final = [name for name in names if _FINAL in PurePosixPath(name).parts]
    texts: dict[str, str] = {}
    for name in final or names:
        identifier = PurePosixPath(name).stem
        if identifier in texts:
            message = (
                f"{tree.place(name)} and {texts[identifier]} are two texts of one name; "
                "give one of their folders"
            )
            raise FormatError(message)
        texts[identifier] = name
    return texts


def _document(tree: Tree, name: str, identifier: str, source: Source) -> Document:
    beside = name[: -len(_TEXT)] + _ENTITIES
    if beside not in tree.names:
        raise FormatError(
            f"{tree.place(name)} has no {identifier}{_ENTITIES} beside it; add it, or take the "
            "text away"
        )
    raw = _TAG.sub("", tree.text(name, source)[0])
    place = tree.place(beside)
    elements = elements_in(
        tree.text(beside, source)[0], ("entity", "relation", *_LEFT_OUT), path=place
    )
    records = [record for _, record in elements]
    mentions = [
        mention
        for record in records
        if record.tag == "entity"
        for mention in _mentions(record, place)
    ]
    text, move, events = _resolve_escapes(raw, mentions)
    collector = MentionCollector(text, step=_STEP)
    keys = {
        mention.mention.get("ID"): _add(collector, text, mention, mention.span(move))
        for mention in mentions
    }
    stated = [record for record in records if record.tag == "relation"]
    relations = tuple(_relations(stated, keys, events))
    events += _left_out(records)
    return collector.document(identifier, relations=relations, events=events)


def _relations(
    records: Iterable[Element], keys: Mapping[str | None, MentionKey | None], events: list[Event]
) -> Iterator[Relation]:
    """Yields the mentions of relations with two arguments in ``keys`` or more; counts others."""
    losses = 0
    for record in records:
        facts = [(name.lower(), record.get(name, "")) for name in _OF_RELATION]
        mentions = record.findall("relation_mention")
        losses += not mentions
        for mention in mentions:
            stated = list(_arguments(mention, keys))
            arguments = tuple((role, key) for role, key in stated if key)
            is_whole = 1 < len(arguments) == len(stated)
            losses += not is_whole
            if is_whole:
                attributes = tuple(fact for fact in facts if fact[1])
                kind = record.get("TYPE", "")
                yield Relation(type=kind, arguments=arguments, attributes=attributes)
    if losses:
        message = f"{plural(losses, 'relation')} of the file without all of its entities left out"
        events.append(make_event("relations-left-out", step=_STEP, message=message))


def _arguments(
    mention: Element, keys: Mapping[str | None, MentionKey | None]
) -> Iterator[tuple[str, MentionKey | None]]:
    """Yields the arguments that are mentions of entities, as ACE 2005 or ACE 2004 has them; without
    a key if the mention was left out.
    """
    for argument in mention:
        identifier = argument.get("REFID") or argument.get("ENTITYMENTIONID")
        if identifier in keys:
            yield argument.get("ROLE") or f"Arg-{argument.get('ARGNUM')}", keys[identifier]


def _add(collector: MentionCollector, text: str, mention: _Stated, span: Span) -> MentionKey | None:
    # A line may end otherwise in the XML.
    is_same = _BLANK.sub(" ", mention.text) == _BLANK.sub(" ", text[slice(*span)])
    entity = mention.entity
    facts = (
        ("subtype", entity.get("SUBTYPE")),
        ("mention", mention.mention.get("TYPE")),
        ("entity", entity.get("ID")),
    )
    return collector.add(
        [span],
        entity.get("TYPE", ""),
        expected=None if is_same else mention.text,
        attributes=tuple((name, value) for name, value in facts if value),
    )


def _mentions(entity: Element, place: str) -> Iterator[_Stated]:
    """Yields the mentions of an entity with their extents."""
    for mention in entity.iter("entity_mention"):
        extent = mention.find("extent/charseq")
        offsets = ("", "") if extent is None else (extent.get("START", ""), extent.get("END", ""))
        if extent is None or not all(map(is_integer, offsets)) or not entity.get("TYPE"):
            raise FormatError(
                f"the mention {mention.get('ID', '')!r} has no type, or no extent whose START and "
                "END are numbers; mend it",
                at=place,
            )
        start, last = map(int, offsets)
        yield _Stated(start, last, "".join(extent.itertext()), entity, mention)


def _resolve_escapes(raw: str, mentions: list[_Stated]) -> tuple[str, _Move, list[Event]]:
    """Returns the text with its escapes resolved, and what moves the offsets of the mentions
    into it.
    """
    text, move = _ESCAPE.sub(lambda match: unescape_html(match[0]), raw), _move(raw)

    def count_matches(move: _Move) -> int:
        return sum(text[slice(*mention.span(move))] == mention.text for mention in mentions)

    moves = {"the characters of &amp; and other escapes": move}
    if "\r\n" in text:
        moves["CRLF as one character"] = conversion(text, CODE_POINTS, joined_ends=True)
    unit, best = max(moves.items(), key=lambda move: count_matches(move[1]))
    if count_matches(int) >= count_matches(best):
        return text, int, []
    message = f"the offsets of this document count {unit}; they were moved"
    return text, best, [make_event("offsets-moved", step=_STEP, message=message)]


def _move(raw: str) -> _Move:
    """Returns a function from offsets in a text with escapes to those in the text without."""
    escapes = list(_ESCAPE.finditer(raw))
    ends = [escape.end() for escape in escapes]
    shorter = [0, *accumulate(len(match[0]) - len(unescape_html(match[0])) for match in escapes)]
    return lambda offset: offset - shorter[bisect_right(ends, offset)]


def _left_out(records: list[Element]) -> Iterator[Event]:
    for tag, code in _LEFT_OUT.items():
        if number := sum(record.tag == tag for record in records):
            yield make_event(
                code, step=_STEP, message=f"{plural(number, tag)} of the file left out"
            )


READER: Final = FormatReader(read=read)


_NAMES_STEP: Final = "ontonotes"
_NAMES: Final = ".name"
_START: Final = re.compile(r"<DOC\b([^<>]*)>")
_PART: Final = re.compile(r"<ENAMEX\b([^<>]*)>|(</ENAMEX>)|([^<>\s]+)|(\S)")
_FACT: Final = re.compile(r'\b(\w+)="([^"]*)"')
_COUNT: Final = re.compile(r"\d{1,9}")
_Name = tuple[int, int, dict[str, str]]  # first token, the one after the last, facts of the tag


def _read_names(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Streams the documents of a ``.name`` file, or of all such files of a folder or zip, sorted by
    name.

    The id of a document is its ``DOCNO``; of a document without one, the name of the file.

    Args:
        source: the place.
        options: none.
        report: a file that cannot be read sets its documents aside.

    Raises:
        FormatError: a file without documents, or a tag that is not closed, not opened or of another
            kind.
    """
    with open_tree(source.path, suffixes=(_NAMES,)) as tree:
        for name in tree.unnamed:
            report.aside.add(tree.refusal(name))
        for name in tree.names:
            with report.aside.one():
                text, _ = tree.text(name, source)
                yield from _documents(text, PurePosixPath(name).stem, place=tree.place(name))


def _documents(text: str, stem: str, *, place: str) -> list[Document]:
    documents: list[Document] = []
    end, content, line = 0, 0, 1
    while (start := _START.search(text, end)) and (end := text.find("</DOC>", start.end())) >= 0:
        line += text.count("\n", content, start.end())
        content = start.end()
        identifier = _facts_of(start[1]).get("DOCNO") or stem
        documents.append(_document_of_names(text[content:end], identifier, Place(place, line)))
    if not documents and text.strip():
        raise FormatError(
            "the file has no <DOC> that is closed; is it a .name file of OntoNotes?", at=place
        )
    return documents


def _document_of_names(content: str, identifier: str, start: Place) -> Document:
    sentences: list[list[str]] = []
    names: list[_Name] = []
    first = 0
    for number, line in enumerate(content.split("\n"), start.line or 1):
        tokens, names_of_line = _sentence(line, Place(start.file, number))
        names += [(first + low, first + high, facts) for low, high, facts in names_of_line]
        first += len(tokens)
        if tokens:
            sentences.append(tokens)

    document = join_tokens(identifier, sentences, (), step=_NAMES_STEP)
    collector = MentionCollector(document.text, step=_NAMES_STEP)
    for name in names:
        collector.add([_name_span(name, document.words or ())], name[2]["TYPE"])
    return msgspec.structs.replace(
        document, mentions=collector.mentions, events=tuple(collector.events)
    )


def _name_span(name: _Name, words: Sequence[Span]) -> Span:
    """Returns the range of a name, without the characters at its ends that are no part of it."""
    low, high, facts = name
    start, end = words[low][0], words[high - 1][1]
    return start + int(facts.get("S_OFF", 0)), end - int(facts.get("E_OFF", 0))


def _sentence(line: str, place: Place) -> tuple[list[str], list[_Name]]:
    """Returns the tokens of a line, and the names between them."""
    tokens: list[str] = []
    opened: list[tuple[int, dict[str, str]]] = []
    names: list[_Name] = []
    for tag, close, token, other in _PART.findall(line):
        if token:
            tokens.append(unescape_html(token))
        elif close and opened and opened[-1][0] < len(tokens):
            low, facts = opened.pop()
            names.append((low, len(tokens), facts))
        elif tag and (facts := _facts_of(tag)).get("TYPE") and _counts(facts):
            opened.append((len(tokens), facts))
        else:
            raise FormatError(
                f"{other or close or tag.strip()!r} is not an ENAMEX tag with a TYPE around tokens "
                "of this line; correct it",
                at=place,
            )
    if opened:
        raise FormatError("an ENAMEX tag is not closed on its line; mend it", at=place)
    return tokens, names


def _counts(facts: dict[str, str]) -> bool:
    return all(_COUNT.fullmatch(facts.get(name, "0")) for name in ("S_OFF", "E_OFF"))


def _facts_of(tag: str) -> dict[str, str]:
    return {name: unescape_html(value) for name, value in _FACT.findall(tag)}


ONTONOTES_READER: Final = FormatReader(read=_read_names)
