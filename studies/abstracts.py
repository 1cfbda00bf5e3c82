"""Which abstract each sentence of an IOB file is of, told by the file of abstracts that it was made
from.

usage: FASCICLE_DATA=... python -m studies.abstracts

The IOB files of NCBI-disease and BC5CDR name no documents, so that a document of theirs is a
sentence. Sentences of one abstract are not independent: what is drawn for an interval should be
abstracts. The script writes ``results/abstracts.json``, how many sentences each abstract of a test
part has, so that tables draw abstracts without the corpora.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.evaluation.scoring.scores import Counts, Scores
from fascicle.evaluation.uncertainty.intervals import bootstrap_f1
from fascicle.formats.files import read
from fascicle.formats.sources import source_sha256
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.training.corpus import read_part
from fascicle.training.experiments.results import stored_scores
from studies.common import write_result

# Corpus of a grid -> the abstracts of its test part, below the folder of the corpora.
ABSTRACTS: Mapping[str, str] = {
    "ncbi-disease": "ncbi-disease/pubtator/test.PubTator.txt",
    "bc5cdr": "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
}
# The test parts that were made from them.
SENTENCES: Mapping[str, str] = {
    "ncbi-disease/iob/test.tsv": "ncbi-disease",
    "bc5cdr/iob/test.tsv": "bc5cdr",
    "bc5cdr/iob-chem/test.tsv": "bc5cdr",
    "bc5cdr/iob-disease/test.tsv": "bc5cdr",
}


def main() -> None:
    """Counts and writes."""
    data, parts = Path(os.environ["FASCICLE_DATA"]), {}
    for name, corpus in SENTENCES.items():
        path = str(data / name)
        settings = CorpusSettings(
            train=path, dev=path, test=path, format="conll", documents="sentence"
        )
        found = abstracts_of(read_part(settings, "test"), read(data / ABSTRACTS[corpus]))
        runs = [len(list(run)) for _, run in itertools.groupby(found.values())]
        parts[source_sha256(path)] = {"file": name, "sentences": runs}
    write_result("abstracts", {"parts": parts})


def drawing_abstracts(
    result: dict[str, Any], parts: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A result whose counts are of abstracts and whose interval draws these; unchanged where no
    abstracts are known.

    Args:
        result: of one run, see ``fascicle.training.experiments.results``.
        parts: of ``results/abstracts.json``: SHA-256 of a test file -> ``"sentences"`` of each
            abstract.
    """
    counts = result.get("test_counts")
    part = parts.get(result["facts"]["data"]["test"]["sha256"]) if counts else None
    names = (
        [str(n) for n, size in enumerate(part["sentences"]) for _ in range(size)] if part else []
    )
    if not counts or len(names) != len(counts):
        return result
    merged = by_abstract(stored_scores(counts), {str(at): name for at, name in enumerate(names)})
    return result | {
        "test_counts": [[c.tp, c.fp, c.fn] for c in merged.by_document.values()],
        "test_f1_interval": bootstrap_f1(merged).as_dict(),
        "test_unit": "abstract",
    }


def abstracts_of(sentences: Sequence[Document], abstracts: Iterable[Document]) -> dict[str, str]:
    """The id of the abstract of each sentence.

    Args:
        sentences: in the order of their abstracts' text; the abstracts may come in any order.
        abstracts: whose texts the sentences make up, but for white space.

    Raises:
        InputError: a sentence that neither goes on with the abstract before it nor begins one.
    """
    texts = {abstract.id: _bare(abstract.text) for abstract in abstracts}
    found: dict[str, str] = {}
    current, place = "", 0
    for sentence in sentences:
        words = _bare(sentence.text)
        if not (current and texts[current].startswith(words, place)):
            begun = set(found.values())
            current = next(
                (
                    name
                    for name, text in texts.items()
                    if name not in begun and text.startswith(words)
                ),
                "",
            )
            place = 0
        if not current:
            raise InputError(
                f"the sentence {sentence.id!r} is of none of the abstracts; give those it was "
                "made from"
            )
        found[sentence.id] = current
        place += len(words)
    return found


def by_abstract(scores: Scores, abstracts: Mapping[str, str]) -> Scores:
    """The same scores with abstracts for documents; what is of no abstract stays as it is."""
    merged: dict[str, Counts] = {}
    for identifier, one in scores.by_document.items():
        name = abstracts.get(identifier, identifier)
        so_far = merged.get(name, Counts())
        merged[name] = Counts(tp=so_far.tp + one.tp, fp=so_far.fp + one.fp, fn=so_far.fn + one.fn)
    return replace(scores, by_document=merged, by_document_type={})


def _bare(text: str) -> str:
    return "".join(text.split())


if __name__ == "__main__":
    main()
