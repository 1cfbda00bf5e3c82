"""Dictionaries and term packs as predictors, as finders of places with types, and as look-ups of
names of one type.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

import numpy as np

from fascicle.core.document import Document
from fascicle.core.files.source import stem
from fascicle.core.mention import Mention
from fascicle.core.stream import portions
from fascicle.errors import FascicleError, ModelError, UsageError
from fascicle.settings.folders.described import file_sha256
from fascicle.settings.folders.manifest import MANIFEST, Manifest
from fascicle.settings.inputs import PACK_RULE, Case, InputFacts, Overlaps, RecognitionSettings
from fascicle.terms.dictionary import OWN
from fascicle.terms.keys.characters import case_fits
from fascicle.terms.keys.key import NORMALISER, key
from fascicle.terms.list_words import WordReader
from fascicle.terms.matcher import (
    DictionaryReport,
    Matcher,
    read_dictionary,
    read_typed_names,
)
from fascicle.terms.overlaps import Match
from fascicle.terms.pack.carried import PARTS, AnyPack, CarriedPack
from fascicle.terms.pack.pack import Pack
from fascicle.terms.recognising import PORTION, PackRecogniser
from fascicle.text.inputs import FoundName, NameFinder

_TOGETHER: Final = 1 << 20  # characters of text that all finders read before the next ones
_REMEMBERED: Final = 1 << 15  # names whose types are cached


def open_dictionary(path: Path, *, case: Case = "auto") -> Matcher:
    """Opens a table of names as a predictor, whose name is that of the file.

    Args:
        path: of the table.
        case: in which capitals a name is found.

    Raises:
        InputError: it cannot be read, or holds no name.
    """
    report = DictionaryReport()
    return Matcher(
        read_typed_names(str(path), report=report),
        rule=OWN[case],
        name=stem(str(path)),
        content=file_sha256(path),
        report=report,
    )


def open_packs(
    folders: Sequence[Path], settings: RecognitionSettings | None = None
) -> PackRecogniser:
    """Opens term packs as one predictor; the source of the mentions of each is its name, such as
    ``mine@1``.

    Args:
        folders: of the packs.
        settings: of the recogniser.

    Raises:
        PackError: a pack cannot be opened.
        UsageError: two packs of one name, or types that no pack has.
    """
    packs: dict[str, Pack] = {}
    for folder in folders:
        pack = Pack.open(folder)
        name = pack.manifest.name
        if name in packs:
            raise UsageError(
                f"{packs[name].folder} and {folder} are both called {name!r}, and their mentions "
                "could not be told apart; give one of them, or build it again under another name"
            )
        packs[name] = pack
    return PackRecogniser(packs, settings=settings)


class PackFinder:
    """Finder of the names of packs in texts: names above the threshold, in the case that they
    require.

    Attributes:
        name: packs by their content.
        types: all types of all packs, sorted.
        version: of matching rules and keys: together with the packs they decide every match.
    """

    def __init__(self, packs: Mapping[str, AnyPack], *, overlaps: Overlaps) -> None:
        """Opens the tables of the packs.

        Args:
            packs: by a unique name of each.
            overlaps: see `RecognitionSettings`.

        Raises:
            FormatError: a table of another version.
        """
        self._recogniser = PackRecogniser(
            packs, settings=RecognitionSettings(overlaps=overlaps, links=False)
        )
        self.name = " ".join(pack.full_name for pack in packs.values())
        self.types = self._recogniser.types
        self.version = f"{PACK_RULE} {NORMALISER}"

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[Match, ...]]:
        """Yields the matches of each document, in the order of the text.

        Args:
            documents: read once; their mentions and words are not looked at.
        """
        for chunk in portions(documents, characters=PORTION):
            for patch in self._recogniser.predict(chunk):
                yield tuple(_matches(patch.add))


def _matches(mentions: Sequence[Mention]) -> Iterator[Match]:
    """Yields the places of mentions, each with all its types."""
    ordered = sorted(mentions, key=lambda mention: mention.spans[0])
    for (start, end), of_one in groupby(ordered, key=lambda mention: mention.spans[0]):
        yield Match(start, end, tuple(sorted({mention.type for mention in of_one})))


class CombinedFinder:
    """Finder that combines the results of several finders; its types are all types of them,
    sorted.
    """

    def __init__(self, finders: Sequence[NameFinder]) -> None:
        """Sets the finders, at least one."""
        self._finders = tuple(finders)
        self.types = tuple(sorted({name for finder in finders for name in finder.types}))

    def matches(self, documents: Iterable[Document]) -> Iterator[tuple[FoundName, ...]]:
        """Yields the matches of each document, those of a finder after those of the one before.

        Args:
            documents: read once.
        """
        for chunk in portions(documents, characters=_TOGETHER):
            for matches in zip(*(finder.matches(chunk) for finder in self._finders), strict=True):
                yield tuple(match for of_one in matches for match in of_one)


class KnownNames:
    """Look-up of the type of names whose meanings in a pack all have one type.

    A meaning counts where the pack would find it in a text: the name is searched, has the case of
    the text, and the priors of its concepts of the type reach the threshold of recognition.
    """

    def __init__(self, pack: Pack) -> None:
        """Looks names up in an open pack."""
        self._pack = pack
        self._least = RecognitionSettings().threshold
        self._types: dict[str, str] = {}  # empty for a name of no type or of several

    def __call__(self, names: Collection[str]) -> dict[str, str]:
        """Returns the type of each of the given names that have exactly one type.

        Raises:
            PackError: values of the pack lead out of its files.
        """
        remembered = self._types if len(self._types) < _REMEMBERED else {}
        types = {name: kind for name in names if (kind := remembered.get(name)) is not None}
        if new := [name for name in names if name not in types]:
            types.update(zip(new, self._look_up(new), strict=True))
            remembered.update(types)
            self._types = remembered  # never emptied in place: another thread may be reading it
        return {name: kind for name, kind in types.items() if kind}

    def _look_up(self, names: Sequence[str]) -> list[str]:
        places, rows = self._pack.rows([key(name, 2) for name in names])
        concepts = self._pack.active.concept[rows].astype(np.int64)
        kinds = self._pack.type_rows[concepts].tolist()
        priors: list[dict[tuple[int, str], float]] = [{} for _ in names]
        for place, term, kind in zip(
            places.tolist(), self._pack.short_terms(rows), kinds, strict=True
        ):
            if not term.off and case_fits(names[place], term.surface, term.case):
                prior_of = priors[place]
                prior_of[kind, term.concept] = max(
                    prior_of.get((kind, term.concept), 0.0), term.prior
                )
        return [self._type(prior_of) for prior_of in priors]

    def _type(self, priors: dict[tuple[int, str], float]) -> str:
        sums: dict[int, float] = defaultdict(float)
        for (kind, _), prior in priors.items():
            sums[kind] += prior
        kinds = [kind for kind, total in sums.items() if round(total, 6) >= self._least]
        return self._pack.types[kinds[0]] if len(kinds) == 1 else ""


def open_finder(folder: Path, manifest: Manifest, facts: InputFacts) -> NameFinder:
    """Finds the names of all dictionaries of a model.

    Args:
        folder: of the model, whose files were compared with their hashes.
        manifest: read from it.
        facts: its inputs, with at least one dictionary.

    Raises:
        ModelError: a dictionary that is not one of those files, or has other types.
    """
    for dictionary in facts.dictionaries:
        parts = (
            (f"{dictionary.file}.{part}" for part in PARTS) if dictionary.rule == PACK_RULE else ()
        )
        for name in (dictionary.file, *parts):
            if name not in manifest.files:
                raise ModelError(
                    f"{folder / MANIFEST} has no hash of {name}; copy or export the folder again"
                )
    reader = WordReader(manifest.reading.segmenter)
    matchers: list[Matcher] = []
    packs: dict[str, CarriedPack] = {}
    for dictionary in facts.dictionaries:
        file, rule = dictionary.file, dictionary.rule
        if rule == PACK_RULE:
            packs[file] = CarriedPack(folder, file)
        else:
            matchers.append(open_packed_dictionary(folder / file, rule=rule, reader=reader))
    finder = make_finder(matchers, packs)
    if finder.types != facts.types:
        raise ModelError(
            f"the dictionaries in {folder} do not have the types that {MANIFEST} names; copy or "
            "export the folder again"
        )
    return finder


def open_packed_dictionary(path: Path, *, rule: str, reader: WordReader) -> Matcher:
    """Opens the copy of a dictionary, as ``pack_dictionary`` makes it.

    Args:
        path: of the file.
        rule: by which its names match.
        reader: cuts texts and names into words.

    Raises:
        ModelError: it is damaged, or needs a rule that this release does not have.
    """
    try:
        return Matcher(read_dictionary(str(path)), rule=rule, reader=reader)
    except FascicleError as error:
        raise ModelError(
            f"the dictionary {path} cannot be used ({error}); copy or export the folder again"
        ) from None


def make_finder(matchers: Sequence[Matcher], packs: Mapping[str, AnyPack]) -> NameFinder:
    """Finds all names that units are looked up in; at least one dictionary is needed.

    Args:
        matchers: of tables of names, which may share what cuts texts into words.
        packs: any names -> term packs. Names inside others are found too, and all types of a name.
    """
    finders: list[NameFinder] = [
        *matchers,
        *([PackFinder(packs, overlaps="nested")] if packs else []),
    ]
    return CombinedFinder(finders) if len(finders) > 1 else finders[0]
