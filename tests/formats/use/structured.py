"""Inputs in XML, and BioC in both forms."""

from __future__ import annotations

import json
from typing import Any

from tests.formats.oracle.judging import Marked, Page, mark
from tests.formats.use.given import Given

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'
TITLE, ABSTRACT = "Lithium and α-synuclein", "We saw tremor & pain."
TEXT = f"{TITLE} {ABSTRACT}"
TREMOR = mark(31, 37, "Disease", "MESH:D014202")
LITHIUM = mark(0, 7, "Chemical", "MESH:D008094")


def _xml(title: str, abstract: str, *, second: int = 24) -> str:
    body = ABSTRACT.replace("&", "&amp;")
    return (
        f"{HEAD}<collection><source>PubMed</source><date>20200101</date><key>a.key</key><document><id>7</id>"
        "<passage><infon "
        f'key="type">title</infon><offset>0</offset><text>{TITLE}</text>{title}</passage>'
        "<passage><infon "
        f'key="type">abstract</infon><offset>{second}</offset><text>{body}</text>{abstract}</passage>'
        "</document></collection>"
    )


def _note(
    text: str, start: int, length: int, *, kind: str = "Disease", concept: str = "MESH:D014202"
) -> str:
    return (
        f'<annotation id="T{start}"><infon key="identifier">{concept}</infon><infon '
        f'key="type">{kind}</infon>'
        f'<location offset="{start}" length="{length}"/><text>{text}</text></annotation>'
    )


def _bioc(*annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A document with one passage."""
    passage = {
        "offset": 0,
        "infons": {"type": "title"},
        "text": TITLE,
        "sentences": [],
        "annotations": list(annotations),
        "relations": [],
    }
    return {
        "id": "7",
        "infons": {},
        "passages": [passage],
        "annotations": [],
        "relations": [],
        **more,
    }


def _annotation(start: int, length: int, text: str, **infons: str) -> dict[str, Any]:
    return {
        "id": "1",
        "infons": {"type": "Chemical", **infons},
        "text": text,
        "locations": [{"offset": start, "length": length}],
    }


LITH = _note("Lithium", 0, 7, kind="Chemical", concept="MESH:D008094")
COLLECTION = {"bioctype": "BioCCollection", "source": "", "date": "", "key": "", "infons": {}}

BIOC = (
    Given(
        name="two passages",
        format="bioc",
        files={"a.xml": _xml(LITH, _note("tremor", 31, 6))},
        wanted=(Page(TEXT, (LITHIUM, TREMOR), "7"),),
        flawed=True,  # source, date and key of the collection are counted as left out
    ),
    Given(
        name="offsets that count from the passage",
        format="bioc",
        files={"a.xml": _xml(LITH, _note("tremor", 7, 6))},
        wanted=(Page(TEXT, (LITHIUM, TREMOR), "7"),),
        flawed=True,
    ),
    Given(
        name="offsets in bytes",
        format="bioc",
        files={"a.xml": _xml(LITH, _note("tremor", 32, 6), second=25)},
        # Nothing but a gap of two tells it from a file that counts characters.
        wanted=(
            Page(f"{TITLE}  {ABSTRACT}", (LITHIUM, mark(32, 38, "Disease", "MESH:D014202")), "7"),
        ),
        flawed=True,
    ),
    Given(
        name="a location that is too long",
        format="bioc",
        files={"a.xml": _xml(LITH, _note("tremor", 31, 8))},
        wanted=(Page(TEXT, (LITHIUM, TREMOR), "7"),),
        flawed=True,
    ),
    Given(
        name="a mention of two locations",
        format="bioc",
        files={
            "a.xml": f"{HEAD}<collection><source/><date/><key/><document><id>8</id><passage><offset>0</offset>"
            "<text>lung and liver cancer</text>"
            '<annotation id="1"><infon key="type">Disease</infon><location offset="0" length="4"/>'
            '<location offset="15" length="6"/><text>lung '
            "cancer</text></annotation></passage></document></collection>"
        },
        wanted=(Page("lung and liver cancer", (Marked(((0, 4), (15, 21)), "Disease"),), "8"),),
    ),
    Given(
        name="two concepts in two facts of one name",
        format="bioc",
        files={
            "a.xml": f"{HEAD}<collection><source/><date/><key/><document><id>8</id><passage><offset>0</offset>"
            '<text>Aspirin</text><annotation id="1"><infon key="type">Drug</infon><infon '
            'key="identifier">CHEBI:15365'
            '</infon><infon key="identifier">MESH:D001241</infon><location offset="0" '
            'length="7"/><text>Aspirin</text>'
            "</annotation></passage></document></collection>"
        },
        wanted=(Page("Aspirin", (mark(0, 7, "Drug", "CHEBI:15365", "MESH:D001241"),), "8"),),
    ),
    Given(
        name="a collection in JSON",
        format="bioc-json",
        files={
            "a.json": json.dumps(
                {
                    **COLLECTION,
                    "documents": [_bioc(_annotation(0, 7, "Lithium", identifier="MESH:D008094"))],
                }
            )
        },
        wanted=(Page(TITLE, (LITHIUM,), "7"),),
    ),
    Given(
        name="an annotation that ends outside the text",
        format="bioc-json",
        files={
            "a.json": json.dumps(
                {**COLLECTION, "documents": [_bioc(_annotation(12, 40, "α-synuclein"))]}
            )
        },
        wanted=(Page(TITLE, (mark(12, 23, "Chemical"),), "7"),),
        flawed=True,
    ),
    Given(
        name="an answer of PubTator 3",
        format="pubtator3",
        files={
            "a.json": json.dumps(
                {
                    "PubTator3": [
                        _bioc(
                            _annotation(0, 7, "Lithium", identifier="MESH:D008094"),
                            _id="7|None",
                            pmid=7,
                            pmcid=None,
                        )
                    ]
                }
            )
        },
        wanted=(Page(TITLE, (LITHIUM,), "7"),),
    ),
    Given(
        name="an answer of PubTator 3 with a mention that moved",
        format="pubtator3",
        files={"a.json": json.dumps({"PubTator3": [_bioc(_annotation(13, 11, "α-synuclein"))]})},
        wanted=(Page(TITLE, (mark(12, 23, "Chemical"),), "7"),),
        flawed=True,
    ),
)

CITATION = (
    "<PubmedArticle><MedlineCitation><PMID "
    'Version="1">{id}</PMID><Article><ArticleTitle>{title}</ArticleTitle>'
    "<Abstract>{abstract}</Abstract></Article></MedlineCitation></PubmedArticle>"
)
AIM = '<AbstractText Label="AIM">To &lt;see&gt;\n  10<sup>-6</sup>.</AbstractText>'
RESULTS = '<AbstractText Label="RESULTS">Lung cancer.</AbstractText>'
MEDLINE = (
    Given(
        name="an abstract in parts",
        format="medline",
        files={
            "a.xml": '<?xml version="1.0"?><PubmedArticleSet>'
            + CITATION.format(id=7, title="IL-2 &amp; <i>β</i>.", abstract=AIM + RESULTS)
            + "</PubmedArticleSet>"
        },
        wanted=(Page("IL-2 & β.\nAIM: To <see> 10-6.\nRESULTS: Lung cancer.", (), "7"),),
    ),
    Given(
        name="a file that was cut off",
        format="medline",
        files={
            "a.xml": "<PubmedArticleSet>"
            + CITATION.format(id=7, title="One", abstract="<AbstractText>Two.</AbstractText>")
            + CITATION.format(id=8, title="Three", abstract="")[:60]
        },
        wanted=(Page("One\nTwo.", (), "7"),),
        flawed=True,
    ),
)

ARTICLE = (
    "<article><front><article-meta><article-id "
    'pub-id-type="pmc">{id}</article-id><title-group><article-title>{title}'
    "</article-title></title-group><abstract><p>{abstract}</p></abstract></article-meta></front><body>{body}</body>"
    "</article>"
)
JATS = (
    Given(
        name="an article with a list in a paragraph",
        format="jats",
        files={
            "a.nxml": ARTICLE.format(
                id="PMC12",
                title="On <italic>IL-2</italic>",
                abstract="Lung\n cancer &#x1F600;.",
                body="<sec><title>Methods</title><p>We "
                "took:<list><list-item><p>one</p></list-item></list>and so on"
                "</p></sec>",
            )
        },
        wanted=(
            Page(
                "On IL-2\n\nLung cancer \U0001f600.\n\nMethods\n\nWe took:\n\none\n\nand so on",
                (),
                "PMC12",
            ),
        ),
    ),
    Given(
        name="an article with the letter of its reviewers",
        format="jats",
        files={
            "a.xml": ARTICLE.format(id="1", title="One", abstract="A", body="<p>B</p>").replace(
                "</article>",
                "<sub-article><body><p>We find it sound.</p></body></sub-article></article>",
            )
        },
        wanted=(Page("One\n\nA\n\nB\n\nWe find it sound.", (), "PMC1"),),
        flawed=True,
    ),
    Given(
        name="two articles with one id",
        format="jats",
        files={
            "a.xml": "<articles>"
            + ARTICLE.format(id="1", title="One", abstract="A", body="<p>B</p>")
            + ARTICLE.format(id="1", title="Two", abstract="C", body="<p>D</p>")
            + "</articles>"
        },
        wanted=(Page("One\n\nA\n\nB", (), "PMC1"), Page("Two\n\nC\n\nD", (), "PMC1#2")),
        flawed=True,
    ),
)


def _tei(body: str) -> str:
    head = (
        "<teiHeader><fileDesc><titleStmt><title>Lung "
        "\U0001f600</title></titleStmt></fileDesc></teiHeader>"
    )
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0">{head}<text><body><div>{body}</div></body></text></TEI>'


TEI = (
    Given(
        name="a citation behind a name",
        format="tei",
        files={
            "a.xml": _tei(
                '<p>IL-2<hi rend="superscript"><ref type="bibr" target="#b0">3</ref></hi> rose.</p>'
            )
        },
        wanted=(Page("Lung \U0001f600\n\nIL-2 rose."),),
    ),
    Given(
        name="a charge, and two paragraphs",
        format="tei",
        files={"a.xml": _tei('<p>Ca<hi rend="superscript">2+</hi> rose.</p><p>Two &lt; three</p>')},
        wanted=(Page("Lung \U0001f600\n\nCa2+ rose.\n\nTwo < three"),),
    ),
)


def _knowtator(*spans: tuple[int, int]) -> str:
    places = "".join(f'<span start="{start}" end="{end}"/>' for start, end in spans)
    return (
        f'<annotations textSource="a.txt"><annotation><mention id="E1"/>{places}</annotation>'
        '<classMention id="E1"><mentionClass id="MONDO:0005138">lung '
        "cancer</mentionClass></classMention></annotations>"
    )


KNOWTATOR = (
    Given(
        name="a name behind an astral character",
        format="knowtator",
        files={"c/a.txt": "\U0001f600 lung cancer", "c/a.txt.xml": _knowtator((2, 13))},
        read="c",
        wanted=(Page("\U0001f600 lung cancer", (mark(2, 13, "MONDO", "MONDO:0005138"),), "a"),),
    ),
    Given(
        name="a name with a gap",
        format="knowtator",
        files={"c/a.txt": "lung and liver cancer", "c/a.txt.xml": _knowtator((0, 4), (15, 21))},
        read="c",
        wanted=(
            Page(
                "lung and liver cancer",
                (Marked(((0, 4), (15, 21)), "MONDO", ("mondo:0005138",)),),
                "a",
            ),
        ),
    ),
)


def _gate(text: str, sets: str, *, head: str = "<?xml version='1.0' encoding='UTF-8'?>") -> bytes:
    document = (
        f"{head}\n<GateDocument version='3'>\n<TextWithNodes>{text}</TextWithNodes>\n{sets}\n"
        "</GateDocument>"
    )
    return document.encode("cp1252" if "1252" in head else "utf-8")


def _gate_set(name: str, *annotations: tuple[str, int, int]) -> str:
    rows = "".join(
        f"<Annotation Id='{number}' Type='{kind}' StartNode='{start}' EndNode='{end}'>\n"
        "<Feature>\n  <Name className='java.lang.String'>rule</Name>\n"
        "  <Value className='java.lang.String'>Drug1</Value>\n</Feature>\n</Annotation>\n"
        for number, (kind, start, end) in enumerate(annotations)
    )
    return f"<AnnotationSet{name and f' Name={name!r}'}>\n{rows}</AnnotationSet>"


GATE = (
    Given(
        name="nodes whose numbers count a line end as two characters",
        format="gate-xml",
        files={
            "a.xml": _gate(
                "<Node id='0'/>Gout\r\n<Node id='6'/>Aspirin<Node id='13'/>",
                _gate_set("", ("Token", 0, 6), ("Drug", 6, 13)),
            )
        },
        wanted=(Page("Gout\nAspirin", (mark(5, 12, "Drug"),), "a"),),
    ),
    Given(
        name="a set of tags of the original file beside the reference",
        format="gate-xml",
        files={
            "a.xml": _gate(
                "<Node id='0'/>Caf\xe9 &amp; <Node id='7'/>Aspirin<Node id='14'/>",
                _gate_set("Original markups", ("paragraph", 0, 14))
                + _gate_set("Key", ("Drug", 7, 14)),
                head="<?xml version='1.0' encoding='windows-1252'?>",
            )
        },
        wanted=(Page("Caf\xe9 & Aspirin", (mark(7, 14, "Drug"),), "a"),),
    ),
)
ALL = (*BIOC, *MEDLINE, *JATS, *TEI, *KNOWTATOR, *GATE)
