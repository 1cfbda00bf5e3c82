"""Column files and records as annotators and shared tasks have them, read as they are or refused
with advice.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import ReadReport, detect, read
from fascicle.formats.conll import ConllOptions

CONLL_2012 = """#begin document (bc/cctv/00/cctv_0000); part 000
bc/cctv/00/cctv_0000 0 0 In IN (TOP(S(PP* - - - Speaker#1 * * -
bc/cctv/00/cctv_0000 0 1 the DT (NP* - - - Speaker#1 (DATE* (ARGM* -
bc/cctv/00/cctv_0000 0 2 summer NN *) - - - Speaker#1 * * -
bc/cctv/00/cctv_0000 0 3 2005 CD *) - - - Speaker#1 *) *) (1)

bc/cctv/00/cctv_0000 0 0 Taihang NNP * - - - - (ORG) -

#end document
#begin document (bc/cctv/00/cctv_0000); part 001
bc/cctv/00/cctv_0000 1 0 Hello UH * - - - - * -

#end document
"""
CONLLU = """# newdoc id = d
# sent_id = 1
# text = Anna's in Bonn.
1-2\tAnna's\t_\t_\t_\t_\t_\t_\t_\t_
1\tAnna\tAnna\tPROPN\t_\t_\t0\troot\t_\tNE=B-PER|SpaceAfter=No
2\t's\tbe\tAUX\t_\t_\t1\tcop\t_\t_
3\tin\tin\tADP\t_\t_\t1\tcase\t_\tSpaceAfter=Yes
3.1\tthe\t_\t_\t_\t_\t_\t_\t_\t_
4\tBonn\tBonn\tPROPN\t_\t_\t1\tobl\t_\tSpaceAfter=No|NE=B-LOC
5\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

"""
PAIRS = [
    ["Uber hired \U0001f600 Ann", {"entities": [[0, 4, "ORG"], [13, 16, "PER"]]}],
    ["None", {"entities": []}],
]


def of(tmp_path: Path, name: str, content: str, options: Any = None) -> list[Document]:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return list(read(path, options=options))


def found(documents: list[Document]) -> list[list[tuple[str, str]]]:
    return [
        [(one.text_in(document.text), one.type) for one in document.mentions]
        for document in documents
    ]


@pytest.mark.parametrize("name", ["a.conll", "a.v4_gold_conll", "a.txt"])
def test_conll_2012(tmp_path: Path, name: str) -> None:
    documents = of(tmp_path, name, CONLL_2012)
    assert detect(str(tmp_path / name)) == "conll"
    assert [one.text for one in documents] == ["In the summer 2005 Taihang", "Hello"]
    assert found(documents) == [[("the summer 2005", "DATE"), ("Taihang", "ORG")], []]
    assert not [event for one in documents for event in one.events]
    with pytest.raises(FormatError, match=r"a\.conll:3.*brackets"):
        of(tmp_path, "a.conll", CONLL_2012.replace("(DATE*", "*)"))


def test_names_in_the_last_column_of_conllu(tmp_path: Path) -> None:
    documents = of(tmp_path, "a.conllu", CONLLU)
    assert [one.text for one in documents] == ["Anna 's in Bonn ."]
    assert found(documents) == [[("Anna", "PER"), ("Bonn", "LOC")]]
    assert not documents[0].events
    with pytest.raises(FormatError, match=r"a\.conllu:5.*MISC"):
        of(tmp_path, "a.conllu", CONLLU.replace("NE=B-PER", "Entity=(e1-person"))


@pytest.mark.parametrize(
    ("token", "words", "name"),
    [
        ("S-Disease", ("_", "_"), "Parkinson 's"),
        ("B-Disease", ("_", "_"), "Parkinson 's disease"),
        ("E-Disease", ("_", "_"), "the Parkinson 's"),
        ("O", ("_", "_"), ""),
        ("_", ("ner=S-Disease", "ner=O"), "Parkinson"),
        ("S-Name", ("ner=S-Disease", "_"), "Parkinson"),
        ("S-Name", ("_", "ner=S-Disease"), "'s"),
        ("B-Disease", ("NE=B-Disease", "NE=I-Disease"), "Parkinson 's disease"),
    ],
)
def test_a_tag_beside_a_token_of_several_words_of_conllu_is_theirs(
    tmp_path: Path, token: str, words: tuple[str, str], name: str
) -> None:
    """Stanza writes `ner` beside the token alone (stanza/models/common/doc.py, `Token.to_dict`)."""
    tags = {"B": ("O", "E-Disease"), "E": ("B-Disease", "O")}.get(token[0], ("O", "O"))
    blank = "\t_" * 7
    rows = [
        f"1\tthe{blank}\tner={tags[0]}",
        f"2-3\tParkinson's{blank}\tstart_char=4|ner={token}",
        f"2\tParkinson{blank}\t{words[0]}",
        f"3\t's{blank}\t{words[1]}",
        f"4\tdisease{blank}\tner={tags[1]}",
        f"4.1\tdisease{blank}\tEntity=(e1",
    ]
    documents = of(tmp_path, "a.conllu", "\n".join(rows) + "\n")
    assert documents[0].text == "the Parkinson 's disease"
    assert found(documents) == [[(name, "Disease")] if name else []]
    assert not documents[0].events


def test_no_name_of_conllu_goes_on_behind_its_token(tmp_path: Path) -> None:
    """Word 3 of the token is not there; neither the next word nor the next sentence has its tag."""
    blank = "\t_" * 7
    rows = [f"1-3\tzum{blank}\tner=S-ORG", f"1\tzu{blank}\t_", f"2\tdem{blank}\t_"]
    after = [f"4\tBonn{blank}\t_", "", f"1\tdie{blank}\t_", f"2\tUni{blank}\t_"]
    documents = of(tmp_path, "a.conllu", "\n".join([*rows, *after]) + "\n")
    assert found(documents) == [[("zu dem", "ORG")], []]


@pytest.mark.parametrize("content", ["conllu", "2012"])
def test_no_name_goes_on_behind_a_sentence_set_aside(tmp_path: Path, content: str) -> None:
    blank = "\t_" * 7
    rows = [
        f"1\tin{blank}\t_\n",
        f"1-3\tzum{blank}\tner=S-ORG\n1\tzu{blank}\tner=wrong",
        f"1\tdie{blank}\t_\n2\tUni{blank}\t_\n",
    ]
    if content == "2012":
        lines = [f"a\t0\t0\t{word}{blank}" for word in ("in", "zu", "dem", "die")]
        ends = ("*", "(ORG*", "(ORG*", "*")
        shown = [f"{line[:-2]}\t{end}\t-" for line, end in zip(lines, ends, strict=True)]
        rows = [
            f"#begin document (a); part 000\n{shown[0]}\n",
            "\n".join(shown[1:3]),
            f"{shown[3]}\n\n#end document",
        ]
    path = tmp_path / "a.conll"
    path.write_text("\n".join([rows[0], rows[1], "", rows[2]]))
    report = ReadReport()
    report.aside.keep_going = True
    options = ConllOptions(documents="sentence")
    documents = list(read(path, format="conll", options=options, report=report))
    assert report.aside.count == 1
    assert found(documents) == [[], []]


def test_documents_of_conllu_and_their_ids(tmp_path: Path) -> None:
    row = "1\t{}\t_\tNOUN\t_\t_\t0\troot\t_\tNER={}\n\n"
    content = (
        f"# newdoc id = first one\n# sent_id = 1\n{row.format('Lithium', 'B-Chemical')}"
        f"# sent_id = 2\n{row.format('Gout', 'B-Disease')}"
        f"# newdoc\n{row.format('Aspirin', 'B-Chemical')}"
        f"#newdoc id=third\n# newpar id = p\n{row.format('Zinc', 'B-Chemical')}"
    )
    documents = of(tmp_path, "a.conllu", content)
    assert [one.id for one in documents] == ["first one", "a:2", "third"]
    assert [one.text for one in documents] == ["Lithium Gout", "Aspirin", "Zinc"]
    sentences = of(tmp_path, "a.conllu", content, ConllOptions(documents="sentence"))
    assert [one.id for one in sentences] == ["a:1", "a:2", "a:3", "a:4"]
    with_mark = of(tmp_path, "b.conllu", "\ufeff" + CONLLU)
    assert [one.id for one in with_mark] == ["d"]
    (tagged,) = of(tmp_path, "c.conll", "# newdoc B-T\na O\n")  # a row of three columns
    assert tagged.text == "# a"


ROW = "a 0 0 Bonn NNP * - - - - (GPE) -\n\n"
IDS = {
    "-DOCSTART- (1 EU)": "1 EU",
    "-DOCSTART- -X- (H01-1041) O": "H01-1041",
    "-DOCSTART-\t10192393": "10192393",
    "-DOCSTART- (PMID (new))": "PMID (new)",
    "-DOCSTART- -X- O O": "a:1",
    "-DOCSTART-\tO": "a:1",
    "-DOCSTART-\tB-X1": "a:1",
    "-DOCSTART- ()": "a:1",
}
PARTS = {
    "#begin document (nw/wsj/00/wsj_0001); part 012": "nw/wsj/00/wsj_0001_12",
    "#begin document (a);": "a",
    "#begin document a; part 0": "a_0",
    "#begin document (a (b)); part 001": "a (b)_1",
    "#begin document (a b)": "a b",
    "#begin document": "a:1",
}


@pytest.mark.parametrize("line", [*IDS, *PARTS])
def test_lines_that_begin_a_document_name_it(tmp_path: Path, line: str) -> None:
    row, bare = ("Bonn NNP B-GPE\n\n", "-DOCSTART-") if line in IDS else (ROW, "#begin document")
    first, second = of(tmp_path, "a.conll", f"{line}\n\n{row}{bare}\n\n{row}")
    assert (first.id, second.id) == ((IDS | PARTS)[line], "a:2")
    assert found([first, second]) == [[("Bonn", "GPE")]] * 2


def test_a_lone_line_with_an_id_begins_a_document(tmp_path: Path) -> None:
    (named,) = of(tmp_path, "a.conll", "-DOCSTART- (7)\n\na O\n\nb O\n")
    assert (named.id, named.text) == ("7", "a b")
    again, other = of(tmp_path, "b.conll", "-DOCSTART- (7)\n\na O\n\n-DOCSTART- (7)\n\nb O\n")
    assert again.id == "7"
    assert other.events[-1].code == "duplicate-id"


def test_a_file_of_one_pair_of_spacy(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.json"):
        assert found(of(tmp_path, name, json.dumps(PAIRS[0]))) == [
            [("Uber", "ORG"), ("Ann", "PER")]
        ]


@pytest.mark.parametrize("separator", ["\t", " "])
def test_facts_are_no_tokens_and_tokens_are_no_facts(tmp_path: Path, separator: str) -> None:
    rows = "# sent_id = 1\n# text = a # b\na X B-T\n# X O\n#newpar\n#tag X I-T\n#x = B-T\n".replace(
        " X ", " X "
    )
    content = "\n".join(
        line if line.startswith(("# sent", "# text", "#newpar")) else line.replace(" ", separator)
        for line in rows.split("\n")
    )
    (document,) = of(tmp_path, "a.conll", content)
    assert document.text == "a # #tag #x"
    assert found([document]) == [[("a", "T"), ("#tag", "T"), ("#x", "T")]]
    options = ConllOptions(comment="%")
    assert found(of(tmp_path, "a.conll", "% any words\na B-T\n", options)) == [[("a", "T")]]


@pytest.mark.parametrize(
    ("tag", "advice"),
    [
        ("M-PER", "write I-PER"),
        ("B_PER", "write B-PER"),
        ("B:PER", "write B-PER"),
        ("PER-B", "write B-PER"),
        ("PER-M", "write I-PER"),
        ("B", "as in B-Disease"),
        ("M", "as in I-Disease"),
    ],
)
def test_tags_in_another_notation_are_refused_with_the_right_advice(
    tmp_path: Path, tag: str, advice: str
) -> None:
    with pytest.raises(FormatError, match=advice) as refused:
        of(tmp_path, "a.conll", f"Ann {tag}\nwas O\n")
    assert "bare" not in str(refused.value)
    with pytest.raises(FormatError, match=advice):
        of(tmp_path, "a.jsonl", json.dumps({"tokens": ["Ann"], "ner_tags": [tag]}))
    if len(tag) == 1:
        with pytest.raises(FormatError, match=advice):
            of(tmp_path, "a.conll", f"Ann {tag}\nwas O\n", ConllOptions(bare=True))


def test_other_tags_may_be_types(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="bare=True"):
        of(tmp_path, "a.conll", "Ann person\nwas O\n")
    assert found(of(tmp_path, "a.conll", "Ann person\nwas O\n", ConllOptions(bare=True))) == [
        [("Ann", "person")]
    ]


@pytest.mark.parametrize("form", ["array", "lines", "annotator"])
def test_pairs_of_spacy_2(tmp_path: Path, form: str) -> None:
    content = {
        "array": json.dumps(PAIRS),
        "lines": "".join(json.dumps(one) + "\n" for one in PAIRS),
        "annotator": json.dumps(
            {"classes": ["ORG", "PER"], "annotations": [*PAIRS[:1], None, *PAIRS[1:]]}
        ),
    }[form]
    documents = of(tmp_path, "a.json" if form != "lines" else "a.jsonl", content)
    assert found(documents) == [[("Uber", "ORG"), ("Ann", "PER")], []]
    with pytest.raises(FormatError, match="object"):
        of(tmp_path, "a.json", json.dumps([["text", {"cats": {}}]]))


def test_labels_beside_the_mentions_of_gliner(tmp_path: Path) -> None:
    record = {
        "tokenized_text": ["Lung", "cancer"],
        "ner": [[0, 1, "Disease"]],
        "ner_labels": ["Disease", "Gene"],
        "ner_negatives": ["Gene"],
    }
    assert found(of(tmp_path, "a.json", json.dumps([record]))) == [[("Lung cancer", "Disease")]]
