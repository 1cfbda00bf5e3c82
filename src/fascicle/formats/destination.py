"""Destination of the results of a run over several inputs: one file, or one file for each input."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from fascicle.core.files.apart import Inputs
from fascicle.core.files.folder_run import OutputFiles, name_files
from fascicle.core.files.part import can_be_resumed, part_paths
from fascicle.core.files.source import STDIN
from fascicle.errors import UsageError
from fascicle.formats.catalogue import Format, format_named, format_of_output
from fascicle.formats.outputs import STDOUT, WriteRequest
from fascicle.formats.requests import Input


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """Place to which a result is written.

    Attributes:
        path: of the file or folder, or ``"-"``.
        format: of the files.
        files: one for each input; ``None`` where all go to one place.
        grows: whether one file is written beside its final name, so that a later run can go on with
            it.
    """

    path: str
    format: Format
    files: OutputFiles | None = None
    grows: bool = False

    def refuse(self, inputs: Inputs) -> None:
        """Raises an error if an output file would overwrite an input.

        Raises:
            OutputError: a file that would be written is among the inputs, contains one, or is
                inside one.
        """
        paths = (self.path, *part_paths(self.path)) if self.grows else (self.path,)
        for place in self.files.of.values() if self.files else paths:
            inputs.refuse(place)


def destination(inputs: Sequence[Input], request: WriteRequest, *, several: bool) -> Destination:
    """Chooses the place and the format of the output; raises early the errors that would occur
    after hours of work.

    The output is a folder with a file for each input if its name ends with ``/``, if it is a
    folder, or if there are several inputs and the name has no suffix and does not exist yet.

    Args:
        inputs: in order.
        request: where to, and in which format.
        several: whether several files were named, even if they hold one input.

    Raises:
        UsageError: a name without a known format, or something that cannot be resumed.
        OutputError: a file is there already, or its folder is missing.
    """
    path, name = request.path, "" if request.format == "auto" else request.format
    output_format = name or format_of_output(path)
    is_whole = path == STDOUT or (output_format and format_named(output_format).many)
    if is_whole or not _is_folder(path, several=several or len(inputs) > 1):
        file_format = request.check()
        grows = not is_whole and file_format.writer.grows and can_be_resumed(path)
        place = Destination(path=path, format=file_format, grows=grows)
    else:
        file_format, folder = format_named(name or "jsonl"), Path(path)
        suffix = next(iter(file_format.suffixes), f".{file_format.name}")  # a plug-in may have none
        names = name_files([source.name for source in inputs], folder, suffix=suffix)
        files = OutputFiles(
            folder=folder, of=names, overwrite=request.overwrite, resume=request.resume
        )
        files.check()
        place = Destination(path=path, format=file_format, files=files)
    if request.resume:
        _check_resume(place, inputs)
    return place


def _check_resume(place: Destination, inputs: Sequence[Input]) -> None:
    if any(source.name == STDIN and source.text is None for source in inputs):
        raise UsageError(
            "resume=True was given with standard input, which cannot be read again; name files "
            "to read"
        )
    if place.path == STDOUT:
        raise UsageError(
            "resume=True was given without an output; give a file or a folder with path=PATH"
        )
    if not place.files and not place.grows:
        raise UsageError(
            f"{place.path} cannot be gone on with: resume=True is for a folder with one file for "
            "each input, and for "
            "one file of records that is not packed and has no very long name; write to such a one"
        )


def _is_folder(path: str, *, several: bool) -> bool:
    return (
        path.endswith("/")
        or Path(path).is_dir()
        or (several and not Path(path).suffix and not Path(path).exists())
    )
