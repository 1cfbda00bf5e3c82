"""Dense retrieval of names: vectors in the folder of a linker, which find names in other words.

Every active name of some types has a vector, in float16; names of one type are contiguous. A query
is compared with all of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Final, NamedTuple, Self

import numpy as np
from msgspec import Meta

from fascicle.core.arrays import Ints
from fascicle.core.lazy import cached_property
from fascicle.errors import PackError, UsageError
from fascicle.linking.encoding import WIDEST, Largest, NameEncoder, largest
from fascicle.linking.pairs import join_pairs, split_pairs
from fascicle.settings.base import Name, Settings, Share
from fascicle.settings.folders.described import Wording, read_description, write_description
from fascicle.terms.pack.arrays import Array, Lists, map_array, write_array
from fascicle.terms.pack.layout import FileFacts, first_changed, pack_error
from fascicle.terms.pack.pack import Pack

_FORMAT: Final = 1
MANIFEST: Final = "dense.json"
VECTORS: Final = "dense.vectors.f2"
_STARTS: Final = "dense.starts.u4"
_TERMS: Final = "dense.terms.u4"
GRAPH: Final = "dense.onnx"
TOKENIZER: Final = "dense.tokenizer.json"
_FILES: Final = (VECTORS, _STARTS, _TERMS, GRAPH, TOKENIZER)
_BATCH: Final = 64  # names that are read together
_LONGEST: Final = 200  # characters of a query
_AGAIN: Final = "make the linker again with fascicle linker fit --dense"
_WORDING: Final = Wording(
    broken="does not say what the vectors of a linker are",
    repair=_AGAIN,
    renew=_AGAIN,
    version="format of vectors",
    error=PackError,
)
_OnStep = Callable[[str, int], None]


class DenseSettings(Settings, frozen=True, kw_only=True):
    """Settings of the search for names by vectors.

    Attributes:
        encoder: a Hugging Face name, a folder, or ``package:NAME/FOLDER``.
        types: whose names get vectors; all of the packs by default.
        most: names that a query finds.
        least: similarity (the cosine) of a name that is found.
        below: mentions are searched if their best name, by keys and trigrams, is less similar; 0:
            if they have none.
        gigabytes: greatest size of the vectors of all packs in GB.
    """

    encoder: Name
    types: tuple[Name, ...] = ()
    most: Annotated[int, Meta(ge=1, le=64)] = 10
    least: Share = 0.8
    below: Share = 0.0
    gigabytes: Annotated[float, Meta(gt=0.0, le=1e6)] = 8.0


class DenseManifest(Settings, frozen=True, kw_only=True):
    """Manifest of the vectors.

    Attributes:
        format: version of the files.
        pack: full name of the pack, which has the hash of its content.
        encoder: its name.
        pad: id of its padding token.
        width: numbers of a vector.
        types: number of names with vectors of each type, in order.
        most: see `DenseSettings`; so are the two others.
        least: of a similarity.
        below: of a similarity.
        files: size and hash of each file.
    """

    format: int = _FORMAT
    pack: str
    encoder: str
    pad: Annotated[int, Meta(ge=0)]
    width: Annotated[int, Meta(ge=1, le=WIDEST)]
    types: dict[str, Annotated[int, Meta(ge=0)]]
    most: Annotated[int, Meta(ge=1, le=64)]
    least: Share
    below: Share
    files: dict[str, FileFacts]


class _PlannedNames(NamedTuple):
    """Names of a pack that get vectors.

    Attributes:
        types: number of names of each type, in order.
        surfaces: rows of the names, by type, ``[n]``.
        starts: first term of each name; the last value is the number of terms, ``[n + 1]``.
        terms: active ones.
    """

    types: dict[str, int]
    surfaces: Ints
    starts: Ints
    terms: Ints


class ExportedEncoder(NamedTuple):
    """Encoder that can be copied into linkers.

    Attributes:
        graph: file.
        tokenizer: file.
        pad: id of the padding token.
    """

    graph: Path
    tokenizer: Path
    pad: int

    def opened(self) -> NameEncoder:
        """Opens the encoder, to run on all cores."""
        return NameEncoder.open(self.graph, self.tokenizer, pad=self.pad)


def plan_names(pack: Pack, types: Sequence[str]) -> _PlannedNames:
    """Returns the names of some types, or of all: each once for a type.

    Args:
        pack: open.
        types: those that the pack does not have are left out.
    """
    numbers = [number for number, kind in enumerate(pack.types) if not types or kind in types]
    of_term = pack.type_rows[pack.active.concept].astype(np.int64)
    terms = np.flatnonzero(np.isin(of_term, numbers))
    pairs = join_pairs(of_term[terms], pack.active.surface[terms].astype(np.int64))
    order = np.argsort(pairs, kind="stable")
    pairs, terms = pairs[order], terms[order]
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    kinds, surfaces = split_pairs(pairs[starts])
    counts = np.bincount(kinds, minlength=len(pack.types)).tolist()
    sizes = {pack.types[number]: counts[number] for number in numbers}
    return _PlannedNames(sizes, surfaces, np.append(starts, len(terms)), terms)


def check_size(names: int, width: int, folder: Path, *, gigabytes: float) -> int:
    """Returns the size of the vectors in bytes: names, times their width, times 2.

    Raises:
        UsageError: the vectors are larger than is allowed, or than the free space.
    """
    size = names * width * 2
    message = f"the vectors of {names:,} names with {width:,} numbers take {size / 1e9:,.3f} GB"
    if width > WIDEST:
        raise UsageError(
            f"an encoder may have at most {WIDEST} numbers in a vector, and this has {width}"
        )
    if size > gigabytes * 1e9:
        raise UsageError(
            f"{message}, and at most {gigabytes:g} GB are allowed; name fewer types, or allow more "
            "gigabytes"
        )
    if size > (free := shutil.disk_usage(folder).free):
        raise UsageError(
            f"{message}, and {folder} has {free / 1e9:,.3f} GB left; name fewer types, or make room"
        )
    return size


def write_dense(
    folder: Path,
    pack: Pack,
    plan: _PlannedNames,
    encoder: ExportedEncoder,
    *,
    settings: DenseSettings,
    on_progress: _OnStep,
) -> DenseManifest:
    """Embeds names, and writes their vectors and the encoder into a folder.

    Args:
        folder: the folder that exists.
        pack: whose names they are.
        plan: see `plan_names`.
        encoder: the encoder that is copied.
        settings: how names will be found.
        on_progress: progress callback, called with a label and a count, now and then.
    """
    shutil.copyfile(encoder.graph, folder / GRAPH)
    shutil.copyfile(encoder.tokenizer, folder / TOKENIZER)
    write_array(folder / _STARTS, plan.starts)
    write_array(folder / _TERMS, plan.terms)
    width = _write_vectors(folder / VECTORS, pack, plan.surfaces, encoder.opened(), on_progress)
    manifest = DenseManifest(
        pack=pack.full_name,
        encoder=settings.encoder,
        pad=encoder.pad,
        width=width,
        types=plan.types,
        most=settings.most,
        least=settings.least,
        below=settings.below,
        files={name: FileFacts.of(folder / name) for name in _FILES},
    )
    return write_description(folder / MANIFEST, manifest)


def _write_vectors(
    place: Path, pack: Pack, surfaces: Ints, encoder: NameEncoder, on_progress: _OnStep
) -> int:
    """Writes the vectors of names, which are read in the order of their sizes; returns the
    width.
    """
    width = encoder.width
    place.write_bytes(b"")
    if not len(surfaces):
        return width
    table = np.memmap(place, dtype="<f2", mode="w+", shape=(len(surfaces), width))
    rows, places = np.unique(surfaces, return_inverse=True)  # a name of two types is read once
    owners = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[owners], np.arange(len(rows) + 1))
    order = np.argsort(np.diff(pack.active.surfaces.offsets.astype(np.int64))[rows], kind="stable")
    for start in range(0, len(order), _BATCH):
        chunk = order[start : start + _BATCH]
        vectors = encoder.together(pack.active.surfaces.take(rows[chunk])).astype("<f2")
        for row, vector in zip(chunk.tolist(), vectors, strict=True):
            table[owners[starts[row] : starts[row + 1]]] = vector
        on_progress(f"vectors of names, {table.nbytes / 1e9:,.3f} GB in all", start + len(chunk))
    table.flush()
    return width


class DenseIndex:
    """Open vectors of the names of a pack; for one thread.

    Attributes:
        manifest: of the vectors.
    """

    def __init__(self, folder: Path, manifest: DenseManifest) -> None:
        """Maps the files, which must be those of the manifest; the encoder is opened at the
        first query.
        """
        self.folder, self.manifest = folder, manifest
        self._vectors: Array = map_array(folder / VECTORS).reshape(-1, manifest.width)
        self._terms = Lists(map_array(folder / _STARTS), map_array(folder / _TERMS))
        ends = np.cumsum([0, *manifest.types.values()]).tolist()
        self._ranges = dict(zip(manifest.types, pairwise(ends), strict=True))

    @classmethod
    def open(cls, folder: Path, pack: Pack) -> Self:
        """Opens the vectors in the folder of a linker.

        Raises:
            PackError: they belong to another pack, or a file is missing or was changed.
        """
        manifest = read_description(folder / MANIFEST, DenseManifest, _WORDING, format=_FORMAT)
        if manifest.pack != pack.full_name:
            message = f"belong to the pack {manifest.pack}, and {pack.folder} is {pack.full_name}"
            advice = f"give the pack that they were made for, or {_AGAIN}"
            raise pack_error(folder, f"the vectors in {folder} {message}; {advice}", "version")
        names = sum(manifest.types.values())
        sizes = {VECTORS: 2 * names * manifest.width, _STARTS: 4 * (names + 1)}
        for name in _FILES:
            place, facts = folder / name, manifest.files.get(name)
            size = place.stat().st_size if place.is_file() else -1
            if facts is None or facts.size != size or sizes.get(name, size) != size:
                raise _changed(place)
        if changed := first_changed(
            folder, {name: manifest.files[name] for name in (*sizes, _TERMS)}
        ):
            raise _changed(folder / changed)
        index = cls(folder, manifest)
        if not index._terms.fits(names) or int(index._terms.values.max(initial=0)) >= max(
            len(pack.active), 1
        ):
            raise _changed(folder / _TERMS)
        return index

    @property
    def fingerprint(self) -> str:
        """Hash of the manifest, which decides what is found."""
        return FileFacts.of(self.folder / MANIFEST).sha256

    def verify(self) -> None:
        """Verifies every file.

        Raises:
            PackError: a file was changed.
        """
        for name in _FILES:
            self._check(name)

    def _check(self, name: str) -> None:
        if FileFacts.of(self.folder / name) != self.manifest.files[name]:
            raise _changed(self.folder / name)

    @cached_property
    def _encoder(self) -> NameEncoder:
        for name in (GRAPH, TOKENIZER):  # another encoder has other vectors
            self._check(name)
        return NameEncoder.open(
            self.folder / GRAPH, self.folder / TOKENIZER, pad=self.manifest.pad, threads=1
        )

    def near(self, names: Sequence[str], kind: str) -> list[tuple[tuple[int, float], ...]]:
        """Returns the terms of the names of a type whose vectors are similar to the given ones.

        Args:
            names: none of which has an influence on what is found for another.
            kind: type; one without vectors finds nothing.

        Returns:
            For each name the rows of active terms, with their similarity, the most similar first.

        Raises:
            PackError: another encoder, or none.
            ModelError: the encoder cannot be run.
        """
        matches: list[tuple[tuple[int, float], ...]] = [() for _ in names]
        low, high = self._ranges.get(kind, (0, 0))
        searched = [number for number, name in enumerate(names) if name and len(name) <= _LONGEST]
        if low == high or not searched:
            return matches
        vectors = self._encoder.alone([names[number] for number in searched])
        results = largest(
            self._vectors[low:high], vectors, most=self.manifest.most, least=self.manifest.least
        )
        for number, nearest in zip(searched, results, strict=True):
            matches[number] = self._terms_of(low, nearest)
        return matches

    def _terms_of(self, low: int, nearest: Largest) -> tuple[tuple[int, float], ...]:
        places, terms = self._terms.take(low + nearest.rows)
        return tuple(
            zip(terms.tolist(), np.minimum(nearest.values[places], 1.0).tolist(), strict=True)
        )


def copy_dense(source: DenseIndex, folder: Path) -> None:
    """Copies vectors and encoder."""
    for name in (MANIFEST, *_FILES):
        shutil.copyfile(source.folder / name, folder / name)


def _changed(place: Path) -> PackError:
    message = (
        "is missing or is not the one that the vectors of names were made with; copy the "
        "linker again, or"
    )
    return pack_error(place, f"{place} {message} {_AGAIN}")
