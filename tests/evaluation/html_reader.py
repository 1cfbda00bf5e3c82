"""Reads a page as a browser would take it apart: elements, ids, references, tables."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "link", "img"}


class HtmlReader(HTMLParser):
    """What stands in a page; ``open_at_end`` is empty if every element is closed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.open_at_end: list[str] = []
        self.words: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._table = ""
        self._cell = False
        self.feed(page)
        self.close()

    @property
    def text(self) -> str:
        return "".join(self.words)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        found = {name: value or "" for name, value in attrs}
        self.attributes += [(tag, name, value) for name, value in found.items()]
        if "id" in found:
            self.ids.append(found["id"])
        if tag not in VOID:
            self.open_at_end.append(tag)
        if found.get("role") == "group" and "aria-label" in found:
            label = found["aria-label"]
            again = sum(name.partition("#")[0] == label for name in self.tables)
            self._table = f"{label}#{again + 1}" if again else label
        elif tag == "tr":
            self.tables.setdefault(self._table, []).append([])
        elif tag in ("td", "th"):
            self.tables[self._table][-1] += [""] * int(found.get("colspan", "1"))
            self._cell = True

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open_at_end.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open_at_end.pop() == tag
        if tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self.open_at_end and self.open_at_end[-1] in ("script", "style"):
            return
        self.words.append(data)
        if self._cell:
            self.tables[self._table][-1][-1] += data


def without_tags(page: str) -> str:
    """The text of what was marked, once the tags are taken out of it; tags hold one ``bdi``."""
    return HtmlReader(re.sub(r'<span class="tag[^"]*"><bdi>[^<]*</bdi>[^<]*</span>', "", page)).text


def lines(page: str) -> list[tuple[int, int, str, int]]:
    """Start, end, kind and lane of every line below a marked text, by the nesting of elements;
    tags do not count.
    """
    found, open_, at = [], [], 0
    for piece in re.findall(r"<[^>]*>|[^<]+", page):
        if piece.startswith("</"):
            kind, lane, start = open_.pop()
            if kind in ("line", "gap") and at > start:
                found.append((start, at, kind, lane))
        elif piece.startswith("<"):
            kind = re.search(r'class="(\w+)', piece)
            lane = re.search(r"--lane:(\d+)", piece)
            open_.append((kind[1] if kind else "", int(lane[1]) if lane else -1, at))
        elif not any(kind == "tag" for kind, _, _ in open_):
            at += len(HtmlReader(piece).text)
    return found
