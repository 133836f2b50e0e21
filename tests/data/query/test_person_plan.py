"""Columns of one person's rows: what they hold, what is refused, and that nothing but these rows decides."""

from __future__ import annotations

import datetime
import random
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.frames import open_frame_rows
from lastbit.data.files.open_table import open_table
from lastbit.data.query.parsing import parse_person_expression
from lastbit.data.query.plan import RowPlan
from lastbit.questions.kinds import KINDS
from tests.table_readers import make_rows

Row = dict[str, Any]
SCHEMA = pa.schema(
    [("patient", pa.int64()), ("day", pa.date32()), ("cost", pa.float64()), ("n", pa.int64()), ("kind", pa.string())]
)


def read(source: Any, columns: Sequence[str], *, distinct: bool = False, **options: Any) -> Counter[Any]:
    """The rows that a question with these options reads, each as often as it is there."""
    rows = make_rows("-" if isinstance(source, pd.DataFrame) else source, unit="patient", **options)
    selection = ColumnSelection(tuple(columns), distinct=distinct)
    if isinstance(source, pd.DataFrame):
        table = open_frame_rows(source, selection, rows.plan, "patient")
    else:
        table = open_table(source, selection, None, rows.form, rows.plan)
    return Counter(table.relation.fetchall())


def make_table(seed: int, rows: int = 60) -> list[Row]:
    """A table with ties, equal rows and missing values. Its costs are cents."""
    chance = random.Random(seed)
    start = datetime.date(2024, 1, 1)
    return [
        {
            "patient": chance.choice([1, 2, 3, 4, 5, 6, 7, None]),
            "day": chance.choice([None, *(start + datetime.timedelta(days=n) for n in range(8))]),
            "cost": chance.choice([None, float("nan"), -0.0, *(n / 100 for n in range(5))]),
            "n": chance.choice([None, 0, 1, 7, 2**62, -(2**63)]),
            "kind": chance.choice([None, "a", "b", "10", "9", "é"]),
        }
        for _ in range(rows)
    ]


def write(rows: Sequence[Row], path: Path) -> str:
    pyarrow.parquet.write_table(pa.Table.from_pylist(list(rows), SCHEMA), path)
    return str(path)


# The reference: plain Python over the rows of one person.


def known(rows: Sequence[Row], name: str) -> list[Any]:
    return [row[name] for row in rows if row[name] is not None and row[name] == row[name]]


def text_order(text: str) -> tuple[Any, ...]:
    """As a number where it is one, then by bytes."""
    try:
        return (0, float(text), text.encode())
    except ValueError:
        return (1, 0.0, text.encode())


def sort_key(row: Row, *names: str) -> tuple[Any, ...]:
    """By some columns, missing ones last, and then by all columns."""

    def key(value: Any) -> tuple[Any, ...]:
        if value is None or value != value:
            return (2 if value is None else 1,)
        return (0, value, str(value)[:1] != "-") if isinstance(value, float) else (0, value)

    return tuple(key(row[name]) for name in names)


def lagged(rows: Sequence[Row]) -> list[Any]:
    # The columns of the expression come first among those that break ties.
    ordered = sorted(rows, key=lambda row: sort_key(row, "day", "n", "cost", "kind"))
    before = {id(row): ordered[place - 1]["n"] if place else None for place, row in enumerate(ordered)}
    return [before[id(row)] for row in rows]


def constant(value: Callable[[Sequence[Row]], Any]) -> Callable[[Sequence[Row]], list[Any]]:
    return lambda rows: [value(rows)] * len(rows)


def cents(rows: Sequence[Row]) -> float | None:
    costs = known(rows, "cost")
    return sum(round(cost * 100) for cost in costs) / 100 if costs else None


def at_end(rows: Sequence[Row], pick: Callable[..., Any]) -> Any:
    dated = [row for row in rows if row["day"] is not None]
    if not dated:
        return None
    end = pick(row["day"] for row in dated)
    values = known([row for row in dated if row["day"] == end], "n")
    return pick(values) if values else None


REFERENCES: Mapping[str, Callable[[Sequence[Row]], list[Any]]] = {
    "count(*)": constant(len),
    "count(kind)": constant(lambda rows: len(known(rows, "kind"))),
    "count(distinct kind)": constant(lambda rows: len(set(known(rows, "kind")))),
    "count(distinct cost)": constant(lambda rows: len(set(known(rows, "cost")))),
    "count(*) filter (where kind = 'a')": constant(lambda rows: sum(row["kind"] == "a" for row in rows)),
    "min(day)": constant(lambda rows: min(known(rows, "day"), default=None)),
    "max(n)": constant(lambda rows: max(known(rows, "n"), default=None)),
    "max(cost)": constant(lambda rows: max(known(rows, "cost"), default=None)),
    "min(kind)": constant(lambda rows: min(known(rows, "kind"), key=text_order, default=None)),
    "sum(cost)": constant(cents),
    "avg(cost)": constant(
        lambda rows: (
            sum(round(cost * 100) for cost in costs) / (100 * len(costs)) if (costs := known(rows, "cost")) else None
        )
    ),
    "any(kind = 'a')": constant(lambda rows: any(row["kind"] == "a" for row in rows)),
    "all(kind = 'a')": constant(lambda rows: all(row["kind"] == "a" for row in rows)),
    "not any(kind = 'a') and count(*) > 2": constant(
        lambda rows: not any(row["kind"] == "a" for row in rows) and len(rows) > 2
    ),
    "first(n order by day)": constant(lambda rows: at_end(rows, min)),
    "latest(n order by day)": constant(lambda rows: at_end(rows, max)),
    "lag(n) over (order by day)": lagged,
    "count(*) over (partition by patient order by day)": lambda rows: [
        sum(sort_key(other, "day") <= sort_key(row, "day") for other in rows) for row in rows
    ],
    "rank() over (order by day desc)": lambda rows: [
        1
        + sum(
            (other["day"] is not None) if row["day"] is None else other["day"] is not None and other["day"] > row["day"]
            for other in rows
        )
        for row in rows
    ],
    "n + 1": lambda rows: [None if row["n"] is None else row["n"] + 1 for row in rows],
}


def refer(rows: Sequence[Row], columns: Sequence[str], expression: str) -> Counter[Any]:
    people = defaultdict(list)
    for row in rows:
        if row["patient"] is not None:
            people[row["patient"]].append(row)
    return Counter(
        (*(row[name] for name in columns), value)
        for own in people.values()
        for row, value in zip(own, REFERENCES[expression](own), strict=True)
    )


@pytest.mark.parametrize("expression", REFERENCES)
def test_every_function_is_what_plain_python_says(expression: str, tmp_path: Path) -> None:
    for seed in range(3):
        rows = make_table(seed)
        place = write(rows, tmp_path / f"{seed}.parquet")
        columns = ["patient", "kind", "day"] if "over" not in expression else ["patient", "kind", "day", "cost", "n"]
        names = [*columns, "made"]
        expected = refer(rows, columns, expression)
        made = read(place, names, let={"made": expression})
        assert _comparable(made) == _comparable(expected), seed
        if not any(word in expression for word in ("over", "n + 1")):
            # One row for each person, where no question asks for more.
            grouped = read(place, ("patient", "made"), distinct=True, let={"made": expression})
            assert _comparable(grouped) == _comparable(Counter({(row[0], row[-1]): 1 for row in expected}))


def _comparable(rows: Counter[Any]) -> Counter[Any]:
    """NaN is no number here, and there is one zero."""

    def form(value: Any) -> Any:
        return None if value != value else value + 0.0 if isinstance(value, float) else value

    comparable: Counter[Any] = Counter()
    for row, count in rows.items():
        comparable[tuple(map(form, row))] += count
    return comparable


POSITIONS = {
    "before": "lag(n) over (order by kind)",
    "place": "row_number() over (order by day)",
    "behind": "lead(cost, 2) over (order by place desc)",
    "late": "latest(kind order by cost)",
}


def test_the_order_of_rows_in_a_file_changes_nothing(tmp_path: Path) -> None:
    """Ties, equal rows, two zeros: only the rows of the person decide."""
    names = ["patient", "kind", "cost", "n", "day", *POSITIONS]
    for seed in range(6):
        rows = make_table(seed)
        first = read(write(rows, tmp_path / "first.parquet"), names, let=POSITIONS)
        for other in range(3):
            random.Random(other).shuffle(rows)
            again = read(write(rows, tmp_path / f"{other}.parquet"), names, let=POSITIONS)
            assert Counter(map(repr, again.elements())) == Counter(map(repr, first.elements()))


def test_two_zeros_are_no_tie(tmp_path: Path) -> None:
    """They are one number, and one text: which of them a row has is not for its place in the file to say."""
    rows = [{"patient": 1, "day": None, "cost": zero, "n": 1, "kind": "a"} for zero in (0.0, -0.0)]
    lets = {"place": "row_number() over (order by n)", "before": "lag(cast(cost as varchar)) over (order by n)"}
    names = ("patient", "cost", "place", "before")
    places = [
        sorted(map(repr, read(write(order, tmp_path / "v.parquet"), names, let=lets))) for order in (rows, rows[::-1])
    ]
    assert places[0] == places[1] == ["(1, 0.0, 1, None)", "(1, 0.0, 2, '0.0')"]
    # With an order and without: what the engine makes of a zero by which it orders is not for it to say.
    texts = read(write(rows, tmp_path / "v.parquet"), ("text",), let={"text": "cast(cost as varchar)"})
    assert texts == Counter({("0.0",): 2})


def test_a_zero_that_is_made_has_no_sign(tmp_path: Path) -> None:
    """So that it cannot tell two rows apart that are alike in all else."""
    rows = [{"patient": 1, "day": None, "cost": sign, "n": 1, "kind": "a"} for sign in (1.0, -1.0)]
    lets = {"zero": "cost * cast('0' as double)", "before": "lag(cast(zero as varchar)) over (order by n)"}
    made = read(write(rows, tmp_path / "v.parquet"), ("zero", "before"), let=lets)
    assert sorted(map(repr, made)) == ["(0.0, '0.0')", "(0.0, None)"]
    lets = {"zero": lets["zero"], "text": "cast(zero as varchar)"}
    assert read(write(rows, tmp_path / "v.parquet"), ("text",), let=lets) == Counter({("0.0",): 2})


def test_nobody_else_changes_what_a_person_has(tmp_path: Path) -> None:
    names = ["patient", "kind", "cost", "n", "day", *POSITIONS, "total", "visits"]
    lets = {**POSITIONS, "total": "sum(n) + sum(cost)", "visits": "count(*)"}
    rows = make_table(9)
    everybody = read(write(rows, tmp_path / "all.parquet"), names, let=lets)
    for patient in range(1, 8):
        own = [row for row in rows if row["patient"] == patient]
        alone = read(write(own, tmp_path / f"{patient}.parquet"), names, let=lets)
        expected = Counter(repr(row) for row in everybody.elements() if row[0] == patient)
        assert Counter(map(repr, alone.elements())) == expected


def test_files_and_frames_agree(tmp_path: Path) -> None:
    rows = [{"patient": p, "day": f"2024-01-{d:02}", "cost": c} for p, d, c in [(1, 2, 9), (1, 3, 10), (2, 1, 5)]]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "v.csv", index=False)
    frame.to_parquet(tmp_path / "v.parquet")
    lets = {"most": "max(cost)", "gap": "date_diff('day', lag(day) over (order by day), day)", "big": "most > 9"}
    expected = Counter({("1", "10", None, True): 1, ("1", "10", 1, True): 1, ("2", "5", None, False): 1})
    for source in (frame, str(tmp_path / "v.csv"), str(tmp_path / "v.parquet")):
        rows_read = read(source, ("patient", "most", "gap", "big"), let=lets)
        assert Counter((str(row[0]), str(row[1]), *row[2:]) for row in rows_read.elements()) == expected


def test_two_people_that_look_alike_stay_two_and_one_person_stays_one(tmp_path: Path) -> None:
    text = 'patient,x\na,1\nA,1\na ,1\n"a",1\né,1\ne\u0301,1\n01,1\n1,1\n'
    (tmp_path / "v.csv").write_text(text, encoding="utf-8")
    counts = read(str(tmp_path / "v.csv"), ("patient", "n"), let={"n": "count(*)"})
    assert counts == Counter({("a", 2): 2, **{(who, 1): 1 for who in ("A", "a ", "é", "e\u0301", "01", "1")}})
    zeros = pa.table({"patient": pa.array([0.0, -0.0, float("nan"), None, 1.0]), "x": pa.array([1, 2, 3, 4, 5])})
    pyarrow.parquet.write_table(zeros, tmp_path / "v.parquet")
    counts = read(str(tmp_path / "v.parquet"), ("x", "n"), let={"n": "count(*)"})
    assert counts == Counter({(1, 2): 1, (2, 2): 1, (5, 1): 1})


def test_sums_are_exact_and_never_overflow(tmp_path: Path) -> None:
    values = [2**63 - 1] * 5 + [1]
    numbers = pa.array([0.1] * 3 + [1e308, 9e15, 2.5])
    table = pa.table({"patient": pa.array([1] * 5 + [2]), "n": pa.array(values), "x": numbers})
    pyarrow.parquet.write_table(table, tmp_path / "v.parquet")
    lets = {"tenths": "sum(x)", "fits": "sum(n) is not null", "beyond": "sum(n) > 9223372036854775807"}
    rows = read(str(tmp_path / "v.parquet"), ("patient", *lets), let=lets)
    assert rows == Counter({(1, 0.3, True, True): 5, (2, 2.5, True, False): 1})


def test_columns_are_made_of_others_whatever_the_order(tmp_path: Path) -> None:
    place = write(make_table(1), tmp_path / "v.parquet")
    lets = {"zeta": "visits * 2", "visits": "count(*)", "alpha": "max(zeta) - zeta"}
    turned = dict(reversed(lets.items()))
    rows = read(place, ("patient", "zeta", "alpha"), let=lets)
    assert rows == read(place, ("patient", "zeta", "alpha"), let=turned)
    assert {row[2] for row in rows} == {0}
    with pytest.raises(lb.ParameterError, match="of itself: got a, b"):
        make_rows("v.csv", unit="patient", let={"a": "b + 1", "b": "sum(a)"})


REFUSED = {
    "(select max(cost) from data)": "a query inside a query",
    "sum((select 1))": "a query inside a query",
    "exists (select 1)": "a query inside a query",
    "cost > any(select cost from data)": "must be SQL that can be read",
    "count(*) over (partition by ward)": "partition by reaches over people",
    "count(*) over (partition by patient, ward)": "partition by reaches over people",
    "count(*) over (partition by patient || ward)": "partition by reaches over people",
    "lag(x) over (partition by 1 order by day)": "partition by reaches over people",
    "lag(x) over ()": "lag needs an order",
    "row_number()": "row_number needs an order",
    "lag(x) over (order by 1)": "an order by a constant",
    "lag(x ignore nulls) over (order by day)": "lag and lead take the row as it is",
    "lag(x, 1, 0) over (order by day)": "lag and lead take the row as it is",
    "lag(x, -1) over (order by day)": "a whole number of rows",
    "lag(x, y) over (order by day)": "a whole number of rows",
    "sum(x) over (order by day rows between 1 preceding and current row)": "a window has no frame here",
    "sum(x) over (order by day range unbounded preceding exclude ties)": "a window has no frame here",
    "lag(x order by y) over (order by day)": "it says more than a plain query",
    "sum(lag(x) over (order by day))": "lag stands inside another function",
    "max(count(*))": "count_star stands inside another function",
    "lag(x) over (order by count(*))": "count_star stands inside another function",
    "count(*) filter (where any(x))": "any stands inside another function",
    "median(x)": "there is no function median here",
    "quantile_cont(x, 0.5)": "there is no function quantile_cont here",
    "list_sum(list(x))": "there is no function list_sum here",
    "string_agg(x, ',')": "there is no function string_agg here",
    "nth_value(x, 2) over (order by day)": "there is no function nth_value here",
    "ntile(4) over (order by day)": "there is no function ntile here",
    "read_csv('/etc/passwd')": "there is no function read_csv here",
    "read_text('/etc/passwd')": "there is no function read_text here",
    "getenv('HOME')": "there is no function getenv here",
    "random()": "there is no function random here",
    "other.sum(x)": "there is no function sum here",
    "unnest([1, 2])": "there is no function unnest here",
    "error('x')": "there is no function error here",
    "columns(*)": "a star stands alone",
    "[x for x in [1]]": "",
    "sum(x) over w": "must be SQL that can be read",
    "count(*) from data; select 1": "must be SQL that can be read",
    "count(*)) from data where (true": "",
    "count(*) group by ward": "",
    "count(*) as a, sum(x)": "",
    "count(*) qualify true": "",
    "sum(x order by y)": "sum has no order inside",
    "sum(distinct x)": "sum has no distinct here",
    "first(x)": "first needs one order",
    "first(x order by y desc)": "first needs one order",
    "first(x order by y) over (order by z)": "",
    "sum(x, y)": "sum takes 1 argument",
    "sum(" * 200 + "x" + ")" * 200: "sum stands inside another function",
    "x" + " + x" * 3000: "",
    "count(*) " + " " * 10_000: "at most 10,000 characters",
    "any(x) -- )": None,
}


@pytest.mark.parametrize("expression", [text for text, reason in REFUSED.items() if reason is not None])
def test_whatever_reaches_further_is_refused_by_name(expression: str) -> None:
    with pytest.raises(lb.ParameterError, match=REFUSED[expression] or "--let") as error:
        parse_person_expression(expression, ["patient"], "--let made")
    assert str(error.value).startswith("--let made")


def test_words_that_the_parser_keeps_for_itself_are_functions_here() -> None:
    same = parse_person_expression('"any"(x = \'any(\') and "all"(y)', ["p"])
    assert parse_person_expression("ANY (x = 'any(') and /* any( */ all(y) -- any(", ["p"]) == same


def test_types_that_do_not_fit_are_refused_before_rows_are_read(tmp_path: Path) -> None:
    place = write([], tmp_path / "v.parquet")
    for expression, reason in {
        "sum(day)": "sum takes numbers",
        "any(n)": "a condition is true or false",
        "n + day": "only numbers are computed with",
    }.items():
        with pytest.raises(lb.ParameterError, match=reason):
            read(place, ("patient", "made"), let={"made": expression})


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"unit": None, "let": {"a": "count(*)"}}, "--let needs --unit"),
        ({"unit": None, "split": ("kind", ";")}, "--split needs --unit"),
        ({"let": {"patient": "count(*)"}}, "must not make the column of --unit"),
        ({"let": {"Patient": "count(*)"}}, "must not make the column of --unit"),
        ({"let": {"a": "count(*)"}, "sql": "select * from data"}, "--sql goes without"),
        ({"join": "x.csv"}, "--join and --on go together"),
        ({"split": ("patient", ";")}, "another column than --unit"),
    ],
)
def test_options_that_contradict_each_other(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(lb.ParameterError, match=reason):
        make_rows("v.csv", **{"unit": "patient", **options})


def test_a_column_that_the_table_has_is_not_made_again(tmp_path: Path) -> None:
    place = write(make_table(0), tmp_path / "v.parquet")
    with pytest.raises(lb.ParameterError, match="two columns called 'KIND'"):
        read(place, ("patient",), let={"KIND": "count(*)"})
    frame = pd.DataFrame({"patient": [1], "kind": ["a"]})
    with pytest.raises(lb.ParameterError, match="two columns called 'kind'"):
        read(frame, ("patient",), let={"kind": "count(*)"})


def test_a_text_of_several_items_is_several_rows(tmp_path: Path) -> None:
    # Blanks that are no ASCII are taken off as well, and a text of nothing else has no item.
    texts = ["a;b", "a; b ;;c", "", " ; ", ";", "x", ";y;", "a;a", "a b;~", "\x7f;a"]
    texts += ["é;\u3000b\u00a0", "\u00a0;", "\u2003"]
    lines = [f'{number},"{text}"' for number, text in enumerate(texts)]
    (tmp_path / "v.csv").write_text("\n".join(["patient,codes", *lines, "99,"]), encoding="utf-8")
    rows = read(str(tmp_path / "v.csv"), ("patient", "codes", "n"), split=("codes", ";"), let={"n": "count(codes)"})
    expected: Counter[Any] = Counter()
    for number, text in enumerate(texts):
        pieces = [piece.strip(" \u00a0\u2003\u3000") for piece in text.split(";")]
        pieces = [piece for piece in pieces if piece]
        expected.update((str(number), piece, len(pieces)) for piece in pieces or [None])
    assert rows == expected + Counter({("99", None, 0): 1})
    with pytest.raises(lb.ParameterError, match="--split takes a column of text"):
        read(write(make_table(0), tmp_path / "v.parquet"), ("patient", "n"), split=("n", ";"))


def test_rows_count_their_items_also_where_no_question_reads_them(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("patient,codes\n1,a;b;c\n2,a\n", encoding="utf-8")
    rows = read(str(tmp_path / "v.csv"), ("patient", "n"), split=("codes", ";"), let={"n": "count(*)"})
    assert rows == Counter({("1", 3): 3, ("2", 1): 1})


def test_visits_that_are_alike_are_several(tmp_path: Path) -> None:
    """A database is asked for different rows only where nothing counts them."""
    with closing(sqlite3.connect(tmp_path / "v.db")) as connection:
        connection.execute("create table visits (patient text)")
        connection.executemany("insert into visits values (?)", [("a",), ("a",), ("b",)])
        connection.commit()
    rows = make_rows(str(tmp_path / "v.db"), unit="patient", table="visits", let={"n": "count(*)"})
    selection = ColumnSelection(("patient", "n"), distinct=True)
    table = open_table(str(tmp_path / "v.db"), selection, "visits", rows.form, rows.plan)
    assert sorted(table.relation.fetchall()) == [("a", 2), ("b", 1)]


def open_grouped(source: Any, columns: Sequence[str] = ("patient", "visits"), **options: Any) -> Any:
    """The open table behind a question that counts people."""
    rows = make_rows("-" if isinstance(source, pd.DataFrame) else source, unit="patient", **options)
    selection = ColumnSelection(tuple(columns), distinct=True)
    if isinstance(source, pd.DataFrame):
        return open_frame_rows(source, selection, rows.plan, "patient")
    return open_table(source, selection, None, rows.form, rows.plan)


VISITS = {"visits": "count(*)"}


def test_a_person_of_one_row_is_known_to_have_one(tmp_path: Path) -> None:
    """Known only where nothing else is wanted of the rows, and as long as the column of the unit is what it was."""
    path = write(make_table(1), tmp_path / "v.parquet")
    assert open_grouped(path, let=VISITS).one_row_each == ("patient",)
    assert open_grouped(path, let=VISITS, where="visits > 1").one_row_each == ("patient",)
    assert open_grouped(path, ("patient", "kind"), let=VISITS).one_row_each == ()
    assert open_grouped(path, ("patient", "p"), let={"p": "lag(n) over (order by n)"}).one_row_each == ()
    assert open_grouped(path, ("patient",)).one_row_each == ()
    table = open_grouped(path, let=VISITS)
    for plan in (RowPlan.of(made={"patient": "visits % 2"}), RowPlan.of(bins=("patient", "4"))):
        assert plan.apply(table, ColumnSelection(("patient", "visits"))).one_row_each == ()
    assert table.transform(lambda rows: rows.union(rows)).one_row_each == ()


@pytest.mark.parametrize("seed", range(6))
def test_people_who_have_one_row_are_counted_as_plain_python_counts_them(seed: int, tmp_path: Path) -> None:
    """Whatever their names are, and though nothing groups them a second time. One of them has 100,000 rows."""
    chance = random.Random(seed)
    kinds: list[tuple[pa.DataType, list[Any]]] = [
        (pa.int64(), [0, -1, 2**63 - 1, -(2**63), None]),
        (pa.float64(), [0.0, -0.0, float("nan"), 1.0, float("inf"), None]),
        (pa.string(), ["", "a", "A", "a ", "é", "e\u0301", "1", "01", None]),
    ]
    kind, names = kinds[seed % 3]
    units = [name for name in names for _ in range(chance.randrange(4))] + [names[0]] * (10**5 if seed < 3 else 0)
    chance.shuffle(units)
    path = tmp_path / "v.parquet"
    pyarrow.parquet.write_table(pa.table({"patient": pa.array(units, kind)}), path)
    # One zero, and no NaN: it is nobody's.
    known = Counter(unit for unit in units if unit is not None and unit == unit)
    expected = [sum(rows == n for rows in known.values()) for n in range(1, 5)] + [sum(n > 4 for n in known.values())]
    asked = {"unit": "patient", "let": {"n": "count(*)"}, "edges": {"n": [1, 2, 3, 4, 5]}, "by": "n", "epsilon": 1}
    labels = KINDS["count"].parse({"source": str(path), **asked}).items.domains[0].items
    order = [*map(str, labels)]
    for one_each in (False, True):
        options = {"source": str(path), **asked, "one_each": one_each, "people_share": 0}
        counts = KINDS["count"].parse(options).question.reading.run()
        numbers = dict(zip(map(str, counts.items), map(int, counts.values), strict=True))
        assert [*numbers] == order
        assert sum(numbers.values()) == len(known)
        assert sorted(number for number in numbers.values() if number) == sorted(n for n in expected if n)
    everybody = {"source": str(path), "unit": "patient", "let": {"n": "count(*)"}, "where": "n > 1", "epsilon": 1}
    many = KINDS["count"].parse(everybody).question.reading.run()
    assert [int(value) for value in many.values] == [sum(rows > 1 for rows in known.values())]


def test_columns_that_the_engine_could_take_for_others(tmp_path: Path) -> None:
    """Lines of JSON declare no columns, and the engine passes over capitals."""
    (tmp_path / "v.jsonl").write_text('{"patient": 1, "kind": "a", "lastbit_person_0": 7}\n', encoding="utf-8")
    with pytest.raises(lb.ParameterError, match="differ in more than capitals"):
        read(str(tmp_path / "v.jsonl"), ("patient", "KIND"), let={"KIND": "upper(kind)"})
    with pytest.raises(lb.ParameterError, match="no column may begin with lastbit_"):
        read(str(tmp_path / "v.jsonl"), ("patient", "lastbit_person_0", "n"), let={"n": "count(*)"})


def test_a_place_among_rows_may_be_a_condition(tmp_path: Path) -> None:
    """The engine has another plan for the first few rows of each person."""
    rows = [{"patient": p, "day": None, "cost": float(c), "n": c, "kind": "a"} for p in (1, 2) for c in range(5)]
    place = write(rows, tmp_path / "v.parquet")
    lets = {"place": "row_number() over (order by cost desc)"}
    assert read(place, ("patient", "n"), let=lets, where="place <= 2") == Counter(
        {(p, c): 1 for p in (1, 2) for c in (3, 4)}
    )


OF_PERSON = {
    "often": "visits > 3",
    "visits": "count(*)",
    "total": "sum(cost) + count(distinct kind) * 2",
    "ever": "not any(kind = 'a') and all(n > 0)",
    "last": "latest(kind order by day)",
    "first_cost": "first(cost order by n)",
    "least": "min(cost) + max(n) + avg(n)",
    "dear": "count(*) filter (where later)",
    "same": "7",
}
OF_ROWS = {
    "twice": "n * 2",
    "later": "lag(n) over (order by day) > 0",
    "so_far": "count(*) over (order by day)",
    "place": "dense_rank() over (order by kind)",
    "above": "cost > least",
    "mixed": "visits + twice",
    "next_one": "lead(kind, 2) over (order by day)",
}


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_which_columns_are_the_same_in_all_rows_of_a_person(format: str, tmp_path: Path) -> None:
    lets = OF_PERSON | OF_ROWS
    rows = make_rows("-", unit="patient", let=lets)
    assert rows.columns_of_person == set(OF_PERSON)
    several = set()
    for seed in range(6):
        path = write(make_table(seed), tmp_path / "t.parquet")
        if format == "csv":
            pd.read_parquet(path).to_csv(path := str(tmp_path / "t.csv"), index=False)
        for name in lets:
            values = read(path, ["patient", name], let=lets)
            if max(Counter(str(patient) for patient, _ in values).values()) > 1:
                several.add(name)
    # Each column of rows does differ somewhere: none is left out for nothing.
    assert several == set(OF_ROWS)


def test_a_person_has_no_column_where_nobody_is_named() -> None:
    assert make_rows("-").columns_of_person == frozenset()
