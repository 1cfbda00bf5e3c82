"""Rows of curation for names of term packs, kept in the file of decisions: who keeps and withdraws
which, and that no changed row passes.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from standing import JSON, Reply, Standing, standing

from fascicle.core.document import Document
from fascicle.serving.curation import rows
from fascicle.serving.curation.decisions import NAMES, After, Edit, active
from fascicle.serving.curation.rows import DamagedError
from fascicle.serving.curation.store import ConflictError, GivenStep, Store
from fascicle.serving.curation.upkeep import backup, export, repair, verify
from fascicle.serving.server import PipelineOpener
from fascicle.settings.choices import Choices
from fascicle.settings.serving import NamedToken, Project, Role, ServeSettings, hash_token

ROW = {"action": "ner_off", "surface": "tremor"}
ADDED = {"action": "add", "surface": "shaky upset", "concept": "MESH:D014202"}
ROLES: dict[str, Role] = {"Ada": "curator", "Ben": "curator", "Rita": "reviewer"}


class Members:
    """A service of a project, and those who ask it."""

    def __init__(self, service: Standing, place: Path) -> None:
        self.service, self.place = service, place

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Reply:
        bearer = {"Authorization": f"Bearer {who:x>32}", **(JSON if body is not None else {})}
        return self.service.ask(method, f"/v1/curation{path}", body, bearer)

    def steps(self, who: str = "Ada") -> list[dict[str, Any]]:
        steps: list[dict[str, Any]] = self.ask(who, "GET", "/names").json["steps"]
        return steps

    def send(self, sender: str, **parts: Any) -> Reply:
        last = self.steps()[-1]["number"] if self.steps() else 0
        step = {"document": "", "id": secrets.token_hex(16), "who": sender, "after": last, **parts}
        return self.ask(sender, "POST", "/steps", step)

    def keep(self, who: str, *kept: dict[str, str]) -> int:
        reply = self.send(who, rows=kept)
        assert reply.status == 200, reply.content
        return int(reply.json["steps"][0]["number"])


@pytest.fixture
def members(small: Path, tmp_path: Path) -> Iterator[Members]:
    tokens = tuple(
        NamedToken(name=name, role=role, hash=hash_token(f"{name:x>32}"))
        for name, role in ROLES.items()
    )
    place = tmp_path / "decisions.sqlite"
    project = Project(name="Pain", curators=("Ada", "Ben"))
    settings = ServeSettings(curation=str(place), tokens=tokens, project=project)
    opener = PipelineOpener(given=str(small), choices=Choices(links=False))
    with standing({"small": opener}, settings) as service:
        yield Members(service, place)


@pytest.mark.loopback
def test_a_curator_keeps_rows_and_withdraws_only_their_own(members: Members) -> None:
    assert members.steps() == []
    first, second = members.keep("Ada", ROW), members.keep("Ben", ADDED)
    kept = members.steps("Rita")
    assert [(one["number"], one["who"], one["rows"]) for one in kept] == [
        (first, "Ada", [ROW]),
        (second, "Ben", [ADDED]),
    ]
    assert all(one["at"].startswith("20") for one in kept)

    refused = members.send("Ada", undoes=second)
    assert (refused.status, "only reviewers" in refused.json["detail"]) == (403, True)
    assert members.send("Ada", undoes=first).status == 200
    assert members.send("Rita", undoes=second).status == 200
    assert members.send("Rita", undoes=second).status == 422  # it does not count any more
    assert [one.get("undoes") for one in members.steps()] == [None, None, first, second]


@pytest.mark.loopback
def test_rows_are_no_document_of_the_project(members: Members) -> None:
    members.keep("Rita", ROW)
    about = members.ask("Rita", "GET", "").json
    assert (about["documents"], about.get("uncounted", [])) == (0, [])
    assert members.ask("Rita", "GET", "/documents").json["total"] == 0
    assert members.ask("Rita", "GET", "/export?format=jsonl").content == b""
    document = {"documents": [{"id": "a", "text": "No tremor."}], "who": "Rita"}
    assert members.ask("Rita", "POST", "/documents", document).status == 200
    assert members.ask("Rita", "GET", "").json["documents"] == 1
    assert members.ask("Rita", "GET", "/document?id=").status == 422


@pytest.mark.loopback
@pytest.mark.parametrize(
    ("parts", "status", "words"),
    [
        ({"rows": [{"action": "burn", "surface": "x"}]}, 422, "'burn' is not known"),
        ({"rows": [{"acton": "drop", "surface": "x"}]}, 422, "the column 'acton'"),
        ({"rows": [{**ROW, "note": "x\nblock\tlithium"}]}, 422, "tabs and line breaks"),
        ({"rows": [{**ROW, "source": "a\tb"}]}, 422, "tabs and line breaks"),
        ({"rows": []}, 422, "only one of them"),
        ({"rows": [ROW], "finished": True}, 422, "only one of them"),
        ({"finished": True}, 422, "only rows"),
        ({"rows": [ROW], "version": ""}, 422, "versions"),
        ({"rows": [ROW], "who": "Ben"}, 403, "only under this name"),
        ({"rows": [ROW] * 1_001}, 422, "1000"),
        ({"undoes": 99}, 403, "only reviewers"),
        ({"rows": [ROW], "document": "a"}, 404, "add it first"),
        ({"rows": [ROW], "after": 7}, 409, "others have decided about names"),
    ],
)
def test_what_is_no_row_is_refused(
    members: Members, parts: dict[str, Any], status: int, words: str
) -> None:
    reply = members.send("Ada", **parts)
    assert (reply.status, words in reply.json["detail"]) == (status, True), reply.content
    assert members.steps() == []


@pytest.mark.loopback
def test_no_more_rows_are_kept_than_can_be_tried(members: Members) -> None:
    first, second = members.keep("Ada", *[ROW] * 999), members.keep("Ben", ROW)
    for parts in ({"rows": [ROW]}, {"rows": [ROW] * 1_000}):
        refused = members.send("Ada", **parts)
        assert (refused.status, "at most 1,000 rows" in refused.json["detail"]) == (422, True)
    (taken,) = members.send("Ben", undoes=second).json["steps"]
    members.keep("Ada", ADDED)
    refused = members.send("Ben", undoes=taken["number"])
    assert (refused.status, "at most 1,000 rows" in refused.json["detail"]) == (422, True)
    assert members.send("Rita", undoes=first).status == 200


def filled(place: Path) -> None:
    """Writes a file with a document, a decision about it, and rows of two curators."""
    with closing(Store.open(place)) as store:
        store.add([Document(id="a", text="No tremor.")], "Ada")
        last = 0
        parts_of_steps: list[dict[str, Any]] = [{"rows": (ROW,)}, {"rows": (ADDED,)}, {"undoes": 1}]
        for number, parts in enumerate(parts_of_steps):
            given = GivenStep(
                document=NAMES, id=f"{number:032x}", who="AB"[number % 2], after=last, **parts
            )
            last = store.save(given).number
        after = After(spans=((3, 9),), type="Disease")
        edit = Edit(item="added-1", after=after)
        store.save(GivenStep(document="a", id="f" * 32, who="A", edits=(edit,)))
        store.save(GivenStep(document="a", id="e" * 32, who="A", after=4, finished=True))


def test_rows_are_read_as_they_were_saved(tmp_path: Path) -> None:
    filled(tmp_path / "d.sqlite")
    with closing(Store.open(tmp_path / "d.sqlite")) as store:
        steps = store.names()
        assert [step.rows for step in active(steps)] == [(ADDED,), ()]
        assert [kept.document.id for kept in store.documents()] == ["a"]
        assert [*store.each(lambda kept: kept.document.id, {})] == ["a"]
        assert store.count() == 1
        assert store.version_names == {"A"}
        with pytest.raises(ValueError, match="only rows"):
            store.save(GivenStep(document="a", id="1" * 32, who="A", after=5, rows=(ROW,)))
        with pytest.raises(ConflictError, match="about names"):
            store.save(GivenStep(document=NAMES, id="2" * 32, who="A", after=1, rows=(ROW,)))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE steps SET content = CAST(replace(content, 'tremor', 'tremors') AS BLOB)",
        "UPDATE steps SET who = 'Eve' WHERE number = 1",
        "UPDATE steps SET at = '2020' WHERE number = 2",
        "DELETE FROM steps WHERE number = 2",
        "DELETE FROM steps WHERE number = 3",
        "DELETE FROM documents WHERE id = ''",
        "UPDATE documents SET id = 'b' WHERE id = ''",
    ],
)
def test_a_changed_row_is_noticed(tmp_path: Path, change: str) -> None:
    place = tmp_path / "d.sqlite"
    filled(place)
    whole = verify(place)
    assert (whole.documents, whole.steps, whole.damages) == (1, 5, ())
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        for table in ("documents", "steps"):
            for name in ("stay", "last"):
                connection.execute(f"DROP TRIGGER {table}_{name}")
        connection.execute(change)
    assert verify(place).damages
    with closing(Store.open(place)) as store, pytest.raises(DamagedError):
        store.save(GivenStep(document=NAMES, id="3" * 32, who="A", after=3, rows=(ROW,)))


def test_rows_are_in_copies_and_not_in_gold(tmp_path: Path) -> None:
    place = tmp_path / "d.sqlite"
    filled(place)
    for name, copied in (("copy", backup), ("mended", repair)):
        done = copied(place, tmp_path / name)
        assert (done.documents, done.steps, done.damages) == (1, 5, ())
        with closing(Store.open(tmp_path / name)) as store:
            assert [step.undoes for step in store.names()] == [None, None, 1]
    assert export(place, tmp_path / "gold.jsonl").documents == 1


def test_the_place_of_rows_is_none_of_a_text(tmp_path: Path) -> None:
    filled(tmp_path / "d.sqlite")
    with closing(sqlite3.connect(tmp_path / "d.sqlite")) as connection:
        assert rows.text_places(connection) == [1]
        assert list(rows.document_places(connection)) == [1, 2]
