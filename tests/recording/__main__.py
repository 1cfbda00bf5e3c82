"""Records what two checkouts answer to the same commands and requests, and compares them.

usage: python -m tests.recording record CHECKOUT -o RECORD.json [--only TEXT] [--part K/N]
       python -m tests.recording compare RECORD.json RECORD.json [--renames TABLE.tsv]

`record` runs each line of ``commands.txt`` with the package of CHECKOUT in a fresh copy of
``inputs/``. It keeps the exit code, both outputs and every file that the command wrote or removed.
Then it starts a service and asks what ``requests.json`` lists. What differs from run to run
(places, seconds, dates, ports) is replaced by its name. `--part 1/3` records every third command,
and `--part 2/3` those after them: parts of N that together hold all. The first part asks the
service.

`compare` prints what differs, and ends with 1 if anything does. TABLE has two columns, old and new
name: a name that was changed by intent.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
_SECONDS: Final = 300
_REPORT: Final = re.compile(r"report\.(?:html|json|md)$|(?:^|/)state/|metrics\.jsonl$|run\.json$")
_DECIMAL: Final = re.compile(
    r"\b\d[\d,]*\.\d+\b|characters per second and worker</bdi></td><td class=\"n\">[\d,]+"
)
_CHANGING: Final = (
    (
        re.compile(r"\d[\d,]*(?:\.\d+)? ?(?:ms|s|seconds?|minutes?|MB|MB/s|kB/s|documents/s)\b"),
        "AMOUNT",
    ),
    (
        re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"),
        "DATE",
    ),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"\"(?:seconds|cpu_seconds|wall|peak_[a-z_]+|pid)\": ?[\d.]+"), "MEASURE"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Records or compares."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("checkout", type=Path)
    recording.add_argument("-o", "--output", type=Path, required=True)
    recording.add_argument("--only", default="", help="only commands that contain this text")
    recording.add_argument("--part", default="1/1", help="K/N: the K-th of N parts of the list")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("records", nargs=2, type=Path)
    comparing.add_argument("--renames", type=Path)
    args = parser.parse_args(argv)
    if args.verb == "compare":
        return compared(
            *(json.loads(path.read_text()) for path in args.records),
            renames=renames_of(args.renames),
        )
    part, parts = map(int, args.part.split("/"))
    answers = dict(recorded(args.checkout.resolve(), only=args.only, part=part, parts=parts))
    args.output.write_text(json.dumps(answers, indent=1) + "\n")
    return 0


def recorded(
    checkout: Path, *, only: str = "", part: int = 1, parts: int = 1
) -> Iterator[tuple[str, Any]]:
    """Each command and request of a part of the lists, with its answer."""
    with tempfile.TemporaryDirectory() as folder:
        program = _program(Path(folder), checkout)
        for line in commands(only)[part - 1 :: parts]:
            sys.stderr.write(f"{line}\n")
            yield line, _answer_of_command(line, Path(folder), program)
        if not only and part == 1:
            yield from _answers_of_service(Path(folder), program)


def commands(only: str = "") -> list[str]:
    """Commands of the list that contain a text, each once."""
    lines = (HERE / "commands.txt").read_text().splitlines()
    return list(
        dict.fromkeys(line for line in lines if line and not line.startswith("#") and only in line)
    )


def compared(
    before: Mapping[str, Any], after: Mapping[str, Any], *, renames: Mapping[str, str]
) -> int:
    """Prints what differs.

    Args:
        before: the older record.
        after: the newer one.
        renames: old name -> new name, of what was changed by intent.

    Returns:
        1 if something differs, else 0.
    """
    differing = 0
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = _lines(before.get(key), renames), _lines(after.get(key), {})
        if old != new:
            differing += 1
            sys.stdout.write(
                f"== {key}\n" + "\n".join(difflib.unified_diff(old, new, lineterm="", n=0)) + "\n"
            )
    sys.stdout.write(f"{differing} of {len(before)} answers differ\n")
    return int(differing > 0)


def renames_of(path: Path | None) -> dict[str, str]:
    """The table of names that were changed by intent, longer names before their beginnings;
    empty without a file.
    """
    rows = (row.split("\t") for row in (path.read_text().splitlines() if path else ()) if row)
    return dict(sorted(rows, key=lambda row: -len(row[0])))


def _program(folder: Path, checkout: Path) -> dict[str, str]:
    """The environment in which ``fascicle`` is the program of a checkout."""
    script = folder / "bin" / "fascicle"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fascicle "$@"\n')
    script.chmod(0o755)
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in ("HOME", "LANG", "OMP_NUM_THREADS")
    }
    path = f"{script.parent}:{os.environ['PATH']}"
    return kept | {
        "PATH": path,
        "PYTHONPATH": f"{checkout / 'src'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "80",
    }


def _answer_of_command(line: str, folder: Path, environment: Mapping[str, str]) -> dict[str, Any]:
    place = folder / "work"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(HERE / "inputs", place)
    before = _files(place)
    try:
        done = subprocess.run(
            line,
            shell=True,
            cwd=place,
            env=dict(environment),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"exit": "no end"}
    after = _files(place)
    changed = [
        name for name in sorted(before.keys() | after) if before.get(name) != after.get(name)
    ]
    return {
        "exit": done.returncode,
        "out": _plain(done.stdout, place),
        "error": _plain(done.stderr, place),
        "files": {
            name: _file(name, after[name], place) if name in after else "gone" for name in changed
        },
    }


def _answers_of_service(folder: Path, environment: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    place = folder / "service"
    shutil.copytree(HERE / "inputs", place)
    command = ["fascicle", "serve", "pipeline.toml", "--port", "0", "--workers", "1"]
    with subprocess.Popen(
        command,
        cwd=place,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as service:
        try:
            address = _address(service)
            for request in json.loads((HERE / "requests.json").read_text()):
                yield (
                    f"{request['method']} {request['path']} {json.dumps(request.get('body'))}",
                    _asked(address, request),
                )
        finally:
            service.terminate()


def _address(service: subprocess.Popen[str]) -> str:
    assert service.stdout is not None
    for line in service.stdout:
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    raise SystemExit("the service of the recording did not start")


def _asked(address: str, request: Mapping[str, Any]) -> dict[str, Any]:
    body = request.get("body")
    data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    headers = {"Content-Type": "application/json"} if data is not None else {}
    sent = urllib.request.Request(
        address + request["path"], data=data, headers=headers, method=request["method"]
    )
    try:
        with urllib.request.urlopen(sent, timeout=60) as answer:
            return {"exit": answer.status, "out": _plain(answer.read(), Path("/nowhere"))}
    except urllib.error.HTTPError as error:
        return {"exit": error.code, "out": _plain(error.read(), Path("/nowhere"))}


def _file(name: str, content: bytes, place: Path) -> str:
    """What a command wrote; reports of runs are without their decimals, which are seconds and
    speeds.
    """
    text = _plain(content, place)
    return _DECIMAL.sub("DECIMAL", text) if _REPORT.search(name) else text


def _files(place: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(place)): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file()
    }


def _plain(content: bytes, place: Path) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"sha256 {hashlib.sha256(content).hexdigest()}"
    text = text.replace(str(place), "WORK")
    for pattern, name in _CHANGING:
        text = pattern.sub(name, text)
    return text


def _lines(answer: Any, renames: Mapping[str, str]) -> list[str]:
    text = json.dumps(answer, indent=0, ensure_ascii=False).replace("\\n", "\n")
    for old, new in renames.items():
        text = re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, text)
    return text.split("\n")


if __name__ == "__main__":
    raise SystemExit(main())
