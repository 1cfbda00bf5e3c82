"""fastobo 0.14.2, parsers of HGVS, abbreviations 0.2.5 and tokenizers 0.23.3, beside what Fascicle
reads of vocabularies, variants, short forms and signs.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import fastobo
import pytest
from abbreviations import schwartz_hearst
from mavehgvs import Variant
from mutalyzer_hgvs_parser import to_model
from tests.terms.abbreviations.test_finder import found_in
from tests.terms.sources.conftest import read_file
from tests.terms.test_variant_recogniser import names_of
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import ByteLevel

import fascicle
from fascicle.terms.terms import ConceptRecord

OBO = """format-version: 1.4
ontology: doid

[Term]
id: DOID:0000001
name: raised temperature
is_a: DOID:0000003

[Term]
id: DOID:0000002
name: old
is_obsolete: true
replaced_by: DOID:0000001

[Term]
id: DOID:0000003
name: sign
alt_id: DOID:0000009
"""


def test_a_graph_that_fastobo_writes_has_names_parents_aliases_and_replacements(
    tmp_path: Path,
) -> None:
    graph = io.BytesIO()
    fastobo.dump_graph(fastobo.load(io.BytesIO(OBO.encode())), graph)
    (tmp_path / "a.obo").write_text(OBO, encoding="utf-8")
    (tmp_path / "a.json").write_bytes(graph.getvalue())
    of_obo = read_file(tmp_path / "a.obo", "obo", type="Disease")
    of_graph = read_file(tmp_path / "a.json", "obograph", type="Disease")
    assert _concepts(of_graph.records) == _concepts(of_obo.records)


def _concepts(records: Iterable[ConceptRecord]) -> dict[str, set[object]]:
    """What the records of each concept say together."""
    said: dict[str, set[object]] = defaultdict(set)
    for one in records:
        said[one.curie] |= {*one.names, *one.parents, *one.replaced_by, one.obsolete and "obsolete"}
    return {curie: {*filter(None, facts)} for curie, facts in said.items()}


ALLELES = [
    ("NC_012920.1:m.[3243A>G;8993T>G]", 2),
    ("NM_000518.4:c.[20A>T;23del]", 2),
    ("NM_004006.2:r.[76a>c;83_84del]", 2),
    ("NP_003997.1:p.Thr779MetfsTer?", 1),
    ("NC_000007.14:g.[140753336A>T;140753340del]", 2),
]


@pytest.mark.parametrize(("text", "count"), ALLELES)
def test_members_of_an_allele_are_what_mutalyzer_reads(text: str, count: int) -> None:
    reference, description = text.split(":")
    level = description.partition(".")[0]
    names = [name for _, name in names_of(text)]
    assert len(names) == count
    members = [_variant(f"{reference}:{name.rpartition(':')[2]}", level) for name in names]
    assert [member for (member,) in members] == _variant(text, level)


def _variant(description: str, level: str) -> Any:
    """The variants of a description whose level is as stated."""
    model = to_model(description)
    assert model["coordinate_system"] == level
    return model["variants"]


SAID = [
    (
        "Patients received anti-vascular endothelial growth factor (VEGF) drugs.",
        "VEGF",
        "vascular endothelial growth factor",
    ),
    ("An interferon-γ receptor (IFNγR) rose.", "IFNγR", "interferon-γ receptor"),
    ("Use of tumor necrosis factor (TNF) grew.", "TNF", "tumor necrosis factor"),
]


@pytest.mark.parametrize(("text", "short", "long"), SAID)
def test_long_forms_are_those_of_the_package_abbreviations(
    text: str, short: str, long: str
) -> None:
    theirs = schwartz_hearst.extract_abbreviation_definition_pairs(doc_text=text)
    assert found_in(text) == list(theirs.items()) == [(short, long)]


def test_square_brackets_define_for_fascicle_and_not_for_the_package() -> None:
    text = "We used tumour necrosis factor [TNF] here."
    assert schwartz_hearst.extract_abbreviation_definition_pairs(doc_text=text) == {}
    assert found_in(text) == [("TNF", "tumour necrosis factor")]


@pytest.mark.parametrize("text", ["c.192", "c.192A"])
def test_a_place_without_a_change_is_no_variant(text: str) -> None:
    """HGVS: a description states what changes; `c.192=` says that nothing does."""
    assert to_model(f"NM_004006.2:{text}")["variants"]
    assert names_of(f"The variant {text} was found.") == []


@pytest.mark.parametrize(
    "text",
    ["p.Leu4*", "p.(Trp24Ter)", "c.192=", "c.[20A>T;23del]", "m.3243A>G", "r.76a>c", "p.Arg97fs*"],
)
def test_names_are_those_that_mavehgvs_reads(text: str) -> None:
    """It reads a strict subset of HGVS, without `*` and brackets of what is foretold."""
    names = [name for _, name in names_of(f"The variant {text} was found.")]
    assert names
    for name in names:
        assert str(Variant(name)) == name


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x85"])
def test_a_line_break_within_a_text_joins_words_for_the_normaliser_of_bert(sign: str) -> None:
    """Unicode 5.8: VT, FF and NEL end a line; it removes them as control characters."""
    assert BertNormalizer().normalize_str(f"gout{sign}lupus") == "goutlupus"
    document = fascicle.load("biomed", links=False)(f"Patients with gout{sign}lithium{sign}asthma.")
    assert [one.text for one in document] == ["Patients", "gout", "lithium", "asthma"]


@pytest.mark.parametrize("sign", ["\xad", "\u200b"])
def test_a_sign_that_prints_nothing_cuts_no_word(sign: str) -> None:
    """Unicode 5.4 and 23.2: a soft hyphen and a blank without width print nothing in a line."""
    text = f"Patients had hepa{sign}to{sign}cellular carci{sign}noma and lupus."
    assert len(ByteLevel(add_prefix_space=False).pre_tokenize_str(text)) > len(text.split()) + 1
    plain = fascicle.load("basic", links=False)(text.replace(sign, ""))
    marks = [(one.text, one.type) for one in fascicle.load("basic", links=False)(text)]
    assert [(text.replace(sign, ""), kind) for text, kind in marks] == [
        (one.text, one.type) for one in plain
    ]
