"""Names in the page: why one is found, what a row changes in open documents, keep and undo, by keys
alone; in the browser, and on a service with decisions.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from standing import Standing, standing
from tests.serving.page.browsing import Opened, opener, press, rest, until
from tests.serving.page.project import ROLES, Team
from tests.serving.page.test_safety import overflow
from tests.support.axe import violations

from fascicle.serving.server import PipelineOpener
from fascicle.serving.tokens import add_token, read_tokens
from fascicle.settings.serving import Project, ServeSettings
from fascicle.terms.curation import read_rules

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
TEXT = {"id": "a", "text": "Lithium can cause tremor, or a shaky upset.", "mentions": []}


@pytest.fixture(scope="module")
def shown(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service whose rows no test of another module keeps."""
    settings = ServeSettings(curation=str(tmp_path_factory.mktemp("rows") / "decisions.sqlite"))
    with standing({"small": PipelineOpener(given=str(small))}, settings) as service:
        yield service


@pytest.fixture(scope="module")
def without(small: Path) -> Iterator[Standing]:
    """A service that keeps no decisions."""
    with standing({"small": PipelineOpener(given=str(small))}, ServeSettings()) as service:
        yield service


@pytest.fixture
def alone(browser: Browser, without: Standing) -> Iterator[Opened]:
    """Opens the page of a service that keeps no decisions."""
    yield from opener(browser, without)


@pytest.fixture(scope="module")
def members(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A service of a project, whose pipeline has a pack."""
    folder = tmp_path_factory.mktemp("members")
    tokens = {name: add_token(folder / "tokens.json", name, role) for name, role in ROLES.items()}  # type: ignore[arg-type]
    settings = ServeSettings(
        curation=str(folder / "decisions.sqlite"),
        tokens=read_tokens(folder / "tokens.json"),
        project=Project(name="Trial", curators=("Ada", "Ben")),
        open_page=True,
    )
    with standing({"small": PipelineOpener(given=str(small))}, settings) as service:
        yield Team(service, tokens)


def silence(page: Page, surface: str) -> None:
    """Keeps a row that silences a name."""
    page.fill("#names-name", surface)
    press(page, "Enter")
    page.wait_for_selector("#names-about .link")
    page.select_option("#names-action", "ner_off")
    page.click("#names-try")
    page.wait_for_selector("#names-keep")
    page.click("#names-keep")


def kept(page: Page, words: str) -> None:
    """Waits until the list of rows has some words."""
    until(page, "words => document.getElementById('names-rows').textContent.includes(words)", words)


@pytest.mark.parametrize("width", [375, 1280])
def test_rows_of_a_project_are_kept_on_the_service(
    browser: Browser, members: Team, axe: str, width: int, tmp_path: Path
) -> None:
    opening = opener(browser, members.service)
    open_page = next(opening)
    ada = open_page(TEXT, token=members.tokens["Ada"], width=width)
    ada.click("#names")
    silence(ada, "Tremor")
    kept(ada, "1 row kept on this service")
    kept(ada, "kept by Ada, 20")
    assert violations(ada, axe) == []
    assert not overflow(ada)

    ben = open_page(TEXT, token=members.tokens["Ben"], width=width)
    ben.click("#names")
    kept(ben, "ner_off · Tremor")
    assert ben.locator("#names-rows button", has_text="Undo").count() == 0
    silence(ben, "Pain")
    kept(ben, "2 rows kept on this service")
    assert ben.locator("#names-rows button", has_text="Undo").count() == 1

    rea = open_page(token=members.tokens["Rea"], width=width)
    rea.click("#names")
    kept(rea, "2 rows kept on this service")
    with rea.expect_download() as loading:
        rea.click("#names-save")
    loading.value.save_as(tmp_path / "rules.tsv")
    rules = read_rules([str(tmp_path / "rules.tsv")])
    assert [(rule.action, rule.surface, rule.note[:11]) for rule in rules] == [
        ("ner_off", "Tremor", "kept by Ada"),
        ("ner_off", "Pain", "kept by Ben"),
    ]
    undo = rea.locator("#names-rows button", has_text="Undo").first
    undo.click()
    kept(rea, "1 row kept")
    undo.click()
    until(rea, "!document.getElementById('names-rows').textContent")
    assert violations(rea, axe) == []
    next(opening, None)

    steps = members.ask("Rea", "GET", "/v1/curation/names").json["steps"][-4:]
    assert [step["who"] for step in steps] == ["Ada", "Ben", "Rea", "Rea"]
    assert [step.get("undoes") for step in steps[2:]] == [step["number"] for step in steps[:2]]


def test_rows_that_others_keep_meanwhile_are_seen(browser: Browser, members: Team) -> None:
    opening = opener(browser, members.service)
    open_page = next(opening)
    ada = open_page(TEXT, token=members.tokens["Ada"], fails="409")
    ada.click("#names")
    ada.fill("#names-name", "Tremor")
    press(ada, "Enter")
    ada.select_option("#names-action", "ner_off")
    ada.click("#names-try")
    ada.wait_for_selector("#names-keep")
    ben = open_page(TEXT, token=members.tokens["Ben"])
    ben.click("#names")
    silence(ben, "Pain")
    kept(ben, "1 row kept")
    ada.click("#names-keep")
    ada.wait_for_selector("#names-changes .notice")
    assert "others have decided about names" in ada.inner_text("#names-changes")
    ada.click("#names-try")
    ada.wait_for_selector("#names-keep")
    ada.click("#names-keep")
    kept(ada, "2 rows kept")
    next(opening, None)


def test_who_keeps_rows_is_asked_where_tokens_have_no_names(opened: Opened) -> None:
    page = opened(TEXT)
    page.click("#names")
    silence(page, "Tremor")
    page.wait_for_selector("#pick-free")
    press(page, "Escape")
    page.wait_for_selector("#names-changes .notice")
    assert "nobody said who curates" in page.inner_text("#names-changes")
    silence(page, "Tremor")
    page.wait_for_selector("#pick-free")
    page.fill("#pick-free", "Eve")
    press(page, "Enter")
    kept(page, "kept by Eve, 20")
    page.locator("#names-rows button", has_text="Undo").click()
    until(page, "!document.getElementById('names-rows').textContent")


@pytest.mark.parametrize("width", [375, 1280])
def test_a_name_is_added_seen_kept_and_undone(
    alone: Opened, axe: str, width: int, tmp_path: Path
) -> None:
    page = alone(TEXT, width=width)
    page.locator("#text").click()
    press(page, "Shift+N")
    page.keyboard.type("shaky upset")
    press(page, "Enter")
    page.wait_for_selector("#names-action")
    assert "is not found by its name: no name of the pack is spelled like it" in page.inner_text(
        "#names-about"
    )
    assert violations(page, axe) == []
    assert not overflow(page)

    page.locator("#names-try").focus()
    press(page, "Enter")
    page.wait_for_selector("#pick-free")
    page.fill("#pick-free", "tremor")
    page.wait_for_selector("[aria-label=Found] button")
    page.locator("[aria-label=Found] button").first.click()
    page.wait_for_selector("#names-count")
    assert "1 open document: 1 appears, 0 vanishes" in page.inner_text("#names-count")
    assert "or a [shaky upset]." in page.inner_text("#names-changes")
    assert violations(page, axe) == []
    assert not overflow(page)

    press(page, "Enter")  # the focus is on Keep
    kept(page, "1 row kept in this browser")
    page.locator("#names-why").click()
    until(
        page, "document.getElementById('names-about').textContent.includes('is found by its name.')"
    )
    with page.expect_download() as loading:
        page.click("#names-save")
    loading.value.save_as(tmp_path / "rules.tsv")
    header, row = (tmp_path / "rules.tsv").read_text().splitlines()
    assert header == "action\tsurface\tsource\tconcept\tcase\tnote"
    assert row.startswith("add\tshaky upset\t\tMESH:")
    page.locator("#names-rows button", has_text="Undo").click()
    until(page, "!document.getElementById('names-rows').textContent")


def test_a_name_is_silenced_and_the_change_discarded(opened: Opened) -> None:
    page = opened(TEXT)
    page.click("#names")
    page.fill("#names-name", "tremor")
    press(page, "Enter")
    page.wait_for_selector("#names-about .link")
    assert "is found by its name." in page.inner_text("#names-about")
    page.click("#names-try")
    page.wait_for_selector("#names-count")
    assert "1 vanishes" in page.inner_text("#names-count")
    page.click("#names-discard")
    assert page.inner_text("#names-changes") == ""
    assert page.inner_text("#names-rows") == ""


@pytest.mark.parametrize("width", [375, 1280])
def test_the_table_is_sorted_by_the_words_around(opened: Opened, axe: str, width: int) -> None:
    mentions = [
        {"spans": [[at, at + 7]], "type": "Chemical", "score": 0.5, "source": "m"} for at in (0, 21)
    ]
    text = "Aspirin was tested. \nAspirin and\nothers."
    page = opened({"id": "a", "text": text, "mentions": mentions}, width=width)
    press(page, "v")
    page.click("[data-column=around] button")
    rows = page.locator(".grid-row > :last-child")
    assert [" ".join(row.split()) for row in rows.all_text_contents()] == [
        "Aspirin was tested. [Aspirin] and others.",
        "[Aspirin] was tested. Aspirin and others.",
    ]
    assert violations(page, axe) == []
    assert not overflow(page)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with texts, one of them below it, and a file that cannot be read."""
    folder = tmp_path / "notes"
    (folder / "below").mkdir(parents=True)
    for at in range(250):
        (folder / f"n{at}.txt").write_text(f"Case {at}: a shaky upset, and no tremor.", "utf-8")
    (folder / "below" / "ä.txt").write_text("Another shaky upset", "utf-8")
    (folder / "letter.pdf").write_bytes(b"no pdf")
    return folder


def add_shaky_upset(page: Page) -> None:
    """Asks to try a name of tremor on a folder, by keys alone."""
    page.locator("#text").click()
    press(page, "Shift+N")
    page.keyboard.type("shaky upset")
    press(page, "Enter")
    page.wait_for_selector("#names-action")
    page.locator("#names-folder").focus()
    press(page, "Enter")
    name_tremor(page)


def name_tremor(page: Page) -> None:
    page.wait_for_selector("#pick-free")
    page.fill("#pick-free", "tremor")
    page.wait_for_selector("[aria-label=Found] button")
    press(page, "Enter")


@pytest.mark.parametrize("width", [375, 1280])
def test_a_name_is_tried_on_a_folder(
    opened: Opened, axe: str, width: int, notes: Path, tmp_path: Path
) -> None:
    page = opened(TEXT, width=width, curator="Ada")
    add_shaky_upset(page)
    page.wait_for_selector("#names-choose-folder")
    assert violations(page, axe) == []
    assert not overflow(page)
    until(page, "document.activeElement.id === 'names-choose-folder'")
    with page.expect_file_chooser() as choosing:
        page.keyboard.press("Enter")
    choosing.value.set_files(notes)
    page.wait_for_selector("#names-count")
    assert page.inner_text("#names-count") == (
        "251 texts of notes: 251 appears, 0 vanishes, 0 other link."
    )
    problems = page.locator("#names-changes .notice").all_inner_texts()
    assert problems[0] == "1 file or text could not be read."
    assert problems[1].startswith("notes/letter.pdf: the file is damaged")
    changes = page.locator("#names-changes li")
    assert "Case 0: a [shaky upset], and no tremor." in changes.nth(1).inner_text()
    assert changes.count() == 200
    page.click("#names-more")
    assert changes.count() == 251
    assert page.locator("#names-more").is_hidden()
    assert violations(page, axe) == []
    assert not overflow(page)
    with page.expect_download() as loading:
        page.click("#names-save-changes")
    loading.value.save_as(tmp_path / "changes.tsv")
    header, *rows = (tmp_path / "changes.tsv").read_text("utf-8").splitlines()
    assert header.split("\t")[:4] == ["change", "surface", "words", "document"]
    assert len(rows) == 251

    page.locator("#names-keep").focus()
    press(page, "Enter")
    kept(page, "1 row kept")
    page.select_option("#names-action", "ner_off")  # the service has the texts
    page.fill("#names-name", "tremor")
    page.click("#names-why")
    page.wait_for_selector("#names-about .link")
    page.select_option("#names-action", "ner_off")
    page.click("#names-folder")
    page.wait_for_selector("#names-count")
    assert "251 texts of notes: 0 appears, 250 vanishes" in page.inner_text("#names-count")
    page.click("#names-discard")
    page.locator("#names-rows button", has_text="Undo").click()
    until(page, "!document.getElementById('names-rows').textContent")


def test_texts_are_removed_when_the_page_is_left(
    browser: Browser, without: Standing, notes: Path
) -> None:
    opening = opener(browser, without)
    page = next(opening)(TEXT)
    add_shaky_upset(page)
    with page.expect_file_chooser() as choosing:
        page.click("#names-choose-files")
    choosing.value.set_files([notes / "n1.txt", notes / "n2.txt"])
    page.wait_for_selector("#names-count")
    assert len(without.ask("GET", "/v1/jobs").json["jobs"]) == 1
    page.reload()
    page.wait_for_selector("#pipelines option", state="attached")
    rest(page)
    assert without.ask("GET", "/v1/jobs").json["jobs"] == []
    # a job that somebody cancels elsewhere ends, too
    message = page.evaluate("""async () => {
        const { Trial } = await import("/page/code/folder.js");
        const { service } = await import("/page/code/service.js");
        service.jobs.about = async () => ({ status: "cancelled" });
        return new Trial(() => {}).follow({ id: "a" }, () => "").catch((error) => error.message);
    }""")
    assert message == "The job was cancelled."
    next(opening, None)


def test_texts_that_the_service_has_no_more_are_asked_for_again(
    browser: Browser, without: Standing, notes: Path
) -> None:
    opening = opener(browser, without)
    page = next(opening)(TEXT, fails="404")
    add_shaky_upset(page)
    with page.expect_file_chooser() as choosing:
        page.click("#names-choose-files")
    choosing.value.set_files([notes / "n1.txt", notes / "n2.txt"])
    page.wait_for_selector("#names-count")
    assert page.inner_text("#names-count").startswith("2 texts: 2 appears")
    for job in without.ask("GET", "/v1/jobs").json["jobs"]:
        assert job["kind"] == "texts"
        without.ask("DELETE", f"/v1/jobs/{job['id']}")
    page.click("#names-folder")
    name_tremor(page)
    page.wait_for_selector("#names-again")
    assert "does not have these texts any more" in page.inner_text("#names-changes")
    page.click("#names-again")
    with page.expect_file_chooser() as choosing:
        page.click("#names-choose-files")
    choosing.value.set_files(notes / "letter.pdf")
    page.wait_for_selector("#names-changes .notice")
    assert "letter.pdf: the file is damaged" in page.inner_text("#names-changes")
    page.click("#names-again")
    with page.expect_file_chooser() as choosing:
        page.click("#names-choose-folder")
    choosing.value.set_files(notes)
    page.click("#names-cancel")
    page.wait_for_selector("#names-changes .notice")
    assert "Nothing was tried." in page.inner_text("#names-changes")
    next(opening, None)


def test_actions_are_about_the_explained_name_alone(alone: Opened) -> None:
    page = alone(TEXT)
    page.click("#names")
    page.fill("#names-name", "tremor")
    press(page, "Enter")
    page.wait_for_selector("#names-about .link")
    assert page.locator("#names-try").is_visible()
    page.fill("#names-name", "nausea")
    assert not page.locator("#names-try").is_visible()
    page.fill("#names-name", "tremor ")
    assert page.locator("#names-try").is_visible()


def test_rows_in_the_browser_are_taken_back_by_what_they_say(alone: Opened) -> None:
    page = alone(TEXT)
    stays = page.evaluate(
        """async () => {
            const { InBrowser } = await import("/page/code/keeping.js");
            const [first, second] = [new InBrowser(), new InBrowser()];
            for (const surface of "abc") await first.keep([{ surface }]);
            const [a, b] = await second.read();
            await first.undo(a);
            await second.undo(b);
            await second.undo(b);
            const stays = (await first.read()).map(({ rows }) => rows[0].surface);
            localStorage.clear();
            return stays;
        }"""
    )
    assert stays == ["c"]


def test_more_rows_than_the_service_tries_are_not_kept(alone: Opened) -> None:
    page = alone(TEXT)
    page.evaluate(
        """async () => {
            const { InBrowser } = await import("/page/code/keeping.js");
            const rows = Array.from({ length: 1_000 }, (_, at) => ({ action: "drop", surface: `=n${at}` }));
            await new InBrowser().keep(rows);
        }"""
    )
    page.click("#names")
    silence(page, "tremor")
    page.wait_for_selector("#names-changes .bad")
    assert page.inner_text("#names-changes").startswith("These would be 1,001 rows")
    page.evaluate("localStorage.clear()")


def test_a_new_question_ends_a_trial_for_good(alone: Opened, notes: Path, tmp_path: Path) -> None:
    page = alone(TEXT)
    add_shaky_upset(page)
    with page.expect_file_chooser() as choosing:
        page.click("#names-choose-files")
    choosing.value.set_files(sorted(notes.glob("*.txt")))
    page.wait_for_selector("#names-progress")
    page.select_option("#names-action", "ner_off")
    page.click("#names-try")
    page.wait_for_selector("#names-count")
    page.wait_for_timeout(1_000)  # in which the trial ends
    assert "1 open document" in page.inner_text("#names-count")


def test_the_table_of_changes_has_no_formulas(alone: Opened, tmp_path: Path) -> None:
    page = alone({**TEXT, "id": "=1+1"})
    page.click("#names")
    page.fill("#names-name", "tremor")
    press(page, "Enter")
    page.wait_for_selector("#names-about .link")
    page.click("#names-try")
    with page.expect_download() as loading:
        page.click("#names-save-changes")
    loading.value.save_as(tmp_path / "changes.tsv")
    header, row = (tmp_path / "changes.tsv").read_text("utf-8").splitlines()
    assert row.split("\t")[header.split("\t").index("document")] == "'=1+1"
