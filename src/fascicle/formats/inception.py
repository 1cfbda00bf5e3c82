"""WebAnno TSV 3, as WebAnno and INCEpTION export it, and UIMA CAS in XMI or JSON, as INCEpTION exports it.

A file of WebAnno is a document with layers of annotation; the format is in appendix A of the guide of WebAnno
(https://webanno.github.io/webanno/releases/3.6.7/docs/user-guide.html). Its offsets count UTF-16 units.

A CAS needs the package dkpro-cassis (extra ``cas``), which counts offsets in code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count, zip_longest
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.elements import MAX_RECORD, refuse_entities
from fascicle.core.files.source import Source, read_lines
from fascicle.core.mention import Span, parse_link
from fascicle.errors import FormatError, Place, import_extra
from fascicle.formats.collect import MentionCollector
from fascicle.formats.extraction import package_errors, read_all_bytes
from fascicle.formats.handlers import Reader
from fascicle.formats.report import ReadReport

_STEP: Final = "webanno"
MARK: Final = "#FORMAT=WebAnno TSV 3"
_ENTITIES: Final = "ner.type.NamedEntity"
_LINGUISTIC: Final = "de.tudarmstadt.ukp.dkpro.core.api."  # layers of words and grammar, but for names
_TEXT: Final = "#Text="
_ROW: Final = re.compile(r"\d+-\d+(\.\d+)?\t(\d{1,12})-(\d{1,12})\t([^\t]*)\t?(.*)")
_LAYER: Final = re.compile(r"#T_(SP|CH|RL)=([^|]+)\|?(.*)")
_ESCAPED: Final = re.compile(r"\\(.)")
_SIGNS: Final = {"t": "\t", "n": "\n", "r": "\r"}
_STACKED: Final = re.compile(r"((?:[^|\\]|\\.?)*)(?:\||$)")
_VALUE: Final = re.compile(r"((?:[^\\\[]|\\.?)*)(?:\[(\d+)\])?")
_OTHER: Final = {"RL": "relations-left-out", "CH": "coreferences-left-out"}


@dataclass(kw_only=True)
class _Found:
    """What a file says of its document; the offsets are those of the file."""

    layers: list[tuple[str, str, list[str]]] = field(default_factory=list)  # kind, name and features
    lines: list[str] = field(default_factory=list)  # of the sentence that begins
    text: bytearray = field(default_factory=bytearray)
    words: list[Span] = field(default_factory=list)
    sentences: list[Span] = field(default_factory=list)
    mentions: dict[tuple[str, int], tuple[Span, dict[str, str]]] = field(default_factory=dict)
    other: set[str] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=lambda: count(1_000_000_000))  # of annotations without one

    def begin(self, start: int, token: str) -> None:
        """Adds the text of a sentence, whose first token stands at an offset."""
        text = _plain("\n".join(self.lines))
        start -= len(text[: text.index(token)].encode("utf-16-le")) // 2
        gap = start - len(self.text) // 2
        if gap < 0 or gap > 10_000 or start > MAX_RECORD:
            raise ValueError("a sentence does not begin behind the sentence before it, or too far behind")
        self.text += ("\n" if gap == 1 else " " * gap).encode("utf-16-le") + text.encode("utf-16-le")
        self.sentences.append((start, len(self.text) // 2))
        self.lines.clear()

    def row(self, place: Span, cells: list[str]) -> None:
        """Adds the annotations of a token or of a part of it."""
        at = 0
        for kind, name, features in self.layers:
            given = [
                _STACKED.findall(cell)[: cell.replace("\\|", "").count("|") + 1]
                for cell in cells[at : at + len(features)]
            ]
            at += len(features)
            for values in zip_longest(*given, fillvalue="_"):
                said = [_VALUE.match(value) for value in values]
                facts = {
                    key: one[1] for key, one in zip(features, said, strict=True) if one and one[1] not in ("_", "*", "")
                }
                if all(value == "_" for value in values) or (kind == "SP" and not _is_of_mentions(name)):
                    continue
                if kind != "SP":
                    self.other.add(_OTHER[kind])
                    continue
                number = next((int(one[2]) for one in said if one and one[2]), None) or next(self.numbers)
                before, kept = self.mentions.get((name, number), (place, facts))
                self.mentions[name, number] = (min(before[0], place[0]), max(before[1], place[1])), kept


def read(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the name of the file.

    Mentions are the named entities, and the annotations of layers that a project defines. The type is the value of an
    entity, else the first feature, else the name of the layer; other features are attributes.

    Args:
        source: the file.
        options: none.
        report: not used.

    Raises:
        FormatError: a row that breaks the rules of the format.
    """
    found = _Found()
    for number, line in read_lines(source):
        try:
            _add(line, found)
        except ValueError as error:
            message = f"the line cannot be read ({error}); export the document again"
            raise FormatError(message, at=Place(source.path, number)) from None
    if found.words:
        yield _document(source, found)


def _add(line: str, found: _Found) -> None:
    if layer := _LAYER.match(line):
        found.layers.append((layer[1], layer[2], layer[3].split("|")))
    elif line.startswith(_TEXT):
        found.lines.append(line.removeprefix(_TEXT))
    elif line and not line.startswith("#"):
        row = _ROW.fullmatch(line)
        if row is None:
            raise ValueError("a row has a number such as 1-2, offsets such as 4-9, and a token")
        place = int(row[2]), int(row[3])
        if found.lines:
            found.begin(place[0], _plain(row[4]))
        found.words += [place] if row[1] is None else []
        found.row(place, row[5].split("\t"))


def _document(source: Source, found: _Found) -> Document:
    text = found.text.decode("utf-16-le")
    places, unit = {}, 0
    for at, sign in enumerate(text):
        places[unit] = at
        unit += 1 + (sign > "\uffff")
    places[unit] = len(text)

    def moved(span: Span) -> Span:
        return places.get(span[0], -1), places.get(span[1], -1)

    collector = MentionCollector(text, step=_STEP)
    for (layer, _), (span, facts) in found.mentions.items():
        _add_mention(collector, layer, moved(span), facts={name: _plain(value) for name, value in facts.items()})
    said: list[Event] = [make_event(code, step=_STEP, message="they are not read") for code in sorted(found.other)]
    sentences, words = (tuple(map(moved, spans)) for spans in (found.sentences, found.words))
    return collector.document(source.name, at=source.path, sentences=sentences, words=words, events=said)


def _is_of_mentions(layer: str) -> bool:
    """True if a layer may hold mentions, and not words, grammar or what the program keeps."""
    return _ENTITIES in layer or not layer.startswith((_LINGUISTIC, "uima."))


def _add_mention(collector: MentionCollector, layer: str, span: Span, *, facts: dict[str, str]) -> None:
    """Adds an annotation of a layer; of its features one is the type, see `read`."""
    main = "value" if _ENTITIES in layer else next(iter(facts), "")
    links = (parse_link(facts.pop("identifier")),) if _ENTITIES in layer and "identifier" in facts else ()
    kind = facts.pop(main, "") or layer.rpartition(".")[2] or layer.rstrip(".") or layer
    collector.add((span,), kind, links=links, attributes=tuple(facts.items()))


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda sign: _SIGNS.get(sign[1], sign[1]), text)


READER: Final = Reader(read=read)


_CAS_STEP: Final = "cas"
_TYPES: Final = "TypeSystem.xml"


def _read_cas(source: Source, options: None, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the title that it states, else the name of the file.

    Mentions are those of `read`.

    Args:
        source: the file; beside XMI stands ``TypeSystem.xml``.
        options: none.
        report: not used.

    Raises:
        FormatError: no CAS, one that is damaged, or XMI without its types.
        MissingExtraError: dkpro-cassis is not installed.
    """
    with package_errors(source):
        cas = _cas(source)
        collector, relations, identifier = MentionCollector(cas.sofa_string or "", step=_CAS_STEP), 0, source.name
        for one in cas.select_all_annotations():
            names = [feature.name for feature in one.type.all_features]
            if one.type.name.endswith(".DocumentMetaData"):
                identifier = getattr(one, "documentTitle", None) or identifier
            elif "Governor" in names:
                relations += _is_of_mentions(one.type.name)
            elif _is_of_mentions(one.type.name):
                facts = {name: value for name in names if isinstance(value := getattr(one, name), str) and value}
                _add_mention(collector, one.type.name, (one.begin, one.end), facts=facts)
        message = f"relations are not read ({relations:,})"
        events = (make_event("relations-left-out", step=_CAS_STEP, message=message),) if relations else ()
        yield collector.document(identifier, events=events)


def _cas(source: Source) -> Any:
    cassis = import_extra("cassis", extra="cas", package="dkpro-cassis")
    content = read_all_bytes(source)
    if content.getvalue().lstrip()[:1] == b"{":
        return cassis.load_cas_from_json(content)
    refuse_entities(content.getvalue(), source)
    beside = Path(source.path).with_name(_TYPES)
    if not beside.is_file():
        raise FormatError(f"XMI needs the file {_TYPES} of its export in the same folder; put it there", at=source.path)
    refuse_entities(beside.read_bytes(), source)
    return cassis.load_cas_from_xmi(content, typesystem=cassis.load_typesystem(beside))


CAS_READER: Final = Reader(read=_read_cas)
