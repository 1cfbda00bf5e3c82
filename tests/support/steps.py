"""The steps that pyproject.toml declares as entry points, whether this checkout is installed or
not.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

from fascicle import plugins

ROOT: Final = Path(__file__).parents[2]


def declare(folder: Path) -> dict[str, str]:
    """Makes a package of the steps that pyproject.toml declares, unless they are installed.

    Args:
        folder: on the search path.

    Returns:
        Name -> module and class.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared: dict[str, str] = project["entry-points"]["fascicle.steps"]
    missing = declared.keys() - set(plugins.plugin_names("steps"))
    if missing:
        info = folder / "fascicle_declared-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: fascicle-declared\nVersion: 1.0\n"
        )
        lines = "".join(
            f"{name} = {place}\n" for name, place in declared.items() if name in missing
        )
        (info / "entry_points.txt").write_text(f"[fascicle.steps]\n{lines}")
    return declared
