"""Command ``fascicle pretrain``: trains an encoder on raw text."""

from __future__ import annotations

from functools import partial

from fascicle.verbs import train

run = partial(train.run_kind, kind="pretraining", table="text", aim="pretrain on")


class Options(train.Options):
    """Options of ``fascicle pretrain``.

    In Python: ``fascicle.train("pretraining.toml", "runs/encoder")``
    """
