"""Reading of TOML files as plain values, for recipes, grids and descriptions of types."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path
from typing import Any, Final

from fascicle.errors import RecipeError

_ENCODING: Final = "utf-8-sig"  # UTF-8; the byte order mark of Windows editors is skipped
_LARGEST: Final = 16 * 2**20  # most bytes of a file; no file written by hand has so many


def toml_values(path: Path, *, missing: str, advice: str = "") -> dict[str, Any]:
    """Reads the values of a TOML file.

    Args:
        path: path of the file.
        missing: message for a missing file, e.g. ``"there is no recipe at x.toml"``.
        advice: advice for a file that is not TOML.

    Raises:
        RecipeError: no such file, no regular file, too large, not TOML, or a NUL character in a value.
    """
    try:
        values = parsed_toml(_content(path).decode(_ENCODING))
    except FileNotFoundError:
        raise RecipeError(f"{missing}; give the path of a TOML file") from None
    except RecursionError:
        raise RecipeError(
            f"{path} is not a readable TOML file: its values are nested too deeply", file=str(path)
        ) from None
    except OSError as error:
        what = f"{path} is a folder" if path.is_dir() else f"{path} cannot be read: {error.strerror}"
        what = "the path is empty, or that of the current folder" if path == Path() else what
        raise RecipeError(f"{what}; give the path of a TOML file") from None
    except ValueError as error:
        told = f"; {advice}" if advice else ""
        raise RecipeError(f"{path} is not a readable TOML file: {error}{told}", file=str(path)) from None
    if has_nul(values):
        raise RecipeError("a value has a NUL character, as no path and no name may; remove it", at=str(path))
    return values


def parsed_toml(text: str) -> dict[str, Any]:
    """Parses TOML text.

    Raises:
        ValueError: it is not TOML, or Python does not read one of its integers; the message is for users.
        RecursionError: its values are nested too deeply.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        raise ValueError("an integer has too many digits") from None


def _content(path: Path) -> bytes:
    """Reads a small regular file; pipes and devices are refused, since reading may never end."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise RecipeError(f"{path} is a pipe or a device; give the path of a TOML file", file=str(path))
    with path.open("rb") as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise RecipeError(f"{path} has more than {_LARGEST >> 20} MiB, as no TOML file of settings has", file=str(path))
    return content


def has_nul(value: Any) -> bool:
    """True if a value, or one of its keys, contains a NUL character, which no path may have."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str) and "\0" in one:
            return True
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one
    return False
