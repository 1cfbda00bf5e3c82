"""Which labels a build does not look for, against what is found in a text of all of them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.settings.inputs import RecognitionSettings
from fascicle.terms.pack.pack import Pack
from fascicle.terms.pack.why import unsearched_labels
from fascicle.terms.recognising import PackRecogniser
from fascicle.terms.sources.drafts import LostLabel, SourceReport
from fascicle.verbs.tasks.index_build import build_pack, write_left_out

TABLE = """id\tname\tkind
a:1\tbreast cancer\tlabel
a:2\tdiabetes mellitus, type 2\tlabel
a:3\tdeficiency of the third enzyme\tlabel
a:4\tstudy\tlabel
a:5\tx\tlabel
a:6\toncology unit\tlabel
a:7\tgrowth\tlabel
a:8\tlong name of the eight\tlabel
a:8\tanother name\tsynonym
a:9\tanaemia that has a name that no text ever has\tlabel
a:10\tlupus of the skin and joints\tlabel
"""
SOURCES = """name = "toy@1"
careful = true
curation = ["rules.tsv"]
[sources.a]
path = "a.tsv"
reader = "table"
type = "Disease"
columns = { id = "id", name = "name", kind = "kind" }
without = [", "]
max_tokens = 4
max_length = 40
[sources.b]
path = "b.tsv"
reader = "table"
type = "Disease"
columns = { id = "id", name = "name", kind = "kind" }
"""
RULES = "action\tsurface\ndrop\toncology unit\nner_off\tgrowth\n"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "a.tsv").write_text(TABLE)
    (tmp_path / "b.tsv").write_text("id\tname\tkind\na:3\tdeficiency of the third enzyme\tlabel\n")
    (tmp_path / "rules.tsv").write_text(RULES)
    (tmp_path / "sources.toml").write_text(SOURCES)
    return tmp_path / "sources.toml"


def test_every_label_is_found_or_listed_with_its_reason(sources: Path, tmp_path: Path) -> None:
    reports = defaultdict[str, SourceReport](lambda: SourceReport(labels=[]))
    build_pack(sources, tmp_path / "pack", reports=reports)
    write_left_out(tmp_path / "left-out.tsv", tmp_path / "pack", reports.values())
    first, *rows = (tmp_path / "left-out.tsv").read_text(encoding="utf-8").splitlines()
    assert first == "concept\tlabel\treason"
    listed = {label: reason for _, label, reason in (row.split("\t") for row in rows)}
    assert listed == {
        "diabetes mellitus, type 2": "without",
        "anaemia that has a name that no text ever has": "too-long",
        "lupus of the skin and joints": "tokens",
        "study": "unlikely",
        "x": "unlikely",
        "oncology unit": "curation",
        "growth": "curation",
    }
    labels = [row.split("\t")[1] for row in TABLE.splitlines()[1:] if row.endswith("label")]
    document = Document(id="1", text=". ".join(labels))
    (patch,) = PackRecogniser({"toy": Pack.open(tmp_path / "pack")}).predict([document])
    assert {one.text_in(document.text) for one in patch.add} == set(labels) - set(listed)


def test_a_pack_that_is_not_careful_looks_for_each_label_that_it_has(
    sources: Path, tmp_path: Path
) -> None:
    sources.write_text(sources.read_text().replace("careful = true\n", ""))
    build_pack(sources, tmp_path / "pack")
    pack = Pack.open(tmp_path / "pack")
    assert {one.reason for one in unsearched_labels(pack)} == {"curation"}
    (patch,) = PackRecogniser({"toy": pack}).predict([Document(id="1", text="A study of x.")])
    assert [one.links[0].curie for one in patch.add] == ["a:4", "a:5"]


def test_the_threshold_counts(sources: Path, tmp_path: Path) -> None:
    build_pack(sources, tmp_path / "pack")
    pack = Pack.open(tmp_path / "pack")
    listed = {
        one.label for one in unsearched_labels(pack, settings=RecognitionSettings(threshold=0.0))
    }
    assert listed == {"oncology unit", "growth"}


def test_a_lost_label_that_the_pack_has_is_not_lost(sources: Path, tmp_path: Path) -> None:
    build_pack(sources, tmp_path / "pack")
    pack = Pack.open(tmp_path / "pack")
    lost = [
        LostLabel("a:1", "breast cancers", "without"),
        LostLabel("a:2", "breast cancer", "without"),
    ]
    assert [one.concept for one in unsearched_labels(pack, lost) if one.reason == "without"] == [
        "a:2"
    ]
