"""What is done of a shard before its marker is there, in small files: so a kill costs few documents, not a shard."""

from __future__ import annotations

import hashlib
import time
from typing import Final

import msgspec

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.running.folder import SAVED, RunFolder
from fascicle.running.plan import Shard
from fascicle.running.records import Manifest

_EVERY: Final = 32  # documents in a file
_WORTH: Final = 96  # documents of a shard, which a kill may cost: a smaller shard has no such files


class Saves:
    """The files of one shard. They hold what the steps gave, so the part has the same bytes with and without them."""

    def __init__(self, folder: RunFolder, shard: Shard, manifest: Manifest) -> None:
        """Reads nothing yet.

        Args:
            folder: of the run.
            shard: that is done.
            manifest: of the run; what a shard of the same name has by another pipeline does not count.
        """
        made_by = msgspec.json.encode([shard.sha256, shard.left_out, manifest.made_by], order="deterministic")
        self._name = f"{SAVED}{shard.name}-{hashlib.sha256(made_by).hexdigest()[:16]}-{{:04d}}.jsonl"
        self._folder, self._is_worth = folder, shard.count > _WORTH
        self._files, self._lines = 0, list[bytes]()
        self._since = time.monotonic()

    def documents(self) -> dict[str, Document]:
        """What an attempt that was ended has done, by id."""
        found: dict[str, Document] = {}
        while self._is_worth and (content := self._folder.content(self._name.format(self._files))):
            digest, _, lines = content.partition(b"\n")
            if digest != _digest(lines):
                break  # the power failed; the next file takes its name
            found.update((one.id, one) for one in map(codec.decode, lines.splitlines()))
            self._files += 1
        return found

    def add(self, document: Document) -> None:
        """Keeps a document, at the latest with some that come after it."""
        if not self._is_worth:
            return
        self._lines.append(codec.encode(document) + b"\n")
        if len(self._lines) >= _EVERY and time.monotonic() - self._since >= self._folder.pause:
            content = b"".join(self._lines)
            with self._folder.written(self._name.format(self._files), durable=False) as stream:
                stream.write(_digest(content) + b"\n" + content)
            self._files += 1
            self._lines.clear()
            self._since = time.monotonic()

    def remove(self) -> None:
        """Removes them, when the shard has its marker."""
        self._folder.remove([self._name.format(number) for number in range(self._files)])


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()
