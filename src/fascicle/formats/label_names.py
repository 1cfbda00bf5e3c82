"""Names of tags that are stored as numbers, as in Hugging Face datasets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.files.source import STDIN, Source, whole_text
from fascicle.core.tags import advice_on, is_tag
from fascicle.errors import FormatError, UsageError, explained

_INFO: Final = "dataset_info.json"
_NAMES: Final = "names"


def label_names(given: str, *, field: str) -> tuple[str, ...]:
    """Returns the names of the tags, in the order of their numbers.

    Args:
        given: names with commas between them, or a ``.json`` file: ``dataset_info.json``, or a list of names.
        field: name of the field of the records whose tag names the file holds.

    Raises:
        InputError: the file cannot be read.
        FormatError: it does not hold the names.
        UsageError: less than two names, or one that is empty.
    """
    if given.lower().endswith(".json"):
        return _of_file(given, field)
    check_labels(given)
    return tuple(name.strip() for name in given.split(","))


def check_labels(given: str) -> None:
    """Checks names separated by commas; a file name or an empty value is accepted here and checked later.

    Raises:
        UsageError: less than two names, or one that is empty.
    """
    names = [name.strip() for name in given.split(",")]
    if not given or given.lower().endswith(".json"):
        return
    if len(names) < 2 or not all(names):
        raise UsageError(f"labels {given!r} cannot be read; give names in the order of their numbers, as O,B-PER,I-PER")


def names_beside(path: str, *, field: str) -> tuple[str, ...]:
    """Returns the names from the ``dataset_info.json`` in the folder of a file; empty if there is no such file."""
    place = Path(path).parent / _INFO
    return _of_file(os.fspath(place), field) if path != STDIN and place.is_file() else ()


def named(tags: Sequence[Any], names: Sequence[str]) -> list[str]:
    """Converts tag numbers to their names.

    Names without prefixes (``O``, ``person``) are tags of the scheme IO.

    Raises:
        ValueError: a tag that is no number of a name.
    """
    wrong = next((tag for tag in tags if type(tag) is not int or not 0 <= tag < len(names)), None)
    if wrong is not None:
        raise ValueError(f"the tag {wrong!r} is not the number of a name; there are {len(names)} names, from 0")
    is_bare = not any(is_tag(name) for name in names if name != "O")
    found = [names[tag] for tag in tags]
    return prefixed(found) if is_bare else found


def prefixed(tags: Sequence[str]) -> list[str]:
    """Converts bare types (``O``, ``person``) to tags of the scheme IO.

    Raises:
        ValueError: a tag that has a prefix, or is empty.
    """
    wrong = next((tag for tag in tags if tag != "O" and (is_tag(tag) or not tag)), None)
    lone = next((tag for tag in tags if len(tag) == 1 and tag != "O" and advice_on(tag)), None)
    if lone is not None:
        raise ValueError(f"the tag {lone!r} is a prefix, no type; {advice_on(lone)}")
    if wrong is not None:
        raise ValueError(f"the tag {wrong!r} is no bare type; tags are read as bare types, so none may have a prefix")
    return [tag if tag == "O" else f"I-{tag}" for tag in tags]


def _of_file(path: str, field: str) -> tuple[str, ...]:
    with explained(f"{path}: not JSON"):
        value = msgspec.json.decode(whole_text(Source(path=path)))
    found = {names for names in _lists(value, field) if names}
    if len(found) != 1:
        several = "several lists" if found else "no list"
        raise FormatError(
            f"{path} has {several} of names for the field {field!r}; give a dataset_info.json with this feature, a "
            'list of names, or the names themselves with labels="O,B-PER,I-PER"'
        )
    return found.pop()


def _lists(value: Any, field: str) -> Iterator[tuple[str, ...]]:
    """Yields the lists of names in a file: a plain list, or those of a feature in one configuration or several."""
    if isinstance(value, list):
        yield _texts(value)
        return
    configurations = [value, *value.values()] if isinstance(value, dict) else []
    for one in configurations:
        features = one.get("features") if isinstance(one, dict) else None
        if isinstance(features, dict):
            yield _of_feature(features.get(field))


def _of_feature(feature: Any) -> tuple[str, ...]:
    """Returns the names of a list of class labels, in the layout of any version of the library."""
    for _ in range(2):
        if isinstance(feature, list) and len(feature) == 1:
            feature = feature[0]
        elif isinstance(feature, dict) and _NAMES not in feature:
            feature = feature.get("feature")
    return _texts(feature.get(_NAMES)) if isinstance(feature, dict) else ()


def _texts(value: Any) -> tuple[str, ...]:
    is_list = isinstance(value, list) and all(isinstance(one, str) and one for one in value)
    return tuple(value) if is_list else ()
