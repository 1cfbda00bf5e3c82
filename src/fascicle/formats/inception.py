"""WebAnno TSV 3, as WebAnno and INCEpTION export it, and UIMA CAS in XMI or JSON, as INCEpTION
exports it.

A file of WebAnno is a document with layers of annotation; the format is in appendix A of the guide
of WebAnno (https://webanno.github.io/webanno/releases/3.6.7/docs/user-guide.html). Its offsets
count UTF-16 units.

A CAS needs the package dkpro-cassis (extra ``cas``), which counts offsets in code points.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import count, zip_longest
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import Document, Event
from fascicle.core.effects import make_event
from fascicle.core.files.elements import MAX_RECORD, refuse_entities
from fascicle.core.files.source import Source, read_lines
from fascicle.core.mention import Span, check_ranges, parse_link
from fascicle.errors import FormatError, Place, UsageError, import_extra
from fascicle.formats.collect import MentionCollector
from fascicle.formats.extraction import package_errors, read_all_bytes
from fascicle.formats.handlers import Reader
from fascicle.formats.report import ReadReport

_STEP: Final = "webanno"
MARK: Final = "#FORMAT=WebAnno TSV 3"
_ENTITIES: Final = "ner.type."
# Layers of words and grammar, but for names, and what the programs keep for themselves.
_OTHERS: Final = (
    "de.tudarmstadt.ukp.dkpro.core.api.",
    "de.tudarmstadt.ukp.clarin.webanno.",
    "de.tudarmstadt.ukp.inception.",
    "org.dkpro.core.api.",
    "uima.",
)
# features that say what a mention is
_REFINING: Final = ("value", "label", "class", "type", "category", "kind")
_NOT_A_TYPE: Final = re.compile(r"true|false|[-+]?[\d.,]+", re.IGNORECASE)
_SLOTS: Final = "ROLE_"  # a column of roles; the next one has the annotations in these roles
_TEXT: Final = "#Text="
_ROW: Final = re.compile(r"\d+-\d+(\.\d+)?\t(\d{1,12})-(\d{1,12})\t([^\t]*)\t?(.*)")
_LAYER: Final = re.compile(r"#T_(SP|CH|RL)=([^|]+)\|?(.*)")
_ESCAPED: Final = re.compile(r"\\(.)")
_SIGNS: Final = {"t": "\t", "n": "\n", "r": "\r"}
_STACKED: Final = re.compile(r"((?:[^|\\]|\\.?)*)(?:\||$)")
_VALUE: Final = re.compile(r"((?:[^\\\[]|\\.?)*)(?:\[(\d+)\])?")
_OTHER: Final = {"RL": "relations-left-out", "CH": "coreferences-left-out"}


@dataclass(frozen=True, kw_only=True)
class InceptionOptions:
    """Options for reading WebAnno TSV and CAS.

    Attributes:
        layer: name of the only layer that is read, in full or behind its last dot; by default the
            named entities and the layers that a project defines.
        type: feature with the type of a mention; without a value, the type is the name of the
            layer.
    """

    layer: str = ""
    type: str = ""

    @classmethod
    def of(cls, fields: Iterable[tuple[str, str]]) -> InceptionOptions:
        """Makes options from pairs of names and values, as users write them.

        Raises:
            UsageError: another name.
        """
        values = dict(fields)
        if unknown := sorted(values.keys() - {"layer", "type"}):
            raise UsageError(
                f"files of INCEpTION have no part {unknown[0]!r}; choose layer or type"
            )
        return cls(**values)

    def takes(self, layer: str) -> bool:
        """True if a layer has mentions; by default no layer of words or grammar, or of what the
        program keeps.
        """
        if self.layer:
            return self.layer in (layer, _name_of(layer))
        return _ENTITIES in layer or not layer.startswith(_OTHERS)

    def refining(self, facts: Mapping[str, str], *, is_entity: bool) -> str:
        """Returns the feature of an annotation that is its type; empty if that is the layer."""
        if self.type:
            return self.type * (self.type in facts)
        usable = (
            key
            for key in _REFINING
            if key in facts and (is_entity or not _NOT_A_TYPE.fullmatch(facts[key]))
        )
        return next(usable, "")

    def check(self, layers: Mapping[str, Collection[str]]) -> list[Event]:
        """Returns a note if no layer, or no feature of a layer, has the name that was given.

        Args:
            layers: name -> its features.
        """
        selected = {name: features for name, features in layers.items() if self.takes(name)}
        wrong = f"the layer {self.layer!r}" if self.layer and not selected else ""
        if (
            not wrong
            and self.type
            and not any(self.type in features for features in selected.values())
        ):
            wrong = f"the feature {self.type!r}"
        has = ", ".join(
            sorted(
                {feature for features in selected.values() for feature in features}
                or set(map(_name_of, layers))
            )
        )
        message = f"the file has no annotation with {wrong}; it has {has or 'no layers'}"
        return (
            [Event(step=_STEP, kind="note", code="layer-absent", message=message)] if wrong else []
        )


@dataclass(kw_only=True)
class _Content:
    """What a file says of its document; the offsets are those of the file."""

    options: InceptionOptions
    # kind, name and features
    layers: list[tuple[str, str, list[str]]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # of the sentence that begins
    text: bytearray = field(default_factory=bytearray)
    words: list[Span] = field(default_factory=list)
    sentences: list[Span] = field(default_factory=list)
    mentions: dict[tuple[str, int], tuple[Span, dict[str, str]]] = field(default_factory=dict)
    other: Counter[str] = field(default_factory=Counter)  # what is not read
    # of annotations without one
    numbers: Iterator[int] = field(default_factory=lambda: count(1_000_000_000))

    def begin(self, start: int, token: str) -> None:
        """Adds the text of a sentence, whose first token stands at an offset."""
        text = _plain("\n".join(self.lines))
        start -= len(text[: text.index(token)].encode("utf-16-le")) // 2
        gap = start - len(self.text) // 2
        if gap < 0 or gap > 10_000 or start > MAX_RECORD:
            raise ValueError(
                "a sentence does not begin behind the sentence before it, or too far behind"
            )
        self.text += ("\n" if gap == 1 else " " * gap).encode("utf-16-le") + text.encode(
            "utf-16-le"
        )
        self.sentences.append((start, len(self.text) // 2))
        self.lines.clear()

    def row(self, place: Span, cells: list[str]) -> None:
        """Adds the annotations of a token or of a part of it."""
        at = 0
        for kind, name, features in self.layers:
            columns = [
                _STACKED.findall(cell)[: cell.replace("\\|", "").count("|") + 1]
                for cell in cells[at : at + len(features)]
            ]
            at += len(features)
            for values in zip_longest(*columns, fillvalue="_"):
                if all(value == "_" for value in values) or (
                    kind != "CH" and not self.options.takes(name)
                ):
                    continue
                if kind == "SP":
                    self._add(name, features, place, values)
                else:
                    self.other[_OTHER[kind]] += 1

    def _add(self, layer: str, features: list[str], place: Span, values: tuple[str, ...]) -> None:
        """Adds an annotation, or a further token of one; its slots are counted once."""
        roles = {at for at, feature in enumerate(features) if feature.startswith(_SLOTS)}
        targets = {at + 1 for at in roles}
        stated = {
            at: one
            for at, value in enumerate(values)
            if at not in targets and (one := _VALUE.match(value))
        }
        number = next((int(one[2]) for one in stated.values() if one[2]), 0) or next(self.numbers)
        if (layer, number) not in self.mentions:
            fillers = [
                value
                for at, value in enumerate(values)
                if at in targets and value not in ("_", "*")
            ]
            self.other[_OTHER["RL"]] += sum(value.count(";") + 1 for value in fillers)
        facts = {
            features[at]: one[1]
            for at, one in stated.items()
            if at not in roles and one[1] not in ("_", "*", "")
        }
        (start, end), facts = self.mentions.get((layer, number), (place, facts))
        self.mentions[layer, number] = (min(start, place[0]), max(end, place[1])), facts


def read(source: Source, options: InceptionOptions, report: ReadReport) -> Iterator[Document]:
    """Yields the one document of a file; its id is the name of the file.

    Mentions are the named entities, and the annotations of layers that a project defines. The type
    is the value of an entity, or of a feature such as ``label`` (then the attribute ``layer`` has
    the name of the layer), else the name of the layer; other features are attributes. The fillers
    of slots are counted as relations.

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
    if layer := _LAYER.match(line):
        content.layers.append((layer[1], layer[2], layer[3].split("|")))
    elif line.startswith(_TEXT):
        content.lines.append(line.removeprefix(_TEXT))
    elif line and not line.startswith("#"):
        row = _ROW.fullmatch(line)
        if row is None:
            raise ValueError("a row has a number such as 1-2, offsets such as 4-9, and a token")
        place = int(row[2]), int(row[3])
        if content.lines:
            content.begin(place[0], _plain(row[4]))
        content.words += [place] if row[1] is None else []
        content.row(place, row[5].split("\t"))


def _document(source: Source, content: _Content) -> Document:
    text = content.text.decode("utf-16-le")
    places, unit = {}, 0
    for at, sign in enumerate(text):
        places[unit] = at
        unit += 1 + (sign > "\uffff")
    places[unit] = len(text)

    def moved(span: Span) -> Span:
        return places.get(span[0], -1), places.get(span[1], -1)

    collector = MentionCollector(text, step=_STEP)
    for (layer, _), (span, facts) in content.mentions.items():
        stated = {name: _plain(value) for name, value in facts.items()}
        _add_mention(collector, layer, moved(span), facts=stated, options=content.options)
    sentences, words = (tuple(map(moved, spans)) for spans in (content.sentences, content.words))
    trimmed = ((start, end, text[start:end]) for start, end in sentences)
    sentences = tuple(
        (end - len(sentence.lstrip()), start + len(sentence.rstrip()))
        for start, end, sentence in trimmed
    )
    layers = {name: features for _, name, features in content.layers}
    events = [*_left_out(content.other, _STEP), *content.options.check(layers)]
    return collector.document(
        source.name, at=source.path, sentences=sentences, words=words, events=events
    )


def _left_out(counts: Counter[str], step: str) -> list[Event]:
    return [
        make_event(code, step=step, message=f"not read: {count:,}")
        for code, count in sorted((+counts).items())
    ]


def _name_of(layer: str) -> str:
    return layer.rpartition(".")[2] or layer.rstrip(".") or layer


def _add_mention(
    collector: MentionCollector,
    layer: str,
    span: Span,
    *,
    facts: dict[str, str],
    options: InceptionOptions,
) -> None:
    """Adds an annotation of a layer, which is its type unless a feature refines it, see `read`."""
    name = _name_of(layer)
    is_entity = _ENTITIES in layer
    links = (parse_link(facts.pop("identifier")),) if is_entity and "identifier" in facts else ()
    kind = facts.pop(options.refining(facts, is_entity=is_entity), "")
    of_layer = {"layer": name} if kind and not is_entity else {}
    collector.add(
        (span,), kind or name, links=links, attributes=tuple({**of_layer, **facts}.items())
    )


def _plain(text: str) -> str:
    return _ESCAPED.sub(lambda sign: _SIGNS.get(sign[1], sign[1]), text)


READER: Final = Reader(read=read, options=InceptionOptions)


_CAS_STEP: Final = "cas"
_TYPES: Final = "TypeSystem.xml"
_FIRST_VIEW: Final = "_InitialView"
_SEGMENTS: Final = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type."
_PLACE: Final = ("begin", "end", "sofa")


def _read_cas(source: Source, options: InceptionOptions, report: ReadReport) -> Iterator[Document]:
    """Yields a document for each view with a text; its id is the title that it states, else the
    name of the file.

    The id of a further view ends with ``#`` and its name. Mentions are those of `read`.

    Args:
        source: the file; beside XMI stands ``TypeSystem.xml``.
        options: those of `read`.
        report: not used.

    Raises:
        FormatError: no CAS, one that is damaged, or XMI without its types.
        MissingExtraError: dkpro-cassis is not installed.
    """
    with package_errors(source):
        cas = _cas(source)
        views = [view for view in cas.views if view.sofa.sofaString is not None] or cas.views[:1]
        views.sort(key=lambda view: view.sofa.sofaID != _FIRST_VIEW)
        silent = [view.sofa.sofaID for view in cas.views if view not in views and view.get_all_fs()]
        title = ""
        for number, view in enumerate(views):
            document = _of_view(cas.get_view(view.sofa.sofaID), title or source.name, options)
            title = title or document.id
            if silent and not number:
                message = f"views without a text are not read: {', '.join(silent)}"
                document = document.with_events(
                    make_event("parts-left-out", step=_CAS_STEP, message=message)
                )
            yield document.having(id=f"{title}#{view.sofa.sofaID}") if number else document


def _of_view(cas: Any, identifier: str, options: InceptionOptions) -> Document:
    """Returns the document of a view; its id is the title that it states, else the given one."""
    collector, other = MentionCollector(cas.sofa_string or "", step=_CAS_STEP), Counter[str]()
    ranges: dict[str, set[Span]] = {"Token": set(), "Sentence": set()}
    for annotation in cas.select_all_annotations():
        layer, names = (
            annotation.type.name,
            [feature.name for feature in annotation.type.all_features],
        )
        if layer.endswith(".DocumentMetaData"):
            identifier = getattr(annotation, "documentTitle", None) or identifier
        elif layer.startswith(_SEGMENTS) and annotation.begin < annotation.end:
            ranges.get(layer.removeprefix(_SEGMENTS), set()).add((annotation.begin, annotation.end))
        elif "next" in names:
            other[_OTHER["CH"]] += 1
        elif "Governor" in names:
            other[_OTHER["RL"]] += options.takes(layer)
        elif options.takes(layer):
            stated = {name: getattr(annotation, name) for name in names if name not in _PLACE}
            facts = {name: text for name, value in stated.items() if (text := _fact(value))}
            other[_OTHER["RL"]] += sum(
                _fillers(value) for name, value in stated.items() if name not in facts
            )
            _add_mention(
                collector, layer, (annotation.begin, annotation.end), facts=facts, options=options
            )
    words, sentences = (_in_text(spans, cas.sofa_string or "") for spans in ranges.values())
    layers = {
        annotation.name: [feature.name for feature in annotation.all_features]
        for annotation in cas.typesystem.get_types()
    }
    events = [*_left_out(other, _CAS_STEP), *options.check(layers)]
    return collector.document(identifier, words=words, sentences=sentences, events=events)


def _fact(value: object) -> str:
    """Returns the value of a feature as text, as WebAnno TSV has it; empty for none, and for
    other annotations.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    texts = getattr(value, "elements", None) or ()
    return "; ".join(texts) if all(isinstance(text, str) for text in texts) else ""


def _fillers(value: object) -> int:
    """Returns the number of annotations in a slot."""
    annotations = getattr(value, "elements", value)
    return len(annotations) if isinstance(annotations, list) else annotations is not None


def _in_text(spans: set[Span], text: str) -> tuple[Span, ...] | None:
    """Returns the ranges of words or sentences in order; ``None`` without any, or if they
    overlap.
    """
    try:
        check_ranges(ordered := sorted(spans), length=len(text), name="the word or sentence")
    except ValueError:
        return None
    return tuple(ordered) or None


def _cas(source: Source) -> Any:
    cassis = import_extra("cassis", extra="cas", package="dkpro-cassis")
    content = read_all_bytes(source)
    if content.getvalue().lstrip()[:1] == b"{":
        return _load_json(content)
    refuse_entities(content.getvalue(), source)
    beside = Path(source.path).with_name(_TYPES)
    if not beside.is_file():
        raise FormatError(
            f"XMI needs the file {_TYPES} of its export in the same folder; put it there",
            at=source.path,
        )
    refuse_entities(beside.read_bytes(), source)
    return cassis.load_cas_from_xmi(content, typesystem=cassis.load_typesystem(beside))


def _load_json(content: BytesIO) -> Any:
    from cassis import TypeSystem  # type: ignore[import-untyped,unused-ignore]
    from cassis.json import CasJsonDeserializer  # type: ignore[import-untyped,unused-ignore]

    class Deserializer(CasJsonDeserializer):  # type: ignore[misc,unused-ignore]
        """That of the package, whose version 0.12 makes each further view twice, which it then
        refuses.
        """

        def _get_or_create_view(self, cas: Any, view_name: str, *more: Any) -> Any:
            if any(view.sofa.sofaID == view_name for view in cas.views[1:]):
                return cas.get_view(view_name)
            return super()._get_or_create_view(cas, view_name, *more)

    return Deserializer().deserialize(content, TypeSystem())


CAS_READER: Final = Reader(read=_read_cas, options=InceptionOptions)
