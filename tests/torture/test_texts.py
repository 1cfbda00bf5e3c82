"""Texts that break tools: whatever way a text comes in, it comes out unchanged, with the same
mentions.

Each text goes through a file, through a JSON record, through standard input and through the command
line. What must not be lost: every character of the text, and the offsets of every mention. The four
ways are each other's oracle."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fascicle.cli import main
from fascicle.loading import load

LITHIUM = "Lithium may cause nephrogenic diabetes insipidus."
TEXTS = {
    "plain": LITHIUM,
    "no-end": "Aspirin and ibuprofen cause gastric ulcers",
    "line-feed-at-end": f"{LITHIUM}\n",
    "blank-lines-first": f"\n\n\n{LITHIUM}",
    "blank-lines-between": f"{LITHIUM}\n\n\n\n{LITHIUM}",
    "carriage-returns": f"{LITHIUM}\r{LITHIUM}\r",
    "windows-lines": f"{LITHIUM}\r\n{LITHIUM}\r\n",
    "mixed-lines": f"{LITHIUM}\r\n{LITHIUM}\n{LITHIUM}\r{LITHIUM}",
    "next-line": f"{LITHIUM}\x85{LITHIUM}",
    "line-separator": f"{LITHIUM}\u2028{LITHIUM}\u2029{LITHIUM}",
    "form-feed": f"{LITHIUM}\f{LITHIUM}\v{LITHIUM}",
    "tabs": f"\t{LITHIUM}\t\t{LITHIUM}\t",
    "trailing-blanks": f"{LITHIUM}      ",
    "leading-blanks": f"      {LITHIUM}",
    "no-break-spaces": LITHIUM.replace(" ", "\u00a0"),
    "thin-spaces": LITHIUM.replace(" ", "\u2009"),
    "ideographic-spaces": LITHIUM.replace(" ", "\u3000"),
    "zero-width-spaces": LITHIUM.replace("i", "i\u200b"),
    "zero-width-joiner": "patients \U0001f468\u200d\U0001f469\u200d\U0001f467 with diabetes took "
    "lithium",
    "soft-hyphens": LITHIUM.replace("thium", "thi\u00adum"),
    "hyphen-at-line-end": "Lith-\nium may cause dia-\nbetes insipidus.",
    "byte-order-mark-inside": "Lithium\ufeff may cause diabetes.",
    "emoji-before": f"\U0001f600\U0001f600 {LITHIUM}",
    "emoji-between": LITHIUM.replace(" ", " \U0001f489 "),
    "flags-and-skin": f"\U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd {LITHIUM}",
    "beyond-the-plane": f"\U0001d400\U0001d401\U0001d402 {LITHIUM} \U00020000",
    "mathematical-letters": "\U0001d40b\U0001d422\U0001d42d\U0001d421\U0001d422\U0001d42e\U0001d426 causes diabetes.",
    "combining-marks": "L\u0301i\u0308t\u0323hium may cause diabe\u0302tes.",
    "stacked-marks": "a" + "\u0301" * 200 + f" {LITHIUM}",
    "decomposed": "Ménière's disease and Sjögren's syndrome".replace("é", "e\u0301").replace(
        "ö", "o\u0308"
    ),
    "composed": "Ménière's disease and Sjögren's syndrome",
    "ligatures": "ﬁbrosis and ﬂuoxetine with œdema",
    "dotted-capital-i": "İbuprofen causes İİİ ulcers and İschaemia of the heart",
    "sharp-s": "STRAẞE ß ﬀ Fluoxetine ẞ causes seizures",
    "final-sigma": "ΣΊΣΥΦΟΣ σίσυφος lithium toxicity ς",
    "right-to-left": f"\u0627\u0644\u0633\u0643\u0631\u064a {LITHIUM} "
    "\u05e1\u05d5\u05db\u05e8\u05ea",
    "direction-marks": f"\u202e{LITHIUM}\u202c \u2066{LITHIUM}\u2069",
    "chinese": f"糖尿病与锂。{LITHIUM}阿司匹林",
    "cyrillic-lookalikes": "Lithium mаy cаusе diаbеtеs",
    "greek-in-names": "TNF-α, β-carotene and γ-aminobutyric acid in hepatitis",
    "subscripts": "H₂O₂, CO₂ and Ca²⁺ in ischemia",
    "primes-and-quotes": "“Lithium”—5′-fluorouracil’s «toxicity»",
    "replacement-character": f"{LITHIUM} \ufffd {LITHIUM}",
    "private-use": f"\ue000 {LITHIUM} \uf8ff",
    "noncharacters": f"\ufdd0 {LITHIUM} \uffff",
    "control-characters": f"\x01\x02 {LITHIUM} \x1b[31m \x7f",
    "ansi-escape": f"\x1b]0;title\x07{LITHIUM}",
    "only-blanks": "   \n \t ",
    "only-marks": "\u0301\u0301",
    "only-punctuation": "!?.,;:-()[]{}",
    "one-letter": "A",
    "one-emoji": "\U0001f600",
    "empty": "",
    "json-like": '{"text": "Lithium may cause diabetes", "id": 1}',
    "pubtator-like": "1|t|Lithium may cause diabetes\n1|a|Aspirin too",
    "conll-like": "Lithium B-Chemical\ncauses O\ndiabetes B-Disease",
    "xml-like": "<b>Lithium</b> &amp; <i>diabetes</i> <!-- aspirin -->",
    "csv-like": '"Lithium","diabetes"\n"=1+1","-aspirin"',
    "shell-like": "$(rm -rf /) `lithium` && diabetes; $HOME",
    "format-like": "%s %d {0} {} {{lithium}} \\n \\u0041 diabetes",
    "backslashes": "C:\\lithium\\diabetes \\\\server\\aspirin",
    "quotes": "'lithium' \"diabetes\" `aspirin` ''' \"\"\"",
    "url-and-mail": "https://lithium.example/diabetes?a=1&b=2 lithium@diabetes.example",
    "numbers": "1,000.5 mg 1e-5 0x1F ½ ¾ 5-HT2A IL-2 lithium",
    "one-long-word": "lithium" * 3000,
    "long-word-between": f"{LITHIUM} {'x' * 20000} {LITHIUM}",
    "long-sentence": "lithium and aspirin and " * 600 + "diabetes",
    "many-sentences": f"{LITHIUM} " * 300,
    "many-lines": "\n".join(["Aspirin."] * 1500),
    "no-spaces": "lithium,aspirin;diabetes/ulcer|hepatitis" * 40,
    "repeated-letters": "a" * 5000 + " lithium " + "." * 5000,
    "capitals": LITHIUM.upper(),
    "alternating": "".join(c.upper() if at % 2 else c for at, c in enumerate(LITHIUM)),
}
# The command line cannot hold them, or they are more than one argument may be.
_NOT_ARGUMENTS = {name for name, text in TEXTS.items() if len(text) > 100_000}


@pytest.fixture(scope="module")
def annotate(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[dict[str, Any]]]:
    """Runs ``fascicle annotate`` in this process; gives the documents that it wrote."""
    folder = tmp_path_factory.mktemp("written")

    def run(*argv: str, code: int = 0) -> list[dict[str, Any]]:
        out = folder / f"{len(list(folder.iterdir()))}.jsonl"
        assert main(["annotate", *argv, "-o", str(out)]) == code
        return [json.loads(line) for line in out.read_text(encoding="utf-8").split("\n") if line]

    return run


@pytest.fixture(scope="module")
def by_file(
    annotate: Callable[..., list[dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Every text as a file of its own, all in one call: name -> document."""
    folder = tmp_path_factory.mktemp("texts")
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_bytes(text.encode())
    return {
        document["id"]: document for document in annotate(str(folder), "--input-format", "plain")
    }


def mentions(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [
        (tuple(map(tuple, m["spans"])), m["type"], m.get("score"))
        for m in document.get("mentions", [])
    ]


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_keeps_every_character(by_file: dict[str, Any], name: str) -> None:
    document = by_file[name]
    assert document["text"] == TEXTS[name]
    for spans, _, score in mentions(document):
        for start, end in spans:
            assert 0 <= start < end <= len(TEXTS[name])
            assert not TEXTS[name][start:end][0].isspace()
            assert not TEXTS[name][start:end][-1].isspace()
        assert 0 <= score <= 1


def test_something_is_found(by_file: dict[str, Any]) -> None:
    assert {kind for _, kind, _ in mentions(by_file["plain"])} == {"Chemical", "Disease"}
    empty = [name for name, document in by_file.items() if not mentions(document)]
    assert {"empty", "only-blanks", "only-punctuation"} <= set(empty)
    assert len(empty) < len(TEXTS) / 3


def test_records_give_the_same(
    by_file: dict[str, Any], annotate: Callable[..., list[dict[str, Any]]], tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    lines = [json.dumps({"id": name, "text": text}) for name, text in TEXTS.items()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = {document["id"]: document for document in annotate(str(file))}
    assert list(found) == list(TEXTS)
    for name, text in TEXTS.items():
        assert found[name]["text"] == text
        assert mentions(found[name]) == mentions(by_file[name]), name


def test_arguments_give_the_same(
    by_file: dict[str, Any], annotate: Callable[..., list[dict[str, Any]]]
) -> None:
    given = {name: text for name, text in TEXTS.items() if name not in _NOT_ARGUMENTS}
    argv = [part for text in given.values() for part in (f"--text={text}",)]
    for (name, text), document in zip(given.items(), annotate(*argv), strict=True):
        assert document["text"] == text
        assert mentions(document) == mentions(by_file[name]), name


@pytest.mark.parametrize(
    "name", ["plain", "windows-lines", "emoji-between", "line-separator", "long-sentence", "empty"]
)
def test_standard_input_gives_the_same(
    by_file: dict[str, Any],
    annotate: Callable[..., list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXTS[name].encode())), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stream)
    (document,) = annotate("-")
    assert document["text"] == TEXTS[name]
    assert mentions(document) == mentions(by_file[name])


@pytest.mark.parametrize("bom", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_encodings_give_the_same(
    by_file: dict[str, Any],
    annotate: Callable[..., list[dict[str, Any]]],
    tmp_path: Path,
    encoding: str,
    bom: bool,
) -> None:
    data = "".join(TEXTS[name] for name in ("emoji-between", "right-to-left", "greek-in-names"))
    used = encoding if encoding == "utf-8" or bom else f"{encoding}-le"
    file = tmp_path / "text.txt"
    file.write_bytes(("\ufeff" if bom and encoding == "utf-8" else "").encode() + data.encode(used))
    (document,) = annotate(str(file), "--encoding", used)
    assert document["text"] == data


@pytest.fixture(scope="module")
def predictor() -> Any:
    return load("biomed")


@pytest.mark.parametrize("name", TEXTS)
def test_neighbours_change_nothing(by_file: dict[str, Any], predictor: Any, name: str) -> None:
    """The texts were annotated in one call; each alone gives the same."""
    (document,) = predictor.annotate([TEXTS[name]])
    alone = [(m.spans, m.type, m.score) for m in document.mentions]
    assert alone == mentions(by_file[name])
