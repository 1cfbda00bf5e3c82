"""What users and accidents do to the files of an interrupted run, before it goes on."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.core.files.folder_run import JOURNAL, FolderRun, OutputFiles
from fascicle.core.files.part import PartFile, part_paths
from fascicle.errors import OutputError
from fascicle.formats.sources import input_state

Cli = Callable[..., Any]
Refused = Callable[..., str]
TEXTS = [f"Patient {number} took aspirin." for number in range(6)]
MADE_BY = {"model": "m"}


class StoppedError(Exception):
    """An interruption."""


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.tsv"
    path.write_text("Chemical\taspirin\n", encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(
        b"".join(codec.encode(Document(id=text[:9], text=text)) + b"\n" for text in TEXTS)
    )
    return path


def interrupted(out: Path, *, lines: int = 3) -> None:
    """A part as an interrupted run leaves it."""
    part = PartFile(out, made_by=MADE_BY, every=0.0)
    with contextlib.suppress(StoppedError), part.opened(out) as stream:
        part.begin()
        for number in range(lines):
            stream.write(b"%d\n" % number)
            part.keep(lambda: {"documents": 1, "digest": "", "account": {}})
        raise StoppedError


def interrupted_folder(out: Path, inputs: list[Path]) -> None:
    """A folder of which an interrupted run has made the first two files."""
    files = {str(file): out / f"{file.stem}.jsonl" for file in inputs}
    run = FolderRun(OutputFiles(folder=out, of=files), made_by=MADE_BY, state_of=input_state)
    with contextlib.suppress(StoppedError), run:
        for name in list(files)[:2]:
            with run.opened(name, lambda: {"account": {}}) as stream:
                stream.write(b"made by a run\n")
        raise StoppedError


@pytest.fixture
def inputs(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"t{number}.txt" for number in range(4)]
    for file in found:
        file.write_text("aspirin", encoding="utf-8")
    return found


DAMAGES = [
    b"garbage\n",
    b"[]\n",
    b"5\n",
    b"{}\n",
    b'{"a":1}\n',
    b'{"bytes":"x"}\n',
    b'{"bytes":-5,"documents":1}\n',
    b'{"bytes":2,"documents":1,"digest":"00","account":{}}\n',
    b'{"check":"00000000","bytes":2,"documents":1,"digest":"","account":{}}\n',
    b"\xff\xfe\x00\n",
    b"\n",
    b'{"bytes":' + b"9" * 400 + b"}\n",
    b"[" * 5000 + b"\n",
]


@pytest.mark.parametrize("damage", DAMAGES, ids=[str(number) for number in range(len(DAMAGES))])
def test_a_damaged_journal_of_a_file_is_named(tmp_path: Path, damage: bytes) -> None:
    out = tmp_path / "out.jsonl"
    interrupted(out)
    part, journal = part_paths(out)
    whole = journal.read_bytes().splitlines(keepends=True)
    for content in (b"".join([*whole, damage]), b"".join([*whole[:2], damage, *whole[2:]])):
        journal.write_bytes(content)
        with pytest.raises(OutputError, match=journal.name):
            PartFile(out, made_by=MADE_BY, resume=True)
        assert part.read_bytes() == b"0\n1\n2\n"
        assert journal.read_bytes() == content
    with PartFile(out, made_by=MADE_BY).opened(out) as stream:
        stream.write(b"new\n")
    assert [file.name for file in tmp_path.iterdir()] == [out.name]


def test_every_changed_byte_of_a_journal_is_noticed(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    interrupted(out, lines=2)
    part, journal = part_paths(out)
    whole, kept = journal.read_bytes(), part.read_bytes()
    begin = whole.index(b"\n") + 1
    for place in range(begin, len(whole) - 1):
        journal.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(OutputError, match=journal.name):
            PartFile(out, made_by=MADE_BY, resume=True)
    assert part.read_bytes() == kept


def test_a_damaged_journal_of_a_folder_is_named(tmp_path: Path, inputs: list[Path]) -> None:
    out = tmp_path / "out"
    interrupted_folder(out, inputs)
    files = {str(file): out / f"{file.stem}.jsonl" for file in inputs}
    (out / JOURNAL).write_bytes((out / JOURNAL).read_bytes().replace(b"t1.jsonl", b"t9.jsonl"))
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    with pytest.raises(OutputError, match=JOURNAL):
        FolderRun(
            OutputFiles(folder=out, of=files, resume=True), made_by=MADE_BY, state_of=input_state
        )
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_that_the_user_edited_is_not_made_again(
    tmp_path: Path, inputs: list[Path], overwrite: bool
) -> None:
    out = tmp_path / "out"
    interrupted_folder(out, inputs)
    edited = out / "t0.jsonl"
    edited.write_bytes(b"made by a run\nand corrected by hand\n")
    files = {str(file): out / f"{file.stem}.jsonl" for file in inputs}
    with pytest.raises(OutputError, match=edited.name):
        FolderRun(
            OutputFiles(folder=out, of=files, resume=True, overwrite=overwrite),
            made_by=MADE_BY,
            state_of=input_state,
        )
    assert edited.read_bytes().endswith(b"by hand\n")
    edited.unlink()
    with FolderRun(
        OutputFiles(folder=out, of=files, resume=True, overwrite=overwrite),
        made_by=MADE_BY,
        state_of=input_state,
    ) as run:
        assert list(run.done) == [str(inputs[1])]


def test_an_unchanged_file_of_a_changed_input_is_made_again(
    tmp_path: Path, inputs: list[Path]
) -> None:
    out = tmp_path / "out"
    interrupted_folder(out, inputs)
    inputs[0].write_text("more aspirin", encoding="utf-8")
    files = {str(file): out / f"{file.stem}.jsonl" for file in inputs}
    with FolderRun(
        OutputFiles(folder=out, of=files, resume=True), made_by=MADE_BY, state_of=input_state
    ) as run:
        assert list(run.done) == [str(inputs[1])]
        for file in (inputs[0], *inputs[2:]):
            with run.opened(str(file), lambda: {"account": {}}) as stream:
                stream.write(b"again\n")
    assert (out / "t0.jsonl").read_bytes() == b"again\n"


def test_a_kill_between_the_record_and_the_name(tmp_path: Path, inputs: list[Path]) -> None:
    """The record of a folder may know of a new file while the earlier one, also ours, still has
    the name.
    """
    out = tmp_path / "out"
    files = {str(file): out / f"{file.stem}.jsonl" for file in inputs}
    with FolderRun(OutputFiles(folder=out, of=files), made_by=MADE_BY, state_of=input_state) as run:
        for name in files:
            with run.opened(name, lambda: {"account": {}}) as stream:
                stream.write(b"first\n")
    run = FolderRun(
        OutputFiles(folder=out, of=files, overwrite=True), made_by=MADE_BY, state_of=input_state
    )
    with contextlib.suppress(StoppedError), run:
        with run.opened(str(inputs[0]), lambda: {"account": {}}) as stream:
            stream.write(b"second run\n")
        run._send()
        raise StoppedError
    (out / "t0.jsonl").write_bytes(b"first\n")  # as it was before the name was taken
    with FolderRun(
        OutputFiles(folder=out, of=files, overwrite=True, resume=True),
        made_by=MADE_BY,
        state_of=input_state,
    ) as run:
        assert not run.done


@pytest.mark.parametrize("which", [0, 1])
def test_links_and_pipes_of_the_names_of_a_part(tmp_path: Path, which: int) -> None:
    out = tmp_path / "out.jsonl"
    place = part_paths(out)[which]
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OutputError, match=place.name):
        PartFile(out, made_by=MADE_BY)
    assert [file.name for file in tmp_path.iterdir()] == [place.name]
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(OutputError, match=place.name):
        PartFile(out, made_by=MADE_BY)
    assert [file.name for file in tmp_path.iterdir()] == [place.name]


def test_the_part_of_a_private_file_is_private(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.touch(mode=0o600)
    part = PartFile(out, made_by=MADE_BY, overwrite=True, every=0.0)
    with part.opened(out, overwrite=True) as stream:
        stream.write(b"secret\n")
        assert stat.S_IMODE(part_paths(out)[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


@pytest.mark.parametrize("length", [200, 245, 255])
def test_a_long_name_of_an_output(
    cli: Cli, refused: Refused, names: Path, corpus: Path, tmp_path: Path, length: int
) -> None:
    out = tmp_path / ("n" * (length - 6) + ".jsonl")
    assert cli("annotate", corpus, "--model", names, "-o", out).code == 0
    assert len(out.read_bytes().splitlines()) == len(TEXTS)
    out.unlink()
    if length > 242:
        assert "--resume" in refused("annotate", corpus, "--model", names, "-o", out, "--resume")


def test_several_inputs_to_a_file_without_suffix(
    cli: Cli, refused: Refused, names: Path, inputs: list[Path], tmp_path: Path
) -> None:
    assert cli("annotate", *inputs, "--model", names, "-o", os.devnull).code == 0
    out = tmp_path / "found"
    out.write_text("mine", encoding="utf-8")
    assert "exists" in refused("annotate", *inputs, "--model", names, "-o", out)
    assert out.read_text(encoding="utf-8") == "mine"
    assert cli("annotate", *inputs, "--model", names, "-o", out, "--overwrite").code == 0
    assert len(out.read_bytes().splitlines()) == len(inputs)


def test_a_full_disk_names_the_output(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    part = PartFile(out, made_by=MADE_BY)
    with pytest.raises(OutputError, match=out.name), part.opened(out):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not list(tmp_path.iterdir())


def test_inputs_with_very_long_names_cost_no_others(cli: Cli, names: Path, tmp_path: Path) -> None:
    given = tmp_path / "in"
    given.mkdir()
    for start in ("a" * 246, "\u00e9" * 123):
        for end in ("0.txt", "1.txt"):
            (given / f"{start}{end}").write_text("aspirin", encoding="utf-8")
    (given / "short.txt").write_text("aspirin", encoding="utf-8")
    result = cli(
        "annotate", given, "--model", names, "-o", f"{tmp_path / 'out'}/", "--format", "predictions"
    )
    assert result.code == 0, result.err
    assert sum(not file.name.startswith(".") for file in (tmp_path / "out").iterdir()) == 5


@pytest.mark.parametrize("name", ["records", "conll", "brat"])
def test_messages_stay_short_whatever_the_ids(
    cli: Cli, names: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "in.jsonl"
    given = [Document(id="x" * 50_000, text="Aspirin. "), Document(id="ok", text="Aspirin. ")]
    path.write_bytes(b"".join(codec.encode(document) + b"\n" for document in given))
    result = cli("annotate", path, "--model", names, "-o", tmp_path / "out", "--format", name)
    assert result.code == (3 if name == "brat" else 0), result.err[:500]
    assert max(map(len, result.err.splitlines())) < 1_000
