"""``fascicle curation``: a file of decisions is checked, repaired and copied."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document
from fascicle.serving.curation.store import Store


@pytest.fixture
def decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    store = Store.open("decisions.sqlite")
    store.add([Document(id=name, text="Aspirin helps.") for name in ("one", "two", "three")], "Ada")
    store.close()
    return tmp_path / "decisions.sqlite"


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
