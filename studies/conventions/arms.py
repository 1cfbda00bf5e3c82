"""Question 1 of the plan: guidelines apart, beside the same training with all genes and all lines
under shared names.

usage: python -m studies.conventions.arms SHARED STUDENT

Both are runs of ``grids/conventions.toml`` that start from the same encoder. Each answers with the
thresholds that its own dev parts chose, and without a decision of documents. Written:
``results/conventions-arms.json``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from fascicle.loading import load_all_types
from studies.common import write_result
from studies.six.corpora import EVERY
from studies.six.rows import facts, scores_of


def main(argv: Sequence[str] | None = None) -> None:
    """Scores both and writes the numbers, with the paired differences to the first one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("shared", type=Path)
    parser.add_argument("student", type=Path)
    args = parser.parse_args(argv)
    shared = scores_of(load_all_types(args.shared), EVERY)
    student = scores_of(load_all_types(args.student), EVERY)
    found = {
        "shared": shared,
        "apart": {name: forms for name, forms in student.items() if name in shared},
    }
    own = {"apart": {name: forms for name, forms in student.items() if name not in shared}}
    systems = {name: facts(name, found) for name in found}
    write_result("conventions-arms", {"systems": systems, "own": facts("apart", own)["rows"]})


if __name__ == "__main__":
    main()
