"""Every shipped model: what it must find in easy sentences, wherever exactly it draws the bounds
of names.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from fascicle.core.lexicon import FOLDER
from fascicle.loading import load
from fascicle.settings.folders.shipped import shipped_models

_SIX = {
    "Lithium caused nephrogenic diabetes insipidus.": {
        "Chemical": "Lithium",
        "Disease": "diabetes insipidus",
    },
    "Aspirin reduced the risk of myocardial infarction.": {
        "Chemical": "Aspirin",
        "Disease": "myocardial infarction",
    },
    "Mutations of the BRCA1 gene cause breast cancer in women.": {
        "Gene": "BRCA1",
        "Disease": "breast cancer",
    },
    "Saccharomyces cerevisiae and mice were infected.": {"Species": "Saccharomyces cerevisiae"},
    "HeLa cells were transfected with a plasmid.": {"CellLine": "HeLa"},
    "Human peripheral blood T lymphocytes produced interleukin-2.": {
        "CellType": "T lymphocytes",
        "Gene": "interleukin-2",
    },
}
KNOWN = {"biomed": _SIX, "biomed-fast": _SIX}


@pytest.mark.parametrize("name", shipped_models())
def test_known_answers(name: str) -> None:
    model = load(name, threads=1)
    known = KNOWN[name.partition("@")[0]]
    assert set(model.types) == {kind for answers in known.values() for kind in answers}
    for text, answers in known.items():
        (document,) = model.annotate(text)
        for kind, words in answers.items():
            start = text.index(words)
            found = [
                m
                for m in document.mentions
                if m.type == kind and m.start < start + len(words) and start < m.end
            ]
            assert found, (text, kind, [(text[m.start : m.end], m.type) for m in document.mentions])


@pytest.mark.parametrize("name", shipped_models())
def test_people_count_as_the_card_says(name: str) -> None:
    card = (FOLDER.parent / name / "README.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"People count, ([^.]*)\.", card)
    marked, unmarked = (re.findall(r"\*(\w+)\*", part) for part in sentence.split(" but not "))
    assert len(marked) == 3
    assert unmarked == ["children", "volunteers"]
    for word in marked + unmarked:
        (document,) = load(name, threads=1).annotate(f"{word.title()} with asthma got salbutamol.")
        mentions = {document.text[m.start : m.end] for m in document.mentions}
        assert (word.title() in mentions) == (word in marked), word


@pytest.mark.parametrize("name", shipped_models())
def test_a_text_without_capitals_has_the_answers_of_the_same_text_in_capitals(name: str) -> None:
    text = (
        "mda-mb-231, mcf7 and t47d cells express esr1. the abcb1 and mdr1 genes in lovo and sw480."
    )
    model = load(name, threads=1)
    lower, capitals = (
        {(m.type, m.start, m.end) for m in model.annotate(form)[0].mentions}
        for form in (text.lower(), text.upper())
    )
    assert lower == capitals
    names = {text[start:end] for kind, start, end in lower if kind == "CellLine"}
    assert {"mda-mb-231", "mcf7"} <= names


@pytest.mark.parametrize("name", shipped_models())
def test_capitals_make_no_short_form_of_an_ordinary_word(name: str) -> None:
    # a text without capitals, of which the networks read capitals
    group = (
        "the decline was lower in the gisen group (gruppo italiano di studi epidemiologici in "
        "nefrologia). renal failure was rare in the ramipril group and in the placebo group."
    )
    cortisol = "the levels of cortisol (cor) rose. in both groups cor was higher than normal."
    documents = load(name, threads=1).annotate([group, cortisol])
    names = [{text[m.start : m.end] for m in d.mentions} for d in documents for text in [d.text]]
    assert "renal failure" in names[0]
    assert "group" not in names[0]
    assert {"cortisol", "cor"} <= names[1]


@pytest.mark.parametrize("change", [str.lower, str.upper, str.title])
@pytest.mark.parametrize("name", shipped_models())
def test_case_hides_no_name(name: str, change: Callable[[str], str]) -> None:
    text = (
        "Mutations of BRCA1 were seen. HeLa cells and mice were treated with cisplatin. "
        "Breast cancer was excluded."
    )
    (document,) = load(name, threads=1).annotate(change(text))
    found = {(m.type, text[m.start : m.end]) for m in document.mentions}
    expected = {
        ("Gene", "BRCA1"),
        ("CellLine", "HeLa"),
        ("Species", "mice"),
        ("Chemical", "cisplatin"),
    }
    assert expected | {("Disease", "Breast cancer")} <= found
