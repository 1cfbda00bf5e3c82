"""Tags and character references of HTML in texts of formats that have none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fascicle.core.document import Document
from fascicle.core.effects import is_silent
from fascicle.errors import UsageError
from fascicle.formats import read, write
from fascicle.formats.inline import count_markup, read_markup
from fascicle.formats.records import JsonlOptions
from fascicle.formats.text_tables import TextTableOptions
from fascicle.text.raised import Line

RAW = "TGF-&beta; and H<sub>2</sub>O in gout<sup>1,2</sup>; p &lt; 0.05"
SHOWN = "TGF-β and H2O in gout; p < 0.05"
HTML = (("markup", "html"),)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (RAW, SHOWN),
        (
            "<jats:title>Aims</jats:title><jats:p>Of <jats:italic>Fgf9</jats:italic></jats:p>",
            "Aims\nOf Fgf9",
        ),
        ("H&lt;sub&gt;2&lt;/sub&gt;O &amp; Ca&lt;sup&gt;2+&lt;/sup&gt;", "H2O & Ca2+"),
        ("a &amp;lt; b and <i>c</i>", "a &lt; b and c"),
        (
            "p < 0.05 & n > 3, R&D; AT&T; <unk> &nosuch;",
            "p < 0.05 & n > 3, R&D; AT&T; <unk> &nosuch;",
        ),
        ("&#945;-tubulin&#x3b2;", "α-tubulinβ"),
        ("x<sup>a<sup>b</sup></sup> y", "xab y"),
    ],
)
def test_what_markup_shows(text: str, shown: str) -> None:
    assert read_markup(text, Line()) == shown
    assert (count_markup(text) > 0) == (text != shown)


def files(folder: Path) -> dict[str, tuple[Path, object]]:
    table, records, plain = folder / "a.csv", folder / "a.jsonl", folder / "a.txt"
    table.write_text(f"id,title,abstract\n1,Role of &alpha;-x,{RAW.replace(',', ';')}\n")
    records.write_text(json.dumps({"id": "1", "text": RAW}) + "\n")
    plain.write_text(RAW)
    return {
        "table": (table, TextTableOptions.of(HTML)),
        "records": (records, JsonlOptions(fields=HTML)),
        "plain": (plain, None),
    }


@pytest.mark.parametrize("form", ["table", "records", "plain"])
def test_markup_that_stays_is_reported_with_what_reads_it(tmp_path: Path, form: str) -> None:
    path, options = files(tmp_path)[form]
    (found,) = read(path, format=form)
    assert "&beta;" in found.text
    (event,) = [event for event in found.events if event.code == "markup-kept"]
    assert not is_silent(event.kind, event.code)
    if form == "plain":
        assert "the format html" in event.message
        assert next(read(path, format="html")).text == SHOWN
    else:
        assert '("markup", "html")' in event.message
        assert "&beta;" not in next(read(path, format=form, options=options)).text


def test_offsets_are_those_of_the_shown_text(tmp_path: Path) -> None:
    path, options = files(tmp_path)["table"]
    (found,) = read(path, format="table", options=options)
    assert [found.text[one.start : one.end] for one in found.sections or ()] == [
        "Role of α-x",
        SHOWN.replace(",", ";"),
    ]
    assert {"markup-read", "marks-left-out"} <= {event.code for event in found.events}
    assert found.meta["text"] == "extracted"
    assert write(tmp_path / "b.jsonl", [found]).documents == 1


def test_mentions_that_count_the_markup_keep_their_text(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    entity = {"start": 0, "end": 10, "type": "Gene"}
    path.write_text(json.dumps({"id": "1", "text": RAW, "entities": [entity]}) + "\n")
    (found,) = read(path, format="records", options=JsonlOptions(fields=HTML))
    assert found.text == RAW
    assert "offsets of mentions" in str(found.events)


def test_other_values_are_refused() -> None:
    with pytest.raises(UsageError, match="give html"):
        TextTableOptions.of((("markup", "xml"),))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "a.ris",
            "TY  - JOUR\nTI  - Role of &alpha;-x\nAB  - In H<sub>2</sub>O &amp; "
            "gout<sup>3</sup>.\nER  - \n",
        ),
        (
            "a.nbib",
            "PMID- 1\nTI  - Role of &alpha;-x\nAB  - In H<sub>2</sub>O &amp; gout<sup>3</sup>.\n",
        ),
    ],
)
def test_citations_show_what_their_markup_means(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    found: Document = next(read(tmp_path / name))
    assert found.text.split("\n")[0] == "Role of α-x"
    assert found.text.endswith("In H2O & gout.")
    assert "marks-left-out" in {event.code for event in found.events}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the <b> allele", "the <b> allele"),
        ("<i>BRCA1</i> and the <b> allele", "BRCA1 and the <b> allele"),
        ("&lt;i&gt;BRCA1&lt;/i&gt; and &lt;b&gt;", "BRCA1 and <b>"),
        ("cut off: <i>BRCA1", "cut off: <i>BRCA1"),
        ("one<br>two<p>three", "one\ntwo\nthree"),
        ("<I>BRCA1</i> <jats:b>bold</jats:b>", "BRCA1 bold"),
    ],
)
def test_a_tag_without_its_partner_is_text(text: str, shown: str) -> None:
    assert read_markup(text, Line()) == shown
