"""Results in Python: one line each, tables for notebooks and data frames, and shares throughout."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import fascicle
from fascicle.core.document import Document, Link, Mention, TextMention
from fascicle.core.results import cell_text, html_table, list_first
from fascicle.errors import UsageError

TEXT = "Lithium caused tremor."
LITHIUM = ((0, 7),)
TREMOR = ((15, 21),)


def _documents(count: int, source: str, *, tremors: int) -> list[Document]:
    """Documents with a right chemical, of which the first ones also have the disease."""
    mentions = [
        Mention(LITHIUM, "Chemical", source=source),
        Mention(TREMOR, "Disease", source=source),
    ]
    return [
        Document(id=f"d{at}", text=TEXT, mentions=tuple(mentions[: 1 + (at < tremors)]))
        for at in range(count)
    ]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {name: tmp_path / f"{name}.jsonl" for name in ("gold", "full", "half")}
    fascicle.write(paths["gold"], _documents(4, "gold", tremors=4))
    fascicle.write(paths["full"], _documents(4, "full", tremors=4))
    fascicle.write(paths["half"], _documents(4, "half", tremors=2))
    return paths


def test_scores_are_read_from_the_result() -> None:
    gold = _documents(4, "gold", tremors=4)
    result = fascicle.evaluate(gold, _documents(4, "m", tremors=2))
    # 6 of 8 gold mentions, and no wrong one: P 1, R 6/8, F1 2 * 6 / (8 + 6)
    assert (result.precision, result.recall) == (1.0, 0.75)
    assert result.f1 == pytest.approx(12 / 14)
    assert result.table() == [
        {"system": "the predictions", "type": "Chemical"}
        | {"precision": 1.0, "recall": 1.0, "f1": 1.0, "gold": 4, "predicted": 4},
        {"system": "the predictions", "type": "Disease"}
        | {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(4 / 6), "gold": 4, "predicted": 2},
        {"system": "the predictions", "type": "micro"}
        | {"precision": 1.0, "recall": 0.75, "f1": pytest.approx(12 / 14)}
        | {"gold": 8, "predicted": 6},
    ]
    assert "<td>0.8571</td>" in result._repr_html_()
    assert "f1 0.8571" in repr(result)
    assert result.systems[0].strict.f1 == result.f1
    assert result.systems[0].strict.table()[-1]["f1"] == result.f1


def test_several_systems_are_named(files: dict[str, Path]) -> None:
    result = fascicle.evaluate(files["gold"], [files["full"], files["half"]])
    assert [result[name].recall for name in ("full", "half")] == [1.0, 0.75]
    assert {row["system"] for row in result.table()} == {"full", "half"}
    with pytest.raises(UsageError, match=r"name one of full, half in \[\]"):
        _ = result.f1
    for types in ("Disease", ["Disease"], {"Disease": "Disease"}):
        chosen = fascicle.evaluate(files["gold"], files["half"], types=types)
        assert [row["type"] for row in chosen.table()] == ["Disease", "micro"]
        assert chosen.recall == 0.5
        compared = fascicle.compare(files["gold"], [files["full"], files["half"]], types=types)
        assert compared.table()[1]["recall"] == 0.5
    with pytest.raises(UsageError, match="a type without a name"):
        fascicle.evaluate(files["gold"], files["half"], types="")
    with pytest.raises(UsageError, match="there is no system 'third'; there are full, half"):
        _ = result["third"]


def test_what_is_undefined_is_none_in_a_table_and_a_dash_for_people() -> None:
    gold = _documents(2, "gold", tremors=0)
    nothing = [Document(id=document.id, text=TEXT) for document in gold]
    result = fascicle.evaluate(gold, nothing)
    assert result.table()[-1]["precision"] is None
    assert "precision -" in repr(result)
    assert "<td>-</td>" in result._repr_html_()


def test_a_comparison_is_a_table(files: dict[str, Path]) -> None:
    result = fascicle.compare(files["gold"], [files["full"], files["half"]])
    rows = {row["system"]: row for row in result.table()}
    assert rows["full"]["f1"] == 1.0
    assert (rows["full"]["right_alone"], rows["half"]["right_alone"]) == (2, 0)
    assert "<th>right_alone</th>" in result._repr_html_()
    assert "half: precision 1.0000, recall 0.7500" in repr(result)


def test_links_and_findings_are_tables(files: dict[str, Path]) -> None:
    mention = Mention(TREMOR, "Disease", links=(Link(id="D014202", ontology="MESH"),))
    gold = [Document(id="a", text=TEXT, mentions=(mention,))]
    other = Mention(TREMOR, "Disease", source="m", links=mention.links)
    links = fascicle.evaluate_links(gold, [Document(id="a", text=TEXT, mentions=(other,))])
    assert links.table()[0]["f1"] == 1.0
    found = fascicle.check(files["gold"])
    assert {row["code"] for row in found.table()} == {x.code for x in found.report.findings}


def test_each_result_is_short(files: dict[str, Path], tmp_path: Path) -> None:
    gold, full, half = (list(fascicle.read(path)) for path in files.values())
    many = [Document(id=f"{at}", text="word " * 50_000, mentions=()) for at in range(3)]
    (tmp_path / "names.tsv").write_text("Chemical\tlithium\n", encoding="utf-8")
    model = fascicle.load(tmp_path / "names.tsv")
    results: Sequence[Any] = [
        fascicle.evaluate(gold, full),
        fascicle.compare(files["gold"], [files["full"], files["half"]]),
        fascicle.combine([files["full"], files["half"]], "union"),
        fascicle.check(files["gold"]),
        fascicle.annotate(files["gold"], tmp_path / "out.jsonl", model=tmp_path / "names.tsv"),
        fascicle.write(tmp_path / "w.jsonl", many),
        fascicle.score(fascicle.layers(gold), fascicle.layers(half, source="half")),
        model,
        model.trace(TEXT),
        model(TEXT),
        *many,
    ]
    for result in results:
        assert len(repr(result)) < 300, repr(result)
        assert " at 0x" not in repr(result)
        assert "\n" not in repr(result)
    assert repr(model(TEXT)) == (
        "<Document 'text-1' 'Lithium caused tremor.': <Chemical 'Lithium' 0-7>>"
    )


def test_cells_and_lists_for_people() -> None:
    assert [cell_text(cell) for cell in (0.5, 1234, None, "a")] == ["0.5000", "1,234", "-", "a"]
    assert html_table([{"a<b": "<i>"}]) == (
        "<table><thead><tr><th>a&lt;b</th></tr></thead>"
        "<tbody><tr><td>&lt;i&gt;</td></tr></tbody></table>"
    )
    assert html_table([]) == "<table><thead><tr></tr></thead><tbody></tbody></table>"
    assert list_first(range(7)) == "0, 1, 2, 3, 4, 2 more"
    assert list_first([]) == ""


def test_completion_shows_what_a_mention_has() -> None:
    fields = {*Mention.__struct_fields__, "start", "end", "key", "rank", "text", "text_in"}
    assert fields <= set(dir(TextMention))


def test_an_argument_that_is_unknown_names_the_function() -> None:
    sentence = (
        r"^compare\(\) got an unexpected keyword argument 'mapp'; its arguments are gold, systems"
    )
    with pytest.raises(TypeError, match=sentence):
        fascicle.compare("gold.tsv", ["a.tsv", "b.tsv"], mapp="A=B")  # type: ignore[call-arg]


MISSPELT = (
    *("mention.label_", "mention.begin", "mention.typ", "mention.link", "mention.scores"),
    *("mention.to_json()", "mention.texts", "mention.attribute", "mention.document.mention"),
    *("document.ents", "document.title", "document.mentions[0].label", "model.annotat(text)"),
    *("model.type", "result.F1", "result.fscore", "result.tables()", "comparison.rows"),
    *("fascicle.laod()", "fascicle.evalute(gold, gold)"),
)


@pytest.mark.slow
def test_mypy_refuses_each_misspelt_name(tmp_path: Path) -> None:
    lines = [
        *("import fascicle", "text = 'Lithium'", "model = fascicle.load()"),
        *("document = model(text)", "mention = next(iter(document))", "gold = [document]"),
        "result = fascicle.evaluate(gold, gold)",
        "comparison = fascicle.compare('a', ['b', 'c'])",
        "kind: str = mention.type",
        "place: tuple[int, int] = (mention.start, mention.end)",
        "share: float = result.f1",
    ]
    start = len(lines)
    path = tmp_path / "program.py"
    path.write_text("\n".join([*lines, *MISSPELT]) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    refused = {int(line) for line in re.findall(r"program\.py:(\d+): error", done.stdout)}
    assert refused == {start + 1 + at for at in range(len(MISSPELT))}, done.stdout
