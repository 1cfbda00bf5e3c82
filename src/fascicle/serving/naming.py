"""Names of files and formats that clients give."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from fascicle.errors import UsageError
from fascicle.formats.catalogue import Format, format_named
from fascicle.serving.problems import ProblemError

# The formats that a client may ask for by the media type of the answer.
MEDIA_TYPES: Final = MappingProxyType(
    {
        "application/vnd.bioc+json": "bioc-json",
        "application/vnd.bioc+xml": "bioc",
        "application/vnd.pubtator3+json": "pubtator3",
        "text/x-pubtator": "pubtator",
    }
)
_PLAIN: Final = re.compile(r"[^\w.-]+")
_LONGEST: Final = 200  # bytes of a name: file systems take 255, and "input-" or the like comes before it


def plain_name(given: str) -> str:
    """Returns a safe file name from the end of a given name: no path, no option and no hidden file."""
    name = _PLAIN.sub("_", given.replace("\\", "/").rpartition("/")[2])
    return name.encode()[-_LONGEST:].decode(errors="ignore").lstrip(".-") or "file"


def writable(name: str) -> Format:
    """Returns a format that can be written.

    Raises:
        ProblemError: there is none of this name.
    """
    form = _named(name)
    if not form.writes:
        raise ProblemError(422, f"files of the format {name} are read and not written", code="unknown-name")
    return form


def readable(name: str) -> str:
    """Returns the name of a format that can be read, or ``"auto"``.

    Raises:
        ProblemError: there is none of this name.
    """
    if name == "auto":
        return name
    form = _named(name)
    if not form.reads:
        raise ProblemError(422, f"files of the format {name} hold no texts, so they are not read", code="unknown-name")
    return form.name


def _named(name: str) -> Format:
    try:
        return format_named(name)
    except UsageError as error:
        raise ProblemError(422, str(error), code="unknown-name") from None


def suffix_of(form: Format) -> str:
    """Returns the suffix of a file in a format; a format of several files is written as one zip."""
    return ".zip" if form.many else form.suffixes[0]
