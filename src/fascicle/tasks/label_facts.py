"""What is in a label file (``fascicle label --show``)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from fascicle.core.tags import SCHEMES
from fascicle.core.wording import counted
from fascicle.formats.weak_labels import ERROR, HARD, STEPS, End, Header, read_entries


@dataclass(frozen=True, kw_only=True)
class LabelFacts:
    """What is in a label file.

    Attributes:
        path: of the file.
        header: its first line.
        end: its last line.
        tagged: of each type, words with a tag of the answer.
        expected: of each type, the sum of its probabilities: as many words as are expected in its mentions.
    """

    path: str
    header: Header
    end: End
    tagged: dict[str, int]
    expected: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        end = {name: getattr(self.end, name) for name in End.__struct_fields__}
        by_type = {
            name: {
                "mentions": self.end.mentions.get(name, 0),
                "tagged": self.tagged[name],
                "expected": round(self.expected[name], 1),
            }
            for name in self.header.types
        }
        return {**msgspec.structs.asdict(self.header), **end, "error": ERROR, "types": by_type}

    def lines(self) -> Iterator[str]:
        """For a person, one screen."""
        head, end = self.header, self.end
        yield f"{self.path}: {counted(end.documents, 'document')}, {counted(end.words, 'word')}"
        yield f"by {head.model} ({head.sha256[:12]}), Fascicle {head.release}"
        yield f"words of {head.segmenter}, tags {head.scheme}"
        yield f"probabilities: {head.meaning}, from {head.floor:g}, within {ERROR:.4f}"
        if head.note:
            yield f"note: {head.note}"
        yield from (f"{name}: {value}" for name, value in head.options.items())
        for reason, count in sorted(end.left_out.items()):
            yield f"left out, {reason}: {counted(count, 'document')}"
        wide = max(len("type"), *map(len, head.types))
        yield f"{'type':{wide}} {'mentions':>10} {'words':>10} {'expected':>12}"
        for name in head.types:
            mentions, words, expected = end.mentions.get(name, 0), self.tagged[name], self.expected[name]
            yield f"{name:{wide}} {mentions:>10,} {words:>10,} {expected:>12,.1f}"


def facts_of(path: str | os.PathLike[str]) -> LabelFacts:
    """Reads a label file to its end.

    Args:
        path: of the file.

    Raises:
        InputError, FormatError: see ``formats.weak_labels.read_entries``.
    """
    header, entries = read_entries(os.fspath(path))
    width = SCHEMES[header.scheme].width
    tagged, steps = (np.zeros(len(header.types), dtype=np.int64) for _ in range(2))
    end = None
    for entry in entries:
        if isinstance(entry, End):
            end = entry
            break
        kind, value = np.array(entry.tag, dtype=np.int64) // width, np.array(entry.value, dtype=np.int64)
        tagged += np.bincount(kind[value >= HARD], minlength=len(tagged))
        np.add.at(steps, kind, value % HARD)
    assert end is not None, "a file without a last line is an error of the reader"
    return LabelFacts(
        path=os.fspath(path),
        header=header,
        end=end,
        tagged=dict(zip(header.types, tagged.tolist(), strict=True)),
        expected={name: count / STEPS for name, count in zip(header.types, steps.tolist(), strict=True)},
    )
