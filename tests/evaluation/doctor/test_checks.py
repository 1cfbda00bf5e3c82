"""Every check, on a corpus that has one defect and on one that has not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from fascicle.core import codec
from fascicle.core.document import Document, Mention, Relation
from fascicle.evaluation.doctor import fingerprints
from fascicle.evaluation.doctor.checks.contract import SEVERITIES
from fascicle.evaluation.doctor.examine import Examination, checks

Examine = Callable[..., Examination]
Parts = dict[str, dict[str, str]]
Entity = tuple[int, int, str]

ASPIRIN = "Aspirin relieves the pain of most adults."
IBUPROFEN = "Yesterday a nurse gave ibuprofen to her patients."
VERBS = ("helps", "cures", "harms", "calms", "tires")
LONG = "The patients who were given lithium for ten years had no more falls than the others."


def record(text: str, *entities: Entity | dict[str, Any], **more: Any) -> str:
    """One line of JSON; the text is one sentence unless said otherwise."""
    listed = [
        e if isinstance(e, dict) else {"start": e[0], "end": e[1], "type": e[2]} for e in entities
    ]
    sentences = [[0, len(text)]] if text.strip() else []
    values = {"text": text, "sentences": sentences, "entities": listed, **more}
    return json.dumps({name: value for name, value in values.items() if value is not None}) + "\n"


def jsonl(*records: str, **parts: str) -> Parts:
    """Files of records; those without a name are the part train."""
    named = {"train": "".join(records), **parts} if records else parts
    return {name.replace("_", "/"): {f"{name}.jsonl": content} for name, content in named.items()}


def conll(*rows: str) -> Parts:
    return {"train": {"a.conll": "\n".join(rows) + "\n"}}


def brat(text: str, *lines: str) -> Parts:
    return {"train": {"a.txt": text, "a.ann": "\n".join(lines) + "\n"}}


def native(*mentions: Mention) -> Parts:
    document = Document(id="a", text=ASPIRIN, mentions=mentions)
    return {"train": {"a.fascicle.jsonl": codec.encode(document).decode() + "\n"}}


def words(count: int) -> str:
    """A sentence of so many words, no three of them again in a row."""
    return " ".join(f"W{count}n{number}" for number in range(count - 1)) + " ."


@dataclass(frozen=True)
class Example:
    """A corpus with one defect, and one without it.

    Attributes:
        bad: has it.
        good: has not.
        count: cases of it.
        also: other checks that must find something where the defect is.
    """

    bad: Parts
    good: Parts
    count: int = 1
    also: frozenset[str] = field(default_factory=frozenset)


CLEAN = jsonl(record(ASPIRIN, (0, 7, "Drug")), test=record(IBUPROFEN, (23, 32, "Drug")))
DRUG, PAIN, OTHER = (
    Mention((span,), kind)
    for span, kind in (((0, 7), "Drug"), ((21, 25), "Pain"), ((1, 7), "Drug"))
)


def related(first: Mention, second: Mention, times: int = 1) -> Parts:
    """A document with two mentions, and relations between these ends."""
    ends = (("a", first.key), ("b", second.key))
    relations = (Relation(type="treats", arguments=ends),) * times
    document = Document(id="a", text=ASPIRIN, mentions=(DRUG, PAIN), relations=relations)
    return {"train": {"a.fascicle.jsonl": codec.encode(document).decode() + "\n"}}


RELATED = related(DRUG, PAIN)
_NFD = "Cafe\u0301 owners drink more coffee than others do."
_NFC = "A café is a place where coffee is sold."


def after_line_end(line: str, width: int) -> str:
    """A drug of seven letters after a line and its end, which counts as so many characters."""
    start = len(line) + width
    return f"T1\tDrug {start} {start + 7}\tAspirin\n"


EXAMPLES = {
    "unread-file": Example(
        jsonl(record(ASPIRIN), "{broken\n"), jsonl(record(ASPIRIN), record(IBUPROFEN))
    ),
    "invalid-offsets": Example(
        jsonl(record(ASPIRIN, (7, 0, "Drug"), (3, 3, "Drug"), (0, 400, "Drug"), (0, 7, "Drug"))),
        CLEAN,
        count=3,
        also=frozenset({"changed-in-reading"}),  # for most of the file are wrong
    ),
    "text-mismatch": Example(
        jsonl(record(ASPIRIN, {"start": 0, "end": 7, "type": "Drug", "text": "Asprin"})),
        jsonl(record(ASPIRIN, {"start": 0, "end": 7, "type": "Drug", "text": "Aspirin"})),
    ),
    "malformed-line": Example(
        brat(
            ASPIRIN,
            "T1\tDrug 0 7\tAspirin",
            "sT2\tDrug 0 7\tAspirin",
            "#1\tAnnotatorNotes T9\tno such",
        ),
        brat(ASPIRIN, "T1\tDrug 0 7\tAspirin", "#1\tAnnotatorNotes T1\ta note"),
        count=2,
    ),
    "uneven-columns": Example(
        conll("Aspirin B-Drug", "really helps O", "adults O", ". O"),
        conll("Aspirin B-Drug", "helps O", "adults O", ". O"),
    ),
    "missing-token": Example(
        conll("Aspirin B-Drug", " O", "helps O", "adults O", ". O"),
        conll("Aspirin B-Drug", "often O", "helps O", "adults O", ". O"),
        also=frozenset({"replacement-character"}),
    ),
    "tag-without-begin": Example(
        conll(
            "Aspirin I-Drug",
            "helps O",
            ". O",
            "",
            "No B-Drug",
            "other I-Food",
            "B-Drug B-Drug",
            "I-Drug I-Drug",
        ),
        conll("Aspirin B-Drug", "helps O", ". O", "", "No B-Drug", "other I-Drug", "does O", ". O"),
        count=2,
        also=frozenset({"open-sentence"}),
    ),
    "duplicate-mention": Example(jsonl(record(ASPIRIN, (0, 7, "Drug"), (0, 7, "Drug"))), CLEAN),
    "overlapping-fragments": Example(
        brat(ASPIRIN, "T1\tDrug 0 5;3 7\tAspir irin"), brat(ASPIRIN, "T1\tDrug 0 7\tAspirin")
    ),
    "duplicate-id": Example(
        jsonl(record(ASPIRIN, id="x"), record(IBUPROFEN, id="x")),
        jsonl(record(ASPIRIN, id="x"), record(IBUPROFEN, id="y")),
    ),
    "no-sentence-breaks": Example(
        conll(*(row for n in range(251) for row in (f"He{n} O", "sleeps O", "now O", ". O"))),
        conll(*(row for n in range(251) for row in (f"He{n} O", "sleeps O", "now O", ". O", ""))),
    ),
    "changed-in-reading": Example(
        brat(ASPIRIN, "T1\tDrug 0 7\tAspirin", "T1\tSign 21 25\tpain"),
        brat(ASPIRIN, "T1\tDrug 0 7\tAspirin", "T2\tSign 21 25\tpain"),
    ),
    "repaired-in-reading": Example(
        {"train": {"a.txt": f"{IBUPROFEN}\r\n{ASPIRIN}", "a.ann": after_line_end(IBUPROFEN, 1)}},
        {"train": {"a.txt": f"{IBUPROFEN}\r\n{ASPIRIN}", "a.ann": after_line_end(IBUPROFEN, 2)}},
    ),
    "left-out-in-reading": Example(
        brat(ASPIRIN, "T1\tDrug 0 7\tAspirin", "E1\tTreats:T9"),
        brat(ASPIRIN, "T1\tDrug 0 7\tAspirin"),
    ),
    "noted-in-reading": Example(
        {"train": {"a.txt": ASPIRIN, "a.ann": "T1\tDrug 0 7\tAspirin\n", "b.txt": IBUPROFEN}},
        {
            "train": {
                "a.txt": ASPIRIN,
                "a.ann": "T1\tDrug 0 7\tAspirin\n",
                "b.txt": IBUPROFEN,
                "b.ann": "",
            }
        },
    ),
    "other-source": Example(
        native(Mention(((0, 7),), "Drug", source="model")), native(Mention(((0, 7),), "Drug"))
    ),
    "edge-space": Example(jsonl(record(ASPIRIN, (0, 8, "Drug"), (16, 25, "Sign"))), CLEAN, count=2),
    "inside-word": Example(
        jsonl(record(ASPIRIN, (0, 4, "Drug"), (23, 25, "Sign"))), CLEAN, count=2
    ),
    "across-sentences": Example(
        jsonl(
            record("He has chronic. Pain is bad.", (7, 20, "Sign"), sentences=[[0, 15], [16, 28]])
        ),
        jsonl(
            record("He has chronic. Pain is bad.", (16, 20, "Sign"), sentences=[[0, 15], [16, 28]])
        ),
    ),
    "mention-at-break": Example(
        conll("He O", "has O", "St B-Sign", ". I-Sign", "", "Anthony B-Sign", "fire I-Sign", ". O"),
        conll("He O", "has O", "St B-Sign", ". I-Sign", "", "Anthony B-Name", "fire I-Name", ". O"),
    ),
    "crossing-mentions": Example(
        jsonl(record(ASPIRIN, (0, 16, "A"), (8, 25, "B"))),
        jsonl(record(ASPIRIN, (0, 16, "A"), (17, 25, "B"))),
    ),
    "touching-mentions": Example(
        jsonl(record("He took aspirin ibuprofen .", (8, 15, "Drug"), (16, 25, "Drug"))),
        jsonl(record("He took aspirin ibuprofen .", (8, 15, "Drug"), (16, 25, "Brand"))),
    ),
    "same-span": Example(
        jsonl(record(ASPIRIN, (0, 7, "Drug"), (0, 7, "Brand"))),
        CLEAN,
        also=frozenset({"ambiguous-string"}),
    ),
    "nested-mention": Example(jsonl(record(ASPIRIN, (0, 25, "Fact"), (0, 7, "Drug"))), CLEAN),
    "nested-in-own-type": Example(
        jsonl(record("He has acute chest pain .", (7, 23, "Sign"), (13, 23, "Sign"))),
        jsonl(record("He has acute chest pain .", (7, 12, "Sign"), (19, 23, "Sign"))),
        also=frozenset({"nested-mention"}),
    ),
    "discontinuous": Example(
        brat("Pain and swelling of the knee.", "T1\tSign 0 4;18 29\tPain of the knee"),
        brat("Pain and swelling of the knee.", "T1\tSign 0 4\tPain"),
    ),
    "relation-without-mention": Example(related(DRUG, OTHER), RELATED),
    "relation-to-itself": Example(related(DRUG, DRUG), RELATED),
    "repeated-relation": Example(related(DRUG, PAIN, times=2), RELATED),
    "ambiguous-string": Example(
        jsonl(
            record("Lithium is a metal.", (0, 7, "Element")),
            record("Lithium helped him.", (0, 7, "Drug")),
        ),
        jsonl(
            record("Lithium is a metal.", (0, 7, "Drug")),
            record("Lithium helped him.", (0, 7, "Drug")),
        ),
    ),
    "unannotated-repeat": Example(
        jsonl(record("Lithium is a metal.", (0, 7, "Drug")), record("He took Lithium daily.")),
        jsonl(record("Lithium is a metal.", (0, 7, "Drug")), record("He took lithiumX daily.")),
    ),
    "likely-missed-mention": Example(
        jsonl(
            *(record(f"Lithium {v} him.", (0, 7, "Drug")) for v in VERBS),
            record("He took Lithium daily."),
        ),
        jsonl(
            *(record(f"Lithium {v} him.", (0, 7, "Drug")) for v in VERBS[1:]),
            record("He took Lithium daily."),
        ),
        also=frozenset({"unannotated-repeat"}),
    ),
    "seen-mention": Example(
        jsonl(
            record(ASPIRIN, (0, 7, "Drug")), test=record("He took aspirin daily.", (8, 15, "Drug"))
        ),
        CLEAN,
    ),
    "type-in-some-parts": Example(
        jsonl(record(ASPIRIN, (0, 7, "Drug")), test=record(IBUPROFEN, (23, 32, "Brand"))),
        CLEAN,
        count=2,
    ),
    "kind-not-in-train": Example(
        jsonl(
            record("Chest pain is bad.", (0, 10, "Sign")),
            test=record("He has a sore throat .", (7, 20, "Sign"), (14, 20, "Sign")),
        ),
        jsonl(
            record("Chest pain is bad.", (0, 10, "Sign"), (6, 10, "Sign")),
            test=record("He has a sore throat .", (7, 20, "Sign"), (14, 20, "Sign")),
        ),
        count=2,  # it is nested, and nested in its own type
        also=frozenset({"nested-mention", "nested-in-own-type"}),
    ),
    "duplicate-across-parts": Example(jsonl(record(LONG), test=record(LONG.upper())), CLEAN),
    "near-duplicate-across-parts": Example(
        jsonl(record(LONG), test=record(LONG.replace("others", "rest"))),
        jsonl(
            record(LONG), test=record(LONG.replace("others", "rest").replace("lithium", "no drug"))
        ),
    ),
    "shared-sentence-across-parts": Example(
        jsonl(
            record(
                LONG + " It is cheap.", sentences=[[0, len(LONG)], [len(LONG) + 1, len(LONG) + 13]]
            ),
            test=record(
                f"This study was small, and its end came early for some. {LONG} Nobody knows why "
                "that was so."
            ),
        ),
        CLEAN,
    ),
    "duplicate-across-corpora": Example(jsonl(record(LONG), against=record("- " + LONG)), CLEAN),
    "near-duplicate-across-corpora": Example(
        jsonl(record(LONG), against=record(LONG.replace("others", "rest"))),
        jsonl(
            record(LONG),
            against=record(LONG.replace("others", "rest").replace("lithium", "no drug")),
        ),
    ),
    "shared-sentence-across-corpora": Example(
        jsonl(
            record(LONG),
            against=record(
                f"This study was small, and its end came early. {LONG} Nobody knows why."
            ),
        ),
        jsonl(
            record(LONG),
            against=record("This study was small, and its end came early. Nobody knows why."),
        ),
    ),
    "shared-id": Example(
        jsonl(record(ASPIRIN, id="PMID1"), against=record(IBUPROFEN, id="PMID1")),
        jsonl(record(ASPIRIN), against=record(IBUPROFEN)),  # the reader numbers them
    ),
    "duplicate-in-part": Example(
        jsonl(record(LONG), record(LONG), record(LONG + " ")), CLEAN, count=2
    ),
    "near-duplicate-in-part": Example(
        jsonl(record(LONG), record(LONG.replace("others", "rest"))), CLEAN
    ),
    "short-duplicate": Example(
        jsonl(record("This is short."), test=record("This is short.")), CLEAN
    ),
    "empty-document": Example(jsonl(record(" \n"), record(ASPIRIN)), CLEAN),
    "long-sentence": Example(jsonl(record(words(129))), jsonl(record(words(128)))),
    "long-document": Example(
        jsonl(record(" ".join(words(n) for n in (*range(60, 128), 128)), sentences=None)),
        jsonl(record(words(128))),
    ),
    "short-sentence": Example(jsonl(record("Summary.")), jsonl(record("Summary so."))),
    "open-sentence": Example(
        jsonl(record("This sentence is cut after the")), jsonl(record("This is said (so.)"))
    ),
    "replacement-character": Example(
        jsonl(record("He paid 5 \ufffd for it.")), jsonl(record("He paid 5 € for it."))
    ),
    "mojibake": Example(
        jsonl(record("The cafÃ© is closed.")), jsonl(record("The café is closed."))
    ),
    "control-character": Example(
        jsonl(record("He\x07 is\x9f here.")), jsonl(record("He\t is\n here."))
    ),
    "invisible-character": Example(
        jsonl(record("He is\u200b here.")), jsonl(record("He is\u00a0here."))
    ),
    "mixed-normal-forms": Example(
        jsonl(record(_NFD), record(_NFC)), jsonl(record(_NFD), record(ASPIRIN))
    ),
}
APART = {"unreachable-mention", "copies-not-sought"}


def test_every_check_has_an_example() -> None:
    assert EXAMPLES.keys() | APART == checks().keys()
    assert all(
        check.severity in SEVERITIES and check.means.endswith(".") for check in checks().values()
    )


def test_nothing_is_found_where_nothing_is_wrong(examine_files: Examine) -> None:
    assert examine_files(CLEAN).report.findings == ()


@pytest.mark.parametrize("code", EXAMPLES)
def test_a_defect_is_found_and_nothing_else(examine_files: Examine, code: str) -> None:
    example = EXAMPLES[code]
    report = examine_files(example.bad).report
    found = {finding.code: finding for finding in report.findings}
    assert found.keys() == {code} | example.also
    assert found[code].count == example.count == sum(found[code].by_part.values())
    assert len(found[code].examples) == example.count
    assert all(
        shown.file and (shown.document or code == "unread-file") for shown in found[code].examples
    )
    assert set(report.without) == checks().keys() - found.keys()


@pytest.mark.parametrize("code", EXAMPLES)
def test_it_is_not_found_where_it_is_not(examine_files: Examine, code: str) -> None:
    example = EXAMPLES[code]
    found = {finding.code for finding in examine_files(example.good).report.findings}
    assert found <= example.also


def test_unreachable_mentions_are_told_by_reason(
    examine_documents: Examine, tmp_path: Path
) -> None:
    pieces = [
        "[PAD]",
        "[UNK]",
        *"abcdefghijklmnopqrstuvwxyz.",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    tokenizer = Tokenizer(
        models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    text = "one two three four. five six"
    mentions = [
        Mention(((0, 7),), "X"),  # two words
        Mention(((0, 13),), "X"),  # three: too wide
        Mention(((4, 6),), "X"),  # inside a word
        Mention(((14, 24),), "X"),  # over the end of a sentence
        Mention(((0, 3), (8, 13)), "X"),
    ]
    document = Document(id="a", text=text, sentences=((0, 19), (20, 28)), mentions=tuple(mentions))
    found = examine_documents({"train": [document]}, tokenizer=tmp_path, width=2)
    (finding,) = (f for f in found.report.findings if f.code == "unreachable-mention")
    assert [shown.message for shown in finding.examples] == [
        "X: discontinuous",
        "X: too-wide",
        "X: inside-word",
        "X: crosses-segment",
    ]
    assert finding.details[0] == "4 of 5 mentions (80.0 %)."
    wide = examine_documents({"train": [document]}, tokenizer=tmp_path / "tokenizer.json", width=3)
    (finding,) = (f for f in wide.report.findings if f.code == "unreachable-mention")
    assert finding.count == 3
    assert "unreachable-mention" in examine_documents({"train": [document]}).report.without


def test_what_was_not_compared_is_a_finding(
    examine_documents: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # four pairs for each of six texts make it good, and no more
    monkeypatch.setattr(fingerprints, "_MOST", -24)
    texts = [LONG.replace("ten", f"x{number}") for number in range(6)]
    documents = [Document(id=str(number), text=text) for number, text in enumerate(texts)]
    found = examine_documents({"train": documents}, near="0.6")
    (finding,) = (f for f in found.report.findings if f.code == "copies-not-sought")
    assert finding.count == 5
    assert "near-duplicate-in-part" in found.report.without
