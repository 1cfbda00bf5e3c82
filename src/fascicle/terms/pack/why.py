"""Explanation of a surface in a pack, and of labels that are not searched in texts.

A surface has keys, terms and their concepts, and terms that are excluded. Labels of a pack and of
its sources that are not searched are given with the reason of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np

from fascicle.core.arrays import Bools, int_array
from fascicle.core.document import Document
from fascicle.core.pairs import join_pairs, split_pairs
from fascicle.core.wording import plural
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.composed import ComposedNames, choose_composed
from fascicle.terms.keys.characters import case_fits
from fascicle.terms.keys.key import KeyReader, Level, TokenReader, key
from fascicle.terms.overlaps import Edges
from fascicle.terms.pack import layout
from fascicle.terms.pack.pack import Concept, Pack, Term
from fascicle.terms.sources.drafts import LostLabel
from fascicle.terms.terms import NAME_KINDS
from fascicle.text.segment import RULES_1

_Tier = Literal["exact", "folded", "canonical"]
_TIERS: Final[tuple[tuple[Level, _Tier], ...]] = ((0, "exact"), (1, "folded"), (2, "canonical"))
_LEVELS: Final[tuple[Level, ...]] = (0, 1, 2, 3)
_LONGEST: Final = 30  # concepts of a shown way up; a circle ends it too
COLUMNS: Final = ("concept", "label", "reason")
_LABEL: Final = NAME_KINDS.index("label")
_DIGITS: Final = 6  # of a score, as everywhere


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """Term that has the key of a surface.

    Attributes:
        term: the term.
        concept: its concept.
        tier: what the surface and the term have in common: spelling, folded characters, or the key
            alone.
        above: one way from the concept up, labels with their CURIEs; always the first parent.
        parents: how many parents the concept has.
        children: how many concepts are right below it.
        case: name of the case policy.
        silent: why the term is kept out; empty if it is not.
    """

    term: Term
    concept: Concept
    tier: _Tier
    above: tuple[tuple[str, str], ...]
    parents: int
    children: int
    case: str
    silent: str


class ExplainedParts(msgspec.Struct, frozen=True, kw_only=True):
    """Quality and entity in a surface, and the names that they mean.

    Attributes:
        quality: the word for the quality.
        entity: the words for the entity.
        terms: names with another word of the class, or in another order.
    """

    quality: str
    entity: str
    terms: tuple[Term, ...]


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """Explanation of a surface in a pack.

    Attributes:
        surface: the query.
        pack: full name of the pack.
        normaliser: version of the keys.
        keys: of the four levels.
        terms: the terms that the surface finds: those of the best tier first, and then the most
            probable.
        silent: terms that are kept out.
        composed: names that the surface means as a quality and an entity, see `terms.composed`.
    """

    surface: str
    pack: str
    normaliser: str
    keys: tuple[str, ...]
    terms: tuple[Explained, ...]
    silent: tuple[Explained, ...]
    composed: tuple[ExplainedParts, ...] = ()


def explain_name(pack: Pack, surface: str) -> Explanation:
    """Explains a surface.

    Args:
        pack: the pack that is open.
        surface: any name.
    """
    keys = tuple(key(surface, level) for level in _LEVELS)
    explained_tables = []
    for names in (pack.active, pack.silent):
        _, rows = names.of_keys([keys[2]])
        terms = [pack.term(names, row) for row in rows.tolist()]
        explained = [_explain(pack, term, _tier(term.surface, keys)) for term in terms]
        explained_tables.append(tuple(sorted(explained, key=_order)))
    return Explanation(
        surface=surface,
        pack=pack.full_name,
        normaliser=pack.manifest.normaliser,
        keys=keys,
        terms=explained_tables[0],
        silent=explained_tables[1],
        composed=tuple(_parts(pack, surface)),
    )


def reason_not_found(explanation: Explanation, threshold: float) -> str:
    """Returns why a surface is not found where it is written like this; empty if it is found.

    Args:
        explanation: of the surface.
        threshold: lowest probability of a mention.
    """
    if not explanation.terms:
        silent = next((term.silent for term in explanation.silent), "")
        return silent or "no name of the pack is spelled like it"
    terms = [explained for explained in explanation.terms if not explained.term.off]
    if not terms:
        return "a rule keeps it out of texts; it is only linked"
    surface = explanation.surface
    fitting = [term for term in terms if case_fits(surface, term.term.surface, term.term.case)]
    if not fitting:
        names = ", ".join(dict.fromkeys(explained.term.surface for explained in terms))
        return f"its case or form is not that of the names like it: {names}"
    priors: dict[tuple[str, str], float] = {}
    for explained in fitting:
        meaning = explained.concept.type, explained.concept.curie
        priors[meaning] = max(priors.get(meaning, 0.0), explained.term.prior)
    scores = {kind: 0.0 for kind, _ in priors}
    for (kind, _), prior in priors.items():
        scores[kind] += prior
    score = min(1.0, max(scores.values()))
    if round(score, _DIGITS) >= threshold:
        return ""
    return f"it is meant with a probability of {score:.3f}, and {threshold} is needed"


def _parts(pack: Pack, surface: str) -> Iterator[ExplainedParts]:
    """Yields qualities with their entities in a surface."""
    table, document = ComposedNames.of(pack), Document(id="", text=surface)
    if table is None or not surface:
        return
    names = table.find(TokenReader().read([surface]), [document]).get(0, [])
    for name, _ in choose_composed(surface, names, Edges(document, RULES_1)):
        _, rows = pack.active.of_key_rows(int_array(name.rows))
        yield ExplainedParts(
            quality=surface[slice(*name.quality)],
            entity=surface[slice(*name.entity)],
            terms=tuple(pack.term(pack.active, row) for row in rows.tolist()),
        )


def _order(explained: Explained) -> tuple[int, float, str, str]:
    tiers = [tier for _, tier in _TIERS]
    return (
        tiers.index(explained.tier),
        -explained.term.prior,
        explained.term.concept,
        explained.term.surface,
    )


def _tier(surface: str, keys: tuple[str, ...]) -> _Tier:
    return next(tier for level, tier in _TIERS if level == 2 or key(surface, level) == keys[level])


def _explain(pack: Pack, term: Term, tier: _Tier) -> Explained:
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
    row, visited = pack.row(curie), set[int]()
    while len(visited) < _LONGEST and row not in visited:
        visited.add(row)
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


def explanation_lines(explanation: Explanation) -> Iterator[str]:
    """Yields an explanation for people."""
    yield f"{explanation.surface!r} in {explanation.pack}"
    keys = ", ".join(
        f"k{level} {text!r}" for level, text in zip(_LEVELS, explanation.keys, strict=True)
    )
    yield f"keys of {explanation.normaliser}: {keys}"
    if not explanation.terms and not explanation.silent:
        yield "no term of the pack has this key"
    for explained in explanation.terms:
        yield from _lines(explained)
    threshold = RecognitionSettings().threshold
    if explanation.terms and (reason := reason_not_found(explanation, threshold)):
        yield f"not found in texts: {reason}"
    for parts in explanation.composed:
        yield f"composed of the quality {parts.quality!r} and the entity {parts.entity!r}, as"
        for term in parts.terms:
            yield f"    {term.surface}  ->  {term.concept}  (prior {term.prior:.3f})"
    if explanation.silent:
        yield "kept out:"
        for explained in explanation.silent:
            yield from _lines(explained)


def _lines(explained: Explained) -> Iterator[str]:
    term, concept = explained.term, explained.concept
    about = [concept.type, *filter(None, (concept.rank, concept.taxon))]
    yield f"{term.surface}  ->  {concept.curie}  {concept.label}  ({', '.join(about)})"
    facts = [
        f"{explained.tier} match",
        f"{term.kind} ({term.language}) of {', '.join(term.sources)}",
    ]
    facts += [
        f"prior {term.prior:.3f}",
        f"case {term.case.name}",
        *(["not looked for in texts"] if term.off else []),
    ]
    yield f"    {'; '.join(facts)}"
    for what, text in (("rule", term.rule), ("reason", explained.silent)):
        if text:
            yield f"    {what}: {text}"
    if explained.above:
        more = f" (the first of {explained.parents} parents)" if explained.parents > 1 else ""
        way_up = " < ".join(f"{label} {curie}" for label, curie in explained.above)
        yield f"    below {way_up}{more}"
    if explained.children:
        yield f"    above {plural(explained.children, 'concept')}"


class _NotSearched(NamedTuple):
    """Label that is not searched in texts.

    Attributes:
        concept: CURIE.
        label: the name.
        reason: that of a `SourceReport`; ``"curation"`` for a rule; or ``"unlikely"`` for a common
            word, or a name so short, that it is hardly ever meant. An unlikely label is still
            linked.
    """

    concept: str
    label: str
    reason: str


def unsearched_labels(
    pack: Pack, left_out: Iterable[LostLabel] = (), *, settings: RecognitionSettings | None = None
) -> Iterator[_NotSearched]:
    """Yields the labels that are not searched: those that the build left out, and those of the
    pack.

    Args:
        pack: the pack that was built.
        left_out: labels that its sources have and the build left out; one that another source
            brought in is not lost.
        settings: how names are looked for.
    """
    sought = _sought(pack, settings or RecognitionSettings())
    for label in _missing(pack, list(dict.fromkeys(left_out)), sought):
        yield _NotSearched(*label)
    for names, selected in (
        (pack.active, ~sought),
        (pack.silent, (pack.silent.flags[:] & layout.DROPPED) != 0),
    ):
        for row in np.flatnonzero((names.kind[:] == _LABEL) & selected).tolist():
            term = pack.term(names, row)
            yield _NotSearched(
                term.concept, term.surface, "curation" if term.off or term.silent else "unlikely"
            )


def _missing(pack: Pack, labels: Sequence[LostLabel], sought: Bools) -> Iterator[LostLabel]:
    """Yields the lost labels whose concept has no searched name of the same key."""
    places, terms = pack.rows(KeyReader()([label.surface for label in labels]))
    concepts = pack.concept_rows([label.concept for label in labels])
    own = (pack.active.concept[terms] == concepts[places]) & sought[terms]
    has_name = np.zeros(len(labels), dtype=np.bool_)
    has_name[places[own]] = True
    return (label for label, present in zip(labels, has_name.tolist(), strict=True) if not present)


def _sought(pack: Pack, settings: RecognitionSettings) -> Bools:
    """Returns whether each active term is searched: its key is likely enough to mean a concept
    of its type.
    """
    active = pack.active
    concepts = active.concept[:].astype(np.int64)
    keys = np.repeat(np.arange(len(active.starts) - 1), np.diff(active.starts[:]))
    pairs, owners = np.unique(join_pairs(keys, concepts), return_inverse=True)
    highest = np.zeros(len(pairs))
    np.maximum.at(highest, owners, active.prior[:].astype(np.float64))
    keys, concepts = split_pairs(pairs)
    kinds = join_pairs(keys, pack.type_rows[concepts].astype(np.int64))
    _, meanings = np.unique(kinds, return_inverse=True)
    likely = np.bincount(meanings, weights=highest).round(_DIGITS) >= settings.threshold
    searched: Bools = likely[meanings][owners] & ((active.flags[:] & layout.OFF) == 0)
    return searched
