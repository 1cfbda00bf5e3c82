"""Faults as logs say them: which and where, without the message, which may hold text or names of files."""

from __future__ import annotations

import sys
import traceback
from pathlib import PurePath


def places_of(error: BaseException) -> list[str]:
    """Where an error was raised: modules, lines and functions, the innermost last."""
    found = traceback.extract_tb(error.__traceback__)[-8:]
    return [f"{PurePath(one.filename).name}:{one.lineno} {one.name}" for one in found]


def tell_fault(error: BaseException) -> None:
    """Says on standard error which fault there was and where; for logs, which hold no text and no names of files."""
    sys.stderr.write(f"{type(error).__name__} at {', '.join(places_of(error))}\n")
