"""A sample of raw texts: whole documents in the order of a hash of their ids, up to a number of
characters.

usage: python -m studies.labels.sample FILE... -o SAMPLE.jsonl --characters N [--longest N]

The same files and numbers give the same sample. Documents that are longer than ``--longest``
characters are left out, for a few long articles would be most of it.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterable, Sequence

from fascicle.core.document import Document
from fascicle.formats import write
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, resolve_inputs


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the sample."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--characters", type=int, required=True)
    parser.add_argument("--longest", type=int, default=20_000)
    args = parser.parse_args(argv)
    request = ReadRequest()
    documents = (d for _, d in resolve_inputs(args.files, (), request).documents(ReadReport()))
    found = sample(documents, characters=args.characters, longest=args.longest)
    write(args.output, found)
    sys.stdout.write(
        f"{len(found):,} documents, {sum(len(document.text) for document in found):,} characters\n"
    )
    return 0


def sample(documents: Iterable[Document], *, characters: int, longest: int) -> list[Document]:
    """The documents whose hashes are smallest, as many as fit.

    Args:
        documents: with distinct ids.
        characters: of all together, at most.
        longest: characters of one document, at most.
    """
    short = [document for document in documents if 0 < len(document.text) <= longest]
    found, size = [], 0
    for document in sorted(short, key=lambda one: hashlib.sha256(one.id.encode()).digest()):
        size += len(document.text)
        if size > characters:
            break
        found.append(document)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
