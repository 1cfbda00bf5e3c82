"""Documents that are set aside: whole groups, by the hash of their names, and left out of
training by their text.
"""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from fascicle.core.document import Document
from fascicle.formats.exclusions import exclusions_by_key
from studies.conventions.aside import chosen, row


@given(st.lists(st.text(max_size=3), min_size=1, max_size=60), st.sampled_from([0.05, 0.1, 0.5]))
def test_the_groups_with_the_smallest_hashes_are_chosen(groups: list[str], share: float) -> None:
    """Against a plain sort: no group that stays has a smaller hash than one that is chosen,
    whatever the order.
    """
    found = chosen(groups, share)
    digests = {name: hashlib.sha256(name.encode()).hexdigest() for name in groups}
    assert len(found) == max(1, round(share * len(digests)))
    assert all(digests[a] < digests[b] for a in found for b in digests if b not in found)
    assert found == chosen(list(reversed(groups)), share)


def test_a_copy_under_another_id_is_left_out_too() -> None:
    """The hash of the text is enough, because the row counts as a copy of a document that tests."""
    document = Document(id="7", text="BRCA1 in HeLa cells.")
    digest = hashlib.sha256(document.text.encode()).hexdigest()
    assert ("", digest) in exclusions_by_key([row("a/Train.PubTator", document)])
