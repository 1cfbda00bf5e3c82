"""WebAnno TSV 3.3: what its guide says of layers, stacked annotations, parts of tokens and
offsets.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.formats.oracle.webanno import HEAD, NAMED

from fascicle.core.document import Document
from fascicle.errors import FormatError
from fascicle.formats import detect, read

ROWS = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
#T_SP=webanno.custom.Dose|unit|note
#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink|referenceType|referenceRelation
#T_RL=webanno.custom.Relation|label|BT_webanno.custom.Dose


#Text=\U0001f600 Aspirin 5mg
#Text=helps.
1-1\t0-2\t\U0001f600\tSYM\t_\t_\t_\t_\t_\t_\t_\t_\t
1-2\t3-10\tAspirin\tNN\thttp://x.org/1|*\tDrug|Agent\t_\t_\t*->1-1\t_\tcause\t1-3\t
1-3\t11-14\t5mg\tNN\t_\t_\t*[7]\tlow\\|high[7]\t_\t_\t_\t_\t
1-3.1\t12-14\tmg\t_\t*\tUnit\t_\t_\t_\t_\t_\t_\t
1-4\t15-20\thelps\tVB\t_\t_\t*[7]\tlow\\|high[7]\t_\t_\t_\t_\t
1-5\t20-21\t.\t.\t_\t_\t*\t*\t_\t_\t_\t_\t

#Text=Next
2-1\t23-27\tNext\tJJ\t*\t*\t_\t_\t_\t_\t_\t_\t
"""


def of(tmp_path: Path, content: str) -> Document:
    path = tmp_path / "a.tsv"
    path.write_text(content, encoding="utf-8")
    assert detect(str(path)) == "webanno"
    (found,) = read(path)
    return found


def test_layers_stacks_parts_and_offsets(tmp_path: Path) -> None:
    found = of(tmp_path, ROWS)
    assert found.text == "\U0001f600 Aspirin 5mg\nhelps.  Next"
    assert [(one.text_in(found.text), one.type, one.attributes) for one in found.mentions] == [
        ("Aspirin", "Agent", ()),
        ("Aspirin", "Drug", ()),
        ("5mg\nhelps", "Dose", (("note", "low|high"),)),
        ("mg", "Unit", ()),
        (".", "Dose", ()),
        ("Next", "NamedEntity", ()),
    ]
    assert [link.id for one in found.mentions for link in one.links] == ["http://x.org/1"]
    assert [found.text[start:end] for start, end in found.words or ()] == [
        *("\U0001f600", "Aspirin", "5mg", "helps", ".", "Next")
    ]
    assert [found.text[start:end] for start, end in found.sentences or ()] == [
        found.text[:20],
        "Next",
    ]
    assert [event.code for event in found.events] == ["coreferences-left-out", "relations-left-out"]


def test_features_beside_the_type_are_attributes(tmp_path: Path) -> None:
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|kind|doubt|\n\n#Text=a b\n"
    found = of(
        tmp_path, f"{head}1-1\t0-1\ta\tDrug[1]\tyes[1]\t_\t\n1-2\t2-3\tb\tDrug[1]\tyes[1]\t_\t\n"
    )
    (mention,) = found.mentions
    assert (mention.spans, mention.type, mention.attributes) == (
        ((0, 3),),
        "Drug",
        (("layer", "Span"), ("doubt", "yes")),
    )


HOST = "webanno.custom.Host|ROLE_webanno.custom.Host:links_webanno.custom.HostLinksLink|uima.tcas.Annotation|sure"
FINDING = "webanno.custom.Finding|negated|certainty|value"


def test_features_slots_and_values_that_are_no_types(tmp_path: Path) -> None:
    head = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={HOST}\n#T_SP={FINDING}\n\n\n#Text=a b c d\n"
    rows = (
        "1-1\t0-1\ta\tr[5]\t1-2[2];1-3\tyes[5]\t_\t_\t_\t\n"
        "1-2\t2-3\tb\tr[5]\t1-2[2];1-3\tyes[5]\ttrue[2]\thigh[2]\t3[2]\t\n"
        "1-3\t4-5\tc\t_\t_\t_\tfalse\t*\tCough\t\n1-4\t6-7\td\t_\t*\tno\t_\t_\t_\t\n"
    )
    found = of(tmp_path, head + rows)
    assert [
        (one.text_in(found.text), one.type, dict(one.attributes)) for one in found.mentions
    ] == [
        ("a b", "Host", {"sure": "yes"}),
        ("b", "Finding", {"negated": "true", "certainty": "high", "value": "3"}),
        ("c", "Cough", {"layer": "Finding", "negated": "false"}),
        ("d", "Host", {"sure": "no"}),
    ]
    words = {mention.key: mention.text_in(found.text) for mention in found.mentions}
    assert [
        (one.type, [(role, words[key]) for role, key in one.arguments]) for one in found.relations
    ] == [
        ("links", [("owner", "a b"), ("r", "b")]),
        ("links", [("owner", "a b"), ("filler", "c")]),
    ]
    assert found.events == ()


def test_relations_lead_from_their_governor_to_the_row(tmp_path: Path) -> None:
    """As appendix A of the guide of WebAnno has them: ``token[governor_dependent]``, where 0 is an
    annotation that is alone at its token.
    """
    head = (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|kind\n"
        "#T_RL=custom.Link|label|sure|BT_custom.Span\n\n\n#Text=a b c d\n"
    )
    rows = (
        "1-1\t0-1\ta\tA[1]|B[2]\tcause|_\tyes|_\t1-3[4_2]|1-2[0_1]\t\n"
        "1-2\t2-3\tb\tC\t*\t*\t1-1\t\n"
        "1-3\t4-5\tc\tD[4]\t_\t_\t_\t\n1-4\t6-7\td\tD[4]\tx\t_\t1-3[4_0]\t\n"
    )
    found = of(tmp_path, head + rows)
    kinds = {mention.key: mention.type for mention in found.mentions}
    assert [
        (one.type, [(role, kinds[key]) for role, key in one.arguments], one.attributes)
        for one in found.relations
    ] == [
        (
            "cause",
            [("Governor", "D"), ("Dependent", "B")],
            (("layer", "Link"), ("sure", "yes")),
        ),
        ("Link", [("Governor", "C"), ("Dependent", "A")], ()),
    ]
    # from one of two annotations, and to a row where none begins
    assert [(event.code, event.message) for event in found.events] == [
        ("relations-left-out", "not read: 2")
    ]


def test_chains_whose_links_are_mentions_are_relations(tmp_path: Path) -> None:
    """A chain with a link that is no mention is counted as a whole; the guide writes the relation
    to the next link, ``->``, and the numbers of the chain and of the link.
    """
    chain = "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink"
    head = (
        "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|kind\n"
        f"#T_CH={chain}|referenceType|referenceRelation\n\n\n#Text=a b c d\n"
    )
    rows = (
        "1-1\t0-1\ta\tA\tname\t*->1-2\t\n1-2\t2-3\tb\tB[2]\t*[3]\tsame->1-1\t\n"
        "1-3\t4-5\tc\tB[2]\t*[3]\tsame->1-1\t\n1-4\t6-7\td\tD|E\t*|*\t*->2-1|*->3-1\t\n"
    )
    found = of(tmp_path, head + rows)
    kinds = {mention.key: mention.type for mention in found.mentions}
    assert [
        (one.type, [(role, kinds[key]) for role, key in one.arguments]) for one in found.relations
    ] == [("same", [("", "B"), ("name", "A")])]
    assert [event.message for event in found.events] == ["not read: 2"]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("#Text=a b\n1-1\t0-1\tx\t_\t_\t_\t\n", 7),
        ("#Text=a\n1-1\t0-1\ta\t_\t_\t_\t\n\n#Text=b\n2-1\t0-1\tb\t_\t_\t_\t\n", 10),
        ("#Text=a\nno row\n", 7),
    ],
)
def test_rows_that_break_the_rules(tmp_path: Path, rows: str, line: int) -> None:
    with pytest.raises(FormatError, match=rf"a\.tsv:{line}"):
        of(tmp_path, "\n".join(HEAD) + "\n" + rows)
    assert NAMED in HEAD[2]


_NAMES = (
    "#FORMAT=WebAnno TSV "
    "3.3\n#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value\n\n\n"
)


@pytest.mark.parametrize(
    ("layer", "cells", "wanted"),
    [
        ("webanno.custom.Dose|unit", "\t", "Dose"),
        ("webanno.custom.|unit", "\t", "webanno.custom"),
        ("a.", "*\t", "a"),
    ],
)
def test_a_mention_without_a_type_has_the_name_of_its_layer(
    tmp_path: Path, layer: str, cells: str, wanted: str
) -> None:
    (mention,) = of(
        tmp_path, f"#FORMAT=WebAnno TSV 3.3\n#T_SP={layer}\n\n\n#Text=a\n1-1\t0-1\ta\t{cells}\n"
    ).mentions
    assert mention.type == wanted


def test_a_backslash_at_the_end_of_a_cell_does_not_stall(tmp_path: Path) -> None:
    (mention,) = of(tmp_path, f"{_NAMES}#Text=a\n1-1\t0-1\ta\t*\t{'a' * 50_000}\\\t\n").mentions
    assert mention.type == "a" * 50_000 + "\\"


def test_blanks_between_sentences_have_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    rows = (
        f"#Text=a\n{at + 1}-1\t{at * 10_001}-{at * 10_001 + 1}\ta\t_\t_\t\n\n"
        for at in range(3_000)
    )
    path.write_text(_NAMES + "\n" + "".join(rows))
    with pytest.raises(FormatError, match="too far"):
        list(read(path))


@pytest.mark.parametrize(
    ("version", "text", "rows", "wanted"),
    [
        ("3.3", r"C:\\x Anna", ("0-4 C:\\x", "5-9 Anna"), "C:\\x Anna"),
        ("3.3", r"Page\fAnna\b", ("0-4 Page", "5-9 Anna"), "Page\fAnna\b"),
        (
            "3.1",
            r"M\u00FCller in \"Rom\" \uD83D\uDE00",
            ("0-6 M\u00fcller", "11-14 Rom", "16-18 \U0001f600"),
            'M\u00fcller in "Rom" \U0001f600',
        ),
        ("3", r"a\nb", ("0-4 a\\nb",), "a\\nb"),
    ],
)
def test_texts_are_unescaped_by_the_rules_of_their_version(
    tmp_path: Path, version: str, text: str, rows: tuple[str, ...], wanted: str
) -> None:
    """`Escaping.unescapeText` of INCEpTION (inception-io-webanno-tsv) undoes the escapes of Java
    before version 3.2; the reader of version 3 undoes none. ``Tsv3XSerializer.write`` prints tokens
    as they are, and escapes form feed and backspace in texts.
    """
    cells = (
        "\t".join((f"1-{at}", *row.split(" "), "*", "X", "")) for at, row in enumerate(rows, 1)
    )
    head = _NAMES.replace("3.3", version)
    document = of(tmp_path, "\n".join((f"{head}#Text={text}", *cells)))
    assert (document.text, document.events) == (wanted, ())
    words = [mention.text_in(wanted) for mention in document.mentions]
    assert words == [row.split(" ")[1] for row in rows]


def test_tokens_with_other_text_at_their_offsets_are_an_event(tmp_path: Path) -> None:
    rows = "#Text=a bc\n1-1\t0-1\ta\t_\t_\t\n1-2\t2-4\tbd\t*\tX\t\n"
    document = of(tmp_path, _NAMES + rows)
    assert [event.code for event in document.events] == ["text-mismatch"]
    assert "1 token with other text" in document.events[0].message


def test_a_semicolon_in_a_role_parts_no_slots(tmp_path: Path) -> None:
    """``SLOT_SEP_PATTERN`` of INCEpTION's ``Tsv3XDeserializer``."""
    head = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={HOST}\n\n\n#Text=a b\n"
    rows = "1-1\t0-1\ta\tx\\;y[5]\t1-2\tyes[5]\t\n1-2\t2-3\tb\t_\t_\tno\t\n"
    (relation,) = of(tmp_path, head + rows).relations
    assert [role for role, _ in relation.arguments] == ["owner", "x;y"]
