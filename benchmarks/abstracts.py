"""Which abstract each sentence of an IOB file is of, told by the file of abstracts that it was made from.

The IOB files of NCBI-disease and BC5CDR name no documents, so that a document of theirs is a sentence. Sentences of one
abstract are not independent: what is drawn for an interval should be abstracts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.evaluate.scores import Counts, Scores

# Corpus of a grid -> the abstracts of its test part, below the folder of the corpora.
ABSTRACTS: Mapping[str, str] = {
    "ncbi-disease": "ncbi-disease/pubtator/test.PubTator.txt",
    "bc5cdr": "bc5cdr/pubtator/CDR_TestSet.PubTator.txt",
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
            current = next((name for name, text in texts.items() if name not in begun and text.startswith(words)), "")
            place = 0
        if not current:
            raise InputError(f"the sentence {sentence.id!r} is of none of the abstracts; give those it was made from")
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
