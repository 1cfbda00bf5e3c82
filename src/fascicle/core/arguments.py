"""Checks of argument types: one clear sentence in place of an error from deep inside.

Regular expressions that users write get a time limit, since some take exponential time.
"""

from __future__ import annotations

import inspect
import os
import signal
import threading
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import cache, wraps
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from fascicle.core.document import Document
from fascicle.errors import InputError, UsageError

_SHOWN: Final = 40
_LISTS: Final = (Iterable, Collection, Sequence, list)
_PATHS: Final = (os.PathLike, Path)
_NOT_LISTS: Final = (str, bytes, bytearray, Mapping, Document)
_WORDS: Final[Mapping[Any, str]] = types.MappingProxyType(
    {
        bool: "True or False",
        int: "an int",
        float: "a number",
        str: "a str",
        os.PathLike: "a path",
        type(None): "None",
    }
)
AnyPath = str | os.PathLike[str]
Paths = AnyPath | Iterable[AnyPath]
_P = ParamSpec("_P")
_R = TypeVar("_R")


def validate_arguments(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorates a function: arguments that do not fit its annotations are refused before it runs.

    Items of lists are checked, and fields of frozen dataclasses, which are the requests and
    settings of this package. A stream is passed on unchecked. No text may hold a NUL character,
    which no file name can have; where a text or a path is allowed, it must not be empty.

    Args:
        function: function whose annotations consist of classes, unions, literals, lists, tuples,
            mappings, functions and numbers with a range (``msgspec.Meta``).

    Returns:
        The function with the check before it; the check raises a `UsageError` that names the
        argument.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError as error:
            names = ", ".join(signature.parameters)
            raise TypeError(f"{function.__name__}() {error}; its arguments are {names}") from None
        hints = _hints(function)
        for name, value in arguments.items():
            _check(value, hints[name], name)
        return function(*args, **kwargs)

    return call


def collect_paths(several: Iterable[str | os.PathLike[str]], *, name: str) -> tuple[str, ...]:
    """Returns the paths in a list or stream.

    Args:
        several: the paths.
        name: name of the argument.

    Raises:
        UsageError: an item is no path.
    """
    paths = list(several)
    _check(paths, list[str | os.PathLike[str]], name)
    return tuple(os.fspath(path) for path in paths)


def to_path_list(paths: Paths, *, name: str = "files") -> tuple[str, ...]:
    """Returns the paths of an argument that may be one path or several; ``name`` is that of the
    argument.
    """
    return (
        (os.fspath(paths),)
        if isinstance(paths, str | os.PathLike)
        else collect_paths(paths, name=name)
    )


def check_argument(
    value: object, allowed: type | tuple[type, ...], *, name: str, means: str
) -> None:
    """Raises an error if an argument has another type.

    Args:
        value: the argument.
        allowed: allowed types.
        name: name of the argument.
        means: the allowed types in words.

    Raises:
        UsageError: it has another type.
    """
    if not isinstance(value, allowed):
        raise UsageError(f"{name} must be {means}; {_describe(value)} was given")


def check_optional(
    value: object, allowed: type | tuple[type, ...], *, name: str, means: str
) -> None:
    """Checks an argument as `check_argument` does; ``None`` is allowed too."""
    if value is not None:
        check_argument(value, allowed, name=name, means=f"{means}, or None")


def validate_documents(documents: Iterable[Any], *, name: str = "documents") -> Iterator[Document]:
    """Yields documents; refuses an argument that is no collection at once, and other items as they
    are read.

    Args:
        documents: a list or a stream.
        name: name of the argument.

    Raises:
        UsageError: ``documents`` is one document, a text, a mapping or no collection.
        InputError: an item is no document (raised during iteration).
    """
    if isinstance(documents, Document | str | bytes | Mapping) or not isinstance(
        documents, Iterable
    ):
        raise UsageError(
            f"{name} must be a list or stream of Document; {_describe(documents)} was given"
        )
    return _checked(documents, name)


def _checked(documents: Iterable[Any], name: str) -> Iterator[Document]:
    for number, document in enumerate(documents, start=1):
        if not isinstance(document, Document):
            raise InputError(
                f"{name} must hold Document objects; number {number:,} is {_describe(document)}: "
                "make one with Document(id=..., text=...)"
            )
        yield document


@cache
def _hints(owner: Any) -> Mapping[str, Any]:
    """Returns the annotations of the arguments of a function, or of the fields of a class."""
    if isinstance(owner, type):
        return get_type_hints(owner, include_extras=True)
    # The return type may be imported late.
    own = types.SimpleNamespace(__annotations__={**owner.__annotations__, "return": None})
    return get_type_hints(own, globalns=owner.__globals__, include_extras=True)


def _check(value: Any, hint: Any, name: str) -> None:
    """Raises an error if a value does not fit an annotation; then checks the fields of settings."""
    if not _fits(value, hint):
        wrong = _first_wrong(value, hint)
        argument = (
            f"{_describe(value)} was given"
            if wrong is None
            else f"{name}[{wrong}] is {_describe(value[wrong])}"
        )
        raise UsageError(f"{name} must be {_in_words(hint)}; {argument}")
    for part, element in (
        (name, value),
        *((f"{name}[{at}]", element) for at, element in _items(value)),
    ):
        kind: Any = type(element)
        settings = getattr(kind, "__dataclass_params__", None)
        if settings is not None and settings.frozen:
            hints = _hints(kind)
            for field in fields(element):
                _check(getattr(element, field.name), hints[field.name], f"{part}.{field.name}")


def _first_wrong(value: object, hint: Any) -> int | None:
    """Returns the index of the item that makes a list invalid; of several list types, for the
    best-fitting one.
    """
    several = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    lists = [hint for hint in several if get_origin(hint) in _LISTS]
    wrong = [
        next((at for at, item in _items(value) if not _fits(item, get_args(kind)[0])), None)
        for kind in lists
    ]
    return max((at for at in wrong if at is not None), default=None)


def _items(value: object) -> Iterator[tuple[int, Any]]:
    return enumerate(value) if isinstance(value, list | tuple) else iter(())


def _fits(value: object, hint: Any) -> bool:
    """True if a value has the type of an annotation; items of streams are not checked."""
    origin = get_origin(hint) or hint
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        empty = isinstance(value, str) and not value
        return not (empty and _names_a_file(hint)) and any(
            _fits(value, part) for part in get_args(hint)
        )
    if origin is Annotated:
        kind, *limits = get_args(hint)
        return _fits(value, kind) and all(
            _within(value, part) for part in limits if isinstance(part, msgspec.Meta)
        )
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in get_args(hint))
    if origin in _LISTS or origin in (Mapping, tuple):
        return _fits_items(value, origin, get_args(hint))
    if isinstance(value, bool):
        return origin is bool
    if isinstance(value, str):
        return origin is str and "\0" not in value
    return isinstance(value, (int, float) if origin is float else origin)


def _fits_items(value: Any, origin: Any, hints: tuple[Any, ...]) -> bool:
    """True if a value is a collection of a class, and its items have the types of annotations."""
    if not isinstance(value, origin):
        return False
    if origin is Mapping:
        return all(all(map(_fits, item, hints)) for item in value.items())
    if origin is tuple and hints[-1:] != (...,):
        return len(value) == len(hints) and all(map(_fits, value, hints))
    if origin is not tuple and isinstance(value, _NOT_LISTS):
        return False
    return not isinstance(value, Collection) or all(_fits(item, hints[0]) for item in value)


def _names_a_file(hint: Any) -> bool:
    kinds = {get_origin(part) or part for part in get_args(hint)}
    return str in kinds and not kinds.isdisjoint(_PATHS)


def _within(value: Any, limits: msgspec.Meta) -> bool:
    return not (
        (limits.ge is not None and value < limits.ge)
        or (limits.gt is not None and value <= limits.gt)
        or (limits.le is not None and value > limits.le)
        or (limits.min_length is not None and len(value) < limits.min_length)
    )


def _in_words(hint: Any) -> str:
    words = list(dict.fromkeys(_words(hint)))
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _words(hint: Any) -> Iterator[str]:
    """Yields the types that an annotation allows, in words; a list of types that may also stand
    alone appears once.
    """
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, types.UnionType):
        words = [word for part in inner if get_origin(part) not in _LISTS for word in _words(part)]
        if _names_a_file(hint):
            words = [
                "a name or path",
                *(word for word in words if word not in ("a str", "a path", "a Path")),
            ]
        yield from words
        for part in inner:
            if get_origin(part) in _LISTS:
                of = list(_words(get_args(part)[0]))
                yield (
                    "a list of these"
                    if len(of) > 1 and set(words) <= set(of)
                    else f"a list of {_plain(of)}"
                )
    elif origin is Annotated:
        yield _in_words(inner[0]) + "".join(
            _range(hint) for hint in inner[1:] if isinstance(hint, msgspec.Meta)
        )
    elif origin is Literal:
        yield from map(repr, inner)
    elif origin in _LISTS or origin is tuple:
        yield f"a list of {_plain(list(_words(inner[0])))}"
    elif origin is Mapping:
        yield f"a mapping to {_in_words(inner[1])}"
    elif origin is Callable:
        yield "a function"
    else:
        yield _WORDS.get(
            origin, f"{'an' if origin.__name__[0] in 'AEIOU' else 'a'} {origin.__name__}"
        )


def _range(limits: msgspec.Meta) -> str:
    least = (
        f" from {limits.ge}"
        if limits.ge is not None
        else f" above {limits.gt}"
        if limits.gt is not None
        else ""
    )
    most = f" to {limits.le}" if limits.le is not None else ""
    return f"{least}{most}{' that is not empty' if limits.min_length else ''}"


def _plain(words: Sequence[str]) -> str:
    return " or ".join(word.removeprefix("a ").removeprefix("an ") for word in words)


def _describe(value: object) -> str:
    """Returns a value and its type, shortened for a message."""
    if value is None:
        return "None"
    text = " ".join(repr(value).split())
    return f"{text[:_SHOWN]}{'...' if len(text) > _SHOWN else ''} ({type(value).__name__})"


@contextmanager
def time_limit(seconds: float, error: Exception) -> Iterator[None]:
    """Raises an error inside the block when it has used some seconds of processor time.

    The limit works only in the main thread of a process, and on systems with signals; elsewhere
    there is none. There is none either if another timer of this kind is already running. The
    matching of regular expressions checks for signals.

    Args:
        seconds: limit of processor time of this process, so that the result does not depend on the
            load of the machine.
        error: the error to raise.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
        or signal.getitimer(signal.ITIMER_VIRTUAL)[0]
    ):
        yield
        return

    def stop(number: int, frame: object) -> None:
        raise error

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before if before is not None else signal.SIG_DFL)
