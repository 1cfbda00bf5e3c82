"""Runs on a Ray cluster of two machines (two nodes on this one): the same bytes, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import MissingExtraError, UsageError
from fascicle.formats import write
from fascicle.pipeline.scale import Cluster, pool_on
from fascicle.settings.pipeline import Limits

RUNNING = Path(__file__).parents[1] / "running"
SOURCES = Path(__file__).parents[3] / "src"
DRIVER = Path(__file__).with_name("driver.py")
TEXTS = [f"x and {number}" for number in range(45)]
Begin = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster of two nodes with one CPU each."""
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster as Nodes

    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(RUNNING), str(SOURCES), before or ""])
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    size = {"num_cpus": 1, "memory": 1 << 30, "object_store_memory": 100 << 20}
    nodes = Nodes(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    try:
        nodes.add_node(**size)
        yield nodes.address
    finally:
        nodes.shutdown()
        if before is not None:
            os.environ["PYTHONPATH"] = before


@pytest.fixture
def begin(address: str, tmp_path: Path) -> Begin:
    """Begins a run of texts."""

    def begin(
        folder: str, texts: Sequence[str], *, seconds: float = 0.0, documents: int = 10
    ) -> Any:
        path = tmp_path / "in.jsonl"
        if not path.exists():
            lines = [
                codec.encode(Document(id=f"d{at}", text=text)) + b"\n"
                for at, text in enumerate(texts)
            ]
            path.write_bytes(b"".join(lines))
        call = [
            sys.executable,
            str(DRIVER),
            str(path),
            str(tmp_path / folder),
            address,
            str(seconds),
            str(documents),
        ]
        return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return begin


def ended(driver: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, err = driver.communicate(timeout=300)
    assert driver.returncode == 0, err.decode()
    found: dict[str, Any] = json.loads(out)
    return found


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def calm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, documents: int = 10
) -> dict[str, bytes]:
    """The parts of a run of the same input on this machine."""
    monkeypatch.syspath_prepend(str(RUNNING))
    from poison import run_of

    from fascicle.settings.pipeline import Shards

    run_of([tmp_path / "in.jsonl"], tmp_path / "calm", shards=Shards(documents=documents)).do()
    return parts(tmp_path / "calm")


def stations() -> list[int]:
    """The processes of the stations that are at a shard."""
    import psutil

    named = [
        (one.pid, " ".join(one.info["cmdline"] or ())) for one in psutil.process_iter(["cmdline"])
    ]
    return [pid for pid, name in named if name.startswith("ray::ClusterWorker.do")]


def until(happened: Callable[[], Any], seconds: float = 90.0) -> Any:
    deadline = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


@pytest.mark.slow
def test_a_cluster_gives_the_bytes_of_one_machine(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals = ended(begin("out", TEXTS))
    assert (totals["documents"], totals["done"], totals["shards"]) == (45, 45, 5)
    assert parts(tmp_path / "out") == calm(tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_worker_out_of_memory_or_dead_costs_one_document(begin: Begin, tmp_path: Path) -> None:
    texts = list(TEXTS)
    texts[3], texts[14], texts[25] = "!allocate x", "!exit x", "!grow x"
    totals = ended(begin("out", texts))
    assert (totals["documents"], totals["done"]) == (45, 42)
    assert totals["reasons"] == {
        "finds: MemoryError": 1,
        "finds: exit:7": 1,
        "finds: killed:memory": 1,
    }
    done = [
        codec.decode(line).id
        for content in parts(tmp_path / "out").values()
        for line in content.splitlines()
    ]
    assert done == [f"d{at}" for at in range(45) if at not in (3, 14, 25)]


@pytest.mark.slow
def test_a_killed_station_loses_nothing(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"x {number}" for number in range(400)]
    driver = begin("out", texts, seconds=0.02, documents=50)
    for _ in range(2):
        os.kill(until(stations)[0], signal.SIGKILL)
        time.sleep(0.3)
    totals = ended(driver)
    assert (totals["documents"], totals["done"]) == (400, 400)
    assert parts(tmp_path / "out") == calm(tmp_path, monkeypatch, documents=50)
    attempts = [
        msgspec.json.decode(path.read_bytes())["attempt"]
        for path in (tmp_path / "out").glob("done-*")
    ]
    assert max(attempts) > 1


@pytest.mark.slow
def test_a_killed_driver_goes_on_and_its_stations_end(
    begin: Begin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, out = [f"x {number}" for number in range(200)], tmp_path / "out"
    driver = begin("out", texts, seconds=0.02, documents=20)
    until(lambda: len(list(out.glob("done-*"))) >= 2)
    driver.kill()
    driver.communicate()
    until(lambda: not stations())
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("done-*")}
    assert 2 <= len(before) < 10
    totals = ended(begin("out", texts, seconds=0.02, documents=20))
    assert (totals["documents"], totals["done"]) == (200, 200)
    assert parts(out) == calm(tmp_path, monkeypatch, documents=20)
    assert all((out / name).stat().st_mtime_ns == at for name, at in before.items())


@pytest.mark.slow
def test_a_shard_that_ends_all_stations_ends_the_run(begin: Begin, tmp_path: Path) -> None:
    driver = begin("out", [*TEXTS[:12], "!station x"])
    _, err = driver.communicate(timeout=300)
    assert driver.returncode == 1
    assert "WorkersError" in err.decode()
    assert "shard 00001" in err.decode()
    assert sorted(path.name for path in (tmp_path / "out").glob("done-*")) == ["done-00000.json"]


@pytest.mark.slow
def test_the_graph_of_a_run_on_a_cluster_has_the_bytes_of_one_machine(
    address: str, tmp_path: Path
) -> None:
    names = "Chemical\tlithium\tMESH:D008094\nDisease\ttremor\tMESH:D014202\n"
    (tmp_path / "names.tsv").write_text(f"type\tname\tid\n{names}", encoding="utf-8")
    (tmp_path / "p.toml").write_text(
        'name = "p"\n[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n'
        "[shards]\ndocuments = 4\n[limits]\nmemory = 300\n",
        encoding="utf-8",
    )
    texts = [f"Lithium {at}. {'Tremor by lithium. ' * (at % 3)}" for at in range(30)]
    write(
        tmp_path / "in.jsonl", [Document(id=f"d{at}", text=text) for at, text in enumerate(texts)]
    )
    for name, more in (("here", []), ("there", ["--ray", address, "--workers", "2"])):
        call = [sys.executable, "-m", "fascicle", "run", "in.jsonl", "--pipeline", "p.toml", "-o"]
        graph = [f"run-{name}", "--graph", name, "--json", *more]
        done = subprocess.run([*call, *graph], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        totals = json.loads(done.stdout)
        assert (totals["done"], totals["shards"]) == (30, 8)
    here, there = (content(tmp_path / name) for name in ("here", "there"))
    assert here == there
    assert here["edges.tsv"].count(b"biolink:mentions") == 50


@pytest.mark.parametrize("address", ["ray://host:1", "in.jsonl", "host"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="address"):
        pool_on(address)


@pytest.mark.parametrize("workers", [0, 10**6])
def test_wrong_numbers_of_workers_are_refused(workers: int) -> None:
    with pytest.raises(UsageError, match="workers"):
        Cluster(lambda: None, limits=Limits(), workers=workers)  # type: ignore[arg-type,return-value]


@pytest.mark.loopback
def test_an_address_at_which_nobody_answers_is_refused_soon() -> None:
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pool = Cluster(lambda: None, limits=Limits(), workers=1, address=f"127.0.0.1:{port}")  # type: ignore[arg-type,return-value]
    with pytest.raises(UsageError, match="cannot be reached"):
        pool.__enter__()


def test_a_cluster_that_does_not_start_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (
        "def is_initialized():\n    return False\ndef init(**_):\n    raise Exception('the "
        "node timed out')\n"
    )
    # as Ray 2.60 does on a busy machine
    (tmp_path / "ray.py").write_text(program, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    try:
        with pytest.raises(UsageError, match="timed out"):
            Cluster(lambda: None, limits=Limits(), workers=1, address="local").__enter__()  # type: ignore[arg-type,return-value]
    finally:
        monkeypatch.delitem(sys.modules, "ray", raising=False)


def test_a_folder_with_the_name_of_ray_does_not_stand_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ray").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "ray", raising=False)
    with pytest.raises(MissingExtraError, match="scale"):
        pool_on("auto")
    monkeypatch.delitem(sys.modules, "ray", raising=False)
