"""What is written for INCEpTION, read by its own rules and by dkpro-cassis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fascicle.core.document import Document, Link, Mention, Relation
from fascicle.errors import InputError
from fascicle.formats import detect, read, write

TEXT = " \U0001f600 IL-2, in\tlung\r\ncancer.  Then [x|y_z]* \\n went.\n"
LINKS = (Link(id="D1", ontology="MESH", curie="MESH:D1"),)
MENTIONS = (
    Mention(((3, 7),), "Gene|[X]_*"),
    Mention(((3, 5),), "_"),
    Mention(((12, 24),), "Disease", links=LINKS),
    Mention(((12, 16),), "Disease"),
    Mention(((27, 31),), "a b"),
)
DOCUMENT = Document(id="PMC/1", text=TEXT, mentions=MENTIONS)


@pytest.mark.parametrize(("name", "losses"), [("webanno", {"ids": 1}), ("cas", {})])
def test_what_is_written_is_read(tmp_path: Path, name: str, losses: dict[str, int]) -> None:
    if name == "cas":
        pytest.importorskip("cassis")
    path = tmp_path / ("a.webanno.tsv" if name == "webanno" else "a.cas.json")
    assert write(path, [DOCUMENT]).losses == losses
    assert detect(str(path)) == name
    (found,) = read(path)
    assert (found.text, found.mentions, found.events) == (TEXT, DOCUMENT.mentions, ())


def test_relations_are_arcs_and_chains(tmp_path: Path) -> None:
    """With the features of a layer, roles, and a chain of coreference; what cannot be held is
    counted.
    """
    pytest.importorskip("cassis")
    gene, part, long, lung, other = (mention.key for mention in DOCUMENT.mentions)
    ends = (("Governor", gene), ("Dependent", part))
    kept = (
        Relation(type="binds|x", arguments=ends, attributes=(("novel", "_"), ("sure", "a\\b"))),
        Relation(type="treats", arguments=(("Arg1", lung), ("to", gene))),
        Relation(type="x", arguments=ends, attributes=(("layer", "Link"), ("label", "[1]"))),
        Relation(type="same\\", arguments=(("", other), ("the", long), ("", gene))),
    )
    lost = (
        Relation(type="", arguments=ends),
        Relation(type="1", arguments=ends),
        Relation(type="x", arguments=(("", gene),)),
        Relation(type="x", attributes=(("entity1", "D1"), ("entity2", "D2"))),
    )
    odd = Relation(type="y", arguments=ends, attributes=(("a b", "x"), ("value", "x"), ("c", "")))
    document = DOCUMENT.having(relations=(*kept, *lost, odd))
    for name in ("a.webanno.tsv", "a.cas.json"):
        losses = write(tmp_path / name, [document]).losses
        assert (losses["relations"], losses["attributes"]) == (4, 3)
        (found,) = read(tmp_path / name)
        assert found.mentions == document.mentions
        assert not found.events
        wanted = (*kept, Relation(type="y", arguments=ends))
        assert sorted(found.relations, key=repr) == sorted(wanted, key=repr)
    head = (tmp_path / "a.webanno.tsv").read_text().splitlines()[1:5]
    entity = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
    arcs = f"value|novel|sure|GovernorRole|DependentRole|BT_{entity}"
    assert head[1:3] == [
        f"#T_RL=webanno.custom.Relation|{arcs}",
        f"#T_RL=webanno.custom.Link|value|label|BT_{entity}",
    ]


def test_sentences_and_parts_of_tokens(tmp_path: Path) -> None:
    document = Document(
        id="a",
        text="IL-2 helps. It does.",
        words=((0, 4), (5, 10), (10, 11), (12, 14), (15, 19), (19, 20)),
        sentences=((0, 11), (12, 20)),
        mentions=(
            Mention(((0, 2),), "Gene"),
            Mention(((3, 10),), "Odd"),
            Mention(((4, 11),), "Lost"),
        ),
    )
    report = write(tmp_path / "a.webanno.tsv", [document])
    assert (report.mentions, report.losses) == (2, {"ids": 1, "not-on-words": 1})
    rows = (tmp_path / "a.webanno.tsv").read_text().splitlines()
    assert "#Text=IL-2 helps. " in rows
    assert [row.split("\t")[:3] for row in rows if row.startswith("1-1")] == [
        ["1-1", "0-4", "IL-2"],
        ["1-1.1", "0-2", "IL"],
        ["1-1.2", "3-4", "2"],
    ]
    (found,) = read(tmp_path / "a.webanno.tsv")
    assert (found.text, found.words, found.sentences) == (
        document.text,
        document.words,
        document.sentences,
    )
    assert found.mentions == document.mentions[:2]


def test_a_file_is_one_document(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds one document"):
        write(tmp_path / "a.cas.json", [DOCUMENT, DOCUMENT])
    assert not (tmp_path / "a.cas.json").exists()
    report = write(tmp_path / "a.webanno.tsv", [Document(id="1", text=" \n")])
    assert report.losses == {"ids": 1, "empty-documents": 1}


def test_dkpro_cassis_reads_the_types_and_the_offsets(tmp_path: Path) -> None:
    cassis: Any = pytest.importorskip("cassis")
    write(tmp_path / "a.cas.json", [DOCUMENT])
    with (tmp_path / "a.cas.json").open("rb") as stream:
        cas = cassis.load_cas_from_json(stream)
    found = cas.select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
    assert sorted((one.get_covered_text(), one.value) for one in found) == sorted(
        (one.text_in(TEXT), one.type) for one in MENTIONS
    )
    assert cas.sofa_string == TEXT
    cas.to_xmi(tmp_path / "a.xmi")
    cas.typesystem.to_xml(tmp_path / "TypeSystem.xml")
    (again,) = read(tmp_path / "a.xmi")
    assert again.mentions == DOCUMENT.mentions


def rebuilt(lines: list[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text and the tokens that INCEpTION makes of rows after the head: a port of
    ``Tsv3XDeserializer.readContent``, for texts without escapes.
    """
    state, text, sentence = "space", "", ""
    tokens: list[tuple[int, int]] = []
    for line in [*lines, None]:
        before = state
        if line is None:
            state = "end"
        elif line.startswith("#"):
            state, sentence = "header", f"{sentence}{line.removeprefix('#Text=')}\n"
        elif not line:
            state = "space"
        else:
            state = "token"
            start, end = map(int, line.split("\t")[1].split("-"))
            if before == "header":
                text, sentence = text[:start].ljust(start) + sentence, ""
            tokens.append((start, end))
        expected = {"space": ["header"], "header": ["header", "token"]}
        assert state in expected.get(before, ["space", "end", "token"]), f"{state} after {before}"
    return text, tokens


@pytest.mark.parametrize(
    ("text", "losses"),
    [("Anna lives.\nBob eats.", {}), ("\n Anna lives.", {"text-between-words": 1}), (" Anna", {})],
)
def test_inception_rebuilds_the_text(tmp_path: Path, text: str, losses: dict[str, int]) -> None:
    """An empty line stands only before a sentence, and the text of a sentence begins with its first
    token.
    """
    document = Document(id="d", text=text, sentences=((0, 11), (12, 21)) if "Bob" in text else None)
    path = tmp_path / "a.webanno.tsv"
    assert write(path, [document]).losses == {"ids": 1, **losses}
    _, _, head, space, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert (head, space) == ("", "")
    whole, tokens = rebuilt(lines)
    words = [whole[start:end] for start, end in tokens]
    assert words == [text[start:end] for start, end in tokens]
    assert whole == text.replace("\n ", "  ") + "\n"
    (again,) = read(path)
    assert again.text == text.replace("\n ", "  ")


def test_tokens_are_as_they_are_and_arrows_escaped(tmp_path: Path) -> None:
    """``Tsv3XSerializer.write`` prints a token without escapes; ``escapeValue`` escapes ``->``."""
    mention = Mention(((0, 4),), "a->1-2")
    write(
        tmp_path / "a.webanno.tsv",
        [Document(id="d", text="C:\\x", words=((0, 4),), mentions=(mention,))],
    )
    row = (tmp_path / "a.webanno.tsv").read_text().splitlines()[-1]
    assert row.split("\t")[2:5] == ["C:\\x", "*[1]", r"a\->1-2[1]"]
    (again,) = read(tmp_path / "a.webanno.tsv")
    assert again.mentions == (mention,)
