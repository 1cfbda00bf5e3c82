"""Command ``fascicle distill``: trains a small network on the output of a large one."""

from __future__ import annotations

from functools import partial

from fascicle.verbs import train

run = partial(train.run_kind, kind="distil", table="teacher", aim="imitate")


class Options(train.Options):
    """Options of ``fascicle distill``.

    In Python: ``fascicle.train("recipe.toml", "runs/student")``
    """
