"""Regions of Label Studio: the parts of mentions, and relations between them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.core.document import Link, MentionKey, Relation
from fascicle.core.mention import display_identifier

PARTS: Final = "non-contig"  # label of relations between the parts of a mention, as Kazu has it
RELATION: Final = "relation"
# direction of a relation -> roles of the region that is named first and of the other one
ROLES: Final = MappingProxyType({"right": ("from", "to"), "left": ("to", "from"), "bi": ("", "")})
ATTRIBUTES: Final = "fascicle_attributes"  # key in the meta of a region
# key in the meta of a task or region: facts that Label Studio has no field for
OURS: Final = "fascicle"
NOTE: Final = "note"  # attribute that holds a line of a region's meta text
# types of answers that people give about a region -> field of their values
_ANSWERS: Final = MappingProxyType({"choices": "choices", "textarea": "text"})


class LabelledRange(msgspec.Struct):
    """Range of a region, with its labels."""

    start: int
    end: int
    labels: tuple[str, ...] = ()
    text: str | None = None


class Region(msgspec.Struct):
    """Region of a text, or relation between two regions."""

    type: str
    value: dict[str, Any] = {}
    score: float | None = None
    meta: dict[str, Any] | None = None
    id: str | int | None = None
    from_name: str | None = None  # the part of the task's page that people use
    to_name: str | None = None  # the part that shows the text
    from_id: str | int | None = None  # of a relation, as what follows
    to_id: str | int | None = None
    direction: str | None = None
    labels: tuple[str, ...] | None = None
    answers: tuple[tuple[str, str], ...] = ()  # what people said about the region, by `from_name`

    @property
    def links(self) -> tuple[Link, ...]:
        """Links that Fascicle wrote into the ``meta`` of the region."""
        return msgspec.convert((self.meta or {}).get(OURS, ()), tuple[Link, ...])

    @property
    def attributes(self) -> tuple[tuple[str, str], ...]:
        """Attributes that Fascicle wrote into the ``meta`` of the region; the answers about it; and
        the lines that people wrote beside it.
        """
        meta = self.meta or {}
        own = msgspec.convert(meta.get(ATTRIBUTES, ()), tuple[tuple[str, str], ...])
        if self.type == RELATION:
            return own
        ours = shown_lines(self.links, own)
        notes = [(NOTE, line) for line in _lines(meta.get("text")) if line not in ours]
        return (*own, *self.answers, *notes)


Part = tuple[LabelledRange, Region]  # of a mention


def labels_of(region: Region) -> LabelledRange:
    """Returns the range and the labels of a region."""
    return msgspec.convert(region.value, LabelledRange)


def shown_lines(links: Iterable[Link], attributes: Iterable[tuple[str, str]]) -> list[str]:
    """Returns the lines that Label Studio shows beside a region."""
    lines = [f"{display_identifier(link)} {link.name}".rstrip() for link in links if not link.nil]
    return lines + [value if name == NOTE else name for name, value in attributes]


def _lines(value: object) -> list[str]:
    """Returns the texts in a value: one, or those of a list."""
    values = value if isinstance(value, list | tuple) else [value]
    return [str(line) for line in values if isinstance(line, str | int | float)]


def join_answers(regions: Sequence[Region]) -> list[Region]:
    """Adds the choices and texts about a labelled region, which have its id, to this region."""
    names = {region.id for region in regions if region.type == "labels"} - {None}
    answers: dict[str | int | None, list[tuple[str, str]]] = defaultdict(list)
    others = []
    for region in regions:
        values = _lines(region.value.get(_ANSWERS.get(region.type, "")))
        if region.id in names and values:
            answers[region.id] += [(region.from_name or region.type, value) for value in values]
        else:
            others.append(region)
    return [
        msgspec.structs.replace(region, answers=tuple(answers.pop(region.id, ())))
        if region.type == "labels"
        else region
        for region in others
    ]


def group_parts(
    layer: int, regions: Sequence[Region], beside: list[tuple[int, Region]]
) -> list[list[Part]]:
    """Returns the parts of each mention: one region, or several of the same types that relations
    join.

    Args:
        layer: number of an annotation or prediction; ids of regions are its own.
        regions: of that layer.
        beside: receives the regions that are no mention and join none, with the layer.
    """
    parts = [(labels_of(region), region) for region in regions if region.type == "labels"]
    numbers = {
        region.id: number for number, (_, region) in enumerate(parts) if region.id is not None
    }
    groups = [[number] for number in range(len(parts))]
    for region in regions:
        if region.type == "labels":
            continue
        ends = [numbers[end] for end in (region.from_id, region.to_id) if end in numbers]
        types = {frozenset(parts[end][0].labels) for end in ends}
        if PARTS in (region.labels or ()) and len(ends) == 2 and len(types) == 1:
            _merge(groups, *ends)
        else:
            beside.append((layer, region))
    return [
        list(map(parts.__getitem__, group))
        for number, group in enumerate(groups)
        if group[0] == number
    ]


def _merge(groups: list[list[int]], first: int, second: int) -> None:
    """Merges the groups of two numbers; ``groups`` has the group of each number."""
    small, large = sorted((groups[first], groups[second]), key=len)
    if small is not large:
        large += small
        for number in small:
            groups[number] = large


def read_relations(
    regions: Iterable[tuple[int, Region]],
    keys: Mapping[tuple[int, str | int | None], MentionKey],
    counts: Counter[str],
) -> Iterator[Relation]:
    """Yields a relation for each label of those that join two mentions; counts other regions.

    Args:
        regions: with their layers.
        keys: layer and id of a region -> key of its first mention.
        counts: receives the counts.
    """
    for layer, region in regions:
        ends = [keys.get((layer, end)) for end in (region.from_id, region.to_id) if end is not None]
        whole = [key for key in ends if key is not None]
        if region.type != RELATION or len(whole) != 2 or PARTS in (region.labels or ()):
            counts[region.type] += 1
            continue
        direction, facts = region.direction, (region.meta or {}).get(OURS, {})
        if direction == "left" and "roles" not in facts:
            whole.reverse()
        roles = facts.get("roles") or ROLES["bi" if direction == "bi" else "right"]
        for label in region.labels or ("",):
            yield Relation(
                type=label,
                arguments=tuple(zip(roles, whole, strict=True)),
                attributes=region.attributes,
            )
