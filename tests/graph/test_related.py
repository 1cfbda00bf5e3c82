"""Relations of documents as edges ``related_to``, against counts made by hand and by other code."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.graph.test_interrupted import KILLED
from tests.graph.test_kgx import Row, filled, rows
from tests.support.concepts import BARE, DOCUMENTS, FOXO, LITHIUM, NIL, TREMOR, UNSURE, mention

from fascicle import cli
from fascicle.core.document import Document, Link, Mention, Relation, Section
from fascicle.formats import write
from fascicle.graph import counts as counting
from fascicle.graph.kgx import EDGE_COLUMNS, write_graph

TEXT = "Lithium and tremor. Lithium acts on FOXO1."
DRUG = mention(0, "Lithium", "Chemical", LITHIUM)
SHAKE = mention(12, "tremor", "Disease", TREMOR, facts=("uncertain",))
AGAIN = mention(20, "Lithium", "Chemical", LITHIUM)
GENE = mention(36, "FOXO1", "Gene", FOXO, UNSURE)
SECTIONS = (Section(0, 19, "title"), Section(20, 42, "abstract"))


def between(kind: str, *mentions: Mention, **facts: str) -> Relation:
    roles = ("Cause", "Theme", "Third")
    arguments = tuple(zip(roles, [each.key for each in mentions], strict=False))
    return Relation(type=kind, arguments=arguments, attributes=tuple(facts.items()))


def concepts(kind: str, **facts: str) -> Relation:
    return Relation(type=kind, attributes=tuple(facts.items()))


def document(*relations: Relation, name: str = "1", year: str = "2020") -> Document:
    mentions = (DRUG, SHAKE, AGAIN, GENE)
    return Document(
        id=name,
        text=TEXT,
        sections=SECTIONS,
        mentions=mentions,
        relations=relations,
        meta={"year": year},
    )


def related(folder: Path) -> dict[str, Row]:
    return {key: row for key, row in rows(folder, "edges").items() if "-related_to" in key}


def test_a_relation_joins_the_concepts_of_its_mentions(tmp_path: Path) -> None:
    """The words of a relation count once, as those of mentions do; here two layers state it."""
    gold = msgspec.structs.replace(SHAKE, source="gold", attributes=())
    first = document(
        between("causes", DRUG, SHAKE, score="0.7"), between("causes", DRUG, gold, score="0.6")
    )
    first = first.having(mentions=(DRUG, SHAKE, gold, AGAIN, GENE))
    later = document(between("causes", AGAIN, SHAKE, score="0.9"), name="2", year="2022")
    totals = write_graph([first, later], tmp_path / "graph")
    (edge,) = related(tmp_path / "graph").values()
    assert filled(edge) == {
        "id": "MESH:D008094-related_to:causes-MESH:D014202",
        "subject": "MESH:D008094",
        "predicate": "biolink:related_to",
        "object": "MESH:D014202",
        "category": "biolink:Association",
        "knowledge_level": "not_provided",
        "agent_type": "text_mining_agent",
        "primary_knowledge_source": "infores:fascicle",
        "document_count": "2",
        "first_date": "2020",
        "last_date": "2022",
        "sections": "title:2",
        "sources": "gold|m",
        "probability": "0.9",
        "negated_count": "0",
        "uncertain_count": "2",
        "original_predicate": "causes",
        "relation_count": "2",
    }
    assert (totals.related, totals.unrelated) == (1, 0)


def test_the_direction_and_the_type_of_a_relation_stay(tmp_path: Path) -> None:
    relations = (
        between("causes", SHAKE, DRUG),
        between("causes", DRUG, SHAKE),
        between("", DRUG, SHAKE),
        between("a-b:c d|e", DRUG, SHAKE, negated="true"),
    )
    write_graph([document(*relations)], tmp_path / "graph")
    edges = related(tmp_path / "graph")
    assert {key: row["original_predicate"] for key, row in edges.items()} == {
        "MESH:D014202-related_to:causes-MESH:D008094": "causes",
        "MESH:D008094-related_to:causes-MESH:D014202": "causes",
        "MESH:D008094-related_to-MESH:D014202": "",
        "MESH:D008094-related_to:a%2Db%3Ac%20d%20e-MESH:D014202": "a-b:c d e",  # | is a list in KGX
    }
    assert [row["negated_count"] for row in edges.values()] == ["0", "1", "0", "0"]
    assert {row["probability"] for row in edges.values()} == {""}


def test_relations_between_concepts_have_no_direction(tmp_path: Path) -> None:
    """By the ids that the source gives them, with or without a prefix."""
    first = document(concepts("Bind", entity1="2308", entity2="D008094", novel="No", score="0.25"))
    back = concepts("Bind", entity1="MESH:D008094", entity2="2308", score="2308")  # no probability
    other = document(back, name="2")
    named = document(concepts("CID", Chemical="D008094", Disease="D014202"), name="3")
    totals = write_graph([first, other, named], tmp_path / "graph")
    edges = related(tmp_path / "graph")
    assert list(edges) == [
        "MESH:D008094-related_to:CID-MESH:D014202",
        "MESH:D008094-related_to:Bind-NCBIGene:2308",
    ]
    edge = edges["MESH:D008094-related_to:Bind-NCBIGene:2308"]
    assert (edge["relation_count"], edge["document_count"]) == ("2", "2")
    assert (edge["sections"], edge["sources"], edge["probability"]) == ("text:2", "m", "0.25")
    assert (totals.related, totals.unrelated) == (2, 0)


LEFT_OUT = {
    "nil": between("r", DRUG, mention(36, "FOXO1", "Gene", NIL, BARE)),
    "ambiguous": between("r", DRUG, mention(36, "FOXO1", "Gene", UNSURE)),
    "dropped": between("r", DRUG, mention(36, "FOXO1", "Protein", FOXO)),
    "same": between("r", DRUG, AGAIN),
    "three": between("r", DRUG, SHAKE, GENE),
    "single": between("r", DRUG),
    "unknown concept": concepts("r", entity1="D008094", entity2="D1", novel="No"),
    "ambiguous concept": concepts("r", entity1="D008094", entity2="1"),
    "same concept": concepts("r", entity1="D008094", entity2="MESH:D008094"),
}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_a_relation_without_two_concepts_is_left_out_and_counted(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    relation = LEFT_OUT[case]
    links = {"nil": (NIL, BARE), "ambiguous": (UNSURE,)}.get(case, (FOXO, UNSURE))
    gene = msgspec.structs.replace(GENE, links=links)
    given = document(relation).having(mentions=(DRUG, SHAKE, AGAIN, gene))
    write(tmp_path / "in.jsonl", [given])
    assert cli.main(["graph", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "g"), "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["unrelated"] == 1
    assert "left out: 1 relation whose ends are not two concepts" in said.err
    assert related(tmp_path / "g") == {}
    assert list(next(iter(rows(tmp_path / "g", "edges").values()))) == list(EDGE_COLUMNS)


def test_the_command_says_how_many_edges_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "in.jsonl", [document(between("r", DRUG, SHAKE), between("r", AGAIN, GENE))])
    assert cli.main(["graph", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "g")]) == 0
    assert "2 pairs in 2 sentences, 2 edges of relations" in capsys.readouterr().err


def many(count: int) -> list[Document]:
    """Documents with relations of all forms between mentions with no, one or two concepts."""
    choose, documents = random.Random(7), []
    for number in range(count):
        words = [f"C{choose.randrange(9)}" for _ in range(6)]
        text, mentions = " ".join(words), []
        for at, word in enumerate(words):
            names = choose.choice(([word], [word], [word, "X"], []))
            links = [Link(id=name, ontology="MESH", curie=f"MESH:{name}") for name in names]
            mentions.append(mention(3 * at, word, "Chemical", *links))
        relations = []
        for _ in range(8):
            first, second = choose.sample(mentions, 2)
            kind, score = choose.choice(("a", "b")), f"{choose.random():.3f}"
            if choose.random() < 0.5:
                relations.append(between(kind, first, second, score=score))
            else:
                ends = choose.sample(sorted({*words}), 2)
                relations.append(concepts(kind, entity1=ends[0], entity2=ends[1], score=score))
        meta = {"year": str(2000 + number % 9)}
        documents.append(
            Document(
                id=str(number),
                text=text,
                mentions=tuple(mentions),
                relations=tuple(relations),
                meta=meta,
            )
        )
    return documents


def expected(documents: list[Document]) -> tuple[dict[Any, tuple[str, ...]], int]:
    """Counts by a slow and obvious loop: every statement of each document, once."""
    counts, papers, sure, years, lost = Counter[Any](), Counter[Any](), {}, {}, 0
    for each in documents:
        by_key = {m.key: [link.curie for link in m.links] for m in each.mentions}
        here = {curie for curies in by_key.values() for curie in curies}
        stated = dict[Any, float]()
        for relation in each.relations:
            facts, joined = dict(relation.attributes), False
            if relation.arguments:
                keys = relation.keys
                options = [(*ends, *keys) for ends in product(*map(by_key.get, keys))]  # type: ignore[arg-type]
            else:
                named = sorted(f"MESH:{facts[name]}" for name in ("entity1", "entity2"))
                options = [tuple(named)] * (set(named) <= here)
            for subject, other, *place in options:
                if subject != other:
                    joined, key = True, (subject, other, relation.type, *place)
                    stated[key] = max(stated.get(key, 0.0), float(facts["score"]))
            lost += not joined
        for key, score in stated.items():
            counts[key[:3]] += 1
            sure[key[:3]] = max(sure.get(key[:3], 0.0), score)
            years.setdefault(key[:3], []).append(each.meta["year"])
        papers.update({key[:3] for key in stated})
    return {
        key: (
            str(count),
            str(papers[key]),
            str(sure[key]),
            min(years[key]),
            max(years[key]),
        )
        for key, count in counts.items()
    }, lost


@pytest.mark.parametrize("waiting", [1, 7, 100_000])
def test_counts_equal_those_of_other_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting: int
) -> None:
    monkeypatch.setattr(counting, "_WAITING", waiting)
    documents = many(60)
    totals = write_graph(documents, tmp_path / "graph")
    ends = ("subject", "object", "original_predicate")
    cells = ("relation_count", "document_count", "probability", "first_date", "last_date")
    edges = related(tmp_path / "graph").values()
    wanted, lost = expected(documents)
    assert {tuple(row[name] for name in ends): tuple(row[c] for c in cells) for row in edges} == (
        wanted
    )
    assert len(edges) == len(wanted) == totals.related > 100
    assert totals.unrelated == lost > 20


def test_other_rows_are_those_of_documents_without_relations(tmp_path: Path) -> None:
    documents = many(20)
    write_graph(documents, tmp_path / "graph")
    write_graph([each.having(relations=()) for each in documents], tmp_path / "bare")
    lines, bare = (
        (tmp_path / name / "edges.tsv").read_text("utf-8").splitlines()
        for name in ("graph", "bare")
    )
    assert lines[0] == f"{bare[0]}\toriginal_predicate\trelation_count"
    assert lines[1 : len(bare)] == [f"{line}\t\t" for line in bare[1:]]
    nodes = [(tmp_path / name / "nodes.tsv").read_bytes() for name in ("graph", "bare")]
    assert nodes[0] == nodes[1]
    assert sorted(path.name for path in (tmp_path / "graph").glob("[!.]*")) == [
        "edges.tsv",
        "nodes.tsv",
    ]


def test_json_lines_hold_the_same(tmp_path: Path) -> None:
    write_graph(many(20), tmp_path / "graph")
    write_graph(many(20), tmp_path / "lines", json_lines=True)
    lines = (tmp_path / "lines" / "edges.jsonl").read_text(encoding="utf-8").splitlines()
    values = [
        {k: "|".join(v) if isinstance(v, list) else str(v) for k, v in json.loads(line).items()}
        for line in lines
    ]
    assert values == [filled(row) for row in rows(tmp_path / "graph", "edges").values()]


@pytest.mark.parametrize(
    ("form", "digest"),
    [
        ("tsv", "74a52d8e778e0e731beba26db0ce6dec80f7ebe8ba2129d8e5e753ca5886702d"),
        ("jsonl", "86235ff887add273e076bc7557ee58d3d6a9f814902dab3061ef0e6ea900f29d"),
    ],
)
def test_documents_without_relations_keep_their_bytes(
    tmp_path: Path, form: str, digest: str
) -> None:
    """The digests are those of the release before edges of relations."""
    write_graph(DOCUMENTS, tmp_path / "graph", prefix="PMID", json_lines=form == "jsonl")
    edges = (tmp_path / "graph" / f"edges.{form}").read_bytes()
    assert hashlib.sha256(edges).hexdigest() == digest


def call(*arguments: object, die_at: int = 0, where: str = "add") -> str:
    """Runs ``fascicle graph``, perhaps up to a kill; returns what it says."""
    words = [sys.executable, "-c", KILLED, die_at, where, "graph", *arguments]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == (-signal.SIGKILL if die_at else 0), done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("where", "death", "note"),
    [
        ("add", 15, "is continued after 14 documents"),
        ("end", 1, "is continued after 20 documents"),
        ("swap", 1, "has damaged files, so the graph is made anew"),  # the wide file has its name
    ],
)
@pytest.mark.parametrize("form", [(), ("--json-lines",)])
def test_a_killed_graph_goes_on(
    tmp_path: Path, where: str, death: int, note: str, form: tuple[str, ...]
) -> None:
    write(tmp_path / "in.jsonl", many(20))
    paths = tmp_path / "graph", tmp_path / "whole"
    call(tmp_path / "in.jsonl", "-o", paths[0], *form, die_at=death, where=where)
    said = call(tmp_path / "in.jsonl", "-o", paths[0], *form)
    assert ("is continued after 20" if form and where == "swap" else note) in said
    call(tmp_path / "in.jsonl", "-o", paths[1], *form)
    first, other = ({p.name: p.read_bytes() for p in path.iterdir()} for path in paths)
    assert first == other


def test_what_was_written_wide_before_a_kill_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error amid the edges of relations leaves a second file, which the next call replaces."""
    from fascicle.graph import kgx

    documents, causes = many(20), {"set of inputs": "1"}
    write_graph(documents, tmp_path / "whole", made_by=causes)
    monkeypatch.setattr(kgx, "_EVERY", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(kgx, "_related_edge", lambda pair: [][0])
        with pytest.raises(IndexError):
            write_graph(documents, tmp_path / "graph", made_by=causes)
    said: list[str] = []
    write_graph(documents, tmp_path / "graph", made_by=causes, tell=said.append)
    assert said == ["note: an interrupted call is continued after 20 documents"]
    first, other = (
        {p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("graph", "whole")
    )
    assert first == other
