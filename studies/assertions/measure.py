"""How right the facts of mentions are, beside ConText and negspaCy.

usage: FASCICLE_DATA=... python -m studies.assertions.measure PYTHON

``PYTHON`` is of an environment with the packages of ``requirements-peers.txt``. There are two kinds
of gold. *Sentences*: those of ``tests/text/assertion-mentions.tsv``, by which the cues were
written; 100 of ``fresh.tsv`` and 100 of ``fresh-2.tsv``, which were drawn from labels, MedQuAD and
abstracts and read before the rules saw them, and by which the cues were then mended; and 100 of
``fresh-3.tsv``, which were drawn and read after that. *Events*: the negations and speculations of
BioNLP, with the trigger of the event as the mention; some of these documents were read when the
cues for events were written. Writes ``assertions.json``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span
from fascicle.settings.assertion import FACTS, read_cues
from fascicle.text.assertion import AssertionRules
from studies.common import ROOT, write_result

HERE = Path(__file__).parent
_CORPORA = ("bionlp13cg", "bionlp13pc", "bionlp11id")
_SAMPLES = 1_000
_FACT_OF = {"Negation": "negated", "Speculation": "uncertain"}
_Facts = Sequence[Sequence[str]]  # of each mention


class Text(NamedTuple):
    """Text with gold.

    Attributes:
        text: characters.
        mentions: their places.
        kinds: types of the mentions.
        gold: facts of each mention.
    """

    text: str
    mentions: tuple[Span, ...]
    kinds: tuple[str, ...]
    gold: tuple[tuple[str, ...], ...]


def sentences(path: Path) -> list[Text]:
    """Reads a table of sentences with one marked mention each."""
    result = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        _, kind, marked, facts = line.split("\t")
        before, mention, after = re.split(r"\[\[|\]\]", marked)
        span = len(before), len(before) + len(mention)
        result.append(Text(before + mention + after, (span,), (kind,), (tuple(facts.split()),)))
    return result


def events(path: Path) -> Iterator[Text]:
    """Yields the documents of BioNLP whose events are published."""
    with zipfile.ZipFile(path) as archive:
        names = map(PurePosixPath, archive.namelist())
        for name in sorted(name for name in names if name.suffix == ".a2"):
            text, lines = (
                archive.read(str(name.with_suffix(suffix))).decode() for suffix in (".txt", ".a2")
            )
            yield events_of(text, lines)


def events_of(text: str, lines: str) -> Text:
    """Returns the triggers of the events of a text; each has the facts of all events there."""
    rows = [line.split("\t") for line in lines.splitlines()]
    places = {row[0]: row[1].split(" ") for row in rows if row[0][0] == "T"}
    event = {row[0]: row[1].split()[0].split(":")[1] for row in rows if row[0][0] == "E"}
    facts: dict[tuple[int, int, str], set[str]] = {}
    of = {
        name: (int(places[trigger][1]), int(places[trigger][-1]), places[trigger][0])
        for name, trigger in event.items()
    }
    for place in of.values():
        facts[place] = set()
    for row in rows:
        if row[0][0] == "M":
            kind, name = row[1].split()
            facts[of[name]].add(_FACT_OF[kind])
    ordered = sorted(facts)
    return Text(
        text,
        tuple(place[:2] for place in ordered),
        tuple(kind for *_, kind in ordered),
        tuple(tuple(sorted(facts[place])) for place in ordered),
    )


def ours(texts: Sequence[Text]) -> tuple[list[_Facts], float]:
    """Returns the facts of the mentions of each text, and the seconds of processor time."""
    rules = AssertionRules(read_cues())
    documents = [
        Document(
            id="a",
            text=text.text,
            mentions=tuple(
                Mention((span,), kind, source="gold")
                for span, kind in zip(text.mentions, text.kinds, strict=True)
            ),
        )
        for text in texts
    ]
    start = time.process_time()
    answers = [rules.assert_facts(document, document.mentions) for document in documents]
    seconds = time.process_time() - start
    facts: list[_Facts] = [
        [[name for name, _ in mention.attributes] for mention in mentions] for mentions in answers
    ]
    return facts, seconds


def counts(texts: Sequence[Text], facts: Sequence[_Facts], asked: Sequence[str]) -> np.ndarray:
    """Returns right, given and gold facts of each text."""
    return np.array(
        [
            [
                sum(len(set(said) & set(gold) & set(asked)) for said, gold in pairs),
                sum(len(set(said) & set(asked)) for said, _ in pairs),
                sum(len(set(gold) & set(asked)) for _, gold in pairs),
            ]
            for pairs in (
                list(zip(said, text.gold, strict=True))
                for said, text in zip(facts, texts, strict=True)
            )
        ]
    )


def rates(total: np.ndarray) -> np.ndarray:
    """Returns precision, recall and F1 in percent; the last axis has right, given and gold."""
    right, given, gold = np.moveaxis(total, -1, 0)
    pairs = ((right, given), (right, gold), (2 * right, given + gold))
    return np.stack([100 * part / np.maximum(whole, 1) for part, whole in pairs], axis=-1)


def score(
    texts: Sequence[Text], systems: Mapping[str, Sequence[_Facts]], asked: Sequence[str]
) -> dict[str, object]:
    """Scores systems on some facts, with 95 % intervals from samples of texts."""
    each = {name: counts(texts, facts, asked) for name, facts in systems.items()}
    rng = np.random.default_rng(70)
    weights = rng.multinomial(len(texts), [1 / len(texts)] * len(texts), size=_SAMPLES)
    samples = {name: rates(weights @ table) for name, table in each.items()}
    first = next(iter(samples.values()))[:, 2]
    result: dict[str, object] = {}
    for name, table in each.items():
        values = rates(table.sum(axis=0))
        low, high = np.percentile(samples[name], (2.5, 97.5), axis=0)
        less = np.percentile(first - samples[name][:, 2], (2.5, 97.5))
        result[name] = {
            "gold": int(table[:, 2].sum()),
            **{
                rate: [round(float(one[at]), 1) for one in (values, low, high)]
                for at, rate in enumerate(("precision", "recall", "f1"))
            },
            "ours less it, f1": [round(float(end), 1) for end in less],
        }
    return result


def peers(python: str, texts: Sequence[Text]) -> dict[str, tuple[list[_Facts], float]]:
    """Returns facts and seconds of other systems, which run in their own environment."""
    with tempfile.TemporaryDirectory() as folder:
        given, told = Path(folder, "given.jsonl"), Path(folder, "told.json")
        given.write_text("".join(f"{json.dumps([one.text, one.mentions])}\n" for one in texts))
        subprocess.run([python, str(HERE / "_peers.py"), str(given), str(told)], check=True)
        answers = json.loads(told.read_text())
    return {name: (row["facts"], row["seconds"]) for name, row in answers.items()}


def main() -> None:
    """Measures and writes."""
    data = Path(os.environ["FASCICLE_DATA"])
    parts = {
        "sentences by which the cues were written": sentences(
            ROOT / "tests" / "text" / "assertion-mentions.tsv"
        ),
        "100 sentences by which they were mended": sentences(HERE / "fresh.tsv"),
        "100 by which they were mended again": sentences(HERE / "fresh-2.tsv"),
        "100 fresh sentences": sentences(HERE / "fresh-3.tsv"),
    }
    for corpus in _CORPORA:
        parts[f"events of {corpus}"] = list(events(data / corpus / "standoff.zip"))
    result = {}
    for part, texts in parts.items():
        told = {"Fascicle": ours(texts), **peers(sys.argv[1], texts)}
        facts = {name: answer for name, (answer, _) in told.items()}
        three = {name: answer for name, answer in facts.items() if name != "negspaCy"}
        result[part] = {
            "texts": len(texts),
            "mentions": sum(len(text.mentions) for text in texts),
            "negated": score(texts, facts, ["negated"]),
            "uncertain": score(texts, three, ["uncertain"]),
            "all facts": score(texts, three, FACTS),
            "milliseconds a text": {
                name: round(1_000 * seconds / len(texts), 3) for name, (_, seconds) in told.items()
            },
        }
        sys.stdout.write(f"{part}\n{json.dumps(result[part], indent=1)}\n")
    write_result("assertions", {"parts": result})


if __name__ == "__main__":
    main()
