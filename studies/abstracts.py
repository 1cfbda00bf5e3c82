"""Which abstract each sentence is of, where a corpus names none, told by files that have the
abstracts.

usage: FASCICLE_DATA=... FASCICLE_GENIA=... python -m studies.abstracts

The files of NCBI-disease and BC5CDR in IOB, and those of GENIA, name no documents, so that a
document of theirs is a sentence. Sentences of one abstract are not independent: what is drawn for
an interval should be abstracts. The script writes ``results/abstracts.json``, how many sentences
each abstract of a test part has, so that tables draw abstracts without the corpora. The abstracts
of GENIA are those of JNLPBA's train part. ``FASCICLE_GENIA`` names the parts of
``studies.combining.genia_resplit``.

Test sentences of BC2GM have ids without abstracts, but its train sentences, which were drawn with
them, have ids that name one. Of these the script writes the mean number of sentences, over
sentences, in the abstract of a sentence: if sentences of one abstract were all alike, the variance
of a sum would be so many times larger, and it cannot be more.
"""

from __future__ import annotations

import gzip
import itertools
import os
import zipfile
from collections import Counter
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
from studies.combining.genia_resplit import FILES, resplit
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
# The abstracts that the sentences of GENIA were taken from, in the folder ``train`` of the zip.
GENIA_ABSTRACTS = "jnlpba/jnlpba-standoff.zip"
GENIA_PARTS = ("genia", "genia-resplit")
KNOWN = (*ABSTRACTS, *GENIA_PARTS)
SHORTEST = 16  # letters and digits of a sentence by which an abstract is told
BC2GM_TRAIN = "bc2gm/original/train/train.in.gz"
BC2GM_ID = 9  # first characters of an id of BC2GM, which are those of an abstract


def main() -> None:
    """Counts and writes."""
    data, parts = Path(os.environ["FASCICLE_DATA"]), {}
    for name, corpus in SENTENCES.items():
        path = str(data / name)
        settings = CorpusSettings(
            train=path, dev=path, test=path, format="conll", documents="sentence"
        )
        found = abstracts_of(read_part(settings, "test"), read(data / ABSTRACTS[corpus]))
        parts[source_sha256(path)] = {"file": name, "sentences": _runs(found.values())}
    names = of_genia(data)
    tests = {
        str(data / "genia" / FILES[-1]): len(list(read(data / "genia" / FILES[-1]))),
        f"{os.environ['FASCICLE_GENIA']}/test.jsonl": len(resplit(names)["test"]),
    }
    for corpus, (path, count) in zip(GENIA_PARTS, tests.items(), strict=True):
        parts[source_sha256(path)] = {"file": corpus, "sentences": _runs(names[-count:])}
    with gzip.open(data / BC2GM_TRAIN, "rt", encoding="utf-8") as stream:
        shared = mean_size(line[:BC2GM_ID] for line in stream)
    write_result("abstracts", {"parts": parts, "shared": {"bc2gm": round(shared, 4)}})


def _runs(names: Iterable[str]) -> list[int]:
    return [len(list(run)) for _, run in itertools.groupby(names)]


def mean_size(names: Iterable[str]) -> float:
    """The mean size of the group of a member, over members: 1 where no two share a name."""
    sizes = Counter(names).values()
    return sum(size * size for size in sizes) / sum(sizes)


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


def of_genia(data: Path) -> list[str]:
    """The abstract of each sentence of GENIA, in file order; its test parts are the last ones.

    Args:
        data: the folder of the corpora.
    """
    sentences = (one for name in FILES for one in read(data / "genia" / name))
    with zipfile.ZipFile(data / GENIA_ABSTRACTS) as archive:
        names = [n for n in archive.namelist() if n.startswith("train/") and n.endswith(".txt")]
        texts = {Path(name).stem: archive.read(name).decode() for name in names}
    return by_letters([one.text for one in sentences], texts)


def by_letters(sentences: Iterable[str], abstracts: Mapping[str, str]) -> list[str]:
    """The abstract of each sentence, told by letters and digits alone, since tokens have other
    signs than texts.

    A sentence that is in the abstract of the one before it is of that one, and so is one that is
    too short to tell or is in none.

    Args:
        sentences: in an order in which those of one abstract follow each other.
        abstracts: name -> text.
    """
    texts = {name: _letters(text) for name, text in abstracts.items()}
    found: list[str] = []
    current = next(iter(texts))
    for sentence in map(_letters, sentences):
        if len(sentence) >= SHORTEST and sentence not in texts[current]:
            current = next((name for name, text in texts.items() if sentence in text), current)
        found.append(current)
    return found


def abstracts_in(corpus: str, documents: Sequence[Document], data: Path) -> dict[str, str]:
    """The abstract of each document of a test part of a grid.

    Args:
        corpus: one of `KNOWN`.
        documents: of its test part.
        data: the folder of the corpora.
    """
    if corpus in GENIA_PARTS:
        names = of_genia(data)[-len(documents) :]
        return {one.id: name for one, name in zip(documents, names, strict=True)}
    return abstracts_of(documents, read(data / ABSTRACTS[corpus]))


def by_abstract(scores: Scores, abstracts: Mapping[str, str]) -> Scores:
    """The same scores with abstracts for documents; what is of no abstract stays as it is."""
    merged: dict[str, Counts] = {}
    for identifier, one in scores.by_document.items():
        name = abstracts.get(identifier, identifier)
        so_far = merged.get(name, Counts())
        merged[name] = Counts(tp=so_far.tp + one.tp, fp=so_far.fp + one.fp, fn=so_far.fn + one.fn)
    return replace(scores, by_document=merged, by_document_type={})


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _bare(text: str) -> str:
    return "".join(text.split())


if __name__ == "__main__":
    main()
