"""Whatever texts, names and links say: nothing of it runs; the page is usable by everyone, and
in every width.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from standing import Standing, standing
from tests.serving.page.browsing import Opened, press
from tests.support.axe import violations

from fascicle.serving.server import PipelineOpener
from fascicle.settings.choices import Choices
from fascicle.settings.serving import ServeSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
ATTACKS = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<svg/onload=window.hacked=1>",
    "javascript:window.hacked=1",
    "\"><iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
    "{{constructor.constructor('window.hacked=1')()}}",
    "</style><style>*{background:url(//evil.example)}</style>",
    "\u202egnitide\u202c",
)
TEXT = "\n".join(ATTACKS)


def hostile() -> dict[str, Any]:
    """A document in which every string of the format attacks."""
    mentions, at = [], 0
    for attack in ATTACKS:
        link = {
            "id": attack,
            "ontology": "X",
            "name": attack,
            "score": 0.5,
            "tier": "exact",
            "curie": "javascript:1",
        }
        mentions.append(
            {
                "spans": [[at, at + len(attack)]],
                "type": attack,
                "score": 0.5,
                "source": attack,
                "links": [link],
                "attributes": [[attack, attack]],
            }
        )
        at += len(attack) + 1
    return {"id": ATTACKS[1], "text": TEXT, "mentions": mentions}


def everything(page: Page) -> None:
    """Goes through all that shows strings of a document."""
    for _ in ATTACKS:
        press(page, "n")
    for key in ("w", "v", "v"):
        press(page, key)
    page.keyboard.press("/")
    page.keyboard.type("<img")
    page.keyboard.press("Escape")
    for key in ("m", "Escape", "e", "Escape", "?", "Escape"):
        press(page, key)


def test_no_string_of_a_document_runs(opened: Opened) -> None:
    page = opened(hostile(), {**hostile(), "id": ATTACKS[0]}, fails="Failed to load resource")
    everything(page)
    assert page.evaluate("window.hacked") is None
    assert page.locator("#sheet").evaluate("one => one.textContent") == TEXT
    assert (
        page.evaluate(
            "document.querySelectorAll('iframe, object, embed, #sheet script, #panel img').length"
        )
        == 0
    )
    links = page.evaluate("[...document.querySelectorAll('a')].map((one) => one.href)")
    assert [
        one for one in links if not one.startswith(("http://127.0.0.1", "https://bioregistry.io/"))
    ] == []


def test_names_of_the_service_do_not_run_either(opened: Opened) -> None:
    page = opened(hostile())
    found = page.evaluate(
        """async (attack) => {
            const { webLink, el, name } = await import("/page/code/dom.js");
            const made = [webLink(attack, attack), webLink("https://ok.example/" + attack, attack), name(attack)];
            document.body.append(...made);
            const refused = ["onclick", "href", "src", "srcdoc", "style"].map((key) => {
                try { el("a", { [key]: attack }); return false; } catch { return true; }
            });
            return [made.map((one) => one.tagName), refused];
        }""",
        "javascript:window.hacked=1//<img src=x onerror=window.hacked=1>",
    )
    assert found == [["BDI", "A", "BDI"], [True] * 5]
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None


def test_the_policy_allows_no_script_of_a_document(shown: Standing) -> None:
    reply = shown.ask("GET", "/")
    policy = reply.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert b"<script>" not in reply.content
    assert b" on" not in reply.content.replace(b" only", b"")
    assert b"style=" not in reply.content


TINY: dict[str, Any] = {
    "id": "tiny",
    "text": "Aspirin is for severe headache. " * 30,
    "mentions": [
        {
            "spans": [[0, 7]],
            "type": "Chemical",
            "score": 0.9,
            "source": "m",
            "links": [{"id": "", "nil": True}],
        },
        {"spans": [[15, 30]], "type": "Disease", "score": 0.4, "source": "m"},
        {
            "spans": [[22, 30]],
            "type": "Symptom",
            "score": 0.4,
            "source": "a-long-name-of-a-model-that-someone-trained",
        },
    ],
}


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_no_violation(opened: Opened, axe: str, dark: bool) -> None:
    page = opened(dark=dark, curator="Ada")
    wrong = [("start", found) for found in violations(page, axe)]
    page = opened(TINY, {**TINY, "id": "tiny 2"}, dark=dark, curator="Ada")
    for view, keys in (
        ("text", "nn"),
        ("table", "v"),
        ("keys", "v?"),
        ("export", "e"),
        ("curation", "ka"),
        ("type", "nt"),
    ):
        if page.locator("dialog").count():
            page.keyboard.press("Escape")
        for key in keys:
            page.keyboard.press(key)
            page.wait_for_timeout(400)
        wrong += [(view, found) for found in violations(page, axe)]
    assert wrong == []


@pytest.mark.parametrize("width", [320, 400, 1280, 2560])
def test_nothing_is_wider_than_the_screen(opened: Opened, width: int) -> None:
    long = {
        **TINY,
        "text": "x" * 3_000,
        "id": "i" * 300,
        "mentions": [{"spans": [[0, 2_000]], "type": "T" * 200}],
    }
    page = opened(width=width)
    assert overflow(page) <= 0
    page = opened(TINY, long, width=width, curator="Ada")
    for key in ("n", "]", "n", "v", "k"):
        press(page, key)
        assert overflow(page) <= 0, key


def overflow(page: Page) -> int:
    return int(
        page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    )


def test_a_token_is_asked_for_and_kept_for_the_tab_alone(browser: Browser, small: Path) -> None:
    token = "0123456789abcdef-secret"
    settings = ServeSettings(token=token, hosts=(), open_page=True)
    with standing(
        {"small": PipelineOpener(given=str(small), choices=Choices(links=False))}, settings
    ) as service:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{service.port}/")
        assert page.get_attribute("#pick-free", "type") == "password"
        page.fill("#pick-free", "another-token-than-its-own")
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[aria-label*='not valid']")
        page.fill("#pick-free", token)
        page.keyboard.press("Enter")
        page.wait_for_selector("#pipelines option", state="attached")
        assert page.inner_text("#status") == "", "nothing is left to say"
        page.fill("#given", "Aspirin is for headache.")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector(".mark")
        assert token not in page.evaluate(
            "JSON.stringify(localStorage) + document.cookie + location.href"
        )
        page.evaluate("sessionStorage.setItem('fascicle-token', 'withdrawn')")
        page.keyboard.press("o")
        page.fill("#given", "Aspirin is for headache.")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("dialog[aria-label*='not valid']")
        assert "not valid any more" in page.inner_text("#status")
        page.close()
