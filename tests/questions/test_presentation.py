"""Answers are named after their question, leave as data, and are hidden, rounded or sorted without a cost."""

from __future__ import annotations

import csv
import io
import json
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.errors import ParameterError
from lastbit.output.data_files import csv_bytes, is_answer_csv, is_answer_parquet, write_parquet
from lastbit.output.methods import METHODS
from lastbit.questions.crosswise import pivot_table
from lastbit.questions.kinds import KINDS
from lastbit.questions.presentation import (
    cut_below_zero,
    cut_intervals,
    hide_numbers,
    keep_first,
    round_numbers,
    sort_rows,
)
from lastbit.questions.rates import divide_by, read_sizes
from lastbit.questions.report import Report
from lastbit.questions.titles import title_of
from tests import processes

NOUNS = {"unit": "patient", "noun": "patient,patients", "row_noun": "visit,visits", "epsilon": 1, "source": "v.csv"}
HOSTILE = ["=1+1", "<script>alert(1)</script>", "a\nb", "-3", "[red]x", "\ud800", "@sum", 'ü,"q"']


@pytest.mark.parametrize(
    ("kind", "options", "title"),
    [
        ("count", {}, "Patients"),
        ("count", {"rows": True, "most_rows": 3}, "Visits"),
        ("count", {"by": "region", "domain": "a,b", "one_each": True}, "Patients by region (each in one)"),
        ("count", {"where": "age > 3"}, "Patients, with at least one visit where age > 3"),
        ("count", {"by": "ward", "domain": "a,b", "weights": "cost", "bounds": [0, 9]},
         "Sum of cost of patients by ward"),
        ("histogram", {"month": "day", "bounds": ["2024-01", "2024-12"]}, "Patients by month"),
        ("histogram", {"of": "age", "bins": 3, "bounds": [0, 90]}, "Patients by age"),
        ("sum", {"of": "cost", "bounds": [0, 9]}, "Sum of cost of all patients"),
        ("mean", {"of": "cost", "bounds": [0, 9]}, "Mean cost per patient"),
        ("mean", {"of": "cost", "bounds": [0, 9], "per": "row", "most_rows": 2}, "Mean cost per visit"),
        ("mean", {"of": "cost", "bounds": [0, 9], "where": "x = 1"}, "Mean cost per patient, of visits where x = 1"),
        ("median", {"of": "cost", "bounds": [0, 9], "by": "ward", "domain": "a,b"}, "Median cost per patient, by ward"),
        ("quantile", {"of": "cost", "bounds": [0, 9], "at": [0.25, 0.5]}, "Cost per patient, quantiles 0.25, 0.5"),
        ("top", {"by": "ward", "domain": "a,b", "k": 2}, "The 2 most common wards of patients"),
        ("choose", {"by": "ward", "domain": "a,b"}, "The most common ward of patients"),
        ("top", {"by": "ward,sex", "domain": ["ward=a,b", "sex=f,m"], "k": 2},
         "The 2 most common combinations of ward and sex, of patients"),
        ("top", {"by": "icd10", "domain": "a,b", "k": 2}, "The 2 most common values of icd10, of patients"),
        ("above", {"by": "ward", "domain": "a,b", "threshold": 5, "limit": 1},
         "The first ward with more patients than 5"),
        ("above", {"by": "ward", "domain": "a,b", "threshold": 5, "limit": 2},
         "The first 2 wards with more patients than 5"),
        ("count", {"title": "Our patients"}, "Our patients"),
    ],
)  # fmt: skip
def test_a_title_says_what_was_asked_of_whom(kind: str, options: dict[str, Any], title: str) -> None:
    assert title_of(KINDS[kind].parse({**NOUNS, **options})) == title


def test_a_title_has_the_labels_and_the_unit_of_measure_of_columns() -> None:
    facts = {"cost": {"in": "euros", "bounds": [0, 9]}, "ward": {"label": "department", "values": ["a", "b"]}}
    mean = KINDS["mean"].parse({**NOUNS, "of": "cost", "by": "ward", "columns": facts})
    assert title_of(mean) == "Mean cost per patient (in euros), by department"
    top = KINDS["top"].parse({**NOUNS, "of": "cost", "by": "ward", "columns": facts, "k": 1})
    assert title_of(top) == "The department with the largest sum of cost (in euros)"


def test_every_mechanism_has_its_words() -> None:
    names = {
        name for name in dir(lb) if isinstance(getattr(lb, name), type) and issubclass(getattr(lb, name), lb.Mechanism)
    }
    assert names - {"Mechanism", "Parts"} == METHODS.keys()


def report(**more: Any) -> Report:
    frame = {"region": ["north", "south", "east"], "value": [Fraction(-3), Fraction(20), Fraction(41, 2)],
             "low": [Fraction(-5), Fraction(11), None], "high": [Fraction(2), Fraction(29), Fraction(50)]}  # fmt: skip
    columns = {"region": frame["region"], "people": frame["value"],
               "interval": [*zip(frame["low"], frame["high"], strict=True)]}  # fmt: skip
    return Report("People by region", columns, frame=frame, data={"value": frame["value"], "secret": [1]}, **more)


def test_hidden_numbers_are_gone_everywhere_and_both_sides_of_a_limit_are_right() -> None:
    hidden = hide_numbers(below=20)(report())
    assert hidden.frame["shown"] == [False, True, True]
    assert hidden.frame["why"] == ["below 20", "", ""]
    assert hidden.frame["value"] == [None, 20, Fraction(41, 2)]
    assert hidden.columns["interval"][0] is None
    assert hidden.data["value"][0] is None
    assert "secret" not in hidden.data
    assert hidden.post_processing == [
        "Hidden: numbers below 20, 1 of 3 rows. This looks at published numbers only, and protects nobody."
    ]
    # The interval of the second is as wide as 90% of its number; the last has no end.
    assert hide_numbers(wider="90%")(report()).frame["shown"] == [False, True, False]
    assert hide_numbers(wider="89%")(report()).frame["shown"] == [False, False, False]
    assert hide_numbers(wider=18)(report()).frame["shown"] == [True, True, False]
    with pytest.raises(ParameterError, match="hide needs below"):
        hide_numbers()


def test_the_size_of_a_group_decides_where_it_is_known() -> None:
    frame = {"ward": ["a", "b"], "people": [5, 50], "value": [900, 1], "low": [1, 1], "high": [2, 2]}
    hidden = hide_numbers(below=10)(Report("Mean cost per person, by ward", {"ward": ["a", "b"]}, frame=frame))
    assert hidden.frame["shown"] == [False, True]


def test_rounding_goes_outwards_for_intervals() -> None:
    rounded = round_numbers(10)(report())
    assert rounded.frame["value"] == [0, 20, 20]
    assert rounded.frame["low"] == [-10, 10, None]
    assert rounded.frame["high"] == [10, 30, 50]
    assert rounded.columns["interval"] == [(-10, 10), (10, 30), (None, 50)]
    with pytest.raises(ParameterError, match="above 0"):
        round_numbers(0)


def test_numbers_below_zero_are_shown_as_zero_and_rows_are_sorted_and_cut() -> None:
    cut = cut_below_zero(report())
    assert (cut.frame["value"][0], cut.frame["low"][0], cut.frame["high"][0]) == (0, 0, 2)
    assert sort_rows(report()).frame["region"] == ["east", "south", "north"]
    first = keep_first(2)(report())
    assert first.frame["region"] == ["north", "south"]
    assert first.post_processing == ["The first 2 of 3 rows are shown."]
    assert keep_first(3)(report()).post_processing == ()


def test_rates_divide_the_numbers_of_all_and_of_those_counted_alike() -> None:
    frame = {"ward": ["a", "b"]} | {
        name: [place, None]
        for place, name in enumerate(["value", "low", "high", "bounded_value", "bounded_low", "bounded_high"], 3)
    }
    counted = Report("Mean cost per person, by ward", {"ward": ["a", "b"]}, frame=frame | {"people": [9, 9]})
    rate = divide_by({"a": 50, "b": 7}, 100)(counted)
    expected = {name: [2 * column[0], None] for name, column in frame.items() if name != "ward"}
    assert {name: rate.frame[name] for name in expected} == expected
    assert rate.frame["people"] == [9, 9]


def test_rates_divide_numbers_and_intervals_by_public_numbers() -> None:
    rate = divide_by({"north": 1000, "south": 2000, "east": 500}, 100)(report())
    assert rate.frame["value"] == [Fraction(-3, 10), 1, Fraction(41, 10)]
    assert rate.frame["high"][1] == Fraction(29, 20)
    assert rate.title == "People by region, per 100 residents"
    partly = divide_by(pd.DataFrame({"region": ["north", "south"], "households": [10, 20]}))(report())
    assert partly.frame["shown"] == [True, True, False]
    assert partly.frame["value"][2] is None
    assert partly.title.endswith("per 1,000 households")
    for wrong in ({"north": 0}, {"north": "x"}, {"region": ["n", "n"], "size": [1, 2]}, {"x": [1], "y": [2]}):
        with pytest.raises(ParameterError):
            read_sizes(wrong, ["region"])
    with pytest.raises(ParameterError):
        divide_by(7)


def test_totals_only_where_nobody_is_counted_twice() -> None:
    long = {"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"], "value": [1, 2, 3, None]}
    assert pivot_table(long, ["a", "b"], adds_up=False) == ({"a": ["x", "y"], "u": [1, 3], "v": [2, None]}, False)
    assert pivot_table(long, ["a", "b"], adds_up=True)[1] is False  # one is hidden
    assert pivot_table({**long, "value": [1, 2, 3, 4]}, ["a", "b"], ["b", "a"], adds_up=True)[0] == {
        "b": ["u", "v", "(all)"], "x": [1, 2, 3], "y": [3, 4, 7], "(all)": [4, 6, 10],
    }  # fmt: skip
    for names in (["a"], ["a", "c"], ["a", "a"]):
        with pytest.raises(ParameterError, match="pivot takes"):
            pivot_table(long, ["a", "b"], names, adds_up=True)


def test_hostile_labels_are_text_in_every_file(tmp_path: Path) -> None:
    columns = {
        "=cmd": HOSTILE,
        "value": [Fraction(1, 3)] * len(HOSTILE),
        "low": [None] * len(HOSTILE),
        "high": [10**30] * len(HOSTILE),
    }
    content = csv_bytes(columns).decode()
    header, *rows = csv.reader(io.StringIO(content))
    assert header[0] == "'=cmd"
    assert [row[0] for row in rows][:4] == ["'=1+1", HOSTILE[1], "a\nb", "'-3"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    file = tmp_path / "a.parquet"
    write_parquet(file, columns)
    frame = pd.read_parquet(file)
    assert frame["value"].tolist() == [1 / 3] * len(HOSTILE)
    assert frame["=cmd"].tolist()[:5] == HOSTILE[:5]
    content = file.read_bytes()
    assert is_answer_parquet(content, content)
    pd.DataFrame({"value": [1], "low": [1], "high": [2]}).to_parquet(file)
    content = file.read_bytes()
    assert not is_answer_parquet(content, content)
    assert is_answer_csv(csv_bytes({"region": ["n"], "value": [1], "low": [0], "high": [2]}), b"")
    assert not is_answer_csv(b"patient,low\n1,2\n", b"")


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{patient},{'north' if patient % 3 else 'south'},{'f' if patient % 2 else 'm'},{patient % 50}"
        for patient in range(600)
    ]
    Path("visits.csv").write_text("patient,region,kind,cost\n" + "\n".join(rows) + "\n")
    return tmp_path


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


COUNT = "count visits.csv --unit patient --noun patient,patients --by region --domain north,south --epsilon 5"


def test_several_files_at_once_and_every_one_has_the_same_numbers(visits: Path, capsys: Any) -> None:
    command = f"{COUNT} --csv a.csv --parquet a.parquet --html a.html --plot a.png --json --methods"
    for _ in range(2):  # an earlier answer is replaced
        assert run(command) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    table, parquet = pd.read_csv("a.csv"), pd.read_parquet("a.parquet")
    assert list(table.columns) == ["region", "value", "low", "high"]
    assert table["value"].tolist() == parquet["value"].tolist() == answer["value"]
    assert answer["title"] == "Patients by region"
    assert "<h1>Patients by region</h1>" in Path("a.html").read_text()
    assert answer["methods"].startswith("Patients by region. ")
    assert "DiscreteLaplace" not in " ".join(answer["notes"]) + answer["title"] + answer["methods"]
    assert answer["notes"][-1] == (
        "Method: discrete Laplace noise, drawn exactly; epsilon 5 protects all rows of any one patient; intervals are "
        "for these patients, not for patients in general."
    )


def test_json_is_printed_or_written_into_a_file_and_is_the_same(visits: Path, capsys: Any) -> None:
    assert run(f"{COUNT} --json") == 0
    printed = json.loads(capsys.readouterr().out)
    for _ in range(2):  # an earlier answer is replaced
        assert run(f"{COUNT} --json a.json --csv a.csv") == 0
        assert capsys.readouterr().out.startswith("Patients by region\n")
    written = json.loads(Path("a.json").read_text())
    assert written.keys() == printed.keys()
    assert written["value"] == pd.read_csv("a.csv")["value"].tolist()
    assert run(COUNT.replace("count visits.csv", "count --json visits.csv")) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Patients by region"
    assert run("compare a.json a.json --json c.json") == run("compare a.json a.json --json c.json") == 0
    assert json.loads(Path("c.json").read_text())["as"] == "difference"
    Path("own.json").write_text('{"mine": 1}')
    capsys.readouterr()
    for file in ("own.json", "none/x.json"):
        assert run(f"{COUNT} --json {file}") == 2
    assert Path("own.json").read_text() == '{"mine": 1}'


def test_intervals_of_people_end_at_zero_and_numbers_stay_as_drawn(visits: Path) -> None:
    nobody = {"region": [f"nowhere {place}" for place in range(40)]}
    release = lb.ask("count", "visits.csv", unit="patient", by=nobody, epsilon=1)
    table = release.to_frame()
    assert table["low"].min() == 0
    assert (table["high"] >= table["low"]).all()
    assert table["value"].min() < 0
    assert [low for low, _ in release.report.columns["interval"]] == table["low"].tolist() == release.data["low"]
    # A sum may be below 0, and so may the ends of its interval.
    debts = lb.ask("count", "visits.csv", unit="patient", by=nobody, weights="cost", bounds=(-9, 9), epsilon=1)
    assert (debts.to_frame()["low"] < 0).any()


def test_who_closes_the_pipe_still_gets_the_files(visits: Path) -> None:
    whole = processes.start(
        [sys.executable, "-m", "lastbit.cli", *shlex.split(COUNT), "--csv", "a.csv"], stdout=subprocess.PIPE
    )
    assert whole.stdout is not None
    whole.stdout.close()
    whole.wait()
    assert list(pd.read_csv("a.csv")["region"]) == ["north", "south"]


def test_a_file_that_is_no_answer_is_not_replaced(visits: Path, capsys: Any) -> None:
    Path("other.csv").write_text("patient,cost\n1,2\n")
    for option in ("--csv other.csv", "--csv visits.csv", "--parquet other.csv"):
        assert run(f"{COUNT} {option}") == 2
        assert "Nothing was spent" in capsys.readouterr().err


def test_what_cannot_be_shown_is_refused_before_anything_is_spent(visits: Path, capsys: Any) -> None:
    assert run("budget create clinic --ledger b.db --epsilon 9") == 0
    capsys.readouterr()
    for option in ("--pivot region,kind", "--rate none.csv", "--round 0"):
        assert run(f"{COUNT} --ledger b.db --dataset clinic {option}") in (1, 2)
    assert run(f"top {COUNT[6:]} -k 1 --hide-below 3 --ledger b.db --dataset clinic") == 2
    capsys.readouterr()
    assert lb.Ledger("b.db").account("clinic").spent == 0


def test_a_release_offers_the_same_in_every_kind(visits: Path) -> None:
    shared = {"unit": "patient", "noun": "patient,patients", "epsilon": 100}
    by = {"by": {"region": ["north", "south"]}}
    answers = {
        "count": lb.ask(
            "count", "visits.csv", **{**shared, "epsilon": 2}, by={"region": ["north", "south"], "kind": ["f", "m"]}
        ),
        "sum": lb.ask("sum", "visits.csv", **shared, of="cost", bounds=(0, 50)),
        "mean": lb.ask("mean", "visits.csv", **shared, of="cost", bounds=(0, 50)),
        "median": lb.ask("median", "visits.csv", **shared, of="cost", bounds=(0, 50), **by),
        "top": lb.ask("top", "visits.csv", **shared, **by, k=1),
        "measure": lb.ask("measure", "visits.csv", **shared, **by, k=1),
    }
    for name, answer in answers.items():
        assert name == "count" or answer.title
        assert "lastbit" in answer.methods()
        assert len(answer.to_frame())
        assert "for these patients, not for patients in general" in repr(answer) or name == "median"
        assert answer.title in answer._repr_html_()
    count = answers["count"]
    assert list(count.to_frame().columns) == ["region", "kind", "value", "low", "high"]
    assert str(count.to_frame()["value"].dtype) == "float64"
    narrow, wide = count.to_frame(level=0.5), count.to_frame(level=0.999)
    assert (wide["high"] - wide["low"] > narrow["high"] - narrow["low"]).all()
    assert list(count.pivot("kind", "region").columns) == ["kind", "north", "south"]
    hidden = count.hide(below=150)
    assert hidden.to_frame()["shown"].tolist() == [True, True, False, False]
    assert hidden.to_frame(level=0.5)["shown"].tolist() == [True, True, False, False]
    assert hidden == count  # the release is the same
    assert all(isinstance(value, Fraction) for value in count.values)
    assert "per 1,000 residents" in answers["measure"].rate({"north": 4000, "south": 9000}).title
    assert list(answers["measure"].to_frame().columns) == ["rank", "region", "value", "low", "high", "gap"]


def test_intervals_together_are_those_of_a_higher_level(visits: Path) -> None:
    options = {"unit": "patient", "by": {"region": ["north", "south"]}, "epsilon": 1}
    together = lb.ask("count", "visits.csv", **options, together=True)
    assert "All 2 hold together with probability 95% or more." in together.report.notes
    each = together.to_frame(level="0.95")  # of each, both at 97.5%
    assert together.request["together"]
    width = each["high"] - each["low"]
    alone = lb.DiscreteLaplace(epsilon=1, sensitivity=2).accuracy("0.975")
    assert width.tolist() == [float(2 * alone)] * 2


def test_hostile_names_are_text_in_the_page_and_the_table(tmp_path: Path) -> None:
    name, label = "<img src=x onerror=alert(1)>", "<b>=1+1</b>"
    pd.DataFrame({"p": range(300), name: [label] * 300}).to_csv(tmp_path / "h.csv", index=False)
    answer = lb.ask("count", tmp_path / "h.csv", unit="p", by={name: [label, "x"]}, epsilon=1, noun="<i>,<u>")
    for page in (answer._repr_html_(), answer.page.html()):
        assert "<img" not in page
        assert "<b>" not in page
        assert "<u>" not in page
    assert answer.to_frame()[name].tolist() == [label, "x"]


AXES: list[tuple[str, dict[str, Any], str, str]] = [
    ("mean", {"of": "cost", "bounds": [0, 100]}, "Mean cost per patient", "ward"),
    ("sum", {"of": "cost", "bounds": [0, 100]}, "Sum of cost of all patients", "ward"),
    ("median", {"of": "cost", "bounds": [0, 100]}, "Median cost per patient", "ward"),
    ("share", {"of": "cost > 3"}, "Percent of patients", "ward"),
    ("count", {}, "patients", "ward"),
    ("count", {"one_each": True}, "all patients", "ward"),
    ("top", {"k": 2, "numbers": True}, "patients", "ward"),
    ("top", {"k": 2}, "ahead of the next, in patients", "ward"),
]


@pytest.mark.parametrize(("kind", "options", "name", "groups"), AXES)
def test_axes_are_named_after_the_question(kind: str, options: dict[str, Any], name: str, groups: str) -> None:
    table = pd.DataFrame({"patient": range(600), "ward": ["a", "b", "c"] * 200, "cost": [3, 5, 9] * 200})
    domain = ["a", "b", "c", "nobody is here"]
    view = lb.ask(
        kind, table, unit="patient", noun="patient", by="ward", domain=domain, epsilon=5, **options
    )  # fmt: skip
    (panel,) = view.panels
    assert (panel.name, panel.label_name) == (name, groups)
    if kind in ("mean", "median", "share"):
        assert (panel.heights[3], panel.reasons[3]) == (None, "too few")
        assert panel.size_name == "patients"
        assert list(panel.sizes) == list(view.report.table["people"])
    assert [*panel.labels] == domain[: len(panel.labels)] or kind == "top"


def test_two_columns_are_panels_of_one_scale() -> None:
    table = pd.DataFrame({"patient": range(400), "ward": ["a", "b"] * 200, "sex": ["f", "f", "m", "m"] * 100})
    domain = {"ward": ["a", "b"], "sex": ["f", "m"]}
    options: dict[str, Any] = {"unit": "patient", "by": ["ward", "sex"], "domain": domain, "one_each": True}
    for view in (lb.ask("count", table, epsilon=1, **options), lb.ask("tables", table, rho=1, **options)):
        assert [panel.heading for panel in view.panels] == ["ward: a", "ward: b"]
        assert [(panel.labels, panel.label_name) for panel in view.panels] == [(["f", "m"], "sex")] * 2
        assert len({panel.reach for panel in view.panels}) == 1


def test_an_order_is_dashed_where_intervals_overlap() -> None:
    counts = {"a": 3000, "b": 1000, "c": 999, "d": 10}
    rows = [(f"{ward}{place}", ward) for ward, many in counts.items() for place in range(many)]
    table = pd.DataFrame(rows, columns=["patient", "ward"])
    view = lb.ask("top", table, unit="patient", by="ward", domain=[*counts], k=4, numbers=True, epsilon=1)
    (panel,) = view.panels
    assert panel.doubts == [1]
    gaps = lb.ask("top", table, unit="patient", by="ward", domain=[*counts], k=3, epsilon="1/10")
    assert gaps.panels[0].doubts == [1]


def test_intervals_of_people_begin_at_nobody_in_every_table_that_shows_them() -> None:
    intervals = [(-9, 3), (Fraction(-1, 2), 11), (4, None), None]
    lows, highs = [-9, Fraction(-1, 2), 4, None], [3, 11, None, None]
    frame = {"item": ["-1", -2, "c", "d"], "value": [-3, 5, 6, -1], "low": lows, "high": highs}
    columns = {"item": frame["item"], "people": frame["value"], "interval": intervals}
    data = {"interval": intervals, "low": lows, "value": frame["value"]}
    cut = cut_intervals(Report("", columns, data=data, frame=frame))
    assert cut.columns == {**columns, "interval": [(0, 3), (0, 11), (4, None), None]}
    assert cut.frame == {**frame, "low": [0, 0, 4, None]}
    assert cut.data == {"interval": cut.columns["interval"], "low": cut.frame["low"], "value": frame["value"]}
    assert lows[0] == -9  # the report that was given stays as it is
