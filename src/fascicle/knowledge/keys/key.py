"""The four keys of a name, from its exact spelling to the bag of its tokens."""

from __future__ import annotations

from typing import Final, Literal

from fascicle.errors import UsageError
from fascicle.knowledge.keys.folding import fold
from fascicle.knowledge.keys.tokens import tokens

NORMALISER: Final = "keys@1"  # a change of any key gives it a new name
Level = Literal[0, 1, 2, 3]
_UNORDERED: Final = frozenset(',;:()[]{}"/.')  # signs that only part words, once their order does not count


def key(surface: str, level: Level) -> str:
    """What a name counts as; names with equal keys match.

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
        return " ".join(fold(surface).text.split())
    if level not in (2, 3):
        raise UsageError(f"keys have the levels 0 to 3; given was {level!r}")
    canonical = _canonical(surface)
    return canonical if level == 2 else _unordered(canonical)


def _canonical(surface: str) -> str:
    return " ".join([token.text for token in tokens(surface)])


def _unordered(canonical: str) -> str:
    """Sorted tokens; once more if a numeral comes to stand behind ``type`` or its like."""
    found = canonical.split(" ")
    ordered = " ".join(sorted([text for text in found if text not in _UNORDERED] or found))
    again = _canonical(ordered)
    return ordered if again == ordered else _unordered(again)
