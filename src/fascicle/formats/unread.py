"""Detection of JSON fields that look like annotation: no shape may leave one of them unread."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.core.tags import is_tag

_FIELD: Final = re.compile(r'\("(\w+)", "((?:[^"\\]|\\.)*)"\)')
_FIELDS: Final = re.compile(rf"\bfields=\[{_FIELD.pattern}(?:, {_FIELD.pattern})*\]")
# Names of annotation in the files of some tool or corpus.
_NAMES: Final = frozenset(
    {
        *(
            "spans",
            "span",
            "ents",
            "ent",
            "entities",
            "entity",
            "entity_mentions",
            "named_entities",
            "gold_entities",
        ),
        *(
            "mentions",
            "mention",
            "annotations",
            "ner",
            "ner_tags",
            "ner_labels",
            "bio_tags",
            "iob",
            "iob_tags",
        ),
        *("denotations", "passages", "completions", "predictions"),
    }
)
# Names of annotation or of facts about the whole text; the value decides.
_PERHAPS: Final = frozenset(
    {
        *("label", "labels", "tag", "tags", "class", "classes", "category", "categories"),
        *("annotation", "result", "results", "gold", "concepts"),
    }
)
# Lists of objects with offsets that are no mentions.
_STRUCTURE: Final = frozenset(
    {
        *("tokens", "words", "sentences", "sents", "paragraphs", "sections", "lines", "pages"),
        *("relations", "relation", "events", "event", "clusters", "coreferences", "corefs"),
    }
)
_STARTS: Final = (
    *(
        "start",
        "begin",
        "from",
        "start_offset",
        "offset_start",
        "begin_offset",
        "start_char",
        "char_start",
    ),
    *("start_pos", "start_position", "start_token", "token_start", "start_index", "start_idx"),
    *("startoffset", "beginoffset", "startchar", "offset"),
)
_ENDS: Final = (
    *("end", "stop", "to", "end_offset", "offset_end", "end_char", "char_end"),
    *("end_pos", "end_position", "end_token", "token_end", "end_index", "end_idx"),
    *("endoffset", "endchar", "length"),
)
_TYPES: Final = (
    *(
        "type",
        "label",
        "entity_type",
        "entity_group",
        "entity",
        "category",
        "class",
        "tag",
        "ner",
        "obj",
        "kind",
    ),
    *("name", "cui"),
)
_LENGTH: Final = "length"
# Fields of a mention that say once more where it is.
PLACES: Final = frozenset({*_STARTS, *_ENDS, "id"})
_PLACES: Final = ("offsets", "locations", "spans")
_FORMS: Final = (str, list, dict)  # of values that can hold annotation
_DEEPEST: Final = 60  # values inside values
_ENOUGH: Final = 20  # mentions that are looked at
_OF_NATIVE: Final = frozenset(Document.__struct_fields__)
_ONLY_NATIVE: Final = ("sections", "words", "abbreviations")


def find_unread_fields(record: Mapping[str, Any], *, known: Collection[str]) -> list[str]:
    """Returns the fields of a record that look like annotation and are not among those that are
    read.

    A field looks like annotation if its name is one that tools give to mentions and its value can
    hold some (a list or object that is not empty, or a text, but no number), or if it is a list of
    objects with offsets, whatever its name. ``label``, ``tags`` and their like are facts about the
    text if they are a text, or a list of texts that are no tags.

    Args:
        record: one JSON object.
        known: names of fields that are read, or left out on request.
    """
    fields = [
        (name, value)
        for name, value in record.items()
        if name not in known and isinstance(value, _FORMS)
    ]
    return [
        name
        for name, value in fields
        if value and (_looks(name.lower(), value) or _holds_mentions(value))
    ]


def _holds_mentions(value: object, *, depth: int = 0) -> bool:
    """True if an object inside a value has a field with mentions, at any depth, or is too deep
    to tell.
    """
    if depth > _DEEPEST:
        return True
    if isinstance(value, list):
        return any(
            _holds_mentions(part, depth=depth + 1)
            for part in value
            if isinstance(part, list | dict)
        )
    if not isinstance(value, dict):
        return False
    nested = [
        (name.lower(), part)
        for name, part in value.items()
        if isinstance(part, list | dict) and part
    ]
    return any(
        (name in _NAMES and any(objects_in(part)))
        or (
            name not in _STRUCTURE
            and isinstance(part, list)
            and any(map(_has_offsets, objects_in(part)))
        )
        or _holds_mentions(part, depth=depth + 1)
        for name, part in nested
    )


def value_at(record: Mapping[str, Any], name: str) -> Any:
    """Returns the value of a field; in a name such as ``span.begin``, a dot leads to a field or
    number inside.
    """
    if name in record or "." not in name:
        return record.get(name)
    value: Any = record
    for part in name.split("."):
        if isinstance(value, list):
            value = value[int(part)] if part.isdecimal() and int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def longest_text(record: Mapping[str, Any]) -> str:
    """Returns the name of the field with the longest text, perhaps inside an object; empty if
    there is no text.
    """
    texts = {name: value for name, value in record.items() if isinstance(value, str)}
    for name, part in record.items():
        if isinstance(part, dict):
            texts |= {
                f"{name}.{inner}": value for inner, value in part.items() if isinstance(value, str)
            }
    longest = max(texts, key=lambda name: len(texts[name]), default="")
    return longest if " " in texts.get(longest, "") else ""


def are_mentions(value: object, start: str, end: str, kind: str) -> bool:
    """True if a value is a list of mentions with whole numbers as offsets, and with types, in
    fields of these names.
    """
    listed = value if isinstance(value, list) else []
    return bool(listed) and all(_is_mention(one, (start, end, kind)) for one in listed)


def _is_mention(mention: object, names: Sequence[str]) -> bool:
    if isinstance(mention, dict):
        *offsets, kind = (value_at(mention, name) for name in names)
    elif isinstance(mention, list) and len(mention) >= len(names):
        *offsets, kind = (
            mention[:3] if not isinstance(mention[0], str) else (*mention[1:3], mention[0])
        )
    else:
        return False
    return all(type(offset) is int for offset in offsets) and isinstance(kind, str) and bool(kind)


def offset_fields(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the two fields that look like the offsets of one mention, as integers or digits;
    or an empty tuple.
    """
    names = {name.lower(): name for name, value in record.items() if str(value).isdecimal()}
    pair = [
        next((names[one] for one in several if one in names), "") for several in (_STARTS, _ENDS)
    ]
    return tuple(pair) if all(pair) else ()


def looks_native(record: Mapping[str, Any]) -> bool:
    """True if a record is a document of the native format without the version of its schema."""
    if not {"id", "text"} <= record.keys() <= _OF_NATIVE:
        return False
    mentions = list(objects_in(record.get("mentions")))
    return any("spans" in mention and "type" in mention for mention in mentions) or any(
        isinstance(record.get(name), list) for name in _ONLY_NATIVE
    )


def fields_fit(found: object, *, start: str, end: str, kind: str, spans: str) -> bool:
    """True if mentions have offsets and types in the fields of these names; mentions that are
    lists are accepted.
    """
    if isinstance(found, list) and any(isinstance(one, str) for one in found):
        return False  # names of classes
    first = next(objects_in(found), None)
    if first is None:
        return True
    has = {
        name: value_at(first, name) is not None or name in first
        for name in (kind, start, end, spans)
    }
    return has[kind] and ((has[start] and has[end]) or has[spans])


def field_options(name: str, value: object, *, spelt: Mapping[str, str]) -> list[tuple[str, str]]:
    """Returns the names of the parts of a field with mentions, as far as they can be detected.

    Args:
        name: of the field.
        value: of the field.
        spelt: part of a shape -> its default name.
    """
    if name.lower().endswith("tags") and not any(objects_in(value)):
        return [("tags", name)]
    while isinstance(value, dict):  # the first list of mentions inside
        inner = next(
            (key for key, part in value.items() if isinstance(part, dict) or _is_placed(part)), ""
        )
        name, value = f"{name}.{inner}", value.get(inner)
    wanted = {"entities": name}
    for mention in islice(objects_in(value), 1):
        fields = {
            inner.lower(): f"{key}.{inner}"
            for key, part in mention.items()
            if isinstance(part, dict)
            for inner in part
        } | {key.lower(): key for key in mention}
        for part, names in (("start", _STARTS), ("end", _ENDS), ("type", _TYPES)):
            named = next((fields[one] for one in names if one in fields and one != _LENGTH), "")
            if spelt[part] not in mention and named:
                wanted[part] = named
        if not {"end", "spans"} & {*wanted, *mention} and _LENGTH in fields:
            wanted |= {"end": fields[_LENGTH], "lengths": "true"}
    return list(wanted.items())


def _is_placed(value: object) -> bool:
    return isinstance(value, list) and any(map(_has_offsets, objects_in(value)))


def fields_argument(*fields: tuple[str, str]) -> str:
    """Returns the argument ``fields`` of ``JsonlOptions`` and ``ReadRequest`` as Python code.

    Args:
        fields: ``(part of the shape, field of the records)``.
    """
    listed = ", ".join(
        f'("{part}", {json.dumps(field, ensure_ascii=False)})' for part, field in fields
    )
    return f"fields=[{listed}]"


def with_fields(text: str, shown: Callable[[Sequence[tuple[str, str]]], str]) -> str:
    """Replaces each `fields_argument` in a sentence by another notation.

    Args:
        text: the sentence.
        shown: formats the pairs of an argument.
    """
    return _FIELDS.sub(
        lambda match: shown([(part, _plain(field)) for part, field in _FIELD.findall(match[0])]),
        text,
    )


def _plain(field: str) -> str:
    """Returns the name in the quotes of a `fields_argument`, which an error may have escaped
    once more.
    """
    try:
        return str(json.loads(f'"{field}"'))
    except ValueError:
        return field


def _looks(name: str, value: str | list[Any] | dict[str, Any]) -> bool:
    """True if a field looks like annotation; its value is not empty."""
    if name in _NAMES:
        return True
    if not isinstance(value, list) or name in _STRUCTURE:
        return name in _PERHAPS and isinstance(value, dict)
    if name in _PERHAPS and (
        not all(isinstance(one, str) for one in value) or all(map(is_tag, value))
    ):
        return True
    return any(map(_has_offsets, islice(objects_in(value), _ENOUGH)))


def _has_offsets(mention: Mapping[str, Any]) -> bool:
    names = {name.lower() for name in mention}
    pairs = not names.isdisjoint(_STARTS) and not names.isdisjoint(_ENDS)
    inside = any(isinstance(part, dict) and _has_offsets(part) for part in mention.values())
    return pairs or inside or any(isinstance(mention.get(name), list) for name in _PLACES)


def objects_in(value: object) -> Iterator[Mapping[str, Any]]:
    """Yields the objects of a list, or of the lists of a list; and those of an object of objects
    or lists.
    """
    listed = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(listed, list):
        return
    for part in listed:
        if isinstance(part, dict):
            yield part
        elif isinstance(part, list):
            # no generator of its own, of which each mention that is a list would make one
            for one in part:
                if isinstance(one, dict):
                    yield one
