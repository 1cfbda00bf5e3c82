"""The pages of definitions: its worked example is computed, and its tables name what there is."""

from __future__ import annotations

import re
from pathlib import Path

from fascicle.core.document import Mention
from fascicle.evaluation.breakdown.attributes import ATTRIBUTES
from fascicle.evaluation.breakdown.errors import CLASSES, error_rates, find_mistakes
from fascicle.evaluation.scoring.rules import RULES, TITLES
from fascicle.evaluation.scoring.scores import score

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in ("scores.md", "reports.md"))


def table(first: str) -> list[list[str]]:
    """The rows of the table whose header begins with a word, as they stand after the worked
    example begins.
    """
    part = PAGE[PAGE.index("## A worked example") :]
    found = re.search(rf"^\| {first} \|.*\n\| --- .*\n((?:\|.*\n)+)", part, re.MULTILINE)
    assert found is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[1].splitlines()]


def example() -> tuple[str, dict[str, list[Mention]]]:
    quoted = re.search(r"^> (.*)$", PAGE, re.MULTILINE)
    assert quoted is not None
    sides: dict[str, list[Mention]] = {"gold": [], "predicted": []}
    for side, type_, start, end, words, said in table("side"):
        mention = Mention(((int(start), int(end)),), type_, score=float(said) if said else None)
        assert mention.text_in(quoted[1]) == words
        sides[side].append(mention)
    return quoted[1], sides


def test_the_scores_of_the_example() -> None:
    _, sides = example()
    rows = []
    for rule in RULES:
        found = score({"d": sides["gold"]}, {"d": sides["predicted"]}, rule=rule)
        counts, micro = found.counts, found.micro
        shares = (f"{100 * share:.2f}" for share in (micro.precision, micro.recall, micro.f1))
        rows.append([TITLES[rule], str(counts.tp), str(counts.fp), str(counts.fn), *shares])
    assert table("rule") == rows


def test_the_errors_of_the_example() -> None:
    text, sides = example()
    found = find_mistakes({"d": sides["gold"]}, {"d": sides["predicted"]})
    shown = [
        [
            m.side.upper(),
            m.mention.text_in(text),
            m.kind,
            "" if m.partner is None else m.partner.text_in(text),
        ]
        for m in found
    ]
    part = PAGE[PAGE.index("The errors, each in one class") :]
    lines = re.findall(r"^\| (F[PN]) \| (.*) \| (.*) \| (.*?) ?\|$", part, re.MULTILINE)
    assert [list(line) for line in lines] == shown
    rates = error_rates(found)
    assert (
        f"TE = {rates['type_errors']}, BE = {rates['boundary_errors']} and SPURIOUS = "
        f"{rates['spurious']} make up the "
        f"{rates['type_errors'] + rates['boundary_errors'] + rates['spurious']} FP; of the "
        f"{rates['errors']} errors, "
        f"TE-Rate is {100 * (rates['type_rate'] or 0):.2f} and BE-Rate "
        f"{100 * (rates['boundary_rate'] or 0):.2f}."
    ) in " ".join(part.split())


def test_every_rule_class_and_attribute_is_on_the_page() -> None:
    for title in TITLES.values():
        assert f"\n| {title} | " in PAGE
    for kind in CLASSES:
        name = (
            kind.removeprefix("boundary-")
            if kind.startswith("boundary-") and kind.count("-") == 1
            else kind
        )
        assert f"**{name}**" in PAGE
    for attribute in ATTRIBUTES.values():
        row = re.search(rf"^\| {re.escape(attribute.title)} \|.*$", PAGE, re.MULTILINE)
        assert row is not None
        labels = [one.label for one in attribute.ranges]
        assert attribute.title == "place in the document" or all(
            label in row[0] for label in labels
        )
