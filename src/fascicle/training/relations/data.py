"""Gold of a finder of relations: what it can learn, its batches, and how often it is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from msgspec.structs import replace

from fascicle.core.arrays import Bools, Floats, Ints, unique_values
from fascicle.core.document import GOLD, Document, Mention, Relation
from fascicle.core.mention import CONCEPTS, link_text
from fascicle.core.owners import gold_relations
from fascicle.errors import InputError
from fascicle.evaluation.calibration.reliability import JudgedMentions
from fascicle.models.relations import NAME
from fascicle.runtime.relations import RelationFinder, read_pairs
from fascicle.settings.recipes.relations import PairSettings, RelationLabel, RelationManifest
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.relations import (
    End,
    MentionPairs,
    PairPassage,
    pad_passages,
    spelled_ends,
    stated_ends,
)
from fascicle.training.engine.loop import BatchTensors
from fascicle.training.recogniser.data import shuffled_batches

_ENDS = "without two ends among the mentions"
_PAIRS = "between mentions of which no pair is read"
_LABELS = "of a type that train lacks"
_FOUND = "of a system, not of the gold"
_SECOND = "beside another relation of the same ends"


def related_types(documents: Sequence[Document]) -> tuple[tuple[str, str], ...]:
    """Returns the pairs of types of mentions that are related."""
    pairs = set()
    for document in documents:
        mentions = document.layer(GOLD)
        types, spelled = _types_of_ends(mentions), spelled_ends(mentions)
        for relation in gold_relations(document):
            ends = stated_ends(relation, spelled)
            if len(ends) == 2:
                first, second = sorted(types.get(end, "") for _, end in ends)
                pairs.add((first, second))
    return tuple(sorted(pair for pair in pairs if all(pair)))


def _types_of_ends(mentions: Sequence[Mention]) -> dict[End, str]:
    """Returns the type of each mention and of each concept, the last by its first mention."""
    types: dict[End, str] = {}
    for mention in mentions:
        types[mention.key] = mention.type
        for link in mention.links:
            types.setdefault(link_text(link), mention.type)
    return types


class GoldLabels:
    """Labels of the statements of documents by their gold relations.

    Attributes:
        labels: label -> its number from 1.
        missed: why relations are not among the statements -> how many.
    """

    def __init__(self, labels: Sequence[RelationLabel] | None = None) -> None:
        """Starts without missed relations.

        Args:
            labels: in their order; by default each one that occurs is added.
        """
        self._fixed = labels is not None
        self.labels = {label: number for number, label in enumerate(labels or (), start=1)}
        self.missed: Counter[str] = Counter()

    def of(self, document: Document, pairs: MentionPairs) -> Ints:
        """Returns the label of each statement, 0 for "not related", ``[S]``."""
        numbers = {frozenset(ends): at for at, ends in enumerate(pairs.ends)}
        spelled = spelled_ends(document.layer(GOLD))
        answer = np.zeros(len(pairs.ends), dtype=np.int64)
        self.missed[_FOUND] += len(document.relations) - len(gold_relations(document))
        for relation in gold_relations(document):
            ends = stated_ends(relation, spelled)
            at = numbers.get(frozenset(end for _, end in ends)) if len(ends) == 2 else None
            if at is None:
                self.missed[_PAIRS if len(ends) == 2 else _ENDS] += 1
            elif number := self._number(relation, ends, pairs.ends[at]):
                self.missed[_SECOND] += int(answer[at] not in (0, number))
                answer[at] = answer[at] or number
            else:
                self.missed[_LABELS] += 1
        return answer

    def _number(
        self, relation: Relation, ends: tuple[tuple[str, End], ...], order: tuple[End, End]
    ) -> int:
        (role, first), (other, _) = ends
        free = role == other or {role, other} == set(CONCEPTS)
        turned = not free and first != order[0]
        label = RelationLabel(type=relation.type, roles=(role, other), turned=turned)
        if not self._fixed:
            self.labels.setdefault(label, 1 + len(self.labels))
        return self.labels.get(label, 0)


@dataclass(frozen=True, kw_only=True)
class PairSet:
    """Training data of a finder in batches (see ``training.engine.loop.Batches``).

    Attributes:
        passages: to read.
        labels: of each statement of the document of each passage, ``[S]``.
        tokenizer: of the network.
    """

    passages: Sequence[PairPassage]
    labels: Sequence[Ints]
    tokenizer: PieceTokenizer

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[BatchTensors]:
        """Yields one epoch of batches, the same for the same arguments.

        Args:
            size: passages in a batch.
            seed: determines, with ``epoch``, the order.
            epoch: from 0.
            hidden: must be 0.

        Yields:
            Inputs of ``text.relations.pad_passages`` with ``statements``, and labels of statements.
        """
        assert not hidden, "recipes of finders hide no pieces"
        lengths = [p.windows[-1].pieces[1] - p.windows[0].pieces[0] for p in self.passages]
        for rows in shuffled_batches(lengths, size=size, seed=(seed, epoch)):
            statements, targets = list[Ints](), list[Ints]()
            for row in rows.tolist():
                numbers = self.passages[row].rows[:, 2]
                used = unique_values(numbers)
                statements.append(np.searchsorted(used, numbers) + sum(map(len, targets)))
                targets.append(self.labels[row][used])
            batch = pad_passages([self.passages[row] for row in rows.tolist()], self.tokenizer)
            batch["statements"] = np.concatenate(statements)
            inputs = {name: torch.from_numpy(array) for name, array in batch.items()}
            yield inputs, {NAME: torch.from_numpy(np.concatenate(targets))}

    def count(self, size: int) -> int:
        """Returns the number of batches in an epoch."""
        return -(-len(self.passages) // size)


@dataclass(frozen=True, kw_only=True)
class Learnable:
    """What a finder can learn from documents.

    Attributes:
        pairs: settings with the types of mentions that are paired.
        labels: in their order.
        data: batches.
        facts: counts for ``run.json``.
        missed: why relations cannot be learnt -> how many.
    """

    pairs: PairSettings
    labels: tuple[RelationLabel, ...]
    data: PairSet
    facts: Mapping[str, int]
    missed: Mapping[str, int]


def learnable(
    documents: Sequence[Document], manifest: RelationManifest, tokenizer: PieceTokenizer
) -> Learnable:
    """Reads the pairs of training documents, and labels their statements.

    Args:
        documents: with gold.
        manifest: whose labels are not known yet.
        tokenizer: of the network.

    Raises:
        InputError: no relation can be learnt.
    """
    if not manifest.pairs.types:
        types = related_types(documents)
        manifest = replace(manifest, pairs=replace(manifest.pairs, types=types))
    gold = GoldLabels()
    passages, labels, counts = list[PairPassage](), list[Ints](), Counter[str]()
    for document in documents:
        pairs, own = read_pairs(document, document.layer(GOLD), manifest, tokenizer)
        answer = gold.of(document, pairs)
        passages += own
        labels += [answer] * len(own)
        counts["statements"] += len(answer)
        counts["relations"] += int((answer > 0).sum())
        counts["pairs"] += len(pairs.rows)
        counts["pairs left out"] += pairs.left_out
    if not gold.labels:
        raise _no_relations(gold, manifest.pairs.between)
    return Learnable(
        pairs=manifest.pairs,
        labels=tuple(gold.labels),
        data=PairSet(passages=passages, labels=labels, tokenizer=tokenizer),
        facts=counts,
        missed=gold.missed,
    )


def _no_relations(gold: GoldLabels, between: str) -> InputError:
    reasons = "; ".join(missed_notes("train", gold.missed)) or "there are none"
    return InputError(
        f"no relation of train can be learnt ({reasons}); give documents with relations between "
        f"{between}, or set relations.between"
    )


def missed_notes(part: str, missed: Mapping[str, int]) -> Iterator[str]:
    """Yields sentences on the relations that are not among the statements of a part."""
    for reason, count in missed.items():
        if count:
            yield f"relations of {part} that no answer can be, {reason}: {count:,}"


def judge_statements(
    finder: RelationFinder, documents: Sequence[Document]
) -> tuple[JudgedMentions, Bools]:
    """Returns the most probable label of each statement of documents with the probability, before
    calibration, that its ends are related, and whether the label is right; and whether the ends are
    related.

    Args:
        finder: with its labels.
        documents: with gold mentions and relations.
    """
    manifest = finder.manifest
    gold = GoldLabels(manifest.labels)
    scores, best, answers = list[Floats](), list[Ints](), list[Ints]()
    relations = Counter[str]()
    mentions_of = [document.layer(GOLD) for document in documents]
    for document, stated in zip(documents, finder.read(documents, mentions_of), strict=True):
        scores.append(stated.scores)
        best.append(stated.best)
        answers.append(gold.of(document, stated.pairs))
        relations.update(relation.type for relation in gold_relations(document))
    answer, label = np.concatenate(answers), np.concatenate(best)
    judged = JudgedMentions(
        scores=np.concatenate(scores).clip(0.0, 1.0),
        right=label + 1 == answer,
        types=tuple(manifest.labels[number].type for number in label.tolist()),
        gold=relations,
    )
    return judged, answer > 0
