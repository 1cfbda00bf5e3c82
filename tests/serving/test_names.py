"""What a name is, and what rows of curation would change, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from standing import Reply, Standing

from fascicle.core import codec
from fascicle.core.document import Document
from fascicle.pipeline.loading import open_pipeline
from fascicle.serving.messages import TriedRules, TryRules
from fascicle.serving.work import PipelineWork
from fascicle.terms.curation import Curation, CurationRule
from fascicle.terms.pack import tried
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.tried import TriedPack

pytestmark = pytest.mark.loopback

TEXT = {"id": "a", "text": "Lithium can cause tremor, or a shaky upset."}


def ask(served: Standing, content: dict[str, Any]) -> Reply:
    return served.ask("POST", "/v1/names", content)


def test_a_name_is_explained(served: Standing) -> None:
    found = ask(served, {"name": "Tremors"}).json
    assert found["pack"].startswith("basic@2+")
    assert found["reason"] == ""
    assert found["why"]["terms"][0]["concept"]["label"].lower() == "tremor"
    assert found["changes"] == found["problems"] == []
    assert (
        ask(served, {"name": "a shaky upset"}).json["reason"]
        == "no name of the pack is spelled like it"
    )


def test_rows_show_what_they_change(served: Standing) -> None:
    concept = ask(served, {"name": "tremor"}).json["why"]["terms"][0]["concept"]["curie"]
    rows = [
        {"action": "add", "surface": "shaky upset", "concept": concept},
        {"action": "ner_off", "surface": "tremor"},
        {"action": "ner_off", "surface": "Tremor"},
        {"action": "add", "surface": "x y", "concept": "MESH:D999999"},
    ]
    found = ask(served, {"rows": rows, "documents": [TEXT]}).json
    added = [one for one in found["changes"] if one["change"] == "added"]
    assert [(one["surface"], one["document"]) for one in added] == [("shaky upset", "a")]
    assert added[0]["words"] == "Lithium can cause tremor, or a [shaky upset]."
    assert any("MESH:D999999 is in no source" in one for one in found["problems"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"rows": [{"action": "burn", "surface": "x"}]}, "'burn' is not known"),
        ({"rows": [{"action": "add", "surface": "x", "concept": "MESH:1"}]}, "not a CURIE"),
        ({"rows": [{"action": "drop"}]}, "needs a surface"),
        ({"rows": [{"acton": "drop", "surface": "x"}]}, "the column 'acton'"),
        ({"rows": [{"action": "drop", "surface": "x\ny"}]}, "is not a name"),
        ({"rows": [{"action": "drop", "surface": "x" * 1_001}]}, "1000"),
        ({"rows": [{"action": "drop", "surface": "x"}] * 1_001}, "1000"),
        ({"documents": [{"id": "a", "text": "x" * 20_001}]}, "documents[1]"),
    ],
)
def test_hostile_rows_are_refused(served: Standing, content: dict[str, Any], message: str) -> None:
    reply = ask(served, content)
    assert reply.status == 422
    assert message in reply.json["detail"]


def test_a_pipeline_without_a_pack_says_so(served: Standing) -> None:
    reply = served.ask("POST", "/v1/names?pipeline=poison", {"name": "x"})
    assert reply.status in (404, 422)


def test_portions_of_documents_share_the_tried_packs(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []

    def build(pack: Pack, rules: Curation) -> TriedPack:
        built.append(tuple(rule.surface for rule in rules.rules))
        return TriedPack(pack, rules)

    monkeypatch.setattr(tried, "TriedPack", build)
    before, rule = (CurationRule(action="ner_off", surface=name) for name in ("Pain", "Tremor"))
    with open_pipeline(small / "pipeline.toml") as pipeline:
        work = PipelineWork(pipeline, "small")
        for text in ("No tremor.", "A tremor and pain.", "Nothing."):
            raw = msgspec.Raw(codec.encode(Document(id="a", text=text)))
            order = TryRules(name="tremor", before=(before,), rules=(rule,), documents=(raw,))
            answer = work.do(order)
            assert isinstance(answer, TriedRules)
            assert answer.answer is not None
            changes = [change["change"] for change in answer.answer["changes"]]
            assert changes == ["removed"] * text.count("tremor")
    assert built == [("Pain",), ("Pain", "Tremor")]
