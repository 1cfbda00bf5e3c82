"""Curation over HTTP: what a page sends, what it gets, and who may."""

from __future__ import annotations

import asyncio
import csv
import json
import sqlite3
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from standing import Reply, Standing, standing

from fascicle.core.document import Document
from fascicle.formats.files import read
from fascicle.serving.curation.store import Store
from fascicle.serving.server import PipelineOpener
from fascicle.settings.choices import Choices
from fascicle.settings.serving import ServeSettings
from fascicle.terms.curation import read_rules

pytestmark = pytest.mark.loopback
TOKEN = "0123456789abcdef-secret"
TEXT = "Aspirin helps against headache 😀 and pain."
DOCUMENT = {
    "id": "a/b?c",
    "text": TEXT,
    "mentions": [
        {"spans": [[0, 7]], "type": "Chemical", "score": 0.6, "source": "m"},
        {"spans": [[22, 30]], "type": "Disease", "source": "m"},
    ],
}
ITEMS = ['["m","Chemical",[[0,7]]]', '["m","Disease",[[22,30]]]']


@pytest.fixture(scope="module")
def curated(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    settings = ServeSettings(curation=str(tmp_path_factory.mktemp("kept") / "decisions.sqlite"))
    with standing(
        {"small": PipelineOpener(given=str(small), choices=Choices(links=False))}, settings
    ) as found:
        yield found


def added(service: Standing, name: str, **parts: Any) -> dict[str, Any]:
    document = {**DOCUMENT, "id": name, **parts}
    reply = service.ask("POST", "/v1/curation/documents", {"documents": [document], "who": "Ada"})
    assert reply.status == 200, reply.content
    (found,) = reply.json["documents"]
    return dict(found)


def step(service: Standing, name: str, number: int, after: int = 0, **parts: Any) -> Reply:
    body = {
        "document": name,
        "id": f"{hash(name) % 10**9:x}{number:x}".rjust(32, "0"),
        "who": "Ada",
        "after": after,
    }
    return service.ask("POST", "/v1/curation/steps", {**body, **parts})


def accept(item: int) -> dict[str, Any]:
    mention = DOCUMENT["mentions"][item]
    assert isinstance(mention, dict)
    return {"item": ITEMS[item], "after": {"spans": mention["spans"], "type": mention["type"]}}


def test_a_document_is_added_decided_about_and_exported(curated: Standing, tmp_path: Path) -> None:
    name = "a/b?c&d=😀"
    assert added(curated, name)["steps"] == []
    first = step(curated, name, 1, edits=[accept(0)]).json["steps"][0]
    step(curated, name, 2, after=first["number"], edits=[{"item": ITEMS[1], "after": None}])
    reply = curated.ask("GET", "/v1/curation/export?what=gold&format=jsonl")
    assert reply.headers["content-disposition"].endswith('filename="gold.jsonl"')
    (tmp_path / "gold.jsonl").write_bytes(reply.content)
    gold = {one.id: one for one in read(tmp_path / "gold.jsonl")}[name]
    assert [(one.type, one.spans, one.source) for one in gold.mentions] == [
        ("Chemical", ((0, 7),), "gold")
    ]


@pytest.mark.parametrize("form", ["brat", "conll", "bioc-json"])
def test_gold_is_written_in_formats_for_training(
    curated: Standing, tmp_path: Path, form: str
) -> None:
    added(curated, "formats")
    step(curated, "formats", 1, edits=[accept(0), accept(1)])
    reply = curated.ask("GET", f"/v1/curation/export?what=gold&format={form}")
    name = reply.headers["content-disposition"].partition('"')[2].rstrip('"')
    (tmp_path / name).write_bytes(reply.content)
    words = {
        one.mention.text_in(found.text)
        for found in read(tmp_path / name, format=form)
        for one in found
    }
    assert {"Aspirin", "headache"} <= words


def test_every_decision_is_a_row_before_anything_is_finished(
    curated: Standing, tmp_path: Path
) -> None:
    links = [{"id": "D1", "ontology": "MESH"}]
    marked = [dict(DOCUMENT["mentions"][0], links=links), *DOCUMENT["mentions"][1:]]  # type: ignore[arg-type]
    third = {"spans": [[37, 41]], "type": "Disease", "source": "m"}
    added(curated, "rows", mentions=[*marked, third, {**third, "spans": [[8, 13]]}])
    changed = {"item": ITEMS[0], "after": {"spans": [[0, 7]], "type": "Drug"}}
    new = {"item": "added-1", "after": {"spans": [[14, 21]], "type": "Verb"}}
    edits = [changed, accept(1), {"item": '["m","Disease",[[37,41]]]', "after": None}, new]
    last = step(curated, "rows", 1, edits=edits).json["steps"][0]
    for number, (item, note) in enumerate(((ITEMS[0], "=a drug"), ("added-1", "why"), ("", "all"))):
        remark = {"item": item, "note": note}
        last = step(curated, "rows", 2 + number, after=last["number"], remark=remark).json["steps"][
            0
        ]
    added(curated, "bare", mentions=[])
    step(curated, "bare", 1, remark={"note": "nothing here"})
    tables = {}
    for form in ("csv", "xlsx"):
        reply = curated.ask("GET", f"/v1/curation/export?what=decisions&format={form}")
        assert reply.headers["content-disposition"].endswith(f'filename="decisions.{form}"')
        (tmp_path / f"d.{form}").write_bytes(reply.content)
    with (tmp_path / "d.csv").open(encoding="utf-8-sig", newline="") as stream:
        tables["csv"] = list(csv.DictReader(stream))
    sheet = openpyxl.load_workbook(tmp_path / "d.xlsx").active
    names, *cells = sheet.iter_rows(values_only=True)
    tables["xlsx"] = [dict(zip(names, row, strict=True)) for row in cells]
    for table in tables.values():
        rows = [row for row in table if row["document"] == "rows"]
        columns = ("mention", "type", "decision", "curator", "predicted")
        assert [tuple(row[column] or "" for column in columns) for row in rows] == [
            ("Aspirin", "Drug", "changed", "Ada", "Aspirin (Chemical, MESH:D1)"),
            ("helps", "Disease", "open", "", ""),
            ("headache", "Disease", "accepted", "Ada", ""),
            ("pain", "Disease", "rejected", "Ada", ""),
            ("against", "Verb", "added", "Ada", ""),
        ]
        assert [row["note"] or "" for row in rows] == ["Ada: =a drug", "", "", "", "Ada: why"]
        assert {row["document_note"] for row in rows} == {"Ada: all"}
        (bare,) = [row for row in table if row["document"] == "bare"]
        assert (bare["decision"] or "", bare["document_note"]) == ("", "Ada: nothing here")
        assert [bool(row["date"]) for row in rows] == [True, False, True, True, True]
        assert (rows[2]["before"].strip(), rows[2]["after"].strip()) == (
            "Aspirin helps against",
            "😀 and pain.",
        )
    finished = curated.ask("GET", "/v1/curation/export?what=decisions&finished=true")
    assert b"against" not in finished.content
    reply = curated.ask("GET", "/v1/curation/export?what=decisions&format=brat")
    assert (reply.status, "csv" in reply.json["detail"]) == (422, True)


@pytest.mark.parametrize(
    ("missing", "tables"),
    [("", ["csv", "tsv", "xlsx", "parquet"]), ("openpyxl", ["csv", "tsv", "parquet"])],
)
def test_tables_are_offered_whose_packages_are_here(
    curated: Standing, monkeypatch: pytest.MonkeyPatch, missing: str, tables: list[str]
) -> None:
    monkeypatch.setattr("fascicle.serving.routes.curation.find_spec", lambda name: name != missing)
    assert curated.ask("GET", "/v1/curation").json["tables"] == tables


def test_the_key_of_a_mention_may_have_blanks(curated: Standing) -> None:
    added(curated, "blanks")
    spaced = json.dumps(json.loads(ITEMS[0]))
    assert spaced != ITEMS[0]
    first = step(curated, "blanks", 1, edits=[{**accept(0), "item": spaced}]).json["steps"][0]
    remark = {"item": spaced, "note": "why"}
    again = step(curated, "blanks", 2, after=first["number"], remark=remark).json["steps"][0]
    # the page compares texts
    assert (first["edits"][0]["item"], again["remark"]["item"]) == (ITEMS[0], ITEMS[0])


def test_rules_are_a_table_that_packs_read(curated: Standing, tmp_path: Path) -> None:
    added(
        curated,
        "rules",
        text="Zzyzx is here.",
        mentions=[{"spans": [[0, 5]], "type": "Gene", "source": "m"}],
    )
    step(curated, "rules", 1, edits=[{"item": '["m","Gene",[[0,5]]]', "after": None}])
    (tmp_path / "rules.tsv").write_bytes(
        curated.ask("GET", "/v1/curation/export?what=rules").content
    )
    assert ("ner_off", "Zzyzx") in {
        (one.action, one.surface) for one in read_rules([str(tmp_path / "rules.tsv")])
    }


def test_tasks_of_label_studio_come_back_as_decisions(curated: Standing) -> None:
    added(curated, "tasks")
    step(curated, "tasks", 1, edits=[accept(0)])
    tasks = json.loads(curated.ask("GET", "/v1/curation/export?what=tasks").content)
    (task,) = [one for one in tasks if one["meta"]["fascicle"]["id"] == "tasks"]
    assert {one["model_version"] for one in task["predictions"]} == {"m"}
    task["annotations"][0]["result"][0]["value"]["labels"] = ["Disease"]
    content = json.dumps([task]).encode()
    query = "?name=back.label-studio.json&who=Bob"
    kind = {"Content-Type": "application/octet-stream"}
    reply = curated.ask("POST", f"/v1/curation/import{query}", content, kind)
    assert (reply.json["documents"], reply.json["decisions"]) == (1, 3), reply.content
    assert curated.ask("POST", f"/v1/curation/import{query}", content, kind).json["decisions"] == 0


def test_a_table_of_decisions_grows_with_its_mentions_alone(curated: Standing) -> None:
    """3,000 mentions in a list that is one sentence were 87 MB."""
    sizes = []
    for number, count in enumerate((400, 800)):
        text = ", ".join(f"drug{each:05}" for each in range(count))
        spans = [[[11 * each, 11 * each + 9]] for each in range(count)]
        mentions = [{"spans": span, "type": "Chemical", "source": "m"} for span in spans]
        before = len(curated.ask("GET", "/v1/curation/export?what=decisions").content)
        added(curated, f"list {number}", text=text, mentions=mentions)
        after = len(curated.ask("GET", "/v1/curation/export?what=decisions").content)
        sizes.append(after - before)
    assert 1.5 < sizes[1] / sizes[0] < 2.5


def test_an_export_is_read_beside_the_loop_that_answers_others(
    curated: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    loops, read_bytes = [], Path.read_bytes

    def watched(path: Path) -> bytes:
        loops.append(asyncio._get_running_loop())
        return read_bytes(path)

    added(curated, "beside")
    monkeypatch.setattr(Path, "read_bytes", watched)
    for query in ("what=decisions", "what=gold", "what=tasks"):
        assert curated.ask("GET", f"/v1/curation/export?{query}").status == 200
    assert loops == [None] * 3


def test_gold_that_a_format_cannot_hold_is_refused(curated: Standing) -> None:
    """No document of gold is left out, as by ``fascicle curation export``."""

    def gold(form: str) -> Reply:
        return curated.ask("GET", f"/v1/curation/export?format={form}")

    added(curated, "blank")
    added(curated, "whole")
    mention = {"spans": [[0, 7]], "type": "Odd type"}
    first = step(curated, "blank", 1, edits=[{"item": "added-1", "after": mention}])
    after = first.json["steps"][0]["number"]
    reply = gold("brat")
    assert reply.status == 422
    assert reply.json["detail"].startswith("the type 'Odd type' of document 'blank' cannot")
    assert gold("jsonl").status == 200
    step(curated, "blank", 2, after=after, edits=[{"item": "added-1", "after": None}])
    names = zipfile.ZipFile(BytesIO(gold("brat").content)).namelist()
    assert {"whole.txt", "blank.txt"} <= set(names)


@pytest.mark.parametrize(
    "query",
    ["what=tasks&format=brat", "what=rules&format=jsonl", "version=Ada", "what=rules&version=x"],
)
def test_what_an_export_would_ignore_is_refused(curated: Standing, query: str) -> None:
    reply = curated.ask("GET", f"/v1/curation/export?{query}")
    assert reply.status == 422
    assert "leave it out" in reply.json["detail"]


def test_what_an_import_loses_is_said(curated: Standing) -> None:
    region = {"type": "labels", "value": {"start": 0, "end": 900, "labels": ["Gene"]}}
    task = {
        "data": {"text": TEXT},
        "meta": {"fascicle": {"id": "lost"}},
        "annotations": [{"result": [region]}],
    }
    kind = {"Content-Type": "application/octet-stream"}
    reply = curated.ask(
        "POST", "/v1/curation/import?name=t.json&who=Bob", json.dumps([task]).encode(), kind
    )
    assert reply.json["decisions"] == 0
    assert any("offset-outside: 1" in note for note in reply.json["notes"])


def test_the_least_sure_document_comes_first(curated: Standing) -> None:
    added(curated, "sure", mentions=[])
    added(
        curated,
        "doubtful",
        mentions=[{"spans": [[0, 7]], "type": "T", "score": 0.5, "source": "m"}],
    )
    found = curated.ask("GET", "/v1/curation/documents?order=uncertainty").json["documents"]
    names = [one["id"] for one in found]
    assert names.index("doubtful") < names.index("sure")
    assert [one["uncertainty"] for one in found] == sorted(
        (one["uncertainty"] for one in found), reverse=True
    )


def test_what_does_not_fit_is_refused_in_one_sentence(curated: Standing) -> None:
    added(curated, "refused")
    first = step(curated, "refused", 1, edits=[accept(0)]).json["steps"][0]["number"]
    cases = [
        (step(curated, "refused", 2, edits=[accept(1)]), 409),
        (step(curated, "refused", 3, after=first, edits=[{"item": "x", "after": None}]), 422),
        (step(curated, "refused", 4, after=first, undoes=999_999), 422),
        (step(curated, "refused", 5, after=first), 422),
        (step(curated, "nowhere", 6, edits=[accept(0)]), 404),
        (step(curated, "refused", 7, after=first, who="", finished=True), 422),
        (step(curated, "refused", 10, after=first, who="Ada\nBob", finished=True), 422),
        (step(curated, "refused", 8, after=first, finished=True, more=1), 422),
        (
            step(
                curated,
                "refused",
                9,
                after=first,
                edits=[{**accept(1), "after": {"spans": [[0, 1]], "type": "\n"}}],
            ),
            422,
        ),
        (
            curated.ask(
                "POST",
                "/v1/curation/documents",
                {"documents": [{**DOCUMENT, "id": "i" * 1_001}], "who": "Ada"},
            ),
            422,
        ),
        (curated.ask("GET", "/v1/curation/document?id=nowhere"), 404),
        (curated.ask("GET", "/v1/curation/document"), 422),
        (curated.ask("GET", "/v1/curation/documents?order=random"), 422),
        (curated.ask("GET", "/v1/curation/export?format=nothing"), 422),
        (
            curated.ask(
                "POST",
                "/v1/curation/documents",
                {"documents": [{**DOCUMENT, "id": "refused", "text": TEXT * 2}], "who": "Ada"},
            ),
            409,
        ),
    ]
    assert [reply.status for reply, _ in cases] == [status for _, status in cases]
    details = [reply.json["detail"] for reply, _ in cases]
    assert all(said and "Traceback" not in said and "regex" not in said for said in details)
    assert len(curated.ask("GET", "/v1/curation/document?id=refused").json["steps"]) == 1


def test_a_curator_takes_back_no_step_of_another(curated: Standing) -> None:
    added(curated, "shared")
    first = step(curated, "shared", 1, edits=[accept(0)]).json["steps"][0]["number"]
    refused = step(curated, "shared", 2, after=first, who="Ben", undoes=first)
    assert (refused.status, "none of Ben" in refused.json["detail"]) == (422, True)
    undone = step(curated, "shared", 3, after=first, undoes=first)
    assert undone.status == 200
    last = undone.json["steps"][0]["number"]
    # nor does he redo hers
    assert step(curated, "shared", 4, after=last, who="Ben", undoes=last).status == 422


def test_pages_elsewhere_cannot_decide(curated: Standing) -> None:
    added(curated, "forged")
    body = {"document": "forged", "id": "f" * 32, "who": "Eve", "after": 0, "finished": True}
    content = json.dumps(body).encode()
    for headers in (
        {"Content-Type": "application/json", "Origin": "https://evil.example"},
        {"Content-Type": "application/json", "Origin": "null"},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "application/json", "Host": "evil.example"},
    ):
        assert curated.ask("POST", "/v1/curation/steps", content, headers).status in {403, 415, 421}
    for kind in ("text/plain", "multipart/form-data"):
        reply = curated.ask(
            "POST", "/v1/curation/import?name=a.txt&who=Eve", b"Text", {"Content-Type": kind}
        )
        assert reply.status == 415
    assert curated.ask("GET", "/v1/curation/document?id=forged").json["steps"] == []


def test_a_damaged_file_is_exported_without_what_is_damaged(small: Path, tmp_path: Path) -> None:
    place = tmp_path / "decisions.sqlite"
    store = Store.open(place)
    store.add([Document(id=name, text=TEXT) for name in ("one", "two", "three")], "Ada")
    store.close()
    connection = sqlite3.connect(place)
    connection.execute("DROP TRIGGER documents_stay")
    connection.execute(
        "UPDATE documents SET content = CAST(replace(content, 'pain', 'gain') AS BLOB) WHERE id "
        "= 'two'"
    )
    connection.commit()
    connection.close()
    settings = ServeSettings(curation=str(place))
    with standing(
        {"small": PipelineOpener(given=str(small), choices=Choices(links=False))}, settings
    ) as service:
        assert "document 2 is damaged" in service.ask("GET", "/v1/curation").json["damages"]
        reply = service.ask("GET", "/v1/curation/export?what=gold")
        assert [json.loads(line)["id"] for line in reply.content.splitlines()] == ["one", "three"]
        assert reply.headers["fascicle-losses"] == "damages=1"
        found = service.ask("GET", "/v1/curation/document?id=two")
        assert (found.status, found.json["code"]) == (409, "damaged")
        refused = service.ask(
            "POST", "/v1/curation/documents", {"documents": [DOCUMENT], "who": "Ada"}
        )
        assert (refused.status, refused.json["code"]) == (409, "damaged")
        assert "repair" in refused.json["detail"]


def test_without_a_file_there_is_no_curation(small: Path) -> None:
    settings = replace(ServeSettings(), token=TOKEN, hosts=())
    with standing(
        {"small": PipelineOpener(given=str(small), choices=Choices(links=False))}, settings
    ) as service:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert service.ask("GET", "/v1/curation").status == 401
        about = service.ask("GET", "/v1/curation", headers=bearer).json
        assert about == {
            "open": False,
            "documents": 0,
            "who": "",
            "role": "",
            "project": None,
            "uncounted": [],
            "damages": [],
            "tables": [],
        }
        assert service.ask("GET", "/v1/curation/documents", headers=bearer).status == 404
        assert service.ask("GET", "/v1/curation/export", headers=bearer).status == 404


def test_a_file_that_takes_nothing_is_no_fault_and_loses_nothing(curated: Standing) -> None:
    added(curated, "stuck")
    store = curated.service.curation
    assert store is not None
    connection = store._connection
    connection.execute("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(curated.service.settings.curation, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")  # as a program that copies the file may do
    reply = step(curated, "stuck", 1, finished=True)
    assert (reply.status, "retry-after" in reply.headers) == (503, True)
    other.execute("ROLLBACK")
    other.close()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    long = {"documents": [{"id": "long", "text": "x" * 100_000}], "who": "Ada"}
    assert curated.ask("POST", "/v1/curation/documents", long).status == 507
    connection.execute(f"PRAGMA max_page_count = {1 << 30}")
    connection.execute("PRAGMA query_only = 1")  # as a file system that became read-only
    assert step(curated, "stuck", 2, finished=True).status == 503
    connection.execute("PRAGMA query_only = 0")
    assert step(curated, "stuck", 1, finished=True).status == 200
    assert curated.ask("POST", "/v1/curation/documents", long).status == 200
