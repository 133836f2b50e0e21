"""Publications are paid by a ledger of either kind: the places are those of the tests of the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

import lastbit as lb
from tests.fixed_words import draw_fixed_words
from tests.ledger.conftest import place as place
from tests.publication.studies import TEXT, make_study


@pytest.fixture(scope="session")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that was published a year before."""
    folder = tmp_path_factory.mktemp("earlier")
    with draw_fixed_words("earlier"):
        path = make_study(folder, TEXT.replace("epsilon = 3", "epsilon = 1").replace("2024", "2023"))
        lb.Publication.from_file(path).run(folder / "earlier")
    return folder / "earlier"
