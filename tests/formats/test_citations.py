"""Citations of reference managers and of PubMed's Abstract text."""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import ReadReport, detect, read
from fascicle.formats.report import FailedDocuments

NBIB = """
PMID- 35000001
OWN - NLM
TI  - Metformin and lactic acidosis in patients with
      chronic kidney disease.
PG  - 1-9
LID - 10.1000/xyz.1 [doi]
AB  - BACKGROUND: Metformin is safe. METHODS: We treated
      ten patients.
FAU - Doe, Jane
AU  - Doe J
LA  - eng
PT  - Journal Article
PT  - Review
DP  - 2021 Mar 4
JT  - Journal of made-up cases
MH  - Humans
AID - 10.1000/xyz.1 [doi]
PMC - PMC123

PMID- 35000002
TI  - Only a title.
"""
RIS = """TY  - JOUR
AU  - Doe, Jane
TI  - Aspirin for
headache
AB  - Aspirin helped.
  It did.
DNA - protein
PY  - 2020/03/01/
DO  - 10.1000/a.b
JO  - J Heads
KW  - pain
KW  - aspirin
ER  -

TY  - BOOK
T1  - No abstract
N2  - A note in its place
ID  - 77
ER  -
"""
TEXT = """1. J Heads. 2021 Mar 4;12(3):1-9. doi: 10.1000/xyz.1. Epub 2021
Jan 2.

Metformin and lactic acidosis: a double-
blind trial of pre-
and post-treatment.

Doe J(1), van der Berg AB Jr(2)(3), D'Angelo-Smith K, Müller-Wieland D; Group for
Cases.

Author information:
(1)Department of Nothing, Nowhere.
(2)Elsewhere.

Comment in
    J Heads. 2022;1:1.

BACKGROUND: Metformin is safe. It was
1. given daily.
METHODS AND RESULTS: We treated
ten patients.

A second paragraph.

Copyright (c) 2021 Us. All rights reserved.

DOI: 10.1000/xyz.1
PMCID: PMC123
PMID: 35000001 [Indexed for MEDLINE]

Conflict of interest statement: None.


2. J Tails. 2020;1:1.

[A title in German.]

[Article in German]

[No authors listed]

PMID: 35000002
"""


def of(
    tmp_path: Path, name: str, content: str, *, report: ReadReport | None = None
) -> list[Document]:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert detect(str(path)) == "citations"
    return list(read(path, report=report))


def parts(document: Document) -> list[tuple[str, str]]:
    return [(one.name, document.text[one.start : one.end]) for one in document.sections or ()]


def test_nbib(tmp_path: Path) -> None:
    found, bare = of(tmp_path, "a.nbib", NBIB)
    assert found.id == "35000001"
    assert parts(found) == [
        ("title", "Metformin and lactic acidosis in patients with chronic kidney disease."),
        ("abstract", "BACKGROUND: Metformin is safe. METHODS: We treated ten patients."),
    ]
    assert found.meta == {
        "doi": "10.1000/xyz.1",
        "pmc": "PMC123",
        "journal": "Journal of made-up cases",
        "year": "2021",
        "language": "eng",
        "publication-types": "Journal Article|Review",
        "mesh-names": "Humans",
    }
    assert [event.code for event in found.events] == ["fields-left-out"]
    assert "AU, FAU, OWN, PG" in found.events[0].message
    assert (bare.id, bare.text, bare.meta) == ("35000002", "Only a title.", {})
    assert [one.id for one in of(tmp_path, "pubmed.txt", NBIB)] == ["35000001", "35000002"]


def test_a_doi_behind_another_number_is_found(tmp_path: Path) -> None:
    content = NBIB.replace("LID - 10.1000/xyz.1 [doi]", "LID - e17 [pii]")
    assert of(tmp_path, "a.nbib", content)[0].meta["doi"] == "10.1000/xyz.1"


def test_ris(tmp_path: Path) -> None:
    first, second = of(tmp_path, "a.ris", RIS)
    assert first.id == "10.1000/a.b"
    assert parts(first) == [
        ("title", "Aspirin for headache"),
        ("abstract", "Aspirin helped. It did. DNA - protein"),
    ]
    assert first.meta["keywords"] == "pain|aspirin"
    assert first.meta["year"] == "2020"
    assert (second.id, second.text) == ("77", "No abstract\n\nA note in its place")
    unnamed = of(tmp_path, "b.ris", "TY  - JOUR\nTI  - A\nER  - \nTY  - JOUR\nTI  - B\nER  - \n")
    assert [(one.id, one.text) for one in unnamed] == [("b:1", "A"), ("b:2", "B")]


def test_abstract_text_of_pubmed(tmp_path: Path) -> None:
    first, second = of(tmp_path, "abstract-set.txt", TEXT.replace("information:", "information: "))
    assert first.id == "35000001"
    assert parts(first) == [
        (
            "title",
            "Metformin and lactic acidosis: a double-blind trial of pre- and post-treatment.",
        ),
        ("abstract-introduction", "BACKGROUND: Metformin is safe. It was 1. given daily."),
        ("abstract-methods", "METHODS AND RESULTS: We treated ten patients."),
        ("abstract", "A second paragraph."),
    ]
    labels = ["BACKGROUND", "METHODS AND RESULTS"]
    told = [(("Label", label),) for label in labels]
    assert [one.attributes for one in first.sections or ()] == [(), *told, ()]
    assert first.meta == {"doi": "10.1000/xyz.1", "pmc": "PMC123", "year": "2021"}
    assert (second.id, second.text) == ("35000002", "[A title in German.]")


def of_pubmed(
    tmp_path: Path, title: str, authors: str, *, about: str = ""
) -> list[tuple[str, str]]:
    """The parts of a citation as PubMed shows them under "Abstract (text)": citation, title,
    authors, what is known about them, abstract.
    """
    blocks = ("1. J Heads. 2021;12:1-9.", title, authors, about, "We treated gout.", "PMID: 7\n")
    (document,) = of(tmp_path, "a.txt", "\n\n".join(filter(None, blocks)))
    return parts(document)


@pytest.mark.parametrize(
    "title",
    [
        'Comment on "Sex differences in diabetes".',
        "Update in Internal Medicine.",
        "Reprint of: A trial of aspirin.",
        "Retraction of a claim.",
        "Copyright of genes.",
        "Collaborators: who they are.",
    ],
)
def test_a_title_may_begin_as_a_note(tmp_path: Path, title: str) -> None:
    expected = [("title", title), ("abstract", "We treated gout.")]
    assert of_pubmed(tmp_path, title, "Smith J(1), Doe A(2).") == expected
    about = "Author information:\n(1)Elsewhere."
    assert of_pubmed(tmp_path, title, "Smith J(1), Doe A(2).", about=about) == expected


@pytest.mark.parametrize("about", ["", "Author information:\n(1)Elsewhere."])
@pytest.mark.parametrize(
    "authors",
    [
        "WHO Solidarity Trial Consortium; Pan H(1), Peto R(1).",
        "RECOVERY Collaborative Group; Horby P(1), Lim WS(2), Emberson JR(3).",
        "GBD 2019 Diseases and Injuries Collaborators.",
        "St. John A(1), Roe B(2).",
        "García-Pérez J Á(1), Šimić Š.",
        "Sukarno(1), Roe B(2).",
        "Roe B(1), Sukarno.",
        "Roe B(1), ABC Group.",
        "Roe B(1), ABC Study Group(2), Doe J; Group for Cases.",
        "UK10K; Walter K, Doe J.",
        "Childhood Cancer Survivor Study; Armstrong GT(1).",
        "CRASH-2 trial; Shakur H.",
        "an der Heiden M, in der Schmitten J, van 't Hoff W, de Silva HJ(1)(2).",
        "Roe B; CRASH-2 trial collaborators.",
    ],
)
def test_authors_are_no_abstract(tmp_path: Path, authors: str, about: str) -> None:
    expected = [("title", "A title."), ("abstract", "We treated gout.")]
    assert of_pubmed(tmp_path, "A title.", authors, about=about) == expected


def test_a_block_that_is_taken_for_authors_is_named(tmp_path: Path) -> None:
    first, second = of(tmp_path, "a.txt", TEXT.replace("Author information", "Comment in"))
    (event,) = first.events
    assert event.code == "fields-left-out"
    assert 'authors ("Doe J(1), van der Berg AB Jr(2)(3)' in event.message
    assert second.events == ()  # it has none
    assert of(tmp_path, "b.txt", TEXT)[0].events == ()


@pytest.mark.parametrize(
    "paragraph",
    [
        "Metformin, aspirin and gout.",
        "We asked the Study Group.",
        "Aspirin, Metformin, Gout.",
        "Gout; a disease of the joints, and of the Kidney.",
        "Influenza viruses spread. They infect the Group.",
        "Most patients with gout recovered; relapse was common in patients with AIDS.",
        "Two-tailed unpaired Student's t-test; data are mean + SEM.",
        "Mean (SD) of ten; percentage of mice with at least one ANA.",
        "Gout; a disease of patients with AIDS.",
        "Relapse was common in patients with AIDS.",
        "Metformin improves HIV.",
    ],
)
def test_an_abstract_is_no_list_of_authors(tmp_path: Path, paragraph: str) -> None:
    assert of_pubmed(tmp_path, "A title.", paragraph)[1] == ("abstract", paragraph)


def test_a_bad_citation_costs_itself(tmp_path: Path) -> None:
    report = ReadReport(aside=FailedDocuments(keep_going=True))
    broken = TEXT.replace("PMID: 35000001", "PMID missing")
    assert [one.id for one in of(tmp_path, "a.txt", broken, report=report)] == ["35000002"]
    assert report.aside.count == 1
    with pytest.raises(FormatError, match="PMID"):
        of(tmp_path, "a.txt", broken)
    with pytest.raises(
        FormatError, match=r"a\.nbib:4: a citation has no PMID, no id of PMC and no DOI"
    ):
        of(tmp_path, "a.nbib", "PMID- 1\nTI  - A\n\nTI  - B\n")
    with pytest.raises(
        FormatError, match=r"b\.ris:1: the file holds no citation; a citation begins with"
    ):
        of(tmp_path, "b.ris", "Some words\nTI A\nER\n")


def test_other_texts_are_no_citations(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for text in ("1. Wash your hands.\n2. Dry them.\n", "PMID is a number\n", "Title\n\nPMID: 5\n"):
        path.write_text(text, encoding="utf-8")
        assert detect(str(path)) == "plain"


WORDS = st.lists(
    st.text(
        st.characters(categories=("Ll", "Lu", "Lo"), exclude_characters="-"), min_size=1, max_size=9
    ).map(lambda word: f"x{word}"),
    min_size=1,
    max_size=40,
).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=4), st.integers(20, 80))
def test_other_programs_read_the_same(citations: list[tuple[str, str]], width: int) -> None:
    rispy = pytest.importorskip("rispy")
    wrapped = [
        [textwrap.wrap(part, width, break_long_words=False, break_on_hyphens=False) for part in one]
        for one in citations
    ]
    ris = "".join(
        f"TY  - JOUR\nAN  - {at}\nTI  - {' '.join(title)}\nAB  - {' '.join(abstract)}\nER  - \n\n"
        for at, (title, abstract) in enumerate(wrapped, 1)
    )
    nbib = "\n".join(
        f"PMID- {at}\nTI  - "
        + "\n      ".join(title)
        + "\nAB  - "
        + "\n      ".join(abstract)
        + "\n"
        for at, (title, abstract) in enumerate(wrapped, 1)
    )
    text = "\n\n".join(
        f"{at}. J X. 2020;1:1.\n\n"
        + " \n".join(title)
        + "\n\nDoe J.\n\n"
        + "\n".join(abstract)
        + f"\n\nPMID: {at}\n"
        for at, (title, abstract) in enumerate(wrapped, 1)
    )
    wanted = [(str(at), *one) for at, one in enumerate(citations, 1)]
    assert [
        (one["accession_number"], one["title"], one["abstract"]) for one in rispy.loads(ris)
    ] == wanted
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("a.ris", ris), ("a.nbib", nbib), ("a.txt", text)):
            found = of(Path(folder), name, content)
            assert [(one.id, *(part for _, part in parts(one))) for one in found] == wanted
