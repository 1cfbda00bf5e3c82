"""``fascicle graph``: nodes and edges against counts made by hand and by other code."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.concepts import BARE, DOCUMENTS, FOXO, LITHIUM, SHORT, TREMOR, mention

from fascicle import cli
from fascicle.core.document import Document, Link, Mention, Section
from fascicle.errors import InputError, OutputError, UsageError
from fascicle.formats import write
from fascicle.graph import counts as counting
from fascicle.graph.evidence import evidence_of
from fascicle.graph.kgx import GraphTotals, document_curie, write_graph
from fascicle.text.segment import segmenter

Row = dict[str, str]


def rows(folder: Path, name: str) -> dict[str, Row]:
    with (folder / f"{name}.tsv").open(encoding="utf-8", newline="") as stream:
        lines = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["id"]: row for row in lines}


def filled(row: Row, *without: str) -> Row:
    return {name: cell for name, cell in row.items() if cell and name not in without}


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    write_graph(DOCUMENTS, tmp_path / "graph", prefix="PMID")
    return tmp_path / "graph"


def test_documents_and_concepts_are_nodes(graph: Path) -> None:
    nodes = rows(graph, "nodes")
    assert list(nodes) == ["PMID:1", "PMC:22", "MESH:D008094", "MESH:D014202", "NCBIGene:2308"]
    assert filled(nodes["PMID:1"]) == {
        "id": "PMID:1",
        "category": "biolink:Article",
        "name": "Lithium and tremor.",
        "year": "2020",
    }
    assert nodes["PMC:22"]["name"] == "Tremor under lithium."
    assert filled(nodes["MESH:D014202"]) == {
        "id": "MESH:D014202",
        "category": "biolink:Disease",
        "name": "Tremor",
        "xref": "HP:0001337",
        "mention_count": "3",
        "sentence_count": "3",
        "document_count": "2",
    }
    assert nodes["NCBIGene:2308"]["category"] == "biolink:Gene"


def test_a_document_mentions_a_concept(graph: Path) -> None:
    edge = rows(graph, "edges")["PMID:1-mentions-MESH:D008094"]
    assert filled(edge, "id") == {
        "subject": "PMID:1",
        "predicate": "biolink:mentions",
        "object": "MESH:D008094",
        "category": "biolink:InformationContentEntityToNamedThingAssociation",
        "knowledge_level": "observation",
        "agent_type": "text_mining_agent",
        "primary_knowledge_source": "infores:fascicle",
        "mention_count": "3",
        "sentence_count": "3",
        "first_date": "2020",
        "last_date": "2020",
        "sections": "abstract:2|title:1",
        "sources": "m",
        "probability": "0.45",  # 0.5 of the mention times 0.9 of the link
        "negated_count": "0",
        "uncertain_count": "1",
    }


def test_concepts_of_a_sentence_occur_together(graph: Path) -> None:
    """Lithium is in 4 of 5 sentences, tremor in 3, and in 3 they are together."""
    edges = rows(graph, "edges")
    edge = edges["MESH:D008094-occurs_together_in_literature_with-MESH:D014202"]
    assert filled(edge, "id", "knowledge_level", "agent_type", "primary_knowledge_source") == {
        "subject": "MESH:D008094",
        "predicate": "biolink:occurs_together_in_literature_with",
        "object": "MESH:D014202",
        "category": "biolink:Association",
        "sentence_count": "3",
        "document_count": "2",
        "pmi": str(round(math.log2(3 * 5 / (4 * 3)), 6)),
        "first_date": "2020",  # the other document has none
        "last_date": "2020",
        "sections": "abstract:1|text:1|title:1",
        "sources": "m",
        "probability": "0.4",  # the lower of 0.45 and 0.4
        "negated_count": "1",
        "uncertain_count": "0",
    }
    assert len([name for name in edges if "-occurs_" in name]) == 2  # the other: lithium and FOXO1


def test_json_lines_hold_the_same(graph: Path, tmp_path: Path) -> None:
    write_graph(DOCUMENTS, tmp_path / "lines", prefix="PMID", json_lines=True)

    def cell(value: Any) -> str:
        return "|".join(value) if isinstance(value, list) else str(value)

    for name in ("nodes", "edges"):
        lines = (tmp_path / "lines" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        values = [{key: cell(value) for key, value in json.loads(line).items()} for line in lines]
        assert values == [filled(row) for row in rows(graph, name).values()]


def many(count: int) -> list[Document]:
    """Documents of sentences with concepts that differ."""
    documents = []
    for number in range(count):
        words = [f"C{(number * step) % 17}" for step in (1, 2, 3, 5)]
        text = f"{words[0]} and {words[1]} here. {words[2]} and {words[3]} too."
        places = list(re.finditer(r"C\d+", text))
        mentions = [
            mention(place.start(), place[0], "Chemical", _link(place[0])) for place in places
        ]
        documents.append(Document(id=str(number), text=text, mentions=tuple(mentions)))
    return documents


def _link(word: str) -> Link:
    return Link(id=word, ontology="MESH", name=word, curie=f"MESH:{word}")


@pytest.mark.parametrize(
    ("ours", "curie"),
    [
        ("umls:C1", "UMLS:C1"),
        ("drugbank:DB1", "DRUGBANK:DB1"),
        ("uniprot:P1", "UniProtKB:P1"),
        ("dbsnp:rs1", "DBSNP:rs1"),
        ("MESH:D1", "MESH:D1"),
        ("cellosaurus:CVCL_1", "cellosaurus:CVCL_1"),
    ],
)
def test_prefixes_are_those_of_biolink(tmp_path: Path, ours: str, curie: str) -> None:
    link = Link(id="x", ontology="x", curie=ours, same=(ours, "umls:C9"))
    document = Document(
        id="pubmed:1", text="C1 here.", mentions=(mention(0, "C1", "Chemical", link),)
    )
    write_graph([document], tmp_path / "graph")
    nodes = rows(tmp_path / "graph", "nodes")
    assert list(nodes) == ["PMID:1", curie]
    assert nodes[curie]["xref"] == "UMLS:C9"
    assert f"PMID:1-mentions-{curie}" in rows(tmp_path / "graph", "edges")


@pytest.mark.parametrize("waiting", [1, 7, 100_000])
def test_counts_equal_those_of_other_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting: int
) -> None:
    monkeypatch.setattr(counting, "_WAITING", waiting)
    documents = many(60)
    totals = write_graph(documents, tmp_path / "graph")
    singles, pairs, papers = Counter[str](), Counter[Any](), Counter[Any]()
    for document in documents:
        halves = [set(re.findall(r"C\d+", half)) for half in document.text.split(". ")]
        both = [set(combinations(sorted(half), 2)) for half in halves]
        for half, pair in zip(halves, both, strict=True):
            singles.update(half)
            pairs.update(pair)
        papers.update(set.union(*both))
    edges = rows(tmp_path / "graph", "edges").values()
    found = {
        (row["subject"], row["object"]): (row["sentence_count"], row["document_count"], row["pmi"])
        for row in edges
        if "together" in row["predicate"]
    }
    assert found == {
        (f"MESH:{a}", f"MESH:{b}"): (
            str(count),
            str(papers[a, b]),
            str(round(math.log2(count * 120 / (singles[a] * singles[b])), 6)),
        )
        for (a, b), count in pairs.items()
    }
    assert totals == GraphTotals(
        documents=60,
        sentences=120,
        concepts=len(singles),
        mentions=240,
        mentioned=sum(len(set(re.findall(r"C\d+", d.text))) for d in documents),
        pairs=len(pairs),
    )


def test_the_same_documents_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_graph(many(40), tmp_path / "first")
    monkeypatch.setattr(counting, "_WAITING", 3)
    write_graph(many(40), tmp_path / "second")
    for name in ("nodes.tsv", "edges.tsv"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    assert sorted(path.name for path in (tmp_path / "first").glob("[!.]*")) == [
        "edges.tsv",
        "nodes.tsv",
    ]


def test_a_sentence_of_too_many_concepts_has_no_pairs(tmp_path: Path) -> None:
    words = [f"C{number}" for number in range(counting.MOST_CONCEPTS + 1)]
    text = ", ".join(words)
    mentions = [
        mention(
            text.index(f"{word},") if f"{word}," in text else text.index(word),
            word,
            "X",
            _link(word),
        )
        for word in words
    ]
    totals = write_graph([Document(id="1", text=text, mentions=tuple(mentions))], tmp_path / "g")
    assert (totals.crowded, totals.pairs, totals.mentioned) == (1, 0, len(words))


def test_links_of_the_same_words_are_no_pair(tmp_path: Path) -> None:
    twice = mention(0, "Lithium", "Chemical", LITHIUM, TREMOR)
    other = mention(0, "Lithium", "Gene", FOXO)
    documents = [Document(id="1", text="Lithium helps.", mentions=(twice, other))]
    assert write_graph(documents, tmp_path / "graph").pairs == 0
    assert write_graph([*documents, SHORT], tmp_path / "both").pairs == 1


def test_a_blank_text_has_one_sentence_for_its_mentions(tmp_path: Path) -> None:
    mentions = tuple(mention(at, " ", "X", link) for at, link in ((0, LITHIUM), (1, TREMOR)))
    totals = write_graph([Document(id="1", text="  ", mentions=mentions)], tmp_path / "graph")
    assert (totals.sentences, totals.pairs) == (1, 1)


def test_a_node_has_the_first_name_and_the_first_sameness(tmp_path: Path) -> None:
    bare = msgspec.structs.replace(TREMOR, name="", same=())
    first, named = (
        Document(id=name, text="Tremor.", mentions=(mention(0, "Tremor", "Disease", link),))
        for name, link in (("1", bare), ("2", TREMOR))
    )
    write_graph([first, named], tmp_path / "graph")
    node = rows(tmp_path / "graph", "nodes")["MESH:D014202"]
    assert (node["name"], node["xref"]) == ("Tremor", "HP:0001337")


@pytest.mark.parametrize(
    ("attribute", "count"),
    [(("negated", "false"), "0"), (("negated", "0-1"), "1"), (("Negation", "true"), "1")],
)
def test_a_fact_may_be_denied(attribute: tuple[str, str], count: str, tmp_path: Path) -> None:
    negated = msgspec.structs.replace(
        mention(0, "Lithium", "Chemical", LITHIUM), attributes=(attribute,)
    )
    write_graph([Document(id="1", text="Lithium.", mentions=(negated,))], tmp_path / "graph")
    (edge,) = rows(tmp_path / "graph", "edges").values()
    assert edge["negated_count"] == count


def test_documents_without_links_are_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = Document(id="1", text="Lithium.", mentions=(mention(0, "Lithium", "Chemical", BARE),))
    with pytest.raises(InputError, match="no mention has a link to a concept"):
        write_graph([bare], tmp_path / "graph")
    write(tmp_path / "bare.jsonl", [bare])
    assert cli.main(["graph", str(tmp_path / "bare.jsonl"), "-o", str(tmp_path / "graph")]) == 2
    assert "give the output of fascicle run or annotate with links" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["bare.jsonl"]


def test_ids_become_curies() -> None:
    assert document_curie("PMC22", "x") == "PMC:22"
    # in the local part kgx allows neither a slash nor a colon (its PrefixManager.is_curie)
    assert document_curie("doi:10.1/a", "x") == "doi:10.1%2Fa"
    assert document_curie("notes:1:2", "x") == "notes:1%3A2"
    assert document_curie("http://a.org/1", "x") == "x:http%3A%2F%2Fa.org%2F1"
    assert document_curie("my file/1.txt", "x") == "x:my%20file%2F1.txt"


def test_every_id_in_the_graph_is_a_curie_for_kgx(tmp_path: Path) -> None:
    variant = Link(id="c.1", ontology="HGVS", curie="HGVS:NM_1.2:c.76A>G")
    address = Link(id="http://a.org/x")
    mentions = (mention(0, "A76G", "Variant", variant), mention(5, "x", "Disease", address, FOXO))
    document = Document(id="doi:10.1/a:b", text="A76G x", mentions=mentions)
    totals = write_graph([document], tmp_path / "graph")
    assert (totals.concepts, totals.unnamed) == (2, 1)
    nodes, edges = rows(tmp_path / "graph", "nodes"), rows(tmp_path / "graph", "edges").values()
    assert list(nodes) == ["doi:10.1%2Fa%3Ab", "HGVS:NM_1.2%3Ac.76A>G", "NCBIGene:2308"]
    assert {edge[end] for edge in edges for end in ("subject", "object")} == set(nodes)
    assert all(re.fullmatch(r"[^ <()>:]*:[^/ :]+", name) for name in nodes)


@pytest.mark.parametrize("prefix", ["", "PMID:", "a:b", "my docs", "1", "ä"])
def test_a_prefix_that_no_curie_has_is_refused(prefix: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^the prefix .* is not allowed; give letters"):
        write_graph(DOCUMENTS, tmp_path / "graph", prefix=prefix)
    assert list(tmp_path.iterdir()) == []


def test_the_command_reads_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("type\tname\tid\nChemical\tlithium\tMESH:D008094\n", encoding="utf-8")
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("Lithium helps.", encoding="utf-8")
    texts = [str(tmp_path / f"{number}.txt") for number in range(3)]
    folder = str(tmp_path / "run")
    assert cli.main(["run", *texts, "--pipeline", str(names), "--no-link", "-o", folder]) == 0
    assert cli.main(["graph", folder, "-o", str(tmp_path / "graph"), "--json"]) == 0
    counts = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (counts["documents"], counts["concepts"], counts["mentioned"]) == (3, 1, 3)
    part = next((tmp_path / "run").glob("part-*.jsonl"))
    part.rename(tmp_path / "part")
    assert cli.main(["graph", folder, "-o", str(tmp_path / "other")]) == 2
    assert f"the run in {folder} is damaged: files of it are missing" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
    (tmp_path / "part").rename(part)
    (tmp_path / "run" / "_SUCCESS").unlink()
    assert cli.main(["graph", folder, "-o", str(tmp_path / "other")]) == 2
    assert "is not complete; finish it with fascicle run --resume" in capsys.readouterr().err


def test_a_stream_without_a_title_is_named_by_its_first_line(tmp_path: Path) -> None:
    write_graph([SHORT], tmp_path / "graph")
    assert rows(tmp_path / "graph", "nodes")["PMC:22"]["name"] == "Tremor under lithium."


def test_spellings_of_one_prefix_are_one_concept(tmp_path: Path) -> None:
    links = [Link(id="FBgn1", ontology=name, curie=f"{name}:FBgn1") for name in ("FlyBase", "FB")]
    text = "Wingless and wg. Wg and lithium."
    once = mention(text.index("Wingless"), "Wingless", "Gene", links[0])
    again = mention(text.index("wg"), "wg", "Gene", links[1], links[0])
    other = mention(text.index("lithium"), "lithium", "Chemical", LITHIUM)
    document = Document(id="PMID:1", text=text, mentions=(once, again, other))
    write_graph([document], tmp_path / "graph")
    nodes, edges = rows(tmp_path / "graph", "nodes"), rows(tmp_path / "graph", "edges")
    assert list(nodes) == ["PMID:1", "FB:FBgn1", "MESH:D008094"]
    assert nodes["FB:FBgn1"]["mention_count"] == "2"
    assert sorted(edges) == ["PMID:1-mentions-FB:FBgn1", "PMID:1-mentions-MESH:D008094"]
    assert edges["PMID:1-mentions-FB:FBgn1"]["mention_count"] == "2"


def test_the_section_of_a_pair_is_that_of_its_first_mention(tmp_path: Path) -> None:
    """A sentence that begins in one section and ends in another one, whatever came before it."""
    text = "Lithium and tremor"
    sections = (Section(0, 8, "title"), Section(8, 18, "results"))
    both = (
        mention(text.index("Lithium"), "Lithium", "Chemical", LITHIUM),
        mention(text.index("tremor"), "tremor", "Disease", TREMOR),
    )
    crossing = Document(
        id="PMID:1", text=text, mentions=both, sections=sections, sentences=((0, 18),)
    )
    alone = Document(
        id="PMID:2", text="tremor", mentions=(mention(0, "tremor", "Disease", TREMOR),)
    )
    for name, documents in (("a", [crossing, alone]), ("b", [alone, crossing])):
        write_graph(documents, tmp_path / name)
        (pair,) = (edge for key, edge in rows(tmp_path / name, "edges").items() if "occurs" in key)
        assert pair["sections"] == "title:1"


def test_the_pairs_of_one_document_do_not_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Lithium causes tremor. " * 20
    found = [
        Mention(((at.start(), at.end()),), "X", links=(link,))
        for words, link in (("Lithium", LITHIUM), ("tremor", TREMOR))
        for at in re.finditer(words, text)
    ]
    document = Document(id="PMID:1", text=text, mentions=tuple(found))
    monkeypatch.setattr(counting, "_WAITING", 3)
    with counting.ConceptBase(tmp_path / "base.sqlite") as base:
        base.add(evidence_of(document, segmenter("rules@1")))
        assert len(base._pairs) <= 3
        (pair,) = base.pairs()
    assert (pair.support.count, pair.support.documents) == (20, 1)


def test_a_full_disk_is_an_error_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite says so in words of its own; a limit of pages stands for the disk."""
    monkeypatch.setattr(counting, "_MODE", f"{counting._MODE} PRAGMA max_page_count = 8;")
    many = [msgspec.structs.replace(DOCUMENTS[0], id=f"PMID:{number}") for number in range(9)]
    links = [Link(id=f"{number}", curie=f"X:{number}", ontology="X") for number in range(9_000)]
    one = Document(
        id="PMID:10",
        text="a" * 9_000,
        mentions=tuple(
            Mention(((at, at + 1),), "X", links=(link,)) for at, link in enumerate(links)
        ),
    )
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        write_graph([*many, one], tmp_path / "graph")
    assert not (tmp_path / "graph").exists()
