"""How right links are: by mention, by document, by tier, and why they are wrong.

The identifiers of gold and answers are CURIEs in one spelling. A mention is right if its set of concepts is that of
gold, and half right if only some are. Every figure has its counts, and the ceiling says how many mentions have all
their concepts in the vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol, get_args

import msgspec
import numpy as np

from fascicle.evaluation.calibration.reliability import expected_calibration_error, reliability

LinkError = Literal[
    "not in the vocabulary",
    "composite",
    "no concept",
    "not found",
    "wrong species",
    "too general",
    "too specific",
    "ambiguous abbreviation",
    "other concept",
]
LINK_ERRORS: Final[tuple[LinkError, ...]] = get_args(LinkError)
RANKS: Final = (1, 5, 20)
_SHORT: Final = 5  # letters and digits of an abbreviation


class LinkCase(msgspec.Struct, frozen=True, kw_only=True):
    """A mention with its gold concepts, and what a linker says of it.

    Attributes:
        document: its id.
        type: of the mention.
        surface: its words.
        gold: CURIEs; empty where gold says that no concept fits.
        parts: for each thing that the mention names, the candidates, the best first.
        answer: CURIEs that the linker gives; empty for NIL.
        score: probability of the answer, or ``None``.
        tier: of the answer; empty for NIL.
        known: whether all gold concepts are in the vocabulary.
        seen_surface: whether the surface was among the mentions that the linker was fitted on.
        seen_concepts: whether all gold concepts were.
    """

    document: str
    type: str
    surface: str
    gold: frozenset[str]
    parts: tuple[tuple[str, ...], ...] = ()
    answer: frozenset[str] = frozenset()
    score: float | None = None
    tier: str = ""
    known: bool = True
    seen_surface: bool = False
    seen_concepts: bool = False

    def right(self, rank: int = 1) -> bool:
        """Whether the gold concepts are those ranked first, or all among the first candidates of the parts."""
        found = {one for part in self.parts for one in part[:rank]}
        return bool(self.gold) and (found == self.gold if rank == 1 else self.gold <= found)

    @property
    def half(self) -> bool:
        """Whether the candidates ranked first have some of the gold concepts, and are not right."""
        return not self.right() and any(part[0] in self.gold for part in self.parts if part)


class Share(NamedTuple):
    """A part of a whole.

    Attributes:
        part: how many are in it.
        whole: how many there are.
    """

    part: int
    whole: int

    @property
    def value(self) -> float:
        """The part divided by the whole; 0 if there is nothing."""
        return self.part / self.whole if self.whole else 0.0


class LinkScores(msgspec.Struct, frozen=True, kw_only=True):
    """How right links are.

    Attributes:
        recall: by rank, of the mentions with gold concepts, those whose concepts are among the first candidates.
        half: of these mentions, those that are half right at the first rank.
        ceiling: of these mentions, those whose concepts are all in the vocabulary.
        precision: of the mentions that got concepts, those that got exactly those of gold.
        answered: of the mentions with gold concepts, those that got exactly these.
        nil: of the mentions that got NIL, those without gold concepts or whose concepts are not all in the vocabulary.
        concepts: true positives, false positives and false negatives of the sets of concepts of documents.
        tiers: by tier, of the mentions that were answered by it, those that are right.
        calibration_error: expected distance of the probability of answers from the share that is right, by ten equal
            ranges (Naeini et al., 2015); ``None`` without probabilities.
        errors: how often an answer is wrong, by why.
    """

    recall: dict[int, Share]
    half: Share
    ceiling: Share
    precision: Share
    answered: Share
    nil: Share
    concepts: tuple[int, int, int]
    tiers: dict[str, Share]
    calibration_error: float | None
    errors: dict[LinkError, int]

    @property
    def concept_f1(self) -> float:
        """F1 of the sets of concepts of documents."""
        right, wrong, missed = self.concepts
        return 2 * right / (2 * right + wrong + missed) if right else 0.0


class KnowsConcepts(Protocol):
    """What a vocabulary says of concepts, so that errors can be explained."""

    def taxon(self, curie: str) -> str:
        """The species of a concept; empty for none."""

    def ancestors(self, curie: str) -> Collection[str]:
        """All concepts above one."""


def score_links(
    cases: Iterable[LinkCase], concepts: KnowsConcepts, *, kept: Callable[[LinkCase], bool] = lambda case: True
) -> LinkScores:
    """Scores links.

    Args:
        cases: mentions with gold concepts and answers.
        concepts: of the vocabulary.
        kept: which of the cases count, such as those with an unseen surface.
    """
    found = [case for case in cases if kept(case)]
    gold = [case for case in found if case.gold]
    answered = [case for case in found if case.answer]
    refused = [case for case in found if not case.answer]
    tiers: dict[str, list[LinkCase]] = {}
    for case in answered:
        tiers.setdefault(case.tier, []).append(case)
    errors = Counter(error for case in found if (error := link_error(case, concepts)) is not None)
    return LinkScores(
        recall={rank: _share(gold, lambda case, rank=rank: case.right(rank)) for rank in RANKS},  # type: ignore[misc]
        half=_share(gold, lambda case: case.half),
        ceiling=_share(gold, lambda case: case.known),
        precision=_share(answered, _is_right),
        answered=_share(gold, _is_right),
        nil=_share(refused, lambda case: not case.gold or not case.known),
        concepts=_by_document(found),
        tiers={tier: _share(several, _is_right) for tier, several in sorted(tiers.items())},
        calibration_error=_calibration_error([case for case in answered if case.score is not None]),
        errors={error: errors[error] for error in LINK_ERRORS if errors[error]},
    )


def link_error(case: LinkCase, concepts: KnowsConcepts) -> LinkError | None:
    """Why the concepts that are ranked first are not those of gold; ``None`` if they are right."""
    first = {part[0] for part in case.parts if part}
    if first == case.gold or (not case.gold and not case.answer):
        return None
    if not case.gold:
        return "no concept"
    if not case.known:
        return "not in the vocabulary"
    if len(case.gold) > 1 or len(case.parts) > 1:
        return "composite"
    (gold,) = case.gold
    if not any(gold in part for part in case.parts):
        return "not found"
    (answer,) = first
    return _wrong(case.surface, gold, answer, concepts)


def _wrong(surface: str, gold: str, answer: str, concepts: KnowsConcepts) -> LinkError:
    if concepts.taxon(gold) != concepts.taxon(answer):
        return "wrong species"
    if answer in concepts.ancestors(gold):
        return "too general"
    if gold in concepts.ancestors(answer):
        return "too specific"
    bare = "".join(filter(str.isalnum, surface))
    return "ambiguous abbreviation" if len(bare) <= _SHORT and bare.isupper() else "other concept"


def _is_right(case: LinkCase) -> bool:
    return bool(case.gold) and case.answer == case.gold


def _share(cases: Sequence[LinkCase], right: Callable[[LinkCase], bool]) -> Share:
    return Share(sum(map(right, cases)), len(cases))


def _by_document(cases: Iterable[LinkCase]) -> tuple[int, int, int]:
    gold: dict[str, set[str]] = {}
    answers: dict[str, set[str]] = {}
    for case in cases:
        gold.setdefault(case.document, set()).update(case.gold)
        answers.setdefault(case.document, set()).update(case.answer)
    return concept_counts(gold, answers)


def concept_counts(gold: Mapping[str, Collection[str]], answers: Mapping[str, Collection[str]]) -> tuple[int, int, int]:
    """True positives, false positives and false negatives of sets of concepts by document.

    Args:
        gold: CURIEs of each document.
        answers: also of documents without mentions in gold.
    """
    documents = {*gold, *answers}
    pairs = [(set(gold.get(one, ())), set(answers.get(one, ()))) for one in documents]
    return (
        sum(len(first & second) for first, second in pairs),
        sum(len(second - first) for first, second in pairs),
        sum(len(first - second) for first, second in pairs),
    )


def _calibration_error(cases: Sequence[LinkCase]) -> float | None:
    if not cases:
        return None
    scores = np.array([case.score for case in cases], dtype=np.float64)
    return expected_calibration_error(reliability(scores, np.array([_is_right(case) for case in cases])))
