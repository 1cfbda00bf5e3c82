"""What became of odd but valid files of Word, PDF, Excel and RIS, written before their readers were
looked at.

usage: python -m studies.formats.odd_files [SOURCES]

``SOURCES`` is the folder ``src`` of another version, for example of a git worktree; its counts are
kept beside ours. A file is read right if its documents are those that were wanted; else a message,
or an error, says that something is wrong, or nothing does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from studies.common import write_result

_COUNT = (
    "import json; from studies.formats.odd_files import counts; import fascicle; "
    "print(json.dumps([fascicle.__file__, counts()]))"
)


def counts() -> dict[str, dict[str, int]]:
    """Returns for each format how many files were read right, read wrongly with and without a
    message, or refused.
    """
    from tests.formats.oracle.judging import differences, outcome
    from tests.formats.use.printed_odd import ALL

    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for given in ALL:
        with tempfile.TemporaryDirectory() as folder:
            found = outcome(given.laid(Path(folder)), given.format)
        is_right = not found.error and not differences(given.wanted, found.documents)
        wrong = "wrong without a message" if found.is_silent else "said"
        kinds[given.format]["right" if is_right else wrong] += 1
    return {name: dict(sorted(kind.items())) for name, kind in sorted(kinds.items())}


def main() -> None:
    """Counts, and writes ``results/odd-files.json``."""
    value: dict[str, object] = {"ours": counts()}
    for sources in sys.argv[1:]:
        command = [sys.executable, "-c", f"import sys; sys.path[:0] = [{sources!r}, '.']; {_COUNT}"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        value["before"] = json.loads(done.stdout)[1]
    write_result("odd-files", value)


if __name__ == "__main__":
    main()
