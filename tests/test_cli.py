"""The command line as a whole: errors, exit codes, pipes, and what a process loads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fascicle
from fascicle import cli
from fascicle.cli import main
from fascicle.errors import FascicleError, InputError
from fascicle.settings.folders.shipped import shipped_models

SOURCES = Path(__file__).resolve().parents[1] / "src"
needs_shipped = pytest.mark.skipif(not shipped_models(), reason="no model comes with this checkout")


def process(*argv: str, code: str = "", **settings: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *(["-c", code] if code else ["-m", "fascicle"]), *argv]
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    defaults = {
        "capture_output": True,
        "text": True,
        "check": False,
        "timeout": 600,
        "env": environment,
    }
    return subprocess.run(command, **{**defaults, **settings})  # type: ignore[call-overload, no-any-return]


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"fascicle {fascicle.__version__}\n"
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in cli.COMMANDS)
    assert main([]) == 2
    assert "COMMAND" in capsys.readouterr().err


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    assert "--debug" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["anotate"], "command 'anotate' is not known (did you mean annotate?)"),
        (["annotate", "--modle", "x"], "there is no option --modle (did you mean --model?)"),
        (["annotate", "--mod", "x"], "there is no option --mod (did you mean --model?)"),
        (["models", "x"], "'x' is one argument too many"),
        (["evaluate", "x"], "PRED"),
        (["annotate", "--threads", "many"], "integer from 1"),
    ],
)
def test_usage_errors(argv: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("fascicle: error: ")
    assert expected in err


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (FascicleError("no"), 2, "fascicle: error: no\n"),
        (InputError("bad"), 2, "fascicle: error: bad\n"),
        (
            OSError(28, "No space left on device", "/full"),
            2,
            "fascicle: error: /full: No space left on device\n",
        ),
        (
            OSError(24, "Too many open files", "pieces.py"),
            2,
            "fascicle: error: this process may not open as many files as it needs; allow more "
            "with ulimit -n 1024\n",
        ),
        (KeyboardInterrupt(), 130, "fascicle: interrupted\n"),
        (BrokenPipeError(), 141, ""),
    ],
)
def test_errors_become_codes(
    error: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*_: object) -> int:
        raise error

    monkeypatch.setattr(cli, "_run", fails)
    assert main(["models"]) == code
    assert capsys.readouterr().err == said
    assert main(["models", "--debug"]) == code
    assert ("Traceback" in capsys.readouterr().err) == (code != 141)


def test_faults_of_ours_ask_for_debug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "_run", lambda *_: 1 // 0)
    assert main(["models"]) == 1
    said = capsys.readouterr().err
    assert "--debug" in said
    assert "Traceback" not in said


def test_the_module_runs() -> None:
    done = process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"fascicle {fascicle.__version__}\n",
        "",
    )


@pytest.mark.parametrize("form", ["native", "xlsx"])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, form: str) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text('{"text": "a text of some length"}\n' * 20_000, encoding="utf-8")
    read, write = os.pipe()
    os.close(read)
    # quiet: a busy machine takes so long that progress is shown
    args = ("corpus", "convert", str(path), "--format", form, "--quiet")
    with os.fdopen(write, "wb") as closed:
        done = process(*args, capture_output=False, stdout=closed, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence(toy_corpus: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = process(
            "corpus",
            "stats",
            str(toy_corpus),
            capture_output=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 2
    assert done.stderr == "fascicle: error: No space left on device\n"


@pytest.mark.parametrize(
    ("argv", "given", "expected"), [(["--text"], "", "1"), (["--text"], "3", "3"), ([], "", "")]
)
def test_numpy_starts_no_threads_for_a_text(argv: list[str], given: str, expected: str) -> None:
    name = "OPENBLAS_NUM_THREADS"
    environment = {key: value for key, value in os.environ.items() if key != name} | (
        {name: given} if given else {}
    )
    code = (
        "import os\nfrom fascicle import cli\ncode = "
        f"cli.process()\nprint(os.environ.get({name!r}, ''))"
    )
    done = process("--version", *argv, code=code, env=environment | {"PYTHONPATH": str(SOURCES)})
    assert done.stdout.splitlines()[-1] == expected


@needs_shipped
def test_a_shipped_model_loads_little() -> None:
    """What makes a process start slowly is what it imports; seconds depend on who else is at
    work.
    """
    code = (
        "import sys\n"
        "from fascicle.cli import main\n"
        "code = main(['annotate', '--text', 'Aspirin caused pain.'])\n"
        "known = sys.stdlib_module_names | {'__main__'}\n"
        "print(*sorted({n.partition('.')[0] for n in sys.modules} - known), file=sys.stderr)\n"
        "sys.exit(code)"
    )
    done = process(code=code)
    assert done.returncode == 0
    loaded = {
        name
        for name in done.stderr.split()
        if not name.startswith(("_", "sitecustomize", "usercustomize"))
    }
    assert loaded <= {
        "fascicle",
        "msgspec",
        "numpy",
        "onnxruntime",
        "tokenizers",
        "typing_extensions",
    }
    assert {"fascicle", "onnxruntime", "tokenizers"} <= loaded
