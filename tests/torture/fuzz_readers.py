"""Damages small files of every kind that users give, and looks at what the readers make of them.

    python -m tests.torture.fuzz_readers --count 10000 --processes 8

For each damaged file must hold, with a limit of time and memory:

1. It is read, or refused with an error of Fascicle, which is one sentence.
2. A reader that goes on gives the documents that come before the first error, and counts at least
   one as set aside; of a file without an error it gives the same documents, and counts none.
3. What was read can be kept: the native format gives it back unchanged.
4. What was read, written in the format that it came in, and read again, is the same, but for what
   the report of losses names.

A damaged file depends on nothing but its target and number: ``--only conll --first 17 --count 1``
makes one again."""

from __future__ import annotations

import argparse
import codecs
import gzip
import importlib.util
import io
import json
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any, Final

import msgspec
import numpy as np
from tests.torture.other_files import others

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.errors import FascicleError, InputError
from fascicle.formats import (
    ConllOptions,
    JsonlOptions,
    ReadReport,
    WriteReport,
    detect,
    distributions,
    predictions,
    read,
    write,
)
from fascicle.formats.catalogue import format_named
from fascicle.formats.detection import prediction_kind
from fascicle.formats.exclusions import read_exclusions, write_exclusions
from fascicle.formats.jats import JatsOptions
from fascicle.formats.report import FailedDocuments
from fascicle.formats.text_tables import TextTableOptions
from fascicle.terms.matcher import TsvOptions, read_dictionary
from fascicle.text.vectors import read_vectors, write_vectors

SECONDS: Final = 20  # for one file
MEMORY: Final = 3 * 2**30  # bytes of address space of a process
LONGEST: Final = 1_500  # characters of a message
SHOWN: Final = 400  # characters of a message


class TooSlowError(Exception):
    """A file took longer than it may."""


class BrokenRuleError(Exception):
    """A rule of the list above does not hold."""


# -- the files
# ---------------------------------------------------------------------------------------------------------

CONLL = "IL-2\tB-DNA\ngene\tI-DNA\n,\tO\n\nno\tO\nβ-blocker\tS-Drug\n\nLung\tB-X\ncancer\tE-X\n"
DOCSTART = "-DOCSTART-\tO\n\na\tB-X\n\nb\tO\n\n-DOCSTART-\tO\n\nIL-2\tB-Y\nc\tI-Y\n\n-DOCSTART-\tO\n\nd\tO\n"
LAYERS = "the\tO\tO\nIL-2\tB-P\tB-D\ngene\tO\tI-D\n\nend\tO\tO\n"
PUBTATOR = (
    "1|t|IL-2 and β\n1|a|Lung cancer too.\n1\t0\t4\tIL-2\tGene\t3558|9606\n"
    "1\t11\t22\tLung cancer\tDisease\tMESH:D008175\n"
    "1\tCID\tD1\tD2\n\n2|t|No more\n2|a|\n\n3|t|Aspirin\n3|a|pain\n3\t0\t7\tAspirin\tChemical\t-\n"
)
PLAIN = "Lung cancer, β-blockers\r\nand “quotes”.\n\n\tA second paragraph; 5 µg.\n"
RECORDS = [
    {
        "id": "1",
        "text": "IL-2 β gene",
        "entities": [{"start": 0, "end": 4, "type": "Gene"}],
        "sentences": [[0, 11]],
    },
    {"id": "2", "text": "none", "entities": [], "year": 2020},
    {
        "id": "3",
        "text": "a b",
        "entities": [{"start": 0, "end": 1, "type": "X", "spans": [[0, 1], [2, 3]]}],
    },
]
PRODIGY = [
    {
        "text": "Bonn ist",
        "spans": [{"start": 0, "end": 4, "label": "LOC"}],
        "answer": "accept",
        "meta": {"a": 1},
    },
    {"text": "Köln", "spans": []},
]
LABELS = [
    {"id": 1, "text": "Bonn", "label": [[0, 4, "LOC"]]},
    {"id": 2, "text": "Köln", "label": []},
]
GROUPS = [
    {
        "tokens": ["the", "c-fos"],
        "doc_id": "9",
        "entity_mentions": [{"start": 1, "end": 2, "entity_type": "DNA"}],
    },
    {"tokens": ["gene"], "doc_id": "9", "entity_mentions": []},
    {"tokens": ["α"], "doc_id": "10", "entity_mentions": []},
]
TAGS = [{"tokens": ["John", "Booth", "fled"], "tags": ["B-P", "L-P", "O"], "orig_id": 7}]
DYGIE = [
    {
        "doc_key": "k",
        "sentences": [["We", "parse"], ["It", "works"]],
        "ner": [[[1, 1, "Task"]], [[2, 3, "G"]]],
    },
    {"doc_key": "l", "sentences": [["β"]], "ner": [[]]},
]
STUDIO = [
    {
        "id": 1,
        "data": {"text": "\U0001f600 Bonn, Köln", "source": "web"},
        "annotations": [
            {
                "id": 3,
                "completed_by": {"id": 4, "email": "a@b.c"},
                "was_cancelled": False,
                "result": [
                    {
                        "type": "labels",
                        "value": {"start": 2, "end": 6, "text": "Bonn", "labels": ["LOC", "CITY"]},
                    },
                    {"type": "choices", "value": {"choices": ["good"]}},
                ],
            },
            {"id": 4, "was_cancelled": True, "result": []},
        ],
        "predictions": [
            {
                "model_version": "m1",
                "result": [
                    {
                        "type": "labels",
                        "score": 0.5,
                        "value": {"start": 8, "end": 12, "labels": ["LOC"]},
                    }
                ],
            }
        ],
    },
    {"id": 2, "data": {"text": "Ulm"}, "annotations": [], "predictions": []},
]
ARTICLE = [
    {
        "id": "1",
        "title": "IL-2 and β",
        "abstract": "Lung cancer.",
        "paragraphs": ["It is one.", "Or two."],
    }
]
BIGBIO = [
    {
        "id": "1",
        "document_id": "77",
        "passages": [
            {"id": "p1", "type": "title", "text": ["IL-2 and β"], "offsets": [[0, 10]]},
            {"id": "p2", "type": "abstract", "text": ["Lung cancer."], "offsets": [[11, 23]]},
        ],
        "entities": [
            {
                "id": "e1",
                "type": "Gene",
                "text": ["IL-2", "β"],
                "offsets": [[0, 4], [9, 10]],
                "normalized": [{"db_name": "NCBI", "db_id": "3558"}],
            },
            {
                "id": "e2",
                "type": "Disease",
                "text": ["Lung cancer"],
                "offsets": [[11, 22]],
                "normalized": [],
            },
        ],
        "events": [],
        "coreferences": [],
        "relations": [
            {"id": "r1", "type": "x", "arg1_id": "e1", "arg2_id": "e2", "normalized": []}
        ],
    },
]
NUMBERED = [
    {"id": "0", "tokens": ["Jo", "in", "Bonn"], "ner_tags": [1, 0, 3], "pos_tags": [5, 6, 7]}
]
GLINER = [{"tokenized_text": ["the", "c-fos", "gene"], "ner": [[1, 2, "DNA"], [1, 1, "Protein"]]}]
BARE = "the\tO\nold\tperson\nman\tperson\n\nIL-2\tgene\n"
NATIVE = [
    {
        "id": "1",
        "text": "Lung cancer β",
        "words": [[0, 4], [5, 11], [12, 13]],
        "sentences": [[0, 13]],
        "sections": [{"start": 0, "end": 4, "name": "title"}],
        "mentions": [
            {
                "spans": [[0, 11]],
                "type": "X",
                "score": 0.5,
                "source": "m",
                "links": [{"id": "D1", "ontology": "MESH"}],
            },
            {"spans": [[0, 4], [12, 13]], "type": "Y", "attributes": [["a", "b"]]},
        ],
        "abbreviations": [[[0, 4], [5, 11]]],
        "meta": {"year": "2020"},
        "events": [{"step": "s", "kind": "note", "code": "c", "message": "m", "span": [0, 1]}],
        "fascicle": 1,
    },
    {"id": "2", "text": "", "fascicle": 1},
]
SAID = [
    {
        "id": "1",
        "sha256": "0" * 64,
        "mentions": [{"spans": [[0, 4]], "type": "X", "score": 0.5, "source": "m"}],
        "fascicle_predictions": 1,
    },
    {"id": "2", "mentions": [], "fascicle_predictions": 1},
]
ROWS = "document\ttype\tstart\tend\tscore\n1\tX\t0\t4\t0.5\n1\tY\t0;6\t2;9\t\n2\tX\t3\t4\t1.0\n3\tZ\t0\t1\t1e-3\n"
CELLS = 'type,document,end,start,note\nX,1,4,0,"a, b"\nY,2,4,3,\n'
PROBABLE = [
    {
        "fascicle_distributions": 1,
        "model": "m",
        "family": "crf",
        "definition": "tag-path",
        "types": ["X", "Y"],
    },
    {
        "document": "1",
        "spans": [[0, 4]],
        "type": "X",
        "found": True,
        "probabilities": [0.1, 0.8, 0.1],
    },
    {"document": "1", "spans": [[5, 6]], "type": "Y", "found": False, "unreachable": "too-long"},
]
EXCLUDED = (
    "corpus\tpart\tdocument\tsha256\treason\tsimilarity\tof_corpus\tof_part\tof_document\n"
    f"a.tsv\ttrain\t1\t{'0' * 64}\tduplicate\t1.0000\ta.tsv\ttest\t2\n"
    f"a\\tb\ttrain\t1\t{'1' * 64}\tshared-sentence\t\ta.tsv\ttest\t3\n"
)
VECTORS = "lung 0.5 -1 2\nβ 1e-3 4 5\nof the 1 2 3\n"
NAMES = "aspirin\tChemical\nlung cancer\tDisease\nβ-blocker\tChemical\n"
MEDLINE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE PubmedArticleSet SYSTEM "https://example.org/pubmed.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">7</PMID><Article>
<ArticleTitle>IL-2<sup>+</sup> &amp; &#946; &alpha; cells.</ArticleTitle>
<Abstract><AbstractText Label="AIM" NlmCategory="OBJECTIVE">Lung cancer.</AbstractText>
<AbstractText Label="FINDINGS">None.</AbstractText></Abstract><VernacularTitle>Zellen</VernacularTitle></Article>
<MeshHeadingList><MeshHeading><DescriptorName UI="D1">Mice</DescriptorName></MeshHeading></MeshHeadingList>
</MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="2">8</PMID><Article><ArticleTitle>T</ArticleTitle></Article>
</MedlineCitation></PubmedArticle>
<DeleteCitation><PMID>5</PMID></DeleteCitation>
</PubmedArticleSet>
"""
JATS = """<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) v1.2//EN" "JATS-archivearticle1.dtd">
<article xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta>
<article-id pub-id-type="pmc">12</article-id><title-group><article-title>IL-2 &amp; &#946;</article-title></title-group>
<abstract><sec><title>Background</title><p>Lung <italic>cancer</italic>.</p></sec></abstract></article-meta></front>
<body><sec sec-type="methods"><title>How</title><p>10<sup>-6</sup> M<list><list-item><p>one</p></list-item></list>
two<fig><label>Fig. 1</label><caption><p>A fig.</p></caption></fig></p><table-wrap><table><tr><td>a</td><td>b</td></tr>
</table></table-wrap><disp-formula><mml:math><mml:mi>x</mml:mi></mml:math></disp-formula></sec></body>
<back><ack><p>Thanks.</p></ack><glossary><def-list><def-item><term>IL</term><def><p>interleukin</p></def></def-item>
</def-list></glossary><ref-list><title>References</title><ref><mixed-citation>x</mixed-citation></ref></ref-list></back>
</article>
"""
BIOC: dict[str, Any] = {
    "source": "x",
    "infons": {},
    "documents": [
        {
            "id": "7",
            "infons": {"year": "2001"},
            "passages": [
                {
                    "infons": {"type": "title"},
                    "offset": 0,
                    "text": "IL-2 β",
                    "annotations": [
                        {
                            "id": "0",
                            "infons": {"type": "Gene", "identifier": "3558|9", "note": "sure"},
                            "text": "IL-2",
                            "locations": [{"offset": 0, "length": 4}],
                        },
                        {
                            "id": "1",
                            "infons": {"type": "X"},
                            "text": "IL β",
                            "locations": [{"offset": 5, "length": 1}, {"offset": 0, "length": 2}],
                        },
                    ],
                    "relations": [{"id": "R", "infons": {}, "nodes": []}],
                },
                {
                    "offset": 8,
                    "infons": {"section_type": "ABSTRACT"},
                    "sentences": [
                        {"offset": 8, "text": "No.", "annotations": []},
                        {"offset": 12, "text": "Two."},
                    ],
                },
            ],
        },
        {"id": 8, "passages": [{"offset": 0, "text": ""}]},
    ],
}
BIOC_XML = """<?xml version="1.0"?><!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>x</source><date/><key/><document><id>7</id><infon key="year">2001</infon>
<passage><infon key="type">title</infon><offset>0</offset><text>IL-2 &#946;</text>
<annotation id="0"><infon key="type">Gene</infon><infon key="identifier">3558|9</infon><infon key="note">sure</infon>
<location offset="0" length="4"/><text>IL-2</text></annotation>
<annotation id="1"><infon key="type">X</infon><location offset="5" length="1"/><location offset="0" length="2"/>
<text>IL b</text></annotation></passage>
<passage><infon key="type">abstract</infon><offset>8</offset><sentence><offset>8</offset><text>No.</text></sentence>
<sentence><offset>12</offset><text>Two.</text></sentence></passage><relation id="R"/></document>
<document><id>8</id><passage><offset>0</offset><text></text></passage></document></collection>
"""
BRAT = {
    "a.txt": "Lung cancer, IL-2\nand β.\n",
    "a.ann": "T1\tDisease 0 11\tLung cancer\nT2\tX 0 4;13 17\tLung IL-2\nN1\tReference T1 "
    "MESH:D1\tcancer\n"
    "A1\tNegated T1\n#1\tAnnotatorNotes T1\ta note\nR1\tRel Arg1:T1 Arg2:T2\n",
    "b/c.txt": "no mention",
    "b/c.ann": "",
}


KAZU: list[dict[str, Any]] = [
    {
        "idx": "7",
        "sections": [
            {
                "text": "IL-2 β",
                "name": "title",
                "sentence_spans": [{"start": 0, "end": 6}],
                "entities": [
                    {
                        "match": "IL-2",
                        "entity_class": "gene",
                        "spans": [{"start": 0, "end": 4}],
                        "namespace": "Step",
                        "mention_confidence": "PROBABLE",
                        "mappings": [
                            {
                                "default_label": "IL2",
                                "source": "ENSEMBL",
                                "parser_name": "p",
                                "idx": "ENSG1",
                                "string_match_strategy": "s",
                                "string_match_confidence": "HIGHLY_LIKELY",
                                "metadata": {
                                    "score": 0.5,
                                    "tier": "exact",
                                    "curie": "a:1",
                                    "rank": "000000",
                                },
                            }
                        ],
                        "metadata": {"score": 0.5, "attributes": [["a", "b"]]},
                        "start": 0,
                        "end": 4,
                        "match_norm": "IL 2",
                    },
                ],
            },
            {"text": "Lung cancer.", "name": "na", "metadata": {"before": " \n"}},
        ],
        "metadata": {"year": "2001"},
    },
    {"idx": "8", "sections": []},
]
HTML = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>IL-2 &amp; you</title>
<script>a<b</script></head><body><h1>IL-2</h1><p>Lung <b>cancer</b>,&nbsp;&beta;<br>10 kg <span hidden>no</span></p>
<ul><li>one<li>two</ul>
<table><tr><td>a</td><td>b</td></tr></table><pre>
 x
</pre><!-- c --></body></html>
"""
TEXTS_CSV = 'PMID,Text,year\r\n7,"Lung cancer, ""old""",1999\r\n8,"two\nlines",\r\n9,β,2000\r\n'
TEXTS_TSV = 'id\ttitle\ttext\n1\t"Quoted"\tLung\n2\tT\tan "odd\n3\t\tβ\n'


def _spacy_file(count: int = 3) -> bytes:
    """A file of spaCy, as our writer makes it of the documents of `NATIVE`."""
    with tempfile.TemporaryDirectory() as folder:
        found = [
            codec.decode(json.dumps({**NATIVE[0], "id": str(number)})) for number in range(count)
        ]
        write(Path(folder) / "a.spacy", found)
        return (Path(folder) / "a.spacy").read_bytes()


def _lines(records: Sequence[Any]) -> bytes:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


# -- damage
# ------------------------------------------------------------------------------------------------------------

# Tokens that hold no white space, with blanks between them.
_SIGNS: Final = b"""; | , " \\ # % / { } [ ] : null true -1 0 1e400 NaN O B- $ ' \\ud800 \\u0000 \\ufeff - =1+1 |t|"""
_TOKENS: Final = (
    *(
        b"\t",
        b" ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\x0b",
        b"\x1c",
        b"\xc2\xa0",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
    ),
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\x80",
        b"\xd9\xa3",
        b"\xf0\x9f\x98\x80",
    ),
    *(b"a\xcc\x81", b"T1\t", b"-DOCSTART-", *_SIGNS.split()),
    *(b"<", b">", b"&", b"&#0;", b"&#xD;", b"&b;", b"<!--", b"]]>", b"<x/>"),
)
_NUMBERS: Final = (
    *(
        b"0",
        b"1",
        b"-1",
        b"2",
        b"7",
        b"99",
        b"00",
        b"1.0",
        b"1e3",
        b"-0",
        b"9" * 18,
        b"9" * 19,
        b"9" * 400,
    ),
    *(b"4294967296", b"18446744073709551616", b"0x10", b"", b"1_0", b"\xd9\xa1", b"inf"),
)
_NUMBER: Final = re.compile(rb"\d+")
_ENCODINGS: Final = (
    "utf-16",
    "utf-16-le",
    "utf-32",
    "cp1252",
    "utf-8-sig",
    "latin-1",
    "cp037",
    "utf-7",
)

Damage = Callable[[bytes, random.Random], bytes]


def _flip(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(_TOKENS) * chance.choice((1, 1, 1, 2, 30)) + data[at:]


def _delete(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.choice((1, 1, 2, 8, 40)) :]


def _truncate(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randint(0, len(data))]


def _copy_part(data: bytes, chance: random.Random) -> bytes:
    start, at = chance.randrange(len(data)), chance.randint(0, len(data))
    return data[:at] + data[start : start + chance.choice((1, 4, 20, 100))] + data[at:]


def _of_lines(change: Callable[[list[bytes], random.Random], None]) -> Damage:
    def damage(data: bytes, chance: random.Random) -> bytes:
        lines = data.splitlines(keepends=True)
        change(lines, chance)
        return b"".join(lines)

    return damage


def _swap(lines: list[bytes], chance: random.Random) -> None:
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _repeat(lines: list[bytes], chance: random.Random) -> None:
    lines.insert(chance.randint(0, len(lines)), chance.choice(lines))


def _drop(lines: list[bytes], chance: random.Random) -> None:
    del lines[chance.randrange(len(lines))]


def _shuffle(lines: list[bytes], chance: random.Random) -> None:
    chance.shuffle(lines)


def _number(data: bytes, chance: random.Random) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return _insert(data, chance)
    match = chance.choice(found)
    return data[: match.start()] + chance.choice(_NUMBERS) + data[match.end() :]


def _ends(data: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.5:
        return data.replace(
            b"\n", chance.choice((b"\r", b"\r\n", b"\n\n", b"\r\r\n", b" ", b"\x0c"))
        )
    return b"".join(
        chance.choice((b"\n", b"\r", b"\r\n")) if one == b"\n" else one
        for one in re.split(rb"(\n)", data)
    )


def _blanks(data: bytes, chance: random.Random) -> bytes:
    one, other = chance.choice(
        ((b"\t", b" "), (b" ", b"\t"), (b"\t", b"\t\t"), (b"\t", b"|"), (b" ", b"  "))
    )
    return data.replace(one, other)


def _encode(data: bytes, chance: random.Random) -> bytes:
    return data.decode("utf-8", errors="replace").encode(
        chance.choice(_ENCODINGS), errors="replace"
    )


def _nest(data: bytes, chance: random.Random) -> bytes:
    at, deep = chance.randint(0, len(data)), chance.choice((2, 50, 3000))
    opened, closed = chance.choice(
        ((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b"<i>", b"</i>"))
    )
    return (
        data[:at]
        + opened * deep
        + chance.choice((b"", b"1"))
        + closed * chance.choice((0, deep))
        + data[at:]
    )


def _mark(data: bytes, chance: random.Random) -> bytes:
    marks = (
        codecs.BOM_UTF8,
        codecs.BOM_UTF16_LE,
        codecs.BOM_UTF16_BE,
        codecs.BOM_UTF32_LE,
        codecs.BOM_UTF8 * 2,
    )
    return chance.choice(marks) + data


def _pack(data: bytes, chance: random.Random) -> bytes:
    packed = gzip.compress(data, mtime=0)
    return chance.choice(
        (
            packed,
            packed[: chance.randint(0, len(packed))],
            packed + b"x",
            packed * 2,
            _flip(packed, chance),
        )
    )


def _long(data: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(data))
    return (
        data[:at]
        + chance.choice((b"a", b" ", b"\n", b"\xc3\xa9", b"\t", b"9", b'"', b"I-X\n")) * 20_000
        + data[at:]
    )


# Some are more likely than others.
DAMAGES: Final[tuple[Damage, ...]] = (
    *(
        _flip,
        _flip,
        _insert,
        _insert,
        _insert,
        _delete,
        _delete,
        _truncate,
        _copy_part,
        _number,
        _number,
    ),
    *(_ends, _blanks, _encode, _nest, _mark, _pack, _long),
    *(_of_lines(change) for change in (_swap, _repeat, _drop, _shuffle)),
)


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A file with one to four kinds of damage."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        if not data or len(data) > 300_000:
            break
        data = chance.choice(DAMAGES)(data, chance)
    return data


# -- what must hold
# ----------------------------------------------------------------------------------------------------


def require(holds: bool, rule: str) -> None:
    """Raises a `BrokenRuleError`, unless a rule holds."""
    if not holds:
        raise BrokenRuleError(rule)


def _sentence(error: FascicleError | str) -> None:
    said = str(error)
    require(
        bool(said) and "\n" not in said and "\r" not in said, f"not one sentence: {said[:SHOWN]!r}"
    )
    require(len(said) < LONGEST, f"a sentence of {len(said):,} characters: {said[:SHOWN]!r}")
    said.encode()  # what cannot be printed is no help


def _until_error(items: Iterator[Any]) -> tuple[list[Any], FascicleError | None]:
    found: list[Any] = []
    try:
        found.extend(items)  # keeps what came before an error
    except FascicleError as error:
        _sentence(error)
        return found, error
    return found, None


def _opened(make: Callable[[], Iterator[Any]]) -> Iterator[Any]:
    yield from make()


def check_going_on(
    strict: Callable[[], Iterator[Any]], going: Callable[[FailedDocuments], Iterator[Any]]
) -> list[Any]:
    """Rules 1 and 2; gives what a reader that goes on has found."""
    first, error = _until_error(_opened(strict))
    aside = FailedDocuments(keep_going=True)
    found, stopped = _until_error(_opened(partial(going, aside)))
    require(
        stopped is None or (not found and not aside.count),
        f"a reader that goes on stopped: {stopped}",
    )
    if stopped is not None:
        require(error is not None, "a reader stopped only where it was to go on")
        return []
    require(
        found[: len(first)] == first,
        "a reader that goes on gives other documents before the first error",
    )
    if error is None:
        require(
            (len(found), aside.count) == (len(first), 0),
            "documents were set aside of a file without an error",
        )
    else:
        require(aside.count > 0, f"an error is not counted: {error}")
    for sentence in aside.sentences:
        _sentence(sentence)
    return found


_OF_TEXT: Final = {"text-between-words", "line-breaks", "nul", "control-characters"}
_OF_PLACES: Final = {
    *(
        "mentions",
        "discontinuous",
        "nested",
        "second-source",
        "not-on-words",
        "across-sentences",
        "across-sections",
    )
}
_OF_MENTIONS: Final = {
    "links": "links",
    "link-ontologies": "links",
    "link-names": "links",
    "link-scores": "links",
    "link-tiers": "links",
    "link-curies": "links",
    "nil-links": "links",
    "attributes": "attributes",
    "scores": "score",
    "sources": "source",
}


def kept(document: Document, lost: Counter[str]) -> dict[str, Any]:
    """What must be the same of a document that was written and read again."""
    left = {_OF_MENTIONS[code] for code in lost if code in _OF_MENTIONS}
    found: dict[str, Any] = {} if "ids" in lost else {"id": document.id}
    for name in ("sections", "sentences", "words", "abbreviations"):
        if name not in lost:
            found[name] = getattr(document, name) or None
    if "meta" not in lost:
        found["meta"] = {
            name: value
            for name, value in document.meta.items()
            if (name, value) != ("text", "joined")
        }
    moved = bool(_OF_TEXT & lost.keys())
    if not moved:
        found["text"] = document.text
    if not _OF_PLACES & lost.keys():
        names = [name for name in ("score", "source", "links", "attributes") if name not in left]
        found["mentions"] = sorted(
            repr([m.type, "" if moved else m.spans, *(getattr(m, name) for name in names)])
            for m in document.mentions
        )
    return found


def check_kept(document: Document, format_name: str, folder: Path) -> None:
    """Rule 4, for one document."""
    suffix = {"brat": ".zip", "plain": ".txt"}.get(format_name, ".out")
    report, path = WriteReport(), folder / f"again{suffix}"
    try:
        write(path, [document], format=format_name, overwrite=True, report=report)
    except InputError as error:  # the format cannot hold it at all, and says so
        _sentence(error)
        return
    options = ConllOptions(documents="docstart") if format_name == "conll" else None
    is_empty = not path.stat().st_size and format_name != "plain"
    found = (
        [] if is_empty else list(read(path, format=format_name, options=options, encoding="utf-8"))
    )
    if not found and "empty-documents" in report.losses:
        return
    lost = report.losses
    require(
        len(found) == 1,
        f"{len(found)} documents of one, written as {format_name}; lost {dict(lost)}",
    )
    mine, again = kept(document, lost), kept(found[0], lost)
    if format_name in (
        "conll",
        "pubtator",
        "plain",
        "jsonl",
        "brat",
        "bioc",
        "bioc-json",
        "pubtator3",
        "spacy",
        "kazu",
        "label-studio",
    ):  # which give what they hold beside what was there
        again = {
            name: value
            for name, value in again.items()
            if mine.get(name) is not None or name == "text"
        }
        mine = {name: value for name, value in mine.items() if value is not None}
        again = {name: again.get(name) for name in mine}
    different = [name for name in mine if mine[name] != again.get(name)]
    require(
        not different,
        f"written as {format_name}, {different} came back otherwise (lost: {dict(lost)}): "
        f"{[(mine[name], again.get(name)) for name in different]!s:.{SHOWN}}",
    )


def check_documents(path: Path, folder: Path, *, format_name: str, options: Any = None) -> bool:
    """All rules for a corpus; returns whether something was read."""
    _until_error(_opened(lambda: iter([detect(str(path))])))
    require(prediction_kind(str(path)) in ("", "tsv", "predictions"), "no kind of prediction file")
    strict = partial(read, path, format=format_name, options=options)
    documents = check_going_on(
        strict,
        lambda aside: read(
            path, format=format_name, options=options, report=ReadReport(aside=aside)
        ),
    )
    require(
        len({document.id for document in documents}) == len(documents), "two documents of one id"
    )
    for document in documents:
        require(
            codec.decode(codec.encode(document)) == document, "the native format changes a document"
        )
        if (
            len(document.text) < 5_000
            and format_named(format_name).writes
            and format_name not in ("html", "xlsx")
        ):
            check_kept(document, format_name, folder)
    return bool(documents)


def check_predictions(path: Path, folder: Path) -> bool:
    """All rules for a prediction file."""
    prediction_kind(str(path))
    source = Source(path=str(path), encoding="auto", told=lambda encoding, how: None)
    found = check_going_on(
        lambda: predictions.read(source), lambda aside: predictions.read(source, aside=aside)
    )
    _until_error(_opened(lambda: read(path)))  # never documents by mistake, whatever it is
    again = folder / "again.jsonl"
    try:
        again.write_bytes(b"".join(map(predictions.json_line, found)))
    except InputError as error:
        _sentence(error)
        return bool(found)
    if found:
        require(
            list(predictions.read(Source(path=str(again)))) == found,
            "predictions came back otherwise",
        )
    return bool(found)


def check_distributions(path: Path, folder: Path) -> bool:
    """Rules 1 and 4 for a file of distributions."""
    try:
        header, entries = distributions.read(path)
    except InputError as error:
        _sentence(error)
        return False
    found, _ = _until_error(entries)
    again = folder / "again.jsonl"
    distributions.write(again, header, found, overwrite=True)
    other, entries = distributions.read(again)
    require(other == header, "a header came back otherwise")
    for one, two in zip(found, entries, strict=True):
        require(
            np.allclose(one.probabilities, two.probabilities, rtol=1e-5, atol=0),
            "probabilities came back otherwise",
        )
        require(
            msgspec.structs.replace(one, probabilities=())
            == msgspec.structs.replace(two, probabilities=()),
            "a mention came back otherwise",
        )
    return True


def check_exclusions(path: Path, folder: Path) -> bool:
    """Rules 1 and 4 for an exclusion list."""
    found, _ = _until_error(read_exclusions(Source(path=str(path))))
    again = folder / "again.tsv"
    write_exclusions(again, found, overwrite=True)
    for one, two in zip(found, read_exclusions(Source(path=str(again))), strict=True):
        near = (
            one.similarity == two.similarity
            or abs((one.similarity or 0) - (two.similarity or 0)) < 1e-4
        )
        require(near, f"a similarity {one.similarity} came back as {two.similarity}")
        require(
            msgspec.structs.replace(one, similarity=None)
            == msgspec.structs.replace(two, similarity=None),
            "a row came back otherwise",
        )
    return bool(found)


def check_vectors(path: Path, folder: Path) -> bool:
    """Rules 1 and 4 for static vectors."""
    try:
        found = read_vectors(path)
    except FascicleError as error:
        _sentence(error)
        return False
    again = folder / "again.txt"
    try:
        write_vectors(again, found, overwrite=True)
    except InputError as error:
        _sentence(error)
        return True
    other = read_vectors(again, dimension=found.dimension)
    require(other.words == found.words, "words came back otherwise")
    require(
        np.allclose(other.matrix, found.matrix, rtol=1e-5, atol=1e-37),
        "numbers came back otherwise",
    )
    return True


def check_dictionary(path: Path, folder: Path) -> bool:
    """Rule 1 for a table of names."""
    found, _ = _until_error(read_dictionary(str(path), TsvOptions(name_column=0, type_column=1)))
    return bool(found)


# -- targets
# -----------------------------------------------------------------------------------------------------------

Check = Callable[[Path, Path], bool]
Place = Callable[[Path, random.Random], Path]


@dataclass(frozen=True, kw_only=True)
class Target:
    """A kind of file: how a damaged one is made in a folder, and what must hold."""

    make: Place
    check: Check


def _file(name: str, data: bytes) -> Place:
    def make(folder: Path, chance: random.Random) -> Path:
        path = folder / name
        path.write_bytes(damaged(data, chance))
        return path

    return make


def _brat_files(chance: random.Random) -> dict[str, bytes]:
    files = {name: content.encode() for name, content in BRAT.items()}
    name = chance.choice(sorted(files))
    how = chance.random()
    if how < 0.08:
        del files[name]
    elif how < 0.16:
        files[chance.choice(("A.txt", "a.TXT", "x.ann", "b/c.a1", "d.txt", "%41.txt"))] = files[
            name
        ]
    else:
        files[name] = damaged(files[name] or b"T1\tX 0 2\tno\n", chance)
    return files


def _folder(folder: Path, chance: random.Random) -> Path:
    place = folder / "corpus"
    for name, content in _brat_files(chance).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    return place


def _zip(folder: Path, chance: random.Random) -> Path:
    stream = io.BytesIO()
    with zipfile.ZipFile(
        stream, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as archive:
        for name, content in _brat_files(chance).items():
            archive.writestr(zipfile.ZipInfo(name), content)
    path, data = folder / "corpus.zip", stream.getvalue()
    path.write_bytes(damaged(data, chance) if chance.random() < 0.6 else data)
    return path


def _packed(name: str) -> Place:
    """A file of spaCy with damage in what is packed, or in the file itself."""

    def make(folder: Path, chance: random.Random) -> Path:
        data = _spacy_file()
        path = folder / name
        inside = chance.random() < 0.7
        path.write_bytes(
            zlib.compress(damaged(zlib.decompress(data), chance))
            if inside
            else damaged(data, chance)
        )
        return path

    return make


def _corpus(name: str, data: bytes, format_name: str, options: Any = None) -> Target:
    return Target(
        make=_file(name, data),
        check=partial(check_documents, format_name=format_name, options=options),
    )


TARGETS: Final[dict[str, Target]] = {
    "brat-folder": Target(make=_folder, check=partial(check_documents, format_name="brat")),
    "brat-zip": Target(make=_zip, check=partial(check_documents, format_name="brat")),
    "conll": _corpus("a.conll", CONLL.encode(), "conll"),
    "conll-docstart": _corpus(
        "a.conll", DOCSTART.encode(), "conll", ConllOptions(documents="docstart")
    ),
    "conll-layers": _corpus(
        "a.tsv", LAYERS.encode(), "conll", ConllOptions(tag_columns=None, documents="file")
    ),
    "jsonl": _corpus("a.jsonl", _lines(RECORDS), "jsonl"),
    "jsonl-prodigy": _corpus("a.jsonl", _lines(PRODIGY), "jsonl"),
    "jsonl-labels": _corpus("a.jsonl", _lines(LABELS), "jsonl"),
    "jsonl-groups": _corpus("a.jsonl", _lines(GROUPS), "jsonl"),
    "jsonl-tags": _corpus("a.jsonl", _lines(TAGS + TAGS), "jsonl"),
    "jsonl-dygie": _corpus("a.jsonl", _lines(DYGIE), "jsonl", JsonlOptions(shape="dygie")),
    "jsonl-label-studio": _corpus("a.jsonl", _lines(STUDIO), "jsonl"),
    "json-label-studio": _corpus("a.json", json.dumps(STUDIO, indent=1).encode(), "jsonl"),
    "jsonl-bigbio": _corpus("a.jsonl", _lines(BIGBIO * 2), "jsonl"),
    "jsonl-article": _corpus("a.jsonl", _lines(ARTICLE * 2), "jsonl"),
    "jsonl-numbered": _corpus(
        "a.jsonl", _lines(NUMBERED * 2), "jsonl", JsonlOptions(labels="O,B-PER,I-PER,B-LOC")
    ),
    "jsonl-gliner": _corpus("a.jsonl", _lines(GLINER * 2), "jsonl"),
    "conll-bare": _corpus("a.conll", BARE.encode(), "conll", ConllOptions(bare=True)),
    "json-array": _corpus("a.json", json.dumps(RECORDS, indent=1).encode(), "jsonl"),
    "jats": _corpus("a.nxml", JATS.encode(), "jats"),
    "jats-tables": _corpus("a.nxml", JATS.encode(), "jats", JatsOptions(tables=True)),
    "bioc": _corpus("a.xml", BIOC_XML.encode(), "bioc"),
    "bioc-json": _corpus(
        "a.json", json.dumps(BIOC, indent=1, ensure_ascii=False).encode(), "bioc-json"
    ),
    "bioc-json-lines": _corpus("a.json", _lines(BIOC["documents"]), "bioc-json"),
    "pubtator3": _corpus(
        "a.json", json.dumps({"PubTator3": BIOC["documents"]}).encode(), "pubtator3"
    ),
    "kazu": _corpus("a.kazu.jsonl", _lines(KAZU), "kazu"),
    "kazu-array": _corpus(
        "a.json", json.dumps(KAZU, indent=1, ensure_ascii=False).encode(), "kazu"
    ),
    "label-studio": _corpus("a.json", json.dumps(STUDIO, indent=1).encode(), "label-studio"),
    "spacy": Target(make=_packed("a.spacy"), check=partial(check_documents, format_name="spacy")),
    "table-csv": _corpus("a.csv", TEXTS_CSV.encode(), "table"),
    "table-tsv": _corpus("a.tsv", TEXTS_TSV.encode(), "table", TextTableOptions(text="title,text")),
    "medline": _corpus("a.xml", MEDLINE.encode(), "medline"),
    "native": _corpus("a.jsonl", _lines(NATIVE), "native"),
    "plain": _corpus("a.txt", PLAIN.encode(), "plain"),
    "pubtator": _corpus("a.pubtator", PUBTATOR.encode(), "pubtator"),
    "predictions": Target(make=_file("p.jsonl", _lines(SAID)), check=check_predictions),
    "predictions-tsv": Target(make=_file("p.tsv", ROWS.encode()), check=check_predictions),
    "predictions-csv": Target(make=_file("p.csv", CELLS.encode()), check=check_predictions),
    "distributions": Target(make=_file("d.jsonl", _lines(PROBABLE)), check=check_distributions),
    "exclusions": Target(make=_file("e.tsv", EXCLUDED.encode()), check=check_exclusions),
    "vectors": Target(make=_file("v.txt", VECTORS.encode()), check=check_vectors),
    "dictionary": Target(make=_file("n.tsv", NAMES.encode()), check=check_dictionary),
}
if importlib.util.find_spec("selectolax"):
    TARGETS["html"] = _corpus("a.html", HTML.encode(), "html")
TARGETS |= {name: _corpus(file, data, form) for name, (file, data, form) in others().items()}


# -- the run
# -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of some files of one target."""

    target: str
    count: int
    read: int
    failures: list[tuple[int, str]]


def _too_slow(signum: int, frame: FrameType | None) -> None:
    raise TooSlowError(f"more than {SECONDS} seconds")


def run(target: str, numbers: range) -> Result:
    """Makes and checks some files of one target."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    signal.signal(signal.SIGALRM, _too_slow)
    warnings.simplefilter("error")
    failures, found = [], 0
    with tempfile.TemporaryDirectory(prefix="fascicle-fuzz-") as name:
        folder = Path(name)
        for number in numbers:
            chance = random.Random(f"{target} {number}")
            for entry in folder.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            path = TARGETS[target].make(folder, chance)
            signal.alarm(SECONDS)
            try:
                found += TARGETS[target].check(path, folder)
            except Exception:
                failures.append((number, f"{_shown(path)}\n{traceback.format_exc(limit=-6)}"))
            finally:
                signal.alarm(0)
    return Result(target=target, count=len(numbers), read=found, failures=failures)


def _shown(path: Path) -> str:
    files = sorted(path.rglob("*.*")) if path.is_dir() else [path]
    return "\n".join(
        f"{file.relative_to(path.parent)}: {file.read_bytes()[:2000]!r}" for file in files
    )


def _job(given: tuple[str, int, int]) -> Result:
    target, first, last = given
    return run(target, range(first, last))


def main(arguments: Sequence[str]) -> int:
    """Damages and checks; returns 1 if a rule was broken."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument(
        "--count", type=int, default=10_000, help="damaged files of each target; default: 10000"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first; default: 0")
    parser.add_argument("--processes", type=int, default=2, help="default: 2")
    parser.add_argument(
        "--only", action="append", choices=sorted(TARGETS), help="this target; may be repeated"
    )
    parser.add_argument(
        "--failures", type=Path, help="a file for the damaged files that broke a rule"
    )
    parser.add_argument("--results", type=Path, help="a JSON file for the counts")
    args = parser.parse_args(arguments)
    step = max(50, min(500, args.count // max(1, args.processes)))
    last = args.first + args.count
    jobs = [
        (t, n, min(n + step, last))
        for t in args.only or TARGETS
        for n in range(args.first, last, step)
    ]
    totals: dict[str, Counter[str]] = {}
    broken: list[str] = []
    with get_context("spawn").Pool(args.processes) as pool:
        for result in pool.imap_unordered(_job, jobs):
            total = totals.setdefault(result.target, Counter())
            total.update(files=result.count, read=result.read, failures=len(result.failures))
            broken += [f"=== {result.target} {number}\n{said}" for number, said in result.failures]
    said = [f"{'target':18}{'files':>9}{'read':>9}{'failures':>9}"]
    said += [
        f"{name:18}{total['files']:>9,}{total['read']:>9,}{total['failures']:>9,}"
        for name, total in sorted(totals.items())
    ]
    if args.results is not None:
        counts = {
            "first": args.first,
            "files": sum(total["files"] for total in totals.values()),
            "broken": len(broken),
        }
        counts |= {"targets": dict(sorted(totals.items()))}
        args.results.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
    if args.failures is not None:
        args.failures.write_text("\n".join(broken), encoding="utf-8")
    vacuous = [name for name, total in totals.items() if args.count >= 100 and not total["read"]]
    said += [
        *broken[:20],
        *(
            f"{name}: no damaged file was read, so that next to nothing is tested"
            for name in vacuous
        ),
    ]
    sys.stdout.write("\n".join(said) + "\n")
    return 1 if broken or vacuous else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
