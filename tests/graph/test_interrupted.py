"""Graphs that are killed go on with the same call, and have the bytes of an uninterrupted one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.graph.test_dates import dated
from tests.support.concepts import DOCUMENTS

from fascicle.core.document import Document
from fascicle.core.files.temporary import part_name
from fascicle.errors import InputError, OutputError
from fascicle.formats import write
from fascicle.graph import counts as counting
from fascicle.graph import kgx
from fascicle.graph.kgx import GraphTotals, write_graph

CAUSES = {"set of inputs": "1"}
COUNT = 60
# The command in a process that saves each state, and dies before or after a number of documents.
KILLED = """
import os, signal, sys
from fascicle import cli
from fascicle.graph import kgx
kgx._EVERY = 0.0
die_at, where = int(sys.argv[1]), sys.argv[2]

def dying(owner, name):
    real = getattr(owner, name)
    def call(self, *given):
        dying.calls += 1
        if dying.calls == die_at:
            if where == "after-save":
                real(self, *given)
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *given)
    setattr(owner, name, call)

dying.calls = 0
if where.startswith("swap"):
    import fascicle.core.files.atomic as atomic
    real_swap = atomic._swap
    def swap(*given, **more):
        if where == "swap-after":
            real_swap(*given, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    atomic._swap = swap
else:
    dying(kgx._Graph, "save" if "save" in where else "end" if where == "end" else "add")
sys.exit(cli.main(sys.argv[3:]))
"""


def command(*arguments: object, die_at: int = 0, where: str = "add") -> str:
    """Runs ``fascicle graph``; returns what it says."""
    call = [sys.executable, "-c", KILLED, die_at, where, "graph", *arguments]
    done = subprocess.run([*map(str, call)], capture_output=True, text=True, check=False)
    is_killed = die_at > 0
    assert done.returncode == (-signal.SIGKILL if is_killed else 0), done.stderr
    return done.stderr


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("texts") / "in.jsonl"
    write(path, dated(COUNT))
    return path


@pytest.fixture(scope="module")
def whole(texts: Path) -> dict[str, bytes]:
    command(texts, "-o", texts.with_name("whole"))
    return content(texts.with_name("whole"))


@pytest.mark.parametrize(
    ("deaths", "documents"),
    [
        ((1,), None),  # nothing was saved
        ((31,), 30),
        ((20, 20, 15), 52),
        ((COUNT,), COUNT - 1),
    ],
)
def test_a_killed_command_goes_on(
    texts: Path,
    whole: dict[str, bytes],
    tmp_path: Path,
    deaths: tuple[int, ...],
    documents: int | None,
) -> None:
    for death in deaths:
        command(texts, "-o", tmp_path / "graph", die_at=death)
        assert not (tmp_path / "graph").exists()
    said = command(texts, "-o", tmp_path / "graph")
    note = f"note: an interrupted call is continued after {documents} documents"
    assert (note in said) == (documents is not None)
    assert content(tmp_path / "graph") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


@pytest.mark.parametrize(
    ("where", "death"), [("save", 7), ("after-save", 7), ("end", 1), ("swap", 1)]
)
def test_it_goes_on_from_every_moment(
    texts: Path, whole: dict[str, bytes], tmp_path: Path, where: str, death: int
) -> None:
    command(texts, "-o", tmp_path / "graph", die_at=death, where=where)
    assert "is continued after" in command(texts, "-o", tmp_path / "graph")
    assert content(tmp_path / "graph") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_a_kill_at_the_very_end_leaves_the_graph(
    texts: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    command(texts, "-o", tmp_path / "graph", die_at=1, where="swap-after")
    assert content(tmp_path / "graph") == whole
    said = command(texts, "-o", tmp_path / "graph", "--overwrite")
    assert "note: what an interrupted call wrote has damaged files" in said
    assert content(tmp_path / "graph") == whole
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--prefix", "PMID"], "another prefix"),
        (["--json-lines"], "another form"),
        (["--source", "m"], "another set of options"),
    ],
)
def test_other_settings_start_anew(
    texts: Path, tmp_path: Path, options: list[str], what: str
) -> None:
    command(texts, "-o", tmp_path / "graph", die_at=31)
    said = command(texts, "-o", tmp_path / "graph", *options)
    assert f"note: what an interrupted call wrote has {what}, so the graph is made anew" in said
    command(texts, "-o", tmp_path / "other", *options)
    assert content(tmp_path / "graph") == content(tmp_path / "other")


def test_other_inputs_start_anew(texts: Path, tmp_path: Path) -> None:
    mine = tmp_path / "in.jsonl"
    mine.write_bytes(texts.read_bytes())
    command(mine, "-o", tmp_path / "graph", die_at=31)
    write(mine, dated(COUNT - 1), overwrite=True)
    said = command(mine, "-o", tmp_path / "graph")
    assert "has another set of inputs, so the graph is made anew" in said
    command(mine, "-o", tmp_path / "other")
    assert content(tmp_path / "graph") == content(tmp_path / "other")


def broken(documents: list[Document], error: BaseException) -> Iterator[Document]:
    yield from documents
    raise error


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kgx, "_EVERY", 0.0)


@pytest.mark.usefixtures("often")
def test_python_goes_on_too(tmp_path: Path) -> None:
    documents = list(dated(COUNT))
    write_graph(documents, tmp_path / "whole")
    notes: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        write_graph(broken(documents[:40], KeyboardInterrupt()), tmp_path / "graph", made_by=CAUSES)
    totals = write_graph(documents, tmp_path / "graph", made_by=CAUSES, tell=notes.append)
    assert totals == write_graph(documents, tmp_path / "again")
    assert notes == ["note: an interrupted call is continued after 40 documents"]
    assert content(tmp_path / "graph") == content(tmp_path / "whole")


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("made_by", [{}, CAUSES])
def test_an_error_leaves_only_what_can_go_on(tmp_path: Path, made_by: dict[str, str]) -> None:
    with pytest.raises(InputError, match="bad"):
        write_graph(broken(list(dated(5)), InputError("bad")), tmp_path / "graph", made_by=made_by)
    assert bool(list(tmp_path.iterdir())) == bool(made_by)
    with pytest.raises(InputError, match="no mention has a link"):
        write_graph([Document(id="1", text="a")] * 3, tmp_path / "none", made_by=made_by)
    assert not [path for path in tmp_path.iterdir() if "none" in path.name]


@pytest.mark.usefixtures("often")
def test_files_that_were_cut_start_anew(tmp_path: Path) -> None:
    documents, notes = list(dated(9)), list[str]()
    with pytest.raises(KeyboardInterrupt):
        write_graph(broken(documents, KeyboardInterrupt()), tmp_path / "graph", made_by=CAUSES)
    edges = part_name(tmp_path / "graph") / "edges.tsv"
    edges.write_bytes(edges.read_bytes()[:-1])
    write_graph(documents, tmp_path / "graph", made_by=CAUSES, tell=notes.append)
    assert notes == [
        "note: what an interrupted call wrote has damaged files, so the graph is made anew"
    ]
    write_graph(documents, tmp_path / "whole")
    assert content(tmp_path / "graph") == content(tmp_path / "whole")


@pytest.mark.parametrize("end", ["", ".counts", ".counts-wal"])
def test_a_link_in_the_place_of_an_interrupted_call_is_refused(tmp_path: Path, end: str) -> None:
    part = part_name(tmp_path / "graph")
    others = tmp_path / "others"
    others.mkdir()
    (others / "thesis.txt").write_text("own")
    part.with_name(part.name + end).symlink_to(others / "thesis.txt" if end else others)
    with pytest.raises(OutputError, match="is a link or belongs to another user"):
        write_graph(DOCUMENTS, tmp_path / "graph", made_by=CAUSES)
    assert content(others) == {"thesis.txt": b"own"}
    assert not (tmp_path / "graph").exists()


def test_counts_that_are_none_start_anew(tmp_path: Path) -> None:
    part = part_name(tmp_path / "graph")
    part.with_name(f"{part.name}.counts").write_bytes(b"no data base" * 500)
    write_graph(DOCUMENTS, tmp_path / "graph", made_by=CAUSES)
    write_graph(DOCUMENTS, tmp_path / "other")
    assert content(tmp_path / "graph") == content(tmp_path / "other")


def test_two_processes_do_not_write_one_graph(tmp_path: Path) -> None:
    part = part_name(tmp_path / "graph")
    with (
        counting.ConceptBase(part.with_name(f"{part.name}.counts")),
        pytest.raises(OutputError, match="another process is writing the same output"),
    ):
        write_graph(DOCUMENTS, tmp_path / "graph")
    assert write_graph(DOCUMENTS, tmp_path / "graph").documents == 2


def test_a_long_name_is_no_obstacle(tmp_path: Path) -> None:
    name = "ä" * 127
    assert isinstance(write_graph(DOCUMENTS, tmp_path / name, made_by=CAUSES), GraphTotals)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_place_that_cannot_be_written_is_an_error_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0o500)
    if os.access(tmp_path / "shut", os.W_OK):
        pytest.skip("this user may write everywhere")
    with pytest.raises(OutputError, match="cannot be written: Permission denied"):
        write_graph(DOCUMENTS, tmp_path / "shut" / "graph")
