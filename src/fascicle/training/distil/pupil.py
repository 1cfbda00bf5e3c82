"""The student while it learns: its losses on layers, on answers and on gold, and what a run says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import islice
from typing import Any, Final

import torch
from msgspec import UNSET
from torch import Tensor, nn

from fascicle.core.wording import counted
from fascicle.errors import RecipeError
from fascicle.models.encoder import Encoder, Pretrained
from fascicle.models.layers import LayerReader, Layers
from fascicle.models.model import NerModel, Trainable
from fascicle.nn.distil import attention_loss, layer_map, state_loss
from fascicle.nn.draw import draw
from fascicle.settings.recipes.distil import DistilRecipe, LayerSettings, PredictionSettings
from fascicle.training.distil.teacher import Teacher, differing_pieces
from fascicle.training.engine.loop import Trainer

LAYERS: Final = "layers"  # among the scores of a pupil: its losses on layers, beside the tables of its head
TAUGHT: Final = "taught"  # in a batch: what the teacher answers, ``[B, U, C]``


class LayerLosses(nn.Module):
    """Compares the layers of a student with those of its teacher; the projection is trained with the student."""

    def __init__(self, settings: LayerSettings, *, pupil: Encoder, teacher: Teacher, differing: float = 0.0) -> None:
        """Finds which layers are compared, and draws the projection; it begins as the identity if widths are equal.

        Args:
            settings: of the recipe.
            pupil: encoder of the student.
            teacher: reads batches in the ids of the student.
            differing: share of pieces that the teacher would cut otherwise, for reports.

        Raises:
            RecipeError: layers or heads that cannot be compared.
            ModelError: the layers of the student are not found.
        """
        super().__init__()
        self._settings = settings
        self.differing = differing
        self._teacher = teacher  # a plain object: its weights are none of this module
        self._reader = LayerReader(pupil, attention=settings.attention > 0)
        self.map = checked_map(settings, teacher=teacher.reader.depth, student=self._reader.depth)
        if settings.attention and teacher.reader.heads != self._reader.heads:
            raise RecipeError(
                f"the student has {self._reader.heads} heads of attention and its teacher {teacher.reader.heads}: they "
                "cannot be compared; give it as many, or set layers.attention = 0"
            )
        self.projection = nn.Linear(pupil.width, teacher.encoder.width)
        draw(self.projection)
        if pupil.width == teacher.encoder.width:
            nn.init.eye_(self.projection.weight)

    def reading(self) -> AbstractContextManager[Layers]:
        """A block in which the student runs once, see ``LayerReader``."""
        return self._reader.reading()

    def forward(self, seen: Layers, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The losses, ``"hidden"`` and ``"attention"``, each a sum over layers, without their weights.

        Args:
            seen: of the student.
            batch: that it read.
        """
        given, mask = self._settings, batch["attention_mask"]
        theirs = self._teacher.see(batch)
        states = partial(state_loss, mask=mask, faithful=given.faithful)
        attention = partial(attention_loss, mask=mask, compared=given.compared, faithful=given.faithful)
        found = {}
        with torch.autocast(mask.device.type, enabled=False):
            if given.hidden:
                pairs = [(seen.states[at].float(), theirs.states[of]) for at, of in enumerate((0, *self.map))]
                found["hidden"] = torch.stack([states(self.projection(ours), of) for ours, of in pairs]).sum()
            if given.attention:
                pairs = [(seen.scores(at), theirs.scores(of)) for at, of in enumerate(self.map, 1)]
                found["attention"] = torch.stack([attention(ours, of) for ours, of in pairs]).sum()
        return found

    def total(self, losses: Mapping[str, Tensor]) -> Tensor:
        """The weighted sum of what ``forward`` gives."""
        weights = {"hidden": self._settings.hidden, "attention": self._settings.attention}
        return torch.stack([weights[name] * loss for name, loss in losses.items()]).sum()


def checked_map(settings: LayerSettings, *, teacher: int, student: int) -> tuple[int, ...]:
    """The layer of the teacher for each layer of the student, see ``nn.distil.layer_map``.

    Raises:
        RecipeError: there is none.
    """
    if student > teacher or not settings.map:
        return layer_map(teacher, student)
    if len(settings.map) != student or settings.map[-1] > teacher:
        raise RecipeError(
            f"layers.map = {list(settings.map)} does not fit a student of {student} layers and a teacher of {teacher}: "
            "name one layer of the teacher for each of the student"
        )
    return settings.map


class AnswerLoss(nn.Module):
    """Compares the answers of a model with those of its teacher, and with the gold."""

    def __init__(self, settings: PredictionSettings, model: NerModel) -> None:
        """Takes the model.

        Args:
            settings: of the recipe.
            model: whose answering head learns; its kind can imitate probabilities.
        """
        super().__init__()
        self._settings = settings
        self.model = model

    def total(self, scores: Mapping[str, Tensor], taught: Tensor, gold: Tensor) -> Tensor:
        """The weighted loss.

        Args:
            scores: tables of the head.
            taught: what the teacher answers, ``[B, U, C]``.
            gold: targets of the head.
        """
        given, head = self._settings, self.model.head(self.model.answer)
        loss = (1 - given.gold) * head.imitation(scores, taught, temperature=given.temperature)
        if given.gold:
            loss = loss + given.gold * head.loss(scores, gold)
        return given.weight * loss


class Pupil(Trainable):
    """A student with its lessons. What is scored and kept is its encoder, or its model."""

    def __init__(
        self, encoder: Encoder, *, layers: LayerLosses | None = None, answers: AnswerLoss | None = None
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

    def forward(self, batch: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
        """Score tables of the head with what it is taught, and losses on layers under ``LAYERS``."""
        if self.layers is None:
            return self._tables(batch)
        with self.layers.reading() as seen:
            tables = self._tables(batch)
        return {**tables, LAYERS: self.layers(seen, batch)}

    def _tables(self, batch: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
        if self.answers is not None:
            return {**self.answers.model(batch), TAUGHT: {TAUGHT: batch[TAUGHT]}}
        self.encoder(batch["input_ids"], batch["attention_mask"])
        return {}

    def loss(self, scores: Mapping[str, Mapping[str, Tensor]], targets: Mapping[str, Tensor]) -> Tensor:
        """The sum of all losses, weighted.

        Args:
            scores: of ``forward``.
            targets: gold of the head.
        """
        parts = [] if self.layers is None else [self.layers.total(scores[LAYERS])]
        if self.answers is not None:
            name = self.answers.model.answer
            parts.append(self.answers.total(scores[name], scores[TAUGHT][TAUGHT], targets[name]))
        return torch.stack(parts).sum()


_COMPARED: Final = 1000  # documents of which both tokenizers must cut every one into the same pieces
_BEGINNING: Final = 2000  # characters of each


def beginnings(texts: Iterable[str]) -> list[str]:
    """The beginnings of the first texts that are read, for ``layer_losses``."""
    return [text[:_BEGINNING] for text in islice(texts, _COMPARED)]


def layer_losses(
    recipe: DistilRecipe, student: Pretrained, teacher: Pretrained, *, longest: int, texts: Sequence[str]
) -> LayerLosses:
    """The losses on layers of a recipe.

    Args:
        recipe: with ``[layers]``.
        student: encoder that learns.
        teacher: that is imitated.
        longest: pieces in a window.
        texts: some of those that are read.

    Raises:
        RecipeError: they do not fit each other.
    """
    assert recipe.layers is not UNSET
    differing = differing_pieces(texts, student.tokenizer, teacher.tokenizer)
    for who, one in (("student", student), ("teacher", teacher)):
        if longest > one.encoder.longest:
            raise RecipeError(
                f"windows of {longest} pieces are longer than the {counted(one.encoder.longest, 'piece')} that the "
                f"{who} reads; lower {'text.window' if recipe.text else 'reading.max_length'}"
            )
    taught_by = Teacher(teacher, student.tokenizer, attention=recipe.layers.attention > 0)
    return LayerLosses(recipe.layers, pupil=student.encoder, teacher=taught_by, differing=differing)


def facts_of(recipe: DistilRecipe, student: Pretrained, layers: LayerLosses | None, trainer: Trainer) -> dict[str, Any]:
    """What ``run.json`` says of any distillation."""
    compared = {} if layers is None else {"layer_map": list(layers.map), "differing_pieces": layers.differing}
    return {
        "recipe": recipe.name,
        "seed": recipe.seed,
        "student": student.encoder.origin,
        "teacher": recipe.teacher.model or recipe.teacher.encoder,
        **compared,
        "steps": trainer.steps,
        **trainer.precision_facts(),
    }


def told(student: Pretrained, teacher: Pretrained, layers: LayerLosses | None) -> Iterator[str]:
    """What a user should know of both encoders."""
    ours, theirs = (sum(p.numel() for p in one.encoder.parameters()) for one in (student, teacher))
    yield f"the encoder of the student has {ours:,} parameters, that of its teacher {theirs:,}"
    if layers is not None:
        yield f"layers 1 to {len(layers.map)} of the student imitate layers {', '.join(map(str, layers.map))}"
        if layers.differing:
            yield f"{layers.differing:.2%} of the pieces are those of the student: its teacher would cut otherwise"
