"""The checks of what readers say, and of single mentions."""

from __future__ import annotations

from typing import Final

from fascicle.doctor.checks import reading, relations, unreachable
from fascicle.doctor.checks.contract import Check, each

READING: Final[tuple[Check, ...]] = (
    Check(
        code="unread-file",
        severity="error",
        means="A file was not read to its end.",
        remedy="Correct the place that the reader names; only the text before it was checked.",
        find=reading.unread,
    ),
    Check(
        code="invalid-offsets",
        severity="error",
        means="The offsets of a mention are reversed, empty or outside the text; the mention was left out.",
        remedy="Correct the offsets in the source; check that it counts Unicode code points and not bytes.",
        find=each(reading.events("invalid-offsets")),
    ),
    Check(
        code="text-mismatch",
        severity="error",
        means="The text at the offsets of a mention differs from the text that the source gives.",
        remedy="Find out which of the two is right; shifted offsets often come from another encoding or line end.",
        find=each(reading.events("text-mismatch")),
    ),
    Check(
        code="malformed-line",
        severity="error",
        means="A line of annotation cannot be read, or refers to something that does not exist.",
        remedy="Correct or remove the line that is named.",
        find=each(reading.events("malformed-line")),
    ),
    Check(
        code="uneven-columns",
        severity="error",
        means="Rows of a column file have more or fewer columns than the others; a part of a word may be lost.",
        remedy="Divide the row that is named, or join the words of its token.",
        find=each(reading.events("uneven-columns")),
    ),
    Check(
        code="changed-in-reading",
        severity="error",
        means="The reader changed or left out something else, so that the document may mean something else.",
        remedy="Correct the place that is named; see docs/formats.md for the rule.",
        find=each(reading.events("changed-in-reading")),
    ),
    Check(
        code="missing-token",
        severity="warning",
        means="Rows of a column file have a tag and no token; U+FFFD replaces each token.",
        remedy="Restore the lost characters; they are often unusual white space.",
        find=each(reading.events("missing-token")),
    ),
    Check(
        code="tag-without-begin",
        severity="warning",
        means="A tag continues a mention that has no beginning.",
        remedy="Make the first tag of each mention a B tag; the reader began a mention there.",
        find=reading.tag_without_begin,
    ),
    Check(
        code="duplicate-mention",
        severity="warning",
        means="Two mentions have the same type and range; one was kept.",
        remedy="Remove the second one, or correct its type or range.",
        find=each(reading.events("duplicate-mention")),
    ),
    Check(
        code="overlapping-fragments",
        severity="warning",
        means="Fragments of one mention overlap; they were joined.",
        remedy="Correct the offsets of the fragments.",
        find=each(reading.events("overlapping-fragments")),
    ),
    Check(
        code="duplicate-id",
        severity="warning",
        means="A document has the id of an earlier one of its file; it was renamed.",
        remedy="Give each document a unique id, or join the parts of one document.",
        find=each(reading.events("duplicate-id")),
    ),
    Check(
        code="no-sentence-breaks",
        severity="warning",
        means="A column file is one stream of tokens without a blank line.",
        remedy="Mark sentences; without marks the segmenter finds them.",
        find=each(reading.events("no-sentence-breaks")),
    ),
    Check(
        code="repaired-in-reading",
        severity="note",
        means="The reader changed something else.",
        remedy="See docs/formats.md for the rule, and correct the source if the rule does not fit.",
        find=each(reading.events("repaired-in-reading")),
    ),
    Check(
        code="left-out-in-reading",
        severity="note",
        means="Annotation other than mentions, such as relations or events, was not read.",
        remedy="Nothing to do, unless you expected it to be read.",
        find=each(reading.events("left-out-in-reading")),
    ),
    Check(
        code="noted-in-reading",
        severity="note",
        means="The reader noted something, such as a text without annotation or unread columns.",
        remedy="Check that the options of reading fit the file.",
        find=each(reading.events("noted-in-reading")),
    ),
    Check(
        code="other-source",
        severity="note",
        means="A document has mentions of other sources, which were not checked.",
        remedy="Name the source to check with --source.",
        find=each(reading.other_sources),
    ),
)

MENTIONS: Final[tuple[Check, ...]] = (
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
        find=unreachable.unreachable,
    ),
)
