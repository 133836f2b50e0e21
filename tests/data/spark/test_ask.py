"""`ask` of a table in Spark: what Spark can count is counted there, and the rest is refused before a row is read."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from tests.machine import has_java

pytestmark = pytest.mark.xdist_group("spark")

ITEMS = ["flu", "cold", "gout", "nobody"]
LISTED: dict[str, Any] = {"unit": "patient", "by": "diagnosis", "domain": ITEMS, "epsilon": 2000}

FORMS: tuple[dict[str, Any], ...] = (
    {"let": {"n": "count(*)"}},
    {"let": {"before": "lag(cost) over (order by ward)"}},
    {"split": ["diagnosis", "/"]},
    {"join": pd.DataFrame({"ward": [1, 2], "area": ["a", "b"]}), "on": "ward"},
    {"unit": ["patient", "ward"]},
    {"unit": ["patient", "ward"], "most_units": 2},
)
"""What is done before a question: Spark does none of it."""


@pytest.fixture(autouse=True)
def same_words() -> None:
    """Executors draw with randomness of their own, so a release must not be given fixed words."""


def visits() -> pd.DataFrame:
    rows = [
        (person, item, ward, person % 7)
        for person in range(300)
        for place, item in enumerate(ITEMS[:3])
        for ward in (1, 2)
        if person % (place + 1) == 0 and (ward == 1 or person % 2)
    ]
    return pd.DataFrame(rows, columns=["patient", "diagnosis", "ward", "cost"])


if has_java():

    @pytest.mark.filterwarnings("ignore")
    def test_spark_answers_what_it_can_count(session: Any) -> None:
        """At a cost without noise every answer is that of the same table in memory."""
        frame = visits()
        spark = session.createDataFrame(frame)
        asked: list[tuple[str, dict[str, Any]]] = [
            ("count", {"unit": "patient", "epsilon": 2000}),
            ("count", {"unit": "row", "epsilon": 2000}),
            ("count", LISTED),
            ("count", {**LISTED, "by": ["diagnosis", "ward"], "domain": [ITEMS, "1..2"]}),
            ("count", {**LISTED, "weights": "cost", "bounds": (0, 3), "people_share": 0}),
            ("histogram", LISTED),
            ("top", {**LISTED, "k": 2}),
            ("top", {**LISTED, "k": 2, "set": True}),
            ("top", {**LISTED, "k": 1, "in_each": "ward", "domain": {"diagnosis": ITEMS, "ward": "1..2"}}),
            ("top", {"unit": "patient", "by": "diagnosis", "k": 2, "delta": "1e-6", "epsilon": 1000}),
            ("measure", {**LISTED, "k": 2}),
            ("choose", LISTED),
            ("above", {**LISTED, "threshold": 200}),
            ("sum", {"unit": "patient", "of": "cost", "bounds": (0, 9), "people_share": 0, "epsilon": 2000}),
            ("median", {"unit": "patient", "of": "cost", "bounds": (0, 9), "people_share": 0, "epsilon": 2000}),
        ]
        for kind, options in asked:
            there, here = (lb.ask(kind, table, **options).to_frame() for table in (spark, frame))
            label = [name for name in here if name in ("diagnosis", "ward", "rank")]
            shown = [*label, *(name for name in ("value", "people") if name in here)]
            assert there[shown].round(1).equals(here[shown].round(1)), (kind, options)

    @pytest.mark.filterwarnings("ignore")
    def test_what_spark_cannot_count_says_what_to_do_and_costs_nothing(session: Any, tmp_path: Any) -> None:
        spark = session.createDataFrame(visits())
        ledger = tmp_path / "budget.db"
        lb.Ledger(ledger).create("clinic", epsilon=5)
        paid = {"ledger": str(ledger), "dataset": "clinic"}
        for kind, options, message in (
            ("count", {**LISTED, "one_each": True}, "With people_share=0, or without the bound, it may"),
            ("mean", {"unit": "patient", "of": "cost", "bounds": (0, 9), "epsilon": 1}, "Spark does not count that"),
            ("count", {**LISTED, "where": "ward = 1"}, "in Spark first: frame.where"),
            *(("count", {**LISTED, **form}, "where, split, join, let, several columns as unit") for form in FORMS),
            ("count", {**LISTED, "others": "show"}, "frame.toPandas"),
            ("count", {**LISTED, "unit": "nobody"}, "there is no column 'nobody'"),
        ):
            with pytest.raises(lb.ParameterError, match=message):
                lb.ask(kind, spark, **{**options, "epsilon": 1}, **paid)
        assert lb.Ledger(ledger).account("clinic").spent == 0
