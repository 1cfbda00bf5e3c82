"""Names composed of a quality and an entity, such as "increased blood glucose level", and their
table in a pack: keys of entities, and of the words for qualities.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np

from fascicle.core.lexicon import lexicon
from fascicle.terms.keys.key import key
from fascicle.terms.pack import layout
from fascicle.terms.pack.arrays import write_array
from fascicle.terms.pack.pack import Pack

ROLES: Final = ("adjectives", "nouns", "verbs")
UNIT: Final = 1 << len(ROLES)  # of the number of a class; the bits below it are roles of a word
_LEAST: Final = 3  # letters of one word of an entity
_MOST: Final = 6  # tokens of an entity
_Entry = tuple[int, int]  # class with roles, and row of the key of a name; 0 for a word


def split_name(name: str) -> Iterator[tuple[str, str]]:
    """Yields class and entity of a name that begins or ends with a word for a quality.

    Args:
        name: key of level 2.

    Yields:
        The name of the class, and the key of the entity.
    """
    tokens, fixed = name.split(" "), word_list("fixed")
    if tokens[-1] == "nos":
        tokens = tokens[: -2 if tokens[-2:-1] == [","] else -1]
    for kind, roles in _roles(tokens[0]) if len(tokens) > 1 else ():
        if tokens[1] in word_list("prepositions"):
            yield from _entity(kind, tokens[2:] if "nouns" in roles else [])
        elif "adjectives" in roles and (
            tokens[0] not in fixed or tokens[-1] in word_list("measures", "measured")
        ):
            yield from _entity(kind, tokens[1:])
    for kind, roles in _roles(tokens[-1]) if len(tokens) > 1 else ():
        if "adjectives" in roles or tokens[-1] not in fixed:
            yield from _entity(kind, tokens[:-1])


def _entity(kind: str, tokens: list[str]) -> Iterator[tuple[str, str]]:
    first = next(
        (at for at, token in enumerate(tokens) if token not in word_list("articles", "places")), 0
    )
    tokens = tokens[first:]
    while len(tokens) > 1 and tokens[-1] in word_list("measures"):
        tokens = tokens[:-1]
    is_plain = all(token.isalnum() for token in tokens) and 0 < len(tokens) <= _MOST
    if (
        is_plain
        and not _is_adjective(tokens[-1])
        and any(len(token) >= _LEAST and token.isalpha() for token in tokens)
    ):
        yield kind, " ".join(tokens)


def _is_adjective(word: str) -> bool:
    """True for a word such as "cognitive", which is no entity without a noun."""
    return word.endswith(tuple(lexicon("qualities")["words"]["adjectives"]))


def _roles(token: str) -> list[tuple[str, set[str]]]:
    """Returns the classes of a token, and what it is in each."""
    return words().get(token, [])


@cache
def words() -> Mapping[str, list[tuple[str, set[str]]]]:
    """Returns the key of each word for a quality -> its classes, and what it is in each."""
    result: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for kind, lists in lexicon("qualities")["classes"].items():
        for role in ROLES:
            for word in lists[role]:
                result[key(word, 2)][kind].add(role)
    return MappingProxyType({word: [*kinds.items()] for word, kinds in result.items()})


@cache
def word_list(*names: str) -> frozenset[str]:
    """Returns the words of some lists of the lexicon, as they are written and as tokens."""
    lists = lexicon("qualities")["words"]
    spellings = [word for name in names for word in lists[name]]
    return frozenset([*spellings, *(key(word, 2) for word in spellings)])


def write_qualities(
    pack: Pack, place: Path, table: Callable[[Iterable[str], Path], object]
) -> dict[str, int]:
    """Writes the table of the composed names of a pack.

    Args:
        pack: whose files are complete.
        place: its folder.
        table: writes the table by which texts are scanned from sorted keys.

    Returns:
        The number of names with a quality.
    """
    entries, composed = _entries(pack)
    ordered = sorted(entries)
    table(ordered, place / layout.QUALITIES)
    several = [sorted(entries[name]) for name in ordered]
    columns = zip(*chain.from_iterable(several), strict=True)
    starts = np.cumsum([0, *map(len, several)])
    for name, values in zip(layout.OF_QUALITIES, (starts, *map(np.array, columns)), strict=True):
        write_array(place / name, values)
    return {"names with a quality": composed}


def _entries(pack: Pack) -> tuple[dict[str, set[_Entry]], int]:
    """Returns the entries of each key of the table, and how many are of names."""
    entries: dict[str, set[_Entry]] = defaultdict(set)
    keys = pack.active.keys.strings
    numbers = {kind: number * UNIT for number, kind in enumerate(lexicon("qualities")["classes"])}
    for row in range(len(keys)):
        for kind, entity in split_name(keys[row]):
            entries[entity].add((numbers[kind], row))
    composed = sum(map(len, entries.values()))
    for word, kinds in words().items():
        for kind, roles in kinds:
            entries[word].add((numbers[kind] + sum(1 << ROLES.index(role) for role in roles), 0))
    return entries, composed
