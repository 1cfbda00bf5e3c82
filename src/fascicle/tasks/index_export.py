"""Writing a term pack as a table: what ``fascicle index export`` does."""

from __future__ import annotations

import os

from fascicle.core.arguments import checked
from fascicle.files.atomic import output
from fascicle.knowledge.pack.checks import looking_through
from fascicle.knowledge.pack.export import COLUMNS, rows
from fascicle.knowledge.pack.pack import Pack


@checked
def export(
    pack: str | os.PathLike[str], table: str | os.PathLike[str], *, silent: bool = False, overwrite: bool = False
) -> int:
    """Writes the terms of a pack as TSV with a line of titles; a source of a pack can be such a file.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        table: the file; ``.gz`` at the end of its name packs it, and ``"-"`` is standard output.
        silent: write the terms that are kept out in place of those that are found.
        overwrite: replace an existing file.

    Returns:
        How many terms were written.

    Raises:
        PackError: the pack cannot be opened, or has values that cannot be.
        OutputError: the file exists, or cannot be written.
    """
    opened = Pack.open(pack)
    count = 0
    with looking_through(opened.folder), output(table, overwrite=overwrite) as stream:
        stream.write(("\t".join(COLUMNS) + "\n").encode())
        for row in rows(opened, silent=silent):
            stream.write(("\t".join(row) + "\n").encode())
            count += 1
    return count
