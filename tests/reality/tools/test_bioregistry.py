"""The package bioregistry 0.15.6: all prefixes with their spellings, examples and addresses."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache

import bioregistry

from fascicle.terms.terms import curie

References = dict[str, set[tuple[str, str]]]  # text -> prefix and local part that it stands for
SHIPPED = (
    "cl",
    "doid",
    "mesh",
    "mondo",
    "ncbigene",
    "ncbitaxon",
    "omim",
    "uberon",
    "cellosaurus",
    "fplx",
)
# no taxon, and none for Fascicle, so that no text is about the species "class"
RANK = ("ncbitaxon", "subclass")
# A page of NCBI Gene, see below; and edam:data_1664 as edam.data:1664, which the Bioregistry says
# are the same.
KNOWN = {
    "www.ncbi.nlm.nih.gov/datasets/gene/1000/",
    "www.ebi.ac.uk/ols/ontologies/edam/terms?iri=http://edamontology.org/data_1664",
}
ENTRIES = bioregistry.read_registry()


@cache
def normal(prefix: str) -> str:
    """The prefix of the Bioregistry."""
    return bioregistry.normalize_prefix(prefix) or ""


def references() -> tuple[References, References]:
    """The CURIEs and the addresses of all examples."""
    curies, addresses = defaultdict(set), defaultdict(set)
    for prefix, entry in ENTRIES.items():
        spellings = {prefix, entry.get_preferred_prefix() or prefix, *entry.get_synonyms()}
        for example in entry.get_examples() or ():
            if (prefix, example) == RANK:
                continue
            for spelling in (one for one in spellings if normal(one) == prefix):
                curies[f"{spelling}:{example}"].add((prefix, example))
            for form in entry.get_uri_formats():
                addresses[form.replace("$1", example)].add((prefix, example))
    return curies, addresses


def verdict(text: str, wanted: Iterable[tuple[str, str]]) -> str:
    """What Fascicle makes of a text: the same reference, none, or another one.

    The same numbers count for a prefix and for its canonical one (ORDO and Orphanet). If several
    prefixes have an address, each is right.
    """
    answer = curie(text)
    if not answer:
        return "none"
    before, _, local = answer.partition(":")
    prefix = normal(before)
    entry = ENTRIES.get(prefix)
    for owner, example in wanted:
        same = ENTRIES[owner].standardize_identifier
        if (
            prefix in (owner, ENTRIES[owner].has_canonical)
            and same(local).lower() == same(example).lower()
        ):
            return "right"
    forms = entry.get_uri_formats() if entry else ()
    return "right" if any(form.replace("$1", local) == text for form in forms) else "another"


def test_identifiers_of_the_bioregistry_stay_what_they_are() -> None:
    curies, addresses = references()
    found = Counter(verdict(text, wanted) for text, wanted in curies.items())
    assert found["another"] <= 1, found  # mmmp:biomaps:37, whose prefix has a colon
    assert found["right"] >= 0.995 * len(curies), found
    verdicts = {text: verdict(text, wanted) for text, wanted in addresses.items()}
    assert {text.partition("://")[2] for text, one in verdicts.items() if one == "another"} == KNOWN
    ours = Counter(
        verdicts[text]
        for text, wanted in addresses.items()
        if any(one in SHIPPED for one, _ in wanted)
    )
    assert ours["right"] >= 0.98 * ours.total(), ours
    assert Counter(verdicts.values())["right"] >= 0.98 * len(verdicts)


def test_the_bioregistry_gives_a_page_of_ncbi_gene_to_homologene() -> None:
    """https://www.ncbi.nlm.nih.gov/datasets/gene/7157/ shows TP53 of NCBI Gene."""
    forms = ENTRIES["homologene"].get_uri_formats()
    assert "https://www.ncbi.nlm.nih.gov/datasets/gene/$1/" in forms
    assert curie("https://www.ncbi.nlm.nih.gov/datasets/gene/7157/") == "NCBIGene:7157"
