"""What mentions are in files of other tools: numbered words, several tags in a cell, signs for
no concept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Mention
from fascicle.core.tags import tag_layers
from fascicle.errors import FormatError, UsageError
from fascicle.formats import ConllOptions, JsonlOptions, ReadReport, parse_columns, read, write
from fascicle.formats.inception_options import InceptionOptions
from fascicle.formats.requests import ReadRequest, read_file


def file_of(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def mentions_of(document: Document) -> list[tuple[str, str]]:
    return [(one.text_in(document.text), one.type) for one in document.mentions]


NUMBERED = (
    "#\tsource [2009]\n1\tLithium\tB-Chemical\tO\n2\thelps\tO\tB-X\n\n#\tsource "
    "[2010]\n1\tSo\tO\tO\n2\tit\tO\tO\n"
)


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ("1\tLithium\tB-Chemical\n2\thelps\tO\n", "1,2"),
        ("1 Lithium NN B-Chemical\n2 helps VB O\n\n1 So RB O\n", "1,3"),
        ("1-1\tLithium\tB-Chemical\n1-2\thelps\tO\n\n2-1\tSo\tO\n2-2\tit\tO\n", "1,2"),
        ("0\tLithium\tB-Chemical\n1\thelps\tO\n\n2\tSo\tO\n3\tit\tO\n", "1,2"),
        ("doc1\tLithium\tB-Chemical\ndoc1\thelps\tO\n\ndoc2\tSo\tO\ndoc2\tit\tO\n", "1,2"),
        (NUMBERED, "1,2,3"),
    ],
)
def test_a_first_column_of_numbers_is_refused_and_the_hint_works(
    tmp_path: Path, rows: str, hint: str
) -> None:
    path = file_of(tmp_path, "a.conll", rows)
    with pytest.raises(FormatError, match=rf"columns=VALUE, such as {hint}$"):
        list(read(path, format="conll"))
    token, tags = parse_columns(hint)
    first = next(
        iter(read(path, format="conll", options=ConllOptions(token_column=token, tag_columns=tags)))
    )
    assert (first.text, mentions_of(first)[0]) == ("Lithium helps", ("Lithium", "Chemical"))


@pytest.mark.parametrize(
    "rows",
    [
        "In\tO\n1\tB-Num\n2\tO\n",
        "1\tO\tO\n2\tB-N\tO\n3\tO\tB-M\n",
        "1\tO\n2\tB-Num\n",
        "ha\tUH\tO\nha\tUH\tO\n",
        "1\tCD\tO\n2\tCD\tO\n\nLithium\tNN\tB-Chemical\nhelps\tVB\tO\n",
    ],
)
def test_numbers_that_are_words_stay(tmp_path: Path, rows: str) -> None:
    found = list(read(file_of(tmp_path, "a.conll", rows), format="conll"))
    assert found[0].text.split() == [
        row.split("\t")[0] for row in rows.split("\n\n")[0].split("\n") if row
    ]


@pytest.mark.parametrize("sign", [";", "|", ",", "; "])
def test_several_tags_in_a_cell_are_layers(tmp_path: Path, sign: str) -> None:
    rows = f"Lithium\tB-Chemical{sign}B-Drug\nsalt\tI-Drug{sign}I-Chemical\nor\tO{sign}I-Drug\nso\tB-Drug\n"
    (found,) = read(file_of(tmp_path, "a.conll", rows), format="conll")
    assert sorted(mentions_of(found)) == [
        ("Lithium salt", "Chemical"),
        ("Lithium salt or", "Drug"),
        ("so", "Drug"),
    ]
    record = {"id": "1", "tokens": ["Lithium", "helps"], "tags": [f"B-Chemical{sign}B-Drug", "O"]}
    (found,) = read(file_of(tmp_path, "a.jsonl", json.dumps(record)), format="records")
    assert sorted(mentions_of(found)) == [("Lithium", "Chemical"), ("Lithium", "Drug")]


def test_two_tags_of_one_type_in_a_cell_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="two tags of one type"):
        list(read(file_of(tmp_path, "a.conll", "a\tB-X;I-X\nb\tO\n"), format="conll"))
    assert tag_layers(["B-X;B-X", "I-X"]) == [["B-X", "I-X"]]
    assert tag_layers(["B-1,2-diol", "O"]) == [["B-1,2-diol", "O"]]


def test_the_sign_for_no_concept_in_pubtator(tmp_path: Path) -> None:
    rows = "1|t|Lithium helps\n1|a|\n1\t0\t7\tLithium\tChemical\t-\n1\t8\t13\thelps\tX\n"
    (found,) = read(file_of(tmp_path, "a.pubtator", rows))
    assert [(one.links, one.attributes) for one in found.mentions] == [((), ()), ((), ())]
    assert not write(tmp_path / "b.pubtator", [found]).losses.get("attributes")
    lines = (tmp_path / "b.pubtator").read_text().splitlines()
    assert [line.split("\t")[5] for line in lines if line.startswith("1\t")] == ["-", "-"]
    (again,) = read(tmp_path / "b.pubtator")
    assert again.mentions == found.mentions


def test_tasks_have_numbers(tmp_path: Path) -> None:
    documents = [
        Document(id=name, text="Lithium", mentions=(Mention(((0, 7),), "X"),))
        for name in ("a", "b")
    ]
    write(tmp_path / "a.label-studio.json", documents)
    tasks: list[dict[str, Any]] = json.loads((tmp_path / "a.label-studio.json").read_text())
    assert [one["id"] for one in tasks] == [1, 2]
    assert [one.id for one in read(tmp_path / "a.label-studio.json")] == ["a", "b"]


def task(data: dict[str, str], *regions: tuple[int, int, str, str, str]) -> dict[str, Any]:
    result = [
        {
            "type": "labels",
            "to_name": to,
            "value": {"start": a, "end": b, "labels": [kind], "text": text or None},
        }
        for a, b, kind, to, text in regions
    ]
    return {"id": 1, "data": data, "annotations": [{"id": 2, "result": result}]}


TWO = {"text": "Lithium story of a cat", "question": "Aspirin helps"}


@pytest.mark.parametrize(
    ("data", "regions", "wanted", "left_out"),
    [
        (TWO, [(0, 7, "A", "text", "Lithium"), (8, 13, "B", "q", "")], [("Lithium", "A")], 1),
        (TWO, [(0, 7, "A", "t", "Lithium"), (8, 13, "B", "q", "helps")], [("Lithium", "A")], 1),
        (TWO, [(0, 7, "A", "q", "Aspirin")], [], 1),
        (TWO, [(0, 7, "A", "question", "")], [], 1),
        (TWO, [(0, 7, "A", "txt", "")], [("Lithium", "A")], 0),
        (TWO, [(0, 7, "A", "txt", "Lithium")], [("Lithium", "A")], 0),
        ({"text": "ab"}, [(0, 2, "A", "x", "cd")], [("ab", "A")], 0),
    ],
)
def test_regions_of_another_text_are_counted(
    tmp_path: Path, data: dict[str, str], regions: Any, wanted: list[tuple[str, str]], left_out: int
) -> None:
    given = task(data, *regions)
    given["predictions"] = [{"model_version": "m", "result": given["annotations"][0]["result"]}]
    (found,) = read(file_of(tmp_path, "a.json", json.dumps([given])))
    for source in ("gold", "m"):
        assert [
            (one.text_in(found.text), one.type) for one in found.mentions if one.source == source
        ] == wanted
    said = [event.message for event in found.events if event.code == "regions-left-out"]
    assert [f"labels of other texts {2 * left_out}" in one for one in said] == [True] * bool(
        left_out
    )


def test_regions_on_several_texts_that_cannot_be_told_apart(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        "a.json",
        json.dumps([task({"text": "ab cd"}, (0, 2, "A", "x", ""), (3, 5, "B", "y", ""))]),
    )
    with pytest.raises(FormatError, match=r'fields=\[\("to_name", "x"\)\]'):
        list(read(path))
    (found,) = read(path, options=JsonlOptions(fields=(("to_name", "y"),)))
    assert mentions_of(found) == [("cd", "B")]


def test_fragments_of_one_name_over_a_line_end(tmp_path: Path) -> None:
    text = "congestive heart\n failure of type 2\tdiabetes\nand x"
    mentions = (
        Mention(((0, 25),), "A"),
        Mention(((29, 44),), "B"),
        Mention(((18, 25), (45, 48)), "C"),
    )
    document = Document(id="a", text=text, mentions=mentions)
    assert not write(tmp_path / "out", [document], format="brat").losses
    lines = (tmp_path / "out" / "a.ann").read_text().split("\n")
    assert lines[0] == "T1\tA 0 16;18 25\tcongestive heart failure"
    assert not any(set("\n\t") & set(text[int(a) : int(b)]) for a, b in _pairs(lines[:-1]))
    (found,) = read(tmp_path / "out")
    assert (found.text, found.mentions) == (text, document.mentions)
    assert {event.code for event in found.events} == {"fragments-joined"}


def _pairs(lines: list[str]) -> list[list[str]]:
    return [
        pair.split(" ")
        for line in lines
        for pair in line.split("\t")[1].split(" ", 1)[1].split(";")
    ]


def test_the_order_of_fragments_is_an_event(tmp_path: Path) -> None:
    file_of(tmp_path, "a.txt", "failure and arrest of heart")
    file_of(tmp_path, "a.ann", "T1\tDisease 22 27;0 7\theart failure\n")
    (found,) = read(tmp_path)
    assert [event.code for event in found.events] == ["fragments-sorted"]
    record = {"id": "1", "text": "a b c", "entities": [{"spans": [[4, 5], [0, 1]], "type": "X"}]}
    (found,) = read(file_of(tmp_path, "b.jsonl", json.dumps(record)), format="records")
    assert [event.code for event in found.events] == ["fragments-sorted"]


FINDINGS = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue
#T_SP=webanno.custom.Finding|negated|certainty
#T_SP=webanno.custom.Drug|label


#Text=No tremor
1-1\t0-2\tNo\tDT\t_\t_\tNone
1-2\t3-9\ttremor\tNN\ttrue\thigh\t_
"""


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ((), [("No", "None"), ("tremor", "Finding")]),
        ((("type", "certainty"),), [("No", "Drug"), ("tremor", "high")]),
        ((("layer", "Finding"), ("type", "negated")), [("tremor", "true")]),
        ((("layer", "webanno.custom.Drug"),), [("No", "None")]),
        ((("layer", "POS"), ("type", "PosValue")), [("No", "DT"), ("tremor", "NN")]),
    ],
)
def test_a_user_chooses_the_layer_and_the_feature_that_is_the_type(
    fields: tuple[tuple[str, str], ...], wanted: list[tuple[str, str]], tmp_path: Path
) -> None:
    path = file_of(tmp_path, "a.tsv", FINDINGS)
    (found,) = read_file(str(path), ReadRequest(fields=fields))
    assert mentions_of(found) == wanted
    assert not found.events


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            InceptionOptions(layer="Fnding"),
            "no annotation with the layer 'Fnding'; it has Drug, Finding, POS",
        ),
        (
            InceptionOptions(layer="Drug", type="x"),
            "no annotation with the feature 'x'; it has label",
        ),
    ],
)
def test_a_layer_that_is_not_there_is_a_note(
    options: InceptionOptions, said: str, tmp_path: Path
) -> None:
    (found,) = read(file_of(tmp_path, "a.tsv", FINDINGS), format="webanno", options=options)
    assert [said in event.message for event in found.events] == [True]


def test_files_of_inception_have_two_options(tmp_path: Path) -> None:
    path = file_of(tmp_path, "a.tsv", FINDINGS)
    with pytest.raises(UsageError, match="no part 'text'; choose layer or type"):
        list(read_file(str(path), ReadRequest(fields=(("text", "x"),)), report=ReadReport()))


@pytest.mark.parametrize(
    "content",
    [
        {
            "text": "failure\nof heart",
            "denotations": [
                {
                    "id": "T1",
                    "span": [{"begin": 0, "end": 7}, {"begin": 8, "end": 16}],
                    "obj": "Disease",
                }
            ],
        },
        {
            "source": "",
            "documents": [
                {
                    "id": "1",
                    "passages": [
                        {
                            "offset": 0,
                            "text": "failure\nof heart",
                            "annotations": [
                                {
                                    "id": "1",
                                    "infons": {"type": "Disease"},
                                    "text": "failure of heart",
                                    "locations": [
                                        {"offset": 0, "length": 7},
                                        {"offset": 8, "length": 8},
                                    ],
                                }
                            ],
                        }
                    ],
                }
            ],
        },
    ],
    ids=["pubannotation", "bioc"],
)
def test_fragments_over_a_line_end_are_one_name(tmp_path: Path, content: dict[str, Any]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content), encoding="utf-8")
    (document,) = read(tmp_path / "a.json")
    assert [mention.spans for mention in document.mentions] == [((0, 16),)]
    assert [event.code for event in document.events] == ["fragments-joined"]
