"""The file of decisions: nothing that was saved is lost, changed, or saved twice."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core.document import Document, Mention
from fascicle.errors import InputError
from fascicle.serving.curation.decisions import After, Edit
from fascicle.serving.curation.store import ConflictError, GivenStep, Store, UnknownDocumentError

DOCUMENT = Document(
    id="a", text="Aspirin 😀 helps.", mentions=(Mention(((0, 7),), "Chemical", 0.9, "model"),)
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "decisions.sqlite")
    yield opened
    opened.close()


def new(number: int, **parts: Any) -> GivenStep:
    edits = (Edit(item=f"added-{number}", after=After(spans=((8, 9),), type="Sign")),)
    return GivenStep(
        **{
            "document": "a",
            "id": f"{number:032x}",
            "who": "Ada",
            "after": 0,
            "edits": edits,
            **parts,
        }
    )


def test_what_is_saved_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    place = tmp_path / "decisions.sqlite"
    first = Store.open(place)
    first.add([DOCUMENT], "Ada")
    step = first.save(new(1))
    first.close()
    again = Store.open(place)
    assert again.document("a") == (DOCUMENT, (step,))
    assert step.who == "Ada"
    again.close()


def test_a_step_that_is_sent_again_is_saved_once(store: Store) -> None:
    store.add([DOCUMENT], "Ada")
    assert store.save(new(1)) == store.save(new(1))
    assert len(store.document("a").steps) == 1
    with pytest.raises(ConflictError, match="another step"):
        store.save(new(1, edits=(), finished=True))


def test_nobody_decides_over_what_they_have_not_seen(store: Store) -> None:
    store.add([DOCUMENT], "Ada")
    first = store.save(new(1))
    with pytest.raises(ConflictError, match="in the meantime"):
        store.save(new(2, who="Bob"))
    assert store.save(new(3, after=first.number)).number > first.number


def test_a_refused_step_leaves_nothing(store: Store) -> None:
    store.add([DOCUMENT], "Ada")
    with pytest.raises(ValueError, match="undo"):
        store.save(new(1, edits=(), undoes=9))
    assert store.document("a").steps == ()
    assert store.save(new(1))


def test_documents_keep_the_mentions_that_were_curated_first(store: Store) -> None:
    store.add([DOCUMENT], "Ada")
    (kept,) = store.add([DOCUMENT.having(mentions=())], "Bob")
    assert kept.document == DOCUMENT
    with pytest.raises(ConflictError, match="another text"):
        store.add([Document(id="b", text="x"), Document(id="a", text="other")], "Ada")
    with pytest.raises(UnknownDocumentError):
        store.document("b")


def test_rows_are_appended_alone(store: Store, tmp_path: Path) -> None:
    store.add([DOCUMENT], "Ada")
    store.save(new(1))
    connection = sqlite3.connect(tmp_path / "decisions.sqlite")
    for statement in ("DELETE FROM steps", "UPDATE steps SET who = 'x'", "DELETE FROM documents"):
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
    connection.close()


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("These are no decisions. " * 100, encoding="utf-8")
    other = tmp_path / "other.sqlite"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    connection.close()
    before = {path: path.read_bytes() for path in (text, other)}
    for path in (text, other, tmp_path / "missing" / "x.sqlite"):
        with pytest.raises(InputError):
            Store.open(path)
    assert {path: path.read_bytes() for path in before} == before


def test_many_threads_save_one_after_the_other(store: Store) -> None:
    names = [f"doc{number}" for number in range(8)]
    store.add([Document(id=name, text="Aspirin 😀") for name in names], "Ada")

    def work(number: int) -> None:
        last = 0
        for turn in range(5):
            last = store.save(new(number * 100 + turn, document=names[number], after=last)).number

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert [len(kept.steps) for kept in store.documents()] == [5] * 8


KILLED = """
import os, sys
from fascicle.core.document import Document
from fascicle.serving.curation.decisions import After, Edit
from fascicle.serving.curation.store import GivenStep, Store
store, last = Store.open(sys.argv[1]), 0
store.add([Document(id="a", text="Aspirin")], "Ada")
for number in range(1000):
    edits = (Edit(item=f"added-{number}", after=After(spans=((0, 7),), type="T")),)
    last = store.save(GivenStep(document="a", id=f"{number:032x}", who="Ada", after=last, edits=edits)).number
    print(last, flush=True)
"""


def test_a_killed_process_loses_no_step_that_it_answered(tmp_path: Path) -> None:
    place = tmp_path / "decisions.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(place)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        told = [int(process.stdout.readline()) for _ in range(12)]
        process.kill()
        told += [int(line) for line in process.stdout.read().split(b"\n") if line.strip()]
    store = Store.open(place)
    kept = {step.number for step in store.document("a").steps}
    assert set(told) <= kept
    store.close()


def test_contents_are_json_and_no_pickles(store: Store, tmp_path: Path) -> None:
    store.add([DOCUMENT], "Ada")
    store.save(new(1))
    connection = sqlite3.connect(tmp_path / "decisions.sqlite")
    (content,) = connection.execute("SELECT content FROM steps").fetchone()
    assert msgspec.json.decode(content)["edits"][0]["item"] == "added-1"
    connection.close()
