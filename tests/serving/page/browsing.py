"""What tests of the page do again and again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

Opened = Callable[..., "Page"]


def load(page: Page, *documents: dict[str, Any]) -> None:
    """Opens documents in the native format, as a file."""
    lines = "".join(json.dumps({"fascicle": 2, **one}) + "\n" for one in documents)
    page.set_input_files(
        "input[aria-label='Files to annotate']", {"name": "given.jsonl", "mimeType": "", "buffer": lines.encode()}
    )
    page.wait_for_selector("#sheet .block", state="attached")


def until(page: Page, condition: str, given: Any = None) -> None:
    """Waits until an expression, or a function of what is given, is true.

    Playwright's own ``wait_for_function`` asks for ``eval`` in the page, which its policy rightly forbids.
    """
    end = time.monotonic() + 120
    while not page.evaluate(condition, given):
        assert time.monotonic() < end, f"never true: {condition}, {given!r}"
        page.wait_for_timeout(50)
