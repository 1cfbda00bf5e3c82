"""Two runs at once into one folder: the second is refused and touches nothing, and the first
does not notice.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from poison import open_poison, run_of

from fascicle.core import codec
from fascicle.errors import OutputError
from fascicle.pipeline.running.folder import RunFolder
from fascicle.verbs.tasks.run import retry

Write = Callable[[Sequence[str]], Path]
STEP = """
import json, os, sys, time
print(json.dumps({"fascicle_step": 1, "name": "slow", "fingerprint": "1"}), flush=True)
for line in sys.stdin:
    documents = json.loads(line)["documents"]
    time.sleep(0.004 * len(documents))
    while documents[-1]["id"] == "d999" and not os.path.exists(__file__ + ".go"):
        time.sleep(0.01)
    print(json.dumps({"patches": [{} for _ in documents]}), flush=True)
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def begun(place: Path, out: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "fascicle",
        "run",
        str(place / "in.jsonl"),
        "--pipeline",
        str(place),
        "--resume",
    ]
    return subprocess.Popen(
        [*command, "-o", out, "--workers", "2"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_a_second_run_that_is_refused_does_not_end_the_first(
    written: Write, tmp_path: Path, times: int
) -> None:
    written([f"x {number}" for number in range(1_000)])
    (tmp_path / "step.py").write_text(STEP, encoding="utf-8")
    command = json.dumps([sys.executable, "-I", "-S", str(tmp_path / "step.py")])
    (tmp_path / "pipeline.toml").write_text(
        f'[[steps]]\nkind = "process"\ncommand = {command}\nseconds = 600\n[limits]\nseconds = 600\n',
        encoding="utf-8",
    )
    chance, go = random.Random(times), tmp_path / "step.py.go"
    for turn in range(times):
        out = tmp_path / f"out-{turn}"
        first = begun(tmp_path, str(out))
        while not (out / "manifest.json").exists() and first.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 2))
        second = begun(tmp_path, str(out))
        told = second.communicate(timeout=300)[1]
        go.touch()  # lets the first end
        said = first.communicate(timeout=300)[1]
        go.unlink()
        assert first.returncode == 0, said
        assert second.returncode
        assert "another run is writing" in told
        lines = b"".join(part.read_bytes() for part in sorted(out.glob("part-*"))).splitlines()
        done = [codec.decode(line).id for line in lines]
        assert done == [f"d{number}" for number in range(1_000)]
        assert (out / "_SUCCESS").exists()


def test_a_folder_that_another_run_holds_stays_as_it_is(written: Write, tmp_path: Path) -> None:
    path, out = written(["x one", "x two"]), tmp_path / "out"
    for folder in (out, out.as_uri()):
        run = run_of([path], folder)
        run.do(resume=True)
        with RunFolder(out).place.held():
            # as a worker of the first has it
            (out / ".fascicle-run-part-00000.jsonl.beef.tmp").write_bytes(b"half")
            before = contents(out)
            for more in ({"resume": True}, {"update": True}):
                with pytest.raises(OutputError, match="another run is writing"):
                    run.do(**more)
            assert contents(out) == before


def test_a_worker_that_outlives_its_run_gives_nothing_a_name(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.place.held() as mark:
        worker = RunFolder(tmp_path).of_run(mark)
        worker.write_json("before", 1)
    with folder.place.held():
        before = contents(tmp_path)
        with pytest.raises(OutputError, match="another run"):
            worker.write_json("after", 1)
        assert contents(tmp_path) == before
        folder.write_json("own", 1)
    assert "own" in contents(tmp_path)


def test_documents_are_not_tried_again_while_a_run_holds_the_folder(
    written: Write, tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "names.tsv").write_text("Chemical\tx\n", encoding="utf-8")
    (tmp_path / "p" / "pipeline.toml").write_text(
        '[[steps]]\nkind = "recogniser"\nmodel = "names.tsv"\n', encoding="utf-8"
    )
    path, out = written(["x one", "!raise x"]), tmp_path / "out"
    run_of([path], out).do()
    with RunFolder(out).place.held():
        before = contents(out)
        with pytest.raises(OutputError, match="another run is writing"):
            retry(str(out), pipeline=str(tmp_path / "p"))
        assert contents(out) == before
    assert retry(str(out), pipeline=str(tmp_path / "p")).done == 2
    part = out / "part-retry-0001.jsonl"
    part.write_bytes(part.read_bytes().replace(b"Chemical", b"chemical"))
    with pytest.raises(OutputError, match=r"part-retry-0001\.jsonl .* was changed"):
        retry(str(out), pipeline=str(tmp_path / "p"))


def test_a_run_that_ended_meanwhile_is_not_begun_anew(written: Write, tmp_path: Path) -> None:
    path, out = written(["x one"]), tmp_path / "out"

    def other() -> object:
        if not out.exists():  # after the first look at the folder, before its lock
            run_of([path], out).do()
        return open_poison()

    with pytest.raises(OutputError, match="is complete"):
        run_of([path], out, open_pipeline=other).do()
