"""Sentences for people on standard error, in the words of the command line, and results on
standard output.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final

# Errors name the argument of a function, which a user of Python can give; here it is the option
# that says the same.
_FLAGS: Final = (
    "add overwrite allow_missing resume per_type distinct_types debug all_parts demo untaught "
    "json_lines"
)


_WITH_VALUES: Final = "documents columns shape labels bare_tags where"


_ALIKE: Final = (
    "pack=PACK encoding=NAME format=NAME method=none source=NAME map=FILE dev=PATH token_file=FILE "
    "curation=FILE tokens=FILE project=FILE prefix=PREFIX graph=FOLDER"
)


_NAMED_FORMATS: Final = "jsonl pdf records table"


_OPTIONS: Final = MappingProxyType(
    {
        **{f"{name}=True": f"--{name.replace('_', '-')}" for name in _FLAGS.split()},
        **{f"{name}=VALUE": f"--{name.replace('_', '-')}" for name in _WITH_VALUES.split()},
        **{said: f"--{said.replace('_', '-').replace('=', ' ')}" for said in _ALIKE.split()},
        **{f"format={name}": f"--input-format {name}" for name in _NAMED_FORMATS.split()},
        "sample=FILE": "--calibrate FILE",
        "url=URL": "--url URL",
        'labels="O,B-PER,I-PER"': "--labels O,B-PER,I-PER",
        "search=False": "--no-search",
        "fields=VALUE": "--field",
        "prefixes=VALUE": "--prefix",
        "texts=TEXTS": "--text",
        "path=PATH": "-o",
        "bare=True": "--bare-tags",
        "systems=NAMES": "--system NAME, which may be repeated",
        "results=FOLDER": "-o",
        "runs=FOLDER": "--runs",
        "only=NAME": "--only",
        'case="any"': "--case any",
        'case="exact"': "--case exact",
    }
)


_ARGUMENT: Final = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in _OPTIONS)


_NAMED: Final = re.compile(r"\bthe argument (\w+)")


def with_options(text: str) -> str:
    """Replaces argument names of functions by options of the command line in an error message."""
    # and with it numpy, which most commands need before they say much
    from fascicle.formats.unread import with_fields

    text = with_fields(
        text,
        lambda pairs: " ".join(f"--field {part}={shlex.quote(field)}" for part, field in pairs),
    )
    named = _NAMED.sub(lambda found: f"--{found[1].replace('_', '-')}", text)
    return re.sub(_ARGUMENT, lambda found: _OPTIONS[found[0]], named)


def say(text: str) -> None:
    """Prints one line on standard error."""
    sys.stderr.write(f"fascicle: {with_options(text)}\n")
    sys.stderr.flush()


def say_notes(notes: Iterable[str]) -> None:
    """Prints each note as a line on standard error."""
    for note in notes:
        say(f"note: {note}")


def emit(value: object, text: str | Iterable[str], *, as_json: bool, **options: Any) -> int:
    """Prints a result on standard output; returns the exit code, 0.

    Args:
        value: for one line of JSON.
        text: the same for people, or its lines, which are made only if they are printed.
        as_json: which of the two is printed.
        options: of ``json.dumps``; letters that are not ASCII stay as they are by default.
    """
    if as_json:
        sys.stdout.write(json.dumps(value, **{"ensure_ascii": False, **options}) + "\n")
    else:
        sys.stdout.write(text if isinstance(text, str) else "".join(f"{line}\n" for line in text))
    return 0
