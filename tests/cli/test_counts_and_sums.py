"""count, sum, mean and histogram by the command: right to the last unit where the noise is zero."""

from __future__ import annotations

import json
import shlex
import sqlite3
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.audit import stability
from lastbit.estimate.blue import variance_left
from lastbit.mechanisms import mechanism
from lastbit.questions.kinds import KINDS
from lastbit.questions.reading import read_everybody, read_numbers, read_numbers_of_rows, read_ranked_counts
from tests.table_readers import make_rows


class Quiet(lb.Sampler):
    """All noise is zero, so that a release shows the exact number."""

    def laplace(self, rate: Any, n: int | None = None) -> Any:
        return 0 if n is None else np.zeros(n, np.int64)

    gaussian = laplace


@pytest.fixture(autouse=True)
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """change.csv: 900 people with a change of 5 and 100 without one; visits.csv: some with several visits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    rows = [f"p{i},5" for i in range(900)] + [f"q{i},{('', 'NaN', 'n/a', 'null')[i % 4]}" for i in range(100)]
    Path("change.csv").write_text("\n".join(["person,change", *rows]), encoding="utf-8")
    visits = ["a,1,2026-01-31,x", "a,4,2026-02-01,y", "a,4,2026-02-01,y", "b,30,2026-12-31 23:59:59,x",
              "c,-7,soon,z", "d,,2025-12-31,x", ",9,2026-05-05,x", "e,2.5,,y"]  # fmt: skip
    Path("visits.csv").write_text("\n".join(["who,cost,date,group", *visits]), encoding="utf-8")


def run(command: str, capsys: Any) -> Any:
    assert cli._run(shlex.split(f"{command} --epsilon 1 --json"), debug=False) == 0
    return json.loads(capsys.readouterr().out)


def text(command: str, capsys: Any) -> str:
    assert cli._run(shlex.split(f"{command} --epsilon 1"), debug=False) == 0
    return " ".join(capsys.readouterr().out.split())


MEAN = "mean change.csv --of change --unit person --bounds -100 100"


def test_nobody_who_is_missing_is_made_up(capsys: Any) -> None:
    answer = run(MEAN, capsys)
    assert abs(Fraction(answer["mean"][0]) - 5) < Fraction(1, 100)
    assert answer["people"] == [900]
    (low,), (high,), (fewest,), (most,) = (answer[name] for name in ("low", "high", "people_low", "people_high"))
    assert Fraction(low) < 5 < Fraction(high)
    assert fewest < 900 < most
    total = run(f"sum {MEAN.removeprefix('mean ')}", capsys)
    # An estimate is in the middle of what flooring may have left: within a step of 1.
    assert abs(Fraction(total["value"][0]) - 4500) <= 1
    assert [total["clamped_below"], total["clamped_above"]] == [0, 0]
    near = run(f"sum {MEAN.removeprefix('mean ').replace('-100 100', '-100 4')}", capsys)
    assert [near["clamped_below"], near["clamped_above"]] == [0, 900]
    assert near["clamped_above_low"] < 900 < near["clamped_above_high"]
    assert abs(Fraction(run(f"{MEAN} --missing lowest", capsys)["mean"][0]) + Fraction("5.5")) < Fraction(1, 100)
    assert abs(Fraction(run(f"{MEAN} --missing 0", capsys)["mean"][0]) - Fraction("4.5")) < Fraction(1, 100)
    bins = "histogram change.csv --of change --unit person --bounds -100 100 --bins 4"
    assert run(bins, capsys)["value"] == [0, 0, 900, 0]
    assert run(f"{bins} --missing bin", capsys)["value"] == [0, 0, 900, 0, 100]
    assert run(f"{bins} --missing lowest", capsys)["value"] == [100, 0, 900, 0]
    assert run(f"{bins} --missing 99", capsys)["value"] == [0, 0, 900, 100]
    assert run("count change.csv --unit person", capsys)["value"] == [1000]


def test_the_rule_for_missing_numbers_is_said_before_and_after(capsys: Any) -> None:
    for command in (MEAN, f"sum {MEAN.removeprefix('mean ')}"):
        for more in ("", " --dry-run"):
            assert text(command + more, capsys).count("Rows whose change is missing are left out.") == 1
            assert "A missing change counts as the lower bound." in text(f"{command} --missing lowest{more}", capsys)
    for more in ("", " --dry-run"):
        bins = f"histogram change.csv --of change --unit person --edges 0,1 --missing bin{more}"
        assert "(missing) are rows without change." in text(bins, capsys)


VISITS = "visits.csv --of cost --unit who --bounds -4 10"
WAYS = {
    # a has 1, 4 and 4; b has 30, c has -7, e has 2.5. d has no number.
    "--per mean": [3, 10, -4, "2.5"],
    "--per total": [9, 10, -4, "2.5"],
    "--per latest --latest-by date": [4, 10, -4],
    "--per row --most-rows 3": [1, 4, 4, 10, -4, "2.5"],
    "--latest-by date": [4, 10, -4],
    "--most-rows 9": [1, 4, 4, 10, -4, "2.5"],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_number_of_a_unit_is_chosen_in_words(way: str, capsys: Any) -> None:
    numbers = [Fraction(each) for each in WAYS[way]]  # type: ignore[arg-type]
    answer = run(f"mean {VISITS} {way}", capsys)
    assert abs(Fraction(answer["mean"][0]) - sum(numbers) / len(numbers)) < Fraction(1, 50)
    assert answer["people"] == [len(numbers)]
    total = run(f"sum {VISITS} {way}", capsys)
    # Flooring takes less than 8 steps of 1/32 from a sum, and an estimate gives half of them back.
    assert abs(Fraction(total["value"][0]) - sum(numbers)) < Fraction(1, 8)
    assert total["low"][0] < sum(numbers) < total["high"][0]
    # b has 30, and c has -7.
    assert [total["clamped_below"], total["clamped_above"]] == [1, 1]
    none = run(f"sum {VISITS} {way} --people-share 0", capsys)
    assert none["value"] == total["value"]
    assert "clamped_above" not in none


def test_usually_a_mean_is_of_means_and_a_sum_of_totals(capsys: Any) -> None:
    assert run(f"mean {VISITS}", capsys) == run(f"mean {VISITS} --per mean", capsys)
    assert run(f"sum {VISITS}", capsys) == run(f"sum {VISITS} --per total", capsys)
    assert "Each person has one number, the mean of their cost." in text(f"mean {VISITS}", capsys)
    assert "Each person has one number, the total of their cost." in text(f"sum {VISITS}", capsys)
    assert "at most 3 rows of a person count, picked at random." in text(f"mean {VISITS} --most-rows 3", capsys)
    assert "their cost with the largest date." in text(f"mean {VISITS} --latest-by date", capsys)
    rows = "mean visits.csv --unit row --of cost --bounds -4 10"
    assert run(rows, capsys)["people"] == [7]


def test_a_unit_with_many_rows_takes_more_noise(capsys: Any) -> None:
    for command in ("mean", "sum"):
        for rows in (1, 5):
            assert cli._run(
                shlex.split(f"{command} {VISITS} --most-rows {rows} --epsilon 1 --dry-run --json"), debug=False
            ) == 0  # fmt: skip
            parameters = json.loads(capsys.readouterr().out)["parameters"]
            assert parameters["answer.most_rows"] == str(rows)
            assert parameters["spread.sensitivity"] == parameters["clamped.sensitivity"] == "1"
            # A tenth of the cost is for what is said about people, in halves.
            assert parameters["spread.epsilon"] == parameters["clamped.epsilon"] == "1/20"
            assert parameters["answer.epsilon"] == "9/10"


@pytest.mark.parametrize("resolution", ["", "--resolution 1", "--resolution 7", "--resolution 1/1024"])
def test_a_resolution_shifts_no_interval_off_the_truth(resolution: str, capsys: Any) -> None:
    """At an epsilon so large that the interval is as narrow as flooring: numbers of 0.9, which all floor to 0."""
    Path("small.csv").write_text("who,x\n" + "\n".join(f"{i},0.9" for i in range(1000)), encoding="utf-8")
    for command, truth in (("mean", Fraction(0.9)), ("sum", 1000 * Fraction(0.9))):
        line = f"{command} small.csv --of x --unit who --bounds 0 14 --epsilon 2000 --json {resolution}"
        assert cli._run(shlex.split(line), debug=False) == 0
        answer = json.loads(capsys.readouterr().out)
        low, high, estimate = (Fraction(answer[name][0]) for name in ("low", "high", "value"))
        assert low <= truth <= high
        wide = {"mean": Fraction(1, 50), "sum": 16}[command]
        assert abs(estimate - truth) <= wide
        assert low < estimate < high


def test_bounds_may_be_any_decimals(capsys: Any) -> None:
    answer = run("mean visits.csv --of cost --unit who --bounds -0.1 3.3", capsys)
    # 1 and twice 3.3, 3.3, -0.1, 2.5
    truth = ((1 + 2 * Fraction("3.3")) / 3 + Fraction("3.3") - Fraction("0.1") + Fraction("2.5")) / 4
    # Four people are too few to say so at this cost, and the total is said.
    assert (answer["shown"], answer["low"]) == ([False], [None])
    assert answer["total_low"][0] <= 4 * truth <= answer["total_high"][0]
    assert abs(Fraction(answer["mean"][0]) - truth) < Fraction(1, 100)


def test_people_rows_and_groups(capsys: Any) -> None:
    assert run("count visits.csv --unit who", capsys)["value"] == [5]
    for most, rows, more in ((2, 6, 1), (3, 7, 0)):
        bounded = run(f"count visits.csv --unit who --rows --most-rows {most}", capsys)
        # There may be more rows than were counted: nothing is known about how many.
        assert (bounded["value"], bounded["bounded_value"], bounded["high"]) == ([rows], [rows], [None])
        assert bounded["clamped_above"] == more
    shown = text("count visits.csv --unit who --rows --most-rows 2", capsys)
    assert "rows counted" in shown
    assert "Of each person at most 2 rows count: 1 person (0 to 31 with probability 95%)" in shown
    groups = "count visits.csv --unit who --by group --domain x,y,nobody"
    answer = run(f"{groups} --most-items 2", capsys)
    assert (answer["item"], answer["value"]) == (["x", "y", "nobody"], [3, 2, 0])
    # a is in x and in y, and counts in one of them.
    one = run(f"{groups} --one-each", capsys)
    assert one["bounded_value"] in ([3, 1, 0], [2, 2, 0])
    assert [one[name] for name in ("most_items", "cut", "cut_low")] == [1, 1, 0]
    assert one["parts"]["spread"]["value"] == [3, 1, 0]
    # The noise of those counted is that of 9/10 of the cost.
    within = lb.DiscreteLaplace(epsilon="9/10").accuracy("0.95")
    for counted, (low, high) in zip(one["bounded_value"], one["bounded_interval"], strict=True):
        assert (low, high) == (counted - within, counted + within)
    for truth, (low, high), value in zip([3, 2, 0], one["interval"], one["value"], strict=True):
        assert 0 <= low <= min(truth, value)
        assert max(truth, value) <= high
    assert "A person may count in all 3 groups" in text(groups, capsys)
    assert "A person counts in one group, picked at random: 1 person (0 to " in text(f"{groups} --one-each", capsys)
    alone = f"{groups} --one-each --people-share 0"
    assert "A person counts in one group, picked at random where there are more." in text(alone, capsys)
    ((low, high), *_) = run(alone, capsys)["interval"]
    assert high - low == 6
    rows = run("count visits.csv --unit row --by group --domain x,y,nobody", capsys)
    assert (rows["value"], rows["interval"][0]) == ([4, 3, 0], [1, 7])


def test_twelve_groups_cost_what_noise_on_the_histogram_costs() -> None:
    """The standard deviation is 1.4 at epsilon 1, where the best estimate of `measure -k 12` has 21."""
    counts = lb.Counts(items=range(12), values=[100] * 12, monotone=True, most_items=1)
    one_each = lb.DiscreteLaplace.of(counts, epsilon=1)
    assert one_each.sensitivity == 1
    r = one_each.rate.fraction
    assert round(float(2 * r / (1 - r) ** 2) ** 0.5, 1) == 1.4
    measured = lb.SelectAndMeasure.of(counts, k=12, epsilon=1, resolution="1/10").release(counts)
    variance = measured.measurement_rate.laplace_variance / 100
    ratio = measured.selection_rate.geometric_variance / measured.measurement_rate.laplace_variance
    assert round(float(variance * variance_left(12, ratio)) ** 0.5) == 21
    few = lb.Counts(items=range(12), values=[100] * 12, monotone=True, most_items=3)
    assert lb.DiscreteLaplace.of(few, epsilon=1).sensitivity == 3
    assert lb.DiscreteGaussian.of(few, rho="1/2").squared_sensitivity == 3


def test_bins_and_their_labels(capsys: Any) -> None:
    bins = "histogram visits.csv --of cost --unit who"
    answer = run(f"{bins} --edges -10,0,2.5,4,100 --most-items 2 --missing bin", capsys)
    assert answer["item"] == [
        "under 0",
        "0 to under 2.5",
        "2.5 to under 4",
        "4 to under 100",
        "100 and over",
        "(missing)",
    ]
    assert answer["value"] == [1, 1, 1, 2, 0, 1]
    answer = run("histogram visits.csv --unit row --of cost --bounds 0 10 --bins 2", capsys)
    assert (answer["item"], answer["value"]) == (["under 5", "5 and over"], [5, 2])
    shown = text(f"{bins} --bounds 0 10 --bins 2", capsys)
    assert "A person may count in all 2 groups, and nobody is left out: the noise is for as many" in shown
    assert "A number of cost counts by its whole part." in shown


MONTHS = ["2026-01", "2026-02", "2026-12"]


def test_days_weeks_months_and_years(capsys: Any) -> None:
    dates = "histogram visits.csv --of date --unit who --most-items 9 --missing bin"
    answer = run(f"{dates} --every month --bounds 2026-01 2026-12", capsys)
    found = dict(zip(answer["item"], answer["value"], strict=True))
    assert {label for label, value in found.items() if value} == {*MONTHS, "(missing)"}
    assert (len(found), found["(missing)"]) == (13, 2)
    assert run(f"{dates} --every year --bounds 2025 2026", capsys)["value"] == [1, 2, 2]
    days = run(f"{dates} --every day --bounds 2026-01-31 2026-02-01", capsys)
    assert (days["item"], days["value"]) == (["2026-01-31", "2026-02-01", "(missing)"], [1, 1, 2])
    weeks = run(f"{dates} --every week --bounds 2026-01-26 2026-02-02", capsys)
    assert (weeks["item"], weeks["value"]) == (["2026-W05", "2026-W06", "(missing)"], [1, 0, 2])
    same = run(f"{dates.replace('--of date', '--month date')} --bounds 2026-01 2026-12", capsys)
    twice = run(f"{dates} --month date --bounds 2026-01 2026-12", capsys)
    for data in (answer, same, twice):
        # A note may end with a command, which has the words of the question.
        data["notes"] = [note.split("To ask that:")[0] for note in data["notes"]]
    assert same == twice == answer
    years = run(f"{dates} --year date --where \"date >= '2026-01-01'\" --bounds 2025 2026", capsys)
    assert years["value"][:2] == [0, 2]
    assert "Rows with a year that is not listed are left out." in text(
        f"{dates} --every year --bounds 2025 2026", capsys
    )


def test_dates_of_every_type(tmp_path: Path, capsys: Any) -> None:
    moments = [1_769_817_600_000_000, 1_769_817_599_999_999, None, 2**62]  # 2026-01-31 00:00 UTC, and just before
    for name, kind in {"us": pa.timestamp("us"), "zone": pa.timestamp("us", "Asia/Tokyo")}.items():
        rows = {"who": pa.array(range(4)), "date": pa.array(moments, pa.int64()).cast(kind)}
        pa.parquet.write_table(pa.table(rows), f"{name}.parquet")
        days = f"histogram {name}.parquet --of date --unit who --every day --bounds 2026-01-30 2026-01-31 --missing bin"
        answer = run(days, capsys)["value"]
        assert answer[:2] == [1, 1]
    table = pa.table({"who": range(3), "date": pa.array([20_484, 20_483, None], pa.int32()).cast(pa.date32())})
    pa.parquet.write_table(table, "date.parquet")
    answer = run("histogram date.parquet --of date --unit who --every month --bounds 2026-01 2026-02", capsys)
    assert answer["value"] == [2, 0]


NUMBERS = {
    "whole": pa.int64(), "unsigned": pa.uint64(), "decimal": pa.decimal128(30, 3), "float": pa.float32(),
    "double": pa.float64(), "short": pa.int8(),
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
def test_bins_of_every_type_of_number(kind: str, capsys: Any) -> None:
    values = pa.array([1, 2, 3, 4, None], pa.int64()).cast(NUMBERS[kind])
    pa.parquet.write_table(pa.table({"who": range(5), "x": values}), "x.parquet")
    for edges, expected in (("0,2,4", [1, 2, 1]), ("0,2.001,4", [2, 1, 1]), ("0,1.999,3.999", [1, 2, 1])):
        assert run(f"histogram x.parquet --of x --unit who --edges {edges}", capsys)["value"] == expected


@pytest.mark.parametrize(
    "command",
    [
        "count change.csv --unit person --rows --most-rows 0",
        "mean change.csv --unit person --of change --bounds 0 9 --per row --most-rows 0",
        "sum change.csv --unit person --of change --bounds 0 9 --per row --most-rows 0",
        "histogram change.csv --unit person --of change --edges 0,9 --most-items 0",
    ],
)
def test_a_bound_of_nothing_is_refused_by_the_name_of_the_option(command: str, capsys: Any) -> None:
    assert cli._run(shlex.split(f"{command} --epsilon 1"), debug=False) == 2
    assert f"{command.split()[-2]} must be a whole number of at least 1: got 0" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["mean", "sum"])
def test_bounds_of_too_many_digits_are_refused_with_what_helps(command: str, capsys: Any) -> None:
    asked = f"{command} change.csv --of change --unit person --epsilon 1 --bounds"
    assert cli._run(shlex.split(f"{asked} 1 1e15"), debug=False) == 2
    shown = capsys.readouterr()
    assert (shown.out, "such as --bounds 0 1e15 instead of 1 1e15" in shown.err) == ("", True)
    assert cli._run(shlex.split(f"{asked} 0 1e15"), debug=False) == 0


@pytest.mark.parametrize("kind", ["csv", "float", "double"])
def test_a_decimal_that_is_an_edge_is_in_the_bin_above_it(kind: str, capsys: Any) -> None:
    tenths = [i / 10 for i in range(11)]
    if kind == "csv":
        Path("x.csv").write_text("\n".join(["who,x", *(f"{i},{x}" for i, x in enumerate(tenths))]), encoding="utf-8")
    else:
        pa.parquet.write_table(pa.table({"who": range(11), "x": pa.array(tenths, NUMBERS[kind])}), "x.parquet")
    name = "x.csv" if kind == "csv" else "x.parquet"
    edges = ",".join(str(i / 10) for i in range(11))
    assert run(f"histogram {name} --of x --unit who --edges {edges}", capsys)["value"] == [1] * 11


def test_a_database_is_read_by_the_same_rules(capsys: Any) -> None:
    connection = sqlite3.connect("visits.db")
    connection.execute("create table visits (who, cost, date)")
    rows = [("a", 1, "2026-01-31"), ("a", "4", None), ("b", "x", "x"), ("c", None, ""), (None, 2, "2026-01-01")]
    connection.executemany("insert into visits values (?, ?, ?)", rows)
    connection.commit()
    connection.close()
    place = "visits.db --table visits --unit who"
    assert run(f"mean {place} --of cost --bounds 0 10", capsys)["people"] == [1]
    assert run(f"count {place}", capsys)["value"] == [3]
    assert run(f"histogram {place} --of date --every year --bounds 2026 2026 --missing bin --most-items 2", capsys)[
        "value"
    ] == [1, 3]


HOSTILE = [b"900,1e999,2026-99-99", b"900,NaN,infinity", b'900,"1,2"', b"900,-1e308,0001-01-01", b"900,\xff\xfe,\xff",
           b"900,1e-400,99999-01-01", b"900,0x10,2026-01-01 25:00", b"900,,", b"900," + b"9" * 400 + b",2026-06-06",
           b"900,Infinity,2026-01-01T00:00:00+14:00"]  # fmt: skip
SPREAD = [(1, 1), (2, 2), (3, None)]


def count_total(numbers: Any) -> lb.Counts:
    total = numbers.keep_first(1).total(1)
    return lb.Counts(items=["rows"], values=[total.values], sensitivity=total.sensitivity, monotone=total.monotone)


def rank_groups(place: Any, **groups: Any) -> Any:
    options = {"source": place.source, "unit": place.unit, "missing": "show", "others": "show", "epsilon": 1}
    request = KINDS["count"].parse({**options, **groups})
    return read_ranked_counts(request.rows, request.items)


def rank_bins(place: Any) -> Any:
    return rank_groups(place, edges={"x": [0, 1, 5]}, closed=True)


def rank_months(place: Any) -> Any:
    return rank_groups(place, month="date", domain="2026-01..2026-11")


COUNTERS: dict[str, Any] = {
    "people": lambda place: read_everybody(place),
    "rows": lambda place: read_numbers_of_rows(place, 4).then(count_total),
    "units with more rows": lambda place: read_numbers_of_rows(place, 1).then(lambda numbers: numbers.clamped_people),
    "bins": lambda place: rank_bins(place).then(lambda ranked: ranked.keep_first(2)),
    "spread over bins": lambda place: rank_bins(place).then(lambda ranked: ranked.spread(SPREAD)),
    "months": lambda place: rank_months(place).then(lambda ranked: ranked.keep_first(1)),
    "spread over months": lambda place: rank_months(place).then(lambda ranked: ranked.spread(SPREAD)),
}


@pytest.mark.parametrize("counter", COUNTERS)
def test_one_unit_moves_its_own_counts_only(counter: str) -> None:
    def count(lines: list[bytes]) -> lb.Counts:
        Path("hostile.csv").write_bytes(b"\n".join([b"who,x,date", *lines]))
        found: lb.Counts = COUNTERS[counter](make_rows(source="hostile.csv", unit="who")).run()
        return found

    ordinary = [b"%d,%d,2026-%02d-01" % (i % 30, i % 7, 1 + i % 12) for i in range(60)]
    verdict = stability(count, ordinary, unit=lambda line: line.split(b",")[0], hostile=[HOSTILE, HOSTILE * 9])
    assert verdict.holds, str(verdict)
    assert verdict.moved


@pytest.mark.parametrize("per", ["mean", "total", "latest", "row"])
def test_one_unit_moves_sums_and_means_no_further_than_they_say(per: str) -> None:
    more: dict[str, Any] = {"latest": {"latest_by": "date"}, "row": {"most_rows": 3}}.get(per, {})

    def sums(lines: list[bytes]) -> lb.Counts:
        Path("hostile.csv").write_bytes(b"\n".join([b"who,x,date", *lines]))
        rows = make_rows(source="hostile.csv", unit="who")
        numbers = read_numbers(rows, "x", ("-2", "5.5"), per=per, **more).run()
        total, mean = numbers.total("1/4"), numbers.mean("1/4")
        assert mean.sensitivity == Fraction("7.5") * numbers.most
        furthest = total.sensitivity
        values = (total.values, *mean.values)
        return lb.Counts(items=["sum", "first", "second"], values=values, sensitivity=furthest)

    ordinary = [b"%d,%d,2026-%02d-01" % (i % 30, i % 7, 1 + i % 12) for i in range(60)]
    verdict = stability(sums, ordinary, unit=lambda line: line.split(b",")[0], hostile=[HOSTILE, HOSTILE * 9])
    assert verdict.holds, str(verdict)


WRONG = {
    "count visits.csv": "--unit must say who is protected",
    "count visits.csv --unit who --rows": "--rows and --most-rows go together",
    "count visits.csv --unit who --most-rows 3": "--rows and --most-rows go together",
    "count visits.csv --unit who --domain x,y": "name it with --by",
    "count visits.csv --unit who --one-each": "name it with --by",
    "count visits.csv --unit who --by group --domain x,y --one-each --most-items 2": "--one-each is --most-items 1",
    "count visits.csv --unit who --by group --domain x,y --rows --most-rows 3 --one-each": "Leave the others out",
    "count visits.csv --unit who --by group": "need --most-items",
    "mean visits.csv --of who --unit who --bounds 0 1": "--of must be another column",
    "mean visits.csv --of cost --unit who --bounds 0 1 --per median": "--per must be mean, total, latest, first",
    "mean visits.csv --of cost --unit who --bounds 0 1 --per latest": "--per latest and --latest-by go together",
    "mean visits.csv --of cost --unit who --bounds 0 1 --per row": "--per row needs --most-rows",
    "mean visits.csv --of cost --unit who --bounds 0 1 --per mean --most-rows 3": "--most-rows goes with --per row",
    "mean visits.csv --of cost --bounds 0 1 --most-rows 3": "--most-rows needs --unit",
    "mean visits.csv --of cost --unit who --bounds 0 1 --missing 7": "missing must be a number between the bounds",
    "mean visits.csv --of cost --unit who --bounds 0 1 --missing none": "missing must be 'leave-out', 'show', 'lowest'",
    "sum visits.csv --of nothing --unit who --bounds 0 1": "there is no column 'nothing'",
    "histogram visits.csv --unit who": "histogram needs --by COLUMN for items, or --of",
    "histogram visits.csv --unit who --bins 3": "name it with --of",
    "histogram visits.csv --unit who --of cost": "bins need bounds",
    "histogram visits.csv --unit who --of cost --by group --bounds 0 1 --bins 2": "need --most-items",
    "histogram visits.csv --unit who --of who --bounds 0 1 --bins 2": "groups and --unit must be different columns",
    "histogram visits.csv --unit who --of date --every month": "bins of dates need --bounds",
    "histogram visits.csv --unit who --of date --every hour --bounds 2026 2026": "must be day, week, month or year",
    "histogram visits.csv --unit who --of date --every month --bounds 2026 x": "bounds of dates must be days",
    "histogram visits.csv --unit who --of date --every day --bounds 2026-02-30 2027": "bounds of dates must be days",
    "histogram visits.csv --unit who --of date --every day --bounds 2027 2026": "bounds must rise",
    "histogram visits.csv --unit who --of date --every month --month date --bounds 2026 2026": "is by one of days",
    "histogram visits.csv --unit who --year date --month date --bounds 2026 2026": "by one of days, weeks, months",
    "histogram visits.csv --unit who --of cost --edges 3,2": "edges must rise",
    "histogram visits.csv --unit who --of cost --edges 1,x": "must be COLUMN A,B,C: got '1,x'",
    "histogram visits.csv --unit who --of date --every year --bounds 2026 2026 --missing 3": "--missing show",
}


@pytest.mark.parametrize("command", WRONG)
def test_wrong_commands_are_one_line_and_charge_nothing(command: str, capsys: Any) -> None:
    lb.Ledger("budget.db").create("clinic", epsilon=10)
    line = f"{command} --epsilon 1 --ledger budget.db --dataset clinic"
    assert cli._run(shlex.split(line), debug=False) == 2
    shown = capsys.readouterr()
    assert WRONG[command] in shown.err
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert lb.Ledger("budget.db").account("clinic").spent == 0
