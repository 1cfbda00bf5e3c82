"""Numbers behind names that are no part of them: results, doses, and marks of citations."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from fascicle.core.document import Mention, Patch

_CHEMICAL: Final = "Chemical"
_DISEASE: Final = "Disease"
# No isotope: of the elements only those that blood is tested for.
_RESULT: Final = re.compile(
    r"(?!(?i:(?!sodium|potassium|calcium|magnesium)[a-z]+(?:ium|um)|carbon|(?:fluor|iod)ine|xenon"
    r"|radon|krypton|cobalt|copper|gold|iron|zinc|tin|silver|lead|sul(?:f|ph)ur|phosphorus"
    r"|(?:hydro|nitro|oxy)gen|bismuth)\s)(.*[a-z]{3})\s\d{1,3}(?:\.\d+)?"
)
_LISTED: Final = 2  # names with results in a text, at least: "polyethylene glycol 400" is one name
_CITATION: Final = re.compile(r"(.*[a-z]{4})\d{1,2}")
# Type that a network gave -> pattern of a name with a number -> types that the name alone may have
_RULES: Final[Mapping[str, Mapping[re.Pattern[str], tuple[str, ...]]]] = MappingProxyType(
    {
        _CHEMICAL: {_RESULT: (_CHEMICAL,), _CITATION: (_CHEMICAL, _DISEASE)},
        _DISEASE: {_CITATION: (_DISEASE,)},
        "Gene": {_CITATION: (_DISEASE,)},
    }
)


class _Cut(NamedTuple):
    """Name with a number, the name without it, the types that this may have, and whether the number
    is a result.
    """

    whole: str
    name: str
    kinds: tuple[str, ...]
    is_result: bool


def without_numbers(
    texts: Sequence[str],
    patches: Sequence[Patch],
    *,
    knows: Callable[[Collection[str]], Mapping[str, str]],
) -> list[Patch]:
    """Returns answers whose mentions end before a number, where the pack knows the name without it
    and not with it: ``Obesity`` of ``Obesity1``, and ``urea`` of ``urea 12`` beside other results.

    Args:
        texts: of the documents, with plain characters.
        patches: the answer for each.
        knows: is asked for the names with and without their numbers.
    """
    cuts = [dict(_cuts(*pair)) for pair in zip(texts, patches, strict=True)]
    names = {name for own in cuts for cut in own.values() for name in (cut.whole, cut.name)}
    types = knows(names) if names else {}
    return [_ended(patch, own, types) for patch, own in zip(patches, cuts, strict=True)]


def _cuts(text: str, patch: Patch) -> Iterator[tuple[Mention, _Cut]]:
    for mention in patch.add:
        for pattern, kinds in _RULES.get(mention.type, {}).items():
            if len(mention.spans) == 1 and (match := pattern.fullmatch(text, *mention.spans[0])):
                yield mention, _Cut(match[0], match[1], kinds, pattern is _RESULT)


def _ended(patch: Patch, cuts: Mapping[Mention, _Cut], types: Mapping[str, str]) -> Patch:
    right = {
        mention: cut
        for mention, cut in cuts.items()
        if cut.whole not in types and types.get(cut.name) in cut.kinds
    }
    results = {cut.name.lower() for cut in right.values() if cut.is_result}
    ends = {
        mention: replace(
            mention,
            spans=((mention.start, mention.start + len(cut.name)),),
            type=types[cut.name],
        )
        for mention, cut in right.items()
        if len(results) >= _LISTED or not cut.is_result
    }
    if not ends:
        return patch
    return replace(patch, add=tuple({ends.get(mention, mention): None for mention in patch.add}))
