"""The package pubmed_parser 0.5.1, on citations in the XML of MEDLINE and articles in JATS."""

from __future__ import annotations

import gzip
from pathlib import Path
from xml.sax.saxutils import escape

import pubmed_parser
from tests.formats.oracle.drafts import Taste
from tests.reality.crossing import made

from fascicle.core.document import Document
from fascicle.formats import read

TASTE = Taste(parts=(2, 2), empty=False, typed=False)


def part(one: Document, name: str) -> str:
    """The text of the sections with a name."""
    sections = [section for section in one.sections or () if section.name == name]
    return " ".join(one.text[section.start : section.end] for section in sections)


def citation(pmid: int, title: str, abstract: str) -> str:
    """A citation as the DTD of PubMed has it."""
    return (
        "<PubmedArticle><MedlineCitation><PMID "
        f'Version="1">{pmid}</PMID><Article><Journal><JournalIssue><PubDate>'
        f"<Year>2020</Year></PubDate></JournalIssue></Journal><ArticleTitle>{escape(title)}</ArticleTitle>"
        f"<Abstract><AbstractText>{escape(abstract)}</AbstractText></Abstract></Article></MedlineCitation>"
        f"</PubmedArticle>"
    )


def test_both_read_the_same_citations(tmp_path: Path) -> None:
    for seed, drafts in made(TASTE, name="medline"):
        path = tmp_path / f"{seed}.xml.gz"
        rows = [citation(at, *one.parts) for at, one in enumerate(drafts, 1)]
        path.write_bytes(
            gzip.compress(f"<PubmedArticleSet>{''.join(rows)}</PubmedArticleSet>".encode())
        )
        theirs = [
            (one["pmid"], one["title"], one["abstract"])
            for one in pubmed_parser.parse_medline_xml(str(path))
        ]
        assert [(one.id, part(one, "title"), part(one, "abstract")) for one in read(path)] == theirs


def test_both_read_the_same_articles(tmp_path: Path) -> None:
    """JATS: title, abstract and paragraphs of sections, without tags in their lines."""
    for seed, drafts in made(TASTE, name="jats"):
        path, (title, abstract) = tmp_path / f"{seed}.nxml", drafts[0].parts
        bodies = [part for one in drafts for part in one.parts]
        paragraphs = "".join(f"<p>{escape(part)}</p>" for part in bodies)
        date = '<pub-date pub-type="ppub"><year>2020</year></pub-date>'
        path.write_text(
            '<article><front><article-meta><article-id pub-id-type="pmid">7</article-id>'
            f"<title-group><article-title>{escape(title)}</article-title></title-group>{date}"
            f"<abstract><p>{escape(abstract)}</p></abstract></article-meta></front>"
            f"<body><sec><title>Methods</title>{paragraphs}</sec></body></article>",
            encoding="utf-8",
        )
        theirs = pubmed_parser.parse_pubmed_xml(str(path))
        (ours,) = read(path)
        assert (part(ours, "title"), part(ours, "abstract")) == (
            theirs["full_title"],
            theirs["abstract"],
        ), seed
        read_by_both = [
            one["text"]
            for one in pubmed_parser.parse_pubmed_paragraph(str(path), all_paragraph=True)
        ]
        assert part(ours, "methods").split() == " ".join(read_by_both).split(), seed


def test_it_puts_blanks_at_tags_and_drops_what_is_two_tags_deep(tmp_path: Path) -> None:
    """JATS (https://jats.nlm.nih.gov): `italic` and `sub` are in the line, and no blank belongs
    there.
    """
    path = tmp_path / "a.nxml"
    words = "CO<sub>2</sub> to <bold><italic>E. coli</italic></bold>."
    date = '<pub-date pub-type="ppub"><year>2020</year></pub-date>'
    path.write_text(
        "<article><front><article-meta><title-group><article-title>T</article-title></title-group>"
        f"{date}<abstract><p>We gave {words}</p></abstract></article-meta></front>"
        f"<body><sec><title>Methods</title><p>They gave {words}</p></sec></body></article>",
        encoding="utf-8",
    )
    assert pubmed_parser.parse_pubmed_xml(str(path))["abstract"] == "We gave CO 2 to E. coli ."
    (paragraph,) = pubmed_parser.parse_pubmed_paragraph(str(path), all_paragraph=True)
    assert paragraph["text"] == "They gave CO2 to ."
    (ours,) = read(path)
    assert "We gave CO2 to E. coli." in ours.text
    assert "They gave CO2 to E. coli." in ours.text
