"""The study of six types: its plan, its scores against oracles, its tables, and how what ships
is decided.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from fascicle.core.document import GOLD, Document, Mention
from fascicle.core.mention import Span
from fascicle.settings.folders.manifest import Manifest, ScoreDecision, read_manifest
from fascicle.settings.heads import MultiLabelSettings
from fascicle.settings.inputs import TokenizerFacts
from fascicle.settings.recipes.recogniser import ReadingSettings
from fascicle.training.experiments.grid import read_grid
from studies.common import BIOMED, GRIDS, MODELS, RESULTS, ROOT
from studies.labels.rows import Row, row_scores
from studies.six import alone, dial
from studies.six import tables as six_tables
from studies.six.card import SOURCES, card
from studies.six.corpora import OWN, ROWS, TABLE_2, ScoredRow
from studies.six.deciding import (
    DEV,
    DevAnswers,
    DevPart,
    counted,
    decided,
    fit_abbreviations,
    parts_for,
)
from studies.six.rows import facts, seqeval_scores, tags, with_systems
from studies.six.spread import f1_of_seeds, with_seed
from studies.six.tables import TABLES, int8, paper, table_2, thresholds
from studies.six.thresholds import OverMentions, chosen
from studies.tables.grids import over_seeds

SIX = ("CellLine", "CellType", "Chemical", "Disease", "Gene", "Species")


def test_what_ships_learns_from_the_dev_parts_that_its_twin_keeps() -> None:
    runs = {run.name: run.recipe for run in read_grid(GRIDS / "six.toml").runs}
    for name in ("six-shape", "six-longer", "six-soft"):
        twin, refit = runs[f"{name}-s1"], runs[f"{name}-refit-s1"]
        assert twin.types() == refit.types() == SIX
        assert twin.model == refit.model
        assert twin.vocabulary == refit.vocabulary
        for part, one in twin.parts.items():
            more = refit.parts[part]
            assert set(one.trains) < set(more.trains) or part in ("bioid", "gnormplus", "nlm-gene")
            assert not one.dev or one.dev in more.trains
            assert not one.dev or one.dev not in one.trains
            assert one.exclude == more.exclude
            assert (one.annotates, one.types, one.weight) == (
                more.annotates,
                more.types,
                more.weight,
            )


def test_every_part_that_teaches_has_a_licence_on_the_card() -> None:
    runs = [run for run in read_grid(GRIDS / "six.toml").runs if run.corpus == "six"]
    assert runs
    for run in runs:
        assert run.recipe.parts.keys() == SOURCES.keys()


def test_no_test_part_teaches_or_decides() -> None:
    read = {
        path for run in read_grid(GRIDS / "six.toml").runs for path in run.recipe.files().values()
    }
    scored = {path for row in ROWS for path in (row.given, row.raw) if path}
    assert not {f"$FASCICLE_DATA/{path}" for path in scored} & read
    assert not scored & {part.path for part in DEV}


def test_the_rows_are_those_of_the_paper() -> None:
    assert len(TABLE_2) == 12
    # of the plan
    assert statistics.mean(row.paper or 0 for row in TABLE_2) == pytest.approx(59.7, abs=0.05)
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert {row.row.type for row in ROWS} <= set(SIX)


words = st.lists(st.integers(1, 4), min_size=1, max_size=8)
ranges = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), max_size=5)


def spans_of(lengths: Sequence[int]) -> list[Span]:
    found, at = [], 0
    for length in lengths:
        found.append((at, at + length))
        at += length + 1
    return found


@given(words, ranges)
def test_tags_are_those_of_a_slow_loop(lengths: list[int], given: list[tuple[int, int]]) -> None:
    spans = spans_of(lengths)
    mentions = [Mention(((start, start + length),), "X") for start, length in given]
    expected = ["O"] * len(spans)
    for mention in sorted(mentions, key=lambda m: (-(m.end - m.start), m.start)):
        inside = [
            n
            for n, (a, b) in enumerate(spans)
            if any(a <= c < b for c in range(mention.start, mention.end))
        ]
        if inside and all(expected[n] == "O" for n in inside):
            expected[inside[0]] = "B-X"
            for n in inside[1:]:
                expected[n] = "I-X"
    assert tags(mentions, spans) == expected


@given(words, st.data())
def test_on_whole_words_seqeval_and_strict_are_one(lengths: list[int], data: st.DataObject) -> None:
    spans = spans_of(lengths)

    def drawn() -> list[Mention]:
        cuts = sorted(data.draw(st.sets(st.integers(0, len(spans)), max_size=6)))
        return [
            Mention(((spans[a][0], spans[b - 1][1]),), "X")
            for a, b in zip(cuts[::2], cuts[1::2], strict=False)
        ]

    gold, said = drawn(), drawn()
    text = "x" * (spans[-1][1] + 1)
    document = Document(id="d", text=text, words=tuple(spans), mentions=tuple(gold))
    assert len(get_entities(tags(gold, spans))) == len(gold)
    row = Row(corpus="c", files={}, label="X", type="X")
    found = seqeval_scores(row, [(document, tuple(said))])
    strict = row_scores(row, [(document, said)]).micro
    assert found["f1"] == pytest.approx(strict.f1)
    assert found["precision"] == pytest.approx(strict.precision)


def results(systems: dict[str, int]) -> dict[str, Any]:
    """Systems that find the first so many of four mentions in every row."""

    def scores(row: ScoredRow, right: int) -> Any:
        gold = tuple(
            Mention(((at, at + 2),), row.row.label.replace("*", "X")) for at in range(0, 12, 3)
        )
        said = tuple(Mention(m.spans, row.row.type) for m in gold[:right])
        pairs = [(Document(id="d", text="x" * 20, mentions=gold), said)]
        return row_scores(row.row, pairs), {"f1": right / 4, "precision": 1.0, "recall": right / 4}

    forms = {row.name: [form for form in ("given", "raw") if getattr(row, form)] for row in ROWS}
    found = {
        name: {row.name: {form: scores(row, right) for form in forms[row.name]} for row in ROWS}
        for name, right in systems.items()
    }
    return with_systems({}, {name: facts(name, found) for name in found})


def test_tables_have_both_scores_and_count_the_rows_above_the_paper() -> None:
    value = results({"one": 4, "one-fp32": 2})
    shown = table_2(value)
    assert "| mean |" in shown
    assert shown.splitlines()[-1].replace(" ", "").endswith("|12|12|")
    assert "one-fp32" not in shown
    costs = int8(value)
    assert costs.count("+33.33") == len(ROWS) + 1  # 100 less 66.67
    shipped = TABLES["front"](results({BIOMED: 2}))
    assert [line.split("|")[1].strip() for line in shipped.splitlines()[2:]] == sorted(
        row.row.type for row in TABLE_2
    )
    assert shipped.count("| 66.67 (66.7 to 66.7) |") == len(TABLE_2)
    assert all(make({}) == "not run" for name, make in TABLES.items() if name != "dial")


def test_an_output_kept_apart_for_a_corpus_is_scored_there() -> None:
    value = results({BIOMED: 2, "other": 2})
    rows = value["systems"][BIOMED]["rows"]
    rows |= {OWN[0].name: results({"own": 4})["systems"]["own"]["rows"][TABLE_2[0].name]}
    shown = TABLES["front"](value)
    assert [line.split("|")[1].strip() for line in shown.splitlines() if "100.00" in line] == [
        OWN[0].row.type
    ]
    (first, *_) = (
        line for line in table_2(value).splitlines() if line.startswith(f"| {TABLE_2[0].name}")
    )
    assert [cell.split()[0] for cell in first.split("|")[4:8]] == [
        "100.00",
        "100.00",
        "50.00",
        "66.67",
    ]


FITS: dict[str, Any] = {
    "mean": {
        "f1": {"a/X": 1.0, "b/X": 0.25, "c/X": 0.5},
        "support": {"a/X": 99, "b/X": 1200, "c/X": 100},
    },
    "mentions": {
        "f1": {"a/X": 0.0, "b/X": 1.0, "c/X": 0.25},
        "support": {"a/X": 99, "b/X": 1200, "c/X": 100},
    },
}


def test_further_seeds_of_what_ships_stand_beside_it() -> None:
    value = results({"biomed@1": 2})
    row = TABLE_2[0]
    rows = {one.name: {form: {"strict": 0.5} for form in ("given", "raw")} for one in ROWS}
    further = with_seed(with_seed({}, "biomed@1", 10, {"rows": {}}), "biomed@1", 10, {"rows": rows})
    further = with_seed(
        further, "biomed@1", 2, {"rows": {one: {"given": {"strict": 0.25}} for one in rows}}
    )
    found = f1_of_seeds(value, further, "biomed@1", row.name, "given")
    assert found == pytest.approx([100 * 2 / 3, 25, 50])
    assert f1_of_seeds(value, {}, "biomed@1", row.name, "given") == pytest.approx([100 * 2 / 3])
    assert f1_of_seeds(value, further, "other", row.name, "given") == []
    assert over_seeds([1.0, 2.0, 6.0], 3) == "3.00 ± 2.65"
    assert "±" not in over_seeds([1.0], 3)


def test_what_ships_stands_beside_what_shipped_before(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {
        one.name: {form: {"strict": 0.5} for form in ("given", "raw") if getattr(one, form)}
        for one in ROWS
    }
    seeds = {str(seed): {"rows": rows} for seed in (1, 2, 3)}
    stored = {"systems": {"longer": seeds, "biomed@1": {"2": {"rows": rows}, "3": {"rows": rows}}}}
    monkeypatch.setattr(six_tables, "result", lambda _: stored)
    shown = six_tables.soft(results({"biomed@1": 2}))  # 66.67, 50 and 50
    assert shown.count("+5.56") == len(ROWS) + 1
    del stored["systems"]["biomed@1"]["3"]
    assert six_tables.soft(results({"biomed@1": 2})) == "not run"


def test_the_price_of_generality_is_that_of_the_rows_of_a_corpus(tmp_path: Path) -> None:
    assert alone.table(tmp_path) == "not run"
    micro = {"alone": {"micro": {"f1": 0.5}}, "shipped": {"micro": {"f1": 0.375}}}
    less = {
        "estimate": -0.125,
        "low": -0.25,
        "high": 0.0625,
        "level": 0.95,
        "resamples": 9,
        "seed": 1,
        "p_value": 0.2,
    }
    one = micro | {"less": less}
    value = {"beside": "biomed@1", "runs": {"r": {"bc2gm GENE": one}}}
    (tmp_path / "six-alone.json").write_text(json.dumps(value), encoding="utf-8")
    shown = alone.table(tmp_path).splitlines()[-1]
    assert [cell.strip() for cell in shown.strip("|").split("|")][1:3] == ["50.00", "37.50"]
    assert "-12.50" in shown


def test_students_of_the_papers_protocol_have_a_table_of_their_own() -> None:
    value = results({"biomed@1": 90, "paper-4x312": 50})
    assert "paper-4x312" not in table_2(value)
    assert "biomed@1" not in paper(value)
    assert "paper-4x312, strict" in paper(value)


def test_both_ways_of_fitting_thresholds_stand_beside_each_other() -> None:
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in thresholds({"runs": {"r": FITS}}).splitlines()[2:]
    ]
    assert rows == [
        ["a/X", "99", "100.00", "0.00"],
        ["b/X", "1,200", "25.00", "100.00"],
        ["c/X", "100", "50.00", "25.00"],
        ["mean", "", "58.33", "41.67"],
    ]
    assert thresholds({}) == "not run"


def test_the_fit_over_mentions_ships(tmp_path: Path) -> None:
    fits = {name: {**fit, "thresholds": {"X": len(name)}} for name, fit in FITS.items()}
    (tmp_path / "six-thresholds.json").write_text(
        json.dumps({"runs": {"r": fits}}), encoding="utf-8"
    )
    assert chosen("r", tmp_path) == {"X": len("mentions")}
    with pytest.raises(ValueError, match="no thresholds are fitted for s"):
        chosen("s", tmp_path)


@given(st.lists(st.tuples(st.sampled_from("xy"), st.integers(0, 3), st.integers(0, 3)), max_size=6))
def test_a_type_is_judged_over_the_mentions_of_all_corpora(
    cases: list[tuple[str, int, int]],
) -> None:
    documents, found, right, wrong, missed = [], {}, 0, 0, 0
    for number, (part, gold, said) in enumerate(cases):
        key = f"{part}/{number}"
        documents.append(
            Document(
                id=key, text="abcd", mentions=(Mention(((gold, gold + 1),), "X", source=GOLD),)
            )
        )
        found[key] = (Mention(((said, said + 1),), "X", source="m"),)
        right, wrong, missed = (
            right + (gold == said),
            wrong + (gold != said),
            missed + (gold != said),
        )
    judge = OverMentions(annotates={"x": ["X"], "y": ["X"]})
    f1 = judge.f1_of_type(judge.scores(documents, found), "X")
    assert f1 == pytest.approx(2 * right / (2 * right + wrong + missed) if cases else 0.0)


def manifest(name: str, **changes: Any) -> Manifest:
    decision = ScoreDecision(answer="multilabel", decoding="lenient", **changes.pop("decision", {}))
    plain = {
        "name": name,
        "fascicle": "0",
        "runtime": "torch",
        "types": SIX,
        "heads": {"multilabel": MultiLabelSettings()},
        "reading": ReadingSettings(),
        "tokenizer": TokenizerFacts(sha256="0" * 64, prefix=(1,), suffix=(2,), pad=0),
        "decision": decision,
        "encoder": "e",
    }
    return Manifest(**{**plain, **changes})


def test_a_model_takes_the_decision_of_its_twin_and_of_nobody_else() -> None:
    twin = manifest(
        "twin", decision={"nothing": 0.5, "nothing_by_type": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)}
    )
    found = decided(manifest("refit"), twin)
    assert found.decision == twin.decision
    assert found.name == "refit"
    with pytest.raises(ValueError, match="twins"):
        decided(manifest("refit", types=SIX[:-1]), twin)
    with pytest.raises(ValueError, match="twins"):
        decided(manifest("refit", reading=ReadingSettings(max_length=64)), twin)


def test_the_card_tells_every_row_and_every_source_with_its_licence() -> None:
    value = results({"biomed@1": 3, "biomed@1-fp32": 4})["systems"]
    part = {"annotates": ["Gene"], "train": {"documents": 1234, "mentions": 5, "excluded": 67}}
    stage = {"expected_calibration_error": 0.0321}
    told = {
        "rows": value["biomed@1"]["rows"],
        "fp32": value["biomed@1-fp32"]["rows"],
        "company": {"documents": 400, "changed": 0, "mentions": 5678},
        "decision": {
            "abbreviations": {"spread": "end", "drop": False, "one_type": True},
            "calibration": [stage, stage],
        },
        "size_bytes": 17_408_051,
        "runs": [
            {
                "name": "refit-s1",
                "folder": "six/r",
                "hours": 0.5,
                "pieces": 0,
                "parts": dict.fromkeys(SOURCES, part),
            },
            {"name": "twin-s1", "folder": "six/t", "hours": 0.6, "pieces": 0, "parts": {}},
            {"name": "read-s1", "folder": "read", "hours": 0.6, "pieces": 3_000_000, "parts": {}},
        ],
    }
    text = card(manifest("biomed@1"), told)
    assert "3 million" in text
    assert "teacher" not in text
    labels = {
        "name": "soft-s1",
        "folder": "soft",
        "hours": 0.3,
        "pieces": 0,
        "parts": {"texts": part | {"weak": True}},
    }
    taught = card(manifest("biomed@1"), told | {"runs": [*told["runs"], labels]})
    assert "teacher" in taught
    assert "1,234 texts" in taught
    for row in ROWS:
        assert f"| {row.name} " in text
    for source, licence in SOURCES.values():
        assert f"| {source} | Gene | 1,234 | 67 | {licence} |" in text
    for number in (
        "17.4 MB",
        "3.2",
        "5,678",
        "85.7",
        "+14.29",
        "spread end, one_type",
        "refit-s1",
        "twin-s1",
    ):
        assert number in text
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 140


def test_the_dial_keeps_models_that_were_measured_before() -> None:
    before = {
        "date": "2026-01-02",
        "models": {"a": {"x": 1}, "b": {"x": 2}},
        "earlier": {"c": {"date": "2026-01-01"}},
    }
    kept = dial.earlier(before, ["a"])
    assert kept == {"b": {"x": 2, "date": "2026-01-02"}, "c": {"date": "2026-01-01"}}
    assert dial.earlier(before, ["a", "b", "c"]) == dial.earlier({}, ["a"]) == {}


def test_dev_is_judged_by_what_each_corpus_annotates() -> None:
    part = DevPart(path="x", types={"GENE": "Gene"})
    gold = (Mention(((0, 2),), "GENE"), Mention(((3, 5),), "other"))
    found = counted(Document(id="1", text="ab cd", mentions=gold), part)
    assert found.id == "x/1"
    assert [(m.type, m.spans) for m in found.mentions] == [("Gene", ((0, 2),))]


def test_rules_for_abbreviations_are_chosen_on_whole_texts_alone() -> None:
    text = "Acute renal failure (ARF) is here. ARF came."
    path = DEV[1].path
    gold = tuple(Mention(((a, b),), "Disease") for a, b in ((0, 19), (21, 24), (35, 38)))
    documents = [
        Document(id=f"{path}/1", text=text, mentions=gold),
        Document(id="s", text="x y", mentions=()),
    ]
    said = {
        f"{path}/1": (Mention(((0, 19),), "Disease", score=0.9),),
        "s": (Mention(((0, 1),), "Gene", score=0.9),),
    }
    dev = DevAnswers(
        documents=documents, found=said, whole=frozenset({f"{path}/1"}), sha256="0" * 64
    )
    fitted = fit_abbreviations(dev)
    assert fitted.definitions == 1
    assert fitted.rules.spread != "no"
    assert fitted.after == pytest.approx(1.0)
    assert fitted.before == pytest.approx(0.5)


@pytest.mark.parametrize("name", MODELS)
def test_a_card_that_ships_is_that_of_its_results(name: str) -> None:
    folder = ROOT / "src" / "fascicle" / "assets" / name
    if not folder.is_dir():
        pytest.skip("no model comes with this checkout")
    told = json.loads((RESULTS / f"shipped-{name}.json").read_text(encoding="utf-8"))
    assert (folder / "README.md").read_text(encoding="utf-8") == card(read_manifest(folder), told)


def test_the_gold_of_a_dev_part_has_the_type_that_a_model_keeps_for_its_corpus() -> None:
    before = {
        part.path.partition("/")[0]: part.types
        for part in parts_for(("Gene", "CellLine", "CellType"))
    }
    assert before["bc2gm"] == {"GENE": "Gene"}
    found = {
        part.path.partition("/")[0]: part.types
        for part in parts_for(("Gene", "Gene.bc2gm", "CellLine", "CellLine.jnlpba", "CellType"))
    }
    assert found["bc2gm"] == {"GENE": "Gene.bc2gm"}
    assert found["jnlpba"] == {"cell_line": "CellLine.jnlpba", "cell_type": "CellType"}
    assert found["biored"] == before["biored"]
