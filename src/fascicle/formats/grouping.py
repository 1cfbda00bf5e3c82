"""Lines or records of one document put together, with those among them that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from fascicle.errors import InputError

T = TypeVar("T")


def grouped(items: Iterable[T | InputError], key: Callable[[T], object]) -> Iterator[list[T | InputError]]:
    """Groups consecutive items with the same key; an item with key ``None`` is yielded before the next one is read.

    An error has no key: it belongs to a group if the items before and after it do; else it is a group of its own.

    Args:
        items: what was read, or the errors of reading.
        key: of an item.
    """
    group: list[T | InputError] = []
    errors: list[InputError] = []
    current: object = None
    for item in items:
        if isinstance(item, InputError):
            if group:
                errors.append(item)  # until it is known what comes after it
            else:
                yield [item]
            continue
        found = key(item)
        if group and found == current:
            group += [*errors, item]
            errors = []
            continue
        if group:
            yield group
        for error in errors:
            yield [error]
        group, errors, current = [item], [], found
        if found is None:
            yield group
            group = []
    if group:
        yield group
    for error in errors:
        yield [error]


def sound(group: Sequence[T | InputError]) -> list[T]:
    """Returns the items of a group; raises its first error.

    Raises:
        InputError: the first error among them.
    """
    items: list[T] = []
    for item in group:
        if isinstance(item, InputError):
            raise item
        items.append(item)
    return items
