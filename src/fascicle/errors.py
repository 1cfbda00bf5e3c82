"""Every error that Fascicle raises on purpose.

The tree::

    FascicleError            what a caller may catch; ``exit_code`` is what the command line returns
    ├── InputError           a file, text or document that cannot be used as given
    │   └── FormatError      ... because its content breaks the rules of its format
    ├── RecipeError          a recipe with an unknown key, a wrong type, a value out of range
    ├── ModelError           a model folder that is damaged, foreign or of another version
    ├── OutputError          a place that cannot be written, or that exists already
    ├── LossError            a document of which the output format would lose something, where that is refused
    ├── UsageError           options that do not go together
    └── MissingExtraError    a part of Fascicle that is not installed

Every message is one sentence: what was given, what is allowed, what to do.
"""

from __future__ import annotations

import re
from typing import Final

_LONGEST: Final = 1_000  # characters of a message; what is in between is the content of some file
_END: Final = 300
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class FascicleError(Exception):
    """Base of all errors for users; printed as one sentence, never with a traceback unless asked for.

    Whatever a message quotes from a file, it is one line of bounded length: control characters are escaped, and a long
    one loses its middle, so that the place at its beginning and the remedy at its end stay.
    """

    exit_code = 2

    def __init__(self, message: str = "") -> None:
        """Makes one line of the message."""
        escaped = _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), message)
        if len(escaped) > _LONGEST:
            escaped = f"{escaped[: _LONGEST - _END]} … {escaped[-_END:]}"
        super().__init__(escaped)


class InputError(FascicleError):
    """A file, text or document that cannot be used as given."""


class FormatError(InputError):
    """Content that breaks the rules of its format; names the file and, where there is one, the line."""


class RecipeError(FascicleError):
    """A recipe with an unknown key, a wrong type, or a value that is not allowed."""


class ModelError(FascicleError):
    """A model folder that is damaged, not ours, or of a version this release does not read."""


class OutputError(FascicleError):
    """A place that cannot be written, or that exists already."""


class LossError(FascicleError):
    """A document of which the output format would lose something, where that is refused."""


class UsageError(FascicleError):
    """Options or arguments that do not go together."""


class MissingExtraError(FascicleError):
    """A part of Fascicle whose packages are not installed."""

    def __init__(self, extra: str, package: str) -> None:
        """Names the extra to install.

        Args:
            extra: the extra of ``fascicle`` that holds the package.
            package: the package that could not be imported.
        """
        super().__init__(
            f"This needs the package {package!r}, which is not installed: run pip install 'fascicle[{extra}]'."
        )
        self.extra = extra
        self.package = package
