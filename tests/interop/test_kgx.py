"""The validator of kgx, with the Biolink Model of its package, over a graph that we write."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.support.concepts import DOCUMENTS

from fascicle.graph.kgx import CATEGORIES, write_graph

toolkits = pytest.importorskip("bmt")


@pytest.fixture(scope="module")
def validator() -> Iterator[Any]:
    """The validator, with the files of packages in place of those that it would fetch."""
    schema = files("biolink_model") / "schema" / "biolink_model.yaml"
    with pytest.MonkeyPatch.context() as patch:
        defaults = (str(schema), {"predicate mappings": []})
        patch.setattr(toolkits.Toolkit.__init__, "__defaults__", defaults)
        import kgx.config
        import yaml

        model = yaml.safe_load(schema.read_text(encoding="utf-8"))
        expanded = {
            kind: "" for row in model["classes"].values() for kind in row.get("id_prefixes", ())
        }
        prefixes = model["prefixes"] | expanded
        patch.setitem(kgx.config.jsonld_context_map, "biolink", prefixes)
        from kgx.validator import Validator

        yield Validator()


@pytest.mark.parametrize("json_lines", [False, True])
def test_kgx_accepts_the_graph(validator: Any, tmp_path: Path, json_lines: bool) -> None:
    from kgx.transformer import Transformer

    totals = write_graph(DOCUMENTS, tmp_path / "graph", prefix="PMID", json_lines=json_lines)
    names = sorted(map(str, (tmp_path / "graph").glob("*.*l" if json_lines else "*.tsv")))
    names = [name for name in names if not Path(name).name.startswith(".")]
    transformer = Transformer(stream=False)
    transformer.transform({"filename": names, "format": "jsonl" if json_lines else "tsv"})
    graph = transformer.store.graph
    assert graph.number_of_nodes() == totals.documents + totals.concepts
    assert graph.number_of_edges() == totals.mentioned + totals.pairs
    validator.validate(graph)
    assert validator.get_errors() == {}


def test_every_category_is_of_the_biolink_model(validator: Any) -> None:
    for category in (*CATEGORIES.values(), "NamedThing"):
        validator.validate_categories("MESH:D1", {"category": [f"biolink:{category}"]})
    assert validator.get_errors() == {}
