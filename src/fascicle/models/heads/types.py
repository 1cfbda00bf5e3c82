"""The vectors of entity types: states of an encoder that reads texts about them, or a learnt table.

Source: *binder* §2.1 and Table 5. Shapes: K types, N texts, P pieces of a text, d width of a state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from fascicle.core.arrays import Ints
from fascicle.core.wording import counted, has_letters
from fascicle.errors import RecipeError
from fascicle.models.encoder import Encoder
from fascicle.models.heads.contract import Basis
from fascicle.settings.heads import FEWEST_INSTANCES, BinderSettings
from fascicle.settings.types import Instance, TypeDescriptions, parse_instance
from fascicle.text.pieces import PieceTokenizer

_TOGETHER = 32  # types that are read at a time at inference, where any number may be given
_OPENING, _CLOSING = "[", "]"  # around the mention of an instance; no piece is added to the vocabulary


@dataclass(frozen=True, kw_only=True, eq=False)
class TypeTexts:
    """Texts about types as an encoder reads them, those of a type in a row.

    Attributes:
        ids: of the pieces, special tokens included, ``[N, P]``.
        mask: 1 where there is a piece, ``[N, P]``.
        place: position of the state that stands for the text, ``[N]``.
        counts: texts of each type, ``[K]``.
        at_rest: how many of them, the first ones, are read at inference; their vectors are averaged.
    """

    ids: Ints
    mask: Ints
    place: Ints
    counts: Ints
    at_rest: int = 1


@dataclass(frozen=True, kw_only=True)
class _Written:
    """One text: whose it is, what it is called in messages, and where its mark stands (-1 for none)."""

    type: str
    what: str
    text: str
    mark: int = -1


def type_texts(settings: BinderSettings, basis: Basis) -> TypeTexts:
    """Tokenises what stands for the types.

    Args:
        settings: of the head; ``type_view`` says what is read.
        basis: with an encoder and its tokenizer, and descriptions of exactly its types where the view needs them.

    Raises:
        RecipeError: a type lacks what the view needs, or its text has nothing that the encoder reads, or no word that
            it knows, or more than it reads at a time, or the encoder cannot tell it from that of another type.
    """
    if basis.encoder is None or basis.tokenizer is None:
        raise ValueError("texts about types need an encoder and its tokenizer")
    written = list(_written(settings, basis))
    tokenizer, longest = basis.tokenizer, basis.encoder.longest
    rows, places = [], []
    for text, (ids, spans) in zip(written, tokenizer.encode([w.text for w in written]), strict=True):
        row = [*tokenizer.prefix, *ids.tolist(), *tokenizer.suffix]
        if not len(ids):
            raise RecipeError(f"{text.what} has nothing that {basis.encoder.origin} reads: write it in words")
        if len(row) > longest:
            raise RecipeError(
                f"{text.what} has {counted(len(row), 'piece')} with special tokens, but {basis.encoder.origin} "
                f"reads {longest}: shorten it"
            )
        place = len(tokenizer.prefix) + _piece_at(text, spans) if text.mark >= 0 else 0
        if _knows_no_word(text, ids, spans, unknown=tokenizer.unknown):
            raise RecipeError(
                f"{text.what} has no word that {basis.encoder.origin} knows: say it in words that it does"
            )
        rows.append(row)
        places.append(place)
    _refuse_twins(written, rows, origin=basis.encoder.origin)
    return TypeTexts(
        **_padded(rows, tokenizer),
        place=np.array(places, dtype=np.int64),
        counts=np.array([sum(w.type == name for w in written) for name in basis.types], dtype=np.int64),
        at_rest=FEWEST_INSTANCES if settings.type_view == "instances" else 1,
    )


class TypeEncoder(nn.Module):
    """Texts -> one vector a type, by the encoder of the text itself or by one of its own.

    An encoder that is shared belongs to the model: here it is no submodule, or its tensors would be there twice.
    """

    ids: Tensor
    mask: Tensor
    place: Tensor

    def __init__(self, texts: TypeTexts, encoder: Encoder, *, own: bool, mean: bool) -> None:
        """Takes the texts.

        Args:
            texts: at least one a type.
            encoder: of the model.
            own: read with a copy of it, which is trained for itself.
            mean: the vector of a text is the mean over its pieces, not one state.
        """
        super().__init__()
        self.own = deepcopy(encoder) if own else None
        self._shared = (encoder,)  # a tuple, which torch does not look into
        self._mean = mean
        self.read(texts)

    def read(self, texts: TypeTexts) -> None:
        """Takes texts, in place of those that were there, also of other types."""
        self._counts, self._at_rest = torch.from_numpy(texts.counts), texts.at_rest
        for name in ("ids", "mask", "place"):
            self.register_buffer(name, torch.from_numpy(getattr(texts, name)), persistent=False)

    @property
    def encoder(self) -> Encoder:
        """What reads the texts."""
        return self.own or self._shared[0]

    def forward(self) -> Tensor:
        """One vector a type, ``[K, d]``; in training of one of its texts, drawn by torch's generator."""
        if self.training:
            return self._read(self._drawn())
        return torch.cat([self._read(rows) for rows in torch.split(self._first(), _TOGETHER)])

    def _read(self, rows: Tensor) -> Tensor:
        """One vector for each row of texts, the mean over it, ``[rows, d]``."""
        ids, mask, place = (t[rows.flatten().to(t.device)] for t in (self.ids, self.mask, self.place))
        states = self.encoder(ids, mask)
        if self._mean:
            weights = mask.unsqueeze(2).to(torch.float32)
            found = (states.float() * weights).sum(1) / weights.sum(1)
        else:
            found = states[torch.arange(len(place), device=place.device), place]
        return found.unflatten(0, rows.shape).mean(1)

    def _drawn(self) -> Tensor:
        """A text of each type, ``[K, 1]``."""
        share = torch.rand(len(self._counts)) if self._counts.max() > 1 else torch.zeros(len(self._counts))
        return (self._starts() + (share * self._counts).long()).unsqueeze(1)

    def _first(self) -> Tensor:
        """The texts of each type that are read at inference, ``[K, at_rest]``."""
        return self._starts().unsqueeze(1) + torch.arange(self._at_rest)

    def _starts(self) -> Tensor:
        return self._counts.cumsum(0) - self._counts


class AtomicTypes(nn.Module):
    """A learnt vector a type: nothing is read."""

    def __init__(self, count: int, width: int) -> None:
        """Draws them from N(0, 0.02²).

        Args:
            count: K.
            width: d.
        """
        super().__init__()
        self.table = nn.Parameter(torch.empty(count, width))
        nn.init.normal_(self.table, std=0.02)

    def forward(self) -> Tensor:
        """``[K, d]``."""
        return self.table


def make_types(settings: BinderSettings, basis: Basis) -> TypeEncoder | AtomicTypes:
    """What gives the vectors of the types.

    Args:
        settings: of the head.
        basis: see ``type_texts``.

    Raises:
        RecipeError: see ``type_texts``.
    """
    if settings.type_view == "atomic":
        return AtomicTypes(len(basis.types), basis.width)
    texts = type_texts(settings, basis)
    assert basis.encoder is not None  # type_texts has refused that
    return TypeEncoder(texts, basis.encoder, own=settings.type_encoder == "own", mean=settings.type_pool == "mean")


def _written(settings: BinderSettings, basis: Basis) -> Iterator[_Written]:
    view = settings.type_view
    if view == "name":
        for name in basis.types:
            yield _Written(type=name, what=f"the name of the type {name!r}", text=name.replace("_", " "))
        return
    described = _of_types(basis)
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


def _of_types(basis: Basis) -> TypeDescriptions:
    if basis.descriptions is None or list(basis.descriptions.names) != list(basis.types):
        raise ValueError("the descriptions are not those of the types")
    return basis.descriptions


def _marked(instance: Instance) -> tuple[str, int]:
    """The sentence with marks around its mention, apart from other words; and the place of the first mark."""
    before, after = instance.text[: instance.start], instance.text[instance.end :]
    opening = f"{'' if not before or before[-1].isspace() else ' '}{_OPENING} "
    closing = f" {_CLOSING}{'' if not after or after[0].isspace() else ' '}"
    return instance.marked(opening, closing), len(before) + opening.index(_OPENING)


def _piece_at(text: _Written, spans: Ints) -> int:
    """The piece that holds the mark."""
    found = np.flatnonzero((spans[:, 0] <= text.mark) & (text.mark < spans[:, 1]))
    if not len(found):
        raise RecipeError(f"the tokenizer drops the mark {_OPENING} in {text.what}: choose another type_view")
    return int(found[0])


def _knows_no_word(text: _Written, ids: Ints, spans: Ints, *, unknown: int | None) -> bool:
    """Whether every piece with a letter or a digit is the unknown one; signs, and so marks, say nothing of a type."""
    said = [has_letters(text.text[start:end]) for start, end in spans.tolist()]
    return unknown is not None and any(said) and bool((ids[said] == unknown).all())


def _refuse_twins(written: Sequence[_Written], rows: Sequence[Sequence[int]], *, origin: str) -> None:
    """Two types that an encoder reads as the same pieces would get the same vector."""
    seen: dict[tuple[int, ...], _Written] = {}
    for text, row in zip(written, rows, strict=True):
        other = seen.setdefault(tuple(row), text)
        if other.type != text.type:
            raise RecipeError(
                f"{other.what} and {text.what} are the same pieces to {origin}, which could not tell the types apart: "
                "say what belongs to each in other words"
            )


def _padded(rows: Sequence[Sequence[int]], tokenizer: PieceTokenizer) -> dict[str, Ints]:
    length = max(map(len, rows))
    ids = np.full((len(rows), length), tokenizer.pad, dtype=np.int64)
    mask = np.zeros((len(rows), length), dtype=np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)], mask[number, : len(row)] = row, 1
    return {"ids": ids, "mask": mask}
