"""UIMA CAS in XMI or JSON, as INCEpTION exports it. Needs the package dkpro-cassis (extra
``cas``), which counts offsets in code points.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import Document, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.files.elements import refuse_entities
from fascicle.core.files.source import Source
from fascicle.core.mention import Span, check_ranges
from fascicle.errors import FormatError, import_extra
from fascicle.formats.collect import MentionCollector
from fascicle.formats.extraction import package_errors, read_all_bytes
from fascicle.formats.handlers import FormatReader
from fascicle.formats.inception import (
    COREFERENCES,
    RELATIONS,
    left_out_events,
)
from fascicle.formats.inception_options import InceptionOptions, add_mention, make_relation
from fascicle.formats.inception_relations import (
    DEPENDENT,
    FILLER,
    GOVERNOR,
    OWNER,
    ChainLink,
    chain_relations,
)
from fascicle.formats.report import ReadReport

_STEP: Final = "cas"
_TYPES: Final = "TypeSystem.xml"
_FIRST_VIEW: Final = "_InitialView"
_SEGMENTS: Final = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type."
_PLACE: Final = ("begin", "end", "sofa")


def read(source: Source, options: InceptionOptions, report: ReadReport) -> Iterator[Document]:
    """Yields a document for each view with a text; its id is the title that it states, else the
    name of the file.

    The id of a further view ends with ``#`` and its name. Mentions are those of
    `fascicle.formats.inception.read`.

    Args:
        source: the file; beside XMI stands ``TypeSystem.xml``.
        options: those of WebAnno TSV.
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
            document = _document(cas.get_view(view.sofa.sofaID), title or source.name, options)
            title = title or document.id
            if silent and not number:
                message = f"views without a text are not read: {', '.join(silent)}"
                document = document.with_events(
                    make_event("parts-left-out", step=_STEP, message=message)
                )
            yield document.having(id=f"{title}#{view.sofa.sofaID}") if number else document


def _document(cas: Any, identifier: str, options: InceptionOptions) -> Document:
    """Returns the document of a view; its id is the title that it states, else ``identifier``."""
    text = cas.sofa_string or ""
    view = _View(options=options, collector=MentionCollector(text, step=_STEP))
    for annotation in cas.select_all_annotations():
        view.add(annotation)
    relations = tuple(view.settle())
    layers = {kind.name: _feature_names(kind) for kind in cas.typesystem.get_types()}
    return view.collector.document(
        view.title or identifier,
        words=_in_text(view.segments["Token"], text),
        sentences=_in_text(view.segments["Sentence"], text),
        relations=relations,
        events=[*left_out_events(view.other, _STEP), *options.check(layers)],
    )


def _feature_names(kind: Any) -> list[str]:
    return [feature.name for feature in kind.all_features]


def _is_link(kind: Any) -> bool:
    """True if annotations of a type are links of chains: each has a next one of the same type."""
    return any(
        feature.name == "next" and feature.rangeType.name == kind.name
        for feature in kind.all_features
    )


@dataclass(kw_only=True)
class _View:
    """What the annotations of a view say of its text.

    Attributes:
        options: which layers have mentions.
        collector: receives the mentions.
        title: of the document; empty if none states it.
        segments: ranges of words and sentences, by the names of their types.
        keys: of the mentions, by the identities of their annotations.
        places: span -> keys of the mentions there.
        related: layer, features, and the role and annotation of each end of relations and slots.
        links: of chains of coreference, by their identities.
        other: counts of what is not read.
    """

    options: InceptionOptions
    collector: MentionCollector
    title: str = ""
    segments: defaultdict[str, set[Span]] = field(default_factory=lambda: defaultdict(set))
    keys: dict[int, MentionKey | None] = field(default_factory=dict)
    places: defaultdict[Span, set[MentionKey]] = field(default_factory=lambda: defaultdict(set))
    related: list[tuple[str, dict[str, str], list[tuple[str, Any]]]] = field(default_factory=list)
    links: dict[int, Any] = field(default_factory=dict)
    other: Counter[str] = field(default_factory=Counter)

    def add(self, annotation: Any) -> None:
        """Adds an annotation of any type."""
        layer, names = annotation.type.name, _feature_names(annotation.type)
        if layer.endswith(".DocumentMetaData"):
            self.title = getattr(annotation, "documentTitle", None) or self.title
        elif layer.startswith(_SEGMENTS) and annotation.begin < annotation.end:
            segments = self.segments[layer.removeprefix(_SEGMENTS)]
            segments.add((annotation.begin, annotation.end))
        elif _is_link(annotation.type):
            self.links[id(annotation)] = annotation
        elif self.options.takes(layer):
            stated = {name: getattr(annotation, name) for name in names if name not in _PLACE}
            facts = {name: text for name, value in stated.items() if (text := _fact(value))}
            if GOVERNOR in names:
                ends = [(role, stated.get(role)) for role in (GOVERNOR, DEPENDENT)]
                self.related.append((layer, facts, ends))
            else:
                self._add_mention(annotation, facts, stated)

    def _add_mention(self, annotation: Any, facts: dict[str, str], stated: dict[str, Any]) -> None:
        for name, value in stated.items():
            for link in _links(value) if name not in facts else ():
                filler = (getattr(link, "role", None) or FILLER, getattr(link, "target", link))
                self.related.append((name, {}, [(OWNER, annotation), filler]))
        span = annotation.begin, annotation.end
        key = add_mention(
            self.collector, annotation.type.name, span, facts=facts, options=self.options
        )
        self.keys[id(annotation)] = key
        if key:
            self.places[span].add(key)

    def settle(self) -> Iterator[Relation]:
        """Yields the relations between mentions, and counts the others."""
        yield from chain_relations(self._chains(), self.places, self._lose_chain)
        for layer, facts, ends in self.related:
            arguments = tuple((role, key) for role, end in ends if (key := self.keys.get(id(end))))
            if len(arguments) == len(ends):
                yield make_relation(layer, arguments, facts=facts, options=self.options)
            else:
                self.other[RELATIONS] += 1

    def _chains(self) -> Iterator[list[ChainLink]]:
        """Yields the links of each chain, which begins with one that follows no other."""
        following = {id(link.next) for link in self.links.values()}
        firsts = [link for name, link in self.links.items() if name not in following]
        rest = dict(self.links)
        while rest:
            link = firsts.pop(0) if firsts else next(iter(rest.values()))
            chain = []
            while link is not None and rest.pop(id(link), None):
                chain.append(_chain_link(link))
                link = link.next
            if chain:
                yield chain

    def _lose_chain(self, links: int) -> None:
        self.other[COREFERENCES] += links


def _chain_link(annotation: Any) -> ChainLink:
    role, kind = (
        getattr(annotation, name, None) or "" for name in ("referenceType", "referenceRelation")
    )
    return ChainLink((annotation.begin, annotation.end), role, kind)


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


def _links(value: Any) -> list[Any]:
    """Returns the annotations in a slot, or the links to them; texts and numbers are neither."""
    annotations = getattr(value, "elements", value)
    listed = annotations if isinstance(annotations, list) else [annotations]
    return [item for item in listed if hasattr(item, "type")]


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


READER: Final = FormatReader(read=read, options=InceptionOptions)
