"""How many keys a curator needs: five abstracts with 200 mentions, each accepted or rejected,
and all finished.
"""

from __future__ import annotations

import random

import pytest
from standing import Standing
from tests.serving.page.browsing import Opened, saved, slow, steps, tally, until, words

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
DOCUMENTS, MENTIONS = 5, 40
MOST = 1.05  # keys a mention


@pytest.mark.parametrize("delay", [0, 300])
def test_a_mention_takes_little_more_than_one_key(
    opened: Opened, shown: Standing, delay: int
) -> None:
    names = [f"count-{delay}-{number}" for number in range(DOCUMENTS)]
    wanted = {name: random.Random(name).choices("aaax", k=MENTIONS) for name in names}
    page = opened(*(words(name, MENTIONS) for name in names), curator="Ada")
    slow(page, delay)
    keys = 0

    def press(key: str) -> None:
        nonlocal keys
        keys += 1
        page.keyboard.press(key)

    press("k")
    for name in names:
        until(
            page, "name => document.querySelector('#heading h2').textContent.startsWith(name)", name
        )
        until(page, "document.querySelector('.tally')?.textContent.startsWith('0 of')")
        until(page, "document.querySelector('#panel-head')?.textContent === 'word00'")
        for key in wanted[name]:
            press(key)
        press("g")
    saved(page)
    tally(page, f"{MENTIONS} of {MENTIONS}")
    assert keys <= MOST * DOCUMENTS * MENTIONS
    until(page, "!Object.keys(localStorage).some((one) => one.startsWith('fascicle-step'))")
    for name in names:
        made = steps(shown, name)
        assert made[-1]["finished"] is True
        said = ["a" if edit["after"] else "x" for step in made for edit in step.get("edits", ())]
        assert said == wanted[name]
