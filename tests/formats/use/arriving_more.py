"""More texts and files as they arrive, written from the descriptions of their formats alone: what
sentence splitters, taggers, notebooks and spreadsheets write around the texts of others.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tests.formats.oracle.judging import Page, mark
from tests.formats.use.arriving import HTML, JATS, TEI, brat, file, records, shown
from tests.formats.use.given import Given

from fascicle.formats.jats import JatsOptions

_GOUT: Final = mark(0, 4, "Disease")
_TWO: Final = "Gout came . Fever left ."
_FEVER: Final = mark(12, 17, "Disease")


def _json(name: str, content: Any, *wanted: Page, flawed: bool = False) -> Any:
    return file(name, "records", "a.json", json.dumps(content), *wanted, flawed=flawed)


def _bioc(*passages: str) -> str:
    return (
        "<?xml version='1.0'?><!DOCTYPE collection SYSTEM 'BioC.dtd'><collection><source/><date/>"
        f"<key/><document><id>7</id>{''.join(passages)}</document></collection>"
    )


def _passage(offset: int, text: str, at: int, length: int, name: str, kind: str) -> str:
    return (
        f"<passage><offset>{offset}</offset><text>{text}</text><annotation id='T{at}'>"
        f"<infon key='type'>{kind}</infon><location offset='{at}' length='{length}'/>"
        f"<text>{name}</text></annotation></passage>"
    )


TAGS: Final = (
    file(
        "names of one word side by side in IOBES",
        "conll",
        "a.tsv",
        "Gout\tS-Disease\nFever\tS-Disease\nlung\tB-Disease\ncancer\tE-Disease\n.\tO\n",
        Page("Gout Fever lung cancer .", (_GOUT, mark(5, 10, "Disease"), mark(11, 22, "Disease"))),
    ),
    file(
        "BILOU with three parts",
        "conll",
        "a.tsv",
        "acute\tB-Disease\nlung\tI-Disease\ninjury\tL-Disease\ngout\tU-Disease\n",
        Page("acute lung injury gout", (mark(0, 17, "Disease"), mark(18, 22, "Disease"))),
    ),
    file(
        "BMEWO, whose middle is M and whose single word is W",
        "conll",
        "a.tsv",
        "acute\tB-Disease\nlung\tM-Disease\ninjury\tE-Disease\ngout\tW-Disease\nis\tO\n",
        Page("acute lung injury gout is", (mark(0, 17, "Disease"), mark(18, 22, "Disease"))),
        flawed=True,
    ),
    file(
        "the type before the letter",
        "conll",
        "a.tsv",
        "lung\tDisease-B\ncancer\tDisease-I\nkills\tO\n",
        Page("lung cancer kills", (mark(0, 11, "Disease"),)),
        flawed=True,
    ),
    file(
        "the tag in the first column, as NERsuite has it",
        "conll",
        "a.tsv",
        "B-Disease\t0\t4\tGout\tgout\tNN\tB-NP\nO\t5\t9\tcame\tcome\tVBD\tB-VP\n",
        Page("Gout came", (_GOUT,)),
        flawed=True,
    ),
    file(
        "columns with two blanks between them",
        "conll",
        "a.txt",
        "Gout  B-Disease\ncame  O\n\nFever  B-Disease\n",
        Page("Gout came", (_GOUT,)),
        Page("Fever", (mark(0, 5, "Disease"),)),
    ),
    file(
        "names beside offsets in CoNLL-U, as Stanza writes them",
        "conll",
        "a.conllu",
        "# text = Gout came.\n# sent_id = 0\n"
        "1\tGout\tgout\tNOUN\tNN\t_\t2\tnsubj\t_\tstart_char=0|end_char=4|ner=S-DISEASE\n"
        "2\tcame\tcome\tVERB\tVBD\t_\t0\troot\t_\tstart_char=5|end_char=9|ner=O|SpaceAfter=No\n"
        "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\tstart_char=9|end_char=10|ner=O\n",
        Page("Gout came .", (mark(0, 4, "DISEASE"),)),
    ),
)
TOKENS: Final = (
    records(
        "names by tokens of the whole document, ends included",
        {
            "doc_key": "7",
            "sentences": [["Gout", "came", "."], ["Fever", "left", "."]],
            "ner": [[[0, 0, "Disease"]], [[3, 3, "Disease"]]],
            "relations": [[], []],
        },
        wanted=(Page(_TWO, (_GOUT, _FEVER), "7"),),
        flawed=True,
    ),
    records(
        "training data of GLiNER",
        {"tokenized_text": _TWO.split(), "ner": [[0, 0, "Disease"], [3, 3, "Disease"]]},
        wanted=(Page(_TWO, (_GOUT, _FEVER)),),
        flawed=True,
    ),
    _json(
        "SpERT, whose ends are behind the last token",
        [
            {
                "tokens": _TWO.split(),
                "entities": [
                    {"type": "Disease", "start": 0, "end": 1},
                    {"type": "Disease", "start": 3, "end": 4},
                ],
                "relations": [],
                "orig_id": 7,
            }
        ],
        Page(_TWO, (_GOUT, _FEVER)),
        flawed=True,
    ),
    _json(
        "RadGraph, by words that are counted",
        {
            "p/1.txt": {
                "text": _TWO,
                "entities": {
                    "1": {
                        "tokens": "Fever",
                        "label": "Disease",
                        "start_ix": 3,
                        "end_ix": 3,
                        "relations": [],
                    }
                },
                "labeler": "a",
            }
        },
        Page(_TWO, (_FEVER,), "p/1.txt"),
        flawed=True,
    ),
    records(
        "numbers for tags, whose names stand elsewhere",
        {"id": "7", "tokens": _TWO.split(), "ner_tags": [1, 0, 0, 1, 0, 0]},
        wanted=(),
        flawed=True,
    ),
    _json(
        "sentences of tokens of spaCy 2",
        [
            {
                "id": 7,
                "paragraphs": [
                    {
                        "raw": "Gout came.",
                        "sentences": [
                            {
                                "tokens": [
                                    {"id": 0, "orth": "Gout", "space": " ", "ner": "U-Disease"},
                                    {"id": 1, "orth": "came", "space": "", "ner": "O"},
                                    {"id": 2, "orth": ".", "space": "", "ner": "O"},
                                ]
                            }
                        ],
                    }
                ],
            }
        ],
        Page("Gout came .", (_GOUT,)),
    ),
)
FRAMES: Final = (
    _json(
        "a frame of pandas by columns",
        {"id": {"0": "7", "1": "8"}, "text": {"0": "Gout", "1": "Fever"}},
        Page("Gout", (), "7"),
        Page("Fever", (), "8"),
        flawed=True,
    ),
    _json(
        "a frame of pandas in parts",
        {"columns": ["id", "text"], "index": [0], "data": [["7", "Gout"]]},
        Page("Gout", (), "7"),
        flawed=True,
    ),
    _json(
        "a frame of pandas with its schema",
        {
            "schema": {"fields": [{"name": "index", "type": "integer"}], "pandas_version": "1.4.0"},
            "data": [{"index": 0, "id": "7", "text": "Gout"}],
        },
        Page("Gout", (), "7"),
        flawed=True,
    ),
    _json(
        "rows of a viewer of data sets",
        {
            "features": [{"feature_idx": 0, "name": "text", "type": {"dtype": "string"}}],
            "rows": [{"row_idx": 0, "row": {"text": "Gout came."}, "truncated_cells": []}],
            "num_rows_total": 1,
        },
        Page("Gout came."),
        flawed=True,
    ),
    file(
        "a number that is none",
        "records",
        "a.jsonl",
        '{"id": "7", "text": "Gout came.", "entities": [{"start": 0, "end": 4, "label": "Disease", '
        '"score": NaN}]}\n',
        Page("Gout came.", (_GOUT,), "7"),
        flawed=True,
    ),
    _json(
        "projects with documents, as MedCATtrainer exports them",
        {
            "projects": [
                {
                    "name": "p",
                    "id": 1,
                    "documents": [
                        {
                            "id": 7,
                            "name": "n",
                            "text": "Gout came.",
                            "annotations": [
                                {
                                    "start": 0,
                                    "end": 4,
                                    "cui": "C0018099",
                                    "value": "Gout",
                                    "correct": True,
                                    "deleted": False,
                                }
                            ],
                        }
                    ],
                }
            ]
        },
        Page("Gout came.", (), "7"),
        flawed=True,
    ),
    _json(
        "examples in an object, as LightTag exports them",
        {
            "name": "p",
            "examples": [
                {
                    "content": "Gout came.",
                    "example_id": "7",
                    "annotations": [{"start": 0, "end": 4, "tag": "Disease", "value": "Gout"}],
                }
            ],
        },
        Page("Gout came.", (_GOUT,), "7"),
        flawed=True,
    ),
    records(
        "entities by their keys",
        {"id": "7", "text": "Gout", "entities": {"T1": {"start": 0, "end": 4, "label": "Disease"}}},
        wanted=(Page("Gout", (_GOUT,), "7"),),
        flawed=True,
    ),
    records(
        "Prodigy: one text, of two sessions",
        {
            "text": "Gout came.",
            "_input_hash": 5,
            "_session_id": "ner-ann",
            "spans": [{"start": 0, "end": 4, "label": "Disease"}],
            "answer": "accept",
        },
        {
            "text": "Gout came.",
            "_input_hash": 5,
            "_session_id": "ner-bob",
            "spans": [],
            "answer": "accept",
        },
        wanted=(Page("Gout came.", (_GOUT,)), Page("Gout came.")),
        flawed=True,
    ),
    _json(
        "PubAnnotation in parts of one article",
        [
            {
                "text": text,
                "sourcedb": "PMC",
                "sourceid": "7",
                "divid": number,
                "denotations": [
                    {"id": "T1", "span": {"begin": 0, "end": 4}, "obj": "Disease"},
                    {"id": "T1", "span": {"begin": 5, "end": 9}, "obj": "Event"},
                ],
            }
            for number, text in enumerate(("Gout came.", "Gout left."))
        ],
        Page("Gout came.", (_GOUT, mark(5, 9, "Event"))),
        Page("Gout left.", (_GOUT, mark(5, 9, "Event"))),
        flawed=True,
    ),
    _json(
        "Recogito, with a comment before the tag",
        [
            {
                "@context": "http://www.w3.org/ns/anno.jsonld",
                "id": "#1",
                "type": "Annotation",
                "body": [
                    {"type": "TextualBody", "purpose": "commenting", "value": "see"},
                    {"type": "TextualBody", "purpose": "tagging", "value": "Disease"},
                ],
                "target": {
                    "selector": [
                        {"type": "TextQuoteSelector", "exact": "Gout"},
                        {"type": "TextPositionSelector", "start": 0, "end": 4},
                    ]
                },
            }
        ],
        flawed=True,
    ),
)
TABLES: Final = (
    file(
        "a line for Excel",
        "table",
        "a.csv",
        "sep=;\r\nid;text\r\n7;Gout\r\n",
        Page("Gout", (), "7"),
    ),
    file(
        "the Unicode text of Excel",
        "table",
        "a.txt",
        "id\ttext\r\n7\tSjögren\r\n".encode("utf-16"),
        Page("Sjögren", (), "7"),
    ),
    file(
        "the index of a frame without a heading",
        "table",
        "a.csv",
        ",id,text\n0,7,Gout\n1,8,Fever\n",
        Page("Gout", (), "7"),
        Page("Fever", (), "8"),
    ),
    file(
        "quotes inside of a cell of TSV",
        "table",
        "a.tsv",
        'id\ttext\n7\tThe "BRCA1" gene\n8\t5" long\n',
        Page('The "BRCA1" gene', (), "7"),
        Page('5" long', (), "8"),
    ),
    file(
        "an id twice",
        "table",
        "a.csv",
        "id,text\n7,Gout\n7,Fever\n",
        Page("Gout"),
        Page("Fever"),
        flawed=True,
    ),
)
XML: Final = (
    file(
        "passages whose offsets all are 0",
        "bioc",
        "a.xml",
        _bioc(
            _passage(0, "On gout.", 3, 4, "gout", "Disease"),
            _passage(0, "Fever left.", 0, 5, "Fever", "Disease"),
        ),
        Page("On gout. Fever left.", (mark(3, 7, "Disease"), mark(9, 14, "Disease")), "7"),
        flawed=True,
    ),
    file(
        "characters by their numbers before a name",
        "bioc",
        "a.xml",
        _bioc(_passage(0, "TNF-&#945; &#x1F600; &lt;gout", 9, 4, "gout", "Disease")),
        Page("TNF-α \U0001f600 <gout", (mark(9, 13, "Disease"),), "7"),
    ),
    shown(
        "sentences of GROBID without blanks between them",
        "tei",
        TEI.format("<p><s>Gout came.</s><s>Fever left.</s></p>"),
        "On|Gout came. Fever left.",
    ),
    shown(
        "genotypes, residues and a fusion that are raised",
        "jats",
        JATS.format(
            "<p>p53<sup>R273H</sup>, KRAS<sup>G12D</sup>, Cre<sup>ERT2</sup>, Apc<sup>−/−</sup>, "
            "V600<sup>E</sup>, CD4<sup>hi</sup>, pSer<sup>15</sup> and phospho-Thr<sup>308</sup></p>"
        ),
        "On|p53R273H, KRASG12D, CreERT2, Apc−/−, V600E, CD4hi, pSer15 and phospho-Thr308",
    ),
    shown(
        "a range and a comma between raised references, behind italics",
        "jats",
        JATS.format(
            "<p><italic>BRCA1</italic><xref ref-type='bibr' rid='a'><sup>1</sup></xref><sup>,</sup>"
            "<xref ref-type='bibr' rid='b'><sup>3</sup></xref><sup>–</sup>"
            "<xref ref-type='bibr' rid='c'><sup>5</sup></xref> rose</p>"
        ),
        "On|BRCA1 rose",
    ),
    Given(
        name="notes, breaks and lists in cells",
        format="jats",
        options=JatsOptions(tables=True),
        files={
            "a.xml": JATS.format(
                "<table-wrap><table><tbody><tr><td>BRCA1<xref ref-type='table-fn' rid='n'><sup>a</sup>"
                "</xref></td><td>lung cancer<break/>gout</td></tr><tr><td><italic>TP53</italic></td>"
                "<td><list><list-item><p>fever</p></list-item><list-item><p>pain</p></list-item></list>"
                "</td></tr></tbody></table></table-wrap>"
            )
        },
        wanted=(Page("On\n\nBRCA1\tlung cancer gout\nTP53\tfever pain"),),
    ),
    Given(
        name="what a page does not show",
        format="html",
        counted="loss parts-left-out",
        files={
            "a.html": HTML.format(
                "<p>Gout<span style='display: none'>hidden</span><span hidden>too</span> came"
                "<template>no</template><noscript>no</noscript></p><p>hepa&shy;to<wbr>cellular</p>"
            )
        },
        wanted=(Page("Gout came\n\nhepa\u00adtocellular"),),
    ),
    shown(
        "a table with a wide cell, and cells with lines",
        "html",
        HTML.format(
            "<table><thead><tr><th>Gene</th><th colspan=2>Disease</th></tr></thead>"
            "<tr><td>BRCA1</td><td>lung<br>cancer</td><td><ul><li>gout</li><li>pain</li></ul></td></tr></table>"
        ),
        "Gene\tDisease|BRCA1\tlung\ncancer|gout|pain",
        "a.html",
    ),
    file(
        "a formula of MathML in an abstract, and a part without text",
        "medline",
        "a.xml",
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article>"
        "<ArticleTitle>On <i>BRCA1</i><sup>+/-</sup>.</ArticleTitle><Abstract>"
        "<AbstractText Label='AIM'/><AbstractText Label='DONE'>Ca<sup>2+</sup> and "
        "<mml:math xmlns:mml='http://www.w3.org/1998/Math/MathML'><mml:msup><mml:mi>x</mml:mi>"
        "<mml:mn>2</mml:mn></mml:msup></mml:math>.</AbstractText></Abstract></Article>"
        "</MedlineCitation></PubmedArticle></PubmedArticleSet>",
        Page("On BRCA1+/-.\nDONE: Ca2+ and x2.", (), "7"),
    ),
)
REFERENCES: Final = (
    file(
        "strings, joined values, accents and a charge",
        "bibtex",
        "a.bib",
        '% Gout\n@string{j = "J of "}\n@comment{no}\n@article{k7, journal = j # {Gout},\n title = '
        "{The {BRCA1} gene \\& {\\'e}t{\\'{u}}de of {Ca$^{2+}$}},\n abstract = \"One\" # { two}}\n",
        Page("The BRCA1 gene & étúde of Ca2+\n\nOne two", (), "k7"),
    ),
    file(
        "lines that go on in EndNote's tags",
        "citations",
        "a.enw",
        "%0 Journal Article\n%T Gout and\nfever\n%X One\n\nTwo\n%U http://x\n\n%0 Book\n%T Pain\n",
        Page("Gout and fever\n\nOne Two"),
        Page("Pain"),
    ),
)
STANDOFF: Final = (
    brat(
        "concepts before their names, with line ends of Windows",
        "Gout came",
        "\ufeffN1\tReference T1 MeSH:D006073\tGout\r\nT1\tDisease 0 4\tGout\r\n",
        mark(0, 4, "Disease", "MESH:D006073"),
    ),
    file(
        "PubTator with offsets in bytes",
        "pubtator",
        "a.pubtator",
        "7|t|Sjögren and gout.\n7|a|Fever.\n7\t0\t8\tSjögren\tDisease\tMESH:D1\n"
        "7\t13\t17\tgout\tDisease\tMESH:D2\n7\t19\t24\tFever\tDisease\tMESH:D3\n\n",
        Page(
            "Sjögren and gout. Fever.",
            (
                mark(0, 7, "Disease", "MESH:D1"),
                mark(12, 16, "Disease", "MESH:D2"),
                mark(18, 23, "Disease", "MESH:D3"),
            ),
            "7",
        ),
    ),
    file(
        "escapes of a text, and a value with a bar",
        "webanno",
        "a.tsv",
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Finding|value\n\n\n"
        "#Text=a\\\\b gout\n1-1\t0-3\ta\\\\b\t_\t\n1-2\t4-8\tgout\tDis\\|ease\t\n",
        Page("a\\b gout", (mark(4, 8, "Dis|ease"),)),
        flawed=True,
    ),
)
ALL: Final = (*TAGS, *TOKENS, *FRAMES, *TABLES, *XML, *REFERENCES, *STANDOFF)
