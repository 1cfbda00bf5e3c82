"""A project over HTTP: curators who do not see each other, reviewers, and clients who try what
they may not.
"""

from __future__ import annotations

import csv
import io
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from standing import JSON, Reply, Standing, standing

from fascicle.errors import UsageError
from fascicle.formats.files import read
from fascicle.serving.app import service_of
from fascicle.serving.curation import rows
from fascicle.serving.server import PipelineOpener
from fascicle.settings.choices import Choices
from fascicle.settings.serving import NamedToken, Project, Role, ServeSettings, hash_token
from fascicle.verbs.agreement import agree_all

pytestmark = pytest.mark.loopback
TEXT = "Aspirin helps against headache and pain."
MENTIONS = [
    {"spans": [[0, 7]], "type": "Chemical", "source": "m", "score": 0.6},
    {"spans": [[22, 30]], "type": "Disease", "source": "m"},
]
ITEMS = ['["m","Chemical",[[0,7]]]', '["m","Disease",[[22,30]]]']
GOLD = [
    '["gold","Chemical",[[0,7]]]',
    '["gold","Disease",[[22,30]]]',
    '["gold","Secret",[[35,39]]]',
]
ROLES: dict[str, Role] = {
    "Ada": "curator",
    "Ben": "curator",
    "Cy": "curator",
    "Rita": "reviewer",
    "Root": "administrator",
}
PROJECT = Project(name="Pain", curators=("Ada", "Ben"), guidelines={"Chemical": "no classes"})


class Team:
    """A service of a project, and everyone who asks it."""

    def __init__(self, service: Standing) -> None:
        self.service, self.last = service, dict[tuple[str, str], int]()

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Reply:
        bearer = {"Authorization": f"Bearer {who:x>32}", **(JSON if body is not None else {})}
        return self.service.ask(method, f"/v1/curation{path}", body, bearer)

    def add(self, *names: str, who: str = "Rita", text: str = TEXT) -> Reply:
        documents = [{"id": name, "text": text, "mentions": MENTIONS} for name in names]
        return self.ask(who, "POST", "/documents", {"documents": documents, "who": who})

    def step(self, who: str, name: str, **parts: Any) -> Reply:
        version = parts.get("version")
        asked = self.ask(
            who, "GET", f"/document?id={name}" + ("" if version is None else f"&version={version}")
        )
        after = (
            ([0] + [one["number"] for one in asked.json["steps"]])[-1] if asked.status == 200 else 0
        )
        body = {"document": name, "id": secrets.token_hex(16), "who": who, "after": after, **parts}
        return self.ask(who, "POST", "/steps", body)

    def listed(self, who: str, query: str = "") -> list[str]:
        return [one["id"] for one in self.ask(who, "GET", f"/documents?{query}").json["documents"]]

    def gold(self, who: str, place: Path, query: str = "finished=true") -> dict[str, list[str]]:
        reply = self.ask(who, "GET", f"/export?format=jsonl&{query}")
        place.write_bytes(reply.content)
        return (
            {one.id: [mention.type for mention in one.mentions] for one in read(place)}
            if reply.content
            else {}
        )


def accepts(*items: int) -> list[dict[str, Any]]:
    told = [{name: MENTIONS[at][name] for name in ("spans", "type")} for at in (0, 1)]
    return [{"item": ITEMS[at], "after": told[at] if at in items else None} for at in (0, 1)]


SECRET = {"item": "added-1", "after": {"spans": [[35, 39]], "type": "Secret"}}


@pytest.fixture(scope="module")
def serve(
    small: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[Project], Team]]:
    tokens = tuple(
        NamedToken(name=name, role=role, hash=hash_token(f"{name:x>32}"))
        for name, role in ROLES.items()
    )
    open_ones = []

    def begin(project: Project) -> Team:
        place = tmp_path_factory.mktemp("team") / "decisions.sqlite"
        settings = ServeSettings(curation=str(place), tokens=tokens, project=project)
        one = standing(
            {"small": PipelineOpener(given=str(small), choices=Choices(links=False))}, settings
        )
        open_ones.append(one)
        return Team(one.__enter__())

    yield begin
    for one in open_ones:
        one.__exit__(None, None, None)


@pytest.fixture(scope="module")
def team(serve: Callable[[Project], Team]) -> Team:
    return serve(PROJECT)


def test_the_page_is_told_of_the_project(team: Team) -> None:
    found = team.ask("Ada", "GET", "").json
    assert (found["who"], found["role"], found["project"]) == (
        "Ada",
        "curator",
        json.loads(msgspec.json.encode(PROJECT)),
    )


def test_what_one_curator_decides_reaches_no_other_before_both_are_done(team: Team) -> None:
    team.add("private")
    assert team.step("Ben", "private", edits=[*accepts(0), SECRET]).status == 200
    assert (
        team.step("Ben", "private", remark={"note": "Secret note", "flagged": True}).status == 200
    )
    assert team.step("Ben", "private", finished=True).status == 200
    team.step("Ada", "private", edits=accepts(1))
    tries = [
        "/document?id=private",
        "/document?id=private&version=Ben",
        "/document?id=private&version=",
        "/documents?show=disagreement",
        "/documents?show=flagged",
        "/documents",
        "/review?id=private",
        "/agreement",
        "/export",
        "/export?version=Ben",
        "/export?version=",
        "/export?what=rules&version=Ben",
        "/export?what=tasks&version=",
    ]
    answers = {path: team.ask("Ada", "GET", path) for path in tries}
    assert not [
        path
        for path, one in answers.items()
        if b"ecret" in one.content or b'"disputed":1' in one.content
    ]
    assert {
        path: one.status for path, one in answers.items() if one.status != 200
    } == dict.fromkeys((tries[1], tries[2], "/review?id=private", "/agreement"), 403)
    again = team.ask(
        "Ada", "POST", "/documents", {"documents": [{"id": "private", "text": TEXT}], "who": "Ada"}
    )
    assert again.status == 403
    assert team.step("Ada", "private", finished=True).status == 200
    seen = team.ask("Ada", "GET", "/review?id=private").json
    assert {one["who"]: [m["type"] for m in one["mentions"]] for one in seen["versions"]} == {
        "Ada": ["Disease"],
        "Ben": ["Chemical", "Secret"],
    }
    assert seen["versions"][1]["notes"] == [{"note": "Secret note", "flagged": True}]
    assert team.ask("Ada", "GET", "/document?id=private&version=Ben").status == 200


def test_nobody_decides_for_others_or_after_the_end(team: Team) -> None:
    team.add("closed")
    team.step("Ada", "closed", edits=accepts(0))
    body = {"document": "closed", "id": "a" * 32, "after": 0, "edits": accepts(0)}
    assert team.ask("Ada", "POST", "/steps", {**body, "who": "Ben"}).status == 403
    assert team.ask("Ada", "POST", "/steps", {**body, "who": "Ada", "version": "Ben"}).status == 403
    assert team.ask("Ada", "POST", "/steps", {**body, "who": "Ada", "version": ""}).status == 403
    assert team.ask("Cy", "POST", "/steps", {**body, "who": "Cy"}).status == 403
    assert team.ask("Cy", "GET", "/document?id=closed").json["code"] == "hidden"
    finish = {"document": "closed", "id": "b" * 32, "who": "Ada", "finished": True}
    finish["after"] = team.ask("Ada", "GET", "/document?id=closed").json["steps"][-1]["number"]
    saved = team.ask("Ada", "POST", "/steps", finish)
    # sent again, as after a lost connection
    assert team.ask("Ada", "POST", "/steps", finish).json == saved.json
    for parts in (
        {"edits": accepts(1)},
        {"finished": False},
        {"undoes": saved.json["steps"][0]["number"]},
    ):
        reply = team.step("Ada", "closed", **parts)
        assert (reply.status, reply.json["code"]) == (409, "finished")
    assert team.step("Ada", "closed", remark={"note": "sorry"}).status == 200
    assert team.step("Ben", "closed", version="Ada", finished=False).status == 403
    assert team.step("Rita", "closed", version="Ada", edits=accepts(1)).status == 403
    assert team.step("Rita", "closed", version="Ada", finished=False).status == 200
    assert team.step("Ada", "closed", edits=accepts(1)).status == 200


def test_the_reviewer_has_the_last_word(team: Team, tmp_path: Path) -> None:
    team.add("reviewed")
    for who, edits in (("Ada", accepts(0, 1)), ("Ben", [*accepts(1), SECRET])):
        team.step(who, "reviewed", edits=edits)
        team.step(who, "reviewed", finished=True)
    states = {
        one["item"]: one["state"]
        for one in team.ask("Rita", "GET", "/review?id=reviewed").json["items"]
    }
    assert states == {GOLD[0]: "disputed", GOLD[1]: "agreed", GOLD[2]: "disputed"}
    assert "reviewed" in team.listed("Rita", "show=disagreement")
    assert "reviewed" not in team.gold("Rita", tmp_path / "a.jsonl")
    assert team.gold("Rita", tmp_path / "a.jsonl", "version=")["reviewed"] == ["Disease"]
    assert "undecided=" in team.ask("Rita", "GET", "/export").headers["fascicle-losses"]
    kept = {"spans": [[0, 7]], "type": "Chemical"}
    told = [{"item": GOLD[0], "after": kept}, {"item": GOLD[2], "after": None}]
    assert team.step("Rita", "reviewed", version="", edits=told).status == 200
    assert team.gold("Rita", tmp_path / "b.jsonl")["reviewed"] == ["Chemical", "Disease"]
    assert "reviewed" not in team.listed("Rita", "show=disagreement")
    (last,) = team.ask("Rita", "GET", "/review?id=reviewed").json["steps"]
    assert team.step("Rita", "reviewed", version="", undoes=last["number"]).status == 200
    assert "reviewed" in team.listed("Rita", "show=disagreement")


def test_the_table_has_what_each_curator_decided_and_noted(team: Team) -> None:
    team.add("table")
    drug = {"item": ITEMS[0], "after": {"spans": [[0, 7]], "type": "Drug"}}
    spaced = '["m", "Chemical", [[0, 7]]]'
    for who, edits, note in (
        ("Ada", [drug, {"item": ITEMS[1], "after": None}], "a drug"),
        ("Ben", [{**accepts(0)[0], "item": spaced}], "no"),
    ):
        assert team.step(who, "table", edits=edits).status == 200
        assert team.step(who, "table", remark={"item": spaced, "note": note}).status == 200
        assert team.step(who, "table", remark={"note": f"all of {who}"}).status == 200

    def table() -> list[dict[str, str]]:
        reply = team.ask("Rita", "GET", "/export?what=decisions")
        assert "undecided" not in reply.headers.get("fascicle-losses", "")
        rows = csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig")))
        return [row for row in rows if row["document"] == "table"]

    columns = ("version", "mention", "type", "decision", "curator", "note", "document_note")
    assert [tuple(row[name] for name in columns) for row in table()] == [
        ("reviewed", "Aspirin", "Chemical", "open", "", "", ""),
        ("reviewed", "headache", "Disease", "open", "", "", ""),
        ("Ada", "Aspirin", "Drug", "changed", "Ada", "Ada: a drug", "Ada: all of Ada"),
        ("Ada", "headache", "Disease", "rejected", "Ada", "", "Ada: all of Ada"),
        ("Ben", "Aspirin", "Chemical", "accepted", "Ben", "Ben: no", "Ben: all of Ben"),
        ("Ben", "headache", "Disease", "open", "", "", "Ben: all of Ben"),
    ]
    team.step("Ben", "table", edits=[{"item": ITEMS[1], "after": None}])
    for who in ("Ada", "Ben"):
        team.step(who, "table", finished=True)
    edits = [
        {"item": GOLD[0], "after": None},
        {"item": '["gold","Drug",[[0,7]]]', "after": drug["after"]},
    ]
    assert team.step("Rita", "table", version="", edits=edits).status == 200
    remark = {"item": '["gold","Drug",[[0,7]]]', "note": "yes"}
    assert team.step("Rita", "table", version="", remark=remark).status == 200
    first, second = table()[:2]
    last = ("type", "decision", "curator", "note")
    assert [first[name] for name in last] == ["Drug", "changed", "Rita", "Rita: yes"]
    assert [second[name] for name in last] == ["Disease", "rejected", "", ""]
    assert (bool(first["date"]), bool(second["date"])) == (True, False)


def test_imported_gold_is_what_is_reviewed(team: Team, tmp_path: Path) -> None:
    team.add("imported")
    for who in ("Ada", "Ben"):
        team.step(who, "imported", edits=accepts(0))
        team.step(who, "imported", finished=True)
    gold = {
        "fascicle": 1,
        "id": "imported",
        "text": TEXT,
        "mentions": [{"spans": [[22, 30]], "type": "Disease"}],
    }
    bearer = {"Authorization": f"Bearer {'Rita':x>32}", "Content-Type": "application/octet-stream"}
    path = "/v1/curation/import?name=gold.jsonl&who=Rita"
    first = team.service.ask("POST", path, json.dumps(gold).encode(), bearer)
    assert first.status == 200, first.content
    assert first.json["decisions"] == 2
    assert team.service.ask("POST", path, json.dumps(gold).encode(), bearer).json["decisions"] == 0
    assert team.gold("Root", tmp_path / "a.jsonl")["imported"] == ["Disease"]


def test_an_import_tells_a_bound_reviewer_nothing(serve: Callable[[Project], Team]) -> None:
    team = serve(Project(curators=("Ada", "Rita")))
    team.add("guessed")
    team.step("Ada", "guessed", edits=accepts(0))
    team.step("Ada", "guessed", finished=True)
    gold = {
        "fascicle": 1,
        "id": "guessed",
        "text": TEXT,
        "mentions": [{"spans": [[0, 7]], "type": "Chemical"}],
    }
    bearer = {"Authorization": f"Bearer {'Rita':x>32}", "Content-Type": "application/octet-stream"}
    path = "/v1/curation/import?name=gold.jsonl&who=Rita"
    refused = team.service.ask("POST", path, json.dumps(gold).encode(), bearer)
    assert (refused.status, refused.json["code"]) == (403, "hidden")
    assert team.ask("Root", "GET", "/document?id=guessed&version=").json["steps"] == []
    assert (
        team.service.ask("POST", path, json.dumps({**gold, "id": "new"}).encode(), bearer).status
        == 200
    )
    team.step("Rita", "guessed", finished=True)
    assert team.service.ask("POST", path, json.dumps(gold).encode(), bearer).status == 200


def test_the_id_of_a_step_of_somebody_else_does_not_give_it_away(team: Team) -> None:
    team.add("ids")
    name = secrets.token_hex(16)
    assert team.step("Ada", "ids", id=name, edits=accepts(0)).status == 200
    assert team.step("Ben", "ids", id=name, edits=accepts(0)).status == 409


def test_the_list_is_searched_filtered_and_in_pages(serve: Callable[[Project], Team]) -> None:
    team = serve(Project(curators=("Ada", "Ben", "Cy"), per_document=2))
    names = [f"n{number:02}" for number in range(30)]
    team.add(*names)
    team.add("Other", text="A text about STROKE.".ljust(40))
    names.append("Other")
    of = {
        name: Project(curators=("Ada", "Ben", "Cy"), per_document=2).assigned(name)
        for name in names
    }
    mine = [name for name in names if "Ada" in of[name]]
    assert team.listed("Ada") == team.listed("Ada", "show=mine") == mine
    assert team.listed("Rita") == names
    found, begin, pages = [], 0, 0
    while begin is not None:
        page = team.ask("Rita", "GET", f"/documents?from={begin}&most=7").json
        found += [one["id"] for one in page["documents"]]
        begin, pages = page["next"], pages + 1
        assert page["total"] == 31
    assert (found, pages) == (names, 5)
    assert team.listed("Rita", "q=N1") == [f"n1{digit}" for digit in range(10)]
    assert team.listed("Rita", "q=stroke") == ["Other"]
    one = next(name for name in mine if name != "Other")
    other = next(name for name in of[one] if name != "Ada")
    team.step("Ada", one, remark={"item": ITEMS[0], "flagged": True, "note": "?"})
    assert team.listed("Ada", "show=flagged") == team.listed("Rita", "show=flagged") == [one]
    assert team.listed(other, "show=flagged") == []
    team.step("Ada", one, remark={"skipped": True})
    assert one not in team.listed("Ada", "show=open")
    team.step("Ada", one, remark={"skipped": False})
    assert one in team.listed("Ada", "show=open")
    team.step("Ada", one, finished=True)
    refused = team.step("Ada", one, remark={"skipped": True})
    assert (refused.status, "open it again" in refused.json["detail"]) == (422, True)
    assert team.step("Ada", one, remark={"note": "done"}).status == 200
    for query in ("most=0", "most=1001", "from=-1", "show=none", "order=x", "page=1"):
        assert team.ask("Ada", "GET", f"/documents?{query}").status == 422


def test_agreement_is_that_of_the_command(serve: Callable[[Project], Team], tmp_path: Path) -> None:
    team = serve(Project(curators=("Ada", "Ben")))
    assert team.ask("Rita", "GET", "/agreement").json == {
        "pairs": [],
        "alpha": {},
        "alpha_any": None,
    }
    names = [f"d{number}" for number in range(6)]
    team.add(*names, "open")
    for number, name in enumerate(names):
        for who, items in (("Ada", (0, 1)), ("Ben", (number % 2,))):
            team.step(who, name, edits=accepts(*items))
            team.step(who, name, finished=True)
    team.step("Ada", "open", finished=True)
    sides = []
    for who in ("Ada", "Ben"):
        team.gold("Rita", tmp_path / f"{who}.jsonl", f"version={who}&finished=true")
        lines = (tmp_path / f"{who}.jsonl").read_bytes().splitlines(keepends=True)
        (tmp_path / f"{who}.jsonl").write_bytes(b"".join(lines[:6]))
        sides.append(str(tmp_path / f"{who}.jsonl"))
    expected = json.loads(json.dumps(agree_all(sides).as_dict()))
    found = team.ask("Rita", "GET", "/agreement").json
    assert found["pairs"][0].pop("names") == ["Ada", "Ben"]
    expected["pairs"][0].pop("names")
    assert found == expected
    assert found["pairs"][0]["all_mentions"]["f1"]["value"] == pytest.approx(2 * 6 / (12 + 6))


def test_rows_of_a_project_are_in_the_chain(team: Team) -> None:
    team.add("chained")
    team.step("Ada", "chained", remark={"note": "chained"})
    store = team.service.service.curation
    assert store is not None
    connection = store._connection
    assert list(rows.find_damages(connection)) == []
    place = connection.execute("SELECT place FROM documents WHERE id = 'chained'").fetchone()[0]
    connection.execute("DROP TRIGGER steps_stay")
    change = (
        "UPDATE steps SET content = CAST(replace(content, 'note', 'nota') AS BLOB) WHERE "
        "document = ?"
    )
    connection.execute(change, (place,))
    assert [one for one in rows.find_damages(connection) if "chained" in one]


def test_a_project_needs_named_tokens_and_a_file() -> None:
    for settings in (
        ServeSettings(project=PROJECT, curation="x"),
        ServeSettings(project=PROJECT, tokens=()),
    ):
        with pytest.raises(UsageError):
            service_of({}, settings)


def test_a_file_of_a_project_is_not_served_without_it(team: Team, tmp_path: Path) -> None:
    team.add("served")
    assert team.step("Ada", "served", edits=accepts(0)).status == 200
    store = team.service.service.curation
    assert store is not None
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(store._connection.serialize())
    service = service_of({}, ServeSettings(curation=str(copy)))
    try:
        with pytest.raises(UsageError, match="project=FILE"):
            service.start()
    finally:
        service.close()


def test_without_a_project_there_are_no_versions(served: Standing) -> None:
    assert served.ask("GET", "/v1/curation/review?id=x").status == 404
    assert served.ask("GET", "/v1/curation/agreement").status == 404
    served.ask(
        "POST",
        "/v1/curation/documents",
        {"documents": [{"id": "plain", "text": TEXT}], "who": "Ada"},
    )
    body = {"document": "plain", "id": "c" * 32, "who": "Ada", "after": 0}
    for wrong in (
        {"finished": True, "version": ""},
        {"remark": {}},
        {"remark": {"item": "added-1", "skipped": True}},
        {"remark": {"item": ITEMS[0], "note": "no such mention"}},
        {"remark": {"note": "x" * 2_001}},
        {"remark": {"note": "x"}, "finished": True},
    ):
        assert served.ask("POST", "/v1/curation/steps", {**body, **wrong}).status == 422
    for at, (who, after) in enumerate((("Ada", {"spans": [[0, 7]], "type": "A"}), ("Ben", None))):
        edit = {"item": "added-1", "after": after}
        last = served.ask("GET", "/v1/curation/document?id=plain").json["steps"]
        numbers = {"after": last[-1]["number"] if last else 0, "id": f"{at}" * 32, "who": who}
        assert (
            served.ask("POST", "/v1/curation/steps", {**body, **numbers, "edits": [edit]}).status
            == 200
        )
    for query in ("show=disagreement", "show=mine&who=Ben"):
        found = served.ask("GET", f"/v1/curation/documents?{query}").json["documents"]
        assert [(one["id"], one["disputed"]) for one in found] == [("plain", 1)]


def test_it_is_said_whose_decisions_do_not_count_after_the_project_has_changed(
    serve: Callable[[Project], Team], small: Path
) -> None:
    team = serve(PROJECT)
    team.add("left")
    for who in ("Ada", "Ben"):
        team.step(who, "left", edits=accepts(0))
        team.step(who, "left", finished=True)
    team.step("Rita", "left", version="", remark={"note": "fine"})
    assert team.ask("Rita", "GET", "").json["uncounted"] == []
    service = team.service.service
    assert service.curation is not None
    service.curation.close()
    changed = replace(service.settings, project=Project(curators=("Ada", "Cy")))
    with standing(
        {"small": PipelineOpener(given=str(small), choices=Choices(links=False))}, changed
    ) as one:
        assert Team(one).ask("Rita", "GET", "").json["uncounted"] == ["Ben"]
        assert Team(one).ask("Ada", "GET", "").json["uncounted"] == [], "what others did is private"
