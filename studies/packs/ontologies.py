"""Builds the pack of ``packs/ontologies.toml`` as a wheel, which Fascicle finds by its entry point.

usage: python -m studies.packs.ontologies FOLDER [SOURCES.toml]

The same sources give the same wheel. Written: ``FOLDER/fascicle_ontologies-1-py3-none-any.whl``.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fascicle.terms.pack.layout import PackManifest
from fascicle.verbs.tasks.index_build import build_pack
from studies.common import ROOT

SOURCES: Final = ROOT / "packs" / "ontologies.toml"
_TIME: Final = (1980, 1, 1, 0, 0, 0)  # of every file, so that equal content is an equal wheel


def main() -> None:
    """Builds pack and wheel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sources", type=Path, nargs="?", default=SOURCES)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        manifest = build_pack(args.sources, Path(place) / "pack")
        print(write_wheel(Path(place) / "pack", manifest, args.folder))


def write_wheel(pack: Path, manifest: PackManifest, folder: Path) -> Path:
    """Writes the wheel of a pack; returns its path.

    Args:
        pack: folder of the pack.
        manifest: of the pack, whose name is that of the entry point, such as ``ontologies@1``.
        folder: of the wheel.
    """
    name, _, version = manifest.name.partition("@")
    package, version = f"fascicle_{name}", version or "1"
    wheel = folder / f"{package}-{version}-py3-none-any.whl"
    files = dict(_files(pack, manifest, package, version))
    info = f"{package}-{version}.dist-info"
    record = "".join(
        f"{one},sha256={_digest(content)},{len(content)}\n" for one, content in files.items()
    )
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, content in files.items():
            entry = zipfile.ZipInfo(one, _TIME)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return wheel


def _files(
    pack: Path, manifest: PackManifest, package: str, version: str
) -> Iterator[tuple[str, bytes]]:
    name, info = manifest.name.partition("@")[0], f"{package}-{version}.dist-info"
    yield f"{package}/__init__.py", b""
    for path in sorted(pack.iterdir()):
        if not path.name.startswith("."):
            yield f"{package}/{name}/{path.name}", path.read_bytes()
    credit = "".join(
        f"{one.attribution}, {one.date}: {one.licence}, {one.url}\n" for one in manifest.sources
    )
    metadata = (
        f"Metadata-Version: 2.1\nName: {package.replace('_', '-')}\nVersion: "
        f"{version}\nSummary: A term pack\n"
    )
    texts = {
        "METADATA": f"{metadata}\n{credit}",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: fascicle\nRoot-Is-Purelib: true\nTag: "
        "py3-none-any\n",
        "entry_points.txt": f"[fascicle.packs]\n{manifest.name} = {package}:{name}\n",
        "NOTICE": credit,
    }
    yield from ((f"{info}/{one}", text.encode()) for one, text in texts.items())


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main()
