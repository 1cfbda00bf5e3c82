"""MEDIC as BioSyn distributes it: ``id|id2||name|synonym...`` with bare identifiers of MeSH and OMIM, July 2012.

The newer form, ``CTD_diseases.tsv``, is a table like others.
"""

from __future__ import annotations

from collections.abc import Iterator

from fascicle.core.wording import unescaped
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.curies import curie
from fascicle.terms.sources.drafts import EXACT_MATCH, Draft, counted_lines
from fascicle.terms.sources.report import SourceReport
from fascicle.terms.terms import ConceptRecord


def read_medic(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the diseases; the first identifier is the concept, the others are equal ones."""
    for place, line in counted_lines(settings.path, settings.encoding, report):
        given, bars, names = line.partition("||")
        identifiers = [_curie(text) for text in given.split("|")]
        if not bars or not identifiers[0]:
            report.lose("identifier" if bars else "columns", place)
            continue
        draft = Draft(settings=settings, report=report, place=place, curie=identifiers[0])
        label, *synonyms = names.split("|")
        draft.name(unescaped(label), "label")
        for synonym in synonyms:
            draft.name(unescaped(synonym))
        if not draft.names:
            report.lose("no-name", place)
            continue
        for other in identifiers[1:]:
            draft.reference(other, EXACT_MATCH)
        report.used += 1
        yield draft.record()


def _curie(text: str) -> str:
    return curie(text, "OMIM" if text.strip().isdigit() else "MESH")
