"""Reading of the parts of a corpus as a run uses them: documents, types, and notes for the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from fascicle.core.document import GOLD, Document
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.formats.report import ReadReport
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.terms.matcher import Matcher
from fascicle.text.pieces import PieceTokenizer
from fascicle.text.reading import DocumentReader
from fascicle.text.targets import REASONS
from fascicle.training.corpus import Part, Parts, check_labels, mentions, read_selected
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
    dev = [document for one in several for document in one.dev]
    return Parts(
        train=[document for one in several for document in one.train],
        dev=dev,
        test=[],
        types=recipe.types(),
        notes=(
            *report.lines(),
            *(line for one in several for line in one.notes),
            *_without_mentions(dev),
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
    names: tuple[Part, ...] = ("train", "dev", "test")
    read = {part: read_selected(corpus, part, report=report) for part in names}
    if corpus.types:
        check_labels(corpus.types, sum((chosen.labels for chosen in read.values()), Counter()))
    train, dev, test = (chosen.documents for chosen in read.values())
    train, left_out = without_excluded(train, corpus)
    if labels is not None:
        train, dev = labels.of(train), labels.of(dev)
    types = tuple(sorted({m.type for d in train for m in d.layer(GOLD)}))
    if not types and labels is not None:
        named, told = _first(map(repr, labels.matcher.types)), "; ".join(labels.told)
        columns = (
            ", or correct distant.name_column and distant.type_column if these are no "
            f"types: {named}"
        )
        raise InputError(
            f"no name of the dictionary ({told}) stands in {corpus.train}; give one for the "
            "types of this corpus"
            f"{columns if isinstance(labels.matcher, Matcher) else ''}"
        )
    if not types:
        kept = " of the types that corpus.types keeps" if corpus.types else ""
        raise InputError(
            f"{corpus.train} holds no mentions{kept}; give a corpus with gold annotation to "
            "train on, or a dictionary "
            "in [distant]"
        )
    chosen = [line for part in names for line in read[part].lines(part)]
    untaught = () if labels is None else tuple(sorted(set(labels.matcher.types) - set(types)))
    weak = () if labels is None else _weak_notes(labels, train=train, dev=dev, untaught=untaught)
    missing = unscored_type_notes(types, dev) if mentions(dev) else _without_mentions(dev)
    notes = (*report.lines(), *chosen, *left_out, *weak, *missing)
    return Parts(train=train, dev=dev, test=test, types=types, untaught=untaught, notes=notes)


def _first(names: Iterable[str]) -> str:
    """Returns the first of many names, for a message."""
    given = list(names)
    return ", ".join(given[:_SHOWN]) + (", ..." if len(given) > _SHOWN else "")


def _without_mentions(dev: list[Document]) -> Iterator[str]:
    if not mentions(dev):
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
            f"the dictionary names nothing in train of {types} {_first(untaught)}; the model "
            "lacks them"
        )
    if any(unknown_ranges(d) for d in dev):
        yield (
            "dev: predictions over an unknown phrase that are no weak label count neither as "
            "right nor as wrong"
        )


def representation_notes(
    parts: Parts,
    train: TrainingSet,
    recipe: Recipe,
    tokenizer: PieceTokenizer,
    read: DocumentReader,
) -> Iterator[str]:
    """Yields notes on gold mentions of each part that the model cannot predict exactly; they count
    as missed.

    Args:
        parts: documents of the run.
        train: training data.
        recipe: of the run.
        tokenizer: of the encoder.
        read: cuts dev and test.
    """
    weak, mixed = bool(recipe.distant), any(one.labelled_by for one in parts.several)
    what = (
        "weak labels" if weak else "mentions of gold and weak labels" if mixed else "gold mentions"
    )
    yield from _lost("train", train.mentions, train.lost, what=what)
    for name, documents in (("dev", parts.dev), ("test", parts.test)):
        counts = Counter(m.type for d in documents for m in d.layer(GOLD))
        lacking = sorted(counts.keys() - parts.types)
        unseen = sum(counts[name] for name in lacking)
        if unseen:
            named = _first(map(repr, lacking))
            many = plural(unseen, "gold mention is", "gold mentions are")
            yield f"{name}: {many} of types that train lacks ({named}); they count as missed"
        if documents:
            lost = count_lost_gold(
                documents,
                tokenizer,
                types=parts.types,
                reading=recipe.reading,
                heads=train.heads,
                read=read,
            )
            of_taught = " of the types of train" if unseen else ""
            what = "weak labels" if weak and name == "dev" else "gold mentions"
            yield from _lost(name, counts.total() - unseen, lost, what=what + of_taught)


def _lost(
    part: str, mentions: int, lost: Mapping[str, Counter[str]], *, what: str
) -> Iterator[str]:
    for name, reasons in lost.items():
        head = f" by {name}" if len(lost) > 1 else ""
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
