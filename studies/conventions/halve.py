"""A model folder with weights in 16 bits, from which training can start on another machine.

usage: python -m studies.conventions.halve MODEL -o FOLDER

Training reads them as 32 bits again. A weight is rounded to 11 bits of its mantissa.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

WEIGHTS = "model.safetensors"
MANIFEST = "model.json"


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the folder and says its size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args(argv)
    halve(args.model, args.output)
    size = sum(file.stat().st_size for file in args.output.iterdir())
    sys.stdout.write(f"{args.output}: {size:,} bytes\n")


def halve(model: Path, output: Path) -> None:
    """Copies a model folder with weights in 16 bits.

    Args:
        model: a model folder of torch.
        output: a folder that does not exist yet.
    """
    shutil.copytree(model, output, ignore=shutil.ignore_patterns(".*"))
    tensors = load_file(model / WEIGHTS)
    halved = {
        name: tensor.half() if tensor.dtype == torch.float32 else tensor
        for name, tensor in tensors.items()
    }
    save_file(halved, output / WEIGHTS)
    manifest = json.loads((output / MANIFEST).read_text(encoding="utf-8"))
    manifest["files"][WEIGHTS] = hashlib.sha256((output / WEIGHTS).read_bytes()).hexdigest()
    (output / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
