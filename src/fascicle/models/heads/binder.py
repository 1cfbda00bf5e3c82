"""Bi-encoder head: compares spans of the text with vectors of the entity types.

Source: *binder*; ``models/nn/contrast.py`` has the scores and the loss, and `match_spans` in
``runtime/decoding/spans.py`` compares scores with thresholds. Shapes: B windows, T
    pieces, U units, K types, L the width, G gold, d width of a state, h of a projection.

The type vectors are states of an encoder that reads texts about the types, or a learnt table.

Source: *binder* §2.1 and Table 5. Shapes: K types, N texts, P pieces of a text, d width of a state.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fascicle.core.arrays import Ints, int_array
from fascicle.models.encoder import Encoder
from fascicle.models.heads.contract import Basis, Head, evaluation_mode
from fascicle.models.nn.contrast import (
    ContrastForm,
    ContrastiveScorer,
    LossWeights,
    TextStates,
    contrastive_loss,
)
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.runtime.decoding.kinds import head_limits
from fascicle.settings.heads import BinderSettings
from fascicle.text.marked import TypeTexts, TypeTokenizer, tokenise_types
from fascicle.text.targets import NONE_UNKNOWN, UNKNOWN, spans_in_window
from fascicle.text.windows import TYPE_VECTORS, Window

_TOGETHER = 32  # types that are read at a time at inference, where any number may be given
_AXES = {
    "starts": ("batch", "units", ""),
    "ends": ("batch", "units", ""),
    "spans": ("batch", "units", "", ""),
    "start_threshold": ("batch", ""),
    "end_threshold": ("batch", ""),
    "span_threshold": ("batch", ""),
}


def tokenise_type_texts(settings: BinderSettings, basis: Basis) -> TypeTexts:
    """Returns the texts that describe the types of a head, as pieces of its encoder.

    Args:
        settings: of the head.
        basis: with an encoder and its tokenizer, and descriptions of exactly its types where the
            view needs them.

    Raises:
        RecipeError: see ``text.marked.tokenise_types``.
    """
    if basis.encoder is None or basis.tokenizer is None:
        raise ValueError("texts about types need an encoder and its tokenizer")
    reader = TypeTokenizer(
        tokenizer=basis.tokenizer, longest=basis.encoder.longest, origin=basis.encoder.origin
    )
    return tokenise_types(settings, basis.types, basis.descriptions, reader=reader)


class TypeEncoder(nn.Module):
    """Encoder of types: texts -> one vector a type, by the text encoder of the model or by an own
    copy of it.

    A shared encoder belongs to the model. It is no submodule here, because its tensors would then
    be saved twice.
    """

    ids: Tensor
    mask: Tensor
    place: Tensor

    def __init__(self, texts: TypeTexts, encoder: Encoder, *, own: bool, mean: bool) -> None:
        """Takes the texts.

        Args:
            texts: at least one a type.
            encoder: of the model.
            own: use a copy of the encoder, which is trained separately.
            mean: the vector of a text is the mean over its pieces, not one state.
        """
        super().__init__()
        self.own = deepcopy(encoder) if own else None
        self._shared = (encoder,)  # a tuple, so that torch does not register the module
        self.mean = mean
        self.read(texts)

    def read(self, texts: TypeTexts) -> None:
        """Replaces the texts, also by texts of other types."""
        self._counts, self._at_rest = torch.from_numpy(texts.counts), texts.at_rest
        for name in ("ids", "mask", "place"):
            self.register_buffer(name, torch.from_numpy(getattr(texts, name)), persistent=False)

    @property
    def each(self) -> int:
        """Number of texts of a type that are read at inference."""
        return self._at_rest

    @property
    def encoder(self) -> Encoder:
        """Encoder that reads the texts."""
        return self.own or self._shared[0]

    def forward(self) -> Tensor:
        """Returns one vector a type, ``[K, d]``; in training, of one text drawn by torch's
        generator.
        """
        if self.training:
            return self._encode_rows(self._drawn())
        return torch.cat(
            [self._encode_rows(rows) for rows in torch.split(self._first(), _TOGETHER)]
        )

    def _encode_rows(self, rows: Tensor) -> Tensor:
        """Returns one vector for each row of texts: the mean over the row, ``[rows, d]``."""
        ids, mask, place = (
            t[rows.flatten().to(t.device)] for t in (self.ids, self.mask, self.place)
        )
        return self.read_together(ids, mask, place, each=rows.shape[1])

    def read_together(
        self, ids: Tensor, mask: Tensor, place: Tensor | None, *, each: int
    ) -> Tensor:
        """Returns one vector for each group of ``each`` texts: the mean over the group.

        Args:
            ids: of the pieces, ``[N, P]``.
            mask: 1 where there is a piece, ``[N, P]``.
            place: position of the state that represents each text, ``[N]``; not needed for a mean.
            each: texts of one type.

        Returns:
            ``[N / each, d]``.
        """
        states = self.encoder(ids, mask)
        if self.mean or place is None:
            weights = mask.unsqueeze(2).to(torch.float32)
            vectors = (states.float() * weights).sum(1) / weights.sum(1)
        else:
            vectors = states.gather(1, place[:, None, None].expand(-1, 1, states.shape[2])).squeeze(
                1
            )
        return vectors.reshape(-1, each, vectors.shape[1]).mean(1)

    def _drawn(self) -> Tensor:
        """Draws the index of one text of each type, ``[K, 1]``."""
        share = (
            torch.rand(len(self._counts))
            if self._counts.max() > 1
            else torch.zeros(len(self._counts))
        )
        return (self._starts() + (share * self._counts).long()).unsqueeze(1)

    def _first(self) -> Tensor:
        """Returns the indices of the texts of each type that are read at inference, ``[K,
        at_rest]``.
        """
        return self._starts().unsqueeze(1) + torch.arange(self._at_rest)

    def _starts(self) -> Tensor:
        return self._counts.cumsum(0) - self._counts


class AtomicTypes(nn.Module):
    """Table of one learnt vector a type; no text is read."""

    def __init__(self, count: int, width: int) -> None:
        """Draws the vectors from N(0, 0.02²).

        Args:
            count: K.
            width: d.
        """
        super().__init__()
        self.table = nn.Parameter(torch.empty(count, width))
        nn.init.normal_(self.table, std=0.02)

    def forward(self) -> Tensor:
        """Returns the vectors, ``[K, d]``."""
        return self.table


def make_types(settings: BinderSettings, basis: Basis) -> TypeEncoder | AtomicTypes:
    """Builds the module that gives the vectors of the types.

    Args:
        settings: of the head.
        basis: see ``tokenise_type_texts``.

    Raises:
        RecipeError: see ``tokenise_type_texts``.
    """
    if settings.type_view == "atomic":
        return AtomicTypes(len(basis.types), basis.width)
    texts = tokenise_type_texts(settings, basis)
    assert basis.encoder is not None  # texts_of has refused this case
    return TypeEncoder(
        texts, basis.encoder, own=settings.type_encoder == "own", mean=settings.type_pool == "mean"
    )


class BinderHead(Head):
    """Bi-encoder head: a mention is a span whose scaled cosine with a type exceeds the threshold of
    the type.

    The score of a mention is the logistic function of the score of its span less the threshold. In
    training mode the types are read in every step and the scores are those of all spans, for the
    loss; in evaluation mode the vectors of the types are kept, in the buffer ``vectors``, from the
    first batch until training mode, ``look_for`` or ``forget``.
    """

    vectors: Tensor

    def __init__(self, settings: BinderSettings, basis: Basis) -> None:
        """Builds the layers.

        Args:
            settings: of the head.
            basis: inputs of the head; with encoder and tokenizer, unless a type is a learnt vector.

        Raises:
            RecipeError: the encoder cannot read the text that describes a type.
        """
        super().__init__(settings)
        self.settings = settings
        self.limits = head_limits(settings)
        form = ContrastForm(
            hidden=settings.hidden,
            width_embedding=settings.width_embedding,
            dropout=settings.dropout,
            shared=settings.shared,
            positions=settings.positions,
            thresholds="dev" if settings.thresholds == "dev-by-type" else settings.thresholds,
        )
        self.scorer = ContrastiveScorer(form, width=basis.width, types=len(basis.types))
        self.types = make_types(settings, basis)
        joint = settings.inference == "joint"
        self.axes = {
            name: _AXES[name] for name in self.scorer.outputs if joint or name.startswith("span")
        }
        self._weights = _loss_weights(settings)
        self._is_current = False  # whether ``vectors`` are those of the weights
        self.register_buffer(
            "vectors", torch.zeros(len(self.scorer.kinds), len(basis.types), settings.hidden)
        )
        self.register_state_dict_pre_hook(_before_saving)  # type: ignore[no-untyped-call]
        self.register_load_state_dict_post_hook(_after_loading)  # type: ignore[no-untyped-call]

    @property
    def inputs(self) -> tuple[str, ...]:
        """See ``Head``."""
        return (*self._ends, *self.units.looked_up)

    @property
    def _ends(self) -> tuple[str, ...]:
        """Names of the arrays of the first and last piece of a unit; for pieces as units both
        are the piece itself.
        """
        return ("first_piece",) if self.level == "piece" else ("first_piece", "last_piece")

    def gold(self, spans: Ints, *, units: int, unknown: Ints = NONE_UNKNOWN) -> Ints:
        """Returns the spans, and unknown ranges as spans of the type ``UNKNOWN``, ``[m + r, 3]``.

        Args:
            spans: as in ``Head``.
            units: as in ``Head``.
            unknown: ranges of units about which nothing is known, ``[r, 2]``: a span that overlaps
                one is no negative.
        """
        return np.concatenate([spans, np.insert(unknown, 2, UNKNOWN, axis=1)])

    def without(self, gold: Ints, types: Sequence[int]) -> Ints:
        """Adds for each type a row over the whole document, with the type ``UNKNOWN`` less 1 and
        the index.
        """
        whole = [(0, np.iinfo(np.int32).max, UNKNOWN - 1 - kind) for kind in types]
        return np.concatenate([gold, int_array(whole).reshape(-1, 3)])

    def targets(
        self, gold: Sequence[Ints], windows: Sequence[Window], *, chance: np.random.Generator
    ) -> Ints:
        """Returns window, first unit, last unit and type of the gold that lies in each window,
        ``[G, 4]``.

        Neighbouring windows of one text may share gold. The parts of unknown ranges in a window are
        further rows, with the type ``UNKNOWN``, and so are types that are not annotated in it, see
        ``without``.
        """
        pairs = zip(gold, windows, strict=True)
        rows = [
            np.insert(spans_in_window(spans, window), 0, row, axis=1)
            for row, (spans, window) in enumerate(pairs)
        ]
        table = np.concatenate([np.zeros((0, 4), dtype=np.int64), *rows])
        table[:, 2] -= 1
        return table

    def scores(self, states: Tensor, batch: Tensors) -> TensorDict:
        """Returns the tables of ``outputs`` in evaluation mode, see ``nn.contrast``, or those of
        the loss in training.

        In evaluation mode a batch may bring the vectors of the types, as ``TYPE_VECTORS``, in place
        of its own.
        """
        text = self._text(states, batch)
        if self.training:
            return self.scorer.grid(
                text, self.scorer.project_types(self.types()), counts=batch["unit_count"]
            )
        vectors = batch[TYPE_VECTORS] if TYPE_VECTORS in batch else self._vectors()
        types = {kind: vectors[at] for at, kind in enumerate(self.scorer.kinds)}
        width = self.settings.width
        tables = self.scorer(text, types, longest=width, pieces=width)
        return {name: tables[name] for name in self.outputs}

    def loss(self, scores: Tensors, targets: Tensor) -> Tensor:
        """Returns the contrastive loss over all spans, of scores in training mode; arguments as
        in ``Head``.
        """
        kind = targets[:, 3]
        unknown, masked, gold = (
            targets[kind == UNKNOWN],
            targets[kind < UNKNOWN],
            targets[kind > UNKNOWN],
        )
        if len(unknown):
            scores = _exclude_unknown(scores, unknown, gold)
        if not len(masked):
            return contrastive_loss(scores, gold, weights=self._weights)
        annotated = torch.ones(scores["spans"].shape[:2], dtype=torch.bool, device=targets.device)
        annotated[masked[:, 0], UNKNOWN - 1 - masked[:, 3]] = False
        return contrastive_loss(scores, gold, weights=self._weights, annotated=annotated)

    def look_for(self, basis: Basis) -> None:
        """See ``Head``; learnt vectors and learnt thresholds are weights."""
        if not isinstance(self.types, TypeEncoder) or self.scorer.thresholds is not None:
            super().look_for(basis)  # raises the error
            return
        self.types.read(tokenise_type_texts(self.settings, basis))
        self.types.to(self.vectors.device)
        self.vectors = self.vectors.new_zeros(
            len(self.scorer.kinds), len(basis.types), self.settings.hidden
        )
        self.forget()

    def forget(self) -> None:
        """See ``Head``."""
        self._is_current = False

    def _text(self, states: Tensor, batch: Tensors) -> TextStates:
        first, last = (batch[self._ends[at]] for at in (0, -1))
        starts = self.units.pooling(states, first_piece=first)
        ends = starts if self.level == "piece" else self.units.pooling(states, first_piece=last)
        if self.units.vectors is not None:
            features = self.units.feature_vectors(batch)
            starts, ends = starts + features, ends + features
        return TextStates(
            starts=starts, ends=ends, whole=states[:, 0], first_piece=first, last_piece=last
        )

    def _vectors(self) -> Tensor:
        """Returns the vectors of the types, ``[kinds, K, h]``; computes them again unless they
        are kept.
        """
        if not self._is_current:
            if torch.onnx.is_in_onnx_export():
                raise RuntimeError(
                    "the vectors of the types would be traced: score a batch, or load the model, "
                    "first"
                )
            self._make()
            self._is_current = not self.training
        return self.vectors

    @torch.no_grad()
    def _make(self) -> None:
        """Computes the vectors of the types without dropout, in full precision."""
        encoder = [self.types.encoder] if isinstance(self.types, TypeEncoder) else []
        device = self.vectors.device.type
        with evaluation_mode(self, *encoder), torch.autocast(device, enabled=False):
            projected = self.scorer.project_types(self.types())
        self.vectors.copy_(torch.stack([projected[kind] for kind in self.scorer.kinds]))

    def train(self, mode: bool = True) -> BinderHead:
        """Sets the mode; a call for training mode drops the kept vectors."""
        if mode:
            self.forget()
        super().train(mode)
        return self


def _loss_weights(settings: BinderSettings) -> LossWeights:
    positions = settings.positions
    return LossWeights(
        start=settings.start_weight if positions else 0.0,
        end=settings.end_weight if positions else 0.0,
        span=settings.span_weight,
        beta=1.0 if settings.fitted else settings.beta,
    )


def _exclude_unknown(scores: Tensors, unknown: Tensor, gold: Tensor) -> TensorDict:
    """Sets the scores of spans that overlap an unknown range to minus infinity; those of gold
    spans stay.
    """
    windows, _, units, _ = scores["spans"].shape
    covered, overlapping = _unknown_cells(unknown, windows, units)
    window, start, end, kind = gold.unbind(1)
    tables = dict(scores)
    for name, mask, cells in (
        ("starts", covered, (window, kind, start)),
        ("ends", covered, (window, kind, end)),
        ("spans", overlapping, (window, kind, start, end)),
    ):
        if name in scores:
            hidden = scores[name].masked_fill(mask[:, None], -torch.inf)
            tables[name] = hidden.index_put(cells, scores[name][cells])
    return tables


def _unknown_cells(unknown: Tensor, windows: int, units: int) -> tuple[Tensor, Tensor]:
    """Returns the units ``[B, U]`` that lie in an unknown range, and the spans ``[B, U, U]`` by
    first and last unit that overlap one.
    """
    places = torch.arange(units, device=unknown.device)
    row, first, last = unknown[:, :3].unbind(1)
    inside = (places >= first[:, None]) & (places <= last[:, None])  # [r, U]
    counts = torch.zeros(windows, units, dtype=torch.int32, device=places.device)
    covered = counts.index_add(0, row, inside.int()) > 0
    # [B, U + 1]: a span overlaps a range if one of its units is inside one
    before = F.pad(covered.cumsum(1), (1, 0))
    return covered, before[:, None, 1:] > before[:, :-1, None]


def _before_saving(head: BinderHead, prefix: str, keep_vars: bool) -> None:
    """Computes the type vectors if they are not kept, so that they fit the weights that are
    saved with them.
    """
    head._vectors()


def _after_loading(head: BinderHead, incompatible: object) -> None:
    """Marks the loaded vectors as those of the loaded weights."""
    head._is_current = not head.training
