"""Exports a trained model or filter to a folder that runs without torch: ONNX graph, tokenizer,
manifest, card.

The graph is compared with torch before it is converted to 8 bits. The calibration is a part of
``model.json``. ``core/files/intact.py`` reports a file that a folder lacks.

Also writes the plain cards of exported folders: their contents, not their quality.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_folder
from fascicle.core.files.intact import check_files
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.errors import ModelError, UsageError
from fascicle.models.export.graph import (
    AnsweringGraph,
    FilterGraph,
    Graph,
    RelationGraph,
    TypesGraphModule,
    write_graph,
)
from fascicle.models.export.optimise import RangeRecorder, fix_scales, merge, quantise
from fascicle.models.filter import load_filter_model
from fascicle.models.model import TOKENIZER, load_model
from fascicle.models.relations import load_relation_model
from fascicle.runtime.filter import MentionFilter
from fascicle.runtime.inputs import make_reader
from fascicle.runtime.predictor import ModelPredictor
from fascicle.runtime.relations import RelationFinder, read_pairs
from fascicle.settings.base import Settings
from fascicle.settings.folders.best import model_folder
from fascicle.settings.folders.described import CARD, FILTER, RELATIONS
from fascicle.settings.folders.manifest import (
    TYPES_GRAPH,
    Learnt,
    Manifest,
    TypesGraph,
    check_open_types,
    read_manifest,
    write_manifest,
)
from fascicle.settings.inputs import InputFacts
from fascicle.settings.recipes.filter import (
    FilterManifest,
    read_filter_manifest,
    write_filter_manifest,
)
from fascicle.settings.recipes.relations import (
    RelationManifest,
    read_relation_manifest,
    write_relation_manifest,
)
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import DocumentReader
from fascicle.text.taught import TAUGHT

_GRAPH = "model.onnx"
_SAMPLE_CHARACTERS = 100_000
_TOLERANCE = 1e-3  # of a score, fp32 graph against torch; 1e-5 is usual


_M = TypeVar("_M", Manifest, FilterManifest, RelationManifest)
_Run = Callable[[PieceTokenizer, RangeRecorder, list[Document]], object]


def export_model(
    folder: Path,
    target: Path,
    *,
    sample: Sequence[Document] = (),
    int8: bool = True,
    name: str | None = None,
    types_encoder: bool = False,
    overwrite: bool = False,
) -> Manifest:
    """Exports a model folder of torch.

    The fp32 graph is compared with the torch model before anything takes its final name.

    Args:
        folder: with ``model.json`` and ``model.safetensors``; of a run folder, its ``best`` is
            used.
        target: folder to write.
        sample: texts like those the model will read, best its training documents: the ranges of
            8-bit activations are measured on the first ``_SAMPLE_CHARACTERS`` of them.
        int8: store weights and embeddings in 8 bits.
        name: of the exported model; the old one by default.
        types_encoder: also write the encoder of type descriptions, in 32 bits, so that the export
            can look for other types.
        overwrite: replace an existing folder.

    Returns:
        The manifest as written.

    Raises:
        ModelError: the folder is no torch model, or cannot be written as ONNX.
        UsageError: 8 bits without sample texts, a folder that is an export already, or a model that
            can look for no other types.
        OutputError: the target exists.
    """
    folder = model_folder(folder)
    manifest = read_manifest(folder)
    _check_torch(folder, manifest.runtime, what="model")
    sample = _excerpt_to_measure(sample) if int8 else ()
    check_files(folder, manifest)
    reader = make_reader(folder, manifest)  # this refuses dictionaries that are not among the files
    if types_encoder:
        check_open_types(folder, manifest)
    model = load_model(folder, manifest)
    second = TypesGraphModule(model) if types_encoder else None
    cargo = _Cargo(
        kind="model",
        graph=AnsweringGraph(model, second),
        second=second,
        manifest=_as_exported(manifest, name or manifest.name, second),
        sample=list(sample),
        predict=_model_run(manifest, reader, second),
        measured=lambda texts: plural(sum(len(d.text) for d in texts), "character"),
        card=_model_card,
        write=write_manifest,
        beside=_copies(manifest),
    )
    return _export(cargo, folder, target, int8=int8, overwrite=overwrite)


def _excerpt_to_measure(sample: Sequence[Document]) -> list[Document]:
    if not any(document.text.strip() for document in sample):
        raise UsageError(
            "8-bit export needs sample texts to measure activations on; give some with sample=FILE"
        )
    return excerpt(sample, characters=_SAMPLE_CHARACTERS)


def _model_run(manifest: Manifest, reader: DocumentReader, second: TypesGraphModule | None) -> _Run:
    """Returns what annotates the sample with a graph in place of the network."""

    def predict(
        tokenizer: PieceTokenizer, recorder: RangeRecorder, texts: list[Document]
    ) -> object:
        scorer = second.beside(recorder) if second else recorder
        return ModelPredictor(manifest, tokenizer, scorer, read=reader).predict(texts)

    return predict


def export_filter(
    folder: Path,
    target: Path,
    *,
    sample: Sequence[Document] = (),
    int8: bool = True,
    name: str | None = None,
    overwrite: bool = False,
) -> FilterManifest:
    """Exports a filter of torch, as ``export_model`` does a model.

    Args:
        folder: with ``filter.json`` and ``model.safetensors``; of a run folder, its ``best`` is
            used.
        target: folder to write.
        sample: texts with mentions like those that the filter will judge.
        int8: store weights and embeddings in 8 bits.
        name: of the exported filter; the old one by default.
        overwrite: replace an existing folder.

    Returns:
        The manifest as written.

    Raises:
        ModelError: the folder is no filter of torch, or cannot be written as ONNX.
        UsageError: 8 bits without sample mentions, or a folder that is an export already.
        OutputError: the target exists.
    """
    folder = model_folder(folder)
    manifest = read_filter_manifest(folder)
    _check_torch(folder, manifest.runtime, what="filter")
    if int8 and not any(document.mentions for document in sample):
        raise UsageError(
            "8-bit export of a filter needs texts with mentions; give some with sample=FILE"
        )
    check_files(folder, manifest, name=FILTER)
    cargo = _Cargo(
        kind="filter",
        graph=FilterGraph(load_filter_model(folder, manifest)),
        manifest=replace(manifest, runtime="onnx", name=name or manifest.name),
        sample=_with_a_mention(sample) if int8 else [],
        predict=lambda tokenizer, recorder, texts: MentionFilter(
            manifest, tokenizer, recorder
        ).judge(texts, [document.mentions for document in texts]),
        measured=_mentions_in,
        card=_filter_card,
        write=write_filter_manifest,
    )
    return _export(cargo, folder, target, int8=int8, overwrite=overwrite)


def _mentions_in(texts: Sequence[Document]) -> str:
    return plural(sum(len(document.mentions) for document in texts), "mention")


def export_relations(
    folder: Path,
    target: Path,
    *,
    sample: Sequence[Document] = (),
    int8: bool = True,
    name: str | None = None,
    overwrite: bool = False,
) -> RelationManifest:
    """Exports a finder of relations of torch, as ``export_filter`` does a filter.

    Args:
        folder: with ``relations.json`` and ``model.safetensors``; of a run folder, its ``best`` is
            used.
        target: folder to write.
        sample: texts with mentions, of which pairs can be read.
        int8: store weights and embeddings in 8 bits.
        name: of the exported finder; the old one by default.
        overwrite: replace an existing folder.

    Returns:
        The manifest as written.

    Raises:
        ModelError: the folder is no finder of torch, or cannot be written as ONNX.
        UsageError: 8 bits without a pair of mentions, or a folder that is an export already.
        OutputError: the target exists.
    """
    folder = model_folder(folder)
    manifest = read_relation_manifest(folder)
    _check_torch(folder, manifest.runtime, what="finder of relations")
    check_files(folder, manifest, name=RELATIONS)
    sample = _with_pairs(sample, manifest, folder) if int8 else []
    cargo = _Cargo(
        kind="relations",
        graph=RelationGraph(load_relation_model(folder, manifest)),
        manifest=replace(manifest, runtime="onnx", name=name or manifest.name),
        sample=_with_a_mention(sample),
        predict=lambda tokenizer, recorder, texts: RelationFinder(
            manifest, tokenizer, recorder
        ).relate(texts, [document.mentions for document in texts]),
        measured=_mentions_in,
        card=_relation_card,
        write=write_relation_manifest,
    )
    return _export(cargo, folder, target, int8=int8, overwrite=overwrite)


def _with_pairs(
    sample: Sequence[Document], manifest: RelationManifest, folder: Path
) -> list[Document]:
    tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=manifest.tokenizer.pad)
    documents = [d for d in sample if len(read_pairs(d, d.mentions, manifest, tokenizer)[0].rows)]
    if not documents:
        links = " with links" * (manifest.pairs.between == "concepts")
        raise UsageError(
            f"8-bit export of a finder of relations needs texts with pairs of mentions{links} "
            "that it reads; give some with sample=FILE"
        )
    return documents


@dataclass(frozen=True, kw_only=True)
class _Cargo(Generic[_M]):
    """Parts of the export of one model or filter.

    Attributes:
        kind: of the folder.
        graph: of the network.
        manifest: of the export, without hashes.
        sample: texts that 8-bit activations are measured on.
        predict: tokenizer, scorer and texts -> answers; it is run to record activations, and the
            answers are not used.
        measured: the size of the sample in words.
        card: manifest and facts -> the text of the card.
        write: of the manifest.
        second: encoder of type descriptions, as a separate graph.
        beside: other files of the folder, copied unchanged.
    """

    kind: str
    graph: Graph
    manifest: _M
    sample: list[Document]
    predict: _Run
    measured: Callable[[list[Document]], str]
    card: Callable[[_M, Sequence[str]], str]
    write: Callable[[Path, _M], _M]
    second: TypesGraphModule | None = None
    beside: Sequence[str] = ()


def _export(cargo: _Cargo[_M], folder: Path, target: Path, *, int8: bool, overwrite: bool) -> _M:
    with atomic_folder(target, kind=cargo.kind, overwrite=overwrite) as place:
        plain = place / "plain.onnx"
        gap = _write(cargo.graph, plain)
        facts = [f"largest difference of a score between torch and the fp32 graph: {gap:.1e}"]
        if cargo.second is not None:
            gap = _write(cargo.second, place / TYPES_GRAPH)
            facts.append(
                f"`{TYPES_GRAPH}` reads about types, in 32 bits; its vectors differ by at most "
                f"{gap:.1e}"
            )
        if int8:
            facts.append(_quantise(cargo, plain, place / _GRAPH, folder))
            plain.unlink()
        else:
            # not merged: other tools can process a graph of standard operators only
            plain.rename(place / _GRAPH)
        for name in (TOKENIZER, *cargo.beside):
            (place / name).write_bytes((folder / name).read_bytes())
        (place / CARD).write_text(cargo.card(cargo.manifest, facts), encoding="utf-8")
        return cargo.write(place, cargo.manifest)


def _write(graph: Graph, path: Path) -> float:
    """Writes a graph; returns the largest difference between it and torch."""
    gap = write_graph(graph, path)
    if gap > _TOLERANCE:
        raise ModelError(
            f"the ONNX graph differs from the torch model by {gap:.2g}; it was not written"
        )
    return gap


def _quantise(cargo: _Cargo[_M], plain: Path, target: Path, folder: Path) -> str:
    """Writes the 8-bit graph with fixed scales; returns a description of the change, for the
    card.
    """
    with tempfile.TemporaryDirectory() as name:
        dynamic = Path(name) / "dynamic.onnx"
        quantised = quantise(plain, dynamic)
        recorder = RangeRecorder(dynamic, Path(name) / "recorder.onnx")
        tokenizer = PieceTokenizer.from_file(folder / TOKENIZER, pad=cargo.manifest.tokenizer.pad)
        cargo.predict(tokenizer, recorder, cargo.sample)
        scaled = Path(name) / "scaled.onnx"
        fixed = fix_scales(dynamic, scaled, ranges=recorder.ranges)
        merge(scaled, target)
    return (
        f"int8: {quantised.products} matrix products and {quantised.tables} embedding tables, "
        f"{fixed} activations with fixed scales measured on {cargo.measured(cargo.sample)}; "
        f"{quantised.bytes_before / 1e6:.1f} MB became {target.stat().st_size / 1e6:.1f} MB"
    )


def _check_torch(folder: Path, runtime: str, *, what: str) -> None:
    if runtime != "torch":
        raise UsageError(
            f"{folder} is an exported {what} already; give the folder of a training run"
        )


def _as_exported(manifest: Manifest, name: str, second: TypesGraphModule | None) -> Manifest:
    """Returns the manifest of an exported graph, which has only the answering head."""
    answer = manifest.decision.answer
    described = {
        head: description for head, description in manifest.descriptions.items() if head == answer
    }
    heads = {answer: manifest.heads[answer]}
    graph = TypesGraph(longest=second.longest) if second else msgspec.UNSET
    return replace(
        manifest, runtime="onnx", name=name, heads=heads, descriptions=described, types_graph=graph
    )


def _copies(manifest: Manifest) -> list[str]:
    """Returns the names of the dictionary files that a model reads, and of the list of its
    training texts.
    """
    dictionaries = manifest.inputs.dictionaries if manifest.inputs else ()
    return [
        name
        for name in manifest.files
        if name == TAUGHT or any(dictionary.has(name) for dictionary in dictionaries)
    ]


def _with_a_mention(sample: Sequence[Document]) -> list[Document]:
    """Returns the first documents with ``_SAMPLE_CHARACTERS`` or more characters, and at least
    one mention.
    """
    documents: list[Document] = []
    characters = 0
    for document in sample:
        if characters >= _SAMPLE_CHARACTERS and any(document.mentions for document in documents):
            break
        documents.append(document)
        characters += len(document.text)
    return documents


def excerpt(documents: Sequence[Document], *, characters: int) -> list[Document]:
    """Returns the first documents; the last one is cut at the end of a sentence or word to stay
    within the limit.
    """
    excerpts: list[Document] = []
    for document in documents:
        if characters <= 0:
            break
        excerpts.append(_cut(document, characters))
        characters -= len(document.text)
    return excerpts


def _cut(document: Document, characters: int) -> Document:
    if len(document.text) <= characters:
        return Document(
            id=document.id, text=document.text, sentences=document.sentences, words=document.words
        )

    def inside(ranges: tuple[Span, ...] | None) -> tuple[Span, ...] | None:
        return None if ranges is None else tuple(r for r in ranges if r[1] <= characters)

    return Document(
        id=document.id,
        text=document.text[:characters],
        sentences=inside(document.sentences),
        words=inside(document.words),
    )


def _model_card(manifest: Manifest, facts: Sequence[str]) -> str:
    """Returns the plain card of an exported model: its contents, not its quality."""
    head, reading = manifest.answering, manifest.reading
    what = [
        f"encoder: `{manifest.encoder}`",
        f"head: {_list_settings(head)}",
        f"reads: {_list_settings(reading)}",
        *(
            f"looks up: {line}"
            for line in (_input_lines(manifest.inputs) if manifest.inputs else ())
        ),
        *(
            f"learnt from {name}: {_describe_corpus(corpus)}"
            for name, corpus in (manifest.corpora or {}).items()
        ),
        *facts,
    ]
    use = '`fascicle annotate --model FOLDER`, or `fascicle.load("FOLDER").annotate(text)`'
    return _card(manifest, "A named entity recogniser for", what, use=use)


def _card(
    manifest: Manifest | FilterManifest | RelationManifest,
    kind: str,
    facts: Sequence[str],
    *,
    use: str,
) -> str:
    listing = "\n".join(f"- {fact}" for fact in facts)
    sentence = f"{kind} {', '.join(manifest.types)}, written by Fascicle {manifest.fascicle}."
    return f"# {manifest.name}\n\n{sentence}\n\n{listing}\n\nUse: {use}.\n"


def _input_lines(inputs: InputFacts) -> Iterator[str]:
    for dictionary in inputs.dictionaries:
        names = plural(dictionary.names, "name")
        yield f"the {names} of {dictionary.name}, of which `{dictionary.file}` is a copy"
    if inputs.shapes:
        yield f"the case pattern of each unit (`{inputs.shapes}`)"


def _describe_corpus(corpus: Learnt) -> str:
    text = f"{', '.join(corpus.annotates)} in {plural(corpus.documents, 'document')}"
    text += f", labelled by {corpus.labelled_by}" if corpus.labelled_by else ""
    if not corpus.excluded:
        return text
    more = plural(corpus.excluded, "more was", "more were")
    return f"{text} ({more} left out as copies of texts of dev, test or each other)"


def _list_settings(settings: Settings) -> str:
    return ", ".join(f"{name} {value}" for name, value in msgspec.to_builtins(settings).items())


def _filter_card(manifest: FilterManifest, facts: Sequence[str]) -> str:
    """Returns the plain card of an exported filter: its contents, not its quality."""
    reading, threshold = manifest.reading, manifest.threshold
    what = [
        f"encoder: `{manifest.model.encoder}`",
        f"reads: the {reading.unit} of a mention, at most {plural(reading.max_length, 'piece')}",
        f"keeps: a probability of at least {threshold.value:g} (chosen for: {threshold.aim})",
        *facts,
    ]
    use = "`fascicle combine meta PRED... --filter FOLDER --texts FILE -o OUT`"
    return _card(manifest, "A filter over mentions of", what, use=use)


def _relation_card(manifest: RelationManifest, facts: Sequence[str]) -> str:
    """Returns the plain card of an exported finder of relations."""
    pairs = manifest.pairs
    types = ", ".join(" and ".join(pair) for pair in pairs.types)
    what = [
        f"encoder: `{manifest.model.origin}`",
        f"between: {pairs.between} of the types {types}",
        f"keeps: a probability of at least {manifest.threshold.value:g}",
        *facts,
    ]
    return _card(
        manifest, "Finds the relations", what, use="`fascicle annotate --relations FOLDER`"
    )
