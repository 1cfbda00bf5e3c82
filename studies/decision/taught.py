"""Lists the texts that taught the shipped models, as hashes of their sentences, in the folders of
the models.

usage: python -m studies.decision.taught [--models NAME ...] [--assets FOLDER]

The texts are the parts of a grid, or of its variant ``refit``, less what its list leaves out. The
texts of open licences that only a teacher labelled are not among them: nobody marked mentions in
them. Nor are those in which ``replaced.py`` put other names. ``FASCICLE_DATA`` names the corpora.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from fascicle.core.document import Document
from fascicle.core.files.source import Source
from fascicle.formats import read
from fascicle.formats.exclusions import exclusions_by_key, read_exclusions
from fascicle.settings.folders.manifest import read_manifest, write_manifest
from fascicle.text.segment import segmenter
from fascicle.text.taught import TAUGHT, all_sentence_hashes, pack_hashes
from studies.common import GRIDS, ROOT

# Model -> its grid, and the variant of that grid.
VARIANTS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    dict.fromkeys(("biomed@3", "biomed-fast@2"), ("conventions", "refit"))
)


def main(argv: Sequence[str] | None = None) -> int:
    """Writes a list into each folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--assets", type=Path, default=ROOT / "src" / "fascicle" / "assets")
    parser.add_argument("--models", nargs="+", choices=sorted(VARIANTS), default=list(VARIANTS))
    args = parser.parse_args(argv)
    assets = args.assets
    for name in args.models:
        print(f"{name}: {written(assets / name, name):,} bytes")
    return 0


def written(folder: Path, name: str) -> int:
    """Writes the list of a model into its folder, and returns its size in bytes."""
    manifest = read_manifest(folder)
    said = pack_hashes(
        all_sentence_hashes(texts(*VARIANTS[name]), segmenter(manifest.reading.segmenter).sentences)
    )
    (folder / TAUGHT).write_bytes(said)
    write_manifest(folder, manifest, names=sorted({*manifest.files, TAUGHT}))
    return len(said)


def texts(name: str, variant: str) -> Iterator[Document]:
    """The texts that teach in a variant of a grid; in the first one without a name."""
    grid = tomllib.loads((GRIDS / f"{name}.toml").read_text(encoding="utf-8"))
    parts: Mapping[str, Any] = grid["corpora"]["six"]["parts"]
    changed = grid["variants"][variant]["parts"] if variant else {}
    files = {
        path: part["exclude"]
        for name, part in parts.items()
        for path in _files({**part, **changed.get(name, {})}["train"])
    }
    return chain.from_iterable(_of(path, GRIDS / excluded) for path, excluded in files.items())


def _files(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _of(path: str, excluded: Path) -> Iterator[Document]:
    data = os.environ["FASCICLE_DATA"]
    out = exclusions_by_key(read_exclusions(Source(path=str(excluded))))
    for one in read(path.replace("$FASCICLE_DATA", data)):
        digest = hashlib.sha256(one.text.encode("utf-8")).hexdigest()
        if out.keys().isdisjoint({(one.id, digest), ("", digest)}):
            yield one


if __name__ == "__main__":
    raise SystemExit(main())
