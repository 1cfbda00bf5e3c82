"""Whether a name has the case in a text that it must have."""

from __future__ import annotations

from enum import IntEnum

from fascicle.knowledge.keys.folding import fold


class CasePolicy(IntEnum):
    """Which case counts as that of a name: any, its own but for the first letter, or exactly its own."""

    any = 0
    initial = 1
    exact = 2


def fits(found: str, surface: str, policy: int) -> bool:
    """Whether what stands in a text has the case of a name.

    Signs and blanks do not count, and either may be the other with the ``s`` of a plural: ``CATs`` fits ``CAT``, and
    ``CATS`` does not.

    Args:
        found: in the text.
        surface: the name.
        policy: a `CasePolicy`.
    """
    if policy == CasePolicy.any or found == surface:
        return True
    one, other = cased(found), cased(surface)
    if policy == CasePolicy.initial:
        one, other = one[:1].lower() + one[1:], other[:1].lower() + other[1:]
    return one == other or one == other + "s" or one + "s" == other


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
