"""Raw text in a recipe: which files, which documents of them, and how they are cut into windows."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from fascicle.settings.base import LARGEST, Name, Natural, Positive, Settings, Share


class TextSettings(Settings, frozen=True, kw_only=True):
    """Raw text to learn from.

    Attributes:
        files: files in any format that holds texts, packed with gzip or not, and folders of ``*.txt`` files; ``$NAME``
            is an environment variable.
        format: name of a format, or ``"auto"``.
        encoding: encoding of the files, or ``"auto"``.
        shape: shape of JSON records, a name of ``formats/shapes.py`` or ``"auto"``.
        fields: changes to that shape, each ``"NAME=VALUE"``.
        keep: only documents with these facts are read: a field of their records and the values that are allowed, with
            ``*``, ``?`` and ``[...]`` as in names of files, e.g. ``{license = ["CC0", "CC BY [0-9]*"]}``.
        exclude: exclusion list of ``fascicle corpus check``: its documents are left out.
        pieces: pieces to read at most; 0 for all. A sample of the documents, drawn by the seed, has no more than this.
        window: pieces in a window, special tokens included. Windows are packed: the next document follows in the same
            window, after a separator, and no word is cut.
        held_out: share of the documents that nothing is learned from, chosen by the hash of their ids.
        held_out_pieces: pieces of them that are used at most.
    """

    files: Annotated[tuple[Name, ...], Meta(min_length=1)]
    format: Name = "auto"
    encoding: Name = "auto"
    shape: Name = "auto"
    fields: tuple[str, ...] = ()
    keep: dict[str, tuple[Name, ...]] = msgspec.field(default_factory=dict)
    exclude: str = ""
    pieces: Natural = 0
    window: Annotated[int, Meta(ge=8, le=LARGEST)] = 128
    held_out: Share = 0.01
    held_out_pieces: Positive = 50_000

    def __post_init__(self) -> None:
        """Refuses a file that is named twice, and a fact without a value."""
        twice = [path for path in self.files if self.files.count(path) > 1]
        if twice:
            raise ValueError(f"files names {twice[0]!r} twice: name it once")
        bare = [name for name, values in self.keep.items() if not values]
        if bare:
            raise ValueError(f"keep.{bare[0]} allows no value: give one, or leave it out")

    def paths(self) -> dict[str, str]:
        """The paths of its data, each by the key that names it in a recipe, e.g. ``"text.files.0"``."""
        found = {f"text.files.{at}": path for at, path in enumerate(self.files)}
        return found | ({"text.exclude": self.exclude} if self.exclude else {})
