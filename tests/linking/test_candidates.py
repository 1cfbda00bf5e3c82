"""Labels, as written, precede loose names of other vocabularies; against what the rule says."""

from __future__ import annotations

import numpy as np
import pytest

from fascicle.core.document import Document, Mention
from fascicle.linking.candidates import LABELS, PRECEDED, label_precedence
from fascicle.linking.opening import find

# of one mention: whether a label is the mention, prior, vocabulary; and what is right
CASES = [
    ([(True, 0.5, 1), (False, 0.1, 0)], [1, PRECEDED]),
    ([(True, 0.5, 1), (False, 0.1, 1)], [1, 0]),
    ([(True, 0.05, 1), (False, 0.9, 0)], [0, 0]),  # a curated rule prefers the other
    # the more probable of two concepts with this label, and both where none is more probable
    ([(True, 0.5, 1), (True, 0.2, 1), (False, 0.1, 0)], [1, 0, PRECEDED]),
    ([(True, 0.3, 1), (True, 0.3, 2), (False, 0.1, 0)], [LABELS, LABELS, PRECEDED]),
    ([(True, 0.3, 1), (True, 0.5, 2), (False, 0.1, 1)], [0, 0, 0]),  # names of vocabularies with it
    ([(True, 0.3, 1), (True, 0.5, 2)], [0, 0]),
]


@pytest.mark.parametrize(("rows", "right"), CASES)
def test_a_label_precedes_loose_names_of_other_vocabularies(
    rows: list[tuple[bool, float, int]], right: list[int]
) -> None:
    verbatim, priors, vocabularies = map(np.array, zip(*rows, strict=True))
    zeros = np.zeros(len(rows), dtype=np.int64)
    twice = [np.concatenate([column, column]) for column in (verbatim, priors, vocabularies)]
    owners = np.concatenate([zeros, zeros + 1])
    types = np.concatenate([zeros, zeros])
    assert label_precedence(owners, *twice, types, units=2).tolist() == right * 2


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("Dravet syndrome", {"DOID:0080422"}),
        ("cribriform carcinoma", {"DOID:5675"}),
        ("glucocorticoid-induced osteoporosis", {"DOID:0060343"}),
        ("platinum-induced ototoxicity", {"MONDO:0800178"}),
        ("substance-induced psychosis", {"DOID:8646"}),
        ("paranasal sinus cancer", {"DOID:0050619", "MONDO:0020669"}),
    ],
)
def test_labels_as_written_precede_a_coarser_concept(name: str, right: set[str]) -> None:
    mention = Mention(((14, 14 + len(name)),), "Disease")
    document = Document(id="1", text=f"Patients with {name}.", mentions=(mention,))
    (patch,) = find("basic").opened().predict([document])
    ((_, links),) = patch.links
    assert {link.curie for link in links} == right
