"""``fascicle curation``: a file of decisions is checked, repaired and copied."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from fascicle.core.document import Document
from fascicle.core.mention import Link
from fascicle.formats.files import read
from fascicle.serving.curation.decisions import After, Edit
from fascicle.serving.curation.store import GivenStep, Store
from fascicle.serving.curation.versions import Versions
from fascicle.settings.serving import Project


@pytest.fixture
def decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    store = Store.open("decisions.sqlite")
    store.add([Document(id=name, text="Aspirin helps.") for name in ("one", "two", "three")], "Ada")
    store.close()
    return tmp_path / "decisions.sqlite"


PROJECT = Project(curators=("Ada", "Ben"))


def decide(who: str, *types: str, version: str | None = None) -> None:
    """Says what the first word of the document one is, and that it is finished."""
    with closing(Store.open("decisions.sqlite")) as store:
        for step in ({"edits": tuple(edit(one) for one in types)}, {"finished": True}):
            shown = Versions(store.document("one"), PROJECT).shown(
                who if version is None else version
            )
            after = shown.steps[-1].number if shown.steps else 0
            if step.get("edits") != ():
                new = GivenStep(
                    document="one", id=token_hex(16), who=who, after=after, version=version, **step
                )
                store.save(new, lambda kept, new, shown=shown: shown)


def edit(name: str) -> Edit:
    links = (Link(id="D1", ontology="MESH", curie="MESH:D1"),)
    return Edit(item=f"added-{name}", after=After(spans=((0, 7),), type=name, links=links))


def test_gold_that_trains_is_exported(cli: Callable[..., Any], decisions: Path) -> None:
    Path("project.toml").write_text('curators = ["Ada", "Ben"]')
    decide("Ada", "Chemical", "Drug")
    export = ("curation", "export", decisions, "--json", "--overwrite", "-o", "gold.jsonl")
    shared = json.loads(cli(*export).out)
    assert (shared["documents"], shared["mentions"], shared["left"]) == (1, 2, 2)
    assert [mention.links[0].curie for one in read("gold.jsonl") for mention in one.mentions] == [
        "MESH:D1"
    ] * 2
    decide("Ben", "Chemical")
    found = cli(*export, "--project", "project.toml")
    assert json.loads(found.out)["documents"] == 0
    assert "3 documents" in found.err
    found = cli(*export, "--project", "project.toml", "--unfinished")
    assert (json.loads(found.out)["mentions"], json.loads(found.out)["undecided"]) == (1, 1)
    assert (
        json.loads(cli(*export, "--project", "project.toml", "--version", "Ada").out)["mentions"]
        == 2
    )
    decide("Rita", version="")
    assert json.loads(cli(*export, "--project", "project.toml").out)["mentions"] == 1
    assert json.loads(cli("evaluate", "gold.jsonl", "gold.jsonl", "--json").out)["micro"]["f1"] == 1
    Path("project.toml").write_text('curators = ["Ada", "Cy"]')
    found = cli(*export, "--project", "project.toml")
    assert json.loads(found.out)["uncounted"] == ["Ben"]
    assert "decisions of Ben" in found.err
    for wrong in (
        ("--version", "Eve"),
        ("--project", "none.toml"),
        ("--version", "Ada", "--project", "gold.jsonl"),
    ):
        assert cli(*export, *wrong).code == 2


def test_decisions_are_exported_as_a_table_before_they_are_finished(
    cli: Callable[..., Any], decisions: Path
) -> None:
    with closing(Store.open("decisions.sqlite")) as store:
        new = GivenStep(document="one", id=token_hex(16), who="Ada", edits=(edit("Chemical"),))
        store.save(new, lambda kept, new: kept)
    written = cli("curation", "export", decisions, "--decisions", "--json", "-o", "d.tsv")
    counts = json.loads(written.out)
    assert (counts["documents"], counts["mentions"], counts["left"]) == (3, 1, 0)
    heading, row = Path("d.tsv").read_text(encoding="utf-8").splitlines()
    cells = dict(zip(heading.split("\t"), row.split("\t"), strict=True))
    assert [cells[name] for name in ("mention", "concept", "decision", "curator")] == [
        "Aspirin",
        "MESH:D1",
        "added",
        "Ada",
    ]
    refused = cli("curation", "export", decisions, "--decisions", "-o", "d.jsonl")
    assert (refused.code, "is no name of a table" in refused.err) == (2, True)


def test_damaged_documents_are_not_exported(cli: Callable[..., Any], decisions: Path) -> None:
    damage(decisions)
    found = cli("curation", "export", decisions, "-o", "gold.jsonl", "--unfinished", "--json")
    assert (found.code, json.loads(found.out)["documents"]) == (3, 2)
    assert [one.id for one in read("gold.jsonl")] == ["one", "three"]
    assert cli("curation", "export", decisions, "-o", "gold.jsonl").code == 2


def damage(place: Path) -> None:
    connection = sqlite3.connect(place)
    connection.execute("DROP TRIGGER documents_stay")
    connection.execute("UPDATE documents SET who = 'Eve' WHERE id = 'two'")
    connection.commit()
    connection.close()


def test_a_file_is_checked_and_copied(cli: Callable[..., Any], decisions: Path) -> None:
    assert json.loads(cli("curation", "verify", decisions, "--json").out)["documents"] == 3
    assert cli("curation", "backup", decisions, "-o", "copy.sqlite").code == 0
    assert cli("curation", "verify", "copy.sqlite").code == 0
    copy = Path("copy.sqlite").read_bytes()
    assert cli("curation", "backup", decisions, "-o", "copy.sqlite").code == 2
    assert Path("copy.sqlite").read_bytes() == copy
    assert cli("curation", "backup", decisions, "-o", "copy.sqlite", "--overwrite").code == 0


def test_a_damaged_file_is_repaired(cli: Callable[..., Any], decisions: Path) -> None:
    damage(decisions)
    found = cli("curation", "verify", decisions)
    assert found.code == 3
    assert "document 2 is damaged" in found.err
    assert cli("curation", "backup", decisions, "-o", "copy.sqlite").code == 2
    assert not Path("copy.sqlite").exists()
    found = cli("curation", "repair", decisions, "-o", "mended.sqlite", "--json")
    assert (found.code, json.loads(found.out)["documents"]) == (3, 2)
    assert cli("curation", "verify", "mended.sqlite").code == 0
    store = Store.open("mended.sqlite")
    assert [kept.document.id for kept in store.documents()] == ["one", "three"]
    store.close()


@pytest.mark.parametrize(
    "given", [(), ("--curation", "decisions.sqlite"), ("--tokens", "tokens.json")]
)
def test_a_project_without_tokens_or_decisions_is_refused(
    cli: Callable[..., Any], decisions: Path, given: tuple[str, ...]
) -> None:
    pytest.importorskip("starlette")
    Path("project.toml").write_text('curators = ["Ada", "Ben"]')
    assert cli("tokens", "add", "tokens.json", "Ada").code == 0
    found = cli("serve", "--demo", "--port", "0", "--project", "project.toml", *given)
    assert found.code == 2
    assert "--tokens" in found.err
