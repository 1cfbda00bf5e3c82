"""Texts that are hard to fold and to cut: marks, ligatures, Greek, plurals, numerals,
possessives, any character.
"""

from __future__ import annotations

from hypothesis import strategies as st

FRAGMENTS = """
a i v x s S es ies II iv IX xi type Types factor stage grade phase groups Alzheimer's patients' ' ’
's ´ ` ″ - ‐ – — − _ . , / ( ) + % & 1 2 44 ² ½ № ⅷ ٣ IL TNF NF alpha beta betas ALPHA α Α β Κ κ ς Σ
µ ᾳ ͅ alphabet betaine eta PKCη chylomicron megaly İ ı ſ ß ẞ ﬁ ﬃ ŉ ǰ é é e̋ ͤ Å å Å ö ё й が が か ゛ ﾞ
각 각 ᄀ ก ุ ่ क ़ ् ड़ ا َ ש ׁ 中文 𝛼 𝚤 𝟚 ① ➊ Ⅻ 😀 👩‍🔬 1️⃣ 🇩🇪 ™ ® haem tumour oedema mice bacteria
metastases kinases diseases corpora ' corpora' data viruses RNAs KRAS AIDS sulphate isation analyse
matrices omata uses ches ous
"""
BLANKS = "\u200b\u00ad\ufeff\u2009\u00a0\u3000\t\n\x00\x7f\u0327\ud800 "
fragments = st.lists(st.sampled_from([*FRAGMENTS.split(), *BLANKS, "  "]), max_size=8).map("".join)
anything = st.text(max_size=12)
texts = st.one_of(
    fragments, anything, st.lists(st.one_of(fragments, anything), max_size=4).map(" ".join)
)
