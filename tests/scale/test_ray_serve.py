"""The service behind Ray Serve, by ``deploy/ray_serve.py``: what clients get is what the pipeline says."""

from __future__ import annotations

import importlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import fascicle
from fascicle.client.calls import Call, ServiceError
from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.pipeline.loading import open_pipeline

ROOT = Path(__file__).resolve().parents[2]
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
        'name = "small"\n[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n', encoding="utf-8"
    )
    (folder / "token").write_text(TOKEN, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def url(recipe: ModuleType, small: Path) -> Iterator[str]:
    """Two replicas on a cluster of one node."""
    import ray
    from ray import serve

    variables = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(DEPLOY)]), "RAY_USAGE_STATS_ENABLED": "0"}
    ray.init(num_cpus=4, include_dashboard=False, object_store_memory=100 << 20, runtime_env={"env_vars": variables})
    try:
        port = free_port()
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        given = {"pipelines": str(small / "pipeline.toml"), "replicas": "2", "token_file": str(small / "token")}
        serve.run(recipe.application(given), name="fascicle")
        yield f"http://127.0.0.1:{port}"
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
        told = client.call(Call(method="POST", path="/v1/stream", content=lines, media_type="application/x-ndjson"))
    killed.join()
    assert [msgspec.json.decode(one)["id"] for one in told.splitlines()] == [one.id for one in documents[:300]]


def test_the_token_is_asked_for_and_jobs_are_not_there(url: str) -> None:
    for token, path, status in (("x" * 20, "/v1/pipelines", 401), (TOKEN, "/v1/jobs/" + "0" * 32, 404)):
        with fascicle.Client(url, token=token) as client, pytest.raises(ServiceError) as caught:
            client.call(Call(method="GET", path=path))
        assert caught.value.status == status


@pytest.mark.parametrize("wrong", [{"pipelines": "a", "replicas": "0"}, {"pipelines": "a", "more": "1"}, {}])
def test_what_is_no_setting_is_refused(recipe: ModuleType, wrong: dict[str, str]) -> None:
    with pytest.raises(msgspec.ValidationError):
        recipe.application(wrong)


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def replicas() -> list[int]:
    """The processes of the replicas."""
    import psutil

    return [one.pid for one in psutil.process_iter() if "ServeReplica" in " ".join(one.cmdline()[:1])]
