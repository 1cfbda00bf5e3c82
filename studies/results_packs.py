"""Packs the folders of ``studies/results/`` into archives, and unpacks them.

usage: python -m studies.results_packs pack NAME... | unpack [NAME...]

Git holds ``results/NAME.tar.xz`` and ignores the folder ``results/NAME/``, which is made from the
archive. Results of neighbouring runs are much alike, so that one archive of a study is a fifth of
the size of its files. Predictions (``*.gz``) are stored uncompressed in the archive, for the same
reason, and compressed again when they are unpacked. ``pack`` comes after new runs; ``unpack``
changes nothing where the folder is current, and never replaces a folder that somebody has changed
since it was unpacked. The tests and ``make bench`` unpack by themselves.

What is new or changed since the last packing goes into an archive of its own,
``results/NAME.1.tar.xz`` and so on, so that Git does not store the rest once more. A later archive
replaces files of an earlier one. Where a file was removed, everything is packed anew.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import lzma
import os
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, takewhile
from pathlib import Path, PurePosixPath

RESULTS = Path(__file__).parent / "results"
SUFFIX = ".tar.xz"
# JSON in an unpacked folder: the digest of its content, and the hash of the archive
_STAMP = ".unpacked"
_LARGEST = 512 * 2**20  # bytes of one unpacked archive


class PackError(Exception):
    """An archive that is damaged, or a folder that unpacking would overwrite."""


def main(argv: Sequence[str] | None = None) -> int:
    """Packs or unpacks; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("action", choices=("pack", "unpack"))
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="folders of results; of unpack, all by default"
    )
    args = parser.parse_args(argv)
    if args.action == "pack" and not args.names:
        parser.error("name the folders to pack")
    try:
        for name in args.names or names_of(RESULTS):
            changed = (pack if args.action == "pack" else unpack)(RESULTS, name)
            sys.stdout.write(f"{name}: {args.action}ed\n" if changed else "")
    except PackError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


def names_of(results: Path) -> list[str]:
    """The names of all folders with archives."""
    return sorted(
        name
        for path in results.glob(f"*{SUFFIX}")
        if "." not in (name := path.name.removesuffix(SUFFIX))
    )


def archives_of(results: Path, name: str) -> list[Path]:
    """The archives of a folder in their order; a later one replaces files of an earlier one."""
    first = results / f"{name}{SUFFIX}"
    further = takewhile(Path.is_file, (results / f"{name}.{number}{SUFFIX}" for number in count(1)))
    return [first, *further] if first.is_file() else []


def unpack_all(results: Path = RESULTS) -> list[str]:
    """Unpacks every archive that is not unpacked yet; returns the names of those."""
    return [name for name in names_of(results) if unpack(results, name)]


def pack(results: Path, name: str) -> bool:
    """Writes what the archives of a folder lack, if its content is not theirs already.

    Args:
        results: the folder of all results.
        name: of the folder below it.

    Returns:
        Whether an archive was written.

    Raises:
        PackError: there is no such folder, or it holds nothing.
    """
    content = dict(_files(results / name))
    if not content:
        raise PackError(f"{results / name} holds no results; give the name of a folder of results")
    archives = archives_of(results, name)
    known = _content(archives)
    if known == content:
        return False
    if known.keys() <= content.keys() and known:
        target = results / f"{name}.{len(archives)}{SUFFIX}"
        added = {path: data for path, data in content.items() if known.get(path) != data}
    else:
        target, added = results / f"{name}{SUFFIX}", content
        for further in archives[1:]:
            further.unlink()
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    partial.write_bytes(lzma.compress(_tar(added), preset=9))
    partial.replace(target)
    _write_stamp(results / name, archives_of(results, name), content)
    return True


def unpack(results: Path, name: str) -> bool:
    """Makes the folder of its archives; several processes may do so at once.

    Args:
        results: the folder of all results.
        name: of the folder.

    Returns:
        Whether the folder was made or replaced; false if it is current.

    Raises:
        PackError: no such archive, a damaged one, or a folder that was changed since it was
            unpacked.
    """
    archives, folder = archives_of(results, name), results / name
    if not archives:
        raise PackError(
            f"there is no {results / name}{SUFFIX}; there are archives of "
            f"{', '.join(names_of(results))}"
        )
    if folder.exists():
        stamp = _stamp(folder)
        if stamp.get("archive") == _hash_of(archives):
            return False
        if stamp.get("content") != _digest(dict(_files(folder))):
            raise PackError(
                f"{folder} was changed since it was unpacked, and {name}{SUFFIX} is another one; "
                "pack the folder with "
                f"'python -m studies.results_packs pack {name}', or remove it"
            )
    content = _content(archives)
    with tempfile.TemporaryDirectory(dir=results, prefix=f".{name}.") as place:
        made = Path(place) / name
        for path, data in content.items():
            target = made / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(gzip.compress(data, mtime=0) if path.endswith(".gz") else data)
        _write_stamp(made, archives, content)
        _take_place(made, folder)
    return True


def _take_place(made: Path, folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    try:
        made.rename(folder)
    except OSError:  # another process was faster
        if _stamp(folder) != _stamp(made):
            raise


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The content of a folder, uncompressed, in an order that puts like files side by side."""
    files = [file for file in folder.rglob("*") if file.is_file() and not file.name.startswith(".")]
    for file in sorted(files, key=lambda file: (file.suffix, file.name, str(file))):
        data = file.read_bytes()
        yield (
            file.relative_to(folder).as_posix(),
            gzip.decompress(data) if file.suffix == ".gz" else data,
        )


def _tar(content: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in content.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def _content(archives: Sequence[Path]) -> dict[str, bytes]:
    """The content of all archives of a folder."""
    return {path: data for archive in archives for path, data in _members(archive).items()}


def _hash_of(archives: Sequence[Path]) -> str:
    """One hash of several archives; of a single one that of its bytes."""
    hashes = [_sha256(archive.read_bytes()) for archive in archives]
    return hashes[0] if len(hashes) == 1 else _sha256("\n".join(hashes).encode())


def _members(archive: Path) -> dict[str, bytes]:
    """The content of an archive: regular files below its folder, and nothing else."""
    content: dict[str, bytes] = {}
    total = 0
    try:
        with tarfile.open(archive, mode="r:xz") as opened:
            for member in opened:
                path = PurePosixPath(member.name)
                total += member.size
                if (
                    not member.isfile()
                    or path.is_absolute()
                    or ".." in path.parts
                    or total > _LARGEST
                ):
                    raise PackError(f"{archive} holds {member.name}, which is no file of results")
                stream = opened.extractfile(member)
                content[member.name] = stream.read() if stream is not None else b""
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise PackError(f"{archive} is damaged ({error}); fetch it again") from None
    return content


def _digest(content: Mapping[str, bytes]) -> str:
    return _sha256(json.dumps({name: _sha256(content[name]) for name in sorted(content)}).encode())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _stamp(folder: Path) -> dict[str, str]:
    try:
        value = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _write_stamp(folder: Path, archives: Sequence[Path], content: Mapping[str, bytes]) -> None:
    value = {"archive": _hash_of(archives), "content": _digest(content)}
    (folder / _STAMP).write_text(json.dumps(value) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
