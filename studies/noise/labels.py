"""Corpora with wrong labels of a known kind and number, for curves of what noise costs each family.

usage: python -m studies.noise.labels OUT [--seed 1]

``FASCICLE_DATA`` names the corpora. Writes ``OUT/CORPUS-KIND-SHARE/{train,dev}.jsonl`` in the
native format for the corpora of ``studies/grids/noise.toml``, whose paths begin with
``$FASCICLE_NOISE``: name OUT so. Test is untouched. Train and dev are both noisy, since whoever has
only noisy labels has no others to choose by.

Of the mentions of a part exactly the given share is changed, rounded, drawn without replacement:

- ``drop``: taken away;
- ``shift``: one boundary, drawn, moves by one word outward or inward (drawn), so that the range
  stays in its sentence, is not empty, and is no other mention; a mention that cannot be moved so is
  left as it is, and counted;
- ``flip``: another type of the corpus, drawn; a corpus of one type has none to give.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from fascicle.core import codec
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.atomic import atomic_writer
from fascicle.core.mention import Span
from fascicle.errors import InputError
from fascicle.formats.files import read

KINDS = ("drop", "shift", "flip")
SHARES = (0.1, 0.2, 0.4)
CORPORA = {
    "conll04": {"train": "conll04/conll04_train.json", "dev": "conll04/conll04_dev.json"},
    "bc5cdr": {"train": "bc5cdr/iob/train.tsv", "dev": "bc5cdr/iob/devel.tsv"},
}


@dataclass(frozen=True, kw_only=True)
class Noisy:
    """A part with noise.

    Attributes:
        documents: with the noise in their gold.
        changed: mentions that are not as they were.
        kept: mentions that were drawn and could not be changed.
    """

    documents: list[Document]
    changed: int
    kept: int


def with_noise(documents: Sequence[Document], kind: str, share: float, *, seed: int) -> Noisy:
    """Changes a share of the gold mentions.

    Args:
        documents: with words, for ``"shift"``.
        kind: one of ``KINDS``.
        share: of the mentions, from 0 to 1.
        seed: decides which.

    Raises:
        InputError: types to flip are asked for where there is one, or words to shift over where
            there are none.
    """
    chance = np.random.default_rng(seed)
    places = [(i, m) for i, document in enumerate(documents) for m in document.layer(GOLD)]
    types = sorted({m.type for _, m in places})
    if kind == "flip" and len(types) < 2:
        raise InputError(
            f"a corpus of one type ({', '.join(types)}) has no other to flip it to; choose "
            "another noise"
        )
    drawn = chance.choice(len(places), size=round(share * len(places)), replace=False)
    gold = [list(document.layer(GOLD)) for document in documents]
    changed = 0
    for number in sorted(drawn.tolist()):
        index, mention = places[number]
        found = _changed(mention, kind, documents[index], gold[index], types=types, chance=chance)
        if found is not None:
            at = gold[index].index(mention)
            gold[index][at : at + 1] = found
            changed += 1
    noisy = [
        _with_gold(document, mentions) for document, mentions in zip(documents, gold, strict=True)
    ]
    return Noisy(documents=noisy, changed=changed, kept=len(drawn) - changed)


def _changed(
    mention: Mention,
    kind: str,
    document: Document,
    gold: Sequence[Mention],
    *,
    types: Sequence[str],
    chance: np.random.Generator,
) -> list[Mention] | None:
    """What stands in place of a mention; ``None`` if it cannot be changed."""
    if kind == "drop":
        return []
    taken = {(m.type, m.spans) for m in gold}
    if kind == "flip":
        others = [
            name for name in types if name != mention.type and (name, mention.spans) not in taken
        ]
        options = [msgspec.structs.replace(mention, type=name) for name in others]
    else:
        moved = (
            msgspec.structs.replace(mention, spans=(span,)) for span in _moves(mention, document)
        )
        options = [m for m in moved if (m.type, m.spans) not in taken]
    return [options[int(chance.integers(len(options)))]] if options else None


def _moves(mention: Mention, document: Document) -> Iterator[Span]:
    """The ranges with one boundary one word further in or out, in the sentence of the mention."""
    if not document.words:
        raise InputError(
            f"the document {document.id!r} comes without words, over which boundaries move"
        )
    if len(mention.spans) > 1:
        return
    sentences = document.sentences or ((0, len(document.text)),)
    low, high = next(
        ((a, b) for a, b in sentences if a <= mention.start and mention.end <= b), (0, 0)
    )
    inside = [(a, b) for a, b in document.words if low <= a and b <= high]
    first = next((i for i, (a, b) in enumerate(inside) if a <= mention.start < b), None)
    last = next((i for i, (a, b) in enumerate(inside) if a < mention.end <= b), None)
    if first is None or last is None:
        return
    for start, end in ((first - 1, last), (first + 1, last), (first, last - 1), (first, last + 1)):
        if 0 <= start <= end < len(inside):
            yield inside[start][0], inside[end][1]


def _with_gold(document: Document, mentions: Sequence[Mention]) -> Document:
    others = tuple(m for m in document.mentions if m.source != GOLD)
    ordered = sorted(mentions, key=lambda m: (m.spans, m.type))
    return msgspec.structs.replace(document, mentions=(*ordered, *others))


def line_of(document: Document) -> bytes:
    """A document without the texts of its mentions: runs are known by the hash of files that had
    none.
    """
    record = msgspec.json.decode(codec.encode(document))
    for mention in record.get("mentions", ()):
        del mention["text"]
    return msgspec.json.encode(record) + b"\n"


def main() -> int:
    """Writes all noisy corpora, and prints what was changed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    data = Path(os.environ["FASCICLE_DATA"])
    for corpus, parts in CORPORA.items():
        for part, place in parts.items():
            documents = list(read(str(data / place)))
            for kind in KINDS:
                for share in SHARES:
                    found = with_noise(documents, kind, share, seed=args.seed)
                    path = args.out / f"{corpus}-{kind}-{share}" / f"{part}.jsonl"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with atomic_writer(path, overwrite=True) as stream:
                        stream.writelines(map(line_of, found.documents))
                    print(
                        json.dumps(
                            {
                                "file": str(path),
                                "changed": found.changed,
                                "could not be": found.kept,
                            }
                        )
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
