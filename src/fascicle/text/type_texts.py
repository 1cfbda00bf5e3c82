"""Tokenised texts about entity types (names, descriptions, examples), which an encoder turns into type vectors.

Source: *binder* §2.1 and Table 5. Shapes: K types, N texts, P pieces of a text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fascicle.core.arrays import Ints
from fascicle.core.wording import counted, has_letters
from fascicle.errors import RecipeError
from fascicle.settings.heads import FEWEST_INSTANCES, BinderSettings
from fascicle.settings.types import Instance, TypeDescriptions, parse_instance
from fascicle.text.marked import pad_marked
from fascicle.text.pieces import PieceTokenizer

_OPENING, _CLOSING = "[", "]"  # around the mention of an instance; no piece is added to the vocabulary


@dataclass(frozen=True, kw_only=True, eq=False)
class TypeReader:
    """Tokenizer and limits of the encoder of texts about types.

    Attributes:
        tokenizer: tokenizer of the encoder.
        longest: most pieces of a text, special tokens included.
        origin: name of the encoder, for messages.
    """

    tokenizer: PieceTokenizer
    longest: int
    origin: str


@dataclass(frozen=True, kw_only=True, eq=False)
class TypeTexts:
    """Tokenised texts about types, grouped by type.

    Attributes:
        ids: ids of the pieces, special tokens included, ``[N, P]``.
        mask: 1 where there is a piece, ``[N, P]``.
        place: position of the state that represents the text, ``[N]``.
        counts: number of texts of each type, ``[K]``.
        at_rest: number of texts per type, the first ones, that are used at inference; their vectors are averaged.
    """

    ids: Ints
    mask: Ints
    place: Ints
    counts: Ints
    at_rest: int = 1


@dataclass(frozen=True, kw_only=True)
class _Written:
    """One text: its type, its description for messages, and the position of its mark (-1 for none)."""

    type: str
    what: str
    text: str
    mark: int = -1


def type_texts(
    settings: BinderSettings, types: Sequence[str], descriptions: TypeDescriptions | None, *, reader: TypeReader
) -> TypeTexts:
    """Tokenises the texts about the types.

    Args:
        settings: settings of the head; ``type_view`` selects the kind of text.
        types: names of the types, in order.
        descriptions: descriptions of exactly these types, if the view needs them.
        reader: tokenizer and limits.

    Raises:
        RecipeError: a type lacks the text that the view needs, or its text has no piece, no known word, or too many
            pieces, or the same pieces as the text of another type.
    """
    written = list(_written(settings, types, descriptions))
    tokenizer, longest = reader.tokenizer, reader.longest
    rows, places = [], []
    for text, (ids, spans) in zip(written, tokenizer.encode([w.text for w in written]), strict=True):
        row = [*tokenizer.prefix, *ids.tolist(), *tokenizer.suffix]
        if not len(ids):
            raise RecipeError(f"{text.what} has nothing that {reader.origin} reads: write it in words")
        if len(row) > longest:
            raise RecipeError(
                f"{text.what} has {counted(len(row), 'piece')} with special tokens, but {reader.origin} "
                f"reads {longest}: shorten it"
            )
        place = len(tokenizer.prefix) + _piece_at(text, spans) if text.mark >= 0 else 0
        if _knows_no_word(text, ids, spans, unknown=tokenizer.unknown):
            raise RecipeError(f"{text.what} has no word that {reader.origin} knows: say it in words that it does")
        rows.append(row)
        places.append(place)
    _refuse_twins(written, rows, origin=reader.origin)
    padded = pad_marked(rows, pad=tokenizer.pad)
    return TypeTexts(
        ids=padded["input_ids"],
        mask=padded["attention_mask"],
        place=np.array(places, dtype=np.int64),
        counts=np.array([sum(w.type == name for w in written) for name in types], dtype=np.int64),
        at_rest=FEWEST_INSTANCES if settings.type_view == "instances" else 1,
    )


def _written(
    settings: BinderSettings, types: Sequence[str], descriptions: TypeDescriptions | None
) -> Iterator[_Written]:
    view = settings.type_view
    if view == "name":
        for name in types:
            yield _Written(type=name, what=f"the name of the type {name!r}", text=name.replace("_", " "))
        return
    described = _of_types(types, descriptions)
    if view == "instances":
        described.instances(FEWEST_INSTANCES)  # refuses types with fewer
        for one in described.types:
            for example in one.examples:
                text, mark = _marked(parse_instance(example))
                yield _Written(type=one.name, what=f"an example of {one.name!r}", text=text, mark=mark)
        return
    texts = described.texts("guideline" if view == "description" else "keyword")
    for name, text in zip(described.names, texts, strict=True):
        yield _Written(type=name, what=f"the {view} of {name!r}", text=text)


def _of_types(types: Sequence[str], descriptions: TypeDescriptions | None) -> TypeDescriptions:
    if descriptions is None or list(descriptions.names) != list(types):
        raise ValueError("the descriptions are not those of the types")
    return descriptions


def _marked(instance: Instance) -> tuple[str, int]:
    """Returns the sentence with marks around its mention, separated by blanks, and the position of the first mark."""
    before, after = instance.text[: instance.start], instance.text[instance.end :]
    opening = f"{'' if not before or before[-1].isspace() else ' '}{_OPENING} "
    closing = f" {_CLOSING}{'' if not after or after[0].isspace() else ' '}"
    return instance.marked(opening, closing), len(before) + opening.index(_OPENING)


def _piece_at(text: _Written, spans: Ints) -> int:
    """Returns the index of the piece that contains the mark."""
    found = np.flatnonzero((spans[:, 0] <= text.mark) & (text.mark < spans[:, 1]))
    if not len(found):
        raise RecipeError(f"the tokenizer drops the mark {_OPENING} in {text.what}: choose another type_view")
    return int(found[0])


def _knows_no_word(text: _Written, ids: Ints, spans: Ints, *, unknown: int | None) -> bool:
    """True if every piece with a letter or a digit is the unknown one; signs, and so marks, do not count."""
    said = [has_letters(text.text[start:end]) for start, end in spans.tolist()]
    return unknown is not None and any(said) and bool((ids[said] == unknown).all())


def _refuse_twins(written: Sequence[_Written], rows: Sequence[Sequence[int]], *, origin: str) -> None:
    """Raises an error for two types with the same pieces, which would get the same vector."""
    seen: dict[tuple[int, ...], _Written] = {}
    for text, row in zip(written, rows, strict=True):
        other = seen.setdefault(tuple(row), text)
        if other.type != text.type:
            raise RecipeError(
                f"{other.what} and {text.what} are the same pieces to {origin}, which could not tell the types apart: "
                "say what belongs to each in other words"
            )
