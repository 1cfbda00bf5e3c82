"""Training tables of rankers: the candidates of annotated mentions, with what is right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from fascicle.core.arrays import Bools, int_array
from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.core.pairs import join_pairs
from fascicle.core.stream import portions
from fascicle.linking.candidates import PRECEDED, Candidates
from fascicle.linking.features import FEATURES
from fascicle.linking.linker import Linker, mention_scores
from fascicle.linking.logit import ChoiceSets, TrainingTable, join_tables
from fascicle.linking.ranking import Ranked
from fascicle.terms.pack.pack import Pack

_PORTION: Final = 1 << 18  # characters of documents that are linked together
NameKey = tuple[str, str]  # type, and key of level 1


class _Portion(NamedTuple):
    """Ranked candidates of some documents.

    Attributes:
        start: number of the first document.
        mentions: gold mentions of each document.
        ranked: their candidates.
        right: whether each candidate is a gold concept of its mention, or one of its set.
    """

    start: int
    mentions: Sequence[Sequence[Mention]]
    ranked: Ranked
    right: Bools

    def table(self, kind: str) -> TrainingTable:
        """Returns the candidates of the units of a type that can be used for training.

        They are in the order without a ranker, in which linkers answer where candidates are equally
        probable.
        """
        candidates, order = self.ranked.candidates, self.ranked.order
        units = np.flatnonzero(self._teaches(kind))
        is_used = np.isin(candidates.owners[order], units)
        rows = order[is_used & (candidates.precedence[order] != PRECEDED)]
        owners = np.searchsorted(units, candidates.owners[rows])
        documents = [self.start + candidates.units[unit].document for unit in units.tolist()]
        return TrainingTable(
            ChoiceSets(owners, self.ranked.features[rows], len(units)),
            self.right[rows],
            candidates.tiers[rows],
            int_array(documents),
            mention_scores(candidates.units, self.mentions)[units],
            FEATURES,
        )

    def _teaches(self, kind: str) -> list[bool]:
        """Returns whether each unit is of a type, and of a mention with a score, with exactly one
        concept, or with parts.
        """
        units = self.ranked.candidates.units
        divided = {(unit.document, unit.mentions) for unit in units if unit.part}
        teaches = []
        for unit in units:
            mention = self.mentions[unit.document][unit.mentions[0]]
            is_plain = mention.score is not None or len(mention.links) == 1
            is_clear = is_plain or (unit.document, unit.mentions) in divided
            teaches.append(unit.type == kind and is_clear)
        return teaches


def make_tables(
    linker: Linker,
    documents: Sequence[Document],
    *,
    gold: Sequence[Sequence[Mention]],
    kinds: Sequence[str],
    own: dict[int, dict[NameKey, set[str]]],
) -> dict[str, TrainingTable]:
    """Returns the candidates of the mentions of each type, which are ranked portion by portion.

    Args:
        linker: without rankers.
        documents: annotated.
        gold: mentions of each.
        kinds: types.
        own: of each document, the entries of the memory that come from it, which are not used.
    """
    parts: dict[str, list[TrainingTable]] = defaultdict(list)
    start = 0
    for chunk in portions(documents, characters=_PORTION):
        mentions = gold[start : start + len(chunk)]
        without = {number: own.get(start + number, {}) for number in range(len(chunk))}
        ranked = linker.ranked(chunk, mentions, without=without, each=True)
        right = _right(linker.pack, ranked.candidates, mentions)
        portion = _Portion(start, mentions, ranked, right)
        for kind in kinds:
            parts[kind].append(portion.table(kind))
        start += len(chunk)
    return {kind: join_tables(several) for kind, several in parts.items()}


def _right(pack: Pack, candidates: Candidates, mentions: Sequence[Sequence[Mention]]) -> Bools:
    """Returns whether each candidate is a gold concept of its mention, or one of its set."""
    gold = [
        (number, link.curie)
        for number, unit in enumerate(candidates.units)
        for link in mentions[unit.document][unit.mentions[0]].links
    ]
    rows = pack.concept_rows([curie for _, curie in gold])
    units = int_array([number for number, _ in gold])[rows >= 0]
    gold_pairs = join_pairs(units, pack.leads.of(rows[rows >= 0]))
    return np.isin(join_pairs(candidates.owners, candidates.concepts), gold_pairs)
