"""Files as jobs: what comes out is what a run writes; jobs are cancelled, bounded, and gone on
with.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from standing import Poison, Standing, standing

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import OutputError
from fascicle.formats.files import read
from fascicle.serving.jobs import Job, Jobs
from fascicle.serving.problems import ProblemError
from fascicle.serving.server import PipelineOpener
from fascicle.serving.worker import do_job
from fascicle.settings.serving import ServeSettings

pytestmark = [pytest.mark.loopback, pytest.mark.slow]  # each job starts two processes
BYTES = {"Content-Type": "application/octet-stream"}


def lines(texts: list[str]) -> bytes:
    return b"".join(
        codec.encode(Document(id=f"d{at}", text=text)) + b"\n" for at, text in enumerate(texts)
    )


def send(service: Standing, content: bytes, query: str = "") -> str:
    reply = service.ask("POST", f"/v1/jobs?name=in.jsonl{query}", content, BYTES)
    assert reply.status == 202
    assert reply.headers["location"] == f"/v1/jobs/{reply.json['id']}"
    return str(reply.json["id"])


def ended(service: Standing, name: str, seconds: float = 120) -> dict[str, Any]:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found: dict[str, Any] = service.ask("GET", f"/v1/jobs/{name}").json
        if found["status"] in ("done", "failed"):
            return found
        time.sleep(0.1)
    raise AssertionError("the job does not end")


def said(document: Document) -> tuple[str, set[tuple[int, int, str]]]:
    return document.id, {(one.start, one.end, one.type) for one in document.mentions}


def test_a_job_has_what_a_run_has(served: Standing, small: Path, tmp_path: Path) -> None:
    texts = [f"Aspirin is for pain {at}." for at in range(450)]
    name = send(served, lines(texts), "&format=pubtator")
    assert served.ask("GET", f"/v1/jobs/{name}/result").status == 409
    found = ended(served, name)
    assert (found["status"], found["documents"], found["quarantined"]) == ("done", 450, 0)
    assert found["losses"]["sources"] > 0
    reply = served.ask("GET", f"/v1/jobs/{name}/result")
    (tmp_path / "out.pubtator").write_bytes(reply.content)
    documents = list(read(tmp_path / "out.pubtator"))
    with PipelineOpener(given=str(small))() as pipeline:
        wanted = list(pipeline.stream((f"d{at}", text) for at, text in enumerate(texts)))
    assert [said(one) for one in documents] == [said(one) for one in wanted]
    assert served.ask("DELETE", f"/v1/jobs/{name}").status == 204
    assert served.ask("GET", f"/v1/jobs/{name}").status == 404


def test_poison_in_a_job_is_counted(served: Standing) -> None:
    name = send(served, lines(["x", "!raise", "xx"]), "&pipeline=poison")
    found = ended(served, name)
    assert (found["status"], found["documents"], found["quarantined"]) == ("done", 3, 1)
    assert found["reasons"] == {"finds: LookupError": 1}


@pytest.mark.parametrize(("content", "told"), [(b"{}\n", "document"), (b"\x00\x01", ""), (b"", "")])
def test_a_file_that_cannot_be_read_fails_its_job(
    served: Standing, content: bytes, told: str
) -> None:
    found = ended(served, send(served, content))
    assert found["status"] == "failed"
    assert told in found["problem"]
    assert "/tmp" not in found["problem"]


@pytest.mark.parametrize("name", ["x0", "a (1)"])
def test_the_ids_of_a_job_are_those_of_a_run(served: Standing, name: str) -> None:
    reply = served.ask("POST", f"/v1/jobs?name={quote(name)}.txt", b"Aspirin.", BYTES)
    assert ended(served, reply.json["id"])["status"] == "done"
    content = served.ask("GET", f"/v1/jobs/{reply.json['id']}/result").content
    assert codec.decode(content).id == name


def test_a_long_name_in_any_script_is_taken(served: Standing) -> None:
    reply = served.ask(
        "POST", f"/v1/jobs?name={'%E6%BC%A2' * 300}.jsonl", lines(["Aspirin."]), BYTES
    )
    assert reply.status == 202
    assert ended(served, reply.json["id"])["documents"] == 1


def test_jobs_are_cancelled_bounded_and_kept(tmp_path: Path) -> None:
    settings = ServeSettings(jobs=2, jobs_folder=str(tmp_path / "jobs"))
    slow = {"poison": Poison(seconds=0.05)}
    content = lines(["x and x"] * 300)
    with standing(slow, settings) as first:
        kept, other = send(first, content), send(first, content)
        assert first.ask("POST", "/v1/jobs?name=a.jsonl", content, BYTES).status == 429
        assert first.ask("DELETE", f"/v1/jobs/{other}").status == 204
        until = time.monotonic() + 60
        while (
            first.ask("GET", f"/v1/jobs/{kept}").json["status"] != "running"
            and time.monotonic() < until
        ):
            time.sleep(0.1)
    with standing(slow, settings) as second:
        assert second.ask("GET", f"/v1/jobs/{other}").json["status"] == "cancelled"
        assert {one["id"] for one in second.ask("GET", "/v1/jobs").json["jobs"]} == {other, kept}
        found = ended(second, kept)
        assert (found["status"], found["documents"]) == ("done", 300)
        out = second.ask("GET", f"/v1/jobs/{kept}/result").content
        assert [codec.decode(line).id for line in out.splitlines()] == [
            f"d{at}" for at in range(300)
        ]


def test_what_a_kill_leaves_of_jobs_nobody_was_told_of_is_cleared(
    tmp_path: Path, monkeypatch: Any
) -> None:
    folder = tmp_path / "jobs"
    settings = ServeSettings(jobs_folder=str(folder))
    half, damaged, notes = folder / ("a" * 32), folder / ("b" * 32), folder / "notes"
    for one in (half, damaged, notes):
        one.mkdir(parents=True)
        (one / "input-in.jsonl").write_bytes(b"half of a file")
    (damaged / "job.json").write_bytes(b"{}")  # known, and not ours to judge
    with standing({"poison": Poison()}, settings) as first:
        assert not half.exists()
        assert damaged.exists()
        assert notes.exists()
        done = send(first, lines(["x"]), "&pipeline=poison")
        assert ended(first, done)["status"] == "done"
        # the kill comes while files are removed
        monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
        assert first.ask("DELETE", f"/v1/jobs/{done}").status == 204
        monkeypatch.undo()
    with standing({"poison": Poison()}, settings) as second:
        assert second.ask("GET", f"/v1/jobs/{done}").status == 404
        assert not (folder / done).exists()


def test_two_services_do_not_share_jobs(tmp_path: Path) -> None:
    settings = ServeSettings(jobs_folder=str(tmp_path / "jobs"))
    first, second = (Jobs({"poison": Poison()}, settings, do=do_job) for _ in range(2))
    first.start()
    with pytest.raises(OutputError, match="another service"):
        second.start()
    first.close()
    second.start()
    second.close()


def _receiving(jobs: Jobs, who: str = "") -> Job:
    return jobs.open(
        pipeline="poison", file="input-in.jsonl", reading="auto", format="jsonl", who=who
    )


def test_a_job_that_is_cancelled_while_its_file_comes_does_not_begin(tmp_path: Path) -> None:
    jobs = Jobs({"poison": Poison()}, ServeSettings(jobs_folder=str(tmp_path)), do=do_job)
    jobs.start()
    try:
        cancelled, removed = _receiving(jobs), _receiving(jobs)
        jobs.path_of(cancelled).write_bytes(b"half of a file")
        jobs.cancel(cancelled.id)
        jobs.remove(removed.id)
        for one in (cancelled, removed):
            with pytest.raises(ProblemError, match="cancelled"):
                jobs.begin(one)
        assert [(one.id, one.status) for one in jobs.all()] == [(cancelled.id, "cancelled")]
        assert [one.name for one in (tmp_path / cancelled.id).iterdir()] == ["job.json"]
    finally:
        jobs.close()


def test_jobs_of_one_token_put_none_of_another_away() -> None:
    jobs = Jobs({"poison": Poison()}, ServeSettings(jobs=1), do=do_job)
    jobs.start()
    try:
        first = _receiving(jobs, "Ada")
        jobs.cancel(first.id)
        for _ in range(3):
            jobs.cancel(_receiving(jobs, "Bob").id)
        assert jobs.get(first.id).who == "Ada"
        assert [one.who for one in jobs.all()].count("Bob") <= 2
    finally:
        jobs.close()


def test_of_a_job_that_is_cancelled_while_it_runs_no_text_stays(tmp_path: Path) -> None:
    with standing(
        {"poison": Poison(seconds=0.05)}, ServeSettings(jobs_folder=str(tmp_path))
    ) as service:
        name = send(service, lines(["x and x"] * 300))
        until = time.monotonic() + 60
        while not (tmp_path / name / "run").exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert service.ask("DELETE", f"/v1/jobs/{name}").status == 204
        while [one.name for one in (tmp_path / name).iterdir()] != ["job.json"]:
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(1)
        assert [one.name for one in (tmp_path / name).iterdir()] == ["job.json"]
