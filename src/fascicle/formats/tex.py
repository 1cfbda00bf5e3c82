"""Characters of TeX as reference managers write them: accents, letters, Greek, fonts."""

from __future__ import annotations

import re
import unicodedata
from types import MappingProxyType
from typing import Final

_ACCENTS: Final = "`'^\"~=.uvHcdbkr"
_MARKS: Final = (
    "\u0300\u0301\u0302\u0308\u0303\u0304\u0307\u0306\u030c\u030b\u0327\u0323\u0331\u0328\u030a"
)
_GREEK: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_SIGNS: Final = (
    "ss=ß o=ø O=Ø l=ł L=Ł ae=æ AE=Æ oe=œ OE=Œ aa=å AA=Å i=ı j=ȷ dh=ð DH=Ð th=þ TH=Þ dj=đ DJ=Đ "
    "pm=± times=× leq=≤ le=≤ geq=≥ ge=≥ neq=≠ approx=≈ sim=∼ rightarrow=→ to=→ cdot=· circ=° "
    "degree=° textdegree=° textmu=µ micro=µ infty=∞ textless=< textgreater=> textbar=| "
    "textbackslash=\\ textasciitilde=~ textasciicircum=^ textendash=– textemdash=— "
    "textquoteright=’ textquoteleft=‘ textquotedblleft=“ textquotedblright=” ldots=… dots=… "
    "textregistered=® texttrademark=™ copyright=© S=§ euro=€ texteuro=€ textcopyright=© "
    "textpm=± texttimes=× textdiv=÷ div=÷ mp=∓ ll=≪ gg=≫ equiv=≡ propto=∝ prime=′ textminus=− "
    "textperiodcentered=· textbullet=• textellipsis=… textquotesingle=' textquotedbl=\" "
    "leftarrow=← uparrow=↑ downarrow=↓ textrightarrow=→ textleftarrow=← textuparrow=↑ "
    "textdownarrow=↓ textonesuperior=¹ texttwosuperior=² textthreesuperior=³ textonehalf=½ "
    "textonequarter=¼ textthreequarters=¾ textdagger=† textdaggerdbl=‡ textasteriskcentered=* "
    "textsection=§ textparagraph=¶ textsterling=£ textyen=¥ textcent=¢ textdollar=$ "
    "textunderscore=_ textbraceleft={ textbraceright=} textordfeminine=ª textordmasculine=º "
    "varepsilon=ε varphi=φ vartheta=θ"
)
_FONTS: Final = (
    "text textit textbf textrm textsf texttt textsc textnormal textsuperscript textsubscript emph "
    "it bf rm em sl tt mathrm mathit mathbf mathsf mathcal ensuremath mbox uppercase url"
)
_COMBINING: Final = MappingProxyType(dict(zip(_ACCENTS, _MARKS, strict=True)))


def _greek(name: str) -> str:
    word = "LAMDA" if name.lower() == "lambda" else name.upper()  # as Unicode spells it
    return unicodedata.lookup(f"GREEK {'SMALL' if name.islower() else 'CAPITAL'} LETTER {word}")


_WORDS: Final = MappingProxyType(
    {
        **dict.fromkeys(_FONTS.split(), ""),
        **{f"text{name}": _greek(name) for name in _GREEK.split()},
        **{name: _greek(name) for name in _GREEK.split()},
        **dict(pair.split("=", 1) for pair in _SIGNS.split()),
    }
)
# not from the $ of a price to that of another
_MATH: Final = re.compile(r"(?<!\\)\$(?!\s|\d[^$\\^_]*\$\d)([^$]{1,200}?)(?<![\s\\])\$")
_ADDRESS: Final = re.compile(r"\\href\s*\{(?:[^{}]|\{[^{}]*\})*\}\s*")  # before the text of a link
_TOKEN: Final = re.compile(
    r"""\\(?:(?P<accent>[`'^"~=.]|[uvHcdbkr](?![A-Za-z]))\s*(?:\{\s*\\?(?P<braced>[A-Za-z])\s*\}"""
    r"""|\\?(?P<bare>[A-Za-z]))|(?P<word>[A-Za-z]+)(?:\{\}|[ ]+(?=[A-Za-z/]))?"""
    r"""|(?P<sign>[^A-Za-z]))"""
    r"""|(?P<brace>[{}])|(?P<tie>~)|(?P<dash>-{2,3})""",
    re.DOTALL,
)


def read_tex(text: str) -> str:
    """Returns what TeX prints for a text; an unknown command stays, without the braces
    around its arguments.
    """
    if not any(sign in text for sign in "\\{}$~-"):
        return text
    return _TOKEN.sub(_printed, _MATH.sub(_without_levels, _ADDRESS.sub("", text)))


def unknown_commands(text: str) -> list[str]:
    """Returns the commands of a text that `read_tex` does not know, in their order."""
    words = (match["word"] for match in _TOKEN.finditer(_ADDRESS.sub("", text)))
    return [f"\\{word}" for word in words if word and word not in _WORDS]


def _without_levels(formula: re.Match[str]) -> str:
    """Returns a formula in the line, in braces, which keep it apart from the words around it."""
    return f"{{{re.sub('[_^]', '', formula[1])}}}"


def _printed(token: re.Match[str]) -> str:
    if accent := token["accent"]:
        letter = token["braced"] or token["bare"]
        return unicodedata.normalize("NFC", letter + _COMBINING[accent])
    if word := token["word"]:
        return _WORDS.get(word, token[0])
    if token["sign"]:
        return " " if token["sign"] in "\\, ;:/" else token["sign"]
    if token["dash"]:
        return "–" if len(token["dash"]) == 2 else "—"
    return " " if token["tie"] else ""
