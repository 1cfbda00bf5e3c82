"""Diseases, targets and molecules of the Open Targets Platform, as JSON Lines or Parquet: a file, or a folder of parts.

Their description: the schemas of the data sets on the download page of the platform, of 2023 and of 2025.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec

from fascicle.errors import FormatError, InputError, MissingExtraError, Place
from fascicle.settings.packs import SourceSettings
from fascicle.terms.sources.curies import curie
from fascicle.terms.sources.drafts import Draft, counted_lines, hidden
from fascicle.terms.sources.report import SourceReport
from fascicle.terms.terms import ConceptRecord, NameKind

_NAMES: Final[Mapping[str, NameKind]] = MappingProxyType(
    {
        **dict.fromkeys(("name", "approvedSymbol"), "label"),
        **dict.fromkeys(("approvedName", "synonyms", "symbolSynonyms", "nameSynonyms", "tradeNames"), "exact"),
        **dict.fromkeys(("hasExactSynonym", "exactSynonyms"), "exact"),
        **dict.fromkeys(("hasRelatedSynonym", "relatedSynonyms", "obsoleteSymbols", "obsoleteNames"), "related"),
        **dict.fromkeys(("hasBroadSynonym", "broadSynonyms"), "broad"),
        **dict.fromkeys(("hasNarrowSynonym", "narrowSynonyms"), "narrow"),
    }
)
_PREFIXES: Final = (("ENSG", "ensembl"), ("CHEMBL", "chembl.compound"))  # of identifiers that have none
_TOGETHER: Final = 1_000  # rows of Parquet


def read_open_targets(settings: SourceSettings, report: SourceReport) -> Iterator[ConceptRecord]:
    """Streams the concepts; identifiers that were merged into others come at the end.

    ``types`` maps a ``biotype`` or ``drugType`` to a type.

    Raises:
        InputError: the file or a part cannot be opened.
        MissingExtraError: Parquet, but pyarrow is not installed.
        FormatError: a file is no Parquet.
    """
    aliases: dict[str, list[str]] = {}
    live: set[str] = set()
    for place, row in _rows(settings, report):
        given = str(row.get("id") or "")
        prefix = next((prefix for start, prefix in _PREFIXES if given.startswith(start)), settings.prefix)
        found = curie(given, prefix)
        if not found:
            report.lose("identifier", place)
            continue
        report.used += 1
        live.add(found)
        draft = Draft(settings=settings, report=report, place=place, curie=found)
        draft.type = settings.types.get(str(row.get("biotype") or row.get("drugType") or ""), "")
        draft.definition = str(row.get("description") or "")
        synonyms = row.get("synonyms")
        fields = {**row, **synonyms} if isinstance(synonyms, dict) else row
        for key, kind in _NAMES.items():
            for text in _texts(fields.get(key)):
                draft.name(text, kind, place=place)
        for text in (*_texts(row.get("parents")), *_texts(row.get("parentId"))):
            draft.above(curie(text, prefix) or text, place=place)
        for text in (*_texts(row.get("dbXRefs")), *_texts(row.get("dbXrefs")), *_texts(row.get("proteinIds"))):
            draft.reference(text, place=place)
        for text in _texts(row.get("obsoleteTerms")):
            if alias := curie(text, settings.prefix):
                aliases.setdefault(alias, []).append(found)
        yield draft.record()
    yield from hidden(aliases, live)


def _texts(value: Any) -> Iterator[str]:
    """Yields the texts of a value: a text, a list, a name with its source, or an identifier with its vocabulary."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict) and isinstance(value.get("label"), str):
        yield value["label"]
    elif isinstance(value, dict) and isinstance(value.get("id"), str):
        yield f"{str(value.get('source', '')).partition('_')[0]}:{value['id']}"


def _rows(settings: SourceSettings, report: SourceReport) -> Iterator[tuple[Place, dict[str, Any]]]:
    place = Path(settings.path)
    known = (".json", ".jsonl", ".parquet", ".gz")
    parts = sorted(one for one in place.iterdir() if one.suffix in known) if place.is_dir() else [place]
    for path in map(str, parts):
        yield from _of_parquet(path, report) if path.endswith(".parquet") else _of_json(path, settings, report)


def _of_json(path: str, settings: SourceSettings, report: SourceReport) -> Iterator[tuple[Place, dict[str, Any]]]:
    for place, line in counted_lines(path, settings.encoding, report):
        try:
            yield place, msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError):
            report.lose("structure", place)


def _of_parquet(path: str, report: SourceReport) -> Iterator[tuple[Place, dict[str, Any]]]:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtraError("parquet", "pyarrow") from None
    try:
        for batch in ParquetFile(path).iter_batches(batch_size=_TOGETHER):
            for row in batch.to_pylist():
                report.rows += 1
                yield Place(path, shown=f"{path}, row {report.rows}"), row
    except FileNotFoundError:
        raise InputError(f"{path} is not there; correct path", file=path, code="not-found") from None
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise FormatError(f"no Parquet file ({' '.join(str(error).split())}); fetch it again", at=path) from None
