"""The page: the numbers of its value stand in it, nothing of others does harm, and it refers to
nothing outside.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluation.html_reader import HtmlReader
from tests.evaluation.made_reports import LONG, SCRIPT, hostile_report, rich_report
from tests.evaluation.strategies import Corpus, corpora, documents, sides

from fascicle.core.document import Document, Mention
from fascicle.core.marks import Html, escape, join, tag
from fascicle.evaluation.breakdown.errors import CLASSES
from fascicle.evaluation.report import BUCKETS_UNCORRECTED, ReportSettings, build_report
from fascicle.evaluation.reports.markdown_table import percent
from fascicle.evaluation.reports.page.html import CLASSES as CLASS_WORDS
from fascicle.evaluation.reports.page.html import RULES_MEAN as RULE_WORDS
from fascicle.evaluation.reports.page.html import SUBSETS as SUBSET_WORDS
from fascicle.evaluation.reports.page.html import Picture, points
from fascicle.evaluation.reports.page.page import page
from fascicle.evaluation.scoring.inputs import score_system
from fascicle.evaluation.scoring.rules import RULES, SUBSETS, TITLES
from fascicle.evaluation.uncertainty.intervals import HEADLINE

PICTURE = Picture(
    svg='<svg xmlns="http://www.w3.org/2000/svg"><defs><path id="a"/></defs><use href="#a"/></svg>'
)


def read(found: str) -> HtmlReader:
    """Takes a page apart, and checks what holds for every page."""
    reader = HtmlReader(found)
    assert reader.open_at_end == []
    assert len(set(reader.ids)) == len(reader.ids)
    for element, name, value in reader.attributes:
        assert name not in ("src", "srcset", "action", "ping", "background")
        assert not name.startswith("on")
        if name in ("href", "xlink:href"):
            assert value.startswith("#"), (element, value)
            assert value[1:] in reader.ids
        if "url(" in value:
            assert set(re.findall(r"url\(#(.*?)\)", value)) <= set(reader.ids)
            assert value.count("url(#") == value.count("url(")
    assert reader.tags["script"] == 1
    assert not {"link", "iframe", "object", "embed", "base", "image"} & set(reader.tags)
    assert "nan" not in re.findall(r"\w+", reader.text.lower())
    assert "None" not in reader.text
    for rows in reader.tables.values():
        assert len({len(row) for row in rows}) == 1
    return reader


def test_the_headline_numbers_of_every_system_stand_in_the_page() -> None:
    report = rich_report()
    reader = read(page(report))
    rows = {row[0]: row[1:] for row in reader.tables["strict scores"][1:]}
    assert list(rows) == ["first", "second", "third"]
    for one in report["systems"]:
        strict = one["scores"]["rules"]["strict"]
        intervals = {name: one["scores"][f"{name}_interval"] for name in HEADLINE}
        assert {name: one["estimate"] for name, one in intervals.items()} == {
            name: strict[name.split("_")[0]][name.split("_")[1]] for name in HEADLINE
        }
        assert rows[one["name"]] == [
            *(
                f"{percent(intervals[name]['estimate'])} "
                f"{percent(intervals[name]['low'])} to {percent(intervals[name]['high'])}"
                for name in ("micro_f1", "micro_precision", "micro_recall", "macro_f1")
            ),
            *(str(strict["micro"][name]) for name in ("gold", "predicted", "tp", "fp", "fn")),
        ]


def test_every_rule_subset_class_and_bucket_stands_in_the_page() -> None:
    report = rich_report()
    tables = read(page(report)).tables
    systems = report["systems"]
    for one, row in zip(systems, tables["F1 under each rule"][1:], strict=True):
        assert row[1:] == [percent(one["scores"]["rules"][rule]["micro"]["f1"]) for rule in RULES]
    assert tables["F1 under each rule"][0][1:] == list(TITLES.values())
    for name, row in zip(SUBSETS, tables["recall of parts of the gold"][1:], strict=True):
        found = [one["subsets"][name] for one in systems]
        assert row[1:] == [
            str(found[0]["gold"]),
            *("–" if one["recall"] is None else percent(one["recall"]) for one in found),
        ]
    for kind, row in zip(CLASSES, tables["classes of errors"][2:-1], strict=True):
        counts = [one["errors"]["classes"][kind] for one in systems]
        assert row[1:] == [str(one[side]) for one in counts for side in ("fp", "fn")]
    for name, attribute in report["attributes"].items():
        body = tables[f"F1 by {name.replace('_', ' ')}"][2:]
        assert [row[0] for row in body] == attribute["intervals"]
        for at, row in enumerate(body):
            shown = [one["buckets"][name][at]["f1"] for one in systems]
            gaps = [one["buckets"][name][at] for one in report["differences"]]
            assert row[2:5] == ["–" if f1 is None else percent(f1) for f1 in shown]
            assert row[5:] == ["–" if gap is None else points(gap) for gap in gaps]


def test_buckets_of_several_systems_say_that_no_difference_is_tested() -> None:
    assert BUCKETS_UNCORRECTED in page(rich_report(systems=2))
    assert BUCKETS_UNCORRECTED not in page(rich_report(systems=1))


def test_differences_are_told_with_their_test() -> None:
    report = rich_report()
    body = read(page(report)).tables["differences between systems"][1:]
    for row, value in zip(body, report["differences"], strict=True):
        test = value["test"]
        assert row[:3] == [value["system"], "first", points(value["f1"]["strict"])]
        assert row[4:6] == [f"{test['p_value']:.3f}", f"{test['p_holm']:.3f}"]
        assert row[6] == ("yes" if test["p_holm"] < 0.05 else "not shown")


def test_the_words_are_those_of_the_library() -> None:
    assert tuple(CLASS_WORDS) == CLASSES
    assert tuple(RULE_WORDS) == RULES
    assert tuple(SUBSET_WORDS) == SUBSETS


def test_every_example_is_a_card_that_filters_can_find() -> None:
    report = rich_report()
    reader = read(page(report))
    wanted = [
        (str(at), kind)
        for at, one in enumerate(report["systems"])
        for kind, listed in one["errors"]["examples"].items()
        for _ in listed
    ]
    cards = [
        value
        for element, name, value in reader.attributes
        if (element, name) == ("article", "data-system")
    ]
    kinds = [
        value
        for element, name, value in reader.attributes
        if (element, name) == ("article", "data-class")
    ]
    assert sorted(zip(cards, kinds, strict=True)) == sorted(wanted)
    assert f"{len(wanted)} of {len(wanted)} examples" in reader.text
    types = [value for element, name, value in reader.attributes if name == "data-types"]
    assert all(one and set(one.split()) <= {"0", "1", "2"} for one in types)


def test_the_contents_name_every_section() -> None:
    report = rich_report()
    reader = read(page(report))
    linked = [
        value[1:] for element, name, value in reader.attributes if (element, name) == ("a", "href")
    ]
    assert {
        "system-0",
        "system-2-errors",
        "system-1-calibration",
        "examples-2",
        "bucket-place",
    } <= set(linked)
    in_contents = linked[2:]  # behind the two links of the header
    # in the order of the page
    assert in_contents == [one for one in reader.ids if one in set(in_contents)]


def test_names_and_texts_of_others_stay_text() -> None:
    report = hostile_report()
    reader = read(page(report))
    assert SCRIPT in reader.text
    assert "a[U+202E]b[U+2066]c[U+0007]d" in reader.text
    assert f"{LONG[:159]}…" in reader.text
    assert ("bdi", "title", LONG) in reader.attributes
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\ud800-\udfff]", page(report))
    page(report).encode("utf-8")
    assert reader.tags["title"] == 1


def test_the_same_report_gives_the_same_page() -> None:
    assert page(rich_report()) == page(rich_report())


@settings(max_examples=30)
@given(corpora(scored=True))
def test_any_report_becomes_a_page(corpus: Corpus) -> None:
    gold, predicted = sides(corpus)
    found = [
        score_system(f"s{i}", documents(corpus), predicted=one)
        for i, one in enumerate((predicted, gold))
    ]
    for systems in (found, found[:1]):
        report = build_report(
            documents(corpus), systems, settings=ReportSettings(resamples=5, examples=2)
        )
        read(page(report))


def test_a_number_without_an_interval_says_why() -> None:
    mention = Mention(((0, 4),), "Gene", score=0.5)
    gold = [Document(id="a", text="IL-2 gene", mentions=(mention,))]
    reader = read(
        page(build_report(gold, [score_system("perfect", gold, predicted={"a": (mention,)})]))
    )
    assert reader.tables["strict scores"][1][:5] == ["perfect", *["100.00 –"] * 4]
    assert "there is only one document" in reader.text


def test_what_is_undefined_says_why() -> None:
    gold = [Document(id="a", text="IL-2 gene", mentions=())]
    report = build_report(gold, [score_system("none", gold, predicted={"a": ()})])
    reader = read(page(report))
    assert reader.tables["strict scores"][1][:5] == ["none", "–", "–", "–", "–"]
    for reason in (
        "F1 is undefined: there is no gold mention and nothing was predicted.",
        "nothing was predicted, so there are no scores to judge",
        "it needs the training corpus, which was not given",
        "There are none: no error was made, or none was asked for.",
        "There is no mention, so there is no type.",
    ):
        assert reason in reader.text


def test_pictures_stand_in_the_page_and_keep_their_ids_apart() -> None:
    report = rich_report()
    names = (
        "f1",
        "precision-recall",
        "bucket-length",
        "differences-1",
        "confusion-0",
        "reliability-2",
    )
    drawn = dict.fromkeys(names, PICTURE) | {
        "bucket-place": Picture(missing="all of it is <empty>")
    }
    found = page(report, pictures=drawn, notice="not <all> is here")
    reader = read(found)
    assert reader.tags["svg"] == len(names)
    assert {f"{name}-a" for name in names} <= set(reader.ids)
    assert "xmlns" not in found
    assert "No picture: all of it is <empty>." in reader.text
    assert "not <all> is here" in reader.text


def test_a_value_without_the_mentions_around_still_becomes_a_page() -> None:
    report = rich_report()
    for one in report["systems"]:
        for listed in one["errors"]["examples"].values():
            for example in listed:
                del example["around"]
    reader = read(page(report))
    assert reader.tags["article"] > 20


@given(st.text(), st.text())
def test_what_is_written_is_what_is_read(words: str, attribute: str) -> None:
    made = tag("p", words, tag("b", "x"), title=attribute, hidden=False, data_some_name=True)
    reader = HtmlReader(made)
    assert reader.tags == {"p": 1, "b": 1}
    assert (
        re.sub(r"\r\n?", "\n", reader.text)
        == re.sub(r"\r\n?", "\n", HtmlReader(escape(words)).text) + "x"
    )
    assert [name for _, name, _ in reader.attributes] == ["title", "data-some-name"]
    assert join(words, Html("<i></i>")) == escape(words) + "<i></i>"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.01234, "+1.23"), (-0.01234, "−1.23"), (0.0, "0.00"), (-0.00001, "0.00"), (0.00001, "0.00")],
)
def test_differences_have_a_sign_unless_there_is_none(value: float, shown: str) -> None:
    assert points(value) == shown


def test_no_header_is_empty_and_no_table_is_a_landmark() -> None:
    found = page(rich_report())
    assert re.findall(r"<th\b[^>]*></th>", found) == []
    places = re.findall(r'<div class="wide"[^>]*>', found)
    assert len(places) > 5
    assert {re.search(r'role="(\w+)"', place)[1] for place in places} == {"group"}  # type: ignore[index]
