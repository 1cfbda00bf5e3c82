"""An input as a user has it: files, and the documents that they describe."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.formats.oracle.judging import Page


@dataclass(frozen=True, kw_only=True)
class Given:
    """One input, written from the description of its format.

    Attributes:
        name: what is special.
        format: the name that a user gives.
        files: path in a folder -> content.
        wanted: the documents.
        read: the path that is read, relative to the folder; the only file by default.
        flawed: whether a reader may also say what is wrong, in place of these documents.
        counted: kind and code of what must be said beside the documents, such as parts that no
            reader of texts has.
        options: of the reader.
    """

    name: str
    format: str
    files: dict[str, str | bytes]
    wanted: tuple[Page, ...]
    read: str = ""
    flawed: bool = False
    counted: str = ""
    options: Any = field(default=None)

    def laid(self, folder: Path) -> Path:
        """Writes the files; the path to read."""
        for name, content in self.files.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / (self.read or next(iter(self.files)))
