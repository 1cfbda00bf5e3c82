"""Files of decisions that are damaged: nothing is read as other content, and the rest stays
usable.
"""

from __future__ import annotations

import os
import random
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.core.files.atomic import atomic_writer
from fascicle.errors import InputError, OutputError, UsageError
from fascicle.serving.curation import rows, upkeep
from fascicle.serving.curation.decisions import After, Edit, apply_steps, gold_document
from fascicle.serving.curation.rows import DamagedError
from fascicle.serving.curation.store import GivenStep, Kept, Store
from fascicle.serving.curation.upkeep import backup, export, repair, verify

TEXT = "Aspirin helps against headache 😀 and pain. " * 8


def filled(place: Path, *, documents: int = 12, steps: int = 6) -> None:
    """Writes a file in which two curators took turns over the documents."""
    draw, store = random.Random(5), Store.open(place)
    last: dict[str, int] = {}
    who: dict[str, str] = {}
    store.add([document(number) for number in range(documents)], "Ada")
    for turn in range(documents * steps):
        name = f"doc{turn % documents}"
        number = turn // documents
        mention = document(turn % documents).mentions[number % 4]
        edit = Edit(
            item=msgspec.json.encode(mention.key).decode(),
            after=None if draw.random() < 0.3 else after(mention),
        )
        step = GivenStep(
            document=name,
            id=f"{turn:032x}",
            who=draw.choice(["Ada", "Bob"]),
            after=last.get(name, 0),
            edits=(edit,),
        )
        if number and draw.random() < 0.2:
            step = msgspec.structs.replace(step, edits=(), undoes=last[name], who=who[name])
        last[name], who[name] = store.save(step).number, step.who
    store.close()


def document(number: int) -> Document:
    spans = [(start, start + 7) for start in (0, 44, 88, 132)]
    found = tuple(Mention((span,), "Chemical", 0.5 + number / 100, "model") for span in spans)
    return Document(id=f"doc{number}", text=TEXT, mentions=found, meta={"number": str(number)})


def after(mention: Mention) -> After:
    return After(spans=mention.spans, type="Drug" if mention.start > 50 else mention.type)


def exported(store: Store) -> dict[str, bytes]:
    return {
        kept.document.id: codec.encode(gold_document(apply_steps(*kept)))
        for kept in store.documents()
    }


@pytest.fixture
def place(tmp_path: Path) -> Path:
    filled(tmp_path / "decisions.sqlite")
    return tmp_path / "decisions.sqlite"


@pytest.fixture
def whole(place: Path) -> dict[str, bytes]:
    store = Store.open(place)
    found = exported(store)
    store.close()
    return found


def changed(place: Path, *statements: str) -> None:
    connection = sqlite3.connect(place)
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_file_that_is_whole_has_no_damage(place: Path) -> None:
    found = verify(place)
    assert (found.documents, found.steps, found.damages) == (12, 72, ())


@pytest.mark.parametrize(
    ("statement", "lost"),
    [
        ("UPDATE steps SET who = 'Eve' WHERE number = 30", 1),
        ("UPDATE steps SET document = 3 WHERE number = 30", 2),
        (
            "UPDATE steps SET content = CAST(replace(content, '44', '45') AS BLOB) WHERE number "
            "= 14",
            1,
        ),
        (
            "UPDATE documents SET content = CAST(replace(content, 'pain', 'gain') AS BLOB) WHERE "
            "place = 4",
            1,
        ),
        ("DELETE FROM steps WHERE number = 30", 1),
        ("DELETE FROM steps WHERE number = 72", 1),
        ("DELETE FROM steps WHERE number = 1", 1),
        ("DELETE FROM steps WHERE document = 2", 1),
        ("DELETE FROM documents WHERE place = 5", 1),
        ("DELETE FROM documents WHERE place = 12", 1),
        ("DELETE FROM ends WHERE document = 7", 1),
        ("DELETE FROM ends WHERE document = 0", 0),
        ("UPDATE ends SET number = 9000000000 WHERE document = 0", 0),
    ],
)
def test_what_is_damaged_is_named_and_set_aside(
    place: Path, whole: dict[str, bytes], statement: str, lost: int
) -> None:
    changed(place, statement)
    found = verify(place)
    assert found.damages
    store = Store.open(place)
    left = exported(store)
    assert store.damages == found.damages
    with pytest.raises(DamagedError, match="repair"):
        store.add([Document(id="new", text="x")], "Ada")
    store.close()
    assert len(left) == len(whole) - lost == found.documents
    assert left.items() <= whole.items()


def test_documents_that_change_places_are_noticed(place: Path) -> None:
    changed(
        place,
        "UPDATE documents SET place = 100 WHERE place = 2",
        "UPDATE documents SET place = 2 WHERE place = 3",
        "UPDATE documents SET place = 3 WHERE place = 100",
    )
    assert any("document 2 " in one for one in verify(place).damages)


def test_a_document_that_was_replaced_as_if_it_had_always_been_so_is_noticed(place: Path) -> None:
    """Its own hash is right, and its steps are gone with their end; the next document knows
    another one before it.
    """
    with closing(sqlite3.connect(place)) as connection:
        row = rows.document_at(connection, 4)
        forged = rows._chained(
            row._replace(content=row.content.replace(b"pain", b"gain")), row.previous
        )
    content, digest = forged.content.hex(), forged.hash.hex()
    changed(
        place,
        f"UPDATE documents SET content = x'{content}', hash = x'{digest}' WHERE place = 4",
        "DELETE FROM steps WHERE document = 4",
        f"UPDATE ends SET number = 0, hash = x'{digest}' WHERE document = 4",
    )
    assert verify(place).damages == ("document 5 does not follow the one before it",)


def damaged(content: bytes, draw: random.Random) -> bytes:
    """Damages the bytes of a file: some are other ones, zeros, a copy from elsewhere, or the end
    is missing.
    """
    data, at = bytearray(content), draw.randrange(len(content))
    match draw.randrange(4):
        case 0:
            for _ in range(draw.choice([1, 1, 8])):
                data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        case 1:
            size = min(draw.choice([16, 512, 4096]), len(data) - at)
            data[at : at + size] = bytes(size)
        case 2:
            source, size = draw.randrange(len(data)), draw.choice([16, 512, 4096])
            piece = data[source : source + size]
            at = min(at, len(data) - len(piece))
            data[at : at + len(piece)] = piece
        case _:
            del data[at:]
    return bytes(data)


def test_no_random_damage_is_read_as_other_content(
    place: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    content, draw, hurt = place.read_bytes(), random.Random(53), tmp_path / "hurt.sqlite"
    opened = 0
    for number in range(300):
        hurt.write_bytes(damaged(content, draw))
        try:
            store = Store.open(hurt)
        except InputError:
            continue  # refused in one sentence: nothing is read
        opened += 1
        try:
            left, damages = exported(store), store.damages
        finally:
            store.close()
        assert left.items() <= whole.items(), number
        assert damages or left == whole, number
    assert opened > 200


def test_no_removed_row_passes(place: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    draw, hurt = random.Random(54), tmp_path / "hurt.sqlite"
    for number in range(40):
        hurt.write_bytes(place.read_bytes())
        table, key, most = draw.choice(
            [("steps", "number", 72), ("documents", "place", 12), ("ends", "document", 12)]
        )
        start = draw.randint(1, most)
        changed(
            hurt,
            f"DELETE FROM {table} WHERE {key} BETWEEN {start} AND "
            f"{start + draw.choice([0, 0, 3, 80])}",
        )
        store = Store.open(hurt)
        left = exported(store)
        assert store.damages, number
        assert left.items() <= whole.items(), number
        store.close()


def test_repair_keeps_what_is_intact(place: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    before = Store.open(place)
    earlier = Kept(before.document("doc5").document, before.document("doc5").steps[:2])
    before.close()
    changed(
        place,
        "UPDATE steps SET who = 'Eve' WHERE document = 6 AND number = 30",
        "DELETE FROM documents WHERE place = 2",
    )
    content = place.read_bytes()
    found = repair(place, tmp_path / "mended.sqlite")
    assert place.read_bytes() == content
    assert any("doc5" in one for one in found.damages)
    assert any("document 2 " in one for one in found.damages)
    again = verify(tmp_path / "mended.sqlite")
    assert (again.documents, again.steps, again.damages) == (found.documents, found.steps, ())
    store = Store.open(tmp_path / "mended.sqlite")
    left = exported(store)
    assert {name: one for name, one in left.items() if name != "doc5"} == {
        name: one for name, one in whole.items() if name not in {"doc1", "doc5"}
    }
    assert store.document("doc5") == earlier
    edit = Edit(item="added-1", after=After(spans=((8, 13),), type="Sign"))
    step = store.save(
        GivenStep(
            document="doc5", id="f" * 32, who="Ada", after=earlier.steps[-1].number, edits=(edit,)
        )
    )
    assert step.number == 73
    store.close()
    assert verify(tmp_path / "mended.sqlite").damages == ()


def test_a_backup_is_made_while_a_service_has_the_file(
    place: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    store = Store.open(place)
    store.add([Document(id="late", text="x")], "Ada")
    found = backup(place, tmp_path / "copy.sqlite")
    assert (found.documents, found.damages) == (13, ())
    with pytest.raises(OutputError):
        backup(place, tmp_path / "copy.sqlite")
    store.close()
    copy = Store.open(tmp_path / "copy.sqlite")
    assert whole.items() <= exported(copy).items()
    copy.close()
    changed(place, "DELETE FROM steps WHERE number = 30")
    with pytest.raises(InputError, match="repair"):
        backup(place, tmp_path / "other.sqlite")
    assert not (tmp_path / "other.sqlite").exists()


@pytest.mark.parametrize(
    "does", [verify, lambda path: repair(path, "x"), lambda path: backup(path, "x")]
)
def test_other_files_are_refused(does: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are no decisions. " * 100, encoding="utf-8")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE mine (x)").connection.close()
    for name in ("notes.txt", "other.sqlite", "missing.sqlite"):
        with pytest.raises(InputError):
            does(tmp_path / name)


def test_only_its_owner_reads_the_file(place: Path, tmp_path: Path) -> None:
    place.chmod(0o644)
    store = Store.open(place)
    store.add([Document(id="late", text="x")], "Ada")
    backup(place, tmp_path / "copy.sqlite")
    repair(place, tmp_path / "mended.sqlite")
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    store.close()
    assert {"decisions.sqlite", "decisions.sqlite-wal", "copy.sqlite", "mended.sqlite"} <= set(
        modes
    )
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("copies", [backup, repair])
def test_nobody_reads_a_copy_while_it_is_written(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, copies: Callable[..., object]
) -> None:
    modes = []

    @contextmanager
    def watched(*given: Any, **more: Any) -> Iterator[Any]:
        with atomic_writer(*given, **more) as stream:
            yield stream
            modes.append(stat.S_IMODE(os.fstat(stream.fileno()).st_mode))

    monkeypatch.setattr(upkeep, "atomic_writer", watched)
    copies(place, tmp_path / "copy.sqlite")
    assert modes == [0o600]


HOLDS = """
import sys
from fascicle.serving.curation.store import Store
store = Store.open(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


def test_two_services_on_one_file_are_refused(place: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(place)], stdin=pipe, stdout=pipe
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(OutputError, match="another service"):
            Store.open(place)
        process.kill()
    Store.open(place).close()


OLD = """
CREATE TABLE documents (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text_hash TEXT NOT NULL, content BLOB NOT NULL,
    who TEXT NOT NULL, at TEXT NOT NULL
) STRICT;
CREATE TABLE steps (
    number INTEGER PRIMARY KEY AUTOINCREMENT, document INTEGER NOT NULL REFERENCES documents (place),
    id TEXT NOT NULL UNIQUE, who TEXT NOT NULL, at TEXT NOT NULL, content BLOB NOT NULL
) STRICT;
CREATE INDEX steps_of ON steps (document, number);
CREATE TRIGGER documents_stay BEFORE UPDATE ON documents BEGIN SELECT RAISE(ABORT, 'documents are never changed'); END;
CREATE TRIGGER documents_last BEFORE DELETE ON documents BEGIN SELECT RAISE(ABORT, 'documents are never removed'); END;
CREATE TRIGGER steps_stay BEFORE UPDATE ON steps BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END;
CREATE TRIGGER steps_last BEFORE DELETE ON steps BEGIN SELECT RAISE(ABORT, 'decisions are never removed'); END;
PRAGMA application_id = 1181967203;
PRAGMA user_version = 1;
"""


def test_a_file_of_the_first_version_is_converted(
    place: Path, tmp_path: Path, whole: dict[str, bytes]
) -> None:
    old = sqlite3.connect(tmp_path / "old.sqlite")
    old.executescript(OLD)
    old.execute("ATTACH ? AS new", (str(place),))
    for table, columns in (
        ("documents", "place, id, text_hash, content, who, at"),
        ("steps", "number, document, id, who, at, content"),
    ):
        old.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM new.{table}")
    old.commit()
    old.close()
    with pytest.raises(InputError, match="version 1"):
        verify(tmp_path / "old.sqlite")
    store = Store.open(tmp_path / "old.sqlite")
    assert exported(store) == whole
    assert store.damages == ()
    store.close()
    assert verify(tmp_path / "old.sqlite").steps == 72


def test_versions_of_several_curators_are_not_exported_as_one(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "decisions.sqlite")
    store.add([document(0)], "Rita")
    store.save(
        GivenStep(document="doc0", id="0" * 32, who="Ada", version="Ada", finished=True),
        lambda kept, new: Kept(kept[0], ()),
    )
    store.close()
    output = tmp_path / "gold.jsonl"
    with pytest.raises(UsageError, match="project=FILE"):
        export(tmp_path / "decisions.sqlite", output)
    assert not output.exists()
    project = tmp_path / "project.toml"
    project.write_text('curators = ["Ada"]')
    assert export(tmp_path / "decisions.sqlite", output, project=project).documents == 1
