"""Services that tests ask."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "pipeline" / "running")]

from standing import Poison, Standing, standing  # noqa: E402

from fascicle.serving.server import PipelineOpener  # noqa: E402
from fascicle.settings.serving import ServeSettings  # noqa: E402

NAMES = "Chemical\tAspirin\nChemical\tcaffeine\nDisease\theadache\nDisease\tpain\n"
PIPELINE = """
name = "small"

[[steps]]
kind = "recogniser"
name = "names"
model = "names.tsv"

[[steps]]
kind = "dictionary"
name = "terms"
pack = "basic"

[[steps]]
kind = "abbreviations"

[[steps]]
kind = "link"

[[answers]]
text = "Aspirin is for headache."
find = ["Aspirin/Chemical"]
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a pipeline with a dictionary, the shipped pack, and links."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "names.tsv").write_text(NAMES, encoding="utf-8")
    (folder / "pipeline.toml").write_text(PIPELINE, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def served(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service of two pipelines: the small one, and one that does what texts say."""
    kept = str(tmp_path_factory.mktemp("curation") / "decisions.sqlite")
    settings = ServeSettings(
        body=300_000, text=20_000, documents=50, seconds=50, idle=1, curation=kept
    )
    with standing(
        {"small": PipelineOpener(given=str(small)), "poison": Poison()}, settings
    ) as found:
        yield found
