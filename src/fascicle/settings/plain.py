"""Plain reading of TOML files, for recipes, grids and descriptions of types alike: the values, or one sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

from fascicle.errors import RecipeError

ENCODING: Final = "utf-8-sig"  # UTF-8; the mark that editors of Windows put before it is no part of the text


def toml_values(path: Path, *, missing: str, advice: str = "") -> dict[str, Any]:
    """The values of a file.

    Args:
        path: of the file.
        missing: what to say where nothing is there, e.g. ``"there is no recipe at x.toml"``.
        advice: what to do about a file that is not TOML.

    Raises:
        RecipeError: no such file, a folder, or not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding=ENCODING))
    except FileNotFoundError:
        raise RecipeError(f"{missing}; give the path of a TOML file") from None
    except RecursionError:
        raise RecipeError(
            f"{path} is not a readable TOML file: its values are nested too deeply", file=str(path)
        ) from None
    except OSError as error:
        what = _folder(path) if path.is_dir() else f"{path} cannot be read: {error.strerror}"
        raise RecipeError(f"{what}; give the path of a TOML file") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        told = f"; {advice}" if advice else ""
        raise RecipeError(f"{path} is not a readable TOML file: {error}{told}", file=str(path)) from None


def _folder(path: Path) -> str:
    """Says so of a folder; an empty path is the current folder to ``Path``, which nobody meant who gave it."""
    return "the path is empty, or that of the current folder" if path == Path() else f"{path} is a folder"
