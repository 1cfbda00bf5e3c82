"""Reading with the keyboard: annotate, walk, filter, search, explain, export, compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.serving.page.browsing import Opened, load, press, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
ODD = "𝔘nicode 😀 aspirin e\u0301 left and right arm pain.\r\nSecond line: BRCA1 human gene."


def at(words: str, text: str = ODD) -> list[int]:
    start = text.index(words)
    return [start, start + len(words)]


SHAPES: dict[str, Any] = {
    "id": "shapes",
    "text": ODD,
    "mentions": [
        {"spans": [at("aspirin")], "type": "Chemical", "score": 0.9, "source": "m"},
        {"spans": [at("left"), at("arm pain")], "type": "Disease", "score": 0.6, "source": "m"},
        {"spans": [at("right arm pain")], "type": "Disease", "score": 0.4, "source": "m"},
        {"spans": [at("arm")], "type": "Anatomy", "source": "n"},
        {"spans": [at("BRCA1 human gene")], "type": "Gene", "score": 0.8, "source": "n"},
        {"spans": [at("human")], "type": "Species", "score": 0.3, "source": "n"},
    ],
}


def words(page: Page, selector: str) -> list[str]:
    return [
        str(one)
        for one in page.locator(selector).evaluate_all("all => all.map((one) => one.textContent)")
    ]


def chosen(page: Page) -> str:
    page.wait_for_selector(".mark.chosen")
    return "".join(words(page, ".mark.chosen"))


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.textContent"))


def tab_to(page: Page, wanted: str) -> None:
    for _ in range(60):
        if focused(page) == wanted:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {wanted}")


def test_a_text_is_annotated_and_walked_through_by_keys(opened: Opened) -> None:
    page = opened()
    tab_to(page, "given")
    page.keyboard.type("Aspirin is for headache, and caffeine is not.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".mark")
    page.keyboard.press("n")
    assert chosen(page) == "Aspirin"
    page.keyboard.press("n")
    until(page, "document.querySelector('#panel-head').textContent !== ''")
    seen = [chosen(page)]
    for _ in range(12):
        press(page, "n")
        seen.append(chosen(page))
    assert {"Aspirin", "headache", "caffeine"} <= set(seen)
    page.keyboard.press("Enter")
    until(page, "document.activeElement.id === 'panel-head'")
    page.keyboard.press("Escape")
    until(page, "document.activeElement.id === 'sheet'")


def test_the_panel_tells_what_a_mention_means_and_why(opened: Opened) -> None:
    page = opened()
    page.fill("#given", "Lithium can cause tremor.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".mark")
    page.keyboard.press("n")
    page.wait_for_selector("#panel .link a")
    assert (
        page.locator("#panel .link a")
        .first.get_attribute("href")
        .startswith("https://bioregistry.io/")
    )  # type: ignore[union-attr]
    page.keyboard.press("w")
    page.wait_for_selector(".candidate summary")
    assert "MESH:" in page.inner_text(".candidate summary")
    tab_to(page, page.locator(".candidate summary").first.text_content() or "")
    page.keyboard.press("Enter")
    assert page.locator(".candidate").first.evaluate("one => one.open")


def test_the_text_is_shown_as_it_is_with_every_shape_of_mention(opened: Opened) -> None:
    page = opened(SHAPES)
    assert page.locator("#sheet").evaluate("one => one.textContent") == ODD
    clipped = """() => [...document.querySelectorAll(".mark")].filter((one) =>
        one.getBoundingClientRect().bottom > one.closest(".block").getBoundingClientRect().bottom).length"""
    assert page.evaluate(clipped) == 0, "a block clips what leaves it"
    seen = []
    for _ in SHAPES["mentions"]:
        press(page, "n")
        seen.append(chosen(page))
    assert seen == ["aspirin", "leftarm pain", "right arm pain", "arm", "BRCA1 human gene", "human"]


def test_what_lies_under_a_click_is_chosen_from_the_inside_out(opened: Opened) -> None:
    page = opened(SHAPES)
    for wanted in ("human", "BRCA1 human gene", "human"):
        page.locator(".mark", has_text="human").click()
        assert chosen(page) == wanted


def test_types_layers_and_confidence_are_filtered_by_keys(opened: Opened) -> None:
    page = opened(SHAPES)
    page.focus(".toggle[data-name='Disease'] input")
    page.keyboard.press("Space")
    until(page, "document.querySelector('#heading h2').textContent.includes('4 of 6')")
    assert page.evaluate("document.activeElement.closest('.toggle').dataset.name") == "Disease", (
        "the focus stays"
    )
    page.keyboard.press("Space")
    page.focus(".toggle[data-name='n'] input")
    page.keyboard.press("Space")
    until(page, "document.querySelector('#heading h2').textContent.includes('3 of 6')")
    assert "BRCA1" not in "".join(words(page, ".mark"))
    page.keyboard.press("Space")
    page.focus("#least")
    for _ in range(50):
        page.keyboard.press("ArrowRight")
    # The mention without a score stays.
    until(page, "document.querySelector('#heading h2').textContent.includes('4 of 6')")
    assert "human" not in words(page, ".mark")


def test_the_table_is_walked_sorted_and_follows_the_text(opened: Opened) -> None:
    page = opened(SHAPES)
    page.keyboard.press("v")
    page.focus("#table [role=grid]")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("[aria-selected=true]")
    assert page.inner_text("[aria-selected=true] > :first-child") == "left … arm pain"
    active = page.get_attribute("#table [role=grid]", "aria-activedescendant")
    assert page.get_attribute("[aria-selected=true]", "id") == active
    page.locator("[data-column=score] button").focus()
    page.keyboard.press("Enter")
    scores = words(page, ".grid-row > :nth-child(3)")
    assert scores == ["0.300", "0.400", "0.600", "0.800", "0.900", "–"]
    assert page.get_attribute("[data-column=score]", "aria-sort") == "ascending"
    page.keyboard.press("v")
    page.wait_for_selector(".mark.chosen")


def test_words_and_concepts_are_found(opened: Opened) -> None:
    linked = {
        **SHAPES["mentions"][0],
        "links": [
            {
                "id": "D001241",
                "ontology": "MESH",
                "curie": "MESH:D001241",
                "name": "Acetylsalicylic acid",
            }
        ],
    }
    page = opened({**SHAPES, "mentions": [linked, *SHAPES["mentions"][1:]]})
    page.keyboard.press("/")
    page.keyboard.type("ARM")
    until(page, "document.querySelector('.search output').textContent === '1/1'")
    page.keyboard.press("Control+a")
    page.keyboard.type("salicyl")
    until(page, "document.querySelector('.search output').textContent === '1/1'")
    assert chosen(page) == "aspirin"
    page.keyboard.press("Control+a")
    page.keyboard.type("(e")
    until(page, "document.querySelector('.search output').textContent === 'none'")
    page.keyboard.press("Escape")
    assert page.input_value("#search") == ""


def test_the_help_names_the_keys(opened: Opened) -> None:
    page = opened(SHAPES)
    page.keyboard.press("?")
    assert {"N", "P", "/", "?"} <= set(words(page, "dialog kbd"))
    page.keyboard.press("Escape")
    until(page, "!document.querySelector('dialog')")  # the page takes it away after it closed


def test_what_is_shown_is_exported_with_its_losses(opened: Opened) -> None:
    page = opened(SHAPES)
    page.focus(".toggle[data-name='n'] input")
    page.keyboard.press("Space")
    page.keyboard.press("e")
    page.wait_for_selector("#export-format")
    until(page, "document.activeElement.id === 'export-format'")
    with page.expect_download() as got:
        tab_to(page, "export-save")
        page.keyboard.press("Enter")
    document = json.loads(Path(got.value.path()).read_text(encoding="utf-8"))
    assert got.value.suggested_filename == "documents.jsonl"
    assert document["text"] == ODD
    assert {one["source"] for one in document["mentions"]} == {"m"}
    assert [one["spans"] for one in document["mentions"]] == [
        one["spans"] for one in SHAPES["mentions"][:3]
    ]
    page.select_option("#export-format", "csv")
    with page.expect_download() as got:
        page.click("#export-save")
    assert "aspirin" in Path(got.value.path()).read_text(encoding="utf-8")
    page.wait_for_selector("dialog .loss .notice")


def test_two_pipelines_and_two_layers_are_compared(opened: Opened) -> None:
    page = opened()
    page.fill("#given", "Aspirin is for headache, not for fever.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".mark")
    page.keyboard.press("m")
    page.wait_for_selector("dialog .choice")
    page.keyboard.press("1")
    page.wait_for_selector(".toggle[data-name='right'], .toggle[data-name='left']")
    page.keyboard.press("d")
    page.wait_for_selector(".mark.chosen")
    assert chosen(page) in {"headache", "fever"}
    load(page, SHAPES)
    until(page, "document.querySelector('#heading h2').textContent.startsWith('shapes')")
    page.keyboard.press("m")
    page.wait_for_selector("dialog .choice")
    page.locator("dialog .choice", has_text="m and n").click()
    page.wait_for_selector(".toggle[data-name='right']")
    assert words(page, ".toggle[data-name='right'] .count") == ["3"]
    assert words(page, ".toggle[data-name='left'] .count") == ["3"]


def test_several_documents_are_turned_by_keys(opened: Opened) -> None:
    page = opened(*({**SHAPES, "id": f"doc {number}"} for number in range(3)))
    assert len(words(page, ".doc")) == 3
    page.keyboard.press("]")
    until(page, "document.querySelector('#heading h2').textContent.startsWith('doc 1')")
    page.keyboard.press("[")
    until(page, "document.querySelector('#heading h2').textContent.startsWith('doc 0')")


def test_the_score_is_seen_in_the_text_and_told_in_the_panel(opened: Opened) -> None:
    page = opened(SHAPES)
    lines = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".mark")].map((one) => {
            const { backgroundImage, backgroundSize } = getComputedStyle(one);
            const alpha = /\\/ ([\\d.]+)\\)/.exec(backgroundImage)?.[1] ?? "1";
            return [one.textContent, [parseFloat(backgroundSize.split(" ")[1]), parseFloat(alpha)]];
        }))"""
    )
    assert lines["aspirin"][0] > lines["human"][0], "the line of a lower score is thinner"
    assert lines["aspirin"][1] > lines["human"][1], "and fainter"
    page.locator(".mark", has_text="human").click()
    until(page, "document.querySelector('#panel .facts').textContent.includes('0.300')")
