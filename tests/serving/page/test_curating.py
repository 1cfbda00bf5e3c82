"""Curation with the keyboard: a decision is saved before it is shown, can be undone, and comes out again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from standing import Standing
from tests.serving.page.browsing import Opened, load, until

from fascicle.core.document import GOLD
from fascicle.formats.files import read

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
TEXT = "😀 Aspirin is for severe headache, and caffeine is not."


def document(name: str) -> dict[str, Any]:
    def span(words: str) -> list[list[int]]:
        return [[TEXT.index(words), TEXT.index(words) + len(words)]]

    mentions = [
        {"spans": span("Aspirin"), "type": "Chemical", "score": 0.9, "source": "m"},
        {"spans": span("Aspirin"), "type": "Chemical", "score": 0.8, "source": "n"},
        {"spans": span("headache"), "type": "Disease", "score": 0.5, "source": "m"},
        {"spans": span("caffeine"), "type": "Disease", "score": 0.7, "source": "m"},
        {"spans": span("not"), "type": "Gene", "score": 0.6, "source": "m"},
    ]
    return {"id": name, "text": TEXT, "mentions": mentions}


def press(page: Page, *keys: str) -> None:
    """Presses keys one after the other, each when the page has shown what the one before did."""
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(150)


def tally(page: Page, wanted: str) -> None:
    until(page, "wanted => document.querySelector('.tally')?.textContent.startsWith(wanted)", wanted)


def steps(service: Standing, name: str) -> list[dict[str, Any]]:
    return list(service.ask("GET", f"/v1/curation/document?id={name}").json["steps"])


def test_curation_begins_at_the_first_open_mention(opened: Opened, shown: Standing) -> None:
    page = opened(document("first"), curator="Ada")
    press(page, "k")
    until(page, "document.querySelector('#panel-head')?.textContent === 'Aspirin'")
    press(page, "a")
    tally(page, "2 of 5")
    press(page, "Escape", "Escape", "Escape")  # nothing is chosen
    until(page, "!document.querySelector('.mark.chosen')")
    press(page, "x")  # decides about nothing that was not chosen
    until(page, "document.querySelector('#panel-head')?.textContent === 'headache'")
    tally(page, "2 of 5")
    press(page, "x")
    tally(page, "3 of 5")
    assert [len(step["edits"]) for step in steps(shown, "first")] == [2, 1]


def test_everything_is_decided_by_keys_and_undone(opened: Opened, shown: Standing) -> None:
    page = opened(document("keys"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    press(page, "a")  # both layers say Aspirin, and are decided together
    tally(page, "2 of 5")
    until(page, "document.querySelector('#panel-head')?.textContent === 'headache'")
    press(page, "s", "Shift+ArrowLeft", "Enter")  # severe headache
    tally(page, "3 of 5")
    until(page, "document.querySelector('#panel-head')?.textContent === 'severe headache'")
    press(page, "j", "t")
    page.locator("dialog .example", has_text="Chemical").press("Enter")  # caffeine
    tally(page, "4 of 5")
    press(page, "j", "x")
    tally(page, "5 of 5")
    press(page, "i")
    page.wait_for_selector(".mode strong")
    press(page, "p", "p", "f", "ArrowRight", "f", "1")
    tally(page, "6 of 6")
    saved = steps(shown, "keys")
    assert [len(step.get("edits", ())) for step in saved] == [2, 1, 1, 1, 1]
    assert {step["who"] for step in saved} == {"Ada"}
    assert saved[1]["edits"][0]["after"]["spans"] == [[17, 32]]
    press(page, "z", "z")
    tally(page, "4 of 5")
    press(page, "Shift+Z")
    tally(page, "5 of 5")
    press(page, "g")
    page.wait_for_selector(".tally .verdict")
    assert len(steps(shown, "keys")) == 9, "nothing is taken back, all is appended"


def test_decisions_are_there_when_the_page_is_opened_again(opened: Opened) -> None:
    first = opened(document("again"), document("other"), curator="Ada")
    press(first, "k")
    tally(first, "0 of 5")
    press(first, "x")
    tally(first, "2 of 5")
    second = opened(curator="Bob", fails="409")
    second.click("#resume")
    tally(second, "")
    second.locator(".doc", has_text="again").click()
    tally(second, "2 of 5")
    press(first, "a")
    tally(first, "3 of 5")
    press(second, "j", "x")  # Bob has not seen what Ada did
    tally(second, "3 of 5")
    press(second, "j", "x")
    tally(second, "4 of 5")


def test_documents_are_ordered_by_doubt(opened: Opened) -> None:
    sure = {**document("sure"), "mentions": document("sure")["mentions"][:1]}
    page = opened(sure, document("unsure"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 1")
    press(page, "q")
    until(page, "document.querySelector('#heading h2').textContent.startsWith('unsure')")
    press(page, "u")
    until(page, "document.querySelector('#panel-head')?.textContent === 'headache'")


def test_a_curator_finds_corrects_and_exports_in_twelve_interactions(opened: Opened, tmp_path: Path) -> None:
    page = opened(curator="")
    page.fill("#given", "Aspirin helps against headache. The word pain stays.")
    done = 1

    def key(name: str) -> None:
        nonlocal done
        done += 1
        page.keyboard.press(name)

    key("Control+Enter")
    page.wait_for_selector(".mark")
    key("k")
    page.wait_for_selector("#pick-free")
    page.keyboard.type("Ada")
    key("Enter")
    tally(page, "0 of")
    page.wait_for_selector(".mark.chosen")
    key("x")
    page.wait_for_selector(".mark.rejected")
    key("Shift+A")
    until(page, "!document.querySelector('#status').textContent.includes('curate')")
    key("e")
    page.wait_for_selector("#export-curated")
    page.select_option("#export-curated", "gold:jsonl")
    done += 1
    with page.expect_download() as got:
        page.click("#export-decisions")
    done += 1
    assert done <= 12
    place = tmp_path / got.value.suggested_filename
    got.value.save_as(place)
    (found,) = [one for one in read(place) if one.text.startswith("Aspirin helps against headache. The word")]
    words = {one.text for one in found}
    assert "headache" in words
    assert "Aspirin" not in words
    assert {one.source for one in found.mentions} == {GOLD}


def test_a_step_whose_answer_is_lost_is_saved_once(opened: Opened, shown: Standing) -> None:
    page = opened(document("lost"), curator="Ada", fails="ERR_FAILED")
    press(page, "k")
    tally(page, "0 of 5")
    lost = []

    def lose(route: Any) -> None:
        if lost:
            route.continue_()
        else:
            route.fetch()  # the service has it, and the page gets no answer
            lost.append(1)
            route.abort()

    page.route("**/v1/curation/steps", lose)
    press(page, "x")
    tally(page, "2 of 5")
    assert len(steps(shown, "lost")) == 1


def test_imported_tasks_are_decisions(opened: Opened, shown: Standing) -> None:
    page = opened(curator="Ada")
    region = {"type": "labels", "value": {"start": 2, "end": 9, "text": "Aspirin", "labels": ["Chemical"]}}
    task = {"data": {"text": TEXT}, "meta": {"fascicle": {"id": "tasked"}}, "annotations": [{"result": [region]}]}
    page.set_input_files(
        "input[aria-label='File with decisions']",
        {"name": "tasks.json", "mimeType": "", "buffer": json.dumps([task]).encode()},
    )
    until(page, "document.querySelector('#status').textContent.includes('1 decision')")
    assert len(steps(shown, "tasked")) == 1


def test_two_texts_with_one_name_are_refused(opened: Opened) -> None:
    page = opened(document("twice"), curator="Ada", fails="409")
    press(page, "k")
    tally(page, "0 of 5")
    load(page, {"id": "twice", "text": "Another text."})
    until(page, "document.querySelector('#sheet').textContent === 'Another text.'")
    press(page, "k")
    until(page, "document.querySelector('#status').textContent.includes('another text')")
    assert page.get_attribute("#curate", "aria-pressed") == "false"
