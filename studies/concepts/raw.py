"""Concepts of documents from raw text with what ships; see ``plan.md``.

python -m studies.concepts.raw FOLDER [--name NAME] [--part dev] [--linker LINKER ...]
    [--ontology MESH] [--models biomed-fast] [--beside gold pack gilda]

FOLDER has the mentions of ``mentions.py``. Writes ``results/concepts-raw-NAME.json``, corpus by
corpus; what another run of the same pack and linker wrote there stays. ``gilda`` needs the folder
of its packages in ``RIVALS``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.mention import Mention
from fascicle.core.patches import apply
from fascicle.linking.opening import find
from fascicle.loading import load
from fascicle.settings.folders.vocabularies import DEFAULT_LINKER
from fascicle.settings.inputs import RecognitionSettings
from studies.common import result, write_result
from studies.concepts.corpora import SOURCES, documents
from studies.concepts.mentions import MODELS, found
from studies.concepts.renewed import Renewed
from studies.concepts.worth import concepts, figures, links

Linked = Sequence[Sequence[Mention]]
BESIDE: Final = ("gold", "pack")


def main(argv: Sequence[str] | None = None) -> int:
    """Measures and stores."""
    args = _parser().parse_args(argv)
    linker = find(args.linker, ontology=args.ontology)
    opened = linker.opened()
    packs = [part.pack.full_name for part in linker.parts]
    target = f"concepts-raw-{args.name}"
    state = {"packs": packs, "linker": linker.fingerprint, "part": args.part}
    before = result(target)
    rows: dict[str, Any] = (
        before.get("rows", {}) if all(before.get(k) == v for k, v in state.items()) else {}
    )
    rivals, renewed = _rivals(args.beside, linker.parts[0].pack), Renewed(linker.parts[0].pack)
    for corpus in args.corpora:
        gold = documents(corpus, args.part)
        systems: dict[str, Callable[[], Linked]] = {
            **{
                name: linked(found(args.folder, name, corpus, args.part), opened)
                for name in args.models
            },
            **({"gold": linked(list(map(_bare, gold)), opened)} if "gold" in args.beside else {}),
            **({"pack": _packed(gold, SOURCES[corpus].types)} if "pack" in args.beside else {}),
            **{
                name: rival(found(args.folder, MODELS[0], corpus, args.part), gold)
                for name, rival in rivals.items()
            },
        }
        for system, answers in systems.items() if gold else ():
            rows |= _rows(corpus, system, (gold, renewed.of(gold)), answers())
            write_result(target, {**state, "rows": rows})
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="now")
    parser.add_argument("--part", choices=("test", "dev"), default="test")
    parser.add_argument("--linker", nargs="+", default=[DEFAULT_LINKER])
    parser.add_argument(
        "--ontology", default="", help="prefix of the only vocabulary that is answered"
    )
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--beside", nargs="*", choices=(*BESIDE, "gilda"), default=list(BESIDE))
    parser.add_argument("--corpora", nargs="+", choices=list(SOURCES), default=list(SOURCES))
    return parser


def _rows(
    corpus: str, system: str, gold: tuple[Sequence[Document], Sequence[Document]], answers: Linked
) -> dict[str, Any]:
    """The figures of each type against gold as it is written, and as ``renewed`` against
    identifiers of now.
    """
    rows = {}
    for kind in SOURCES[corpus].types:
        written, now = (concepts(one, kind) for one in gold)
        if not links(answers, written, kind):  # no concept of the ontology
            continue
        rows[f"{corpus} {kind} {system}"] = one = {
            **figures(written, links(answers, written, kind)),
            "renewed": figures(now, links(answers, now, kind)),
        }
        stated = one["renewed"]["links"]
        sure = 100 * stated["sure_right"] / max(1, stated["sure"])
        numbers = " ".join(
            f"{100 * side[name]['estimate']:.1f}"
            for side in (one, one["renewed"])
            for name in ("precision", "recall", "f1")
        )
        print(
            corpus,
            kind,
            system,
            numbers,
            f"{stated['sure']} at {sure:.1f}",
            stated["calibration_error"],
            flush=True,
        )
    return rows


def linked(given: list[Document], linker: Any) -> Callable[[], Linked]:
    """Documents with mentions and nothing of gold, linked."""

    def answers() -> Linked:
        return [
            apply(one, patch).mentions
            for one, patch in zip(given, linker.predict(given), strict=True)
        ]

    return answers


def _packed(gold: Sequence[Document], types: tuple[str, ...]) -> Callable[[], Linked]:
    """What the pack says as a recogniser, with its own links."""

    def answers() -> Linked:
        pack: Any = load(DEFAULT_LINKER, recognition=RecognitionSettings(types=types))
        bare = [Document(id=one.id, text=one.text) for one in gold]
        return [patch.add for patch in pack.predict(bare)]

    return answers


def _bare(document: Document) -> Document:
    """Mentions of gold without links."""
    mentions = tuple(msgspec.structs.replace(one, links=()) for one in document.mentions)
    return msgspec.structs.replace(document, mentions=mentions)


def _rivals(beside: Sequence[str], pack: Any) -> Mapping[str, Any]:
    if "gilda" not in beside:
        return {}
    from studies.concepts.gilda import Gilda

    return {"gilda": Gilda(pack).linked}


if __name__ == "__main__":
    raise SystemExit(main())
