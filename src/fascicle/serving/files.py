"""Files of any format as documents, and documents as files, within limits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import MappingProxyType
from typing import Final

from fascicle.core.document import Document
from fascicle.formats.outputs import write_documents
from fascicle.formats.report import WriteReport
from fascicle.formats.requests import WriteRequest

# The formats that a client may ask for by the media type of the answer.
MEDIA_TYPES: Final = MappingProxyType(
    {
        "application/vnd.bioc+json": "bioc-json",
        "application/vnd.bioc+xml": "bioc",
        "application/vnd.pubtator3+json": "pubtator3",
        "text/x-pubtator": "pubtator",
    }
)


def written(documents: Iterable[Document], format_name: str) -> tuple[bytes, str]:
    """Documents as a file.

    Args:
        documents: in order.
        format_name: a name of a format of one file.

    Returns:
        The content, and what the format cannot hold, such as ``"scores=3, link-names=2"``.

    Raises:
        InputError: a document that the format cannot hold at all.
        UsageError: no such format.
    """
    report = WriteReport()
    with tempfile.TemporaryDirectory(prefix="fascicle-") as folder:
        path = os.path.join(folder, "written")  # noqa: PTH118
        write_documents(documents, WriteRequest(path=path, format=format_name), report=report)
        content = Path(path).read_bytes()
    return content, ", ".join(f"{code}={count}" for code, count in sorted(report.losses.items()))
