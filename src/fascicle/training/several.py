"""Reads several corpora of one recipe, each with its own types; document ids begin with the name of
the corpus.

`read_corpus` reads every kind of part. A part of weak labels (`_of_teacher`) consists of raw texts
and of the answers of a teacher for these texts, which ``fascicle label`` wrote. Documents of an
exclusion list (``fascicle corpus check --exclude-list``) are left out of train only, because the
model is not trained on dev and test.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fascicle.core.document import GOLD, Document
from fascicle.core.files.source import Source
from fascicle.core.wording import plural
from fascicle.errors import InputError, RecipeError, UsageError
from fascicle.formats.exclusions import PROTECTED, Exclusion, exclusions_by_key, read_exclusions
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import resolve_inputs
from fascicle.formats.weak_labels import Header, read_header, read_labels
from fascicle.settings.recipes.corpora import CorpusSettings, PartSettings
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.corpus import (
    CorpusPart,
    Selected,
    check_labels,
    check_merged,
    choose_types,
    read_part,
    read_with,
    reading_of_part,
)
from fascicle.training.labelling import SoftTags, soft_tags, with_answer_as_gold

_AGAIN = (
    "make it again with fascicle corpus check --exclude-list, reading the corpus as the recipe does"
)


def without_excluded(
    documents: list[Document], corpus: CorpusSettings
) -> tuple[list[Document], tuple[str, ...]]:
    """Removes the documents of the exclusion list of the recipe.

    Args:
        documents: of train.
        corpus: the corpus of these documents.

    Returns:
        The documents that stay, and sentences on the removed ones; no sentences where the recipe
        names no list.

    Raises:
        InputError: see `_without_listed`.
    """
    if not corpus.exclude:
        return documents, ()
    (kept,), notes = _without_listed({corpus.train: documents}, corpus.exclude)
    if len(kept) == len(documents):
        _check_used(corpus.exclude, documents=len(documents), trains=(corpus.train,))
    return kept, notes


def _check_used(exclude: str, *, documents: int, trains: Sequence[str]) -> None:
    """Refuses a list that names training documents but none of those that exist.

    Args:
        exclude: path of the list.
        documents: number of documents.
        trains: paths of train.

    Raises:
        InputError: it does.
    """
    if any(row.part not in PROTECTED for row in read_exclusions(Source(path=exclude))):
        raise InputError(
            f"the exclusion list {exclude} names none of the {plural(documents, 'document')} of "
            f"{' and '.join(trains)}"
            f", so it was made for another corpus; {_AGAIN}"
        )


def _without_listed(
    files: Mapping[str, Sequence[Document]], exclude: str
) -> tuple[list[list[Document]], tuple[str, ...]]:
    """Removes the documents of an exclusion list.

    Args:
        files: path of each file of train -> its documents.
        exclude: path of the list.

    Returns:
        The documents of each file that stay, and sentences on the removed ones.

    Raises:
        InputError: the list cannot be read, is not about these documents, or leaves none of them.
    """
    rows = list(read_exclusions(Source(path=exclude)))
    reasons = exclusions_by_key(rows)
    kept, found = [], list[Exclusion | None]()
    for path, documents in files.items():
        hashes = [
            hashlib.sha256(document.text.encode("utf-8")).hexdigest() for document in documents
        ]
        pairs = list(zip(documents, hashes, strict=True))
        _check_texts(
            rows, {document.id: digest for document, digest in pairs}, path=path, exclude=exclude
        )
        of_file = [
            reasons.get((document.id, digest)) or reasons.get(("", digest))
            for document, digest in pairs
        ]
        kept.append(
            [document for document, row in zip(documents, of_file, strict=True) if row is None]
        )
        found += of_file
    if found and not any(kept):
        raise InputError(
            f"the exclusion list {exclude} names every document of {' and '.join(files)}; none "
            "is left"
        )
    notes = list(_notes(exclude, [row for row in found if row is not None], total=len(found)))
    if in_dev := sum(row.part == "dev" for row in rows):
        notes.append(
            f"dev: the list names {plural(in_dev, 'document')} of dev; they stay, for nothing is "
            "learned from dev"
        )
    return kept, tuple(notes)


def _check_texts(
    rows: Sequence[Exclusion], known: Mapping[str, str], *, path: str, exclude: str
) -> None:
    """Refuses a list that was made for other texts.

    Raises:
        InputError: it names a document of this file with another text.
    """
    named = [row for row in rows if row.document in known and _is_of(row, path)]
    other = [row.document for row in named if known[row.document] != row.sha256]
    if other:
        raise InputError(
            f"the exclusion list {exclude} was made for other texts: {len(other):,} of the "
            f"{len(named):,} documents "
            f"that it names of {path} have another text now, the first is {other[0]!r}; {_AGAIN}"
        )


def _is_of(row: Exclusion, path: str) -> bool:
    """True if a row may belong to a file, by the file name: lists are made with paths from any
    folder.
    """
    told = [part for part in Path(row.corpus).parts if part not in (".", "..")]
    return bool(told) and list(Path(path).parts[-len(told) :]) == told


def _notes(exclude: str, rows: Sequence[Exclusion], *, total: int) -> Iterator[str]:
    yield f"train: {len(rows):,} of {plural(total, 'document')} are left out, as {exclude} says"
    reasons = Counter((row.reason, row.of_part, row.of_corpus) for row in rows)
    for (reason, part, name), count in sorted(reasons.items()):
        yield f"train:   {count:,} for {reason} with {part} ({Path(name).name})"


def _names(name: str, part: PartSettings, header: Header) -> dict[str, str]:
    """Returns type of the file -> its name in the model."""
    types = part.types or None
    kept = {
        one: types.rename.get(one, one) if types else one
        for one in header.types
        if not types or types.keeps(one)
    }
    twice = [new for new, count in Counter(kept.values()).items() if count > 1]
    if twice:
        raise RecipeError(
            f"parts.{name}.types.rename gives several types of {part.label_file} the name "
            f"{twice[0]!r}, and their "
            "probabilities cannot be joined; drop all but one"
        )
    if strangers := sorted(set(kept.values()) - set(part.annotates)):
        raise RecipeError(
            f"the labels of parts.{name} have {', '.join(map(repr, strangers))}, which "
            f"parts.{name}.annotates does not "
            f"name; add them, or leave them out with parts.{name}.types.drop"
        )
    if idle := sorted(set(part.annotates) - set(kept.values())):
        raise RecipeError(
            f"parts.{name}.annotates names {', '.join(map(repr, idle))}, of which "
            f"{part.label_file} says nothing; its "
            f"types are {', '.join(map(repr, header.types))}, so correct it or "
            f"parts.{name}.types.rename"
        )
    return kept


def read_corpora(recipe: Recipe, report: ReadReport | None = None) -> list[CorpusPart]:
    """Reads all parts of a recipe, in the order of their names.

    Args:
        recipe: with parts.
        report: receives the repairs and losses of reading.

    Raises:
        InputError: see `read_corpus`.
        RecipeError: see `read_corpus`.
    """
    parts = recipe.corpora()
    read = [read_corpus(name, part, report) for name, part in parts.items()]
    for path in {part.exclude for part in parts.values() if part.exclude}:
        # A list may be about several parts, and may have no entry for one of them.
        users = [one for one in read if parts[one.name].exclude == path]
        if not any(one.excluded for one in users):
            trains = [path for one in users for path in parts[one.name].trains]
            _check_used(path, documents=sum(len(one.train) for one in users), trains=trains)
    return read


def read_corpus(name: str, part: PartSettings, report: ReadReport | None = None) -> CorpusPart:
    """Reads one part.

    Args:
        name: of the part.
        part: where it is and how to read it.
        report: receives the repairs and losses of reading.

    Raises:
        InputError: a file cannot be read, train holds no mentions, or the exclusion list is not
            about it.
        RecipeError: a label that the corpus does not have; a type that is declared and not
            annotated, or the other way round; names of types under which mentions overlap.
    """
    read = (_of_teacher if part.weak_labels else _of_people)(name, part, report)
    documents = [document for of_file in read.files.values() for document in of_file]
    kept, left_out = documents, tuple[str, ...]()
    if part.exclude:
        of_files, left_out = _without_listed(read.files, part.exclude)
        kept = [document for of_file in of_files for document in of_file]
    read.check(kept)
    unscored = unscored_type_notes(part.annotates, read.dev.documents) if part.dev else ()
    return CorpusPart(
        name=name,
        annotates=part.annotates,
        weight=part.weight,
        train=[_named(document, name) for document in kept],
        dev=[_named(document, name) for document in read.dev.documents],
        excluded=len(documents) - len(kept),
        notes=tuple(
            f"{name}: {line}"
            for line in (*read.notes, *left_out, *read.dev.lines("dev"), *unscored)
        ),
        soft={f"{name}/{key}": tags for key, tags in read.soft.items()},
        labelled_by=read.labelled_by,
    )


@dataclass(frozen=True, kw_only=True)
class _Read:
    """Content of the files of a part, before any document of train is left out.

    Attributes:
        files: path of each file of train -> its documents.
        dev: documents to choose on; may be none.
        notes: on train, as sentences.
        check: refuses remaining documents of train that do not fit the part; see `read_corpus`.
        soft: see `CorpusPart`, with the ids of the files.
        labelled_by: see `CorpusPart`.
    """

    files: Mapping[str, Sequence[Document]]
    dev: Selected
    notes: Sequence[str]
    check: Callable[[Sequence[Document]], None]
    soft: Mapping[str, SoftTags] = field(default_factory=dict)
    labelled_by: str = ""


def _of_people(name: str, part: PartSettings, report: ReadReport | None) -> _Read:
    """Reads a part with gold."""
    raw = {
        path: read_with(part, path, "train", place=f"parts.{name}", report=report)
        for path in part.trains
    }
    trains = {path: choose_types(documents, part.types or None) for path, documents in raw.items()}
    dev = _dev(name, part, report)
    if part.types:
        labels = sum((chosen.labels for chosen in trains.values()), dev.labels)
        check_labels(part.types, labels, place=f"parts.{name}")

    names = (
        [f"train {number}" for number in range(1, len(trains) + 1)]
        if len(trains) > 1
        else ["train"]
    )
    notes = [
        line
        for part, chosen in zip(names, trains.values(), strict=True)
        for line in chosen.lines(part)
    ]

    def check(kept: Sequence[Document]) -> None:
        stay = set(map(id, kept))
        for path, chosen in trains.items():
            pairs = zip(raw[path], chosen.documents, strict=True)
            check_merged(
                [one for one, changed in pairs if id(changed) in stay],
                part.types,
                place=f"parts.{name}",
            )
        _check_declared(name, part, kept, dev.documents)

    files = {path: chosen.documents for path, chosen in trains.items()}
    return _Read(files=files, dev=dev, notes=notes, check=check)


def _of_teacher(name: str, part: PartSettings, report: ReadReport | None) -> _Read:
    """Reads a part with labels of a teacher in place of gold.

    Raises:
        InputError: a file cannot be read, the labels are for other text, or they are no
            probabilities and must be.
        RecipeError: types of the file that the part does not declare, or the other way round.
    """
    dev = _dev(name, part, report)
    header = read_header(part.label_file)
    if part.types:  # which apply to the gold of dev too
        check_labels(part.types, Counter([*header.types, *dev.labels]), place=f"parts.{name}")
    names = _names(name, part, header)
    if part.soft and header.meaning == "none":
        raise InputError(
            f"parts.{name}.soft asks for probabilities, but {header.model}, which made "
            f"{part.label_file}, gives none; "
            "set soft = false, or label the texts with a model",
            file=part.label_file,
        )
    files: dict[str, list[Document]] = {path: [] for path in part.trains}
    soft: dict[str, SoftTags] = {}
    inputs: list[str] = []

    def texts() -> Iterator[Document]:
        request = reading_of_part(part, "train", place=f"parts.{name}")
        try:
            for path, document in resolve_inputs(part.trains, (), request).documents(
                report or ReadReport()
            ):
                inputs.append(path)
                yield document
        except UsageError as error:
            raise RecipeError(f"in [parts.{name}], {error}") from None

    for labels in read_labels(part.label_file, texts()):
        document = with_answer_as_gold(labels, header, names)
        files.setdefault(inputs[-1], []).append(document)
        if part.soft:
            soft[document.id] = soft_tags(labels, header, names)
    kind = f"probabilities ({header.meaning})" if part.soft else "answers"
    count = plural(sum(map(len, files.values())), "document")
    return _Read(
        files=files,
        dev=dev,
        notes=[
            f"train: the {kind} of {header.model} on {count}, of {len(inputs):,} that were read"
        ],
        check=lambda kept: _check_taught(name, part, kept, soft, dev.documents),
        soft=soft,
        labelled_by=f"{header.model} {header.sha256}",
    )


def _check_taught(
    name: str,
    part: PartSettings,
    train: Sequence[Document],
    soft: Mapping[str, SoftTags],
    dev: Sequence[Document],
) -> None:
    """Refuses gold of dev that is not declared, and a declared type for which the teacher has no
    answers.

    Raises:
        RecipeError: either.
    """
    _check_undeclared_types(name, part, _types(dev))
    found = {kind for one in train for kind in soft[one.id].present} if part.soft else _types(train)
    if idle := sorted(set(part.annotates) - found):
        what = (
            "gave no word of its texts a probability of"
            if part.soft
            else "found no mention in its texts of"
        )
        raise RecipeError(
            f"the teacher of parts.{name} {what} {_listed(idle)}, so it would be taught that "
            "there are none; leave "
            f"them out of parts.{name}.annotates" + ("" if part.soft else ", or set soft = true")
        )


def _dev(name: str, part: PartSettings, report: ReadReport | None) -> Selected:
    place = f"parts.{name}"
    documents = read_with(part, part.dev, "dev", place=place, report=report) if part.dev else []
    check_merged(documents, part.types, place=place)
    return choose_types(documents, part.types or None)


def _check_declared(
    name: str, part: PartSettings, train: Sequence[Document], dev: Sequence[Document]
) -> None:
    """Refuses types that are declared but do not occur, and types that occur but are not declared.

    Raises:
        InputError: train holds no mentions.
        RecipeError: types of the gold and declared ones differ.
    """
    taught, all_types = _types(train), _types([*train, *dev])
    if not taught:
        raise InputError(
            f"train of parts.{name} ({', '.join(part.trains)}) holds no mentions; give annotated "
            "texts"
        )
    _check_undeclared_types(name, part, all_types)
    if idle := sorted(set(part.annotates) - taught):
        raise RecipeError(
            f"parts.{name}.annotates names {_listed(idle)}, of which train has no gold mention, "
            "so the model would "
            f"learn that there are none; the types of train are {_listed(sorted(taught))}"
        )


def _check_undeclared_types(name: str, part: PartSettings, types: Collection[str]) -> None:
    if strangers := sorted(set(types) - set(part.annotates)):
        raise RecipeError(
            f"the gold of parts.{name} has {_listed(strangers)}, which parts.{name}.annotates "
            "does not name; add what "
            f"it annotates in every text, rename it with parts.{name}.types.rename, or leave it "
            "out with "
            f"parts.{name}.types.drop"
        )


def unscored_type_notes(types: Collection[str], dev: Sequence[Document]) -> Iterator[str]:
    """Yields sentences on the types of train that have no mention in dev."""
    if unseen := sorted(set(types) - _types(dev)):
        yield f"dev has no gold mention of {_listed(unseen)}, so it gives no score of that"


def _types(documents: Sequence[Document]) -> set[str]:
    return {mention.type for document in documents for mention in document.layer(GOLD)}


def _named(document: Document, name: str) -> Document:
    return msgspec.structs.replace(document, id=f"{name}/{document.id}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def training_documents(corpus: CorpusSettings) -> list[Document]:
    """Reads train without the documents of the exclusion list of the recipe.

    Args:
        corpus: where it is and how to read it.

    Raises:
        InputError: train cannot be read; and see `without_excluded`.
    """
    return without_excluded(read_part(corpus, "train"), corpus)[0]
