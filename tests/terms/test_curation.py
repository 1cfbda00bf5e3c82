"""Rules of curation against a slow and obvious reading of them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fascicle.errors import FascicleError, FormatError
from fascicle.terms.curation import (
    ACTIONS,
    CASES,
    CURATION,
    HEADER,
    Curation,
    CurationRule,
    NameRow,
    RuleDecision,
    curate_names,
    format_rules,
    read_rules,
)
from fascicle.terms.rule_problems import SeenNames, find_rule_problems
from fascicle.terms.terms import ConceptRecord, Name

Outcome = dict[NameRow, tuple[bool, bool, str, bool]]


def looks_at(rule: CurationRule, row: NameRow) -> bool:
    same = rule.surface == row.surface
    if rule.action == "block":
        same = not rule.surface or rule.surface.casefold() == row.surface.casefold()
    if rule.action == "ner_off" and not rule.surface:
        same = True
    own_source = rule.source in ("", row.source) or rule.action == "add"
    own_concept = rule.concept in ("", row.concept) or rule.action == "prefer"
    return same and own_source and own_concept


def naive(rows: list[NameRow], rules: list[CurationRule]) -> Outcome:
    """Row by row and rule by rule: keep, match, case, preferred."""
    every = dict.fromkeys(rows)
    for target in {(rule.surface, rule.concept) for rule in rules if rule.action == "add"}:
        if not any((row.surface, row.concept) == target for row in rows):
            last = [
                rule
                for rule in rules
                if rule.action == "add" and (rule.surface, rule.concept) == target
            ][-1]
            every[NameRow(target[0], last.source or CURATION, target[1])] = None
    found = {}
    for row in every:
        keep, match, case, preferred = True, True, "", False
        for rule in rules:
            if not looks_at(rule, row):
                continue
            if rule.action == "prefer":
                preferred = rule.concept == row.concept
            elif rule.action == "case":
                case = rule.case
            else:
                keep = rule.action in ("ner_off", "add")
                match = rule.action == "add"
                case = rule.case or case
        found[row] = keep, match, case, preferred
    return found


def kept(outcome: Outcome) -> Outcome:
    """What a pack would have: names that are kept."""
    return {row: said for row, said in outcome.items() if said[0]}


SURFACES, SOURCES, CONCEPTS = ("CAT", "cat", "IL"), ("x", "y"), ("A:1", "A:2")
ROWS = st.lists(
    st.builds(
        NameRow, st.sampled_from(SURFACES), st.sampled_from(SOURCES), st.sampled_from(CONCEPTS)
    ),
    max_size=6,
    unique=True,
)


@st.composite
def rules(draw: st.DrawFn) -> list[CurationRule]:
    found = []
    for number in range(draw(st.integers(0, 6))):
        action = draw(st.sampled_from(ACTIONS))
        concept = draw(
            st.sampled_from(CONCEPTS if action in ("add", "prefer") else ("", *CONCEPTS))
        )
        case = draw(st.sampled_from(CASES)) if action in ("case", "add") else ""
        source = draw(st.sampled_from(("", *SOURCES)))
        alone = (action == "block" and concept) or (action == "ner_off" and source)
        surface = draw(st.sampled_from((*SURFACES, "") if alone else SURFACES))
        found.append(
            CurationRule(
                action=action,
                surface=surface,
                source=source,
                concept=concept,
                case=case,
                place=f"r:{number}",
            )
        )
    return found


@given(ROWS, rules())
@settings(max_examples=400)
def test_rules_do_what_the_slow_reading_says(
    rows: list[NameRow], given_rules: list[CurationRule]
) -> None:
    found = {
        row: tuple(decision[:4]) for row, decision in curate_names(rows, Curation(given_rules))
    }
    assert found == naive(rows, given_rules)


@given(ROWS, rules())
@settings(max_examples=400)
def test_dead_rules_are_those_without_which_nothing_changes(
    rows: list[NameRow], given_rules: list[CurationRule]
) -> None:
    found = find_rule_problems(rows, Curation(given_rules), is_concept=lambda concept: True)
    dead = {finding.number for finding in found if finding.problem in ("dead", "overruled")}
    wanted: set[int] = set()
    whole = kept(naive(rows, given_rules))
    for number in range(len(given_rules)):
        others = [rule for at, rule in enumerate(given_rules) if at != number and at not in wanted]
        if kept(naive(rows, others)) == whole:
            wanted.add(number)
    assert dead == wanted


@given(ROWS, rules())
def test_what_was_seen_is_decided_as_by_the_rules(
    rows: list[NameRow], given_rules: list[CurationRule]
) -> None:
    curation = Curation(given_rules)
    seen = SeenNames(curation)
    for row in rows:
        seen.see(row.source, ConceptRecord(curie=row.concept, names=(Name(row.surface),)))
    for row in (*rows, *curation.added().values()):
        assert seen.decide(row) == curation.decide(row)


def test_block_takes_a_key_of_ones_own() -> None:
    rows = [
        NameRow("T-cells", "x", "A:1"),
        NameRow("t cells", "x", "A:1"),
        NameRow("t cell", "x", "A:1"),
    ]
    curation = Curation(
        [CurationRule(action="block", surface="T cells")],
        key=lambda text: text.casefold().replace("-", " "),
    )
    assert [decision.keep for _, decision in curate_names(rows, curation)] == [False, False, True]


def test_a_row_that_no_rule_looks_at_is_untouched() -> None:
    curation = Curation([CurationRule(action="drop", surface="a")])
    assert curation.decide(NameRow("b", "x", "A:1")) == RuleDecision()
    assert Curation([]).decide(NameRow("b", "x", "A:1")) == RuleDecision()


def test_a_decision_names_its_rules() -> None:
    rules = [
        CurationRule(action="drop", surface="a"),
        CurationRule(action="case", surface="a", case="exact"),
    ]
    rules += [
        CurationRule(action="add", surface="a", concept="A:1"),
        CurationRule(action="prefer", surface="a", concept="A:1"),
    ]
    decision = Curation(rules).decide(NameRow("a", "x", "A:1"))
    assert decision == RuleDecision(case="exact", preferred=True, rules=(1, 2, 3))


TABLE = """# rules of ours
action\tsurface\tsource\tconcept\tcase\tnote
drop\tCAT\t*\t\t\ta word

case\tWAS\tgene\tNCBIGene:7454\texact
add\tp53 gene\t\tncbigene:7157
block\t\t\tMESH:D000001
"""


def test_rules_are_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text(TABLE)
    found = read_rules([str(path)])
    assert [
        (rule.action, rule.surface, rule.source, rule.concept, rule.case) for rule in found
    ] == [
        ("drop", "CAT", "", "", ""),
        ("case", "WAS", "gene", "NCBIGene:7454", "exact"),
        ("add", "p53 gene", "", "NCBIGene:7157", ""),
        ("block", "", "", "MESH:D000001", ""),
    ]
    assert found[1].place == f"{path}:5"
    again = tmp_path / "again.tsv"
    again.write_text(format_rules(found))
    plain = [[getattr(rule, column) for column in HEADER] for rule in found]
    assert [
        [getattr(rule, column) for column in HEADER] for rule in read_rules([str(again)])
    ] == plain


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("dorp\tx", "did you mean 'drop'"),
        ("drop\t", "surface"),
        ("drop", "surface"),
        ("block", "surface"),
        ("add\tx", "concept"),
        ("prefer\tx\ty", "concept"),
        ("drop\tx\t\tno curie", "CURIE"),
        ("case\tx\t\t\tExact", "exact"),
        ("drop\tx\t\t\texact", "case"),
        ("drop\tx\t\t\t\t\tmore", "columns"),
        ("block\t\t\t", "surface"),
        ("drop\ta\u00a0b", "not a name"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_line(tmp_path: Path, row: str, said: str) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text("\t".join(HEADER) + f"\ndrop\tx\n{row}\n")
    with pytest.raises(FormatError, match=said) as error:
        read_rules([str(path)])
    assert error.value.line == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "surface\tsource\n",
        "action\tsurface\tsurface\n",
        "action\tsurface\twhy\n",
    ],
)
def test_a_table_without_its_header_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rules.tsv"
    path.write_text(text)
    with pytest.raises(FormatError):
        read_rules([str(path)])


def test_lint_names_what_is_not_there_and_what_contradicts() -> None:
    rows = [
        NameRow(surface, source, concept)
        for surface, source, concept in product(SURFACES, SOURCES, CONCEPTS)
    ]
    rules = [
        CurationRule(action="drop", surface="CAT", place="r:1"),
        CurationRule(action="ner_off", surface="CAT", place="r:2"),
        CurationRule(action="ner_off", surface="CAT", place="r:3"),
        CurationRule(action="prefer", surface="IL", concept="A:1", place="r:4"),
        CurationRule(action="prefer", surface="IL", concept="A:9", place="r:5"),
        CurationRule(action="drop", surface="cat", source="z", place="r:6"),
        CurationRule(action="case", surface="cat", case="exact", place="r:7"),
    ]
    found = find_rule_problems(
        rows, Curation(rules), is_concept=CONCEPTS.__contains__, sources=SOURCES
    )
    assert [(finding.number, finding.problem) for finding in found] == [
        (0, "overruled"),
        (1, "contradiction"),
        (1, "overruled"),
        (2, "twice"),
        (3, "overruled"),
        (4, "contradiction"),
        (4, "overruled"),
        (4, "unknown-concept"),
        (5, "dead"),
        (5, "unknown-source"),
    ]
    assert all(finding.message.startswith(f"r:{finding.number + 1}: ") for finding in found)


def test_a_rule_in_another_case_than_the_name_says_how_the_name_is_spelt() -> None:
    rules = [
        CurationRule(action="ner_off", surface="tremor", place="r:1"),
        CurationRule(action="drop", surface="gout", place="r:2"),
        CurationRule(action="prefer", surface="Tremor", concept="A:2", place="r:3"),
    ]
    rows = [NameRow("Tremor", "x", "A:1"), NameRow("TREMOR", "x", "A:1")]
    problems = find_rule_problems(rows, Curation(rules), is_concept=lambda concept: True)
    assert [problem.message for problem in problems] == [
        "r:1: ner_off 'tremor' does nothing, for the name is spelt 'TREMOR'; spell it so",
        "r:2: drop 'gout' does nothing any more; remove it",
        "r:3: prefer 'Tremor' changes nothing, for A:2 has no such name; add the name first",
    ]


def test_a_name_that_rules_add_for_linking_alone_is_no_contradiction() -> None:
    add = CurationRule(action="add", surface="new", concept="A:1", place="r:1")
    off = CurationRule(action="ner_off", surface="new", concept="A:1", place="r:2")
    rows = [NameRow("CAT", "x", "A:1")]
    assert not list(
        find_rule_problems(
            rows, Curation([add, off]), is_concept=CONCEPTS.__contains__, sources=SOURCES
        )
    )
    (found,) = (
        decision
        for row, decision in curate_names(rows, Curation([add, off]))
        if row.surface == "new"
    )
    assert (found.keep, found.match) == (True, False)
    back = find_rule_problems(
        rows, Curation([off, add]), is_concept=CONCEPTS.__contains__, sources=SOURCES
    )
    assert "contradiction" in {one.problem for one in back}


def test_a_preference_of_the_only_concept_stays_for_words_that_are_common() -> None:
    rule = CurationRule(action="prefer", surface="CAT", concept="A:1", place="r:1")
    assert not list(
        find_rule_problems(
            [NameRow("CAT", "x", "A:1")],
            Curation([rule]),
            is_concept=CONCEPTS.__contains__,
            sources=SOURCES,
        )
    )


@given(st.binary(max_size=40), st.integers(0, len(TABLE)), st.integers(0, 30))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_tables_are_read_or_refused(
    tmp_path: Path, put: bytes, start: int, cut: int
) -> None:
    data = TABLE.encode()
    path = tmp_path / "rules.tsv"
    path.write_bytes(data[:start] + put + data[start + cut :])
    try:
        rules = read_rules([str(path)])
    except FascicleError:
        return
    list(curate_names([NameRow("CAT", "x", "A:1")], Curation(rules)))
    find_rule_problems(
        [NameRow("CAT", "x", "A:1")], Curation(rules), is_concept=lambda concept: False
    )


def test_many_rules_are_judged_in_time_by_their_number() -> None:
    rules = [
        CurationRule(action="add", surface=f"name {number}", concept="X:1", place=f"row {number}")
        for number in range(10_000)
    ]
    rows = [NameRow("name 7", "s", "X:1")]
    problems = find_rule_problems(rows, Curation(rules), is_concept=lambda concept: True)
    assert [(one.number, one.problem) for one in problems] == [(7, "dead")]
