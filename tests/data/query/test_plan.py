"""Filters and columns of one row: which rows they keep, what they refuse, and that no row can raise."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.formats import TextFormat
from lastbit.data.files.open_table import open_table
from lastbit.data.query.expressions import FUNCTIONS
from lastbit.data.query.operations import OPERATIONS
from lastbit.data.query.plan import RowPlan

TEXT = """id,country,age,date,cost,flag
a,DE,17,2026-01-05,10,true
b,DE,30,2025-12-31,20.5,false
c,FR,045,2026-02-01T10:00,-3,
d,de,x,2026-03-01,,yes
e,,62,not a date,1e3,TRUE
"""
"""Every value is text here: numbers with zeros before them, and text that is none."""


def text(folder: Path) -> str:
    path = folder / "rows.csv"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def kept(place: str, where: str, table: str | None = None, form: TextFormat | None = None) -> str:
    """The ids of the rows for which a condition is true."""
    plan = RowPlan.of(where=where)
    rows = open_table(place, ColumnSelection(("id",)), table, form or TextFormat(), plan).relation.fetchall()
    return "".join(sorted(row[0] or "" for row in rows))


def all_kept(place: str, conditions: Iterable[str]) -> dict[str, str]:
    """The same for many conditions at once, each as a column of its own."""
    listed = list(conditions)
    # On lines of its own: a condition may end with a remark.
    columns = ", ".join(f"(\n{where}\n) as c{number}" for number, where in enumerate(listed))
    names = ("id", *(f"c{number}" for number in range(len(listed))))
    plan = RowPlan.of(sql=f"select id, {columns} from data")
    rows = open_table(place, ColumnSelection(names), plan=plan).relation.fetchall()
    return {where: "".join(sorted(row[0] for row in rows if row[1 + i])) for i, where in enumerate(listed)}


CONDITIONS = {
    "country = 'DE' and date >= '2026-01-01'": "a",
    "country = 'DE'": "ab",
    "country <> 'DE'": "cd",
    "not country = 'DE'": "cd",
    "country is null": "e",
    "country is not null and age is not null": "abcd",
    "country is distinct from 'DE'": "cde",
    "country in ('DE', 'FR')": "abc",
    "country not in ('DE', 'FR')": "d",
    "lower(country) = 'de'": "abd",
    "country like 'D%'": "ab",
    "country ilike 'd_'": "abd",
    "country not like 'D%'": "cd",
    "starts_with(country, 'F') or contains(country, 'e')": "cd",
    "age > 18": "bce",
    "age = 45": "c",
    "age = '45'": "",
    "age = '045'": "c",
    "age between 17 and 30": "ab",
    "age not between 17 and 30": "ce",
    "18 < age": "bce",
    "age is null": "",
    "cast(age as integer) is null": "d",
    "age % 2 = 0": "be",
    "-age < -40": "ce",
    "age // 10 = 4": "c",
    "age / 0 > 1 or age % 0 = 1": "",
    "cost > 15": "be",
    "cost = 1000": "e",
    "cost * 2 = 41": "b",
    "cost < 0": "c",
    "abs(cost) = 3": "c",
    "coalesce(cost, '0') = '0'": "d",
    "date < date '2026-02-01'": "ab",
    "date = date '2026-02-01'": "",
    "cast(date as date) = '2026-02-01'": "c",
    "date >= timestamp '2026-02-01 09:00'": "cd",
    "year(date) = 2026": "acd",
    "extract(month from date) = 12": "b",
    "date_trunc('month', date) = '2026-02-01'": "c",
    "date_diff('day', date, '2026-01-06') = 1": "a",
    "cast(flag as boolean)": "ae",
    "flag is true": "ae",
    "nullif(country, 'DE') is null": "abe",
    "case when age > 40 then country = 'FR' else country = 'de' end": "cd",
    "case country when 'DE' then 1 else 2 end = 1": "ab",
    "length(country) = 2 and left(country, 1) = 'D'": "ab",
    "substring(date, 1, 4) = '2025'": "b",
    "upper(trim(country)) || '!' = 'DE!'": "abd",
    "try(cast(age as integer)) > 40": "ce",
    "data.age > 40 -- and a remark": "ce",
    "true": "abcde",
    "null": "",
    "false or 1 = 1": "abcde",
    "age > 18 and null": "",
    "id = ''": "",
}


def test_a_condition_keeps_the_rows_for_which_it_is_true(tmp_path: Path) -> None:
    place = text(tmp_path)
    assert all_kept(place, CONDITIONS) == CONDITIONS
    few = [*CONDITIONS][::6]
    assert {where: kept(place, where) for where in few} == {where: CONDITIONS[where] for where in few}


def test_every_operation_is_tried_here() -> None:
    tried = " ".join([*CONDITIONS, *ODD]).lower()
    names = [name for name in FUNCTIONS if name[0].isalpha() and name not in SECOND_NAMES]
    assert [
        name for name in names if f"{name}(" not in tried and f"'{name}'" not in tried and name != "date_part"
    ] == []
    assert {operation for operation, _ in FUNCTIONS.values()} <= set(OPERATIONS)


SECOND_NAMES = ("mod", "ceiling", "substr", "prefix", "suffix", "datediff", "datepart", "datetrunc", "date_part")


TYPED = pa.table(
    {
        "id": pa.array(list("abcd")),
        "whole": pa.array([1, 2**63 - 1, -(2**63), None], pa.int64()),
        "wide": pa.array([1, 2**64 - 1, 0, None], pa.uint64()),
        "real": pa.array([0.5, float("nan"), float("inf"), None], pa.float64()),
        "decimal": pa.array([1, 10**38 - 1, -(10**38) + 1, None], pa.decimal128(38, 0)),
        "day": pa.array([0, 10**6, -(10**6), None], pa.int32()).cast(pa.date32()),
        "moment": pa.array([0, 2**62, -(2**62), None], pa.int64()).view(pa.timestamp("us")),
        "instant": pa.array([0, 2**62, -(2**62), None], pa.int64()).view(pa.timestamp("us", "Europe/Berlin")),
        "truth": pa.array([True, False, None, None]),
        "word": pa.array(["x", "12", "", None]).dictionary_encode(),
        "clock": pa.array([0, 1, 2, None], pa.int64()).cast(pa.time64("us")),
    }
)

TYPED_CONDITIONS = {
    "whole = 1": "a",
    "whole = '1'": "a",
    "whole = 1.0": "a",
    "whole = 9223372036854775807": "b",
    "whole > 9223372036854775806": "b",
    "wide = 18446744073709551615": "b",
    "whole + whole > 0": "ab",
    "whole * whole > 100": "bc",
    "whole * whole * whole * whole > 0 or id = 'b'": "ab",
    "abs(whole) > 5": "bc",
    "-whole > 5": "c",
    "whole // -1 > 5": "c",
    "real < 1": "a",
    "real > 1": "c",
    "real is null": "bd",
    "real * 0 is null": "bcd",
    "decimal > 2": "b",
    "decimal = 1": "a",
    "day = '1970-01-01'": "a",
    "day >= date '1970-01-01'": "ab",
    "day < '1970-01-01 00:00:01'": "a",
    "moment = '1970-01-01'": "a",
    "instant = '1970-01-01'": "a",
    "instant = '1970-01-01T00:00'": "a",
    "truth": "a",
    "not truth": "b",
    "truth = 'true'": "a",
    "word = 'x'": "a",
    "word > 3": "b",
    "clock is null": "d",
    "month(day) = 1 and hour(moment) = 0 and quarter(day) = 1 and week(day) = 1": "a",
    "minute(moment) = 0 and second(moment) = 0 and day(moment) = 1": "a",
    "cast(whole as varchar) = '1' and cast(day as varchar) = '1970-01-01'": "a",
}


def test_a_condition_on_columns_that_have_types(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(TYPED, tmp_path / "rows.parquet")
    place = str(tmp_path / "rows.parquet")
    assert all_kept(place, TYPED_CONDITIONS) == TYPED_CONDITIONS
    few = [*TYPED_CONDITIONS][::6]
    assert {where: kept(place, where) for where in few} == {where: TYPED_CONDITIONS[where] for where in few}


ODD = [
    "floor(cost) + ceil(cost) + round(cost) > 1",
    "ltrim(id) = rtrim(id) and right(id, 3) = id and ends_with(id, 'a')",
    "round(1e308 * cost) > 0 or cost * 1e308 * 1e308 > 0 or 1 / cost > 0 or cost // 1e-308 > 1 or cost % 1e308 = 1",
    "cast(cost as bigint) * cast(age as bigint) * cast(age as bigint) > 0",
    "cast(cast(cost as bigint) as varchar) || age like '%'",
    "cast(date as timestamp) > cast(age as date)",
    "date_trunc('week', date) > date '0001-01-01' or date_trunc('hour', cast(date as timestamp)) is null",
    "date_diff('second', date, '9999-12-31') > 0 or date_diff('year', '0001-01-01', date) > 0",
    "day(date) + week(date) + quarter(date) + second(date) + minute(date) + hour(date) + month(date) > 0",
    "date_part('dow', date) + date_part('isodow', date) + date_part('doy', date) > 0",
    "substring(id, -1000000, 1000000) = '' or left(id, -3) = '' or upper(id) = 'ß' or lower(id) = 'İ'",
    "trim(id, 'x') = ltrim(id, '') and length(id || country || date) > 0 and contains(id, '')",
]
"""Conditions with everything that could overflow, divide by nothing, or meet a value that is no number."""

STRANGE = [
    "", "0", "-0", "x", "nan", "-nan", "inf", "-inf", "1e400", "-1e400", "1e-400", "9" * 400, str(2**127),
    str(-(2**63)), str(2**63 - 1), "1_000", "0x10", " 5 ", "9999-12-31", "0001-01-01", "0000-00-00", "-infinity",
    "infinity", "epoch", "290000-01-01 (BC)", "5877642-06-25 (BC)", "294247-01-10 04:00:54.775806", "2026-02-30",
    "2026-01-01T25:00", "2026-01-01 10:00 Nowhere/No", "\U0001f468\u200d\U0001f469", "ı", "ß" * 1000, "%", "_", "\\",
    "'", '""""',
]  # fmt: skip


def test_no_row_raises(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    lines = [",".join(['"' + each.replace('"', '""') + '"'] * 6) for each in STRANGE]
    path.write_text("id,country,age,date,cost,flag\n" + "\n".join(lines) + "\n", encoding="utf-8")
    together = " or ".join(f"(\n{where}\n)" for where in CONDITIONS)
    for where in [together, *ODD]:
        kept(str(path), where)
    assert "nan" not in kept(str(path), "cost > 15 or cost < 15 or cost = cost + 0")
    columns = ", ".join(f"({where}) as c{number}" for number, where in enumerate(ODD))
    plan = RowPlan.of(sql=f"select {columns}, year(date) as year, age * cost as product from data")
    names = (*(f"c{number}" for number in range(len(ODD))), "year", "product")
    assert len(open_table(str(path), ColumnSelection(names), plan=plan).relation.fetchall()) == len(STRANGE)
    for times in ("day", "week", "month", "year"):
        open_table(str(path), ColumnSelection(("date",)), plan=RowPlan.of(times={"date": times})).relation.fetchall()
    open_table(str(path), ColumnSelection(("age",)), plan=RowPlan.of(bins=("age", "7"))).relation.fetchall()


REFUSED = {
    "count(*) > 1": "count_star looks at all rows",
    "sum(age) > 1": "sum looks at all rows",
    "age = max(age)": "max looks at all rows",
    "row_number() over () < 10": "a window looks at other rows",
    "sum(age) over (partition by id) > 1": "a window looks at other rows",
    "age > (select 1)": "a query inside a query",
    "id in (select id from data)": "a query inside a query",
    "exists (select 1)": "a query inside a query",
    "random() < 0.5": "random depends on more than the row",
    "date < now()": "now depends on more than the row",
    "getenv('HOME') = ''": "getenv depends on more than the row",
    "current_setting('x') = ''": "current_setting depends on more than the row",
    "unnest([1, 2]) = 1": "there is no function list_value here|unnest makes many rows",
    "hash(id) = 1": "there is no function hash here. The functions are abs, ceil",
    "regexp_matches(id, 'x')": "there is no function regexp_matches",
    "error('x') = ''": "there is no function error",
    "nextval('s') = 1": "nextval depends on more than the row",
    "read_text('/etc/passwd') = ''": "there is no function read_text",
    "id = $1": "a parameter has no value here",
    "id = ?": "a parameter has no value here",
    "id collate nocase = 'a'": "a collation takes two texts for one",
    "list_filter([1], x -> x > 0) = [1]": "a function of its own|there is no function",
    "[1, 2][1] = 1": "lists and structs are not read here|there is no function",
    "age::int[] = [1]": "there is no cast to list here|there is no function",
    "date + interval '1 day' > date": "there is no cast to interval here",
    "age": "a condition is true or false, and this is text",
    "age + 1": "a condition is true or false, and this is a number",
    "upper(cast(age as integer)) = ''": "upper takes text, and this is a whole number",
    "year(age > 3) = 1": "this takes a date, and got true or false",
    "country like id": "like takes a text and a pattern in quotes",
    "left(id, length(id)) = ''": "all but the first argument of left must be constants",
    "substring(id, 99999999) = ''": "whole numbers up to a million",
    "date_trunc('eon', date) = date": "must name a unit of time",
    "date_trunc(id, date) = date": "must name a unit of time",
    "date = date '2026-02-30'": "'2026-02-30' is not a date. Write it as 2026-01-31",
    "cast(age as double) > 'old'": "'old' is not a number",
    "age > 99999999999999999999": "beyond the floats that text is read as. Write it in quotes",
    "flag = true and cast(flag as boolean) > 3": "it compares true or false with a whole number",
    "coalesce(age, 3) = 3": "it gives values of several kinds",
    "date - date > 3": None,
    "other.age > 3": "a column is called by its name",
    "age > 3) or (age < 3": "must be SQL that can be read",
    "age > 3) union select * from data where (true": "two queries in one",
    "age > 3) order by (age": "an order looks at other rows",
    "age > 3) limit (1": "a limit depends on other rows",
    "age > 3) group by (age": "a group looks at other rows",
    "age > 3) using sample (1": "a sample depends on chance",
    "age > 3; drop table data": "must be SQL that can be read",
    "age > 3; select 1": "must be SQL that can be read",
    "age >": "must be SQL that can be read",
    'country = "DE': "must be SQL that can be read",
    "": "must be SQL that can be read",
    "(" * 300 + "true" + ")" * 300: None,
    "not " * 300 + "true": "nested too deeply|must be SQL that can be read",
    "x" * 20_000: "at most 10,000 characters",
}


def test_what_looks_at_more_than_one_row_is_refused_with_the_reason(tmp_path: Path) -> None:
    place = text(tmp_path)
    for where, reason in REFUSED.items():
        if reason is None:  # harmless: it is one condition after all
            kept(place, where)
            continue
        with pytest.raises(lb.ParameterError, match=f"(?s){reason}"):
            kept(place, where)


QUERIES = {
    "select id from data order by id": "an order looks at other rows",
    "select id from data limit 3": "a limit depends on other rows",
    "select distinct id from data": "whether a row is distinct depends on other rows",
    "select distinct on (id) id from data": "whether a row is distinct depends on other rows",
    "select id from data union all select id from data": "two queries in one look at rows twice",
    "with q as (select 1) select id from data": "a query inside a query",
    "select id from (select * from data)": "a query inside a query",
    "select id from data, data as other": "a join looks at other rows",
    "select id from data join data as other using (id)": "a join looks at other rows",
    "select id from data using sample 3": "a sample depends on chance",
    "select id from data tablesample 10%": "a sample depends on chance",
    "select id from data group by id": "a group looks at other rows",
    "select id from data group by all": "a group looks at other rows",
    "select id from data having id > 1": "a group looks at other rows",
    "select id from data qualify true": "a window looks at other rows",
    "select id from read_csv('/etc/passwd')": "a function in place of the table",
    "select id from '/etc/passwd'": "there is no table /etc/passwd. The table is called rows or data here",
    "select id from main.data": "the table stands alone",
    "select id from data at (version => 1)": "the table stands alone",
    "select id from data as d(x)": "the table stands alone",
    "select id from visits": "there is no table visits",
    "select id": "it must say from which table",
    "values (1)": "a list of values is not the table",
    "select upper(id) from data": "a column that is computed needs a name",
    "select id, upper(id) as ID from data": "two columns have one name",
    "select * exclude (id) from data": "a star stands alone",
    "select * replace (1 as id) from data": "a star stands alone",
    "select columns('i.*') from data": "a star stands alone",
    "select unnest(id) as id from data": "unnest makes many rows of one",
    "select age as other from data": "there is no column 'id': the table has other",
    "delete from data": "must be SQL that can be read",
    "pragma version": "must be SQL that can be read",
    "attach 'x.db'": "must be SQL that can be read",
    "copy data to 'x.csv'": "must be SQL that can be read",
    "describe data": "it must read one table",
}


def test_a_query_that_looks_at_more_than_one_row_is_refused(tmp_path: Path) -> None:
    for sql, reason in QUERIES.items():
        with pytest.raises(lb.ParameterError, match=reason):
            RowPlan.of(sql=sql, tables=["rows"]).source_columns(ColumnSelection(("id",)))


def test_a_query_makes_columns_of_one_row(tmp_path: Path) -> None:
    def rows(sql: str, *names: str, weights: str | None = None, **more: Any) -> list[Any]:
        plan = RowPlan.of(sql=sql, tables=["rows"], **more)
        return open_table(text(tmp_path), ColumnSelection(names, weights=weights), plan=plan).relation.fetchall()

    made = "select *, year(date) as year, upper(country) as place from rows as r where r.age > 18"
    assert rows(made, "id", "year", "place") == [("b", 2025, "DE"), ("c", 2026, "FR"), ("e", None, None)]
    assert rows("from data where id = 'a'", "id") == [("a",)]
    assert rows("select id as who from data", "who", where="age = 30") == [("b",)]
    assert rows("select id, cost * 2 as double from data", "id", weights="double")[:2] == [("a", 20.0), ("b", 41.0)]
    assert rows("select id, cost from data where cost > 15", "id", weights="cost") == [("b", 20.5), ("e", 1000.0)]
    assert rows("select id, age as n from data", "id", weights="n")[2:4] == [("c", 45.0), ("d", None)]
    assert rows("select date as d from data", "d", times={"d": "week"}) == [
        ("2026-W02",), ("2026-W01",), ("2026-W05",), ("2026-W09",), (None,),
    ]  # fmt: skip


def test_the_months_and_bins_of_a_column(tmp_path: Path) -> None:
    place = text(tmp_path)

    def read(name: str, **more: Any) -> list[Any]:
        return [
            row[0] for row in open_table(place, ColumnSelection((name,)), plan=RowPlan.of(**more)).relation.fetchall()
        ]

    assert read("date", times={"date": "day"}) == ["2026-01-05", "2025-12-31", "2026-02-01", "2026-03-01", None]
    assert read("date", times={"date": "month"}) == ["2026-01", "2025-12", "2026-02", "2026-03", None]
    assert read("date", times={"date": "year"}, where="age > 18") == ["2025", "2026", None]
    assert read("age", bins=("age", "10")) == [10, 30, 40, None, 60]
    assert read("cost", bins=("cost", "7")) == [7, 14, -7, None, 994]
    for wrong in ("0", "-1", "1/2", "x"):
        with pytest.raises(lb.ParameterError):
            RowPlan.of(bins=("age", wrong))
    with pytest.raises(lb.ParameterError, match="no use for the column 'cost'"):
        read("age", bins=("cost", "7"))
    with pytest.raises(lb.ParameterError, match="different columns: got 'age' for both"):
        RowPlan.of(bins=("age", "7"), times={"age": "day"})


def test_a_filter_may_ask_for_the_weights(tmp_path: Path) -> None:
    plan = RowPlan.of(where="cost > 5 and age < 62")
    rows = open_table(text(tmp_path), ColumnSelection(("id",), weights="cost"), plan=plan).relation.fetchall()
    assert rows == [("a", 10.0), ("b", 20.5)]


def test_databases_are_filtered_as_files_are(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "rows.duckdb") as connection:
        connection.execute(f"create table rows as select * from read_csv('{text(tmp_path)}', all_varchar = true)")
        connection.execute("create view seen as select * from rows where id <> 'a'")
    assert kept(str(tmp_path / "rows.duckdb"), "cast(age as double) > 18 or country = 'DE'", "rows") == "abce"
    assert kept(str(tmp_path / "rows.duckdb"), "cast(age as double) > 18 or country = 'DE'", "seen") == "bce"
    connection = sqlite3.connect(tmp_path / "rows.db")
    connection.execute("create table rows (id, age)")
    connection.executemany("insert into rows values (?, ?)", [("a", 17), ("b", "30"), ("c", 45.5), ("d", b"\xff")])
    connection.commit()
    connection.close()
    assert kept(str(tmp_path / "rows.db"), "age > 18", "rows") == "bc"


def test_names_are_those_of_the_table(tmp_path: Path) -> None:
    with pytest.raises(lb.ParameterError, match="there is no column 'Age': the table has id, country"):
        kept(text(tmp_path), "Age > 3")
    with pytest.raises(lb.ParameterError, match=r"no column 'FR': .* text stands in single quotes"):
        kept(text(tmp_path), "country = FR")
    path = tmp_path / "odd.csv"
    path.write_text('id,"a ""b"" c",A,a\nx,1,2,3\ny,2,1,3\n', encoding="utf-8")
    assert kept(str(path), '"a ""b"" c" = 1') == "x"
    with pytest.raises(lb.ParameterError, match="differ in more than capitals"):
        kept(str(path), "A = 2 and a = 3")


def test_the_engine_is_locked_while_a_query_runs(tmp_path: Path) -> None:
    found = open_table(text(tmp_path), ColumnSelection(("id",)), plan=RowPlan.of(where="true"))
    for attempt in ("select * from read_text('/etc/hostname')", "set enable_external_access = true"):
        with pytest.raises(duckdb.Error):
            found.connection.execute(attempt)
    path = tmp_path / "odd [1] it's.parquet"
    pyarrow.parquet.write_table(pa.table({"id": [1, 2, 3]}), path)
    rows = open_table(str(path), ColumnSelection(("id",)), plan=RowPlan.of(where="id > 1")).relation.fetchall()
    assert rows == [(2,), (3,)]


ZONES = ["2026-01-31T10:00", "2026-01-31T10:00+02:00", "2026-01-31T10:00Z", "2026-01-31 10:00-0500",
         "2026-01-31 10:00+02", "2026-01-31T10:00:00+02:00", "2026-01-31T10:00:00Z"]  # fmt: skip


def test_the_zone_of_a_time_in_text_is_passed_over_with_seconds_and_without(tmp_path: Path) -> None:
    file = tmp_path / "times.csv"
    file.write_text("time\n" + "".join(f"{text}\n" for text in ZONES), encoding="utf-8")

    def read(**more: Any) -> list[Any]:
        return open_table(str(file), ColumnSelection(("time",)), plan=RowPlan.of(**more)).relation.fetchall()

    assert len(read(where="time = timestamp '2026-01-31T10:00'")) == len(ZONES)
    assert read(times={"time": "day"}) == [("2026-01-31",)] * len(ZONES)
    assert read(times={"time": "hour"}) == [(10,)] * len(ZONES)
    assert read(times={"time": "weekday"}) == [("Saturday",)] * len(ZONES)
    with pytest.raises(lb.ParameterError, match="no zone"):
        read(where="time = timestamp '2026-01-31T10:00+02:00'")


def test_a_number_that_becomes_text_has_no_comma(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text("price\n1,234\n12,5\n1e+05\n", encoding="utf-8")
    form = TextFormat(separator=";", comma=True)
    for sql in ("cast(price as double)", "cast(cast(cast(price as double) as varchar) as double)"):
        plan = RowPlan.of(sql=f"select {sql} as price from data", comma=True)
        assert open_table(str(file), ColumnSelection(("price",)), text_format=form, plan=plan).relation.fetchall() == [
            (1.234,), (12.5,), (100_000.0,),
        ]  # fmt: skip


def test_a_long_computation_does_not_double_with_each_step(tmp_path: Path) -> None:
    file = tmp_path / "numbers.csv"
    file.write_text("n\n1\nnan\ninf\n", encoding="utf-8")
    for condition, left in {f"{'n + ' * 90} n > 90": 2, f"{'abs(' * 60} n {')' * 60} > 0": 2, "(n - n) is null": 2,
                            "(n - n) + 1 is null": 2, "abs(n - n) is null": 2}.items():  # fmt: skip
        relation = open_table(str(file), ColumnSelection(("n",)), plan=RowPlan.of(where=condition)).relation
        assert len(relation.fetchall()) == left, condition


def test_numbers_of_other_rows_say_nothing_about_nan(tmp_path: Path) -> None:
    """A Parquet file says between which numbers a column lies, as if none was NaN, and the engine believes it."""
    nan = float("nan")
    for numbers in ([nan, nan], [nan, nan, 0.0], [nan, nan, -1.0, 1.0]):
        for kind in (pa.float64(), pa.float32()):
            table = pa.table({"id": pa.array(range(len(numbers))), "age": pa.array(numbers, kind)})
            pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
            for where in ("age > 5", "age is not null and not age <= 5", "age + 1 > 5", "cast(age as bigint) > 5"):
                plan = RowPlan.of(where=where)
                rows = open_table(str(tmp_path / "rows.parquet"), ColumnSelection(("id",)), None, TextFormat(), plan)
                assert rows.relation.fetchall() == [], (numbers, where)
