"""Relations as WebAnno TSV and UIMA CAS hold them: an arc joins two annotations, and a chain of
coreference any number of them.

The type of a relation is the feature ``value`` of an arc. Roles that are not ``Governor`` and
``Dependent`` are the features ``GovernorRole`` and ``DependentRole``. In a chain, the type is
``referenceRelation``, and each role is ``referenceType``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from fascicle.core.document import Document, Mention, MentionKey, Relation
from fascicle.core.mention import Span
from fascicle.formats.report import WriteReport

# roles of the ends of a relation; of a slot, the first is the annotation that has it
GOVERNOR, DEPENDENT, OWNER, FILLER = "Governor", "Dependent", "owner", "filler"
RELATION_LAYER: Final = "webanno.custom.Relation"  # its name says nothing of a relation
COREFERENCE: Final = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.Coreference"
NOT_A_TYPE: Final = re.compile(r"true|false|[-+]?[\d.,]+", re.IGNORECASE)
LAYER, VALUE = "layer", "value"
_ROLES: Final = (f"{GOVERNOR}Role", f"{DEPENDENT}Role")
_NAME: Final = re.compile("[A-Za-z][A-Za-z0-9_]*")
_RESERVED: Final = frozenset(
    {LAYER, VALUE, GOVERNOR, DEPENDENT, *_ROLES, "begin", "end", "sofa", "next", "self", "type"}
)
_SLOTS: Final = "ROLE_"
Structure = tuple[str, Span | None, dict[str, Any]]  # of CAS: type, place and features


class Arc(NamedTuple):
    """Relation of two mentions: its layer, features and ends, see the module."""

    layer: str
    facts: Mapping[str, str]
    governor: MentionKey
    dependent: MentionKey


class RelationChain(NamedTuple):
    """Relation of any mentions: its type, and the role and key of each mention."""

    type: str
    links: tuple[tuple[str, MentionKey], ...]


class ChainLink(NamedTuple):
    """A link of a chain as a file states it; ``type`` is that of its relation to the next one."""

    span: Span
    role: str
    type: str


@dataclass(frozen=True, kw_only=True)
class HeldRelations:
    """The relations of a document that the formats hold."""

    arcs: tuple[Arc, ...]
    chains: tuple[RelationChain, ...]

    def layers(self) -> Mapping[str, tuple[str, ...]]:
        """Returns layer of arcs -> names of its features."""
        names = defaultdict[str, dict[str, None]](dict)
        for arc in self.arcs:
            names[arc.layer] |= dict.fromkeys((VALUE, *arc.facts))
        return {layer: tuple(features) for layer, features in names.items()}


def held_relations(
    document: Document, mentions: Iterable[Mention], report: WriteReport
) -> HeldRelations:
    """Returns the relations between the mentions that a file has; counts the others.

    Lost are relations without a type or two mentions, those whose type is a number or ``true``, and
    chains of mentions that share a place with another mention.

    Args:
        document: whose relations they are.
        mentions: those in the file.
        report: receives the counts.
    """
    places = {mention.key: mention.spans for mention in mentions}
    shared = {spans for spans, number in Counter(places.values()).items() if number > 1}
    arcs, chains = list[Arc](), list[RelationChain]()
    for relation in document.relations:
        spans = list(map(places.get, relation.keys))
        if len(spans) < 2 or not relation.type or None in spans:
            report.lose("relations", document)
        elif len(spans) == 2 and all(role for role, _ in relation.arguments):
            arcs += _arcs(relation, document, report)
        elif shared.isdisjoint(spans):
            _lose_facts(document, report, len(relation.attributes))
            chains.append(RelationChain(relation.type, relation.arguments))
        else:
            report.lose("relations", document)
    return HeldRelations(arcs=tuple(arcs), chains=tuple(chains))


def _lose_facts(document: Document, report: WriteReport, number: int) -> None:
    if number:
        report.lose("attributes", document, count=number)


def _arcs(relation: Relation, document: Document, report: WriteReport) -> Iterator[Arc]:
    """Yields the arc of a relation, if its type is none that readers take for a value."""
    if NOT_A_TYPE.fullmatch(relation.type):
        report.lose("relations", document)
        return
    (first, governor), (second, dependent) = relation.arguments
    roles = zip(_ROLES, (GOVERNOR, DEPENDENT), (first, second), strict=True)
    facts = {VALUE: relation.type}
    facts |= {feature: role for feature, usual, role in roles if role != usual}
    stated = dict(relation.attributes)
    held = {name: value for name, value in stated.items() if _is_feature(name) and value}
    layer = stated.get(LAYER, "")
    is_layer = _NAME.fullmatch(layer) is not None and not RELATION_LAYER.endswith(f".{layer}")
    _lose_facts(document, report, len(relation.attributes) - len(held) - is_layer)
    name = f"{RELATION_LAYER.rpartition('.')[0]}.{layer}" if is_layer else RELATION_LAYER
    yield Arc(name, facts | held, governor, dependent)


def _is_feature(name: str) -> bool:
    return (
        _NAME.fullmatch(name) is not None and name not in _RESERVED and not name.startswith(_SLOTS)
    )


def with_roles(
    arguments: Sequence[tuple[str, MentionKey]], facts: dict[str, str]
) -> tuple[tuple[str, MentionKey], ...]:
    """Returns the ends of an arc with the roles in its features, which are removed there."""
    return tuple((facts.pop(f"{role}Role", role), key) for role, key in arguments)


def chain_relations(
    chains: Iterable[Sequence[ChainLink]],
    mentions: Mapping[Span, Collection[MentionKey]],
    lose: Callable[[int], None],
) -> Iterator[Relation]:
    """Yields a relation for each chain whose links are mentions.

    Args:
        chains: the links of each, in order.
        mentions: place of a link -> keys of the mentions there.
        lose: receives the number of links of each other chain: a link is no mention, or at the
            place of several, or the only one.
    """
    for links in chains:
        keys = [key for link in links for key in _only(mentions.get(link.span, ()))]
        if len(keys) < max(2, len(links)):
            lose(len(links))
            continue
        types = dict.fromkeys(link.type for link in links if link.type)
        arguments = tuple((link.role, key) for link, key in zip(links, keys, strict=True))
        name = " ".join(types) or COREFERENCE.rpartition(".")[2]
        yield Relation(type=name, arguments=arguments)


def _only(keys: Collection[MentionKey]) -> Collection[MentionKey]:
    return keys if len(keys) == 1 else ()


def arc_structures(arcs: Iterable[Arc], numbers: Mapping[MentionKey, int]) -> Iterator[Structure]:
    """Yields each arc as a feature structure of CAS.

    Args:
        arcs: of a document.
        numbers: key of a mention -> number of its structure.
    """
    for arc in arcs:
        ends = {"@Governor": numbers[arc.governor], "@Dependent": numbers[arc.dependent]}
        yield arc.layer, arc.dependent[2][0], {**arc.facts, **ends}


def chain_structures(chains: Iterable[RelationChain], number: int) -> Iterator[Structure]:
    """Yields each chain and its links; ``number`` is that of the first chain."""
    for chain in chains:
        number += 1
        yield f"{COREFERENCE}Chain", None, {"@first": number}
        last = number + len(chain.links)
        for role, (_, _, spans) in chain.links:
            number += 1
            facts = {"referenceType": role} if role else {}
            following = {"@next": number} if number < last else {}
            yield (
                f"{COREFERENCE}Link",
                spans[0],
                {**facts, "referenceRelation": chain.type, **following},
            )
