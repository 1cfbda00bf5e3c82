"""Reads several corpora of one recipe, each with its own types; document ids begin with the name of
the corpus.

`read_corpus` reads every kind of part. A part of weak labels (``weak_labels``) consists of raw
texts and of the answers of a teacher for them, which ``fascicle label`` wrote. Documents of an
exclusion list (``fascicle corpus check --exclude-list``) are left out of train only, because the
model is not trained on dev and test.

The types that a corpus marks are those of its part of the recipe (``settings/recipes/corpora.py``).
A head leaves the others of this corpus out of its loss: a set of possible classes takes the place
of "no mention" (``models/nn/losses.py``): `Recipe.masks` names the types, and `Head.without` of
``models/heads/`` makes the set.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import UnsetType

from fascicle.core.document import Document
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
    Part,
    Selected,
    check_labels,
    check_merged,
    choose_types,
    gold_types,
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
        InputError: see `_remove_excluded`.
    """
    remaining, notes = _remove_excluded({corpus.train: documents}, corpus.exclude)
    if corpus.exclude and len(remaining) == len(documents):
        _check_used(corpus.exclude, documents=len(documents), trains=(corpus.train,))
    return remaining, notes


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
            f"{' and '.join(trains)}, so it was made for another corpus; {_AGAIN}"
        )


def _remove_excluded(
    files: Mapping[str, Sequence[Document]], exclude: str | UnsetType
) -> tuple[list[Document], tuple[str, ...]]:
    """Removes the documents of an exclusion list.

    Args:
        files: path of each file of train -> its documents.
        exclude: path of the list; empty for none.

    Returns:
        The documents that stay, and sentences on the removed ones.

    Raises:
        InputError: the list cannot be read, is not about these documents, or leaves none of them.
    """
    if not exclude:
        return list(chain.from_iterable(files.values())), ()
    rows = list(read_exclusions(Source(path=exclude)))
    reasons = exclusions_by_key(rows)
    remaining, removed = list[Document](), list[Exclusion]()
    for path, documents in files.items():
        hashes = {}
        for document in documents:
            digest = hashlib.sha256(document.text.encode("utf-8")).hexdigest()
            hashes[document.id] = digest
            if row := reasons.get((document.id, digest)) or reasons.get(("", digest)):
                removed.append(row)
            else:
                remaining.append(document)
        _check_texts(rows, hashes, path=path, exclude=exclude)
    if removed and not remaining:
        raise InputError(
            f"the exclusion list {exclude} names every document of {' and '.join(files)}; none is "
            "left"
        )
    notes = _notes(exclude, removed, total=len(removed) + len(remaining))
    return remaining, (*notes, *_dev_notes(rows))


def _check_texts(
    rows: Sequence[Exclusion], hashes: Mapping[str, str], *, path: str, exclude: str
) -> None:
    """Refuses a list that was made for other texts.

    Raises:
        InputError: it names a document of this file with another text.
    """
    entries = [row for row in rows if row.document in hashes and _is_about(row, path)]
    other = [row.document for row in entries if hashes[row.document] != row.sha256]
    if other:
        raise InputError(
            f"the exclusion list {exclude} was made for other texts: {len(other):,} of the "
            f"{len(entries):,} documents that it names of {path} have another text now, the first "
            f"is {other[0]!r}; {_AGAIN}"
        )


def _is_about(row: Exclusion, path: str) -> bool:
    """True if a row may belong to a file, by the file name: lists are made with paths from any
    folder.
    """
    names = [part for part in Path(row.corpus).parts if part not in (".", "..")]
    return bool(names) and list(Path(path).parts[-len(names) :]) == names


def _notes(exclude: str, rows: Sequence[Exclusion], *, total: int) -> Iterator[str]:
    yield f"train: {len(rows):,} of {plural(total, 'document')} are left out, as {exclude} says"
    reasons = Counter((row.reason, row.of_part, row.of_corpus) for row in rows)
    for (reason, part, name), count in sorted(reasons.items()):
        yield f"train:   {count:,} for {reason} with {part} ({Path(name).name})"


def _dev_notes(rows: Sequence[Exclusion]) -> Iterator[str]:
    if in_dev := sum(row.part == "dev" for row in rows):
        yield (
            f"dev: the list names {plural(in_dev, 'document')} of dev; they stay, for nothing is "
            "learned from dev"
        )


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
    corpora = [read_corpus(name, part, report) for name, part in parts.items()]
    for exclude in {part.exclude for part in parts.values() if part.exclude}:
        # A list may be about several parts, and may have no entry for one of them.
        users = [corpus for corpus in corpora if parts[corpus.name].exclude == exclude]
        if not any(corpus.excluded for corpus in users):
            trains = [path for corpus in users for path in parts[corpus.name].trains]
            _check_used(
                exclude, documents=sum(len(corpus.train) for corpus in users), trains=trains
            )
    return corpora


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
    reader = _PartReader(name=name, part=part, report=report or ReadReport())
    files = reader.read_weak_labels() if part.weak_labels else reader.read_gold()
    train, left_out = _remove_excluded(files.train, part.exclude)
    files.check(train)
    dev = files.dev.documents
    unscored = unscored_type_notes(part.annotates, dev) if part.dev else ()
    notes = (*files.notes, *left_out, *files.dev.lines("dev"), *unscored)
    return CorpusPart(
        name=name,
        annotates=part.annotates,
        weight=part.weight,
        train=[_with_prefix(document, name) for document in train],
        dev=[_with_prefix(document, name) for document in dev],
        excluded=sum(map(len, files.train.values())) - len(train),
        notes=tuple(f"{name}: {line}" for line in notes),
        soft={f"{name}/{key}": tags for key, tags in files.soft.items()},
        labelled_by=files.labelled_by,
    )


@dataclass(frozen=True, kw_only=True)
class _Labelled:
    """Texts with the answers of a teacher.

    Attributes:
        files: path -> its documents.
        soft: document id -> the probabilities of its tags, where they are asked for.
        texts: number of texts that were read.
    """

    files: dict[str, list[Document]]
    soft: dict[str, SoftTags] = field(default_factory=dict)
    texts: int = 0


@dataclass(frozen=True, kw_only=True)
class _PartFiles:
    """Content of the files of a part, before any document of train is left out.

    Attributes:
        train: path of each file -> its documents.
        dev: documents to choose on; may be none.
        notes: on train, as sentences.
        check: refuses remaining documents of train that do not fit the part; see `read_corpus`.
        soft: see `CorpusPart`, with the ids of the files.
        labelled_by: see `CorpusPart`.
    """

    train: Mapping[str, Sequence[Document]]
    dev: Selected
    notes: Sequence[str]
    check: Callable[[Sequence[Document]], None]
    soft: Mapping[str, SoftTags] = field(default_factory=dict)
    labelled_by: str = ""


@dataclass(frozen=True, kw_only=True)
class _PartReader:
    """Reads the files of one part, and checks what they annotate.

    Attributes:
        name: of the part.
        part: where it is and how to read it.
        report: receives the repairs and losses of reading.
    """

    name: str
    part: PartSettings
    report: ReadReport

    @property
    def place(self) -> str:
        """Table of the part in the recipe."""
        return f"parts.{self.name}"

    def read_gold(self) -> _PartFiles:
        """Reads a part with gold."""
        part = self.part
        raw = {path: self._read(path, "train") for path in part.trains}
        train = {path: choose_types(texts, part.types or None) for path, texts in raw.items()}
        dev = self._read_dev()
        if part.types:
            labels = sum((selected.labels for selected in train.values()), dev.labels)
            check_labels(part.types, labels, place=self.place)
        notes = list[str]()
        for number, selected in enumerate(train.values(), 1):
            notes += selected.lines(f"train {number}" if len(train) > 1 else "train")
        files = {path: selected.documents for path, selected in train.items()}

        return _PartFiles(
            train=files,
            dev=dev,
            notes=notes,
            check=lambda remaining: self._check_gold(remaining, raw, files, dev.documents),
        )

    def read_weak_labels(self) -> _PartFiles:
        """Reads a part with labels of a teacher in place of gold.

        Raises:
            InputError: a file cannot be read, the labels are for other text, or they are no
                probabilities and must be.
            RecipeError: types of the file that the part does not declare, or the other way round.
        """
        part, dev = self.part, self._read_dev()
        header = read_header(part.label_file)
        if part.types:  # which apply to the gold of dev too
            check_labels(part.types, Counter([*header.types, *dev.labels]), place=self.place)
        names = self._names_of_labels(header)
        self._check_soft(header)
        labelled = self._read_labels(header, names)
        count = sum(map(len, labelled.files.values()))
        return _PartFiles(
            train=labelled.files,
            dev=dev,
            notes=[self._label_note(header, count, total=labelled.texts)],
            check=lambda remaining: self._check_taught(remaining, labelled.soft, dev.documents),
            soft=labelled.soft,
            labelled_by=f"{header.model} {header.sha256}",
        )

    def _read_labels(self, header: Header, names: Mapping[str, str]) -> _Labelled:
        """Reads the texts of the labels, with the teacher's answers as gold."""
        labelled = _Labelled(files={path: [] for path in self.part.trains})
        inputs: list[str] = []  # the file of each text that was read
        for labels in read_labels(self.part.label_file, self._texts(inputs)):
            document = with_answer_as_gold(labels, header, names)
            labelled.files.setdefault(inputs[-1], []).append(document)
            if self.part.soft:
                labelled.soft[document.id] = soft_tags(labels, header, names)
        return replace(labelled, texts=len(inputs))

    def _label_note(self, header: Header, count: int, *, total: int) -> str:
        kind = f"probabilities ({header.meaning})" if self.part.soft else "answers"
        texts = plural(count, "document")
        return f"train: the {kind} of {header.model} on {texts}, of {total:,} that were read"

    def _texts(self, inputs: list[str]) -> Iterator[Document]:
        """Yields the texts of train; appends the file of each to ``inputs``."""
        request = reading_of_part(self.part, "train", place=self.place)
        try:
            texts = resolve_inputs(self.part.trains, (), request).documents(self.report)
            for path, document in texts:
                inputs.append(path)
                yield document
        except UsageError as error:
            raise RecipeError(f"in [{self.place}], {error}") from None

    def _read(self, path: str, part: Part) -> list[Document]:
        return read_with(self.part, path, part, place=self.place, report=self.report)

    def _read_dev(self) -> Selected:
        documents = self._read(self.part.dev, "dev") if self.part.dev else []
        check_merged(documents, self.part.types, place=self.place)
        return choose_types(documents, self.part.types or None)

    def _names_of_labels(self, header: Header) -> dict[str, str]:
        """Returns type of the file -> its name in the model."""
        part, types = self.part, self.part.types or None
        names = {
            kind: types.rename.get(kind, kind) if types else kind
            for kind in header.types
            if not types or types.keeps(kind)
        }
        twice = [name for name, count in Counter(names.values()).items() if count > 1]
        if twice:
            raise RecipeError(
                f"{self.place}.types.rename gives several types of {part.label_file} the name "
                f"{twice[0]!r}, and their probabilities cannot be joined; drop all but one"
            )
        if strangers := sorted(set(names.values()) - set(part.annotates)):
            raise RecipeError(
                f"the labels of {self.place} have {_quote(strangers)}, which "
                f"{self.place}.annotates does not name; add them, or leave them out with "
                f"{self.place}.types.drop"
            )
        if idle := sorted(set(part.annotates) - set(names.values())):
            raise RecipeError(
                f"{self.place}.annotates names {_quote(idle)}, of which {part.label_file} says "
                f"nothing; its types are {_quote(header.types)}, so correct it or "
                f"{self.place}.types.rename"
            )
        return names

    def _check_soft(self, header: Header) -> None:
        if self.part.soft and header.meaning == "none":
            raise InputError(
                f"{self.place}.soft asks for probabilities, but {header.model}, which made "
                f"{self.part.label_file}, gives none; set soft = false, or label the texts with a "
                "model",
                file=self.part.label_file,
            )

    def _check_gold(
        self,
        remaining: Sequence[Document],
        raw: Mapping[str, Sequence[Document]],
        changed: Mapping[str, Sequence[Document]],
        dev: Sequence[Document],
    ) -> None:
        """Refuses types under which mentions overlap, and types that differ from the declared ones.

        Args:
            remaining: documents of train, among those of ``changed``.
            raw: path -> documents with the labels of the files.
            changed: path -> the same documents with the types of the recipe.
            dev: with the types of the recipe.
        """
        stay = set(map(id, remaining))
        for path, documents in changed.items():
            pairs = zip(raw[path], documents, strict=True)
            with_labels = [original for original, document in pairs if id(document) in stay]
            check_merged(with_labels, self.part.types, place=self.place)
        self._check_declared(remaining, dev)

    def _check_taught(
        self, train: Sequence[Document], soft: Mapping[str, SoftTags], dev: Sequence[Document]
    ) -> None:
        """Refuses gold of dev that is not declared, and a declared type for which the teacher has
        no answers.

        Raises:
            RecipeError: either.
        """
        part = self.part
        self._check_undeclared(gold_types(dev))
        taught = gold_types(train)
        if part.soft:
            taught = {kind for document in train for kind in soft[document.id].present}
        if idle := sorted(set(part.annotates) - taught):
            what = (
                "gave no word of its texts a probability of"
                if part.soft
                else "found no mention in its texts of"
            )
            raise RecipeError(
                f"the teacher of {self.place} {what} {_quote(idle)}, so it would be taught that "
                f"there are none; leave them out of {self.place}.annotates"
                + ("" if part.soft else ", or set soft = true")
            )

    def _check_declared(self, train: Sequence[Document], dev: Sequence[Document]) -> None:
        """Refuses types that are declared but do not occur, and types that occur but are not
        declared.

        Raises:
            InputError: train holds no mentions.
            RecipeError: types of the gold and declared ones differ.
        """
        taught = gold_types(train)
        if not taught:
            raise InputError(
                f"train of {self.place} ({', '.join(self.part.trains)}) holds no mentions; give "
                "annotated texts"
            )
        self._check_undeclared(taught | gold_types(dev))
        if idle := sorted(set(self.part.annotates) - taught):
            raise RecipeError(
                f"{self.place}.annotates names {_quote(idle)}, of which train has no gold mention, "
                "so the model would learn that there are none; the types of train are "
                f"{_quote(sorted(taught))}"
            )

    def _check_undeclared(self, types: set[str]) -> None:
        if strangers := sorted(types - set(self.part.annotates)):
            raise RecipeError(
                f"the gold of {self.place} has {_quote(strangers)}, which {self.place}.annotates "
                "does not name; add what it annotates in every text, rename it with "
                f"{self.place}.types.rename, or leave it out with {self.place}.types.drop"
            )


def unscored_type_notes(types: Collection[str], dev: Sequence[Document]) -> Iterator[str]:
    """Yields sentences on the types of train that have no mention in dev."""
    if unseen := sorted(set(types) - gold_types(dev)):
        yield f"dev has no gold mention of {_quote(unseen)}, so it gives no score of that"


def _with_prefix(document: Document, name: str) -> Document:
    return msgspec.structs.replace(document, id=f"{name}/{document.id}")


def _quote(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def training_documents(corpus: CorpusSettings) -> list[Document]:
    """Reads train without the documents of the exclusion list of the recipe.

    Args:
        corpus: where it is and how to read it.

    Raises:
        InputError: train cannot be read; and see `without_excluded`.
    """
    return without_excluded(read_part(corpus, "train"), corpus)[0]
