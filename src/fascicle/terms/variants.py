"""How variants are written: patterns over texts, and the HGVS name of what each matches.

A form that is right only now and then is *weak*: it counts where words beside it speak of variants,
see `fascicle.terms.variant_recogniser`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, NamedTuple

_AMINO_ACIDS: Final = (
    "A Ala alanine,C Cys cysteine,D Asp aspartic acid|aspartate,E Glu glutamic acid|glutamate,F "
    "Phe phenylalanine,G Gly glycine,H His histidine,I Ile isoleucine,K Lys lysine,L Leu leucine,M "
    "Met methionine,N Asn asparagine,P Pro proline,Q Gln glutamine,R Arg arginine,S Ser serine,T "
    "Thr threonine,V Val valine,W Trp tryptophan,Y Tyr tyrosine,U Sec selenocysteine,X Ter stop "
    "codon|termination codon|stop|amber|ochre|opal|\\*"
)
_BASES: Final = (
    "A adenine|adenosine,C cytosine|cytidine,G guanine|guanosine,T thymine|thymidine,U "
    "uracil|uridine"
)


_ROWS: Final = tuple(row.split(" ", 2) for row in _AMINO_ACIDS.split(","))
_SHORT_NAMES: Final = MappingProxyType(
    {
        name.lower(): row[1]
        for row in _ROWS
        for name in (row[0], row[1], *row[2].replace("\\", "").split("|"))
    }
)  # any way to write an amino acid, in lower case -> ``Val``
BASES: Final = MappingProxyType(
    {name: row[0] for row in _BASES.split(",") for name in (row[0].lower(), *row[2:].split("|"))}
)  # any way to write a base, in lower case -> its letter
LETTER: Final = r"[ACDEFGHIKLMNPQRSTVWY]"
SHORT: Final = "|".join(short for _, short, _ in _ROWS[:-1])
NAME: Final = "|".join(names for _, _, names in _ROWS[:-1])
_STOP: Final = r"stop|Stop|STOP|Ter|ter|TER|X|\*"
_BASE_NAME: Final = "|".join(row[2:] for row in _BASES.split(","))
# Of TTT, TTC, TTA, TTG, TCT and so on: the standard genetic code.
_CODED: Final = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
LETTERS: Final = MappingProxyType({short: letter for letter, short, _ in _ROWS})  # ``Val`` -> ``V``


_ANY: Final = frozenset(
    {"G719", "E709", "V600", "G12", "G13"}
)  # where X stands for any amino acid, and not for a stop
_Groups = Mapping[str, str]

_ARROW: Final = r"(?:\s?(?:[-−–]{0,3}>|=+>|→|⟶|/|\\)\s?|\sto\s|-to-)"
_INTRON: Final = r"(?:IVS|ivs)\s?\d+\s?[-+−–]\s?\d+"
_PLACE: Final = rf"(?:{_INTRON}|Ex\d+\+\d+|[-+−–*]?\d{{1,9}}(?:\s?[-+−–]\s?\d{{1,4}}(?!\d))?)"
_LEFT: Final = r"(?<![A-Za-z0-9_.])"
_SIGNED: Final = (
    rf"(?:{_LEFT}|(?:(?<=[A-Za-z])|(?<=[A-Za-z]\d))(?=[-−–+]\d))"  # IL1B-31T/C, DRD4-521C/T
)
_IN_ALLELE: Final = r"(?<=[\[;])"  # c.[76A>C;83_84del]
_RIGHT: Final = r"(?![A-Za-z0-9_])"
_AA: Final = rf"(?:{SHORT}|{SHORT.upper()}|{LETTER})"
_AA3: Final = rf"(?:{SHORT}|{SHORT.upper()})"
_BESIDE: Final = (
    r"(?: residue)?(?: \((?:[A-Z]|[A-Z][a-z]{2}|[ACGTU]{3})\))?"  # valine (Val), stop (TGA)
)
_FULL: Final = rf"(?:(?i:{NAME}|(?:premature )?(?:stop|termination)(?: codon)?)|{_AA3}){_BESIDE}"
_CHANGE: Final = r"(?i:substitution|mutation|transition|transversion|change|exchange|replacement)"
_AT: Final = (
    r"(?i:,? (?:at|in|of|was identified at)(?: the)?(?: amino[ -]acid| nucleotide)?"
    r"(?: residue| position| codon| nucleotide| amino[ -]acid| base| nt| bp)?(?: number)?)"
)
_EVENT_NAME: Final = "insertion/deletion|deletion/insertion|deletion|insertion|duplication"
_EVENT: Final = r"(?:delins|del|dup|ins|inv)"
_BASE: Final = "[ACGTU]"
_LEVEL: Final = r"(?P<level>[cgmnr])\.\s?"
_PLACES: Final = rf"(?P<start>{_PLACE})(?:(?:\s?_\s?|-)(?P<end>{_PLACE}))?"
_ALLELE: Final = rf"(?:{_RIGHT}|(?=_?[ACGT](?:>|{_RIGHT})))"  # rs12345_T, rs12345C>T


class VariantForm(NamedTuple):
    """One way to write variants.

    Attributes:
        pattern: the pattern that finds them.
        name: the HGVS name of what its groups hold; empty for none.
        weak: whether it needs words beside it that speak of variants.
        letters: whether it has letters that can be bases and amino acids.
        member: whether it counts only in an allele, whose bracket has the level.
    """

    pattern: re.Pattern[str]
    name: Callable[[_Groups], str]
    weak: bool = False
    letters: bool = False
    member: bool = False


def _dna(groups: _Groups) -> str:
    """The name of a change of bases; ``c`` is taken where no level is written."""
    start, end = _places(groups)
    ref, alt = (BASES.get(groups[name].lower(), groups[name]) for name in ("ref", "alt"))
    if not start:
        return ""
    if len(ref) > 1:
        end = end or _move(start, len(ref) - 1)
    what = "=" if ref == alt else f"{ref}>{alt}" if len(ref) == len(alt) == 1 else f"delins{alt}"
    return _dna_name(groups, start, end, what)


def _dna_event(groups: _Groups) -> str:
    """The name of a deletion, a duplication or an insertion of bases."""
    start, end = _places(groups)
    event, added = re.sub("del[ACGTU]+ins", "delins", groups["event"]), groups.get("seq") or ""
    if not start or ("ins" in event and not added.isalpha()):
        return ""
    size = int(digits[0]) if (digits := re.match(r"\d+", added)) else len(added)
    if event == "ins":
        end = end or _move(start, 1)
    elif event != "delins":
        end, added = end or _move(start, max(size, 1) - 1), ""
    return _dna_name(groups, start, end, f"{event}{added}")


def _dna_name(groups: _Groups, start: str, end: str, what: str) -> str:
    level = groups.get("level") or "c"
    return f"{level}.{_range(start, end)}{what.lower() if level == 'r' else what}"


def protein(groups: _Groups) -> str:
    """The name of the change of an amino acid."""
    if groups["alt"] == "X" and groups["ref"] + groups["start"] in _ANY:
        return ""
    ref, alt = (_SHORT_NAMES.get(_plain(groups[name]), "=") for name in ("ref", "alt"))
    return f"p.{ref}{groups['start']}{'=' if ref == alt else alt}"


def _codon(groups: _Groups) -> str:
    """The name of the change of an amino acid by that of its codon."""
    ref, alt = (
        _CODED[
            sum(
                "TCAG".index(base) * 4 ** (2 - at)
                for at, base in enumerate(groups[name].replace("U", "T"))
            )
        ]
        for name in ("ref", "alt")
    )
    return protein({"ref": ref, "alt": alt, "start": groups["start"]})


def _as_written(groups: _Groups) -> str:
    """The name that the text has, with plain signs and without blanks."""
    return re.sub("[−–]", "-", re.sub(r"\s", "", groups["all"]))


def _frame_shift(groups: _Groups) -> str:
    """The name of a shift of the reading frame."""
    alt, length = groups["alt"], groups["length"]
    tail = f"Ter{length}" if length and alt else ""
    new = _SHORT_NAMES[alt.lower()] if alt else ""
    return f"p.{_place(groups['ref'], groups['start'])}{new}fs{tail}"


def _protein_event(groups: _Groups) -> str:
    """The name of a deletion, a duplication or an insertion of amino acids."""
    start, added = _place(groups["ref"], groups["start"]), ""
    event = groups.get("event", "").replace(">", "delins") or "del"
    end = _place(groups["last"], groups["end"]) if groups.get("end") else ""
    if "ins" in event:
        seq = groups["seq"]
        added = "".join(
            _SHORT_NAMES[acid.lower()] for acid in re.findall(rf"{_AA3}|Ter", seq) or seq
        )
        if not added or (event == "ins" and not end):
            return ""
    return f"p.{_range(start, end)}{event}{added}"


def _deletion(groups: _Groups) -> str:
    """The name of a deletion that is written before its amino acids, and of what may be in their
    place.
    """
    return _protein_event({**groups, "event": "delins" if groups["seq"] else "del"})


def _deletion_of_run(groups: _Groups) -> str:
    """The name of a deletion that states its amino acids."""
    seq, end = groups["seq"], int(groups["start"]) + len(groups["seq"]) - 1
    return f"p.{_range(_place(seq[0], groups['start']), _place(seq[-1], str(end)))}del"


def _plain(name: str) -> str:
    """An amino acid in lower case, without what stands around it."""
    bare = re.sub(r"(?i)premature | residue| \(.*", "", name).lower()
    return "x" if re.fullmatch("(?:stop|termination)(?: codon)?", bare) else bare


def _place(ref: str, start: str) -> str:
    return f"{_SHORT_NAMES[ref.lower()]}{start}"


def _places(groups: _Groups) -> tuple[str, str]:
    """First and last place; the last is empty if there is one place, both are if it is none of
    HGVS.
    """
    start, end = (_number(groups.get(name) or "") for name in ("start", "end"))
    if not end and (ends := re.fullmatch(r"(\d+)-(\d+)", start)):
        first, last = map(int, ends.groups())
        # 118-119insA; a place in an intron (118-19, n.16-36) seldom has the greater number behind
        if first < last and not (groups.get("level") and first + 9 < last < 60):
            return ends[1], ends[2]
    return start, end


def _number(place: str) -> str:
    plain = re.sub(r"[\s()]", "", place).replace("−", "-").replace("–", "-").removeprefix("+")
    return "" if plain.startswith("Ex") else plain.replace("ivs", "IVS")


def _move(start: str, steps: int) -> str:
    """The place some steps behind another one; there is no place 0."""
    head, sign, digits = re.fullmatch(r"(.*?)([-+]?)(\d+)", start).groups()  # type: ignore[union-attr]
    if sign != "-":
        return f"{head}{sign}{int(digits) + steps}"
    moved = steps - int(digits)
    if moved < 0:
        return f"{head}{moved}"
    return (head if moved == 0 else "") if head else str(moved + 1)


def _range(start: str, end: str) -> str:
    return f"{start}_{end}" if end and end != start else start


def _form(
    pattern: str,
    name: Callable[[_Groups], str] = lambda groups: "",
    *,
    weak: bool = False,
    before: str = _LEFT,
    right: str = _RIGHT,
    letters: bool = False,
) -> VariantForm:
    whole = re.compile(f"{before}(?:{pattern}){right}")
    return VariantForm(whole, name, weak, letters, member=before == _IN_ALLELE)


@cache
def variant_forms() -> tuple[VariantForm, ...]:
    """All forms, compiled once."""
    return (
        *_numbers(),
        *_dna_forms(),
        *_dna_events(),
        *_protein_forms(),
        *_protein_events(),
        *_word_forms(),
        *_nomenclature_forms(),
    )


def _numbers() -> Iterator[VariantForm]:
    # RS 67333 is a drug, and Rs 500 a price.
    for start, weak in (
        (r"(?:[Rr]s#?|rs\s#?)", False),
        (r"(?:RS\s?#?|Rs\s|[Rr][Ss][:-]\s?)", True),
    ):
        yield _form(
            rf"{start}(?P<rs>[1-9]\d{{2,11}})",
            lambda groups: f"rs{groups['rs']}",
            weak=weak,
            right=_ALLELE,
        )


def _dna_forms() -> Iterator[VariantForm]:
    place = rf"(?P<start>{_PLACE})"
    change = rf"(?P<ref>{_BASE}{{1,6}}){_ARROW}(?P<alt>{_BASE}{{1,6}})"
    yield _form(
        rf"(?:{_LEVEL})?{_PLACES}(?:,?\s)?(?P<open>\()?{change}(?(open)\))", _dna, before=_SIGNED
    )
    yield _form(rf"{_LEVEL}(?P<ref>{_BASE}){place}(?:{_ARROW})?(?P<alt>{_BASE})", _dna)
    yield _form(rf"(?P<level>r)\.\(?{_PLACES}(?P<ref>[acgu]+)>(?P<alt>[acgu]+)\)?", _dna)
    yield _form(rf"(?P<level>r)\.{_PLACES}(?P<event>{_EVENT})(?P<seq>[acgu]+)?", _dna_event)
    signed = r"(?P<start>\(?[-−–+]\s?\d{2,5}\)?)"
    yield _form(rf"(?P<ref>{_BASE})\s?{signed}\s?(?:{_ARROW})?(?P<alt>{_BASE})", _dna)
    yield _form(r"(?P<ref>[ACGT]) (?P<start>\d{3,6})\s?(?P<alt>[ACGT])", _dna)  # a 100 U dose
    yield _form(rf"(?P<ref>{_BASE})(?P<start>\d{{2,6}}){_ARROW}(?P<alt>{_BASE})", _dna)
    yield _form(
        r"(?P<ref>[ACGT])(?P<start>\d{5,6})(?!(?P=ref))(?P<alt>[ACGT])", _dna
    )  # U18666A is a drug
    yield _form(
        r"(?P<ref>[ACGT])(?P<start>\d{5,6})(?P<alt>(?P=ref))", _dna, weak=True
    )  # A22026A is a device
    yield _form(rf"(?:[-−–+]\d{{2,5}}|{_INTRON})\s?{_BASE}{{1,2}}", weak=True, before=_SIGNED)
    yield _form(rf"(?P<one>{_BASE}){_ARROW}(?!(?P=one)){_BASE}(?![-\s][Rr]ich)", weak=True)
    yield _form(rf"{_BASE}{{2}}(?:\s?[-−–=]{{0,3}}>\s?|\s?→\s?| to ){_BASE}{{2}}", weak=True)
    yield _form(rf"(?i:codon) {place},? (?P<ref>{_BASE}{{3}}){_ARROW}(?P<alt>{_BASE}{{3}})", _codon)
    behind = r"(?:(?<=chr\w[:-])|(?<=chr\w\w[:-]))"  # chr7:140453136:A:T
    yield _form(
        rf"(?P<start>\d{{4,9}})[:-](?P<ref>{_BASE}+)[:-](?P<alt>{_BASE}+)", _dna, before=behind
    )
    yield _form(rf"\d+[-+−–]\d+\s?kb\s?{_BASE}{_ARROW}{_BASE}")
    spdi = r"(?P<sequence>NC_\d+\.\d+):(?P<start>\d+):(?P<ref>[ACGT]):(?P<alt>[ACGT])"
    yield _form(
        spdi, lambda at: f"{at['sequence']}:g.{int(at['start']) + 1}{at['ref']}>{at['alt']}"
    )  # counts from 0
    yield _form(
        r"(?:1?\d|2[0-2]|X|Y|MT?)-\d{4,9}-[ACGT]{1,50}-[ACGT]{1,50}", before=r"(?<![A-Za-z0-9_.:-])"
    )  # gnomAD


def _dna_events() -> Iterator[VariantForm]:
    seq = r"(?P<seq>[ACGTU]+|\d+(?:\s?bp)?)?"
    yield _form(
        rf"(?:{_LEVEL})?{_PLACES}\s?(?P<event>{_EVENT}|del[ACGTU]+ins)\s?{seq}",
        _dna_event,
        before=_SIGNED,
    )
    yield _form(
        rf"(?:{_LEVEL})?(?P<event>del|dup|ins)(?P<start>\d{{2,6}})(?P<seq>[ACGT]+)", _dna_event
    )
    yield _form(rf"{_BASE}(?P<event>del|ins|dup)(?P<start>\d+)", _dna_event)
    yield _form(rf"{_LEVEL}{_PLACES}ins\([ACGT]+\)\(?\d+\)?")
    yield _form(
        r"(?P<all>[cgmn]\.(?:pter|\d+-\?|\d+)_(?:qter|\d+\+\?|\d+)(?:del|dup|inv))", _as_written
    )
    yield _form(rf"[-−]\d+[- ]bp (?:{_EVENT_NAME})", before=_SIGNED)
    yield _form(rf"[ACGT]{{2,12}} (?:{_EVENT_NAME})|(?:{_EVENT_NAME}) \([ACGT]{{2,12}}\)")
    of_size = r"(?P<event>[Dd]el)etion of (?P<seq>\d+\s?(?:bp|base pairs|nucleotides))"
    yield _form(rf"{of_size} at (?:position|nucleotide|nt) (?P<start>\d+)", _dna_event)
    yield _form(r"(?:ins/del|del/ins|del|ins|dup)\s?\d+[\s-]?bp")
    yield _form(r"[-−–]\d+ \d+N (?:ins/del|del/ins|del|ins)", before=_SIGNED)
    yield _form(rf"(?i:{_BASE_NAME}) (?:{_EVENT_NAME})")
    yield _form(r"\([ACGT]{1,6}\)\d{1,3}(?!\()", weak=True)
    yield _form(
        r"(?:Δ|∆|[Dd]elta[\s-]?|DD)\d{2,4}(?:\s?[-–]\s?\d{2,4})?(?: deletion)?",
        weak=True,
        before="",
    )
    yield _form(
        r"(?:[Dd]eletion of )?[ACGT](?: deletion)? at(?: nucleotide)?(?: position)? -?\d+",
        weak=True,
    )


def _protein_forms() -> Iterator[VariantForm]:
    prefix, number = r"(?:p\.\s?\(?)?", r"\(?(?P<start>[1-9]\d{0,4})\)?"
    between = rf"(?:{_ARROW}|\s|-(?!{_AA3}(?:[\s-]?\d|\(|\]?-)))?"  # Glu 754-Lys 759 is a bridge
    yield _form(
        rf"{prefix}(?P<ref>{_AA3})[\s-]?{number}{between}(?P<alt>{_AA3}|{_STOP})(?!\(\d)\)?",
        protein,
    )
    yield _form(rf"p\.\s?\(?(?P<ref>{_AA})(?P<start>\d+)>?(?P<alt>{_AA}|{_STOP}|=)\)?", protein)
    yield _form(
        rf"(?P<ref>{_AA3})[\s-]?(?P<start>\d{{2,4}})-(?P<alt>{_AA3})[\s-]?(?P=start)", protein
    )
    short = rf"(?P<ref>{LETTER})(?P<start>[1-9]\d{{1,3}})(?:{_ARROW})?(?P<alt>{LETTER}|X|\*|stop)"
    yield _form(short, protein, before=r"(?<![A-Z0-9_.])", letters=True)  # KrasG12D
    yield _form(rf"(?P<ref>{LETTER})(?P<start>[1-9])(?P<alt>{LETTER})", protein, weak=True)
    yield _form(rf"(?P<start>\d{{2,4}})\s?(?P<ref>{LETTER})/(?P<alt>{LETTER})", protein)
    yield _form(
        rf"(?P<start>\d{{2,4}})(?P<ref>(?i:{SHORT}))-+>?(?P<alt>(?i:{SHORT})|{_STOP})", protein
    )
    for absent, before, weak in (  # no product
        (r"[pr]\.0\?", _LEFT, False),
        # behind a reference sequence, or in brackets behind a variant
        (r"[pr]\.0", r"(?:(?<=[A-Z\d]:)|(?<=>[ACGT] \()|(?<=del \()|(?<=dup \())", False),
        (r"[pr]\.0", _LEFT, True),
    ):
        yield _form(rf"(?P<all>{absent})(?!\.\d)", _as_written, weak=weak, before=before)
    yield _form(rf"p\.{_AA}\d+(?:_{_AA}\d+)?\??(?!\[)")
    yield _form(rf"\d{{2,4}}\s?{_AA3}", weak=True)


def _protein_events() -> Iterator[VariantForm]:
    prefix, place = r"(?:p\.\s?\(?)?", rf"(?P<ref>{_AA})(?P<start>[1-9]\d*)"
    shift = rf"(?P<alt>{_AA})?\s?fs(?:(?:\*|X|Ter|stop)?(?P<length>\d+|(?<=[*Xr])\?)?|\w{{0,8}})"
    yield _form(rf"{prefix}{place}{shift}\)?", _frame_shift)
    last = rf"(?:\s?[-_–]\s?(?P<last>{_AA})(?P<end>\d+))?"
    added = rf"(?P<seq>(?:{_AA3}|Ter)+|{LETTER}*\*|{LETTER}+)?"
    yield _form(
        rf"{prefix}{place}{last}\s?(?P<event>{_EVENT}|(?(last)>|(?!))){added}\)?", _protein_event
    )
    yield _form(
        rf"del[\s-]?(?P<ref>{_AA3}|[DEFHIKLMPQRSVWY])(?P<start>[1-9]\d+){last}(?:ins{added})?",
        _deletion,
    )
    delta = r"(?:Δ|∆|[Dd]elta[\s-]?)"
    yield _form(
        rf"{delta}(?P<ref>{_AA3}|[ADEFHIKLMPQRSTVWY])\s?(?P<start>\d{{2,5}})", _protein_event
    )
    yield _form(rf"(?P<ref>{_AA})(?P<start>\d{{2,5}})\s?(?:Δ|∆)", _protein_event)
    yield _form(rf"(?:{_AA}\d+_)+{_AA}\d+ deletion")
    yield _form(rf"(?P<start>\d{{1,4}})del(?P<seq>{LETTER}+)", _deletion_of_run)
    yield _form(rf"{LETTER}{{2,5}}\s?\d+-\d+\s?(?:ins|del|{_EVENT_NAME})")


def _word_forms() -> Iterator[VariantForm]:
    """Variants in words."""
    to = r"(?:[\s-](?:to|for|with|by|→)[\s-](?:an? |the )?|\s?(?:-{1,3}>|→)\s?)"
    place = rf"{_AT}[\s-](?:c\.)?(?P<start>[-−+]?\d+)(?: position)?"
    base = rf"(?:{_BASE}|(?i:{_BASE_NAME}))"
    # Who substitutes valine for alanine has valine in the end.
    verbs = "|".join(
        f"(?<=substitut{ending} )"
        for ending in ("ion of", "ion of a", "ion of an", "ion of the", "ing", "es")
    )
    for before, behind in ((f"(?:{verbs})", f"(?: {_CHANGE})?"), ("", " (?i:substitution)")):
        for unit, name in ((_FULL, protein), (base, _dna)):
            yield _form(
                rf"{before}(?P<alt>{unit})[\s-]for[\s-](?:an? "
                rf"|the )?(?P<ref>{unit}){behind}{place}",
                name,
            )
    yield _form(rf"(?P<ref>{_FULL}){to}(?P<alt>{_FULL})(?: {_CHANGE})?{place}", protein)
    yield _form(rf"(?P<ref>{_FULL}){place}{to}(?P<alt>{_FULL})", protein)
    yield _form(rf"(?P<ref>{_FULL})[\s-]?(?P<start>\d+){to}(?P<alt>{_FULL})(?!\(\d)", protein)
    yield _form(rf"(?P<ref>(?i:{NAME}))[\s-](?P<start>\d+)[\s-](?P<alt>(?i:{NAME}))", protein)
    yield _form(rf"(?i:codon) (?P<start>\d+),? (?P<ref>{_FULL})(?:{to}|/)(?P<alt>{_FULL})", protein)
    yield _form(rf"(?P<start>\d+),? from (?P<ref>{_FULL}){to}(?P<alt>{_FULL})", protein)
    yield _form(
        rf"\(?(?P<ref>{base})(?:{_ARROW}|{to})(?P<alt>{base})\)?(?: {_CHANGE})?{place}", _dna
    )
    yield _form(rf"{_FULL}{to}{_FULL}", weak=True)
    yield _form(
        rf"(?P<ref>{LETTER}) to (?P<alt>{LETTER}) (?:substitution|mutation){place}", protein
    )
    yield _form(r"(?:[ACGT]|\([A-Z]\)) allele (?:at|for) (?:the )?(?:codon |position )?[-−]?\d+")


def _nomenclature_forms() -> Iterator[VariantForm]:
    """What the nomenclature of HGVS has beyond the forms above, with its level or in an allele."""
    bases, copies = "(?:[ACGTU]+|[acgu]+)", r"\[\d+\]"
    unsure = rf"\((?:\?|{_PLACE})_(?:\?|{_PLACE})\)"
    added = rf"(?:(?:{bases}|[Nn]|\d+_\d+(?:inv)?)(?:{copies})?|\[(?:[\w.:;]|{copies}){{1,80}}\])"
    change = rf"(?:{bases}?=|{bases}>{bases}|(?:del)?ins{added}|{_EVENT}|{bases}?{copies})"
    member = rf"(?P<all>(?:{unsure}|{_PLACE})(?:_(?:{unsure}|{_PLACE}))?{change})"
    yield _form(rf"(?P<level>[cgmnor])\.\s?(?P<open>\()?{member}(?(open)\))", _of_level)
    yield _form(member, _of_level, before=_IN_ALLELE)
    acid = rf"{_AA3}\d+"
    longer = rf"(?:Ter|\*)\d+(?:{_AA3})?ext(?:Ter|\*)(?:\d+|\?)|M(?:et)?1(?:\?|ext-\d+)"
    member = rf"(?P<all>{acid}(?:(?:_{acid})?{copies}|=|Xaa|_{acid}insXaa{copies})|{longer})"
    for before, start in ((_LEFT, r"p\.\s?\(?"), (_IN_ALLELE, "")):
        yield _form(rf"{start}{member}\)?", _of_protein, before=before)


def _of_level(groups: _Groups) -> str:
    """The name of a change that is written as the nomenclature has it."""
    return f"{groups.get('level') or 'c'}.{_as_written(groups)}"


def _of_protein(groups: _Groups) -> str:
    """The name of a change of a protein that is written as the nomenclature has it."""
    return f"p.{re.sub('^M1', 'Met1', _as_written(groups)).replace('*', 'Ter')}"
