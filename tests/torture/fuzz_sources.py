"""Damages small sources of vocabularies, and looks at what each reader makes of them.

usage: python -m tests.torture.fuzz_sources [--count 10000] [--first 0] [--only READER]

The rules are those of ``tests/terms/sources/test_fuzz.py``: a file is read or refused in one sentence, what is given is
well formed, and every row is accounted for. Where a rule is broken, reader and number of the file are printed.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def rules() -> Any:
    """The module of tests, which is in no package."""
    path = Path(__file__).parents[1] / "terms" / "sources" / "test_fuzz.py"
    spec = importlib.util.spec_from_file_location("rules_of_sources", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(arguments: Sequence[str]) -> int:
    """Damages and checks; returns 1 if a rule was broken, or if no damaged file of a reader was read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    tests = rules()
    targets = tests.FUZZING.TARGETS
    parser.add_argument("--count", type=int, default=10_000, help="damaged files of each reader; default: 10000")
    parser.add_argument("--first", type=int, default=0, help="number of the first; default: 0")
    parser.add_argument("--only", action="append", choices=sorted(targets), help="this reader; may be repeated")
    args = parser.parse_args(arguments)
    failed = 0
    sys.stdout.write(f"{'reader':18}{'files':>9}{'read':>9}{'failures':>9}\n")
    with tempfile.TemporaryDirectory() as folder:
        for reader in args.only or targets:
            numbers = range(args.first, args.first + args.count)
            read, broken = torture(tests, reader, numbers, Path(folder) / "source")
            failed += len(broken) + (not read)
            sys.stdout.write(f"{reader:18}{args.count:>9,}{read:>9,}{len(broken):>9,}\n")
            sys.stdout.writelines(f"{reader} {number}\n{said}" for number, said in broken[:3])
            sys.stdout.flush()
    return 1 if failed else 0


def torture(tests: Any, reader: str, numbers: Sequence[int], path: Path) -> tuple[int, list[tuple[int, str]]]:
    """How many damaged files of a reader were read, and which broke a rule, with what was said."""
    text, settings = tests.FUZZING.TARGETS[reader]
    read, broken = 0, []
    for number in numbers:
        path.write_bytes(tests.FUZZING.damaged(text.encode(), number))
        try:
            read += tests.check(path, reader, settings)
        except Exception:  # whatever it is, it is what is looked for
            broken.append((number, traceback.format_exc()))
    return read, broken


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
