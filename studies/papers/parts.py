"""Parts of licensed corpora for the recipes of the papers, from the files as their publishers give
them.

usage: python -m studies.papers.parts CORPUS SOURCE OUT [--lists FOLDER] [--flat]

CORPUS is ``ontonotes5`` (the folder ``annotations`` of LDC2013T19), ``ace2005`` (``data/English``
of LDC2006T06), ``ace2004`` (``data/English`` of LDC2005T09) or ``cadec`` (the folder with ``text``
and ``original``). Writes ``OUT/CORPUS/{train,dev,test}.jsonl`` in the native format; the recipes
begin with ``$FASCICLE_LICENSED``: name OUT so.

- ``--lists``: a folder with ``train.txt``, ``dev.txt`` and ``test.txt``, one id in each line: those
  of CoNLL-2012 for OntoNotes, of Lu and Roth (2015) for ACE 2005. A folder in front of an id and an
  ``@`` behind it do not count.
- ``ace2004`` has no lists here: five folds by name, ``OUT/ace2004/fold-1`` to ``fold-5``; each
  document is in the test part of one fold, and a tenth of the others is its dev part.
- ``cadec`` has no official parts: every fifth post by name is test.
- ``--flat`` leaves out every mention that overlaps another one, as *bundling-learning* §4.1.1 does,
  and writes to ``OUT/CORPUS-flat``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from fascicle.core.document import Document
from fascicle.core.mention import overlapping_mentions
from fascicle.errors import FascicleError, InputError
from fascicle.formats import read
from studies.common import write_parts

Parts = Mapping[str, Sequence[Document]]
PARTS: Final = ("train", "dev", "test")
FOLDS: Final = 5
TENTH: Final = 10


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the parts and prints their sizes; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--lists", type=Path)
    parser.add_argument(
        "--flat", action="store_true", help="leave out mentions that overlap others"
    )
    args = parser.parse_args(argv)
    try:
        found = CORPORA[args.corpus](args.source, args.lists)
    except FascicleError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    folder = args.out / f"{args.corpus}{'-flat' if args.flat else ''}"
    for place, parts in found.items():
        kept = (
            {name: [flat(one) for one in part] for name, part in parts.items()}
            if args.flat
            else parts
        )
        write_parts(folder / place, kept, unit="document")
    return 0


def flat(document: Document) -> Document:
    """A document without the mentions that overlap another one."""
    overlapping = {
        mention.key for pair in overlapping_mentions(document.mentions) for _, mention in pair
    }
    kept = tuple(mention for mention in document.mentions if mention.key not in overlapping)
    return msgspec.structs.replace(document, mentions=kept)


def by_lists(documents: Sequence[Document], lists: Path | None) -> Parts:
    """The parts that lists of ids name.

    Raises:
        InputError: no lists, or an id that no document has.
    """
    if lists is None:
        raise InputError(
            "this corpus has official parts: name the folder of their lists with --lists"
        )
    known = {_bare(document.id): document for document in documents}
    found: dict[str, list[Document]] = {}
    for part in PARTS:
        path = lists / f"{part}.txt"
        if not path.is_file():
            raise InputError(
                f"there is no list {path}; write the ids of the part into it, one in each line"
            )
        names = [_bare(line) for line in path.read_text(encoding="utf-8").split()]
        if lost := [name for name in names if name not in known]:
            raise InputError(
                f"{path} names {lost[0]!r}, which is no document of the source; check both"
            )
        found[part] = [known[name] for name in names]
    return found


def folds(documents: Sequence[Document]) -> Mapping[str, Parts]:
    """Five folds by name: each document is in the test part of one of them."""
    ordered = sorted(documents, key=lambda one: one.id)
    found = {}
    for fold in range(FOLDS):
        rest = [one for at, one in enumerate(ordered) if at % FOLDS != fold]
        found[f"fold-{fold + 1}"] = {
            "train": [one for at, one in enumerate(rest) if at % TENTH],
            "dev": rest[::TENTH],
            "test": ordered[fold::FOLDS],
        }
    return found


def _bare(identifier: str) -> str:
    return (
        identifier.split("@", 1)[0]
        .rsplit("/", 1)[-1]
        .removesuffix(".name")
        .removesuffix(".apf.xml")
    )


def _cadec(source: Path, lists: Path | None) -> Mapping[str, Parts]:
    """Texts and annotation are in two folders, with the same names in both."""
    with tempfile.TemporaryDirectory() as beside:
        for folder, suffix in (("text", ".txt"), ("original", ".ann")):
            if not (source / folder).is_dir():
                raise InputError(
                    f"there is no folder {source / folder}; name the folder of CADEC with text "
                    "and original"
                )
            for file in (source / folder).glob(f"*{suffix}"):
                shutil.copy(file, beside)
        posts = sorted(read(Path(beside), format="brat"), key=lambda one: one.id)
    return {
        "": {"train": [one for at, one in enumerate(posts) if at % FOLDS], "test": posts[::FOLDS]}
    }


def _listed(name: str) -> Callable[[Path, Path | None], Mapping[str, Parts]]:
    return lambda source, lists: {"": by_lists(list(read(source, format=name)), lists)}


CORPORA: Final[Mapping[str, Callable[[Path, Path | None], Mapping[str, Parts]]]] = {
    "ontonotes5": _listed("ontonotes"),
    "ace2005": _listed("ace"),
    "ace2004": lambda source, lists: folds(list(read(source, format="ace"))),
    "cadec": _cadec,
}


if __name__ == "__main__":
    sys.exit(main())
