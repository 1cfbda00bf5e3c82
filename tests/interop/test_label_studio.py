"""A running Label Studio: our tasks go in through its API, and each of its exports is read back.

``LABEL_STUDIO`` is the program; it is started with a data base of its own. ``LABEL_STUDIO_URL``
names one that runs, which takes the token below.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.interop import facts

from fascicle.core.document import Document, Mention
from fascicle.formats import read, write
from fascicle.formats.requests import ReadRequest, read_file

TOKEN = "0123456789abcdef0123456789abcdef01234567"
PATIENCE = 900  # seconds for its data base to be made
CONFIG = """<View><Labels name="label" toName="text"><Label value="Chemical"/><Label value="Disease"/></Labels>
<Text name="text" value="$text"/></View>"""
Ask = Callable[..., bytes]


def asking(url: str) -> Ask:
    def ask(method: str, path: str, content: Any = None) -> bytes:
        data = (
            None
            if content is None
            else content
            if isinstance(content, bytes)
            else json.dumps(content).encode()
        )
        headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=300) as reply:
            return bytes(reply.read())

    return ask


def environment(folder: Path) -> dict[str, str]:
    told = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
        "DJANGO_DB": "sqlite",
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "COLLECT_ANALYTICS": "False",
        "LATEST_VERSION_CHECK": "False",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }
    return {**{name: one for name, one in os.environ.items() if name != "PYTHONPATH"}, **told}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if url := os.environ.get("LABEL_STUDIO_URL", ""):
        yield url
        return
    folder = tmp_path_factory.mktemp("label-studio")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked = [
        "start",
        "--no-browser",
        "--internal-host",
        "127.0.0.1",
        "--port",
        str(port),
        "--user-token",
        TOKEN,
    ]
    asked += ["--username", "a@example.org", "--password", "of-this-test-alone"]
    with (folder / "log").open("wb") as log:
        command = [os.environ["LABEL_STUDIO"], *asked]
        program = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment(folder), cwd=folder
        )
        try:
            url = f"http://127.0.0.1:{port}"
            wait(asking(url), program, folder / "log")
            yield url
        finally:
            program.terminate()
            program.wait(60)


@pytest.fixture(scope="module")
def ask(address: str) -> Ask:
    return asking(address)


def wait(ask: Ask, program: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert program.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            ask("GET", "/api/projects/")
        except OSError:
            time.sleep(2)
        else:
            return
    pytest.fail("Label Studio did not start: " + log.read_text(errors="replace")[-2000:])


@pytest.fixture
def project(ask: Ask, documents: list[Document], tmp_path: Path) -> Iterator[int]:
    """Our documents with gold and predictions in a project."""
    predicted = Mention(((0, 1),), "Disease", source="model", score=0.25)
    given = [msgspec.structs.replace(one, mentions=(*one.mentions, predicted)) for one in documents]
    write(tmp_path / "tasks.label-studio.json", given)
    number = json.loads(
        ask("POST", "/api/projects/", {"title": "interop", "label_config": CONFIG})
    )["id"]
    told = json.loads(
        ask(
            "POST",
            f"/api/projects/{number}/import",
            (tmp_path / "tasks.label-studio.json").read_bytes(),
        )
    )
    assert (told["task_count"], told["annotation_count"], told["prediction_count"]) == (3, 2, 3)
    yield number
    ask("DELETE", f"/api/projects/{number}/")


def exported(ask: Ask, project: int, kind: str, name: str, folder: Path) -> Path:
    path = folder / name
    path.write_bytes(
        ask("GET", f"/api/projects/{project}/export?exportType={kind}&download_all_tasks=true")
    )
    return path


def gold(found: Document) -> set[tuple[int, int, str, str]]:
    return facts(msgspec.structs.replace(found, mentions=found.layer("gold")))


def test_json(ask: Ask, project: int, documents: list[Document], tmp_path: Path) -> None:
    found = list(read(exported(ask, project, "JSON", "a.json", tmp_path)))
    assert sorted((one.id, one.text, sorted(gold(one))) for one in found) == [
        (one.id, one.text, sorted(facts(one))) for one in documents
    ]
    assert not {event.code for one in found for event in one.events} - {
        "unannotated-record",
        "predictions-left-out",
    }


@pytest.mark.parametrize(
    ("kind", "name"), [("JSON_MIN", "a.json"), ("CSV", "a.csv"), ("TSV", "a.tsv")]
)
def test_flat_exports(
    kind: str, name: str, ask: Ask, project: int, documents: list[Document], tmp_path: Path
) -> None:
    path = exported(ask, project, kind, name, tmp_path)
    more: dict[str, Any] = (
        {"format": "table", "fields": (("quotes", "true"),)} if kind == "TSV" else {}
    )
    found = {one.text: facts(one) for one in read_file(str(path), ReadRequest(**more))}
    wanted = {one.text: facts(one) for one in documents}
    assert wanted == found


def test_conll(ask: Ask, project: int, documents: list[Document], tmp_path: Path) -> None:
    path = exported(ask, project, "CONLL2003", "a.conll", tmp_path)
    found = [
        (one.type, one.text_in(document.text))
        for document in read(path)
        for one in document.mentions
    ]
    # Its tokens are its own, and what stood between them is lost.
    joined = [(kind, text) for one in documents for _, _, text, kind in sorted(facts(one))]
    assert sorted(kind for kind, _ in found) == sorted(kind for kind, _ in joined)
    for kind, text in joined:
        assert (kind, "".join(text.split())) in [
            (other, "".join(shown.split())) for other, shown in found
        ]


def test_two_annotators(ask: Ask, project: int, documents: list[Document], tmp_path: Path) -> None:
    (task,) = [
        one
        for one in json.loads(exported(ask, project, "JSON", "t.json", tmp_path).read_bytes())
        if one["data"]["text"] == documents[2].text
    ]
    value = {"start": 0, "end": 7, "text": "Nothing", "labels": ["Disease"]}
    region = {"from_name": "label", "to_name": "text", "type": "labels", "value": value}
    for _ in range(2):
        ask("POST", f"/api/tasks/{task['id']}/annotations/", {"result": [region]})
    path = exported(ask, project, "JSON_MIN", "a.json", tmp_path)
    found = list(read_file(str(path), ReadRequest(fields=(("annotator", "all"),))))
    assert len(found) == 3
    (one,) = [one for one in found if one.text == documents[2].text]
    assert facts(one) == {(0, 7, "Nothing", "Disease")}
