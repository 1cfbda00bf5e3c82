"""WebAnno TSV 3, as WebAnno and INCEpTION export it, and what it shares with UIMA CAS.

A file of WebAnno is a document with layers of annotation; the format is in appendix A of the guide
of WebAnno (https://webanno.github.io/webanno/releases/3.6.7/docs/user-guide.html). Its offsets
count UTF-16 units.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, zip_longest
from typing import Final, NamedTuple

from fascicle.core.document import Document, Event, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.files.elements import MAX_RECORD
from fascicle.core.files.source import Source, read_lines
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.errors import FormatError, Place
from fascicle.formats.collect import MentionCollector
from fascicle.formats.handlers import FormatReader
from fascicle.formats.inception_escapes import plain_text, plain_value, token_spellings
from fascicle.formats.inception_options import (
    STEP,
    InceptionOptions,
    add_mention,
    make_relation,
)
from fascicle.formats.inception_relations import (
    DEPENDENT,
    FILLER,
    GOVERNOR,
    OWNER,
    ChainLink,
    chain_relations,
)
from fascicle.formats.offset_units import UTF16, conversion, convert_spans
from fascicle.formats.report import ReadReport

MARK: Final = "#FORMAT=WebAnno TSV 3"
_SLOTS: Final = "ROLE_"  # a column of roles; the next one has the annotations in these roles
_TEXT: Final = "#Text="
_ROW: Final = re.compile(r"(\d+-\d+(?:\.\d+)?)\t(\d{1,12})-(\d{1,12})\t([^\t]*)\t?(.*)")
_LAYER: Final = re.compile(r"#T_(SP|CH|RL)=([^|]+)\|?(.*)")
_SLOT_BORDER: Final = re.compile(r"(?<!\\);")
_STACKED: Final = re.compile(r"((?:[^|\\]|\\.?)*)(\||$)")
_VALUE: Final = re.compile(r"((?:[^\\\[]|\\.?)*)(?:\[(\d+)\])?")
# a token, and the numbers of the annotations that a relation joins, or of the one in a slot
_END: Final = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)(?:_(\d+))?\])?")
_NO_VALUE: Final = ("_", "*", "")
_ANY_LAYER: Final = "uima.tcas.Annotation"
# a link of a chain: its relation to the next one, and the numbers of the chain and of the link
_CHAINED: Final = re.compile(r"(.*)->(\d+)-(\d+)")
RELATIONS, COREFERENCES = "relations-left-out", "coreferences-left-out"
_End = tuple[str, str, int]  # layer, token, and the number of an annotation or 0


def _features(
    features: Sequence[str], values: Sequence[str]
) -> tuple[int, dict[str, str], list[tuple[str, str, str, str]]]:
    """Returns the number of an annotation, or 0, with its features and its slots: the names and
    values of the column of roles and of the one after it.
    """
    number, facts, slots = 0, dict[str, str](), list[tuple[str, str, str, str]]()
    columns = iter(zip(features, values, strict=False))
    for feature, value in columns:
        if match := _VALUE.match(value):
            number = number or int(match[2] or 0)
            if feature.startswith(_SLOTS):
                slots.append((feature, match[1], *next(columns, ("", ""))))
            elif match[1] not in _NO_VALUE:
                facts[feature] = match[1]
    return number, facts, slots


class _Related(NamedTuple):
    """Relation or slot as a file states it."""

    layer: str
    ends: tuple[tuple[str, _End], ...]
    facts: dict[str, str]


@dataclass(kw_only=True)
class _Content:
    """What a file says of its document; the offsets are those of the file."""

    options: InceptionOptions
    version: str = ".3"  # behind 3
    # kind, name and features
    layers: list[tuple[str, str, list[str]]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # of the sentence that begins
    text: bytearray = field(default_factory=bytearray)
    words: list[Span] = field(default_factory=list)
    sentences: list[Span] = field(default_factory=list)
    mentions: dict[tuple[str, int], tuple[Span, dict[str, str]]] = field(default_factory=dict)
    # the annotations that begin at a token
    tokens: defaultdict[str, list[tuple[str, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    relations: list[_Related] = field(default_factory=list)
    # layer and number of a chain -> number of a link -> the link
    chains: defaultdict[tuple[str, str], dict[int, ChainLink]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    other: Counter[str] = field(default_factory=Counter)  # what is not read
    misfits: list[str] = field(default_factory=list)  # tokens with other text at their offsets
    # of annotations without one
    numbers: Iterator[int] = field(default_factory=lambda: count(1_000_000_000))

    def begin(self, start: int, token: str) -> None:
        """Adds the text of a sentence, whose first token stands at an offset."""
        text = plain_text("\n".join(self.lines), self.version)
        before = next(
            (text[: text.index(word)] for word in token_spellings(token) if word in text), None
        )
        if before is None:
            raise ValueError(f"the text of its sentence does not contain the token {token!r}")
        start -= len(before.encode("utf-16-le")) // 2
        gap = start - len(self.text) // 2
        if gap < 0 or gap > 10_000 or start > MAX_RECORD:
            raise ValueError(
                "a sentence does not begin behind the sentence before it, or too far behind"
            )
        blanks = "\n" if gap == 1 and self.text else " " * gap
        self.text += (blanks + text).encode("utf-16-le")
        self.sentences.append((start, len(self.text) // 2))
        self.lines.clear()

    def compare(self, place: Span, token: str) -> None:
        """Notes a token whose offsets have another text."""
        start, end = place
        if self.text[2 * start : 2 * end].decode("utf-16-le", "replace") not in token_spellings(
            token
        ):
            self.misfits.append(token)

    def row(self, token: str, place: Span, cells: list[str]) -> None:
        """Adds the annotations of a token or of a part of it."""
        at = 0
        for kind, name, features in self.layers:
            columns = [_stacked(cell) for cell in cells[at : at + len(features)]]
            at += len(features)
            for values in zip_longest(*columns, fillvalue="_"):
                if all(value == "_" for value in values) or (
                    kind != "CH" and not self.options.takes(name)
                ):
                    continue
                if kind == "SP":
                    self._add(name, features, place, token=token, values=values)
                elif kind == "RL":
                    self._relate(name, features, values, token=token)
                else:
                    self._chain(name, place, values)

    def _add(
        self, layer: str, features: list[str], place: Span, *, token: str, values: tuple[str, ...]
    ) -> None:
        """Adds an annotation, or a further token of one; its slots are read once."""
        number, facts, slots = _features(features, values)
        key = layer, number or next(self.numbers)
        if key not in self.mentions:
            self.tokens[token].append(key)
            for slot in slots:
                self._fill((layer, token, key[1]), *slot)
        (start, end), facts = self.mentions.get(key, (place, facts))
        self.mentions[key] = (min(start, place[0]), max(end, place[1])), facts

    def _fill(self, owner: _End, feature: str, roles: str, layer: str, fillers: str) -> None:
        """Adds a relation for each annotation in a slot."""
        name = feature.partition(":")[2].rpartition("_")[0]
        if fillers in _NO_VALUE:
            return
        for role, filler in zip_longest(
            _SLOT_BORDER.split(roles), fillers.split(";"), fillvalue=""
        ):
            if match := _END.fullmatch(filler):
                end = layer, match[1], int(match[2] or 0)
                plain = FILLER if role in _NO_VALUE else plain_value(role)
                self.relations.append(_Related(name, ((OWNER, owner), (plain, end)), {}))
            else:
                self.other[RELATIONS] += bool(filler)

    def _relate(
        self, layer: str, features: list[str], values: tuple[str, ...], *, token: str
    ) -> None:
        """Adds a relation; the last column has the token where its governor begins."""
        _, facts, _ = _features(features[:-1], values[:-1])
        if match := _END.fullmatch(values[-1]):
            base = features[-1].removeprefix("BT_")
            governor = base, match[1], int(match[2] or 0)
            ends = (GOVERNOR, governor), (DEPENDENT, (base, token, int(match[3] or 0)))
            self.relations.append(_Related(layer, ends, facts))
        else:
            self.other[RELATIONS] += 1

    def _chain(self, layer: str, place: Span, values: Sequence[str]) -> None:
        """Adds a link of a chain, or a further token of one."""
        match = _CHAINED.fullmatch(values[-1])
        if match is None:
            self.other[COREFERENCES] += 1
            return
        links = self.chains[layer, match[2]]
        role, kind = (
            "" if text in _NO_VALUE else plain_value(text)
            for text in (_VALUE.sub(r"\1", values[0], count=1), match[1])
        )
        (start, end), *_ = links.get(int(match[3]), (place, "", ""))
        span = min(start, place[0]), max(end, place[1])
        links[int(match[3])] = ChainLink(span, role, kind)

    def at(self, end: _End) -> tuple[str, int] | None:
        """Returns the only annotation that an end of a relation can be."""
        layer, token, number = end
        fitting = [
            key
            for key in self.tokens[token]
            if layer in (key[0], _ANY_LAYER) and number in (0, key[1])
        ]
        return fitting[0] if len(fitting) == 1 else None


def _stacked(cell: str) -> list[str]:
    """Returns the values of a cell, one for each annotation."""
    values = _STACKED.findall(cell)
    borders = sum(bool(border) for _, border in values)
    return [value for value, _ in values[: borders + 1]]


def read(source: Source, options: InceptionOptions, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the name of the file.

    Mentions are the named entities, and the annotations of layers that a project defines. The type
    is the value of an entity, or of a feature such as ``label`` (then the attribute ``layer`` has
    the name of the layer), else the name of the layer; other features are attributes. The fillers
    of slots are relations, and so are chains of coreference whose links are mentions; other chains
    are counted.

    Args:
        source: the file.
        options: which layer, and which feature is the type.
        report: not used.

    Raises:
        FormatError: a row that breaks the rules of the format.
    """
    content = _Content(options=options)
    for number, line in read_lines(source):
        try:
            _add(line, content)
        except ValueError as error:
            message = f"the line cannot be read ({error}); export the document again"
            raise FormatError(message, at=Place(source.path, number)) from None
    if content.words:
        yield _document(source, content)


def _add(line: str, content: _Content) -> None:
    if line.startswith(MARK):
        content.version = line.removeprefix(MARK).strip()
    elif layer := _LAYER.match(line):
        content.layers.append((layer[1], layer[2], layer[3].split("|")))
    elif line.startswith(_TEXT):
        content.lines.append(line.removeprefix(_TEXT))
    elif line and not line.startswith("#"):
        row = _ROW.fullmatch(line)
        if row is None:
            raise ValueError("a row has a number such as 1-2, offsets such as 4-9, and a token")
        place = int(row[2]), int(row[3])
        if content.lines:
            content.begin(place[0], row[4])
        content.compare(place, row[4])
        content.words += [place] if "." not in row[1] else []
        content.row(row[1], place, row[5].split("\t"))


def _document(source: Source, content: _Content) -> Document:
    text = content.text.decode("utf-16-le")
    convert = conversion(text, UTF16)
    collector = MentionCollector(text, step=STEP)
    keys: dict[tuple[str, int] | None, MentionKey | None] = {}
    for annotation, (span, facts) in content.mentions.items():
        (place,) = convert_spans([span], convert)
        stated = {name: plain_value(value) for name, value in facts.items()}
        keys[annotation] = add_mention(
            collector, annotation[0], place, facts=stated, options=content.options
        )
    relations = tuple(_relations(content, keys))
    layers = {name: features for _, name, features in content.layers}
    return collector.document(
        source.name,
        at=source.path,
        sentences=tuple(_trim(span, text) for span in convert_spans(content.sentences, convert)),
        words=convert_spans(content.words, convert),
        relations=relations,
        events=[*_events(content), *content.options.check(layers)],
    )


def _relations(
    content: _Content, keys: Mapping[tuple[str, int] | None, MentionKey | None]
) -> Iterator[Relation]:
    """Yields the relations between mentions, and counts the others."""
    places = defaultdict[Span, set[MentionKey]](set)
    for annotation, (span, _) in content.mentions.items():
        if key := keys[annotation]:
            places[span].add(key)
    chains = map(_in_order, content.chains.values())
    yield from chain_relations(chains, places, partial(_count, content.other, COREFERENCES))
    for layer, ends, facts in content.relations:
        arguments = tuple((role, key) for role, end in ends if (key := keys.get(content.at(end))))
        if len(arguments) == len(ends):
            plain = {name: plain_value(value) for name, value in facts.items()}
            yield make_relation(layer, arguments, facts=plain, options=content.options)
        else:
            content.other[RELATIONS] += 1


def _in_order(links: Mapping[int, ChainLink]) -> list[ChainLink]:
    return [links[number] for number in sorted(links)]


def _count(counts: Counter[str], code: str, number: int) -> None:
    counts[code] += number


def _trim(span: Span, text: str) -> Span:
    start, end = span
    sentence = text[start:end]
    return end - len(sentence.lstrip()), start + len(sentence.rstrip())


def _events(content: _Content) -> Iterator[Event]:
    if tokens := content.misfits:
        message = (
            f"{plural(len(tokens), 'token')} with other text at the offsets, first {tokens[0]!r}; "
            "offsets kept"
        )
        yield make_event("text-mismatch", step=STEP, message=message)
    yield from left_out_events(content.other, STEP)


def left_out_events(counts: Counter[str], step: str) -> list[Event]:
    """Returns an event for each code with its count; ``step`` is the name of the reader."""
    return [
        make_event(code, step=step, message=f"not read: {count:,}")
        for code, count in sorted((+counts).items())
    ]


READER: Final = FormatReader(read=read, options=InceptionOptions)
