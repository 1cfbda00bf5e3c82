"""Reading of the parts of a corpus as a run uses them: documents, types, and notes for the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from fascicle.core.document import GOLD, Document
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.formats.report import ReadReport
from fascicle.formats.stats import shared_text_notes
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.terms.matcher import Matcher
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import DocumentReader
from fascicle.text.targets import REASONS
from fascicle.training.corpus import (
    Part,
    Parts,
    Selected,
    check_labels,
    count_mentions,
    gold_types,
    read_selected,
    reading_notes,
)
from fascicle.training.labelling import WeakLabels, label_notes, unknown_ranges, weak_labels
from fascicle.training.recogniser.data import TrainingSet, count_lost_gold
from fascicle.training.several import read_corpora, unscored_type_notes, without_excluded

_SHOWN = 3  # types in a message


def read_data(recipe: Recipe) -> Parts:
    """Reads the data that a recipe names: one corpus, perhaps with weak labels, or several.

    Raises:
        InputError: see `read_parts` and `training.several.read_corpus`.
        RecipeError: see `read_parts` and `training.several.read_corpus`.
    """
    if recipe.corpus:
        return read_parts(recipe.corpus, weak_labels(recipe))
    report = ReadReport()
    several = read_corpora(recipe, report)
    train = [document for part in several for document in part.train]
    dev = [document for part in several for document in part.dev]
    return Parts(
        train=train,
        dev=dev,
        test=[],
        types=recipe.types(),
        notes=(
            *reading_notes(report, place="parts.NAME"),
            *(line for part in several for line in part.notes),
            *_without_mentions(dev),
            *_shared_texts(
                train=[document for part in several for document in part.train], dev=dev
            ),
        ),
        several=tuple(several),
    )


def read_parts(corpus: CorpusSettings, labels: WeakLabels | None = None) -> Parts:
    """Reads the corpus of a recipe.

    Args:
        corpus: where it is and how to read it.
        labels: of a dictionary; they replace the human labels of train and dev, which are then not
            used. Test keeps its own.

    Raises:
        InputError: a part cannot be read, train holds no mentions, or the exclusion list is not
            about train.
        RecipeError: ``corpus.types`` names a label that the corpus does not have.
    """
    report = ReadReport()
    selected = _read_selected(corpus, report)
    train, dev, test = (part.documents for part in selected.values())
    train, left_out = without_excluded(train, corpus)
    if labels is not None:
        train, dev = labels.of(train), labels.of(dev)
    types = tuple(sorted(gold_types(train)))
    if not types:
        raise _no_mentions(corpus, labels)
    untaught = tuple(sorted(set(labels.matcher.types) - set(types))) if labels else ()
    weak = _weak_notes(labels, train=train, dev=dev, untaught=untaught) if labels else ()
    read = (*reading_notes(report), *_changes(selected), *left_out)
    shared = _shared_texts(train=train, dev=dev, test=test)
    notes = (*read, *weak, *_dev_notes(types, dev), *shared)
    return Parts(train=train, dev=dev, test=test, types=types, untaught=untaught, notes=notes)


def _read_selected(corpus: CorpusSettings, report: ReadReport) -> dict[Part, Selected]:
    """Reads all parts with the types that the recipe selects."""
    names: tuple[Part, ...] = ("train", "dev", "test")
    selected = {name: read_selected(corpus, name, report=report) for name in names}
    if corpus.types:
        check_labels(corpus.types, sum((part.labels for part in selected.values()), Counter()))
    return selected


def _changes(selected: Mapping[Part, Selected]) -> Iterator[str]:
    for name, part in selected.items():
        yield from part.lines(name)


def _no_mentions(corpus: CorpusSettings, labels: WeakLabels | None) -> InputError:
    """Returns the error about train without mentions."""
    if labels is None:
        types = " of the types that corpus.types keeps" if corpus.types else ""
        return InputError(
            f"{corpus.train} holds no mentions{types}; give a corpus with gold annotation to train "
            "on, or a dictionary in [distant]"
        )
    columns = ""
    if isinstance(labels.matcher, Matcher):
        columns = (
            ", or correct distant.name_column and distant.type_column if these are no types: "
            + _first(map(repr, labels.matcher.types))
        )
    return InputError(
        f"no name of the dictionary ({'; '.join(labels.counts)}) stands in {corpus.train}; give "
        f"one for the types of this corpus{columns}"
    )


def _first(names: Iterable[str]) -> str:
    """Returns the first of many names, for a message."""
    names = list(names)
    return ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")


def _dev_notes(types: Sequence[str], dev: list[Document]) -> Iterator[str]:
    """Yields notes on what dev cannot score, for one corpus with these types."""
    if count_mentions(dev):
        yield from unscored_type_notes(types, dev)
    else:
        yield from _without_mentions(dev)


def _shared_texts(**parts: list[Document]) -> Iterator[str]:
    return shared_text_notes(
        {name: [document.text for document in part] for name, part in parts.items()}
    )


def _without_mentions(dev: list[Document]) -> Iterator[str]:
    if not count_mentions(dev):
        yield (
            "dev holds no mention, so what is chosen on it is chosen by nothing: give a dev part "
            "with mentions, or set "
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
        types = "the types" if len(untaught) <= _SHOWN else f"{plural(len(untaught), 'type')}:"
        yield (
            f"the dictionary names nothing in train of {types} {_first(untaught)}; the model lacks "
            "them"
        )
    if any(unknown_ranges(d) for d in dev):
        yield (
            "dev: predictions over an unknown phrase that are no weak label count neither as right "
            "nor as wrong"
        )


def representation_notes(
    parts: Parts,
    train: TrainingSet,
    recipe: Recipe,
    tokenizer: PieceTokenizer,
    reader: DocumentReader,
) -> Iterator[str]:
    """Yields notes on gold mentions of each part that the model cannot predict exactly; they count
    as missed.

    Args:
        parts: documents of the run.
        train: training data.
        recipe: of the run.
        tokenizer: of the encoder.
        reader: cuts dev and test.
    """
    weak, mixed = bool(recipe.distant), any(corpus.labelled_by for corpus in parts.several)
    what = (
        "weak labels" if weak else "mentions of gold and weak labels" if mixed else "gold mentions"
    )
    yield from _representation_lines("train", train.mentions, train.lost, what=what)
    for name, documents in (("dev", parts.dev), ("test", parts.test)):
        counts = Counter(m.type for d in documents for m in d.layer(GOLD))
        unseen = counts.keys() - parts.types
        missed = sum(counts[kind] for kind in unseen)
        what = "weak labels" if weak and name == "dev" else "gold mentions"
        if missed:
            many = plural(missed, "gold mention is", "gold mentions are")
            types = _first(map(repr, sorted(unseen)))
            yield f"{name}: {many} of types that train lacks ({types}); they count as missed"
            what += " of the types of train"
        if documents:
            reasons = count_lost_gold(
                documents,
                tokenizer,
                types=parts.types,
                reading=recipe.reading,
                heads=train.heads,
                reader=reader,
            )
            yield from _representation_lines(name, counts.total() - missed, reasons, what=what)


def _representation_lines(
    part: str, mentions: int, reasons_of: Mapping[str, Counter[str]], *, what: str
) -> Iterator[str]:
    for name, reasons in reasons_of.items():
        head = f" by {name}" if len(reasons_of) > 1 else ""
        count = sum(n for reason, n in reasons.items() if reason in REASONS)
        share = count / max(1, mentions)
        yield (
            f"{part}: {mentions} {what}, {count} ({share:.2%}) cannot be represented exactly{head}"
        )
        for reason, number in reasons.most_common():
            yield (
                f"{part}:   {number} {reason}: "
                f"{REASONS.get(reason, 'words longer than a window, read in part')}"
            )
