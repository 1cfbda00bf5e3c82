"""Rules for what a text says of its mentions: negated, uncertain, hypothetical, historical, of
another person.

A *cue* is a sequence of words, such as "no evidence of". Its scope is the words before or after it,
up to words that end a clause or a phrase, as in NegEx (Chapman et al. 2001) and ConText (Harkema et
al. 2009). Unlike there, the reach of a cue begins anew at each separator of a list, words that are
part of a mention are no cue, and a cue within parentheses has no scope outside of them.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, takewhile
from typing import Final, NamedTuple

import msgspec

from fascicle.core.document import Document, Mention
from fascicle.core.mention import Span
from fascicle.settings.assertion import ANY_WORD, FACTS, CueGroup, Cues
from fascicle.text.segment import all_sentences, segmenter

_PHRASE: Final = 1  # ends of scopes, by strength
_CLAUSE: Final = 2
# that ends a scope
_WEAKEST: Final = {"phrase": _PHRASE, "clause": _CLAUSE, "sentence": _CLAUSE + 1}
_FARTHEST: Final = 60  # words between a cue and a mention
_NITRIC_OXIDE: Final = "NO"  # no cue, unless the whole sentence is in capitals
_START: Final = 5  # words of a sentence among which the colon of a heading is


class _Pattern(NamedTuple):
    """Sequence of words in lower case: a cue of a group, an end of scopes of some strength, or
    both.
    """

    words: tuple[str, ...]
    group: CueGroup | None = None
    end: int = 0


class _Ends(NamedTuple):
    """Words of `CueEnds` that are looked up."""

    phrase: frozenset[str]
    separators: frozenset[str]
    verbs: frozenset[str]
    participles: frozenset[str]
    alternatives: frozenset[str]


class _Match(NamedTuple):
    """Pattern at the words ``first`` to ``last``, exclusive, of a sentence; ``span`` is its
    place in the document.
    """

    first: int
    last: int
    pattern: _Pattern
    span: Span


class _Sentence(NamedTuple):
    """Sentence as the rules read it.

    Attributes:
        words: in lower case.
        spans: places of the words.
        lines: number of the line of each word.
        matches: of patterns, from the left.
        inside: numbers of the words of all mentions.
        mentions: place of each mention -> its first and its last word, exclusive.
    """

    words: Sequence[str]
    spans: Sequence[Span]
    lines: Sequence[int]
    matches: Sequence[_Match]
    inside: frozenset[int]
    mentions: Mapping[Span, Span]


class _Trie:
    """Patterns by their words."""

    def __init__(self) -> None:
        self._below: dict[str, _Trie] = {}
        self._patterns: list[_Pattern] = []

    def __contains__(self, word: str) -> bool:
        """True if a pattern begins with a word."""
        return word in self._below

    def add(self, pattern: _Pattern) -> None:
        node = self
        for word in pattern.words:
            node = node._below.setdefault(word, _Trie())
        node._patterns.append(pattern)

    def longest(self, words: Iterable[str]) -> tuple[int, Sequence[_Pattern]]:
        """Returns how many of the first words are the longest pattern, and all patterns of these
        words.
        """
        longest: tuple[int, Sequence[_Pattern]] = (0, ())
        nodes = [self]
        for size, word in enumerate(words, start=1):
            nodes = [
                node._below[key] for node in nodes for key in (word, ANY_WORD) if key in node._below
            ]
            if not nodes:
                break
            if patterns := [pattern for node in nodes for pattern in node._patterns]:
                longest = size, patterns
        return longest


class AssertionRules:
    """Finds the facts of mentions by cues."""

    def __init__(self, cues: Cues, *, rules: str = "rules@1") -> None:
        """Takes the cues, and the name of the segmenter for sentences and words."""
        self._segmenter = segmenter(rules)
        self._types = cues.types
        self._ends = _Ends(*(frozenset(getattr(cues.ends, name)) for name in _Ends._fields))
        self._inside, self._whole = _Trie(), _Trie()
        for pattern in self._all_patterns(cues):
            is_whole = pattern.group is not None and pattern.group.side == "whole"
            (self._whole if is_whole else self._inside).add(pattern)
        self.fingerprint = hashlib.sha256(msgspec.json.encode([cues, rules])).hexdigest()

    def _all_patterns(self, cues: Cues) -> Iterator[_Pattern]:
        strength = {
            **dict.fromkeys(cues.ends.phrase, _PHRASE),
            **dict.fromkeys(cues.ends.clause, _CLAUSE),
        }
        for group in cues.cues:
            for words in map(self._words_of, group.words):
                # "may cause" ends what "may" ends
                yield _Pattern(words, group, end=strength.get(words[0], 0))
        yield from (_Pattern(self._words_of(end), end=_CLAUSE) for end in cues.ends.clause)
        yield from (_Pattern(self._words_of(end), end=_PHRASE) for end in cues.ends.phrase)

    def _words_of(self, text: str) -> tuple[str, ...]:
        return tuple(text[start:end].lower() for start, end in self._segmenter.words(text))

    def assert_facts(self, document: Document, mentions: Iterable[Mention]) -> list[Mention]:
        """Returns mentions with their facts as attributes, in their order; facts that they had are
        replaced.

        The name of such an attribute is the fact, and its value the place of the nearest cue, as in
        ``"3-5"``: code points, the end exclusive.

        Args:
            document: its text, sentences and words are read, and none of its mentions.
            mentions: of the document.
        """
        mentions = list(mentions)
        cues = self._cues_of(
            document, sorted({(mention.start, mention.end) for mention in mentions})
        )
        return [
            self._with_facts(mention, cues.get((mention.start, mention.end), ()))
            for mention in mentions
        ]

    def _with_facts(self, mention: Mention, cues: Sequence[_Match]) -> Mention:
        """Returns a mention with the facts of cues, of which the nearest is the first."""
        evidence: dict[str, str] = {}
        for match in cues:
            group = match.pattern.group
            if group and (not group.types or mention.type in group.types):
                evidence.setdefault(group.fact, "{}-{}".format(*match.span))

        other = [pair for pair in mention.attributes if pair[0] not in FACTS]
        facts = [fact for fact in self._types.get(mention.type, FACTS) if fact in evidence]
        attributes = (*other, *((fact, evidence[fact]) for fact in facts))
        return (
            mention
            if attributes == mention.attributes
            else msgspec.structs.replace(mention, attributes=attributes)
        )

    def _cues_of(self, document: Document, places: Sequence[Span]) -> dict[Span, list[_Match]]:
        """Returns the cues that hold for each place of a mention, the nearest first."""
        cues: dict[Span, list[_Match]] = {}
        headings: list[_Match] = []
        for sentence in self._sentences(document, places):
            if _ends_heading(sentence, document.text):
                headings = []
            for place, words in sentence.mentions.items():
                cues[place] = [*self._cues_in(sentence, words), *headings]
            headings += (match for match in sentence.matches if _holds_below(match, document.text))
        return cues

    def _sentences(self, document: Document, places: Sequence[Span]) -> Iterator[_Sentence]:
        """Yields the sentences with a mention, and those that are lines, which may be headings."""
        if not places:
            return
        text, words = document.text, document.words or self._segmenter.words(document.text)
        starts = [start for start, _ in words]
        for start, end in all_sentences(document, self._segmenter):
            inside = places[bisect_left(places, (start, 0)) : bisect_left(places, (end, 0))]
            if inside or text[end : end + 1] == "\n":
                yield self._parse(
                    text, words[bisect_left(starts, start) : bisect_left(starts, end)], inside
                )

    def _parse(self, text: str, spans: Sequence[Span], places: Sequence[Span]) -> _Sentence:
        verbatim = [text[start:end] for start, end in spans]
        starts, ends = [start for start, _ in spans], [end for _, end in spans]
        mentions = {
            place: (bisect_right(ends, place[0]), bisect_left(starts, place[1])) for place in places
        }

        inside = frozenset(chain.from_iterable(range(*words) for words in mentions.values()))
        is_mixed = any(map(str.islower, verbatim))
        skipped = inside.union(
            at for at, word in enumerate(verbatim) if is_mixed and word == _NITRIC_OXIDE
        )
        breaks = accumulate(
            text.count("\n", end, start)
            for end, start in zip([*starts[:1], *ends], starts, strict=False)
        )
        words, spans = _lower(verbatim, spans)
        return _Sentence(
            words,
            spans,
            list(breaks),
            list(self._matches(words, spans, skipped)),
            inside,
            mentions,
        )

    def _matches(
        self, words: Sequence[str], spans: Sequence[Span], skipped: Collection[int]
    ) -> Iterator[_Match]:
        """Yields the longest patterns from the left, without overlaps, and without words that
        are taken.
        """
        last = 0
        for at in (at for at, word in enumerate(words) if word in self._inside):
            if at < last:
                continue
            free = takewhile(lambda place: place not in skipped, range(at, len(words)))
            size, patterns = self._inside.longest(words[place] for place in free)
            if words[at] == ":" and "".join(words[at + size : at + size + 1]).isalnum():
                size, patterns = self._inside.longest(":")  # a heading: "skin: no fever"
            last = at + size
            yield from (
                _Match(at, last, pattern, (spans[at][0], spans[last - 1][1]))
                for pattern in patterns
            )

    def _cues_in(self, sentence: _Sentence, mention: Span) -> list[_Match]:
        """Returns the cues of a sentence that hold for a mention, given by its words; the
        nearest is the first.
        """
        first, last = mention
        if first >= last:  # no word of the document is in the mention
            return []
        size, patterns = self._whole.longest(sentence.words[first:last])
        span = sentence.spans[first][0], sentence.spans[last - 1][1]
        cues = [_Match(first, last, pattern, span) for pattern in patterns if size == last - first]

        def distance(match: _Match) -> int:
            return max(first - match.last, match.first - last)

        start = bisect_left(sentence.matches, first - _FARTHEST, key=lambda match: match.first)
        end = bisect_left(sentence.matches, last + _FARTHEST, key=lambda match: match.first)
        near = sentence.matches[start:end]
        return sorted(
            (*cues, *(cue for cue in near if self._holds(cue, near, sentence, mention))),
            key=distance,
        )

    def _holds(
        self, match: _Match, near: Sequence[_Match], sentence: _Sentence, mention: Span
    ) -> bool:
        """True if a match is a cue whose scope has a mention; the matches near it may end the
        scope.
        """
        group = match.pattern.group
        if group is None or not group.fact:
            return False
        is_behind = group.side == "after"
        first, last = (mention[1], match.first) if is_behind else (match.last, mention[0])
        if first > last:
            return False

        between = [other for other in near if first <= other.first and other.last <= last]
        while is_behind and _is_before_cue(between, last):
            last = between.pop().first  # "was" in "was not seen" belongs to the cue
        if any(_ends_scope(other, group, sentence.words) for other in between):
            return False

        words = sentence.words[first:last]
        if self._ends_before(match, group, words, sentence.words[mention[1] :]):
            return False
        if not (group.lists or sentence.inside.isdisjoint(range(first, last))):
            return False
        if group.side == "heading":
            return _is_under(match, sentence, mention, words)
        return self._is_near(words[::-1] if is_behind else words, group)

    def _ends_before(
        self, match: _Match, group: CueGroup, words: Sequence[str], after: Sequence[str]
    ) -> bool:
        """True if the scope of a cue ends before a mention by a comma, or as another clause begins.

        Args:
            match: of the cue.
            group: of the cue.
            words: between cue and mention.
            after: behind the mention.
        """
        if self._ends_at_comma(match, group, after) if "," in words else group.skips_first:
            return True
        is_before_clause = group.until == "phrase" and group.side != "after"
        return is_before_clause and self._begins_clause(words, after[:1])

    def _begins_clause(self, before: Sequence[str], after: Sequence[str]) -> bool:
        """True if a mention between words is the subject of a clause behind a comma."""
        return (
            "," in before
            and self._ends.alternatives.isdisjoint(before)
            and not self._ends.verbs.isdisjoint(after)
        )

    def _ends_at_comma(self, match: _Match, group: CueGroup, after: Sequence[str]) -> bool:
        """True if a comma ends the scope of a cue: it opens the sentence, or holds for no list and
        a participle is behind the mention in its clause, as in "not raised, oedema was seen".
        """
        if group.lists:
            return group.opens and match.first == 0
        ends = (self._ends.phrase - self._ends.verbs) | self._ends.alternatives | {",", ";"}
        clause = takewhile(lambda word: word not in ends, after)
        return not self._ends.participles.isdisjoint(clause)

    def _is_near(self, words: Sequence[str], group: CueGroup) -> bool:
        """True if no part of a list is longer than the reach, whatever is in parentheses in it,
        and the cue is not within parentheses of its own.
        """
        depth = count = outer = 0
        opening, closing = (")", "(") if group.side == "after" else ("(", ")")
        for word in words:
            depth += (word == opening) - (word == closing)
            outer = count if word == opening else outer
            is_new = group.lists and word in self._ends.separators
            count = outer if word == closing else 0 if is_new else count + 1
            if depth < 0 or (depth == 0 and count > group.reach):
                return False
        return count <= group.reach


def _lower(words: Sequence[str], spans: Sequence[Span]) -> tuple[list[str], list[Span]]:
    """Returns words in lower case and their places; the last of the three words of "isn't" is
    "not", at the place of the whole.
    """
    lower, places = [word.lower() for word in words], list(spans)
    for at in range(2, len(lower)):
        if lower[at] == "t" and "".join(lower[at - 2 : at]).endswith(("n'", "n’")):
            lower[at], places[at] = "not", (spans[at - 2][0], spans[at][1])
    return lower, places


def _is_before_cue(between: Sequence[_Match], last: int) -> bool:
    """True if the last of the matches ends a phrase, and stands directly before a cue."""
    return bool(between) and between[-1].last == last and between[-1].pattern.end == _PHRASE


def _is_under(heading: _Match, sentence: _Sentence, mention: Span, words: Sequence[str]) -> bool:
    """True if a mention is below a heading, or in its line; ``words`` stand between them."""
    lines = sentence.lines
    if lines[heading.last] > lines[heading.last - 1]:
        return ":" not in words
    return bool(lines[mention[0]] == lines[heading.first])


def _ends_scope(match: _Match, group: CueGroup, words: Sequence[str]) -> bool:
    """True if a match between a cue of a group and a mention ends the scope of the cue."""
    return match.pattern.end >= _WEAKEST[group.until] or (
        group.fact == "negated" and _opens_item(match, words)
    )


def _opens_item(match: _Match, words: Sequence[str]) -> bool:
    """True for a cue of uncertainty behind a comma, as in "no tremor, possible asthma": negation
    ends before it.
    """
    group = match.pattern.group
    return group is not None and group.fact == "uncertain" and words[max(0, match.first - 1)] == ","


def _ends_heading(sentence: _Sentence, text: str) -> bool:
    """True if an earlier heading does not hold for a sentence: it has its own, or is behind an
    empty line.
    """
    start = sentence.spans[0][0] if sentence.spans else 0
    return ":" in sentence.words[:_START] or "\n\n" in text[max(0, start - _START) : start]


def _holds_below(match: _Match, text: str) -> bool:
    """True for a heading that nothing follows in its line."""
    group = match.pattern.group
    return (
        group is not None
        and group.side == "heading"
        and text[match.span[1] : match.span[1] + 1] == "\n"
    )
