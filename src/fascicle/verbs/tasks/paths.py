"""Arguments that may be one path or several."""

from __future__ import annotations

import os
from collections.abc import Iterable

from fascicle.core.arguments import paths_in

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def listed(given: Paths, *, name: str = "files") -> tuple[str, ...]:
    """Returns the paths of an argument that may be one path or several; ``name`` is that of the argument."""
    return (os.fspath(given),) if isinstance(given, str | os.PathLike) else paths_in(given, name=name)
