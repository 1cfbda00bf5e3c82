"""Command ``fascicle linker``: fits a linker, which chooses the concept of a pack that a mention
means.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from fascicle.core.arguments import AnyPath, Paths, to_path_list, validate_arguments
from fascicle.core.document import Document
from fascicle.core.files.atomic import atomic_folder, check_folder
from fascicle.errors import InputError, UsageError
from fascicle.linking.fitting import FitSettings, FittedLinker, fit_linker
from fascicle.linking.folder import KIND, LinkerManifest, pack_place, write_linker
from fascicle.linking.gold import Memory, with_pack_types
from fascicle.linking.index import MANIFEST, NameIndex, write_index
from fascicle.linking.opening import linker_folders, write_several
from fascicle.terms.pack.pack import Pack
from fascicle.verbs.console import StepProgress, Tally
from fascicle.verbs.messages import emit, say
from fascicle.verbs.options import Overwrite, option, reads, writes
from fascicle.verbs.shared import ReadingOptions, counted_documents, read_request

_Told = Callable[[str, int], None]


@validate_arguments
def fit_folder(
    packs: Paths,
    output: AnyPath,
    *,
    documents: Iterable[Document] = (),
    index_of: AnyPath | None = None,
    settings: FitSettings | None = None,
    overwrite: bool = False,
    told: _Told = lambda step, count: None,
) -> tuple[LinkerManifest, ...]:
    """Writes the folder of a linker: for each pack its index, and the rankers fitted to annotated
    texts.

    Types without annotated texts are linked by fixed weights, and their links have no probability.

    Args:
        packs: folder that ``fascicle index build`` wrote, the name of a shipped pack, or several: a
            mention is linked by the first pack that has its type and a concept for it.
        output: folder to write.
        documents: annotated, with links; their types and identifiers are converted to the spelling
            of each pack.
        index_of: another linker of the same packs, whose indexes are copied.
        settings: of the fit.
        overwrite: replace an existing linker.
        told: called with the current step and a count, now and then.

    Returns:
        The manifest of the linker of each pack.

    Raises:
        PackError: a pack, or the other linker, cannot be opened.
        UsageError: a pack was given twice.
        InputError: no type has enough links to concepts of a pack.
        OutputError: the folder exists, or cannot be written.
    """
    target = Path(output)
    check_folder(target, kind=KIND, overwrite=overwrite)
    opened = [Pack.open(pack) for pack in to_path_list(packs, name="packs")]
    if twice := [
        name for name, count in Counter(pack.full_name for pack in opened).items() if count > 1
    ]:
        raise UsageError(f"the pack {twice[0]} was given twice; give it once")
    indexes = _indexes(index_of, opened)
    settings = settings or FitSettings()
    with atomic_folder(output, kind=KIND, overwrite=overwrite) as folder:
        work = _Work(documents=list(documents), settings=settings, told=told)
        return work.of_packs(opened, indexes, folder, target)


def _indexes(index_of: AnyPath | None, packs: Sequence[Pack]) -> list[Path | None]:
    """Returns the folder with the index of each pack."""
    if index_of is None:
        return [None] * len(packs)
    folders = linker_folders(Path(index_of))
    if len(folders) != len(packs):
        raise InputError(
            f"{index_of} is a linker of {len(folders)} packs, and {len(packs)} were given; give "
            "the same packs"
        )
    return list(folders)


@dataclass(frozen=True, kw_only=True)
class _Work:
    """Fit of the linkers of all packs.

    Attributes:
        refused: one error for each pack to whose concepts the documents have no links.
    """

    documents: Sequence[Document]
    settings: FitSettings
    told: _Told
    refused: list[InputError] = field(default_factory=list)

    def of_packs(
        self, packs: Sequence[Pack], indexes: Sequence[Path | None], folder: Path, target: Path
    ) -> tuple[LinkerManifest, ...]:
        """Writes the linker of one pack, or those of several packs and the file that joins them;
        see `of_pack`.

        Raises:
            InputError: the documents have too few links to concepts of any pack.
        """
        names = [str(number) for number in range(1, len(packs) + 1)] if len(packs) > 1 else [""]
        for name in filter(None, names):
            (folder / name).mkdir()
        parts = tuple(
            self.of_pack(pack, folder / name, target / name, index_of=index)
            for pack, name, index in zip(packs, names, indexes, strict=True)
        )
        if len(packs) > 1:
            write_several(folder, names)
        if len(self.refused) == len(packs):
            raise self.refused[0]
        return parts

    def of_pack(
        self, pack: Pack, folder: Path, target: Path, *, index_of: Path | None
    ) -> LinkerManifest:
        """Writes the linker of a pack.

        Args:
            pack: open.
            folder: to write into.
            target: final path of the folder.
            index_of: folder with the index of the pack; it is made by default.
        """
        index = self._index(pack, folder, index_of) if self.settings.indexed else None
        fitted = self._fitted(pack, index)
        fitted.memory.write(folder)
        place = pack_place(pack, target)
        return write_linker(
            folder,
            pack,
            fitted.rankers,
            place=place,
            indexed=index is not None,
            order=self.settings.order,
            few=fitted.few,
        )

    def _index(self, pack: Pack, folder: Path, index_of: Path | None) -> NameIndex:
        if index_of is None:
            write_index(folder, pack, on_progress=self.told)
        else:
            _copy_index(index_of, folder, pack)
        return NameIndex.open(folder, pack)

    def _fitted(self, pack: Pack, index: NameIndex | None) -> FittedLinker:
        if not self.documents:
            return FittedLinker(Memory(), {})
        annotated = with_pack_types(self.documents, pack)
        self.told("mentions", sum(len(document.mentions) for document in annotated))
        try:
            return fit_linker(pack, index, annotated, settings=self.settings)
        except InputError as error:
            self.refused.append(error)
            return FittedLinker(Memory(), {})


def _copy_index(source: Path, folder: Path, pack: Pack) -> None:
    index = NameIndex.open(source, pack)
    index.verify()
    for name in (*index.manifest.files, MANIFEST):
        shutil.copyfile(source / name, folder / name)


class Fit(Overwrite, ReadingOptions):
    """Index a pack, and fit a ranker to texts with links.

    In Python: ``fascicle.verbs.linker.fit_folder("pack", "linker",
    documents=fascicle.read("links.jsonl"))``

    Attributes:
        packs: a folder of fascicle index build, or the name of a shipped pack; with several packs,
            a mention is linked by the first one that has its type and a concept for it.
        corpus: documents with links, to which the ranker is fitted; default: none: fixed weights
            order the candidates, and links have no probability.
        small: make a linker of some kB, without the index for misspelt names and without names from
            the corpus.
        index_of: reuse the indexes of this linker, which has the same packs.
        output: the folder to write.
        json: print the description of the linker as JSON.
    """

    packs: list[str] = option("PACK +", reads)
    corpus: list[str] = option("--corpus FILE +", reads)
    small: bool = option("--small")
    index_of: str | None = option("--index-of LINKER", reads)
    output: str = option("-o --output LINKER", writes, required=True)
    json: bool = option("--json")


def _run_fit(args: Fit) -> int:
    """Fits the linker; returns the exit code."""
    tally = Tally()
    steps = StepProgress()
    with closing(steps):
        manifests = fit_folder(
            args.packs,
            args.output,
            documents=counted_documents(args.corpus, read_request(args), tally.account)
            if args.corpus
            else (),
            index_of=args.index_of,
            settings=FitSettings(remember=not args.small, indexed=not args.small),
            overwrite=args.overwrite,
            told=steps.see,
        )
    for manifest in manifests:
        emit(msgspec.to_builtins(manifest), _lines(manifest), as_json=args.json)
    tally.say()
    say(f"wrote {args.output}")
    return tally.exit_code(strict=False)


def _lines(manifest: LinkerManifest) -> list[str]:
    """Returns the value of each tier as text, one line for each type and tier."""
    lines = [
        f"{manifest.pack}:",
        *(
            []
            if manifest.rankers
            else ["no annotated texts: fixed weights rank candidates; links have no probability"]
        ),
    ]
    for kind, ranker in manifest.rankers.items():
        where = ", ".join(ranker.vocabularies) or "every vocabulary"
        lines.append(
            f"{kind}: {ranker.mentions:,} mentions; {where}; NIL below {ranker.threshold:.3f}"
        )
        for tier, facts in ranker.tiers.items():
            precision = 100 * facts.right / max(facts.answered, 1)
            coverage = 100 * facts.answered / max(ranker.mentions, 1)
            lines.append(f"  {tier}: {precision:.1f} % right of {coverage:.1f} % of the mentions")
    few = manifest.few or {}
    return [
        *lines,
        *(
            f"{kind}: only {count:,} mentions can teach; no ranker was fitted"
            for kind, count in few.items()
        ),
    ]


COMMANDS = {
    "fit": (Fit, _run_fit),
}
