"""The page for Spark runs on a real Spark."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.test_pages import DOCS, run
from tests.machine import has_java


@pytest.fixture(autouse=True)
def same_words() -> None:
    """Executors draw with randomness of their own, so a release must not be given fixed words."""


if has_java():

    @pytest.mark.xdist_group("spark")
    @pytest.mark.filterwarnings("ignore")
    def test_the_page_for_spark_runs(session: Any) -> None:  # the page gets this session: one Java is enough
        run(DOCS / "howto/spark.md")
