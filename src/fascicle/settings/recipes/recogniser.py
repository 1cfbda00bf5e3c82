"""Every setting of a recipe and of a model, as frozen keyword-only structures that check themselves.

Names and rules of settings are defined only here; ``reader.py`` turns a TOML file into a ``Recipe``. The
settings page of the documentation is made from these docstrings.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from fascicle.settings.base import LARGEST, Name, Natural, NotNegative, Positive, Rate, RecipeBase, Settings, Share
from fascicle.settings.heads import AnyHead, SoftmaxSettings


class CorpusTypes(Settings, frozen=True, kw_only=True):
    """Which types of a corpus are used, and under which names, in train, dev and test.

    All labels are those of the files. A label that no gold mention of the corpus has is refused.

    Attributes:
        keep: labels whose mentions are gold; empty for all.
        drop: labels whose mentions are left out; give at most one of ``keep`` and ``drop``.
        rename: label -> new name of its mentions. Several labels may get one name.
    """

    keep: tuple[Name, ...] = ()
    drop: tuple[Name, ...] = ()
    rename: dict[Name, Name] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses lists that exclude each other, labels given twice, and names for labels left out."""
        if self.keep and self.drop:
            raise ValueError("keep and drop exclude each other: name the labels to keep, or those to leave out")
        if not (self.keep or self.drop or self.rename):
            raise ValueError("[corpus.types] is empty: set keep, drop or rename, or remove the table")
        for key, labels in (("keep", self.keep), ("drop", self.drop)):
            twice = sorted({label for label in labels if labels.count(label) > 1})
            if twice:
                raise ValueError(f"{key} names {twice[0]!r} twice: name it once")
        lost = sorted(label for label in self.rename if not self.keeps(label))
        if lost:
            raise ValueError(f"rename names {lost[0]!r}, whose mentions are left out: remove one of the two")

    def keeps(self, label: str) -> bool:
        """Whether the mentions of a label are gold."""
        return label not in self.drop and (not self.keep or label in self.keep)


class CorpusSettings(Settings, frozen=True, kw_only=True):
    """Where the documents are and how to read them.

    Attributes:
        train: file or folder of training documents; ``$NAME`` is an environment variable.
        dev: file or folder of development documents, on which every choice is made.
        test: file or folder of test documents, scored once at the end; empty for none.
        format: name of a format, or ``"auto"``.
        documents: what a document of a column file is: ``"sentence"``, ``"docstart"``, ``"file"`` (all sentences in one
            document, so that neighbours can be packed) or ``"auto"``.
        where: ``field=value`` keeps only the records of a JSON Lines file with that value; ``{part}`` in it becomes
            ``train``, ``dev`` or ``test``; empty for all.
        columns: columns of a column file, from 0, the token first, then the tags: ``"0,3"``, ``"0,1,2"`` (layers),
            ``"0,all"``; empty for the first and the last.
        shape: shape of JSON records, a name of ``formats/shapes.py`` or ``"auto"``.
        fields: changes to that shape, each ``"NAME=VALUE"``.
        encoding: encoding of the files.
        labels: names of tags of JSON records that are numbers, in their order: ``"O,B-PER,I-PER"``, or a ``.json`` file
            that tells them; by default the file ``dataset_info.json`` beside the records.
        bare_tags: whether tags are types without a prefix (``person``, ``O``).
        exclude: exclusion list of ``fascicle corpus check``. Training leaves out the documents of train that it names.
        types: which types are used, and under which names; without this table all, with their own names.
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
    labels: Name | UnsetType = UNSET  # unset, these are in no file, as before there were such keys
    bare_tags: bool | UnsetType = UNSET
    exclude: Name | UnsetType = UNSET
    types: CorpusTypes | UnsetType = UNSET  # unset, it is in no file, as before there was such a table

    def __post_init__(self) -> None:
        """Takes the default in the place of a value that says the same."""
        if self.bare_tags is False:
            msgspec.structs.force_setattr(self, "bare_tags", UNSET)

    def files(self) -> dict[str, str]:
        """The paths of its data, each by the key that names it in a recipe, e.g. ``"corpus.train"``."""
        found = {f"corpus.{part}": getattr(self, part) for part in ("train", "dev", "test")}
        if self.labels is not UNSET and self.labels.lower().endswith(".json"):
            found["corpus.labels"] = self.labels
        if self.exclude is not UNSET:
            found["corpus.exclude"] = self.exclude
        return {key: path for key, path in found.items() if path}


class DistantSettings(Settings, frozen=True, kw_only=True):
    """Weak labels: matches of a dictionary replace the human labels of train and dev (*binder* §3).

    Both files are tables with one name in a row and columns separated by TAB. They may be packed with gzip.

    Attributes:
        core: file of names with their types; ``$NAME`` is an environment variable.
        full: file of phrases of unknown type, one in a row. Training uses nothing where one is found; empty for none.
        rule: what matches, see ``knowledge/rules.py``: ``"three-casings"`` (each name as written, in capitals and in
            lower case; stop words never match), or ``"raw"`` (as written, names with a type only).
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
            raise ValueError(f'full = "{self.full}" needs rule = "three-casings": "raw" takes names with a type only')
        if self.type and self.type_column:
            raise ValueError(f'type = "{self.type}" and type_column = {self.type_column} exclude each other: give one')
        if not self.type and self.name_column == self.type_column:
            raise ValueError(f"name_column and type_column are both {self.name_column}: give each its own, or say type")


class ReadingSettings(Settings, frozen=True, kw_only=True):
    """What the network reads at a time. Stored with the model, because training and inference must not differ.

    Attributes:
        unit: ``"sentence"``, or ``"packed"``: consecutive sentences of a document that fit into one window.
        max_length: pieces in a window, special tokens included.
        overlap: pieces that neighbouring windows of one long text share. Each unit is scored in the window in which it
            is farther from the edge.
        segmenter: sentences and words for text that has none.
        context_characters: characters of the same document that are read on each side of a sentence, only to inform the
            sentence itself (*comparing-and-combining* §3: 100); fewer at ``max_length``.
        context_sentences: the same in sentences on each side; give at most one of the two.
    """

    unit: Literal["sentence", "packed"] = "sentence"
    max_length: Annotated[int, Meta(ge=8, le=LARGEST)] = 256
    overlap: Natural = 32
    segmenter: Name = "rules@1"
    context_characters: Natural = 0
    context_sentences: Natural = 0

    def __post_init__(self) -> None:
        """Refuses an overlap that leaves no progress from window to window, and context without effect."""
        self._check_context()
        if self.overlap > self.max_length // 2:
            raise ValueError(
                f"overlap = {self.overlap} is too large for max_length = {self.max_length}: at most half is allowed"
            )

    def _check_context(self) -> None:
        given = [
            f"{name} = {getattr(self, name)}"
            for name in ("context_characters", "context_sentences")
            if getattr(self, name)
        ]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} exclude each other: set one of them to 0")
        if given and self.unit == "packed":
            raise ValueError(
                f'{given[0]} needs unit = "sentence": packed sentences are read with their neighbours already'
            )


class ModelSettings(Settings, frozen=True, kw_only=True):
    """The encoder, and the head on it. In a recipe file, this table also contains the settings of the head.

    Attributes:
        encoder: a Hugging Face name, a folder, or ``package:NAME/FOLDER`` for a folder inside an installed package.
        revision: branch, tag or commit on the hub; empty for the default.
        head: of one of the families in ``settings/heads.py``.
    """

    encoder: Name
    revision: str = ""
    head: AnyHead = SoftmaxSettings()


class DecisionSettings(Settings, frozen=True, kw_only=True):
    """What is fitted on the development part after training, for the chosen model.

    Attributes:
        tune: ``"nothing"``: fit the bias of "no mention" in decoding (``decision.nothing`` of ``model.json``) by dev
            F1; ``"no"``: use the scores unchanged.
    """

    tune: Literal["no", "nothing"] = "no"


class BundleSettings(Settings, frozen=True, kw_only=True):
    """A second head on the same encoder, trained together with the head of the model (*bundling-learning* §3.2).

    In a recipe file, this table also contains the settings of the head. Heads are named after their families.

    Attributes:
        head: of one of the families in ``settings/heads.py``.
        name: name of the head; empty for its family.
        weight: weight of its loss; the head of the model has 1 less this. For a tagger bundled onto a span classifier
            it is the alpha of the paper, 0.1 there.
        answer: name of the head whose model becomes ``best``; empty for the head of the model. Both are trained and
            scored.
    """

    head: AnyHead = SoftmaxSettings()
    name: Annotated[str, Meta(pattern=r"^[a-z0-9_]*$")] = ""
    weight: Share = 0.1
    answer: str = ""


class TrainingSettings(Settings, frozen=True, kw_only=True):
    """How the weights are trained.

    Attributes:
        epochs: passes over the training windows.
        batch_size: windows per step.
        accumulation: batches whose gradients are averaged before the weights change.
        optimizer: ``"adamw"``, ``"adafactor"`` (fixed rate, no relative step, no parameter scaling), or ``"adam"``
            (without weight decay).
        learning_rate: learning rate of the last layer of the encoder.
        head_learning_rate: learning rate of everything that is not encoder; 0 means ``learning_rate``.
        layer_decay: the rate of each layer is that of the layer above times this; 1 for equal rates.
        weight_decay: decoupled weight decay; not on biases and normalisations.
        schedule: ``"linear"`` to zero, or ``"constant"``, after the warm-up.
        warmup: share of all steps over which the rate rises from zero.
        clip: largest norm of the gradient; 0 for no limit.
        hidden_pieces: share of pieces replaced by the mask token, drawn anew in every epoch, so that the model learns
            from context and not only from the words themselves.
        precision: ``"fp32"``, ``"bf16"`` (autocast), or ``"auto"``: bf16 if the processor has instructions for it. The
            run folder records the choice.
        average: evaluate and keep the raw weights (``"none"``), their exponential moving average (``"ema"``), or the
            mean of the weights after the last ``average_epochs`` epochs (``"last"``).
        average_decay: decay of the moving average, per step.
        average_epochs: epochs in the mean.
        validate_every_steps: score dev, and write the checkpoint that ``--resume`` needs, after this many steps and
            after the last one; 0 for the end of every epoch.
        select: the checkpoint to keep: ``"best-dev"`` by micro F1, or the ``"last"``.
        patience_epochs: stop after this many epochs without a better dev F1; 0 for never.
        patience_validations: stop after dev was scored this many times without a better F1; 0 for never.
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
        """Refuses patience in epochs if dev is scored within them, two kinds of patience, and Adam with decay."""
        if self.patience_epochs and self.patience_validations:
            raise ValueError(
                f"patience_epochs = {self.patience_epochs} and patience_validations = {self.patience_validations} "
                "exclude each other: set one of them to 0"
            )
        if self.validate_every_steps and self.patience_epochs:
            raise ValueError(
                f"patience_epochs = {self.patience_epochs} counts epochs, but validate_every_steps = "
                f"{self.validate_every_steps} scores dev in between: give patience_validations instead"
            )
        if self.validate_every_steps and self.average == "last":
            raise ValueError(
                f'average = "last" is made at ends of epochs, but validate_every_steps = {self.validate_every_steps} '
                'scores dev in between: choose "ema" or "none", or validate_every_steps = 0'
            )
        if self.optimizer == "adam" and self.weight_decay:
            raise ValueError('optimizer = "adam" takes no weight decay: set weight_decay = 0, or choose "adamw"')


class Recipe(RecipeBase, frozen=True, kw_only=True):
    """The recipe of a recogniser; see ``RecipeBase``."""

    corpus: CorpusSettings
    distant: DistantSettings | UnsetType = UNSET  # unset, it is in no file, as before there was such a table
    reading: ReadingSettings = ReadingSettings()
    model: ModelSettings
    bundle: BundleSettings | None = None
    training: TrainingSettings = TrainingSettings()
    decision: DecisionSettings = DecisionSettings()

    def __post_init__(self) -> None:
        """Refuses what does not go together."""
        super().__post_init__()
        if self.bundle is not None:
            _check_bundle(self.model.head, self.bundle)
        if self.corpus.types is not UNSET and self.distant is not UNSET:
            raise ValueError(
                "corpus.types and distant exclude each other: the types of weak labels are those of the dictionary, so "
                "name them there as the test part does"
            )

    def files(self) -> dict[str, str]:
        """The paths of all data that decide a run, each by the key that names it, e.g. ``"corpus.train"``."""
        found = self.corpus.files()
        if self.distant is not UNSET:
            found |= {"distant.core": self.distant.core, "distant.full": self.distant.full}
        found["model.types"] = self.model.head.needs.types
        found["bundle.types"] = self.bundle.head.needs.types if self.bundle else ""
        return {key: path for key, path in found.items() if path}

    def heads(self) -> dict[str, AnyHead]:
        """The heads by name, the model's own first."""
        own = self.model.head
        return {own.family: own} | (
            {self.bundle.name or self.bundle.head.family: self.bundle.head} if self.bundle else {}
        )

    def weights(self) -> dict[str, float]:
        """The weight of each head's loss; their sum is 1."""
        if self.bundle is None:
            return {self.model.head.family: 1.0}
        return dict(zip(self.heads(), (1.0 - self.bundle.weight, self.bundle.weight), strict=True))

    def answer(self) -> str:
        """Name of the head whose model becomes ``best``."""
        return (self.bundle.answer if self.bundle else "") or self.model.head.family


def _check_bundle(head: AnyHead, bundle: BundleSettings) -> None:
    """Refuses two heads with one name, an answer without a head, and windows left out for one of two heads."""
    own, second = head.family, bundle.name or bundle.head.family
    if any(h.needs.windows != "all" for h in (head, bundle.head)):
        raise ValueError('windows = "mentions" is not allowed in a bundle, whose heads learn from the same windows')
    if second == own:
        raise ValueError(f'both heads of the bundle are called "{own}": give the second another with bundle.name')
    if bundle.answer not in ("", own, second):
        raise ValueError(f'bundle.answer = "{bundle.answer}" is no head of the bundle: choose "{own}" or "{second}"')
