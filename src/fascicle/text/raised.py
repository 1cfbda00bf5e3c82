"""Raised text: which of it is a mark of a citation or a note, and which belongs to the word before
it.

A reader collects a block of text as pieces, each with its level. A mark (`gout` with a raised
`1,2`) is left out and counted, so that it never joins a word. All else that is raised or lowered
stays in the line: charges, isotopes, powers, markers of cells, alleles, formulae. Where the mark-up
tells that a piece is a link, that decides; else the shape of the piece, and what stands before and
after it. A number that may be both stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import repeat
from typing import Final, NamedTuple

from fascicle.core.document import Event
from fascicle.core.wording import plural


class Level(Enum):
    """Level of a piece of text.

    Attributes:
        PLAIN: on the line, or lowered.
        LINKED: a link to a reference or a note, on the line as far as the mark-up tells.
        RAISED: above the line.
        MARK: such a link above the line.
    """

    PLAIN = "plain"
    LINKED = "linked"
    RAISED = "raised"
    MARK = "mark"


_PLAIN, _LINKED, _RAISED, _MARK = Level  # `Level.PLAIN` takes ten times as long in Python 3.11


def level_of(*, is_raised: bool, is_link: bool, around: Level) -> Level:
    """Returns the level of the text in an element.

    Args:
        is_raised: whether the element raises its text.
        is_link: whether it is a link to a reference or a note.
        around: the level of the text around the element.
    """
    if around is not _PLAIN:
        is_raised |= around in (_RAISED, _MARK)
        is_link |= around in (_LINKED, _MARK)
    if is_raised:
        return _MARK if is_link else _RAISED
    return _LINKED if is_link else _PLAIN


class Piece(NamedTuple):
    """Piece of a block of text; its level is the same everywhere."""

    text: str
    level: Level = _PLAIN


_NUMBERS: Final = r"\d{1,3}(?:(?:\s*[,;–—‒-]\s*|\s+(?:and\s+|&\s*)?)\d{1,3})*"
# A note of a table, or a reference of a supplement; only after a word that cannot be the symbol of
# a gene.
_NOTE: Final = re.compile(r"(?:[a-h]|[eSw]\d{1,2})(?:\s*,\s*(?:[a-h]|[eSw]\d{1,2}))*")
_NOTED: Final = re.compile(r"(?:[a-z]{4}|[)%])$")
_LIST: Final = re.compile(_NUMBERS)
_BRACKETS: Final = re.compile(rf"\[\s*{_NUMBERS}[a-z]?(?:\s*,\s*[a-z])*\s*\]|\(\s*{_NUMBERS}\s*\)")
_SIGNS: Final = re.compile(r"[*∗†‡§¶‖#][*∗†‡§¶‖#,\s]*")
_NO_MARK: Final = re.compile(r"[•·]?\d{0,2}[+−⁻-]+|[+−-]\d+|[®™]|TM")
# all that a link on the line may be, as a mark
_LINKED_MARK: Final = re.compile(r"[\d\s,;–—‒*∗†‡§¶‖#-]{1,40}")
_SEPARATOR: Final = re.compile(r"\s*[,;–—‒−-]?\s*")
_AROUND: Final = re.compile(r"[\s,;:()\[\]]+|\s*(?:see )?refs?\.?\s*|[*∗†‡§¶‖,\s]+", re.I)
_WORD: Final = re.compile(r"[A-Z][a-z]{3,}")
# What stands before a number that is part of the sentence or in brackets: `(refs. 3, 4)`, `reviewed
# in 3`.
_CITED: Final = re.compile(
    r"(?:^|[(\[,;–—-]|\b(?:refs?|references?|nos?|see|in|of|by|from|to|and|also|cf|study|studies|e\.g)\.?)\s*$",
    re.I,
)
# Nouns before the number of a part of the text, which may be a link too: `Table 1`.
_NUMBERED: Final = re.compile(
    r"\b(?:Tab(?:le)?|Fig(?:ure)?|Sec(?:t(?:ion)?)?|Box|Phase|Appendix|Chapter|Eq(?:uation)?|"
    r"Scheme|Step|Part|Panel|Movie|Video|File|Note|Text)s?\.?\s*$"
)
_AFTER_WORD: Final = re.compile(r"[\w.)”\"'’]$")
_CITED_SIZE: Final = 12  # characters: more than any of these words has, with one before it
_SYMBOL: Final = re.compile(r"(?<![\w-])[^\W\d_]\w?$")
# Elements by their number, as isotopes have a mass of about twice to three times this number.
_ELEMENTS: Final = re.findall(
    r"\w+",
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As "
    "Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd "
    "Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U ",
)
_ELEMENT_AFTER: Final = re.compile(r"([A-Z][a-z]?)(?![a-z])")
_ELEMENT_BEFORE: Final = re.compile(r"(?<![A-Za-z])([A-Z][a-z]?)$")
_ELEMENT_NAME: Final = re.compile(
    "Carbo|Chrom|Coba|Copp|Fluo|Gall|Hydro|Indi|Iod|Irid|Lute|Nitro|Oxyg|Phos|Rubi|Sodi|Stro|Sul|Tech|Thal|Xen|Yttr|Zirc"
)
# Words before a letter or a number that is part of the name: `vitamin C`, `interleukin 10`.
_NAMED: Final = re.compile(
    r"(?:vitamin|hepatitis|influenza|type|group|class|factor|protein|stage|grade|phase|coenzyme|cyclin|interleukin|"
    r"keratin|chromosome|trisomy|caspase|figure|table|genotype|virus|patient|case|level|day|week|month|arm|apo\w*|"
    r"globin|immunoglobulin|interferon|toxin|streptococcus)(?: |s? (?:\w,? )+(?:and|or) )$",
    re.I,
)
# A word before a single capital, or before a list of some, which is its name: `bisphenol A`.
_LETTERED: Final = re.compile(
    r"([A-Za-z][a-z]{3,}|\b(?:HLA|Ig|Hb|Rh)) (?:[A-Z](?:/|,? and |,? or |, ))*$"
)
# Such words that do not begin a name, before the place of a residue or an atom: `residue S473`.
_PLACED: Final = re.compile(
    r"[a-z]+[^e]ed|[a-z]{2,}ing|(?:radio|iod|acetylat|methylat|ubiquit|mutat)[a-z]*|phospho(?:rylat\w+|rus|site|mutant)|"
    r"(?:mutant|residue|site|position|codon|histone|atom|isotope)s?|carbon|sul(?:f|ph)ur|nitrogen|oxygen|fluorine|"
    r"(?:phospho)?(?:ser|threon|tyros|lys|cyste|argin|alan|glyc|val|leuc|isoleuc|histid|prol|methion|asparag|"
    r"glutam|phenylalan)ines?|aspartate|glutamate|tryptophan|"
    r"critical|inorganic|catalytic|essential|specific|important|contains?|carr(?:y|ies)|harbou?rs?|lacks?|"
    r"with|from|into|both|that|than|then|when|where|whereas|while|between|through|upon|near|within|either|neither|"
    r"only|also|like|were|have|this|these|those|their|each|such|versus",
    re.I,
)
# Numbers that belong to the letter behind any word: `hepatic P450`, `Smad S465 phosphorylation`.
_OF_LETTER: Final = re.compile(
    r"(?:P450|I12[345]|I131)(?!\d)|[STY]\d+ phospho|[KR]\d+ (?:acetyl|methyl|ubiquit)"
)
# Words before a Greek letter of a name: `TNF α`.
_GREEK_NAMED: Final = re.compile(
    r"(?:[A-Z]{2}[\w/-]*|[a-z]{3}in|receptor|amyloid|subunit|kinase) $"
)
_BASE: Final = re.compile(r"(?:^|[^\w.,-]|(?<=\d)x)(2)$|(?:^|[^\w.,-]|\d[,-]|(?<=[\d\s])[xX])(10)$")
_LETTER: Final = re.compile(r"(?:^|[^\w-]|\b(?:p|phospho)-)([A-Za-zÅΑ-ω]|[abc]x)$")
_GREEK_OF_NAMES: Final = frozenset("αβγδεζικ")
_RESIDUES: Final = frozenset("ACDEFGHIKLMNPQRSTVWY")
_FACTOR: Final = re.compile(r"(?:[*×·]\s?|\w(?<![a-z]{4} [A-Z])/)[A-Za-z]{1,3}$")
_PRODUCT: Final = re.compile(r"(?<![\d.])\d\.10$")  # a full stop for a multiplication sign
_UNIT: Final = re.compile(
    r"(?:^|[^A-Za-zµμ])(?:[kcdmnµμ]?m|inch|ft|mi|sec|ms|min|м)$|"
    r"\((?:[^()]*(?:[+−=×·]| [–-] )[^()]*|\d+[–-]\w)\)$"  # or what is computed
)
_NEGATIVE: Final = re.compile(
    r"(?:^|[^A-Za-z-])(?:10|[kcdmnµμ]?[mgslL]|min|mol|h|d|M|Hz|day|year)[−–-]$"
)
_FORMULA: Final = re.compile(
    r"(?:^|[^A-Za-z])(?:(?:log|ln|sin|cos|tan|chi|sp|\d[spdf])|(?:C|N|V|Sp|Sa|P|Pa|p|PC|PaC|pC|Fi|Ti|Si)O)$"
)
_RESIDUE: Final = re.compile(
    r"(?<!c-)(?<![A-Za-z])(?:p|phospho)?(?:Ala|Arg|Asn|Asp|Cys|Gln|Glu|Gly|His|Ile|Leu|Lys|Met|Phe|Pro|Ser|Thr|Trp|Tyr|Val|Sar|Nle|"
    r"Aib|Orn|p[STY]|H[234][AB]?[KRST])$"
)


def without_marks(pieces: Sequence[Piece]) -> tuple[list[str], list[int]]:
    """Returns the text of each piece as it is shown, and the places of the pieces that are marks
    and are left out.

    The text of a mark is empty, or a blank if two words would meet; so are signs between the marks
    of a list.

    Args:
        pieces: of one block, in their order.
    """
    texts, marks, is_next = list[str](), list[int](), _Notes(pieces)
    for place, piece in enumerate(pieces):
        texts.append(piece.text)
        if piece.level is _PLAIN or not piece.text.strip():
            continue
        if _continues_name(pieces, texts, place):
            continue
        before = "" if piece.level is _MARK else _last(texts[-25:-1])
        after = _text_after(pieces, place)
        follows = place - 1 in marks[-1:] or (
            place - 2 in marks[-1:] and _SEPARATOR.fullmatch(pieces[place - 1].text)
        )
        starts_note = is_next(piece, after)
        if starts_note or _is_mark(piece, before, after, follows=bool(follows)):
            marks.append(place)
            texts[place] = ""
    if marks:
        _remove(texts, pieces, _with_signs(pieces, marks))
    return texts, marks


def _continues_name(pieces: Sequence[Piece], texts: Sequence[str], place: int) -> bool:
    """True for the raised number of a raised name, as of the allele `rd1`."""
    if not place or not texts[place - 1][-1:].isalpha():
        return False
    return pieces[place - 1].level is pieces[place].level is _RAISED


def _text_after(pieces: Sequence[Piece], place: int) -> str:
    """Returns the text behind a piece, with raised charges; nothing behind a link counts."""
    piece = pieces[place]
    following = pieces[place + 1 : place + 9] if piece.level is _RAISED else ()
    texts = (
        text
        for text, level in following
        if level in (_PLAIN, _LINKED) or text.lstrip()[:1] in ("+", "−", "-")  # of a charge
    )
    return piece.text[len(piece.text.rstrip()) :] + "".join(texts)


def _remove(texts: list[str], pieces: Sequence[Piece], places: set[int]) -> None:
    """Empties the texts at places, or leaves a blank if two words would meet."""
    for place in places:
        texts[place] = ""
    for place in sorted(places):
        before = "".join(texts[max(0, place - 9) : place])
        after = "".join(texts[place + 1 : place + 9])
        texts[place] = " " if before[-1:].strip() and re.match(r"\w|\(", after) else ""
        if not place or place - 1 in places:
            continue
        is_raised = pieces[place - 1].level is _RAISED
        if is_raised or re.match("[.,;:)]", after):
            texts[place - 1] = texts[place - 1].rstrip(" ,;" if is_raised else " ")


def _last(texts: Sequence[str]) -> str:
    """Returns the last 80 characters of texts."""
    return (texts[-1] if texts and len(texts[-1]) >= 80 else "".join(texts))[-80:]


class _Notes:
    """Marks of the notes in one block, as below a table: `1` before the first word, `2` before a
    later one.
    """

    def __init__(self, pieces: Sequence[Piece]) -> None:
        first = next((piece for piece in pieces if piece.text.strip()), Piece(""))
        mark = first.text.strip()
        self._next = "" if first.level is _PLAIN or mark not in ("1", "a") else mark

    def __call__(self, piece: Piece, after: str) -> bool:
        """Whether a piece is the mark of the next note."""
        if (
            not self._next
            or piece.text.strip() != self._next
            or not re.match("[A-Za-z][a-z]", after)
        ):
            return False
        self._next = str(int(self._next) + 1) if self._next.isdigit() else chr(ord(self._next) + 1)
        return True


def _with_signs(pieces: Sequence[Piece], marks: Sequence[int]) -> set[int]:
    """Returns the places of marks, and of the commas, dashes and brackets that belong to marks
    beside them.
    """
    out = set(marks)
    for order in (range(len(pieces)), range(len(pieces) - 1, -1, -1)):
        for at in order:
            sides = (at - 1 in out) + (at + 1 in out)
            if not sides or at in out:
                continue
            text, level = pieces[at]
            if (sides == 2 and _SEPARATOR.fullmatch(text)) or (
                level is _RAISED and _AROUND.fullmatch(text)
            ):
                out.add(at)
    return out


def _may_be_followed(before: str) -> bool:
    """True if a linked mark may stand behind a text: behind a word, or not behind a citation or
    the noun of a number.
    """
    if _NUMBERED.search(before[-_CITED_SIZE:]):
        return False
    return bool(_AFTER_WORD.search(before[-2:])) or not _CITED.search(
        before.rstrip()[-_CITED_SIZE:]
    )


def _ends_with_symbol(before: str) -> bool:
    """True if the symbol of an element stands before a sign, and no name."""
    symbol = _SYMBOL.search(before)
    return symbol is not None and not _NAMED.search(before[: symbol.start()])


def _is_mark(piece: Piece, before: str, after: str, *, follows: bool) -> bool:
    text = piece.text.strip()
    if piece.level is _MARK:
        return len(text) <= 80 and not _NO_MARK.fullmatch(text)
    core = text.strip(" ,;–" if follows else " ,;")
    if piece.level is _LINKED:
        return (follows or _may_be_followed(before)) and bool(
            _LIST.fullmatch(core) or _SIGNS.fullmatch(core)
        )
    is_alone = not before.strip()
    if (
        is_alone
        and _WORD.match(after)
        and not _ELEMENT_NAME.match(after)
        and re.fullmatch(r"[a-z]|\d{1,2}", core)
    ):
        return True
    if _SIGNS.fullmatch(core):
        return is_alone or not (after[:1].isalnum() or _ends_with_symbol(before))
    if _BRACKETS.fullmatch(core) or (
        _NOTE.fullmatch(core) and _NOTED.search(before) and not after[:1].isalnum()
    ):
        return True
    return bool(_LIST.fullmatch(core)) and core[0] != "0" and not _belongs(core, before, after)


def _belongs(number: str, before: str, after: str) -> bool:
    """True if a raised number, or a list of some, belongs to the word before or after it."""
    is_list, last = not number.isdigit(), before[-1:]
    if _NEGATIVE.search(before) or (is_list and re.search(r"\[[\d.]+$", before)):
        return True  # a power in two pieces, or the bridges of a polycyclic compound
    if after[:1].isalnum():
        return not (is_list or last in tuple(".,;:)")) or _is_isotope(
            number, _ELEMENT_AFTER.match(after), last
        )
    if not last.strip():
        return False
    base = _BASE.search(before)
    if base and not _NAMED.search(before[: base.start(base.lastindex or 0)]):
        return base[2] is not None or not is_list
    if is_list:
        return False
    if after[:1] in ("*", "×", "^") or _FACTOR.search(before) or _PRODUCT.search(before):
        return True  # a power in a formula
    return re.match(r"[+−](?!\w)|-(?!\w)", after) is not None or _is_exponent(number, before, after)


def _is_exponent(number: str, before: str, after: str) -> bool:
    """True if a raised number is a power, a mass, or the place of a residue or a substituent."""
    is_prefix = re.match(r"-\w", after) is not None
    if letter := _LETTER.search(before):
        words = before[: letter.start(1)]
        if letter[1] == "ε" and number in ("2", "3", "4"):
            return True  # an allele of APOE
        if _NAMED.search(words) or (letter[1] in _GREEK_OF_NAMES and _GREEK_NAMED.search(words)):
            return False
        if number in ("2", "3"):
            return True
        if _ends_name(words, letter[1] + number + after):
            return False
        if is_prefix or _is_place(letter[1], number, words, after):
            return True
    if number in ("2", "3") and (
        _UNIT.search(before) or (_FORMULA.search(before) and number == "2")
    ):
        return True
    if _RESIDUE.search(before) or re.search(r"(?:\dd|sp)$", before):
        return True
    return (
        is_prefix and before.endswith(("alpha", "beta", "gamma", "delta", "omega"))
    ) or _is_isotope(number, _ELEMENT_BEFORE.search(before), "")


def _is_place(letter: str, number: str, words: str, after: str) -> bool:
    """True if a raised number behind a single letter is a power, or the place of a residue or an
    atom (`S473`, `N1,N12-diacetylspermine`).
    """
    if letter.islower():
        return letter not in _GREEK_OF_NAMES
    if re.match(r",[A-Z](?![a-z])", after) or (
        after.startswith(")") and not re.search("[a-z]{3} $", words)
    ):
        return True
    return len(number) > 1 and letter in _RESIDUES


def _ends_name(words: str, rest: str) -> bool:
    """True if a single capital ends the name that words begin, so that a number behind it is a
    mark. The rest begins with the letter and the number; `N6-` is a place behind any word.
    """
    name = _LETTERED.search(words) if rest[0].isupper() else None
    if name is None or _PLACED.fullmatch(name[1]):
        return False
    return not (re.match(r"[CNOPS]\d+(?:-\w|,[A-Z](?![a-z]))", rest) or _OF_LETTER.match(rest))


def _is_isotope(number: str, element: re.Match[str] | None, last: str) -> bool:
    if element is None or not number.isdigit() or last in tuple(".,;:"):
        return False
    symbol = element[1] if element[1] in _ELEMENTS else element[1][:1]
    order = _ELEMENTS.index(symbol) + 1 if symbol in _ELEMENTS else 0
    return 1.6 * order <= int(number) <= 2.8 * order + 1 or (order == 1 and number == "1")


@dataclass(kw_only=True)
class Line:
    """Builder of the text of one block after the other.

    Attributes:
        marks: number of marks that were left out so far.
        example: the first of them, with the word before it.
    """

    marks: int = 0
    example: str = ""
    _texts: list[str] = field(default_factory=list)
    _levels: dict[int, Level] = field(default_factory=dict)  # of the pieces that are not plain

    @property
    def is_open(self) -> bool:
        """Whether the block has a text so far."""
        return any(map(str.strip, self._texts))

    def add(self, text: str | None, level: Level = _PLAIN) -> None:
        """Adds a piece of the block."""
        if text:
            if level is not _PLAIN and (level is not _LINKED or _LINKED_MARK.fullmatch(text)):
                self._levels[len(self._texts)] = level
            self._texts.append(text)

    def take(self) -> str:
        """Returns the text of the block without its marks, and begins the next block."""
        texts, levels = self._texts, self._levels
        self._texts = []
        if not levels:
            return "".join(texts)
        self._levels = {}
        pieces = list(map(Piece, texts, map(levels.get, range(len(texts)), repeat(_PLAIN))))
        visible, marks = without_marks(pieces)
        if marks and not self.marks:
            before, mark = (
                "".join(piece.text for piece in pieces[: marks[0]]),
                pieces[marks[0]].text,
            )
            self.example = f"{before[-20:]}^{mark}".strip()
        self.marks += len(marks)
        return "".join(visible)

    def events(self, step: str) -> tuple[Event, ...]:
        """Returns a note with the number of marks that were left out; none without marks."""
        if not self.marks:
            return ()
        what = plural(
            self.marks, "raised mark of a citation or a note", "raised marks of citations and notes"
        )
        message = f"{what} left out of the text; the first is {self.example!r}"
        return (Event(step=step, kind="note", code="marks-left-out", message=message),)
