"""A service with a project of two curators and a reviewer, who decided about some documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standing import JSON, Reply, Standing, standing
from tests.serving.page.browsing import opener, until

from fascicle.serving.server import PipelineOpener
from fascicle.serving.tokens import add_token, read_tokens
from fascicle.settings.choices import Choices
from fascicle.settings.serving import Project, ServeSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TEXT = "Aspirin helps against headache, caffeine does not. BRCA1 is a gene."
ROLES = {"Ada": "curator", "Ben": "curator", "Rea": "reviewer"}
GUIDELINES = {
    "Chemical": "Names of drugs count.\nBrands too.",
    "": "Mark the longest name.",
    "constructor": "odd",
}


def span(words: str) -> list[list[int]]:
    return [[TEXT.index(words), TEXT.index(words) + len(words)]]


def document(name: str) -> dict[str, Any]:
    said = [
        ("Aspirin", "Chemical"),
        ("headache", "Disease"),
        ("caffeine", "Disease"),
        ("BRCA1", "Gene"),
    ]
    mentions = [
        {"spans": span(words), "type": type_, "score": 0.8, "source": "m"} for words, type_ in said
    ]
    return {"id": name, "text": TEXT, "mentions": mentions}


@dataclass
class Team:
    """A service with a project.

    Attributes:
        service: that stands.
        tokens: of each member.
    """

    service: Standing
    tokens: dict[str, str]

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Reply:
        headers = {**JSON, "Authorization": f"Bearer {self.tokens[who]}"}
        return self.service.ask(method, path, body, headers)

    def decide(self, who: str, name: str, said: dict[str, str | None]) -> None:
        """Decides about each mention of a document, and finishes it.

        Args:
            who: the curator.
            name: of the document.
            said: words -> type, or ``None`` to reject; what is not named is accepted.
        """
        told = self.ask(who, "GET", f"/v1/curation/document?id={name}").json
        edits = []
        for mention in told["document"]["mentions"]:
            words = TEXT[mention["spans"][0][0] : mention["spans"][0][1]]
            type_ = said.get(words, mention["type"])
            item = json.dumps(["m", mention["type"], mention["spans"]], separators=(",", ":"))
            edits.append(
                {"item": item, "after": type_ and {"spans": mention["spans"], "type": type_}}
            )
        after = 0
        for number, step in enumerate(({"edits": edits}, {"finished": True})):
            given = {
                "document": name,
                "id": f"{abs(hash((who, name, number))):032x}"[:32],
                "who": who,
                "after": after,
            }
            reply = self.ask(who, "POST", "/v1/curation/steps", {**given, **step})
            assert reply.status == 200, reply.content
            after = reply.json["steps"][0]["number"]

    @contextmanager
    def page(self, browser: Browser, who: str, **how: Any) -> Iterator[Page]:
        """Opens the page for a member, with the list of documents."""
        opening = opener(browser, self.service)
        page = next(opening)(token=self.tokens[who], **how)
        page.click("#resume")
        page.wait_for_selector("#sheet .block", state="attached")
        until(page, "document.querySelector('.tally') !== null")
        yield page
        next(opening, None)


@contextmanager
def team(folder: Path) -> Iterator[Team]:
    """A project with three documents; both curators have finished the first two, and differ."""
    (folder / "names.tsv").write_text("Chemical\tAspirin\n", encoding="utf-8")
    tokens = {name: add_token(folder / "tokens.json", name, role) for name, role in ROLES.items()}  # type: ignore[arg-type]
    project = Project(name="Trial", guidelines=GUIDELINES, curators=("Ada", "Ben"))
    settings = ServeSettings(
        curation=str(folder / "decisions.sqlite"),
        tokens=read_tokens(folder / "tokens.json"),
        project=project,
        open_page=True,
    )
    with standing(
        {"small": PipelineOpener(given=str(folder / "names.tsv"), choices=Choices(links=False))},
        settings,
    ) as service:
        made = Team(service, tokens)
        body = {
            "documents": [document(name) for name in ("first", "second", "third")],
            "who": "Rea",
        }
        reply = made.ask("Rea", "POST", "/v1/curation/documents", body)
        assert reply.status == 200, reply.content
        for name in ("first", "second"):
            made.decide("Ada", name, {})
            made.decide("Ben", name, {"caffeine": "Chemical", "BRCA1": None})
        yield made
