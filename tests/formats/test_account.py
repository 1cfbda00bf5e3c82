"""Documents that came in are those that were written and those that were set aside."""

from __future__ import annotations

import pytest

from fascicle.core.document import Document, Event
from fascicle.errors import InputError
from fascicle.formats.account import Account, AccountError
from fascicle.formats.report import WriteReport


def wrote(account: Account, *, documents: int) -> WriteReport:
    report = account.open_report()
    report.documents, report.mentions = documents, 3 * documents
    account.add(report)
    return report


def test_the_account_holds() -> None:
    account = Account()
    account.read = 7
    wrote(account, documents=4)
    account.reading.aside.add(InputError("a"))
    account.predicting.add(InputError("b"))
    account.writing.add(InputError("c"))
    with pytest.raises(AccountError, match=r"8.*4.*3"):
        account.check()
    account.writing.add(InputError("d"))
    account.check()
    assert (account.documents, account.written, account.aside) == (8, 4, 4)
    assert all(number in account.sentence("out.tsv") for number in ("8", "4", "12", "out.tsv"))


def test_the_only_sentence_is_raised_and_not_told_before() -> None:
    said: list[str] = []
    account = Account(tell=said.append)
    account.reading.aside.add(InputError("paper.txt is no text"))
    with pytest.raises(InputError, match="is no text"):
        account.refuse_nothing()
    assert said == []


def test_several_sentences_are_told() -> None:
    said: list[str] = []
    account = Account(tell=said.append)
    for name in "abc":
        account.reading.aside.add(InputError(name))
    with pytest.raises(InputError, match="3"):
        account.refuse_nothing()
    assert said == ["a", "b", "c"]


def test_equal_reasons_are_told_once_with_their_number() -> None:
    said: list[str] = []
    account = Account(tell=said.append)
    for number in range(300):
        account.reading.aside.add(
            InputError(f"a.jsonl:{number}: the field 'n{number}' has no text")
        )
    account.reading.aside.add(InputError("b.txt is empty"))
    assert len(said) == 2
    with pytest.raises(InputError, match="301"):
        account.refuse_nothing()
    account.end()
    assert said == [
        "a.jsonl:0: the field 'n0' has no text",
        "b.txt is empty",
        "300 documents in all for the reason of a.jsonl:0, also a.jsonl:1, a.jsonl:2, a.jsonl:3 "
        "and 296 others",
    ]


@pytest.mark.parametrize("kind", ["record", "row"])
def test_places_of_records_are_whole(kind: str) -> None:
    said: list[str] = []
    account = Account(tell=said.append)
    for number in (9, 1000):
        account.reading.aside.add(InputError(f"a b.json, {kind} {number:,}: no text"))
    account.end()
    assert said[1:] == [
        f"2 documents in all for the reason of b.json, {kind} 9, also b.json, {kind} 1,000"
    ]


def test_many_reasons_are_counted_together() -> None:
    said: list[str] = []
    account = Account(tell=said.append)
    for number in range(300):
        account.reading.aside.add(InputError("x" * number + " is wrong"))
    account.end()
    assert len(said) == 23
    assert said[-1].startswith("279 documents in all for the reason of xxx")


def test_a_sentence_is_told_when_something_is_written() -> None:
    said: list[str] = []
    account = Account(tell=said.append)
    account.reading.aside.add(InputError("a"))
    report = account.open_report()
    account.passed(report)
    assert said == []
    report.documents = 1
    account.passed(report)
    assert said == ["a"]
    account.refuse_nothing(report)


def test_what_is_done_goes_over_into_a_later_run() -> None:
    account = Account()
    wrote(account, documents=4).lose("links", Document(id="d", text=""))
    account.losses["links"], account.examples["links"] = 2, "d"
    account.predicting.add(InputError("b"))
    account.events.add(Event(step="s", kind="loss", code="c", message="m"), "d")
    later = Account()
    later.restore(account.state())
    assert later.state() == account.state()
    later.restore(account.state())
    assert (later.written, later.mentions, later.predicting.count, later.losses["links"]) == (
        8,
        24,
        2,
        4,
    )
    assert later.events.counts["loss", "c"] == 2
