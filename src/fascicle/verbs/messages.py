"""Sentences for people on standard error, in the words of the command line."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Errors name the argument of a function, which a user of Python can give; here it is the option that says the same.
_FLAGS: Final = "add overwrite allow_missing resume per_type distinct_types debug all_parts demo untaught"


_WITH_VALUES: Final = "documents columns shape labels bare_tags where"


_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{f"{name}=True": f"--{name.replace('_', '-')}" for name in _FLAGS.split()},
        **{f"{name}=VALUE": f"--{name.replace('_', '-')}" for name in _WITH_VALUES.split()},
        "pack=PACK": "--pack PACK",
        "encoding=NAME": "--encoding NAME",
        "sample=FILE": "--calibrate FILE",
        "url=URL": "--url URL",
        'labels="O,B-PER,I-PER"': "--labels O,B-PER,I-PER",
        "format=jsonl": "--input-format jsonl",
        "format=pdf": "--input-format pdf",
        "format=records": "--input-format records",
        "format=NAME": "--format NAME",
        "method=none": "--method none",
        "search=False": "--no-search",
        "source=NAME": "--source NAME",
        "fields=VALUE": "--field",
        "prefixes=VALUE": "--prefix",
        "texts=TEXTS": "--text",
        "path=PATH": "-o",
        "map=FILE": "--map FILE",
        "bare=True": "--bare-tags",
        "systems=NAMES": "--system NAME, which may be repeated",
        "dev=PATH": "--dev PATH",
        "results=FOLDER": "-o",
        "runs=FOLDER": "--runs",
        "only=NAME": "--only",
        "token_file=FILE": "--token-file FILE",
        'case="any"': "--case any",
        'case="exact"': "--case exact",
    }
)


_ARGUMENT: Final = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in _OPTIONS)


_NAMED: Final = re.compile(r"\bthe argument (\w+)")


def with_options(text: str) -> str:
    """Replaces argument names of functions by options of the command line in an error message."""
    from fascicle.formats.unread import with_fields  # and with it numpy, which most commands need before they say much

    text = with_fields(text, lambda pairs: " ".join(f"--field {part}={shlex.quote(field)}" for part, field in pairs))
    named = _NAMED.sub(lambda found: f"--{found[1].replace('_', '-')}", text)
    return re.sub(_ARGUMENT, lambda found: _OPTIONS[found[0]], named)


def say(text: str) -> None:
    """Prints one line on standard error."""
    sys.stderr.write(f"fascicle: {with_options(text)}\n")
    sys.stderr.flush()
