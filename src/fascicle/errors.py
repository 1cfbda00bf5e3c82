"""All errors that Fascicle raises on purpose.

The tree::

    FascicleError            what a caller may catch; ``exit_code`` is what the command line returns
    ├── InputError           a file, text or document that cannot be used as given
    │   └── FormatError      ... because its content breaks the rules of its format
    ├── RecipeError          a recipe with an unknown key, a wrong type, a value out of range
    ├── ModelError           a model folder that is damaged, foreign or of another version
    ├── PackError            a term pack that is damaged, foreign or of another version
    ├── OutputError          a place that cannot be written, or that exists already
    ├── LossError            a document of which the output format would lose something, where that
    is refused ├── UsageError           options that do not go together
    ├── MissingExtraError    a part of Fascicle that is not installed
    └── PluginError          a plug-in of another package that cannot be used

Every message is one sentence: what was given, what is allowed, what to do. An error also has fields
for programs: ``code``, ``file``, ``line`` and ``key``. A code is one of `CODES`; an unknown field
is empty.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from types import MappingProxyType
from typing import Any, Final, Self

import msgspec

CODES: Final = MappingProxyType(
    {
        "error": "any other error",
        "input": "a file, text or document that cannot be used as given",
        "format": "content that breaks the rules of its format",
        "recipe": "a setting that is not allowed",
        "model": "a model folder that cannot be used",
        "pack": "a term pack that cannot be used",
        "output": "a place that cannot be written",
        "loss": "a document of which the output format would lose something",
        "usage": "options or arguments that do not go together",
        "missing-extra": "a part of Fascicle that is not installed",
        "plugin": "a plug-in that cannot be used",
        "not-found": "a file, folder or model that is not there",
        "unreadable": "a file that is there and cannot be opened",
        "empty": "a file without a document",
        "encoding": "a binary file, or text in another encoding",
        "damaged": "a file that is cut off, or was changed",
        "too-large": "a line or a file beyond the limit",
        "version": "a file of a version that this release does not read",
        "exists": "an output that is there already",
        "unknown-key": "a setting that does not exist",
        "unknown-name": "a name that is none of those allowed",
        "ambiguous-name": "a name that means several things",
        "prediction": "a document that a predictor cannot answer",
        "hidden": "a document, or a version of it, that somebody may not see yet",
        "finished": "a document that its curator has finished",
    }
)
# most characters of a message; a longer one quotes the content of some file
_LONGEST: Final = 1_000
_END: Final = 300
_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Place(str):
    """A place in a file as messages name it: ``file:line``, or another text where there are no
    lines.

    Attributes:
        file: the file.
        line: number of the line from 1, or ``None``.
    """

    file: str
    line: int | None

    def __new__(
        cls, file: str | PathLike[str], line: int | None = None, *, shown: str = ""
    ) -> Self:
        """Makes the text; ``shown`` replaces it."""
        place = super().__new__(cls, shown or f"{file}:{line}")
        place.file, place.line = str(file), line
        return place


def one_line(message: str) -> str:
    """Returns a message for terminals: control characters are escaped, and the middle of a long
    message is cut out.
    """
    escaped = _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), message)
    return (
        f"{escaped[: _LONGEST - _END]} … {escaped[-_END:]}" if len(escaped) > _LONGEST else escaped
    )


class FascicleError(Exception):
    """Base of all errors for users; printed as one sentence, with a traceback only on request.

    A message is one line of bounded length, also if it quotes a file: control characters are
    escaped, and the middle of a long one is cut out, so that the place at its beginning and the
    advice at its end are kept.

    Attributes:
        code: what went wrong, one of `CODES`.
        file: the file concerned.
        line: line number in the file from 1, or ``None``.
        key: the setting, the name or the document concerned.
    """

    exit_code = 2
    code = "error"

    def __init__(
        self,
        message: str = "",
        *,
        at: str = "",
        code: str = "",
        file: str = "",
        line: int | None = None,
        key: str = "",
    ) -> None:
        """Formats the message as one line.

        Args:
            message: one sentence.
            at: the file, or the `Place` in a file, that is put before the message, with a colon.
            code: one of `CODES`; that of the class by default.
            file: the file, or the `Place`, if the message names it elsewhere.
            line: line number in the file.
            key: the setting, the name or the document.

        Raises:
            ValueError: a code that is not in `CODES`.
        """
        message = f"{at}: {message}" if at else message
        file = at or file
        if isinstance(file, Place):
            line, file = file.line, file.file
        super().__init__(one_line(message))
        self.code = code or type(self).code
        if self.code not in CODES:
            raise ValueError(f"the code {self.code!r} is not in CODES")
        self.file, self.line, self.key = file, line, key

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        """Supports pickling for other processes, without a call of the constructor, whose
        arguments may differ.
        """
        return _again, (type(self), *self.args), self.__dict__

    def saying(self, message: str) -> Self:
        """Returns a copy of the error with another message, and without its traceback."""
        other = copy.copy(self)
        Exception.__init__(other, *FascicleError(message).args)
        return other

    def fields(self) -> dict[str, Any]:
        """Returns the error as plain values, e.g. for JSON: the class, the code, the message,
        and the known fields.
        """
        values = {"file": self.file, "line": self.line, "key": self.key}
        fields = {name: value for name, value in values.items() if value}
        return {"error": type(self).__name__, "code": self.code, "message": str(self), **fields}


def _again(kind: type[FascicleError], *args: Any) -> FascicleError:
    error = kind.__new__(kind, *args)
    error.args = args
    return error


@contextmanager
def add_place(*, file: str = "", key: str = "") -> Iterator[None]:
    """Adds this file or key to errors raised inside the block, unless they have one.

    Args:
        file: the file.
        key: the setting, the name or the document.
    """
    try:
        yield
    except FascicleError as error:
        error.file, error.key = error.file or file, error.key or key
        raise


class InputError(FascicleError):
    """A file, text or document that cannot be used as given."""

    code = "input"


class FormatError(InputError):
    """Content that breaks the rules of its format; names the file and, where there is one, the
    line.
    """

    code = "format"


# What parsing of content raises: errors of msgspec, of checks in structs, and of deep nesting.
BROKEN: Final = (msgspec.MsgspecError, ValueError, RecursionError)


@contextmanager
def explain_errors(
    what: str, *errors: type[Exception], at: str = "", advice: str = ""
) -> Iterator[None]:
    """Converts errors in the block, those of `BROKEN` by default, to one that says what the content
    is not.

    Args:
        what: what it is not, such as ``not JSON``; the reason follows in brackets.
        *errors: other classes of errors.
        at: place for the message.
        advice: what to do, with the sign before it.

    Raises:
        FormatError: in place of the error.
    """
    caught = errors or BROKEN
    try:
        yield
    except caught as error:
        raise FormatError(f"{what} ({error}){advice}", at=at) from None


class RecipeError(FascicleError):
    """A recipe with an unknown key, a wrong type, or a value that is not allowed."""

    code = "recipe"


class ModelError(FascicleError):
    """A model folder that is damaged, not ours, or of a version this release does not read."""

    code = "model"


class PackError(FascicleError):
    """A term pack that is damaged, not ours, or of a version this release does not read."""

    code = "pack"


class OutputError(FascicleError):
    """A place that cannot be written, or that exists already."""

    code = "output"


class LossError(FascicleError):
    """A document of which the output format would lose something, where that is refused."""

    code = "loss"


class UsageError(FascicleError):
    """Options or arguments that do not go together."""

    code = "usage"


class MissingExtraError(FascicleError):
    """A part of Fascicle needs packages that are not installed."""

    code = "missing-extra"

    def __init__(self, extra: str, package: str) -> None:
        """Names the extra to install.

        Args:
            extra: the extra of ``fascicle`` that holds the package.
            package: the package that could not be imported.
        """
        super().__init__(
            f"This needs the package {package!r}, which is not installed: run pip install "
            f"'fascicle[{extra}]'."
        )
        self.key = package
        self.extra = extra
        self.package = package


def import_extra(module: str, *, extra: str, package: str = "") -> Any:
    """Imports a module of a package that an extra installs.

    Args:
        module: full name.
        extra: of Fascicle.
        package: name to install; that of the module by default.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(extra, package or module) from None


class PluginError(FascicleError):
    """A plug-in of another package that cannot be loaded, or that breaks its contract."""

    code = "plugin"
