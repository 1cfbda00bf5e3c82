"""The table of all checks: a new one is a function over documents, and an entry here.

`docs/corpus-check-findings.md` shows each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from fascicle.evaluation.doctor.checks import reading, relations, texts
from fascicle.evaluation.doctor.checks.contract import Check, Severity, each
from fascicle.evaluation.doctor.copies import leaks


def _of_events(code: str, severity: Severity, *, means: str, remedy: str) -> Check:
    """Makes a check that reports the events of a reader."""
    return Check(code=code, severity=severity, means=means, remedy=remedy, find=each(reading.events(code)))


_ALL: Final = (
    # events of readers
    Check(
        code="unread-file",
        severity="error",
        means="A file was not read to its end.",
        remedy="Correct the place that the reader names; only the text before it was checked.",
        find=reading.unread,
    ),
    _of_events(
        "invalid-offsets",
        "error",
        means="The offsets of a mention are reversed, empty or outside the text; the mention was left out.",
        remedy="Correct the offsets in the source; check that it counts Unicode code points and not bytes.",
    ),
    _of_events(
        "text-mismatch",
        "error",
        means="The text at the offsets of a mention differs from the text that the source gives.",
        remedy="Find out which of the two is right; shifted offsets often come from another encoding or line end.",
    ),
    _of_events(
        "malformed-line",
        "error",
        means="A line of annotation cannot be read, or refers to something that does not exist.",
        remedy="Correct or remove the line that is named.",
    ),
    _of_events(
        "uneven-columns",
        "error",
        means="Rows of a column file have more or fewer columns than the others; a part of a word may be lost.",
        remedy="Divide the row that is named, or join the words of its token.",
    ),
    _of_events(
        "changed-in-reading",
        "error",
        means="The reader changed or left out something else, so that the document may mean something else.",
        remedy="Correct the place that is named; see docs/formats.md for the rule.",
    ),
    _of_events(
        "missing-token",
        "warning",
        means="Rows of a column file have a tag and no token; U+FFFD replaces each token.",
        remedy="Restore the lost characters; they are often unusual white space.",
    ),
    Check(
        code="tag-without-begin",
        severity="warning",
        means="A tag continues a mention that has no beginning.",
        remedy="Make the first tag of each mention a B tag; the reader began a mention there.",
        find=reading.tag_without_begin,
    ),
    _of_events(
        "duplicate-mention",
        "warning",
        means="Two mentions have the same type and range; one was kept.",
        remedy="Remove the second one, or correct its type or range.",
    ),
    _of_events(
        "overlapping-fragments",
        "warning",
        means="Fragments of one mention overlap; they were joined.",
        remedy="Correct the offsets of the fragments.",
    ),
    _of_events(
        "duplicate-id",
        "warning",
        means="A document has the id of an earlier one of its file; it was renamed.",
        remedy="Give each document a unique id, or join the parts of one document.",
    ),
    _of_events(
        "no-sentence-breaks",
        "warning",
        means="A column file is one stream of tokens without a blank line.",
        remedy="Mark sentences; without marks the segmenter finds them.",
    ),
    _of_events(
        "repaired-in-reading",
        "note",
        means="The reader changed something else.",
        remedy="See docs/formats.md for the rule, and correct the source if the rule does not fit.",
    ),
    _of_events(
        "left-out-in-reading",
        "note",
        means="Annotation other than mentions, such as relations or events, was not read.",
        remedy="Nothing to do, unless you expected it to be read.",
    ),
    _of_events(
        "noted-in-reading",
        "note",
        means="The reader noted something, such as a text without annotation or unread columns.",
        remedy="Check that the options of reading fit the file.",
    ),
    Check(
        code="other-source",
        severity="note",
        means="A document has mentions of other sources, which were not checked.",
        remedy="Name the source to check with --source.",
        find=each(reading.other_sources),
    ),
    # single mentions
    Check(
        code="edge-space",
        severity="error",
        means="A mention begins or ends with white space.",
        remedy="Move the offset to the next character that is not white space; no model returns such a mention.",
        find=each(relations.edge_space),
    ),
    Check(
        code="inside-word",
        severity="warning",
        means="A mention begins or ends inside a word, of the source or of the segmenter rules@1.",
        remedy="Correct the offset, or split the word there; models over words return whole words.",
        find=each(relations.inside_word),
    ),
    Check(
        code="across-sentences",
        severity="warning",
        means="A mention begins in one marked sentence and ends in another.",
        remedy="Join the sentences; models read one sentence at a time and cannot return the mention.",
        find=each(relations.across_sentences),
    ),
    Check(
        code="mention-at-break",
        severity="note",
        means="A mention ends one marked sentence, and one of its type begins the next.",
        remedy="Check whether the split of sentences cut one mention in two.",
        find=relations.at_break,
    ),
    Check(
        code="crossing-mentions",
        severity="warning",
        means="Two mentions overlap, and neither is inside the other.",
        remedy="Check both boundaries; only span heads with nested decoding return both.",
        find=each(relations.crossing),
    ),
    Check(
        code="touching-mentions",
        severity="note",
        means="Only white space separates two mentions of one type.",
        remedy="Use a scheme with B tags: IO merges the two.",
        find=each(relations.touching),
    ),
    Check(
        code="same-span",
        severity="note",
        means="Two mentions have the same range and different types.",
        remedy="Choose one type, or use a model that allows several types for a range.",
        find=each(relations.same_span),
    ),
    Check(
        code="nested-mention",
        severity="note",
        means="A mention lies inside a longer one.",
        remedy="Use a span head; taggers and flat heads learn the outer mention.",
        find=each(relations.nested),
    ),
    Check(
        code="nested-in-own-type",
        severity="note",
        means="A mention lies inside a longer one of its own type.",
        remedy="Use a span head; even one tagger per type cannot represent these.",
        find=each(relations.nested_in_own_type),
    ),
    Check(
        code="discontinuous",
        severity="note",
        means="A mention has several fragments.",
        remedy="The heads of this release mark one range; such mentions count as missed.",
        find=each(relations.discontinuous),
    ),
    Check(
        code="unreachable-mention",
        severity="warning",
        means="No head with this tokenizer, width and window returns the mention exactly.",
        remedy="Raise the width or the length of the window, or change the unit; see the reasons.",
        find=relations.unreachable,
    ),
    # strings of mentions
    Check(
        code="ambiguous-string",
        severity="note",
        means="A string has several types.",
        remedy="Check the rarest types first; they are often errors.",
        find=texts.ambiguous_string,
    ),
    Check(
        code="unannotated-repeat",
        severity="note",
        means="The string of a mention occurs elsewhere without annotation.",
        remedy="Compare with the guidelines; such gaps affect recall and precision.",
        find=texts.unannotated_repeat,
    ),
    Check(
        code="likely-missed-mention",
        severity="warning",
        means="A string that is annotated nearly everywhere occurs here without annotation.",
        remedy="Annotate it, or document why not; these are the most probable omissions.",
        find=texts.likely_missed,
    ),
    Check(
        code="seen-mention",
        severity="note",
        means="A mention of dev or test has the same string as a mention of train.",
        remedy="Report scores of unseen strings too; a high share of seen strings rewards memorisation.",
        find=texts.seen_mention,
    ),
    # parts of a corpus
    Check(
        code="type-in-some-parts",
        severity="warning",
        means="A type occurs in some of train, dev and test, but not in all.",
        remedy="Split again, or leave the type out; a model never finds a type that train lacks.",
        find=relations.type_in_some_parts,
    ),
    Check(
        code="kind-not-in-train",
        severity="warning",
        means="A mention in dev or test overlaps another in a way that never occurs in train.",
        remedy="Complete the annotation of train; models learn that such mentions are none.",
        find=relations.kind_not_in_train,
    ),
    # copies
    Check(
        code="duplicate-across-parts",
        severity="error",
        means="A text occurs in two of train, dev and test.",
        remedy="Leave the copy in train (or dev) out of training; --exclude-list writes the list.",
        find=leaks.copies("duplicate", "across-parts"),
    ),
    Check(
        code="near-duplicate-across-parts",
        severity="warning",
        means="Nearly the same text occurs in two of train, dev and test.",
        remedy="Leave the copy in train (or dev) out of training; --exclude-list writes the list.",
        find=leaks.copies("near-duplicate", "across-parts"),
    ),
    Check(
        code="shared-sentence-across-parts",
        severity="warning",
        means="Documents of two of train, dev and test share a sentence.",
        remedy="Leave out documents of train that share sentences with test, unless these are stock phrases.",
        find=leaks.copies("shared-sentence", "across-parts"),
    ),
    Check(
        code="duplicate-across-corpora",
        severity="warning",
        means="A text also occurs in another corpus.",
        remedy="Apply the exclusion list whenever you train on that corpus.",
        find=leaks.copies("duplicate", "across-corpora"),
    ),
    Check(
        code="near-duplicate-across-corpora",
        severity="warning",
        means="Nearly the same text occurs in another corpus.",
        remedy="Apply the exclusion list whenever you train on that corpus.",
        find=leaks.copies("near-duplicate", "across-corpora"),
    ),
    Check(
        code="shared-sentence-across-corpora",
        severity="warning",
        means="A document shares a sentence with one of another corpus.",
        remedy="Apply the exclusion list whenever you train on that corpus, unless these are stock phrases.",
        find=leaks.copies("shared-sentence", "across-corpora"),
    ),
    Check(
        code="shared-id",
        severity="warning",
        means="Documents of two parts or corpora have the same id.",
        remedy="If the ids come from one register, such as PubMed, leave the document out of training.",
        find=leaks.shared_id,
    ),
    Check(
        code="duplicate-in-part",
        severity="warning",
        means="A text is a copy of an earlier one of its part.",
        remedy="Keep one; copies count twice in training and in scores.",
        find=leaks.copies("duplicate", "in-part"),
    ),
    Check(
        code="near-duplicate-in-part",
        severity="note",
        means="A text is nearly the same as an earlier one of its part.",
        remedy="Keep one, or compare their annotation.",
        find=leaks.copies("near-duplicate", "in-part"),
    ),
    Check(
        code="short-duplicate",
        severity="note",
        means="A short text, such as a heading, occurs in several places.",
        remedy="Nothing to do; copies of short texts are no leak and are not listed.",
        find=leaks.short_copies,
    ),
    Check(
        code="copies-not-sought",
        severity="warning",
        means="Near duplicates of a document were not searched, because it resembles too many.",
        remedy="Raise --near, or check the parts of the corpus one by one.",
        find=leaks.not_compared,
    ),
    # texts
    Check(
        code="empty-document",
        severity="warning",
        means="A document has no text.",
        remedy="Remove it, or find out where its text was lost.",
        find=each(texts.empty_document),
    ),
    Check(
        code="long-sentence",
        severity="warning",
        means="A sentence has more words than --long allows.",
        remedy="Check whether it is a table or a list; models read long sentences in several windows.",
        find=texts.long_sentence,
    ),
    Check(
        code="long-document",
        severity="note",
        means=f"A document has more than {texts.LONG_DOCUMENT:,} words.",
        remedy="Nothing to do; time and memory of reading depend on the longest document.",
        find=each(texts.long_document),
    ),
    Check(
        code="short-sentence",
        severity="note",
        means=f"A sentence has at most {texts.SHORT_SENTENCE} words.",
        remedy="Check how sentences were cut if there are many; headings and tables leave such fragments.",
        find=each(texts.short_sentence),
    ),
    Check(
        code="open-sentence",
        severity="note",
        means="A marked sentence does not end with a sentence-final mark.",
        remedy="Check how sentences were cut if there are many; mentions may be cut with them.",
        find=texts.open_sentence,
    ),
    Check(
        code="replacement-character",
        severity="warning",
        means="A text contains U+FFFD, which replaces a lost character.",
        remedy="Convert the source again from the original, with its true encoding.",
        find=each(texts.characters(texts.REPLACED)),
    ),
    Check(
        code="mojibake",
        severity="warning",
        means="A text looks like UTF-8 that was read as another encoding.",
        remedy="Convert the source again with its true encoding; then offsets change, so map the annotation too.",
        find=each(texts.mojibake),
    ),
    Check(
        code="control-character",
        severity="warning",
        means="A text contains control characters other than tabs and line ends.",
        remedy="Replace each with one blank, so that offsets stay valid.",
        find=each(texts.characters(texts.CONTROL)),
    ),
    Check(
        code="invisible-character",
        severity="note",
        means="A text contains invisible or private-use characters.",
        remedy="Strings that look alike differ; tokenizers drop these characters or treat them as unknown.",
        find=each(texts.characters(texts.INVISIBLE)),
    ),
    Check(
        code="mixed-normal-forms",
        severity="note",
        means="A text is not in the Unicode normal form NFC, while others have composed characters.",
        remedy="Strings that look alike differ; normalising changes offsets, so map the annotation too.",
        find=texts.mixed_forms,
    ),
)


CHECKS: Final[Mapping[str, Check]] = MappingProxyType({check.code: check for check in _ALL})
