"""oaklib 0.7.4 and sssom 0.4.21: graphs and mappings that they write."""

from __future__ import annotations

from pathlib import Path

import pytest
from oaklib import get_adapter
from sssom.parsers import parse_sssom_table
from sssom.writers import write_table
from tests.terms.sources.conftest import read_file

OBO = """format-version: 1.4
ontology: doid

[Term]
id: DOID:0000001
name: raised temperature
synonym: "fever" EXACT []
is_a: DOID:0000003

[Term]
id: DOID:0000003
name: sign
"""


@pytest.mark.parametrize("adapter", ["simpleobo", "pronto"])
def test_a_graph_of_oaklib_has_names_and_parents_and_no_synonyms(
    adapter: str, tmp_path: Path
) -> None:
    """OBO Graphs (https://github.com/geneontology/obographs): `id` and `pred` may be CURIEs, and
    `meta.synonyms` are the synonyms.
    """
    path, graph = tmp_path / "a.obo", tmp_path / "a.json"
    path.write_text(OBO, encoding="utf-8")
    get_adapter(f"{adapter}:{path}").dump(str(graph), syntax="obojson")
    assert "fever" not in graph.read_text(encoding="utf-8")
    ours = read_file(graph, "obograph", type="Disease")
    assert ours.names("DOID:0000001") == {"raised temperature": "label"}
    parents = {one.curie: one.parents for one in ours.records if one.parents}
    assert parents == {"DOID:0000001": ("DOID:0000003",)}


HEAD = """# curie_map:
#   DOID: "http://purl.obolibrary.org/obo/DOID_"
#   mesh: "http://id.nlm.nih.gov/mesh/"
# mapping_set_id: https://example.org/set
# license: https://creativecommons.org/publicdomain/zero/1.0/
subject_id\tpredicate_id\tobject_id\tmapping_justification\tother
"""
ROWS = """DOID:1\tskos:exactMatch\tsssom:NoTermFound\tsemapv:ManualMappingCuration\t
DOID:2\tskos:exactMatch\tmesh:D006073\tsemapv:LexicalMatching\ta\\|b
DOID:3\tskos:narrowMatch\tmesh:D006074\tsemapv:LexicalMatching\t
"""


def test_mappings_that_sssom_writes_say_the_same(tmp_path: Path) -> None:
    """SSSOM: `sssom:NoTermFound` as an object says that there is none
    (https://mapping-commons.github.io/sssom/NoTermFound/).
    """
    path, again = tmp_path / "a.sssom.tsv", tmp_path / "b.sssom.tsv"
    path.write_text(HEAD + ROWS, encoding="utf-8")
    with again.open("w", encoding="utf-8") as stream:
        write_table(parse_sssom_table(str(path)), stream)
    for each in (path, again):
        ours = read_file(each, "sssom")
        assert ours.losses() == {"no-term": 1}
        assert {
            (one.curie, other.curie, other.predicate)
            for one in ours.records
            for other in one.references
            if one.curie.startswith("DOID")
        } == {
            ("DOID:2", "MESH:D006073", "skos:exactMatch"),
            ("DOID:3", "MESH:D006074", "skos:narrowMatch"),
        }
