"""Other names in the places of mentions: offsets, text around, and one name for one text."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import GOLD, Document, Mention
from studies.conventions.fresh import fresh_names
from studies.conventions.replaced import Pool, in_other_cases, names_of, replaced, with_other_names

_PIECES = st.lists(
    st.tuples(
        st.text("ab ", max_size=4),
        st.text("XY", min_size=1, max_size=3),
        st.sampled_from(["Gene", "Disease"]),
    ),
    max_size=6,
)


def _document(pieces: list[tuple[str, str, str]]) -> Document:
    text, mentions = "", []
    for before, name, kind in pieces:
        text += before
        mentions.append(
            Mention(spans=((len(text), len(text) + len(name)),), type=kind, source=GOLD)
        )
        text += name
    return Document(id="1", text=text + " end.", mentions=tuple(mentions))


@given(_PIECES)
def test_the_text_around_mentions_stays_and_one_text_of_a_type_has_one_name(
    pieces: list[tuple[str, str, str]],
) -> None:
    document = _document(pieces)
    numbers = iter(range(1000))
    changed = replaced(document, lambda kind: f"{kind}-{next(numbers)}")
    found = [(one.type, one.text_in(changed.text)) for one in changed.mentions]
    given_names: dict[tuple[str, str], str] = {}
    expected = ""
    for (before, name, kind), (_, new) in zip(pieces, found, strict=True):
        assert given_names.setdefault((kind, name), new) == new
        expected += before + new
    assert changed.text == expected + " end."
    assert len(set(given_names.values())) == len(given_names)


def test_without_a_name_of_the_type_the_text_stays() -> None:
    document = _document([("a ", "XY", "Gene")])
    assert replaced(document, lambda _: "").text == document.text


def test_overlapping_mentions_stay_and_a_tenth_of_the_others_changes() -> None:
    nested = Document(
        id="n",
        text="BRCA1 gene",
        mentions=tuple(Mention(spans=((0, end),), type="Gene", source=GOLD) for end in (5, 10)),
    )
    plain = [_document([("a ", "XY", "Gene.own")]) for _ in range(40)]
    changed = with_other_names([nested, *plain], Pool({"Gene": ["TP53"]}, {}), random.Random(1))
    assert len(changed) == 4
    assert all(one.text != plain[0].text for one in changed)


def test_names_that_are_not_looked_for_are_left_out(tmp_path: Path) -> None:
    table = tmp_path / "names.tsv"
    table.write_text(
        "concept\ttype\tsurface\toff\nA:1\tGene\tTP53\t\nA:1\tGene\tcell\tcommon\nA:2\tGene\t12345\t\n"
    )
    assert names_of(table) == {"Gene": ["TP53"]}


def test_half_of_the_names_of_a_type_are_newer_and_others_come_from_the_pack() -> None:
    pool, drawn = (
        Pool({"Gene": ["old"], "CellType": ["B cell"]}, {"Gene": ["new"]}),
        random.Random(1),
    )
    names = [pool.name("Gene", drawn) for _ in range(1000)]
    assert 400 < names.count("new") < 500
    assert 400 < names.count("old") < 500
    assert pool.name("CellType", drawn) == "B cell"
    assert pool.name("Anatomy", drawn) == ""


def test_documents_in_another_case_keep_their_mentions() -> None:
    documents = [
        msgspec.structs.replace(_document([("a ", "Xy", "Gene")]), id=str(number))
        for number in range(400)
    ]
    changed = in_other_cases(documents, 0.2)
    assert 50 < len(changed) < 110
    assert len({one.text for one in changed}) == 3
    assert {one.mentions for one in changed} == {documents[0].mentions}
    assert all(one.id.partition(" in ")[2] in ("lower", "capitals", "title") for one in changed)


def test_fresh_names_are_short_and_of_their_kind(tmp_path: Path) -> None:
    tables = {
        "hgnc": "symbol\tlocus_type\nACE2\tgene with protein product\nACE2P1\tpseudogene\n",
        "cellosaurus-labels": "label\tdeprecated\nCalu-3\t0\nHeLa\t0\nCalu-9\t1\n",
        "chebi-labels": "label\tdeprecated\nosimertinib\t0\nLSM-11554\t0\n",
        "mondo": "label\tdeprecated\nobsolete ague\t0\nague, new\t0\nague\t0\n"
        + "long " * 9
        + "\t0\n",
    }
    for name, table in tables.items():
        (tmp_path / f"{name}.tsv.gz").write_bytes(gzip.compress(table.encode()))
    expected = {"Gene": "ACE2", "CellLine": "Calu-3", "Chemical": "osimertinib", "Disease": "ague"}
    assert fresh_names(tmp_path) == {kind: [name] for kind, name in expected.items()}
