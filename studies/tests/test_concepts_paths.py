"""The study of ways in: every way gives one answer for a few texts, and a difference is counted."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from tests.linking.test_shipped import SHIPPED

from fascicle.core.document import Document, Mention
from fascicle.formats import write
from studies.concepts import paths
from studies.concepts.neutral import by_hash

pytestmark = pytest.mark.loopback

TEXTS = [
    Document(
        id="a",
        text="Follicle-stimulating hormone (FSH) was high.\nFSH rose in mice. Patients took TNF.",
    ),
    Document(id="b", text="Lithium can cause breast and ovarian cancer, or the TP53 gene."),
    Document(id="c", text="Nothing."),
]


@SHIPPED
@pytest.mark.parametrize("pair", ["biomed-fast=basic", "basic"])
def test_every_way_gives_one_answer(
    pair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "texts.jsonl", TEXTS, format="native")
    model, _, linker = pair.partition("=")
    asked = paths.Asked(tmp_path / "texts.jsonl", tmp_path, model, linker)
    found = paths.compared(asked)
    assert found["links"] > 4
    assert set(found["different"]) >= {"run", "serve", "Python"}
    assert not any(found["different"].values())
    if linker:
        first = paths.by_annotate(asked)
        assert paths.misjudged(asked, [_moved(one) for one in first]) == sum(
            bool(one.mentions) for one in first
        )


def _moved(document: Document) -> Document:
    """With other probabilities of links."""
    links = [
        tuple(msgspec.structs.replace(one, score=0.123) for one in each.links)
        for each in document.mentions
    ]
    changed = (
        msgspec.structs.replace(one, links=said, score=one.score)
        for one, said in zip(document.mentions, links, strict=True)
    )
    return msgspec.structs.replace(document, mentions=tuple(changed))


def test_any_difference_of_a_mention_counts(capsys: pytest.CaptureFixture[str]) -> None:
    mention = Mention(((0, 4),), "X", score=0.5, links=())
    one = Document(id="a", text="Some words", mentions=(mention,))
    for other in ({"score": 0.5000001}, {"type": "Y"}, {"spans": ((0, 3),)}, {"source": "b"}):
        changed = msgspec.structs.replace(
            one, mentions=(msgspec.structs.replace(mention, **other),)
        )
        assert paths.differing("way", [one, one], [one, changed]) == 1
    assert paths.differing("way", [one], [msgspec.structs.replace(one, events=())]) == 0
    assert "a" in capsys.readouterr().out


def test_texts_are_drawn_by_hash(fascicle_data: Path) -> None:
    found = paths.drawn(20)
    assert len({one.id for one in found}) == 20
    assert [one.id for one in found] == sorted((one.id for one in found), key=by_hash)
    assert paths.drawn(5) == found[:5]
