"""``fascicle evaluate --at-least``: scores that files, models and pipelines must reach."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.linking import document

from fascicle.core.document import Document, Mention
from fascicle.errors import UsageError
from fascicle.formats import write
from fascicle.verbs.tasks.evaluate import evaluate
from fascicle.verbs.tasks.report import Gate, check_gates

Cli = Callable[..., Any]
Refused = Callable[..., str]
# Disease: 2 gold, 1 found. Of MESH: 3 gold links, 1 right, 1 wrong. Of OMIM: 1 gold link, none
# found.
GOLD = [
    document(
        "asthma and gout after aspirin",
        ("asthma", "Disease", "MESH:D1"),
        ("gout", "Disease", "OMIM:2"),
        ("aspirin", "Chemical", "MESH:D3"),
        identifier="a",
    ),
    document("lithium", ("lithium", "Chemical", "MESH:D4"), identifier="b"),
]
SAID = [
    document(
        "asthma and gout after aspirin",
        ("asthma", "Disease", "MESH:D1"),
        ("aspirin", "Chemical", "MESH:D9"),
        identifier="a",
    ),
    document("lithium", identifier="b"),
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    places = tmp_path / "gold.fascicle.jsonl", tmp_path / "said.fascicle.jsonl"
    for place, documents in zip(places, (GOLD, SAID), strict=True):
        write(place, documents)
    return places


def found(gates: list[str], **more: Any) -> dict[str, float | None]:
    return {
        f"{one.gate.name}.{one.gate.figure}": one.found
        for one in check_gates(evaluate(GOLD, SAID), gates, **more)
    }


def test_the_figures_of_types_averages_and_vocabularies() -> None:
    names = [
        "Disease.precision",
        "Disease.recall",
        "micro.recall",
        "macro.precision",
        "MESH.recall",
        "MESH.precision",
    ]
    assert found(
        [f"{name}=50" for name in [*names, "OMIM.recall", "OMIM.precision", "MESH.concept_f1"]]
    ) == {
        "Disease.precision": 1.0,
        "Disease.recall": 0.5,
        "micro.recall": 0.5,
        "macro.precision": 1.0,
        "MESH.recall": pytest.approx(1 / 3),
        "MESH.precision": 0.5,
        "OMIM.recall": 0.0,
        "OMIM.precision": None,  # nothing was answered in this vocabulary
        "MESH.concept_f1": pytest.approx(2 / 5),
    }


def test_an_undefined_score_meets_no_gate() -> None:
    (one,) = check_gates(evaluate(GOLD, SAID), ["OMIM.precision=0"])
    assert (one.found, one.met) == (None, False)


def test_the_exit_code_and_the_table(cli: Cli, files: tuple[Path, Path]) -> None:
    met = cli(
        "evaluate", *files, "--at-least", "Disease.recall=50", "--at-least", "MESH.precision=50"
    )
    assert met.code == 0
    short = cli(
        "evaluate", *files, "--at-least", "Disease.recall=50", "--at-least", "MESH.recall=70"
    )
    assert short.code == 4
    row = next(line for line in short.out.splitlines() if line.startswith("MESH.recall"))
    assert row.split() == ["MESH.recall", "33.33", "70.00", "36.67"]
    assert not any(line.startswith("Disease.recall") for line in short.out.splitlines())


def test_of_several_systems_each_must_reach_a_gate(cli: Cli, files: tuple[Path, Path]) -> None:
    gold, said = files
    result = cli("evaluate", gold, gold, said, "--at-least", "micro.f1=100", "--json")
    assert result.code == 4
    assert [(one["system"], one["met"]) for one in json.loads(result.out)["gates"]] == [
        ("gold.fascicle", True),
        ("said.fascicle", False),
    ]


def test_scores_of_links_alone_have_no_gates(refused: Refused, files: tuple[Path, Path]) -> None:
    assert "--at-least" in refused("evaluate", *files, "--links", "--at-least", "MESH.recall=33")


def test_bare_identifiers_get_the_prefix_that_is_said(
    cli: Cli, tmp_path: Path, files: tuple[Path, Path]
) -> None:
    bare = tmp_path / "bare.pubtator"
    bare.write_text("a|t|asthma\na\t0\t6\tasthma\tDisease\tD001249\n", encoding="utf-8")
    refused = cli("evaluate", bare, bare, "--at-least", "MESH.recall=100")
    assert refused.code == 2
    assert "links of no vocabulary" in refused.err
    assert (
        cli(
            "evaluate", bare, bare, "--at-least", "MESH.recall=100", "--prefix", "Disease=MESH"
        ).code
        == 0
    )


def test_a_pipeline_is_scored_in_one_command(
    cli: Cli, files: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "one.tsv").write_text("Disease\tasthma\nChemical\taspirin\n", encoding="utf-8")
    (tmp_path / "two.tsv").write_text("Disease\tasthma\nDisease\tgout\n", encoding="utf-8")
    steps = [
        f'[[steps]]\nkind = "recogniser"\nname = "{name}"\nmodel = "{name}.tsv"\n'
        for name in ("one", "two")
    ]
    (tmp_path / "pipeline.toml").write_text('name = "both"\n' + "".join(steps), encoding="utf-8")
    gold = files[0]
    everything = cli(
        "evaluate", gold, "--pipeline", tmp_path, "--at-least", "Disease.recall=100", "--json"
    )
    assert everything.code == 0
    assert json.loads(everything.out)["micro"] | {"f1": 0} == json.loads(everything.out)[
        "micro"
    ] | {
        "tp": 3,
        "fp": 0,
        "fn": 1,
        "f1": 0,
    }
    one = cli(
        "evaluate",
        gold,
        "--pipeline",
        tmp_path / "pipeline.toml",
        "--source",
        "one",
        "--at-least",
        "micro.f1=80",
    )
    assert one.code == 4


@pytest.mark.parametrize(
    ("gate", "says"),
    [
        ("0.9", "micro"),
        ("Disease", "not a gate"),
        ("Disease.f1", "not a gate"),
        ("f1=80", "not a gate"),
        ("Disease.f2=80", "not a gate"),
        ("Disease.f1=101", "not a gate"),
        ("Disease.f1=nan", "not a gate"),
        ("Disease.f1=-1", "not a gate"),
        ("Disease.f1=1e999999999", "not a gate"),
        ("Diseases.f1=80", "did you mean 'Disease'"),
        ("MONDO.recall=80", "MESH, OMIM"),
        ("Disease.concept_f1=80", "links of a type"),
    ],
)
def test_gates_that_say_nothing_are_refused(
    refused: Refused, files: tuple[Path, Path], gate: str, says: str
) -> None:
    assert says in refused("evaluate", *files, "--at-least", gate)


def test_a_name_of_both_a_type_and_a_vocabulary_is_refused() -> None:
    both = [document("asthma", ("asthma", "MESH", "MESH:D1"))]
    with pytest.raises(UsageError, match="both a type and a vocabulary"):
        check_gates(evaluate(both, both), ["MESH.f1=1"])


@given(st.integers(1, 400), st.data())
def test_a_score_meets_the_gate_of_its_own_percentage(whole: int, data: st.DataObject) -> None:
    """A gate of 29 per cent is met by 29 of 100, whatever floating point makes of 0.29 * 100."""
    part = data.draw(st.integers(0, whole))
    mentions = tuple(Mention(((at, at + 1),), "T") for at in range(whole))
    gold = [Document(id="a", text="x" * whole, mentions=mentions)]
    said = [Document(id="a", text="x" * whole, mentions=mentions[:part])]
    hundred_times = 100 * part
    (one,) = check_gates(evaluate(gold, said), [f"T.recall={hundred_times // whole}"])
    assert one.met
    if hundred_times % whole == 0:
        assert one.found == Gate.of(f"T.recall={hundred_times // whole}").least
