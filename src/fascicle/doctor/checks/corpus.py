"""The checks of strings, parts, copies and texts."""

from __future__ import annotations

from typing import Final

from fascicle.doctor.checks import splits, strings, texts
from fascicle.doctor.checks.contract import Check, each, with_summary
from fascicle.doctor.copies import leaks

STRINGS: Final[tuple[Check, ...]] = (
    Check(
        code="ambiguous-string",
        severity="note",
        means="A string has several types.",
        remedy="Check the rarest types first; they are often errors.",
        find=strings.ambiguous_string,
    ),
    Check(
        code="unannotated-repeat",
        severity="note",
        means="The string of a mention occurs elsewhere without annotation.",
        remedy="Compare with the guidelines; such gaps affect recall and precision.",
        find=strings.unannotated_repeat,
    ),
    Check(
        code="likely-missed-mention",
        severity="warning",
        means="A string that is annotated nearly everywhere occurs here without annotation.",
        remedy="Annotate it, or document why not; these are the most probable omissions.",
        find=strings.likely_missed,
    ),
    Check(
        code="seen-mention",
        severity="note",
        means="A mention of dev or test has the same string as a mention of train.",
        remedy="Report scores of unseen strings too; a high share of seen strings rewards memorisation.",
        find=strings.seen_mention,
    ),
)

PARTS: Final[tuple[Check, ...]] = (
    Check(
        code="type-in-some-parts",
        severity="warning",
        means="A type occurs in some of train, dev and test, but not in all.",
        remedy="Split again, or leave the type out; a model never finds a type that train lacks.",
        find=splits.type_in_some_parts,
    ),
    Check(
        code="kind-not-in-train",
        severity="warning",
        means="A mention in dev or test overlaps another in a way that never occurs in train.",
        remedy="Complete the annotation of train; models learn that such mentions are none.",
        find=splits.kind_not_in_train,
    ),
)

COPIES: Final[tuple[Check, ...]] = (
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
)

TEXTS: Final[tuple[Check, ...]] = (
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
        find=with_summary(texts.open_sentence, texts.share_of_sentences),
    ),
    Check(
        code="replacement-character",
        severity="warning",
        means="A text contains U+FFFD, which replaces a lost character.",
        remedy="Convert the source again from the original, with its true encoding.",
        find=each(texts.replacement_character),
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
        find=each(texts.control_character),
    ),
    Check(
        code="invisible-character",
        severity="note",
        means="A text contains invisible or private-use characters.",
        remedy="Strings that look alike differ; tokenizers drop these characters or treat them as unknown.",
        find=each(texts.invisible_character),
    ),
    Check(
        code="mixed-normal-forms",
        severity="note",
        means="A text is not in the Unicode normal form NFC, while others have composed characters.",
        remedy="Strings that look alike differ; normalising changes offsets, so map the annotation too.",
        find=texts.mixed_forms,
    ),
)
