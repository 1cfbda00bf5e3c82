"""The page of the papers: each row has a state, a place, a command and results; no table is
forgotten.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from fascicle.cli import COMMANDS
from fascicle.settings.recipes.strict import read_toml
from studies.papers import PAPERS
from studies.papers.row import HEAD, PaperRow
from studies.papers.rule import (
    BY_RULE,
    DIFFERS,
    NOT_AT_HAND,
    OTHER_SIZE,
    REPRODUCED,
    SAID,
    TESTED,
    UNDECIDED,
    WITHIN_CHANCE,
    Compared,
)

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "studies" / "docs"
# What reports a result, paper by paper: tables, figures.
RESULTS: dict[str, tuple[set[int], set[int]]] = {
    "comparing": ({1}, set()),
    "bundling": ({1, 3, 4, 6, 7, 8}, {5, 6, 7}),
    "binder": (set(range(1, 12)), {2, 3}),
    "typing": ({2}, {3, 4, 5, 6}),
    "tinybern2": ({1, 2, 3}, set()),
}
ROWS = [(name, row) for name, make in PAPERS.items() for row in make()]
EACH = pytest.mark.parametrize(
    "row", [row for _, row in ROWS], ids=[f"{name}: {row.what}" for name, row in ROWS]
)


def numbers(word: str, what: str) -> set[int]:
    """The numbers of the tables or figures that a cell names: ``Figures 3 to 6`` are four."""
    found = set()
    for first, sign, last in re.findall(rf"{word}s? (\d+)(?: (to|and) (\d+))?", what):
        found |= {int(first), int(last or first)}
        found |= set(range(int(first), int(last))) if sign == "to" else set()
    return found


@pytest.mark.parametrize("paper", RESULTS)
def test_every_table_and_figure_with_a_result_has_a_row(paper: str) -> None:
    told = [row.what for name, row in ROWS if name == paper]
    tables, figures = RESULTS[paper]
    assert set().union(*(numbers("Table", what) for what in told)) == tables
    assert set().union(*(numbers("Figure", what) for what in told)) == figures


def test_every_row_has_its_own_name() -> None:
    assert len({(name, row.what) for name, row in ROWS}) == len(ROWS)
    assert {name for name, _ in ROWS} == set(RESULTS)


@EACH
def test_a_row_has_a_state_and_one_sentence(row: PaperRow) -> None:
    assert row.state in {*BY_RULE, *SAID}
    assert row.remark.endswith(".")
    assert ". " not in row.remark
    assert bool(row.needs) == (row.state == NOT_AT_HAND)
    assert len(row.cells()) == len(HEAD)
    assert not any("|" in cell for cell in row.cells())


@EACH
def test_the_command_of_a_row_exists(row: PaperRow) -> None:
    for command in row.commands:
        if command.endswith(".toml"):
            assert read_toml(ROOT / command)
        elif command.startswith("fascicle "):
            assert command.split()[1] in COMMANDS
        else:
            assert importlib.util.find_spec(command) is not None, command


@EACH
def test_the_results_of_a_row_are_there_and_state_its_cost(row: PaperRow) -> None:
    assert all((ROOT / "studies" / "results" / name).is_file() for name in row.results)
    assert bool(row.results) or not row.found
    grids = [command for command in row.commands if command.startswith("studies/grids/")]
    assert not row.found or row.cost()
    assert all(row.results for _ in grids if row.found)


@EACH
def test_the_table_of_a_row_is_on_a_page(row: PaperRow) -> None:
    page, _, anchor = row.table.partition("#")
    if not page:
        return
    text = (PAGES / page).read_text(encoding="utf-8")
    titles = {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.+)$", text, re.M)
    }
    assert not anchor or anchor in titles


def test_numbers_of_the_claims_that_were_corrected() -> None:
    """BC2GM, where the paper has no lead; touching mentions; one corpus and one seed; what the
    paper did not run.
    """
    states = {(name, row.what): row.state for name, row in ROWS}
    # beyond chance, by an interval that allows for shared abstracts
    assert states["binder", "Table 2, BC2GM"] == DIFFERS
    assert states["binder", "Table 3, complete labels"] == NOT_AT_HAND
    assert states["binder", "Table 8, GENIA"] == WITHIN_CHANCE
    assert states["bundling", "Figure 6, softmax or CRF, bundles"] == WITHIN_CHANCE
    assert states["bundling", "Figure 7, boundary beside pooling"] == UNDECIDED
    # gold of other texts than the paper's
    assert states["tinybern2", "§5.2, mentions that touch"] == UNDECIDED
    # alone and bundled at two rates
    assert states["bundling", "Table 3, BC5CDR: BL-SpanNER"] == WITHIN_CHANCE
    # nobody gave them kinds
    assert states["binder", "Table 9, partly correct predictions"] == NOT_AT_HAND


def test_combinations_are_compared_with_one_system_on_both_sides() -> None:
    """That which Table 1 has as best, by the same measure: of Genia SpanPred in F1 and recall,
    SEQ in precision.
    """
    combined = [row for _, row in ROWS if re.match("Table 1, (NCBI-Disease|Genia).*: ", row.what)]
    assert len(combined) == 3 * 10
    for row in combined:
        over = {
            one.what.split(" less ")[1] for one in row.found if "single systems" not in row.what
        }
        best = "SEQ" if "precision" in row.what and "NCBI" not in row.what else "SpanPred"
        if row.what.endswith("Meta over its union"):
            assert over == {"SpanPred ∪ SEQ"}
        elif row.what.endswith("Meta"):  # the claim of the paper is over each of the three
            assert over == {"SpanPred", "SEQ", "SeqCRF"}, row.what
        elif "Meta" not in row.what:
            assert {name for name in over if not name.startswith("the best alone")} <= {best}, (
                row.what
            )
        assert row.found, row.what
    compared = {one.what: one for row in combined for one in row.found if "NCBI" in row.what}
    assert compared["precision, SpanPred x SEQ less SpanPred"].paper == 3.8
    assert compared["recall, SpanPred ∪ SEQ ∪ SeqCRF less SpanPred"].paper == 3.9


def test_a_combination_over_the_weakest_system_is_also_compared_with_the_best() -> None:
    """SpanPred is the best of the paper on NCBI-Disease, and the weakest here; on GENIA it is
    the best of both.
    """
    rules = [
        row
        for _, row in ROWS
        if re.search("union|vote", row.what) and "Meta" not in row.what and row.found
    ]
    named = {
        row.what: [one.what for one in row.found if "the best alone" in one.what] for row in rules
    }
    assert all(told for what, told in named.items() if "NCBI" in what)
    assert all(
        "(SpanPred there, SeqCRF here)" in one
        for what, told in named.items()
        if "NCBI" in what
        for one in told
    )
    assert not any(told for what, told in named.items() if "50/25/25" in what)


def test_rows_that_a_referee_found_too_strong() -> None:
    states = {(name, row.what): row.state for name, row in ROWS}
    assert states["binder", "Table 3, BINDER beside a tagger that teaches itself"] == TESTED
    assert states["binder", "Table 3, BINDER from a dictionary"] == OTHER_SIZE
    assert states["binder", "Table 3, BINDER beside a tagger that stops early (BERT-ES)"] == TESTED
    # an interval in the place of quartiles; but on a processor, and on a GPU in the paper
    assert states["binder", "Table 7, one pass for each type"] == OTHER_SIZE
    assert states["binder", "Table 7, CRF and biaffine"] == UNDECIDED
    assert states["bundling", "§4.5.3, time of the hybrid vector"] == WITHIN_CHANCE
    heat_maps = {
        state
        for (_, what), state in states.items()
        if re.match("Table [67], .*(BL-|beside|SpanNER)", what)
    }
    assert not heat_maps & {REPRODUCED, DIFFERS}  # of dev there, and of test here
    assert states["bundling", "Table 3, W16: BL-SeqNER"] == UNDECIDED  # another train part
    assert states["bundling", "§4.5.2, time of a CRF"] == TESTED
    assert states["comparing", "Table 1, NCBI-Disease: Meta"] == DIFFERS
    assert REPRODUCED not in {state for (name, _), state in states.items() if name == "tinybern2"}
    found = {row.what: row.found for name, row in ROWS if name == "binder"}
    assert "GPU" in found["Table 2, NCBI"][0].doubt  # type: ignore[union-attr]


def test_a_second_corpus_stands_where_the_paper_has_one_direction_on_all_of_its_corpora() -> None:
    """Not beside the vote of two, whose sign is another one on NCBI-Disease than on GENIA."""
    corpora = {
        row.what.rpartition(": ")[2]: {one.corpus for one in row.found}  # type: ignore[union-attr]
        for _, row in ROWS
        if "documents with events: " in row.what
    }
    both = {"genia-events", "bc5cdr"}
    assert {part for part, names in corpora.items() if names == both} == {
        "recall of both unions",
        "precision of both unions",
    }
    paper = {
        one.what: one.paper
        for _, row in ROWS
        for one in row.found
        if row.what.endswith("vote of two") and "NCBI" in row.what
    }
    assert paper["SpanPred x SEQ less SpanPred"] == 0.6  # on GENIA it is -1.3


def test_no_row_has_a_direction_of_a_difference_near_none() -> None:
    found = [
        one
        for _, row in ROWS
        for one in row.found
        if isinstance(one, Compared) and one.unit == "points"
    ]
    near = [
        one for one in found if abs(one.here) < 0.1 and one.paper is not None and not one.is_level
    ]
    assert near
    assert {one.verdict for one in near} == {UNDECIDED}


def test_a_level_of_another_split_or_machine_does_not_differ() -> None:
    levels = [
        one
        for _, row in ROWS
        for one in row.found
        if isinstance(one, Compared) and one.unit == "level"
    ]
    assert levels
    assert DIFFERS not in {row.state for name, row in ROWS if name == "typing"}
    assert all(one.doubt or one.elsewhere for one in levels if one.verdict == UNDECIDED)
    splits = {row.what: one.doubt for name, row in ROWS if name == "typing" for one in row.found}  # type: ignore[union-attr]
    for corpus in ("Litbank", "ANERcorp", "HAREM", "MSRA"):
        assert re.match(
            "a split of our own|taught with another train part", splits[f"Table 2, {corpus}"]
        )


@pytest.mark.parametrize(
    "row", [row for _, row in ROWS if row.state == TESTED], ids=lambda row: row.what
)
def test_a_statement_tested_here_has_its_numbers(row: PaperRow) -> None:
    assert row.found or re.search(r"\d+\.\d", row.remark)


def test_no_row_is_reproduced_by_another_half_or_an_unknown_split_alone() -> None:
    halves = [
        row
        for _, row in ROWS
        if "documents with events: " in row.what
        and {one.corpus for one in row.found if isinstance(one, Compared)} == {"genia-events"}
    ]
    assert halves
    assert REPRODUCED not in {row.state for row in halves}
    assert REPRODUCED not in {row.state for name, row in ROWS if name == "typing"}


def test_a_run_that_serves_two_comparisons_costs_once() -> None:
    shared, own = {"grid/a": 10.0, "grid/b": 5.0}, {"grid/a": 10.0, "grid/c": 7.0}
    found = tuple(
        Compared(what="x less y", paper=1, here=1, minutes=runs) for runs in (shared, own)
    )
    assert PaperRow(what="Table 1", found=found, remark="None.").cost() == "22 min of training"


@pytest.mark.parametrize(("done", "kept"), [((1, 2, 3), True), ((1, 2), False), ((), False)])
def test_runs_that_kept_dev_count_when_all_of_their_seeds_are_done(
    monkeypatch: pytest.MonkeyPatch, done: tuple[int, ...], kept: bool
) -> None:
    bundling = importlib.import_module("studies.papers.bundling")  # hidden by its function
    whole, part = (
        SimpleNamespace(runs=(1, 2, 3), found=dict.fromkeys(seeds, "stored"))
        for seeds in ((1, 2, 3), done)
    )
    first, second = ("spanner", "boundary"), ("spanner", "pooling")
    table = {("conll04", *first): whole, ("conll04", *second): part}
    monkeypatch.setattr(bundling, "rows", lambda name: table if name == "figures" else {})
    monkeypatch.setattr(bundling, "less", lambda *_, **more: [more["first"], more["second"]])
    assert bundling._study("a", -1, first, second) == ([whole, part] if kept else [])
