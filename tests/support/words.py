"""Which words of a page are broken over two lines by a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

SCRIPT = """([cells, longest]) => {
    const broken = [];
    for (const cell of document.querySelectorAll(cells)) {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        for (let node; node = texts.nextNode();) {
            const short = node.data.replace(/\\S+/g, run =>
                run.length > longest ? ' '.repeat(run.length) : run);
            for (const word of short.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
                const range = document.createRange();
                range.setStart(node, word.index);
                range.setEnd(node, word.index + word[0].length);
                const tops = new Set(Array.from(range.getClientRects(), box => Math.round(box.top)));
                if (tops.size > 1) broken.push(word[0]);
            }
        }
    }
    return broken;
}"""


def broken_words(page: Page, *, cells: str = "th, td", longest: int = 30) -> list[str]:
    """Words that stand on several lines of a cell, in text of at most so many characters without a
    space.
    """
    found: list[str] = page.evaluate(SCRIPT, [cells, longest])
    return found
