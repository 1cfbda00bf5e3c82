"""Settings of the finder of relations, and the description of its folder.

The finder reads a text once, and scores pairs of its mentions.
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
    Natural,
    Positive,
    RecipeBase,
    Settings,
)
from fascicle.settings.decision import TemperatureCurve
from fascicle.settings.folders.described import RELATIONS, Wording, read_description, write_hashed
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.settings.recipes.filter import ThresholdFacts
from fascicle.settings.recipes.recogniser import NetworkSettings, ReadingSettings, TrainingSettings

_FORMAT: Final = 1
_WORDING: Final = Wording(
    broken="describes no finder of relations",
    repair="copy or export the folder again",
    renew="train or export it again",
)


class PairSettings(Settings, frozen=True, kw_only=True):
    """Which pairs of mentions are read. Stored with the finder.

    Attributes:
        between: ``"concepts"``: a relation is between two concepts of a document, and all pairs of
            their mentions are evidence of it; ``"mentions"``: it is between two mentions.
        types: pairs of types of mentions, in any order; by default those that are related in train.
        sentences: greatest distance of two mentions in sentences; 0 for the same sentence.
        most: most pairs of mentions of a document; those with the fewest mentions between them are
            read.
    """

    between: Literal["concepts", "mentions"] = "concepts"
    types: tuple[tuple[Name, Name], ...] = ()
    sentences: Natural = 40
    most: Positive = 2_000

    @property
    def of_mentions(self) -> tuple[str, ...]:
        """Types of the mentions, in order."""
        return tuple(sorted({name for pair in self.types for name in pair}))

    def are_in(self, types: Iterable[str]) -> bool:
        """True if both types of a pair are among some types."""
        found = set(types)
        return any(found.issuperset(pair) for pair in self.types)


class PairReading(ReadingSettings, frozen=True, kw_only=True):
    """The windows in which a text is read; see ``ReadingSettings``.

    Attributes:
        unit: ``"packed"``: sentences that fit into one window; ``"sentence"``: each alone.
        max_length: pieces in a window, special tokens included.
    """

    unit: Literal["sentence", "packed"] = "packed"
    max_length: Annotated[int, Meta(ge=8, le=LARGEST)] = 512


class PairNetwork(NetworkSettings, frozen=True, kw_only=True):
    """The network: an encoder that reads which pieces are mentions, and layers over pairs.

    Attributes:
        width: states of a pair.
        dropout: dropout on the states of mentions and pairs.
    """

    width: Annotated[int, Meta(ge=8, le=4096)] = 256
    dropout: Annotated[float, Meta(ge=0.0, lt=1.0)] = 0.1


class RelationRecipe(RecipeBase, frozen=True, kw_only=True):
    """The recipe of a finder of relations; see ``RecipeBase``."""

    name: FileName = "relations"
    corpus: CorpusSettings
    relations: PairSettings
    model: PairNetwork
    reading: PairReading = PairReading()
    training: TrainingSettings = TrainingSettings()

    def __post_init__(self) -> None:
        """Refuses settings that a finder does not have."""
        super().__post_init__()
        for key in ("hidden_pieces", "validate_every_steps", "patience_validations"):
            if getattr(self.training, key):
                raise ValueError(f"training.{key} is for recognisers; leave it out")

    def files(self) -> dict[str, str]:
        """See ``RecipeBase``."""
        start = {"model.start": self.model.start} if self.model.start else {}
        return {**self.corpus.files(), **start}


class RelationLabel(Settings, frozen=True, kw_only=True):
    """One answer of the network.

    Attributes:
        type: of the relation.
        roles: of its two ends.
        turned: whether the first role is that of the second of a pair.
    """

    type: str
    roles: tuple[str, str] = ("", "")
    turned: bool = False


class RelationManifest(Settings, frozen=True, kw_only=True):
    """The content of ``relations.json``.

    Attributes:
        format: version of this structure.
        name: of the finder.
        fascicle: version that wrote it.
        runtime: ``"torch"`` or ``"onnx"``.
        labels: answers of the network after the first one, "not related".
        pairs: which pairs it reads.
        model: settings of the network.
        reading: the windows.
        tokenizer: facts to check.
        calibration: what becomes of probabilities; unset, they stay as they are.
        threshold: from where on a relation is kept.
        files: sha256 of every other file of the folder.
    """

    format: Annotated[int, Meta(ge=1)] = _FORMAT
    name: str
    fascicle: str
    runtime: Literal["torch", "onnx"]
    labels: tuple[RelationLabel, ...]
    pairs: PairSettings
    model: PairNetwork
    reading: PairReading
    tokenizer: TokenizerFacts
    calibration: TemperatureCurve | msgspec.UnsetType = msgspec.UNSET
    threshold: ThresholdFacts = ThresholdFacts()
    files: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the relations, in order."""
        return tuple(sorted({label.type for label in self.labels}))


def read_relation_manifest(folder: Path) -> RelationManifest:
    """Reads ``relations.json``.

    Raises:
        ModelError: missing, damaged, or of another format version.
    """
    missing = (
        f"{folder} holds no {RELATIONS}, so it finds no relations; give the run folder of a "
        "finder of relations, or its export"
    )
    return read_description(
        folder / RELATIONS, RelationManifest, _WORDING, format=_FORMAT, missing=missing
    )


def write_relation_manifest(
    folder: Path, manifest: RelationManifest, *, names: Iterable[str] | None = None
) -> RelationManifest:
    """Writes ``relations.json`` with the hashes of the other files."""
    return write_hashed(folder / RELATIONS, manifest, names)
