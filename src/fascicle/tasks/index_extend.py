"""Adding own names and concepts to a term pack: what ``fascicle index extend`` does."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.arguments import checked
from fascicle.errors import UsageError
from fascicle.files.atomic import check_folder
from fascicle.files.source import Source, lines
from fascicle.knowledge.keys.key import NORMALISER
from fascicle.knowledge.linking.folder import write_linker
from fascicle.knowledge.linking.gold import NAMES
from fascicle.knowledge.linking.index import write_index
from fascicle.knowledge.linking.opening import Part, find
from fascicle.knowledge.pack.builder import BuildSettings, PackSource, Parts, build
from fascicle.knowledge.pack.extending import Kept, sources_of
from fascicle.knowledge.pack.keying import KeyReader
from fascicle.knowledge.pack.manifest import KIND, Manifest
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.sets import prefix_numbers
from fascicle.knowledge.scanning.building import build_table
from fascicle.knowledge.sources.reading import check_source
from fascicle.knowledge.sources.report import SourceReport
from fascicle.knowledge.terms import ConceptRecord
from fascicle.settings.folders.vocabularies import LINKER, shipped_linkers
from fascicle.settings.packs import ColumnSettings, SourceSettings, read_pack_settings
from fascicle.tasks.index_build import source_of

OWN: Final = "own"  # name of a source that is a table
_LONGEST: Final = 100_000  # characters of a name; those of the pack stay
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9._@-]+|^[^A-Za-z0-9]+")
_ONE: Final = ("kind", "type", "language", "taxon", "rank", "obsolete", "definition")
_SEVERAL: Final = ("parents", "references", "replaced_by")


@checked
def extend(  # noqa: PLR0913
    pack: str | os.PathLike[str],
    own: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    kind: str = "",
    linker: str | os.PathLike[str] | None = None,
    memory: int = 256,
    overwrite: bool = False,
    told: Callable[[str, int], None] = lambda step, count: None,
    reports: dict[str, SourceReport] | None = None,
) -> Manifest:
    """Builds a pack that has what another has, and own names and concepts; with the linker of that pack, if it has one.

    The folder can be given wherever a pack or a linker can. Labels of own concepts are always looked for in texts.

    Args:
        pack: folder that ``fascicle index build`` wrote, or the name of a shipped pack.
        own: a table with a line of titles, such as ``fascicle index export`` writes: ``concept`` and ``surface`` (or
            ``id`` and ``name``), and perhaps what `ColumnSettings` says of it; or the
            TOML file of several vocabularies.
        output: the folder to write.
        kind: type of the concepts of a table that has no such column.
        linker: whose rankers are kept; by default that in the folder of the pack, or the shipped one of its name.
        memory: MiB for sorting.
        overwrite: replace a pack that is there.
        told: is called with what is being done and a count, now and then.
        reports: receives what reading each own source met.

    Returns:
        What the pack says of itself.

    Raises:
        PackError: the pack or the linker cannot be opened, or they do not belong together.
        UsageError: a source of the pack has the name of an own one.
        RecipeError: settings of own sources that are not allowed.
        InputError: an own source cannot be read.
        OutputError: the folder exists, or cannot be written.
    """
    check_folder(Path(output), kind=KIND, overwrite=overwrite)
    base = Pack.open(pack)
    kept = Kept(base)
    found, seen = sources_of(base), reports if reports is not None else {}
    for name, settings in _own_sources(own, kind).items():
        if name in {source.facts.name for source in found}:
            raise UsageError(f"the pack {base.folder} has a source {name!r} too; give the own one another name")
        check_source(settings)
        source = source_of(name, settings, seen.setdefault(name, SourceReport()), None)
        found.append(source._replace(records=partial(_seen, source, kept)))
    return build(
        found,
        BuildSettings(name=_NO_NAME.sub("-", Path(output).name), memory=memory, longest=_LONGEST),
        output,
        parts=Parts(normaliser=NORMALISER, keys=KeyReader(), table=build_table, curation=kept),
        told=told,
        overwrite=overwrite,
        finish=partial(_write_linkers, _parts(linker, base)),
    )


def _seen(source: PackSource, kept: Kept) -> Iterator[ConceptRecord]:
    for record in source.records():
        kept.see(record)
        yield record


def _own_sources(own: str | os.PathLike[str], kind: str) -> dict[str, SourceSettings]:
    if Path(own).suffix == ".toml":
        return dict(read_pack_settings(own).sources)
    rows = (re.split(r"[\t,;]", line.lstrip("#")) for _, line in lines(Source(path=str(own))))
    titles = [title.strip() for title in next(rows, [])]
    at = titles.index("type") if "type" in titles else len(titles)
    types = {row[at].strip(): row[at].strip() for row in rows if len(row) > at and row[at].strip()}
    columns: dict[str, Any] = {
        "id": "concept" if "concept" in titles else "id",
        "name": "surface" if "surface" in titles else "name",
        **{title: title for title in _ONE if title in titles},
        **{title: (title,) for title in _SEVERAL if title in titles},
    }
    settings = SourceSettings(path=str(own), reader="table", type=kind, types=types, columns=ColumnSettings(**columns))
    return {OWN: settings}


def _parts(linker: str | os.PathLike[str] | None, base: Pack) -> Sequence[Part]:
    """The linker whose rankers are kept; none for a pack without one."""
    if linker is None and (base.folder / LINKER).is_file():
        linker = base.folder
    if linker is None and base.manifest.name in shipped_linkers():
        linker = base.manifest.name
    return find(linker, [base.folder]).parts if linker is not None else ()


def _write_linkers(parts: Sequence[Part], folder: Path) -> None:
    """Writes a linker beside the files of a pack."""
    if not parts:
        return
    ((place, manifest, base),) = parts
    pack = Pack.open(folder)
    new = tuple(one for one in prefix_numbers(pack)[0] if one not in prefix_numbers(base)[0])
    rankers = {
        kind: msgspec.structs.replace(one, vocabularies=one.vocabularies and (*one.vocabularies, *new))
        for kind, one in manifest.rankers.items()
    }
    shutil.copyfile(place / NAMES, folder / NAMES)
    if manifest.indexed:
        write_index(folder, pack)
    few = {} if manifest.few is msgspec.UNSET else manifest.few
    order = () if manifest.order is msgspec.UNSET else manifest.order
    write_linker(folder, pack, rankers, place=".", indexed=manifest.indexed, order=order, few=few)
