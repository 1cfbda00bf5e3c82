"""Builds the wheel of a model, such as one that is too large for the package.

usage: python models/build.py NAME EXPORT -o FOLDER

NAME is a folder beside this script with its ``pyproject.toml``. EXPORT is a model folder of
``fascicle export``. The wheel has the model inside, and an entry point by which
``fascicle.load("NAME")`` finds it. Its code is empty.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent


def main(argv: Sequence[str] | None = None) -> int:
    """Builds the wheel, and prints its path."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "name", choices=sorted(path.parent.name for path in HERE.glob("*/pyproject.toml"))
    )
    parser.add_argument("export", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args(argv)
    if not (args.export / "model.json").is_file():
        parser.error(f"{args.export} has no model.json; give the folder that fascicle export wrote")
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / args.name
        shutil.copytree(HERE / args.name, project)
        package = project / f"fascicle_{args.name.replace('-', '_')}"
        package.mkdir()
        (package / "__init__.py").write_text(
            '"""A model for Fascicle; `fascicle.load` finds it by its name."""\n'
        )
        shutil.copytree(args.export, package / "model", ignore=shutil.ignore_patterns(".*"))
        command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", str(args.output)]
        subprocess.run([*command, str(project)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
