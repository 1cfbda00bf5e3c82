"""Settings of the learned filter over the mentions of several systems, and the description of its
folder.

The filter is called Meta in *comparing-and-combining* §4.6 to §4.8.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from fascicle.settings.base import (
    LARGEST,
    FileName,
    Name,
    Names,
    Natural,
    Positive,
    RecipeBase,
    Settings,
    Share,
)
from fascicle.settings.folders.described import FILTER, Wording, read_description, write_hashed
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.settings.recipes.recogniser import TrainingSettings

_FORMAT: Final = 1
_WORDING: Final = Wording(
    broken="describes no filter",
    repair="copy or export the folder again",
    renew="train or export it again",
)

_Marker = Annotated[str, Meta(pattern=r"^\S+\Z")]
_Part = Annotated[float, Meta(gt=0.0, lt=1.0)]
_Weight = Annotated[float, Meta(gt=0.0, le=1e3)]


class MembersSettings(Settings, frozen=True, kw_only=True):
    """The systems whose mistakes the filter learns.

    Attributes:
        dev: their predictions on dev: run folders (with every epoch), or prediction files.
        train: cross-fitted predictions: files over documents of train, by models that did not learn
            from these. Wrong predictions become negatives too.
        epochs: epochs of run folders that give negatives: ``"all"``, the ``"best"``, or the
            ``"last"`` ones.
        last: number of the last epochs.
    """

    dev: Names
    train: tuple[Name, ...] = ()
    epochs: Literal["all", "best", "last"] = "all"
    last: Positive = 3

    def __post_init__(self) -> None:
        """Refuses a system that is named twice."""
        for part in (self.dev, self.train):
            twice = [path for path in part if part.count(path) > 1]
            if twice:
                raise ValueError(f"{twice[0]!r} is named twice: name it once")


class FilterModelSettings(Settings, frozen=True, kw_only=True):
    """The network of the filter: an encoder, a dense layer with tanh, two classes.

    Attributes:
        encoder: a Hugging Face name, a folder, or ``package:NAME/FOLDER`` for a folder inside an
            installed package.
        revision: branch, tag or commit on the hub; empty for the default.
        pool: input of the dense layer: the state of the first special token (``"cls"``, the
            encoder's own pooler, if it has one), or the ``"mean"`` of all states, for encoders that
            were trained so.
        dropout: dropout on the output of the dense layer.
        start_marker: new special token before the mention.
        end_marker: new special token after the mention.
    """

    encoder: Name
    revision: str = ""
    pool: Literal["cls", "mean"] = "cls"
    dropout: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.0
    start_marker: _Marker = "<e>"
    end_marker: _Marker = "</e>"

    def __post_init__(self) -> None:
        """Refuses two equal markers."""
        if self.start_marker == self.end_marker:
            raise ValueError(
                f"start_marker and end_marker are both {self.start_marker!r}: give two"
            )


class FilterReading(Settings, frozen=True, kw_only=True):
    """What the filter reads around a mention. Stored with it, because training and use must not
    differ.

    Attributes:
        unit: the ``"sentence"`` of the mention (all that it touches), or the whole ``"document"``.
        max_length: pieces, with special tokens, prompt and markers; longer text is cropped around
            the mention.
        segmenter: sentences for text that has none.
    """

    unit: Literal["sentence", "document"] = "sentence"
    max_length: Annotated[int, Meta(ge=16, le=LARGEST)] = 256
    segmenter: Name = "rules@1"


class FilterSettings(Settings, frozen=True, kw_only=True):
    """Which examples are learnt, their weights, and the threshold of the decision.

    Attributes:
        positives: largest number of correct examples for each incorrect one, drawn anew in every
            epoch; 0 for all.
        correct_weight: weight of a correct example in the loss (the authors tried 0.77, and use
            none).
        incorrect_weight: weight of an incorrect example in the loss (0.23).
        held_out: share of the documents of train and of dev on which the epoch is chosen.
        threshold_part: share of the documents of dev on which only the threshold is chosen.
        select: the epoch is chosen by ``"f1"`` of the correct examples, by ``"accuracy"`` (as the
            authors do), or by ``"kept-f1"``: the F1 of what is kept of all predictions on the
            held-out documents of dev, at the threshold that is best there.
        threshold: the threshold has the best ``"f1"`` of the kept mentions, the best recall at a
            ``"precision"`` of at least ``floor``, or the best precision at a ``"recall"`` of at
            least ``floor``. ``"half"``: it is 0.5.
        floor: lowest precision or recall, see ``threshold``.
    """

    positives: Natural = 0
    correct_weight: _Weight = 1.0
    incorrect_weight: _Weight = 1.0
    held_out: _Part = 0.15
    threshold_part: _Part = 0.2
    select: Literal["f1", "accuracy", "kept-f1"] = "f1"
    threshold: Literal["f1", "precision", "recall", "half"] = "f1"
    floor: Share = 0.0

    def __post_init__(self) -> None:
        """Refuses a floor without a use, a use without a floor, and parts that leave nothing to
        learn from.
        """
        needs = self.threshold in ("precision", "recall")
        if needs != (self.floor > 0):
            what = (
                "needs a floor above 0" if needs else f"takes no floor, but floor = {self.floor:g}"
            )
            raise ValueError(f'threshold = "{self.threshold}" {what}')
        if self.held_out + self.threshold_part >= 1:
            raise ValueError(
                "held_out and threshold_part together must be less than 1: nothing of dev is "
                "left to learn"
            )


class FilterRecipe(RecipeBase, frozen=True, kw_only=True):
    """The recipe of a filter; see ``RecipeBase``."""

    name: FileName = "meta"
    corpus: CorpusSettings
    members: MembersSettings
    model: FilterModelSettings
    reading: FilterReading = FilterReading()
    filter: FilterSettings = FilterSettings()
    training: TrainingSettings = TrainingSettings()

    def __post_init__(self) -> None:
        """Refuses settings that a filter does not have."""
        super().__post_init__()
        if self.training.hidden_pieces:
            raise ValueError(
                "training.hidden_pieces is for recognisers: a filter reads every piece; leave it "
                "out"
            )
        for key in ("validate_every_steps", "patience_validations"):
            if getattr(self.training, key):
                raise ValueError(
                    f"training.{key} is for recognisers: a filter is judged after every epoch; "
                    "leave it out"
                )

    def files(self) -> dict[str, str]:
        """Returns the paths of all data, each by its key in the recipe, e.g.
        ``"members.dev.0"``.
        """
        paths = self.corpus.files()
        for part in ("dev", "train"):
            paths |= {
                f"members.{part}.{at}": path for at, path in enumerate(getattr(self.members, part))
            }
        return {key: path for key, path in paths.items() if path}


class ThresholdFacts(Settings, frozen=True, kw_only=True):
    """From which probability on a mention is kept, and how that was chosen.

    Attributes:
        value: a mention of at least this probability is kept.
        aim: see ``FilterSettings.threshold``.
        floor: see there.
        chosen_on: sha256 of the development data, a part of which the choice was made on; empty if
            none was made.
        documents: of that part.
    """

    value: Share = 0.5
    aim: str = "half"
    floor: Share = 0.0
    chosen_on: str = ""
    documents: Natural = 0


class FilterManifest(Settings, frozen=True, kw_only=True):
    """The content of ``filter.json``.

    Attributes:
        format: version of this structure.
        name: of the filter; becomes the source of the mentions that it keeps.
        fascicle: version that wrote it.
        runtime: ``"torch"`` (``model.safetensors``) or ``"onnx"`` (``model.onnx``).
        types: of the gold that it learned from.
        marker_ids: pieces of the markers, start and end.
        model: settings of the network.
        reading: what it reads.
        tokenizer: facts to check.
        threshold: from where on a mention is kept.
        files: sha256 of every other file of the folder.
    """

    format: Annotated[int, Meta(ge=1)] = _FORMAT
    name: str
    fascicle: str
    runtime: Literal["torch", "onnx"]
    types: tuple[str, ...]
    marker_ids: tuple[int, int]
    model: FilterModelSettings
    reading: FilterReading
    tokenizer: TokenizerFacts
    threshold: ThresholdFacts = ThresholdFacts()
    files: dict[str, str] = msgspec.field(default_factory=dict)


def read_filter_manifest(folder: Path) -> FilterManifest:
    """Reads ``filter.json``.

    Raises:
        ModelError: missing, damaged, or of another format version.
    """
    missing = (
        f"{folder} holds no {FILTER}, so it is no filter; give the run folder of a filter, "
        "or its export"
    )
    return read_description(
        folder / FILTER, FilterManifest, _WORDING, format=_FORMAT, missing=missing
    )


def write_filter_manifest(
    folder: Path, manifest: FilterManifest, *, names: Iterable[str] | None = None
) -> FilterManifest:
    """Writes ``filter.json`` in the way `fascicle.settings.folders.manifest.write_manifest`
    writes ``model.json``.
    """
    return write_hashed(folder / FILTER, manifest, names)
