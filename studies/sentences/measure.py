"""Share of the names in 60 sentences of chemistry and 60 of clinical notes that a model finds.

usage: python -m studies.sentences.measure MODEL... [--name NAME] [--show]

The sentences were written for this test, before the rules that they judge. A name is right if its
edges and its type are right. Each sentence is a text of its own. Written:
``results/sentences-NAME.json``.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from fascicle.core.document import Document, Mention
from fascicle.loading import load
from studies.common import write_result

KINDS: Final = ("chemistry", "clinical")
_TYPES: Final = MappingProxyType({"C": "Chemical", "D": "Disease", "G": "Gene", "S": "Species"})
_NAME: Final = re.compile(r"\{([CDGS]):([^{}]+)\}")


def main(argv: Sequence[str] | None = None) -> None:
    """Measures, writes and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--name", default="now")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args(argv)
    rows = {}
    for model in args.models:
        for kind in KINDS:
            rows[f"{model} {kind}"] = counts(model, sentences(kind), show=args.show)
            print(model, kind, rows[f"{model} {kind}"])
    write_result(f"sentences-{args.name}", {"rows": rows})


def sentences(kind: str) -> list[Document]:
    """The sentences of one kind, with their names as mentions."""
    lines = (Path(__file__).with_name(f"{kind}.txt")).read_text(encoding="utf-8").splitlines()
    return [_parsed(f"{kind}-{number}", line) for number, line in enumerate(lines, 1)]


def _parsed(name: str, line: str) -> Document:
    """A sentence whose names stand as ``{C:THF}``: the letter of a type, and the name."""
    text, mentions, last = "", [], 0
    for match in _NAME.finditer(line):
        text += line[last : match.start()]
        mentions.append(Mention(((len(text), len(text) + len(match[2])),), _TYPES[match[1]]))
        text, last = text + match[2], match.end()
    return Document(id=name, text=text + line[last:], mentions=tuple(mentions))


def counts(model: str, documents: Sequence[Document], *, show: bool) -> dict[str, int]:
    """Numbers of names, of right ones, and of mentions that are no name."""
    patches = load(model, threads=1, links=False).predict(
        [Document(id=one.id, text=one.text) for one in documents]
    )
    total: Counter[str] = Counter()
    for one, patch in zip(documents, patches, strict=True):
        gold, found = (
            {(m.spans, m.type) for m in mentions} for mentions in (one.mentions, patch.add)
        )
        total.update(names=len(gold), right=len(gold & found), false=len(found - gold))
        if show and gold != found:
            lists = (
                [f"{k}:{one.text[s[0][0] : s[0][1]]}" for s, k in sorted(some)]
                for some in (gold - found, found - gold)
            )
            print(one.text, *lists, sep=" | ")
    return dict(total)


if __name__ == "__main__":
    main()
