"""Canonical tokens of a text, each with its place: keys and scans are both made of these.

A token is a run of letters or a part of one (`_parts_of`), a run of digits, or a single sign.
Blanks and hyphens separate tokens and are none. A possessive is left out: ``Alzheimer's`` is
``alzheimer``; in ``5'`` the sign stays.

A plural becomes a singular in names and texts alike. So a word that is no plural (``herpes``) costs
nothing, as long as no other name has the form that it gets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby, starmap, zip_longest
from operator import itemgetter
from types import MappingProxyType
from typing import Final, NamedTuple

from fascicle.terms.keys.characters import BLANK, DIGIT, GREEK, LETTER, SIGN, character_class, fold

_PAIRS: Final = """
mice:mouse men:man women:woman children:child feet:foot teeth:tooth geese:goose lice:louse oxen:ox
calves:calf
halves:half wolves:wolf hooves:hoof leaves:leaf lives:life knives:knife selves:self lenses:lens
crises:crisis
calories:calorie indices:index matrices:matrix vertices:vertex appendices:appendix cortices:cortex
cervices:cervix
helices:helix apices:apex vortices:vortex axes:axis testes:testis bacteria:bacterium
mitochondria:mitochondrion
ganglia:ganglion nuclei:nucleus nucleoli:nucleolus fungi:fungus bacilli:bacillus thrombi:thrombus
emboli:embolus
bronchi:bronchus villi:villus microvilli:microvillus nevi:nevus foci:focus loci:locus
stimuli:stimulus sulci:sulcus
gyri:gyrus thalami:thalamus hippocampi:hippocampus glomeruli:glomerulus alveoli:alveolus
calculi:calculus cocci:coccus
streptococci:streptococcus staphylococci:staphylococcus enterococci:enterococcus
pneumococci:pneumococcus
meningococci:meningococcus gonococci:gonococcus lactobacilli:lactobacillus ova:ovum sera:serum
atria:atrium
septa:septum cilia:cilium flagella:flagellum crania:cranium epithelia:epithelium
endothelia:endothelium
sporangia:sporangium mycelia:mycelium vertebrae:vertebra papillae:papilla larvae:larva pupae:pupa
hyphae:hypha
algae:alga microalgae:microalga bursae:bursa fossae:fossa antennae:antenna fistulae:fistula
trabeculae:trabecula
petechiae:petechia phenomena:phenomenon criteria:criterion spermatozoa:spermatozoon
protozoa:protozoon corpora:corpus
genera:genus viscera:viscus embryos:embryo videos:video ratios:ratio mosquitos:mosquito
mosquitoes:mosquito
echoes:echo potatoes:potato tomatoes:tomato fetuses:fetus foetuses:fetus buses:bus
"""
_IRREGULAR: Final = MappingProxyType(dict(pair.split(":") for pair in _PAIRS.split()))
_KEPT_WORDS: Final = """
aids sars mers news lens mars always perhaps whereas species series rabies scabies caries facies
congeries aries chaos
aars dars eprs fars gars hars iars kars lars nars qars rars tars vars wars yars abus asbestos kudos
"""
_KEPT: Final = frozenset(_KEPT_WORDS.split())
# Endings of plurals in ``as``, of those in ``es`` of words in ``is`` and in ``us``; and words that
# only look like them.
_AS_ENDINGS: Final = "omas emas rnas dnas ulas inas eas ncias mias sias nias pias gias"
_SIS_ENDINGS: Final = "oses stases yses theses reses neses ptyses physes"
_OSES: Final = "doses noses hoses roses poses purposes closes overdoses megadoses supposes exposes"
_SUGAR_ENDINGS: Final = "ntoses exoses ucoses actoses riboses nnoses haloses ltoses croses uloses"
_USES: Final = "abuses excuses diffuses refuses infuses accuses recluses misuses reuses confuses"
_AS: Final = tuple(_AS_ENDINGS.split())
_SIS: Final = tuple(_SIS_ENDINGS.split())
_NOT_SIS: Final = tuple(_SUGAR_ENDINGS.split())
_REGULAR: Final = frozenset(_OSES.split() + _USES.split())
_LONG: Final = "alpha|beta|gamma|delta|kappa|lambda|sigma|omega(?!l)|epsilon|upsilon"
# Short names are cut off only behind what cannot be the rest of a word: two letters or more, and no
# vowel.
_LAST: Final = re.compile(
    rf"(?:.*(?=(?:{_LONG})s?$)|[^aeiouy]{{2,}}(?=(?:zeta|theta|eta|iota|chi|psi|phi|rho|tau)$))",
    re.DOTALL,
)
_FIRST: Final = re.compile(rf"(?:{_LONG})(?!s?$)")
_PREFIX: Final = re.compile(r"(?:non|anti)(?=.{5})", re.DOTALL)
_MAY_FALL_APART: Final = re.compile(rf"{_LONG}|^(?:non|anti)|(?:eta|iota|chi|psi|phi|rho|tau)$")
_INNER: Final = re.compile(rf".+?(?=(?:{_LONG}).{{1,3}}$)", re.DOTALL)  # ``nfkappab``
_WHOLE: Final = re.compile(
    "betain|betameth|betaxol|betahist|labetalol|betadin|betaser|betafer|alphabet|gammadex|deltameth"
)
_GREEK: Final = frozenset({*GREEK.values(), *(name + "s" for name in GREEK.values())})
_GREEK_PLURAL: Final = re.compile(rf"(?:{_LONG})s")
_ROMAN: Final = re.compile(r"(?=[ivx]{2})(x{0,3})(ix|iv|v?i{0,3})")
_BRITISH_PAIRS: Final = """
haem:hem aemia:emia aemic:emic kaemi:kemi anaem:anem oedem:edem oesoph:esoph oestr:estr foet:fet
paed:ped gynaec:gynec caec:cec faec:fec faecal:fecal rrhoea:rrhea pnoea:pnea coeliac:celiac
homoeo:homeo aetiolog:etiolog anaesth:anesth leucocyt:leukocyt leucaem:leukem leucop:leukop
sulph:sulf aluminium:aluminum caesium:cesium caesarean:cesarean fibre:fiber phaeo:pheo
tumour:tumor colour:color behaviour:behavior odour:odor humour:humor labour:labor favour:favor
vapour:vapor neighbour:neighbor isation:ization signalling:signaling labelled:labeled
labelling:labeling modelling:modeling naevus:nevus naevi:nevi haemo:hemo orthopaed:orthoped
encyclopaed:encycloped amoeb:ameb moebius:mobius manoeuv:maneuv mould:mold defence:defense
catalogue:catalog dialyse:dialyze analyse:analyze hydrolyse:hydrolyze centre:center litre:liter
goitre:goiter titre:titer synaesth:synesth aesthes:esthes ischaem:ischem uraem:urem haemat:hemat
palaeo:paleo archaeo:archeo praecox:precox oesop:esop grey:gray
"""
_BRITISH: Final = MappingProxyType(dict(pair.split(":") for pair in _BRITISH_PAIRS.split()))


def _with_first(letter: str, words: Iterable[str]) -> str:
    """Returns a pattern of words that begin with one letter."""
    return f"{letter}(?:{'|'.join(word[1:] for word in words)})"


# by the first letter, which leaves few to try, and the longest first
_STEMS: Final = sorted(_BRITISH, key=lambda stem: (stem[0], -len(stem)))
_BRITISH_STEM: Final = re.compile(
    "|".join(starmap(_with_first, groupby(_STEMS, key=itemgetter(0))))
)
_VALUES: Final = MappingProxyType({"i": 1, "v": 5, "x": 10})
SEPARATORS: Final = "-_"
NUMBERED: Final = frozenset(
    {"type", "factor", "stage", "grade", "phase", "group"}
)  # single Roman numerals follow these
OWNER: Final = "'"
_SYMBOL: Final = 5  # letters of the longest
_PLAIN: Final = re.compile(r"([a-z]+)|([0-9]+)|[^a-z0-9\s_-]")  # runs of a folded text in ASCII


def _singular(word: str) -> str:
    """Returns the singular of a folded word, or the word itself."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("omata"):
        return word[:-2]
    if len(word) < 4 or not word.endswith("s") or word in _KEPT or not word.isascii():
        return word
    if word.endswith("es"):
        return _of_es(word)
    if word.endswith(("ss", "us", "is", "os")):
        return word
    if word.endswith("as"):
        return word[:-1] if word.endswith(_AS) and not word.endswith("creas") else word
    return word[:-1]


def _of_es(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 5 else word[:-1]
    if word.endswith("aches"):
        return word[:-1] if not word.endswith("oaches") else word[:-2]
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if (
        word.endswith("uses")
        and len(word) > 6
        and not word.endswith(("auses", "ouses"))
        and word not in _REGULAR
    ):
        return word[:-2]
    if word.endswith(_SIS) and word not in _REGULAR and not word.endswith(_NOT_SIS):
        return word[:-2] + "is"
    return word[:-1]


class _Part(NamedTuple):
    """Token within a run of letters.

    Attributes:
        start: first character in the run.
        end: one past the last.
        text: in the form that counts.
    """

    start: int
    end: int
    text: str


def _parts_of(run: str) -> tuple[_Part, ...]:
    """Returns the tokens of a run of folded letters.

    Names of Greek letters are tokens of their own at the ends of a run, and inside it up to three
    letters before its end: ``tnfalpha``, ``alphasyn``, ``nfkappab``. In ``betaine`` and its like
    there is none. ``non`` and ``anti`` are tokens too, for they are as often written with a hyphen
    as without.
    """
    if not _MAY_FALL_APART.search(run):
        return (_Part(0, len(run), _settle(run)),)
    return tuple(_Part(start, end, _settle(run[start:end])) for start, end in _cuts(run, 0))


def _canonical(word: str) -> str:
    """Returns a word as singular, in American spelling, or as a number for a Roman numeral of
    two or more letters.
    """
    roman = _ROMAN.fullmatch(word) if word[0] in "ivx" else None
    if roman:
        tens, ones = roman.groups()
        return str(10 * len(tens) + (ones == "ix") * 9 + (ones == "iv") * 4 + _small(ones))
    return (
        word[:-1]
        if _GREEK_PLURAL.fullmatch(word)
        else _singular(_BRITISH_STEM.sub(lambda stem: _BRITISH[stem.group()], word))
    )


def single_numeral(word: str) -> str:
    """Returns a Roman numeral of one letter as digits, empty for any other word."""
    return str(_VALUES[word]) if word in _VALUES else ""


def _small(ones: str) -> int:
    return 0 if ones in ("ix", "iv") else ones.count("i") + 5 * ones.count("v")


def _settle(word: str) -> str:
    """Returns the canonical form if it is its own canonical form, else the word; so a form never
    has another form.
    """
    now = _canonical(word)
    if now == word or now.isdigit():
        return now
    again = _canonical(now)
    if again != now and _canonical(again) == again:
        now = again
    stable = _canonical(now) == now and len(list(_cuts(now, 0))) == 1
    return now if stable else word


def _cuts(run: str, at: int) -> Iterator[tuple[int, int]]:
    """Yields start and end of the tokens of a run; the place of the run is added."""
    where = 0 if run in _GREEK or _WHOLE.search(run) else _cut(run)
    if not where:
        yield at, at + len(run)
        return
    yield from _cuts(run[:where], at)
    yield from _cuts(run[where:], at + where)


def _cut(run: str) -> int:
    """Returns where a run is split in two; 0 if it is not."""
    for pattern in (_LAST, _FIRST, _INNER):
        match = pattern.match(run)
        if match and 0 < match.end() < len(run):
            return match.end()
    # in the singular: ``antigens`` is cut no more than ``antigen``
    match = _PREFIX.match(_canonical(run))
    return match.end() if match and run.startswith(match.group()) else 0


class Token(NamedTuple):
    """Token of a text.

    Attributes:
        start: first character in the source, in code points.
        end: one past the last, with the marks on it.
        text: in the form that counts.
        opens: no letter or digit is right before it in the same word, so a name may begin here.
        closes: none is right after it.
    """

    start: int
    end: int
    text: str
    opens: bool
    closes: bool


class _Run(NamedTuple):
    """Sequence of letters or of digits, or a sign.

    Attributes:
        start: first character in the folded text.
        end: one past the last.
        group: which of these it is.
        text: its characters.
    """

    start: int
    end: int
    group: int
    text: str


class RunPiece(NamedTuple):
    """Run of characters, or a part of one, with its folded forms.

    Attributes:
        start: first character in the run.
        end: one past the last.
        group: whether it is a word, a number or a sign.
        form: its form when it is alone.
        symbol: its form before a number.
        hisses: whether it ends with an ``s``, as it is written or in its form.
    """

    start: int
    end: int
    group: int
    form: str
    symbol: str
    hisses: bool


class _Placed(NamedTuple):
    piece: RunPiece
    start: int  # in the folded text
    end: int
    opens: bool
    closes: bool


def tokenise(text: str) -> list[Token]:
    """Returns the tokens of a text in their order."""
    folded = fold(text)
    tokens: list[Token] = []
    placed = _without_possessives(_place_pieces(_runs_of(folded.text)))
    before = ""
    for (piece, start, end, opens, closes), after in zip_longest(placed, placed[1:]):
        form = piece.symbol if after and after.piece.group == DIGIT else piece.form
        before = (single_numeral(form) if before in NUMBERED else "") or form
        tokens.append(Token(folded.starts[start], folded.ends[end - 1], before, opens, closes))
    return tokens


def _runs_of(folded: str) -> list[_Run]:
    """Returns the runs of a folded text; blanks and hyphens are in none."""
    if folded.isascii():
        return [
            _Run(
                match.start(),
                match.end(),
                (SIGN, LETTER, DIGIT)[match.lastindex or 0],
                match.group(),
            )
            for match in _PLAIN.finditer(folded)
        ]
    runs: list[_Run] = []
    for at, character in enumerate(folded):
        kind = BLANK if character in SEPARATORS else character_class(character)
        if runs and runs[-1].end == at and runs[-1].group == kind != SIGN:
            runs[-1] = _Run(runs[-1].start, at + 1, kind, runs[-1].text + character)
        elif kind != BLANK:
            runs.append(_Run(at, at + 1, kind, character))
    return runs


def split_run(run: str, group: int) -> tuple[RunPiece, ...]:
    """Returns the pieces of a run, whatever its neighbours are.

    Args:
        run: folded.
        group: of its characters.
    """
    if group != LETTER:
        form = "and" if run == "&" else run
        return (RunPiece(0, len(run), LETTER if run == "&" else group, form, form, hisses=False),)
    pieces = []
    for start, end, form in _parts_of(run):
        raw = run[start:end]
        # ``FADS1`` is not ``FAD1``, nor ``MEN1`` ``MAN1``: a short word before a number is a
        # symbol, not a plural.
        plural = len(raw) > _SYMBOL or not form.isalpha() or form in NUMBERED
        pieces.append(
            RunPiece(
                start, end, group, form, form if plural else raw, hisses="s" in (raw[-1], form[-1])
            )
        )
    return tuple(pieces)


_known_pieces = lru_cache(maxsize=1 << 14)(split_run)


def _place_pieces(runs: list[_Run]) -> list[_Placed]:
    """Returns the pieces of all runs."""
    placed: list[_Placed] = []
    for place, run in enumerate(runs):
        opens = not (place and _touch(runs[place - 1], run))
        closes = not (place + 1 < len(runs) and _touch(run, runs[place + 1]))
        pieces = _known_pieces(run.text, run.group)
        if len(pieces) == 1:
            placed.append(_Placed(pieces[0], run.start, run.end, opens, closes))
            continue
        for piece in pieces:
            first, last = opens and not piece.start, closes and piece.end == len(run.text)
            placed.append(
                _Placed(piece, run.start + piece.start, run.start + piece.end, first, last)
            )
    return placed


def _without_possessives(placed: list[_Placed]) -> list[_Placed]:
    """Leaves out every ``'`` and ``'s`` behind a word, if the first is an ``'s``, or the word
    ends with an ``s``.
    """
    forms = [placed_piece.piece.form for placed_piece in placed]
    if OWNER not in forms:
        return placed
    result: list[_Placed] = []
    place = 0
    while place < len(placed):
        piece = placed[place].piece
        end = place + 1
        while end < len(placed) and forms[end] == OWNER:
            end += 2 if forms[end + 1 : end + 2] == ["s"] else 1
        owns = piece.group == LETTER and (piece.hisses or forms[place + 2 : place + 3] == ["s"])
        if piece.group != LETTER:
            end = place + 1
        result += placed[place : place + 1] if owns else placed[place:end]
        place = end
    return result


def _touch(first: _Run, other: _Run) -> bool:
    return first.end == other.start and SIGN not in (first.group, other.group)
