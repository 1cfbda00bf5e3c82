"""What ends a run that would lose a document or do one twice: each guard alone, with what it
guards against.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from poison import run_of

from fascicle.errors import OutputError
from fascicle.pipeline.running.folder import SUCCESS, UNREAD, RunFolder
from fascicle.pipeline.running.records import Shard
from fascicle.pipeline.running.run import UnfinishedError, finalize
from fascicle.pipeline.running.supervisor import _Task
from fascicle.pipeline.workers import WorkerEndedError, Working

Write = Callable[[Sequence[str]], Path]


@pytest.fixture
def done(written: Write, tmp_path: Path) -> RunFolder:
    """A finished run of three shards; one of its 25 documents could not be read."""
    path = written([f"x {number}" for number in range(24)])
    with path.open("ab") as stream:
        stream.write(b'{"id": "broken\n')
    assert run_of([path], tmp_path / "out").do().quarantined == 1
    return RunFolder(tmp_path / "out")


def test_a_run_that_accounts_for_all_is_proved(done: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "out" / SUCCESS).unlink()
    totals = finalize(done, done.manifest())
    assert (totals.documents, totals.done, totals.quarantined) == (25, 24, 1)
    assert (tmp_path / "out" / SUCCESS).exists()


def test_a_document_that_is_neither_done_nor_in_quarantine_ends_a_run(
    done: RunFolder, tmp_path: Path
) -> None:
    (tmp_path / "out" / SUCCESS).unlink()
    (tmp_path / "out" / UNREAD).write_bytes(b"")
    with pytest.raises(
        OutputError, match="25 documents were read, but 24 are done and 0 in quarantine"
    ):
        finalize(done, done.manifest())
    assert not (tmp_path / "out" / SUCCESS).exists()


@pytest.mark.parametrize(
    "change", [{"done": 9}, {"done": 11}, {"documents": 9, "done": 9}, {"quarantined": 1}]
)
def test_a_shard_that_does_not_account_for_all_ends_a_run(
    done: RunFolder, tmp_path: Path, change: dict[str, int]
) -> None:
    marker = tmp_path / "out" / "done-00001.json"
    marker.write_text(json.dumps({**json.loads(marker.read_bytes()), **change}), encoding="utf-8")
    with pytest.raises(OutputError, match="shard 00001 does not account"):
        finalize(done, done.manifest())


def test_a_shard_that_is_not_done_is_no_finished_run(done: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "out" / "done-00001.json").unlink()
    with pytest.raises(UnfinishedError, match="1 of 3 shards are not done, such as 00001"):
        finalize(done, done.manifest())


def test_a_worker_of_an_earlier_run_writes_nothing(tmp_path: Path) -> None:
    place = RunFolder(tmp_path / "out").place
    with place.held() as mark:
        place.of_run(mark)
        with place.written("part") as stream:
            stream.write(b"now")
    late = place.written("part")
    with (
        RunFolder(tmp_path / "out").place.held(),
        pytest.raises(OutputError, match="another run"),
        late as stream,
    ):
        stream.write(b"before")
    assert (tmp_path / "out" / "part").read_bytes() == b"now"


def test_a_document_at_which_two_workers_died_alone_is_not_tried_again() -> None:
    shard = Shard(name="00000", pieces=(), sha256="", characters=0)
    task, alone = _Task(shard=shard), Working(places=(3,), step="finds", characters=9)
    task.blame(
        WorkerEndedError("killed:SIGSEGV", Working(places=(2, 3), step="finds", characters=9))
    )
    assert task.order().alone == (2, 3)
    task.blame(WorkerEndedError("killed:SIGSEGV", alone))
    assert task.order().killed == ()
    task.blame(WorkerEndedError("killed:SIGSEGV", alone))
    ((place, failure),) = task.order().killed
    assert (place, failure.error) == (3, "killed:SIGSEGV")
