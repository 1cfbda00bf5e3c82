"""Explaining what a term pack makes of a name: what ``fascicle index why`` does."""

from __future__ import annotations

import os

from fascicle.core.arguments import checked
from fascicle.knowledge.pack.checks import looking_through
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.why import Why
from fascicle.knowledge.pack.why import why as why_in


@checked
def why(pack: str | os.PathLike[str], surface: str) -> Why:
    """Explains a surface: its keys, the terms that it finds with their concepts, and what is kept out and why.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        surface: any name.

    Raises:
        PackError: the pack cannot be opened, or has values that cannot be.
    """
    opened = Pack.open(pack)
    with looking_through(opened.folder):
        return why_in(opened, surface)
