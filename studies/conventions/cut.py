"""The first layers of an encoder, as an encoder of its own: a teacher that a machine without a GPU can train.

usage: python -m studies.conventions.cut ENCODER -o FOLDER --layers N
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from fascicle.models.encoder import load_pretrained, save_pretrained
from fascicle.models.layers import with_layers


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the encoder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("encoder")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--layers", type=int, required=True)
    args = parser.parse_args(argv)
    whole = load_pretrained(args.encoder)
    args.output.mkdir(parents=True)
    save_pretrained(args.output, replace(whole, encoder=with_layers(whole.encoder, range(1, args.layers + 1))))


if __name__ == "__main__":
    main()
