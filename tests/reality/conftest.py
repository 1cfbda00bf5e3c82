"""Real libraries beside Fascicle: run by `make reality`, left out everywhere else."""

from __future__ import annotations

import os

collect_ignore_glob = [] if os.environ.get("FASCICLE_REALITY") else ["*/test_*.py"]
