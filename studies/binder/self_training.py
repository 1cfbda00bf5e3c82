"""The labels of a round of self-training: what a model is sure of, in place of the labels that
taught it.

usage: python -m studies.binder.self_training MODEL OUT [--train FILE] [--dev FILE] [--least P]

As in BOND (Liang et al. 2020), a model labels the texts that it learnt from, and only what is
probable teaches the next one. A mention is kept if each of its words has its tag with a probability
of at least 0.9. Mentions and words that are less sure are unknown, as phrases of a dictionary
without a type are: neither a mention nor none. Human labels of the texts are not read. Writes
``OUT/train.jsonl`` and ``OUT/dev.jsonl`` in the native format, for
``studies/grids/self-training.toml``. The texts are by default those of BC5CDR in ``FASCICLE_DATA``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.arrays import Floats
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import Span
from fascicle.errors import FascicleError
from fascicle.formats.files import read
from fascicle.formats.weak_labels import Header, Labels, read_header, read_labels
from fascicle.training.labelling import LABELS, UNKNOWN, with_answer_as_gold
from fascicle.verbs.tasks.label import label
from studies.common import write_parts

LEAST: Final = 0.9  # probability of a tag that is taught, as in BOND
TEXTS: Final = {"train": "CDR_TrainingSet.PubTator.txt", "dev": "CDR_DevelopmentSet.PubTator.txt"}


def main(argv: Sequence[str] | None = None) -> int:
    """Labels both parts, writes them, and says how much is unknown; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("out", type=Path)
    for part in TEXTS:
        parser.add_argument(f"--{part}", help="by default that of BC5CDR")
    parser.add_argument("--least", type=float, default=LEAST, help="probability of what is taught")
    args = parser.parse_args(argv)
    try:
        texts = {part: getattr(args, part) or _usual(part) for part in TEXTS}
        made = {
            part: relabelled(args.model, path, least=args.least) for part, path in texts.items()
        }
    except FascicleError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    write_parts(args.out, made)
    for part, documents in made.items():
        count = {
            layer: sum(len(one.layer(layer)) for one in documents) for layer in (GOLD, UNKNOWN)
        }
        print(f"{part}: {count[GOLD]:,} mentions are taught, {count[UNKNOWN]:,} ranges are unknown")
    return 0


def _usual(part: str) -> str:
    return str(Path(os.environ["FASCICLE_DATA"]) / "bc5cdr" / "pubtator" / TEXTS[part])


def relabelled(model: str, texts: str, *, least: float) -> list[Document]:
    """The texts with the mentions that a model is sure of as their gold.

    Args:
        model: a tagger, which gives a probability to every tag.
        texts: file of the texts; its mentions are not read.
        least: see `sure`.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.labels"
        label(texts, file, model=model)
        header = read_header(file)
        return [sure(labels, header, least=least) for labels in read_labels(file, read(texts))]


def sure(labels: Labels, header: Header, *, least: float) -> Document:
    """A document with the mentions of the answer that are sure, and ranges that are unknown.

    Args:
        labels: of the document.
        header: of their file.
        least: probability of the tag of each word of a mention, and of each word that is none.
    """
    document = with_answer_as_gold(labels, header, {name: name for name in header.types})
    weak: list[Span] = [
        (int(start), int(end)) for start, end in labels.words[of_answer(labels) < least]
    ]
    kept: list[Mention] = []
    doubtful: list[Mention] = []
    for mention in document.layer(GOLD):
        (kept if not any(_shared(mention, word) for word in weak) else doubtful).append(mention)
    ranges = [(one.start, one.end) for one in doubtful]
    ranges += [word for word in weak if not any(_shared(one, word) for one in doubtful)]
    unknown = [Mention(((start, end),), UNKNOWN, source=UNKNOWN) for start, end in sorted(ranges)]
    meta = {**document.meta, LABELS: f"{header.model}, at least {least:g}"}
    return msgspec.structs.replace(document, mentions=(*kept, *unknown), meta=meta)


def of_answer(labels: Labels) -> Floats:
    """Probability of the tag that each word has in the answer, ``[n]``; of no tag, what the
    others leave.
    """
    chosen = (labels.probabilities * labels.tags).sum(axis=1)
    rest = 1.0 - labels.probabilities.sum(axis=1)
    found: Floats = chosen * labels.tags.any(axis=1) + rest * ~labels.tags.any(axis=1)
    return found


def _shared(mention: Mention, word: Span) -> bool:
    return mention.start < word[1] and word[0] < mention.end


if __name__ == "__main__":
    sys.exit(main())
