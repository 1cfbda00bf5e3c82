"""Outputs that name an open descriptor or a pipe: written as they were opened, and nothing is
replaced.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-m", "fascicle"]
CORPUS = "1|t|Lithium\n1|a|tremor.\n1\t0\t7\tLithium\tChemical\tD1\n\n"
BEFORE = b'{"earlier": "work of hours"}\n'


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "a.pubtator"
    path.write_text(CORPUS)
    return path


def commands(corpus: Path, names: Path) -> dict[str, list[str]]:
    names.write_text("Chemical\tLithium\n")
    return {
        "convert": ["corpus", "convert", str(corpus)],
        "annotate": ["annotate", str(corpus), "--model", str(names), "--no-link"],
    }


@pytest.mark.parametrize("more", [[], ["--overwrite"]])
@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
@pytest.mark.parametrize("command", ["convert", "annotate"])
def test_what_a_file_held_stays(
    command: str, place: str, more: list[str], corpus: Path, tmp_path: Path
) -> None:
    if place == "link":
        (tmp_path / "link").symlink_to("/dev/stdout")
        place = str(tmp_path / "link")
    results = tmp_path / "results.jsonl"
    results.write_bytes(BEFORE)
    asked = commands(corpus, tmp_path / "names.tsv")[command]
    with results.open("ab") as stream:
        done = subprocess.run(
            [*PROGRAM, *asked, "-o", place, *more],
            stdout=stream,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, b"overwrite" in done.stderr) == (0, False), done.stderr
    content = results.read_bytes()
    assert content.startswith(BEFORE)
    assert content[len(BEFORE) :].count(b"\n") == 1
    assert b"Chemical" in content[len(BEFORE) :]
    assert sorted(
        one.name for one in tmp_path.iterdir() if one.name.startswith((".", "results"))
    ) == ["results.jsonl"]


def test_a_descriptor_is_written_where_it_is(corpus: Path, tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    results.write_bytes(BEFORE)
    with results.open("r+b") as stream:
        stream.seek(0, os.SEEK_END)
        number = stream.fileno()
        asked = [
            *PROGRAM,
            "corpus",
            "convert",
            str(corpus),
            "-o",
            f"/dev/fd/{number}",
            "--overwrite",
        ]
        subprocess.run(asked, pass_fds=[number], check=True, capture_output=True)
    assert results.read_bytes().startswith(BEFORE)
    assert results.read_bytes().count(b"\n") == 2
    done = subprocess.run([*asked[:-2], "/dev/fd/987"], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"/dev/fd/987" in done.stderr


def test_standard_error_and_a_named_pipe(corpus: Path, tmp_path: Path) -> None:
    asked = [*PROGRAM, "corpus", "convert", str(corpus), "-o"]
    done = subprocess.run([*asked, "/dev/stderr"], capture_output=True, check=True)
    assert b'"fascicle"' in done.stderr
    pipe, found = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    subprocess.run([*asked, str(pipe)], capture_output=True, check=True)
    reader.join(20)
    assert b'"fascicle"' in found[0]
    assert pipe.is_fifo()


def test_an_input_is_not_appended_to_itself(corpus: Path) -> None:
    before = corpus.read_bytes()
    with corpus.open("ab") as stream:
        done = subprocess.run(
            [*PROGRAM, "corpus", "convert", str(corpus), "-o", "/dev/stdout"],
            stdout=stream,
            capture_output=False,
            check=False,
        )
    assert done.returncode == 2
    assert corpus.read_bytes() == before


def test_a_folder_is_not_written_as_a_file(corpus: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [*PROGRAM, "corpus", "convert", str(corpus), "-o", f"{tmp_path}/new/"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"folder" in done.stderr
    assert not (tmp_path / "new").exists()
