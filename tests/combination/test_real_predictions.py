"""The laws of combinations on the predictions of the results tables, as they are committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fascicle.combination.align import System, align
from fascicle.combination.rules import Rule, combine, union
from fascicle.files.source import Source
from fascicle.formats.predictions import read

RUNS = Path(__file__).parents[2] / "benchmarks" / "results" / "combining" / "runs"
SYSTEMS = ("spanpred", "softmax", "crf")
FILTERS = {"meta2": SYSTEMS[:2], "meta3": SYSTEMS, "meta3-best": SYSTEMS}
CORPORA = sorted(path.name.removesuffix("-crf-s1") for path in RUNS.glob("*-crf-s1"))


def said(corpus: str, name: str) -> System:
    path = RUNS / f"{corpus}-{name}-s1" / "predictions" / "test.tsv.gz"
    return System(name=name, mentions={p.id: p.mentions for p in read(Source(path=str(path)))}, lists_all=False)


def keys(mentions: Any) -> set[Any]:
    return {(identifier, m.type, m.spans) for identifier, found in mentions.items() for m in found}


def kept(systems: list[System], rule: Rule) -> set[Any]:
    return keys(combine(align(systems), rule))


def test_there_are_real_files() -> None:
    assert {"bc5cdr", "genia-events"} <= set(CORPORA)


@pytest.mark.parametrize("corpus", CORPORA)
def test_filters_keep_only_what_a_member_said(corpus: str) -> None:
    """So their recall is at most that of the union."""
    for kind, members in FILTERS.items():
        if (RUNS / f"{corpus}-{kind}-s1").is_dir():
            found = keys(said(corpus, kind).mentions)
            assert found
            assert found <= kept([said(corpus, name) for name in members], union())
