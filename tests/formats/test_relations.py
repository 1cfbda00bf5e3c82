"""Relations of brat and BioC: from reader to writer, between the two, and what cannot be kept is
counted.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fascicle.core.document import Document, Relation
from fascicle.formats import read, write

DATA = os.environ.get("FASCICLE_DATA")
TEXT = "Aspirin and fever, and Lyme or skin disease."
STATED = (
    "T1\tDrug 0 7\tAspirin\nT2\tSign 12 17\tfever\nT3\tDisease 23 27;36 43\tLyme disease\n"
    "R1\tTreats Arg1:T1 Arg2:T2\t\nR2\tCause-of cause:T3 effect:T2\n*\tEquiv T2 T3 T1\n"
    "A1\tNegated R2\nA2\tCertainty R1 very high\n#1\tAnnotatorNotes R1\tsee Lyme\n"
)
ASPIRIN = ("gold", "Drug", ((0, 7),))
FEVER = ("gold", "Sign", ((12, 17),))
LYME = ("gold", "Disease", ((23, 27), (36, 43)))
RELATIONS = (
    Relation(
        type="Treats",
        arguments=(("Arg1", ASPIRIN), ("Arg2", FEVER)),
        attributes=(("Certainty", "very high"), ("AnnotatorNotes", "see Lyme")),
    ),
    Relation(
        type="Cause-of",
        arguments=(("cause", LYME), ("effect", FEVER)),
        attributes=(("Negated", ""),),
    ),
    Relation(type="Equiv", arguments=(("", FEVER), ("", LYME), ("", ASPIRIN))),
)


def of_brat(folder: Path, annotation: str = STATED) -> Document:
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text(TEXT)
    (folder / "a.ann").write_text(annotation)
    (found,) = read(folder)
    return found


def lines_of(annotation: str) -> Counter[tuple[str, ...]]:
    """The lines of a file of brat, with what they refer to in place of the ids."""
    rows = [line.rstrip("\t").split("\t") for line in annotation.splitlines()]
    named = {row[0]: row[1] for row in rows if row[0] != "*"}
    named = {
        name: re.sub(r"\bT\d+\b", lambda at: named[at[0]], told) for name, told in named.items()
    }
    return Counter(
        tuple(re.sub(r"\b[TR]\d+\b", lambda at: named[at[0]], told) for told in row[1:])
        for row in rows
    )


def test_brat_keeps_them(tmp_path: Path) -> None:
    found = of_brat(tmp_path / "a")
    assert found.relations == RELATIONS
    assert found.events == ()
    assert write(tmp_path / "b", [found], format="brat").losses == {}
    assert lines_of((tmp_path / "b" / "a.ann").read_text()) == lines_of(STATED)
    assert list(read(tmp_path / "b")) == [found]


@pytest.mark.parametrize(
    "names",
    [
        ("bioc",),
        ("bioc-json",),
        ("pubtator3",),
        ("jsonl",),
        ("records",),
        ("bioc", "brat", "records"),
    ],
)
def test_formats_that_keep_all_of_them(tmp_path: Path, names: tuple[str, ...]) -> None:
    found = of_brat(tmp_path / "a")
    for number, name in enumerate((*names, "brat")):
        path = tmp_path / f"{number}"
        assert write(path, [found], format=name).losses == {}
        (found,) = read(path, format=name)
        assert sorted(found.relations, key=str) == sorted(RELATIONS, key=str)


def test_nodes_of_bioc_name_the_annotations(tmp_path: Path) -> None:
    write(tmp_path / "a.xml", [of_brat(tmp_path / "a")], format="bioc")
    document = ElementTree.parse(tmp_path / "a.xml").getroot().find("document")
    assert document is not None
    words = {one.get("id"): one.findtext("text") for one in document.iter("annotation")}
    found = [
        (
            one.findtext("infon[@key='type']"),
            [(node.get("role"), words[node.get("refid")]) for node in one.iter("node")],
        )
        for one in document.iterfind("relation")
    ]
    assert found == [
        ("Treats", [("Arg1", "Aspirin"), ("Arg2", "fever")]),
        ("Cause-of", [("cause", "Lyme disease"), ("effect", "fever")]),
        ("Equiv", [("", "fever"), ("", "Lyme disease"), ("", "Aspirin")]),
    ]


def in_bioc(path: Path, *relations: object, ids: tuple[object, ...] = (1, 2)) -> Document:
    annotations = [
        {
            "id": one,
            "infons": {"type": kind},
            "text": text,
            "locations": [{"offset": start, "length": len(text)}],
        }
        for one, kind, text, start in zip(
            ids, ("Drug", "Sign"), ("Aspirin", "fever"), (0, 12), strict=True
        )
    ]
    passage = {"offset": 0, "text": TEXT, "annotations": annotations, "relations": relations[1:]}
    document = {"id": "1", "passages": [passage], "relations": relations[:1]}
    path.write_text(json.dumps({"source": "", "documents": [document]}))
    (found,) = read(path, format="bioc-json")
    return found


def test_relations_of_concepts_have_facts_alone(tmp_path: Path) -> None:
    facts = {"relation": "CID", "Chemical": "D001241", "Disease": "D005334", "score": 0.5}
    found = in_bioc(tmp_path / "a.json", {"id": "R0", "infons": facts, "nodes": []})
    told = (("Chemical", "D001241"), ("Disease", "D005334"), ("score", "0.5"))
    assert found.relations == (Relation(type="CID", attributes=told),)
    assert write(tmp_path / "b", [found], format="bioc").losses == {}
    assert next(iter(read(tmp_path / "b", format="bioc"))).relations == found.relations
    assert write(tmp_path / "c", [found], format="brat").losses == {"relations": 1}


def test_what_is_no_relation_between_mentions_is_counted(tmp_path: Path) -> None:
    good = {
        "infons": {"type": "x"},
        "nodes": [{"refid": "2", "role": "a"}, {"refid": 1, "role": "b"}],
    }
    bad = [
        {"infons": {}, "nodes": [{"refid": "R1", "role": "a"}]},
        {"infons": {}, "nodes": [{"role": "a"}]},
        {"infons": {}, "nodes": "x"},
        "x",
    ]
    found = in_bioc(tmp_path / "a.json", *bad, good)
    assert found.relations == (Relation(type="x", arguments=(("a", FEVER), ("b", ASPIRIN))),)
    assert [(event.code, event.message[-3:]) for event in found.events] == [
        ("relations-left-out", "(4)")
    ]
    twice = in_bioc(tmp_path / "b.json", good, ids=(1, 1))
    assert (twice.relations, [event.code for event in twice.events]) == ((), ["relations-left-out"])


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        (
            "R1\tTreats Arg1:T1 Arg2:E1",
            ["events-left-out", "relations-left-out", "triggers-left-out"],
        ),
        (
            "R1\tTreats Arg1:T1 Arg2:T9",
            ["dangling-reference", "events-left-out", "triggers-left-out"],
        ),
        ("*\tEquiv T1 T2 T9", ["dangling-reference", "events-left-out", "triggers-left-out"]),
        ("*\tEquiv T1 T3", ["equivalences-left-out", "events-left-out", "triggers-left-out"]),
        ("R1\tTreats Arg1:T1 T2", ["events-left-out", "malformed-line", "triggers-left-out"]),
        ("*\tEquiv T1", ["events-left-out", "malformed-line", "triggers-left-out"]),
    ],
)
def test_lines_that_refer_to_what_is_not_read(tmp_path: Path, line: str, codes: list[str]) -> None:
    rows = (
        "T1\tDrug 0 7\tAspirin\nT2\tSign 12 17\tfever\nT3\tVerb 8 11\tand\nE1\tVerb:T3 Theme:T1\n"
    )
    found = of_brat(tmp_path / "a", f"{rows}{line}\nN1\tReference T2 A:1\tn\n")
    assert found.relations == ()
    assert sorted(event.code for event in found.events) == codes


def test_a_normalisation_of_a_relation_is_counted(tmp_path: Path) -> None:
    found = of_brat(tmp_path / "a", STATED + "N1\tReference R1 X:1\tn\n")
    assert [event.code for event in found.events] == ["links-left-out"]


@pytest.mark.parametrize("name", ["pubtator", "conll", "tsv", "csv", "kazu", "predictions", "text"])
def test_formats_without_a_place_say_how_many(tmp_path: Path, name: str) -> None:
    assert write(tmp_path / "x", [of_brat(tmp_path / "a")], format=name).losses["relations"] == 3


def test_a_relation_of_a_mention_that_is_gone_is_counted(tmp_path: Path) -> None:
    found = of_brat(tmp_path / "a")
    left = found.having(mentions=tuple(one for one in found.mentions if one.type != "Drug"))
    for name in ("bioc", "bioc-json", "brat"):
        report = write(tmp_path / name, [left], format=name)
        assert report.losses == {"relations": 2}
        assert [one.type for one in next(iter(read(tmp_path / name, format=name))).relations] == [
            "Cause-of"
        ]
    assert write(tmp_path / "all.jsonl", [left]).losses == {}
    assert list(read(tmp_path / "all.jsonl")) == [left]


def test_what_brat_cannot_say_is_counted(tmp_path: Path) -> None:
    found = of_brat(tmp_path / "a")
    pair = (("", ASPIRIN), ("", FEVER))
    odd = (
        Relation(type="Association", arguments=pair),  # an equivalence would say more
        Relation(type="Two words", arguments=(("a", ASPIRIN), ("b", FEVER))),
        Relation(type="x", arguments=(("a:b", ASPIRIN), ("b", FEVER))),
        Relation(type="x", arguments=(("a", ASPIRIN), ("b", FEVER), ("c", LYME))),
        Relation(type="x", arguments=(("a", ASPIRIN),)),
    )
    noted = Relation(type="Equiv", arguments=pair, attributes=(("sure", "yes"),))
    changed = found.having(relations=(*odd, noted))
    assert write(tmp_path / "b", [changed], format="brat").losses == {
        "relations": 5,
        "attributes": 1,
    }
    (same,) = read(tmp_path / "b")
    assert same.relations == (Relation(type="Equiv", arguments=pair),)


def test_records_count_facts_that_have_the_name_of_a_field(tmp_path: Path) -> None:
    pair = (("head", ASPIRIN), ("tail", FEVER))
    facts = (("a", "1"), ("a", "2"), ("type", "x"), ("head", "y"), ("id", "z"), ("b", ""))
    document = of_brat(tmp_path / "a").having(
        relations=(Relation(type="r", arguments=pair, attributes=facts), Relation(type="s"))
    )
    assert write(tmp_path / "b.jsonl", [document], format="records").losses == {"attributes": 4}
    assert json.loads((tmp_path / "b.jsonl").read_text())["relations"] == [
        {"type": "r", "head": 0, "tail": 1, "a": "1", "b": ""},
        {"type": "s", "arguments": []},
    ]
    (same,) = read(tmp_path / "b.jsonl")
    assert same.relations == (
        Relation(type="r", arguments=pair, attributes=(("a", "1"), ("b", ""))),
        Relation(type="s"),
    )


def test_earlier_schemas_stay(tmp_path: Path) -> None:
    found = of_brat(tmp_path / "a")
    versions = {}
    for name, one in (("with", found), ("without", found.having(relations=()))):
        write(tmp_path / f"{name}.jsonl", [one])
        versions[name] = json.loads((tmp_path / f"{name}.jsonl").read_text())["fascicle"]
    assert versions == {"with": 3, "without": 2}


@pytest.mark.slow
@pytest.mark.skipif(DATA is None, reason="FASCICLE_DATA is not set")
def test_all_relations_of_a_corpus_come_back(tmp_path: Path) -> None:
    assert DATA is not None
    place = Path(DATA) / "nerel-bio" / "nerel-bio-v1.0.zip"
    documents = list(read(place / "dev"))
    with zipfile.ZipFile(place) as archive:
        rows = [
            line
            for name in archive.namelist()
            if "/dev/" in f"/{name}" and name.endswith(".ann")
            for line in archive.read(name).decode().splitlines()
        ]
    assert (
        sum(len(one.relations) for one in documents) == sum(row.startswith("R") for row in rows) > 0
    )
    for name in ("brat", "bioc", "bioc-json"):
        assert "relations" not in write(tmp_path / name, documents, format=name).losses
        back = {one.id: one.relations for one in read(tmp_path / name, format=name)}
        assert back == {one.id: one.relations for one in documents}
