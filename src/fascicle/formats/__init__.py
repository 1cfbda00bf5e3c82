"""One file per format: readers stream documents, writers take them.

`read` and `write` handle any format of the table `FORMATS`; the options of a format are in its own file.
"""

from fascicle.files.atomic import atomic_folder, atomic_text_writer, atomic_writer, check_target
from fascicle.files.source import Source
from fascicle.formats.brat import BratOptions
from fascicle.formats.conll import ConllOptions, parse_columns
from fascicle.formats.conll_write import ConllWriteOptions
from fascicle.formats.detection import detect
from fascicle.formats.files import FORMATS, Format, read, unique_ids, write
from fascicle.formats.jsonl import JsonlOptions
from fascicle.formats.report import ReadReport, WriteReport

__all__ = [
    "FORMATS",
    "BratOptions",
    "ConllOptions",
    "ConllWriteOptions",
    "Format",
    "JsonlOptions",
    "ReadReport",
    "Source",
    "WriteReport",
    "atomic_folder",
    "atomic_text_writer",
    "atomic_writer",
    "check_target",
    "detect",
    "parse_columns",
    "read",
    "unique_ids",
    "write",
]
