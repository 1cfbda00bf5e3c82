"""Four keys of a name, from its exact spelling to the bag of its tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from fascicle.errors import UsageError
from fascicle.terms.keys.characters import fold
from fascicle.terms.keys.tokens import tokens

NORMALISER: Final = "keys@1"  # a change of any key gives it a new name
Level = Literal[0, 1, 2, 3]
_UNORDERED: Final = frozenset(',;:()[]{}"/.')  # signs that only part words, once their order does not count


def key(surface: str, level: Level) -> str:
    """Returns the key of a name; names with equal keys match.

    Args:
        surface: the name.
        level: 0: as it is written. 1: without case, marks on letters, kinds of dashes and blanks; Greek letters by
            their names. 2: the canonical tokens (`tokens.tokens`), a blank apart. 3: these sorted, without signs that
            only part words.

    Returns:
        The key; one of level 1 to 3 is empty for a surface without anything visible, and for hyphens alone.

    Raises:
        UsageError: another level.
    """
    if level == 0:
        return surface
    if level == 1:
        plain = surface.isascii() and surface.isprintable()  # most names; `fold` gives the same in twice the time
        return " ".join((surface.lower().replace("`", "'") if plain else fold(surface).text).split())
    if level not in (2, 3):
        raise UsageError(f"keys have the levels 0 to 3; given was {level!r}")
    canonical = _canonical(surface)
    return canonical if level == 2 else unordered([canonical], lambda keys: [_canonical(one) for one in keys])[0]


def unordered(keys: Sequence[str], canonical: Callable[[Sequence[str]], list[str]]) -> list[str]:
    """Returns the keys of level 3 of names.

    Args:
        keys: of level 2.
        canonical: makes keys of level 2 of strings.
    """
    found = [_sorted(one) for one in keys]
    again = canonical(found)
    changed = [at for at, (one, other) in enumerate(zip(found, again, strict=True)) if one != other]
    if changed:  # a numeral came to stand behind ``type`` or its like
        for at, one in zip(changed, unordered([again[at] for at in changed], canonical), strict=True):
            found[at] = one
    return found


def _canonical(surface: str) -> str:
    return " ".join([token.text for token in tokens(surface)])


def _sorted(canonical: str) -> str:
    found = canonical.split(" ")
    return " ".join(sorted([text for text in found if text not in _UNORDERED] or found))
