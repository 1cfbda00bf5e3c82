"""How dictionaries and term packs are told from models; what is in them is the business of ``knowledge``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

PACK: Final = "manifest.json"  # of a term pack; it has the hashes of all other files
_OF_PACKS: Final = ("tokens.table", "names.concept.u4")
_DICTIONARIES: Final = (".tsv", ".txt")


def is_dictionary(path: str | os.PathLike[str]) -> bool:
    """Whether this is a file that is called ``.tsv`` or ``.txt``, packed or not."""
    place = Path(path).expanduser()
    return place.is_file() and place.name.lower().removesuffix(".gz").endswith(_DICTIONARIES)


def is_pack(path: str | os.PathLike[str]) -> bool:
    """Whether this is the folder of a term pack, perhaps a damaged one: others may hold a ``manifest.json`` too."""
    folder = Path(path).expanduser()
    return (folder / PACK).is_file() and any((folder / name).is_file() for name in _OF_PACKS)
