"""Recogniser of sequence variants, with their HGVS names or rs numbers as links."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from fascicle.core.document import Document, Patch
from fascicle.core.mention import Link, Mention, PlacedSpans
from fascicle.terms.variants import LETTER, LETTERS, SHORT, VariantForm, protein, variant_forms
from fascicle.text.annotator import Annotator, TagSpace

NAME: Final = "variants"
TYPE: Final = "SequenceVariant"
HGVS: Final = "HGVS"
_DBSNP: Final = "dbsnp"  # as the Bioregistry spells it
_NEAR: Final = 40  # characters in which a word makes a weak form a variant
_AROUND: Final = 200  # characters whose words tell whether letters are bases or amino acids
_SPEAKS: Final = re.compile(
    r"(?i)mutation|mutant|variant|polymorphi|\bSNPs?\b|allel|genotype|substitut|transition"
    r"|transversion|haplotyp|zygo"
    r"|carrier|codon|conversion|exchange|deletion|\b(?-i:rs)\d"
)
_OF_BASES: Final = re.compile(
    r"(?i)\bSNPs?\b|polymorphi|nucleotide|genotyp|allel|promoter|intron|exon|transition"
    r"|transversion|UTR|cDNA|haplotyp"
    r"|mtDNA|\bMT-[A-Z]"
)
_OF_PROTEINS: Final = re.compile(
    r"(?i)residue|amino|mutants?\b|protein|domain|kinase|recept|missense|enzym|bind|alanine"
    r"|cysteine|active site"
)
# Who treats, breeds or inhibits a mutant speaks of its protein.
_OF_MUTANTS: Final = re.compile(
    r"(?i)inhibit|\bmice\b|\bmouse\b|transgen|oncogen|\w(?:tinib|afenib|metinib|rasib)\b"
)
_HOT_SPOTS: Final = frozenset(  # of proteins, whose letters are bases too
    f"p.{name}"
    for name in [
        "Gly12Ala",
        "Gly12Cys",
        "Gly13Ala",
        "Gly13Cys",
        "Gly93Ala",
        "Gly93Cys",
        "Ala53Thr",
        "Gly469Ala",
        "Gly719Ala",
        "Gly719Cys",
        "Ala146Thr",
    ]
)
# Behind or before what is a number of a product, a clone or a strain.
_PRODUCT: Final = re.compile(
    r"(?i:catalog(?:ue)?|\bcat\.?(?:\s?no\.?|\s?#|\s?number)|\bno\.|#|\bnumber|antibod(?:y|ies)"
    r"|plasmids?|primers?|strains?"
    r"|filters?|plates?|vectors?|kits?|clones?|product)[\s:,(]{1,3}p?\Z"
)
_SUPPLIER: Final = re.compile(
    r"(?i:\s?[(,;]\s?(?:sigma|abcam|invitrogen|thermo|merck|roche|qiagen|bio-?rad|santa cruz"
    r"|cell signal))"
)
_OTHERS: Final = re.compile(  # diseases, cells, strains, genes, peptides
    r"T1D|T2D|T47D|T98G|C3H|C-?33A|L5178Y|S288C|A364A|[AC][1-5][AB]|[PH]2[ABXY]|[EFT]2A|A1C"
    r"|C[1-9]D|[DHMVY][1-6]R|V[1-3]A|E1[AB]"
    r"|E2F|G2M|G9A|P5C|S[12]P|S6K|P450\d[A-F]|Q(?:[468]|12|24)H|U-1[34]C"
)
# of a figure; or what is left of the name of an exon, a cell line, a diet, a protein
_LABEL: Final = re.compile(
    r"(?i:\b(?:fig(?:ure)?s?|tables?|schemes?|movies?|videos?|datasets?|panels?|appendix"
    r"|supplementary))\.?\s?"
    r"(?:(?:S\d{1,2}[A-Z]?(?:,\s?|[–-]|\sand\s))+S|[A-Z])\d{1,2}[A-Z]\Z"
    r"|(?i:\bexons?)[\s-]?\d+[\s-]?(?:del|dup|ins)\w*\Z|\b(?:HEK|MCF|AIN)[-−–]\d+[A-Z](?:/[A-Z])?\Z"
    r"|\bHT[-−–(]*2A/C\Z|\bIL[-−–]?17\s?A/F\Z|(?i:lamins?) A/C\Z|(?i:cu|copper"
    r"|eudragit)\W{0,3}[LT]\d+[A-Z]\Z"
)
# whose genes are A33R, F13L and others
_POX: Final = re.compile(r"(?i)vaccinia|\w*poxvir|variola|\bmpox")
_OF_POX: Final = re.compile(r"[A-O]\d{1,2}[LR]")
_GENE: Final = re.compile(r"(?<![\w-])[A-Z][A-Z0-9]{2,}(?![\w-])")
_BEHIND_GENE: Final = re.compile(
    rf"(?<![\w-])(?P<gene>[A-Z][A-Z0-9]{{2,}})(?P<ref>{LETTER})(?P<start>[1-9]\d{{1,3}})(?P<alt>{LETTER})(?!\w)"
)
_MITOCHONDRIAL: Final = re.compile(
    r"\b(?:mtDNA|mitochondrial(?: DNA)?|MT-[A-Z0-9]+)(?: (?:point )?mutations?)?\s\Z"
)
_ONE_BASE: Final = re.compile(r"p\.(Ala|Cys|Gly|Thr)(\d+)(Ala|Cys|Gly|Thr|=)")
# changes that no single change of a base makes
_TWO_STEPS: Final = ("AlaCys", "CysThr", "GlyThr", "ThrCys", "ThrGly")
_SUBSTITUTION: Final = re.compile(
    r"p\.([A-Z][a-z]{2})(\d+)([A-Z][a-z]{2}|=)|c\.(\d+)([ACGT])>([ACGT])"
)
_ONE: Final = rf"[A-Z]|{SHORT}"
_ALLELE: Final = re.compile(
    rf"(?<![\w.+-])(?:(?P<place>\d{{2,6}})\s?(?P<one>{_ONE})(?P<two>[A-Z])?"
    rf"|(?P<first>{_ONE})\s?(?P<last>\d{{2,6}}))(?!\w)"
)
_REFERENCE: Final = re.compile(
    r"((?:[NX][CGMPRTW]_\d+(?:\.\d+)?|ENS[GPT]\d+(?:\.\d+)?|LRG_\d+(?:[pt]\d+)?"
    r"|chr\w{1,2})(?:\(N[MR]_[\d.]+\))?)"
    r"(?:\s?\([\w-]+\)|\))?(?::\s?|(?<=\w)-)\Z"
)
_REFERENCE_SIZE: Final = 60  # characters of the longest, and of what is before a match
# m.[3243A>G;8993T>G]
_ALLELE_PART: Final = r"(?:[^\[\]]|\[(?:[^\[\]]|\[\d+\])*\])*"  # 5[6], 76_77ins[ACG;20_30]
_BRACKETED: Final = re.compile(
    rf"(?P<level>[cgmnopr])\.(?:(?:\[{_ALLELE_PART}\];)*\[{_ALLELE_PART}|\()\Z"
)
_BRACKETS_SIZE: Final = 300  # characters of alleles before a match
_ALTERNATIVES: Final = re.compile(r"(?:\^[\w>=*?]+)+")  # p.(Thr779Met^Ala)
_THE_SAME: Final = re.compile(r"[,;]?\s?[(\[,/=]?\s?")  # between two names of one variant


class _VariantMatch(NamedTuple):
    """A match.

    Attributes:
        start: first character.
        end: one past the last.
        name: in HGVS, or an rs number; empty for none.
        form: the form that matched.
    """

    start: int
    end: int
    name: str
    form: VariantForm | None = None

    @property
    def has_letters(self) -> bool:
        """Whether it has letters that can be bases and amino acids."""
        return self.form is not None and self.form.letters

    def text_in(self, text: str) -> str:
        """Returns its words in the text of the document."""
        return text[self.start : self.end]


class VariantRecogniser(Annotator):
    """Finds sequence variants by how they are written: ``c.1799T>A``, ``Val600Glu``,
    ``rs113488022``, ``delta F508``.

    A mention is linked to its name in HGVS, where it states one, or to its rs number. Of ``V600E``
    the name is ``p.Val600Glu``: it has a reference sequence only where the text gives one, as in
    ``NM_004333.4:c.1799T>A``. A variant beside its rs number, as in ``N221D (rs6232)``, has it as
    another name (`Link.same`) in the whole document.
    """

    gives = frozenset({"mentions", "links"})
    keeps_links = True  # no vocabulary of a pack has the names of HGVS
    kind = "rules for sequence variants"
    name = NAME
    types = (TYPE,)
    tag_space = TagSpace(meaning="none")

    def __init__(self, name: str = NAME) -> None:
        """Sets the source of the mentions."""
        self.name = name

    def predict(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns the variants of each document, in the order of the text, without scores."""
        return [Patch(add=tuple(self._mentions(document.text))) for document in documents]

    def _mentions(self, text: str) -> Iterator[Mention]:
        matches = _join_alternatives(text, _choose(_drop_unspoken(text, list(_matches(text)))))
        matches = _resolve_names(text, _drop_products(text, matches))
        matches = sorted([*matches, *_alleles(text, matches)], key=lambda match: match.start)
        matches = [match._replace(name=_add_reference(match, text)) for match in matches]
        numbers = dict(_pair_numbers(text, matches))
        for match in matches:
            span = (match.start, match.end)
            links = _links(match.name, numbers)
            yield Mention((span,), TYPE, source=self.name, links=links)


def _matches(text: str) -> Iterator[_VariantMatch]:
    """Yields the matches of all forms, some of which overlap."""
    about_pox, genes = bool(_POX.search(text)), frozenset(_GENE.findall(text))
    for form in variant_forms():
        for match in form.pattern.finditer(text):
            start, end = match.span()
            words = match[0]
            if words.endswith(")") and words.count(")") > words.count("("):
                end -= 1
            end = start + len(text[start:end].rstrip())
            if not _is_other(text, start, end) and not (
                about_pox and _OF_POX.fullmatch(text, start, end)
            ):
                name = form.name({key: value or "" for key, value in match.groupdict().items()})
                candidate = _VariantMatch(start, end, name, form)
                if not form.member or _allele_before(candidate, text):
                    yield candidate
    for match in _BEHIND_GENE.finditer(text):
        if match["gene"] in genes:
            yield _VariantMatch(match.start("ref"), match.end(), protein(match.groupdict()))


def _is_other(text: str, start: int, end: int) -> bool:
    labelled = _LABEL.search(text[max(0, start - _REFERENCE_SIZE) : end])
    return bool(labelled or _OTHERS.fullmatch(text, start, end))


def _drop_unspoken(text: str, matches: Sequence[_VariantMatch]) -> list[_VariantMatch]:
    """Returns the matches without those of weak forms of which the text nowhere speaks as of
    variants.
    """
    spoken = {
        text[match.start : match.end]
        for match in matches
        if _spoken_of(text, match.start, match.end)
    }
    return [
        match
        for match in matches
        if not (match.form and match.form.weak) or match.text_in(text) in spoken
    ]


def _spoken_of(text: str, start: int, end: int) -> bool:
    return bool(
        _SPEAKS.search(text[max(0, start - _NEAR) : start])
        or _SPEAKS.search(text[end : end + _NEAR])
    )


def _choose(matches: list[_VariantMatch]) -> list[_VariantMatch]:
    """Returns the longest matches, of equal ones those with a name, without overlaps."""
    chosen_matches: list[_VariantMatch] = []
    free = [True] * max((match.end for match in matches), default=0)
    for match in sorted(
        matches, key=lambda match: (match.start - match.end, not match.name, match.start)
    ):
        if all(free[match.start : match.end]):
            chosen_matches.append(match)
            free[match.start : match.end] = [False] * (match.end - match.start)
    return sorted(chosen_matches, key=lambda match: match.start)


def _join_alternatives(text: str, matches: Sequence[_VariantMatch]) -> list[_VariantMatch]:
    """Returns matches of which alternatives are one, without a name, since no single name holds."""
    joined: list[_VariantMatch] = []
    for match in matches:
        if joined and match.start < joined[-1].end:
            continue
        alternatives = _ALTERNATIVES.match(text, match.end)
        if not alternatives:
            joined.append(match)
            continue
        is_open = match.text_in(text).count("(") > match.text_in(text).count(")")
        end = alternatives.end() + (is_open and text.startswith(")", alternatives.end()))
        joined.append(_VariantMatch(match.start, end, ""))
    return joined


def _drop_products(text: str, matches: Sequence[_VariantMatch]) -> list[_VariantMatch]:
    products = {match.text_in(text) for match in matches if _is_product(match, text)}
    return [match for match in matches if match.text_in(text) not in products]


def _is_product(match: _VariantMatch, text: str) -> bool:
    """True for a letter, a number and a letter that are a catalogue number, a primer, a plasmid
    or a strain.
    """
    if not match.has_letters:
        return False
    before = text[max(0, match.start - _NEAR) : match.start]
    return bool(_PRODUCT.search(before) or _SUPPLIER.match(text, match.end))


def _resolve_names(text: str, matches: Sequence[_VariantMatch]) -> list[_VariantMatch]:
    """Returns matches with their names, see `_resolve_name`."""
    sure = any(match.has_letters and not _ONE_BASE.fullmatch(match.name) for match in matches)
    proteins = _HOT_SPOTS | {
        match.name for match in matches if match.form and not match.form.letters
    }
    return [
        match._replace(name=_resolve_name(match, text, sure=sure, proteins=proteins))
        for match in matches
    ]


def _resolve_name(match: _VariantMatch, text: str, *, sure: bool, proteins: Collection[str]) -> str:
    """Returns the name of a match; letters that can be bases and amino acids are what the text
    around speaks of.

    Args:
        match: match.
        text: of the document.
        sure: whether the text has a match whose letters can be amino acids alone.
        proteins: names of changes of amino acids.

    Returns:
        The name; none where nothing says whether these are bases or amino acids.
    """
    letters = _ONE_BASE.fullmatch(match.name) if match.has_letters else None
    if letters is None or match.name in proteins:
        return match.name
    around = text[max(0, match.start - _AROUND) : match.end + _AROUND]
    ref, place, alt = letters.groups()
    bases = len(_OF_BASES.findall(around)) - len(_OF_PROTEINS.findall(around)) - 2 * sure
    bases -= len(_OF_MUTANTS.findall(around))
    # made cysteines are common before
    if ref + alt in _TWO_STEPS and int(place) > (1_000 if alt == "Cys" else 300):
        bases += 4
    if bases <= 0:
        return match.name if bases < 0 else ""
    return f"c.{place}{LETTERS[ref]}>{LETTERS[alt]}" if alt != "=" else f"c.{place}="


def _allele_before(match: _VariantMatch, text: str) -> re.Match[str] | None:
    """Returns the level and the bracket, if a match stands in an allele of its level."""
    bracketed = _BRACKETED.search(text[max(0, match.start - _BRACKETS_SIZE) : match.start])
    protein_level = bracketed is not None and bracketed["level"] == "p"
    return bracketed if match.name[:2] == ("p." if protein_level else "c.") else None


def _add_reference(match: _VariantMatch, text: str) -> str:
    """Returns the name with the reference sequence that stands before it:
    ``NM_004333.4:c.1799T>A``.
    """
    bracketed = _allele_before(match, text)
    before = text[max(0, match.start - _BRACKETS_SIZE) : match.start]
    if bracketed:
        level, before = bracketed["level"], before[: bracketed.start()]
        match = match._replace(
            name=level + (match.name[1:].lower() if level == "r" else match.name[1:])
        )
    before = before[-_REFERENCE_SIZE:]
    if (
        not bracketed
        and match.name.startswith("c.")
        and text[match.start : match.start + 2] != "c."
        and _MITOCHONDRIAL.search(before)
    ):
        return f"m{match.name[1:]}"
    sequence = _REFERENCE.search(before)
    if not sequence or match.name[1:2] != ".":
        return match.name
    of_genome = sequence[1].startswith("chr") and match.name.startswith("c.")
    return f"{sequence[1]}:{'g' + match.name[1:] if of_genome else match.name}"


class _Substitution(NamedTuple):
    """Substitutions at one place: the name of the first, and the letters before and after them."""

    name: str
    before: set[str]
    after: set[str]


def _substitutions(matches: Sequence[_VariantMatch]) -> dict[str, _Substitution]:
    """Returns place -> substitutions there."""
    substitutions: dict[str, _Substitution] = {}
    for match in matches:
        if parts := _SUBSTITUTION.fullmatch(match.name):
            of_protein = parts[2] is not None
            ref, place, alt = parts.group(1, 2, 3) if of_protein else parts.group(5, 4, 6)
            new = _Substitution(match.name, set(), set())
            substitution = substitutions.setdefault(place, new)
            substitution.before.add(LETTERS.get(ref, ref))
            substitution.after.add(LETTERS.get(alt, alt))
    return substitutions


def _alleles(text: str, matches: Sequence[_VariantMatch]) -> Iterator[_VariantMatch]:
    """Yields alleles of the variants of a text, which it gives by place and letter: ``302H``,
    ``192RR``.

    A letter before its place is an allele if it is the new one: after ``D302H``, ``H302`` is, and
    ``D302`` a residue.
    """
    substitutions = _substitutions(matches)
    occupied = PlacedSpans((match.start, match.end) for match in matches)
    for allele in _ALLELE.finditer(text) if substitutions else ():
        substitution = substitutions.get(allele["place"] or allele["last"])
        if substitution is None:
            continue
        letters = {
            LETTERS.get(name, name) for name in filter(None, allele.group("one", "two", "first"))
        }
        before = () if allele["first"] else substitution.before
        span = allele.span()
        if (
            letters <= substitution.after.union(before)
            and _spoken_of(text, *span)
            and not occupied.overlapping(span)
        ):
            yield _VariantMatch(*span, substitution.name)


def _pair_numbers(text: str, matches: Sequence[_VariantMatch]) -> Iterator[tuple[str, str]]:
    """Yields names and the rs numbers that stand beside them."""
    for first, second in pairwise(matches):
        if _THE_SAME.fullmatch(text, first.end, second.start) and "" not in (
            first.name,
            second.name,
        ):
            name, other = sorted((first.name, second.name), key=lambda name: name.startswith("rs"))
            if other.startswith("rs") and not name.startswith("rs"):
                yield name, other


def _links(name: str, numbers: dict[str, str]) -> tuple[Link, ...]:
    if not name:
        return ()
    if name.startswith("rs"):
        return (Link(id=name, ontology=_DBSNP, curie=f"{_DBSNP}:{name}"),)
    same = (f"{_DBSNP}:{numbers[name]}",) if name in numbers else ()
    return (Link(id=name, ontology=HGVS, curie=f"{HGVS}:{name}", same=same),)
