"""Tests that each line of a list is a name of its own to the shipped models."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.formats.oracle.office import package, paragraph, run, table, workbook
from tests.formats.oracle.papers import printed

from fascicle.formats import read
from fascicle.loading import load

DISEASES = re.split(
    ";",
    "asthma;diabetes mellitus;hypertension;breast cancer;lung cancer;colorectal "
    "cancer;melanoma;psoriasis;"
    "rheumatoid arthritis;osteoporosis;epilepsy;migraine;schizophrenia;Parkinson "
    "disease;Alzheimer disease;"
    "multiple sclerosis;cystic fibrosis;sickle cell "
    "anemia;hemophilia;tuberculosis;malaria;pneumonia;influenza;"
    "hepatitis B;cirrhosis;pancreatitis;Crohn disease;ulcerative colitis;celiac "
    "disease;gout;obesity;anemia;leukemia;"
    "lymphoma;glaucoma;cataract;stroke;myocardial infarction;heart failure;atrial fibrillation",
)
DRUGS = re.split(
    ";",
    "metformin;insulin;atorvastatin;lisinopril;warfarin;aspirin;amoxicillin;ibuprofen;omeprazole;simvastatin;losartan;"
    "gabapentin;sertraline;furosemide;prednisone;ciprofloxacin;clopidogrel;levothyroxine;morphine;doxorubicin",
)


@pytest.mark.parametrize("model", ["biomed", "biomed-fast"])
@pytest.mark.parametrize("form", ["{1}", "• {1}", "{0}. {1}", "Item: {1}", "> {1}"])
def test_every_name_of_a_list_is_a_mention(model: str, form: str) -> None:
    predictor = load(model)
    for names in (DISEASES, DRUGS):
        text = "\n".join(form.format(number, name) for number, name in enumerate(names, 1))
        found = {mention.text for mention in predictor(text)}
        assert set(names) <= found


def of_html(names: Sequence[str], before: str, after: str, between: str) -> bytes:
    return f"<!DOCTYPE html><html><body>{before}{between.join(names)}{after}</body></html>".encode()


def of_jats(names: Sequence[str], before: str, after: str, between: str) -> bytes:
    return f"<article><body>{before}{between.join(names)}{after}</body></article>".encode()


def of_tei(names: Sequence[str], before: str, after: str, between: str) -> bytes:
    body = f"<text><body>{before}{between.join(names)}{after}</body></text>"
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/>{body}</TEI>'.encode()


def of_word(names: Sequence[str], before: str, after: str, between: str) -> bytes:
    numbered = '<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>' * (
        before == "list"
    )
    runs = [f"<w:r><w:t>{name}</w:t></w:r>" for name in names]
    if between == "line":
        return package(f"<w:p>{'<w:r><w:br/></w:r>'.join(runs)}</w:p>")
    if between == "table":
        return package(table(*([paragraph(one), paragraph(run("0.5"))] for one in runs)))
    return package("".join(f"<w:p>{numbered}{one}</w:p>" for one in runs))


def of_excel(names: Sequence[str], before: str, after: str, between: str) -> bytes:
    return workbook([["id", "text"], ["1", between.join(before + name for name in names)]])


def of_pdf(names: Sequence[str], before: str, after: str, between: str) -> bytes:
    return printed(
        [(54, 760 - float(between) * at, 10, before + name) for at, name in enumerate(names)]
    )


FILES: dict[str, tuple[str, Callable[..., bytes], str, str, str]] = {
    # ending, maker, what stands before and after the names or each of them, and between two
    "HTML list": ("html", of_html, "<ul><li>", "</ul>", "<li>"),
    "HTML lines": ("html", of_html, "<p>", "</p>", "<br>"),
    "HTML block": ("html", of_html, "<pre>", "</pre>", "\n"),
    "HTML table": ("html", of_html, "<table><tr><td>", "</table>", "<tr><td>"),
    "HTML terms": ("html", of_html, "<dl><dt>", "</dl>", "<dd>is one<dt>"),
    "TEI list": ("tei.xml", of_tei, "<list><item>", "</item></list>", "</item><item>"),
    "TEI lines": ("tei.xml", of_tei, "<p>", "</p>", "<lb/>"),
    "TEI list in a paragraph": (
        "tei.xml",
        of_tei,
        "<p>Some <list><item>",
        "</item></list></p>",
        "</item><item>",
    ),
    "JATS lines": ("nxml", of_jats, "<p>", "</p>", "<break/>"),
    "JATS list": (
        "nxml",
        of_jats,
        "<list><list-item><p>",
        "</p></list-item></list>",
        "</p></list-item><list-item><p>",
    ),
    "Word paragraphs": ("docx", of_word, "", "", ""),
    "Word list": ("docx", of_word, "list", "", ""),
    "Word lines": ("docx", of_word, "", "", "line"),
    "Word table": ("docx", of_word, "", "", "table"),
    "Excel lines": ("xlsx", of_excel, "", "", "\n"),
    "Excel lines of Windows": ("xlsx", of_excel, "", "", "_x000D_\n"),
    "Excel bullets": ("xlsx", of_excel, "- ", "", "\n"),
    "PDF lines": ("pdf", of_pdf, "", "", "12"),
    "PDF lines apart": ("pdf", of_pdf, "", "", "18"),
    "PDF bullets": ("pdf", of_pdf, "- ", "", "14"),
}


@pytest.mark.parametrize("form", FILES)
def test_every_name_of_a_list_in_a_file_is_a_mention(form: str, tmp_path: Path) -> None:
    ending, make, *parts = FILES[form]
    pytest.importorskip(
        {"html": "selectolax", "docx": "docx", "xlsx": "openpyxl", "pdf": "pypdfium2"}.get(
            ending, "re"
        )
    )
    predictor = load("biomed-fast")
    for names in (DISEASES, DRUGS):
        path = tmp_path / f"a.{ending}"
        path.write_bytes(make(names, *parts))
        found = {
            mention.text_in(one.text)
            for document in read(path)
            for one in [predictor(document)]
            for mention in one.mentions
        }
        assert set(names) - found == set()


@pytest.mark.parametrize("model", ["biomed", "biomed-fast"])
def test_a_name_over_the_line_end_of_prose_is_one_mention(model: str) -> None:
    text = "The patients with type 2\ndiabetes mellitus were treated\nwith metformin for a year."
    assert (18, 42) in {mention.spans[0] for mention in load(model)(text)}
