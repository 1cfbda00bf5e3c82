"""The packages rispy 0.10 and nbib 0.3.2, on citations of reference managers."""

from __future__ import annotations

from pathlib import Path

import nbib
import rispy
from tests.formats.oracle.drafts import Draft, Taste
from tests.reality.crossing import made

from fascicle.core.document import Document
from fascicle.formats import read

TASTE = Taste(parts=(2, 2), empty=False, typed=False)


def without_tags(drafts: list[Draft]) -> list[Draft]:
    """Those without inline tags, which Fascicle reads as mark-up, and these packages as letters."""
    return [one for one in drafts if not {"<", "&"} & set("".join(one.parts))]


def parts(one: Document) -> tuple[str, str]:
    """Title and abstract."""
    texts = {section.name: one.text[section.start : section.end] for section in one.sections or ()}
    return texts.get("title", ""), texts.get("abstract", "")


def test_rispy_reads_the_same(tmp_path: Path) -> None:
    for seed, several in made(TASTE, name="ris"):
        drafts = without_tags(several)
        if not drafts:
            continue
        path = tmp_path / f"{seed}.ris"
        records = [
            {
                "type_of_reference": "JOUR",
                "title": one.parts[0],
                "abstract": one.parts[1],
                "accession_number": str(at),
            }
            for at, one in enumerate(drafts, 1)
        ]
        path.write_text(rispy.dumps(records), encoding="utf-8")
        theirs = [
            (one["accession_number"], one["title"], one["abstract"])
            for one in rispy.loads(path.read_text(encoding="utf-8"))
        ]
        assert [(one.id, *parts(one)) for one in read(path)] == theirs


def test_rispy_keeps_the_first_abstract_and_drops_a_record_without_an_end(tmp_path: Path) -> None:
    """RIS: a record ends with ER; tags may be repeated
    (https://en.wikipedia.org/wiki/RIS_(file_format)).
    """
    path = tmp_path / "a.ris"
    path.write_text(
        "TY  - JOUR\nTI  - A\nAB  - One.\nAB  - Two.\nER  - \nTY  - JOUR\nTI  - B\n",
        encoding="utf-8",
    )
    (theirs,) = rispy.loads(path.read_text(encoding="utf-8"))
    assert theirs["abstract"] == "One."
    assert list(map(parts, read(path))) == [("A", "One. Two."), ("B", "")]


def test_nbib_reads_the_same(tmp_path: Path) -> None:
    for seed, several in made(TASTE, name="nbib"):
        drafts = without_tags(several)
        if not drafts:
            continue
        path = tmp_path / f"{seed}.nbib"
        path.write_text(
            "\n".join(
                f"PMID- {at}\nTI  - {one.parts[0]}\nAB  - {one.parts[1]}\nAU  - Doe J\n"
                for at, one in enumerate(drafts, 1)
            ),
            encoding="utf-8",
        )
        theirs = [
            (str(one["pubmed_id"]), one["title"], one["abstract"])
            for one in nbib.read_file(str(path))
        ]
        assert [(one.id, *parts(one)) for one in read(path)] == theirs


def test_an_empty_line_ends_a_citation_for_nbib_too(tmp_path: Path) -> None:
    path = tmp_path / "a.nbib"
    path.write_text(
        "PMC - PMC1000001\nPMID- 11111111\nTI  - One\n\nPMC - PMC2000002\nPMID- 22222222\nTI  - "
        "Two\n",
        encoding="utf-8",
    )
    theirs = [
        (str(one["pubmed_id"]), f"PMC{one['pmcid']}", one["title"])
        for one in nbib.read_file(str(path))
    ]
    assert [(one.id, one.meta["pmc"], one.text) for one in read(path)] == theirs


def test_nbib_drops_abstracts_in_other_languages(tmp_path: Path) -> None:
    """MEDLINE has OAB for them (https://www.nlm.nih.gov/bsd/mms/medlineelements.html)."""
    path = tmp_path / "a.nbib"
    path.write_text("PMID- 1\nTI  - A\nOABL- spa\nOAB - Texto.\n", encoding="utf-8")
    (theirs,) = nbib.read_file(str(path))
    assert "Texto." not in str(theirs)
    (ours,) = read(path)
    assert any("OAB" in event.message for event in ours.events)
