"""Proposals of curation rules from counts in texts; people decide about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from fascicle.core.document import GOLD, Document
from fascicle.core.mention import Mention, Span, overlaps
from fascicle.core.stream import portions
from fascicle.core.type_names import read_vocabulary
from fascicle.settings.base import Positive
from fascicle.terms.curation import Action, Case, CurationRule
from fascicle.terms.keys.characters import CasePolicy, case_fits
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack, Term
from fascicle.terms.pack.priors import common_words
from fascicle.terms.recognising import PackRecogniser
from fascicle.terms.terms import curie as curie_of

# those that a rule can give
_LEVELS: Final = (CasePolicy.any, CasePolicy.initial, CasePolicy.exact)
_PORTION: Final = 1 << 18  # characters of text that are searched together
_REMEMBERED: Final = 1 << 15  # spellings whose names are cached
_SOURCE: Final = "pack"
_CASES: Final[tuple[Case, ...]] = ("", "initial", "exact")  # by `CasePolicy`


class NameOfType(NamedTuple):
    """Name as the sources write it, with a type; the unit of a proposal."""

    surface: str
    type: str


@dataclass(kw_only=True)
class PlaceCounts:
    """Counts of the places of a name. Lists have an item for each of `_LEVELS`: the strictest that
    the place fits.

    Attributes:
        right: places in gold that are a mention of this type.
        wrong: places in gold that share no character with a mention of this type.
        near: other places in gold, which share some.
        raw: places in texts without gold.
        lower: of these, those without a capital.
        score: the highest score of a mention.
        concepts: CURIE -> places in gold that are right and linked to it alone.
    """

    right: list[int] = field(default_factory=lambda: [0] * len(_LEVELS))
    wrong: list[int] = field(default_factory=lambda: [0] * len(_LEVELS))
    near: int = 0
    raw: list[int] = field(default_factory=lambda: [0] * len(_LEVELS))
    lower: int = 0
    score: float = 0.0
    concepts: Counter[str] = field(default_factory=Counter)

    def add(self, other: PlaceCounts) -> None:
        """Adds the counts of another part of the texts."""
        for name in ("right", "wrong", "raw"):
            own = getattr(self, name)
            own[:] = [a + b for a, b in zip(own, getattr(other, name), strict=True)]
        self.near += other.near
        self.lower += other.lower
        self.score = max(self.score, other.score)
        self.concepts.update(other.concepts)


class _NamePlace(NamedTuple):
    """Place of a name in a text."""

    document: Document
    mention: Mention
    counts: PlaceCounts
    level: int


class Evidence:
    """Counts of all names of a pack that were found, in texts of any size.

    A place counts for each name that explains it: the terms of its key that fit the case, of the
    type of the mention. What the recogniser does not find, such as a name inside a longer one,
    counts for none. Memory grows with the number of names that occur, not with the texts.
    """

    def __init__(self, pack: Pack) -> None:
        """Opens the pack.

        Args:
            pack: whose names are counted.
        """
        self._pack = pack
        self._recogniser = PackRecogniser({_SOURCE: pack})
        self._names = lru_cache(maxsize=_REMEMBERED)(self._names_of)
        self._canonical = _canonical_names()
        self.counts: dict[NameOfType, PlaceCounts] = {}

    def read_raw(self, documents: Iterable[Document]) -> None:
        """Counts names in texts without gold annotations.

        Args:
            documents: read once; their mentions are not looked at.
        """
        for place in self._find_places(documents, self.counts):
            place.counts.raw[place.level] += 1
            place.counts.lower += _is_lower(place.mention.text_in(place.document.text))

    def read_gold(self, documents: Iterable[Document]) -> frozenset[str]:
        """Counts names in one corpus with gold annotations, for the types that its gold has.

        Args:
            documents: read once.

        Returns:
            The types of the pack that the gold has, under the names of the pack.
        """
        own: dict[NameOfType, PlaceCounts] = {}
        annotated: set[str] = set()
        gold: dict[str, dict[Span, Mention]] = {}
        last: Document | None = None
        for place in self._find_places(_watch_types(documents, annotated), own):
            if place.document is not last:
                last, gold = place.document, self._gold(place.document)
            _judge(place, gold.get(self._canonical(place.mention.type), {}))
        gold_types = set(map(self._canonical, annotated))
        types = frozenset(
            kind for kind in self._recogniser.types if self._canonical(kind) in gold_types
        )
        for name, counts in own.items():
            if name.type in types:
                self.counts.setdefault(name, PlaceCounts()).add(counts)
        return types

    def _gold(self, document: Document) -> dict[str, dict[Span, Mention]]:
        """Returns the gold mentions of each type, by their outer range."""
        gold: dict[str, dict[Span, Mention]] = {}
        for mention in document.layer(GOLD):
            gold.setdefault(self._canonical(mention.type), {})[mention.start, mention.end] = mention
        return gold

    def _find_places(
        self, documents: Iterable[Document], counts: dict[NameOfType, PlaceCounts]
    ) -> Iterator[_NamePlace]:
        for chunk in portions(documents, characters=_PORTION):
            for document, patch in zip(chunk, self._recogniser.predict(chunk), strict=True):
                for mention in patch.add:
                    for name, level in self._names(mention.text_in(document.text)):
                        if name.type == mention.type:
                            of_name = counts.setdefault(name, PlaceCounts())
                            of_name.score = max(of_name.score, mention.score or 0.0)
                            yield _NamePlace(document, mention, of_name, level)

    def _names_of(self, text: str) -> list[tuple[NameOfType, int]]:
        """Returns the names that a surface may mean, and the strictest case policy that it fits
        of each.
        """
        pack, names = self._pack, dict[tuple[NameOfType, int], None]()
        for row in pack.rows([key(text, 2)])[1].tolist():
            term = pack.term(pack.active, row)
            if not term.off and case_fits(text, term.surface, term.case):
                kind = pack.types[int(pack.type_rows[int(pack.active.concept[row])])]
                level = max(policy for policy in _LEVELS if case_fits(text, term.surface, policy))
                names[NameOfType(term.surface, kind), level] = None
        return list(names)


def _watch_types(documents: Iterable[Document], annotated: set[str]) -> Iterator[Document]:
    """Yields the same documents; records which types their gold has."""
    for document in documents:
        annotated.update(mention.type for mention in document.layer(GOLD))
        yield document


def _judge(place: _NamePlace, gold: Mapping[Span, Mention]) -> None:
    mention, counts = place.mention, place.counts
    span = mention.start, mention.end
    same = gold.get(span)
    if same is not None and len(same.spans) == 1:
        counts.right[place.level] += 1
        if len(same.links) == 1:
            link = same.links[0]
            counts.concepts.update(
                filter(None, [link.curie or curie_of(link.id, prefix=link.ontology)])
            )
    elif any(overlaps(span, part) for other in gold.values() for part in other.spans):
        counts.near += 1
    else:
        counts.wrong[place.level] += 1


def _is_lower(text: str) -> bool:
    return text == text.lower() and any(map(str.isalpha, text))


def _canonical_names() -> Callable[[str], str]:
    """Returns a function that gives the canonical type; an unknown or ambiguous type stays as it
    is.
    """
    vocabulary = read_vocabulary()

    @cache
    def canonical(name: str) -> str:
        candidates = vocabulary.candidates(name)
        return candidates[0] if len(candidates) == 1 else name

    return canonical


@dataclass(frozen=True, kw_only=True)
class ProposalSettings:
    """Thresholds of the evidence for a rule.

    Attributes:
        least: places in gold that a name must have, for gold to decide about it.
        precision: a name, or a way to write it, of which a smaller share of these places is right,
            does harm. To leave it out raises F1 if the share is less than half of the F1 that is
            there.
        common: places in texts without gold from which on a common word does harm, where gold does
            not decide.
        clear: share of the right places that one concept must have to be preferred.
    """

    least: Positive = 3
    precision: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.3
    common: Positive = 20
    clear: Annotated[float, Meta(ge=0.5, le=1.0)] = 0.8


class Proposal(NamedTuple):
    """Proposed rules for one name of one type.

    Attributes:
        name: of which type.
        harm: places that are wrong without the rule: those in gold, and as many of the others as
            are expected. Of a rule that prefers a concept, the right places that have no link
            without it.
        rules: as a rule one; several where only together they are about this type alone.
    """

    name: NameOfType
    harm: float
    rules: tuple[CurationRule, ...]


class _Said(NamedTuple):
    """Action for a name, and the harm without it."""

    action: Action
    harm: float
    case: Case = ""
    concept: str = ""


def proposals(
    pack: Pack, counts: Mapping[NameOfType, PlaceCounts], settings: ProposalSettings | None = None
) -> list[Proposal]:
    """Returns at most one proposal for each name and type, the most harmful first.

    Args:
        pack: the pack that the evidence is of.
        counts: of `Evidence`.
        settings: when there is enough evidence.
    """
    thresholds = settings or ProposalSettings()
    result = []
    for name, of_name in counts.items():
        _, rows = pack.rows([key(name.surface, 2)])
        terms = [pack.term(pack.active, row) for row in rows.tolist()]
        terms = [term for term in terms if term.surface == name.surface]
        own = [
            term
            for term in terms
            if pack.types[pack.type_rows[pack.row(term.concept)]] == name.type
        ]
        verdict = _find_verdict(name, of_name, own, thresholds)
        if verdict is not None and (verdict.action != "prefer" or len(own) == len(terms)):
            rules = tuple(
                _rules(name, verdict, own, [term for term in terms if term not in own], of_name)
            )
            result.append(Proposal(name, verdict.harm, rules))
    return sorted(result, key=lambda proposal: (-proposal.harm, proposal.name))


def _find_verdict(
    name: NameOfType, counts: PlaceCounts, own: Iterable[Term], settings: ProposalSettings
) -> _Said | None:
    right, wrong, rank = sum(counts.right), sum(counts.wrong), _rank(name.surface)
    if right + wrong >= settings.least:
        return (
            _propose_case(counts, settings)
            or _propose_exclusion(counts, settings, common=rank is not None)
            or _propose_preference(counts, {term.concept for term in own}, settings)
        )
    raw = sum(counts.raw)
    if rank is None or raw < settings.common:
        return None
    return _Said("ner_off", wrong + raw * (1 - counts.score))


def _propose_case(counts: PlaceCounts, settings: ProposalSettings) -> _Said | None:
    """Returns the case policy that keeps the right places, if the others do harm: the one that
    excludes most.
    """
    best: _Said | None = None
    for policy in (CasePolicy.initial, CasePolicy.exact):
        right, wrong = sum(counts.right[:policy]), sum(counts.wrong[:policy])
        right_inside, wrong_inside = sum(counts.right[policy:]), sum(counts.wrong[policy:])
        harms = right + wrong >= settings.least and right < settings.precision * (right + wrong)
        if (
            harms
            and right_inside
            and right_inside >= settings.precision * (right_inside + wrong_inside)
        ):
            harm = wrong + _expected_wrong(sum(counts.raw[:policy]), right, wrong)
            if best is None or harm > best.harm:
                best = _Said("case", harm, case=_CASES[policy])
    return best


def _propose_exclusion(
    counts: PlaceCounts, settings: ProposalSettings, *, common: bool
) -> _Said | None:
    """Proposes to exclude a name that is hardly ever right, or to keep it for linking alone."""
    right, wrong = sum(counts.right), sum(counts.wrong)
    if right >= settings.precision * (right + wrong):
        return None
    harm = wrong + _expected_wrong(sum(counts.raw), right, wrong)
    return _Said("drop" if common and not right and not counts.near else "ner_off", harm)


def _propose_preference(
    counts: PlaceCounts, concepts: set[str], settings: ProposalSettings
) -> _Said | None:
    """Returns the concept that gold links the name to, if other concepts have the name too."""
    linked = {curie: count for curie, count in counts.concepts.items() if curie in concepts}
    if len(concepts) < 2 or sum(linked.values()) < settings.least:
        return None
    curie = max(sorted(linked), key=lambda concept: linked[concept])
    if linked[curie] < settings.clear * counts.concepts.total():
        return None
    return _Said("prefer", linked[curie], concept=curie)


def _expected_wrong(raw: int, right: int, wrong: int) -> float:
    """Estimates how many places in texts without gold are wrong, by those with gold (rule of
    succession).
    """
    return raw * (wrong + 1) / (right + wrong + 2)


def _rules(
    name: NameOfType,
    verdict: _Said,
    own: Iterable[Term],
    other_terms: Iterable[Term],
    counts: PlaceCounts,
) -> Iterator[CurationRule]:
    """Yields the rules about the names of this type alone: by source or concept if other types
    have the surface.
    """
    mine, theirs = (
        {source for term in own for source in term.sources},
        {source for term in other_terms for source in term.sources},
    )
    if verdict.action == "prefer" or not theirs:
        targets = [("", verdict.concept)]
    elif mine.isdisjoint(theirs):
        targets = [(source, "") for source in sorted(mine)]
    else:
        targets = [("", concept) for concept in sorted({term.concept for term in own})]
    for source, concept in targets:
        yield CurationRule(
            action=verdict.action,
            surface=name.surface,
            source=source,
            concept=concept,
            case=verdict.case,
            note=_note(name, verdict, counts),
        )


def _note(name: NameOfType, verdict: _Said, counts: PlaceCounts) -> str:
    """Returns the evidence as text, for the person who decides."""
    right, wrong, raw = sum(counts.right), sum(counts.wrong), sum(counts.raw)
    parts = [f"{name.type}; harm {verdict.harm:.1f}"]
    if right + wrong + counts.near:
        share = f" ({right / (right + wrong):.2f})" if right + wrong else ""
        parts.append(f"gold: {right} of {right + wrong} right{share}, {counts.near} overlap one")
    if raw:
        parts.append(
            f"text: {raw}, of them {counts.lower} in lower case and {raw - counts.lower} with "
            "capitals"
        )
    if (rank := _rank(name.surface)) is not None:
        parts.append(f"common word {rank}")
    if linked := counts.concepts.most_common(3):
        parts.append("linked to " + ", ".join(f"{curie} {count}" for curie, count in linked))
    return "; ".join(parts)


def _rank(surface: str) -> int | None:
    return common_words().get(surface.lower())
