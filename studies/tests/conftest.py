"""What tests of studies share: what every test of the package has, and the stored results,
unpacked.
"""

from __future__ import annotations

import pytest
from tests.conftest import (  # noqa: F401
    _cache,
    fascicle_data,
    keep_to_one_core,
    no_network,
    tiny_encoder,
    tiny_recipe,
    tiny_run,
    toy_corpus,
    toy_dictionary,
    toy_types,
)
from tests.verbs.conftest import cli  # noqa: F401 - fixtures are found by their names

from studies.results_packs import PackError, unpack_all


def pytest_configure(config: pytest.Config) -> None:
    """Unpacks the results, once, in the process that starts the others, and gives each of these
    a core.
    """
    if hasattr(config, "workerinput"):
        keep_to_one_core(config.workerinput["workerid"])
        return
    try:
        unpack_all()
    except PackError as error:
        pytest.exit(str(error), returncode=2)


@pytest.fixture(autouse=True)
def one_thread_of_rayon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some scripts set it for good; a test gives it back."""
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
