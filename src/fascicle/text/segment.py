"""Rule-based word and sentence segmentation: without a model, in linear time, for any Unicode text;
words of spans.

A trained network depends on the segmentation of its text, so a segmenter has a *version*: a model
names the one it was trained with, and changed rules get a new name beside the old one, never the
old name.

``rules@1`` cuts words as the biomedical IOB corpora do (a run of letters and digits is a word,
every other character is a word of its own) and keeps grapheme clusters together. Scripts that are
written without spaces have one word per character. Sentences end after a full stop that is not part
of an abbreviation, an initial or a number, after ``?`` and ``!``, after the full stops of other
scripts, and where the layout says so: at blank lines, headings, bullets, and line breaks beside
lines too long to have been wrapped. Both cover every character that is not white space, and no
sentence ends inside a word.

The only input besides the text is Python's Unicode database: characters that it does not know yet
are symbols.

A span typer reads only the words of a span (`SurfaceReader`): those of the document, else those of
a segmenter. For a span that begins or ends inside a word, only the part of the word in the span
counts.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from operator import itemgetter
from types import MappingProxyType

import msgspec

from fascicle.core.document import Document
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span
from fascicle.core.wording import plural
from fascicle.errors import InputError
from fascicle.text.borders import borders

# -- words -----------------------------------------------------------------------------------------

# A text is first turned into its shape, one letter per character, so that one small expression
# serves all of Unicode: L letter or digit; C the same in a script without spaces; M mark, stays
# with what precedes it; T skin tone of an emoji; J joiner; R regional indicator (two make a flag);
# S white space; P everything else.
_WORD = re.compile(r"L[LMJ]*+|C[MJ]*+|RR?+M*+|P[MT]*+(?:J++P[MT]*+)*+J*+|[MTJ]++")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9\s]")

# Thai and Lao, Burmese, Khmer, Tai, CJK radicals to Yi, ideographs, half-width kana, further planes
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x312F), (0x31A0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0xA4CF), (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9D), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF),
)  # fmt: skip
_JOINERS = "\u200c\u200d"
_MARKS_BY_USE = "\u00ad\u2060\uff9e\uff9f"  # soft hyphen, word joiner, voicing of half-width kana


def words(text: str) -> tuple[Span, ...]:
    """Splits a text into words by ``rules@1``.

    Args:
        text: any text.

    Returns:
        Sorted, disjoint spans; every character that is not white space lies in exactly one.
    """
    if text.isascii():  # its shape has L, P and S alone
        return tuple([match.span() for match in _ASCII_WORD.finditer(text)])
    shape = text.translate({ord(character): _kind(character) for character in set(text)})
    return tuple([match.span() for match in _WORD.finditer(shape)])


@lru_cache(maxsize=4096)
def _kind(character: str) -> str:
    """Returns the letter for a character in a shape."""
    code, category = ord(character), unicodedata.category(character)
    if character.isspace():
        return "S"
    if character in _JOINERS:
        return "J"
    if category[0] == "M" or character in _MARKS_BY_USE or 0xE0020 <= code <= 0xE007F:
        return "M"
    if character.isalnum():
        unspaced = category != "Nd" and any(first <= code <= last for first, last in _UNSPACED)
        return "C" if unspaced else "L"
    if 0x1F3FB <= code <= 0x1F3FF:
        return "T"
    return "R" if 0x1F1E6 <= code <= 0x1F1FF else "P"


# -- sentences -------------------------------------------------------------------------------------

_WIDE = frozenset("。！？｡︒")  # need no white space after them
_CLOSERS = "\"'”’»›)\\]}」』）】〕》〉］｝〟"
_OPENERS = "\"'“‘„«‹([{「『（【〔《〈［｛〝¿¡"
_GOES_ON = ",;:.!?%/)]}"  # no sentence begins with these
_SIGNS = "-+±~<>≤≥=–−"
_STOP = re.compile(
    r"(?P<stop>[.!?…‽؟۔।॥։።፧။។。！？｡︒]++)"
    # closing marks, or a citation like [3, 4]
    rf"(?:[{_CLOSERS}]|[ \u00a0\u202f]»(?=\s)|\[\d[\d, –-]{{0,20}}\])*+"
)
_NEXT = re.compile(rf"\s++(?P<lead>[{re.escape(_OPENERS + _SIGNS)}]{{0,4}}+)(?P<rest>\S{{0,24}})")
_LEADING_LETTERS = re.compile(r"[^\W\d_]+(?![.\w])")
_LABEL = re.compile(r"[A-Z][A-Za-z]{3,}(?: [A-Za-z]+)?:")
# Names that keep their lower case at the start of a sentence: mRNA, p53, beta-Blocker, von
# Willebrand.
_UNCHANGED = re.compile(r"[a-z]{1,5}[A-Z0-9]|(?:alpha|beta|gamma|delta|kappa)-|(?:von|van)$")
_LOOK_BACK = 48  # characters; no abbreviation is longer, and a bound keeps the whole linear


def _word_set(spaced: str) -> frozenset[str]:
    return frozenset(spaced.split())


# The lists hold lower case, so a word in capitals (CF, MR, SP: acronyms, not abbreviations) is in
# none unless listed. Never the last word of a sentence; the titles only as written, for "50 ms"
# ends one.
_TITLES = _word_set("Dr Drs Prof Mr Mrs Ms Mme St FIG FIGS")
_NEVER_LAST = _word_set("e.g i.e eg ie vs cf viz fig figs eq eqs ref refs approx")
# Part of a reference or a quantity when a number follows, an ordinary end of a sentence otherwise.
_BEFORE_NUMBER = _word_set("no nos nr vol vols pp pg ch chap sec sect tab art suppl ca ver ed")
# May end a sentence, but only if the next word commonly begins one.
_ABBREVIATIONS = _word_set(
    "al etc inc ltd co corp pharm univ dept sp spp ssp subsp var cv jr sr eds ed incl resp esp est "
    "no jan feb mar apr jun jul aug sep sept oct nov dec acad am ann annu appl arch assoc biochem "
    "biol br chem chr clin commun curr dev engl eur exp genet hum int invest j jpn lett med mol "
    "mutat nat natl neurol neurosci opin phys physiol proc psychiatry res rev sci soc suppl surg "
    "symp ther"
)
# A single capital after one of these is a name (vitamin C), not an initial.
_LETTERED = _word_set(
    "actinomycin alpha apolipoprotein arm beta case cathepsin class cohort complex cyclosporin "
    "cytochrome degrees delta experiment factor family fragile gamma grade group groups haplotype "
    "hepatitis immunoglobulin influenza kappa mitomycin panel part patient phase poly protein "
    "stage subtype study table type types virus vitamin"
)
_LETTERED_NAME = re.compile(r".*\W")  # what precedes the last part of NF-kappa B, (type B
_STARTERS = _word_set(
    "a additionally after all also although among an and another as at based because before both "
    "but by compared consequently conversely data despite due during each either even finally "
    "first five following for four from furthermore given hence he her here his how however i if "
    "importantly in indeed interestingly it its many moreover most mutations my neither "
    "nevertheless no none nor notably of on one only other our overall patients previous recently "
    "results several she similarly since six so some subsequently such taken ten that the their "
    "then there therefore these they this those three through thus to together two under unlike "
    "until using we what when whereas whether which while who why with within without you"
)
_SECTION_NAMES = _word_set(
    "abstract acknowledgements acknowledgments aim aims background conclusion conclusions "
    "discussion funding introduction keywords limitations method methods objective objectives "
    "purpose references result results summary title"
)
_LINE_BREAK = re.compile(r"\r\n?+|[\n\x85\u2028\u2029]")
_BULLET = re.compile(r"\s*+(?:[*•‣◦▪-]|\(?\d{1,2}[.)])\s+\S")
_WRAPPED = (
    200  # characters; a longer line was not wrapped, so a line break beside it ends a paragraph
)


def sentences(text: str) -> tuple[Span, ...]:
    """Splits a text into sentences by ``rules@1``.

    Args:
        text: any text.

    Returns:
        Sorted, disjoint spans without white space at their ends; every character that is not white
        space lies in one.
    """
    cuts = sorted({0, len(text), *_layout_cuts(text), *_stop_cuts(text)})
    return tuple(_trimmed(cuts, text))


def _trimmed(cuts: Sequence[int], text: str) -> Iterator[Span]:
    """Yields the stretches of text between cuts, without white space at their ends."""
    for start, end in pairwise(cuts):
        if text[start].isspace():
            start = end - len(text[start:end].lstrip())
        if text[end - 1].isspace():
            end = start + len(text[start:end].rstrip())
        if start < end:
            yield start, end


def _layout_cuts(text: str) -> Iterator[int]:
    """Yields the ends of lines that end a sentence whatever their last word is."""
    start, above, at = 0, None, 0
    for match in _LINE_BREAK.finditer(text):
        below = text[start : match.start()]
        if above is not None and _parted(above, below):
            yield at
        above, at, start = below, match.start(), match.end()
    if above is not None and _parted(above, text[start:]):
        yield at


def _parted(above: str, below: str) -> bool:
    """True if a line break alone separates two sentences."""
    first = below.lstrip()[:1]
    if not first or not above.strip():
        return True
    if _BULLET.match(below) or _is_heading(above) or _is_heading(below):
        return True
    return max(len(above), len(below)) > _WRAPPED and not first.islower()


def _is_heading(line: str) -> bool:
    line = line.strip()
    if len(line) > 80 or line[-1:] in (",", ";", "-"):
        return False
    if line.startswith("#") or line.rstrip(":.").casefold() in _SECTION_NAMES:
        return True
    return (
        line.isupper()
        and " " not in line[:4]
        and sum(map(str.isalpha, line)) > max(3, len(line) // 2)
    )


def _stop_cuts(text: str) -> Iterator[int]:
    """Yields the ends of the full stops, with their closing marks, that end a sentence."""
    for match in _STOP.finditer(text):
        end = match.end()
        if end < len(text) and _ends_sentence(text, match["stop"], match.start(), end):
            yield end


def _ends_sentence(text: str, stop: str, start: int, end: int) -> bool:
    if stop[-1] in _WIDE:
        return _kind(text[end]) not in "MTJ"
    following = _NEXT.match(text, end)
    if following is None or not following["rest"]:
        return False
    lead, after = following["lead"], following["rest"]
    if not lead and after[0] in _GOES_ON:
        return False
    if stop != ".":
        return not after[0].islower()
    return _full_stop(
        text[max(0, start - _LOOK_BACK) : start], after=after, bracket=lead[-1:] in ("(", "[")
    )


def _full_stop(before: str, *, after: str, bracket: bool) -> bool:
    """True if a single full stop between two stretches of text ends a sentence.

    Args:
        before: text before it, of bounded length.
        after: the next characters, without opening marks and signs.
        bracket: true if a bracket opens right before ``after``.
    """
    if not before or before[-1].isspace():  # "P < .05", ". . ."
        return after[0].isupper()
    *earlier, last = before.split()
    word = last.lstrip(_OPENERS) or last
    if word in _TITLES or _is_enumerator(word, earlier):
        return False
    word = word if len(word) > 1 and word.isupper() and word.isalpha() else word.lower()
    if word in _NEVER_LAST:
        return False
    begins = _begins(after)
    if after[0].islower():
        return (
            _UNCHANGED.match(after) is not None and word not in _ABBREVIATIONS and "." not in word
        )
    if after[0].isdigit():
        return _before_number(word)
    if word in _ABBREVIATIONS or ("." in word and last[-1].isupper()):  # et al, U.S
        return begins
    if len(word) == 1 and last[-1].isupper():
        return begins or (
            bool(earlier) and _LETTERED_NAME.sub("", earlier[-1].lower()) in _LETTERED
        )
    return begins or not (bracket and "." in word)


def _begins(after: str) -> bool:
    """True if the next word commonly begins a sentence, or is a label such as ``RESULTS:``."""
    letters = _LEADING_LETTERS.match(after)
    return _LABEL.match(after) is not None or (
        letters is not None and letters[0].lower() in _STARTERS
    )


def _is_enumerator(word: str, earlier: list[str]) -> bool:
    """True if the full stop belongs to the number of a list item (``... in rats. 2. The
    effect``).
    """
    if len(word) > 2 or not word.isdecimal():
        return False
    return not earlier or (earlier[-1][-1] in ".?!:" and not earlier[-1][-2:-1].isdigit())


def _before_number(word: str) -> bool:
    """True if a sentence may end after the word when a number follows."""
    if len(word) == 1 or "." in word or not (word[-1].isalpha() or word[-1] in ")]%"):
        return False
    return word not in _BEFORE_NUMBER and word not in _ABBREVIATIONS


# -- the versions ----------------------------------------------------------------------------------


class Segmenter(msgspec.Struct, frozen=True, kw_only=True):
    """Named, versioned segmentation rules; the behaviour of a name never changes.

    Attributes:
        name: name and version, e.g. ``"rules@1"``.
        words: function from a text to sorted, disjoint spans of words that cover all characters
            except white space.
        sentences: the same for sentences.
    """

    name: str
    words: Callable[[str], tuple[Span, ...]]
    sentences: Callable[[str], tuple[Span, ...]]


def all_sentences(document: Document, rules: Segmenter) -> tuple[Span, ...]:
    """Returns the sentences of a document, and in the text outside them those of the rules, cut at
    all `borders`.
    """
    text, whole, end = document.text, list[Span](), 0
    cuts = sorted(borders(document))
    if document.sentences is None:
        return _divided(rules.sentences(text), cuts, text)
    for span in (*document.sentences, (len(text), len(text))):
        between = rules.sentences(text[end : span[0]])
        whole += _divided([(end + first, end + last) for first, last in between], cuts, text)
        whole.append(span)
        end = span[1]
    return tuple(whole[:-1])


def _divided(spans: Sequence[Span], cuts: Sequence[int], text: str) -> tuple[Span, ...]:
    """Returns the parts of spans between cuts, without white space at their ends."""
    inner = [cut for cut in cuts if (at := bisect_left(spans, (cut, 0))) and cut < spans[at - 1][1]]
    if not inner:
        return tuple(spans)
    return tuple(_trimmed(sorted({*chain(*spans), *inner}), text))


def sentence_parts(text: str, sentences: Sequence[Span], most: int) -> Iterator[Span]:
    """Yields ranges of whole sentences with at most so many characters; a longer sentence is cut
    at white space.

    Args:
        text: of any length.
        sentences: its sentences; without any it is one.
        most: characters of a range.
    """
    start = end = -1
    for first, last in sentences or ((0, len(text)),):
        if start >= 0 and last - start > most:
            yield start, end
            start = -1
        start, end = (first if start < 0 else start), last
        while end - start > most:
            blank = text.rfind(" ", start + 1, start + most)
            cut = blank if blank > start else start + most
            yield start, cut
            start = cut
    if 0 <= start < end:
        yield start, end


def sentence_number(sentences: Sequence[Span], place: int) -> int:
    """Returns the number of the sentence at a place, or the one before it; 0 before the first."""
    return max(0, bisect_right(sentences, place, key=itemgetter(0)) - 1)


RULES_1 = Segmenter(name="rules@1", words=words, sentences=sentences)

SEGMENTERS: Mapping[str, Segmenter] = MappingProxyType({"rules@1": RULES_1})


def segmenter(name: str) -> Segmenter:
    """Returns the segmenter of a name.

    Raises:
        InputError: this release has no such segmenter.
    """
    if name not in SEGMENTERS:
        raise InputError(
            f"the segmenter {name!r} was asked for; this release has {', '.join(SEGMENTERS)}: "
            "use one of these, or the release that the model was made with"
        )
    return SEGMENTERS[name]


# -- the words of spans ----------------------------------------------------------------------------

Surface = tuple[str, ...]


class SurfaceReader:
    """Reader of the words of spans of one document."""

    def __init__(self, document: Document, segmenter: Segmenter) -> None:
        """Segments the document unless it has words.

        Args:
            document: with or without words and sentences of its own.
            segmenter: segmenter for words or sentences that it lacks.
        """
        self.document = document
        self._segmenter = segmenter
        self.words = (
            document.words if document.words is not None else segmenter.words(document.text)
        )
        self._starts = [start for start, _ in self.words]

    def surface(self, span: Span) -> Surface:
        """Returns the words of a span.

        Raises:
            InputError: an empty span, one that ends beyond the text, or one that holds no word.
        """
        start, end = span
        name, length = self.document.id, len(self.document.text)
        if not 0 <= start < end:
            raise InputError(
                f"the span ({start}, {end}) of document {name!r} is empty; give 0 <= start < end"
            )
        if end > length:
            raise InputError(
                f"the span ({start}, {end}) ends beyond document {name!r}, which has "
                f"{plural(length, 'character')}; offsets are code points into its text"
            )
        text, spans = self.document.text, []
        for number in range(
            max(0, bisect_right(self._starts, start) - 1), bisect_left(self._starts, end)
        ):
            first, last = self.words[number]
            if last > start:
                spans.append(text[max(first, start) : min(last, end)])
        if not spans:
            raise InputError(
                f"the span ({start}, {end}) of document {name!r} holds no word; give one that does"
            )
        return tuple(spans)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Word range of each sentence, ``(first, end)``; sentences without words are left out."""
        document = self.document
        ranges = (
            document.sentences
            if document.sentences is not None
            else all_sentences(document, self._segmenter)
        )
        bounds = [bisect_right(self._starts, start - 1) for start, _ in ranges]
        if not bounds:
            return ((0, len(self.words)),) if self.words else ()
        bounds[0] = 0  # words before the first given sentence
        return tuple((a, b) for a, b in pairwise([*bounds, len(self.words)]) if a < b)

    def crosses_sentences(self, span: Span) -> bool:
        """True if a span has words of more than one sentence."""
        first, last = (bisect_right(self._starts, at) - 1 for at in (span[0], span[1] - 1))
        return not any(a <= first and last < b for a, b in self.sentences)

    def aligned(self, span: Span) -> tuple[int, int] | None:
        """Returns the word range of a span, ``(first, end)``; ``None`` if a boundary is inside a
        word.
        """
        first, last = (bisect_right(self._starts, at) - 1 for at in (span[0], span[1] - 1))
        if first < 0 or self.words[first][0] != span[0] or self.words[last][1] != span[1]:
            return None
        return first, last + 1

    def spans(self, width: int) -> Iterator[tuple[Span, Surface]]:
        """Yields all spans of up to ``width`` words within one sentence, with their words."""
        tokens = [self.document.text[start:end] for start, end in self.words]
        for begin, stop in self.sentences:
            for first in range(begin, stop):
                for last in range(first + 1, min(first + width, stop) + 1):
                    yield (self.words[first][0], self.words[last - 1][1]), tuple(tokens[first:last])
