"""Odd but valid files of OBO, RDF, SSSOM and RF2, written from the descriptions of the formats; see
`odd/`.

Sources: OBO 1.0, 1.2 and 1.4 (owlcollab.github.io/oboformat), RDF/XML, Turtle, TriG, N-Triples,
N-Quads and JSON-LD (W3C), SKOS and SKOS-XL, SSSOM 1.1 (w3id.org/sssom), RF2 (SNOMED International,
Release File Specification)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fascicle.terms.sources.drafts import XREF
from fascicle.terms.terms import SAME, ConceptRecord

from .conftest import Read, read_file

_ORDER = [
    "label",
    "exact",
    "broad",
    "narrow",
    "related",
    "alias",
    "obsolete",
    "replaced",
    "parent",
    "xref",
    "same",
]
FOLDER = Path(__file__).parent / "odd"
_DESCRIPTIONS = (
    "id effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId"
)
_RELATIONS = (
    "id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId "
    "characteristicTypeId modifierId"
)


def cases(reader: str) -> list[Any]:
    """The files of a format: title, content, expected lines."""
    found = []
    for case in (FOLDER / f"{reader}.txt").read_text().split("### ")[1:]:
        title, _, rest = case.partition("\n")
        content, _, wanted = rest.partition("=>\n")
        content = content.replace("\\ufeff", "\ufeff").replace("\\r\n", "\r\n")
        found.append(pytest.param(title, content, wanted.splitlines(), id=title))
    return found


def lines(read: Read) -> list[str]:
    """The concepts, a line each; former identifiers stand with the concepts that have them."""
    merged: dict[str, list[str]] = {}
    for record in read.records:
        former = not record.names and record.obsolete
        for curie in record.replaced_by if former else (record.curie,):
            parts = [f"alias {record.curie}"] if former else told(record)
            merged.setdefault(curie, []).extend(parts)
    return sorted(" | ".join((curie, *sorted(parts, key=_rank))) for curie, parts in merged.items())


def told(record: ConceptRecord) -> list[str]:
    """What a record says."""
    said = [f"{name.kind} {name.surface}" for name in record.names]
    said += ["obsolete"] * record.obsolete
    said += [f"replaced {other}" for other in record.replaced_by]
    said += [f"parent {other}" for other in record.parents]
    words = {XREF: "xref", **dict.fromkeys(SAME, "same")}
    return said + [
        f"{words.get(one.predicate, one.predicate)} {one.curie}" for one in record.references
    ]


def _rank(part: str) -> tuple[int, str]:
    first = part.split()[0]
    return (_ORDER.index(first) if first in _ORDER else len(_ORDER), part)


@pytest.mark.parametrize(("title", "content", "wanted"), cases("obo"))
def test_odd_obo(title: str, content: str, wanted: list[str], tmp_path: Path) -> None:
    path = tmp_path / "odd.obo"
    path.write_bytes(content.encode())
    assert lines(read_file(path, "obo", languages=["en"])) == sorted(wanted)


@pytest.mark.parametrize(("title", "content", "wanted"), cases("rdf"))
def test_odd_rdf(title: str, content: str, wanted: list[str], tmp_path: Path) -> None:
    path = tmp_path / f"odd{title.rpartition(' ')[2]}"
    path.write_bytes(content.encode())
    assert lines(read_file(path, "rdf", languages=["en"])) == sorted(wanted)


@pytest.mark.parametrize(("title", "content", "wanted"), cases("sssom"))
def test_odd_sssom(title: str, content: str, wanted: list[str], tmp_path: Path) -> None:
    path = tmp_path / ("odd.csv" if title.endswith(".csv") else "odd.sssom.tsv")
    path.write_bytes(content.encode())
    records = read_file(path, "sssom").records
    edges = [
        f"{one.curie} {other.predicate} {other.curie}"
        for one in records[::2]
        for other in one.references
    ]
    assert sorted(edges) == sorted(wanted)


@pytest.mark.parametrize(("title", "content", "wanted"), cases("rf2"))
def test_odd_rf2(title: str, content: str, wanted: list[str], tmp_path: Path) -> None:
    mark = "\ufeff" if content.startswith("\ufeff") else ""
    end = "\r\n" if "\r\n" in content else "\n"
    descriptions, _, relations = content.removeprefix(mark).partition("--\n")
    kind = "Full" if title.startswith("Full") or "Full" in title else "Snapshot"
    path = tmp_path / f"sct2_Description_{kind}-en_INT_20260101.txt"
    path.write_bytes((mark + "\t".join(_DESCRIPTIONS.split()) + end + descriptions).encode())
    hierarchy = tmp_path / f"sct2_Relationship_{kind}_INT_20260101.txt"
    hierarchy.write_text("\t".join(_RELATIONS.split()) + "\n" + relations)
    settings = {"hierarchy": str(hierarchy)} if relations else {}
    assert lines(read_file(path, "snomed", languages=["en"], **settings)) == sorted(wanted)
