"""Titles and abstracts whose licence lets weights that ship learn from them: the text of `soft.toml`.

usage: python -m benchmarks.studies.six.open_text FILE... -o TEXTS.jsonl --characters N

FILEs are of raw text: gzip, one JSON object a line, with ``id``, ``license``, ``title`` and ``abstract``. A record
without abstract gives its title and its paragraphs, up to 20,000 characters. Records are taken in the order of a hash
of their ids, whole ones, up to N characters of each FILE. What was taken is counted by licence.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from benchmarks.studies.labels.sample import sample
from fascicle.core.document import Document
from fascicle.formats import write

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
    """The records of a file of raw text whose licence is one of `OPEN`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if any(fnmatchcase(record["license"], one) for one in OPEN):
                yield Document(id=record["id"], text=_text(record), meta={"license": record["license"]})


def _text(record: Mapping[str, Any]) -> str:
    body = [record["abstract"]] if record.get("abstract") else record.get("paragraphs", [])
    return "\n\n".join(part for part in (record.get("title", ""), *body) if part)


if __name__ == "__main__":
    main()
