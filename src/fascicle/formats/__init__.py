"""Readers and writers of file formats: one module per format; readers stream documents, writers consume them.

`read` and `write` handle any format of the table `FORMATS`; the options of a format are in its module. A format
module is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fascicle.formats.brat import BratOptions
    from fascicle.formats.catalogue import FORMATS, Format
    from fascicle.formats.conll import ConllOptions, parse_columns
    from fascicle.formats.conll_write import ConllWriteOptions
    from fascicle.formats.detection import detect
    from fascicle.formats.files import read, unique_ids
    from fascicle.formats.jsonl import JsonlOptions
    from fascicle.formats.outputs import write
    from fascicle.formats.report import ReadReport, WriteReport

_NAMES: Final = MappingProxyType(
    {
        "brat": ("BratOptions",),
        "catalogue": ("FORMATS", "Format"),
        "conll": ("ConllOptions", "parse_columns"),
        "conll_write": ("ConllWriteOptions",),
        "detection": ("detect",),
        "files": ("read", "unique_ids"),
        "jsonl": ("JsonlOptions",),
        "outputs": ("write",),
        "report": ("ReadReport", "WriteReport"),
    }
)

__all__ = [
    "FORMATS",
    "BratOptions",
    "ConllOptions",
    "ConllWriteOptions",
    "Format",
    "JsonlOptions",
    "ReadReport",
    "WriteReport",
    "detect",
    "parse_columns",
    "read",
    "unique_ids",
    "write",
]


def __getattr__(name: str) -> object:
    """Imports the module of a public name at the first access to the name."""
    for module, names in _NAMES.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
