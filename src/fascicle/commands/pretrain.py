"""``fascicle pretrain``: an encoder learns from raw text."""

from __future__ import annotations

import argparse
from functools import partial

from fascicle.commands import train


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.set_defaults(run=partial(train.run_kind, kind="pretraining", table="text", aim="pretrain on"))
    train.add_options(parser)
