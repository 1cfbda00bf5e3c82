"""The dictionaries that a recipe has units looked up in, and their copies for the model folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import UNSET, UnsetType

from fascicle.errors import RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.knowledge.matching.copies import packed_copy
from fascicle.knowledge.matching.dictionary import DictionaryReport, typed_names
from fascicle.knowledge.matching.matcher import Matcher
from fascicle.knowledge.matching.several import Several
from fascicle.runtime.inputs import columns_of
from fascicle.settings.inputs import MOST_TYPES, RULE, SHAPES, DictionaryFacts, InputFacts
from fascicle.settings.recipes.recogniser import Recipe
from fascicle.text.reading import LooksUp, ReadsDocuments, read_documents


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What the documents of a run are looked up in.

    Attributes:
        facts: for the model folder.
        read: cuts documents and looks their units up.
        files: copies of the dictionaries, by their names in the model folder.
        notes: what was read, as sentences.
    """

    facts: InputFacts | UnsetType = UNSET
    read: ReadsDocuments = read_documents
    files: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


NO_INPUTS: Final = Inputs()


def read_inputs(recipe: Recipe) -> Inputs:
    """Reads what ``[inputs]`` of a recipe names; texts are cut into words by the segmenter of its reading.

    Raises:
        InputError: a dictionary cannot be read, or holds no name.
        RecipeError: a dictionary is a folder, or all have too many types together.
    """
    given = recipe.inputs
    if not given:
        return NO_INPUTS
    files: dict[str, bytes] = {}
    dictionaries, matchers, notes = [], [], []
    labels = source_sha256(recipe.distant.core) if recipe.distant else ""
    for number, path in enumerate(given.dictionaries, 1):
        if Path(path).is_dir():
            raise RecipeError(f"inputs.dictionaries names the folder {path}; give a table of names, type TAB name")
        report, file = DictionaryReport(), f"dictionary-{number}.tsv.gz"
        entries = list(typed_names(path, report=report))
        matcher = Matcher(entries, rule=RULE, segmenter=recipe.reading.segmenter)
        files[file], names = packed_copy(entries)
        dictionaries.append(DictionaryFacts(name=Path(path).name, sha256=source_sha256(path), file=file, names=names))
        matchers.append(matcher)
        notes += [f"{path}: {line}" for line in (*report.lines(), *matcher.counts.lines())]
        if dictionaries[-1].sha256 == labels:
            notes.append(f"{path} made the labels and is an input too, so the model mostly learns to repeat it")
    finder = Several(matchers) if matchers else None
    types = finder.types if finder else ()
    if len(types) > MOST_TYPES:
        raise RecipeError(
            f"inputs.dictionaries have {len(types)} types, such as {types[0]!r}; at most {MOST_TYPES} are allowed: "
            "give several of them one name"
        )
    facts = InputFacts(
        dictionaries=tuple(dictionaries),
        types=types,
        shapes=SHAPES if given.shape else "",
        dropout=given.dropout,
        rate=given.rate,
    )
    return Inputs(facts=facts, read=LooksUp(finder, columns_of(facts)), files=files, notes=tuple(notes))
