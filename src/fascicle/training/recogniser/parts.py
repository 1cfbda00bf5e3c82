"""Parts of a corpus as a run uses them: documents, types, and notes for the user.

Also the dictionaries and term packs in which units are looked up, and their copies for the model folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from fascicle.core.document import GOLD, Document
from fascicle.core.wording import counted
from fascicle.errors import InputError, RecipeError
from fascicle.formats.report import ReadReport
from fascicle.formats.sources import source_sha256
from fascicle.runtime.finders import finder_of
from fascicle.runtime.inputs import columns_of
from fascicle.settings.folders.manifest import Learnt
from fascicle.settings.folders.vocabularies import is_pack
from fascicle.settings.inputs import MOST_TYPES, PACK_RULE, RULE, SHAPES, DictionaryFacts, InputFacts
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.terms.matching.matcher import DictionaryReport, Matcher, WordReader, packed_copy, typed_names
from fascicle.terms.pack.carried import carried_files, carried_size
from fascicle.terms.pack.pack import Pack
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import LooksUp, ReadsDocuments, read_documents
from fascicle.text.targets import REASONS
from fascicle.training.corpus import Part, check_labels, data_facts, read_chosen
from fascicle.training.exclusion import without_excluded
from fascicle.training.labelling import WeakLabels, label_notes, unknown_ranges, weak_labels
from fascicle.training.recogniser.data import TrainingSet, lost_gold
from fascicle.training.several import CorpusPart, read_all, without_score

_SHOWN = 3  # types in a message


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Documents of a run.

    Attributes:
        train: documents to train on.
        dev: documents on which the model is chosen.
        test: documents to score once; may be none.
        types: entity types of the gold of train.
        notes: sentences on repairs and losses of reading.
        untaught: types of a dictionary that label nothing in train.
        several: the corpora that train and dev are made of, in their order; empty for one corpus.
    """

    train: list[Document]
    dev: list[Document]
    test: list[Document]
    types: tuple[str, ...]
    notes: tuple[str, ...]
    untaught: tuple[str, ...] = ()
    several: tuple[CorpusPart, ...] = ()

    def learnt(self) -> dict[str, Learnt]:
        """Returns the types that a model learns from each of several corpora, for its folder; empty for one corpus."""
        return {
            one.name: Learnt(
                annotates=one.annotates,
                documents=len(one.train),
                excluded=one.excluded,
                labelled_by=one.labelled_by or msgspec.UNSET,
            )
            for one in self.several
        }

    def facts(self, recipe: Recipe) -> dict[str, Any]:
        """Returns the hash of all data of the recipe, and the size of each part."""
        sizes = {
            name: {"documents": len(documents), "mentions": _mentions(documents)}
            for name, documents in (("train", self.train), ("dev", self.dev), ("test", self.test))
        }
        return data_facts(recipe, sizes)


def read_data(recipe: Recipe) -> Parts:
    """Reads the data that a recipe names: one corpus, perhaps with weak labels, or several.

    Raises:
        InputError: see `read_parts` and `training.several.read_one`.
        RecipeError: see `read_parts` and `training.several.read_one`.
    """
    if recipe.corpus:
        return read_parts(recipe.corpus, weak_labels(recipe))
    report = ReadReport()
    several = read_all(recipe, report)
    dev = [document for one in several for document in one.dev]
    return Parts(
        train=[document for one in several for document in one.train],
        dev=dev,
        test=[],
        types=recipe.types(),
        notes=(*report.lines(), *(line for one in several for line in one.notes), *_without_mentions(dev)),
        several=tuple(several),
    )


def read_parts(corpus: CorpusSettings, labels: WeakLabels | None = None) -> Parts:
    """Reads the corpus of a recipe.

    Args:
        corpus: where it is and how to read it.
        labels: of a dictionary; they replace the human labels of train and dev, which are then not used. Test
            keeps its own.

    Raises:
        InputError: a part cannot be read, train holds no mentions, or the exclusion list is not about train.
        RecipeError: ``corpus.types`` names a label that the corpus does not have.
    """
    report = ReadReport()
    names: tuple[Part, ...] = ("train", "dev", "test")
    read = {part: read_chosen(corpus, part, report=report) for part in names}
    if corpus.types:
        check_labels(corpus.types, sum((chosen.labels for chosen in read.values()), Counter()))
    train, dev, test = (chosen.documents for chosen in read.values())
    train, left_out = without_excluded(train, corpus)
    if labels is not None:
        train, dev = labels.of(train), labels.of(dev)
    types = tuple(sorted({m.type for d in train for m in d.layer(GOLD)}))
    if not types and labels is not None:
        named, told = _first(map(repr, labels.matcher.types)), "; ".join(labels.told)
        columns = f", or correct distant.name_column and distant.type_column if these are no types: {named}"
        raise InputError(
            f"no name of the dictionary ({told}) stands in {corpus.train}; give one for the types of this corpus"
            f"{columns if isinstance(labels.matcher, Matcher) else ''}"
        )
    if not types:
        kept = " of the types that corpus.types keeps" if corpus.types else ""
        raise InputError(
            f"{corpus.train} holds no mentions{kept}; give a corpus with gold annotation to train on, or a dictionary "
            "in [distant]"
        )
    chosen = [line for part in names for line in read[part].lines(part)]
    untaught = () if labels is None else tuple(sorted(set(labels.matcher.types) - set(types)))
    weak = () if labels is None else _weak_notes(labels, train=train, dev=dev, untaught=untaught)
    missing = without_score(types, dev) if _mentions(dev) else _without_mentions(dev)
    notes = (*report.lines(), *chosen, *left_out, *weak, *missing)
    return Parts(train=train, dev=dev, test=test, types=types, untaught=untaught, notes=notes)


def _first(names: Iterable[str]) -> str:
    """Returns the first of many names, for a message."""
    given = list(names)
    return ", ".join(given[:_SHOWN]) + (", ..." if len(given) > _SHOWN else "")


def _without_mentions(dev: list[Document]) -> Iterator[str]:
    if not _mentions(dev):
        yield (
            "dev holds no mention, so what is chosen on it is chosen by nothing: give a dev part with mentions, or set "
            'training.select = "last"'
        )


def _weak_notes(
    labels: WeakLabels, *, train: list[Document], dev: list[Document], untaught: tuple[str, ...]
) -> Iterator[str]:
    """Yields notes on the labels; not on their quality, because the human labels are not used."""
    yield from labels.notes
    for name, documents in (("train", train), ("dev", dev)):
        yield from (f"{name}: {line}" for line in label_notes(documents))
    if untaught:
        types = "the types" if len(untaught) <= _SHOWN else f"{counted(len(untaught), 'type')}:"
        yield f"the dictionary names nothing in train of {types} {_first(untaught)}; the model lacks them"
    if any(unknown_ranges(d) for d in dev):
        yield "dev: predictions over an unknown phrase that are no weak label count neither as right nor as wrong"


def representable(
    parts: Parts, train: TrainingSet, recipe: Recipe, tokenizer: PieceTokenizer, read: ReadsDocuments
) -> Iterator[str]:
    """Yields notes on gold mentions of each part that the model cannot predict exactly; they count as missed.

    Args:
        parts: documents of the run.
        train: training data.
        recipe: of the run.
        tokenizer: of the encoder.
        read: cuts dev and test.
    """
    weak, mixed = bool(recipe.distant), any(one.labelled_by for one in parts.several)
    what = "weak labels" if weak else "mentions of gold and weak labels" if mixed else "gold mentions"
    yield from _lost("train", train.mentions, train.lost, what=what)
    for name, documents in (("dev", parts.dev), ("test", parts.test)):
        counts = Counter(m.type for d in documents for m in d.layer(GOLD))
        lacking = sorted(counts.keys() - parts.types)
        unseen = sum(counts[name] for name in lacking)
        if unseen:
            named = _first(map(repr, lacking))
            many = counted(unseen, "gold mention is", "gold mentions are")
            yield f"{name}: {many} of types that train lacks ({named}); they count as missed"
        if documents:
            lost = lost_gold(
                documents, tokenizer, types=parts.types, reading=recipe.reading, heads=train.heads, read=read
            )
            of_taught = " of the types of train" if unseen else ""
            what = "weak labels" if weak and name == "dev" else "gold mentions"
            yield from _lost(name, counts.total() - unseen, lost, what=what + of_taught)


def _lost(part: str, mentions: int, lost: Mapping[str, Counter[str]], *, what: str) -> Iterator[str]:
    for name, reasons in lost.items():
        head = f" by {name}" if len(lost) > 1 else ""
        count = sum(n for reason, n in reasons.items() if reason in REASONS)
        share = count / max(1, mentions)
        yield f"{part}: {mentions} {what}, {count} ({share:.2%}) cannot be represented exactly{head}"
        for reason, number in reasons.most_common():
            yield f"{part}:   {number} {reason}: {REASONS.get(reason, 'words longer than a window, read in part')}"


def _mentions(documents: list[Document]) -> int:
    return sum(len(d.layer(GOLD)) for d in documents)


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
    read: ReadsDocuments = read_documents
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


NO_INPUTS: Final = Inputs()
MOST_CARRIED: Final = 256 << 20  # largest size in bytes of a pack that is copied to a model folder


def read_inputs(recipe: Recipe) -> Inputs:
    """Reads the inputs of a recipe; texts are cut into words by the segmenter of its reading.

    Raises:
        InputError: a dictionary cannot be read, or holds no name.
        PackError: a term pack cannot be opened.
        RecipeError: a dictionary is another folder, a pack is too large to go with a model, or all have too many types
            together.
    """
    given = recipe.inputs
    if not given:
        return NO_INPUTS
    labels = source_sha256(recipe.distant.core) if recipe.distant else ""
    reader = WordReader(recipe.reading.segmenter)
    read = [
        _pack(path, number) if is_pack(path) else _table(path, number, reader)
        for number, path in enumerate(given.dictionaries, 1)
    ]
    notes = [f"{path}: {line}" for path, one in zip(given.dictionaries, read, strict=True) for line in one.notes]
    for path, one in zip(given.dictionaries, read, strict=True):
        if one.facts.sha256 == labels:
            notes.append(f"{path} made the labels and is an input too, so the model mostly learns to repeat it")
    matchers = [one.finds for one in read if isinstance(one.finds, Matcher)]
    packs = {one.facts.file: one.finds for one in read if isinstance(one.finds, Pack)}
    finder = finder_of(matchers, packs) if read else None
    types = finder.types if finder else ()
    if len(types) > MOST_TYPES:
        raise RecipeError(
            f"inputs.dictionaries have {len(types)} types, such as {types[0]!r}; at most {MOST_TYPES} are allowed: "
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
    return Inputs(facts=facts, read=LooksUp(finder, columns_of(facts)), files=files, notes=tuple(notes))


class _Read(NamedTuple):
    """Dictionary or pack with its files."""

    facts: DictionaryFacts
    finds: Matcher | Pack
    files: Mapping[str, bytes]
    notes: Sequence[str]


def _table(path: str, number: int, reader: WordReader) -> _Read:
    if Path(path).is_dir():
        raise RecipeError(
            f"inputs.dictionaries names the folder {path}; give a table of names, type TAB name, or a term pack"
        )
    report, file = DictionaryReport(), f"dictionary-{number}.tsv.gz"
    entries = list(typed_names(path, report=report))
    matcher = Matcher(entries, rule=RULE, reader=reader)
    content, names = packed_copy(entries)
    facts = DictionaryFacts(name=Path(path).name, sha256=source_sha256(path), file=file, names=names)
    return _Read(facts, matcher, {file: content}, (*report.lines(), *matcher.counts.lines()))


def _pack(path: str, number: int) -> _Read:
    pack, file = Pack.open(path), f"dictionary-{number}.pack"
    size = carried_size(pack)
    if size > MOST_CARRIED:
        raise RecipeError(
            f"inputs.dictionaries names the pack {path}, of which a model folder would hold {size / 2**20:,.0f} MiB; "
            f"at most {MOST_CARRIED // 2**20} are allowed: build a pack with fewer names"
        )
    count = len(pack.active)
    facts = DictionaryFacts(name=pack.full_name, sha256=source_sha256(path), file=file, names=count, rule=PACK_RULE)
    carried = f"{size / 2**20:,.1f} MiB of it go with the model"
    return _Read(facts, pack, carried_files(pack, file), (f"{pack.full_name} with {counted(count, 'name')}", carried))
