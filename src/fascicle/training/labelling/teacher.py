"""Training targets from a label file: mentions, or a probability for each tag of each unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Floats32, Ints
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.tags import SCHEMES, TagScheme
from fascicle.formats.weak_labels import STEPS, Header, Labels
from fascicle.runtime.decoding.tagger import tag_runs
from fascicle.text.annotator import without_b

UNKNOWN = -1.0  # in the place of a probability


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftTags:
    """Probabilities of the tags of one text.

    Attributes:
        words: ranges in the text, ``[n, 2]``.
        steps: probabilities in 255ths, of the tags of ``types``, ``[n, p K]``: one byte each, to save memory.
        types: that the tags are of, under the names of the model that learns.
        scheme: of the tags.
    """

    words: Ints
    steps: NDArray[np.uint8]
    types: tuple[str, ...]
    scheme: TagScheme

    @property
    def present(self) -> list[str]:
        """Types of which at least one word has a probability."""
        seen = self.steps.reshape(-1, len(self.types), self.scheme.width).any(axis=(0, 2))
        return [self.types[at] for at in np.flatnonzero(seen)]

    def at(self, units: Ints, *, types: Sequence[str], scheme: TagScheme) -> Floats32:
        """Returns the same probabilities for the units of another model.

        A unit gets the probabilities of the word in which it begins. One that does not begin this word continues it: it
        has no B, and its I is the sum of B and I, which exclude each other. In IO, I is this sum for all units.

        Args:
            units: words or pieces, ``[u, 2]``, sorted.
            types: of the model.
            scheme: of the model; IO where the labels are in IO.

        Returns:
            ``[u, tags of the model]`` without O; ``UNKNOWN`` for other types, and for units outside the words.
        """
        word = np.searchsorted(self.words[:, 0], units[:, 0], side="right") - 1
        read = np.flatnonzero(word >= 0)
        read = read[units[read, 0] < self.words[word[read], 1]]
        word = word[read]
        told = _in(self.steps[word] / STEPS, self.scheme, scheme).reshape(len(read), len(self.types), scheme.width)
        if scheme.width > 1:
            continues = units[read, 0] > self.words[word, 0]
            told[continues, :, -1] = np.minimum(1.0, told[continues].sum(axis=2))
            told[continues, :, 0] = 0.0
        found = np.full((len(units), len(types), scheme.width), UNKNOWN, dtype=np.float32)
        columns = [types.index(name) for name in self.types]
        found[read[:, None], columns] = told
        return found.reshape(len(units), len(types) * scheme.width)


def _in(table: NDArray[np.float64], own: TagScheme, wanted: TagScheme) -> NDArray[np.float64]:
    if own.width == wanted.width:
        return table
    if own.width < wanted.width:
        raise ValueError(f"labels in {own.name} say nothing of where mentions begin, as {wanted.name} needs it")
    return without_b(table)


def soft_tags(labels: Labels, header: Header, names: Mapping[str, str]) -> SoftTags:
    """Returns the probabilities of some types.

    Args:
        labels: of one document.
        header: of their file.
        names: type of the file -> its name in the model; others are left out.
    """
    scheme = SCHEMES[header.scheme]
    columns = [scheme.width * header.types.index(name) + at for name in names for at in range(scheme.width)]
    steps = np.rint(labels.probabilities[:, columns] * STEPS).astype(np.uint8)
    return SoftTags(words=labels.words, steps=steps, types=tuple(names.values()), scheme=scheme)


def taught(labels: Labels, header: Header, names: Mapping[str, str]) -> Document:
    """Returns the document with the mentions of the answer as its gold, in place of any other.

    Args:
        labels: of the document.
        header: of their file.
        names: as of `soft_tags`.
    """
    words, scheme = labels.words, SCHEMES[header.scheme]
    mentions = [
        Mention(((int(words[start, 0]), int(words[end - 1, 1])),), name)
        for kind, name in names.items()
        for start, end in runs(labels.tags, header.types.index(kind), scheme)
    ]
    others = [mention for mention in labels.document.mentions if mention.source != GOLD]
    return msgspec.structs.replace(labels.document, mentions=(*mentions, *others))


def runs(tags: Bools, kind: int, scheme: TagScheme) -> list[tuple[int, int]]:
    """Returns the mentions of one type: first word, and one past the last.

    Args:
        tags: of all types, ``[n, p K]``.
        kind: index of the type.
        scheme: of the tags.
    """
    own = tags[:, scheme.width * kind : scheme.width * (kind + 1)]
    ids = np.where(own[:, 0], 1, np.where(own[:, -1], scheme.width, 0)).astype(np.int64)
    return [(start, end) for start, end, _ in tag_runs(ids, scheme, repair="lenient").tolist()]
