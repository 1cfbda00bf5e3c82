"""A document as HTML: its text and the words of its mentions come back from the page, whatever they are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.annotated import colour_of
from fascicle.core.document import Document, Link, Mention, unique
from fascicle.core.html import FORBIDDEN

VOID = {"meta", "br"}
Lane = tuple[int, bool]


class Reader(HTMLParser):
    """Takes the marked text apart: its characters, each with the lanes of the lines below it, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.characters: list[tuple[str, frozenset[Lane]]] = []
        self.tags: list[str] = []
        self.cells: list[str] = []
        self._open: list[tuple[str, str, str]] = []
        self.feed(page)
        self.close()
        assert not self._open

    @property
    def text(self) -> str:
        return "".join(one for one, _ in self.characters)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag not in VOID:
            self._open.append((tag, found.get("class", ""), found.get("style", "")))
        if tag == "td":
            self.cells.append("")
        if "tag" in found.get("class", "").split():
            self.tags.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        names = [set(looks.split()) for _, looks, _ in self._open]
        if self._open and self._open[-1][0] == "style":
            return
        if any("tag" in one for one in names):
            self.tags[-1] += data
        elif any("marked" in one for one in names):
            self.characters += [(one, frozenset(self._lanes())) for one in data]
        elif any(tag == "td" for tag, _, _ in self._open):
            self.cells[-1] += data

    def _lanes(self) -> Iterator[Lane]:
        for _, looks, style in self._open:
            kind = looks.partition(" ")[0]
            if kind in ("line", "gap"):
                yield int(re.findall(r"--lane:(\d+)", style)[0]), kind == "line"


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
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), min_size=2 * several, max_size=2 * several)))
        spans = tuple(zip(cuts[::2], cuts[1::2], strict=True))
        source = draw(st.sampled_from(("gold", "m")))
        found.append(
            Mention(spans, draw(st.sampled_from("AB") | ANY), source=source, score=draw(st.none() | st.just(0.5)))
        )
    return Document(id=draw(ANY), text=text, mentions=unique(found)[0])


@given(documents())
def test_the_text_and_every_mention_come_back(document: Document) -> None:
    page = Reader(document._repr_html_())
    assert page.text == as_shown(document.text)
    assert len(page.tags) == sum(len(mention.spans) for mention in document.mentions)
    # No two mentions that overlap share a lane, so a line that goes on is one fragment, or two that touch.
    lined: defaultdict[int, set[Lane]] = defaultdict(set)
    for at, (_, lanes) in enumerate(page.characters):
        for lane, solid in lanes:
            lined[lane] |= {(at, solid)}
    expected = sorted(at for mention in document.mentions for start, end in mention.spans for at in range(start, end))
    assert sorted(at for lane in lined.values() for at, solid in lane if solid) == expected
    for mention in document.mentions:
        whole = {(at, any(a <= at < b for a, b in mention.spans)) for at in range(mention.start, mention.end)}
        assert any(whole <= places for places in lined.values()), "a mention without a line of its own"
    surfaces = [as_shown(mention.text_in(document.text)) for mention in document.mentions]
    columns = len(page.cells) // max(1, len(document.mentions))
    assert page.cells[::columns] == surfaces if document.mentions else not page.cells


def test_the_table_says_what_is_known_of_a_mention() -> None:
    link = Link(id="D1", ontology="MESH", name="asthma")
    mention = Mention(((0, 2), (3, 6)), "Disease", score=0.25, source="m", links=(link,), attributes=(("a", "b"),))
    page = Reader(Document(id="d", text="as thma", mentions=(mention,))._repr_html_())
    assert page.cells == ["as thm", "Disease", "0–2, 3–6", "0.25", "m", "MESH:D1 asthma", "a = b"]
    assert page.tags == ["Disease #1, part 1 of 2", "Disease #1, part 2 of 2"]
    bare = Reader(Document(id="d", text="asthma", mentions=(Mention(((0, 6),), "Disease"),))._repr_html_())
    assert bare.cells == ["asthma", "Disease", "0–6", "gold"]
    assert Reader(Document(id="d", text="")._repr_html_()).text == ""


def test_types_that_are_common_together_differ_in_colour() -> None:
    for names in (("Gene", "Disease", "Chemical", "Species", "CellLine", "CellType"), ("PER", "ORG", "LOC", "MISC")):
        assert len({colour_of(name) for name in names}) == len(names)


def test_thousands_of_mentions_take_no_long_time() -> None:
    text = "a few words and more of them, " * 2_000
    mentions = [Mention(((at, at + 11),), "X") for at in range(0, len(text) - 20, 10)]
    page = Document(id="d", text=text, mentions=tuple(mentions))._repr_html_()
    assert page.count('class="line') > len(mentions) > 5_000
