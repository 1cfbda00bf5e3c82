"""Answers of searches in JSON, such as those of Semantic Scholar, Crossref, bioRxiv, CORE, Solr and
Elasticsearch: objects around one list of papers, each with a title or an abstract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fascicle.formats.collect import META_LENGTH
from fascicle.formats.unread import find_unread_fields

_LISTS: Final = frozenset(
    ("articles", "collection", "data", "docs", "hits", "items", "papers", "publications")
) | {"records", "results", "works"}
_AROUND: Final = frozenset(("hits", "message", "response", "result"))  # of an object with the list
_TEXTS: Final = ("title", "abstract")
_OWN: Final = frozenset((*_TEXTS, "text", "tokens"))  # of an object that is a record itself
_SOURCE: Final = "_source"  # of a record of Elasticsearch, whose id stands beside it


def papers_in(answer: Mapping[str, Any]) -> list[Any]:
    """Returns the papers of an answer; none if it has several lists, or a text or annotation of
    its own.

    Args:
        answer: any object.
    """
    lists = {
        name: papers
        for name in (_LISTS | _AROUND) & answer.keys()
        if (papers := _papers(name, answer[name]))
    }
    is_text = any(isinstance(part, str) and len(part) > META_LENGTH for part in answer.values())
    if len(lists) != 1 or is_text or _OWN & answer.keys():
        return []
    if find_unread_fields(answer, known=lists):
        return []
    (papers,) = lists.values()
    return papers


def _papers(name: str, value: object) -> list[Any]:
    if isinstance(value, dict):
        return papers_in(value) if name in _AROUND else []
    if name not in _LISTS or not isinstance(value, list):
        return []
    papers = list(map(_plain_record, value))
    has_text = any(isinstance(paper.get(text), str) for paper in papers if paper for text in _TEXTS)
    return papers if has_text and all(papers) else []


def _plain_record(value: object) -> dict[str, Any]:
    """Returns a paper with its title and abstract as texts, where each is a list of one; nothing
    for another value than an object.
    """
    if not isinstance(value, dict):
        return {}
    source = value.get(_SOURCE)
    paper = {"_id": value.get("_id"), **source} if isinstance(source, dict) else dict(value)
    for name in _TEXTS:
        match paper.get(name):
            case [str(text)]:
                paper[name] = text
    return paper
