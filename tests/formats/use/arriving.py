"""Texts and files as they arrive, written from the descriptions of their formats alone."""

from __future__ import annotations

import json
from typing import Any, Final

from tests.formats.oracle.judging import Marked, Page, mark
from tests.formats.use.given import Given

_SMILE: Final = "\U0001f600"
_TEXT: Final = "Aspirin helps against pain."
_DRUG, _PAIN = mark(0, 7, "Drug"), mark(22, 26, "Disease")
HTML: Final = "<!DOCTYPE html><html><head><style>.s{{vertical-align:super}}</style></head><body>{}</body></html>"
JATS: Final = (
    "<article><front><article-meta><title-group><article-title>On</article-title></title-group>"
    "</article-meta></front><body>{}</body></article>"
)
TEI: Final = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>On</title>'
    "</titleStmt></fileDesc></teiHeader><text><body>{}</body></text></TEI>"
)


def shown(name: str, reader: str, content: str, wanted: str, path: str = "a.xml") -> Given:
    """A text alone; a bar stands between its sections."""
    text = Page(wanted.replace("|", "\n\n"))
    return Given(name=name, format=reader, files={path: content}, wanted=(text,))


def records(
    name: str,
    *records: Any,
    wanted: tuple[Page, ...],
    flawed: bool = False,
    mark: str = "",
    end: str = "\n",
    encoding: str = "utf-8",
) -> Given:
    lines = "".join(json.dumps(one, ensure_ascii=False) + end for one in records)
    content = (mark + lines).encode(encoding)
    return Given(
        name=name, format="records", files={"a.jsonl": content}, wanted=wanted, flawed=flawed
    )


def file(
    name: str, reader: str, path: str, content: str | bytes, *wanted: Page, flawed: bool = False
) -> Given:
    return Given(name=name, format=reader, files={path: content}, wanted=wanted, flawed=flawed)


def brat(name: str, text: str, notes: str, *marks: Marked, flawed: bool = False) -> Given:
    files: dict[str, str | bytes] = {"d/7.txt": text, "d/7.ann": notes}
    page = Page(text, marks, "7")
    return Given(name=name, format="brat", files=files, wanted=(page,), read="d", flawed=flawed)


RAISED: Final = (
    shown(
        "a raised link in a page",
        "html",
        HTML.format('<p>IL-2<sup><a href="#r3">3</a></sup> helps</p>'),
        "IL-2 helps",
        "a.html",
    ),
    shown(
        "a marker, citations and a power in a page",
        "html",
        HTML.format("<p>CD4<sup>+</sup> T cells<sup>1–3,7</sup> and 10<sup>5</sup> cells</p>"),
        "CD4+ T cells and 105 cells",
        "a.html",
    ),
    shown(
        "a number that its style raises",
        "html",
        HTML.format('<p>IL-2<span style="font-size:70%; vertical-align: super">3</span> helps</p>'),
        "IL-2 helps",
        "a.html",
    ),
    shown(
        "a reference and a vitamin in JATS",
        "jats",
        JATS.format(
            '<p>IL-2<xref ref-type="bibr" rid="b3"><sup>3</sup></xref> and vitamin D<sub>3</sub></p>'
        ),
        "On|IL-2 and vitamin D3",
    ),
    shown(
        "an isotope and a number in brackets in JATS",
        "jats",
        JATS.format("<p><sup>18</sup>F-FDG and TNF-α<sup>[12]</sup> rose</p>"),
        "On|18F-FDG and TNF-α rose",
    ),
    shown(
        "a raised reference in TEI",
        "tei",
        TEI.format(
            '<p>IL-2<ref type="bibr" target="#b2"><hi rend="superscript">3</hi></ref> helps</p>'
        ),
        "On|IL-2 helps",
    ),
    shown(
        "a charge in TEI",
        "tei",
        TEI.format('<p>Ca<hi rend="superscript">2+</hi> helps</p>'),
        "On|Ca2+ helps",
    ),
)
LISTS: Final = (
    shown(
        "a list in a page",
        "html",
        HTML.format("<ul><li>lung cancer<li>gout<ol><li>fever</li></ol></ul>"),
        "lung cancer|gout|fever",
        "a.html",
    ),
    shown(
        "terms and what they mean",
        "html",
        HTML.format("<dl><dt>IL</dt><dd>interleukin</dd><dt>gout</dt></dl>"),
        "IL|interleukin|gout",
        "a.html",
    ),
    shown(
        "lines of a paragraph",
        "html",
        HTML.format("<p>lung cancer<br>gout<br/>fever</p>"),
        "lung cancer\ngout\nfever",
        "a.html",
    ),
    shown(
        "a list in JATS",
        "jats",
        JATS.format(
            "<p>They had<list list-type='bullet'><list-item><p>lung cancer</p></list-item>"
            "<list-item><p>gout</p></list-item></list></p>"
        ),
        "On|They had|lung cancer|gout",
    ),
    file(
        "names in a cell",
        "table",
        "a.csv",
        'id,text\r\n7,"lung cancer\r\ngout"\r\n',
        Page("lung cancer\ngout", (), "7"),
    ),
    file("names in a text", "plain", "a.txt", "lung cancer\ngout\n", Page("lung cancer\ngout\n")),
)
UNITS: Final = (
    records(
        "doccano with offsets of JavaScript",
        {
            "id": 1,
            "text": f"{_SMILE} Gout and lithium",
            "label": [[3, 7, "Disease"], [12, 19, "Drug"]],
        },
        wanted=(
            Page(f"{_SMILE} Gout and lithium", (mark(2, 6, "Disease"), mark(11, 18, "Drug")), "1"),
        ),
        flawed=True,
    ),
    records(
        "offsets in bytes, with the texts of the mentions",
        {
            "id": 1,
            "text": "Sjögren and gout",
            "entities": [
                {"start": 0, "end": 8, "type": "Disease", "text": "Sjögren"},
                {"start": 13, "end": 17, "type": "Disease", "text": "gout"},
            ],
        },
        wanted=(Page("Sjögren and gout", (mark(0, 7, "Disease"), mark(12, 16, "Disease")), "1"),),
    ),
    brat(
        "offsets that take a line end of Windows for one character",
        "Gout came.\r\nFever and pain.\r\nLithium.",
        "T1\tDisease 11 16\tFever\nT2\tDisease 21 25\tpain\nT3\tDrug 27 34\tLithium\n",
        mark(12, 17, "Disease"),
        mark(22, 26, "Disease"),
        mark(29, 36, "Drug"),
    ),
    file(
        "PubTator with offsets of Java",
        "pubtator",
        "a.pubtator",
        f"7|t|{_SMILE} Gout helps.\n7|a|Fever.\n7\t3\t7\tGout\tDisease\tMESH:D006073\n"
        "7\t15\t20\tFever\tDisease\tMESH:D005334\n\n",
        Page(
            f"{_SMILE} Gout helps. Fever.",
            (mark(2, 6, "Disease", "MESH:D006073"), mark(14, 19, "Disease", "MESH:D005334")),
            "7",
        ),
    ),
    file(
        "offsets of each passage in BioC",
        "bioc-json",
        "a.json",
        json.dumps(
            {
                "source": "",
                "date": "",
                "key": "",
                "infons": {},
                "documents": [
                    {
                        "id": "7",
                        "infons": {},
                        "passages": [
                            {"offset": 0, "text": "On gout.", "infons": {}, "annotations": []},
                            {
                                "offset": 9,
                                "text": "Lithium and gout.",
                                "infons": {},
                                "annotations": [
                                    {
                                        "id": str(at),
                                        "infons": {"type": kind},
                                        "text": text,
                                        "locations": [{"offset": at, "length": len(text)}],
                                    }
                                    for at, kind, text in (
                                        (0, "Drug", "Lithium"),
                                        (12, "Disease", "gout"),
                                    )
                                ],
                            },
                        ],
                    }
                ],
            }
        ),
        Page("On gout. Lithium and gout.", (mark(9, 16, "Drug"), mark(21, 25, "Disease")), "7"),
        flawed=True,
    ),
)
BYTES: Final = (
    records(
        "a mark of order, and line ends of Windows",
        {"id": "1", "text": _TEXT, "entities": [{"start": 0, "end": 7, "type": "Drug"}]},
        {"id": "2", "text": "None."},
        wanted=(Page(_TEXT, (_DRUG,), "1"), Page("None.", (), "2")),
        mark="\ufeff",
        end="\r\n",
        flawed=True,  # a record without annotation among others is said
    ),
    records(
        "JSON Lines in UTF-16",
        {"id": "1", "text": "Sjögren", "entities": [{"start": 0, "end": 7, "type": "Disease"}]},
        wanted=(Page("Sjögren", (mark(0, 7, "Disease"),), "1"),),
        encoding="utf-16",
    ),
    file(
        "a table with semicolons and a mark of order",
        "table",
        "a.csv",
        "\ufeffid;text\r\n7;Gout; \r\n".replace("; \r", "\r"),
        Page("Gout", (), "7"),
    ),
    file(
        "columns with line ends of Windows",
        "conll",
        "a.conll",
        "\ufeff-DOCSTART- -X- -X- O\r\n\r\nGout NN I-NP B-Disease\r\ncame VBD I-VP O\r\n\r\n"
        "-DOCSTART- -X- -X- O\r\n\r\nFever NN I-NP B-Disease\r\n",
        Page("Gout came", (mark(0, 4, "Disease"),)),
        Page("Fever", (mark(0, 5, "Disease"),)),
    ),
)
_SPAN: Final = {"start": 0, "end": 7, "label": "Drug"}
JSON: Final = (
    records(
        "annotation one level deeper",
        {"id": 1, "text": _TEXT, "annotations": {"entities": [_SPAN]}},
        wanted=(Page(_TEXT, (_DRUG,), "1"),),
        flawed=True,
    ),
    records(
        "offsets in a list of two",
        {"id": 1, "text": _TEXT, "entities": [{"span": [0, 7], "label": "Drug"}]},
        wanted=(Page(_TEXT, (_DRUG,), "1"),),
        flawed=True,
    ),
    file(
        "records by their ids",
        "records",
        "a.json",
        json.dumps(
            {"1": {"text": _TEXT, "entities": [_SPAN]}, "2": {"text": "No.", "entities": []}}
        ),
        Page(_TEXT, (_DRUG,), "1"),
        Page("No.", (), "2"),
        flawed=True,
    ),
    records(
        "Prodigy with tokens, hashes and a view",
        {
            "text": _TEXT,
            "_input_hash": -1,
            "_task_hash": 2,
            "tokens": [{"text": "Aspirin", "start": 0, "end": 7, "id": 0, "ws": True}],
            "spans": [{**_SPAN, "token_start": 0, "token_end": 0}],
            "_view_id": "ner_manual",
            "answer": "accept",
            "_timestamp": 1700000000,
        },
        wanted=(Page(_TEXT, (_DRUG,)),),
    ),
    records(
        "Prodigy with a record that was rejected",
        {"text": _TEXT, "spans": [_SPAN], "answer": "accept"},
        {"text": "Fever.", "spans": [{**_SPAN, "end": 5}], "answer": "reject"},
        wanted=(Page(_TEXT, (_DRUG,)),),
        flawed=True,
    ),
    records(
        "Argilla with tuples",
        {
            "text": _TEXT,
            "tokens": ["Aspirin", "helps", "against", "pain", "."],
            "prediction": None,
            "annotation": [["Drug", 0, 7]],
            "status": "Validated",
            "id": "1",
            "metadata": None,
        },
        wanted=(Page(_TEXT, (_DRUG,), "1"),),
        flawed=True,
    ),
    records(
        "Argilla with responses",
        {
            "id": "1",
            "fields": {"text": _TEXT},
            "responses": {"spans": [{"value": [_SPAN], "status": "submitted", "user_id": "a"}]},
            "suggestions": {},
        },
        wanted=(Page(_TEXT, (_DRUG,), "1"),),
    ),
    records(
        "Argilla in columns",
        {
            "id": "1",
            "text": _TEXT,
            "mark.responses": [[_SPAN]],
            "mark.responses.users": ["a"],
            "mark.responses.status": ["submitted"],
            "mark.suggestion": None,
            "mark.suggestion.score": None,
            "mark.suggestion.agent": None,
        },
        wanted=(Page(_TEXT, (_DRUG,), "1"),),
    ),
    records(
        "Argilla in columns, with a draft, and the responses of two",
        {
            "id": "1",
            "text": _TEXT,
            "mark.responses": [[_SPAN]],
            "mark.responses.status": ["draft"],
        },
        {
            "id": "2",
            "text": _TEXT,
            "mark.responses": [[_SPAN], [_SPAN]],
            "mark.responses.status": ["submitted", "submitted"],
        },
        wanted=(),
        flawed=True,
    ),
    records(
        "Argilla with a suggestion without a response",
        {
            "id": "1",
            "fields": {"text": _TEXT},
            "responses": {},
            "suggestions": {"spans": {"value": [_SPAN], "score": None, "agent": "m"}},
        },
        wanted=(),
        flawed=True,
    ),
    records(
        "Argilla with the responses of two, and a draft",
        {
            "id": "1",
            "fields": {"text": _TEXT},
            "responses": {"spans": [{"value": [_SPAN]}, {"value": []}]},
        },
        {
            "id": "2",
            "fields": {"text": _TEXT},
            "responses": {"spans": [{"value": [_SPAN], "status": "draft"}]},
        },
        wanted=(),
        flawed=True,
    ),
    file(
        "Label Studio with a cancelled and a good annotation",
        "records",
        "a.json",
        json.dumps(
            [
                {
                    "id": 5,
                    "data": {"text": _TEXT},
                    "annotations": [
                        {"id": 1, "was_cancelled": True, "result": []},
                        {
                            "id": 2,
                            "was_cancelled": False,
                            "result": [
                                {
                                    "id": "r",
                                    "from_name": "ner",
                                    "to_name": "text",
                                    "type": "labels",
                                    "value": {
                                        "start": 22,
                                        "end": 26,
                                        "text": "pain",
                                        "labels": ["Disease"],
                                    },
                                }
                            ],
                        },
                    ],
                    "predictions": [],
                    "meta": {},
                }
            ]
        ),
        Page(_TEXT, (_PAIN,), "5"),
    ),
)
STANDOFF: Final = (
    file(
        "PubTator with Windows line ends, several ids, no id and a relation",
        "pubtator",
        "a.pubtator",
        "7|t|Gout.\r\n7|a|Lithium.\r\n7\t0\t4\tGout\tDisease\tMESH:D1;MESH:D2\r\n"
        "7\t6\t13\tLithium\tChemical\t-\r\n7\tCID\tMESH:D1\tMESH:D2\r\n\r\n",
        Page(
            "Gout. Lithium.",
            (mark(0, 4, "Disease", "MESH:D1", "MESH:D2"), mark(6, 13, "Chemical")),
            "7",
        ),
        flawed=True,  # no mention has the second id alone
    ),
    file(
        "PubTator without an abstract, and with more empty lines",
        "pubtator",
        "a.pubtator",
        "7|t|Gout.\n7|a|\n7\t0\t4\tGout\tDisease\tMESH:D1\n\n\n\n8|t|Fever.\n8|a|Pain.\n\n",
        Page("Gout.", (mark(0, 4, "Disease", "MESH:D1"),), "7"),
        Page("Fever. Pain.", (), "8"),
    ),
    brat(
        "a mention in two parts",
        "Breast and lung cancer came.",
        "T1\tDisease 0 6;16 22\tBreast cancer\nT2\tDisease 11 22\tlung cancer\n",
        Marked(((0, 6), (16, 22)), "Disease"),
        mark(11, 22, "Disease"),
    ),
    brat(
        "a mention over a line end",
        "He had lung\ncancer.",
        "T1\tDisease 7 11;12 18\tlung cancer\n",
        mark(7, 18, "Disease"),
    ),
    brat(
        "an identifier, an attribute and a note",
        "No gout.",
        "T1\tDisease 3 7\tgout\nA1\tNegated T1\nN1\tReference T1 MESH:D006073\tGout\n"
        "#1\tAnnotatorNotes T1\tsure?\n",
        mark(3, 7, "Disease", "MESH:D006073"),
        flawed=True,  # notes are no part of a document
    ),
    file(
        "CoNLL-U with documents, a token of two words and an empty node",
        "conll",
        "a.conllu",
        "# newdoc id = d1\n# sent_id = 1\n1\tGout\t_\t_\t_\t_\t_\t_\t_\tNER=B-Disease\n"
        "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdo\t_\t_\t_\t_\t_\t_\t_\tNER=O\n"
        "3\tn't\t_\t_\t_\t_\t_\t_\t_\tNER=O\n3.1\thelp\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        "# newdoc id = d2\n1\tFever\t_\t_\t_\t_\t_\t_\t_\tNER=B-Disease\n\n",
        # a sentence is a document, and blanks join its words, as for all files of columns
        Page("Gout do n't", (mark(0, 4, "Disease"),)),
        Page("Fever", (mark(0, 5, "Disease"),)),
    ),
    file(
        "names of one word in BILOU",
        "conll",
        "a.conll",
        "Lung\tB-Disease\ncancer\tL-Disease\nand\tO\ngout\tU-Disease\n\n",
        Page("Lung cancer and gout", (mark(0, 11, "Disease"), mark(16, 20, "Disease"))),
    ),
)
LAYERS: Final = (
    file(
        "PubAnnotation with a denotation in two parts",
        "records",
        "a.json",
        json.dumps(
            {
                "text": "Breast and lung cancer",
                "sourcedb": "PubMed",
                "sourceid": "7",
                "denotations": [
                    {
                        "id": "T1",
                        "span": [{"begin": 0, "end": 6}, {"begin": 16, "end": 22}],
                        "obj": "Disease",
                    }
                ],
                "namespaces": [{"prefix": "_base", "uri": "http://example.org/"}],
            }
        ),
        Page("Breast and lung cancer", (Marked(((0, 6), (16, 22)), "Disease"),), "7"),
        flawed=True,
    ),
    file(
        "GATE with offsets of Java",
        "records",
        "a.bdocjs",
        json.dumps(
            {
                "annotation_sets": {
                    "": {
                        "name": "detached-from:",
                        "annotations": [
                            {"type": "Disease", "start": 3, "end": 7, "id": 0, "features": {}}
                        ],
                        "next_annid": 1,
                    }
                },
                "text": f"{_SMILE} Gout helps",
                "features": {},
                "offset_type": "j",
                "name": "",
            }
        ),
        Page(f"{_SMILE} Gout helps", (mark(2, 6, "Disease"),)),
    ),
    Given(
        name="a Web Annotation with a quote and a position",
        format="web-annotation",
        files={
            "a.jsonld": json.dumps(
                {
                    "@context": "http://www.w3.org/ns/anno.jsonld",
                    "id": "http://example.org/1",
                    "type": "Annotation",
                    "motivation": "tagging",
                    "body": {"type": "TextualBody", "purpose": "tagging", "value": "Disease"},
                    "target": {
                        "source": "http://example.org/t.txt",
                        "selector": [
                            {"type": "TextQuoteSelector", "exact": "pain", "prefix": "against "},
                            {"type": "TextPositionSelector", "start": 22, "end": 26},
                        ],
                    },
                }
            ),
            "t.txt": _TEXT,
        },
        wanted=(Page(_TEXT, (_PAIN,)),),
        read="a.jsonld",
    ),
)
ALL: Final = (*RAISED, *LISTS, *UNITS, *BYTES, *JSON, *STANDOFF, *LAYERS)
