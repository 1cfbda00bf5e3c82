"""Options for reading WebAnno TSV and CAS: which layers have mentions, and which feature is the
type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from fascicle.core.document import Event, MentionKey, Relation
from fascicle.core.mention import Span, parse_link
from fascicle.errors import UsageError
from fascicle.formats.collect import MentionCollector
from fascicle.formats.inception_relations import LAYER, NOT_A_TYPE, RELATION_LAYER, with_roles

STEP: Final = "webanno"
ENTITIES: Final = "ner.type."
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


def layer_name(layer: str) -> str:
    """Returns the last part of the name of a layer that is not empty."""
    return layer.rpartition(".")[2] or layer.rstrip(".") or layer


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
            return self.layer in (layer, layer_name(layer))
        return ENTITIES in layer or not layer.startswith(_OTHERS)

    def refining(self, facts: Mapping[str, str], *, is_entity: bool) -> str:
        """Returns the feature of an annotation that is its type; empty if that is the layer."""
        if self.type:
            return self.type * (self.type in facts)
        usable = (
            key
            for key in _REFINING
            if key in facts and (is_entity or not NOT_A_TYPE.fullmatch(facts[key]))
        )
        return next(usable, "")

    def check(self, layers: Mapping[str, Collection[str]]) -> list[Event]:
        """Returns a note if no layer, or no feature of a layer, has the name that was given.

        Args:
            layers: name -> its features.
        """
        selected = [features for name, features in layers.items() if self.takes(name)]
        features = set[str]().union(*selected)
        if self.layer and not selected:
            wrong = f"the layer {self.layer!r}"
        elif self.type and self.type not in features:
            wrong = f"the feature {self.type!r}"
        else:
            return []
        names = ", ".join(sorted(features or set(map(layer_name, layers))))
        message = f"the file has no annotation with {wrong}; it has {names or 'no layers'}"
        return [Event(step=STEP, kind="note", code="layer-absent", message=message)]


def add_mention(
    collector: MentionCollector,
    layer: str,
    span: Span,
    *,
    facts: dict[str, str],
    options: InceptionOptions,
) -> MentionKey | None:
    """Adds an annotation of a layer, which is its type unless a feature refines it, see `read`.

    Returns:
        The key of the mention, or ``None`` if its place is not in the text.
    """
    name = layer_name(layer)
    is_entity = ENTITIES in layer
    links = (parse_link(facts.pop("identifier")),) if is_entity and "identifier" in facts else ()
    kind = facts.pop(options.refining(facts, is_entity=is_entity), "")
    of_layer = {"layer": name} if kind and not is_entity else {}
    return collector.add(
        (span,), kind or name, links=links, attributes=tuple({**of_layer, **facts}.items())
    )


def make_relation(
    layer: str,
    arguments: tuple[tuple[str, MentionKey], ...],
    *,
    facts: dict[str, str],
    options: InceptionOptions,
) -> Relation:
    """Returns a relation of a layer, or of a slot, whose type is found as that of a mention."""
    name = layer_name(layer)
    arguments = with_roles(arguments, facts)
    kind = facts.pop(options.refining(facts, is_entity=False), "")
    attributes = {**({LAYER: name} if kind and layer != RELATION_LAYER else {}), **facts}
    return Relation(type=kind or name, arguments=arguments, attributes=tuple(attributes.items()))
