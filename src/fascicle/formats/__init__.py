"""Readers and writers of file formats: one module per format; readers stream documents, writers
consume them.

`read` and `write` handle any format of the table `FORMATS`; the options of a format are in its
module. A format module is imported at its first use.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fascicle.formats.brat import BratOptions as BratOptions
    from fascicle.formats.catalogue import FORMATS as FORMATS
    from fascicle.formats.catalogue import Format as Format
    from fascicle.formats.conll import ConllOptions as ConllOptions
    from fascicle.formats.conll import parse_columns as parse_columns
    from fascicle.formats.conll_write import ConllWriteOptions as ConllWriteOptions
    from fascicle.formats.detection import detect as detect
    from fascicle.formats.files import read as read
    from fascicle.formats.files import unique_ids as unique_ids
    from fascicle.formats.outputs import write as write
    from fascicle.formats.records import JsonlOptions as JsonlOptions
    from fascicle.formats.report import ReadReport as ReadReport
    from fascicle.formats.report import WriteReport as WriteReport

# The module of each public name.
_MODULES: Final = MappingProxyType(
    {
        **{
            "FORMATS": "catalogue",
            "Format": "catalogue",
            "BratOptions": "brat",
            "JsonlOptions": "records",
        },
        **{"ConllOptions": "conll", "parse_columns": "conll", "ConllWriteOptions": "conll_write"},
        **{"detect": "detection", "read": "files", "unique_ids": "files", "write": "outputs"},
        **{"ReadReport": "report", "WriteReport": "report"},
    }
)


def __getattr__(name: str) -> object:
    """Imports the module of a public name at the first access to the name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found
