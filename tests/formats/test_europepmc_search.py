"""Searches of Europe PMC (europepmc.org/RestfulWebService, ``resultType=core``) as JSON and XML,
whose abstracts have headings of HTML, and its archives of articles.
"""

from __future__ import annotations

import gzip
import json
from html import escape
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.formats.files import read

TITLE = "On <i>BRCA1</i> &amp; mice."
ABSTRACT = (
    "Short.<h4>Background</h4>Zetamycin helps mice.<h4>Patients and methods:</h4>We gave it "
    "(p<0.05).<h4>Results</h4> <h4>Conclusions</h4>All <i>lived</i>; CO<sub>2</sub> fell."
)
PARTS = [
    ("title", "On BRCA1 & mice.", ()),
    ("abstract", "Short.", ()),
    (
        "abstract-introduction",
        "Background: Zetamycin helps mice.",
        (("Label", "Background"),),
    ),
    (
        "abstract-methods",
        "Patients and methods: We gave it (p<0.05).",
        (("Label", "Patients and methods"),),
    ),
    (
        "abstract-conclusions",
        "Conclusions: All lived; CO2 fell.",
        (("Label", "Conclusions"),),
    ),
]


def parts(document: Document) -> list[tuple[str, str, tuple[tuple[str, str], ...]]]:
    return [
        (part.name, document.text[part.start : part.end], part.attributes)
        for part in document.sections or ()
    ]


def xml(title: str, abstract: str) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><responseWrapper><version>6.9</version>'
        "<hitCount>1</hitCount><request><queryString>x</queryString></request><resultList><result>"
        f"<id>11</id><source>MED</source><pmid>11</pmid><pmcid>PMC7</pmcid><doi>10.1/a</doi>"
        f"<title>{title}</title><journalInfo><journal><title>J Test</title></journal>"
        f"</journalInfo><pubYear>2024</pubYear><abstractText>{abstract}</abstractText>"
        "</result></resultList></responseWrapper>"
    )


@pytest.mark.parametrize("name", ["escaped.xml", "nested.xml", "s.json", "s.jsonl", "twice.json"])
def test_headings_of_an_abstract_are_borders_of_sections(tmp_path: Path, name: str) -> None:
    result = {"id": "11", "pmid": "11", "title": TITLE, "abstractText": ABSTRACT}
    if name == "twice.json":
        result |= {"title": escape(TITLE), "abstractText": escape(ABSTRACT)}
    search = {"version": "6.9", "hitCount": 1, "resultList": {"result": [result]}}
    content = {
        "escaped.xml": xml(escape(TITLE), escape(ABSTRACT)),
        "nested.xml": xml(TITLE, ABSTRACT.replace("p<0", "p&lt;0")),
        "s.jsonl": json.dumps(result) + "\n",
    }.get(name, json.dumps(search))
    (tmp_path / name).write_text(content, encoding="utf-8")
    (document,) = read(tmp_path / name)
    assert document.id == "11"
    assert parts(document) == PARTS
    assert document.text == "\n".join(text for _, text, _ in PARTS)


@pytest.mark.parametrize("part", ["<h4>", "<h4></h", "<h4 </h4", "<h4>a</h3>"])
def test_headings_without_an_end_take_time_by_their_length(tmp_path: Path, part: str) -> None:
    result = {"id": "1", "title": "A title", "abstractText": part * 50_000}
    (tmp_path / "s.jsonl").write_text(json.dumps(result), encoding="utf-8")
    (document,) = read(tmp_path / "s.jsonl")
    assert [name for name, *_ in parts(document) if name.startswith("abstract-")] == []


def test_facts_of_a_result_in_xml(tmp_path: Path) -> None:
    (tmp_path / "s.xml").write_text(xml("A title", ""), encoding="utf-8")
    (document,) = read(tmp_path / "s.xml")
    facts = {"pmid": "11", "pmc": "PMC7", "doi": "10.1/a", "journal": "J Test", "year": "2024"}
    assert {name: document.meta.get(name) for name in facts} == facts
    assert document.text == "A title"


def test_a_result_without_an_abstract_has_its_title(tmp_path: Path) -> None:
    search = {"resultList": {"result": [{"id": "1", "title": "A"}, {"id": "2", "title": None}]}}
    (tmp_path / "s.json").write_text(json.dumps(search), encoding="utf-8")
    assert next(iter(read(tmp_path / "s.json"))).text == "A"


@pytest.mark.parametrize("root", ["articles", "PMCArticles", "pmc-articleset"])
def test_archives_of_articles(tmp_path: Path, root: str) -> None:
    article = (
        '<article><front><article-meta><article-id pub-id-type="pmcid">PMC{0}</article-id>'
        "<title-group><article-title>Title {0}</article-title></title-group></article-meta></front>"
        "<body><sec><title>Methods</title><p>Mice ran.</p></sec></body></article>"
    )
    content = f"<{root}>{article.format(1)}{article.format(2)}</{root}>"
    path = tmp_path / "PMC1_PMC2.xml.gz"
    path.write_bytes(gzip.compress(content.encode()))
    assert [document.text.partition("\n")[0] for document in read(path)] == ["Title 1", "Title 2"]
