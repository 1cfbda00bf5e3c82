"""Shapes of the JSON records that `fascicle.formats.records` reads, one row each, and their
detection.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.lazy import cached_property
from fascicle.core.wording import typo_hint
from fascicle.errors import UsageError
from fascicle.formats.offset_units import BY_WORDS, UNIT_NAMES
from fascicle.formats.unread import (
    PLACES,
)

_Kind = type  # a shape has a part of this name


@dataclass(frozen=True, kw_only=True)
class JsonShape:
    """Field names of a kind of record; an empty name means that the records have no such field.

    Attributes:
        tokens: list of tokens, or list of sentences that are lists of tokens.
        text: the text, for records with character offsets (code points).
        id: id of the document; records without it are numbered.
        group: consecutive records with the same value here are the sentences of one document.
        entities: list of mentions, or (as in DyGIE) one list for each sentence. A mention is an
            object, or a list ``[start, end, type]`` or ``[start, end, type, text]``.
        tags: one tag for each token: of any scheme, or the number of a name.
        sentences: ranges of sentences, for records with a text.
        start: of a mention object: its first token or character. A dot leads to a field inside:
            ``span.begin``.
        end: of a mention object: one past its last token or character.
        type: of a mention object: its entity type.
        spans: of a mention object: list of ``[start, end]``, for a discontinuous mention.
        mention_text: of a mention object: its text; checked against the offsets in records with a
            text.
        score: of a mention object: its probability; other numbers are not read; only in records
            with a text.
        links: of a mention object: list of objects with the fields of `Link`; only in records with
            a text.
        groups: object of lists of mentions beside them, as in spaCy; only in records with a text.
        offsets: unit of the offsets, one of `UNIT_NAMES`; ``"words"`` if it is what fits the texts
            of the mentions, or else where they begin and end; only in records with a text.
        inclusive: ``end`` is the last token or character itself.
        lengths: ``end`` is the number of tokens or characters.
        bare: tags are types without a prefix, and O.
        annotator: whose annotation is gold in a Label Studio export, as number or address; ``all``
            keeps each.
        to_name: of the regions in a Label Studio export that are on the text.
        markup: ``html`` to read tags and character references in texts without mentions; see
            `fascicle.formats.inline`.
        ignored: names of fields, with commas between them, that look like annotation and are not to
            be read.
        tag_names: of tags that are numbers.
        reader: name of the tool or schema whose records have a reader of their own.
        needs: fields by which its records are detected, with the types of their values.
        also: further fields that it reads.
        movable: parts, beside ``id``, for which the user may give another field name.
    """

    tokens: str = ""
    text: str = ""
    id: str = ""
    group: str = ""
    entities: str = ""
    tags: str = ""
    sentences: str = ""
    start: str = "start"
    end: str = "end"
    type: str = "type"
    spans: str = "spans"
    mention_text: str = "text"
    score: str = "score"
    links: str = ""
    groups: str = ""
    offsets: str = BY_WORDS
    inclusive: bool = False
    lengths: bool = False
    bare: bool = False
    annotator: str = ""
    to_name: str = ""
    markup: str = ""
    ignored: str = ""
    tag_names: tuple[str, ...] = ()
    reader: str = ""
    needs: tuple[tuple[str, _Kind], ...] = ()
    also: tuple[str, ...] = ()
    movable: tuple[str, ...] = ()

    @cached_property
    def fields(self) -> frozenset[str]:
        """Names of the fields that are read, or ignored on request."""
        names = (
            *(
                self.tokens,
                self.text,
                *map(str.strip, self.text.split(",")),
                self.id,
                self.group,
                self.entities,
                self.tags,
                self.groups,
            ),
            *(name for name, _ in self.needs),
            *self.also,
        )
        return frozenset(name.partition(".")[0] for name in names) | {
            *names,
            self.ignored,
            *map(str.strip, self.ignored.split(",")),
        }

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Names of the fields of a mention with its start, end, type, text and spans."""
        return self.start, self.end, self.type, self.mention_text, self.spans

    @cached_property
    def is_flat(self) -> bool:
        """Whether none of these names leads to a field inside."""
        return not any("." in name for name in self.places)

    @cached_property
    def of_mention(self) -> frozenset[str]:
        """Names of the fields of a mention that are read, or that say once more where it is."""
        return (
            frozenset(name.partition(".")[0] for name in (*self.places, self.score, self.links))
            | PLACES
        )

    @cached_property
    def deciding(self) -> tuple[tuple[str, _Kind], ...]:
        """Fields by which records of this shape are detected, with the types of their values."""
        if self.needs:
            return self.needs
        parts = ((self.tokens, list), (self.text, str), (self.entities, list), (self.tags, list))
        return tuple((name, kind) for name, kind in parts if name)


# of PubAnnotation: the first is counted, the second is style
_OF_BLOCKS: Final = ("blocks", "typesettings")
# In the order in which they are tried: the first one all of whose own fields are in the record.
SHAPES: Final = MappingProxyType(
    {
        "label-studio": JsonShape(
            reader="label-studio",
            needs=(("data", dict), ("annotations", list)),
            also=("predictions",),
            movable=("text", "annotator", "to_name"),
            id="id",
        ),
        "bigbio": JsonShape(
            reader="bigbio", needs=(("passages", list), ("entities", list)), id="document_id"
        ),
        "gliner": JsonShape(
            tokens="tokenized_text",
            entities="ner",
            id="id",
            inclusive=True,
            also=("ner_labels", "ner_negatives"),
        ),
        "dygie": JsonShape(tokens="sentences", entities="ner", id="doc_key", inclusive=True),
        "tokens-entities": JsonShape(tokens="tokens", entities="entities", id="id"),
        "tokens-mentions": JsonShape(
            tokens="tokens",
            entities="entity_mentions",
            type="entity_type",
            id="doc_id",
            group="doc_id",
        ),
        "tokens-tags": JsonShape(tokens="tokens", tags="tags", id="orig_id"),
        "tokens-ner-tags": JsonShape(tokens="tokens", tags="ner_tags", id="id"),
        "text-entities": JsonShape(
            text="text", entities="entities", links="links", sentences="sentences", id="id"
        ),
        "text-entity-labels": JsonShape(text="text", entities="entities", type="label", id="id"),
        "prodigy": JsonShape(text="text", entities="spans", type="label", links="kb_id", id="id"),
        "spacy": JsonShape(
            text="text", entities="ents", groups="spans", type="label", links="kb_id", id="id"
        ),
        "spacy-groups": JsonShape(
            text="text",
            entities="spans",
            type="label",
            links="kb_id",
            needs=(("text", str), ("spans", dict)),
            id="id",
        ),
        "doccano": JsonShape(text="text", entities="labels", id="id"),
        "doccano-relations": JsonShape(
            text="text",
            entities="entities",
            start="start_offset",
            end="end_offset",
            type="label",
            id="id",
        ),
        "text-labels": JsonShape(text="text", entities="label", id="id"),
        "data-labels": JsonShape(text="data", entities="label", id="id"),  # of doccano 1.5
        "pubannotation": JsonShape(
            reader="pubannotation",
            needs=(("text", str), ("denotations", list)),
            also=("attributes", "tracks", *_OF_BLOCKS),
            movable=("offsets",),
            id="sourceid",
        ),
        "pubannotation-tracks": JsonShape(
            reader="pubannotation",
            needs=(("text", str), ("tracks", list)),
            also=_OF_BLOCKS,
            movable=("offsets",),
            id="sourceid",
        ),
        "gate": JsonShape(
            reader="gate",
            needs=(("text", str), ("annotation_sets", dict)),
            also=("offset_type",),
            id="name",
        ),
        "europepmc": JsonShape(
            reader="europepmc", needs=(("extId", str), ("annotations", list)), id="extId"
        ),
        "bern2": JsonShape(
            text="text",
            entities="annotations",
            start="span.begin",
            end="span.end",
            type="obj",
            mention_text="mention",
            score="prob",
            links="id",
            id="pmid",
        ),
        "medcat": JsonShape(
            text="text",
            entities="entities",
            type="type_ids.0",
            mention_text="source_value",
            score="acc",
            links="cui",
            needs=(("text", str), ("entities", dict)),
            id="id",
        ),
        "text": JsonShape(text="text", id="id"),
        "article": JsonShape(
            reader="article",
            needs=(("title", str), ("paragraphs", list)),
            also=("abstract",),
            id="id",
        ),
        "body-text": JsonShape(
            reader="body-text",
            needs=(("body_text", list), ("metadata", dict)),
            also=("abstract",),
            id="paper_id",
        ),
        "s2orc": JsonShape(
            reader="s2orc", needs=(("content", dict), ("corpusid", int)), id="corpusid"
        ),
        "openalex": JsonShape(
            reader="openalex",
            needs=(("abstract_inverted_index", dict),),
            also=("title",),
            id="id",
        ),
        "europepmc-search": JsonShape(
            reader="europepmc-search", needs=(("abstractText", str),), also=("title",), id="id"
        ),
        "title": JsonShape(reader="title", needs=(("title", str),), also=("abstract",), id="id"),
        "abstract": JsonShape(text="abstract", id="id"),  # a dump of Semantic Scholar
    }
)
_SWITCHES: Final = ("inclusive", "lengths", "bare")
_FIXED: Final = ("tag_names", "reader", "needs", "also", "movable")


def adjust_shape(shape: JsonShape, changes: Iterable[tuple[str, str]]) -> JsonShape:
    """Returns a shape with some field names changed.

    Args:
        shape: what to start from.
        changes: ``(attribute of JsonShape, value)``; ``inclusive``, ``lengths`` and ``bare`` are
            ``true`` or ``false``.

    Raises:
        UsageError: no such attribute, another value for one of these three, or a field that the
            reader of a tool looks for under one name alone.
    """
    names = [field.name for field in fields(JsonShape) if field.name not in _FIXED]
    values: dict[str, Any] = {}
    for name, value in changes:
        if name not in names:
            message = (
                f"a JSON record has no part {name!r}{typo_hint(name, names)}; choose one "
                f"of {', '.join(names)}"
            )
            raise UsageError(message)
        if name in _SWITCHES and value not in ("true", "false"):
            raise UsageError(f"{name} = {value!r} is not allowed; give true or false")
        if name == "markup" and value != "html":
            raise UsageError(f"markup = {value!r} is not allowed; give html")
        if name == "offsets" and value not in UNIT_NAMES:
            raise UsageError(
                f"offsets = {value!r} is not allowed; give one of {', '.join(UNIT_NAMES)}"
            )
        allowed = ("id", "ignored", "markup", *shape.movable)
        if shape.reader and name not in allowed:
            raise UsageError(
                f"records of the shape {shape.reader!r} have their {name} under fixed names, so "
                f"{name} = {value!r} is "
                f"not allowed; give another shape, or one of {', '.join(allowed)}"
            )
        values[name] = value == "true" if name in _SWITCHES else value
    return replace(shape, **values)
