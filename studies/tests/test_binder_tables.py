"""Tables of the study of BINDER, from results files that the tests write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.grids import ON_DEV, make_grid, store, write_json

from fascicle.training.experiments.grid import Grid, read_grid
from studies.binder import leads, measured, paper
from studies.binder import tables as made
from studies.common import GRIDS, ROOT
from studies.tables import pages
from studies.tests.tables import cells, rows

PAGE = ROOT / "studies" / "docs" / "binder-tables.md"


BINDER = 'model.family = "binder"'
SPANNER = 'model.family = "span"'


def main_grid(folder: Path) -> Grid:
    variants = {"shared": "model.shared = true", "rate": f"training.learning_rate = 2e-4\n{ON_DEV}"}
    return make_grid(
        folder,
        "binder",
        compare="crf",
        corpora=["conll04", "bc5cdr"],
        systems={
            "softmax": "",
            "crf": 'model.family = "crf"',
            "spanner": SPANNER,
            "binder": BINDER,
        },
        variants=variants,
        runs=[
            {"seeds": [1, 2]},
            {
                "corpora": ["conll04"],
                "systems": ["binder"],
                "variants": list(variants),
                "seeds": [1, 2, 3],
            },
        ],
    )


def distant_grid(folder: Path) -> Grid:
    return make_grid(
        folder,
        "distant",
        corpora={"bc5cdr": 'distant.core = "d"'},
        systems={"softmax": "", "binder": BINDER},
        variants={"raw": 'distant.rule = "raw"'},
        runs=[{"seeds": [1, 2]}, {"systems": ["softmax", "binder"], "variants": ["raw"]}],
    )


def rounds_grid(folder: Path) -> Grid:
    return make_grid(
        folder, "self-training", corpora=["round-1", "round-2"], systems={"softmax": ""}
    )


def noise_grid(folder: Path) -> Grid:
    corpora = [f"conll04-drop-0.{share}" for share in (1, 2, 4)]
    systems = {"softmax": "", "spanner": SPANNER, "binder": BINDER}
    return make_grid(folder, "noise", corpora=corpora, systems=systems)


def test_nothing_is_run(tmp_path: Path) -> None:
    """Every table stands without a single result."""
    grid, weak, noise = (make(tmp_path) for make in (main_grid, distant_grid, noise_grid))
    texts = [
        made.supervised(grid),
        made.beside(grid, grid),
        made.distant(weak, rounds_grid(tmp_path)),
        made.noise(noise, grid),
    ]
    texts += [made.variants(grid, number) for number in (4, 5, 6)]
    parts = (
        measured.breakdown,
        measured.partly,
        measured.densities,
        measured.unseen,
        measured.reworded,
    )
    texts += [of(tmp_path / "results") for of in (made.rules, measured.cost, *parts)]
    assert all("not run" in text for text in texts)


def test_systems_are_paired_on_the_seeds_that_both_have(tmp_path: Path) -> None:
    grid = main_grid(tmp_path)
    store(grid, "bc5cdr-crf-s1", [[8, 2, 2], [6, 4, 4]])
    store(grid, "bc5cdr-binder-s1", [[9, 1, 1], [6, 4, 4]])
    store(grid, "bc5cdr-binder-s2", [[9, 1, 1], [7, 3, 3]])
    _, bc5cdr = rows(made.supervised(grid))
    assert (bc5cdr["SeqCRF"], bc5cdr["BINDER"]) == ("70.00 (1 of 2 seeds)", "77.50 ± 3.54")
    # One seed is common; of two documents one differs, and both may be drawn twice.
    conll04, *bc5cdr = rows(made.beside(grid, grid))
    assert conll04["SeqCRF"] == "not run"
    assert [(row["BINDER less"], row["SeqCRF"]) for row in bc5cdr] == [
        (measure, "+5.00 (+0.0 to +10.0)") for measure in ("F1", "precision", "recall")
    ]


def test_variants_with_intervals_over_seeds_and_documents(tmp_path: Path) -> None:
    """Of two seeds and two documents, of which only one differs with one seed, every draw is
    known.
    """
    grid = main_grid(tmp_path)
    for name, right in (
        ("binder-s1", 5),
        ("binder-s2", 5),
        ("binder-shared-s1", 5),
        ("binder-shared-s2", 9),
    ):
        store(grid, f"conll04-{name}", [[5, 5, 5], [right, 10 - right, 10 - right]])
    shared = rows(made.variants(grid, 4))[1]
    # Gains are 0 and 0 with the first seed, 0 and 40 with the second: at most 40, where both draws
    # are of the second.
    assert shared["conll04, F1 less the full model"] == "+10.00 (+0.0 to +40.0)"


def test_weak_labels_are_compared_with_those_before(tmp_path: Path) -> None:
    weak = distant_grid(tmp_path)
    for seed in (1, 2):
        store(weak, f"bc5cdr-softmax-s{seed}", [[5, 5, 5], [6, 4, 4]])
        store(weak, f"bc5cdr-binder-s{seed}", [[6, 4, 4], [7, 3, 3]])
    store(weak, "bc5cdr-binder-raw-s1", [[4, 6, 6], [5, 5, 5]])
    found, before = (
        rows(made.distant(weak, rounds_grid(tmp_path))),
        "F1 less that of the labels before",
    )
    raw, binder, _ = (row for row in found if row["test"] == "BINDER")
    assert (raw["F1"], binder["F1"]) == ("45.00", "65.00 ± 0.00")
    assert (raw[before], binder[before]) == ("", "+20.00 (+20.0 to +20.0)")
    assert binder["F1 less SEQ, each seed"] == "+10.00 (+10.0 to +10.0); +10.00 (+10.0 to +10.0)"


def test_rounds_of_self_training_beside_the_first_stage(tmp_path: Path) -> None:
    """Each round stands less the tagger of the dictionary, and less the round before it."""
    weak, rounds = distant_grid(tmp_path), rounds_grid(tmp_path)
    store(weak, "bc5cdr-softmax-raw-s1", [[5, 5, 5], [5, 5, 5]])
    store(rounds, "round-1-softmax-s1", [[6, 4, 4], [6, 4, 4]])
    store(rounds, "round-2-softmax-s1", [[4, 6, 6], [4, 6, 6]])
    taught = [row for row in rows(made.distant(weak, rounds)) if "then its own" in row["labels"]]
    assert [row["labels"] for row in taught] == [
        f"as written, then its own, round {number}" for number in (1, 2)
    ]
    assert [row["F1"] for row in taught] == ["60.00", "40.00"]
    assert taught[0]["F1 less SEQ, each seed"] == "+10.00 (+10.0 to +10.0)"
    assert taught[1]["F1 less SEQ, each seed"] == "-10.00 (-10.0 to -10.0)"
    assert taught[1]["F1 less that of the labels before"] == "-20.00 (-20.0 to -20.0)"


def test_noise_against_none(tmp_path: Path) -> None:
    clean, noise = main_grid(tmp_path), noise_grid(tmp_path)
    store(clean, "conll04-binder-s1", [[8, 2, 2]])
    store(noise, "conll04-drop-0.2-binder-s1", [[6, 4, 4]])
    store(noise, "conll04-drop-0.2-softmax-s1", [[5, 5, 5]])
    none, first, second, _ = rows(made.noise(noise, clean))
    assert (none["noise"], none["BINDER"], none["BINDER less SEQ"]) == (
        "none",
        "80.00 (1 of 2 seeds)",
        "not run",
    )
    assert (first["share"], first["BINDER"], first["BINDER, less no noise"]) == (
        "0.1",
        "not run",
        "not run",
    )
    assert (second["BINDER"], second["BINDER, less no noise"]) == (
        "60.00",
        "-20.00 (-20.0 to -20.0)",
    )
    assert second["SEQ, less no noise"] == "not run"  # there is no clean run
    assert second["BINDER less SEQ"] == "+10.00 (+10.0 to +10.0)"
    store(noise, "conll04-drop-0.2-spanner-s1", [[6, 2, 4]])
    empty, parts, *_ = rows(made.noise_parts(noise))
    assert (empty["share"], empty["BINDER, precision"]) == ("0.1", "not run")
    assert (parts["share"], parts["SpanNER, precision"], parts["SpanNER, recall"]) == (
        "0.2",
        "75.00",
        "60.00",
    )
    assert (parts["BINDER, precision"], parts["SEQ, recall"]) == ("60.00", "50.00")


def test_densities_in_numbers(tmp_path: Path) -> None:
    counts = {"entity": [1, 0, 0, 9], "non-entity": [999, 1, 0, 0], "threshold": [0, 0, 2, 0]}
    panel = {"title": "x-s1: Cell", "edges": [-2, -1, 0, 1, 2], "counts": counts}
    write_json(tmp_path / "binder-densities" / "x-s1.json", {"panels": [panel]})
    assert cells(measured.densities(tmp_path)) == [
        ["`x-s1`", "Cell", "-1.0, 2.0, 2.0", "1.0, 1.0, 1.0", "-1.0"]
    ]


def test_the_lead_depends_on_the_run_of_the_crf(tmp_path: Path) -> None:
    part = {"facts": {"data": {"test": {"sha256": "no abstracts are known"}}}}

    def wrote(plan: str, name: str, tp: int) -> None:
        value = part | {
            "test": {"micro": {"f1": tp / 10}},
            "test_counts": [[tp, 10 - tp, 10 - tp]] * 2,
        }
        write_json(tmp_path / plan / f"{name}.json", value)

    wrote("binder", leads.FIRST, 8)
    wrote("first", "ncbi-disease-crf-s1", 6)
    wrote("bundling", "ncbi-disease-crf-s1", 9)
    found = {row["run of SeqCRF"]: row for row in rows(leads.leads(tmp_path))}
    assert found["`first/ncbi-disease-crf-s1`"]["BINDER less it"].startswith("+20.00")
    assert found["`bundling/ncbi-disease-crf-s1`"]["BINDER less it"].startswith("-10.00")
    assert found["`combining/ncbi-disease-crf-s1`"]["its test F1"] == "not run"


def test_the_numbers_of_the_paper_fit_each_other() -> None:
    """F1 of printed precision and recall, rounded to one digit each."""
    printed = [numbers for of in paper.TABLES.values() for _, numbers in of.values() if numbers]
    for precision, recall, f1 in (*printed, *paper.DISTANT.values()):
        assert abs(2 * precision * recall / (precision + recall) - f1) < 0.16, (
            precision,
            recall,
            f1,
        )
    assert {of[""][1] for of in paper.TABLES.values()} == {(89.1, 89.8, 89.5)}


@pytest.mark.slow
def test_cells_of_the_real_grids_are_planned() -> None:
    """No table asks for a cell that no plan has, so that none stays empty for ever."""
    binder, weak, rounds, noise = (
        read_grid(GRIDS / f"{n}.toml") for n in ("binder", "distant", "self-training", "noise")
    )
    systems = ("SEQ", "SeqCRF", "SpanNER", "BINDER")
    assert all(row[name] for row in rows(made.supervised(binder)) for name in systems)
    for number in (4, 5, 6):
        for row in rows(made.variants(binder, number)):
            assert all(
                row[f"{corpus}, {w}"] for corpus in made.VARIANT_CORPORA for w in ("P", "R", "F1")
            ), row
    assert all(row["F1"] for row in rows(made.distant(weak, rounds)))
    for row in rows(made.noise(noise, binder)):
        assert all(row[name] for name in ("SEQ", "SpanNER", "BINDER")), row


def test_the_page_has_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    names = re.findall(r"<!-- table ([\w-]+) -->", PAGE.read_text(encoding="utf-8"))
    own = {name for name in pages.TABLES if name.startswith("binder-")}
    assert set(names) == own | {"binder", "binder-dev", "distant"}
    assert PAGE in pages.PAGES
