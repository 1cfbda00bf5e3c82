"""Weak labels from a dictionary, in place of human annotation, for training and for all choices on
dev.

A dictionary labels text in three ways. A match with a type is taught as a mention. Text that no
phrase matches is taught as no mention, although the dictionary may merely lack the name. A phrase
that the dictionary has without a type is *unknown*: neither positive nor negative. Its range is in
the layer ``"unknown"`` of the document, and each head leaves it out of the loss in its own way:

* a tagger ignores the tags of the units under it, and of the one after it in the sentence, which
  marks whether the phrase continues (AutoNER leaves out the same gaps, Shang et al. 2018); a unit
  of a taught mention is not ignored,
* a span head or a bi-encoder uses no span that overlaps it as a negative.

On dev a prediction that overlaps such a range is neither right nor wrong (``score_known``).

This module reads no mention of its input documents (*binder* §3: all human labels of train and dev
are discarded), nor their words, which may have been cut at annotated mentions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from fascicle.core.arrays import Bools, Floats32, Ints
from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import Span, overlaps
from fascicle.core.tags import SCHEMES, TagScheme
from fascicle.core.wording import plural
from fascicle.errors import InputError, RecipeError
from fascicle.evaluation.scoring.inputs import layers
from fascicle.evaluation.scoring.scores import Scores, score
from fascicle.formats.weak_labels import STEPS, Header, Labels
from fascicle.runtime.decoding.tagger import tag_runs
from fascicle.settings.folders.vocabularies import is_pack
from fascicle.settings.recipes.recogniser import DistantSettings, Recipe
from fascicle.terms.finding import PackFinder
from fascicle.terms.list_words import WordReader
from fascicle.terms.matcher import (
    DictionaryReport,
    Matcher,
    TsvOptions,
    read_dictionary,
)
from fascicle.terms.overlaps import Match
from fascicle.terms.pack.pack import Pack
from fascicle.text.annotator import bio_to_io

UNKNOWN: Final = "unknown"  # source and type of the unknown ranges
LABELS: Final = "labels"  # in the meta of a document: the origin of its gold, if not people
_LISTED: Final = 20  # types whose mentions are counted in a note, each for itself


_Labeller = Matcher | PackFinder  # of the names that become labels
UNTOLD = -1.0  # in the place of a probability


@dataclass(frozen=True, kw_only=True)
class WeakLabels:
    """Dictionary or term pack of a recipe, ready to label.

    Attributes:
        matcher: the dictionary and its rule.
        counts: sentences on the number of names.
        notes: sentences on the reading.
    """

    matcher: _Labeller
    counts: tuple[str, ...]
    notes: tuple[str, ...]

    def of(self, documents: Iterable[Document]) -> list[Document]:
        """Labels documents; see ``distant_documents``."""
        return distant_documents(documents, self.matcher)


def weak_labels(recipe: Recipe) -> WeakLabels | None:
    """Reads the dictionary that a recipe names; names and texts are cut into words by the segmenter
    of its reading.

    With a term pack, the longest of overlapping names becomes a label, with its most probable type.

    Returns:
        ``None`` where the recipe names none: people labelled the corpus.

    Raises:
        InputError: a file that cannot be read, holds no name, or has a name without a type (with
            file and line); a column of several types where one type is set for all names; phrases
            beside other columns, or in the very file of the names.
        PackError: a term pack that cannot be opened.
        RecipeError: settings of tables beside a term pack.
        UsageError: an encoding that is not known.
    """
    settings = recipe.distant
    if not settings:
        return None
    if is_pack(settings.core):
        return _labels_of_pack(settings)
    files = [(settings.core, _core_columns(settings), DictionaryReport())]
    if settings.full:
        _refuse_same(settings)
        phrases = TsvOptions(
            name_column=0, type_column=None, encoding=settings.encoding, alone=True
        )
        files.append((settings.full, phrases, DictionaryReport()))
    entries = chain.from_iterable(
        read_dictionary(path, options, report=report) for path, options, report in files
    )
    matcher = Matcher(entries, rule=settings.rule, reader=WordReader(recipe.reading.segmenter))
    notes = [f"{path}: {line}" for path, _, report in files for line in report.lines()]
    counts = tuple(matcher.counts.lines())
    return WeakLabels(
        matcher=matcher, counts=counts, notes=(*notes, *(f"dictionary: {line}" for line in counts))
    )


def _labels_of_pack(settings: DistantSettings) -> WeakLabels:
    usual = DistantSettings(core=settings.core)
    if changed := [
        key for key in settings.__struct_fields__ if getattr(settings, key) != getattr(usual, key)
    ]:
        raise RecipeError(
            f"distant.core is the term pack {settings.core}, and distant.{changed[0]} is for "
            "tables of names; leave it out"
        )
    pack = Pack.open(settings.core)
    finder = PackFinder({pack.manifest.name: pack}, overlaps="longest")
    counts = (f"{pack.full_name} with {plural(len(pack.active), 'name')}",)
    return WeakLabels(matcher=finder, counts=counts, notes=counts)


def _refuse_same(settings: DistantSettings) -> None:
    """Refuses one file for both kinds of names: all names would be known with a type and
    without.
    """
    if Path(settings.core).resolve() == Path(settings.full).resolve():
        raise InputError(
            f"distant.core and distant.full are both {settings.core}; set distant.full to another "
            "file, with phrases without types, or leave it out"
        )


def _core_columns(settings: DistantSettings) -> TsvOptions:
    """Returns the options of the names; a column of types before them is an error if one type is
    set for all names.
    """
    return TsvOptions(
        name_column=settings.name_column,
        type_column=None if settings.type else settings.type_column,
        type=settings.type,
        header=settings.header,
        encoding=settings.encoding,
        suspect=0 if settings.type and settings.name_column else None,
    )


def distant_documents(documents: Iterable[Document], matcher: _Labeller) -> list[Document]:
    """Replaces all mentions of documents by the matches of a dictionary.

    A phrase of several types becomes a mention of each: heads that hold one type a span teach the
    first by name and count the others (``text.targets``).

    Args:
        documents: of train or dev, read once; their own mentions have no effect.
        matcher: the dictionary and its rule.

    Returns:
        The same documents with the matches as gold and with unknown ranges; ``meta["labels"]``
        names the dictionary's source, rule and segmenter.
    """
    documents = list(documents)
    return [
        _label(document, matches, matcher)
        for document, matches in zip(documents, matcher.matches(documents), strict=True)
    ]


def unknown_ranges(document: Document) -> tuple[Span, ...]:
    """Returns the unknown ranges of a document, in characters, sorted and disjoint; none in
    human annotation.
    """
    return (
        tuple((m.start, m.end) for m in document.layer(UNKNOWN)) if LABELS in document.meta else ()
    )


def score_known(documents: Iterable[Document], found: Mapping[str, tuple[Mention, ...]]) -> Scores:
    """Scores predictions as far as the labels determine whether they are right.

    Left out before scoring are predictions that overlap an unknown range and are no mention of the
    gold. Documents that people annotated are scored as ``evaluation.scoring.scores.score`` does.

    Args:
        documents: with their gold; ids must be unique.
        found: document id -> predicted mentions, for each document.
    """
    given = list(documents)
    return score(layers(given), {d.id: _drop_unjudged(d, found[d.id]) for d in given})


def _drop_unjudged(document: Document, predicted: tuple[Mention, ...]) -> tuple[Mention, ...]:
    """Removes predictions that overlap an unknown range and are no mention of the gold."""
    ranges = unknown_ranges(document)
    gold = {(m.type, m.spans) for m in document.layer(GOLD)} if ranges else set()
    return tuple(m for m in predicted if (m.type, m.spans) in gold or not _is_unknown(m, ranges))


def _is_unknown(mention: Mention, ranges: Sequence[Span]) -> bool:
    return any(overlaps(span, other) for span in mention.spans for other in ranges)


def label_notes(documents: Sequence[Document]) -> list[str]:
    """Returns sentences on the weak labels."""
    types = Counter(m.type for d in documents for m in d.layer(GOLD))
    frequent = (
        sorted(types.items())
        if len(types) <= _LISTED
        else sorted(types.items(), key=lambda t: (-t[1], t[0]))[:3]
    )
    places = Counter((d.id, m.spans) for d in documents for m in d.layer(GOLD))
    unknown = sum(len(d.layer(UNKNOWN)) for d in documents)
    makers = sorted({d.meta[LABELS] for d in documents if LABELS in d.meta})
    listing = ", ".join(f"{count:,} {name}" for name, count in frequent) or "none"
    if len(types) > len(frequent):
        listing = f"of {plural(len(types), 'type')}, most of all {listing}"
    notes = [
        f"labels by {', '.join(makers) or 'people'}: {plural(types.total(), 'mention')} "
        f"({listing}), {unknown:,} unknown"
    ]
    several = sum(count > 1 for count in places.values())
    if several:
        notes.append(f"{plural(several, 'place has', 'places have')} mentions of several types")
    return notes


def _label(document: Document, matches: Sequence[Match], matcher: _Labeller) -> Document:
    mentions = []
    for match in matches:
        spans = ((match.start, match.end),)
        mentions += [Mention(spans, kind, source=GOLD) for kind in match.types]
        if not match.types:
            mentions.append(Mention(spans, UNKNOWN, source=UNKNOWN))
    meta = {**document.meta, LABELS: f"{matcher.name} {matcher.version}"}
    return replace(document, mentions=tuple(mentions), meta=meta)


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftTags:
    """Probabilities of the tags of one text.

    Attributes:
        words: ranges in the text, ``[n, 2]``.
        steps: probabilities in 255ths, of the tags of ``types``, ``[n, p K]``: one byte each, to
            save memory.
        types: the types that the tags are of, under the names of the model that learns.
        scheme: of the tags.
    """

    words: Ints
    steps: NDArray[np.uint8]
    types: tuple[str, ...]
    scheme: TagScheme

    @property
    def present(self) -> list[str]:
        """Types of which at least one word has a probability."""
        occurs = self.steps.reshape(-1, len(self.types), self.scheme.width).any(axis=(0, 2))
        return [self.types[at] for at in np.flatnonzero(occurs)]

    def at(self, units: Ints, *, types: Sequence[str], scheme: TagScheme) -> Floats32:
        """Returns the same probabilities for the units of another model.

        A unit gets the probabilities of the word in which it begins. One that does not begin this
        word continues it: it has no B, and its I is the sum of B and I, which exclude each other.
        In IO, I is this sum for all units.

        Args:
            units: words or pieces, ``[u, 2]``, sorted.
            types: of the model.
            scheme: of the model; IO where the labels are in IO.

        Returns:
            ``[u, tags of the model]`` without O; ``UNTOLD`` for other types, and for units outside
            the words.
        """
        word = np.searchsorted(self.words[:, 0], units[:, 0], side="right") - 1
        covered = np.flatnonzero(word >= 0)
        covered = covered[units[covered, 0] < self.words[word[covered], 1]]
        word = word[covered]
        probabilities = _to_scheme(self.steps[word] / STEPS, self.scheme, scheme).reshape(
            len(covered), len(self.types), scheme.width
        )
        if scheme.width > 1:
            _continue(probabilities, units[covered, 0] > self.words[word, 0])
        table = np.full((len(units), len(types), scheme.width), UNTOLD, dtype=np.float32)
        columns = [types.index(name) for name in self.types]
        table[covered[:, None], columns] = probabilities
        return table.reshape(len(units), len(types) * scheme.width)


def _continue(probabilities: NDArray[np.float64], units: Bools) -> None:
    """Gives units within a word, ``[u]``, no B, and the sum of B and I as their I."""
    probabilities[units, :, -1] = np.minimum(1.0, probabilities[units].sum(axis=2))
    probabilities[units, :, 0] = 0.0


def _to_scheme(
    table: NDArray[np.float64], own: TagScheme, target: TagScheme
) -> NDArray[np.float64]:
    if own.width == target.width:
        return table
    if own.width < target.width:
        raise ValueError(
            f"labels in {own.name} say nothing of where mentions begin, as {target.name} needs it"
        )
    return bio_to_io(table)


def soft_tags(labels: Labels, header: Header, names: Mapping[str, str]) -> SoftTags:
    """Returns the probabilities of some types.

    Args:
        labels: of one document.
        header: of their file.
        names: type of the file -> its name in the model; others are left out.
    """
    scheme = SCHEMES[header.scheme]
    columns = [
        scheme.width * header.types.index(name) + at for name in names for at in range(scheme.width)
    ]
    steps = np.rint(labels.probabilities[:, columns] * STEPS).astype(np.uint8)
    return SoftTags(words=labels.words, steps=steps, types=tuple(names.values()), scheme=scheme)


def with_answer_as_gold(labels: Labels, header: Header, names: Mapping[str, str]) -> Document:
    """Returns the document with the mentions of the answer as its gold, in place of any other.

    Args:
        labels: of the document.
        header: of their file.
        names: as of `soft_tags`.
    """
    words, scheme = labels.words, SCHEMES[header.scheme]
    mentions = [
        Mention(((int(words[start, 0]), int(words[end - 1, 1])),), name)
        for kind, name in names.items()
        for start, end in _runs(labels.tags, header.types.index(kind), scheme)
    ]
    predicted = [mention for mention in labels.document.mentions if mention.source != GOLD]
    return replace(labels.document, mentions=(*mentions, *predicted))


def _runs(tags: Bools, kind: int, scheme: TagScheme) -> list[tuple[int, int]]:
    """Returns the mentions of one type: first word, and one past the last.

    Args:
        tags: of all types, ``[n, p K]``.
        kind: index of the type.
        scheme: of the tags.
    """
    own = tags[:, scheme.width * kind : scheme.width * (kind + 1)]
    ids = np.where(own[:, 0], 1, np.where(own[:, -1], scheme.width, 0)).astype(np.int64)
    return [(start, end) for start, end, _ in tag_runs(ids, scheme, repair="lenient").tolist()]
