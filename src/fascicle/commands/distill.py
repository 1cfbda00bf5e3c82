"""``fascicle distill``: a small network learns from a large one."""

from __future__ import annotations

import argparse
from functools import partial

from fascicle.commands import train


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=partial(train.run_kind, kind="distil", table="teacher", aim="imitate"))
    train.add_options(parser)
