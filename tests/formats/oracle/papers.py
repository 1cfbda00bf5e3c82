"""Papers as PDFs, of which every word is known: some written by hand as ISO 32000 describes them,
some by a browser.

They have columns, running heads and page numbers, ligatures, and words that are cut at line ends.
Those by hand have their lines in the order of the columns, line by line across the columns, or in
no order at all."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from random import Random
from typing import Any, Final

WORDS: Final = tuple(
    word
    for line in (
        "patients with fibrosis were treated for inflammation of the profile and its efficacy in "
        "difficult cases",
        "reflux was specific to aspirin warfarin metformin hypertension cardiomyopathy of an "
        "uncontrolled assay",
        "flow confirmed significant findings a dose-dependent effect TNF-alpha IL-6 in "
        "placebo-controlled trials (95%)",
        "p < 0.05, which showed therapeutic differences between groups; concentrations "
        "increased. The final results",
        "reflect that offering affinity chromatography was sufficient. Thrombocytopenia, "
        "hyperparathyroidism and",
        "pharmacokinetics immunohistochemistry",
    )
    for word in line.split()
)
HEAD, FOOT = "J. Made-up Res. 12 (2020) 1-9", "Page"
_WIDTH, _HEIGHT, _MARGIN = 612, 792, 54
_ADVANCE: Final = 0.6  # of Courier, for a size of one
_LIGATURES: Final = (("fi", b"\\256"), ("fl", b"\\257"))  # in the standard encoding


@dataclass(frozen=True)
class Paper:
    """A PDF, and its words in the order in which they are read."""

    content: bytes
    words: tuple[str, ...]


@dataclass(frozen=True)
class _Line:
    x: float
    y: float
    size: float
    text: str


def _prose(random: Random, count: int) -> list[list[str]]:
    """Paragraphs of words."""
    paragraphs = []
    while count > 0:
        made = random.choices(WORDS, k=random.randint(25, 90))
        paragraphs.append(made)
        count -= len(made)
    return paragraphs


def _wrapped(words: Sequence[str], width: int, random: Random, *, indent: int) -> Iterator[str]:
    """Lines of at most some characters; long words are cut at line ends."""
    line = " " * indent
    for word in words:
        while len(line) + (not line.endswith(" ") and bool(line)) + len(word) > width:
            room = width - len(line) - 2
            at = word.find("-") if "-" in word else random.randint(3, max(3, len(word) - 3))
            if (
                word.isalpha()
                and len(word) >= 8
                and at <= room
                and word[at - 1 : at + 1] not in ("fi", "fl")
            ):
                yield (
                    f"{line} {word[:at]}-".lstrip()
                    if not indent
                    else f"{line.rstrip()} {word[:at]}-"
                )
                line, word = "", word[at:]
                continue
            if "-" in word and 0 < at < room:
                yield f"{line} {word[: at + 1]}"
                line, word = "", word[at + 1 :]
                continue
            yield line
            line = ""
        line += word if not line or line.endswith(" ") else f" {word}"
    yield line


def by_hand(number: int) -> Paper:
    """A paper of one, two or three columns."""
    random = Random(f"paper {number}")
    columns, size = number % 3 + 1, random.choice((8, 9, 10))
    order = ("columns", "rows", "none")[number // 3 % 3]
    title, paragraphs = random.choices(WORDS, k=9), _prose(random, random.randint(900, 1800))
    gutter = 18
    room = (_WIDTH - 2 * _MARGIN - gutter * (columns - 1)) / columns
    lines = [
        line
        for at, words in enumerate(paragraphs)
        for line in _wrapped(words, int(room / size / _ADVANCE), random, indent=2 * (at > 0))
    ]
    pages = _pages(lines, title, columns=columns, size=size, room=room + gutter)
    contents = [_page(page, at, order=order, random=random) for at, page in enumerate(pages, 1)]
    return Paper(_pdf(contents), (*title, *(word for one in paragraphs for word in one)))


def _pages(
    lines: Sequence[str], title: Sequence[str], *, columns: int, size: int, room: float
) -> list[list[_Line]]:
    pages: list[list[_Line]] = []
    left = list(lines)
    while left:
        top = _HEIGHT - _MARGIN - 20
        page = []
        if not pages:
            half = len(title) // 2
            page = [
                _Line(90, top - 18 * at, 13, " ".join(part))
                for at, part in enumerate((title[:half], title[half:]))
            ]
            top -= 60
        fit = int((top - _MARGIN) / (size * 1.2))
        # the last page has equal columns
        rest = -(-len(left) // columns) if len(left) <= fit * columns else fit
        for column in range(columns):
            for at in range(min(rest, len(left))):
                page.append(
                    _Line(_MARGIN + column * room, top - at * size * 1.2, size, left.pop(0))
                )
        pages.append(page)
    return pages


def _page(page: Sequence[_Line], number: int, *, order: str, random: Random) -> bytes:
    lines = list(page)
    if order == "rows":
        lines.sort(key=lambda one: (-one.y, one.x))
    if order == "none":
        random.shuffle(lines)
    frame = [_Line(_MARGIN, _HEIGHT - 40, 8, HEAD), _Line(_WIDTH - 110, 30, 8, f"{FOOT} {number}")]
    return b"\n".join(_shown(one) for one in (frame[0], *lines, frame[1]))


def pdf_of(lines: Sequence[str], *, order: Sequence[int]) -> bytes:
    """A page with lines that are written in one order, and stand on the page in the ``order`` of
    these numbers.
    """
    shown = [
        _Line(_MARGIN, 700 - 12 * place, 10, text) for text, place in zip(lines, order, strict=True)
    ]
    return _pdf([b"\n".join(map(_shown, shown))])


def _shown(line: _Line) -> bytes:
    x = line.x + (len(line.text) - len(line.text.lstrip())) * line.size * _ADVANCE
    text = (
        line.text.strip()
        .replace("\\", r"\\")
        .replace("(", r"\(")
        .replace(")", r"\)")
        .replace("\u2010", r"\255")
        .encode("ascii")
    )
    for letters, code in _LIGATURES:
        text = text.replace(letters.encode(), code)
    return b"BT /F1 %d Tf 1 0 0 1 %.2f %.2f Tm (%s) Tj ET" % (line.size, x, line.y, text)


_IMAGE: Final = (
    b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\n"
    b"stream\n\x00\nendstream"
)
_FONTS: Final = b"/F1 3 0 R /F2 << /Type /Font /Subtype /Type1 /BaseFont /Symbol >>"


def printed(
    *pages: Sequence[tuple[float, float, float, str]] | bytes, more: Sequence[bytes] = ()
) -> bytes:
    """Pages of lines, each with x, y, size and text, or of content streams.

    Args:
        pages: what stands on each; ``/F2`` is the font Symbol, ``/I`` a picture of one unit.
        more: further entries of each page.
    """
    return _pdf(
        [
            one if isinstance(one, bytes) else b"\n".join(_shown(_Line(*line)) for line in one)
            for one in pages
        ],
        more=more,
    )


def _pdf(contents: Sequence[bytes], *, more: Sequence[bytes] = ()) -> bytes:
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding << /Type /Encoding /Differences "
        b"[173 /uni2010 /fi /fl] >> >>",
    ]
    for at, content in enumerate(contents):
        box = f"[0 0 {_WIDTH} {_HEIGHT}]".encode()
        other = b" ".join(more[at : at + 1]) or b"/MediaBox " + box
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /Resources << /Font << %s >> /XObject << /I %d 0 R >> >> "
            b"%s /Contents %d 0 R >>" % (_FONTS, 4 + 2 * len(contents), other, 5 + 2 * at)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    objects.append(_IMAGE)
    made, places = b"%PDF-1.4\n", []
    for at, one in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (at, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        len(made),
    )
    return made + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


def by_browser(browser: Any, number: int) -> Paper:
    """A paper that Chromium prints: justified columns, ligatures of its fonts, soft hyphens."""
    random = Random(f"printed {number}")
    title, paragraphs = random.choices(WORDS, k=9), _prose(random, random.randint(1200, 2200))
    font, size = (
        random.choice(("DejaVu Serif", "Liberation Serif", "DejaVu Sans")),
        random.choice((8, 9, 10)),
    )
    body = "".join(f"<p>{' '.join(_soft(word) for word in one)}</p>" for one in paragraphs)
    style = (
        f"body {{font: {size}pt '{font}'; font-variant-ligatures: common-ligatures}} h1 "
        "{font-size: 15pt; margin: 0} "
        f"main {{columns: {number % 3 + 1}; column-gap: 6mm; text-align: justify; hyphens: "
        "manual} "
        f"p {{margin: 0 0 {random.choice((0, 4))}pt; text-indent: 1em}}"
    )
    page = browser.new_page()
    page.set_content(f"<style>{style}</style><h1>{escape(' '.join(title))}</h1><main>{body}</main>")
    frame = "<div style='font-size:8px; width:100%; padding-left:40px'>{}</div>"
    content = page.pdf(
        format="A4",
        display_header_footer=True,
        header_template=frame.format(HEAD),
        footer_template=frame.format(f"{FOOT} <span class=pageNumber></span>"),
        margin={"top": "25mm", "bottom": "25mm", "left": "18mm", "right": "18mm"},
    )
    page.close()
    return Paper(content, (*title, *(word for one in paragraphs for word in one)))


def _soft(word: str) -> str:
    if not word.isalpha() or len(word) < 8:
        return escape(word)
    cuts = [0, *range(3, len(word) - 2, 3), len(word)]
    return "&shy;".join(word[start:end] for start, end in pairwise(cuts))


def in_order(wanted: Sequence[str], found: Sequence[str]) -> float:
    """The part of the words that is found in order: the longest common sequence over the number
    of words.
    """
    places: dict[str, list[int]] = {}
    for at, word in enumerate(found):
        places.setdefault(word, []).append(at)
    ends: list[int] = []  # the least last place of a common sequence of each length
    for word in wanted:
        for at in reversed(places.get(word, ())):
            into = bisect_left(ends, at)
            ends[into : into + 1] = [at]
    return len(ends) / max(len(wanted), len(found), 1)
