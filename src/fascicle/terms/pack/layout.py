"""Files of a pack: their names and meanings, the manifest with the checks at opening, and the
tables of names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, Self

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import replace

from fascicle.core.arrays import Ints
from fascicle.core.files import intact
from fascicle.core.files.owned import file_facts
from fascicle.errors import FormatError, PackError
from fascicle.settings.base import Settings
from fascicle.settings.folders.described import Wording, read_description, write_description
from fascicle.settings.folders.vocabularies import PACK, newer_hint
from fascicle.terms.pack.arrays import (
    BYTES,
    HASHES,
    OFFSETS,
    ROWS,
    Array,
    Lists,
    Lookup,
    Strings,
    expand_ranges,
    file_dtype,
    map_array,
)
from fascicle.terms.scanning.layout import open_arrays

NONE: Final = (1 << 32) - 1  # in place of a number of a row
# rows of names that a pack can have; the bit above says which table a label is in
LIMIT: Final = 1 << 31

# Tables of names: those that are found, and those that are kept out and only answer why.
ACTIVE: Final = "names"
SILENT: Final = "silent"
KEYS: Final = "keys"  # strings with hashes, sorted
SURFACES: Final = "surfaces"  # strings, in the order of the terms
STARTS: Final = "starts.u4"  # of the terms of each key
CONCEPT: Final = "concept.u4"
SURFACE: Final = "surface.u4"
NAME_KIND: Final = "kind.u1"  # number in NAME_KINDS
LANGUAGE: Final = "language.u1"  # number in the manifest
FLAGS: Final = "flags.u1"
SET: Final = "set.u2"  # number in the manifest
PRIOR: Final = "prior.f4"
OF_CONCEPT: Final = ("of-concept.starts.u4", "of-concept.rows.u4")  # lists of terms
# terms that a rule of curation touched, sorted, and the last of these rules
RULED: Final = ("ruled.u4", "rule.u4")
# bits of the flags: the case policy; on their way into a pack, all of them for that of the name
CASE: Final = 3
OFF: Final = 4  # not looked for in texts, but linked
PREFERRED: Final = 8  # a rule says that this concept is meant
STYLE: Final = 32 | 64  # bits, on its way into a pack: how names of its type look
STYLE_UNIT: Final = 32  # the lowest of these bits
DROPPED: Final = 16  # of a silent term: a rule dropped it; else its concept is obsolete

CURIES: Final = "concepts.curies"  # strings with hashes, sorted
# number of the surface; the highest bit: that of the silent table
LABEL: Final = "concepts.label.u4"
TYPE: Final = "concepts.type.u2"  # number in the manifest
TAXON: Final = "concepts.taxon.u4"  # number in the strings of taxa; the first is empty
RANK: Final = "concepts.rank.u1"  # number in the manifest
CONCEPT_FLAGS: Final = "concepts.flags.u1"
CONCEPT_SET: Final = "concepts.set.u2"
# row of the concept that leads the set of each; packs of older releases have none
LEAD: Final = "concepts.lead.u4"
OBSOLETE: Final = 1
FACTS: Final = (
    "concepts.facts"  # strings of msgpack, see `ConceptFacts`; empty where there are none
)
PARENTS: Final = ("parents.starts.u4", "parents.rows.u4")  # lists of concepts
CHILDREN: Final = ("children.starts.u4", "children.rows.u4")
TAXA: Final = "taxa"
# the text of each rule of curation that touched something; the first is empty
RULES: Final = "rules"
TABLE: Final = "tokens.table"  # by which texts are scanned; row i is key i of the active table
# of a pack with composed names: the table of entities and words for qualities, and of each key a
# list of classes with the roles of a word, and of rows of keys of names (see `pack.qualities`)
QUALITIES: Final = "qualities.table"
OF_QUALITIES: Final = ("qualities.starts.u4", "qualities.class.u1", "qualities.name.u4")
# one value for each term
COLUMNS: Final = (CONCEPT, SURFACE, NAME_KIND, LANGUAGE, FLAGS, SET, PRIOR)
# one value for each concept
CONCEPT_COLUMNS: Final = (LABEL, TYPE, TAXON, RANK, CONCEPT_FLAGS, CONCEPT_SET)
FORMAT: Final = 1
KIND: Final = "pack"  # of the folder
_SHOWN: Final = 12  # characters of the hash in the name
WORDING: Final = Wording(
    broken="is not the manifest of a term pack",
    repair="copy the pack again, or build it with fascicle index build",
    renew="build it again with fascicle index build",
    version="pack format",
    error=PackError,
)
_AGAIN: Final = "build it again with fascicle index build, or copy it again"


class ConceptFacts(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True):
    """Rarely used fields of a concept.

    Attributes:
        definition: one text.
        replaced_by: CURIEs of what took the place of an obsolete concept.
        references: CURIEs of other vocabularies under the predicate of each.
    """

    definition: str = ""
    replaced_by: tuple[str, ...] = ()
    references: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


def table_file(table: str, name: str) -> str:
    """Returns the name of a file of one of the two tables."""
    return f"{table}.{name}"


class Names:
    """Table of names. A term is a name of a concept in one language; terms are sorted by key,
    surface and concept.

    All columns are arrays over terms, mapped from the files.

    Attributes:
        table: `layout.ACTIVE` or `layout.SILENT`.
        keys: rows of keys.
        surfaces: names as the sources write them.
        starts: first term of each key; the last value is the number of terms.
        concept: row of the concept.
        surface: row of the surface.
        kind: number in `NAME_KINDS`.
        language: number in the manifest.
        flags: see `layout`.
        sources: number of the set of sources in the manifest.
        prior: probability that the name means the concept where it occurs in a text.
        of_concept: the terms of each concept.
        ruled: terms that a rule of curation touched, and the number of the rule.
    """

    def __init__(self, folder: Path, table: str) -> None:
        """Maps the files."""
        self.table = table
        self.keys = _keys(folder, table)
        self.surfaces = Strings.open(folder, table_file(table, SURFACES))
        self.starts = map_array(folder / table_file(table, STARTS))
        (
            self.concept,
            self.surface,
            self.kind,
            self.language,
            self.flags,
            self.sources,
            self.prior,
        ) = (map_array(folder / table_file(table, name)) for name in COLUMNS)
        self.of_concept = Lists(
            *(map_array(folder / table_file(table, name)) for name in OF_CONCEPT)
        )
        terms, rules = (map_array(folder / table_file(table, name)) for name in RULED)
        self.ruled: tuple[Array, Array] = (terms, rules)

    def __len__(self) -> int:
        """Returns the number of terms."""
        return len(self.concept)

    def of_key_rows(self, rows: Ints) -> tuple[Ints, Ints]:
        """Returns the terms of keys.

        Args:
            rows: of keys, such as the scan gives them.

        Returns:
            For each term the place in ``rows`` of its key, and the term.
        """
        ends = self.starts[rows + 1].astype(np.int64)
        if ends.max(initial=0) > len(self):
            raise IndexError("a key has terms that are not there")
        return expand_ranges(self.starts[rows].astype(np.int64), ends)

    def of_keys(self, keys: Sequence[str]) -> tuple[Ints, Ints]:
        """Returns the terms of keys that may be there.

        Args:
            keys: any strings.

        Returns:
            For each term the place in ``keys`` of its key, and the term.
        """
        rows = self.keys.find(keys)
        present = np.flatnonzero(rows >= 0)
        places, terms = self.of_key_rows(rows[present])
        return present[places], terms

    def rule_of(self, term: int) -> int:
        """Returns the number of the rule of curation that touched a term; 0 for none."""
        at = int(np.searchsorted(self.ruled[0], term))
        return (
            int(self.ruled[1][at]) if at < len(self.ruled[0]) and self.ruled[0][at] == term else 0
        )


def _keys(folder: Path, table: str) -> Lookup:
    """Returns rows of keys; those that are found in texts lie in the table of tokens."""
    name = table_file(table, KEYS)
    if table == SILENT:
        return Lookup.open(folder, name)
    place = folder / TABLE
    try:
        _, arrays = open_arrays(place)
    except (FormatError, ValueError):
        message = (
            "is no table of tokens that this release reads; build the pack again with "
            "fascicle index build"
        )
        raise pack_error(place, f"{place} {message}") from None
    return Lookup.open(folder, name, strings=Strings(arrays["keys"], arrays["starts"]))


class SourceFacts(Settings, frozen=True, kw_only=True):
    """Facts about one source of a pack.

    Attributes:
        name: by which terms name it.
        type: of its concepts that have no other.
        sha256: of its files.
        date: of the data.
        reader: the reader that read it.
        url: where it is from.
        licence: of the data.
        attribution: text that the licence requires.
        counts: what was read, and what was left out for which reason.
    """

    name: str
    type: str = ""
    sha256: tuple[str, ...] = ()
    date: str = ""
    reader: str = ""
    url: str = ""
    licence: str = ""
    attribution: str = ""
    counts: dict[str, int] = msgspec.field(default_factory=dict)


class FileFacts(Settings, frozen=True, kw_only=True):
    """Size and hash of one file of a pack or of a linker.

    Attributes:
        size: bytes.
        sha256: of the content.
    """

    size: Annotated[int, Meta(ge=0)]
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Self:
        """Returns size and hash of a file, which is read once."""
        size, sha256 = file_facts(path)
        return cls(size=size, sha256=sha256)


class PackManifest(Settings, frozen=True, kw_only=True):
    """Manifest of a pack.

    Attributes:
        format: version of the files.
        name: the name that its builder gave it.
        hash: of everything that the pack holds: of this manifest with an empty hash, which has the
            hashes of all files.
        normaliser: version of the keys.
        sources: in the order of their rank.
        sets: combinations of sources, as numbers of sources; terms and concepts refer to these
            sets.
        types, languages, ranks: names of types, codes of languages, ranks of taxa (the first is
            empty), by number.
        counts: of concepts and terms, and of what was left out for which reason.
        files: all files but this one.
        vocabularies: prefixes that lead sets before others, in this order.
        careful: false if preferred names are looked for even if they are too common or too short.
    """

    format: int = FORMAT
    name: str
    hash: str = ""
    normaliser: str
    sources: tuple[SourceFacts, ...]
    sets: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]
    languages: tuple[str, ...]
    ranks: tuple[str, ...]
    counts: dict[str, int]
    files: dict[str, FileFacts]
    vocabularies: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    careful: bool | msgspec.UnsetType = msgspec.UNSET

    @property
    def full_name(self) -> str:
        """Name with the beginning of the hash: two packs of one full name are equal."""
        return f"{self.name}+{self.hash[:_SHOWN]}"


def first_changed(folder: Path, files: Mapping[str, FileFacts]) -> str | None:
    """Returns the name of the first file that differs from the manifest; see
    `intact.first_changed`.
    """
    return intact.first_changed(
        folder, {name: (facts.size, facts.sha256) for name, facts in files.items()}
    )


def _content_hash(manifest: PackManifest) -> str:
    """Returns the hash that a manifest should have."""
    bare = replace(manifest, hash="")
    return hashlib.sha256(msgspec.json.encode(bare, order="deterministic")).hexdigest()


def write_manifest(folder: Path, manifest: PackManifest) -> PackManifest:
    """Writes the manifest with its hash; returns it."""
    return write_description(folder / PACK, replace(manifest, hash=_content_hash(manifest)))


def read_manifest(folder: Path) -> PackManifest:
    """Reads the manifest of a pack.

    Raises:
        PackError: there is none, it is damaged, or of another format.
    """
    path = folder / PACK
    if not path.is_file():
        advice = newer_hint(folder) or "; give a folder that fascicle index build wrote"
        message = f"there is no term pack at {folder}{advice}"
        raise pack_error(folder, message, "not-found")
    return read_description(path, PackManifest, WORDING, format=FORMAT)


def pack_error(place: Path, message: str, code: str = "damaged") -> PackError:
    """Returns the error for a file or a folder that cannot be used; by default it is not as it
    was written.
    """
    return PackError(message, file=str(place), code=code)


def check_normaliser(folder: Path, manifest: PackManifest, normaliser: str) -> None:
    """Raises an error for a pack with keys of another normaliser version.

    Raises:
        PackError: its keys are of another version.
    """
    if manifest.normaliser != normaliser:
        raise pack_error(
            folder,
            f"{folder} has keys of the normaliser {manifest.normaliser}, and this release has "
            f"{normaliser}: build it "
            f"again with fascicle index build SOURCES -o {folder} --overwrite",
            "version",
        )


def check_files(folder: Path, manifest: PackManifest) -> None:
    """Raises an error for a pack whose manifest was changed, or whose files are missing or were
    changed.

    Raises:
        PackError: the manifest or a file was changed, or a file is missing.
    """
    if _content_hash(manifest) != manifest.hash:
        raise pack_error(folder, f"the manifest of {folder} was changed; {_AGAIN}")
    for name, facts in manifest.files.items():
        if not name.isprintable() or "/" in name or "\\" in name or name.startswith("."):
            raise PackError(
                f"the manifest of {folder} names a file elsewhere, {name!r}; {_AGAIN}",
                file=str(folder),
            )
        place = folder / name
        if not place.is_file():  # nor a pipe, which would wait for a writer
            raise pack_error(folder, f"{folder} has no file {name!r}; {_AGAIN}")
        if (size := place.stat().st_size) != facts.size:
            raise pack_error(
                place,
                f"{place} has {size:,} bytes, where the manifest says {facts.size:,}; {_AGAIN}",
            )
    sizes = {name: facts.size for name, facts in manifest.files.items()}
    for name, expected in _expected_sizes(sizes):
        if sizes.get(name) != expected * file_dtype(name).itemsize:
            raise PackError(
                f"{folder / name} does not fit to the other files; {_AGAIN}",
                file=str(folder / name),
            )
    if changed := first_changed(folder, manifest.files):
        raise pack_error(
            folder / changed, f"{folder / changed} was changed after the pack was built; {_AGAIN}"
        )


@contextmanager
def damage_errors(folder: Path) -> Iterator[None]:
    """Turns errors from values outside the files of a pack into a `PackError`; `verifying.verify`
    finds the place.

    Raises:
        PackError: a value leads outside the files.
    """
    try:
        yield
    except (IndexError, ValueError, msgspec.MsgspecError):
        message = (
            f"{folder} has values that cannot be; fascicle index verify says where, and {_AGAIN}"
        )
        raise pack_error(folder, message) from None


def _expected_sizes(sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yields how many values each file must have, as far as it follows from the sizes of others."""
    concepts = _count(sizes, TYPE)
    for name in (FACTS, CURIES):
        yield f"{name}{OFFSETS}", concepts + 1
    for name in (f"{CURIES}{HASHES}", f"{CURIES}{ROWS}", *CONCEPT_COLUMNS):
        yield name, concepts
    if LEAD in sizes:
        yield LEAD, concepts
    for starts, rows in (PARENTS, CHILDREN):
        yield starts, concepts + 1
        yield rows, _count(sizes, PARENTS[1])
    for name in (TAXA, RULES):
        yield f"{name}{BYTES}", _count(sizes, f"{name}{BYTES}")
        yield f"{name}{OFFSETS}", max(_count(sizes, f"{name}{OFFSETS}"), 2)
    for table in (ACTIVE, SILENT):
        for name, count in _expected_of_table(sizes, table, concepts):
            yield table_file(table, name), count


def _expected_of_table(
    sizes: Mapping[str, int], table: str, concepts: int
) -> Iterator[tuple[str, int]]:
    """Yields the same for the files of one table of names, without the name of the table."""
    terms = _count(sizes, table_file(table, CONCEPT))
    keys = _count(sizes, table_file(table, KEYS + ROWS))
    yield from ((name, terms) for name in COLUMNS)
    yield OF_CONCEPT[0], concepts + 1
    yield OF_CONCEPT[1], terms
    yield RULED[1], _count(sizes, table_file(table, RULED[0]))
    yield STARTS, keys + 1
    yield KEYS + HASHES, keys
    if table == SILENT:
        yield KEYS + OFFSETS, keys + 1


def _count(sizes: Mapping[str, int], name: str) -> int:
    """Returns the number of values in a file."""
    return sizes.get(name, 0) // file_dtype(name).itemsize
