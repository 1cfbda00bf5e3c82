"""``fascicle run --graph``: the same bytes as ``fascicle graph`` over the finished run."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document
from fascicle.errors import InputError, OutputError, UsageError
from fascicle.formats import write
from fascicle.graph import kgx
from fascicle.verbs.tasks.run import retry, run

Cli = Callable[..., Any]
# Dies while it writes the graph, after states were saved.
DIES = """
import os, signal, sys
from fascicle import cli
from fascicle.graph import kgx
kgx._EVERY = 0.0
kgx._Graph.end = lambda graph: os.kill(os.getpid(), signal.SIGKILL)
sys.exit(cli.main(sys.argv[1:]))
"""
CALL = ("run", "in.jsonl", "--pipeline", "p.toml", "-o", "out", "--graph", "graph")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents of some shards, and a pipeline of a dictionary with ids."""
    monkeypatch.chdir(tmp_path)
    Path("names.tsv").write_text(
        "type\tname\tid\nChemical\tlithium\tMESH:D008094\nDisease\ttremor\tMESH:D014202\n",
        encoding="utf-8",
    )
    Path("p.toml").write_text(
        'name = "p"\n[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n'
        "[shards]\ndocuments = 4\n",
        encoding="utf-8",
    )
    write("in.jsonl", documents(10))
    return tmp_path


def documents(count: int) -> list[Document]:
    return [
        Document(id=f"d{at}", text="Lithium and tremor.", meta={"year": str(2000 + at)})
        for at in range(count)
    ]


def content(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def same_as_the_command(cli: Cli) -> bool:
    assert cli("graph", "out", "-o", "expected", "--overwrite").code == 0
    return content("graph") == content("expected")


def killed() -> None:
    done = subprocess.run([sys.executable, "-c", DIES, *CALL], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr


@pytest.mark.usefixtures("place")
def test_a_run_writes_the_graph_of_the_command(cli: Cli) -> None:
    result = cli(*CALL)
    assert result.code == 0
    assert "2 concepts, 20 edges from documents, 1 pair in 10 sentences" in result.err
    assert same_as_the_command(cli)
    assert b"\t2000\t2009\t" in content("graph")["edges.tsv"]


@pytest.mark.usefixtures("place")
def test_a_killed_graph_of_a_run_goes_on(cli: Cli) -> None:
    killed()
    assert Path("out/_SUCCESS").exists()
    assert not Path("graph").exists()
    result = cli(*CALL, "--resume")
    assert result.code == 0
    assert "an interrupted call is continued after 10 documents" in result.err
    assert same_as_the_command(cli)


@pytest.mark.usefixtures("place")
def test_a_run_that_goes_on_renews_its_graph(cli: Cli) -> None:
    assert cli(*CALL).code == 0
    first = content("graph")
    next(Path("out").glob("part-*")).unlink()  # this shard is done again
    assert cli(*CALL, "--resume").code == 0
    assert content("graph") == first
    write("more.jsonl", [Document(id="d0", text="No name."), *documents(12)[10:]])
    update = ["run", "in.jsonl", "more.jsonl", *CALL[2:], "--update"]
    assert cli(*update).code == 0
    assert content("graph") != first
    assert same_as_the_command(cli)


@pytest.mark.usefixtures("place")
def test_a_graph_of_something_else_stays(cli: Cli) -> None:
    assert cli(*CALL).code == 0
    first = content("graph")
    for more in ([], ["--resume"]):
        result = cli(*CALL[:5], "other", *CALL[6:], *more)
        assert result.code == 2
        assert "graph exists" in result.err
        assert not Path("other").exists()
    assert content("graph") == first


@pytest.mark.usefixtures("place")
def test_a_run_that_goes_on_replaces_its_own_graph_alone(cli: Cli) -> None:
    assert cli(*CALL).code == 0
    assert cli(*CALL, "--resume").code == 0
    assert cli("graph", "out", "-o", "foreign").code == 0
    before = content("foreign")
    result = cli(*CALL[:-1], "foreign", "--resume")
    assert (result.code, "foreign exists" in result.err) == (2, True)
    assert content("foreign") == before


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("graph", ["out", "out/graph", "."])
def test_run_and_graph_are_two_folders(graph: str) -> None:
    with pytest.raises((UsageError, OutputError)):
        run("in.jsonl", "out", pipeline="p.toml", graph=graph)
    assert not Path("out").exists()


@pytest.mark.usefixtures("place")
def test_a_graph_needs_whole_parts(cli: Cli) -> None:
    result = cli(*CALL, "--format", "tsv")
    assert result.code == 2
    assert (
        "a graph is made of parts in the format jsonl, which holds all links, and not tsv; write "
        "parts in jsonl, or no graph" in result.err
    )
    assert not Path("out").exists()


@pytest.mark.usefixtures("place")
def test_a_run_without_links_is_complete_and_has_no_graph(cli: Cli) -> None:
    write("in.jsonl", [Document(id="1", text="No name.")], overwrite=True)
    result = cli(*CALL)
    assert result.code == 2
    account, error = result.err.splitlines()[-2:]
    assert account.endswith("1 document in: 1 done in out with 0 mentions, 0 in quarantine")
    assert "the run in out is complete, but has no graph: no mention has a link" in error
    assert Path("out/_SUCCESS").exists()
    assert sorted(path.name for path in Path().iterdir()) == [
        *("in.jsonl", "names.tsv", "out", "p.toml")
    ]


@pytest.mark.usefixtures("place")
def test_the_account_of_a_run_is_said_before_its_graph_fails(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(kgx._Graph, "fill", full)
        result = cli(*CALL, "--json")
    assert result.code == 2
    assert (json.loads(result.out)["documents"], result.out.count("\n")) == (10, 1)
    account, error = result.err.splitlines()[-2:]
    assert "10 documents in: 10 done in out with 20 mentions, 0 in quarantine" in account
    assert "the run in out is complete, but has no graph: " in error
    assert "graph cannot be written: No space left on device; give another place" in error
    assert error.endswith("; fascicle graph out -o FOLDER makes it")
    assert not Path("graph").exists()
    assert cli(*CALL, "--resume").code == 0
    assert same_as_the_command(cli)


@pytest.mark.usefixtures("place")
def test_the_form_of_a_graph_is_that_of_the_command(cli: Cli) -> None:
    form = ["--prefix", "PMID", "--json-lines"]
    assert cli(*CALL, *form).code == 0
    assert cli("graph", "out", "-o", "expected", *form).code == 0
    assert content("graph") == content("expected")
    assert b'"PMID:d0"' in content("graph")["nodes.jsonl"]
    run("in.jsonl", "again", pipeline="p.toml", graph="other", prefix="PMID", json_lines=True)
    assert content("other") == content("expected")


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("call", "error"),
    [
        ((*CALL, "--prefix", "PM ID"), "the prefix 'PM ID' is not allowed; give letters"),
        ((*CALL[:-2], "--prefix", "PMID"), "no graph is asked for; give --graph FOLDER, or leave"),
        ((*CALL[:-2], "--json-lines"), "no graph is asked for; give --graph FOLDER, or leave"),
    ],
)
def test_a_form_that_fits_no_graph_is_refused_first(
    cli: Cli, call: tuple[str, ...], error: str
) -> None:
    result = cli(*call)
    assert (result.code, error in result.err) == (2, True), result.err
    assert not Path("out").exists()


def test_a_run_in_another_place_has_a_graph_too(place: Path, cli: Cli) -> None:
    pytest.importorskip("fsspec")
    run("in.jsonl", f"file://{place}/out", pipeline="p.toml", workers=1, graph="graph")
    assert same_as_the_command(cli)


@pytest.mark.usefixtures("place")
def test_documents_that_were_tried_again_are_in_the_next_graph(cli: Cli) -> None:
    """The order of the graph is that of the command: shards, and then retries."""
    limits = Path("p.toml").read_text(encoding="utf-8")
    Path("p.toml").write_text(f"{limits}[limits]\nlongest = 30\n", encoding="utf-8")
    write(
        "in.jsonl",
        [Document(id="long", text="Lithium and tremor. " * 9), *documents(3)],
        overwrite=True,
    )
    assert cli(*CALL, "--prefix", "PMID").code == 3
    first = content("graph")
    assert cli("quarantine", "retry", "out").code == 3  # it is too long again
    assert content("graph") == first
    Path("p.toml").write_text(limits, encoding="utf-8")
    result = cli("quarantine", "retry", "out", "--pipeline", "p.toml")
    assert result.code == 0
    account, graph = result.err.splitlines()[-2:]
    assert "4 documents in: 4 done in out with 24 mentions, 0 in quarantine" in account
    assert "2 concepts, 8 edges from documents, 1 pair in 12 sentences" in graph
    assert content("graph") != first
    assert cli("graph", "out", "-o", "expected", "--prefix", "PMID").code == 0
    assert content("graph") == content("expected")


def too_long() -> str:
    """Plans for one document in quarantine; returns the pipeline that takes it."""
    pipeline = Path("p.toml").read_text(encoding="utf-8")
    Path("p.toml").write_text(f"{pipeline}[limits]\nlongest = 30\n", encoding="utf-8")
    write("in.jsonl", [Document(id="d", text="Tremor. " * 9), *documents(3)], overwrite=True)
    return pipeline


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("error", [BrokenPipeError, OSError, OutputError])
def test_an_account_that_nobody_reads_stops_no_graph(cli: Cli, error: type[Exception]) -> None:
    """The same as ``fascicle run --graph G --json | true``: first the graph, then exit code 141."""

    def refuse(_: object) -> None:
        raise error("nobody reads it")

    pipeline = too_long()
    with pytest.raises(error):
        run("in.jsonl", "out", pipeline="p.toml", graph="graph", done=refuse)
    assert same_as_the_command(cli)
    Path("p.toml").write_text(pipeline, encoding="utf-8")
    with pytest.raises(error):
        retry("out", pipeline="p.toml", done=refuse)
    assert b"document:d\t" in content("graph")["nodes.tsv"]
    assert same_as_the_command(cli)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("stop", [OSError(errno.EINTR, "ended"), InputError("it was refused")])
def test_a_graph_that_was_not_renewed_is_renewed_by_the_next_retry(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, stop: Exception
) -> None:
    def ended(*_: object) -> None:
        raise stop

    pipeline = too_long()
    assert cli(*CALL).code == 3
    first = content("graph")
    Path("p.toml").write_text(pipeline, encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(kgx._Graph, "end", ended)
        assert cli("quarantine", "retry", "out", "--pipeline", "p.toml").code == 2
    assert content("graph") == first
    assert cli("quarantine", "retry", "out").code == 0  # nothing is left to try
    assert b"document:d\t" in content("graph")["nodes.tsv"]
    assert same_as_the_command(cli)
    before = Path("graph").stat().st_ino
    assert "concepts" not in cli("quarantine", "retry", "out").err
    assert Path("graph").stat().st_ino == before  # it has all that the run has


@pytest.mark.usefixtures("place")
def test_a_graph_that_never_was_is_written_by_a_retry(cli: Cli) -> None:
    """The only document with a link is in quarantine at first."""
    pipeline = too_long()
    write(
        "in.jsonl",
        [Document(id="d", text="Tremor. " * 9), Document(id="1", text="No name.")],
        overwrite=True,
    )
    assert "has no graph: no mention has a link" in cli(*CALL).err
    Path("p.toml").write_text(pipeline, encoding="utf-8")
    result = cli("quarantine", "retry", "out", "--pipeline", "p.toml")
    assert (result.code, "no longer" in result.err) == (0, False)
    assert same_as_the_command(cli)


@pytest.mark.usefixtures("place")
def test_no_graph_of_others_is_replaced(cli: Cli) -> None:
    pipeline = too_long()
    assert cli(*CALL).code == 3
    run("in.jsonl", "second", pipeline="p.toml")
    assert cli("graph", "second", "-o", "graph", "--overwrite", "--prefix", "S").code == 0
    before = content("graph")
    Path("p.toml").write_text(pipeline, encoding="utf-8")
    result = cli("quarantine", "retry", "out", "--pipeline", "p.toml")
    assert result.code == 2
    assert "4 documents in: 4 done" in result.err
    assert (
        "the run in out is complete, but has no new graph: there is no record that it wrote what "
        "is in " in result.err
    )
    assert content("graph") == before


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("record", "code", "sentence"),
    [
        ("{folder}", 2, "there is no record that it wrote what is in {folder}; fascicle graph out"),
        ({"folder": "{folder}"}, 2, "there is no record that it wrote what is in {folder};"),
        (7, 2, "out/.fascicle-run-graph.json is damaged (Expected "),
    ],
)
def test_a_record_of_another_form_is_one_sentence(
    cli: Cli, record: object, code: int, sentence: str
) -> None:
    """A path alone is the record of earlier releases, which does not say what was written."""
    folder = str(Path("graph").absolute())
    pipeline = too_long()
    assert cli(*CALL).code == 3
    stored = json.dumps(record).replace("{folder}", folder)
    Path("out/.fascicle-run-graph.json").write_text(stored, encoding="utf-8")
    Path("p.toml").write_text(pipeline, encoding="utf-8")
    result = cli("quarantine", "retry", "out", "--pipeline", "p.toml")
    assert "internal error" not in result.err
    assert (result.code, sentence.format(folder=folder) in result.err) == (code, True), result.err
    if record != 7:
        Path("graph").rename("away")
        assert cli("quarantine", "retry", "out").code == 0
        assert same_as_the_command(cli)


@pytest.mark.usefixtures("place")
def test_an_update_renews_the_graph_of_the_run(cli: Cli) -> None:
    assert cli(*CALL).code == 0
    write("more.jsonl", documents(12)[10:])
    update = ["run", "in.jsonl", "more.jsonl", *CALL[2:-2], "--update"]
    assert cli(*update).code == 0
    assert b"document:d11\t" in content("graph")["nodes.tsv"]
    assert same_as_the_command(cli)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda: Path("graph").rename("away"), 0, "note: the graph of this run is no longer in "),
        (
            lambda: Path("graph/mine.txt").touch(),
            2,
            "the run in out is complete, but has no new graph: the folder ",
        ),
    ],
)
def test_a_graph_that_cannot_be_renewed_is_said_after_the_account(
    cli: Cli, change: Callable[[], object], code: int, said: str
) -> None:
    pipeline = too_long()
    assert cli(*CALL).code == 3
    change()
    Path("p.toml").write_text(pipeline, encoding="utf-8")
    result = cli("quarantine", "retry", "out", "--pipeline", "p.toml")
    assert result.code == code
    account, graph = result.err.splitlines()[-2:]
    assert "4 documents in: 4 done" in account
    assert said in graph
