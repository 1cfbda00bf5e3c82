"""How many words of a test part does its train part not have? Out-of-vocabulary density
(*bundling-learning* Eq. 21).

usage: python -m studies.bundling.oov

``FASCICLE_DATA`` names the corpora; measured are those of ``studies/grids/bundling.toml``. The
density is the number of words of the part that do not occur in the train part, over the number of
its words. Words are those of the corpus files, each counted as often as it occurs, and two words
are the same if they are the same string; the paper says no more than "words", and the code that it
cites compares strings as they are. Beside it stand the density with case folded, which is what an
uncased encoder can see, and the numbers of distinct words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from fascicle.core.document import Document
from fascicle.errors import InputError
from fascicle.formats.sources import source_sha256
from fascicle.settings.recipes.corpora import CorpusSettings
from fascicle.training.corpus import read_part
from fascicle.training.experiments.grid import Grid, read_grid
from studies.common import GRIDS, write_result


def words_of(documents: Iterable[Document]) -> Counter[str]:
    """How often each word occurs.

    Raises:
        InputError: a document that comes without words.
    """
    found: Counter[str] = Counter()
    for document in documents:
        if document.words is None:
            raise InputError(
                f"the document {document.id!r} comes without words; the density is of the words "
                "of a corpus"
            )
        found.update(document.text[start:end] for start, end in document.words)
    return found


def density(train: Counter[str], part: Counter[str]) -> dict[str, float | int]:
    """Words of a part that a train part does not have.

    Returns:
        ``words`` and ``oov``, occurrences; ``density``, their ratio; ``density_folded``, with case
        folded; ``distinct`` words and ``distinct_oov``.
    """
    words, oov = part.total(), sum(count for word, count in part.items() if word not in train)
    folded = {word.casefold() for word in train}
    oov_folded = sum(count for word, count in part.items() if word.casefold() not in folded)
    return {
        "words": words,
        "oov": oov,
        "density": oov / words if words else 0.0,
        "density_folded": oov_folded / words if words else 0.0,
        "distinct": len(part),
        "distinct_oov": sum(word not in train for word in part),
    }


def of_corpus(corpus: CorpusSettings) -> dict[str, Any]:
    """The densities of dev and test against train, and the hashes of all three."""
    train = words_of(read_part(corpus, "train"))
    return {
        "sha256": {part: source_sha256(getattr(corpus, part)) for part in ("train", "dev", "test")},
        "train_words": train.total(),
        "dev": density(train, words_of(read_part(corpus, "dev"))),
        "test": density(train, words_of(read_part(corpus, "test"))),
    }


def corpora_of_grid(grid: Grid) -> dict[str, CorpusSettings]:
    """The corpora that a grid scores on test, with the paths of this machine."""
    runs = {run.corpus: run for run in grid.runs if run.recipe.corpus.test}
    return {name: run.resolved().corpus for name, run in runs.items()}


def main() -> None:
    """Counts, prints and writes ``results/bundling-oov.json``."""
    corpora = corpora_of_grid(read_grid(GRIDS / "bundling.toml"))
    found = {name: of_corpus(corpus) for name, corpus in corpora.items()}
    what = (
        "words of dev and test that train does not have, over all words (bundling-learning Eq. 21)"
    )
    write_result("bundling-oov", {"what": what, "corpora": found})
    print(json.dumps({name: of["test"] for name, of in found.items()}, indent=1))


if __name__ == "__main__":
    main()
