"""Curation with the keyboard: a decision belongs to what was shown, is saved, can be undone, and
comes out again.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from standing import Standing
from tests.serving.page.browsing import Opened, load, press, saved, slow, steps, tally, until, words

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


def made(service: Standing, name: str, count: int) -> list[dict[str, Any]]:
    """Waits until the service has so many steps of a document."""
    end = time.monotonic() + 120
    while len(found := steps(service, name)) < count:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    assert len(found) == count
    return found


def edits(found: list[dict[str, Any]]) -> list[list[str | None]]:
    """The types that each step gives to mentions; ``None`` for those that it rejects."""
    return [[edit["after"] and edit["after"]["type"] for edit in one["edits"]] for one in found]


@pytest.mark.parametrize("delay", [0, 50, 150, 500])
@pytest.mark.parametrize("gap", [30, 60, 100, 200, 500])
def test_each_key_decides_about_the_mention_that_was_shown(
    opened: Opened, shown: Standing, delay: int, gap: int
) -> None:
    name = f"keys-{delay}-{gap}"
    page = opened(words(name, 10), curator="Ada")
    press(page, "k")
    tally(page, "0 of 10")
    slow(page, delay)
    for number in range(10):
        page.keyboard.press("ax"[number % 2])
        page.wait_for_timeout(gap)
    tally(page, "10 of 10")
    made = steps(shown, name)
    assert len(made) == 10
    starts = [
        edit["after"] and edit["after"]["spans"][0][0] for step in made for edit in step["edits"]
    ]
    assert starts == [None if number % 2 else 7 * number for number in range(10)]
    assert len({edit["item"] for step in made for edit in step["edits"]}) == 10


def test_a_key_that_is_held_decides_once(opened: Opened, shown: Standing) -> None:
    page = opened(words("held", 6), curator="Ada")
    press(page, "k")
    tally(page, "0 of 6")
    slow(page, 50)
    for _ in range(5):  # without a release between, the browser says that the key repeats
        page.keyboard.down("a")
        page.wait_for_timeout(40)
    page.keyboard.up("a")
    tally(page, "1 of 6")
    assert len(steps(shown, "held")) == 1


def test_undo_and_other_documents_wait_for_decisions_that_are_on_their_way(
    opened: Opened, shown: Standing
) -> None:
    page = opened(words("one", 3), words("two", 3), curator="Ada")
    press(page, "k")
    tally(page, "0 of 3")
    slow(page, 300)
    for key in ("a", "x", "z", "]"):
        page.keyboard.press(key)
        page.wait_for_timeout(30)
    page.keyboard.press("j")
    page.keyboard.press("x")
    until(page, "document.querySelector('#heading h2').textContent.startsWith('two')")
    tally(page, "1 of 3")
    page.keyboard.press("[")
    tally(page, "1 of 3")
    first, second = steps(shown, "one"), steps(shown, "two")
    assert [bool(step.get("undoes")) for step in first] == [False, False, True]
    assert first[2]["undoes"] == first[1]["number"]
    assert [edit["after"] for step in second for edit in step["edits"]] == [None]


def test_decisions_about_other_mentions_stand_beside_those_of_another_curator(
    opened: Opened, shown: Standing
) -> None:
    first = opened(words("both", 4), curator="Ada")
    press(first, "k")
    tally(first, "0 of 4")
    second = opened(curator="Bob", fails="409")
    second.click("#resume")
    second.locator(".doc", has_text="both").click()
    tally(second, "0 of 4")
    press(first, "a")
    tally(first, "1 of 4")
    press(second, "j", "j", "x", "x")  # not the mention of Ada
    tally(second, "3 of 4")
    press(second, "j", "j", "j")
    assert len(steps(shown, "both")) == 3


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


def test_layers_that_agree_stay_one_mention_when_it_is_changed_again(
    opened: Opened, shown: Standing
) -> None:
    page = opened(document("agreed"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    press(page, "a", "p", "t")  # back to Aspirin, which both layers have
    page.locator("dialog .choice", has_text="Disease").press("Enter")
    made(shown, "agreed", 2)
    press(page, "x")
    assert edits(made(shown, "agreed", 3)) == [
        ["Chemical", "Chemical"],
        ["Disease", "Disease"],
        [None, None],
    ]


# A browser says that a dialog is closed some time after it is closed; keys may come before.
AT_ONCE = """async () => {
    document.querySelector("dialog .choice:nth-child(2)").click();
    for (let turn = 0; turn < 100; turn++) await null;
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "x", bubbles: true }));
}"""


def test_a_key_after_a_choice_decides_about_what_was_chosen(
    opened: Opened, shown: Standing
) -> None:
    page = opened(document("at once"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    press(page, "t")
    page.wait_for_selector("dialog .choice")
    page.evaluate(AT_ONCE)
    assert edits(made(shown, "at%20once", 2)) == [["Disease", "Disease"], [None, None]]


def test_a_key_after_a_concept_decides_about_what_was_chosen(
    opened: Opened, shown: Standing
) -> None:
    page = opened(document("concept at once"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    press(page, "c")
    page.wait_for_selector("#pick-free")
    slow(page, 300)
    page.fill("#pick-free", "MESH:D001241")
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("x")
    first, second = made(shown, "concept%20at%20once", 2)
    assert [edit["after"]["links"][0]["name"] for edit in first["edits"]] == ["Aspirin"] * 2
    assert edits([second]) == [[None, None]]


def test_a_span_is_changed_of_what_the_mention_is_by_then(opened: Opened, shown: Standing) -> None:
    page = opened(document("by then"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    press(page, "s", "t")
    page.locator("dialog .choice", has_text="Disease").press("Enter")
    made(shown, "by%20then", 1)
    press(page, "ArrowRight", "Enter")
    first, second = made(shown, "by%20then", 2)
    assert edits([first, second]) == [["Disease", "Disease"]] * 2
    assert [edit["after"]["spans"] for edit in second["edits"]] == [[[2, 12]]] * 2


def test_a_mention_is_not_added_to_a_document_that_is_shown_meanwhile(opened: Opened) -> None:
    page = opened(document("before"), document("after"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    press(page, "]")
    until(page, "document.querySelector('#heading h2').textContent.startsWith('after')")
    press(page, "i", "Enter")
    page.wait_for_selector("dialog .choice")
    page.go_back()
    until(page, "document.querySelector('#heading h2').textContent.startsWith('before')")
    page.locator("dialog .choice").first.press("Enter")
    until(
        page, "document.querySelector('#status').textContent.includes('Another document is shown')"
    )
    tally(page, "0 of 5")


def test_a_gap_stays_until_an_end_moves(opened: Opened, shown: Standing) -> None:
    gap = {"spans": [[0, 4], [14, 20]], "type": "Disease", "score": 0.5, "source": "m"}
    page = opened(
        {"id": "gap", "text": "Head and neck cancer, or none.", "mentions": [gap]}, curator="Ada"
    )
    press(page, "k")
    tally(page, "0 of 1")
    press(page, "s", "Enter")
    tally(page, "1 of 1")
    press(page, "s", "Shift+ArrowRight", "Enter")
    saved(page)
    until(page, "document.querySelector('#panel-head')?.textContent === 'and neck cancer'")
    made = [step["edits"][0]["after"]["spans"] for step in steps(shown, "gap")]
    assert made == [[[0, 4], [14, 20]], [[5, 20]]]


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
    page.locator("dialog .choice", has_text="Chemical").press("Enter")  # caffeine
    tally(page, "4 of 5")
    press(page, "j", "x")
    tally(page, "5 of 5")
    press(page, "i")
    page.wait_for_selector(".mode strong")
    press(page, "p", "p", "f", "ArrowRight", "f", "1")
    tally(page, "6 of 6")
    made = steps(shown, "keys")
    assert [len(step.get("edits", ())) for step in made] == [2, 1, 1, 1, 1]
    assert {step["who"] for step in made} == {"Ada"}
    assert made[1]["edits"][0]["after"]["spans"] == [[17, 32]]
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


def test_a_curator_finds_corrects_and_exports_in_twelve_interactions(
    opened: Opened, tmp_path: Path
) -> None:
    page = opened(curator="")
    done = 0

    def key(name: str) -> None:
        nonlocal done
        done += 1
        page.keyboard.press(name)

    def write(words: str) -> None:
        nonlocal done
        done += 1
        page.keyboard.insert_text(words)

    write("Aspirin helps against severe headache. The word pain stays.")
    key("Control+Enter")
    page.wait_for_selector(".mark")
    key("k")
    page.wait_for_selector("#pick-free")
    write("Ada")
    key("Enter")
    tally(page, "0 of")
    until(page, "document.querySelector('#panel-head')?.textContent === 'Aspirin'")
    key("x")
    until(page, "document.querySelector('#panel-head')?.textContent === 'headache'")
    key("s")
    page.wait_for_selector(".mode strong")
    key("Shift+ArrowLeft")
    key("1")  # Chemical
    until(page, "document.querySelector('#panel-head')?.textContent === 'severe headache'")
    key("e")
    page.wait_for_selector("#export-decisions:focus")
    assert "nobody decided" in page.inner_text("#export-state"), "pain is open"
    with page.expect_download() as got:
        key("Enter")
    assert done <= 12
    place = tmp_path / got.value.suggested_filename
    got.value.save_as(place)
    (found,) = [
        one
        for one in read(place)
        if one.text.startswith("Aspirin helps against severe headache. The word")
    ]
    assert [(one.type, one.text, one.source) for one in found] == [
        ("Chemical", "severe headache", GOLD)
    ]
    for kind, name in (
        ("decisions:csv", "decisions.csv"),
        ("rules:tsv", "curation.tsv"),
        ("tasks:label-studio", "tasks.label-studio.json"),
    ):
        page.select_option("#export-curated", kind)
        with page.expect_download() as got:
            page.click("#export-decisions")
        assert got.value.suggested_filename == name
    with page.expect_download() as got:
        page.click("#export-sheet")
    assert got.value.suggested_filename == "decisions.xlsx"
    assert "Not in this file" not in page.inner_text(".loss"), "open mentions are rows"


def test_spans_are_changed_and_drawn_with_the_mouse(opened: Opened, shown: Standing) -> None:
    given = document("mouse")
    given["mentions"][2]["links"] = [{"id": "1", "ontology": "X", "curie": "X:1"}]
    page = opened(given, curator="Ada", fails="404")  # no pack has the concept
    page.click("#curate")
    tally(page, "0 of 5")
    page.locator(".mark", has_text="headache").click()
    page.get_by_role("button", name="Span", exact=True).click()
    page.get_by_role("button", name="Start back").click()
    page.get_by_role("button", name="Save").click()
    tally(page, "1 of 5")
    page.get_by_role("button", name="Span", exact=True).click()
    draw(page, "headache,")  # also with what is around the words
    until(page, "document.querySelector('.mode strong').textContent === 'headache,'")
    page.get_by_role("button", name="End back").click()
    until(page, "document.querySelector('.mode strong').textContent === 'headache'")
    page.get_by_role("button", name="1 Chemical").click()
    until(page, "document.querySelector('#panel-head')?.textContent === 'headache'")
    draw(page, " and ")
    page.get_by_role("button", name="New mention").click()
    page.get_by_role("button", name="2 Disease").click()
    tally(page, "2 of 6")
    made = [one["edits"][0]["after"] for one in steps(shown, "mouse")]
    start = TEXT.index("headache")
    assert made[0] == {
        "spans": [[start - 7, start + 8]],
        "type": "Disease",
        "links": given["mentions"][2]["links"],
    }
    assert made[1] == {"spans": [[start, start + 8]], "type": "Chemical"}, (
        "a concept goes with its type"
    )
    assert made[2]["spans"] == [[TEXT.index("and"), TEXT.index("and") + 3]]


def test_keys_decide_about_nothing_else_while_a_range_is_marked(
    opened: Opened, shown: Standing
) -> None:
    page = opened(document("marked"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    press(page, "i", "x", "a", "Shift+A", "g", "f")  # the word after Aspirin, which is chosen
    saved(page)
    assert steps(shown, "marked") == []
    press(page, "t")
    page.locator("dialog .choice", has_text="Disease").press("Enter")
    (step,) = made(shown, "marked", 1)
    assert [edit["after"] for edit in step["edits"]] == [{"spans": [[10, 12]], "type": "Disease"}]
    page.locator(".mark", has_text="caffeine").click()
    press(page, "s", "x")
    page.locator(".mark", has_text="headache").click()
    press(page, "t")  # of the marked one, although another one is chosen
    page.locator("dialog .choice", has_text="Chemical").press("Enter")
    _, second = made(shown, "marked", 2)
    start = TEXT.index("caffeine")
    assert [edit["after"]["spans"] for edit in second["edits"]] == [[[start, start + 8]]]
    assert edits([second]) == [["Chemical"]]


def test_a_mention_that_was_added_is_chosen_beside_a_longer_one(
    opened: Opened, shown: Standing
) -> None:
    page = opened(document("nested"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    for name, count in (("severe headache", 6), ("severe", 7)):
        draw(page, name)
        press(page, "i", "2")
        tally(page, f"{count - 5} of {count}")
    press(page, "x")
    last = made(shown, "nested", 3)
    assert last[2]["edits"] == [{"item": last[1]["edits"][0]["item"], "after": None}]


def test_a_selection_that_ends_beside_the_text_is_cut_to_it(opened: Opened) -> None:
    page = opened(document("beside"), curator="Ada")
    press(page, "k")
    tally(page, "0 of 5")
    left, top, right, bottom = place(page, "not.")
    page.mouse.move(left + 1, top)
    page.mouse.down()
    page.mouse.move(right + 20, bottom + 300, steps=6)
    page.mouse.up()
    press(page, "i")
    assert page.inner_text(".mode strong") == "not."
    press(page, "Escape")
    page.mouse.click(*place(page, "for")[:2], click_count=3)
    press(page, "i")
    assert page.inner_text(".mode strong") == TEXT


def draw(page: Page, words: str) -> None:
    """Draws over words of the text with the mouse, once they stand still."""
    box, before = place(page, words), None
    while box != before:
        page.wait_for_timeout(50)
        box, before = place(page, words), box
    page.mouse.move(box[0] + 1, box[1])
    page.mouse.down()
    page.mouse.move(box[2] - 1, box[3], steps=6)
    page.mouse.up()


def place(page: Page, words: str) -> list[float]:
    """Where words of the text begin and end on the screen, in pixels."""
    found: list[float] = page.evaluate(
        """words => {
            const walk = document.createTreeWalker(document.querySelector("#sheet"), NodeFilter.SHOW_TEXT);
            const nodes = [];
            while (walk.nextNode()) nodes.push(walk.currentNode);
            const at = nodes.map(node => node.data).join("").indexOf(words);
            const place = unit => {
                for (const node of nodes) {
                    if (unit <= node.data.length) return [node, unit];
                    unit -= node.data.length;
                }
            };
            const range = new Range();
            range.setStart(...place(at)); range.setEnd(...place(at + words.length));
            const boxes = [...range.getClientRects()];
            const [first, last] = [boxes[0], boxes.at(-1)];
            return [first.left, first.top + 8, last.right, last.top + 8];
        }""",
        words,
    )
    return found


def test_undoing_takes_back_what_is_ones_own(opened: Opened, shown: Standing) -> None:
    ada = opened(document("own"), curator="Ada")
    press(ada, "k")
    tally(ada, "0 of 5")
    press(ada, "x")
    tally(ada, "2 of 5")
    bob = opened(document("own"), curator="Bob", fails="409")
    press(bob, "k")
    tally(bob, "2 of 5")
    press(bob, "z")  # nothing of his
    until(bob, "document.querySelector('#status').textContent.includes('nothing of yours')")
    press(bob, "a")
    tally(bob, "3 of 5")
    cid = opened(curator="Ada")  # in another browser: she sees what Bob decided
    cid.click("#resume")
    cid.locator(".doc", has_text="own").click()
    tally(cid, "3 of 5")
    press(cid, "z")
    tally(cid, "1 of 5")
    made = steps(shown, "own")
    assert [one.get("undoes") for one in made] == [None, None, made[0]["number"]]
    press(cid, "Shift+Z")
    tally(cid, "3 of 5")


def test_what_is_left_is_found_and_said(opened: Opened) -> None:
    page = opened(document("left"), curator="Ada")
    press(page, "k")
    until(page, "document.querySelector('#status').textContent.includes('You curate as Ada')")
    press(page, "n", "n", "n", "n")  # the last one
    press(page, "x")
    # from the beginning again
    until(page, "document.querySelector('#panel-head')?.textContent === 'Aspirin'")
    press(page, "g")
    until(
        page,
        "document.querySelector('#status').textContent.includes('4 mentions that nobody decided "
        "about')",
    )
    press(page, "Shift+A", "j")
    until(
        page, "document.querySelector('#status').textContent.includes('All mentions are decided')"
    )
    page.click("#who")
    page.keyboard.type("Bob")
    press(page, "Enter")
    until(page, "document.querySelector('#who').textContent.includes('Bob')")


def test_a_service_that_keeps_no_decisions_says_how_it_would(opened: Opened) -> None:
    page = opened()
    page.route("**/v1/curation", lambda route: route.fulfill(json={"open": False, "documents": 0}))
    page.reload()
    page.wait_for_selector("#pipelines option", state="attached")
    load(page, document("reading"))
    press(page, "k")
    until(page, "document.querySelector('#status').textContent.includes('--curation')")


def test_offsets_are_code_points_in_any_script(opened: Opened, shown: Standing) -> None:
    text = "👩‍🔬 قال إن أسبرين يفيد 𝒜spirin e\u0301tude \u202eevil\u202c end"
    mentions = [
        {"spans": [[text.index("أ"), text.index("أ") + 6]], "type": "Chemical", "source": "m"}
    ]
    page = opened({"id": "scripts", "text": text, "mentions": mentions}, curator="Ada")
    press(page, "k")
    until(page, "document.querySelector('#panel-head')?.textContent === 'أسبرين'")
    press(page, "s", "ArrowRight", "Enter")
    until(page, "document.querySelector('#panel-head')?.textContent === 'أسبرين يفيد'")
    press(page, "i", "1")
    until(page, "document.querySelector('#panel-head')?.textContent === '𝒜spirin'")
    press(page, "i", "1")
    until(page, "document.querySelector('#panel-head')?.textContent === 'e\u0301tude'")
    spans = [one["edits"][0]["after"]["spans"][0] for one in steps(shown, "scripts")]
    assert [text[start:end] for start, end in spans] == ["أسبرين يفيد", "𝒜spirin", "e\u0301tude"]


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
    region = {
        "type": "labels",
        "value": {"start": 2, "end": 9, "text": "Aspirin", "labels": ["Chemical"]},
    }
    task = {
        "data": {"text": TEXT},
        "meta": {"fascicle": {"id": "tasked"}},
        "annotations": [{"result": [region]}],
    }
    page.set_input_files(
        "input[aria-label='File with decisions']",
        {"name": "tasks.json", "mimeType": "", "buffer": json.dumps([task]).encode()},
    )
    until(page, "document.querySelector('#status').textContent.includes('1 decision')")
    assert len(steps(shown, "tasked")) == 1
    page.click("#resume")  # an import is a step like others: it can be undone
    page.locator(".doc", has_text="tasked").click()
    tally(page, "1 of 1")
    press(page, "z")
    tally(page, "0 of 0")
    press(page, "Shift+Z")
    tally(page, "1 of 1")


def test_two_texts_with_one_name_are_refused(opened: Opened) -> None:
    page = opened(document("twice"), curator="Ada", fails="409")
    press(page, "k")
    tally(page, "0 of 5")
    load(page, {"id": "twice", "text": "Another text."})
    until(page, "document.querySelector('#sheet').textContent === 'Another text.'")
    press(page, "k")
    until(page, "document.querySelector('#status').textContent.includes('another text')")
    assert page.get_attribute("#curate", "aria-pressed") == "false"


def test_a_concept_is_found_as_one_types(opened: Opened, shown: Standing) -> None:
    page = opened(document("searched"), curator="Ada")
    press(page, "k")
    until(page, "document.querySelector('#status').textContent.includes('You curate as Ada')")
    press(page, "c")
    page.fill("#pick-free", "aspirni")  # one slip
    page.wait_for_selector("[aria-label=Found] .choice")
    told = page.text_content("[aria-label=Found] .choice") or ""
    assert "Aspirin" in told
    assert "MESH:D001241" in told
    assert "MeSH" in told or "mesh" in told.lower()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    tally(page, "2 of 5")
    (step,) = steps(shown, "searched")
    assert {edit["after"]["links"][0]["curie"] for edit in step["edits"]} == {"MESH:D001241"}


def test_a_concept_that_no_pack_has_or_of_another_type_asks_once_and_is_marked(
    opened: Opened, shown: Standing
) -> None:
    page = opened(document("doubted"), curator="Ada", fails="404")
    press(page, "k")
    for curie, said in (("MESH:D99999999", "No pack"), ("MESH:D003920", "of the type Disease")):
        press(page, "c")
        page.fill("#pick-free", curie)
        page.keyboard.press("Enter")
        until(
            page,
            "said => document.querySelector('dialog [role=status]')?.textContent.includes(said)",
            said,
        )
        assert all(
            not one.get("edits") or said == "of the type Disease" for one in steps(shown, "doubted")
        )
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog", state="detached")
        until(
            page,
            "said => document.querySelector('#panel .notice.bad')?.textContent.includes(said)",
            said,
        )
    saved(page)
    found = [
        edit["after"]["links"][0]["curie"]
        for step in steps(shown, "doubted")
        for edit in step["edits"]
    ]
    assert set(found) == {"MESH:D99999999", "MESH:D003920"}


def test_a_reload_comes_back_to_the_document_and_the_mention(
    opened: Opened, shown: Standing
) -> None:
    page = opened(document("address-a"), document("address b&c=😀#"), curator="Ada")
    press(page, "k")
    until(page, "document.querySelector('#status').textContent.includes('You curate as Ada')")
    press(page, "]", "j", "j", "j")
    chosen = "document.querySelector('#panel h2')?.textContent"
    until(page, f"{chosen} === 'caffeine'")
    page.reload()
    until(page, "document.querySelector('#heading h2')?.textContent.startsWith('address b')")
    until(page, f"{chosen} === 'caffeine'")
    press(page, "x")
    until(page, "document.querySelector('.tally')?.textContent.startsWith('1 of 5')")
    saved(page)
    (step,) = steps(shown, "address%20b%26c%3D%F0%9F%98%80%23")
    assert [edit["after"] for edit in step["edits"]] == [None]
    assert json.loads(step["edits"][0]["item"])[2] == [
        [TEXT.index("caffeine"), TEXT.index("caffeine") + 8]
    ]
