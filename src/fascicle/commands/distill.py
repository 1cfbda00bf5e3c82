"""``fascicle distill``: a small network learns from a large one."""

from __future__ import annotations

from functools import partial

from fascicle.commands.train import Options, run_kind

__all__ = ["Options", "run"]
run = partial(run_kind, kind="distil", table="teacher", aim="imitate")
