"""Gold whose identifiers MeSH has replaced since: supplementary records that became descriptors.

``dict-mesh-names-derived/scr-descriptor-candidates.tsv.gz`` lists records and descriptors that share a name. A record
that the pack does not have, and whose descriptor it has, counts as that descriptor.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.terms.pack.pack import Pack

_LIST: Final = "dict-mesh-names-derived/scr-descriptor-candidates.tsv.gz"


class Renewed:
    """Knows what took the place of identifiers."""

    def __init__(self, pack: Pack) -> None:
        """Reads the list in ``FASCICLE_DATA``; of several descriptors of a record none is taken."""
        with gzip.open(Path(os.environ["FASCICLE_DATA"]) / _LIST, "rt", encoding="utf-8") as stream:
            rows = [(row["scr"], row["descriptor"]) for row in csv.DictReader(stream, delimiter="\t")]
        records = [old for old, _ in rows]
        pairs = {f"MESH:{old}": f"MESH:{new}" for old, new in rows if records.count(old) == 1}
        old, new = (pack.concept_rows(list(several)) for several in (pairs.keys(), pairs.values()))
        kept = ((old < 0) & (new >= 0)).tolist()
        self._new = {one: two for (one, two), is_kept in zip(pairs.items(), kept, strict=True) if is_kept}

    def of(self, documents: Iterable[Document]) -> list[Document]:
        """Documents with the identifiers of now."""
        return [msgspec.structs.replace(one, mentions=tuple(map(self._mention, one.mentions))) for one in documents]

    def _mention(self, mention: Mention) -> Mention:
        links = tuple(
            Link(id=new.partition(":")[2], curie=new) if (new := self._new.get(link.curie)) else link
            for link in mention.links
        )
        return msgspec.structs.replace(mention, links=links)
