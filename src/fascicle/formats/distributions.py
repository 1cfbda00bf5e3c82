"""Distributions files: the probabilities that a model gives to each gold mention, type by type,
without the text.

JSON Lines. The first line names the model, its types and the meaning of its numbers. Each line
after it is a mention, with the probabilities of none and of each type in the order of the first
line, or with the reason why it has none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import msgspec

from fascicle.core.files.atomic import open_output
from fascicle.core.files.source import Source, read_lines
from fascicle.core.mention import Fragments
from fascicle.errors import BROKEN, FormatError, InputError, Place, explain_errors

H = TypeVar("H", bound=msgspec.Struct)
SCHEMA: Final = 1
SUFFIXES: Final = (".jsonl", ".jsonl.gz")
# significant ones: small probabilities keep their size, for their logarithms are drawn
_DIGITS: Final = 6
_MAKE: Final = "make one with fascicle evaluate GOLD --model MODEL --distributions FILE"


def open_headed(
    path: str | Path,
    header: type[H],
    decoder: msgspec.json.Decoder[Any],
    *,
    check: Callable[[H], None],
    what: str,
    make: str,
) -> tuple[H, Iterator[tuple[int, str]]]:
    """Reads and parses the first line of a file.

    Args:
        path: of the file.
        header: class of the first line without the version of its schema.
        decoder: of the first line; the last field of its class is that version, by the name of such
            files.
        check: raises a ``ValueError`` for a header that is not allowed.
        what: name of such a file in messages, with its article.
        make: how to make such a file, for messages.

    Returns:
        The header, and the other lines with their numbers.

    Raises:
        InputError: the file cannot be read, or is empty.
        FormatError: the first line is not one of such a file.
    """
    numbered = read_lines(Source(path=str(path)))
    first = next(numbered, None)
    if first is None:
        raise InputError(f"{path} is empty; {make}", file=str(path), code="empty")
    try:
        parsed = decoder.decode(first[1])
        kind = parsed.__struct_fields__[-1]
        if (version := getattr(parsed, kind)) != SCHEMA:
            name = kind.removeprefix("fascicle_")
            message = f"{name} of schema {version}; this release reads schema {SCHEMA}"
            raise FormatError(message, at=str(path), code="version")
        check(parsed)
    except BROKEN as error:
        raise FormatError(f"{path} is not {what} ({error}); {make}", file=str(path)) from None
    return header(**{name: getattr(parsed, name) for name in header.__struct_fields__}), numbered


class DistributionsHeader(msgspec.Struct, frozen=True, kw_only=True):
    """Header of a file: facts that are the same for all mentions.

    Attributes:
        model: its name.
        family: of the head that answered.
        definition: what a probability is: ``"tag-path"``, ``"softmax"`` or ``"sigmoid"``, see
            ``decoding.kinds.Definition``.
        types: of the model, in the order of the probabilities.
    """

    model: str
    family: str
    definition: Literal["tag-path", "softmax", "sigmoid"]
    types: tuple[str, ...]


class MentionDistribution(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Gold mention with its probabilities.

    Attributes:
        document: its id.
        spans: of the mention, in characters.
        type: of the gold.
        found: whether the model predicted exactly this mention.
        probabilities: of none, then of each type; nothing where the model has no number for the
            span.
        unreachable: why it has none.
    """

    document: str
    spans: Fragments
    type: str
    found: bool
    probabilities: tuple[float, ...] = ()
    unreachable: str = ""


class _First(DistributionsHeader, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Header with the version of its schema, as it is stored in the file."""

    fascicle_distributions: int


_ENCODER: Final = msgspec.json.Encoder()
_FIRST: Final = msgspec.json.Decoder(_First)
_ENTRY: Final = msgspec.json.Decoder(MentionDistribution)


def write(
    path: str | Path,
    header: DistributionsHeader,
    entries: Iterable[MentionDistribution],
    *,
    overwrite: bool = False,
) -> None:
    """Writes a file; probabilities have six significant digits.

    Args:
        path: where; gzip if it ends with ``.gz``.
        header: the first line.
        entries: may be a stream.
        overwrite: replace an existing file.

    Raises:
        OutputError: the file exists, or the place cannot be written.
    """
    first = _First(fascicle_distributions=SCHEMA, **msgspec.structs.asdict(header))
    with open_output(path, overwrite=overwrite) as stream:
        stream.write(_ENCODER.encode(first) + b"\n")
        for entry in entries:
            short = tuple(float(f"{value:.{_DIGITS}g}") for value in entry.probabilities)
            stream.write(
                _ENCODER.encode(msgspec.structs.replace(entry, probabilities=short)) + b"\n"
            )


def read(path: str | Path) -> tuple[DistributionsHeader, Iterator[MentionDistribution]]:
    """Opens a file for reading.

    Returns:
        The header, and the mentions as a stream.

    Raises:
        InputError: it cannot be read, or is empty.
        FormatError: another kind of file, or (while streaming) a line that breaks the rules.
    """
    header, numbered = open_headed(
        path,
        DistributionsHeader,
        _FIRST,
        check=_check_header,
        what="a distributions file",
        make=_MAKE,
    )
    return header, _entries(numbered, path, header)


def _check_header(header: DistributionsHeader) -> None:
    if not header.types or len(set(header.types)) < len(header.types):
        raise ValueError("its types must be distinct, one at least")


def _entries(
    numbered: Iterator[tuple[int, str]], path: str | Path, header: DistributionsHeader
) -> Iterator[MentionDistribution]:
    for number, line in numbered:
        if not line.strip():
            continue
        with explain_errors("not a mention of a distributions file", at=Place(path, number)):
            entry = _ENTRY.decode(line)
            _check(entry, header)
        yield entry


def _check(entry: MentionDistribution, header: DistributionsHeader) -> None:
    """Raises an error for an entry that cannot be drawn."""
    if bool(entry.probabilities) == bool(entry.unreachable):
        raise ValueError(
            "a mention has probabilities, or a reason why it is unreachable, and not both"
        )
    if not entry.probabilities:
        return
    if len(entry.probabilities) != 1 + len(header.types):
        raise ValueError(
            f"{len(entry.probabilities)} probabilities; none and {len(header.types)} types need "
            "one each"
        )
    if not all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in entry.probabilities):
        raise ValueError("a probability is below 0 or above 1")
    if entry.type not in header.types:
        raise ValueError(f"its type {entry.type!r} is not one of the header")
