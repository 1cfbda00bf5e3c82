"""Numbers behind names that are no part of them: results, doses, and marks of citations."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from msgspec.structs import replace

from fascicle.core.document import Mention, Patch, in_order
from fascicle.runtime.decoding.results import ISOTOPE, name_of_result
from fascicle.runtime.decoding.retyping import once

_CHEMICAL: Final = "Chemical"
_DISEASE: Final = "Disease"
_GENE: Final = "Gene"
_RESULT: Final = re.compile(rf"(?!{ISOTOPE})(.*[a-z]{{3}})\s\d{{1,3}}(?:\.\d+)?")
_LISTED: Final = 2  # names with results in a text, at least: "polyethylene glycol 400" is one name
_CITATION: Final = re.compile(r"(.*[a-z]{4})\d{1,2}")
# a single digit may be that of an isoform, as in PPARγ2, and two the length of a peptide: Aβ42
_PEPTIDE: Final = (
    r"(?:amyloid|A-?β|a-?beta|hepcidin|apelin|gastrin|somatostatin|kisspeptin|dynorphin"
    r"|cholecystokinin|adrenomedullin|obestatin)"
)
_CITED_GENE: Final = re.compile(rf"(?!(?i:.*{_PEPTIDE}))(.*(?:[a-z]{{4}}|[α-ω]))\d{{2}}")
# Type that a network gave -> pattern of a name with a number -> types that the name alone may have
_RULES: Final[Mapping[str, Mapping[re.Pattern[str], tuple[str, ...]]]] = MappingProxyType(
    {
        _CHEMICAL: {_RESULT: (_CHEMICAL,), _CITATION: (_CHEMICAL, _DISEASE)},
        _DISEASE: {_CITATION: (_DISEASE,)},
        _GENE: {_CITATION: (_DISEASE,), _CITED_GENE: (_GENE,)},
    }
)
_MEASURED: Final = (_CHEMICAL, _GENE)


class _Cut(NamedTuple):
    """Name with a number, the name without it, and the types that this may have.

    Attributes:
        kinds: none for a measured result, before which any name ends.
        is_result: whether the number may be a result.
        member: another name with a number; if the pack knows it, the number may be of the name.
    """

    whole: str
    name: str
    kinds: tuple[str, ...]
    is_result: bool = False
    member: str = ""

    def is_right(self, types: Mapping[str, str]) -> bool:
        """True if the pack knows the name without the number alone."""
        is_known = not self.kinds or types.get(self.name) in self.kinds
        return is_known and self.whole not in types and self.member not in types


def without_numbers(
    texts: Sequence[str],
    patches: Sequence[Patch],
    *,
    knows: Callable[[Collection[str]], Mapping[str, str]],
) -> list[Patch]:
    """Returns answers whose mentions end before a number, where the pack knows the name without it
    and not with it: ``Obesity`` of ``Obesity1``, and ``urea`` of ``urea 12`` beside other results.
    Before a measured result any name ends (see `name_of_result`).

    Args:
        texts: of the documents, with plain characters.
        patches: the answer for each.
        knows: is asked for the names with and without their numbers.
    """
    cuts = [list(_cuts(*pair)) for pair in zip(texts, patches, strict=True)]
    names = {name for own in cuts for _, cut in own for name in (cut.whole, cut.name, cut.member)}
    types = knows(names) if names else {}
    return [_ended(patch, own, types) for patch, own in zip(patches, cuts, strict=True)]


def _cuts(text: str, patch: Patch) -> Iterator[tuple[Mention, _Cut]]:
    for mention in patch.add:
        if len(mention.spans) > 1:
            continue
        whole = text[mention.start : mention.end]
        if not whole[-1:].isdecimal():  # few names end with a number
            continue
        for pattern, kinds in _RULES.get(mention.type, {}).items():
            if match := pattern.fullmatch(whole):
                member = f"{match[1]}1" if pattern is _CITED_GENE else ""
                yield mention, _Cut(whole, match[1], kinds, pattern is _RESULT, member)
        if mention.type not in _MEASURED:
            continue
        if name := name_of_result(text, mention.spans[0], kind=mention.type):
            yield mention, _Cut(whole, name, ())


def _ended(patch: Patch, cuts: Sequence[tuple[Mention, _Cut]], types: Mapping[str, str]) -> Patch:
    right = [(mention, cut) for mention, cut in cuts if cut.is_right(types)]
    results = {cut.name.lower() for _, cut in right if cut.is_result}
    ends: dict[Mention, Mention] = {}
    for mention, cut in right:
        if len(results) >= _LISTED or not cut.is_result:
            kind = types.get(cut.name, "")
            spans = ((mention.start, mention.start + len(cut.name)),)
            is_other = kind in (cut.kinds or _MEASURED)
            ends[mention] = replace(mention, spans=spans, type=kind if is_other else mention.type)
    if not ends:
        return patch
    rest = [mention for mention in patch.add if mention not in ends]
    return replace(patch, add=in_order(once(rest, list(ends.values()))))
