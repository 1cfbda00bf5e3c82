"""Documents that are set aside before anything is trained: a tenth of three corpora that have no
dev part.

usage: python -m studies.conventions.aside -o FOLDER --list TSV

FOLDER gets one PubTator file for each corpus. TSV gets a row for each document that is set aside.
The rows are the exclusion list of training, together with the copies of these documents that
`fascicle corpus check` finds in other train parts. The documents are those whose ids have the
smallest hashes. Captions of one article stay together.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from fascicle.core.document import Document
from fascicle.formats import read, write
from fascicle.formats.exclusions import Exclusion, write_exclusions

SHARE: Final = 0.1


@dataclass(frozen=True, kw_only=True)
class Source:
    """A train part.

    Attributes:
        file: below the folder of corpora.
        group: id of a document -> what stays together.
    """

    file: str
    group: Callable[[str], str] = str


# The ids of BioID are the number of the article in PubMed Central, of seven digits, and that of the
# caption.
SOURCES: Final[Mapping[str, Source]] = MappingProxyType(
    {
        "nlm-gene": Source(file="nlm-gene/Train.PubTator"),
        "gnormplus": Source(file="gnormplus-bc2gn/Train.PubTator"),
        "bioid": Source(file="bioid/Train_revision.PubTator.gz", group=lambda key: key[:7]),
    }
)


def chosen(groups: Sequence[str], share: float) -> frozenset[str]:
    """The groups whose hashes are smallest.

    Args:
        groups: names, which may repeat.
        share: of the distinct names, between 0 and 1; at least one is chosen.
    """
    distinct = sorted(set(groups), key=lambda name: hashlib.sha256(name.encode()).digest())
    return frozenset(distinct[: max(1, round(share * len(distinct)))])


def set_aside(source: Source, *, data: Path) -> list[Document]:
    """The documents of a train part that nothing learns from, in the order of the file."""
    documents = list(read(str(data / source.file)))
    groups = chosen([source.group(document.id) for document in documents], SHARE)
    return [document for document in documents if source.group(document.id) in groups]


def row(file: str, document: Document) -> Exclusion:
    """A document that is set aside, as a row of an exclusion list.

    It counts as a copy of a document of a test part. So its hash alone leaves it out, whatever its
    id is elsewhere.
    """
    return Exclusion(
        corpus=file,
        part="train",
        document=document.id,
        sha256=hashlib.sha256(document.text.encode()).hexdigest(),
        reason="duplicate",
        similarity=1.0,
        of_corpus=file,
        of_part="test",
        of_document=document.id,
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the documents and their list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--list", type=Path, required=True)
    args = parser.parse_args(argv)
    args.output.mkdir(parents=True, exist_ok=True)
    rows: list[Exclusion] = []
    for name, source in SOURCES.items():
        documents = set_aside(source, data=Path(os.environ["FASCICLE_DATA"]))
        write(str(args.output / f"{name}.PubTator"), documents, overwrite=True)
        rows += [row(source.file, document) for document in documents]
        mentions = sum(len(document.mentions) for document in documents)
        sys.stdout.write(f"{name}: {len(documents):,} documents, {mentions:,} mentions\n")
    write_exclusions(args.list, rows, overwrite=True)


if __name__ == "__main__":
    main()
