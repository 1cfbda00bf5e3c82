"""The configuration beside Kazu's is one that this release reads."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.linking import build_pack

from fascicle.core.document import Document
from fascicle.pipeline.loading import open_pipeline
from fascicle.settings.packs import read_pack_settings
from fascicle.settings.pipeline import read_pipeline
from fascicle.settings.steps import STEPS
from fascicle.terms.sources.reading import READERS, check_source

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to-move-from-kazu.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```toml\n# (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


def test_the_pipeline_is_one(tmp_path: Path) -> None:
    (tmp_path / "pipeline.toml").write_text(BLOCKS["pipeline.toml"], encoding="utf-8")
    kinds = [kind for kind, _ in read_pipeline(tmp_path).steps]
    assert kinds == [
        "abbreviations",
        "dictionary",
        "recogniser",
        "link",
        "choice",
        "drop",
        "prefer",
    ]


def test_the_pipeline_links_by_the_pack_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "pipeline.toml").write_text(BLOCKS["pipeline.toml"], encoding="utf-8")
    build_pack(tmp_path / "pack")
    with open_pipeline(tmp_path) as pipeline:
        (found,) = pipeline.stream([Document(id="a", text="Patients with glioblastoma.")])
    assert isinstance(found, Document)
    assert {link.curie for one in found.mentions for link in one.links} == {"MESH:D5"}


def test_the_sources_are_read_by_readers_that_take_them(tmp_path: Path) -> None:
    (tmp_path / "sources.toml").write_text(BLOCKS["sources.toml"], encoding="utf-8")
    settings = read_pack_settings(tmp_path / "sources.toml")
    assert [check_source(source).name for source in settings.sources.values()] == [
        "open_targets",
        "obograph",
        "rdf",
    ]


def test_every_reader_and_step_that_a_table_names_is_there() -> None:
    readers = re.findall(r"^\| `\w+Parser`.* \| `([a-z_]+)`", PAGE, re.MULTILINE)
    assert len(readers) > 4
    assert set(readers) <= set(READERS)
    steps = re.findall(r"^\| .*Step.* \| `([a-z]+)`", PAGE, re.MULTILINE)
    assert len(steps) > 8
    assert set(steps) <= set(STEPS)
