"""What became of odd but valid files of Word, PDF, Excel and reference managers, written before
their readers were looked at.

usage: python -m studies.formats.odd_files [SOURCES MORE-SOURCES]

``SOURCES`` is the folder ``src`` of the version on which the first 68 files were tried, and
``MORE-SOURCES`` that of the other files; their counts are kept beside ours. A file is read right if
its documents are those that were wanted; else a message, or an error, says that something is wrong,
or nothing does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from studies.common import write_result

_COUNT = "import json; from studies.formats.odd_files import counts; print(json.dumps(counts({group!r})))"
GROUPS = ("first", "more")


def counts(group: str) -> dict[str, dict[str, int]]:
    """Returns for each kind of file how many were read right, read wrongly with and without a
    message, or refused.
    """
    from tests.formats.oracle.judging import differences, outcome
    from tests.formats.use import office_odd, pages_odd, printed_odd

    more = (*office_odd.ALL, *pages_odd.ALL)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for given in printed_odd.ALL if group == "first" else more:
        with tempfile.TemporaryDirectory() as folder:
            found = outcome(given.laid(Path(folder)), given.format)
        is_right = not found.error and not differences(given.wanted, found.documents)
        wrong = "wrong without a message" if found.is_silent else "said"
        name = given.format if given.format in ("docx", "pdf", "xlsx") else "citations"
        kinds[name]["right" if is_right else wrong] += 1
    return {name: dict(sorted(kind.items())) for name, kind in sorted(kinds.items())}


def main() -> None:
    """Counts, and writes ``results/odd-files.json``."""
    value: dict[str, object] = {}
    for group, sources in zip(GROUPS, sys.argv[1:] or [""] * 2, strict=True):
        groups = {"ours": counts(group)}
        if sources:
            path = f"import sys; sys.path[:0] = [{sources!r}, '.']; "
            command = [sys.executable, "-c", path + _COUNT.format(group=group)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            groups["before"] = json.loads(done.stdout)
        value[group] = groups
    write_result("odd-files", value)


if __name__ == "__main__":
    main()
