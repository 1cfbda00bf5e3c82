"""Detection of JSON fields that look like annotation: no shape may leave one of them unread."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice, permutations
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
        *("predicted_ner", "predicted_relations", "predicted_events", "predicted_clusters"),
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
_DIGITS: Final = 12  # of an offset
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
    return [
        name
        for name, value in record.items()
        if name not in known
        and value
        and isinstance(value, _FORMS)
        and (_looks(name.lower(), value) or _holds_mentions(value))
    ]


def _holds_mentions(value: object, *, depth: int = 0) -> bool:
    """True if an object inside a value has a field with mentions, at any depth, or is too deep
    to tell.
    """
    if depth > _DEEPEST:
        return True
    if isinstance(value, dict):
        parts = [part for part in value.items() if part[1] and isinstance(part[1], list | dict)]
        return any(
            _has_mentions(name.lower(), part) or _holds_mentions(part, depth=depth + 1)
            for name, part in parts
        )
    return isinstance(value, list) and any(
        _holds_mentions(part, depth=depth + 1) for part in value if isinstance(part, list | dict)
    )


def _has_mentions(name: str, value: object) -> bool:
    """True if a field has objects, and the name of annotation or objects with offsets."""
    if name in _NAMES and any(objects_in(value)):
        return True
    return name not in _STRUCTURE and _is_placed(value)


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
        if isinstance(part, dict) and "." not in name:  # no path has a dot inside a name
            texts |= {
                f"{name}.{inner}": value
                for inner, value in part.items()
                if isinstance(value, str) and "." not in inner
            }
    longest = max(texts, key=lambda name: len(texts[name]), default="")
    return longest if " " in texts.get(longest, "") else ""


def are_mentions(value: object, start: str, end: str, kind: str) -> bool:
    """True if a value is a list of mentions with whole numbers as offsets, and with types, in
    fields of these names.
    """
    mentions = value if isinstance(value, list) else []
    return bool(mentions) and all(_is_mention(part, (start, end, kind)) for part in mentions)


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
    start = next(filter(None, map(names.get, _STARTS)), None)
    end = next(filter(None, map(names.get, _ENDS)), None)
    return (start, end) if start and end else ()


def lone_offsets(record: Mapping[str, Any], *, text: str, known: Collection[str]) -> list[str]:
    """Returns the two fields that look like the offsets of one mention in the text of a record; a
    stretch that is the whole text is none.

    Args:
        record: one JSON object.
        text: name of the field with the text.
        known: names of fields that are read, or left out on request.
    """
    names = offset_fields({name: value for name, value in record.items() if name not in known})
    if not names or not isinstance(record[text], str):
        return []
    size = len(record[text])
    start, end = (int(str(record[name])[:_DIGITS]) for name in names)
    return list(names) if start < end <= size and end - start < size else []


def token_fields(record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Returns the names of the fields with the tokens and with a tag or number for each token, as
    parts of a shape; or an empty tuple.
    """
    lists = {name: value for name, value in record.items() if value and isinstance(value, list)}
    for (words, tokens), (name, tags) in permutations(lists.items(), 2):
        if len(tokens) == len(tags) and _are_words(tokens) and _are_tags(tags):
            return ("tokens", words), ("tags", name)
    return ()


def _are_words(parts: Sequence[object]) -> bool:
    return all(isinstance(part, str) for part in parts) and not _are_tags(parts)


def _are_tags(parts: Sequence[object]) -> bool:
    """True if these are tags, or numbers of tags."""
    return all(isinstance(part, str) and is_tag(part) for part in parts) or all(
        type(part) is int for part in parts
    )


def looks_native(record: Mapping[str, Any]) -> bool:
    """True if a record is a document of the native format without the version of its schema."""
    if not {"id", "text"} <= record.keys() <= _OF_NATIVE:
        return False
    mentions = list(objects_in(record.get("mentions")))
    return any("spans" in mention and "type" in mention for mention in mentions) or any(
        isinstance(record.get(name), list) for name in _ONLY_NATIVE
    )


def fields_fit(mentions: object, *, start: str, end: str, kind: str, spans: str) -> bool:
    """True if mentions have offsets and types in the fields of these names; mentions that are
    lists are accepted.
    """
    if isinstance(mentions, list) and any(isinstance(mention, str) for mention in mentions):
        return False  # names of classes
    first = next(objects_in(mentions), None)
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
    mention = next(objects_in(value), {})
    return [("entities", name), *_mention_options(mention, spelt)]


def _mention_options(
    mention: Mapping[str, Any], spelt: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Yields the names of the fields of a mention with its start, end and type, where they differ
    from the default names.
    """
    fields = _field_names(mention)
    has_end = bool({"end", "spans"} & mention.keys())
    for part, names in (("start", _STARTS), ("end", _ENDS), ("type", _TYPES)):
        name = next((fields[name] for name in names if name in fields and name != _LENGTH), "")
        if spelt[part] not in mention and name:
            has_end = has_end or part == "end"
            yield part, name
    if not has_end and _LENGTH in fields:
        yield "end", fields[_LENGTH]
        yield "lengths", "true"


def _field_names(mention: Mapping[str, Any]) -> dict[str, str]:
    """Returns the names of fields, also of those inside, by the name in lower case."""
    names: dict[str, str] = {}
    for key, part in mention.items():
        for inner in part if isinstance(part, dict) else ():
            names[inner.lower()] = f"{key}.{inner}"
    return names | {name.lower(): name for name in mention}


def _is_placed(value: object) -> bool:
    return isinstance(value, list) and any(map(_has_offsets, objects_in(value)))


def fields_argument(*fields: tuple[str, str]) -> str:
    """Returns the argument ``fields`` of ``JsonlOptions`` and ``ReadRequest`` as Python code.

    Args:
        fields: ``(part of the shape, field of the records)``.
    """
    pairs = (f'("{part}", {json.dumps(field, ensure_ascii=False)})' for part, field in fields)
    return f"fields=[{', '.join(pairs)}]"


def with_fields(text: str, write: Callable[[Sequence[tuple[str, str]]], str]) -> str:
    """Replaces each `fields_argument` in a sentence by another notation.

    Args:
        text: the sentence.
        write: formats the pairs of an argument.
    """
    return _FIELDS.sub(
        lambda match: write([(part, _plain(field)) for part, field in _FIELD.findall(match[0])]),
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
        not all(isinstance(part, str) for part in value) or all(map(is_tag, value))
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
    parts = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(parts, list):
        return
    if {*map(type, parts)} == {list} and dict not in map(type, chain.from_iterable(parts)):
        return  # many mentions that are lists
    for part in parts:
        if isinstance(part, dict):
            yield part
        elif isinstance(part, list):
            yield from (inner for inner in part if isinstance(inner, dict))
