"""Do candidates by vectors of names help? Chemicals, with gold mentions; see ``plan.md``.

python -m studies.linking.dense PACK LINKER OUT

``PACK`` has names of chemicals by MeSH, such as that of ``mesh-chemicals.toml`` here; ``LINKER`` is
any linker of it that was fitted with ``--dense ENCODER`` and a ``least`` that is not above the
lowest here. What vectors cost is measured too, in processor time of one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from fascicle.core.document import Document
from fascicle.evaluation.link_report import LinkSystem
from fascicle.linking.dense import GRAPH, TOKENIZER, VECTORS, DenseIndex, plan_names
from fascicle.linking.encoding import NameEncoder, largest
from fascicle.linking.fitting import fit_linker
from fascicle.linking.index import NameIndex
from fascicle.terms.pack.arrays import map_array
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.tasks.link_cases import cases_of_linker
from studies.linking.corpora import Part, documents
from studies.linking.measure import (
    fitted_linker,
    opened,
    parser_of,
    reference_of,
    report_of,
    told,
    write,
)

KIND: Final = "Chemical"
LEASTS: Final = (0.6, 0.7, 0.8, 0.9)
WITHOUT: Final = "without vectors"
TESTED: Final = ("bc5cdr", "nlm-chem")
SAMPLE: Final = 512  # names that are encoded to see how long it takes
TOGETHER: Final = 64  # questions


def with_least(index: NameIndex, dense: DenseIndex, least: float | None) -> NameIndex:
    """The index with vectors whose names must be so similar, or without vectors."""
    manifest = dense.manifest
    index.dense = (
        None
        if least is None
        else DenseIndex(dense.folder, msgspec.structs.replace(manifest, least=least))
    )
    return index


def of_kind(name: str, part: Part, *, choosing: bool = False) -> list[Document]:
    """The documents of a part with their chemicals alone."""
    return [
        msgspec.structs.replace(
            one, mentions=tuple(each for each in one.mentions if each.type == KIND)
        )
        for one in documents(name, part, choosing=choosing)
    ]


def measure(
    fit: list[Document], test: list[Document], pack: Pack, *, indexes: dict[str, NameIndex]
) -> dict[str, Any]:
    """The figures of linkers, the first of which the others are compared with."""
    reference = reference_of(fit, test, pack)
    systems = []
    for name, index in indexes.items():
        linker = fitted_linker(pack, index, fit_linker(pack, index, fit))
        systems.append(
            LinkSystem(
                name=name, cases=tuple(cases_of_linker(reference, linker)), has_candidates=True
            )
        )
    return report_of(systems, reference)


def chosen(report: dict[str, Any]) -> float:
    """The least similarity with the best F1 of answers; of equal ones the highest."""
    values = {
        float(one["name"]): one["figures"]["f1"]["value"]
        for one in report["systems"]
        if one["name"] != WITHOUT
    }
    return max(values, key=lambda least: (round(values[least], 12), least))


def costs(pack: Pack, dense: DenseIndex) -> dict[str, float]:
    """What it takes to make vectors and to compare them."""
    encoder = NameEncoder.open(
        dense.folder / GRAPH, dense.folder / TOKENIZER, pad=dense.manifest.pad, threads=1
    )
    rows = np.random.default_rng(0).choice(
        plan_names(pack, (KIND,)).surfaces, SAMPLE, replace=False
    )
    names = sorted(pack.active.surfaces.take(rows), key=len)
    encoder.together(names[:1])
    portions = [names[at : at + TOGETHER] for at in range(0, SAMPLE, TOGETHER)]
    vectors = map_array(dense.folder / VECTORS).reshape(-1, dense.manifest.width)
    asked = encoder.together(names[::8])
    return {
        "names": len(vectors),
        "width": dense.manifest.width,
        "bytes": vectors.nbytes,
        "encoded_per_second": SAMPLE / seconds(lambda: [encoder.together(one) for one in portions]),
        "alone_ms": 1000 * seconds(lambda: encoder.alone(names[::8])) / len(asked),
        "search_together_ms": 1000 * seconds(lambda: _search(vectors, asked)) / len(asked),
        "search_alone_ms": 1000 * seconds(lambda: _search(vectors, asked[:1])),
    }


def _search(vectors: Any, asked: Any) -> Sequence[Any]:
    return largest(vectors, asked, most=10, least=0.8)


def seconds(done: Callable[[], object]) -> float:
    """The least processor time of three runs."""
    times = []
    for _ in range(3):
        start = time.process_time()
        done()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Chooses the least similarity on dev, then measures the test parts once."""
    parser = parser_of(__doc__)
    args = parser.parse_args()
    pack, index = opened(args)
    dense = index.dense
    assert dense is not None
    assert dense.manifest.least <= LEASTS[0]

    def indexes(*leasts: float) -> dict[str, NameIndex]:
        given = {WITHOUT: None, **{f"{least}": least for least in leasts}}
        return {
            name: with_least(NameIndex.open(args.index, pack), dense, least)
            for name, least in given.items()
        }

    found: dict[str, Any] = {
        **told(pack),
        "encoder": dense.manifest.encoder,
        "costs": costs(pack, dense),
    }
    fit = of_kind("bc5cdr", "fit", choosing=True)
    found["dev"] = measure(fit, of_kind("bc5cdr", "dev"), pack, indexes=indexes(*LEASTS))
    found["least"] = chosen(found["dev"])
    write(args.out, found)
    for name in TESTED:
        fit = of_kind(name, "fit")
        found[name] = measure(fit, of_kind(name, "test"), pack, indexes=indexes(found["least"]))
        write(args.out, found)


if __name__ == "__main__":
    main()
