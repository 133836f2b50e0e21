"""Hypothesis chooses columns, domains, bounds, a table and a hostile unit: every engine and file keeps the contract.

The same examples go through the plain reference: a conviction here is one of the reader or the engine, not of the test.
"""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import lastbit as lb
from lastbit.audit import hostile
from tests.machine import has_java, has_postgres
from tests.stability.judge import ENGINES, LONG, Files, duckdb_file, judge, parquet_file, sqlite_file
from tests.stability.reference import reference

EXAMPLES = 300 if LONG else 3

driven = settings(
    max_examples=EXAMPLES,
    # `make fuzz` looks somewhere else each time, and prints what repeats a failure.
    derandomize=not LONG,
    print_blob=LONG,
    # The harness finds the one row that does it; what Hypothesis would make smaller is the table around it.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)

ARROW = {"text": pa.string(), "whole": pa.int64(), "float": pa.float64()}
USUAL: dict[str, list[Any]] = {"text": ["flu", "cold"], "whole": [1, 2], "float": [0.0, 1.5]}
KEYS: dict[str, Callable[[int], Any]] = {
    "text": "p{}".format,
    "whole": lambda number: 10 + number,
    "float": lambda n: n + 0.5,
}


@dataclass(frozen=True, repr=False)
class Scene:
    """The types of the columns, the options of the count, a table, and what one hostile unit has."""

    kinds: dict[str, str]
    options: dict[str, Any]
    table: list[dict[str, Any]]
    strange: list[dict[str, Any]]

    def __repr__(self) -> str:
        """Without the domain, whose thousand items hide the rest."""
        options = {name: value for name, value in self.options.items() if name != "domain"}
        return f"Scene({self.kinds}, {options}, table={self.table}, strange={self.strange})"

    def count(self, build: Callable[[list[Any]], Any]) -> Callable[[list[Any]], lb.Counts]:
        return lambda rows: lb.count(build(rows), **self.options)


def stock(kind: str, writable: Callable[[Any], bool]) -> list[Any]:
    return [value for value in hostile.values(kind) if writable(value)]


@st.composite
def scenes(
    draw: st.DrawFn, items: tuple[str, ...] = tuple(ARROW), writable: Callable[[Any], bool] = lambda value: True
) -> Scene:
    """One of everything there is."""
    kinds = {
        "patient": draw(st.sampled_from(items)),
        "item": draw(st.sampled_from(items)),
        "ward": "text" if items == ("text",) else "whole",
        "days": draw(st.sampled_from(["whole", "float"])),
    }
    more = {"text": "{}".format, "whole": int, "float": float}[kinds["item"]]
    size = draw(st.sampled_from([0, 1_100]))
    domain = list(dict.fromkeys([*USUAL[kinds["item"]], *map(more, range(size))]))
    wards = ["0", "1", "2"] if kinds["ward"] == "text" else [0, 1, 2]
    product = draw(st.booleans()) and not size
    options: dict[str, Any] = {"by": ["item", "ward"] if product else "item", "unit": "patient"}
    options["domain"] = [domain, wards] if product else domain
    if draw(st.booleans()):
        options |= {"weights": "days", "bounds": draw(st.sampled_from([(0, 5), (-3, 2), (-4, 0), (1, 2)]))}

    def row(key: Any, wild: bool) -> dict[str, Any]:
        usual = {"item": USUAL[kinds["item"]], "ward": wards, "days": [0, 1, 9]}
        cells = {}
        for name, values in usual.items():
            several = [*values, None, *stock(kinds[name], writable)] if wild else values
            cells[name] = draw(st.sampled_from(several))
        return {"patient": key, **cells}

    table = [row(KEYS[kinds["patient"]](number % 7), False) for number in range(draw(st.integers(2, 12)))]
    # Somebody counts in every table, or nothing is tried.
    table[0] |= {
        "item": USUAL[kinds["item"]][0],
        "ward": wards[1],
        "days": 9 if options.get("bounds") != (-4, 0) else -9,
    }
    keys: list[Any] = [KEYS[kinds["patient"]](99)]
    which = draw(st.sampled_from(["usual", "hostile", "forms"]))
    if which == "forms" and kinds["patient"] == "float":
        keys = [key for key in draw(st.sampled_from(hostile.FORMS)) if writable(key)]
    elif which != "usual":
        keys = [draw(st.sampled_from([*stock(kinds["patient"], writable), None]))]
    strange = [row(key, True) for key in keys * draw(st.integers(1, 4))]
    return Scene(kinds, options, table, strange)


def arrow(scene: Scene, rows: list[Any]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], ARROW[kind]) for name, kind in scene.kinds.items()})


@pytest.mark.parametrize("columns", [tuple(ARROW), ("text",)])
def test_the_reference_keeps_the_contract(columns: tuple[str, ...]) -> None:
    @settings(driven, max_examples=max(10, EXAMPLES))
    @given(scenes(columns))
    def run(scene: Scene) -> None:
        judge(lambda rows: reference(rows, **scene.options), scene.table, [scene.strange])

    run()


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_in_this_process(engine: str) -> None:
    @driven
    @given(scenes())
    def run(scene: Scene) -> None:
        judge(scene.count(lambda rows: ENGINES[engine](arrow(scene, rows))), scene.table, [scene.strange])

    run()


def on_disk(scene: Scene, files: Files, name: str, write: Callable[[list[Any], Path], None], table: str | None) -> None:
    """Count files as the command does: its domains are files of text."""
    options = scene.options
    bounds = tuple(map(str, options["bounds"])) if "bounds" in options else None

    def count(rows: list[Any]) -> lb.Counts:
        return files.count(name, partial(write, rows), table, options.get("weights"), bounds)  # type: ignore[arg-type]

    judge(count, scene.table, [scene.strange])


def separated(rows: list[Any], path: Path, separator: str) -> None:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow(rows[0] if rows else ["patient", "item", "ward", "days"])
        writer.writerows(row.values() for row in rows)


def as_lines(rows: list[Any], path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


TEXT = ("text",)
PLAIN: Callable[[Any], bool] = lambda value: not isinstance(value, str) or "\x00" not in value  # noqa: E731

FILES: dict[str, tuple[tuple[str, ...], str | None]] = {
    "visits.csv": (TEXT, None),
    "visits.tsv": (TEXT, None),
    "visits.csv.gz": (TEXT, None),
    "visits.jsonl": (TEXT, None),
    "visits.parquet": (tuple(ARROW), None),
    "visits.duckdb": (tuple(ARROW), "visits"),
    "visits.db": (tuple(ARROW), "visits"),
}
DUCKDB = {"text": "VARCHAR", "whole": "BIGINT", "float": "DOUBLE"}
SQLITE = {"text": "text", "whole": "integer", "float": "real"}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    columns, table = FILES[name]

    @driven
    @given(scenes(columns, PLAIN))
    def run(scene: Scene) -> None:
        names = list(scene.kinds)

        def write(rows: list[Any], path: Path) -> None:
            if name == "visits.parquet":
                parquet_file(path, arrow(scene, rows))
            elif name == "visits.duckdb":
                duckdb_file(path, rows, {each: DUCKDB[kind] for each, kind in scene.kinds.items()})
            elif name == "visits.db":
                sqlite_file(path, rows, ", ".join(f"{each} {SQLITE[scene.kinds[each]]}" for each in names), names)
            elif name == "visits.jsonl":
                as_lines(rows, path)
            else:
                separated(rows, path, "\t" if name == "visits.tsv" else ",")

        product = isinstance(scene.options["by"], list)
        domain = scene.options["domain"][0] if product else scene.options["domain"]
        texts = list(map(str, domain)) if name != "visits.db" or scene.kinds["item"] != "float" else ["0.0", "1.5"]
        files = Files(tmp_path, [text for text in texts if text], ("item", "ward") if product else ("item",))
        on_disk(scene, files, name, write, table)

    run()


def test_sqlite_has_what_was_written(tmp_path: Path) -> None:
    """The table of the cases above is really in the file: a writer that lost rows would acquit everyone."""
    rows = [{"patient": "p1", "item": 'f"l,u', "ward": None, "days": 1.5}]
    sqlite_file(tmp_path / "one.db", rows, "patient text, item text, ward integer, days real", list(rows[0]))
    connection = sqlite3.connect(tmp_path / "one.db")
    assert connection.execute("select * from visits").fetchall() == [("p1", 'f"l,u', None, 1.5)]
    connection.close()


if has_postgres():

    def test_postgresql(server: str, tmp_path: Path) -> None:
        place = f"postgresql://lastbit@/postgres?host={server}"
        types = {"text": "text", "whole": "bigint", "float": "double precision"}

        @driven
        @given(scenes(writable=PLAIN))
        def run(scene: Scene) -> None:
            columns = ", ".join(f"{name} {types[kind]}" for name, kind in scene.kinds.items())
            product = isinstance(scene.options["by"], list)
            domain = scene.options["domain"][0] if product else scene.options["domain"]
            # PostgreSQL writes a float as short as it can.
            texts = [f"{item:g}" if isinstance(item, float) else str(item) for item in domain]
            files = Files(tmp_path, texts, ("item", "ward") if product else ("item",))
            bounds: Any = tuple(map(str, scene.options["bounds"])) if "bounds" in scene.options else None

            def count(rows: list[Any]) -> lb.Counts:
                with psycopg.connect(place, autocommit=True) as connection, connection.cursor() as cursor:
                    cursor.execute("drop table if exists driven_visits")
                    cursor.execute(f"create table driven_visits ({columns})".encode())
                    marks = ", ".join(["%s"] * len(scene.kinds))
                    values = [tuple(row[name] for name in scene.kinds) for row in rows]
                    cursor.executemany(f"insert into driven_visits values ({marks})".encode(), values)
                return files.stored(place, "driven_visits", scene.options.get("weights"), bounds)

            judge(count, scene.table, [scene.strange])

        run()


if has_java():

    @pytest.mark.xdist_group("spark")
    @pytest.mark.filterwarnings("ignore")
    def test_one_unit_of_spark_with_everything_at_once(session: Any) -> None:
        """Two forms of one key, every text, every float as a weight."""
        options: dict[str, Any] = {"by": "item", "unit": "patient", "domain": ["flu", "cold"]}
        options |= {"weights": "days", "bounds": (-3, 2)}

        def count(rows: list[Any]) -> lb.Counts:
            values = [tuple(row.values()) for row in rows]
            return lb.count(session.createDataFrame(values, "patient double, item string, days double"), **options)

        texts, floats = hostile.values("text"), hostile.values("float")
        rows = [{"patient": 0.0, "item": "flu", "days": weight} for weight in floats]
        rows += [{"patient": (0.0, -0.0)[place % 2], "item": item, "days": 9.0} for place, item in enumerate(texts)]
        table = [{"patient": number + 0.5, "item": "flu", "days": 9.0} for number in range(2)]
        judge(count, table, [rows])


if has_java() and LONG:

    @pytest.mark.xdist_group("spark")
    @pytest.mark.filterwarnings("ignore")
    def test_spark(session: Any) -> None:
        """Few examples, and none in the short run: each count is a job."""
        types = {"text": "string", "whole": "long", "float": "double"}

        @settings(driven, max_examples=30)
        @given(scenes())
        def run(scene: Scene) -> None:
            schema = ", ".join(f"{name} {types[kind]}" for name, kind in scene.kinds.items())

            def build(rows: list[Any]) -> Any:
                convert = {name: float if kind == "float" else None for name, kind in scene.kinds.items()}
                values = [
                    tuple(
                        each(row[name]) if each and row[name] is not None else row[name]
                        for name, each in convert.items()
                    )
                    for row in rows
                ]
                return session.createDataFrame(values, schema)

            judge(scene.count(build), scene.table[:2], [scene.strange])

        run()
