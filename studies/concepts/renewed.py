"""Gold whose identifiers MeSH has replaced since: records that became descriptors, and concepts
that were split.

``dict-mesh-names-derived/scr-descriptor-candidates.tsv.gz`` lists records and descriptors that
share a name. A record that the pack does not have, and whose descriptor it has, counts as that
descriptor.

MeSH of 2015, by which most of the corpora were annotated, has no descriptor for ``tardive
dyskinesia`` or ``ototoxicity``: gold has a broader one, or two for ``hemorrhagic cystitis``. A
mention with concepts of MeSH whose words are a name of a descriptor of 2024 that MeSH of 2015 lacks
counts as that one, if it has the type of the mention in the pack.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.mention import Link, Mention
from fascicle.terms.keys.key import key
from fascicle.terms.pack.pack import Pack

_LIST: Final = "dict-mesh-names-derived/scr-descriptor-candidates.tsv.gz"
_OLD: Final = "dict-mesh-descriptors/terms.tsv"
_NAMES: Final = "dict-mesh-2024/mesh-descriptors-2024.tsv.gz"
_MESH: Final = "MESH:"


class Renewed:
    """Knows what took the place of identifiers."""

    def __init__(self, pack: Pack) -> None:
        """Reads the lists in ``FASCICLE_DATA``; of several descriptors of a record or a name
        none is taken.
        """
        rows = [(row["scr"], row["descriptor"]) for row in _rows(_LIST)]
        records = [old for old, _ in rows]
        pairs = {f"MESH:{old}": f"MESH:{new}" for old, new in rows if records.count(old) == 1}
        old, new = (pack.concept_rows(list(several)) for several in (pairs.keys(), pairs.values()))
        kept = ((old < 0) & (new >= 0)).tolist()
        self._new = {
            one: two for (one, two), is_kept in zip(pairs.items(), kept, strict=True) if is_kept
        }
        self._split = dict(_split(pack))

    def of(self, documents: Iterable[Document]) -> list[Document]:
        """Documents with the identifiers of now."""
        return [
            msgspec.structs.replace(
                one, mentions=tuple(self._mention(mention, one.text) for mention in one.mentions)
            )
            for one in documents
        ]

    def _mention(self, mention: Mention, text: str) -> Mention:
        curies = dict.fromkeys(self._new.get(link.curie, link.curie) for link in mention.links)
        if curies and all(curie.startswith(_MESH) for curie in curies):
            name = (mention.type, key(" ".join(mention.text_in(text).split()), 1))
            curies = {self._split[name]: None} if name in self._split else curies
        if list(curies) == [link.curie for link in mention.links]:
            return mention
        return msgspec.structs.replace(
            mention, links=tuple(Link(id=one.partition(":")[2], curie=one) for one in curies)
        )


def _split(pack: Pack) -> Iterator[tuple[tuple[str, str], str]]:
    """Type, name and identifier of descriptors that MeSH of 2015 lacks; of a name of several of
    them none.
    """
    known, names = {row["mesh_id"] for row in _rows(_OLD)}, defaultdict[str, set[str]](set)
    for row in _rows(_NAMES):
        if row["id"] not in known:
            names[key(row["name"], 1)].add(f"{_MESH}{row['id']}")
    alone = {name: several.pop() for name, several in names.items() if len(several) == 1}
    rows = pack.concept_rows(list(alone.values())).tolist()
    for (name, curie), row in zip(alone.items(), rows, strict=True):
        if row >= 0:
            yield (pack.types[int(pack.type_rows[row])], name), curie


def _rows(name: str) -> Iterator[dict[str, str]]:
    path = Path(os.environ["FASCICLE_DATA"]) / name
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        yield from csv.DictReader(stream, delimiter="\t")
