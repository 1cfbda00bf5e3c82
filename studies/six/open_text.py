"""Titles and abstracts whose licence lets weights that ship learn from them: the text of
`soft.toml`.

usage: python -m studies.six.open_text FILE... -o TEXTS.jsonl --characters N

FILEs are of articles with a ``license``. An article without abstract gives its title and its
paragraphs, up to 20,000 characters. Articles are taken in the order of a hash
of their ids, whole ones, up to N characters of each FILE. What was taken is counted by licence.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from fascicle.core.document import Document
from fascicle.formats import read, write
from studies.labels.sample import sample

# Without a hyphen, which CC BY-NC, -ND and -SA have; as in the recipes of ../pretraining.
OPEN: Final = ("CC0*", "CC BY", "CC BY [(1-4]*")
_LONGEST: Final = 20_000


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the texts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--characters", type=int, required=True)
    args = parser.parse_args(argv)
    taken = [
        document
        for path in args.files
        for document in sample(open_documents(path), characters=args.characters, longest=_LONGEST)
    ]
    write(args.output, taken)
    found: Counter[str] = Counter()
    for document in taken:
        found[document.meta["license"]] += len(document.text)
    for licence, characters in found.most_common():
        sys.stdout.write(f"{licence}: {characters:,} characters\n")


def open_documents(path: Path) -> Iterator[Document]:
    """The articles of a file of raw text whose licence is one of `OPEN`, each up to the end of
    its abstract.
    """
    for article in read(path):
        licence = article.meta["license"]
        if any(fnmatchcase(licence, one) for one in OPEN):
            end = max(
                (part.end for part in article.sections or () if part.name == "abstract"),
                default=None,
            )
            yield Document(id=article.id, text=article.text[:end], meta={"license": licence})


if __name__ == "__main__":
    main()
