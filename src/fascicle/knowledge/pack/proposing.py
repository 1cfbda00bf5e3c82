"""Rules of curation that the evidence of texts speaks for; people decide about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from fascicle.knowledge.curation.rules import Action, Case, Rule
from fascicle.knowledge.keys.case import CasePolicy
from fascicle.knowledge.keys.key import key
from fascicle.knowledge.pack.evidence import Counts, NameOfType
from fascicle.knowledge.pack.pack import Pack, Term
from fascicle.knowledge.pack.priors import common_words
from fascicle.settings.base import Positive

_STRICTER: Final[tuple[Case, ...]] = ("", "initial", "exact")  # by `CasePolicy`


@dataclass(frozen=True, kw_only=True)
class ProposalSettings:
    """When there is enough evidence for a rule.

    Attributes:
        least: places in gold that a name must have, for gold to decide about it.
        precision: a name, or a way to write it, of which a smaller share of these places is right, does harm. To leave
            it out raises F1 if the share is less than half of the F1 that is there.
        common: places in texts without gold from which on a common word does harm, where gold does not decide.
        clear: share of the right places that one concept must have to be preferred.
    """

    least: Positive = 3
    precision: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.3
    common: Positive = 20
    clear: Annotated[float, Meta(ge=0.5, le=1.0)] = 0.8


class Proposal(NamedTuple):
    """What is proposed about one name of one type.

    Attributes:
        name: of which type.
        harm: places that are wrong without the rule: those in gold, and as many of the others as are expected. Of a
            rule that prefers a concept, the right places that have no link without it.
        rules: as a rule one; several where only together they are about this type alone.
    """

    name: NameOfType
    harm: float
    rules: tuple[Rule, ...]


class _Said(NamedTuple):
    """What to do with a name."""

    action: Action
    harm: float
    case: Case = ""
    concept: str = ""


def proposals(
    pack: Pack, counts: Mapping[NameOfType, Counts], settings: ProposalSettings | None = None
) -> list[Proposal]:
    """At most one proposal for each name and type, the most harmful first.

    Args:
        pack: that the evidence is of.
        counts: of `Evidence`.
        settings: when there is enough evidence.
    """
    chosen = settings or ProposalSettings()
    found = []
    for name, of_name in counts.items():
        _, rows = pack.rows([key(name.surface, 2)])
        terms = [pack.term(pack.active, row) for row in rows.tolist()]
        terms = [term for term in terms if term.surface == name.surface]
        own = [term for term in terms if _type_of(pack, term) == name.type]
        said = _said(name, of_name, own, chosen)
        if said is not None and (said.action != "prefer" or len(own) == len(terms)):
            rules = tuple(_rules(name, said, own, [term for term in terms if term not in own], of_name))
            found.append(Proposal(name, said.harm, rules))
    return sorted(found, key=lambda one: (-one.harm, one.name))


def _type_of(pack: Pack, term: Term) -> str:
    return pack.types[int(pack.type_rows[pack.row(term.concept)])]


def _said(name: NameOfType, counts: Counts, own: Iterable[Term], settings: ProposalSettings) -> _Said | None:
    right, wrong, rank = sum(counts.right), sum(counts.wrong), _rank(name.surface)
    if right + wrong >= settings.least:
        return (
            _stricter(counts, settings)
            or _left_out(counts, settings, common=rank is not None)
            or _preferred(counts, {term.concept for term in own}, settings)
        )
    raw = sum(counts.raw)
    if rank is None or raw < settings.common:
        return None
    return _Said("ner_off", wrong + raw * (1 - counts.score))


def _stricter(counts: Counts, settings: ProposalSettings) -> _Said | None:
    """The case that keeps what is right, if what it leaves out does harm: of several the one that leaves out most."""
    best: _Said | None = None
    for policy in (CasePolicy.initial, CasePolicy.exact):
        right, wrong = sum(counts.right[:policy]), sum(counts.wrong[:policy])
        kept, kept_wrong = sum(counts.right[policy:]), sum(counts.wrong[policy:])
        harms = right + wrong >= settings.least and right < settings.precision * (right + wrong)
        if harms and kept and kept >= settings.precision * (kept + kept_wrong):
            harm = wrong + _expected_wrong(sum(counts.raw[:policy]), right, wrong)
            if best is None or harm > best.harm:
                best = _Said("case", harm, case=_STRICTER[policy])
    return best


def _left_out(counts: Counts, settings: ProposalSettings, *, common: bool) -> _Said | None:
    """Leaves a name out that is hardly ever right; it stays for linking, unless it is a common word and never right."""
    right, wrong = sum(counts.right), sum(counts.wrong)
    if right >= settings.precision * (right + wrong):
        return None
    harm = wrong + _expected_wrong(sum(counts.raw), right, wrong)
    return _Said("drop" if common and not right and not counts.near else "ner_off", harm)


def _preferred(counts: Counts, concepts: set[str], settings: ProposalSettings) -> _Said | None:
    """The concept that gold links the name to, if there are others of this name."""
    linked = {curie: count for curie, count in counts.concepts.items() if curie in concepts}
    if len(concepts) < 2 or sum(linked.values()) < settings.least:
        return None
    curie = max(sorted(linked), key=lambda one: linked[one])
    if linked[curie] < settings.clear * counts.concepts.total():
        return None
    return _Said("prefer", linked[curie], concept=curie)


def _expected_wrong(raw: int, right: int, wrong: int) -> float:
    """How many places of texts without gold are expected to be wrong, by those with gold (rule of succession)."""
    return raw * (wrong + 1) / (right + wrong + 2)


def _rules(
    name: NameOfType, said: _Said, own: Iterable[Term], others: Iterable[Term], counts: Counts
) -> Iterator[Rule]:
    """The rules about the names of this type alone: by source or by concept, if other types have the surface too."""
    mine, theirs = {one for term in own for one in term.sources}, {one for term in others for one in term.sources}
    if said.action == "prefer" or not theirs:
        targets = [("", said.concept)]
    elif mine.isdisjoint(theirs):
        targets = [(source, "") for source in sorted(mine)]
    else:
        targets = [("", concept) for concept in sorted({term.concept for term in own})]
    for source, concept in targets:
        yield Rule(
            action=said.action,
            surface=name.surface,
            source=source,
            concept=concept,
            case=said.case,
            note=_note(name, said, counts),
        )


def _note(name: NameOfType, said: _Said, counts: Counts) -> str:
    """The evidence, for whoever decides."""
    right, wrong, raw = sum(counts.right), sum(counts.wrong), sum(counts.raw)
    told = [f"{name.type}; harm {said.harm:.1f}"]
    if right + wrong + counts.near:
        share = f" ({right / (right + wrong):.2f})" if right + wrong else ""
        told.append(f"gold: {right} of {right + wrong} right{share}, {counts.near} overlap one")
    if raw:
        told.append(f"text: {raw}, of them {counts.lower} in lower case and {raw - counts.lower} with capitals")
    if (rank := _rank(name.surface)) is not None:
        told.append(f"common word {rank}")
    if linked := counts.concepts.most_common(3):
        told.append("linked to " + ", ".join(f"{curie} {count}" for curie, count in linked))
    return "; ".join(told)


def _rank(surface: str) -> int | None:
    return common_words().get(surface.lower())
