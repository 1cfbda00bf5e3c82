"""The table of all checks: a new one is a function over documents, an entry here, and a row of ``findings.tsv``.

`docs/corpus-check-findings.md` shows each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final, cast

from fascicle.evaluation.doctor import leaks
from fascicle.evaluation.doctor.checks import reading, relations, texts
from fascicle.evaluation.doctor.checks.contract import Check, Finder, Severity, each

_FINDERS: Final[Mapping[str, Finder]] = MappingProxyType(
    {
        **{code: each(reading.events(code)) for code in reading.CODES},
        "unread-file": reading.unread,
        "tag-without-begin": reading.tag_without_begin,
        "other-source": each(reading.other_sources),
        "edge-space": each(relations.edge_space),
        "inside-word": each(relations.inside_word),
        "across-sentences": each(relations.across_sentences),
        "mention-at-break": relations.at_break,
        "crossing-mentions": each(relations.crossing),
        "touching-mentions": each(relations.touching),
        "same-span": each(relations.same_span),
        "nested-mention": each(relations.nested),
        "nested-in-own-type": each(relations.nested_in_own_type),
        "discontinuous": each(relations.discontinuous),
        "unreachable-mention": relations.unreachable,
        "ambiguous-string": texts.ambiguous_string,
        "unannotated-repeat": texts.unannotated_repeat,
        "likely-missed-mention": texts.likely_missed,
        "seen-mention": texts.seen_mention,
        "type-in-some-parts": relations.type_in_some_parts,
        "kind-not-in-train": relations.kind_not_in_train,
        "duplicate-across-parts": leaks.copies("duplicate", "across-parts"),
        "near-duplicate-across-parts": leaks.copies("near-duplicate", "across-parts"),
        "shared-sentence-across-parts": leaks.copies("shared-sentence", "across-parts"),
        "duplicate-across-corpora": leaks.copies("duplicate", "across-corpora"),
        "near-duplicate-across-corpora": leaks.copies("near-duplicate", "across-corpora"),
        "shared-sentence-across-corpora": leaks.copies("shared-sentence", "across-corpora"),
        "shared-id": leaks.shared_id,
        "duplicate-in-part": leaks.copies("duplicate", "in-part"),
        "near-duplicate-in-part": leaks.copies("near-duplicate", "in-part"),
        "short-duplicate": leaks.short_copies,
        "copies-not-sought": leaks.not_compared,
        "empty-document": each(texts.empty_document),
        "long-sentence": texts.long_sentence,
        "long-document": each(texts.long_document),
        "short-sentence": each(texts.short_sentence),
        "open-sentence": texts.open_sentence,
        "replacement-character": each(texts.characters(texts.REPLACED)),
        "mojibake": each(texts.mojibake),
        "control-character": each(texts.characters(texts.CONTROL)),
        "invisible-character": each(texts.characters(texts.INVISIBLE)),
        "mixed-normal-forms": texts.mixed_forms,
    }
)


@cache
def checks() -> Mapping[str, Check]:
    """Returns all checks by their codes, in the order of reports; they are read at the first call."""
    table = resources.files(__package__).joinpath("findings.tsv").read_text(encoding="utf-8")
    found = {}
    for line in table.splitlines()[1:]:
        code, severity, means, remedy = line.split("\t")
        found[code] = Check(
            code=code,
            severity=cast(Severity, severity),
            means=means.format(long=texts.LONG_DOCUMENT, short=texts.SHORT_SENTENCE),
            remedy=remedy,
            find=_FINDERS[code],
        )
    return MappingProxyType(found)
