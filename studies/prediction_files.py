"""Writing prediction files under a name that says their form, for the studies and for tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fascicle.core.files.atomic import output
from fascicle.core.files.source import suffix
from fascicle.formats.predictions import Prediction, json_line
from fascicle.formats.tables import CSV, TSV


def write(path: str | Path, predictions: Iterable[Prediction], *, overwrite: bool = False) -> None:
    """Writes a prediction file: TSV or CSV if its name ends so (or with ``.gz`` behind), else JSON Lines.

    Args:
        path: where.
        predictions: may be a stream.
        overwrite: replace an existing file.

    Raises:
        OutputError: the file exists, or the place cannot be written.
        InputError: what a table cannot hold.
    """
    table = {".tsv": TSV, ".csv": CSV}.get(suffix(str(path)))
    with output(path, overwrite=overwrite) as stream:
        if table is not None:
            stream.write(table.header())
        for prediction in predictions:
            stream.write(json_line(prediction) if table is None else table.rows(prediction.id, prediction.mentions))
