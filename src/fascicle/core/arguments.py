"""Arguments of the wrong type: one sentence in place of an error from deep inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.errors import InputError, UsageError

_SHOWN: Final = 40


def check_argument(value: object, allowed: type | tuple[type, ...], *, name: str, means: str) -> None:
    """Refuses an argument of another type.

    Args:
        value: what was given.
        allowed: types that it may have.
        name: of the argument.
        means: what it must be, in words.

    Raises:
        UsageError: it has another type.
    """
    if not isinstance(value, allowed):
        raise UsageError(f"{name} must be {means}; {_shown(value)} was given")


def check_optional(value: object, allowed: type | tuple[type, ...], *, name: str, means: str) -> None:
    """As `check_argument`; ``None`` is allowed too."""
    if value is not None:
        check_argument(value, allowed, name=name, means=f"{means}, or None")


def checked_documents(documents: Iterable[Any], *, name: str = "documents") -> Iterator[Document]:
    """Passes documents on; at once refuses what cannot be a collection of them, and each other thing when it comes.

    Args:
        documents: may be a stream.
        name: of the argument.

    Raises:
        UsageError: one document, a text or a mapping in place of a collection, or what is no collection.
        InputError: one of them is no document (while the iterator runs).
    """
    if isinstance(documents, Document | str | bytes | Mapping) or not isinstance(documents, Iterable):
        raise UsageError(f"{name} must be a list or stream of Document; {_shown(documents)} was given")
    return _checked(documents, name)


def _checked(documents: Iterable[Any], name: str) -> Iterator[Document]:
    for number, document in enumerate(documents, start=1):
        if not isinstance(document, Document):
            raise InputError(
                f"{name} must hold Document objects; number {number:,} is {_shown(document)}: make one with "
                "Document(id=..., text=...)"
            )
        yield document


def _shown(value: object) -> str:
    """A value and its type, short enough for a sentence."""
    if value is None:
        return "None"
    text = " ".join(repr(value).split())
    return f"{text[:_SHOWN]}{'...' if len(text) > _SHOWN else ''} ({type(value).__name__})"
