"""Description of a model folder, ``model.json``: everything that inference needs except the
weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from fascicle.errors import ModelError, UsageError
from fascicle.settings.base import LARGEST, Natural, Settings, check_model_name
from fascicle.settings.decision import (
    AbbreviationDecision,
    Calibration,
    Characters,
    DocumentDecision,
)
from fascicle.settings.folders.described import (
    FILTER,
    RELATIONS,
    TYPER,
    Wording,
    read_description,
    write_hashed,
)
from fascicle.settings.folders.vocabularies import is_pack
from fascicle.settings.heads import HEADS, AnyHead, with_decoding
from fascicle.settings.inputs import InputFacts, TokenizerFacts
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.settings.types import TypeDescriptions

_FORMAT = 1
MANIFEST = "model.json"
TYPES_GRAPH = "types.onnx"
# those of ``assets/lexicon/languages.toml``
LANGUAGES = ("English", "French", "German", "Spanish", "Italian", "Portuguese", "Dutch")
_WORDING = Wording(
    broken="is not a Fascicle model",
    repair="copy or export the folder again",
    renew="export it again",
    version="model format",
)
_OTHERS = {  # description files of the other kinds of folders, and advice
    FILTER: "it is a filter over the mentions of other systems, which fascicle combine meta uses",
    RELATIONS: "it finds relations between mentions; give it to annotate beside a model",
    TYPER: "it is a span typer, which fascicle typer predict uses",
    "ensemble.json": "it is an ensemble, and a single model is needed",
}


class ScoreDecision(Settings, frozen=True, kw_only=True):
    """How scores become mentions, chosen on development data and never changed at inference.

    Attributes:
        answer: the head that answers.
        decoding: one that the family of the answering head has.
        nothing: added to the score of "no mention" (the tag O, the class None, the threshold of a
            bi-encoder) of each unit or span: positive for fewer mentions.
        nothing_by_type: added to ``nothing`` for each type, in the order of the types, where each
            was decided alone.
        touching: see ``decoding.tagger.TagDecision``.
        chosen_on: sha256 of the data that the choice was made on; empty if none was.
        calibration: what becomes of the scores of mentions; unset, they stay as they are.
        abbreviations: what short and long forms of a document change, after scores and thresholds;
            unset, nothing.
        document: what the whole document says of its mentions, after everything else; unset,
            nothing.
        characters: the map to plain characters through which the network reads a text; unset, none.
        apart: types that are given out only when they are asked for, such as what one corpus alone
            calls a gene; unset, none.
    """

    answer: str
    decoding: str
    nothing: Annotated[float, Meta(ge=-1e3, le=1e3)] = 0.0
    nothing_by_type: tuple[Annotated[float, Meta(ge=-1e3, le=1e3)], ...] | UnsetType = UNSET
    touching: Annotated[float, Meta(ge=-1e3, le=1e3)] = 0.0
    chosen_on: str = ""
    calibration: Calibration | UnsetType = UNSET
    abbreviations: AbbreviationDecision | UnsetType = UNSET
    document: DocumentDecision | UnsetType = UNSET
    characters: Characters | UnsetType = UNSET
    apart: tuple[str, ...] | UnsetType = UNSET


class Learnt(Settings, frozen=True, kw_only=True):
    """What a model learnt from one of several corpora.

    Attributes:
        annotates: types that its people marked, under the names of the model.
        documents: texts that were learnt from.
        excluded: texts that were not, because they are copies of others.
        labelled_by: name and hash of the teacher whose labels were learnt in place of gold.
    """

    annotates: tuple[str, ...]
    documents: Natural
    excluded: Natural = 0
    labelled_by: str | UnsetType = UNSET


class TypesGraph(Settings, frozen=True, kw_only=True):
    """The second graph of an export, ``types.onnx``, which reads about types.

    Attributes:
        longest: pieces that it reads at a time, special tokens included.
    """

    longest: Annotated[int, Meta(ge=1, le=LARGEST)]


class Manifest(Settings, frozen=True, kw_only=True):
    """The content of ``model.json``.

    Attributes:
        format: version of this structure.
        name: of the model, e.g. ``"biomed@3"``; becomes the source of its mentions.
        fascicle: version that wrote it.
        runtime: ``"torch"`` (``model.safetensors``) or ``"onnx"`` (``model.onnx``).
        types: entity types, in the order of the labels.
        heads: settings of each named head.
        reading: what the network reads at a time.
        tokenizer: facts to check.
        decision: how scores become mentions.
        encoder: where the encoder came from, for the reader of the file.
        descriptions: what is said of the types to each head that reads it, by the name of the head.
        corpora: what it learnt from each of several corpora, by their names.
        inputs: what is looked up about the units of a text.
        types_graph: of an export that can look for other types.
        language: of the texts that it learnt from, as `fascicle.text.language` names it; unset,
            unknown.
        files: sha256 of every other file of the folder.
    """

    format: Annotated[int, Meta(ge=1)] = _FORMAT
    name: str
    fascicle: str
    runtime: Literal["torch", "onnx"]
    types: tuple[str, ...]
    heads: dict[str, AnyHead]
    reading: ReadingSettings
    tokenizer: TokenizerFacts
    decision: ScoreDecision
    encoder: str = ""
    descriptions: dict[str, TypeDescriptions] = msgspec.field(default_factory=dict)
    # not written if unset, as before this table existed
    corpora: dict[str, Learnt] | UnsetType = UNSET
    inputs: InputFacts | UnsetType = UNSET  # the same
    types_graph: TypesGraph | UnsetType = UNSET  # the same
    language: str | UnsetType = UNSET  # the same
    files: dict[str, str] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses an unknown answering head or language, and a name that no model may have."""
        check_model_name(self.name)
        if self.decision.answer not in self.heads:
            raise ValueError(
                f"the answering head {self.decision.answer!r} is not one of {sorted(self.heads)}"
            )
        try:
            with_decoding(self.heads[self.decision.answer], decoding=self.decision.decoding)
        except msgspec.ValidationError as error:
            raise ValueError(f"the decision does not fit its head: {error}") from None
        if self.types_graph and self.runtime != "onnx":
            raise ValueError("only exports have types_graph")
        if self.language is not UNSET and self.language not in LANGUAGES:
            raise ValueError(
                f"the language {self.language!r} is not known; write one of "
                f"{', '.join(LANGUAGES)}, or leave language out"
            )
        check_apart(self.decision.apart or (), self.types)
        self._check_numbers_by_type()
        self._check_descriptions()

    def _check_numbers_by_type(self) -> None:
        """Refuses numbers of the decision for other types than those of the model."""
        if self.decision.nothing_by_type and len(self.decision.nothing_by_type) != len(self.types):
            raise ValueError(f"nothing_by_type needs {len(self.types)} numbers, one for each type")
        calibration = self.decision.calibration
        if calibration and (strangers := sorted(calibration.thresholds.keys() - set(self.types))):
            raise ValueError(
                f"the decision has a threshold for {strangers[0]!r}, which is none of the types"
            )
        document = self.decision.document
        if document and (strangers := sorted(document.types.keys() - set(self.types))):
            raise ValueError(
                f"the decision of documents is of {strangers[0]!r} too, which is none of the types"
            )

    def _check_descriptions(self) -> None:
        """Refuses descriptions that a head does not read, or that are of other types."""
        for name, head in self.heads.items():
            needed = bool(head.needs.types or head.needs.drawn)
            described = self.descriptions.get(name)
            if needed != (described is not None) or (
                described is not None and described.names != self.types
            ):
                raise ValueError(
                    f"the descriptions for the head {name!r} are not those of the types"
                )

    @property
    def answering(self) -> AnyHead:
        """Settings of the head that answers, with the chosen decoding."""
        return with_decoding(self.heads[self.decision.answer], decoding=self.decision.decoding)


def read_manifest(folder: Path) -> Manifest:
    """Reads ``model.json``.

    Raises:
        ModelError: missing, damaged, or of another format version.
    """
    path = folder / MANIFEST
    if not path.is_file():
        raise ModelError(f"{folder} holds no {MANIFEST}; {_advice(folder)}", file=str(folder))
    return read_description(path, Manifest, _WORDING, format=_FORMAT, look=_check_families)


def _check_families(content: bytes) -> None:
    """Raises an error for an unknown family of heads, which is clearer than that of decoding the
    rest.
    """
    outline = msgspec.json.decode(content, type=_Outline)
    if unknown := sorted({head.family for head in outline.heads.values()} - HEADS.keys()):
        raise ModelError(
            f"the model {outline.name} has the family {unknown[0]!r}; this release knows "
            f"{', '.join(sorted(HEADS))}"
        )


def _advice(folder: Path) -> str:
    """Returns advice about a folder without a model, by its kind if that is known."""
    if is_pack(folder):
        return "it is a term pack, and a model is needed"
    return next(
        (what for name, what in _OTHERS.items() if (folder / name).is_file()), "give a model folder"
    )


class _Outline(msgspec.Struct):
    name: str = ""
    heads: dict[str, _HeadOutline] = {}


class _HeadOutline(msgspec.Struct):
    family: str = ""


def check_apart(apart: Sequence[str], types: Sequence[str]) -> None:
    """Raises an error for types kept apart that the model does not have, or if all its types are
    kept apart.

    Raises:
        ValueError: such types.
    """
    if strangers := sorted(set(apart) - set(types)):
        raise ValueError(
            f"the type {strangers[0]!r} of decision.apart is none of the types, {', '.join(types)}"
        )
    if apart and not set(types) - set(apart):
        raise ValueError(
            "decision.apart names every type; leave out at least one, which is given out"
        )


def check_open_types(folder: Path, manifest: Manifest) -> None:
    """Raises an error for a model that cannot be used with other types than its own.

    Raises:
        UsageError: the model cannot use other types.
    """
    if fixed := manifest.answering.needs.fixed:
        reason = fixed
    elif manifest.runtime == "onnx" and not manifest.types_graph:
        reason = (
            "it was exported without what reads about types; export it again with its encoder of "
            "types, or give the folder of the training run"
        )
    elif manifest.decision.calibration or manifest.decision.document:
        reason = (
            "its scores were calibrated for its own types; give the folder that it was "
            "calibrated from"
        )
    elif manifest.decision.nothing or manifest.decision.nothing_by_type:
        reason = (
            'its thresholds were shifted on dev for its own types; train with decision.tune = "no"'
        )
    else:
        return
    raise UsageError(f"{folder} cannot look for other types: {reason}", file=str(folder))


def write_manifest(
    folder: Path, manifest: Manifest, *, names: Iterable[str] | None = None
) -> Manifest:
    """Writes ``model.json`` with the hashes of the other files of the folder; returns its content.

    Args:
        folder: folder of the model.
        manifest: content of the file; its ``files`` are replaced.
        names: names of the files to hash; by default all except cards and hidden files.
    """
    return write_hashed(folder / MANIFEST, manifest, names)
