"""What is checked when a pack is opened: version, normaliser, and the presence, size and hash of every file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from fascicle.errors import PackError
from fascicle.knowledge.pack import layout
from fascicle.knowledge.pack.arrays import BYTES, OFFSETS, dtype_of
from fascicle.knowledge.pack.lookup import HASHES, ROWS
from fascicle.knowledge.pack.manifest import Manifest, content_hash, first_changed

_AGAIN: Final = "build it again with fascicle index build, or copy it again"


def check_normaliser(folder: Path, manifest: Manifest, normaliser: str) -> None:
    """Refuses a pack whose keys were made in another way.

    Raises:
        PackError: it is.
    """
    if manifest.normaliser != normaliser:
        raise PackError(
            f"{folder} has keys of the normaliser {manifest.normaliser}, and this release has {normaliser}: build it "
            f"again with fascicle index build SOURCES -o {folder} --overwrite",
            file=str(folder),
            code="version",
        )


def check_files(folder: Path, manifest: Manifest) -> None:
    """Refuses a pack whose manifest was changed, or whose files are missing or were changed.

    Raises:
        PackError: it is such a one.
    """
    if content_hash(manifest) != manifest.hash:
        raise PackError(f"the manifest of {folder} was changed; {_AGAIN}", file=str(folder), code="damaged")
    for name, facts in manifest.files.items():
        if not name.isprintable() or "/" in name or "\\" in name or name.startswith("."):
            raise PackError(f"the manifest of {folder} names a file elsewhere, {name!r}; {_AGAIN}", file=str(folder))
        place = folder / name
        if not place.is_file():  # nor a pipe, which would wait for a writer
            raise PackError(f"{folder} has no file {name!r}; {_AGAIN}", file=str(folder), code="damaged")
        size = place.stat().st_size
        if size != facts.size:
            raise PackError(
                f"{folder / name} has {size:,} bytes, where the manifest says {facts.size:,}; {_AGAIN}",
                file=str(folder / name),
                code="damaged",
            )
    sizes = {name: facts.size for name, facts in manifest.files.items()}
    for name, expected in _expected(sizes):
        if sizes.get(name) != expected * dtype_of(name).itemsize:
            raise PackError(f"{folder / name} does not fit to the other files; {_AGAIN}", file=str(folder / name))
    if changed := first_changed(folder, manifest.files):
        place = folder / changed
        raise PackError(f"{place} was changed after the pack was built; {_AGAIN}", file=str(place), code="damaged")


@contextmanager
def looking_through(folder: Path) -> Iterator[None]:
    """Says of a pack whose values lead out of its files that it is damaged; `verifying.verify` says where.

    Raises:
        PackError: it is.
    """
    try:
        yield
    except (IndexError, ValueError, msgspec.MsgspecError):
        raise PackError(
            f"{folder} has values that cannot be; fascicle index verify says where, and {_AGAIN}",
            file=str(folder),
            code="damaged",
        ) from None


def _expected(sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """How many values each file must have, as far as the sizes of others say."""

    def count(name: str) -> int:
        return sizes.get(name, 0) // dtype_of(name).itemsize

    concepts = count(layout.TYPE)
    for name in (layout.FACTS, layout.CURIES):
        yield f"{name}{OFFSETS}", concepts + 1
    for end in (HASHES, ROWS):
        yield f"{layout.CURIES}{end}", concepts
    for name in layout.CONCEPT_COLUMNS:
        yield name, concepts
    if layout.LEAD in sizes:
        yield layout.LEAD, concepts
    for starts, rows in (layout.PARENTS, layout.CHILDREN):
        yield starts, concepts + 1
        yield rows, count(layout.PARENTS[1])
    for name in (layout.TAXA, layout.RULES):
        yield f"{name}{BYTES}", count(f"{name}{BYTES}")
        yield f"{name}{OFFSETS}", max(count(f"{name}{OFFSETS}"), 2)
    for table in (layout.ACTIVE, layout.SILENT):
        own = {name: layout.in_table(table, name) for name in (*layout.COLUMNS, *layout.RULED, *layout.OF_CONCEPT)}
        terms, keys = count(own[layout.CONCEPT]), count(layout.in_table(table, layout.KEYS) + ROWS)
        yield from ((own[name], terms) for name in layout.COLUMNS)
        yield own[layout.OF_CONCEPT[0]], concepts + 1
        yield own[layout.OF_CONCEPT[1]], terms
        yield own[layout.RULED[1]], count(own[layout.RULED[0]])
        yield layout.in_table(table, layout.STARTS), keys + 1
        yield layout.in_table(table, layout.KEYS) + HASHES, keys
        if table == layout.SILENT:
            yield layout.in_table(table, layout.KEYS) + OFFSETS, keys + 1
