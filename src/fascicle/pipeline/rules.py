"""Rules over words and their context: mentions that are added, dropped, or get another type."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from fascicle.core.arguments import time_limit
from fascicle.core.document import Document, Mention, Patch, Section, unique
from fascicle.core.lazy import cached_property
from fascicle.core.mention import Span
from fascicle.core.patches import apply
from fascicle.errors import RecipeError
from fascicle.settings.steps import RuleSettings, RuleTest
from fascicle.text.segment import Segmenter

_CONTEXT: Final = 200  # characters of context that a pattern sees
_SECONDS: Final = 5.0  # of processor time, for a document, and for each of its characters:
_A_CHARACTER: Final = 1e-3
_MARKED: Final = re.compile(r"\[\[(.+?)\]\]")


class _Words(NamedTuple):
    """Sentence as patterns match it: its words, joined by one space.

    Attributes:
        text: the words; a blank within one is a middle dot.
        starts: where each begins in ``text``.
        ends: where each ends there.
        words: where each is in the document.
    """

    text: str
    starts: list[int]
    ends: list[int]
    words: Sequence[Span]

    @classmethod
    def of(cls, text: str, words: Sequence[Span]) -> _Words:
        texts = [re.sub(r"\s", "·", text[start:end]) for start, end in words]
        starts, at = [], 0
        for word in texts:
            starts.append(at)
            at += len(word) + 1
        ends = [start + len(word) for start, word in zip(starts, texts, strict=True)]
        return cls(" ".join(texts), starts, ends, words)

    def span(self, start: int, end: int) -> Span:
        """Returns the place in the document of a range of ``text`` that begins and ends with
        words.
        """
        return self.words[bisect_left(self.starts, start)][0], self.words[
            bisect_left(self.ends, end)
        ][1]

    def place(self, mention: Mention) -> Span | None:
        """Returns the range of ``text`` with the words of a mention; ``None`` if the sentence has
        none of them.
        """
        first = bisect_right([end for _, end in self.words], mention.start)
        last = bisect_left([start for start, _ in self.words], mention.end)
        return (self.starts[first], self.ends[last - 1]) if first < last else None


@dataclass(frozen=True)
class _Rule:
    """Rule with its patterns compiled."""

    settings: RuleSettings

    @cached_property
    def _words(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\S)(?:{self.settings.words})(?!\S)")

    @cached_property
    def _context(self) -> list[tuple[re.Pattern[str], bool, bool]]:
        """Pattern, whether it is about the text before, and whether it must match."""
        settings = self.settings
        patterns = [(settings.before, True, True), (settings.not_before, True, False)]
        patterns += [(settings.after, False, True), (settings.not_after, False, False)]
        return [
            (
                re.compile(rf"(?<!\S)(?:{pattern})\Z" if before else rf"(?:{pattern})(?!\S)"),
                before,
                must_match,
            )
            for pattern, before, must_match in patterns
            if pattern
        ]

    def compiled(self) -> None:
        """Compiles all patterns, so that an invalid one is found early."""
        assert self._words is not None
        assert self._context is not None

    def added(self, sentence: _Words, source: str) -> Iterator[Mention]:
        """Yields mentions for the matches of the words, from the left, without overlaps."""
        for match in self._words.finditer(sentence.text):
            if match.end() > match.start() and self._fits(
                sentence.text, match.start(), match.end()
            ):
                yield Mention((sentence.span(*match.span()),), self.settings.type, source=source)

    def applies(self, sentence: _Words, mention: Mention) -> bool:
        """True if the rule applies to a mention."""
        place = sentence.place(mention)
        if place is None:
            return False
        is_it = not self.settings.words or self._words.fullmatch(sentence.text, *place)
        return bool(is_it) and self._fits(sentence.text, *place)

    def _fits(self, sentence: str, start: int, end: int) -> bool:
        before = sentence[max(0, start - _CONTEXT) : start].rstrip(" ")
        after = sentence[end : end + _CONTEXT].lstrip(" ")
        return all(
            bool(pattern.search(before) if is_before else pattern.match(after)) is must_match
            for pattern, is_before, must_match in self._context
        )


class Rules:
    """Rules as a step; mentions that they add have the name of the step as their source, and no
    score.
    """

    needs: frozenset[str] = frozenset({"sentences", "words"})

    def __init__(
        self, name: str, rules: Sequence[RuleSettings], *, segmenter: Segmenter, fingerprint: str
    ) -> None:
        """Compiles the rules, and runs the tests of each.

        Args:
            name: of the step.
            rules: in order.
            segmenter: cuts the texts of the tests.
            fingerprint: decides what they do.

        Raises:
            RecipeError: a pattern that is none, or a rule that fails a test of its own.
        """
        self.name, self.fingerprint = name, fingerprint
        self._rules = [_Rule(rule) for rule in rules]
        self.types = tuple(
            dict.fromkeys(rule.to or rule.type for rule in rules if rule.does != "drop")
        )
        adds = any(rule.does == "add" for rule in rules)
        changes = frozenset(source for rule in rules for source in rule.sources)
        self.sources = frozenset({name}) if adds else frozenset[str]()
        self.gives = frozenset({"mentions"}) if adds else frozenset[str]()
        if changes - self.sources:
            self.needs = self.needs | {"mentions"}
        self.drops = changes | self.sources
        for number, rule in enumerate(self._rules, start=1):
            self._check(rule, number, segmenter)

    def run(self, documents: Sequence[Document]) -> list[Patch]:
        """Returns one patch for each document, with the changes of all rules together.

        Raises:
            RecipeError: a pattern takes seconds.
        """
        return [self._in_time(document) for document in documents]

    def _in_time(self, document: Document) -> Patch:
        problem = (
            "a pattern of its rules finds no end; write it without a repetition inside of another"
        )
        with time_limit(
            _SECONDS + len(document.text) * _A_CHARACTER,
            RecipeError(f"{self.name}: {problem}", key=self.name),
        ):
            return self._patch(document)

    def _patch(self, document: Document) -> Patch:
        words = _sentences(document)
        now = {
            mention.key: mention
            for mention in document.mentions
            if mention.source not in self.sources
        }
        origin = {key: [key] for key in now}  # key now -> keys in the document
        for rule in self._rules:
            if rule.settings.does == "add":
                for mention in (
                    mention for sentence in words for mention in rule.added(sentence, self.name)
                ):
                    if _in_sections(rule, document, mention):
                        now.setdefault(mention.key, mention)
                continue
            targets = [
                mention
                for mention in now.values()
                if _applies(rule, words, mention) and _in_sections(rule, document, mention)
            ]
            for mention in targets:
                before = origin.pop(mention.key, [])
                del now[mention.key]
                if rule.settings.does == "retype":
                    other = msgspec.structs.replace(mention, type=rule.settings.to)
                    now.setdefault(other.key, other)
                    if before:
                        origin.setdefault(other.key, []).extend(before)
        return self._of(document, now, origin)

    def _of(self, document: Document, now: dict, origin: dict) -> Patch:  # type: ignore[type-arg]
        """Returns the patch that turns the mentions of a document into the current ones."""
        stays = {before: key for key, several in origin.items() for before in several}
        drop = [mention.key for mention in document.mentions if mention.key not in stays]
        replace = [(before, now[key]) for before, key in stays.items() if before != key]
        added, _ = unique(mention for key, mention in now.items() if key not in origin)
        return Patch(add=added, drop=tuple(drop), replace=tuple(replace))

    def _check(self, rule: _Rule, number: int, segmenter: Segmenter) -> None:
        settings = rule.settings
        place = f"rule {number} of the step {self.name!r} ({settings.does} {settings.type})"
        try:
            rule.compiled()
        except (re.error, OverflowError, RecursionError) as error:
            raise RecipeError(
                f"{place} has a pattern that is not a regular expression: {error}", key=self.name
            ) from None
        alone = object.__new__(Rules)
        alone.__dict__ |= {**self.__dict__, "_rules": [rule]}
        for test in settings.tests:
            document = _document_of(test, settings, segmenter)
            after = apply(document, alone.run([document])[0], step=self.name, drops=self.drops)
            kind = settings.to or settings.type
            names = tuple(
                mention.text_in(after.text) for mention in after.mentions if mention.type == kind
            )
            if sorted(names) != sorted(test.find):
                raise RecipeError(
                    f"{place} fails its own test: in {test.text!r} it finds {list(names)} instead "
                    f"of {list(test.find)}; correct the rule or the test",
                    key=self.name,
                )


def _applies(rule: _Rule, sentences: Sequence[_Words], mention: Mention) -> bool:
    settings = rule.settings
    if mention.type != settings.type or mention.source not in settings.sources:
        return False
    at = bisect_right(sentences, mention.start, key=lambda sentence: sentence.words[0][0]) - 1
    return at >= 0 and rule.applies(sentences[at], mention)


def _in_sections(rule: _Rule, document: Document, mention: Mention) -> bool:
    return not rule.settings.sections or document.is_in(mention, rule.settings.sections)


def _sentences(document: Document) -> list[_Words]:
    words = document.words or ()
    starts = [start for start, _ in words]
    cuts = [
        (bisect_left(starts, start), bisect_left(starts, end))
        for start, end in document.sentences or ()
    ]
    return [_Words.of(document.text, words[first:last]) for first, last in cuts if first < last]


def _document_of(test: RuleTest, rule: RuleSettings, segmenter: Segmenter) -> Document:
    """Returns the text of a test, with the mentions that are marked in it."""
    mentions, parts, at, size = [], [], 0, 0
    source = rule.sources[0] if rule.sources else ""
    for match in _MARKED.finditer(test.text) if source else ():
        parts += [test.text[at : match.start()], match[1]]
        start = size + match.start() - at
        size, at = start + len(match[1]), match.end()
        mentions.append(Mention(((start, size),), rule.type, source=source))
    text = "".join(parts) + test.text[at:]
    return Document(
        id="test",
        text=text,
        sections=tuple(Section(0, len(text), name) for name in rule.sections[:1]),
        mentions=tuple(mentions),
        sentences=segmenter.sentences(text),
        words=segmenter.words(text),
    )
