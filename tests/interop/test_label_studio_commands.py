"""``fascicle label-studio push`` and ``pull`` by the SDK of Label Studio, against the program
itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from tests.interop.test_label_studio import TOKEN, Ask, address, ask

from fascicle.cli import main
from fascicle.core.document import Document, Link, Mention
from fascicle.errors import InputError
from fascicle.formats import read, write
from fascicle.verbs import label_studio

pytest.importorskip("label_studio_sdk")
__all__ = ["address", "ask"]
TITLE = "push and pull"


@pytest.fixture
def url(address: str, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN)
    yield address
    for project in json.loads(ask("GET", "/api/projects/"))["results"]:
        if project["title"] == TITLE:
            ask("DELETE", f"/api/projects/{project['id']}/")


def linked(documents: list[Document]) -> list[Document]:
    """Documents with links, a layer of a model, and characters that other programs count as two."""
    link = (
        Link(
            id="D1",
            ontology="MESH",
            curie="MESH:D1",
            name="Flu",
            score=0.5,
            tier="exact",
            same=("DOID:1",),
        ),
    )
    extra = Document(id="with/emoji", text="a\U0001f600 flu & <cold>", meta={"year": "2024"})
    found = []
    for one in [*documents, extra]:
        at = one.text.rindex(" ") + 1
        of_model = Mention(
            ((at, len(one.text)),), "Disease", source="model", score=0.25, links=link
        )
        of_parts = Mention(
            ((0, 1), (at, at + 1), (at + 2, len(one.text))), "Disease", source="model", score=0.5
        )
        gold = tuple(msgspec.structs.replace(mention, links=link) for mention in one.mentions)
        gold += (msgspec.structs.replace(of_parts, source="gold", score=None, links=link),)
        found.append(one.having(mentions=(*gold, of_model, of_parts), words=None, sentences=None))
    return found


def test_offsets_and_identifiers_are_equal(
    url: str, documents: list[Document], tmp_path: Path
) -> None:
    wanted = linked(documents)
    write(tmp_path / "corpus.jsonl", wanted)
    push = ["label-studio", "push", TITLE, str(tmp_path / "corpus.jsonl"), "--url", url]
    assert main([*push, "--types", "Gene"]) == 0
    assert (
        main(["label-studio", "pull", TITLE, "--url", url, "-o", str(tmp_path / "back.jsonl")]) == 0
    )
    back = {one.id: one for one in read(tmp_path / "back.jsonl")}
    assert {name: (one.text, one.mentions, one.meta) for name, one in back.items()} == {
        one.id: (one.text, one.mentions, one.meta) for one in wanted
    }


def test_adding_that_fails_is_undone(
    url: str, documents: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx

    monkeypatch.setattr(label_studio, "_AT_ONCE", 1)
    with label_studio.connect_label_studio(url) as client:
        label_studio.push(documents[:1], TITLE, client=client, types=["Chemical", "Disease"])
        send, calls = client.projects.import_tasks, list[object]()

        def second_gets_no_answer(*given: object, **named: object) -> object:
            calls.append(given)
            if len(calls) > 1:
                raise httpx.ReadTimeout("no answer")
            return send(*given, **named)

        monkeypatch.setattr(client.projects, "import_tasks", second_gets_no_answer)
        with pytest.raises(InputError, match="d3"), label_studio.connect_label_studio(url):
            label_studio.push(documents[1:], TITLE, client=client, add=True)
        assert [one.id for one in label_studio.pull(TITLE, client=client)] == ["d1"]


def test_errors_are_sentences(
    url: str, documents: list[Document], tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    write(tmp_path / "corpus.jsonl", documents)
    corpus = str(tmp_path / "corpus.jsonl")

    def refused(*arguments: str) -> str:
        capfd.readouterr()
        assert main(["label-studio", *arguments]) == 2
        out, err = capfd.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert TOKEN not in err
        return err

    assert "no project" in refused("pull", "nobody made this", "--url", url)
    assert "reached" in refused("pull", TITLE, "--url", "http://127.0.0.1:1")
    # a longer title than it takes
    assert "refuses" in refused("push", "x" * 60, corpus, "--url", url)
    assert main(["label-studio", "push", TITLE, corpus, "--url", url]) == 0
    assert "--add" in refused("push", TITLE, corpus, "--url", url)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", TOKEN[::-1])
    assert "401" in refused("pull", TITLE, "--url", url)
    monkeypatch.delenv("LABEL_STUDIO_API_KEY")
    assert "LABEL_STUDIO_API_KEY" in refused("pull", TITLE, "--url", url)
