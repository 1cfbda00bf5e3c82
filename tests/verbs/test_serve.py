"""``fascicle serve``: what it refuses, and what becomes of what it has accepted when it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from fascicle.cli import main

pytest.importorskip("uvicorn")
NAMES = "Chemical\tAspirin\nDisease\tpain\n"
TOML = 'name = "mine"\n[[steps]]\nkind = "recogniser"\nname = "names"\nmodel = "names.tsv"\n'
TOKEN = "0123456789abcdef"


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    (tmp_path / "names.tsv").write_text(NAMES, encoding="utf-8")
    (tmp_path / "pipeline.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


@contextmanager
def serving(
    *arguments: str, env: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    command = [sys.executable, "-m", "fascicle", "serve", "--port", "0", *arguments]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, **(env or {})}
    ) as process:
        assert process.stderr is not None
        told = first_lines(process.stderr)
        found = re.search(r"http://\S+/", told)
        assert found, told
        rest: list[str] = []
        reader = threading.Thread(target=lambda: rest.extend(process.stderr or ()))
        reader.start()
        try:
            yield process, found[0], rest
        finally:
            process.kill()
            reader.join()


def first_lines(stream: IO[str]) -> str:
    """What a service says, up to where it can be reached; all of it if it ends before."""
    told = ""
    for line in stream:
        told += line
        if "http://" in line:
            break
    return told


def read(url: str, content: Any = None, **headers: str) -> str:
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=120) as answer:
        found: bytes = answer.read()
        return found.decode()


def ask(url: str, content: Any = None, **headers: str) -> Any:
    return json.loads(read(url, content, **headers))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--demo"),
        pytest.param(["none"], "none", marks=pytest.mark.slow),
        (["biomed", "--host", "0.0.0.0"], "token"),
        (["biomed", "--token-file", "none.txt"], "none.txt"),
        (["biomed", "a=biomed", "a=biomed"], "'a'"),
        (["biomed", "=biomed"], "NAME=PATH"),
        (["biomed", "--port", "70000"], "65535"),
        (["biomed", "--workers", "0"], "workers"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_sentence(
    arguments: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FASCICLE_TOKEN", raising=False)
    assert main(["serve", *arguments]) == 2
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


def test_a_short_token_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for content in ("short", "", "0123456789 abcdefé"):
        (tmp_path / "token").write_text(content, encoding="utf-8")
        assert main(["serve", "biomed", "--token-file", str(tmp_path / "token")]) == 2
        err = capsys.readouterr().err
        assert not content or content not in err


@pytest.mark.slow
@pytest.mark.loopback
def test_what_was_accepted_is_answered_before_the_end(pipeline: Path) -> None:
    with serving(str(pipeline), env={"FASCICLE_TOKEN": TOKEN}) as (process, url, log):
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert ask(f"{url}health")["status"] == "ready"
        answers: list[Any] = []

        def send() -> None:
            texts = [{"text": "Aspirin is for pain. " * 400} for _ in range(100)]
            answers.append(ask(f"{url}v1/annotate", {"documents": texts}, **bearer))

        thread = threading.Thread(target=send)
        thread.start()
        while (
            'waiting_characters{pipeline="mine"} 0' in read(f"{url}metrics", **bearer)
            and thread.is_alive()
        ):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        thread.join()
        assert process.wait(60) == 143
        until = time.monotonic() + 60
        while not any("/v1/annotate" in line for line in log) and time.monotonic() < until:
            time.sleep(0.05)
        assert [one["status"] for one in answers[0]["documents"]] == ["done"] * 100
    lines = [json.loads(line) for line in log if line.startswith("{")]
    told = {"route": "/v1/annotate", "status": 200, "documents": {"done": 100}}
    assert any(told.items() <= line.items() for line in lines)
    assert TOKEN not in "".join(log)
    assert "Aspirin" not in "".join(log)


@pytest.mark.slow
@pytest.mark.loopback
def test_the_demonstration_has_a_page_and_examples() -> None:
    with serving("--demo") as (process, url, _):
        (found,) = ask(f"{url}v1/pipelines")["pipelines"]
        assert (found["name"], found["links"], len(found["examples"])) == ("demo", True, 3)
        assert found["packs"][0]["vocabularies"][0]["date"]
        document = ask(f"{url}v1/annotate", {"documents": [{"text": found["examples"][0]}]})[
            "documents"
        ][0]["document"]
        assert any(one.get("links") for one in document["mentions"])
        with urllib.request.urlopen(url, timeout=60) as page:
            assert page.headers["Content-Type"].startswith("text/html")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
