"""Runs that are killed go on with ``--resume``, and their output is that of a run that was never
interrupted.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fascicle.core import codec
from fascicle.core.document import Document, Mention
from fascicle.core.files.folder_run import JOURNAL
from fascicle.core.files.part import part_paths

WORDS = (
    "patient",
    "with",
    "lung cancer",
    "had",
    "fever",
    "and",
    "pain",
    "after",
    "aspirin",
    "for",
    "heart failure",
)
FORMATS = ("jsonl", "records", "pubtator", "bioc", "conll", "tsv", "csv", "predictions")
LINES = 400

Cli = Callable[..., Any]
Refused = Callable[..., str]

# A real run in a process of its own, whose predictor takes its time and whose journal has an entry
# for each document.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a background job inherits is to ignore it
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from pathlib import Path
import fascicle.verbs.annotate as annotate
import fascicle.verbs.tasks.annotate as task
import fascicle.loading as loading
from functools import partial
from fascicle.cli import main
from fascicle.core.files.part import PartFile
from fascicle.text.annotator import Annotator

class Slow(Annotator):
    def __init__(self, inner):
        self._inner = inner
    name = property(lambda self: self._inner.name)
    types = property(lambda self: self._inner.types)
    fingerprint = property(lambda self: self._inner.fingerprint)
    def predict(self, documents):
        time.sleep(0.004 * len(documents))
        if any(document.id == wait_at for document in documents):
            time.sleep(60)
        return self._inner.predict(documents)

annotate.load = lambda *given, **options: Slow(loading.load(*given, **options))
task.PartFile = partial(PartFile, every=0.0)
wait_at = sys.argv[1]
sys.exit(main(sys.argv[2:]))
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Documents, one with an id that PubTator cannot hold, and some of the same id."""
    draw = random.Random(1)
    path = tmp_path / "in.jsonl"
    with path.open("wb") as stream:
        for number in range(LINES):
            identifier = "a\tb" if number == 5 else f"d{number % 350}"
            text = " ".join(draw.choices(WORDS, k=20))
            stream.write(codec.encode(Document(id=identifier, text=text)) + b"\n")
    return path


def start(*argv: object, wait_at: str = "") -> subprocess.Popen[str]:
    """Begins a slow run, which waits to be ended before the document ``wait_at``, if it is
    given.
    """
    return subprocess.Popen(
        [sys.executable, "-c", SLOW, wait_at, *map(str, argv)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


def killed_when(reached: Callable[[], bool], *argv: object) -> None:
    """Begins a run, and kills it at a moment before its last documents."""
    process = start(*argv, wait_at="d340")
    until = time.monotonic() + 300
    while not reached():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@pytest.mark.parametrize("name", FORMATS)
def test_one_file_after_kills(
    cli: Cli, names: Path, corpus: Path, tmp_path: Path, name: str
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    arguments = ("annotate", corpus, "--model", names, "--format", name, "-o")
    expected = cli(*arguments, whole)
    part, journal = part_paths(out)
    for share in (0.2, 0.6):
        enough = share * size(whole)
        killed_when(
            lambda: size(part) > enough and size(journal) > 1000,  # noqa: B023
            *arguments,
            out,
            "--resume",
        )
        assert not out.exists()
    result = cli(*arguments, out, "--resume")
    assert (
        result.code == expected.code == (3 if name in ("pubtator", "bioc", "tsv", "csv") else 0)
    ), result.err
    assert "going on after" in result.err
    assert out.read_bytes() == whole.read_bytes()
    closing, line = (said.err.strip().splitlines()[-1] for said in (result, expected))
    assert closing.replace(str(out), "") == line.replace(str(whole), "")
    assert {entry.name for entry in tmp_path.iterdir()} == {"in.jsonl", "names.tsv", "out", "whole"}


def test_a_run_that_is_killed_at_any_moment(
    cli: Cli, names: Path, corpus: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    cli("annotate", corpus, "--model", names, "-o", whole)
    draw = random.Random(7)
    for _ in range(4):
        process = start("annotate", corpus, "--model", names, "-o", out, "--resume")
        time.sleep(draw.uniform(0.2, 1.6))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    if not out.exists():
        assert cli("annotate", corpus, "--model", names, "-o", out, "--resume").code == 0
    assert out.read_bytes() == whole.read_bytes()


def test_an_entry_that_was_cut_off(cli: Cli, names: Path, corpus: Path, tmp_path: Path) -> None:
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    cli("annotate", corpus, "--model", names, "-o", whole)
    part, journal = part_paths(out)
    killed_when(lambda: size(journal) > 5000, "annotate", corpus, "--model", names, "-o", out)
    journal.write_bytes(journal.read_bytes()[:-7])
    part.write_bytes(part.read_bytes() + b'{"half a rec')
    assert cli("annotate", corpus, "--model", names, "-o", out, "--resume").code == 0
    assert out.read_bytes() == whole.read_bytes()


def test_what_has_changed_is_not_gone_on_with(
    cli: Cli, refused: Refused, names: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    arguments = ("annotate", corpus, "--model", names, "-o", out)
    part, journal = part_paths(out)
    killed_when(lambda: size(journal) > 5000, *arguments)
    before = part.read_bytes(), journal.read_bytes()
    assert "model" in refused(*arguments, "--resume", "--only", "Disease")
    assert "options" in refused(*arguments, "--resume", "--encoding", "latin-1")
    assert (part.read_bytes(), journal.read_bytes()) == before
    lines = corpus.read_bytes().splitlines(keepends=True)
    corpus.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
    result = cli(*arguments, "--resume")
    assert result.code == 2
    assert "interrupted run" in result.err
    assert before[0].startswith(part.read_bytes())  # what the journal does not know of may go
    assert journal.read_bytes() == before[1]
    result = cli(*arguments)  # begins anew, and says so
    assert result.code == 0
    assert str(part) in result.err
    assert not part.exists()
    assert not journal.exists()


def test_a_file_that_only_has_the_name_of_a_part_stays(
    refused: Refused, names: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    for own in part_paths(out):
        own.write_text("mine", encoding="utf-8")
        assert own.name in refused("annotate", "--text", "fever", "--model", names, "-o", out)
        assert own.read_text(encoding="utf-8") == "mine"
        assert not out.exists()
        own.unlink()
    (part,) = part_paths(out)[:1]
    part.write_text("fever", encoding="utf-8")
    assert part.name in refused(
        "annotate",
        part,
        "--input-format",
        "plain",
        "--model",
        names,
        "-o",
        out,
        "--overwrite",
        "--format",
        "jsonl",
    )
    assert part.read_text(encoding="utf-8") == "fever"


def test_two_runs_at_once_to_one_file(
    refused: Refused, names: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    arguments = ("annotate", corpus, "--model", names, "-o", out)
    process = start(*arguments)
    while size(part_paths(out)[0]) == 0:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.002)
    assert "another run" in refused(*arguments)
    process.communicate()
    assert process.returncode == 0
    assert len(out.read_bytes().splitlines()) == LINES


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    draw = random.Random(2)
    for number in range(400):
        (folder / f"t{number:03}.txt").write_text(
            " ".join(draw.choices(WORDS, k=20)), encoding="utf-8"
        )
    (folder / "t050.txt").write_bytes(b"\x00")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes() for file in folder.iterdir() if not file.name.startswith(".")
    }


def test_a_folder_after_kills(
    cli: Cli, refused: Refused, names: Path, texts: Path, tmp_path: Path
) -> None:
    whole, out = tmp_path / "whole", tmp_path / "out"
    shutil.copytree(
        texts, texts / ".." / "more"
    )  # the same names of documents once more: they become t000#2
    arguments = ("annotate", texts, tmp_path / "more", "--model", names, "-o")
    expected = cli(*arguments, f"{whole}/")
    assert expected.code == 3
    for many in (40, 300):
        killed_when(
            lambda: out.is_dir() and len(contents(out)) > many,  # noqa: B023
            *arguments,
            f"{out}/",
            "--resume",
        )
    assert all(content == contents(whole)[name] for name, content in contents(out).items())
    assert "--resume" in refused(*arguments, f"{out}/")
    times = {
        file.name: file.stat().st_mtime_ns
        for file in out.iterdir()
        if not file.name.startswith(".")
    }
    result = cli(*arguments, f"{out}/", "--resume")
    assert result.code == 3
    assert contents(out) == contents(whole)
    assert not (out / JOURNAL).exists()
    again = [name for name, when in times.items() if (out / name).stat().st_mtime_ns != when]
    assert len(again) < 20  # those that were begun at the moment of a kill at most
    closing, line = (said.err.strip().splitlines()[-1] for said in (result, expected))
    assert closing.replace(str(out), "") == line.replace(str(whole), "")


def test_an_input_that_changed_is_done_again(
    cli: Cli, names: Path, texts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    arguments = ("annotate", texts, "--model", names, "--no-link", "-o", f"{out}/")
    killed_when(lambda: out.is_dir() and len(contents(out)) > 60, *arguments)
    (texts / "t000.txt").write_text("no fever at all", encoding="utf-8")
    (out / "t001.jsonl").unlink()
    (out / "t399.jsonl").write_text("mine", encoding="utf-8")
    result = cli(*arguments, "--resume")
    assert result.code == 2
    assert "t399.jsonl" in result.err
    (out / "t399.jsonl").unlink()
    assert cli(*arguments, "--resume").code == 3
    assert len(contents(out)) == 399
    document = codec.decode((out / "t000.jsonl").read_bytes())
    assert (document.text, document.mentions) == (
        "no fever at all",
        (Mention(((3, 8),), "Disease", source="names"),),
    )
    assert codec.decode((out / "t001.jsonl").read_bytes()).id == "t001"


def test_a_foreign_file_of_the_name_of_the_journal_stays(
    refused: Refused, names: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / JOURNAL).write_text("mine", encoding="utf-8")
    (tmp_path / "a.txt").write_text("fever", encoding="utf-8")
    assert JOURNAL in refused(
        "annotate", tmp_path / "a.txt", "--model", names, "-o", tmp_path / "out"
    )
    assert [file.read_text(encoding="utf-8") for file in (tmp_path / "out").iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_an_end_in_the_middle_keeps_what_is_done(
    cli: Cli, names: Path, corpus: Path, tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    out = tmp_path / "out.jsonl"
    process = start("annotate", corpus, "--model", names, "-o", out, wait_at="d300")
    while size(part_paths(out)[1]) < 5000:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.002)
    os.kill(process.pid, sent)
    said = process.communicate()[1]
    assert process.returncode == code
    assert "--resume" in said
    done = msgspec.json.decode(part_paths(out)[1].read_bytes().splitlines()[-1])["documents"]
    result = cli("annotate", corpus, "--model", names, "-o", out, "--resume")
    assert result.code == 0
    assert f"going on after {done} documents" in result.err
    assert len(out.read_bytes().splitlines()) == LINES
