"""Advice about files, in the words of the routes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fascicle.formats.unread import with_fields

_COLUMNS: Final = re.compile(r"\bcolumns=VALUE, such as [-\d,]*\d")
_ELSEWHERE: Final = "\0"  # options that no route has
_ADVICE: Final = re.compile(r"(?:(?:^|[;,])[^;,\0]*\0[^;,\0]*)+")


def for_client(sentence: str, folder: str | Path, *, of_job: bool = False) -> str:
    """Returns a sentence with the parameters of a route in place of options of Python, and without
    the folder of the service, which clients must not see.

    Args:
        sentence: about a file.
        folder: of the file.
        of_job: whether the route is that of jobs, which has no column and no encoding.
    """

    def write(pairs: Sequence[tuple[str, str]]) -> str:
        (part, column), *others = pairs
        return _ELSEWHERE if others or part != "text" or of_job else f"column={column}"

    sentence = sentence.replace("encoding=NAME, or as encoding in a recipe", "encoding=NAME")
    if of_job:
        sentence = sentence.replace("encoding=NAME", _ELSEWHERE)
        sentence = re.sub(r"\bformat=", "input_format=", sentence)
    sentence = _COLUMNS.sub(_ELSEWHERE, with_fields(sentence, write))
    sentence = _ADVICE.sub(_advice, sentence.replace("fields=VALUE", "column=NAME"))
    return sentence.replace(f"{folder}/", "")


def _advice(match: re.Match[str]) -> str:
    begin = ", " if match[0].startswith(",") and not match[0].startswith(", and ") else "; "
    return (
        f"{begin}change the file, or convert it first with the command fascicle corpus convert, "
        "which has an option for this"
    )
