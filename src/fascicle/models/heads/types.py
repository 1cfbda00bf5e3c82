"""The vectors of entity types: states of an encoder that reads texts about them, or a learnt table.

Source: *binder* §2.1 and Table 5. Shapes: K types, N texts, P pieces of a text, d width of a state.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor, nn

from fascicle.models.encoder import Encoder
from fascicle.models.heads.contract import Basis
from fascicle.settings.heads import BinderSettings
from fascicle.text.type_texts import TypeReader, TypeTexts, type_texts

_TOGETHER = 32  # types that are read at a time at inference, where any number may be given


def texts_of(settings: BinderSettings, basis: Basis) -> TypeTexts:
    """What stands for the types of a head, in the pieces of its encoder.

    Args:
        settings: of the head.
        basis: with an encoder and its tokenizer, and descriptions of exactly its types where the view needs them.

    Raises:
        RecipeError: see ``text.type_texts``.
    """
    if basis.encoder is None or basis.tokenizer is None:
        raise ValueError("texts about types need an encoder and its tokenizer")
    reader = TypeReader(tokenizer=basis.tokenizer, longest=basis.encoder.longest, origin=basis.encoder.origin)
    return type_texts(settings, basis.types, basis.descriptions, reader=reader)


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
        self.mean = mean
        self.read(texts)

    def read(self, texts: TypeTexts) -> None:
        """Takes texts, in place of those that were there, also of other types."""
        self._counts, self._at_rest = torch.from_numpy(texts.counts), texts.at_rest
        for name in ("ids", "mask", "place"):
            self.register_buffer(name, torch.from_numpy(getattr(texts, name)), persistent=False)

    @property
    def each(self) -> int:
        """Texts of a type that are read at inference."""
        return self._at_rest

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
        return self.read_together(ids, mask, place, each=rows.shape[1])

    def read_together(self, ids: Tensor, mask: Tensor, place: Tensor | None, *, each: int) -> Tensor:
        """One vector for every so many texts, the mean over them.

        Args:
            ids: of the pieces, ``[N, P]``.
            mask: 1 where there is a piece, ``[N, P]``.
            place: of the state that stands for each text, ``[N]``; a mean needs none.
            each: texts of one type.

        Returns:
            ``[N / each, d]``.
        """
        states = self.encoder(ids, mask)
        if self.mean or place is None:
            weights = mask.unsqueeze(2).to(torch.float32)
            found = (states.float() * weights).sum(1) / weights.sum(1)
        else:
            found = states.gather(1, place[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)
        return found.reshape(-1, each, found.shape[1]).mean(1)

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
        basis: see ``texts_of``.

    Raises:
        RecipeError: see ``texts_of``.
    """
    if settings.type_view == "atomic":
        return AtomicTypes(len(basis.types), basis.width)
    texts = texts_of(settings, basis)
    assert basis.encoder is not None  # texts_of has refused that
    return TypeEncoder(texts, basis.encoder, own=settings.type_encoder == "own", mean=settings.type_pool == "mean")
