"""Whether a name has the case in a text that it must have."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from fascicle.knowledge.keys.folding import fold

_SYMBOL: Final = 6  # letters and digits
_SHORT: Final = 4


class CasePolicy(IntEnum):
    """Which case counts as that of a name: any, its own but for the first letter, or exactly its own.

    A ``symbol`` has exactly its own case too, and neither the ``s`` of a plural nor a blank that it does not have.
    """

    any = 0
    initial = 1
    exact = 2
    symbol = 3


def fits(found: str, surface: str, policy: int) -> bool:
    """Whether what stands in a text has the case of a name.

    Signs and blanks do not count, and either may be the other with the ``s`` of a plural: ``CATs`` fits ``CAT``, and
    ``CATS`` does not. A symbol is a name of at most six letters and digits without a small one. Of letters alone, it is
    neither a plural nor a number, whatever case it may have: ``did`` does not fit ``DIDS``, nor ``8`` ``VIII``. Where a
    blank stands in it that it does not have, its case counts: ``was 1`` does not fit ``WAS1``; and if it has at most
    four letters and digits, it is not there: ``CI 30`` does not fit ``CI30``, nor ``per 1`` ``Per1``.

    Args:
        found: in the text.
        surface: the name.
        policy: a `CasePolicy`.
    """
    if found == surface:
        return True
    one, other = cased(found), cased(surface)
    parted = len(found.split()) > len(surface.split())
    if policy == CasePolicy.symbol:
        return one == other and not parted
    if policy == CasePolicy.any:
        numbered = parted and other[:1].isupper() and other[-1:].isdigit()  # ``Per1``, as mice have it
        if len(other) > _SYMBOL or (other != other.upper() and not numbered):
            return True
        if surface.isalpha():
            return not inflected(found, surface)
        if not parted or len(other) <= _SHORT:
            return not parted
    if policy == CasePolicy.initial:
        one, other = one[:1].lower() + one[1:], other[:1].lower() + other[1:]
    return one == other or one == other + "s" or one + "s" == other


def inflected(found: str, surface: str) -> bool:
    """Whether what has the key of a name is another form of it, and the name is a symbol, which has no other forms.

    ``serum`` is not ``SERA``, ``man`` not ``MEN``, ``CARS`` not ``CAR``; ``CARs`` and ``cars`` are.

    Args:
        found: in a text, or given.
        surface: the name.
    """
    if not surface.isalpha() or not surface.isupper() or len(surface) > _SYMBOL:
        return False
    one = cased(found)
    return cased(surface) not in (one.upper(), one.removesuffix("s").upper())


def cased(text: str) -> str:
    """The folded letters and digits of a text in their case."""
    if text.isascii():
        return "".join(filter(str.isalnum, text))
    folded = fold(text)
    letters: list[str] = []
    for at, (letter, start) in enumerate(zip(folded.text, folded.starts, strict=True)):
        alone = (at == 0 or folded.starts[at - 1] != start) and start not in folded.starts[at + 1 : at + 2]
        letters.append(letter.upper() if alone and text[start].isupper() else letter)
    return "".join(filter(str.isalnum, letters))
