"""Reads the documents that a recipe names.

Selects or renames the entity types of a corpus, as ``[corpus.types]`` of a recipe states.

The selection changes the gold of train, dev and test alike, so that a model is not scored on types
that it is not taught.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

import msgspec
from msgspec import UnsetType
from msgspec.structs import replace

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.files.tree import path_exists
from fascicle.core.mention import MentionKey, overlaps
from fascicle.core.patches import follow
from fascicle.core.printed import as_printed
from fascicle.core.wording import plural
from fascicle.errors import InputError, RecipeError, UsageError
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import ReadRequest, parse_pairs, read_file
from fascicle.formats.sources import source_sha256
from fascicle.formats.unread import with_fields
from fascicle.settings.base import RecipeBase
from fascicle.settings.folders.best import is_unfinished
from fascicle.settings.folders.manifest import Learnt
from fascicle.settings.recipes.corpora import CorpusSettings, CorpusTypes, ReadingOfCorpus
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.training.labelling import SoftTags

# Name of a setting in the sentences of readers -> its key in a recipe.
_KEYS: Final = MappingProxyType(
    {
        "format=NAME": 'format = "NAME" in [PLACE]',
        "format=jsonl": 'format = "jsonl" in [PLACE]',
        "format=records": 'format = "records" in [PLACE]',
        "encoding=NAME, or as encoding in a recipe": 'encoding = "NAME" in [PLACE], or "auto"',
        "encoding=NAME": 'encoding = "NAME" in [PLACE]',
        'labels="': 'labels = "',
        "bare=True": "bare_tags = true",
        "=VALUE": "",
    }
)
_MODELS: Final = ("model.start", "teacher.model")
_NAMES: Final = MappingProxyType({"vectors.path": "vectors"})


@dataclass(frozen=True, kw_only=True)
class Selected:
    """Documents of a part with the types that a recipe selects.

    Attributes:
        documents: the same, with the gold that is left.
        labels: label in the files -> gold mentions of it.
        left_out: label -> gold mentions that are left out.
        renamed: label -> gold mentions that have another now.
        merged: mentions that were merged with another one of the same spans, because both got the
            same type name.
    """

    documents: list[Document]
    labels: Counter[str]
    left_out: Counter[str]
    renamed: Counter[str]
    merged: int

    def lines(self, part: str) -> Iterator[str]:
        """Yields sentences on the changes."""
        if self.left_out:
            count = plural(self.left_out.total(), "gold mention is", "gold mentions are")
            yield f"{part}: {count} left out ({_format_counts(self.left_out)})"
        if self.renamed:
            changed = plural(self.renamed.total(), "gold mention has", "gold mentions have")
            yield f"{part}: {changed} another type ({_format_counts(self.renamed)})"
        if self.merged:
            yield (
                f"{part}: {plural(self.merged, 'gold mention')} became one with another of the "
                "same range"
            )


def choose_types(documents: list[Document], selection: CorpusTypes | None) -> Selected:
    """Leaves out and renames gold mentions.

    Args:
        documents: of a part.
        selection: selection, by the labels in the files; ``None`` for no change.
    """
    labels = Counter(m.type for d in documents for m in d.layer(GOLD))
    new_names = selection.rename if selection else {}
    gone = {label for label in labels if selection and not selection.keeps(label)}
    left_out = Counter({label: labels[label] for label in sorted(gone)})
    renamed = Counter(
        {label: labels[label] for label in sorted(new_names) if label in labels.keys() - gone}
    )
    merged = 0
    if gone or renamed:
        pairs = [_change_gold(document, gone, new_names) for document in documents]
        documents, merged = [d for d, _ in pairs], sum(count for _, count in pairs)
    return Selected(
        documents=documents, labels=labels, left_out=left_out, renamed=renamed, merged=merged
    )


def check_labels(
    selection: CorpusTypes, labels: Mapping[str, int], *, place: str = "corpus"
) -> None:
    """Refuses a selection with labels that no part of the corpus has.

    Args:
        selection: of the recipe.
        labels: of all parts.
        place: of the corpus in the recipe.

    Raises:
        RecipeError: names them, and those that there are.
    """
    for key in ("keep", "drop", "rename"):
        unknown = [label for label in getattr(selection, key) if label not in labels]
        if unknown:
            names = ", ".join(map(repr, sorted(labels))) or "none"
            raise RecipeError(
                f"{place}.types.{key} names {', '.join(map(repr, unknown))}, a label that no gold "
                f"mention of the corpus has; its labels are {names}"
            )


def check_merged(
    documents: Sequence[Document], selection: CorpusTypes | UnsetType, *, place: str
) -> None:
    """Refuses type names under which mentions of different labels overlap as mentions of one type.

    Two mentions of the same range are merged; that is counted and is no error.

    Args:
        documents: of a part, with the labels of the files.
        selection: of the recipe.
        place: of the corpus in the recipe.

    Raises:
        RecipeError: names the first two.
    """
    if not selection:
        return
    for document in documents:
        # by new type name, the mentions that the next mention may overlap
        reaching: dict[str, list[Mention]] = {}
        for mention in sorted(
            filter(lambda m: selection.keeps(m.type), document.layer(GOLD)), key=lambda m: m.start
        ):
            name = selection.rename.get(mention.type, mention.type)
            before = [m for m in reaching.get(name, ()) if m.end > mention.start]
            other = next(
                (m for m in before if m.type != mention.type and _crosses(m, mention)), None
            )
            if other is not None:
                raise RecipeError(
                    f"{place}.types.rename gives {other.type!r} and {mention.type!r} the name "
                    f"{name!r}, but mentions of the two overlap (document {document.id!r}, "
                    f"{other.start}..{other.end} and {mention.start}..{mention.end}): give them "
                    "two names, or drop one"
                )
            reaching[name] = [*before, mention]


def _crosses(mention: Mention, other: Mention) -> bool:
    """True if two mentions overlap and have different ranges."""
    return mention.spans != other.spans and any(
        overlaps(a, b) for a in mention.spans for b in other.spans
    )


def _change_gold(
    document: Document, gone: set[str], names: Mapping[str, str]
) -> tuple[Document, int]:
    """Returns the document with changed gold, and the number of gold mentions that were merged
    with another one.
    """
    gold: dict[tuple[str, object], Mention] = {}
    now: dict[MentionKey, MentionKey] = {}
    predicted, merged = [], 0
    for mention in document.mentions:
        if mention.source != GOLD:
            predicted.append(mention)
        elif mention.type not in gone:
            name = names.get(mention.type, mention.type)
            new = mention if name == mention.type else replace(mention, type=name)
            merged += gold.setdefault((name, mention.spans), new) is not new
            now[mention.key] = new.key
    relations = follow(document.relations, lambda key: now.get(key, key))
    return replace(document, mentions=(*gold.values(), *predicted), relations=relations), merged


def _format_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {label}" for label, count in counts.items())


Part = Literal["train", "dev", "test"]


def check_data(recipe: RecipeBase) -> None:
    """Checks that the data files that a recipe names exist.

    Raises:
        InputError: a file does not exist.
    """
    for key, path in recipe.files().items():
        if not path_exists(path):
            raise InputError(
                f"{key} of the recipe is {path}, which does not exist; correct the path"
            )
        if key in _MODELS and is_unfinished(Path(path)):
            raise InputError(
                f"{key} of the recipe is {path}, a training run that has not ended; finish it, or "
                f"give its model so far, {Path(path) / 'best'}"
            )


def read_part(
    corpus: CorpusSettings, part: Part, *, report: ReadReport | None = None
) -> list[Document]:
    """Reads one part of a corpus.

    Args:
        corpus: where it is and how to read it.
        part: name of the part.
        report: receives the repairs and losses of reading.

    Returns:
        Its documents, with the types that the recipe selects; none where it names no file.

    Raises:
        RecipeError: a setting that the format of the file does not have.
        InputError: see ``formats.files.read``.
    """
    return read_selected(corpus, part, report=report).documents


def read_selected(
    corpus: CorpusSettings, part: Part, *, report: ReadReport | None = None
) -> Selected:
    """Reads one part as ``read_part`` does, and also returns the types that were left out or
    renamed.
    """
    path: str = getattr(corpus, part)
    documents = read_with(corpus, path, part, report=report) if path else []
    return choose_types(documents, corpus.types or None)


def read_with(
    corpus: ReadingOfCorpus,
    path: str,
    part: Part,
    *,
    place: str = "corpus",
    report: ReadReport | None = None,
) -> list[Document]:
    """Reads one file or folder with the settings of a recipe.

    Args:
        corpus: how to read it.
        path: of the file or folder.
        part: which part it is.
        place: of the corpus in the recipe.
        report: receives the repairs and losses of reading.

    Raises:
        RecipeError: a setting that the format of the file does not have.
        InputError: see ``formats.files.read``.
    """
    request = reading_of_part(corpus, part, place=place)
    try:
        documents = read_file(path, request, report=report)
        # a model reads texts as printed
        return [as_printed(document) if part == "train" else document for document in documents]
    except UsageError as error:
        raise RecipeError(f"in [{place}], {_with_keys(str(error), place)}") from None
    except InputError as error:
        raise error.saying(_with_keys(str(error), place)) from None


def reading_of_part(corpus: ReadingOfCorpus, part: Part, *, place: str = "corpus") -> ReadRequest:
    """Returns the read request that a recipe makes for one part of its corpus.

    Args:
        corpus: how to read it.
        part: which.
        place: of the corpus in the recipe.

    Raises:
        RecipeError: a value of ``fields`` or ``where`` that is no ``NAME=VALUE``.
    """
    where = (corpus.where.replace("{part}", part),) if corpus.where else ()
    try:
        return ReadRequest(
            format=corpus.format,
            encoding=corpus.encoding,
            documents=_unless_auto(corpus.documents),
            columns=corpus.columns,
            shape=_unless_auto(corpus.shape),
            labels=corpus.labels or "",
            bare_tags=corpus.bare_tags is True,
            fields=parse_pairs(corpus.fields, key=f"{place}.fields", example="text=body"),
            where=parse_pairs(where, key=f"{place}.where", example="split=test"),
        )
    except UsageError as error:
        raise RecipeError(str(error)) from None


def _with_keys(text: str, place: str) -> str:
    """Replaces argument names of functions by keys of a recipe in a sentence of a reader.

    Args:
        text: the sentence.
        place: of the corpus in the recipe, e.g. ``"corpus"``.
    """
    sentence = with_fields(
        text, lambda pairs: f"fields = {json.dumps([f'{part}={field}' for part, field in pairs])}"
    )
    for argument, key in _KEYS.items():
        sentence = re.sub(rf"\b{re.escape(argument)}", key.replace("PLACE", place), sentence)
    return sentence


def reading_notes(report: ReadReport, *, place: str = "corpus") -> list[str]:
    """Returns the sentences of a report, with keys of a recipe for names of arguments."""
    return [_with_keys(line, place) for line in report.lines()]


def _unless_auto(value: str) -> str:
    return "" if value == "auto" else value


def data_name(key: str) -> str:
    """Returns the name of a data file in ``run.json``: ``"train"`` for a part, else its key in a
    recipe.
    """
    return _NAMES.get(key, key.removeprefix("corpus."))


def data_facts(
    recipe: RecipeBase, more: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
) -> dict[str, Any]:
    """Returns the hash and further facts of every file that a recipe names, by its name in
    ``run.json``.
    """
    return {
        data_name(key): {"sha256": source_sha256(path), **more.get(data_name(key), {})}
        for key, path in recipe.files().items()
    }


def dev_sha256(recipe: Recipe) -> str:
    """Returns the hash of the data on which a recogniser is chosen: of dev, or of all parts that
    have one.
    """
    if recipe.corpus:
        return source_sha256(recipe.corpus.dev)
    lines = "".join(
        f"{name} {source_sha256(part.dev)}\n" for name, part in recipe.corpora().items() if part.dev
    )
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class CorpusPart:
    """Corpus of a recipe with several corpora.

    Attributes:
        name: in the recipe.
        annotates: types that are known in its text.
        weight: see ``PartSettings``.
        train: documents to train on; their ids begin with the name of the part, as those of
            ``dev``.
        dev: documents on which the model is chosen; may be none.
        excluded: documents of train that an exclusion list named.
        notes: sentences on documents that were left out.
        soft: id of a document of train -> tag probabilities of a teacher, where they are taught in
            place of gold.
        labelled_by: name and hash of the teacher; empty for gold.
    """

    name: str
    annotates: tuple[str, ...]
    weight: float
    train: list[Document]
    dev: list[Document]
    excluded: int
    notes: tuple[str, ...]
    soft: Mapping[str, SoftTags] = field(default_factory=dict)
    labelled_by: str = ""

    @property
    def mentions(self) -> int:
        """Number of gold mentions of train."""
        return count_mentions(self.train)


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
        """Returns the types that a model learns from each of several corpora, for its folder;
        empty for one corpus.
        """
        return {
            part.name: Learnt(
                annotates=part.annotates,
                documents=len(part.train),
                excluded=part.excluded,
                labelled_by=part.labelled_by or msgspec.UNSET,
            )
            for part in self.several
        }

    def facts(self, recipe: Recipe) -> dict[str, Any]:
        """Returns the hash of all data of the recipe, and the size of each part."""
        sizes = {
            name: {"documents": len(documents), "mentions": count_mentions(documents)}
            for name, documents in (("train", self.train), ("dev", self.dev), ("test", self.test))
        }
        return data_facts(recipe, sizes)


def count_mentions(documents: Sequence[Document]) -> int:
    """Returns the number of gold mentions."""
    return sum(len(document.layer(GOLD)) for document in documents)


def gold_types(documents: Sequence[Document]) -> set[str]:
    """Returns the types of the gold mentions."""
    return {mention.type for document in documents for mention in document.layer(GOLD)}
