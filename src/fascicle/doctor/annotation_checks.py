"""The checks of what readers say, and of single mentions."""

from __future__ import annotations

from typing import Final

from fascicle.doctor import boundaries, columns, reading, relations, unreachable
from fascicle.doctor.case import Check, each

READING: Final[tuple[Check, ...]] = (
    Check(
        code="unread-file",
        severity="error",
        means="A file was not read to its end.",
        remedy="Mend the place that the reader names; until then only what stands before it was checked.",
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
        means="A mention has another text at its offsets than its source says.",
        remedy="Find out which of the two is right; shifted offsets often come from another encoding or line end.",
        find=each(reading.events("text-mismatch")),
    ),
    Check(
        code="malformed-line",
        severity="error",
        means="A line of annotation cannot be read, or refers to something that is not there.",
        remedy="Correct or remove the line that is named.",
        find=each(reading.events("malformed-line")),
    ),
    Check(
        code="missing-token",
        severity="warning",
        means="Rows of a column file have a tag and no token; U+FFFD stands for each.",
        remedy="Put the lost characters back; they are often white space that is no blank.",
        find=each(reading.events("missing-token")),
    ),
    Check(
        code="tag-without-begin",
        severity="warning",
        means="A tag continues a mention of which there is no beginning.",
        remedy="Make the first tag of each mention a B tag; in reading a mention was begun there.",
        find=columns.tag_without_begin,
    ),
    Check(
        code="duplicate-mention",
        severity="warning",
        means="A mention of the same type and range is there twice; one was kept.",
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
        remedy="Give each document an id of its own, or join the parts of one document.",
        find=each(reading.events("duplicate-id")),
    ),
    Check(
        code="no-sentence-breaks",
        severity="warning",
        means="A column file is one stream of tokens without a blank line.",
        remedy="Mark sentences; until then those of the segmenter are checked and read.",
        find=each(reading.events("no-sentence-breaks")),
    ),
    Check(
        code="repaired-in-reading",
        severity="note",
        means="Something else was changed in reading.",
        remedy="See docs/formats.md for the rule, and correct the source if it is not what you want.",
        find=each(reading.events("repaired-in-reading")),
    ),
    Check(
        code="left-out-in-reading",
        severity="note",
        means="Something that is no mention, such as relations or events, was not read.",
        remedy="Nothing needs be done, unless you expected it to be read.",
        find=each(reading.events("left-out-in-reading")),
    ),
    Check(
        code="noted-in-reading",
        severity="note",
        means="The reader noted something, such as a text without annotation or unread columns.",
        remedy="Check that the options of reading are those that the file needs.",
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
        find=each(boundaries.edge_space),
    ),
    Check(
        code="inside-word",
        severity="warning",
        means="A mention begins or ends inside a word, of the source or of the segmenter rules@1.",
        remedy="Correct the offset, or split the word there; models over words return the whole words around it.",
        find=each(boundaries.inside_word),
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
        remedy="Look whether one mention was cut in two where sentences were split.",
        find=boundaries.at_break,
    ),
    Check(
        code="crossing-mentions",
        severity="warning",
        means="Two mentions overlap and neither is inside the other.",
        remedy="Check both boundaries; only span heads without a choice among overlaps return both.",
        find=each(relations.crossing),
    ),
    Check(
        code="touching-mentions",
        severity="note",
        means="Two mentions of one type follow each other with nothing but white space between them.",
        remedy="Use a scheme with B tags: under IO the two become one.",
        find=each(relations.touching),
    ),
    Check(
        code="same-span",
        severity="note",
        means="Two mentions have the same range and different types.",
        remedy="Decide for one type, or use a model that gives a range several.",
        find=each(relations.same_span),
    ),
    Check(
        code="nested-mention",
        severity="note",
        means="A mention lies inside a longer one.",
        remedy="Use a span head; taggers and flat heads are taught the outer one.",
        find=each(relations.nested),
    ),
    Check(
        code="nested-in-own-type",
        severity="note",
        means="A mention lies inside a longer one of its own type.",
        remedy="Use a span head for nested mentions; one tagger per type cannot hold these.",
        find=each(relations.nested_in_own_type),
    ),
    Check(
        code="discontinuous",
        severity="note",
        means="A mention has several fragments.",
        remedy="Know that the heads of this release mark one range; such mentions count as missed.",
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
