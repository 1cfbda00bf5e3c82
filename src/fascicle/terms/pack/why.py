"""Explanation of a surface in a pack: its keys, its terms and their concepts, and terms that are excluded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal

import msgspec

from fascicle.core.wording import counted
from fascicle.terms.keys.key import Level, key
from fascicle.terms.pack.pack import Concept, Pack, Term

Tier = Literal["exact", "folded", "canonical"]
_TIERS: Final[tuple[tuple[Level, Tier], ...]] = ((0, "exact"), (1, "folded"), (2, "canonical"))
_LEVELS: Final[tuple[Level, ...]] = (0, 1, 2, 3)
_LONGEST: Final = 30  # concepts of a shown way up; a circle ends it too


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """Term that has the key of a surface.

    Attributes:
        term: the term.
        concept: its concept.
        tier: what the surface and the term have in common: spelling, folded characters, or the key alone.
        above: one way from the concept up, labels with their CURIEs; always the first parent.
        parents: how many parents the concept has.
        children: how many concepts are right below it.
        case: name of the case policy.
        silent: why the term is kept out; empty if it is not.
    """

    term: Term
    concept: Concept
    tier: Tier
    above: tuple[tuple[str, str], ...]
    parents: int
    children: int
    case: str
    silent: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Explanation of a surface in a pack.

    Attributes:
        surface: the query.
        pack: full name of the pack.
        normaliser: version of the keys.
        keys: of the four levels.
        terms: that the surface finds: those of the best tier first, and then the most probable.
        silent: terms that are kept out.
    """

    surface: str
    pack: str
    normaliser: str
    keys: tuple[str, ...]
    terms: tuple[Explained, ...]
    silent: tuple[Explained, ...]


def why(pack: Pack, surface: str, *, key_of: Callable[[str, Level], str] = key) -> Explanation:
    """Explains a surface.

    Args:
        pack: that is open.
        surface: any name.
        key_of: the keys that the pack was built with.
    """
    keys = tuple(key_of(surface, level) for level in _LEVELS)
    found = []
    for names in (pack.active, pack.silent):
        _, rows = names.of_keys([keys[2]])
        terms = [pack.term(names, row) for row in rows.tolist()]
        explained = [_explained(pack, term, _tier(term.surface, keys, key_of)) for term in terms]
        found.append(tuple(sorted(explained, key=_order)))
    return Explanation(
        surface=surface,
        pack=pack.full_name,
        normaliser=pack.manifest.normaliser,
        keys=keys,
        terms=found[0],
        silent=found[1],
    )


def _order(one: Explained) -> tuple[int, float, str, str]:
    tiers = [tier for _, tier in _TIERS]
    return tiers.index(one.tier), -one.term.prior, one.term.concept, one.term.surface


def _tier(surface: str, keys: tuple[str, ...], key_of: Callable[[str, Level], str]) -> Tier:
    return next(tier for level, tier in _TIERS if level == 2 or key_of(surface, level) == keys[level])


def _explained(pack: Pack, term: Term, tier: Tier) -> Explained:
    concept = pack.concept(term.concept)
    return Explained(
        term=term,
        concept=concept,
        tier=tier,
        above=tuple(_above(pack, term.concept)),
        parents=len(pack.parents(term.concept)),
        children=len(pack.children(term.concept)),
        case=term.case.name,
        silent=_reason(term, concept),
    )


def _above(pack: Pack, curie: str) -> Iterator[tuple[str, str]]:
    row, seen = pack.row(curie), set[int]()
    while len(seen) < _LONGEST and row not in seen:
        seen.add(row)
        parents = pack.parent_rows[row]
        if not len(parents):
            return
        row = int(parents[0])
        yield pack.label_at(row), pack.curie(row)


def _reason(term: Term, concept: Concept) -> str:
    if not term.silent:
        return ""
    if not concept.obsolete:
        return "a rule of curation dropped it"
    if concept.replaced_by:
        return f"its concept is obsolete, replaced by {', '.join(concept.replaced_by)}"
    return "its concept is obsolete"


def lines(told: Explanation) -> Iterator[str]:
    """Yields an explanation for people."""
    yield f"{told.surface!r} in {told.pack}"
    yield (
        "keys of "
        + told.normaliser
        + ": "
        + ", ".join(f"k{level} {text!r}" for level, text in zip(_LEVELS, told.keys, strict=True))
    )
    if not told.terms and not told.silent:
        yield "no term of the pack has this key"
    for one in told.terms:
        yield from _lines(one)
    if told.silent:
        yield "kept out:"
        for one in told.silent:
            yield from _lines(one)


def _lines(one: Explained) -> Iterator[str]:
    term, concept = one.term, one.concept
    about = [concept.type, *filter(None, (concept.rank, concept.taxon))]
    yield f"{term.surface}  ->  {concept.curie}  {concept.label}  ({', '.join(about)})"
    facts = [f"{one.tier} match", f"{term.kind} ({term.language}) of {', '.join(term.sources)}"]
    facts += [f"prior {term.prior:.3f}", f"case {term.case.name}", *(["not looked for in texts"] if term.off else [])]
    yield f"    {'; '.join(facts)}"
    for what, text in (("rule", term.rule), ("reason", one.silent)):
        if text:
            yield f"    {what}: {text}"
    if one.above:
        more = f" (the first of {one.parents} parents)" if one.parents > 1 else ""
        yield f"    below {' < '.join(f'{label} {curie}' for label, curie in one.above)}{more}"
    if one.children:
        yield f"    above {counted(one.children, 'concept')}"
