"""Records of BioC, as its files have them, with their facts and relations."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from fascicle.core.document import Document, Event, MentionKey, Relation
from fascicle.core.effects import make_event
from fascicle.core.marks import picture_of
from fascicle.formats.collect import text_facts
from fascicle.formats.report import WriteReport

STEP: Final = "bioc"
TYPE: Final = "type"
_ALSO_TYPE: Final = "relation"
CONTROLS: Final = "control-characters"
_CONTROL: Final = re.compile(r"(\d{1,9}):([0-9A-F]{2,4})(?![0-9A-F])")
HolderPath = tuple[int, ...]  # numbers of a passage and of its sentence; empty for the document
_SYMBOL: Final = re.compile("[\u2400-\u2421\ufffd]")


class Location(msgspec.Struct):
    """Location of an annotation or of a part of it, in the units of the file."""

    offset: int
    length: int


class BiocAnnotation(msgspec.Struct, omit_defaults=False, kw_only=True):
    """Annotation of a passage or a sentence."""

    id: str | int | None = None
    infons: dict[str, Any] = {}
    text: str | None = None
    locations: list[Location] = []


class Sentence(msgspec.Struct, kw_only=True):
    """Sentence of a passage; its text and annotations are separate from those of the passage."""

    offset: int = 0
    infons: dict[str, Any] = {}
    text: str | None = None
    annotations: list[BiocAnnotation] = []
    relations: list[Any] = []


class BiocPassage(Sentence, kw_only=True):
    """Passage of a document: it has a text, or sentences."""

    sentences: list[Sentence] = []


class BiocDocument(msgspec.Struct, kw_only=True):
    """Document as BioC represents it."""

    id: str | int | None = None
    infons: dict[str, Any] = {}
    passages: list[BiocPassage]
    annotations: list[BiocAnnotation] = []
    relations: list[Any] = []


class Node(msgspec.Struct):
    """Annotation that a relation refers to by its id, and its role there."""

    refid: str | int
    role: str | None = ""


class Related(msgspec.Struct, kw_only=True):
    """Relation between annotations."""

    id: str | int | None = None
    infons: dict[str, Any] = {}
    nodes: list[Node] = []


def from_start(
    annotation: BiocAnnotation, offsets: Mapping[str, int], holder: str
) -> BiocAnnotation:
    """Returns an annotation with offsets from the document start, converted from those of its
    passage or sentence.
    """
    offset = offsets.get(holder, 0)
    if not offset:
        return annotation
    locations = [
        Location(location.offset + offset, location.length) for location in annotation.locations
    ]
    return msgspec.structs.replace(annotation, locations=locations)


def controls_in(text: str, forbidden: re.Pattern[str]) -> str:
    """Returns the value of the infon ``control-characters``: places and codes, as ``5:0C
    17:1C``.
    """
    return " ".join(
        f"{control.start()}:{ord(control[0]):02X}" for control in forbidden.finditer(text)
    )


def with_controls(text: str, infons: Mapping[str, Any]) -> str:
    """Returns a text with the control characters of an infon, if their symbols stand at their
    places.
    """
    if CONTROLS not in infons:
        return text
    signs = list(text)
    for place, code in _CONTROL.findall(str(infons.get(CONTROLS, ""))):
        at, sign = int(place), chr(int(code, 16))
        if at < len(text) and text[at] == picture_of(sign):
            signs[at] = sign
    return "".join(signs)


def shows_controls(text: str) -> bool:
    """True if a text has the symbol of a control character."""
    return _SYMBOL.search(text) is not None


def read_relations(
    stated: Collection[tuple[HolderPath, Any]],
    keys: Iterable[tuple[HolderPath, str, MentionKey | None]],
    events: list[Event],
) -> Iterator[Relation]:
    """Yields the relations between mentions, and counts the others.

    Args:
        stated: holders and relations, as the file has them.
        keys: holders and ids of annotations, and the keys of their mentions; an id of several
            mentions, or of an annotation that is no mention, names none. The ids of the holder of a
            relation come first.
        events: receives the count.
    """
    known, losses = _by_holder({path for path, _ in stated}, keys), 0
    for path, raw in stated:
        try:
            relation = raw if isinstance(raw, Related) else msgspec.convert(raw, Related)
            arguments = tuple(
                [
                    (node.role or "", _nearest(path, str(node.refid), known))
                    for node in relation.nodes
                ]
            )
        # another form, or it refers to something else than one mention
        except (msgspec.ValidationError, ValueError):
            losses += 1
            continue
        infons = text_facts(relation.infons)
        kind = infons.pop(TYPE, "") or infons.pop(_ALSO_TYPE, "")  # as BC5CDR calls it
        yield Relation(type=kind, arguments=tuple(arguments), attributes=tuple(infons.items()))
    if losses:
        message = f"relations are not read if they refer to anything but mentions ({losses:,})"
        events.append(make_event("relations-left-out", step=STEP, message=message))


_Known = dict[HolderPath, dict[str, MentionKey | None]]


def _by_holder(
    asking: Collection[HolderPath], keys: Iterable[tuple[HolderPath, str, MentionKey | None]]
) -> _Known:
    """Returns the keys by id in each holder of relations, and in all that contain it; ``None`` for
    an id that names no mention, or several.
    """
    known: _Known = {path[:depth]: {} for path in asking for depth in range(len(path) + 1)}
    deepest = max(map(len, known), default=-1)
    for path, identifier, key in keys:
        for depth in range(min(len(path), deepest) + 1):
            own = known.get(path[:depth])
            if own is not None and own.setdefault(identifier, key) != key:
                own[identifier] = None
    return known


def _nearest(path: HolderPath, identifier: str, known: _Known) -> MentionKey:
    """Returns the mention of an id in a holder, or else in what contains it."""
    while identifier not in known[path]:
        if not path:
            raise ValueError("no annotation has this id")
        path = path[:-1]
    if (key := known[path][identifier]) is None:
        raise ValueError("the annotation is no mention, or several have its id")
    return key


def related(
    relation: Relation,
    numbers: Mapping[MentionKey, str],
    document: Document,
    report: WriteReport,
    can_hold: Callable[[str], bool],
) -> Related | None:
    """Returns a relation as BioC represents it, or ``None`` if its type or a role cannot be
    written.
    """
    if not all(map(can_hold, (relation.type, *(role for role, _ in relation.arguments)))):
        report.lose("relations", document)
        return None
    infons = {TYPE: relation.type}
    for key, value in relation.attributes:
        is_type = key == _ALSO_TYPE and not relation.type
        if is_type or key in infons or not (can_hold(key) and can_hold(value)):
            report.lose("attributes", document)
        else:
            infons[key] = value
    if not relation.type:
        del infons[TYPE]
    return Related(
        infons=infons, nodes=[Node(numbers[key], role) for role, key in relation.arguments]
    )
