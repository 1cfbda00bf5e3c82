"""The quality that *binder* states of its distant labels, repeated: names as sequences of the
tokens of BC5CDR.

usage: python -m studies.binder.token_labels

The paper matches "exact strings" of the dictionary of AutoNER (§3). Here a name is cut at its
blanks alone, and matches where the tokens of a sentence are the same, case included, the longest
name first. So a name with a hyphen or a comma is not found in a text whose tokens are cut there,
which is why recall is lower than in ``results/distant.json``. Counted by token, as the numbers
of the paper turn out to be, and by mention. Needs ``FASCICLE_DATA``; writes
``results/distant-tokens.json``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.formats import read
from fascicle.terms.matcher import read_dictionary
from studies.common import write_result

NAME: Final = "distant-tokens"
PARTS: Final = ("train", "test")
Names = Mapping[tuple[str, ...], str]
Label = tuple[int, int, str]  # first token, the one after the last, type


def main() -> None:
    """Matches, counts, prints and writes."""
    data = Path(os.environ["FASCICLE_DATA"])
    listed = read_dictionary(str(data / "dict-autoner-bc5cdr" / "dict_core.txt"))
    names = {tuple(entry.name.split()): entry.type for entry in listed}
    parts = {part: counted(read(data / "bc5cdr" / "iob" / f"{part}.tsv"), names) for part in PARTS}
    for part, of in parts.items():
        for unit, kinds in of.items():
            for kind, (right, said, gold) in kinds.items():
                print(
                    f"{part:5s} {unit:8s} {kind:8s} {100 * right / said:6.2f} "
                    f"{100 * right / gold:6.2f}"
                )
    write_result(NAME, {"names": len(names), "counts": "right, labelled, gold", **parts})


def counted(
    documents: Iterable[Document], names: Names
) -> dict[str, dict[str, tuple[int, int, int]]]:
    """Right labels, all labels and gold, of each type, by token and by mention."""
    found: Counter[tuple[str, str, int]] = Counter()
    for document in documents:
        tokens = [document.text[start:end] for start, end in document.words or ()]
        said, gold = set(matched(tokens, names)), set(_gold(document))
        for unit, ours, theirs in (
            ("tokens", _tokens(said), _tokens(gold)),
            ("mentions", said, gold),
        ):
            for at, labels in enumerate((ours & theirs, ours, theirs)):
                found.update((unit, kind, at) for *_, kind in labels)
    kinds = sorted({kind for _, kind, _ in found})
    return {
        unit: {
            kind: (found[unit, kind, 0], found[unit, kind, 1], found[unit, kind, 2])
            for kind in kinds
        }
        for unit in ("tokens", "mentions")
    }


def matched(tokens: Sequence[str], names: Names) -> Iterator[Label]:
    """The names in a sentence, from left to right, the longest at each place."""
    longest, at = max(map(len, names), default=0), 0
    while at < len(tokens):
        ends = range(min(len(tokens), at + longest), at, -1)
        end = next((end for end in ends if tuple(tokens[at:end]) in names), at)
        if end > at:
            yield at, end, names[tuple(tokens[at:end])]
        at = max(end, at + 1)


def _gold(document: Document) -> Iterator[Label]:
    words = document.words or ()
    starts = {start: at for at, (start, _) in enumerate(words)}
    ends = {end: at + 1 for at, (_, end) in enumerate(words)}
    yield from ((starts[one.start], ends[one.end], one.type) for one in document.mentions)


def _tokens(labels: Iterable[Label]) -> set[Label]:
    return {(at, at + 1, kind) for start, end, kind in labels for at in range(start, end)}


def rates(found: Mapping[str, Any], part: str, unit: str, kind: str = "") -> tuple[int, int, int]:
    """Stored counts of a type, or of all."""
    kinds = found[part][unit]
    chosen = [kinds[kind]] if kind else list(kinds.values())
    right, said, gold = (sum(one[at] for one in chosen) for at in range(3))
    return right, said, gold


if __name__ == "__main__":
    main()
