"""Training data of a filter: examples, in parts that share no document, and batches of them.

The examples come from the predictions of other systems: run folders, with every epoch, and any
prediction files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from fascicle.core.arrays import Ints
from fascicle.core.document import GOLD, Document, Mention, in_order
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.models.filter import NAME
from fascicle.settings.recipes.filter import FilterRecipe, FilterSettings
from fascicle.text.marked import EncodedMention, pad_marked
from fascicle.training.engine.loop import BatchTensors
from fascicle.training.filter.members import Member
from fascicle.training.recogniser.data import shuffled_batches

# documents of dev: one to learn from, one to choose the epoch on, one to choose the threshold on
_FEWEST = 3


@dataclass(frozen=True, kw_only=True)
class _Example:
    """A mention, and whether it is right.

    Attributes:
        document: id.
        mention: without score and links; its ``source`` says nothing.
        correct: whether it is gold.
    """

    document: str
    mention: Mention
    correct: bool


def examples(
    gold: Mapping[str, Iterable[Mention]], predicted: Iterable[Mapping[str, Iterable[Mention]]]
) -> list[_Example]:
    """Returns all examples of some documents, in the order of ``gold`` and, in a document, of the
    text.

    Args:
        gold: document id -> its gold mentions.
        predicted: for each system and epoch, document id -> mentions; documents without gold entry
            play no part.
    """
    correct = {
        identifier: set(map(bare_mention, mentions)) for identifier, mentions in gold.items()
    }
    proposed: dict[str, set[Mention]] = {identifier: set() for identifier in correct}
    for system in predicted:
        for identifier, mentions in system.items():
            if identifier in proposed:
                proposed[identifier].update(map(bare_mention, mentions))
    return [
        _Example(document=identifier, mention=mention, correct=mention in true)
        for identifier, true in correct.items()
        for mention in in_order(true | proposed[identifier])
    ]


def bare_mention(mention: Mention) -> Mention:
    """Returns a mention with its range and type alone."""
    return Mention(mention.spans, mention.type)


@dataclass(frozen=True, kw_only=True)
class _Split:
    """Documents of one part of the corpus, divided by use; no document has two uses.

    Attributes:
        learn: ids of documents to train on.
        held_out: ids of documents on which the epoch is chosen.
        threshold: ids of documents on which the threshold is chosen.
    """

    learn: tuple[str, ...]
    held_out: tuple[str, ...]
    threshold: tuple[str, ...] = ()


def split_documents(
    identifiers: Sequence[str], settings: FilterSettings, *, seed: int, dev: bool
) -> _Split:
    """Divides the documents randomly; their order does not matter.

    Args:
        identifiers: of the documents of train or of dev.
        settings: with the shares.
        seed: of the run.
        dev: whether they are of dev; the threshold is chosen on a share of dev.

    Raises:
        InputError: too few documents of dev.
    """
    if dev and len(identifiers) < _FEWEST:
        raise InputError(
            f"dev has {plural(len(identifiers), 'document')}, but a filter needs {_FEWEST} or "
            "more: to learn from, to choose the epoch on, and to choose the threshold on; give "
            "more, or smaller documents"
        )
    ordered = sorted(identifiers)
    order = [
        ordered[at] for at in np.random.default_rng((seed, int(dev), 3)).permutation(len(ordered))
    ]
    share = settings.threshold_part if dev and settings.threshold != "half" else 0.0
    least, fewest = int(dev), int(share > 0)
    # one is left
    held_out = min(_share(settings.held_out, len(order), least=least), len(order) - least - fewest)
    threshold = min(_share(share, len(order), least=fewest), len(order) - held_out - least)
    return _Split(
        learn=tuple(sorted(order[held_out + threshold :])),
        held_out=tuple(sorted(order[:held_out])),
        threshold=tuple(sorted(order[held_out : held_out + threshold])),
    )


def _share(share: float, count: int, *, least: int) -> int:
    return max(least, round(share * count))


@dataclass(frozen=True, kw_only=True)
class FilterExamples:
    """Documents and examples for a filter, before they are converted to pieces.

    Attributes:
        documents: of train and of dev, by id.
        splits: of both.
        examples: of both, those of the threshold part left out.
    """

    documents: Mapping[str, Mapping[str, Document]]
    splits: Mapping[str, _Split]
    examples: Mapping[str, Sequence[_Example]]

    def of(self, use: str) -> tuple[list[Document], list[list[_Example]]]:
        """Returns the documents of one use, ``"learn"`` or ``"held_out"``, with their examples.

        Args:
            use: a field of ``_Split``.
        """
        documents, examples = [], []
        for part, split in self.splits.items():
            by_document: dict[str, list[_Example]] = {
                identifier: [] for identifier in getattr(split, use)
            }
            for example in self.examples[part]:
                if example.document in by_document:
                    by_document[example.document].append(example)
            documents += [self.documents[part][identifier] for identifier in by_document]
            examples += list(by_document.values())
        return documents, examples


def gather(
    recipe: FilterRecipe,
    *,
    train: Sequence[Document],
    dev: Sequence[Document],
    members: tuple[Sequence[Member], Sequence[Member]],
) -> FilterExamples:
    """Builds the examples of both parts and divides their documents.

    Args:
        recipe: of the filter.
        train: training documents with gold.
        dev: development documents with gold.
        members: on dev, and cross-fitted on train.

    Raises:
        InputError: too few documents of dev.
    """
    by_id, splits, samples = {}, {}, {}
    for name, documents, systems in (("train", train, members[1]), ("dev", dev, members[0])):
        identifiers = [d.id for d in documents]
        split = splits[name] = split_documents(
            identifiers, recipe.filter, seed=recipe.seed, dev=name == "dev"
        )
        apart = set(split.threshold)
        gold = {d.id: d.layer(GOLD) for d in documents if d.id not in apart}
        samples[name] = examples(
            gold, [predicted for system in systems for predicted in system.wrong]
        )
        by_id[name] = {d.id: d for d in documents}
    return FilterExamples(documents=by_id, splits=splits, examples=samples)


@dataclass(frozen=True, kw_only=True)
class FilterSet:
    """Training data of a filter in batches (see ``training.engine.loop.Batches``).

    Attributes:
        inputs: marked mentions.
        labels: 1 for correct, 0 for incorrect, ``[n]``.
        pad: id of the padding piece.
        positives: at most so many correct inputs for each incorrect one; 0 for all.
    """

    inputs: Sequence[EncodedMention]
    labels: Ints
    pad: int
    positives: int = 0

    def __post_init__(self) -> None:
        """Refuses data with a single class.

        Raises:
            InputError: nothing is correct, or nothing incorrect.
        """
        correct = int(self.labels.sum())
        if not correct:
            raise InputError(
                "the documents to learn from hold no gold mention, so the filter has no correct "
                "example"
            )
        if correct == len(self.labels):
            raise InputError(
                "the members made no mistake in the documents to learn from, so the filter has "
                "no incorrect example; "
                'give predictions of earlier epochs (members.epochs = "all"), of more systems, '
                "or cross-fitted ones"
            )

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[BatchTensors]:
        """Yields one epoch of batches, the same for the same arguments.

        Args:
            size: inputs in a batch.
            seed: determines, with ``epoch``, the order and the drawn correct inputs.
            epoch: from 0.
            hidden: must be 0.

        Yields:
            ``input_ids`` and ``attention_mask``, and the labels.
        """
        assert not hidden, "recipes of filters hide no pieces"
        drawn = self._drawn(np.random.default_rng((seed, epoch, 4)))
        lengths = [len(self.inputs[i].ids) for i in drawn.tolist()]
        for indices in shuffled_batches(lengths, size=size, seed=(seed, epoch)):
            rows = drawn[indices]
            batch = pad_marked([self.inputs[i].ids for i in rows.tolist()], pad=self.pad)
            yield (
                {n: torch.from_numpy(a) for n, a in batch.items()},
                {NAME: torch.from_numpy(self.labels[rows])},
            )

    def count(self, size: int) -> int:
        """Returns the number of batches in an epoch."""
        return -(-(self._correct + len(self.labels) - int(self.labels.sum())) // size)

    @property
    def _correct(self) -> int:
        """Number of correct inputs in an epoch."""
        correct = int(self.labels.sum())
        return (
            min(correct, self.positives * (len(self.labels) - correct))
            if self.positives
            else correct
        )

    def _drawn(self, chance: np.random.Generator) -> Ints:
        """Returns the inputs of an epoch: all incorrect ones, and as many correct ones as the
        settings require.
        """
        correct, incorrect = np.flatnonzero(self.labels), np.flatnonzero(self.labels == 0)
        if self._correct < len(correct):
            correct = chance.choice(correct, size=self._correct, replace=False)
        return np.sort(np.concatenate([correct, incorrect])).astype(np.int64)
