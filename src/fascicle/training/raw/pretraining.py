"""Pretraining runs of the engine, by masked language modelling: from raw text to an encoder that a
recipe can name.

::

    RUN/recipe.json      the resolved recipe
    RUN/run.json         versions, machine, hashes of text and tokenizer, counts of the documents
    RUN/metrics.jsonl    one line for each scoring on held-out text
    RUN/encoder/         the encoder as it was scored last, with its tokenizer and a card
    RUN/state/           state for ``resume``; removed at the end
    RUN/scores.json      the pseudo-perplexity of held-out text, and the cost of the run
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
import torch
import torch.nn.functional as F

from fascicle.core.arrays import Bools, Ints
from fascicle.core.wording import plural
from fascicle.errors import OutputError, RecipeError
from fascicle.models.encoder import Pretrained, load_pretrained, save_pretrained
from fascicle.models.nn.tensors import move_tensors
from fascicle.settings.recipes.pretraining import MaskingSettings, PretrainingRecipe
from fascicle.text.pieces import PieceTokenizer
from fascicle.training.corpus import data_facts
from fascicle.training.engine.events import Ended, KeptModel, Line, Note, Point, Selection
from fascicle.training.engine.folder import FACTS, METRICS, read_run_facts, resume_errors
from fascicle.training.engine.loop import BatchTensors, Trainer
from fascicle.training.engine.run import Facts, PointResult, Trainee
from fascicle.training.raw.masking import (
    LOGITS,
    NAME,
    PLACES,
    MaskedModel,
    PretrainingFinished,
    card_lines,
)
from fascicle.training.raw.windows import RawText, TextWindows, read_windows
from fascicle.training.starting import adapt_vocabulary

_DRAW: Final = 20  # of the words that are hidden: the same in every run
# windows whose hidden words are drawn together, whatever the size of a batch is
_TOGETHER: Final = 8
_ENCODER: Final = "encoder"
_CARD: Final = "README.md"
_UNSCORED: Final = (
    "no document is held out, so the encoder is not scored; raise text.held_out, or give more "
    "documents"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Mask:
    """Ids that replace a hidden piece.

    Attributes:
        token: id of the mask token.
        ordinary: ids that a random piece is drawn from: all but special tokens, ``[n]``.
    """

    token: int
    ordinary: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class MaskedSet:
    """Windows of text with some of their words hidden.

    Attributes:
        windows: of the text.
        masking: settings of the hidden words.
        mask: ids that replace hidden pieces.
    """

    windows: TextWindows
    masking: MaskingSettings
    mask: Mask

    def batches(
        self, *, size: int, seed: int, epoch: int, hidden: float = 0.0
    ) -> Iterator[BatchTensors]:
        """Yields one epoch of batches, the same for the same arguments.

        Each batch has its own random numbers, determined by its place, so that no batch depends on
        earlier ones.

        Args:
            size: windows in a batch.
            seed: determines, with ``epoch``, the order and the hidden words.
            epoch: from 0.
            hidden: of no use here.

        Yields:
            ``input_ids``, ``attention_mask`` and ``places`` as `MaskedModel` takes them, and the
            hidden ids.
        """
        del hidden
        order = self.windows.order(seed=seed, epoch=epoch)
        for at in range(self.count(size)):
            numbers = order[at * size : (at + 1) * size]
            yield self.batch(numbers, np.random.default_rng((seed, epoch, 1, at)))

    def count(self, size: int) -> int:
        """Returns the number of batches in an epoch."""
        return -(-len(self.windows) // size)

    def batch(self, numbers: Ints, chance: np.random.Generator) -> BatchTensors:
        """Returns some windows, with words hidden.

        Args:
            numbers: numbers of windows, at least one.
            chance: draws the hidden words.
        """
        text = self.windows.batch(numbers)
        guessed = chosen_pieces(text.begins, text.special, self.masking, chance)
        batch = {
            "input_ids": hidden_ids(text.ids, guessed, self.masking, mask=self.mask, chance=chance),
            "attention_mask": text.attention_mask,
            PLACES: np.flatnonzero(guessed),
        }
        hidden = torch.from_numpy(text.ids[guessed])
        return {name: torch.from_numpy(array) for name, array in batch.items()}, {NAME: hidden}


def chosen_pieces(
    begins: Bools, special: Bools, masking: MaskingSettings, chance: np.random.Generator
) -> Bools:
    """Draws the pieces to predict: each word with the same chance; at least one word of the batch.

    Args:
        begins: whether a word begins with a piece, ``[B, T]``.
        special: whether a place is a special token or padding, ``[B, T]``.
        masking: settings of the hidden words.
        chance: one number is drawn for each place.
    """
    # a window may begin in a word
    after = np.concatenate([np.ones_like(special[:, :1]), special[:, :-1]], axis=1)
    first = ~special & (begins | after) if masking.whole_words else ~special
    word = np.cumsum(first).reshape(first.shape) - 1
    draws = chance.random(first.shape)[first]
    picked = draws < masking.share
    if not picked.any():
        picked[np.argmin(draws)] = True
    return ~special & picked[np.maximum(word, 0)]


def hidden_ids(
    ids: Ints, guessed: Bools, masking: MaskingSettings, *, mask: Mask, chance: np.random.Generator
) -> Ints:
    """Returns the ids that the network reads.

    Args:
        ids: of the text, ``[B, T]``.
        guessed: of ``chosen_pieces``.
        masking: shares of the replacements of a piece.
        mask: the mask token, and the pieces to draw from.
        chance: two numbers are drawn for each piece to predict.
    """
    kind = chance.random(int(guessed.sum()))
    drawn = mask.ordinary[chance.integers(0, len(mask.ordinary), len(kind))]
    replacements = np.where(
        kind < masking.masked,
        mask.token,
        np.where(kind < masking.masked + masking.random, drawn, ids[guessed]),
    )
    inputs = ids.copy()
    inputs[guessed] = replacements
    return inputs


def held_out_set(windows: TextWindows, masking: MaskingSettings, mask: Mask) -> MaskedSet:
    """Builds held-out windows in which every piece to predict is replaced by the mask token."""
    return MaskedSet(
        windows=windows, masking=msgspec.structs.replace(masking, masked=1.0, random=0.0), mask=mask
    )


def predict_hidden(
    model: MaskedModel, held_out: MaskedSet, *, bf16: bool = False
) -> dict[str, Any]:
    """Predicts the hidden words of held-out text, which are the same in every call.

    Args:
        model: left in evaluation mode.
        held_out: of `held_out_set`, at least one window.
        bf16: compute under bf16 autocast.
    """
    device, total, pieces = model.embeddings.device, 0.0, 0
    model.eval()
    for at in range(0, len(held_out.windows), _TOGETHER):
        numbers = np.arange(at, min(at + _TOGETHER, len(held_out.windows)))
        batch, targets = held_out.batch(numbers, np.random.default_rng((_DRAW, at)))
        with (
            torch.inference_mode(),
            torch.autocast(device.type, dtype=torch.bfloat16, enabled=bf16),
        ):
            logits = model(move_tensors(batch, device))[NAME][LOGITS]
        hidden = targets[NAME].to(device)
        total += float(F.cross_entropy(logits.float(), hidden, reduction="sum"))
        pieces += len(hidden)
    perplexity = math.exp(min(total / pieces, 700.0))  # a float has no larger exponential
    return {"loss": total / pieces, "perplexity": perplexity, "pieces": pieces}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Material:
    """Text and encoder of a pretraining.

    Attributes:
        text: as windows of the tokenizer.
        pretrained: the encoder, with the vocabulary that it is trained with.
        mask: ids that replace hidden pieces.
        vocabulary: changes of the vocabulary, if any.
    """

    text: RawText
    pretrained: Pretrained
    mask: Mask
    vocabulary: Mapping[str, int]


def prepare_pretraining(
    recipe: PretrainingRecipe, folder: Path, before: Mapping[str, Any]
) -> _Pretraining:
    """Reads the text of a recipe and builds its model.

    Args:
        recipe: of the run.
        folder: of the run.
        before: content of ``run.json`` of the same run; empty if the run is new.

    Raises:
        InputError: the text cannot be read, or nothing of it is left to learn from.
        RecipeError: the recipe does not fit the encoder.
        ModelError: the encoder cannot be loaded.
        OutputError: the tokenizer makes other pieces of the text than when the run began.
    """
    pretrained = load_pretrained(recipe.model.encoder, revision=recipe.model.revision)
    _check_window(recipe, pretrained)
    mask = _mask_of(recipe, pretrained.tokenizer)
    text = read_windows(recipe.text, pretrained.tokenizer, seed=recipe.seed)
    vocabulary: Mapping[str, int] = {}
    if recipe.vocabulary.is_changed:
        pretrained, vocabulary = adapt_vocabulary(pretrained, text.learned, recipe.vocabulary)
        mask = _mask_of(recipe, pretrained.tokenizer)
        text = read_windows(recipe.text, pretrained.tokenizer, seed=recipe.seed)
    _check_same(folder, before, text, pretrained.tokenizer)
    torch.manual_seed(recipe.seed)
    data = MaskedSet(windows=text.learned, masking=recipe.masking, mask=mask)
    trainer = Trainer(
        MaskedModel(pretrained.encoder), data, recipe.training.as_training(), seed=recipe.seed
    )
    trainer.settle_precision(before.get("precision"))
    return _Pretraining(
        folder,
        recipe,
        _Material(text=text, pretrained=pretrained, mask=mask, vocabulary=vocabulary),
        trainer,
    )


class _Pretraining(Trainee):
    """Trainee: an encoder, scored by the pseudo-perplexity of held-out text, and kept as it was
    scored last.
    """

    def __init__(
        self, folder: Path, recipe: PretrainingRecipe, material: _Material, trainer: Trainer
    ) -> None:
        """Puts the parts together; see ``prepare_pretraining``."""
        self._folder = folder
        self._recipe = recipe
        self._material = material
        self._held_out = held_out_set(material.text.held_out, recipe.masking, material.mask)
        self.loop: Trainer = trainer
        self.choice = Selection(
            models=(KeptModel(folder=_ENCODER, merit=lambda line: float(line["step"])),),
            last=True,
            every=recipe.training.validate_every_steps,
            minutes=recipe.training.checkpoint_minutes,
        )
        self.facts = _facts(recipe, material, trainer)

    def judge(self, point: Point) -> PointResult:
        """Scores the model on held-out text."""
        scores = self._guess()
        before = [line["held_out"] for line in self._lines()]
        best = scores is not None and all(
            earlier is None or scores["loss"] < earlier["loss"] for earlier in before
        )
        figures = (
            "nothing held out"
            if scores is None
            else f"held-out perplexity {scores['perplexity']:.2f}"
        )
        return PointResult(lines=[point.line(held_out=scores)], figures=figures, best=best)

    def _guess(self) -> dict[str, Any] | None:
        if not len(self._held_out.windows):
            return None
        model = self.loop.model
        assert isinstance(model, MaskedModel)
        return predict_hidden(model, self._held_out, bf16=self.loop.bf16)

    def _lines(self) -> list[Line]:
        path = self._folder / METRICS
        return (
            list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))
            if path.exists()
            else []
        )

    def keep(self, place: Path, model: KeptModel) -> None:
        """Writes the encoder and its card."""
        save_pretrained(place, self._material.pretrained)
        card = card_lines(self._recipe, read_run_facts(self._folder), self._ended())
        (place / _CARD).write_text("\n".join(card) + "\n", encoding="utf-8")

    def finish(self, lines: Sequence[Line]) -> Iterator[Note | Ended]:
        """Yields the end of the run."""
        yield self._ended()

    def _ended(self) -> PretrainingFinished:
        """Returns the end of the run, from the last line."""
        lines = self._lines()
        return PretrainingFinished(
            folder=self._folder,
            held_out=lines[-1]["held_out"],
            step=lines[-1]["step"],
            pieces=self._material.text.learned.pieces * self.loop.epochs,
            cost=sum(line["seconds"] for line in lines),
        )


def _mask_of(recipe: PretrainingRecipe, tokenizer: PieceTokenizer) -> Mask:
    """Returns the mask token and the ordinary pieces of a tokenizer.

    Raises:
        RecipeError: the tokenizer has no mask token.
    """
    if tokenizer.mask is None:
        raise RecipeError(
            "masked language modelling needs a mask token, which the tokenizer of "
            f"{recipe.model.encoder} lacks; choose another encoder"
        )
    return Mask(token=tokenizer.mask, ordinary=tokenizer.ordinary())


def _check_same(
    folder: Path, before: Mapping[str, Any], text: RawText, tokenizer: PieceTokenizer
) -> None:
    now = {
        "tokenizer": tokenizer.sha256,
        "windows": text.learned.sha256(),
        "held_out": text.held_out.sha256(),
    }
    with resume_errors(folder / FACTS):
        other = [
            name for name, digest in now.items() if before and before[name]["sha256"] != digest
        ]
    if other:
        raise OutputError(
            f"the text is not cut as when the run in {folder} began ({other[0]} changed): the "
            "tokenizer, or the library that cuts text into pieces, is another one; start a new run"
        )


def _check_window(recipe: PretrainingRecipe, pretrained: Pretrained) -> None:
    if recipe.text.window > pretrained.encoder.longest:
        raise RecipeError(
            f"text.window = {recipe.text.window} is more than the "
            f"{plural(pretrained.encoder.longest, 'piece')} that {recipe.model.encoder} reads; "
            "lower it"
        )


def _facts(recipe: PretrainingRecipe, material: _Material, trainer: Trainer) -> Facts:
    text, tokenizer = material.text, material.pretrained.tokenizer
    return Facts(
        data=data_facts(recipe),
        more={
            "documents": text.counts.as_dict(),
            "tokenizer": {"sha256": tokenizer.sha256, "size": tokenizer.size},
            **text.facts(),
            **({"vocabulary": material.vocabulary} if material.vocabulary else {}),
            **trainer.facts(),
        },
        notes=[
            *_vocabulary_notes(material.vocabulary),
            *text.notes(recipe.text),
            *([] if text.counts.held_out else [_UNSCORED]),
            *trainer.notes(),
        ],
    )


def _vocabulary_notes(vocabulary: Mapping[str, int]) -> Iterator[str]:
    if vocabulary:
        sizes = {name: f"{size:,}" for name, size in vocabulary.items()}
        yield (
            f"vocabulary: {sizes['left_out']} of {sizes['before']} pieces are left out and "
            f"{sizes['added']} are new, which leaves {sizes['now']}"
        )
