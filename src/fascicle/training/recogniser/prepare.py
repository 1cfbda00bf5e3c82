"""Preparation of training: checks that a recipe fits its encoder, and builds model, inputs and
training set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

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
from fascicle.settings.folders.manifest import Decision, Manifest, check_apart
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
from fascicle.settings.types import TypeDescriptions, check_types, read_types
from fascicle.terms.finding import make_finder
from fascicle.terms.matcher import (
    DictionaryReport,
    Matcher,
    WordReader,
    pack_dictionary,
    read_typed_names,
)
from fascicle.terms.pack.carried import carried_files, carried_size
from fascicle.terms.pack.pack import Pack
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
from fascicle.training.recogniser.prototypes import DrawSettings, draw_types
from fascicle.version import VERSION

_COVERED = 0.99


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Dictionaries and packs in which the units of documents are looked up.

    Attributes:
        facts: for the model folder.
        read: cuts documents and looks their units up.
        files: copies of the dictionaries, by their names in the model folder.
        notes: sentences on the reading.
    """

    facts: InputFacts | UnsetType = UNSET
    read: DocumentReader = read_documents
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


_NO_INPUTS: Final = Inputs()
MOST_CARRIED: Final = 256 << 20  # largest size in bytes of a pack that is copied to a model folder


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
    inputs: Inputs = _NO_INPUTS


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
    read = CachedReader(parts.train, reader=inputs.read)
    asked = recipe.heads()
    widths = {}
    for name, head in asked.items():
        if head.needs.width:
            cut = read(parts.train, pretrained.tokenizer, reading=recipe.reading, level=head.level)
            widths[name] = min(
                covering_width(parts.train, cut, types=parts.types, share=_COVERED), WIDEST
            )
    heads = {name: _as_kept(head, widths.get(name)) for name, head in asked.items()}
    manifest = _make_manifest(
        recipe, heads, parts=parts, pretrained=pretrained, inputs=inputs.facts
    )
    model = build_model(
        pretrained.encoder, manifest, tokenizer=pretrained.tokenizer, weights=recipe.weights()
    )
    data = training_set(
        parts.train,
        pretrained.tokenizer,
        types=parts.types,
        reading=recipe.reading,
        heads={name: model.head(name) for name in heads},
        read=read,
    )
    if not any(w.units[0] < w.units[1] for w in data.windows):
        raise InputError(
            f"{recipe.corpus.train if recipe.corpus else 'train of the parts'} holds no word that "
            f"{recipe.model.origin} reads, so there is nothing to train on; give texts with words"
        )
    notes = [*inputs.notes, *_width_notes(widths, heads), *_context_notes(recipe.reading, data)]
    if any(head.needs.windows == "mentions" for head in heads.values()):
        before, data = len(data.windows), with_mentions(data)
        notes.append(
            f"{before - len(data.windows):,} of {plural(before, 'window')} of train hold no "
            "mention and are left out"
        )
    if parts.several:
        data = _mixed(data, recipe, parts)
        notes += _drawn(data, parts)
        if data.mixture and data.mixture.unguided < 1:
            model.follow(len(parts.several))
    return Prepared(manifest=manifest, model=model, data=data, notes=tuple(notes), inputs=inputs)


def _mixed(data: TrainingSet, recipe: Recipe, parts: Parts) -> TrainingSet:
    """Returns a training set of several corpora, each with the types that it annotates, drawn as
    the recipe sets.

    Args:
        data: of the documents of all corpora, in their order.
        recipe: with parts.
        parts: of the recipe.

    Raises:
        RecipeError: a corpus would never be drawn.
    """
    wanted = recipe.mixture or MixtureSettings()
    part_of_document = np.repeat(
        np.arange(len(parts.several)), [len(one.train) for one in parts.several]
    )
    part_of = part_of_document[[w.document for w in data.windows]]
    masks = [
        [parts.types.index(name) for name in recipe.masks().get(one.name, ())]
        for one in parts.several
    ]
    gold = {
        name: [
            head.without(of_one, masks[part]) if masks[part] else of_one
            for of_one, part in zip(_taught(data, name, parts), part_of_document, strict=True)
        ]
        for name, head in data.heads.items()
    }
    sizes = np.bincount(part_of, minlength=len(parts.several)).tolist()
    total = wanted.windows or len(data.windows)
    drawn = quotas(sizes, [one.weight for one in parts.several], power=wanted.power, total=total)
    for one, size, quota in zip(parts.several, sizes, drawn, strict=True):
        if not size or not quota:
            what = (
                "train has no window to draw"
                if not size
                else f"an epoch of {plural(total, 'window')} has none of it"
            )
            raise RecipeError(
                f"nothing is learnt from parts.{one.name}: {what}; give it a larger weight, or "
                "leave it out"
            )
    unguided = wanted.guideline_dropout if wanted.guideline else 1.0
    return replace(
        data, gold=gold, mixture=Mixture(part_of=part_of, quotas=drawn, unguided=unguided)
    )


def _taught(data: TrainingSet, name: str, parts: Parts) -> Iterator[Targets]:
    """Yields the targets of a head for each document: its gold, or the probabilities of a teacher.

    Raises:
        RecipeError: probabilities of fewer tags than the head needs.
    """
    head = data.heads[name]
    soft = {key: tags for one in parts.several for key, tags in one.soft.items()}
    for document, pieces, gold in zip(
        parts.train, data.views[head.level].pieces, data.gold[name], strict=True
    ):
        tags = soft.get(document.id)
        if tags is None:
            yield gold
            continue
        assert head.scheme is not None, "only taggers can be taught probabilities"
        if tags.scheme.width < head.scheme.width:
            raise RecipeError(
                f"the labels of parts.{document.id.partition('/')[0]} are in {tags.scheme.name} "
                "and say nothing of "
                f'where mentions begin: set model.scheme = "{tags.scheme.name}", or soft = false '
                "in this part"
            )
        yield head.soft_gold(tags.at(pieces.units, types=parts.types, scheme=head.scheme))


def _drawn(data: TrainingSet, parts: Parts) -> Iterator[str]:
    """Yields notes on the number of draws from each corpus."""
    assert data.mixture is not None
    sizes = np.bincount(data.mixture.part_of)
    for one, size, quota in zip(parts.several, sizes, data.mixture.quotas, strict=True):
        yield (
            f"{one.name}: {quota:,} of {plural(data.mixture.size, 'window')} in an epoch, of "
            f"{size:,} that it has; it "
            f"annotates {', '.join(one.annotates)}"
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
            "the tokenizer of "
            f"{recipe.model.origin} lacks; set it to 0"
        )
    if recipe.reading.max_length > pretrained.encoder.longest:
        raise RecipeError(
            f"reading.max_length = {recipe.reading.max_length} is more than the "
            f"{plural(pretrained.encoder.longest, 'piece')} that {recipe.model.origin} reads; "
            "lower it (longer "
            "texts are read through windows)"
        )


def _as_kept(head: AnyHead, width: int | None) -> AnyHead:
    """Returns the settings of a head for the model folder: of a file of descriptions only the
    name is kept.
    """
    if path := head.needs.types:
        head = msgspec.structs.replace(head, types=Path(path).name)
    return head if width is None else msgspec.structs.replace(head, width=width)


def _make_manifest(
    recipe: Recipe,
    heads: Mapping[str, AnyHead],
    *,
    parts: Parts,
    pretrained: Pretrained,
    inputs: InputFacts | msgspec.UnsetType = msgspec.UNSET,
) -> Manifest:
    """Builds the manifest of the model folder of a run."""
    try:
        check_apart(recipe.decision.apart, parts.types)
    except ValueError as error:
        raise RecipeError(str(error)) from None
    return Manifest(
        name=recipe.name,
        fascicle=VERSION,
        runtime="torch",
        types=parts.types,
        heads=dict(heads),
        reading=recipe.reading,
        tokenizer=pretrained.tokenizer.facts,
        decision=Decision(
            answer=recipe.answer(),
            decoding=heads[recipe.answer()].decoding,
            chosen_on=dev_sha256(recipe),
            apart=recipe.decision.apart or msgspec.UNSET,
        ),
        encoder=pretrained.encoder.origin,
        descriptions=_descriptions_of(recipe, parts, pretrained),
        corpora=parts.learnt() or msgspec.UNSET,
        inputs=inputs,
    )


def _descriptions_of(
    recipe: Recipe, parts: Parts, pretrained: Pretrained
) -> dict[str, TypeDescriptions]:
    """Returns the type descriptions of each head of a recipe that needs them.

    Args:
        recipe: of the run.
        parts: its corpus.
        pretrained: its encoder.

    Raises:
        RecipeError: see ``settings.types.read_types``, ``check_types`` and
            ``prototypes.draw_types``.
    """
    found: dict[str, TypeDescriptions] = {}
    types, untaught = parts.types, parts.untaught
    for name, head in recipe.heads().items():
        if head.needs.drawn:
            draw = DrawSettings(
                number=head.needs.drawn, seed=recipe.seed, segmenter=recipe.reading.segmenter
            )
            found[name] = draw_types(parts.train, types, pretrained, draw=draw)
        elif path := head.needs.types:
            described = read_types(path)
            # A file may describe types that corpus.types leaves out, and types without a name in a
            # dictionary.
            wanted = recipe.corpus.types if recipe.corpus else None
            kept = [
                name
                for name in described.names
                if name in types or (name not in untaught and (not wanted or wanted.keeps(name)))
            ]
            # a file that fits nothing is refused below
            described = described.select(kept) if kept else described
            check_types(described, types, origin=path)
            found[name] = described
    return found


def with_answering_head(manifest: Manifest, name: str) -> Manifest:
    """Returns the manifest with another answering head; fitted values of the old decision are
    dropped.
    """
    decoding, chosen_on = manifest.heads[name].decoding, manifest.decision.chosen_on
    decision = Decision(
        answer=name, decoding=decoding, chosen_on=chosen_on, apart=manifest.decision.apart
    )
    return msgspec.structs.replace(manifest, decision=decision)


def read_inputs(recipe: Recipe) -> Inputs:
    """Reads the inputs of a recipe; texts are cut into words by the segmenter of its reading.

    Raises:
        InputError: a dictionary cannot be read, or holds no name.
        PackError: a term pack cannot be opened.
        RecipeError: a dictionary is another folder, a pack is too large to go with a model, or all
            have too many types together.
    """
    given = recipe.inputs
    if not given:
        return _NO_INPUTS
    labels = source_sha256(recipe.distant.core) if recipe.distant else ""
    reader = WordReader(recipe.reading.segmenter)
    read = [
        _pack(path, number) if is_pack(path) else _table(path, number, reader)
        for number, path in enumerate(given.dictionaries, 1)
    ]
    notes = [
        f"{path}: {line}"
        for path, one in zip(given.dictionaries, read, strict=True)
        for line in one.notes
    ]
    for path, one in zip(given.dictionaries, read, strict=True):
        if one.facts.sha256 == labels:
            notes.append(
                f"{path} made the labels and is an input too, so the model mostly learns to "
                "repeat it"
            )
    matchers = [one.finds for one in read if isinstance(one.finds, Matcher)]
    packs = {one.facts.file: one.finds for one in read if isinstance(one.finds, Pack)}
    finder = make_finder(matchers, packs) if read else None
    types = finder.types if finder else ()
    if len(types) > MOST_TYPES:
        raise RecipeError(
            f"inputs.dictionaries have {len(types)} types, such as {types[0]!r}; at most "
            f"{MOST_TYPES} are allowed: "
            "give several of them one name"
        )
    facts = InputFacts(
        dictionaries=tuple(one.facts for one in read),
        types=types,
        shapes=SHAPES if given.shape else "",
        dropout=given.dropout,
        rate=given.rate,
    )
    files = {name: content for one in read for name, content in one.files.items()}
    return Inputs(
        facts=facts,
        read=FeatureReader(finder, feature_columns(facts)),
        files=files,
        notes=tuple(notes),
    )


class _Read(NamedTuple):
    """Dictionary or pack with its files."""

    facts: DictionaryFacts
    finds: Matcher | Pack
    files: Mapping[str, bytes]
    notes: Sequence[str]


def _table(path: str, number: int, reader: WordReader) -> _Read:
    if Path(path).is_dir():
        raise RecipeError(
            f"inputs.dictionaries names the folder {path}; give a table of names, type TAB name, "
            "or a term pack"
        )
    report, file = DictionaryReport(), f"dictionary-{number}.tsv.gz"
    entries = list(read_typed_names(path, report=report))
    matcher = Matcher(entries, rule=RULE, reader=reader)
    content, names = pack_dictionary(entries)
    facts = DictionaryFacts(
        name=Path(path).name, sha256=source_sha256(path), file=file, names=names
    )
    return _Read(facts, matcher, {file: content}, (*report.lines(), *matcher.counts.lines()))


def _pack(path: str, number: int) -> _Read:
    pack, file = Pack.open(path), f"dictionary-{number}.pack"
    size = carried_size(pack)
    if size > MOST_CARRIED:
        raise RecipeError(
            f"inputs.dictionaries names the pack {path}, of which a model folder would hold "
            f"{size / 2**20:,.0f} MiB; "
            f"at most {MOST_CARRIED // 2**20} are allowed: build a pack with fewer names"
        )
    count = len(pack.active)
    facts = DictionaryFacts(
        name=pack.full_name, sha256=source_sha256(path), file=file, names=count, rule=PACK_RULE
    )
    carried = f"{size / 2**20:,.1f} MiB of it go with the model"
    return _Read(
        facts,
        pack,
        carried_files(pack, file),
        (f"{pack.full_name} with {plural(count, 'name')}", carried),
    )
