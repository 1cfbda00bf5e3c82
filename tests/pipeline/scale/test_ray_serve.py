"""The service behind Ray Serve, by ``deploy/ray_serve.py``: what clients get is what the
pipeline says.
"""

from __future__ import annotations

import importlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from tests.pages import blocks

import fascicle
from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.errors import UsageError
from fascicle.pipeline.loading import open_pipeline
from fascicle.serving.client.calls import Call, ServiceError

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
TOKEN = "0123456789abcdef-secret"
pytestmark = [pytest.mark.loopback, pytest.mark.slow]


@pytest.fixture(scope="module")
def recipe() -> ModuleType:
    pytest.importorskip("ray.serve")
    sys.path.insert(0, str(DEPLOY))
    try:
        return importlib.import_module("ray_serve")
    finally:
        sys.path.remove(str(DEPLOY))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "names.tsv").write_text("Chemical\tAspirin\nDisease\tpain\n", encoding="utf-8")
    (folder / "pipeline.toml").write_text(
        'name = "small"\n[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n',
        encoding="utf-8",
    )
    (folder / "token").write_text(TOKEN, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def command(small: Path) -> list[str]:
    """The command of the page, for a pipeline and a machine that are here."""
    page = (DEPLOY / "README.md").read_text(encoding="utf-8")
    (line,) = [
        one
        for block in blocks(page, "sh")
        for one in block.splitlines()
        if one.startswith("serve run")
    ]
    given = shlex.split(line)
    here = {"pipelines": str(small / "pipeline.toml"), "replicas": "2", "workers": "1"}
    given = [
        f"{name}={here.get(name, value)}" if sign else name
        for name, sign, value in map(parted, given)
    ]
    return [*given, f"token_file={small / 'token'}"]


@pytest.fixture(scope="module")
def url(
    recipe: ModuleType, command: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The documented command at a cluster of one node; at the end it is interrupted, and nothing
    is left.
    """
    import ray
    from ray import serve

    log = tmp_path_factory.mktemp("log") / "serve.txt"
    given = {
        "PYTHONPATH": str(ROOT / "src"),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",
    }
    # what the cluster starts has the environment of this process
    with pytest.MonkeyPatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, value)
        cluster = ray.init(num_cpus=4, include_dashboard=False, object_store_memory=100 << 20)
    try:
        port = free_port()
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        env = {**os.environ, **given, "RAY_ADDRESS": cluster.address_info["gcs_address"]}
        whole = [Path(sys.executable).with_name(command[0]), *command[1:]]
        with log.open("wb") as stream:
            running = subprocess.Popen(whole, cwd=ROOT, env=env, stdout=stream, stderr=stream)
        wait_until(lambda: running.poll() is not None or b" is ready at " in log.read_bytes())
        assert running.poll() is None, log.read_text(encoding="utf-8")
        yield f"http://127.0.0.1:{port}"
        running.send_signal(signal.SIGINT)
        running.wait(120)
        assert replicas() == []
    finally:
        serve.shutdown()
        ray.shutdown()


def test_clients_get_what_the_pipeline_says_whatever_dies(url: str, small: Path) -> None:
    documents = [Document(id=f"d{at}", text=f"Aspirin is for pain {at}.") for at in range(2_000)]
    wanted = list(open_pipeline(small).stream(documents))
    killed = threading.Timer(0.5, lambda: os.kill(replicas()[0], signal.SIGKILL))
    killed.start()
    with fascicle.Client(url, token=TOKEN) as client:
        assert client.annotate(documents) == wanted
        lines = b"".join(codec.encode(one) + b"\n" for one in documents[:300])
        told = client.call(
            Call(method="POST", path="/v1/stream", content=lines, media_type="application/x-ndjson")
        )
    killed.join()
    assert [msgspec.json.decode(one)["id"] for one in told.splitlines()] == [
        one.id for one in documents[:300]
    ]


def test_the_token_is_asked_for_and_jobs_are_not_there(url: str) -> None:
    for token, method, path, status, told in (
        ("x" * 20, "GET", "/v1/pipelines", 401, "token"),
        ("x" * 20, "POST", "/v1/jobs", 401, "token"),
        (TOKEN, "POST", "/v1/jobs", 404, "fascicle run --ray"),
        (TOKEN, "GET", "/v1/jobs/" + "0" * 32, 404, "fascicle run --ray"),
        (TOKEN, "GET", "/v1/curation/documents", 404, "fascicle serve --curation"),
    ):
        with fascicle.Client(url, token=token) as client, pytest.raises(ServiceError) as caught:
            client.call(Call(method=method, path=path))
        assert caught.value.status == status
        assert told in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [{"pipelines": "a", "replicas": "0"}, {"pipelines": "a", "more": "1"}, {}]
)
def test_what_is_no_setting_is_refused(recipe: ModuleType, wrong: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="give pipelines="):
        recipe.application(wrong)


def test_paths_are_those_of_the_folder_in_which_the_command_is_given(
    recipe: ModuleType, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    for given, placed in (
        (f"{small.name}/pipeline.toml", str(small / "pipeline.toml")),
        (f"mine={small.name}", f"mine={small}"),
        ("biomed", "biomed"),
        ("mine=biomed", "mine=biomed"),
    ):
        assert recipe._placed(given) == placed


def parted(argument: str) -> tuple[str, str, str]:
    name, sign, value = argument.partition("=")
    return name, sign, value


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.2)


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def replicas() -> list[int]:
    """The processes of the replicas."""
    import psutil

    found = psutil.process_iter(["cmdline"])
    return [one.pid for one in found if "ServeReplica" in "".join((one.info["cmdline"] or [])[:1])]
