"""English and scientific plurals, word by word.

What is wrong here is wrong for names and texts alike, so a plural that is not one (``herpes``) costs nothing as long as
no other name has the form that it gets.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_PAIRS: Final = """
mice:mouse men:man women:woman children:child feet:foot teeth:tooth geese:goose lice:louse oxen:ox calves:calf
halves:half wolves:wolf hooves:hoof leaves:leaf lives:life knives:knife selves:self lenses:lens crises:crisis
calories:calorie indices:index matrices:matrix vertices:vertex appendices:appendix cortices:cortex cervices:cervix
helices:helix apices:apex vortices:vortex axes:axis testes:testis bacteria:bacterium mitochondria:mitochondrion
ganglia:ganglion nuclei:nucleus nucleoli:nucleolus fungi:fungus bacilli:bacillus thrombi:thrombus emboli:embolus
bronchi:bronchus villi:villus microvilli:microvillus nevi:nevus foci:focus loci:locus stimuli:stimulus sulci:sulcus
gyri:gyrus thalami:thalamus hippocampi:hippocampus glomeruli:glomerulus alveoli:alveolus calculi:calculus cocci:coccus
streptococci:streptococcus staphylococci:staphylococcus enterococci:enterococcus pneumococci:pneumococcus
meningococci:meningococcus gonococci:gonococcus lactobacilli:lactobacillus ova:ovum sera:serum atria:atrium
septa:septum cilia:cilium flagella:flagellum crania:cranium epithelia:epithelium endothelia:endothelium
sporangia:sporangium mycelia:mycelium vertebrae:vertebra papillae:papilla larvae:larva pupae:pupa hyphae:hypha
algae:alga microalgae:microalga bursae:bursa fossae:fossa antennae:antenna fistulae:fistula trabeculae:trabecula
petechiae:petechia phenomena:phenomenon criteria:criterion spermatozoa:spermatozoon protozoa:protozoon corpora:corpus
genera:genus viscera:viscus embryos:embryo videos:video ratios:ratio mosquitos:mosquito mosquitoes:mosquito
echoes:echo potatoes:potato tomatoes:tomato fetuses:fetus foetuses:fetus buses:bus
"""
_IRREGULAR: Final = MappingProxyType(dict(pair.split(":") for pair in _PAIRS.split()))
_KEPT_WORDS: Final = """
aids sars mers news lens mars always perhaps whereas species series rabies scabies caries facies congeries aries chaos
aars dars eprs fars gars hars iars kars lars nars qars rars tars vars wars yars abus asbestos kudos
"""
_KEPT: Final = frozenset(_KEPT_WORDS.split())
# Endings of plurals in ``as``, of those in ``es`` of words in ``is`` and in ``us``; and words that only look like them.
_AS_ENDINGS: Final = "omas emas rnas dnas ulas inas eas ncias mias sias nias pias gias"
_SIS_ENDINGS: Final = "oses stases yses theses reses neses ptyses physes"
_OSES: Final = "doses noses hoses roses poses purposes closes overdoses megadoses supposes exposes"
_SUGAR_ENDINGS: Final = "ntoses exoses ucoses actoses riboses nnoses haloses ltoses croses uloses"
_USES: Final = "abuses excuses diffuses refuses infuses accuses recluses misuses reuses confuses"
_AS: Final = tuple(_AS_ENDINGS.split())
_SIS: Final = tuple(_SIS_ENDINGS.split())
_NOT_SIS: Final = tuple(_SUGAR_ENDINGS.split())
_REGULAR: Final = frozenset(_OSES.split() + _USES.split())


def singular(word: str) -> str:
    """The singular of a folded word, or the word itself."""
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
    if word.endswith("uses") and len(word) > 6 and not word.endswith(("auses", "ouses")) and word not in _REGULAR:
        return word[:-2]
    if word.endswith(_SIS) and word not in _REGULAR and not word.endswith(_NOT_SIS):
        return word[:-2] + "is"
    return word[:-1]
