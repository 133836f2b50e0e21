"""Releases on a real Spark that a ledger pays for, and tables that are made to break them."""

from __future__ import annotations

from typing import Any

import pytest

import lastbit as lb
from lastbit.values.spark_rows import SparkRows
from tests.machine import has_java

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def same_words() -> None:
    """Executors draw with randomness of their own, so a release must not be given fixed words."""


@pytest.fixture
def ledger(tmp_path: Any) -> lb.Ledger:
    found = lb.Ledger(tmp_path / "budget.db")
    found.create("clinic", epsilon=300, delta="1e-3")
    return found


if has_java():

    def test_the_charge_is_in_the_books_before_the_executors_draw(
        session: Any, ledger: lb.Ledger, monkeypatch: Any
    ) -> None:
        frame = session.range(0, 300).selectExpr("id AS unit", "concat('w', id % 3) AS word")
        listed = session.sql("SELECT * FROM VALUES ('w0'), ('w1'), ('never') AS t(word)")
        counts = lb.count(frame, by="word", unit="unit", domain=listed)
        words = lb.count(frame, by="word", unit="unit", domain=lb.UNKNOWN, most_items=1)
        drawing: list[int] = []
        fetch = SparkRows.fetch

        def watched(rows: SparkRows, *given: Any) -> Any:
            drawing.append(len(ledger.history("clinic")))
            return fetch(rows, *given)

        monkeypatch.setattr(SparkRows, "fetch", watched)
        mechanisms: list[tuple[Any, Any]] = [
            (lb.NoisyTopK.of(counts, k=1, epsilon=50), counts),
            (lb.DiscoverHistogram.of(words, epsilon=50, delta="1e-9"), words),
            (lb.DiscoverTopK(k=1, epsilon=50, delta="1e-9"), words),
            (lb.DiscoverRanking(k=1, epsilon=50, delta="1e-9"), words),
        ]
        released = [ledger.release("clinic", mechanism, values) for mechanism, values in mechanisms]
        # The first entry is that of the account. The last two draw on this machine.
        assert drawing == [2, 3]
        kept = [ledger.published(entry.id) for entry in ledger.history("clinic")[1:]]
        assert [each.items for each in kept] == [each.items for each in released]
        assert ledger.account("clinic").spent_epsilon == 200

    def test_a_job_that_fails_stays_charged_and_quotes_no_row(session: Any, ledger: lb.Ledger, capfd: Any) -> None:
        # Spark computes such a table when it draws, and not while it plans.
        number = "CAST(IF(id = 0, '12', 'a secret') AS INT) AS count"
        wrong = session.range(2).selectExpr("CAST(id AS STRING) AS item", number)
        top = lb.NoisyTopK(k=1, epsilon=1)
        words = lb.count(wrong, by="count", unit="item", domain=lb.UNKNOWN, most_items=1)
        histogram = lb.DiscoverHistogram.of(words, epsilon=1, delta="1e-9")
        for number, (mechanism, ready) in enumerate(
            [
                (top, lambda: top.ready_spark(wrong)),
                (histogram, lambda: histogram.ready(words)),
                (histogram, lambda: histogram.ready_spark(words)),
            ]
        ):
            with pytest.raises(lb.DataError, match="Spark could not finish the work") as caught:
                ledger.spend("clinic", mechanism, ready())
            assert "secret" not in str(caught.value)
            assert "secret" not in "".join(capfd.readouterr())  # PySpark's log of Python
            assert caught.value.__cause__ is None
            entry = ledger.history("clinic")[-1]
            assert (entry.kind, entry.recorded) == ("charge", False)
            assert ledger.account("clinic").spent_epsilon == number + 1
        # What is read before anything is drawn fails before the charge.
        with pytest.raises(lb.DataError, match="could not be counted") as caught:
            ledger.release("clinic", lb.DiscoverTopK(k=1, epsilon=1, delta="1e-9"), words)
        assert "secret" not in str(caught.value)
        assert "secret" not in "".join(capfd.readouterr())
        assert ledger.account("clinic").spent_epsilon == 3

    def test_names_empty_tables_and_two_sessions(session: Any) -> None:
        unit, item = "the.unit", "it`em \"a\" 'b'"
        frame = session.sql("SELECT * FROM VALUES (1L, 'x'), (2L, 'x'), (2L, NULL), (NULL, 'y') AS t(a, b)").toDF(
            unit, item
        )
        other = session.newSession()
        listed = other.sql("SELECT * FROM VALUES ('x'), ('y'), ('z') AS t(b)").toDF(item)
        asked: dict[str, Any] = {"by": item, "unit": unit}
        assert lb.count(frame, **asked, domain=["x", "y"]).values.tolist() == [2, 0]
        here = lb.count(frame, **asked, domain=listed).collect()
        assert (here.items, here.values.tolist()) == (("x", "y", "z"), [2, 0, 0])
        words = lb.count(frame, **asked, domain=lb.UNKNOWN, most_items=1)
        found = lb.DiscoverHistogram.of(words, epsilon=90, delta="1/10").release_spark(words)
        assert found.frame.columns == [item, "value"]
        nobody = frame.where("false")
        assert lb.count(nobody, **asked, domain=["x"]).values.tolist() == [0]
        nothing = lb.count(nobody, **asked, domain=lb.UNKNOWN, most_items=1)
        assert lb.DiscoverHistogram.of(nothing, epsilon=1, delta="1e-6").release(nothing).items == ()
        with pytest.raises(lb.ParameterError, match="got k=1 and 0 candidates"):
            lb.NoisyTopK(k=1, epsilon=1).release_spark(nobody, item=item, value=unit)

    def test_an_ibis_table_on_spark_is_counted_there(session: Any) -> None:
        import ibis

        session.sql("SELECT * FROM VALUES (1L, 'x'), (2L, 'x'), (3L, 'y') AS t(unit, item)").createOrReplaceTempView(
            "v"
        )
        zone = session.conf.get("spark.sql.session.timeZone")
        table = ibis.pyspark.connect(session).table("v")
        try:
            counts = lb.count(table.filter(table.unit < 3), by="item", unit="unit", domain=["x", "y"])
            assert counts.values.tolist() == [2, 0]
            assert lb.count(table, by="item", unit="unit", domain=lb.UNKNOWN).rows is not None
        finally:
            session.conf.set("spark.sql.session.timeZone", zone)
