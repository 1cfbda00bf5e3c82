"""Everyday jobs beside other libraries: what is kept of the rounds, and what both sides read."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from fascicle.formats import read
from studies.speed import _ratio_peers, ratios, since

OLD = (
    b"<MedlineCitationSet><MedlineCitation Status='MEDLINE'><PMID>1</PMID><Article><ArticleTitle>Warts"
    b"</ArticleTitle></Article></MedlineCitation></MedlineCitationSet>"
)


class Side:
    """A worker that answers without a process."""

    def __init__(self, module: str, *_: object, **__: object) -> None:
        self.ours = module == "studies.speed.ratios"

    def ask(self, job: str) -> dict[str, Any]:
        answer = {"seconds": 0.3 if self.ours else 0.1, "records": 5}
        return answer if self.ours else {**answer, "peer": "conllu 6.0.0"}

    def end(self) -> None:
        """Nothing to end."""


def test_both_sides_know_the_same_jobs() -> None:
    assert tuple(_ratio_peers.JOBS) == ratios.JOBS


def test_a_ratio_is_that_of_neighbouring_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ratios, "Worker", Side)
    rows = ratios.measure(tmp_path, "python", ["CoNLL"], rounds=3)
    assert rows["CoNLL"]["peer"] == "conllu 6.0.0"
    assert rows["CoNLL"]["ratio"] == pytest.approx([3, 3, 3])


def test_a_library_that_reads_less_gives_no_ratio(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Blind(Side):
        def ask(self, job: str) -> dict[str, Any]:
            return {**super().ask(job), **({} if self.ours else {"records": 0})}

    monkeypatch.setattr(ratios, "Worker", Blind)
    with pytest.raises(RuntimeError, match="CoNLL: the records of both sides differ"):
        ratios.measure(tmp_path, "python", ["CoNLL"], rounds=1)


def test_citations_are_written_as_pubmed_distributes_them(tmp_path: Path) -> None:
    old, new = tmp_path / "old.xml.gz", tmp_path / "new.xml.gz"
    old.write_bytes(gzip.compress(OLD))
    ratios._write_citations(old, new)
    content = gzip.decompress(new.read_bytes())
    assert content.startswith(b"<PubmedArticleSet><PubmedArticle><MedlineCitation Status")
    (document,) = read(new, format="medline")
    assert (document.id, document.text) == ("1", "Warts")


def test_a_build_is_measured_beside_the_one_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Build(Side):
        def __init__(self, module: str, arguments: object, environment: dict[str, str]) -> None:
            self.is_before = environment["PYTHONPATH"] == str(tmp_path / "src")

        def ask(self, job: str) -> dict[str, Any]:
            return {"value": 4.0 if self.is_before else 3.0}

    monkeypatch.setattr(since, "Worker", Build)
    ((job, row),) = since.measure(tmp_path, tmp_path, ["abbreviations"], 2)
    assert (job, row["before"], row["now"]) == ("abbreviations", 4, 3)
    assert row["ratio"] == [0.75, 0.75, 0.75]
