"""The labels of a token classifier that somebody else trained, as spans: any scheme, named by the labels themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fascicle.core.arrays import Floats32, Ints
from fascicle.core.tags import decode_tags, is_tag, split_tag
from fascicle.errors import ModelError
from fascicle.runtime.decoding.chains import geometric_mean
from fascicle.runtime.decoding.decoders import Found, Tables
from fascicle.text.windows import Window, stitch

_OUTSIDE: Final = "O"
_NO_WORDS: Final = frozenset({"X", "PAD", "[PAD]", "<pad>", "[CLS]", "[SEP]", "<s>", "</s>"})  # labels of no mention


def tags_of_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Returns the tag that each label of a token classifier means.

    Labels without any prefix (``O``, ``person``) are those of the scheme IO. Labels that some checkpoints have for
    special tokens (``X``, ``[CLS]``) mean no mention.

    Args:
        labels: in the order of their numbers.

    Raises:
        ModelError: no label O, no type, or some types with a prefix and some without.
    """
    named = [label for label in labels if label != _OUTSIDE and label not in _NO_WORDS]
    prefixed = [label for label in named if is_tag(label)]
    if _OUTSIDE not in labels or not named or len(prefixed) not in (0, len(named)):
        raise ModelError(
            f"the labels {', '.join(labels[:8])} are no tags; allowed are O and types, all with a prefix (B-PER, "
            "I-PER) or all without one (person), so give their names as id2label in config.json"
        )
    bare = "" if prefixed else "I-"
    return tuple(f"{bare}{label}" if label in named else _OUTSIDE for label in labels)


def types_of_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Returns the types of tags, each once, in their order."""
    return tuple(dict.fromkeys(kind for _, kind in map(split_tag, tags) if kind))


class LabelDecoder:
    """The most probable label of each unit, and runs of labels as mentions (`decode_tags`).

    The score of a mention is the geometric mean of the probabilities of its labels, each from the softmax of its unit.
    """

    def __init__(self, tags: Sequence[str]) -> None:
        """Prepares.

        Args:
            tags: of the labels, in the order of their numbers.
        """
        self._tags = tags
        self._kinds = {kind: at for at, kind in enumerate(types_of_tags(tags))}

    def take(self, tables: Tables, windows: Sequence[Window], counts: Ints) -> list[Floats32]:
        """Returns the logits of each window's units, ``[units, labels]``."""
        emissions = tables["emissions"]
        if emissions.shape[-1] != len(self._tags) or np.isnan(emissions).any():
            raise ModelError("the network gives no scores for the labels of its config.json; fetch the folder again")
        return [emissions[row, :count].copy() for row, count in enumerate(counts.tolist())]

    def decide(self, taken: Sequence[Sequence[Floats32]], windows: Sequence[Sequence[Window]]) -> list[Found]:
        """Reads the labels of each segment as one sequence."""
        return [self._decided(rows, cut) for rows, cut in zip(taken, windows, strict=True)]

    def _decided(self, rows: Sequence[Floats32], cut: Sequence[Window]) -> Found:
        joined = stitch(rows, cut, units=max((w.segment[1] for w in cut), default=0))
        chosen = joined.argmax(axis=1) if len(joined) else np.zeros(0, np.int64)
        found = [
            (first + start, first + end, self._kinds[kind])
            for first, last in dict.fromkeys(window.segment for window in cut)
            for start, end, kind in decode_tags([self._tags[at] for at in chosen[first:last]])
        ]
        spans = np.array(found, dtype=np.int64).reshape(-1, 3)
        return spans, geometric_mean(joined, chosen, spans=spans)
