"""The concepts of each document as a table: counts by section, and a weight."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from fascicle.core.document import Document
from fascicle.formats.row_tables import open_rows
from fascicle.graph.evidence import (
    UNKNOWN,
    DocumentConcepts,
    Support,
    evidence_of,
    first_filled,
    support_of,
)
from fascicle.text.segment import segmenter

# of a mention; in a section that is not here it has the weight 1
WEIGHTS: Final = MappingProxyType(
    {"title": 3.0, "abstract": 2.0, "methods": 0.5, "references": 0.0, "ref": 0.0}
)
COLUMNS: Final = MappingProxyType(
    {
        **{"document": str, "concept": str, "name": str, "type": str, "rank": int, "weight": float},
        **{"mentions": int, "sections": str, "probability": float, "negated": int},
        **{"uncertain": int, "first_sentence": str},
    }
)


class TableTotals(NamedTuple):
    """Numbers of documents, of rows, of mentions of concepts, of links without a CURIE, and of
    mentions with ambiguous links.
    """

    documents: int
    rows: int
    mentions: int
    unnamed: int
    ambiguous: int


def write_concepts(
    documents: Iterable[Document],
    path: str | os.PathLike[str],
    *,
    weights: Mapping[str, float] = WEIGHTS,
    overwrite: bool = False,
) -> TableTotals:
    """Writes a table with a row for each concept of each document.

    Args:
        documents: with links; may be a stream.
        path: that ends with .csv, .tsv, .xlsx or .parquet.
        weights: name of a section -> weight of a mention there, see `weight_of`.
        overwrite: replace an existing file.

    Raises:
        UsageError: another suffix.
        OutputError: the file exists, or the place cannot be written.
        MissingExtraError: the package for the kind of file is not installed.
    """
    count = rows = mentions = unnamed = ambiguous = 0
    rules = segmenter("rules@1")
    with open_rows(os.fspath(path), COLUMNS, overwrite=overwrite) as add:
        for document in documents:
            count += 1
            evidence = evidence_of(document, rules)
            mentions += len(evidence.occurrences)
            unnamed += evidence.unnamed
            ambiguous += evidence.ambiguous
            for row in _concept_rows(document, evidence, weights):
                add(row)
                rows += 1
    return TableTotals(count, rows, mentions, unnamed, ambiguous)


def weight_of(section: str, weights: Mapping[str, float]) -> float:
    """Returns the weight of a section by its name, else by the last part of its name.

    ``abstract-methods`` has the weight of ``methods``, ``abstract-results`` that of ``abstract``.
    """
    names = (section, *reversed(section.split("-")))
    return next((weights[name] for name in names if name in weights), 1.0)


def _concept_rows(
    document: Document, evidence: DocumentConcepts, weights: Mapping[str, float]
) -> Iterator[Sequence[Any]]:
    """Yields the rows of a document, the concept with the highest weight first."""
    concepts = evidence.concepts
    sums = {
        concept: sum(weight_of(occurrence.section, weights) for occurrence in occurrences)
        for concept, occurrences in concepts.items()
    }
    ordered = sorted(concepts, key=lambda concept: (-sums[concept], -len(concepts[concept])))
    for rank, concept in enumerate(ordered, start=1):
        first = concepts[concept][0]
        start, end = evidence.sentences[first.sentence]
        name = first_filled(occurrence.link.name for occurrence in concepts[concept])
        names = (document.id, concept, name, first.mention.type)
        counts = _counts(support_of(concepts[concept]))
        yield (*names, rank, sums[concept], *counts, document.text[start:end])


def _counts(support: Support) -> Sequence[Any]:
    return (
        support.count,
        "|".join(f"{name}:{count}" for name, count in sorted(support.sections.items())),
        None if support.probability == UNKNOWN else round(support.probability, 6),
        support.negated,
        support.uncertain,
    )
