"""Open texts that a teacher labels for the students: of each article its title, its abstract, and
paragraphs in a row.

usage: python -m studies.conventions.texts FILE=BODY... -o TEXTS.jsonl

A FILE has articles with a ``license``; only those whose licence lets weights that ship learn from
them are taken. BODY is how many characters of paragraphs an article gives at most. The hash of an
article's id draws the paragraph that they start at, so that introductions are not all that is read.
An article has the same text in every run.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from fascicle.core.document import Document, Section
from fascicle.formats import read, write
from studies.six.open_text import OPEN


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the texts, and counts them by licence."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE=BODY")
    parser.add_argument("-o", "--output", required=True)
    args = parser.parse_args(argv)
    taken = []
    for given in args.files:
        path, _, body = given.rpartition("=")
        taken += [
            excerpt(article, body=int(body))
            for article in read(path)
            if is_open(article.meta["license"])
        ]
    write(args.output, taken)
    found: Counter[str] = Counter()
    for document in taken:
        found[document.meta["license"]] += len(document.text)
    for licence, characters in found.most_common():
        sys.stdout.write(f"{licence}: {characters:,} characters\n")
    sys.stdout.write(f"{len(taken):,} documents, {sum(found.values()):,} characters\n")


def is_open(licence: str) -> bool:
    """True if weights that ship may learn from a text of this licence."""
    return any(fnmatchcase(licence, pattern) for pattern in OPEN)


def excerpt(article: Document, *, body: int) -> Document:
    """Title, abstract and paragraphs of an article.

    Args:
        article: with ``sections``.
        body: characters of paragraphs at most; a paragraph is taken whole or not at all.
    """
    sections = tuple(article.sections or ())
    head = [part for part in sections if part.name in ("title", "abstract")]
    chosen = list(
        drawn([part for part in sections if part.name == "paragraph"], article.id, body=body)
    )
    text = "\n\n".join(article.text[part.start : part.end] for part in [*head, *chosen])
    return Document(id=article.id, text=text, meta={"license": article.meta["license"]})


def drawn(paragraphs: Sequence[Section], key: str, *, body: int) -> Iterator[Section]:
    """Paragraphs in a row, from one that the hash of ``key`` draws."""
    first = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % max(
        1, len(paragraphs)
    )
    left = body
    for part in paragraphs[first:]:
        left -= part.end - part.start
        if left < 0:
            return
        yield part


if __name__ == "__main__":
    main()
