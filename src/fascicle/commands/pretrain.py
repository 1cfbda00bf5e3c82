"""``fascicle pretrain``: an encoder learns from raw text."""

from __future__ import annotations

from functools import partial

from fascicle.commands.train import Options, run_kind

__all__ = ["Options", "run"]
run = partial(run_kind, kind="pretraining", table="text", aim="pretrain on")
