"""Sequence variants: where they are, and what they are called in HGVS."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.core.mention import Link, is_curie
from fascicle.terms.variant_recogniser import VariantRecogniser

RECOGNISER = VariantRecogniser()
CODES = {  # one letter and three, as IUPAC has them
    **{
        "A": "Ala",
        "R": "Arg",
        "N": "Asn",
        "D": "Asp",
        "C": "Cys",
        "Q": "Gln",
        "E": "Glu",
        "G": "Gly",
        "H": "His",
    },
    **{
        "I": "Ile",
        "L": "Leu",
        "K": "Lys",
        "M": "Met",
        "F": "Phe",
        "P": "Pro",
        "S": "Ser",
        "T": "Thr",
        "W": "Trp",
    },
    **{"Y": "Tyr", "V": "Val"},
}
NAMES = {
    "Val": "valine",
    "Glu": "glutamic acid",
    "Arg": "arginine",
    "Trp": "tryptophan",
    "Ser": "serine",
}
OF_PROTEINS = "DEFHIKLMNPQRSVWY"  # letters that are no bases
BASES = st.sampled_from("ACGT")
PARTS = (
    *(
        "c.",
        "p.",
        "g.",
        "r.",
        "Val",
        "Glu",
        "600",
        "1",
        "-",
        "+",
        "_",
        "*",
        "A",
        "C",
        "G",
        "T",
        "U",
        "V",
        "X",
        "(",
        ")",
    ),
    *(
        " ",
        ">",
        "->",
        "to",
        "del",
        "ins",
        "dup",
        "delins",
        "fs",
        "Ter",
        "stop",
        "rs",
        "123",
        "IVS3",
        "Ex2",
        "/",
        "Δ",
    ),
    *(
        "valine",
        "codon",
        " at position ",
        "with",
        "adenine",
        "=",
        "?",
        "chr1:",
        "NM_1.2:",
        "mutation ",
        "99999999",
        "−",
    ),
)


def found(text: str) -> list[tuple[str, str]]:
    """Words and name of each mention."""
    (patch,) = RECOGNISER.predict([Document(id="1", text=text)])
    return [(one.text_in(text), one.links[0].id if one.links else "") for one in patch.add]


@pytest.mark.parametrize(
    ("text", "words", "name"),
    [
        ("(c.1799T>A)", "c.1799T>A", "c.1799T>A"),
        ("c.G1714C", "c.G1714C", "c.1714G>C"),
        ("the -521 C/T allele", "-521 C/T", "c.-521C>T"),
        ("IL1B-31T/C", "-31T/C", "c.-31T>C"),
        ("IVS3 + 18C > T", "IVS3 + 18C > T", "c.IVS3+18C>T"),
        ("m.3243A>G in mtDNA", "m.3243A>G", "m.3243A>G"),
        ("r.76a>u", "r.76a>u", "r.76a>u"),
        ("r.76_78del", "r.76_78del", "r.76_78del"),
        ("r.76_77insacg", "r.76_77insacg", "r.76_77insacg"),
        ("c.609+28_610-16del", "c.609+28_610-16del", "c.609+28_610-16del"),
        ("c.474delA", "c.474delA", "c.474del"),
        ("1494del6", "1494del6", "c.1494_1499del"),
        ("5382insC", "5382insC", "c.5382_5383insC"),
        ("c.-1_1insA", "c.-1_1insA", "c.-1_1insA"),
        ("-1insA", "-1insA", "c.-1_1insA"),
        ("118-119insA", "118-119insA", "c.118_119insA"),
        ("c.463-6T>G", "c.463-6T>G", "c.463-6T>G"),
        ("c.899dupC", "c.899dupC", "c.899dup"),
        ("Val600Glu", "Val600Glu", "p.Val600Glu"),
        ("p.(Val600Glu)", "p.(Val600Glu)", "p.Val600Glu"),
        ("(p.Arg34X)", "p.Arg34X", "p.Arg34Ter"),
        ("Glu873Stop", "Glu873Stop", "p.Glu873Ter"),
        ("p.Met326=", "p.Met326=", "p.Met326="),
        ("S429S", "S429S", "p.Ser429="),
        ("KrasQ61R", "Q61R", "p.Gln61Arg"),
        ("p.G204VfsX28", "p.G204VfsX28", "p.Gly204ValfsTer28"),
        ("p.Arg58fs", "p.Arg58fs", "p.Arg58fs"),
        ("F508del", "F508del", "p.Phe508del"),
        ("delta F508", "delta F508", "p.Phe508del"),
        ("ΔF508", "ΔF508", "p.Phe508del"),
        ("157delMTTTVP", "157delMTTTVP", "p.Met157_Pro162del"),
        ("p.Asp46_Gln48delinsGlu", "p.Asp46_Gln48delinsGlu", "p.Asp46_Gln48delinsGlu"),
        (
            "a valine to alanine substitution at amino acid 16",
            "valine to alanine substitution at amino acid 16",
            "p.Val16Ala",
        ),
        ("arginine 124-to-cysteine", "arginine 124-to-cysteine", "p.Arg124Cys"),
        ("G to A at nucleotide position 1359", "G to A at nucleotide position 1359", "c.1359G>A"),
        (
            "a deletion of 6 bp at position 1494",
            "deletion of 6 bp at position 1494",
            "c.1494_1499del",
        ),
        ("Cys 23-Ser 23", "Cys 23-Ser 23", "p.Cys23Ser"),
        ("at codon 326 from Ser to Cys", "326 from Ser to Cys", "p.Ser326Cys"),
        ("codon 787 CAG/CAA", "codon 787 CAG/CAA", "p.Gln787="),
        ("codon 12 GGU>UAG", "codon 12 GGU>UAG", "p.Gly12Ter"),
        ("a four-base deletion (TGAG)", "deletion (TGAG)", ""),
        ("the -652 6N ins/del", "-652 6N ins/del", ""),
        ("rs113488022", "rs113488022", "rs113488022"),
        ("NM_004333.4:c.1799T>A", "c.1799T>A", "NM_004333.4:c.1799T>A"),
        ("chr14:58915212G>A", "58915212G>A", "chr14:g.58915212G>A"),
        ("chr7:140453136:A:T", "140453136:A:T", "chr7:g.140453136A>T"),
        ("chrX-55242465-GGA-GT", "55242465-GGA-GT", "chrX:g.55242465_55242467delinsGT"),
        ("NM_004006.2(DMD):c.93+1G>T", "c.93+1G>T", "NM_004006.2:c.93+1G>T"),
        ("NG_012232.1(NM_004006.2):c.93+1G>T", "c.93+1G>T", "NG_012232.1(NM_004006.2):c.93+1G>T"),
        ("mtDNA A3243G", "A3243G", "m.3243A>G"),
        ("the mitochondrial DNA mutation 8344A>G", "8344A>G", "m.8344A>G"),
        ("c.1799_1800delTGinsAA", "c.1799_1800delTGinsAA", "c.1799_1800delinsAA"),
        ("r.(76a>c)", "r.(76a>c)", "r.76a>c"),
        (
            "c.(4071+1_4072-1)_(5145+1_5146-1)del",
            "c.(4071+1_4072-1)_(5145+1_5146-1)del",
            "c.(4071+1_4072-1)_(5145+1_5146-1)del",
        ),
        ("g.(?_234567)_(345678_?)del", "g.(?_234567)_(345678_?)del", "g.(?_234567)_(345678_?)del"),
        ("c.53AGC[23]", "c.53AGC[23]", "c.53AGC[23]"),
        ("c.-128_-126[79]", "c.-128_-126[79]", "c.-128_-126[79]"),
        ("CFTR 3849+10kbC>T", "3849+10kbC>T", ""),
        ("p.(Met1?)", "p.(Met1?)", "p.Met1?"),
        ("p.Met1ext-5", "p.Met1ext-5", "p.Met1ext-5"),
        ("p.*110Glnext*17", "p.*110Glnext*17", "p.Ter110GlnextTer17"),
        (
            "p.(Pro578_Lys579delinsLeuTer)",
            "p.(Pro578_Lys579delinsLeuTer)",
            "p.Pro578_Lys579delinsLeuTer",
        ),
        ("p.L747_P753>S", "p.L747_P753>S", "p.Leu747_Pro753delinsSer"),
        ("delE746-A750", "delE746-A750", "p.Glu746_Ala750del"),
        ("delL747_P753insS", "delL747_P753insS", "p.Leu747_Pro753delinsSer"),
        ("delF508", "delF508", "p.Phe508del"),
        ("BRAF is mutated, BRAFV600E", "V600E", "p.Val600Glu"),
        ("JAK2 is mutated, JAK2V617F", "V617F", "p.Val617Phe"),
        ("Glu→Val at codon 6", "Glu→Val at codon 6", "p.Glu6Val"),
        (
            "a substitution of a stop codon for glutamine at codon 298",
            "stop codon for glutamine at codon 298",
            "p.Gln298Ter",
        ),
        (
            "an Arg for His substitution at position 161",
            "Arg for His substitution at position 161",
            "p.His161Arg",
        ),
        ("substitution of T for C at nucleotide 677", "T for C at nucleotide 677", "c.677C>T"),
        ("it changes asparagine 86 for alanine", "asparagine 86 for alanine", "p.Asn86Ala"),
        ("EGFR G719X", "G719X", ""),
        ("Rs12345 is common", "Rs12345", "rs12345"),
        ("rs12345-T", "rs12345", "rs12345"),
        ("rs12345_T", "rs12345", "rs12345"),
        ("rs12345C>T", "rs12345", "rs12345"),
        ("the SNP Rs 12345", "Rs 12345", "rs12345"),
    ],
)
def test_names(text: str, words: str, name: str) -> None:
    assert found(text) == [(words, name)]


@pytest.mark.parametrize(
    "text",
    [
        "type 2 diabetes (T2D)",
        "T47D and T98G cells",
        "C3H mice",
        "histone H2A",
        "A/T-rich",
        "0.5 mg",
        "U18666A blocks the transport of cholesterol",
        "the strain S288C, and S6K beside S1P; L5178Y and C33A cells",
        "HEK-293T and MCF-10A cells with the mutant",
        "HEK293T and MCF10A cells of HEK and MCF, beside SKMEL28A",
        "mutants (Figure S12A), their genotypes (Figs. S12A and S13C) and alleles (Table A10C)",
        "the agonists RS67333 and RS 504393; the price is Rs 5000",
        "the salt bridge Glu 754-Lys 759, and Asp25-Thr26-Gly-27",
        "the mutant of vaccinia virus lacks A33R and F13L",
        "the mutation is an exon 19 del or an exon 20ins",
        "IL-17A/F, IL-17 A/F, a diet of AIN-93G/M, lamin A/C mutations, 5-HT(2A/C) and 5-HT2A/C",
        "a 100 U dose; A 100 U/kg dose; 40 mg Q24H or Q12H; [U-14C]glucose; cytochrome P4503A",
        "Eudragit L30D-55; the copper T380A; the model A22026A",
        "[D-Ala2-Met]-enkephalin, Thr(393)/Ser(395), Gln(489) to Trp(503), Leu(496)-Leu(500)",
    ],
)
def test_what_looks_like_one(text: str) -> None:
    assert found(text) == []


def test_a_weak_form_needs_words_that_speak_of_variants() -> None:
    assert found("We measured S5A by mass.") == []
    assert found("We measured the S5A mutant.") == [("S5A", "p.Ser5Ala")]
    assert [
        words for words, _ in found("The S5A mutant grew. " + "It was fed. " * 9 + "So S5A ate.")
    ] == ["S5A", "S5A"]


@pytest.mark.parametrize(
    "words", ["CC to TT", "(CCTTT)14", "leucine to methionine", "glycine (Gly) with arginine (Arg)"]
)
def test_a_change_without_a_place_needs_words_that_speak_of_variants(words: str) -> None:
    assert found(f"We measured {words} by mass.") == []
    assert found(f"a substitution of {words} was found") == [(words, "")]


def test_letters_of_both_are_what_the_text_speaks_of() -> None:
    assert found("the promoter polymorphism G472A and its genotype") == [("G472A", "c.472G>A")]
    assert (
        found("the catalytic cysteine residue; its C314A mutant protein binds")[0][1]
        == "p.Cys314Ala"
    )


def test_a_change_that_one_base_cannot_make_is_one_of_bases() -> None:
    assert (
        found("common mutations of the enzyme and its protein, such as C677T")[0][1] == "c.677C>T"
    )
    assert (
        found("the residue of the receptor protein: the mutant T439C binds")[0][1] == "p.Thr439Cys"
    )


def test_alleles_follow_their_variant() -> None:
    assert found("D302H was typed. Carriers of the 302H allele.") == [
        ("D302H", "p.Asp302His"),
        ("302H", "p.Asp302His"),
    ]
    assert found("D302H was typed. Carriers of the 302K allele.") == [("D302H", "p.Asp302His")]
    assert found("D302H was typed. Carriers of His302.") == [
        ("D302H", "p.Asp302His"),
        ("His302", "p.Asp302His"),
    ]
    assert found("D302H is a variant at the residue D302.") == [("D302H", "p.Asp302His")]
    assert found("G472A, a SNP; carriers of the allele A472")[-1] == ("A472", "c.472G>A")


def test_an_rs_number_beside_a_variant_is_another_name() -> None:
    (patch,) = RECOGNISER.predict(
        [Document(id="1", text="N221D (rs6232) is common; N221D is benign, R221D not.")]
    )
    links = [one.links[0] for one in patch.add]
    assert (
        links[0]
        == links[2]
        == Link(id="p.Asn221Asp", ontology="HGVS", curie="HGVS:p.Asn221Asp", same=("dbsnp:rs6232",))
    )
    assert links[1].curie == "dbsnp:rs6232"
    assert links[3].same == ()


@given(
    ref=st.sampled_from(OF_PROTEINS),
    place=st.integers(10, 9999),
    alt=st.sampled_from(sorted(CODES)),
)
def test_every_way_to_write_a_substitution_has_one_name(ref: str, place: int, alt: str) -> None:
    name = f"p.{CODES[ref]}{place}{'=' if ref == alt else CODES[alt]}"
    if re.fullmatch("T47D|T98G|P450[0-9][A-F]", f"{ref}{place}{alt}"):  # lines and enzymes
        return
    for written in (
        f"{ref}{place}{alt}",
        f"p.{ref}{place}{alt}",
        f"{CODES[ref]}{place}{CODES[alt]}",
    ):
        assert found(f"Here {written}, they say.") == [(written, name)]


@given(place=st.integers(100, 99999), ref=BASES, alt=BASES, level=st.sampled_from("cgmn"))
def test_every_way_to_write_a_change_of_bases(place: int, ref: str, alt: str, level: str) -> None:
    what = "=" if ref == alt else f"{ref}>{alt}"
    for written in (f"{level}.{place}{ref}>{alt}", f"{level}.{ref}{place}{alt}"):
        assert found(f"Here {written}, they say.") == [(written, f"{level}.{place}{what}")]


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_mentions_are_sound(text: str) -> None:
    (patch,) = RECOGNISER.predict([Document(id="1", text=text)])
    ends = 0
    for one in patch.add:
        assert ends <= one.start < one.end <= len(text)
        assert one.text_in(text).strip() == one.text_in(text)
        ends = one.end
        for link in one.links:
            assert is_curie(link.curie)
            assert re.fullmatch(r"rs\d+|(?:[\w.]+:)?[cgmnrp]\.\S+", link.id)


def test_many_variants_take_linear_time() -> None:
    # They take a second or two; comparing each with all others takes many.
    began = time.process_time()
    said = "".join(f"A{at}C polymorphism {at}A and {at}G; " for at in range(100, 8_100))
    (patch,) = RECOGNISER.predict([Document(id="1", text=said)])
    assert len(patch.add) == 2 * 8_000
    assert time.process_time() - began < 20


def names_of(text: str) -> list[tuple[str, str]]:
    (patch,) = VariantRecogniser().predict([Document(id="1", text=text)])
    return [
        (text[one.start : one.end], one.links[0].curie.removeprefix("HGVS:") if one.links else "")
        for one in patch.add
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("KRAS G12C inhibitors such as sotorasib are approved.", ["p.Gly12Cys"]),
        ("SOD1 G93A mice were bred.", ["p.Gly93Ala"]),
        ("EGFR G719A in exon 18 responds to afatinib.", ["p.Gly719Ala"]),
        ("The ABC p.G22C and G22C variants.", ["p.Gly22Cys", "p.Gly22Cys"]),
        ("The MTHFR C677T polymorphism.", ["c.677C>T"]),
        ("We saw A25G in all.", [""]),
        ("m.[3243A>G;8993T>G]", ["m.3243A>G", "m.8993T>G"]),
        ("r.[76a>c;83_84del]", ["r.76a>c", "r.83_84del"]),
        ("n.[76A>C;83G>C]", ["n.76A>C", "n.83G>C"]),
        ("NM_000518.4:c.[20A>T];[20A>T]", ["NM_000518.4:c.20A>T"] * 2),
        (
            "NC_000007.14:g.[140753336A>T;140753340del]",
            ["NC_000007.14:g.140753336A>T", "NC_000007.14:g.140753340del"],
        ),
        ("p.(Gln1756Profs*?)", ["p.Gln1756ProfsTer?"]),
        ("p.Thr779MetfsTer?", ["p.Thr779MetfsTer?"]),
        ("p.(Thr779Met^Ala)", [""]),
        ("p.F55>L", ["p.Phe55Leu"]),
        ("p.(Phe55>Ter)", ["p.Phe55Ter"]),
        ("NM_004006.2:c.(370A>C)", ["NM_004006.2:c.370A>C"]),
        ("BRCA2(NM_000059.4):c.7007G>A", ["NM_000059.4:c.7007G>A"]),
        ("NM_000059.4 (BRCA2): c.7007G>A", ["NM_000059.4:c.7007G>A"]),
        ("MT-TL1 3243A>G", ["m.3243A>G"]),
        ("c.192= and p.Ala2[10] and r.3984cag[6]", ["c.192=", "p.Ala2[10]", "r.3984cag[6]"]),
        ("c.76_77insAA[20] and r.2_3insn[5]", ["c.76_77insAA[20]", "r.2_3insn[5]"]),
        ("c.849_850ins858_895inv", ["c.849_850ins858_895inv"]),
        ("c.76A= and c.(*160=)", ["c.76A=", "c.*160="]),
        ("c.(207dup)", ["c.207dup"]),
        ("m.[2581_2583[21];2325G>T]", ["m.2581_2583[21]", "m.2325G>T"]),
        ("NP_003997.1:p.[Cys98Pro;Met1?]", ["NP_003997.1:p.Cys98Pro", "NP_003997.1:p.Met1?"]),
        ("p.(Asn2958[4]) and p.(*176Glyext*80)", ["p.Asn2958[4]", "p.Ter176GlyextTer80"]),
        ("n.16-36dup and c.118-119insA", ["n.16-36dup", "c.118_119insA"]),
        ("We saw 12[3], (45[2]), [6;7] and 12= 13.", []),
        ("In refs [5[6]] and (1;2[3]) and lists [7=;8[9]] and [Ala2[10];Met1?].", []),
        (
            "c.76A>C [5[6]], m.3243A>G;5[12] and p.(Ala2Gly);Ala3[12]",
            ["c.76A>C", "m.3243A>G", "p.Ala2Gly"],
        ),
        ("g.[76_77ins[ACG;20_30];83[4]]", ["g.76_77ins[ACG;20_30]", "g.83[4]"]),
        (
            "p.[Ala2[10]];[Lys5=] and c.[76A>C];[5[6]]",
            ["p.Ala2[10]", "p.Lys5=", "c.76A>C", "c.5[6]"],
        ),
        # HGVS 21.1: circular references, unknown amino acids, no protein and no RNA
        ("NC_012920.1:o.100del and o.76_77insT", ["NC_012920.1:o.100del", "o.76_77insT"]),
        ("p.Met1Xaa", ["p.Met1Xaa"]),
        ("The mutation p.0? and the mutation r.0", ["p.0?", "r.0"]),
        ("The mutation had p.0.05 and p. 0", []),
        ("BRCA1 c.1A>G (p.0?)", ["c.1A>G", "p.0?"]),
        ("BRCA1 c.1A>G (p.0)", ["c.1A>G", "p.0"]),
        ("NP_003997.1:p.0? or NP_003997.1:p.0", ["NP_003997.1:p.0?", "NP_003997.1:p.0"]),
        ("LRG_199t1:r.0", ["LRG_199t1:r.0"]),
        ("Its p.0 and (p.0) and NP_003997.1:p.0.05", []),
        ("NC_000007.14:140753335:A:T", ["NC_000007.14:g.140753336A>T"]),
        ("7-140753336-A-T", [""]),
    ],
)
def test_levels_and_references_come_from_evidence(text: str, names: list[str]) -> None:
    assert [name for _, name in names_of(text)] == names


@pytest.mark.parametrize(
    "text",
    [
        "The mutation was checked with antibody A1978S (Sigma-Aldrich, catalogue number A1978S) "
        "and primer F121R.",
        "The mutation is in plasmid pC194T.",
        "The yeast strain W303A has a mutation.",
    ],
)
def test_numbers_of_products_are_no_variants(text: str) -> None:
    assert names_of(text) == []


def test_an_unknown_stop_is_part_of_the_mention() -> None:
    assert [words for words, _ in names_of("Found p.(Gln1756Profs*?).")] == ["p.(Gln1756Profs*?)"]


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("The change is p.(Thr779Met^Ala) here.", "p.(Thr779Met^Ala)"),
        ("The change is NP_003997.1:p.(Gly56Ala^Ser^Cys) here.", "p.(Gly56Ala^Ser^Cys)"),
        ("The change is p.Gly719Ala^Ser here.", "p.Gly719Ala^Ser"),
        ("The change is c.[76A>C^83G>C] here.", "76A>C^83G>C"),
        ("The change is r.(76a>c^83g>c) here.", "r.(76a>c^83g>c)"),
    ],
)
def test_alternatives_are_one_mention_without_a_name(text: str, mention: str) -> None:
    # HGVS, "^ (caret)": or, such as p.(Gly719Ala^Ser)
    assert names_of(text) == [(mention, "")]
