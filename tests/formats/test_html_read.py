"""Pages in HTML: the text that they show."""

from __future__ import annotations

import time
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.errors import FormatError, MissingExtraError
from fascicle.formats import detect, read, write

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>IL-2 &amp; you</title><style>p { color: red }</style><script>var a = "<p>no</p>"</script>
</head><body><!-- no --><h1>IL-2</h1><nav><a href="/">Home</a></nav>
<p>Lung <b>can</b>cer,&nbsp;&beta;<sup>+</sup>
 of   10<br>kg. <span hidden>Secret.</span><i style="display: none">none</i></p>
<ul><li>one<li>two</ul><div>loose <p>inside</p> after</div>
<table><tr><th>Drug</th><th>Dose</th></tr><tr><td>a<br>b</td><td>5 mg</td></tr></table>
<pre>
 x
  y
</pre><img src="a.png" alt="A picture"><noscript>none</noscript><form><input value="v"><textarea>none</textarea></form>
</body></html>"""
TEXTS = [
    ("title", "IL-2 & you"),
    ("heading", "IL-2"),
    ("nav", "Home"),
    ("body", "Lung cancer,\u00a0β+ of 10\nkg."),
    *(("body", text) for text in ("one", "two", "loose", "inside", "after")),
    ("table", "Drug\tDose"),
    ("table", "a\nb\t5 mg"),
    ("pre", " x\n  y"),
]


@pytest.fixture(autouse=True)
def _package() -> None:
    pytest.importorskip("selectolax")


def of(tmp_path: Path, content: str | bytes, name: str = "a.html") -> Document:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert detect(str(path)) == "html"
    (found,) = read(path)
    return found


def test_a_page(tmp_path: Path) -> None:
    found = of(tmp_path, PAGE)
    said = [(one.name, found.text[one.start : one.end]) for one in found.sections or ()]
    assert said == TEXTS
    assert found.text == "\n\n".join(text for _, text in TEXTS)
    assert (found.id, found.meta) == ("a", {"text": "extracted", "language": "en"})
    (event,) = found.events
    for what in ("scripts 2", "hidden parts 2", "descriptions of pictures 1", "fields of forms 2"):
        assert what in event.message


@pytest.mark.parametrize(
    ("charset", "codec"),
    [
        ("iso-8859-1", "cp1252"),
        ("windows-1251", "cp1251"),
        ("utf-8", "utf-8"),
        ("no-such", "utf-8"),
    ],
)
def test_the_page_names_its_encoding(tmp_path: Path, charset: str, codec: str) -> None:
    text = "Müller “x”" if codec != "cp1251" else "Молекула"
    page = (
        '<html><head><meta http-equiv="Content-Type" content="text/html; '
        f'charset={charset}"></head><p>{text}</p>'
    )
    assert of(tmp_path, page.encode(codec)).text == text


def test_a_part_of_a_page_and_an_empty_one(tmp_path: Path) -> None:
    assert of(tmp_path, "<p>Lung</p><p>cancer").text == "Lung\n\ncancer"
    assert of(tmp_path, "<html></html>").text == ""
    assert of(tmp_path, "<!-- c --><!doctype html>a" + "<i>" * 9_000 + "b").text == "ab"


def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ours.html", [Document(id="1", text="asthma")])
    with pytest.raises(FormatError, match="Fascicle"):
        list(read(tmp_path / "ours.html"))
    monkeypatch.setattr("fascicle.formats.web_page.MAX_PAGE", 100)
    with pytest.raises(FormatError, match="100 characters"):
        of(tmp_path, f"<p>{'x' * 100}</p>")


def test_without_the_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "selectolax.lexbor", None)
    with pytest.raises(MissingExtraError, match=r"fascicle\[html\]"):
        of(tmp_path, PAGE)


class _Characters(HTMLParser):
    """The characters of a page by another parser."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)


WORD = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=8)
INLINE = st.recursive(
    WORD.map(escape),
    lambda inner: st.builds(
        "<{0}>{1}</{0}>{2}".format,
        st.sampled_from(["b", "span", "sub", "em"]),
        inner,
        WORD.map(escape),
    ),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None)
@given(
    blocks=st.lists(
        st.tuples(st.sampled_from(["p", "div", "h2", "section", "blockquote"]), INLINE), max_size=5
    )
)
def test_the_characters_of_blocks(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[tuple[str, str]]
) -> None:
    page = "".join(f"<{name}>{inside}</{name}>" for name, inside in blocks)
    found = of(tmp_path_factory.mktemp("a"), f"<html><body>{page}</body></html>")
    expected = []
    for _, inside in blocks:
        parser = _Characters()
        parser.feed(inside)
        parser.close()
        expected.append(" ".join(part for part in "".join(parser.found).split(" ") if part))
    assert [found.text[one.start : one.end] for one in found.sections or ()] == list(
        filter(None, expected)
    )


@pytest.mark.parametrize(
    "inside", ["a<?ul>b", "a<![CDATA[x]]>b", "a<!x>b", "a</>b", "<svg><p>a</svg>b"]
)
def test_odd_marks(tmp_path: Path, inside: str) -> None:
    text = of(tmp_path, f"<html><body><p>{inside}</p></body></html>").text
    assert text.replace("\n", "") in ("ab", "axb")


DEEP = 60_000


@pytest.mark.parametrize(
    "begin", ["<div>", "<B>x", "<p><div class='a>b'>", "<div></p></b>", "<x/>", "<svg></svg><g/>"]
)
def test_elements_too_deep_inside_one_another_are_refused_at_once(
    tmp_path: Path, begin: str
) -> None:
    began = time.process_time()
    with pytest.raises(FormatError, match="nested more than 10,000 deep"):
        of(tmp_path, begin * DEEP)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "inside",
    [
        "<p>x<br>" * DEEP,
        "<ul>" + "<li>x" * DEEP + "</ul>",
        "<div>x</div>" * DEEP,
        "<svg>" + "<path d='M0 0'/>" * DEEP + "</svg>x",
        "<script>" + 'y = "<div>";' * DEEP + "</script>x",
        "<table>" + "<tr><td>x" * DEEP + "</table>",
    ],
    ids=str.__len__,
)
def test_many_elements_beside_one_another_are_read(tmp_path: Path, inside: str) -> None:
    assert of(tmp_path, f"<body>{inside}</body>").text.count("x") == inside.count("x")


@pytest.mark.parametrize(
    "place",
    [
        *("brown2003", "Smith2003a", "tabatabai2010", "smith_et_al_2003", "rSmith", "cSmith"),
        *("b_smith", "RSTB20190001C12", "section-bib1", "Box1-ref2", "figshare-ref1", "bib1"),
        *("sec2-cite3", "fig1-fn2", "table.note", "cite_note-x_1", "a#b1", "rid_ref7", "CR7"),
    ],
)
def test_the_place_of_a_reference_makes_a_link_a_mark(tmp_path: Path, place: str) -> None:
    found = of(tmp_path, f'<p>lupus and gout <a href="page#{place}">12</a> were</p>')
    assert found.text == "lupus and gout were"


@pytest.mark.parametrize(
    "place",
    [
        *("tab:results", "fig:cells", "sec:cohort", "box1", "sec:reference", "sec:bibliography"),
        *("fig:citations", "conclusions", "results", "cohort", "cells2003b4", "bMethods2", "b1#a"),
    ],
)
def test_the_place_of_another_part_makes_no_link_a_mark(tmp_path: Path, place: str) -> None:
    found = of(tmp_path, f'<p>the cohort <a href="page#{place}">12</a> of</p>')
    assert found.text == "the cohort 12 of"


def test_places_of_any_length_are_read_in_time(tmp_path: Path) -> None:
    places = ("#" * 20_000, "_" * 20_000, "a" * 20_000, "a_" * 10_000, "fig" + "ref" * 7_000)
    began = time.process_time()
    for place in places:
        assert of(tmp_path, f'<p>gout <a href="#{place}">12</a> was</p>').text
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("gout <del>asthma</del><ins>lupus</ins> was", "gout lupus was"),
        ("<ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby> met", "東京 met"),
        ("gout<button>Copy</button>asthma", "gout asthma"),
        ("gout<img src=x>asthma", "gout asthma"),
        (
            "<math><msup><mi>x</mi><mn>2</mn></msup><annotation>\\y</annotation></math> was",
            "x2 was",
        ),
        ("breast <x-term>cancer</x-term> was", "breast cancer was"),
        ("cyclo<wbr>phosphamide", "cyclophosphamide"),
        ('gout<span style="vertical-align: super">3</span> was', "gout was"),
        ('gout<a role="doc-noteref" href="#n">3</a> was', "gout was"),
        (
            'IL-2<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[1]</a></sup> was',
            "IL-2 was",
        ),
        ("asthma<br>gout<sup>1</sup>", "asthma\ngout"),
        (
            'Table <a href="#tab:results">1</a>, Figure <a href="#fig:cells">2</a>, Phase '
            '<a href="#sec:cohort">3</a>, Box <a href="#box1">4</a>',
            "Table 1, Figure 2, Phase 3, Box 4",
        ),
        ('the cohort <a href="#sec:reference">3</a> data', "the cohort 3 data"),
        ('Figure <a class="xref fig" href="#f1">2</a> has', "Figure 2 has"),
        ('cells <a class="xref-fig" href="#f1">2</a> have', "cells 2 have"),
        ('in Table&nbsp;<a href="#b1">2</a> and', "in Table\xa02 and"),
        ('gout <a href="#b1">2</a> and', "gout and"),
        (
            'gout<a href="#bb0010">2</a> or lupus<sup><a href="#tab1-fn2">a</a></sup>',
            "gout or lupus",
        ),
        ('gout<a href="#rid-CR7">2</a>, IL-2<a href="#b0010">3</a>', "gout, IL-2"),
    ],
)
def test_content_inside_a_line_neither_joins_nor_cuts_words(
    tmp_path: Path, content: str, shown: str
) -> None:
    found = of(tmp_path, f"<html><body><p>{content}</p></body></html>")
    assert found.text == shown
