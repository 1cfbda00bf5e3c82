"""Command ``fascicle models``: lists models, packs and linkers that can be named without a
folder.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fascicle.formats.catalogue import FORMATS
from fascicle.plugins import MODELS, plugins, singular
from fascicle.runtime.places import find_model
from fascicle.settings.folders.manifest import read_manifest
from fascicle.settings.folders.shipped import shipped_models
from fascicle.settings.folders.vocabularies import (
    find_linker,
    find_pack,
    pack_types,
    shipped_linkers,
    shipped_packs,
)
from fascicle.terms.sources.reading import READERS
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import option


class Options:
    """Options of ``fascicle models``.

    In Python: ``fascicle.settings.folders.shipped.shipped_models()``

    Attributes:
        json: print the list as JSON.
        plugins: list predictors, models, steps, readers, writers, vocabularies and packs of other
            packages instead.
    """

    json: bool = option("--json")
    plugins: bool = option("--plugins")


def run(args: Options) -> int:
    """Prints the list; returns the exit code."""
    if args.plugins:
        return _list_plugins(as_json=args.json)
    models = [_row(name) for name in shipped_models()]
    rows = [
        *models,
        *(
            _described(name, "term pack", _types_of(name), find_pack(name))
            for name in shipped_packs()
        ),
    ]
    rows += [
        _described(name, "linker", _types_of(name), find_linker(name), digits=3)
        for name in shipped_linkers()
    ]
    if not models and not args.json:
        say("no model comes with this installation; train one, or give a model folder")
    lines = (
        f"{row['name']}  {_as_line(row)}  ({row.get('runtime', row['kind'])}, {row['megabytes']} "
        "MB)"
        for row in rows
    )
    return emit(rows, lines, as_json=args.json, ensure_ascii=True)


def _as_line(row: Mapping[str, Any]) -> str:
    apart = f"; only with --only: {', '.join(row['apart'])}" if row.get("apart") else ""
    return ", ".join(row["types"]) + apart


def _list_plugins(*, as_json: bool) -> int:
    """Prints the plug-ins, with the reason for those that cannot be used; returns the exit code."""
    shipped = [
        shown_name for name in shipped_models() for shown_name in (name, name.partition("@")[0])
    ]
    installed = plugins(
        {
            "predictors": shipped,
            MODELS: shipped,
            "vocabularies": [*READERS],
            "readers": [*FORMATS],
            "writers": [*FORMATS],
        }
    )
    if as_json:
        return emit([name._asdict() for name in installed], "", as_json=True, ensure_ascii=True)
    if not installed:
        say("no installed package has plug-ins for Fascicle")
    for name in installed:
        unusable = " (cannot be used)" if name.problem else ""
        sys.stdout.write(f"{name.name}  {singular(name.group)} of {name.package}{unusable}\n")
        if name.problem:
            say(name.problem)
    return 0


def _types_of(name: str) -> tuple[str, ...]:
    """Returns the types of a pack, and of the linker of the same name."""
    return pack_types(find_pack(name))


def _row(name: str) -> dict[str, Any]:
    folder = find_model(name)
    manifest = read_manifest(folder)
    apart = manifest.decision.apart or ()
    types = [kind for kind in manifest.types if kind not in apart]
    row = _described(name, "model", types, folder, runtime=manifest.runtime)
    return row | {"encoder": manifest.encoder, "apart": list(apart)}


def _described(
    name: str, kind: str, types: Iterable[str], folder: Path, *, digits: int = 1, **more: str
) -> dict[str, Any]:
    megabytes = round(
        sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) / 1e6, digits
    )
    return {"name": name, "kind": kind, "types": list(types), **more, "megabytes": megabytes}
