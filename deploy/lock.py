"""Writes the packages of the container with their hashes.

``python3 deploy/lock.py > deploy/requirements.txt``: the versions are those of
``constraints-dev.txt``; pip resolves them for CPython 3.11 on Linux, on both processors.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("client", "serve", "office", "html", "parquet")
PROCESSORS = ("x86_64", "aarch64")
INDEX = "https://pypi.org/simple"


def wanted() -> list[str]:
    """Returns the requirements of the package and of these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for name in EXTRAS for one in project["optional-dependencies"][name]]
    return [*project["dependencies"], *(one for one in extras if not one.startswith("fascicle"))]


def resolve(processor: str) -> dict[str, str]:
    """Returns the SHA-256 of each package, as ``name==version``, for a processor."""
    glibc = [
        f"--platform=manylinux{one}_{processor}" for one in ("2014", "_2_17", "_2_27", "_2_28")
    ]
    place = [
        "--target",
        "none",
        "--only-binary=:all:",
        "--python-version=3.11",
        "--implementation=cp",
        *glibc,
    ]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--dry-run",
        "--ignore-installed",
        "--report",
        "-",
    ]
    command += [*place, "--index-url", INDEX, "-c", str(ROOT / "constraints-dev.txt"), *wanted()]
    report = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return {
        f"{one['metadata']['name'].lower().replace('_', '-')}=={one['metadata']['version']}": one[
            "download_info"
        ]["archive_info"]["hashes"]["sha256"]
        for one in report["install"]
    }


def main() -> None:
    """Prints the list."""
    found = [resolve(processor) for processor in PROCESSORS]
    print(
        "# Made by deploy/lock.py: CPython 3.11 on Linux, x86_64 and aarch64; pip install "
        "--require-hashes -r ..."
    )
    for name in sorted(set().union(*found)):
        hashes = sorted({one[name] for one in found if name in one})
        print(" \\\n    ".join([name, *(f"--hash=sha256:{one}" for one in hashes)]))


if __name__ == "__main__":
    main()
