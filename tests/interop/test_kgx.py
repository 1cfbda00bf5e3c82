"""The validator of kgx, with the Biolink Model of its package, over a graph that we write."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.concepts import DOCUMENTS

from fascicle.core.document import Link, Relation
from fascicle.graph.kgx import CATEGORIES, biolink_prefixes, write_graph
from fascicle.terms import terms

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

    first, *others = DOCUMENTS
    # kgx keeps the last of the edges between two nodes that have one predicate: two directions
    keys = first.mentions[0].key, first.mentions[1].key
    relations = tuple(
        Relation(type=kind, arguments=(("Cause", cause), ("Theme", theme)))
        for kind, cause, theme in (("", *keys), ("acts on", *reversed(keys)))
    )
    documents = [first.having(relations=relations), *others]
    totals = write_graph(documents, tmp_path / "graph", prefix="PMID", json_lines=json_lines)
    assert totals.related == 2
    names = sorted(map(str, (tmp_path / "graph").glob("*.*l" if json_lines else "*.tsv")))
    names = [name for name in names if not Path(name).name.startswith(".")]
    transformer = Transformer(stream=False)
    transformer.transform({"filename": names, "format": "jsonl" if json_lines else "tsv"})
    graph = transformer.store.graph
    assert graph.number_of_nodes() == totals.documents + totals.concepts
    assert graph.number_of_edges() == totals.mentioned + totals.pairs + totals.related
    types = {data.get("original_predicate") for *_, data in graph.edges(data=True)}
    assert types - {None, ""} == {"acts on"}
    validator.validate(graph)
    assert validator.get_errors() == {}


def test_every_category_is_of_the_biolink_model(validator: Any) -> None:
    for category in (*CATEGORIES.values(), "NamedThing"):
        validator.validate_categories("MESH:D1", {"category": [f"biolink:{category}"]})
    assert validator.get_errors() == {}


def test_prefixes_have_the_spelling_of_the_biolink_model(validator: Any) -> None:
    """The table has each prefix that Biolink spells in another way, or names by another one of the
    Bioregistry's spellings; a vocabulary that Biolink knows under our spelling needs no row.
    """
    known = {prefix.lower(): prefix for prefix in sorted(validator.prefixes)}
    expected = {}
    for ours, spellings, *_ in terms._rows():
        spelled = [known[name.lower()] for name in (ours, *spellings) if name.lower() in known]
        if spelled and ours not in validator.prefixes:
            expected[ours] = spelled[0]
    assert dict(biolink_prefixes()) == expected


def test_concepts_of_a_spelling_of_ours_are_accepted(validator: Any, tmp_path: Path) -> None:
    from kgx.transformer import Transformer

    link = Link(id="C1", ontology="umls", curie="umls:C1", same=("drugbank:DB1",))
    (document, *_) = DOCUMENTS
    mentions = tuple(replace(mention, links=(link,)) for mention in document.mentions)
    write_graph([document.having(mentions=mentions)], tmp_path / "graph", prefix="PMID")
    transformer = Transformer(stream=False)
    names = [str(tmp_path / "graph" / f"{name}.tsv") for name in ("nodes", "edges")]
    transformer.transform({"filename": names, "format": "tsv"})
    validator.validate(transformer.store.graph)
    assert validator.get_errors() == {}
