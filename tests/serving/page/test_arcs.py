"""Relations in the page: an arc between the words of two mentions, also from the right and on a
phone, and a list of all.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.serving.page.browsing import Opened, press, rest, until
from tests.serving.page.test_safety import overflow
from tests.support.axe import violations

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
LATIN = "Lithium caused a coarse tremor and later diabetes insipidus, but no pain in the knee."
HEBREW = "המטופל קיבל אספירין ואקמול נגד כאב ראש, and 😀 caffeine helped."
ENDS = """() => [...document.querySelectorAll(".arcs .arc")].map((arc) => {
    const box = arc.ownerSVGElement.getBoundingClientRect();
    return [0, arc.getTotalLength()].map((at) => {
        const { x, y } = arc.getPointAtLength(at);
        return [x + box.left, y + box.top];
    });
})"""
PLACE = """([start, end]) => {
    const walk = document.createTreeWalker(document.querySelector("#sheet"), NodeFilter.SHOW_TEXT);
    const place = (unit) => {
        walk.currentNode = walk.root;
        while (walk.nextNode()) {
            if (unit < walk.currentNode.data.length) return [walk.currentNode, unit];
            unit -= walk.currentNode.data.length;
        }
    };
    const range = new Range();
    range.setStart(...place(start));
    const [node, unit] = place(end - 1);
    range.setEnd(node, unit + 1);
    const { left, right, top } = range.getClientRects()[0];
    return [left, right, top];
}"""


def document(text: str, *pairs: tuple[str, str], roles: tuple[str, str] = ("a", "b")) -> Any:
    words = dict.fromkeys(word for pair in pairs for word in pair)
    spans = {word: [[text.index(word), text.index(word) + len(word)]] for word in words}
    if "pain" in words:  # discontinuous
        spans["pain"].append([text.index("knee"), text.index("knee") + 4])
    mentions = [{"spans": spans[word], "type": "T", "source": "m"} for word in words]
    relations = [
        {
            "type": "causes",
            "arguments": [
                [role, ["m", "T", spans[word]]] for role, word in zip(roles, pair, strict=True)
            ],
        }
        for pair in pairs
    ]
    return {"id": "d", "text": text, "mentions": mentions, "relations": relations}


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (LATIN, [("Lithium", "tremor"), ("Lithium", "diabetes insipidus"), ("pain", "tremor")]),
        (HEBREW, [("אספירין", "כאב ראש"), ("caffeine", "ואקמול")]),
    ],
    ids=["left", "right"],
)
def test_arcs_lead_from_mention_to_mention(
    opened: Opened, text: str, pairs: list[tuple[str, str]], width: int, axe: str
) -> None:
    page = opened(document(text, *pairs), width=width)
    until(page, f"document.querySelectorAll('.arcs .arc').length === {len(pairs)}")
    rest(page)
    for pair, ends in zip(pairs, page.evaluate(ENDS), strict=True):
        for word, (x, y) in zip(pair, ends, strict=True):
            start = len(text[: text.index(word)].encode("utf-16-le")) // 2
            left, right, top = page.evaluate(PLACE, [start, start + len(word)])
            assert left <= x <= right, word
            assert abs(y - top) < 3, word
    assert page.locator(".arcs .arc[marker-end]").count() == len(pairs)
    assert page.locator(".arcs text").all_text_contents() == ["causes"] * len(pairs)
    assert overflow(page) == 0
    for one in page.locator(".arcs text").all():
        box = one.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    page.locator(".relations summary").click()
    assert violations(page, axe) == []
    page.locator(".relations button").nth(1).click()
    until(page, "document.querySelectorAll('.arcs .arc.chosen').length > 0")
    assert page.locator(".mark.chosen").first.inner_text() in text


def test_hidden_ends_have_no_arc_and_equal_roles_no_arrow(opened: Opened) -> None:
    made = document(LATIN, ("Lithium", "tremor"), roles=("", ""))
    made["relations"].append({"type": "CID", "attributes": [["entity1", "D1"], ["entity2", "D2"]]})
    made["relations"].append(
        {"arguments": [["a", ["m", "T", [[0, 3]]]], ["b", ["m", "T", [[4, 7]]]]]}
    )
    page = opened(made)
    until(page, "document.querySelectorAll('.arcs .arc').length === 1")
    assert page.locator(".arcs .arc[marker-end]").count() == 0
    assert page.locator(".relations summary").inner_text() == "3 relations"
    page.locator(".relations summary").click()
    rows = page.locator(".relations li").all_inner_texts()
    assert [" ".join(row.split()) for row in rows] == [
        "causes Lithium tremor",
        "CID entity1 = D1, entity2 = D2",
        "related a: Lit → b: ium",
    ]
    press(page, "n")
    until(page, "document.querySelectorAll('.arcs .arc.chosen').length === 1")
