"""Runs from and to an object store: as URLs of files by fsspec, and by HTTP against a server
that speaks S3.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from poison import open_poison, run_of

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.remote import fetch_to_local, is_url, list_url, url_state
from fascicle.errors import FascicleError, InputError, OutputError
from fascicle.pipeline.running.folder import SUCCESS, RunFolder
from fascicle.settings.pipeline import Shards
from fascicle.verbs.tasks.run import list_quarantined, run

pytest.importorskip("fsspec")
Write = Callable[[Sequence[str]], Path]
TEXTS = [f"x and {number}" for number in range(45)]
PIPELINE = """
[[steps]]
kind = "recogniser"
name = "names"
model = "names.tsv"
[shards]
documents = 4
"""


def parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("part-*"))}


def test_a_run_from_and_to_urls_has_the_bytes_of_one_on_the_disk(
    written: Write, tmp_path: Path
) -> None:
    path, far = written(TEXTS), tmp_path / "far"
    with path.open("ab") as stream:
        stream.write(b'{"id": "broken\n')
    near = run_of([path], tmp_path / "near").do()
    run = run_of([path.as_uri()], far.as_uri(), workers=2)
    totals = run.do()
    assert (totals.documents, totals.done, totals.mentions) == (46, 45, near.mentions)
    assert parts(far) == parts(tmp_path / "near")
    (record,) = list_quarantined(far.as_uri())
    assert (record.id, record.input, record.raw) == (
        f"{path.as_uri()}:46",
        path.as_uri(),
        b'{"id": "broken',
    )
    assert path.as_uri() in record.message
    assert run.do(resume=True) == totals
    with pytest.raises(OutputError, match="is complete"):
        run.do()


def test_what_is_missing_in_a_store_is_done_again(written: Write, tmp_path: Path) -> None:
    path, far = written(TEXTS), tmp_path / "far"
    far.mkdir()
    run = run_of([path.as_uri()], far.as_uri())
    run.do()
    whole = parts(far)
    (far / "done-00001.json").unlink()
    (far / "part-00001.jsonl").write_bytes(b"half")
    (far / "part-00003.jsonl").unlink()
    run.do(resume=True)
    assert parts(far) == whole
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(OutputError, match="inputs"):
        run_of([path.as_uri()], far.as_uri()).do(resume=True)


def test_a_block_that_fails_sends_nothing(tmp_path: Path) -> None:
    def write_half() -> None:
        with RunFolder(tmp_path.as_uri()).place.written("part") as stream:
            stream.write(b"half")
            raise LookupError

    with pytest.raises(LookupError):
        write_half()
    assert not list(tmp_path.iterdir())


def test_urls_stand_for_files_patterns_and_folders(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "c.xml"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    base = tmp_path.as_uri()
    assert list_url(f"{base}/c.xml") == [f"{base}/c.xml"]
    assert list_url(f"{base}/") == [f"{base}/a.txt", f"{base}/b.txt"]
    assert list_url(f"{base}/*.?xt") == [f"{base}/a.txt", f"{base}/b.txt"]
    before = url_state(f"{base}/a.txt")
    (tmp_path / "a.txt").write_text("other", encoding="utf-8")
    assert url_state(f"{base}/a.txt") != before
    with fetch_to_local(f"{base}/b.txt") as near:
        assert Path(near).read_bytes() == b"b.txt"
        assert Path(near).name == "b.txt"
    assert not Path(near).exists()
    for wrong in (
        f"{base}/d.txt",
        f"{base}/*.csv",
        f"{base}/none/",
        "nowhere://a",
        f"simplecache::{base}/a.txt",
    ):
        with pytest.raises(FascicleError):
            list_url(wrong)
    with pytest.raises(InputError):
        url_state(f"{base}/d.txt")
    with pytest.raises(InputError, match=r"ftp://no\.such\.host/a\.txt cannot be reached"):
        list_url("ftp://no.such.host/a.txt")
    with pytest.raises(InputError, match="cannot be reached"):
        RunFolder("ftp://no.such.host/out")
    assert [is_url(one) for one in ("s3://a", "a/b://c", "C:\\a", "file.txt", "-")] == [
        True,
        False,
        False,
        False,
        False,
    ]


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    """A server that speaks S3, and the bucket in it."""
    pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    call = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    given = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, value)
        try:
            deadline = time.monotonic() + 60
            while True:
                with suppress(Exception):
                    s3fs.S3FileSystem().mkdir("bucket")
                    break
                assert time.monotonic() < deadline
                time.sleep(0.2)
            yield "s3://bucket"
        finally:
            server.kill()
            server.wait()


def objects(url: str) -> dict[str, bytes]:
    import s3fs

    system = s3fs.S3FileSystem()
    system.invalidate_cache()
    return {
        name.rsplit("/", 1)[-1]: system.cat_file(name)
        for name in system.ls(url)
        if "/part-" in name
    }


@pytest.mark.slow
@pytest.mark.loopback
def test_a_run_in_an_object_store(store: str, tmp_path: Path) -> None:
    import s3fs

    (tmp_path / "names.tsv").write_text("Chemical\taspirin\n", encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text(PIPELINE, encoding="utf-8")
    for at in range(3):
        lines = [
            codec.encode(Document(id=f"d{at}-{one}", text="an aspirin")) + b"\n" for one in range(5)
        ]
        (tmp_path / f"in-{at}.jsonl").write_bytes(b"".join(lines))
        s3fs.S3FileSystem().put_file(str(tmp_path / f"in-{at}.jsonl"), f"{store}/in/in-{at}.jsonl")
    run([tmp_path / f"in-{at}.jsonl" for at in range(3)], tmp_path / "near", pipeline=tmp_path)
    far = partial(run, f"{store}/in/*.jsonl", pipeline=tmp_path, workers=2)
    totals = far(f"{store}/out")
    assert (totals.documents, totals.done, totals.mentions) == (15, 15, {"names/Chemical": 15})
    assert objects(f"{store}/out") == parts(tmp_path / "near")
    system = s3fs.S3FileSystem()
    assert system.exists(f"{store}/out/{SUCCESS}")
    with pytest.raises(OutputError, match="is complete"):
        far(f"{store}/out")
    lines = codec.encode(Document(id="d0-1", text="aspirin, aspirin"))
    s3fs.S3FileSystem().pipe_file(f"{store}/in/in-9.jsonl", lines + b"\n")
    totals = far(f"{store}/out", update=True)
    assert (totals.documents, totals.done, totals.mentions) == (15, 15, {"names/Chemical": 16})
    with pytest.raises(OutputError, match="nowhere"):
        far("s3://nowhere/out")


@pytest.mark.slow
@pytest.mark.loopback
def test_a_killed_run_in_an_object_store_goes_on(
    store: str, written: Write, tmp_path: Path
) -> None:
    path = written([f"x {number}" for number in range(300)])
    run_of([path], tmp_path / "calm").do()
    program = (
        "import sys; from functools import partial; from poison import *\n"
        "run_of([sys.argv[1]], sys.argv[2], open_pipeline=partial(open_poison, 0.02),"
        " workers=2).do(resume=True)"
    )
    sources = [
        str(Path(__file__).parent),
        str(Path(__file__).parents[3] / "src"),
        os.environ.get("PYTHONPATH", ""),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}
    call: list[Any] = [sys.executable, "-c", program, path, f"{store}/killed"]
    driver = subprocess.Popen(call, env=environment)
    deadline = time.monotonic() + 300
    while len(objects(f"{store}/killed") if _exists(f"{store}/killed") else ()) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    driver.kill()
    driver.wait()
    folder = RunFolder(f"{store}/killed")
    manifest = folder.manifest()
    assert 0 < len(list(folder.done(manifest.shards))) < len(manifest.shards)
    run_of([path], folder.name, open_pipeline=partial(open_poison, 0.02)).do(resume=True)
    assert objects(f"{store}/killed") == parts(tmp_path / "calm")


@pytest.mark.slow
@pytest.mark.loopback
def test_two_runs_at_once_in_an_object_store_both_end_with_every_document(
    store: str, written: Write, tmp_path: Path
) -> None:
    path = written([f"x {number}" for number in range(300)])
    run_of([path], tmp_path / "calm", shards=Shards(documents=2_000)).do()
    program = (
        "import sys; from functools import partial; from poison import *\n"
        "run_of([sys.argv[1]], sys.argv[2], open_pipeline=partial(open_poison, 0.02), "
        "shards=Shards(documents=2_000),"
        " workers=2).do(resume=True)"
    )
    sources = [
        str(Path(__file__).parent),
        str(Path(__file__).parents[3] / "src"),
        os.environ.get("PYTHONPATH", ""),
    ]
    call: list[Any] = [sys.executable, "-c", program, path, f"{store}/twice"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}
    runs = []
    for pause in (2, 0):
        runs.append(subprocess.Popen(call, env=environment))
        time.sleep(pause)
    assert [run.wait() for run in runs] == [0, 0]
    assert objects(f"{store}/twice") == parts(tmp_path / "calm")


def _exists(url: str) -> bool:
    import s3fs

    system = s3fs.S3FileSystem()
    system.invalidate_cache()
    return bool(system.exists(url))
