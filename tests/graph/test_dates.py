"""Dates of edges against those of other code; and words with several mentions count once."""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from tests.graph.test_kgx import filled, rows
from tests.support.concepts import LITHIUM, SHORT, TREMOR, mention

from fascicle import cli, read
from fascicle.core.document import Document, Link
from fascicle.formats import write
from fascicle.graph import counts as counting
from fascicle.graph.concepts import write_concepts
from fascicle.graph.evidence import date_of
from fascicle.graph.kgx import write_graph

FORMS = ("{0}", "{0}-0{1}", "{0}-0{1}-1{2}")


def dated(count: int) -> Iterator[Document]:
    """Documents of one sentence with three concepts each; some of them have a date or a year."""
    chance = random.Random(7)
    for number in range(count):
        words = [f"C{number}" for number in sorted(chance.sample(range(9), 3))]
        text, mentions = f"{words[0]} and {words[1]} and {words[2]}.", []
        for word in words:
            link = Link(id=word, ontology="MESH", name=word, curie=f"MESH:{word}")
            mentions.append(mention(text.index(word), word, "Chemical", link))
        form = chance.choice(FORMS)
        date = form.format(chance.randint(1950, 2026), chance.randint(1, 9), chance.randint(0, 9))
        all_facts: list[dict[str, str]] = [{}, {"year": date[:4]}, {"date": date, "year": "1900"}]
        facts = chance.choice(all_facts)
        yield Document(id=f"PMID:{number}", text=text, mentions=tuple(mentions), meta=facts)


@pytest.mark.parametrize("waiting", [1, 100_000])
def test_edges_have_the_dates_of_their_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, waiting: int
) -> None:
    monkeypatch.setattr(counting, "_WAITING", waiting)
    expected = defaultdict[tuple[str, str], list[str | None]](list)
    for document in dated(80):
        date = document.meta.get("date", document.meta.get("year"))
        names = document.text.rstrip(".").split(" and ")
        for name in names:
            expected[document.id, f"MESH:{name}"] += [date]
        for first, second in combinations(names, 2):
            expected[f"MESH:{first}", f"MESH:{second}"] += [date]
    write_graph(dated(80), tmp_path / "graph")
    with (tmp_path / "graph" / "edges.tsv").open(encoding="utf-8", newline="") as stream:
        edges = list(csv.DictReader(stream, delimiter="\t"))
    assert {
        (edge["subject"], edge["object"]): (edge["first_date"], edge["last_date"]) for edge in edges
    } == {
        pair: (min(filter(None, dates), default=""), max(filter(None, dates), default=""))
        for pair, dates in expected.items()
    }
    assert {edge["first_date"] == edge["last_date"] for edge in edges} == {False, True}


@pytest.mark.parametrize(
    ("facts", "date"),
    [
        ({"year": "2001"}, "2001"),
        ({"Year": " 2001 "}, "2001"),
        ({"date": "2001-03-04T12:00:00Z", "year": "1999"}, "2001-03-04"),
        ({"date": "2001-03"}, "2001-03"),
        ({"date": "2001 Mar 4"}, "2001"),
        ({"date": "2001/2002"}, "2001"),
        ({"date": "2001-13-40"}, "2001"),
        ({"date": "04/03/2001", "year": "2001"}, "2001"),
        ({"date": "04/03/2001"}, ""),
        ({"date": "20010304"}, ""),
        ({"date": ""}, ""),
        ({"years": "2001"}, ""),
    ],
)
def test_a_date_is_read_from_facts(facts: dict[str, str], date: str) -> None:
    assert date_of(facts) == date


def test_dates_in_columns_are_read(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,text,Date\n1,Tremor.,2001-03-04\n", encoding="utf-8")
    (document,) = read(tmp_path / "in.csv")
    linked = document.having(mentions=(mention(0, "Tremor", "Disease", TREMOR),))
    write_graph([linked], tmp_path / "graph")
    (edge,) = rows(tmp_path / "graph", "edges").values()
    assert (edge["first_date"], edge["last_date"]) == ("2001-03-04", "2001-03-04")
    assert rows(tmp_path / "graph", "nodes")["document:1"]["year"] == "2001"


def test_a_date_in_another_form_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = msgspec.structs.replace(SHORT, id="PMC1", meta={"date": "04/03/2001"})
    write(tmp_path / "in.jsonl", [SHORT, other])
    assert cli.main(["graph", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "graph")]) == 0
    assert (
        "no date of 1 document: it is not in a form such as 2001-03-04" in capsys.readouterr().err
    )


def layers() -> Document:
    """The same words in the gold, in predictions, and by two links of one mention."""
    words = "Lithium", "Chemical"
    gold = msgspec.structs.replace(
        mention(0, *words, msgspec.structs.replace(LITHIUM, name="")), source="gold", score=None
    )
    found = mention(0, *words, LITHIUM, LITHIUM, facts=("negated",))
    return Document(id="1", text="Lithium helps.", mentions=(gold, found))


def test_the_same_words_in_two_layers_count_once(tmp_path: Path) -> None:
    write_graph([layers()], tmp_path / "graph")
    (edge,) = rows(tmp_path / "graph", "edges").values()
    assert filled(edge)["mention_count"] == "1"
    assert (edge["sources"], edge["negated_count"]) == ("gold|m", "1")
    assert edge["sections"] == "text:1"
    assert edge["probability"] == "0.9"  # of the link of the gold, whose mention has no score
    node = rows(tmp_path / "graph", "nodes")["MESH:D008094"]
    assert (node["mention_count"], node["name"]) == ("1", "Lithium")
    assert write_concepts([layers()], tmp_path / "c.csv").mentions == 1
    with (tmp_path / "c.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["mentions"], row["weight"], row["name"]) == ("1", "1.0", "Lithium")
