"""Lines of column files: where words stand, and which tags continue nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.core.tags import TagCensus
from fascicle.evaluation.doctor.checks.reading import Lines
from fascicle.evaluation.doctor.examine import Examination
from fascicle.evaluation.doctor.parts import CheckedPart, GivenPart, load_parts
from fascicle.formats import ConllOptions, ReadReport, read

Examine = Callable[..., Examination]
_LINES = st.lists(
    st.sampled_from(["a O", "b B-X", "c I-X", "d I-Y", "", "  ", "-DOCSTART- O", "# note"]),
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_LINES, st.sampled_from(["auto", "sentence", "docstart", "file"]))
def test_every_word_is_found_at_its_line(tmp_path: Path, found: list[str], documents: str) -> None:
    path = tmp_path / "a.conll"
    rows = [
        f"{line[0]}{number} {line[2:]}"
        if line[1:2] == " " and line.strip() and line[0] != "#"
        else line
        for number, line in enumerate([*found, "z O"], 1)
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    options = ConllOptions(documents=documents, comment="#")
    report = ReadReport()
    place = GivenPart(
        part=CheckedPart(name="train", role="train"),
        path=str(path),
        documents=lambda: read(path, options=options, format="conll", report=report),
        report=report,
        columns=options,
    )
    items, unread = load_parts([place])
    assert not unread
    lines = Lines(iter([place]))
    seen = 0
    for item in items:
        for start, end in item.words.tolist():
            line = lines.line(item, start)
            assert line is not None
            assert rows[line - 1].split()[0] == item.text[start:end]
            seen += 1
    assert seen == sum(bool(row.strip()) and row[0] not in "-#" for row in rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1, max_size=6),
        min_size=1,
        max_size=5,
    )
)
def test_strays_are_what_the_census_counts_under_iob2(
    examine_files: Examine, sentences: list[list[str]]
) -> None:
    census = TagCensus()
    for tags in sentences:
        census.add(tags)
    content = "\n\n".join("\n".join(f"w {tag}" for tag in tags) for tags in sentences) + "\n"
    found = examine_files({"train": {"a.conll": content}}).report.findings
    counts = {f.code: f.count for f in found}
    assert counts.get("tag-without-begin", 0) == (census.repairs if census.scheme == "IOB2" else 0)


def test_strays_in_layers_and_other_schemes(examine_files: Examine) -> None:
    layers = "a B-X O\nb I-X I-Y\nc I-Z O\n\nd O I-Y\n" + "\nx B-X B-Y\n" * 3
    found = examine_files(
        {"train": {"a.conll": layers}}, columns=ConllOptions(tag_columns=None)
    ).report
    (finding,) = (f for f in found.findings if f.code == "tag-without-begin")
    assert [(e.line, e.text, e.message) for e in finding.examples] == [
        (2, "b", "I-Y after O"),
        (3, "c", "I-Z after I-X"),
        (5, "d", "I-Y after O"),
    ]
    assert finding.details[0].endswith("tag scheme IOB2, 3 invalid sequences mended in reading.")
    bioes = "a B-X\nb E-X\nc E-X\nd S-X\ne I-X\n"
    found = examine_files({"train": {"a.conll": bioes}}).report
    (finding,) = (f for f in found.findings if f.code == "tag-without-begin")
    assert [e.line for e in finding.examples] == [3, 5]
    iob1 = "a I-X\nb O\nc I-X\nd B-X\n"
    assert "tag-without-begin" in examine_files({"train": {"a.conll": iob1}}).report.without


def test_strays_in_records_have_no_line(examine_files: Examine) -> None:
    content = '{"tokens": ["a", "b"], "tags": ["B-X", "O"]}\n{"tokens": ["c"], "tags": ["I-X"]}\n'
    (finding,) = (
        f
        for f in examine_files({"train": {"a.jsonl": content}}).report.findings
        if f.code == "tag-without-begin"
    )
    assert (finding.count, finding.examples[0].document) == (1, "")
    assert "1 invalid sequence," in finding.examples[0].message


def test_a_file_that_breaks_off_is_checked_as_far_as_it_was_read(examine_files: Examine) -> None:
    content = "a I-X\nb O\nc B-X\nd O\ne B-Y\nf I-Y\n\nno tag here at all\nz I-X\n"
    found = examine_files({"train": {"a.conll": content}}).report
    codes = {f.code: f for f in found.findings}
    assert codes["unread-file"].examples[0].message.startswith("beside 1 document: ")
    assert "a.conll:8" in codes["unread-file"].examples[0].message
    assert codes["tag-without-begin"].count == 1
    assert found.parts[0].documents == 1


def test_other_files_have_no_lines(examine_files: Examine) -> None:
    report = examine_files({"train": {"a.jsonl": '{"text": "One."}\n'}}).report
    assert [e.line for f in report.findings for e in f.examples] == [None]
