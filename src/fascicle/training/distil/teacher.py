"""The teacher of a distillation and the student that begins from it: layers, pieces, and whether they align."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import torch
from msgspec import UNSET
from torch import Tensor

from fascicle.errors import RecipeError
from fascicle.models.encoder import Pretrained, load_pretrained
from fascicle.models.layers import LayerReader, Layers, copied, with_layers, with_size
from fascicle.settings.recipes.distil import StudentSettings, TeacherSettings
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.trained import open_trained

_FEW: Final = 0.05  # of all pieces
_OTHER: Final = "choose a student with the tokenizer of its teacher, or leave out [layers]"


class Teacher:
    """An encoder whose layers are imitated: in evaluation mode, without gradients, and no part of what is trained."""

    def __init__(self, pretrained: Pretrained, pupil: PieceTokenizer, *, attention: bool = True) -> None:
        """Takes the encoder over.

        Args:
            pretrained: the encoder, and its tokenizer.
            pupil: tokenizer of the student, in whose ids batches are given.
            attention: whether attention is read too.

        Raises:
            RecipeError: the tokenizers do not fit, see ``ids_of``.
            ModelError: the layers of the encoder are not found.
        """
        self.encoder = pretrained.encoder.eval().requires_grad_(False)
        self.reader = LayerReader(self.encoder, attention=attention)
        self._ids = torch.tensor(ids_of(pupil, pretrained.tokenizer))

    @torch.no_grad()
    def see(self, batch: Mapping[str, Tensor]) -> Layers:
        """What the layers compute of a batch.

        Args:
            batch: ``input_ids`` of the student and ``attention_mask``, ``[B, T]``.
        """
        ids = batch["input_ids"]
        if next(self.encoder.parameters()).device != ids.device:
            self.encoder.to(ids.device)
            self._ids = self._ids.to(ids.device)
        self.encoder.eval()
        with self.reader.reading() as seen:
            self.encoder(self._ids[ids], batch["attention_mask"])
        return seen


def open_encoder(settings: TeacherSettings) -> Pretrained:
    """The encoder of a teacher.

    Raises:
        ModelError: it cannot be loaded.
        RecipeError: the teacher has none that could be read here: an ensemble, or an export.
    """
    if settings.encoder:
        return load_pretrained(settings.encoder, revision=settings.revision)
    return open_trained(settings.model, key="teacher.model", use="whose layers cannot be read").pretrained()


def ids_of(pupil: PieceTokenizer, teacher: PieceTokenizer) -> list[int]:
    """The id of each token of a student for its teacher: of the same string, or of special tokens of the same use.

    Args:
        pupil: tokenizer of the student.
        teacher: of the teacher.

    Returns:
        For each id of the student that of the teacher; that of an unknown piece where the student has no token.

    Raises:
        RecipeError: the teacher lacks a token, or puts other special tokens around a text.
    """
    if (len(pupil.prefix), len(pupil.suffix)) != (len(teacher.prefix), len(teacher.suffix)):
        raise RecipeError(
            f"the teacher puts {len(teacher.prefix)} special tokens before a text and {len(teacher.suffix)} after it, "
            f"the student {len(pupil.prefix)} and {len(pupil.suffix)}, so their pieces do not align; {_OTHER}"
        )
    uses = [(pupil.pad, teacher.pad), (pupil.unknown, teacher.unknown), (pupil.mask, teacher.mask)]
    uses += [*zip(pupil.prefix, teacher.prefix, strict=True), *zip(pupil.suffix, teacher.suffix, strict=True)]
    same = {ours: theirs for ours, theirs in uses if ours is not None and theirs is not None}
    known, filler = teacher.tokens, teacher.unknown if teacher.unknown is not None else teacher.pad
    found, lacking = [filler] * pupil.size, []
    for token, at in pupil.tokens.items():
        theirs = same.get(at, known.get(token))
        if theirs is None:
            lacking.append(token)
        else:
            found[at] = theirs
    if lacking:
        raise RecipeError(
            f"the tokenizer of the teacher lacks {len(lacking):,} of the {len(pupil.tokens):,} tokens of the student, "
            f"such as {min(lacking)!r}, so their pieces do not align; {_OTHER}"
        )
    return found


def differing_pieces(texts: Sequence[str], pupil: PieceTokenizer, teacher: PieceTokenizer) -> float:
    """The share of the pieces of a student that its teacher would cut otherwise; the teacher reads them all the same.

    A student whose vocabulary was cut to its text has some: rare words in smaller pieces, which the teacher has too.

    Args:
        texts: some of those that are read.
        pupil: tokenizer of the student.
        teacher: of the teacher.

    Raises:
        RecipeError: these are too many, or ``ids_of`` refuses the tokenizers.
    """
    ids = np.array(ids_of(pupil, teacher))
    count, other, example = 0, 0, ""
    for text, (ours, places), (theirs, others) in zip(texts, pupil.encode(texts), teacher.encode(texts), strict=True):
        known = {(*place, piece) for place, piece in zip(others.tolist(), theirs.tolist(), strict=True)}
        strange = [p for p, i in zip(places.tolist(), ids[ours].tolist(), strict=True) if (*p, i) not in known]
        count, other = count + len(ours), other + len(strange)
        example = example or next((text[start:end] for start, end in strange), "")
    if other > _FEW * count:
        raise RecipeError(
            f"student and teacher cut {other / count:.1%} of the text into different pieces, such as {example!r}, so "
            f"their layers do not align; {_OTHER}"
        )
    return other / max(1, count)


def student_of(settings: StudentSettings, teacher: Pretrained | None) -> Pretrained:
    """Loads or builds it; random weights come from torch's generator.

    Args:
        settings: of the recipe.
        teacher: whose encoder is meant if the settings name none; it stays as it is.

    Raises:
        ModelError: the encoder cannot be loaded.
        RecipeError: it has no such layers.
    """
    if settings.encoder:
        base = load_pretrained(settings.encoder, revision=settings.revision)
    else:
        assert teacher is not None
        base = Pretrained(encoder=copied(teacher.encoder), tokenizer=teacher.tokenizer, special=teacher.special)
    if settings.layers:
        encoder = with_layers(base.encoder, settings.layers)
    elif settings.size is not UNSET:
        encoder = with_size(base.encoder, settings.size)
    else:
        encoder = base.encoder
    return replace(base, encoder=encoder)
