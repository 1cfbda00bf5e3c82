from __future__ import annotations

import fascicle


def test_the_public_names_are_these() -> None:
    assert fascicle.__all__ == [
        "AsyncClient",
        "Client",
        "Document",
        "Event",
        "Link",
        "Mention",
        "Patch",
        "Scores",
        "Section",
        "TextMention",
        "__version__",
        "annotate",
        "apply",
        "calibrate",
        "check",
        "combine",
        "compare",
        "errors",
        "evaluate",
        "evaluate_links",
        "export",
        "find_abbreviations",
        "layers",
        "link",
        "load",
        "read",
        "score",
        "to_arrow",
        "train",
        "write",
    ]
    assert sorted(fascicle.__all__) == fascicle.__all__
    assert all(hasattr(fascicle, name) for name in fascicle.__all__)
    assert dir(fascicle) == fascicle.__all__
