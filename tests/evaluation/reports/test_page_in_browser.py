"""The page in a real browser without a network: what is seen, clicked, filtered and printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.evaluation.made_reports import hostile_report, rich_report
from tests.support.words import broken_words

from fascicle.evaluation.reports.page.page import page as html
from fascicle.evaluation.reports.plots.report_pictures import report_pictures

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow
SHOWN = ".example:not([hidden])"
Opened = Callable[..., "Page"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A rich and a hostile page, with their pictures."""
    folder = tmp_path_factory.mktemp("pages")
    paths = {}
    for name, report in (("rich", rich_report()), ("hostile", hostile_report())):
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(html(report, pictures=report_pictures(report)), encoding="utf-8")
    return paths


@pytest.fixture
def opened(browser: Browser, files: dict[str, Path]) -> Iterator[Opened]:
    """Opens a page; at the end nothing but its file was asked for, and nothing was complained
    of.
    """
    contexts, asked, said = [], [], []

    def open_page(
        name: str = "rich", *, width: int = 1280, script: bool = True, dark: bool = False
    ) -> Page:
        context = browser.new_context(
            offline=True,
            viewport={"width": width, "height": 900},
            java_script_enabled=script,
            color_scheme="dark" if dark else "light",
        )
        contexts.append(context)
        page = context.new_page()
        # of milliseconds; how long a page takes depends on who else is at work
        page.set_default_timeout(600_000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(files[name].as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert {url.partition("#")[0] for url in asked} <= {path.as_uri() for path in files.values()}
    assert said == []


def overflow(page: Page) -> int:
    """How many pixels the page is wider than the screen."""
    return int(
        page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    )


@pytest.mark.parametrize("name", ["rich", "hostile"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("script", [True, False])
def test_nothing_is_wider_than_the_screen(
    opened: Opened, name: str, width: int, script: bool
) -> None:
    page = opened(name, width=width, script=script)
    if script:
        assert overflow(page) == 0
        assert page.evaluate("window.hacked") is None
        # What is wider than its place can be moved there: nothing else reaches over the right edge.
        outside = page.evaluate(
            "Array.from(document.querySelectorAll('main *')).filter(e => !e.closest('.wide, "
            ".drawing, svg')"
            " && e.getBoundingClientRect().right > innerWidth + 1).length"
        )
        assert outside == 0
    else:
        box = page.locator("main").bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= width


def test_without_a_script_all_examples_are_there_and_no_filters(opened: Opened) -> None:
    page = opened(script=False)
    assert page.locator(".example").count() > 20
    assert page.locator(".example").last.is_visible()
    assert not page.locator("#filters").is_visible()
    assert page.locator("#contents a").last.is_visible()


def counted(page: Page) -> int:
    """How many examples are shown; the line below the filters says the same."""
    shown = int(page.locator(SHOWN).count())
    assert page.locator("#shown").inner_text().startswith(f"{shown} of ")
    return shown


def test_filters(opened: Opened) -> None:
    page = opened()
    whole = counted(page)
    assert page.locator(".example").count() == whole > 20

    page.select_option("#filter-system", label="second")
    of_second = counted(page)
    assert 0 < of_second < whole
    assert of_second == page.locator('.example[data-system="1"]').count()
    assert not page.locator("#examples-0").is_visible()
    assert page.locator("#examples-1").is_visible()

    page.select_option("#filter-class", label="merged")
    merged = counted(page)
    assert merged == page.locator('.example[data-system="1"][data-class="merged"]').count() > 0
    assert page.locator("#examples-1 .kind:visible").count() == 1

    page.select_option("#filter-type", label="Chemical")
    assert counted(page) == 0
    assert "none fits" in page.locator("#shown").inner_text()

    page.click("#filters button")
    page.wait_for_function(f"document.querySelectorAll('{SHOWN}').length === {whole}")
    assert counted(page) == whole
    assert page.locator("#filter-class").input_value() == ""

    page.select_option("#filter-type", label="Organ")
    organs = counted(page)
    told = page.locator(f"{SHOWN} .told").all_inner_texts()
    assert len(told) == organs < whole
    assert all("Organ" in one for one in told)


def test_words_are_searched_in_texts_across_marks_and_in_any_case(opened: Opened) -> None:
    page = opened()
    page.fill("#filter-words", "LEFT and   right")  # a tag stands between these words
    found = counted(page)
    assert 0 < found < page.locator(".example").count()
    page.fill("#filter-words", "(no such words")
    assert counted(page) == 0
    page.keyboard.press("Enter")
    assert counted(page) == 0
    page.fill("#filter-words", "")
    assert counted(page) == page.locator(".example").count()


def test_links_of_the_contents_lead_to_their_sections(opened: Opened) -> None:
    page = opened()
    links = page.locator("#contents a")
    for at in range(links.count()):
        links.nth(at).click()
        target = links.nth(at).get_attribute("href")
        assert target is not None
        top = page.evaluate("s => document.querySelector(s).getBoundingClientRect().top", target)
        bottom = page.evaluate("document.documentElement.scrollHeight - scrollY - innerHeight")
        assert -1 <= top < 200 or bottom <= 1, target


@pytest.mark.parametrize(("shown", "hidden"), [("second", "#examples-0"), ("first", "#examples-1")])
def test_a_link_to_a_hidden_part_shows_it_and_leads_there(
    opened: Opened, shown: str, hidden: str
) -> None:
    page = opened()
    page.select_option("#filter-system", label=shown)
    assert not page.locator(hidden).is_visible()
    page.evaluate("scrollTo(0, 0)")
    page.locator(f'#contents a[href="{hidden}"]').click()
    page.wait_for_function("s => document.querySelector(s).offsetHeight > 0", arg=hidden)
    assert counted(page) == page.locator(".example").count()
    page.wait_for_function(
        "s => { const top = document.querySelector(s).getBoundingClientRect().top; return top >= "
        "-1 && top < 200 }",
        arg=hidden,
    )


@pytest.mark.parametrize("name", ["rich", "hostile"])
def test_a_narrow_screen_cuts_no_table(opened: Opened, name: str) -> None:
    page = opened(name, width=400)
    cells = page.evaluate(
        "Array.from(document.querySelectorAll('tbody td, tbody th'), e => "
        "[e.getBoundingClientRect().left,"
        " e.getBoundingClientRect().right, e.scrollWidth - e.clientWidth])"
    )
    assert len(cells) > 100
    assert all(left >= 0 and right <= 400 and over <= 1 for left, right, over in cells)
    labels = page.evaluate(
        "Array.from(document.querySelectorAll('tbody td'), e => getComputedStyle(e, "
        "'::before').content)"
    )
    assert all(label.strip('"') not in ("", "none") for label in labels)


@pytest.mark.parametrize("name", ["rich", "hostile"])
@pytest.mark.parametrize(("width", "cells"), [(700, "thead th"), (1280, "th, td")])
def test_no_short_word_of_a_table_is_broken(
    opened: Opened, name: str, width: int, cells: str
) -> None:
    assert broken_words(opened(name, width=width), cells=cells) == []


def contrast(first: str, second: str) -> float:
    """Of two colours as a browser gives them, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [True, False])
def test_it_is_read_in_the_dark_too(opened: Opened, dark: bool) -> None:
    page = opened(dark=dark)
    colour = "(s, p) => getComputedStyle(document.querySelector(s))[p]"

    def style(selector: str, name: str) -> str:
        return str(page.evaluate(f"([s, p]) => ({colour})(s, p)", [selector, name]))

    paper = style("html", "backgroundColor")
    assert contrast(paper, "rgb(0, 0, 0)" if dark else "rgb(255, 255, 255)") < 1.5
    for selector in (
        "p",
        ".means",
        "h2",
        ".gold .tag",
        ".predicted .tag",
        "tbody td",
        ".headline a",
    ):
        assert contrast(style(selector, "color"), paper) > 4.5, selector
    assert (
        contrast(style(".line.mention", "color"), style(".line.mention", "backgroundColor")) > 4.5
    )
    assert (
        contrast(style("#filters select", "color"), style("#filters select", "backgroundColor"))
        > 4.5
    )
    if dark:  # pictures are drawn with black lines
        assert style(".drawing", "backgroundColor") == "rgb(255, 255, 255)"


def test_the_answer_comes_first_and_the_errors_early(opened: Opened) -> None:
    page = opened()
    tops = [
        page.evaluate("s => document.querySelector(s).getBoundingClientRect().top", selector)
        for selector in (
            ".headline",
            ".lede",
            "#summary table",
            ".words",
            "#errors",
            "#examples",
            "#rules",
            "#system-0",
        )
    ]
    assert tops == sorted(tops)
    page.click(".headline a")
    assert (
        -1 <= page.evaluate("document.querySelector('#examples').getBoundingClientRect().top") < 200
    )


def bottoms(page: Page, kind: str) -> list[dict[str, Any]]:
    """Of the marks of one kind in the first gold text: lane, lower edge, and style of the line."""
    found: list[dict[str, Any]] = page.locator(f"{SHOWN} .said.gold").first.evaluate(
        "(e, kind) => Array.from(e.querySelectorAll('.' + kind), m => ({lane: getComputedStyle(m)"
        ".getPropertyValue('--lane'), bottom: m.getBoundingClientRect().bottom,"
        " line: getComputedStyle(m).borderBottomStyle, top: m.getBoundingClientRect().top}))",
        kind,
    )
    return found


def test_nested_and_discontinuous_mentions_are_seen(opened: Opened) -> None:
    page = opened()
    page.fill("#filter-words", "left and right ventricle")
    solid, dotted = bottoms(page, "line"), bottoms(page, "gap")
    assert {one["line"] for one in solid} == {"solid"}
    assert {one["line"] for one in dotted} == {"dotted"}
    assert len({one["lane"] for one in solid + dotted}) > 1
    first = min(one["top"] for one in solid)
    on_one_line = [one for one in solid if one["top"] < first + 10]
    edges = {one["lane"]: one["bottom"] for one in on_one_line}
    assert len(edges) > 1
    assert max(edges.values()) - min(edges.values()) >= 4
    tags = page.locator(f"{SHOWN} .said.gold").first.locator(".tag").all_inner_texts()
    assert any("part 1 of 2" in one for one in tags)
    assert any("part 2 of 2" in one for one in tags)
    style = "e => getComputedStyle(e).borderBottomStyle"
    assert page.locator(".said.predicted .line").first.evaluate(style) == "dashed"


def test_pictures_fit_and_have_names(opened: Opened) -> None:
    for width in (1280, 400):
        page = opened(width=width)
        sizes = page.evaluate(
            "Array.from(document.querySelectorAll('.drawing svg'), e => "
            "[e.getBoundingClientRect().width,"
            " e.getBoundingClientRect().height, e.parentElement.clientWidth, "
            "e.getAttribute('aria-label')])"
        )
        assert len(sizes) > 10
        for wide, high, place, label in sizes:
            assert 0 < wide <= place + 1
            assert high > 50
            assert label


def test_print_shows_all_examples_and_no_filters(opened: Opened) -> None:
    page = opened()
    page.select_option("#filter-system", label="second")
    page.emulate_media(media="print")
    assert not page.locator("#filters").is_visible()
    heights = page.evaluate(
        "Array.from(document.querySelectorAll('.example'), e => e.offsetHeight)"
    )
    assert len(heights) > 20
    assert min(heights) > 0
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert len(printed) > 50_000
