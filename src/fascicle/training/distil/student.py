"""Student during distillation: its losses on layers, on answers and on gold, and the facts for its
run folder.

Its teacher is here too: the results of its layers, and the check that it can read the pieces of its
student.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np
import torch
from msgspec import UNSET
from torch import Tensor, nn

from fascicle.core.wording import plural
from fascicle.errors import RecipeError
from fascicle.models.encoder import Encoder, Pretrained, Trainable, load_pretrained
from fascicle.models.layers import LayerReader, Layers, copy_encoder, with_layers, with_size
from fascicle.models.model import NerModel
from fascicle.models.nn.losses import attention_loss, layer_map, state_loss
from fascicle.models.nn.pooling import draw
from fascicle.models.nn.tensors import TensorDict, Tensors
from fascicle.settings.recipes.distil import (
    DistilRecipe,
    LayerSettings,
    PredictionSettings,
    StudentSettings,
)
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.starting import open_encoder

_FEW: Final = 0.05  # of all pieces
_OTHER: Final = "choose a student with the tokenizer of its teacher, or leave out [layers]"
# among the scores of a student: its losses on layers, beside the tables of its head
LAYERS: Final = "layers"
TAUGHT: Final = "taught"  # in a batch: answers of the teacher, ``[B, U, C]``
_COMPARED: Final = 1000  # documents on which the pieces of both tokenizers are compared
_BEGINNING: Final = 2000  # characters of each


class Teacher:
    """Encoder whose layers are imitated: in evaluation mode, without gradients, and not trained."""

    def __init__(
        self, pretrained: Pretrained, student: PieceTokenizer, *, attention: bool = True
    ) -> None:
        """Prepares the encoder.

        Args:
            pretrained: the encoder, and its tokenizer.
            student: tokenizer of the student, in whose ids batches are given.
            attention: whether attention is read too.

        Raises:
            RecipeError: the tokenizers do not fit, see ``map_token_ids``.
            ModelError: the layers of the encoder are not found.
        """
        self.encoder = pretrained.encoder.eval().requires_grad_(False)
        self.reader = LayerReader(self.encoder, attention=attention)
        self._ids = torch.tensor(map_token_ids(student, pretrained.tokenizer))

    @torch.no_grad()
    def see(self, batch: Tensors) -> Layers:
        """Returns the results of the layers for a batch.

        Args:
            batch: ``input_ids`` of the student and ``attention_mask``, ``[B, T]``.
        """
        ids = batch["input_ids"]
        if next(self.encoder.parameters()).device != ids.device:
            self.encoder.to(ids.device)
            self._ids = self._ids.to(ids.device)
        self.encoder.eval()
        with self.reader.reading() as layers:
            self.encoder(self._ids[ids], batch["attention_mask"])
        return layers


def map_token_ids(student: PieceTokenizer, teacher: PieceTokenizer) -> list[int]:
    """Maps each token id of a student to that of its teacher, by equal string or equal use as a
    special token.

    Args:
        student: tokenizer of the student.
        teacher: of the teacher.

    Returns:
        The id of the teacher for each id of the student; that of the unknown piece for ids without
        a token.

    Raises:
        RecipeError: the teacher lacks a token, or puts other special tokens around a text.
    """
    if (len(student.prefix), len(student.suffix)) != (len(teacher.prefix), len(teacher.suffix)):
        raise RecipeError(
            f"the teacher puts {len(teacher.prefix)} special tokens before a text and "
            f"{len(teacher.suffix)} after it, the student {len(student.prefix)} and "
            f"{len(student.suffix)}, so their pieces do not align; {_OTHER}"
        )
    uses = [
        (student.pad, teacher.pad),
        (student.unknown, teacher.unknown),
        (student.mask, teacher.mask),
    ]
    uses += [
        *zip(student.prefix, teacher.prefix, strict=True),
        *zip(student.suffix, teacher.suffix, strict=True),
    ]
    same = {ours: theirs for ours, theirs in uses if ours is not None and theirs is not None}
    tokens, filler = teacher.tokens, teacher.unknown if teacher.unknown is not None else teacher.pad
    ids, lacking = [filler] * student.size, []
    for token, at in student.tokens.items():
        theirs = same.get(at, tokens.get(token))
        if theirs is None:
            lacking.append(token)
        else:
            ids[at] = theirs
    if lacking:
        raise RecipeError(
            f"the tokenizer of the teacher lacks {len(lacking):,} of the {len(student.tokens):,} "
            f"tokens of the student, such as {min(lacking)!r}, so their pieces do not align; "
            f"{_OTHER}"
        )
    return ids


def differing_pieces(
    texts: Sequence[str], student: PieceTokenizer, teacher: PieceTokenizer
) -> float:
    """Returns the share of the student's pieces that its teacher would cut differently; the teacher
    still reads them.

    A student whose vocabulary was cut to its text has some: rare words in smaller pieces, which the
    teacher has too.

    Args:
        texts: some of those that are read.
        student: tokenizer of the student.
        teacher: of the teacher.

    Raises:
        RecipeError: these are too many, or ``map_token_ids`` refuses the tokenizers.
    """
    ids = np.array(map_token_ids(student, teacher))
    count, other, example = 0, 0, ""
    for text, (ours, places), (theirs, their_places) in zip(
        texts, student.encode(texts), teacher.encode(texts), strict=True
    ):
        their_pieces = {
            (*place, piece)
            for place, piece in zip(their_places.tolist(), theirs.tolist(), strict=True)
        }
        strange = [
            p
            for p, i in zip(places.tolist(), ids[ours].tolist(), strict=True)
            if (*p, i) not in their_pieces
        ]
        count, other = count + len(ours), other + len(strange)
        example = example or next((text[start:end] for start, end in strange), "")
    if other > _FEW * count:
        raise RecipeError(
            f"student and teacher cut {other / count:.1%} of the text into different pieces, such "
            f"as {example!r}, so their layers do not align; {_OTHER}"
        )
    return other / max(1, count)


def _student_of(settings: StudentSettings, teacher: Pretrained | None) -> Pretrained:
    """Loads or builds a student; random weights come from torch's generator.

    Args:
        settings: of the recipe.
        teacher: gives the encoder if the settings name none; it is not changed.

    Raises:
        ModelError: the encoder cannot be loaded.
        RecipeError: it has no such layers.
    """
    if settings.encoder:
        base = load_pretrained(settings.encoder, revision=settings.revision)
    else:
        assert teacher is not None
        base = Pretrained(
            encoder=copy_encoder(teacher.encoder),
            tokenizer=teacher.tokenizer,
            special=teacher.special,
        )
    if settings.layers:
        encoder = with_layers(base.encoder, settings.layers)
    elif settings.size is not UNSET:
        encoder = with_size(base.encoder, settings.size)
    else:
        encoder = base.encoder
    return replace(base, encoder=encoder)


class LayerLosses(nn.Module):
    """Losses between the layers of a student and its teacher; the projection is trained with the
    student.
    """

    def __init__(
        self, settings: LayerSettings, *, student: Encoder, teacher: Teacher, differing: float = 0.0
    ) -> None:
        """Chooses the layers to compare, and draws the projection; it begins as the identity if
        widths are equal.

        Args:
            settings: of the recipe.
            student: encoder of the student.
            teacher: reads batches in the ids of the student.
            differing: share of pieces that the teacher would cut otherwise, for reports.

        Raises:
            RecipeError: layers or heads that cannot be compared.
            ModelError: the layers of the student are not found.
        """
        super().__init__()
        self._settings = settings
        self.differing = differing
        self._teacher = teacher  # a plain object, so that its weights are not part of this module
        self._reader = LayerReader(student, attention=settings.attention > 0)
        self.map = _checked_map(settings, teacher=teacher.reader.depth, student=self._reader.depth)
        if settings.attention and teacher.reader.heads != self._reader.heads:
            raise RecipeError(
                f"the student has {self._reader.heads} heads of attention and its teacher "
                f"{teacher.reader.heads}: they cannot be compared; give it as many, or set "
                "layers.attention = 0"
            )
        self.projection = nn.Linear(student.width, teacher.encoder.width)
        draw(self.projection)
        if student.width == teacher.encoder.width:
            nn.init.eye_(self.projection.weight)

    def reading(self) -> AbstractContextManager[Layers]:
        """Returns a block in which the student runs once, see ``LayerReader``."""
        return self._reader.reading()

    def forward(self, layers: Layers, batch: Tensors) -> TensorDict:
        """Returns the losses, ``"hidden"`` and ``"attention"``, each a sum over layers, without
        their weights.

        Args:
            layers: of the student.
            batch: the batch that it read.
        """
        settings, mask = self._settings, batch["attention_mask"]
        theirs = self._teacher.see(batch)
        states = partial(state_loss, mask=mask, faithful=settings.faithful)
        attention = partial(
            attention_loss, mask=mask, compared=settings.compared, faithful=settings.faithful
        )
        losses = {}
        with torch.autocast(mask.device.type, enabled=False):
            if settings.hidden:
                pairs = [
                    (layers.states[at].float(), theirs.states[of])
                    for at, of in enumerate((0, *self.map))
                ]
                losses["hidden"] = torch.stack(
                    [states(self.projection(ours), of) for ours, of in pairs]
                ).sum()
            if settings.attention:
                pairs = [
                    (layers.scores(at), theirs.scores(of)) for at, of in enumerate(self.map, 1)
                ]
                losses["attention"] = torch.stack([attention(ours, of) for ours, of in pairs]).sum()
        return losses

    def total(self, losses: Tensors) -> Tensor:
        """Returns the weighted sum of the losses of ``forward``."""
        weights = {"hidden": self._settings.hidden, "attention": self._settings.attention}
        return torch.stack([weights[name] * loss for name, loss in losses.items()]).sum()


def _checked_map(settings: LayerSettings, *, teacher: int, student: int) -> tuple[int, ...]:
    """Returns the layer of the teacher for each layer of the student, see ``nn.losses.layer_map``.

    Raises:
        RecipeError: there is none.
    """
    if student > teacher or not settings.map:
        return layer_map(teacher, student)
    if len(settings.map) != student or settings.map[-1] > teacher:
        raise RecipeError(
            f"layers.map = {list(settings.map)} does not fit a student of {student} layers and a "
            f"teacher of {teacher}: name one layer of the teacher for each of the student"
        )
    return settings.map


class AnswerLoss(nn.Module):
    """Loss between the answers of a model and those of its teacher, and between the answers and
    the gold.
    """

    def __init__(self, settings: PredictionSettings, model: NerModel) -> None:
        """Takes the model.

        Args:
            settings: of the recipe.
            model: its answering head learns, and is of a kind that can imitate probabilities.
        """
        super().__init__()
        self._settings = settings
        self.model = model

    def total(self, scores: Tensors, taught: Tensor, gold: Tensor) -> Tensor:
        """Returns the weighted loss.

        Args:
            scores: tables of the head.
            taught: answers of the teacher, ``[B, U, C]``.
            gold: targets of the head.
        """
        settings, head = self._settings, self.model.head(self.model.answer)
        loss = (1 - settings.gold) * head.imitation(
            scores, taught, temperature=settings.temperature
        )
        if settings.gold:
            loss = loss + settings.gold * head.loss(scores, gold)
        return settings.weight * loss


class Student(Trainable):
    """Student with its losses; its encoder or its model is scored and kept."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        layers: LayerLosses | None = None,
        answers: AnswerLoss | None = None,
    ) -> None:
        """Puts the parts together.

        Args:
            encoder: of the student.
            layers: losses on layers, if there are such.
            answers: of the model on this encoder, if they are learned.
        """
        super().__init__()
        self.encoder = encoder
        self.layers = layers
        self.answers = answers

    def forward(self, batch: Tensors) -> dict[str, TensorDict]:
        """Returns the tables of the head with the answers of the teacher, and losses on layers
        under ``LAYERS``.
        """
        if self.layers is None:
            return self._tables(batch)
        with self.layers.reading() as layers:
            tables = self._tables(batch)
        return {**tables, LAYERS: self.layers(layers, batch)}

    def _tables(self, batch: Tensors) -> dict[str, TensorDict]:
        if self.answers is not None:
            return {**self.answers.model(batch), TAUGHT: {TAUGHT: batch[TAUGHT]}}
        self.encoder(batch["input_ids"], batch["attention_mask"])
        return {}

    def loss(self, scores: Mapping[str, Tensors], targets: Tensors) -> Tensor:
        """Returns the weighted sum of all losses.

        Args:
            scores: of ``forward``.
            targets: gold of the head.
        """
        parts = [] if self.layers is None else [self.layers.total(scores[LAYERS])]
        if self.answers is not None:
            name = self.answers.model.answer
            parts.append(self.answers.total(scores[name], scores[TAUGHT][TAUGHT], targets[name]))
        return torch.stack(parts).sum()


@dataclass(kw_only=True, eq=False)
class StudentAndTeacher:
    """Student of a recipe and the encoder that teaches it.

    Attributes:
        recipe: of the distillation.
        student: encoder that learns.
        teacher: whose layers it imitates, or from which it is made; ``None`` where it needs
            neither.
        layers: the losses on layers, once they were built.
    """

    recipe: DistilRecipe
    student: Pretrained
    teacher: Pretrained | None
    layers: LayerLosses | None = None

    @classmethod
    def of(cls, recipe: DistilRecipe) -> StudentAndTeacher:
        """Opens the teacher and builds the student; seeds torch.

        Raises:
            RecipeError: the teacher is no single model, or the student cannot be built of it.
            ModelError: one of them cannot be loaded.
        """
        teacher = (
            open_encoder(recipe.teacher) if recipe.layers or not recipe.student.encoder else None
        )
        torch.manual_seed(recipe.seed)
        return cls(recipe=recipe, student=_student_of(recipe.student, teacher), teacher=teacher)

    def compare(self, texts: Iterable[str]) -> None:
        """Builds the losses on layers, if the recipe has any.

        Args:
            texts: the texts that are read; the beginnings of the first ones are compared.

        Raises:
            RecipeError: student and teacher do not fit each other.
        """
        recipe, student, teacher = self.recipe, self.student, self.teacher
        if not recipe.layers or teacher is None:
            return
        beginnings = [text[:_BEGINNING] for text in islice(texts, _COMPARED)]
        differing = differing_pieces(beginnings, student.tokenizer, teacher.tokenizer)
        longest = recipe.text.window if recipe.text else recipe.reading.max_length
        for who, pretrained in (("student", student), ("teacher", teacher)):
            if longest > pretrained.encoder.longest:
                raise RecipeError(
                    f"windows of {longest} pieces are longer than the "
                    f"{plural(pretrained.encoder.longest, 'piece')} that the {who} reads; lower "
                    f"{'text.window' if recipe.text else 'reading.max_length'}"
                )
        taught_by = Teacher(teacher, student.tokenizer, attention=recipe.layers.attention > 0)
        self.layers = LayerLosses(
            recipe.layers, student=student.encoder, teacher=taught_by, differing=differing
        )

    def facts(self) -> dict[str, Any]:
        """Returns the facts about the pair for ``run.json``."""
        layers, teacher = self.layers, self.recipe.teacher
        compared = (
            {}
            if layers is None
            else {"layer_map": list(layers.map), "differing_pieces": layers.differing}
        )
        return {
            "student": self.student.encoder.origin,
            "teacher": teacher.model or teacher.encoder,
            **compared,
        }

    def notes(self) -> Iterator[str]:
        """Yields notes for the user on both encoders."""
        layers = self.layers
        if self.teacher is None:
            return
        ours, theirs = map(_count_parameters, (self.student, self.teacher))
        yield f"the encoder of the student has {ours:,} parameters, that of its teacher {theirs:,}"
        if layers is not None:
            yield (
                f"layers 1 to {len(layers.map)} of the student imitate layers "
                f"{', '.join(map(str, layers.map))}"
            )
            if layers.differing:
                yield (
                    f"{layers.differing:.2%} of the pieces are those of the student: its teacher "
                    "would cut otherwise"
                )


def _count_parameters(pretrained: Pretrained) -> int:
    return sum(parameter.numel() for parameter in pretrained.encoder.parameters())
