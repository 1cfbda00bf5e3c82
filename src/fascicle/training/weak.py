"""A part of weak labels: raw texts, and the file in which ``fascicle label`` wrote what a teacher says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from fascicle.core.document import Document
from fascicle.core.wording import counted
from fascicle.errors import InputError, RecipeError, UsageError
from fascicle.formats.report import ReadReport
from fascicle.formats.requests import resolved
from fascicle.formats.weak_labels import Header, read_header, read_labels
from fascicle.labelling.teacher import SoftTags, soft_tags, taught
from fascicle.settings.recipes.corpora import PartSettings
from fascicle.training.corpus import reading_of_part
from fascicle.training.corpus_types import check_labels


@dataclass(frozen=True, kw_only=True)
class Weak:
    """The texts of a part of weak labels.

    Attributes:
        files: path of each file -> its documents that have labels, with the answers of the teacher as their gold.
        soft: id of a document -> its probabilities; empty if they are not asked for.
        labelled_by: name and hash of the teacher.
        notes: what there is, as sentences.
    """

    files: Mapping[str, list[Document]]
    soft: Mapping[str, SoftTags]
    labelled_by: str
    notes: tuple[str, ...]


def read_weak(
    name: str, part: PartSettings, report: ReadReport | None = None, *, dev_labels: Collection[str] = ()
) -> Weak:
    """Reads the texts of a part, and joins them with their labels.

    Args:
        name: of the part.
        part: with labels.
        report: receives what was repaired or lost.
        dev_labels: labels of the gold of dev, which ``types`` is about too.

    Raises:
        InputError: a file cannot be read, the labels are for other text, or they are no probabilities and must be.
        RecipeError: types of the file that the part does not declare, or the other way round.
    """
    header = read_header(part.label_file)
    if part.types:
        check_labels(part.types, Counter([*header.types, *dev_labels]), place=f"parts.{name}")
    names = _names(name, part, header)
    if part.soft and header.meaning == "none":
        raise InputError(
            f"parts.{name}.soft asks for probabilities, but {header.model}, which made {part.label_file}, gives none; "
            "set soft = false, or label the texts with a model",
            file=part.label_file,
        )
    files: dict[str, list[Document]] = {path: [] for path in part.trains}
    soft: dict[str, SoftTags] = {}
    inputs: list[str] = []

    def documents() -> Iterator[Document]:
        for path, document in _texts(name, part, report):
            inputs.append(path)
            yield document

    count = 0
    for labels in read_labels(part.label_file, documents()):
        document = taught(labels, header, names)
        files.setdefault(inputs[-1], []).append(document)
        count += 1
        if part.soft:
            soft[document.id] = soft_tags(labels, header, names)
    kind = f"probabilities ({header.meaning})" if part.soft else "answers"
    said = f"train: the {kind} of {header.model} on {counted(count, 'document')}, of {len(inputs):,} that were read"
    return Weak(files=files, soft=soft, labelled_by=f"{header.model} {header.sha256}", notes=(said,))


def _texts(name: str, part: PartSettings, report: ReadReport | None) -> Iterator[tuple[str, Document]]:
    request = reading_of_part(part, "train", place=f"parts.{name}")
    try:
        yield from resolved(part.trains, (), request).documents(report or ReadReport())
    except UsageError as error:
        raise RecipeError(f"in [parts.{name}], {error}") from None


def _names(name: str, part: PartSettings, header: Header) -> dict[str, str]:
    """Type of the file -> its name in the model."""
    types = part.types or None
    kept = {one: types.rename.get(one, one) if types else one for one in header.types if not types or types.keeps(one)}
    twice = [new for new, count in Counter(kept.values()).items() if count > 1]
    if twice:
        raise RecipeError(
            f"parts.{name}.types.rename gives several types of {part.label_file} the name {twice[0]!r}, and their "
            "probabilities cannot be joined; drop all but one"
        )
    if strangers := sorted(set(kept.values()) - set(part.annotates)):
        raise RecipeError(
            f"the labels of parts.{name} have {', '.join(map(repr, strangers))}, which parts.{name}.annotates does not "
            f"name; add them, or leave them out with parts.{name}.types.drop"
        )
    if idle := sorted(set(part.annotates) - set(kept.values())):
        raise RecipeError(
            f"parts.{name}.annotates names {', '.join(map(repr, idle))}, of which {part.label_file} says nothing; its "
            f"types are {', '.join(map(repr, header.types))}, so correct it or parts.{name}.types.rename"
        )
    return kept
