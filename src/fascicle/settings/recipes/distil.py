"""Settings of distillation: a small network is trained to match a large one, layer by layer or in
its predictions.

The two stages of *tinybern2-kazu* §4 and of TinyBERT are recipes of their own: one with
``[layers]`` alone over raw text (general) or over the texts of the task (intermediate), then one
with ``[prediction]``.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from fascicle.settings.base import NotNegative, Positive, RecipeBase, Settings, Share
from fascicle.settings.heads import AnyHead, MultiLabelSettings
from fascicle.settings.inputs import InputSettings
from fascicle.settings.recipes import recogniser as recognising
from fascicle.settings.recipes.corpora import (
    CorpusSettings,
    MixtureSettings,
    PartSettings,
    TextSettings,
)


class TeacherSettings(Settings, frozen=True, kw_only=True):
    """What is imitated: give one of the two.

    Attributes:
        model: folder of a run, a model or an ensemble; ``$NAME`` is an environment variable. An
            ensemble has answers, and no layers.
        encoder: a Hugging Face name, a folder, or ``package:NAME/FOLDER``; for ``[layers]``.
        revision: branch, tag or commit of ``encoder`` on the hub; empty for the default.
    """

    model: str = ""
    encoder: str = ""
    revision: str = ""

    def __post_init__(self) -> None:
        """Refuses no teacher, and two."""
        if bool(self.model) == bool(self.encoder):
            raise ValueError(
                "give either teacher.model, a trained model, or teacher.encoder, an encoder alone"
            )


class SizeSettings(Settings, frozen=True, kw_only=True):
    """The size of an encoder that begins with random weights. The defaults are those of
    *tinybern2-kazu* §4.

    Attributes:
        layers: number of layers.
        hidden: components of a state; a multiple of ``heads``.
        heads: heads of attention.
        feed_forward: components between the two matrices of a layer.
    """

    layers: Positive = 4
    hidden: Positive = 312
    heads: Positive = 12
    feed_forward: Positive = 1200

    def __post_init__(self) -> None:
        """Refuses heads of unequal size."""
        if self.hidden % self.heads:
            raise ValueError(
                f"hidden = {self.hidden} is not a multiple of heads = {self.heads}: change one "
                "of them"
            )


class StudentSettings(Settings, frozen=True, kw_only=True):
    """The encoder that learns: as it is, cut to some of its layers, or of another size with random
    weights.

    Attributes:
        encoder: a Hugging Face name, a folder, or ``package:NAME/FOLDER``; empty for that of the
            teacher.
        revision: branch, tag or commit on the hub; empty for the default.
        layers: layers that are kept, counted from 1, in increasing order; empty for all.
        size: begin with random weights in this size, with the architecture and the tokenizer of
            ``encoder``.
    """

    encoder: str = ""
    revision: str = ""
    layers: tuple[Positive, ...] = ()
    size: SizeSettings | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Refuses layers in another order, and layers of random weights."""
        if list(self.layers) != sorted(set(self.layers)):
            raise ValueError(
                f"layers = {list(self.layers)} must increase: name each layer once, from the lowest"
            )
        if self.layers and self.size is not UNSET:
            raise ValueError(
                "layers and student.size exclude each other: an encoder of another size starts "
                "at random"
            )


class LayerSettings(Settings, frozen=True, kw_only=True):
    """The student imitates layers of the teacher.

    Attributes:
        hidden: weight of the loss on states, those of the embeddings included. One linear layer
            with bias, shared by all layers, takes the states of the student to the width of the
            teacher.
        attention: weight of the loss on attention; both need the same number of heads.
        map: the layer of the teacher for each layer of the student, counted from 1, in increasing
            order; empty for every k-th one.
        compared: of attention the ``"scores"`` before the softmax, or the ``"probabilities"`` after
            it.
        faithful: plain means over all places, padding included, as in the released programs. By
            default padding has no part in a loss.
    """

    hidden: NotNegative = 1.0
    attention: NotNegative = 1.0
    map: tuple[Positive, ...] = ()
    compared: Literal["scores", "probabilities"] = "scores"
    faithful: bool = False

    def __post_init__(self) -> None:
        """Refuses layers in another order, and nothing to imitate."""
        if list(self.map) != sorted(set(self.map)):
            raise ValueError(
                f"map = {list(self.map)} must increase: name each layer of the teacher once"
            )
        if not self.hidden and not self.attention:
            raise ValueError(
                "hidden = 0 and attention = 0 leave nothing to imitate: set one, or remove the "
                "table"
            )


class PredictionSettings(Settings, frozen=True, kw_only=True):
    """The student imitates the answers of the teacher: the probability of each label of each word
    or piece.

    Attributes:
        weight: of this loss beside those of ``[layers]``.
        gold: share of the loss on the gold in it; 0 for the answers of the teacher alone.
        temperature: both probabilities are those of the logits divided by this.
        megabytes: the answers are computed once, before training, and kept in memory and in the run
            folder: refuse more than this. ``fascicle label`` writes the answers over larger texts.
    """

    weight: Annotated[float, Meta(gt=0.0, le=1e6)] = 1.0
    gold: Share = 0.0
    temperature: Annotated[float, Meta(ge=0.05, le=100.0)] = 1.0
    megabytes: Positive = 1024


class DistilRecipe(RecipeBase, frozen=True, kw_only=True):
    """The recipe of a distillation; see ``RecipeBase``.

    With ``[layers]`` alone it gives an encoder, that any recipe can name. With ``[prediction]`` it
    gives a model.
    """

    teacher: TeacherSettings
    student: StudentSettings = StudentSettings()
    head: AnyHead | UnsetType = UNSET  # head of the student; by default that of the teacher
    corpus: CorpusSettings | UnsetType = UNSET
    parts: dict[recognising.PartName, PartSettings] | UnsetType = UNSET
    mixture: MixtureSettings | UnsetType = UNSET
    inputs: InputSettings | UnsetType = UNSET
    text: TextSettings | UnsetType = UNSET
    reading: recognising.ReadingSettings = recognising.ReadingSettings()
    layers: LayerSettings | UnsetType = UNSET
    prediction: PredictionSettings | UnsetType = UNSET
    training: recognising.TrainingSettings = recognising.TrainingSettings()
    decision: recognising.DecisionSettings = recognising.DecisionSettings()

    def __post_init__(self) -> None:
        """Refuses a recipe without a training objective, and settings without their
        requirements.
        """
        super().__post_init__()
        if self.layers is UNSET and self.prediction is UNSET:
            raise ValueError(
                "nothing is imitated: give a table [layers], a table [prediction], or both"
            )
        if self.prediction is not UNSET and self.teacher.encoder:
            raise ValueError("[prediction] needs teacher.model: an encoder alone gives no answers")
        for table in ("head", "inputs"):
            if self.prediction is UNSET and getattr(self, table) is not UNSET:
                raise ValueError(
                    f"[{table}] needs [prediction]: layers alone give an encoder without a head"
                )
        self._check_sources()

    def _check_sources(self) -> None:
        """Refuses a recipe without text, and texts of two kinds."""
        if sum(source is not UNSET for source in (self.corpus, self.parts, self.text)) != 1:
            raise ValueError(
                "give one of [corpus], [parts.NAME] for several corpora, and [text], raw text"
            )
        if self.text is not UNSET:
            self._check_text()
        else:
            self.recogniser(
                self.head or MultiLabelSettings(), encoder="student"
            )  # raises an error for invalid combinations

    def _check_text(self) -> None:
        """Refuses settings that raw text does not support."""
        if self.prediction is not UNSET:
            raise ValueError(
                "[prediction] needs a corpus, whose words are labelled; fascicle label writes the "
                "answers of a teacher over raw text, and a recipe of a recogniser trains on them"
            )
        if self.reading != recognising.ReadingSettings() or self.training.hidden_pieces:
            raise ValueError(
                "[reading] and training.hidden_pieces have no effect on [text]: leave them out"
            )

    def files(self) -> dict[str, str]:
        """Returns the paths of all data that determine a run, by their keys in the recipe, e.g.
        ``"teacher.model"``.
        """
        unread = () if self.prediction else ("corpus.test",)
        return {key: path for key, path in self.places().items() if key not in unread}

    def places(self) -> dict[str, str]:
        """Returns all paths (see ``RecipeBase``), with the test part, which layers alone do not
        read.
        """
        paths = {"teacher.model": self.teacher.model} if self.teacher.model else {}
        if self.text:
            return paths | self.text.paths()
        return paths | self.recogniser(MultiLabelSettings(), encoder="student").files()

    def recogniser(self, head: AnyHead, *, encoder: str) -> recognising.Recipe:
        """Returns the recipe of the student as a recogniser that is trained on gold.

        Args:
            head: settings of the head of the student.
            encoder: name of its encoder.
        """
        return recognising.Recipe(
            name=self.name,
            seed=self.seed,
            corpus=self.corpus,
            parts=self.parts,
            mixture=self.mixture,
            inputs=self.inputs,
            reading=self.reading,
            model=recognising.ModelSettings(encoder=encoder, head=head),
            training=self.training,
            decision=self.decision,
        )
