"""Recipes of masked language modelling: training of an encoder on raw text before a recogniser
is trained on it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from fascicle.settings.base import (
    Name,
    Natural,
    NotNegative,
    Positive,
    Rate,
    RecipeBase,
    Settings,
    Share,
)
from fascicle.settings.recipes.corpora import TextSettings
from fascicle.settings.recipes.recogniser import TrainingSettings


class PretrainedSettings(Settings, frozen=True, kw_only=True):
    """The encoder to begin with.

    Attributes:
        encoder: a Hugging Face name, a folder, or ``package:NAME/FOLDER`` for a folder inside an
            installed package.
        revision: branch, tag or commit on the hub; empty for the default.
    """

    encoder: Name
    revision: str = ""


class VocabularySettings(Settings, frozen=True, kw_only=True):
    """Changes of the vocabulary before training: smaller, and with words of the text as pieces
    (WordPiece only).

    Attributes:
        prune: leave out the pieces that the text does not need. Special tokens, single characters
            and bytes stay, so that every text that could be read before can be read afterwards.
        keep_frequency: with ``prune``: a piece stays if it occurs at least this often in the text.
        add_words: most words that become pieces of their own; 0 for none. The most frequent ones
            are taken; their vector starts as the mean of the vectors of their pieces.
        word_pieces: a word may become a piece if it falls into this many pieces or more.
        word_frequency: and if it occurs at least this often in the text.
        word_documents: and in at least this many documents.
    """

    prune: bool = False
    keep_frequency: Positive = 1
    add_words: Natural = 0
    word_pieces: Annotated[int, Meta(ge=2, le=100)] = 3
    word_frequency: Positive = 20
    word_documents: Positive = 5

    @property
    def is_changed(self) -> bool:
        """True if the vocabulary differs from that of the encoder."""
        return self.prune or self.add_words > 0


class MaskingSettings(Settings, frozen=True, kw_only=True):
    """What is hidden and guessed; drawn anew in every epoch (dynamic masking, RoBERTa §4.1).

    Attributes:
        share: chance of each word to be guessed.
        whole_words: guess all pieces of a word or none of them; else each piece is drawn by itself.
        masked: of the pieces to guess, the share that the mask token replaces (BERT §3.1: 0.8).
        random: of them, the share that a piece drawn from the vocabulary replaces; the others stay
            as they are.
    """

    share: Annotated[float, Meta(gt=0.0, lt=1.0)] = 0.15
    whole_words: bool = True
    masked: Share = 0.8
    random: Share = 0.1

    def __post_init__(self) -> None:
        """Refuses shares whose sum exceeds 1."""
        if self.masked + self.random > 1.0 + 1e-9:
            raise ValueError(
                f"masked = {self.masked:g} and random = {self.random:g} are together more than 1"
            )


class PretrainingSettings(Settings, frozen=True, kw_only=True):
    """How the weights are trained: AdamW, with a rate that rises and then falls to zero in a line.

    Attributes:
        epochs: passes over the text.
        batch_size: windows per step.
        accumulation: batches whose gradients are averaged before the weights change.
        learning_rate: highest learning rate of the encoder.
        head_learning_rate: highest learning rate of the layer that guesses, which is new; 0 means
            ``learning_rate``.
        weight_decay: decoupled weight decay; not on biases and normalisations.
        warmup: share of all steps over which the rate rises from zero.
        clip: largest norm of the gradient; 0 for no limit.
        precision: as of a recogniser.
        validate_every_steps: measure the pseudo-perplexity of held-out text, and write the encoder,
            after this many steps and after the last one; 0 for the end of every epoch.
        checkpoint_minutes: write the checkpoint that ``--resume`` needs after this many minutes,
            too; 0 for never.
    """

    epochs: Positive = 1
    batch_size: Positive = 16
    accumulation: Positive = 1
    learning_rate: Rate = 1e-4
    head_learning_rate: Share = 0.0
    weight_decay: NotNegative = 0.01
    warmup: Share = 0.06
    clip: NotNegative = 1.0
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    validate_every_steps: Natural = 500
    checkpoint_minutes: NotNegative = 10.0

    def as_training(self) -> TrainingSettings:
        """Returns the same settings as those of the training loop."""
        same = (
            "epochs",
            "batch_size",
            "accumulation",
            "learning_rate",
            "head_learning_rate",
            "weight_decay",
            "warmup",
        )
        return TrainingSettings(
            **{name: getattr(self, name) for name in (*same, "clip", "precision")},
            validate_every_steps=self.validate_every_steps,
            select="last",
        )


class PretrainingRecipe(RecipeBase, frozen=True, kw_only=True):
    """The recipe of a pretraining; see ``RecipeBase``."""

    text: TextSettings
    model: PretrainedSettings
    vocabulary: VocabularySettings = VocabularySettings()
    masking: MaskingSettings = MaskingSettings()
    training: PretrainingSettings = PretrainingSettings()

    def files(self) -> dict[str, str]:
        """Returns the paths of all data that determine a run, by their keys in the recipe, e.g.
        ``"text.files.0"``.
        """
        return self.text.paths()
