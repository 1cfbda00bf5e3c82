"""Relations between concepts as rows of PubTator: ``id``, type, two concepts, and in BioRED whether
the relation is new.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from fascicle.core.document import Document, Link, Relation
from fascicle.core.mention import CONCEPTS, link_text
from fascicle.formats.report import WriteReport

NUMBER: Final = re.compile(r"\s*-?\d+(?:\.\d*)?\s*")  # an offset, perhaps a damaged one
NOT_IN_LINES: Final = re.compile(r"[\r\n\0]")
_OF_RELATION: Final = (*CONCEPTS, "novel", "more")  # names of columns


def relation_in(columns: Sequence[str]) -> Relation:
    """Returns the relation between concepts that a row states."""
    values = "\t".join(columns[2:]).split("\t", len(_OF_RELATION) - 1)
    return Relation(type=columns[1], attributes=tuple(zip(_OF_RELATION, values, strict=False)))


def relation_rows(document: Document, report: WriteReport) -> Iterator[str]:
    """Yields relations between concepts as rows, which have no column for further attributes, such
    as the score of a finder. A relation that gold and finder agree on is one row, also if one of
    them names the concepts without their prefix.
    """
    rows = set[tuple[str, ...]]()
    full = {name: link_text(link) for link in _links(document) for name in _spellings(link)}
    for relation in document.relations:
        columns = _relation_columns(relation, full.keys())
        key = (relation.type, *(full.get(value, value) for _, value in columns))
        row = "\t".join([document.id, relation.type, *(value for _, value in columns)])
        is_row = len(columns) >= 2 and not NUMBER.fullmatch(relation.type)
        in_line = replace(relation, attributes=columns)
        is_row = is_row and key not in rows and not NOT_IN_LINES.search(row)
        if is_row and relation_in(row.split("\t")) == in_line:
            rows.add(key)
            yield row
            if count := len(set(relation.attributes) - set(columns)):
                report.lose("attributes", document, count=count)
        else:
            report.lose("relations", document)


def _links(document: Document) -> Iterator[Link]:
    return (link for mention in document.mentions for link in mention.links)


def _spellings(link: Link) -> tuple[str, str]:
    """Returns what a relation may call a concept: with its prefix, and bare."""
    return link_text(link), link.id


def _relation_columns(relation: Relation, concepts: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Returns the columns of a row: those that have names here, or the two concepts of the
    document, whose roles may be their types, as in the BioC files of BC5CDR.
    """
    values = {name: value for name, value in relation.attributes if name in _OF_RELATION}
    if not relation.arguments and values.keys().isdisjoint(CONCEPTS):
        ends = [value for name, value in relation.attributes if value in concepts]
        values |= dict(zip(CONCEPTS, ends, strict=True)) if len(ends) == len(CONCEPTS) else {}
    return tuple((name, values[name]) for name in _OF_RELATION if name in values)
