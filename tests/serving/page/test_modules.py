"""The arithmetic of the page against slow and obvious computations in Python."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest
from tests.serving.page.browsing import Opened

from fascicle.core.document import Document, Mention
from fascicle.serving.curation.decisions import After, Edit, Remark, Step, apply_steps

pytestmark = [pytest.mark.slow, pytest.mark.loopback]
ALPHABET = "ab \nZ0é" + "e\u0301" + "😀" + "𝔘" + "\u200d" + "👩" + "中" + "\u202e" + "\r"
ROUNDS = 60


def texts(seed: int) -> list[str]:
    drawn = random.Random(seed)
    return [""] + ["".join(drawn.choices(ALPHABET, k=drawn.randint(1, 40))) for _ in range(ROUNDS)]


def test_offsets_are_code_points(opened: Opened) -> None:
    page = opened()
    given = texts(1)
    found = page.evaluate(
        """async (texts) => {
            const { Offsets } = await import("/page/code/offsets.js");
            return texts.map((text) => {
                const offsets = new Offsets(text);
                const units = Array.from({ length: offsets.points + 1 }, (_, point) => offsets.unit(point));
                return [units, units.map((unit) => offsets.point(unit))];
            });
        }""",
        given,
    )
    for text, (units, points) in zip(given, found, strict=True):
        assert units == [len(text[:at].encode("utf-16-le")) // 2 for at in range(len(text) + 1)]
        assert points == list(range(len(text) + 1))


def drawn_mentions(drawn: random.Random, length: int) -> list[dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for _ in range(drawn.randint(0, 7)):
        cuts = sorted(
            drawn.sample(range(length + 1), k=min(length + 1, drawn.choice([2, 2, 2, 4])))
        )
        spans = [[cuts[at], cuts[at + 1]] for at in range(0, len(cuts) - 1, 2)]
        if spans:
            made[json.dumps(spans)] = {"spans": spans, "type": drawn.choice("AB"), "source": "m"}
    return list(made.values())


def test_every_character_is_under_its_mentions_and_no_two_lines_share_a_place(
    opened: Opened,
) -> None:
    page, drawn = opened(), random.Random(2)
    given = [
        {"id": "a", "text": text, "mentions": drawn_mentions(drawn, len(text))}
        for text in texts(2)
        if len(text) > 3
    ]
    found = page.evaluate(
        """async (documents) => {
            const { Reading } = await import("/page/code/reading.js");
            const { lanesOf, stretchesOf } = await import("/page/code/stretches.js");
            return documents.map((document) => {
                const reading = new Reading(document);
                const stretches = stretchesOf(reading.mentions, 0, document.text.length);
                const { lanes } = lanesOf(reading.mentions);
                return {
                    over: stretches.map(({ start, end, over }) => [start, end, over.map((one) => one.key).sort()]),
                    lanes: reading.mentions.map((one) => [one.start, one.end, lanes.get(one)]),
                };
            });
        }""",
        given,
    )
    for document, told in zip(given, found, strict=True):
        text = document["text"]
        units = [len(text[:at].encode("utf-16-le")) // 2 for at in range(len(text) + 1)]
        over: dict[int, list[str]] = {}
        for start, end, keys in told["over"]:
            over |= dict.fromkeys(range(start, end), keys)
        assert sorted(over) == list(range(units[-1]))
        for unit, keys in over.items():
            point = max(at for at, begins in enumerate(units) if begins <= unit)
            covering = [
                m for m in document["mentions"] if any(s <= point < e for s, e in m["spans"])
            ]
            assert keys == sorted(
                json.dumps(["m", m["type"], m["spans"]], separators=(",", ":")) for m in covering
            )
        places = [(lane, unit) for start, end, lane in told["lanes"] for unit in range(start, end)]
        assert len(places) == len(set(places))


def test_blocks_are_the_text_and_cut_no_character(opened: Opened) -> None:
    page, drawn = opened(), random.Random(3)
    given = [
        "".join(drawn.choices(["word ", "😀" * 50, "line\n", "x" * 3000], k=drawn.randint(0, 40)))
        for _ in range(20)
    ]
    found = page.evaluate(
        """async (texts) => {
            const { blocksOf } = await import("/page/code/stretches.js");
            return texts.map((text) => blocksOf(text).map(([start, end]) => text.slice(start, end)));
        }""",
        given,
    )
    for text, blocks in zip(given, found, strict=True):
        assert "".join(blocks) == text
        assert all(block and len(block.encode("utf-16-le")) <= 2 * 4_001 for block in blocks)


def test_an_end_moves_to_the_next_border_of_a_word_however_long(opened: Opened) -> None:
    page, drawn = opened(), random.Random(4)
    parts = [" ", "a", "-", "ACGT" * 90, "β" * 3_000, "don't", "\N{GRINNING FACE}", "e\u0301" * 200]
    given = []
    for _ in range(ROUNDS):
        text = "".join(drawn.choices(parts, k=drawn.randint(1, 12)))
        length = len(text.encode("utf-16-le")) // 2
        given += [[text, drawn.randint(0, length)] for _ in range(4)]
    found, wanted = page.evaluate(
        """async (given) => {
            const { edge } = await import("/page/code/marking.js");
            const WORD = /[\\p{L}\\p{N}\\p{M}]+(?:['’][\\p{L}\\p{M}]+)*|[^\\s\\p{L}\\p{N}\\p{M}]/gu;
            const all = given.map(([text, unit]) => {
                const words = [...text.matchAll(WORD)].map((one) => [one.index, one.index + one[0].length]);
                const [starts, ends] = [0, 1].map((side) => words.map((word) => word[side]));
                const next = (places) => places.find((at) => at > unit) ?? unit;
                const last = (places) => places.findLast((at) => at < unit) ?? unit;
                return [next(starts), last(starts), next(ends), last(ends)];
            });
            const made = given.map(([text, unit]) =>
                ["start", "end"].flatMap((which) => [1, -1].map((step) => edge(text, unit, step, which))),
            );
            return [made, all];
        }""",
        given,
    )
    assert found == wanted


def drawn_remark(drawn: random.Random, items: list[str]) -> Remark:
    kind = drawn.choice(["note", "flagged", "skipped"])
    given = {
        "note": drawn.choice(["", "why?"]),
        "flagged": drawn.random() < 0.5,
        "skipped": drawn.random() < 0.5,
    }
    return Remark(
        item="" if kind == "skipped" else drawn.choice(["", *items]), **{kind: given[kind]}
    )


def drawn_steps(drawn: random.Random, document: Document) -> list[Step]:
    items = [msgspec.json.encode(one.key).decode() for one in document.mentions] + [
        "added-1",
        "added-2",
    ]
    steps: list[Step] = []
    for number in range(1, drawn.randint(1, 9)):
        kind = drawn.choice(["edits", "edits", "edits", "undoes", "finished", "remark"])
        if kind == "undoes":
            made: dict[str, Any] = {"undoes": drawn.randint(1, number)}
        elif kind == "finished":
            made = {"finished": drawn.random() < 0.5}
        elif kind == "remark":
            made = {"remark": drawn_remark(drawn, items)}
        else:
            mention = drawn.choice(document.mentions)
            after = After(
                spans=mention.spans, type=drawn.choice([mention.type, "New"]), links=mention.links
            )
            made = {
                "edits": (Edit(item=drawn.choice(items), after=drawn.choice([None, after, after])),)
            }
        steps.append(Step(number=number, who="Ada", at="now", **made))
    return steps


def test_the_page_and_the_service_follow_the_same_rules(opened: Opened) -> None:
    page, drawn = opened(), random.Random(4)
    mentions = (
        Mention(((0, 2),), "A", 0.5, "m"),
        Mention(((0, 2),), "A", 0.7, 'na"me\x01é'),
        Mention(((3, 4), (6, 7)), "B", None, "m"),
    )
    document = Document(id="a", text="abcdefgh", mentions=mentions)
    given = [drawn_steps(drawn, document) for _ in range(ROUNDS)]
    found = page.evaluate(
        """async ([document, given]) => {
            const { curated, decided } = await import("/page/code/decisions.js");
            return given.map((steps) => {
                const { items, finished } = decided(document, steps);
                const { flagged, notes, skipped } = curated(document, steps);
                return [items.map((one) => [one.verdict, one.now?.type ?? ""]), finished, [flagged, notes, skipped]];
            });
        }""",
        [msgspec.to_builtins(document), msgspec.to_builtins(given)],
    )
    for steps, (items, finished, remarked) in zip(given, found, strict=True):
        wanted = apply_steps(document, steps)
        flags, notes = (
            [one.flagged for one in wanted.remarks],
            [one.note for one in wanted.remarks if one.note],
        )
        assert remarked == [any(flags), len(notes), wanted.skipped]
        told = [
            [one.verdict, (one.now or one.origin).type if one.verdict != "rejected" else ""]
            for one in wanted.items
        ]  # type: ignore[union-attr]
        assert items == told
        assert finished == wanted.finished


def test_portions_are_small_and_in_order(opened: Opened) -> None:
    page, drawn = opened(), random.Random(5)
    given = [
        [drawn.choice([1, 1_000, 200_000, 400_000]) for _ in range(drawn.randint(0, 60))]
        for _ in range(20)
    ]
    found = page.evaluate(
        """async (given) => {
            const { portions } = await import("/page/code/service.js");
            return given.map((sizes) => portions(sizes.map((size) => ({ text: "x".repeat(size) })))
                .map((portion) => portion.map((one) => one.text.length)));
        }""",
        given,
    )
    for sizes, portions in zip(given, found, strict=True):
        assert [size for portion in portions for size in portion] == sizes
        assert all(
            0 < len(one) <= 20 and (len(one) == 1 or sum(one) <= 300_000) for one in portions
        )
