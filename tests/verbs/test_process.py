"""What ends a command, what it was started with, and what would make it wait for ever: with real
processes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.core.files.pipes import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals and pipes of Unix")
SOURCES = Path(__file__).resolve().parents[2] / "src"
# A command that writes a file and is in the middle of it until a signal comes.
WAITING = """
import sys, time
from fascicle import cli
from fascicle.core.files.atomic import atomic_writer
def run(*args):
    with atomic_writer(sys.argv[1]) as stream:
        stream.write(b"half")
        print("writing", flush=True)
        while True:
            time.sleep(0.05)
cli._run = run
sys.exit(cli.main(["models"]))
"""


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCES), **more}


def fascicle(*argv: object, **settings: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "fascicle", *map(str, argv)]
    defaults = {"capture_output": True, "text": True, "timeout": 120, "env": environment()}
    return subprocess.run(command, check=False, **{**defaults, **settings})


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=lambda x: str(x),
)
def test_a_signal_leaves_no_temporary_file(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    command = [sys.executable, "-c", WAITING, str(tmp_path / "out")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment(), preexec_fn=_usual, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(number)
        said = process.communicate(timeout=120)[1]
    assert process.returncode == code
    assert list(tmp_path.iterdir()) == []
    assert said.count(b"\n") == 1
    assert said.startswith(b"fascicle: ")


def _usual() -> None:
    """What a process in the foreground has; a runner of tests may ignore interrupts and hangups."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def test_an_ignored_hangup_stays_ignored(tmp_path: Path) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    command = [sys.executable, "-c", WAITING, str(tmp_path / "out")]
    with subprocess.Popen(
        command, env=environment(), preexec_fn=ignore, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        process.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
        process.kill()


def test_handlers_are_put_back() -> None:
    from fascicle.cli import main

    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)
    assert main(["--version"]) == 0
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGHUP)) == before


def closed(*numbers: int) -> Callable[[], None]:
    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


@pytest.mark.parametrize("command", [("corpus", "stats"), ("corpus", "convert"), ("annotate",)])
def test_a_closed_standard_input_is_one_sentence(command: tuple[str, ...]) -> None:
    done = fascicle(*command, "-", preexec_fn=closed(0))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "standard input" in done.stderr


@pytest.mark.parametrize(
    "command", [("corpus", "stats"), ("corpus", "convert"), ("models", "--json")]
)
def test_a_closed_standard_output_is_one_sentence(
    command: tuple[str, ...], toy_corpus: Path
) -> None:
    done = fascicle(
        *command, *([toy_corpus] if command[0] == "corpus" else []), preexec_fn=closed(1)
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "standard output" in done.stderr


def test_with_no_stream_at_all_a_file_is_written_whole(toy_corpus: Path, tmp_path: Path) -> None:
    """The number of a closed stream must not become that of the file, with all that libraries
    print.
    """
    for name, settings in (("a", {}), ("b", {"preexec_fn": closed(0, 1, 2)})):
        assert (
            fascicle("corpus", "convert", toy_corpus, "-o", tmp_path / name, **settings).returncode
            == 0
        )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() != b""


# The command, with less patience than users have with what writes into a pipe.
IMPATIENT = """
import sys
from fascicle.cli import main
from fascicle.core.files import pipes
pipes.open_file.__kwdefaults__["patience"] /= 10
sys.exit(main(sys.argv[1:]))
"""


def test_a_pipe_without_a_writer_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    assert PATIENCE < 60
    os.mkfifo(tmp_path / "pipe")
    for options in ([], ["--input-format", "plain"]):
        command = [
            sys.executable,
            "-c",
            IMPATIENT,
            "corpus",
            "stats",
            str(tmp_path / "pipe"),
            *options,
        ]
        done = subprocess.run(
            command, env=environment(), capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert str(tmp_path / "pipe") in done.stderr


def test_a_pipe_whose_writer_comes_late_and_pauses_is_read_whole(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    line, many = "Aspirin caused pain.\n", 10_000
    write = (
        f"import sys, time; time.sleep(1); f = open({str(tmp_path / 'pipe')!r}, 'w'); "
        "time.sleep(0.5); "
    )
    with subprocess.Popen(
        [sys.executable, "-c", f"{write} f.write({line!r} * {many}); f.close()"]
    ) as writer:
        done = fascicle("corpus", "convert", tmp_path / "pipe", "--input-format", "plain")
        assert writer.wait(timeout=120) == 0
    assert done.returncode == 0
    assert (line * many).replace("\n", "\\n") in done.stdout


@pytest.mark.parametrize("form", ["records", "jsonl"])
def test_records_come_through_a_pipe(tmp_path: Path, form: str) -> None:
    """What Fascicle writes and what others write are both JSON Lines, and a pipe cannot be
    looked at twice.
    """
    os.mkfifo(tmp_path / "pipe")
    line = (
        '{"id": "a", "text": "Aspirin.", "entities": [{"start": 0, "end": 7, "type": "Chemical"}]}'
    )
    write = f"open({str(tmp_path / 'pipe')!r}, 'w').write({line!r})"
    with subprocess.Popen([sys.executable, "-c", write]) as writer:
        done = fascicle("corpus", "convert", tmp_path / "pipe", "--input-format", form)
        assert writer.wait(timeout=120) == 0
    if form == "jsonl":
        assert (done.returncode, "--input-format records" in done.stderr) == (2, True)
        return
    assert done.returncode == 0, done.stderr
    assert '"type":"Chemical"' in done.stdout


@pytest.mark.parametrize("given", ["100000", "99999999999999999999", "9" * 6000])
def test_more_threads_than_can_be_begun_are_refused(given: str) -> None:
    done = fascicle("annotate", "--text", "Aspirin caused pain.", "--threads", given)
    assert done.returncode == 2
    assert "--threads" in done.stderr
    assert len(done.stderr) < 500


def test_quiet_says_nothing_if_all_goes_well(cli: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text("Gene\tREST\n", encoding="utf-8")
    asked = ("annotate", "--model", tmp_path / "names.tsv", "--text", "REST", "--text", "at rest")
    assert "other-capitals" in cli(*asked).err
    quiet = cli(*asked, "--quiet")
    assert (quiet.code, quiet.err, quiet.out) == (0, "", cli(*asked).out)


def test_quiet_says_what_it_has_to_if_something_went_wrong(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "names.tsv").write_text("Gene\tREST\n", encoding="utf-8")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "1", "text": "REST", "fascicle": 2}\n{"id": 1}\n', encoding="utf-8")
    asked = ("annotate", "--model", tmp_path / "names.tsv", bad)
    loud = cli(*asked)
    assert loud.code == 3
    assert cli(*asked, "--quiet").err == loud.err
    error = cli("annotate", "--quiet", "--model", tmp_path / "nothing", "--text", "x")
    assert (error.code, error.err.count("\n")) == (2, 1)
    assert cli(*asked, "--quiet", "--verbose").code == 2
