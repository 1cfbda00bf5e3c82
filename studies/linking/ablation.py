"""What each feature and each source of candidates is worth, on the parts to choose on; see
``plan.md``.

python -m studies.linking.ablation PACK INDEX OUT [--corpora CORPUS ...]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.document import Document
from fascicle.evaluation.link_scores import LinkCase, link_difference, link_intervals, score_links
from fascicle.linking.features import FEATURES
from fascicle.linking.fitting import FitSettings, TrainingData, fit_rankers, gather_training_data
from fascicle.linking.index import NameIndex
from fascicle.linking.linker import Linker
from fascicle.linking.logit import TrainingTable
from fascicle.linking.ranking import Ranked
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.tasks.link_cases import Reference, linked
from studies.linking.corpora import STUDIES, documents
from studies.linking.measure import RESAMPLES, each_corpus, opened, parser_of, reference_of

NAME: Final = "recall@1"
_SPECIES: Final = tuple(name for name in FEATURES if name.startswith("species: "))
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "tiers": tuple(name for name in FEATURES if name.startswith("tier: ")),
    "similarity": ("similarity",),
    "ways": tuple(name for name in FEATURES if name.startswith("found by: ")),
    "how vocabularies refer": tuple(name for name in FEATURES if name.startswith("by ")),
    "priors": ("prior", "share of prior"),
    "numbers of candidates and names": ("candidates", "names"),
    "case": ("case",),
    "label": ("label",),
    "counts of the memory": ("remembered", "share of remembered"),
    "second pass": ("another name in the document", "parent or child in the document"),
    "words around": ("words around",),
    "species": _SPECIES,
}
SOURCES: Final = ("memory", "abbreviations")


def ablate(name: str, pack: Pack, index: NameIndex) -> dict[str, Any]:
    """Recall@1 of one corpus with everything, and what is lost without each part, paired over
    documents.
    """
    fit = documents(name, "fit", choosing=True)
    reference = reference_of(fit, documents(name, "dev"), pack)
    settings = FitSettings()
    taught = gather_training_data(pack, index, fit, settings=settings)
    linker = Linker(
        pack, index=index, memory=taught.memory, rankers=fit_rankers(taught, settings=settings)
    )
    ranked = _ranked(linker, reference.documents)
    whole = _scores(reference, linker, ranked)
    rows = {}
    for group, features in GROUPS.items():
        rankers = fit_rankers(without(taught, features), settings=settings)
        other = Linker(pack, index=index, memory=taught.memory, rankers=rankers)
        rows[group] = _scores(
            reference, other, other.ranking.rank_candidates(ranked.candidates, ranked.features)
        )
    for source in SOURCES:
        bare = [_plain(one) if source == "abbreviations" else one for one in fit]
        test = [_plain(one) if source == "abbreviations" else one for one in reference.documents]
        less = gather_training_data(
            pack, index, bare, settings=FitSettings(remember=source != "memory")
        )
        other = Linker(
            pack, index=index, memory=less.memory, rankers=fit_rankers(less, settings=settings)
        )
        rows[source] = _scores(reference, other, _ranked(other, test))
    return {
        "all": link_intervals(whole, resamples=RESAMPLES)[NAME].as_dict(),
        "mentions": whole.counts(NAME)[1],
        "without": {
            key: link_difference(one, whole, NAME, resamples=RESAMPLES).as_dict()
            for key, one in rows.items()
        },
    }


def without(taught: TrainingData, features: Collection[str]) -> TrainingData:
    """What texts taught with nothing in the columns of some features, so that they get no
    weight.
    """
    return taught._replace(
        tables={kind: _bare(table, features) for kind, table in taught.tables.items()},
        recognised={kind: _bare(table, features) for kind, table in taught.recognised.items()},
    )


def _bare(table: TrainingTable, features: Collection[str]) -> TrainingTable:
    kept = np.array([name not in features for name in table.inputs])
    return table._replace(choices=table.choices._replace(features=table.choices.features * kept))


def _ranked(linker: Linker, found: Sequence[Document]) -> Ranked:
    bare = [msgspec.structs.replace(one, mentions=_unlinked(one)) for one in found]
    return linker.ranked(bare, [linked(one) for one in found])


def _scores(reference: Reference, linker: Linker, ranked: Ranked) -> Any:
    cases = _cases(reference, linker, ranked)
    return score_links(cases, [one.id for one in reference.documents], reference.concepts)


def _cases(reference: Reference, linker: Linker, ranked: Ranked) -> Iterator[LinkCase]:
    """The mentions with what is ranked first; which of it is answered is not looked at."""
    found = ranked.candidates
    starts = np.searchsorted(found.owners, np.arange(len(found.units) + 1)).tolist()
    first: dict[tuple[int, int], list[tuple[str, ...]]] = defaultdict(list)
    for number, unit in enumerate(found.units):
        rows = ranked.order[starts[number] : starts[number + 1]][:1].tolist()
        curies = tuple(linker.pack.curie(int(found.concepts[row])) for row in rows)
        for at in unit.mentions:
            first[unit.document, at].append(curies)
    for at, document in enumerate(reference.documents):
        for number, mention in enumerate(linked(document)):
            parts = tuple(first[at, number])
            yield msgspec.structs.replace(
                reference.case(document, mention), parts=parts, where="matched"
            )


def _plain(document: Document) -> Document:
    return msgspec.structs.replace(document, abbreviations=())


def _unlinked(document: Document) -> tuple[Any, ...]:
    return tuple(msgspec.structs.replace(one, links=()) for one in document.mentions)


def main() -> None:
    """Measures corpora one by one."""
    parser = parser_of(__doc__)
    parser.set_defaults(corpora=[name for name in STUDIES if name not in ("nlm-chem", "biored")])
    args = parser.parse_args()
    pack, index = opened(args)
    each_corpus(args, pack, lambda name: ablate(name, pack, index))


if __name__ == "__main__":
    main()
