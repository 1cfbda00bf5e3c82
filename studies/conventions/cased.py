"""Gives a share of labelled texts another case: lower case, capitals or Title Case, with the same
labels.

usage: python -m studies.conventions.cased TEXTS.jsonl TEXTS.labels -o FOLDER [--share 0.16]

The hash of a document's id draws its case: half of the share is in lower case, a quarter in
capitals, a quarter in Title Case. A text keeps its case if the other case would change the number
of its characters or words, because its labels would no longer fit. Written: ``texts.jsonl`` and
``texts.labels`` in FOLDER, for a recipe.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from fascicle.core.document import Document
from fascicle.formats import read, write
from fascicle.formats.weak_labels import End, PackedLabels, pack_lines, read_entries, text_key
from fascicle.text.annotator import document_words
from fascicle.text.segment import segmenter

SHARE = 0.16
CASES = (("lower", str.lower, 0.5), ("capitals", str.upper, 0.75), ("title", str.title, 1.0))


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the texts and their labels, and counts them by case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("texts")
    parser.add_argument("labels")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--share", type=float, default=SHARE)
    args = parser.parse_args(argv)

    header, entries = read_entries(args.labels)
    rules = segmenter(header.segmenter).name
    labels = {entry.id: entry for entry in entries if isinstance(entry, PackedLabels)}
    counts: Counter[str] = Counter()
    documents, lines = [], []
    for document in read(args.texts):
        if entry := labels.get(document.id):
            case, changed = in_case(document, share=args.share, rules=rules)
            counts[case] += 1
            documents.append(changed)
            lines.append(msgspec.structs.replace(entry, text=text_key(changed)))

    args.output.mkdir(parents=True, exist_ok=True)
    write(str(args.output / "texts.jsonl"), documents)
    end = End(
        documents=len(lines), words=sum(entry.words for entry in lines), mentions={}, left_out={}
    )
    (args.output / "texts.labels").write_bytes(pack_lines([header, *lines, end]))
    sys.stdout.write("".join(f"{case}: {count:,}\n" for case, count in counts.most_common()))


def in_case(document: Document, *, share: float, rules: str) -> tuple[str, Document]:
    """Returns the name of the case that is drawn for a document, and the document in it.

    Args:
        document: as it is.
        share: of documents that change, from 0 to 1.
        rules: name of the segmenter whose words the labels are about.
    """
    draw = (
        int.from_bytes(hashlib.sha256(b"case " + document.id.encode()).digest()[:8], "big") / 2**64
    )
    if draw >= share:
        return "as written", document
    case, change = next((name, change) for name, change, upper in CASES if draw < share * upper)
    changed = msgspec.structs.replace(document, text=same_length(document.text, change))
    if not same_words(document, changed, rules):
        return "as written", document
    return case, changed


def same_length(text: str, change: Callable[[str], str]) -> str:
    """Returns a text in another case; a word stays as it is if its other case has another number
    of characters.
    """
    words = [(word, change(word)) for word in text.split(" ")]
    return " ".join(other if len(other) == len(word) else word for word, other in words)


def same_words(document: Document, changed: Document, rules: str) -> bool:
    """True if both have words in the same places, so that the labels fit."""
    words, others = document_words(document, rules), document_words(changed, rules)
    return words.shape == others.shape and bool((words == others).all())


if __name__ == "__main__":
    main()
