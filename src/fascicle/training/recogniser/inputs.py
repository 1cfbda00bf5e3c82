"""The dictionaries and term packs that a recipe has units looked up in, and their copies for the model folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from fascicle.core.wording import counted
from fascicle.errors import RecipeError
from fascicle.formats.sources import source_sha256
from fascicle.knowledge.matching.dictionary import DictionaryReport, packed_copy, typed_names
from fascicle.knowledge.matching.matcher import Matcher, WordReader
from fascicle.knowledge.pack.carried import carried_files, carried_size
from fascicle.knowledge.pack.pack import Pack
from fascicle.runtime.finders import finder_of
from fascicle.runtime.inputs import columns_of
from fascicle.settings.folders.vocabularies import is_pack
from fascicle.settings.inputs import MOST_TYPES, PACK_RULE, RULE, SHAPES, DictionaryFacts, InputFacts
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
MOST_CARRIED: Final = 256 << 20  # bytes of a pack that may go with a model


def read_inputs(recipe: Recipe) -> Inputs:
    """Reads what ``[inputs]`` of a recipe names; texts are cut into words by the segmenter of its reading.

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
    """A dictionary or a pack."""

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
