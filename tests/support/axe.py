"""What axe-core finds wrong in a page for people who use a keyboard, a screen reader or strong
contrast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page


def violations(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{one['id']}: {node['html'][:150]} {node['any'][0]['message'] if node['any'] else ''}"
        for one in found["violations"]
        for node in one["nodes"][:2]
    ]
