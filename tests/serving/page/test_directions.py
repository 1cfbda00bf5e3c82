"""Text that is written from the right: each label stands beside its own words, and offsets are
those of the text.
"""

from __future__ import annotations

from typing import Any

import pytest
from standing import Standing
from tests.serving.page.browsing import Opened, press, saved, steps, until

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
LINES = (
    "המטופל קיבל אספירין ואקמול נגד כאב ראש, and BRCA1 was found.",
    "The patient got אספירין ואקמול twice, not caffeine.",
    "تناول المريض أسبرين 500 ملغ ثم باراسيتامول مع 😀 caffeine.",
)
TEXT = "\n".join(LINES)
WORDS = ("אספירין", "ואקמול", "כאב ראש", "BRCA1", "أسبرين", "باراسيتامول", "caffeine")
PLACES = """() => [...document.querySelectorAll(".tag")].map((tag) => {
    const mark = tag.parentElement.previousElementSibling;
    const [own, box] = [mark.getBoundingClientRect(), tag.getBoundingClientRect()];
    const gap = Math.max(box.left - own.right, own.left - box.right);
    return [mark.textContent, tag.dataset.name, gap, box.left < own.left];
})"""


def document(name: str) -> dict[str, Any]:
    found = [(at, word) for word in WORDS for at in range(len(TEXT)) if TEXT.startswith(word, at)]
    mentions = [
        {"spans": [[at, at + len(word)]], "type": f"Type{number}", "score": 0.5, "source": "m"}
        for number, (at, word) in enumerate(sorted(found))
    ]
    return {"id": name, "text": TEXT, "mentions": mentions}


def test_each_label_is_beside_its_words(opened: Opened) -> None:
    page = opened(document("labels"))
    places = page.evaluate(PLACES)
    assert [name for _, name, _, _ in places] == [
        one["type"] for one in document("labels")["mentions"]
    ]
    for word, _, gap, is_left in places:
        assert abs(gap) < 3, f"the label of {word} is {gap} pixels away"
        assert is_left is not word.isascii(), f"{word} ends on the other side"


def test_lines_begin_on_their_own_side(opened: Opened) -> None:
    page = opened(
        *({"id": f"line {at}", "text": line, "mentions": []} for at, line in enumerate(LINES))
    )
    sides = []
    for at in range(len(LINES)):
        until(page, f"document.querySelector('#heading h2').textContent.startsWith('line {at}')")
        sides.append(
            page.locator("#sheet .block").evaluate("one => getComputedStyle(one).direction")
        )
        page.keyboard.press("]")
    assert sides == ["rtl", "ltr", "rtl"]


@pytest.mark.parametrize("word", ["אספירין", "أسبرين", "caffeine"])
def test_what_is_drawn_and_decided_has_the_offsets_of_the_text(
    opened: Opened, shown: Standing, word: str
) -> None:
    name = f"drawn-{word.encode().hex()[:8]}"
    page = opened({**document(name), "mentions": document(name)["mentions"][:1]}, curator="Ada")
    press(page, "k")
    start = TEXT.rindex(word)
    units = len(TEXT[:start].encode("utf-16-le")) // 2
    page.evaluate(
        """([start, end]) => {
            const place = (unit) => {
                const walk = document.createTreeWalker(document.querySelector("#sheet"), NodeFilter.SHOW_TEXT);
                while (walk.nextNode()) {
                    if (unit <= walk.currentNode.data.length) return [walk.currentNode, unit];
                    unit -= walk.currentNode.data.length;
                }
            };
            getSelection().setBaseAndExtent(...place(start), ...place(end));
        }""",
        [units, units + len(word)],
    )
    press(page, "i", "1")
    until(page, "word => document.querySelector('#panel-head')?.textContent === word", word)
    saved(page)
    (step,) = steps(shown, name)
    assert step["edits"][0]["after"]["spans"] == [[start, start + len(word)]]
