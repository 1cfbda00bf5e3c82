"""File of named tokens: each has a role, and only its hash is kept."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.arguments import AnyPath
from fascicle.core.files.atomic import atomic_writer
from fascicle.core.files.temporary import lock
from fascicle.errors import InputError, OutputError, UsageError
from fascicle.settings.serving import NamedToken, Role, hash_token

_NAME: Final = re.compile(r"[\w.@+-](?:[\w.@+ -]{0,98}[\w.@+-])?")
_HASH: Final = re.compile(r"[0-9a-f]{64}")


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tokens: tuple[NamedToken, ...] = ()


def read_tokens(path: AnyPath) -> tuple[NamedToken, ...]:
    """Returns the tokens of a file.

    Raises:
        InputError: it cannot be read, or is another file.
    """
    try:
        tokens = msgspec.json.decode(Path(path).expanduser().read_bytes(), type=_File).tokens
    except OSError as error:
        raise InputError(
            f"the tokens cannot be read from {path} ({error.strerror})", file=str(path)
        ) from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(
            f"{path} is not a file of tokens; make one with `fascicle tokens add`",
            file=str(path),
            code="format",
        ) from None
    if not all(_NAME.fullmatch(token.name) and _HASH.fullmatch(token.hash) for token in tokens):
        raise InputError(
            f"{path} has a token without a name or a hash as `fascicle tokens add` makes them; "
            "make it again",
            file=str(path),
            code="format",
        )
    if len({token.name for token in tokens}) < len(tokens):
        raise InputError(
            f"{path} has two tokens of one name; withdraw one", file=str(path), code="format"
        )
    return tokens


def add_token(path: AnyPath, name: str, role: Role = "curator") -> str:
    """Makes a token, adds its hash to a file, which is made if there is none, and returns the
    token.

    Args:
        path: of the file; only its owner may read it.
        name: whose token it is: letters, digits, blanks and ``.@+-_``, 1 to 100 of them.
        role: what it allows.

    Raises:
        UsageError: a name that is not allowed, or that has a token already.
        InputError: the file cannot be read.
        OutputError: it cannot be written, or another command changes it.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"the name {name[:100]!r} is not allowed; give 1 to 100 letters, digits, blanks and "
            ".@+-_"
        )
    token = secrets.token_hex(32)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with _alone(path):
        tokens = read_tokens(path) if Path(path).expanduser().exists() else ()
        if name in {known_token.name for known_token in tokens}:
            raise UsageError(
                f"{name!r} has a token already; withdraw it first, or give another name"
            )
        _write(path, (*tokens, NamedToken(name=name, role=role, hash=hash_token(token), made=now)))
    return token


def withdraw_token(path: AnyPath, name: str) -> tuple[NamedToken, ...]:
    """Removes a token from a file; returns those that are left.

    Raises:
        UsageError: nobody of this name has a token.
        InputError: the file cannot be read.
        OutputError: it cannot be written, or another command changes it.
    """
    with _alone(path):
        tokens = read_tokens(path)
        rest = tuple(token for token in tokens if token.name != name)
        if len(rest) == len(tokens):
            names = ", ".join(token.name for token in tokens) or "nobody"
            raise UsageError(f"{name[:100]!r} has no token in {path}; {names} has one")
        _write(path, rest)
    return rest


@contextmanager
def _alone(path: AnyPath) -> Iterator[None]:
    """Keeps other commands from changing a file of tokens during the block, by a lock in a file
    beside it.

    Raises:
        OutputError: another command changes it, or no file can be made beside it.
    """
    place = Path(path).expanduser()
    beside = place.with_name(f".{place.name}.lock")
    try:
        stream = beside.open("ab")
    except OSError as error:
        raise OutputError(
            f"{beside} cannot be written ({error.strerror})", file=str(beside)
        ) from None
    with stream:
        refusal = OutputError(
            f"another command changes {path} now; give this one again", file=str(path)
        )
        lock(stream, refusal=refusal)
        yield


def _write(path: AnyPath, tokens: tuple[NamedToken, ...]) -> None:
    place = Path(path).expanduser()
    content = msgspec.json.format(msgspec.json.encode(_File(tokens=tokens)), indent=2)
    with atomic_writer(place, overwrite=True) as stream:
        with suppress(OSError, AttributeError):  # before the content is there
            os.fchmod(stream.fileno(), 0o600)
        stream.write(content + b"\n")
