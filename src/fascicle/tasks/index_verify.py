"""Looking through a whole term pack: what ``fascicle index verify`` does."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from fascicle.core.arguments import checked
from fascicle.knowledge.pack.pack import Pack
from fascicle.knowledge.pack.verifying import verify as verify_pack


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A pack in which everything is right.

    Attributes:
        pack: its full name.
        files: how many were read.
        size: bytes of all of them.
    """

    pack: str
    files: int
    size: int


@checked
def verify(pack: str | os.PathLike[str], *, told: Callable[[str, int], None] = lambda step, count: None) -> Verified:
    """Reads all files of a pack, and checks every hash, every range and every order.

    Args:
        pack: folder that ``fascicle index build`` wrote.
        told: is called with what is being done and a count, now and then.

    Raises:
        PackError: it cannot be opened, a file was changed, or what is in it cannot be.
    """
    opened = Pack.open(pack)
    size = verify_pack(opened, told=told)
    return Verified(pack=opened.full_name, files=len(opened.manifest.files), size=size)
