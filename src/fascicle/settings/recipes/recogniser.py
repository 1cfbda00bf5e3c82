"""Settings of a recogniser recipe and of a model, as frozen keyword-only structures that check
themselves.

Names and rules of settings are defined only here; ``any.py`` turns a TOML file into a ``Recipe``.
The settings page of the documentation is made from these docstrings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from fascicle.settings.base import (
    LARGEST,
    Name,
    Natural,
    NotNegative,
    Positive,
    Rate,
    RecipeBase,
    Settings,
    Share,
)
from fascicle.settings.heads import HEADS, AnyHead, SoftmaxSettings
from fascicle.settings.inputs import InputSettings
from fascicle.settings.recipes.corpora import CorpusSettings, MixtureSettings, PartSettings

PartName = Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*\Z")]


class DistantSettings(Settings, frozen=True, kw_only=True):
    """Weak labels: matches of a dictionary replace the human labels of train and dev (*binder* §3).

    Both files are tables with one name in a row and columns separated by TAB. They may be packed
    with gzip.

    Attributes:
        core: file of names with their types, or the folder of a term pack, for which no other
            setting of this table counts; ``$NAME`` is an environment variable.
        full: file of phrases of unknown type, one in a row. Training uses nothing where one is
            found; empty for none.
        rule: what matches, see ``terms/dictionary.py``: ``"three-casings"`` (each name as written,
            in capitals and in lower case; stop words never match), or ``"raw"`` (as written, names
            with a type only).
        name_column: column of the names in ``core``, from 0.
        type_column: column of the types in ``core``, from 0; not read if ``type`` is set.
        type: type of all names, if ``core`` has no column of types.
        header: whether the first row of ``core`` names its columns.
        encoding: encoding of both files.
    """

    core: Name
    full: str = ""
    rule: Literal["three-casings", "raw"] = "three-casings"
    name_column: Natural = 1
    type_column: Natural = 0
    type: str = ""
    header: bool = False
    encoding: Name = "utf-8"

    def __post_init__(self) -> None:
        """Refuses phrases that the rule does not use, and impossible columns."""
        if self.full and self.rule == "raw":
            raise ValueError(
                f'full = "{self.full}" needs rule = "three-casings": "raw" takes names with a '
                "type only"
            )
        if self.type and self.type_column:
            raise ValueError(
                f'type = "{self.type}" and type_column = {self.type_column} exclude each other: '
                "give one"
            )
        if not self.type and self.name_column == self.type_column:
            raise ValueError(
                f"name_column and type_column are both {self.name_column}: give each its own, or "
                "say type"
            )


class ReadingSettings(Settings, frozen=True, kw_only=True):
    """What the network reads at a time. Stored with the model, because training and inference must
    not differ.

    Attributes:
        unit: ``"sentence"``, or ``"packed"``: consecutive sentences of a document that fit into one
            window.
        max_length: pieces in a window, special tokens included.
        overlap: pieces that neighbouring windows of one long text share. Each unit is scored in the
            window in which it is farther from the edge.
        segmenter: sentences and words for text that has none.
        context_characters: characters of the same document that are read on each side of a
            sentence, only to inform the sentence itself (*comparing-and-combining* §3: 100); fewer
            at ``max_length``.
        context_sentences: the same in sentences on each side; give at most one of the two.
    """

    unit: Literal["sentence", "packed"] = "sentence"
    max_length: Annotated[int, Meta(ge=8, le=LARGEST)] = 256
    overlap: Natural = 32
    segmenter: Name = "rules@1"
    context_characters: Natural = 0
    context_sentences: Natural = 0

    def __post_init__(self) -> None:
        """Refuses an overlap without progress from window to window, and context without effect."""
        self._check_context()
        if self.overlap > self.max_length // 2:
            raise ValueError(
                f"overlap = {self.overlap} is too large for max_length = {self.max_length}: at "
                "most half is allowed"
            )

    def _check_context(self) -> None:
        settings = [
            f"{name} = {getattr(self, name)}"
            for name in ("context_characters", "context_sentences")
            if getattr(self, name)
        ]
        if len(settings) > 1:
            raise ValueError(f"{' and '.join(settings)} exclude each other: set one of them to 0")
        if settings and self.unit == "packed":
            raise ValueError(
                f'{settings[0]} needs unit = "sentence": packed sentences are read with their '
                "neighbours already"
            )


class NetworkSettings(Settings, frozen=True, kw_only=True):
    """The encoder of a network.

    Attributes:
        encoder: a Hugging Face name, a folder, or ``package:NAME/FOLDER`` for a folder inside an
            installed package.
        revision: branch, tag or commit on the hub; empty for the default.
        start: in place of ``encoder``, a run folder or a model folder of torch, or a model that
            ships. Its encoder is taken with its weights.
    """

    encoder: str = ""
    revision: str = ""
    start: Name | UnsetType = UNSET  # not written if unset, as before this key existed

    def __post_init__(self) -> None:
        """Refuses a table without an encoder, or with two."""
        if bool(self.encoder) == bool(self.start):
            conflict = "encoder and start exclude each other: give one of the two"
            raise ValueError(
                conflict
                if self.start
                else "encoder is missing: name an encoder, or a trained model as start"
            )
        if self.start and self.revision:
            raise ValueError("revision is about an encoder from the hub: leave it out beside start")

    @property
    def origin(self) -> str:
        """Origin of the encoder, for messages."""
        return self.start or self.encoder


class ModelSettings(NetworkSettings, frozen=True, kw_only=True):
    """The encoder, and the head on it. In a recipe file, this table also contains the settings of
    the head.

    A head of the model ``start`` goes on with its weights too, if its settings and the types are
    the same; otherwise it is new.

    Attributes:
        head: of one of the families in ``settings/heads.py``.
    """

    head: AnyHead = SoftmaxSettings()


class PieceSettings(Settings, frozen=True, kw_only=True):
    """A smaller vocabulary for the encoder, cut before training (WordPiece only).

    Attributes:
        pieces: this many pieces stay, those that are most frequent in train. Special tokens, single
            characters and bytes stay beside them, so that every text that could be read before can
            be read afterwards.
    """

    pieces: Positive


class DecisionSettings(Settings, frozen=True, kw_only=True):
    """What is fitted on the development part after training, for the chosen model.

    Attributes:
        tune: ``"nothing"``: fit the bias of "no mention" in decoding (``decision.nothing`` of
            ``model.json``) by dev F1; ``"no"``: use the scores unchanged.
        abbreviations: ``"fit"``: after that, choose by dev F1 which rules for the short and long
            forms of a document are on (``decision.abbreviations``), with none as a possible choice;
            ``"off"``: none.
        apart: types that the model gives out only when they are asked for: names that one corpus
            alone has a guideline of its own for.
    """

    tune: Literal["no", "nothing"] = "no"
    abbreviations: Literal["off", "fit"] = "off"
    apart: tuple[str, ...] = ()


class BundleSettings(Settings, frozen=True, kw_only=True):
    """A second head on the same encoder, trained together with the head of the model
    (*bundling-learning* §3.2).

    In a recipe file, this table also contains the settings of the head. Heads are named after their
    families.

    Attributes:
        head: of one of the families in ``settings/heads.py``.
        name: name of the head; empty for its family.
        weight: weight of its loss; the head of the model has 1 less this. For a tagger bundled onto
            a span classifier it is the alpha of the paper, 0.1 there.
        answer: name of the head whose model becomes ``best``; empty for the head of the model. Both
            are trained and scored.
    """

    head: AnyHead = SoftmaxSettings()
    name: Annotated[str, Meta(pattern=r"^[a-z0-9_]*\Z")] = ""
    weight: Share = 0.1
    answer: str = ""


class TrainingSettings(Settings, frozen=True, kw_only=True):
    """How the weights are trained.

    Attributes:
        epochs: passes over the training windows.
        batch_size: windows per step.
        accumulation: batches whose gradients are averaged before the weights change.
        optimizer: ``"adamw"``, ``"adafactor"`` (fixed rate, no relative step, no parameter
            scaling), or ``"adam"`` (without weight decay).
        learning_rate: learning rate of the last layer of the encoder.
        head_learning_rate: learning rate of everything that is not encoder; 0 means
            ``learning_rate``.
        layer_decay: the rate of each layer is that of the layer above times this; 1 for equal
            rates.
        weight_decay: decoupled weight decay; not on biases and normalisations.
        schedule: ``"linear"`` to zero, or ``"constant"``, after the warm-up.
        warmup: share of all steps over which the rate rises from zero.
        clip: largest norm of the gradient; 0 for no limit.
        hidden_pieces: share of pieces replaced by the mask token, drawn anew in every epoch, so
            that the model learns from context and not only from the words themselves.
        precision: ``"fp32"``, ``"bf16"`` (autocast), or ``"auto"``: bf16 if the processor has
            instructions for it. The run folder records the choice.
        average: evaluate and keep the raw weights (``"none"``), their exponential moving average
            (``"ema"``), or the mean of the weights after the last ``average_epochs`` epochs
            (``"last"``).
        average_decay: decay of the moving average, per step.
        average_epochs: epochs in the mean.
        validate_every_steps: score dev, and write the checkpoint that ``--resume`` needs, after
            this many steps and after the last one; 0 for the end of every epoch.
        select: the checkpoint to keep: ``"best-dev"`` by micro F1, or the ``"last"``.
        patience_epochs: stop after this many epochs without a better dev F1; 0 for never.
        patience_validations: stop after dev was scored this many times without a better F1; 0 for
            never.
    """

    epochs: Positive = 8
    batch_size: Positive = 16
    accumulation: Positive = 1
    optimizer: Literal["adamw", "adafactor", "adam"] = "adamw"
    learning_rate: Rate = 1e-4
    head_learning_rate: Share = 0.0
    layer_decay: Rate = 1.0
    weight_decay: NotNegative = 0.01
    schedule: Literal["linear", "constant"] = "linear"
    warmup: Share = 0.1
    clip: NotNegative = 1.0
    hidden_pieces: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.0
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    average: Literal["none", "ema", "last"] = "none"
    average_decay: Annotated[float, Meta(gt=0.0, lt=1.0)] = 0.995
    average_epochs: Positive = 3
    validate_every_steps: Natural = 0
    select: Literal["best-dev", "last"] = "best-dev"
    patience_epochs: Natural = 0
    patience_validations: Natural = 0

    def __post_init__(self) -> None:
        """Refuses patience in epochs if dev is scored within them, two kinds of patience, Adam
        with decay, and settings of another average.
        """
        for average, name in (("ema", "average_decay"), ("last", "average_epochs")):
            if self.average != average:
                self._refuse_changed(f'average = "{self.average}"', name)
        if self.patience_epochs and self.patience_validations:
            raise ValueError(
                f"patience_epochs = {self.patience_epochs} and patience_validations = "
                f"{self.patience_validations} exclude each other: set one of them to 0"
            )
        if self.validate_every_steps and self.patience_epochs:
            raise ValueError(
                f"patience_epochs = {self.patience_epochs} counts epochs, but validate_every_steps "
                f"= {self.validate_every_steps} scores dev in between: give patience_validations "
                "instead"
            )
        if self.validate_every_steps and self.average == "last":
            raise ValueError(
                'average = "last" is made at ends of epochs, but validate_every_steps = '
                f"{self.validate_every_steps} "
                'scores dev in between: choose "ema" or "none", or validate_every_steps = 0'
            )
        if self.optimizer == "adam" and self.weight_decay:
            raise ValueError(
                'optimizer = "adam" takes no weight decay: set weight_decay = 0, or choose "adamw"'
            )


class Recipe(RecipeBase, frozen=True, kw_only=True):
    """The recipe of a recogniser; see ``RecipeBase``. It has either one ``corpus`` or several
    ``parts``.
    """

    corpus: CorpusSettings | UnsetType = UNSET
    # not written if unset, as before this table existed
    parts: dict[PartName, PartSettings] | UnsetType = UNSET
    mixture: MixtureSettings | UnsetType = UNSET  # the same
    # not written if unset, as before this table existed
    distant: DistantSettings | UnsetType = UNSET
    inputs: InputSettings | UnsetType = UNSET  # the same
    vocabulary: PieceSettings | UnsetType = UNSET  # the same
    reading: ReadingSettings = ReadingSettings()
    model: ModelSettings
    bundle: BundleSettings | None = None
    training: TrainingSettings = TrainingSettings()
    decision: DecisionSettings = DecisionSettings()

    def __post_init__(self) -> None:
        """Refuses invalid combinations of settings."""
        super().__post_init__()
        if self.bundle is not None:
            _check_bundle(self.model.head, self.bundle)
        self._check_corpora()
        if self.corpus and self.corpus.types is not UNSET and self.distant is not UNSET:
            raise ValueError(
                "corpus.types and distant exclude each other: the types of weak labels are those "
                "of the dictionary, so name them there as the test part does"
            )

    def _check_corpora(self) -> None:
        """Refuses no corpus, a corpus beside parts, tables without effect without parts, and
        parts without dev.
        """
        if not self.parts:
            if not self.corpus:
                raise ValueError(
                    "no corpus is named: write a table [corpus], or a table [parts.NAME] for "
                    "each of several"
                )
            if self.mixture:
                raise ValueError(
                    "mixture is about several corpora: give each a table [parts.NAME], or remove it"
                )
            return
        for name, table in (("corpus", self.corpus), ("distant", self.distant)):
            if table:
                raise ValueError(f"{name} and parts exclude each other: remove one of the two")
        if not any(part.dev for part in self.parts.values()):
            raise ValueError("no part names dev, on which the model is chosen: give one at least")
        for head in self.heads().values():
            if self.masks() and not head.needs.masks:
                raise ValueError(_cannot_mask(head.family, self.masks()))
            if not head.needs.soft and (
                soft := [name for name, part in self.parts.items() if part.soft]
            ):
                raise ValueError(_cannot_be_soft(head.family, soft[0]))

    def corpora(self) -> dict[str, PartSettings]:
        """Returns the parts by name, sorted, since their order in a file has no effect; empty
        for a single corpus.
        """
        return dict(sorted((self.parts or {}).items()))

    def types(self) -> tuple[str, ...]:
        """Returns the types that any part annotates, sorted; empty for a single corpus."""
        return tuple(sorted({name for part in self.corpora().values() for name in part.annotates}))

    def masks(self) -> dict[str, tuple[str, ...]]:
        """Returns the missing types of each part with such types; the part gives no training
        signal for them.
        """
        if self.mixture and self.mixture.unannotated == "absent":
            return {}
        lacking = {
            n: tuple(t for t in self.types() if t not in p.annotates)
            for n, p in self.corpora().items()
        }
        return {name: types for name, types in lacking.items() if types}

    def files(self) -> dict[str, str]:
        """Returns the paths of all data that determine a run, by their keys in the recipe, e.g.
        ``"corpus.train"``.
        """
        paths = self.corpus.files() if self.corpus else {}
        for name, part in self.corpora().items():
            paths |= part.files(f"parts.{name}")
        if self.distant is not UNSET:
            paths |= {"distant.core": self.distant.core, "distant.full": self.distant.full}
        if self.inputs:
            paths |= {f"inputs.{key}": path for key, path in self.inputs.files().items()}
        paths["model.start"] = self.model.start or ""
        paths["model.types"] = self.model.head.needs.types
        paths["bundle.types"] = self.bundle.head.needs.types if self.bundle else ""
        return {key: path for key, path in paths.items() if path}

    def heads(self) -> dict[str, AnyHead]:
        """Returns the heads by name, the model's own first."""
        own = self.model.head
        return {own.family: own} | (
            {self.bundle.name or self.bundle.head.family: self.bundle.head} if self.bundle else {}
        )

    def weights(self) -> dict[str, float]:
        """Returns the weight of each head's loss; their sum is 1."""
        if self.bundle is None:
            return {self.model.head.family: 1.0}
        return dict(zip(self.heads(), (1.0 - self.bundle.weight, self.bundle.weight), strict=True))

    def answer(self) -> str:
        """Returns the name of the head whose model becomes ``best``."""
        return (self.bundle.answer if self.bundle else "") or self.model.head.family


def _cannot_mask(family: str, masks: Mapping[str, tuple[str, ...]]) -> str:
    able = ", ".join(f'"{name}"' for name, kind in HEADS.items() if kind().needs.masks)
    part, types = next(iter(masks.items()))
    return (
        f'family = "{family}" cannot leave types out of its loss, but parts.{part} does not '
        "annotate "
        f"{', '.join(map(repr, types))}: choose {able}, or parts that annotate the same types"
    )


def _cannot_be_soft(family: str, part: str) -> str:
    able = ", ".join(f'"{name}"' for name, kind in HEADS.items() if kind().needs.soft)
    return (
        f'family = "{family}" cannot be taught probabilities, as parts.{part}.soft asks: choose '
        f"{able}, or set "
        "soft = false"
    )


def _check_bundle(head: AnyHead, bundle: BundleSettings) -> None:
    """Refuses two heads with one name, an answer without a head, and windows left out for one of
    two heads.
    """
    own, second = head.family, bundle.name or bundle.head.family
    if any(h.needs.windows != "all" for h in (head, bundle.head)):
        raise ValueError(
            'windows = "mentions" is not allowed in a bundle, whose heads learn from the same '
            "windows"
        )
    if second == own:
        raise ValueError(
            f'both heads of the bundle are called "{own}": give the second another with bundle.name'
        )
    if bundle.answer not in ("", own, second):
        raise ValueError(
            f'bundle.answer = "{bundle.answer}" is not a head of the bundle: choose "{own}" or '
            f'"{second}"'
        )
