"""A document as HTML: its text and the words of its mentions come back from the page, whatever
they are.
"""

from __future__ import annotations

import re
from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.html_reader import HtmlReader, lines, without_tags

from fascicle.core.document import STEP, Document, Link, Mention, Relation, link_event, unique
from fascicle.core.marks import FORBIDDEN, colour_class


def as_shown(text: str) -> str:
    """The text as a page can hold it, character by character."""
    pictures = {**{chr(code): chr(0x2400 + code) for code in range(0x20)}, "\x7f": "\u2421"}
    return FORBIDDEN.sub(lambda found: pictures.get(found[0], "\ufffd"), text)


ANY = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("\0\x01\x0b\x0c\r\n\t\x7f\x85\xa0<>&\"'\u202e\u2069\u05d0\ufffe"),
    min_size=1,
    max_size=40,
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(ANY)
    found = []
    for _ in range(draw(st.integers(0, 8))):
        several = 2 if len(text) > 3 and draw(st.booleans()) else 1
        cuts = sorted(
            draw(st.sets(st.integers(0, len(text)), min_size=2 * several, max_size=2 * several))
        )
        spans = tuple(zip(cuts[::2], cuts[1::2], strict=True))
        source = draw(st.sampled_from(("gold", "m")))
        found.append(
            Mention(
                spans,
                draw(st.sampled_from("AB") | ANY),
                source=source,
                score=draw(st.none() | st.just(0.5)),
            )
        )
    return Document(id=draw(ANY), text=text, mentions=unique(found)[0])


def taken_apart(document: Document) -> tuple[str, list[list[str]]]:
    """The marked text of a page, still with its tags, and the rows of its table without the
    titles.
    """
    page = document._repr_html_()
    reader = HtmlReader(page)
    assert reader.open_at_end == []
    return page.partition("</style>")[2].partition("<details>")[0], reader.tables.get(
        "mentions", []
    )[1:]


@given(documents())
def test_the_text_and_every_mention_come_back(document: Document) -> None:
    page, table = taken_apart(document)
    assert without_tags(page) == as_shown(document.text)
    assert page.count('class="tag') == sum(len(mention.spans) for mention in document.mentions)
    # No two mentions that overlap share a lane, so a line that goes on is one fragment, or two that
    # touch.
    lined: defaultdict[int, set[tuple[int, bool]]] = defaultdict(set)
    for start, end, kind, lane in lines(page):
        lined[lane] |= {(at, kind == "line") for at in range(start, end)}
    expected = sorted(
        at
        for mention in document.mentions
        for start, end in mention.spans
        for at in range(start, end)
    )
    assert sorted(at for lane in lined.values() for at, solid in lane if solid) == expected
    for mention in document.mentions:
        whole = {
            (at, any(a <= at < b for a, b in mention.spans))
            for at in range(mention.start, mention.end)
        }
        assert any(whole <= places for places in lined.values()), (
            "a mention without a line of its own"
        )
    assert [row[0] for row in table] == [
        as_shown(mention.text_in(document.text)) for mention in document.mentions
    ]


def test_the_table_says_what_is_known_of_a_mention() -> None:
    link = Link(id="D1", ontology="MESH", name="asthma")
    mention = Mention(
        ((0, 2), (3, 6)), "Disease", score=0.25, source="m", links=(link,), attributes=(("a", "b"),)
    )
    page, table = taken_apart(Document(id="d", text="as thma", mentions=(mention,)))
    assert table == [["as thm", "Disease", "0–2, 3–6", "0.25", "m", "MESH:D1 asthma", "a = b"]]
    assert (
        HtmlReader(page).text
        == "asDisease MESH:D1 #1, part 1 of 2 thmDisease MESH:D1 #1, part 2 of 2a"
    )
    _, table = taken_apart(
        Document(id="d", text="asthma", mentions=(Mention(((0, 6),), "Disease"),))
    )
    assert table == [["asthma", "Disease", "0–6", "gold"]]
    assert "empty" in HtmlReader(Document(id="d", text="")._repr_html_()).text


def test_relations_have_a_table() -> None:
    lithium, tremor = Mention(((0, 7),), "Drug"), Mention(((15, 18), (19, 21)), "Sign")
    relations = (
        Relation(
            type="a<b",
            arguments=(("from", lithium.key), ("", tremor.key)),
            attributes=(("novel", "No"), ("p", "")),
        ),
        Relation(type="CID", attributes=(("entity1", "D1"), ("entity2", "D2"))),
    )
    text = "Lithium causes tre mor"
    document = Document(id="1", text=text, mentions=(lithium, tremor), relations=relations)
    table = document._repr_html_().split("</details>")[1]
    cells = [
        re.sub("<[^>]+>", "", cell) for cell in re.findall("<t[hd](?: [^>]*)?>(.*?)</t[hd]>", table)
    ]
    assert cells == [
        *("Relation", "Mentions", "Attributes"),
        *("a&lt;b", "from: Lithium (0–7), tre mo (15–21)", "novel = No, p = "),
        *("CID", "", "entity1 = D1, entity2 = D2"),
    ]
    assert ">2 relations</summary>" in table
    assert "relation" not in document.having(relations=())._repr_html_().split("</style>")[1]


def test_links_are_shown_with_identifier_name_and_origin() -> None:
    link = Link(id="D1", ontology="MESH", name='"asthma" & more', curie="MESH:D1")
    event = link_event("pack@1", [("MESH", "2024"), ("DOID", "")], step=STEP)
    mention = Mention(((0, 6),), "Disease", links=(link,))
    document = Document(id="d", text="asthma and", mentions=(mention,), events=(event, event))
    page = document._repr_html_()
    assert 'title="&quot;asthma&quot; &amp; more"' in page
    assert HtmlReader(page).text.count("2024") == 1
    assert "2024" not in Document(id="d", text="asthma", events=(event,))._repr_html_()
    nil = Document(
        id="d",
        text="asthma",
        mentions=(Mention(((0, 6),), "Disease", links=(Link(id="", ontology="MESH", nil=True),)),),
    )
    _, table = taken_apart(nil)
    assert table == [["asthma", "Disease", "0–6", "gold"]]


def test_types_that_are_common_together_differ_in_colour() -> None:
    for names in (
        ("Gene", "Disease", "Chemical", "Species", "CellLine", "CellType"),
        ("PER", "ORG", "LOC", "MISC"),
    ):
        assert len({colour_class(name) for name in names}) == len(names)


def test_thousands_of_mentions_take_no_long_time() -> None:
    text = "a few words and more of them, " * 2_000
    mentions = [Mention(((at, at + 11),), "X") for at in range(0, len(text) - 20, 10)]
    page = Document(id="d", text=text, mentions=tuple(mentions))._repr_html_()
    assert page.count('class="line') > len(mentions) > 5_000
