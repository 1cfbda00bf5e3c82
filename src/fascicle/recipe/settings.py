"""Every setting of a recipe and of a model, as frozen keyword-only structures that check themselves.

The field's own names and rules stand here and nowhere else; ``recipe/reader.py`` turns a TOML file into a ``Recipe``.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Positive = Annotated[int, Meta(ge=1)]
Natural = Annotated[int, Meta(ge=0)]
Rate = Annotated[float, Meta(gt=0.0, le=1.0)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
NotNegative = Annotated[float, Meta(ge=0.0, le=1e6)]
Name = Annotated[str, Meta(min_length=1)]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all settings: frozen, by name only, unknown names refused."""


class CorpusSettings(Settings, frozen=True, kw_only=True):
    """Where the documents are and how to read them.

    Attributes:
        train: file or folder of training documents; ``$NAME`` stands for an environment variable.
        dev: development documents: every choice is made on them.
        test: test documents, scored once at the end; empty for none.
        format: name of a format, or ``"auto"``.
        documents: what a document of a column file is: ``"sentence"``, ``"docstart"``, ``"file"`` (all sentences in one
            document, so that neighbours can be packed) or ``"auto"``.
        where: ``field=value``, to keep only the records of a JSON Lines file with that value; ``{part}`` in it stands
            for ``train``, ``dev`` or ``test``; empty for all.
        columns: of a column file, token first, then tags, from 0: ``"0,3"``, ``"0,1,2"`` (layers), ``"0,all"``; empty
            for the first and the last.
        shape: of JSON records, a name of ``formats/shapes.py`` or ``"auto"``.
        fields: changes to that shape, each ``"NAME=VALUE"``.
        encoding: of the files.
    """

    train: Name
    dev: Name
    test: str = ""
    format: Name = "auto"
    documents: Literal["auto", "sentence", "docstart", "file"] = "auto"
    where: str = ""
    columns: str = ""
    shape: Name = "auto"
    fields: tuple[str, ...] = ()
    encoding: Name = "utf-8"


class ReadingSettings(Settings, frozen=True, kw_only=True):
    """What the network reads at a time. Stored with the model: training and inference must not differ.

    Attributes:
        unit: ``"sentence"``, or ``"packed"``: consecutive sentences of a document that fit into one window.
        max_length: pieces in a window, special tokens included.
        overlap: pieces that neighbouring windows of one long text share; each unit is scored in the window where it
            stands farther from the edge.
        segmenter: sentences and words for text that comes without them.
    """

    unit: Literal["sentence", "packed"] = "sentence"
    max_length: Annotated[int, Meta(ge=8)] = 256
    overlap: Natural = 32
    segmenter: Name = "rules@1"

    def __post_init__(self) -> None:
        """Refuses an overlap that would leave no progress from window to window."""
        if self.overlap > self.max_length // 2:
            raise ValueError(
                f"overlap = {self.overlap} is too large for max_length = {self.max_length}: at most half is allowed"
            )


class HeadSettings(Settings, frozen=True, kw_only=True):
    """One tagger head (paper *comparing-and-combining* §4.1-4.2, *bundling-learning* §3.1.2).

    Attributes:
        family: a name of ``models/families.py``.
        level: what carries a tag: each ``"word"`` or each ``"piece"``.
        pooling: how the pieces of a word become one vector; pieces need none.
        scheme: tags of training, ``"BIO"`` or ``"IO"``.
        specials: whether special tokens, tagged O, take part in the loss; for pieces only.
        decoding: ``"strict"``, ``"lenient"`` (an orphan I- opens a mention), or ``"viterbi"`` (best legal path).
        dropout: probability of dropping a state before the linear layer.
    """

    family: Name = "softmax"
    level: Literal["word", "piece"] = "word"
    pooling: Literal["first", "max", "mean"] = "first"
    scheme: Literal["BIO", "IO"] = "BIO"
    specials: Literal["exclude", "include"] = "exclude"
    decoding: Literal["strict", "lenient", "viterbi"] = "viterbi"
    dropout: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.1

    def __post_init__(self) -> None:
        """Refuses combinations that mean nothing."""
        if self.level == "piece" and self.pooling != "first":
            raise ValueError(f'pooling = "{self.pooling}" needs level = "word": a piece has nothing to pool')
        if self.level == "word" and self.specials == "include":
            raise ValueError('specials = "include" needs level = "piece": special tokens are not words')
        if self.family == "crf" and self.decoding != "viterbi":
            raise ValueError(f'decoding = "{self.decoding}" is not allowed with family = "crf": use "viterbi"')


class ModelSettings(HeadSettings, frozen=True, kw_only=True):
    """The encoder, and the head on it.

    Attributes:
        encoder: a Hugging Face name, a folder, or ``package:NAME/FOLDER`` for a folder inside an installed package.
        revision: branch, tag or commit on the hub; empty for the default.
    """

    encoder: Name
    revision: str = ""

    def head(self) -> HeadSettings:
        """The settings of the head alone."""
        return HeadSettings(**{name: getattr(self, name) for name in HeadSettings.__struct_fields__})


class TrainingSettings(Settings, frozen=True, kw_only=True):
    """How the weights are found.

    Attributes:
        epochs: passes over the training windows.
        batch_size: windows per step.
        accumulation: batches whose gradients are averaged before the weights change.
        optimizer: ``"adamw"`` or ``"adafactor"`` (fixed rate, no relative step, no parameter scaling).
        learning_rate: of the encoder's last layer.
        head_learning_rate: of everything that is not encoder; 0 means ``learning_rate``.
        layer_decay: the rate of each layer is that of the layer above times this; 1 for equal rates.
        weight_decay: decoupled; not on biases and normalisations.
        schedule: ``"linear"`` to zero, or ``"constant"``, after the warm-up.
        warmup: share of all steps over which the rate rises from zero.
        clip: largest norm of the gradient; 0 for no limit.
        hidden_pieces: share of pieces replaced by the mask token, drawn anew in every epoch, so that context is learnt
            and not only the words themselves.
        precision: ``"fp32"``, or ``"bf16"`` (autocast).
        average: evaluate and keep the raw weights (``"none"``), their exponential moving average (``"ema"``), or the
            mean of the weights after the last ``average_epochs`` epochs (``"last"``).
        average_decay: of the moving average, per step.
        average_epochs: epochs in the mean.
        select: keep the epoch that is ``"best-dev"`` by micro F1, or the ``"last"``.
        patience_epochs: stop after so many epochs without a better dev F1; 0 for never.
    """

    epochs: Positive = 8
    batch_size: Positive = 16
    accumulation: Positive = 1
    optimizer: Literal["adamw", "adafactor"] = "adamw"
    learning_rate: Rate = 1e-4
    head_learning_rate: Share = 0.0
    layer_decay: Rate = 1.0
    weight_decay: NotNegative = 0.01
    schedule: Literal["linear", "constant"] = "linear"
    warmup: Share = 0.1
    clip: NotNegative = 1.0
    hidden_pieces: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.0
    precision: Literal["fp32", "bf16"] = "bf16"
    average: Literal["none", "ema", "last"] = "none"
    average_decay: Annotated[float, Meta(gt=0.0, lt=1.0)] = 0.995
    average_epochs: Positive = 3
    select: Literal["best-dev", "last"] = "best-dev"
    patience_epochs: Natural = 0


class Recipe(Settings, frozen=True, kw_only=True):
    """Everything that decides what a training run gives, apart from the data itself and the versions of software."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    seed: Natural = 1
    corpus: CorpusSettings
    reading: ReadingSettings = ReadingSettings()
    model: ModelSettings
    training: TrainingSettings = TrainingSettings()

    def __post_init__(self) -> None:
        """Refuses the name that stands for human annotation."""
        if self.name == "gold":
            raise ValueError('the name "gold" is that of human annotation; give the model another')
