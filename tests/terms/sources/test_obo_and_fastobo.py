"""OBO as another library reads it: fastobo, a parser of the specification in Rust."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.terms.sources.conftest import Read, read_file

from fascicle.terms.terms import ConceptRecord, curie

fastobo = pytest.importorskip("fastobo")
# No backslash: fastobo 0.14 does not read those that it writes.
Said = dict[str, tuple[Any, ...]]
TEXT = st.text(st.sampled_from('ab Z9"!{}[]:,;=é#'), min_size=1, max_size=12).filter(
    lambda text: text.strip()
)
SCOPES = ("EXACT", "RELATED", "BROAD", "NARROW")


def told(document: Iterable[Any]) -> Said:
    """CURIE -> names, parents and definition of each term that is not obsolete, as fastobo has
    them.
    """
    found: Said = {}
    for frame in document:
        if not isinstance(frame, fastobo.term.TermFrame):
            continue
        label, synonyms, parents, definition, obsolete = "", set(), set(), "", False
        for clause in frame:
            match type(clause).__name__:
                case "NameClause":
                    label = label or clause.name
                case "SynonymClause":
                    synonyms.add(" ".join(clause.synonym.desc.split()))
                case "IsAClause":
                    parents.add(curie(str(clause.term)))
                case "DefClause":
                    definition = " ".join(clause.definition.split())
                case "IsObsoleteClause":
                    obsolete = clause.obsolete
        if not obsolete:
            found[curie(str(frame.id))] = (
                " ".join(label.split()),
                frozenset(synonyms),
                frozenset(parents),
                definition,
            )
    return found


def ours(records: Iterable[ConceptRecord]) -> Said:
    """The same of our records; what was merged into others has no names."""
    found: Said = {}
    for record in records:
        if not record.obsolete:
            labels = [name.surface for name in record.names if name.kind == "label"]
            synonyms = frozenset(name.surface for name in record.names if name.kind != "label")
            definition = " ".join(record.definition.split())
            found[record.curie] = (
                "".join(labels[:1]),
                synonyms,
                frozenset(record.parents),
                definition,
            )
    return found


def compare(read: Read, document: Iterable[Any], *, all_terms: bool = True) -> int:
    """Compares; a synonym that repeats the label is one name, and parents that are no identifiers
    count for none.

    Returns:
        How many terms were compared.
    """
    mine, theirs = ours(read.records), told(document)
    assert mine.keys() == theirs.keys() if all_terms else mine.keys() >= theirs.keys()
    wrong = defaultdict(list)
    for one, (label, synonyms, parents, definition) in theirs.items():
        expected = (label, synonyms - {label}, parents - {""}, definition)
        got = (mine[one][0], mine[one][1] - {label}, *mine[one][2:])
        if got != expected:
            wrong[one] = [got, expected]
    assert not wrong
    return len(theirs)


@settings(deadline=None, max_examples=150)
@given(
    terms=st.lists(
        st.tuples(TEXT, st.lists(st.tuples(TEXT, st.sampled_from(SCOPES)), max_size=3), TEXT),
        max_size=4,
    )
)
def test_what_fastobo_writes(
    tmp_path_factory: pytest.TempPathFactory, terms: list[tuple[Any, ...]]
) -> None:
    frames = []
    for number, (name, synonyms, definition) in enumerate(terms, 1):
        clauses = [
            fastobo.term.NameClause(name.strip()),
            fastobo.term.DefClause(definition.strip()),
        ]
        clauses += [
            fastobo.term.SynonymClause(fastobo.syn.Synonym(text.strip(), scope))
            for text, scope in synonyms
        ]
        clauses += [fastobo.term.IsAClause(fastobo.id.PrefixedIdent("DOID", str(number + 1)))]
        frames.append(
            fastobo.term.TermFrame(fastobo.id.PrefixedIdent("DOID", str(number)), clauses)
        )
    if not frames:
        return
    document = fastobo.doc.OboDoc(entities=frames)
    path = tmp_path_factory.mktemp("obo") / "written.obo"
    path.write_text(str(document), encoding="utf-8")
    compare(read_file(path, "obo", type="Disease"), fastobo.loads(str(document)))


def frames_of(text: str) -> list[Any]:
    """The terms that fastobo reads, each alone: many files have some that it refuses."""
    found: list[Any] = []
    for stanza in re.split(r"\n(?=\[)", text)[1:]:
        with suppress(SyntaxError):
            found += fastobo.loads(stanza + "\n") if stanza.startswith("[Term]") else ()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("onto-doid/doid.obo.gz", 0.9),
        ("onto-cell/cl-basic.obo", 0.9),
        ("onto-hpo/hp.obo.gz", 0.9),
        ("onto-uberon/uberon.obo.gz", 0.9),
    ],
)
def test_ontologies(fascicle_data: Path, name: str, share: float) -> None:
    path = fascicle_data / name
    if not path.is_file():
        pytest.skip(f"there is no {name} at hand")
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    read = read_file(path, "obo", type="Disease")
    assert compare(read, frames_of(content.decode()), all_terms=False) > share * len(
        ours(read.records)
    )
