"""Preparation of training: checks that a recipe fits its encoder, and builds model, inputs and
training set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from fascicle.core.wording import plural
from fascicle.errors import InputError, RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.models.encoder import Pretrained
from fascicle.models.heads.contract import Targets
from fascicle.models.model import NerModel, build_model
from fascicle.runtime.inputs import feature_columns
from fascicle.settings.folders.manifest import Manifest, ScoreDecision, check_apart
from fascicle.settings.folders.vocabularies import is_pack
from fascicle.settings.heads import WIDEST, AnyHead
from fascicle.settings.inputs import (
    MOST_TYPES,
    PACK_RULE,
    RULE,
    SHAPES,
    DictionaryFacts,
    InputFacts,
)
from fascicle.settings.recipes.corpora import MixtureSettings
from fascicle.settings.recipes.recogniser import ReadingSettings, Recipe
from fascicle.terms.dictionary import pack_dictionary
from fascicle.terms.finding import make_finder
from fascicle.terms.list_words import WordReader
from fascicle.terms.matcher import (
    DictionaryReport,
    Matcher,
    read_typed_names,
)
from fascicle.terms.pack.carried import carried_files, carried_size
from fascicle.terms.pack.pack import Pack
from fascicle.text.inputs import NameFinder
from fascicle.text.reading import CachedReader, DocumentReader, FeatureReader, read_documents
from fascicle.training.corpus import Parts, dev_sha256
from fascicle.training.recogniser.data import (
    Mixture,
    TrainingSet,
    covering_width,
    quotas,
    training_set,
    with_mentions,
)
from fascicle.training.recogniser.descriptions import description_notes, descriptions_of
from fascicle.version import VERSION

_COVERED = 0.99
MOST_CARRIED: Final = 256 << 20  # largest size in bytes of a pack that is copied to a model folder


@dataclass(frozen=True, kw_only=True)
class LookupInputs:
    """Dictionaries and packs in which the units of documents are looked up.

    Attributes:
        facts: for the model folder.
        reader: cuts documents and looks their units up.
        files: copies of the dictionaries, by their names in the model folder.
        notes: sentences on the reading.
    """

    facts: InputFacts | UnsetType = UNSET
    reader: DocumentReader = read_documents
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


_NO_INPUTS: Final = LookupInputs()


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Starting point of a training loop.

    Attributes:
        manifest: of the model.
        model: with fresh heads.
        data: to train on.
        notes: sentences on settings that were determined from the data.
        inputs: dictionaries and packs in which the units of documents are looked up.
    """

    manifest: Manifest
    model: NerModel
    data: TrainingSet
    notes: tuple[str, ...]
    inputs: LookupInputs = _NO_INPUTS


def prepare(recipe: Recipe, parts: Parts, pretrained: Pretrained) -> Prepared:
    """Builds the model of a recipe and cuts its training data; draws from torch's generator for the
    heads.

    Args:
        recipe: of the run.
        parts: its corpus.
        pretrained: its encoder, which becomes part of the model.

    Raises:
        RecipeError: descriptions that are not those of the types of train, or that the encoder
            cannot read; windows with mentions are requested and there are none.
        InputError: the network reads nothing of train, or a dictionary cannot be read.
    """
    inputs = read_inputs(recipe)
    # used for fitted widths and for the windows
    reader = CachedReader(parts.train, reader=inputs.reader)
    widths = _fit_widths(recipe, parts, pretrained, reader)
    heads = {
        name: _for_model_folder(head, widths.get(name)) for name, head in recipe.heads().items()
    }
    manifest, model = _build(recipe, heads, parts=parts, pretrained=pretrained, inputs=inputs)
    data = training_set(
        parts.train,
        pretrained.tokenizer,
        types=parts.types,
        reading=recipe.reading,
        heads={name: model.head(name) for name in heads},
        reader=reader,
    )
    data, left_out = _windows_to_learn(recipe, data)
    notes = [
        *inputs.notes,
        *description_notes(recipe, parts),
        *_width_notes(widths, heads),
        *_context_notes(recipe.reading, data),
        *left_out,
    ]
    if parts.several:
        data = _mix_corpora(data, recipe, parts)
        notes += _mixture_notes(data, parts)
        _follow_guidelines(model, data, count=len(parts.several))
    return Prepared(manifest=manifest, model=model, data=data, notes=tuple(notes), inputs=inputs)


def _build(
    recipe: Recipe,
    heads: Mapping[str, AnyHead],
    *,
    parts: Parts,
    pretrained: Pretrained,
    inputs: LookupInputs,
) -> tuple[Manifest, NerModel]:
    """Builds the manifest and the model of a run, whose heads are drawn from torch's generator."""
    try:
        check_apart(recipe.decision.apart, parts.types)
    except ValueError as error:
        raise RecipeError(str(error)) from None
    manifest = Manifest(
        name=recipe.name,
        fascicle=VERSION,
        runtime="torch",
        types=parts.types,
        heads=dict(heads),
        reading=recipe.reading,
        tokenizer=pretrained.tokenizer.facts,
        decision=ScoreDecision(
            answer=recipe.answer(),
            decoding=heads[recipe.answer()].decoding,
            chosen_on=dev_sha256(recipe),
            apart=recipe.decision.apart or msgspec.UNSET,
        ),
        encoder=pretrained.encoder.origin,
        descriptions=descriptions_of(recipe, parts, pretrained),
        corpora=parts.learnt() or msgspec.UNSET,
        inputs=inputs.facts,
    )
    model = build_model(
        pretrained.encoder, manifest, tokenizer=pretrained.tokenizer, weights=recipe.weights()
    )
    return manifest, model


def _fit_widths(
    recipe: Recipe, parts: Parts, pretrained: Pretrained, reader: CachedReader
) -> dict[str, int]:
    """Returns the largest width of a span for each head that leaves it open."""
    widths = {}
    for name, head in recipe.heads().items():
        if head.needs.width:
            cut = reader(
                parts.train, pretrained.tokenizer, reading=recipe.reading, level=head.level
            )
            width = covering_width(parts.train, cut, types=parts.types, share=_COVERED)
            widths[name] = min(width, WIDEST)
    return widths


def _windows_to_learn(recipe: Recipe, data: TrainingSet) -> tuple[TrainingSet, list[str]]:
    """Returns the training set without windows that no head learns from, and notes on these.

    Raises:
        InputError: the network reads nothing of train.
    """
    if not any(window.units[0] < window.units[1] for window in data.windows):
        raise InputError(
            f"{recipe.corpus.train if recipe.corpus else 'train of the parts'} holds no word that "
            f"{recipe.model.origin} reads, so there is nothing to train on; give texts with words"
        )
    if all(head.needs.windows != "mentions" for head in recipe.heads().values()):
        return data, []
    before, data = len(data.windows), with_mentions(data)
    return data, [
        f"{before - len(data.windows):,} of {plural(before, 'window')} of train hold no mention "
        "and are left out"
    ]


def _follow_guidelines(model: NerModel, data: TrainingSet, *, count: int) -> None:
    if data.mixture and data.mixture.unguided < 1:
        model.follow(count)


def _mix_corpora(data: TrainingSet, recipe: Recipe, parts: Parts) -> TrainingSet:
    """Returns a training set of several corpora, each with the types that it annotates, drawn as
    the recipe sets.

    Args:
        data: of the documents of all corpora, in their order.
        recipe: with parts.
        parts: of the recipe.

    Raises:
        RecipeError: a corpus would never be drawn, or a head cannot learn from its labels.
    """
    settings, corpora = recipe.mixture or MixtureSettings(), parts.several
    gold = {name: list(_corpus_targets(data, name, recipe, parts)) for name in data.heads}

    part_of_document = np.repeat(np.arange(len(corpora)), [len(corpus.train) for corpus in corpora])
    part_of = part_of_document[[window.document for window in data.windows]]
    sizes = np.bincount(part_of, minlength=len(corpora)).tolist()
    total = settings.windows or len(data.windows)
    weights = [corpus.weight for corpus in corpora]
    drawn = quotas(sizes, weights, power=settings.power, total=total)
    for corpus, size, quota in zip(corpora, sizes, drawn, strict=True):
        if not size or not quota:
            what = (
                "train has no window to draw"
                if not size
                else f"an epoch of {plural(total, 'window')} has none of it"
            )
            raise RecipeError(
                f"nothing is learnt from parts.{corpus.name}: {what}; give it a larger weight, or "
                "leave it out"
            )
    unguided = settings.guideline_dropout if settings.guideline else 1.0
    mixture = Mixture(part_of=part_of, quotas=drawn, unguided=unguided)
    return replace(data, gold=gold, mixture=mixture)


def _corpus_targets(
    data: TrainingSet, name: str, recipe: Recipe, parts: Parts
) -> Iterator[Targets]:
    """Yields what a head learns of each document: its gold, or the probabilities of a teacher,
    without the types that its corpus does not annotate.

    Raises:
        RecipeError: probabilities of fewer tags than the head needs.
    """
    head = data.heads[name]
    documents = zip(data.views[head.level].pieces, data.gold[name], strict=True)
    for corpus in parts.several:
        masked = [parts.types.index(kind) for kind in recipe.masks().get(corpus.name, ())]
        # train holds the documents of one corpus after the other
        for document, (pieces, gold) in zip(corpus.train, documents, strict=False):
            if tags := corpus.soft.get(document.id):
                assert head.scheme is not None, "only taggers can be taught probabilities"
                if tags.scheme.width < head.scheme.width:
                    raise RecipeError(
                        f"the labels of parts.{corpus.name} are in {tags.scheme.name} and say "
                        "nothing of where mentions begin: set model.scheme = "
                        f'"{tags.scheme.name}", or soft = false in this part'
                    )
                gold = head.soft_gold(tags.at(pieces.units, types=parts.types, scheme=head.scheme))
            yield head.without(gold, masked) if masked else gold


def _mixture_notes(data: TrainingSet, parts: Parts) -> Iterator[str]:
    """Yields notes on the number of draws from each corpus."""
    assert data.mixture is not None
    sizes = np.bincount(data.mixture.part_of)
    for corpus, size, quota in zip(parts.several, sizes, data.mixture.quotas, strict=True):
        yield (
            f"{corpus.name}: {quota:,} of {plural(data.mixture.size, 'window')} in an epoch, of "
            f"{size:,} that it has; it annotates {', '.join(corpus.annotates)}"
        )


def _width_notes(widths: Mapping[str, int], heads: Mapping[str, AnyHead]) -> Iterator[str]:
    for name, width in widths.items():
        unit = f"{heads[name].level}{'s' if width > 1 else ''}"
        covers = "covers" if width < WIDEST else "the most there is, which may cover less than"
        yield f"width {width} {unit}: {covers} {_COVERED:.0%} of the gold mentions of train"


def _context_notes(reading: ReadingSettings, data: TrainingSet) -> Iterator[str]:
    around = reading.context_characters or reading.context_sentences
    if around and all(len(p.sentences) < 2 for view in data.views.values() for p in view.pieces):
        yield "no sentence is read with context: every document of train is one sentence"


def check_encoder(recipe: Recipe, pretrained: Pretrained) -> None:
    """Refuses settings that the encoder does not support."""
    if any(head.specials == "include" for head in recipe.heads().values()) and not (
        pretrained.tokenizer.prefix and pretrained.tokenizer.suffix
    ):
        raise RecipeError(
            'model.specials = "include" needs special tokens before and after a text, which '
            f"{recipe.model.origin} "
            'does not have; use "exclude"'
        )
    opened = [head.family for head in recipe.heads().values() if head.needs.opening]
    if opened and not pretrained.tokenizer.prefix:
        raise RecipeError(
            f'family = "{opened[0]}" needs a special token before a text, which '
            f"{recipe.model.origin} does not have; "
            "choose another encoder or family"
        )
    if recipe.training.hidden_pieces and pretrained.tokenizer.mask is None:
        raise RecipeError(
            f"training.hidden_pieces = {recipe.training.hidden_pieces} needs a mask token, which "
            f"the tokenizer of {recipe.model.origin} lacks; set it to 0"
        )
    if recipe.reading.max_length > pretrained.encoder.longest:
        raise RecipeError(
            f"reading.max_length = {recipe.reading.max_length} is more than the "
            f"{plural(pretrained.encoder.longest, 'piece')} that {recipe.model.origin} reads; "
            "lower it (longer texts are read through windows)"
        )


def _for_model_folder(head: AnyHead, width: int | None) -> AnyHead:
    """Returns the settings of a head for the model folder: of a file of descriptions only the
    name is kept.
    """
    if path := head.needs.types:
        head = msgspec.structs.replace(head, types=Path(path).name)
    return head if width is None else msgspec.structs.replace(head, width=width)


def with_answering_head(manifest: Manifest, name: str) -> Manifest:
    """Returns the manifest with another answering head; fitted values of the old decision are
    dropped.
    """
    decoding, chosen_on = manifest.heads[name].decoding, manifest.decision.chosen_on
    decision = ScoreDecision(
        answer=name, decoding=decoding, chosen_on=chosen_on, apart=manifest.decision.apart
    )
    return msgspec.structs.replace(manifest, decision=decision)


def read_inputs(recipe: Recipe) -> LookupInputs:
    """Reads the inputs of a recipe; texts are cut into words by the segmenter of its reading.

    Raises:
        InputError: a dictionary cannot be read, or holds no name.
        PackError: a term pack cannot be opened.
        RecipeError: a dictionary is another folder, a pack is too large to go with a model, or all
            have too many types together.
    """
    settings = recipe.inputs
    if not settings:
        return _NO_INPUTS
    words = WordReader(recipe.reading.segmenter)
    sources = [
        _open_pack(path, number) if is_pack(path) else _read_table(path, number, words)
        for number, path in enumerate(settings.dictionaries, 1)
    ]
    finder = _make_finder(sources)
    facts = InputFacts(
        dictionaries=tuple(source.facts for source in sources),
        types=finder.types if finder else (),
        shapes=SHAPES if settings.shape else "",
        dropout=settings.dropout,
        rate=settings.rate,
    )
    return LookupInputs(
        facts=facts,
        reader=FeatureReader(finder, feature_columns(facts)),
        files={name: content for source in sources for name, content in source.files.items()},
        notes=tuple(_source_notes(sources, recipe)),
    )


def _make_finder(sources: Sequence[_Source]) -> NameFinder | None:
    """Returns what finds the names of all sources; ``None`` without any.

    Raises:
        RecipeError: they have too many types together.
    """
    if not sources:
        return None
    matchers = [source.names for source in sources if isinstance(source.names, Matcher)]
    packs = {
        source.facts.file: source.names for source in sources if isinstance(source.names, Pack)
    }
    finder = make_finder(matchers, packs)
    if len(finder.types) > MOST_TYPES:
        raise RecipeError(
            f"inputs.dictionaries have {len(finder.types)} types, such as {finder.types[0]!r}; at "
            f"most {MOST_TYPES} are allowed: give several of them one name"
        )
    return finder


def _source_notes(sources: Sequence[_Source], recipe: Recipe) -> Iterator[str]:
    for source in sources:
        yield from (f"{source.path}: {line}" for line in source.notes)
    labels = source_sha256(recipe.distant.core) if recipe.distant else ""
    for source in sources:
        if source.facts.sha256 == labels:
            yield (
                f"{source.path} made the labels and is an input too, so the model mostly learns "
                "to repeat it"
            )


@dataclass(frozen=True, kw_only=True)
class _Source:
    """Dictionary or term pack in which units are looked up.

    Attributes:
        path: in the recipe.
        facts: for the model folder.
        names: to find in texts.
        files: copies for the model folder, by their names there.
        notes: sentences on the reading, without the path.
    """

    path: str
    facts: DictionaryFacts
    names: Matcher | Pack
    files: Mapping[str, bytes]
    notes: Sequence[str]


def _read_table(path: str, number: int, words: WordReader) -> _Source:
    if Path(path).is_dir():
        raise RecipeError(
            f"inputs.dictionaries names the folder {path}; give a table of names, type TAB name, "
            "or a term pack"
        )
    report, file = DictionaryReport(), f"dictionary-{number}.tsv.gz"
    entries = list(read_typed_names(path, report=report))
    matcher = Matcher(entries, rule=RULE, reader=words)
    content, names = pack_dictionary(entries)
    facts = DictionaryFacts(
        name=Path(path).name, sha256=source_sha256(path), file=file, names=names
    )
    notes = [*report.lines(), *matcher.counts.lines()]
    return _Source(path=path, facts=facts, names=matcher, files={file: content}, notes=notes)


def _open_pack(path: str, number: int) -> _Source:
    pack, file = Pack.open(path), f"dictionary-{number}.pack"
    size = carried_size(pack)
    if size > MOST_CARRIED:
        raise RecipeError(
            f"inputs.dictionaries names the pack {path}, of which a model folder would hold "
            f"{size / 2**20:,.0f} MiB; at most {MOST_CARRIED // 2**20} are allowed: build a pack "
            "with fewer names"
        )
    count = len(pack.active)
    facts = DictionaryFacts(
        name=pack.full_name, sha256=source_sha256(path), file=file, names=count, rule=PACK_RULE
    )
    notes = [
        f"{pack.full_name} with {plural(count, 'name')}",
        f"{size / 2**20:,.1f} MiB of it go with the model",
    ]
    return _Source(path=path, facts=facts, names=pack, files=carried_files(pack, file), notes=notes)
