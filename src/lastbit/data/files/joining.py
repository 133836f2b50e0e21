"""Another table beside the rows: the `--join` of a question.

By a column that is not the unit, the other table holds public facts, such as the region of a postcode: each key once.
By the unit, it holds more rows of the same people, and these are protected as theirs: see `pairing.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from lastbit.data.column_types import INTEGER
from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.files.formats import JSON_LINES, TextFormat, detect_format
from lastbit.data.query.pairing import PairLot, join_rows
from lastbit.errors import DataError, LastbitError, ParameterError
from lastbit.output.addresses import public_address

_PLAIN: Final = TextFormat()

NO_NAME: Final = "-"
"""Stands for a table of a library, which has no name."""


@dataclass(frozen=True, eq=False)
class JoinedTable:
    """A table that is joined: a file, a table of a database, or a table of a library.

    >>> JoinedTable.of("clinic.db#drugs")
    JoinedTable(place='clinic.db', table='drugs')
    >>> JoinedTable.of("postgresql://bob@db/clinic#drugs").table, JoinedTable.of("notes#1.csv").table
    ('drugs', None)
    """

    place: str
    table: str | None = None
    frame: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, joined: Any) -> JoinedTable:
        """Return the table that a text names, as FILE or DATABASE#TABLE; or the table of a library that is passed."""
        if not isinstance(joined, str):
            return cls(NO_NAME, frame=joined)
        place, sign, table = joined.rpartition("#")
        # Text files and Parquet are one table each, and a name of theirs may have this sign.
        is_database = sign and place and table and _PLAIN.endings(joined)[0] is None
        return cls(place, table) if is_database else cls(joined)

    @property
    def paths(self) -> tuple[str, ...]:
        """The file that the engine reads; none for a table of a library, and for a server."""
        return () if self.frame is not None or "://" in self.place else (self.place,)


@dataclass(frozen=True)
class JoinPlan:
    """A table that is joined by a column. Nothing of it is read before a table is opened."""

    other: JoinedTable
    on: tuple[str, ...]
    """The columns that must be alike in a row of each table."""
    unit: tuple[str, ...] = ()
    """The columns that tell people apart. Joined by them, the other table holds rows of the same people."""
    text_format: TextFormat = _PLAIN
    """How a text file is written: as the table is."""

    def __post_init__(self) -> None:
        part = next((name for name in self.on if name in self.unit), None)
        if part is not None and self.is_public:
            raise ParameterError(
                f"--on must be another column than {part!r}, which is a part of --unit: nobody could say whose the "
                f"rows of the other table are. Name all of --unit, as in --on {','.join(self.unit)}. Nothing was read."
            )

    @property
    def is_public(self) -> bool:
        """Whether the other table holds public facts, and no rows of people: these it names by all of the unit."""
        return not self.unit or not {*self.unit} <= {*self.on}

    @cached_property
    def columns(self) -> list[str]:
        """The columns that the other table declares."""
        names = self._list_columns()
        ColumnSelection(self.on).check(names)
        return names

    @property
    def new_columns(self) -> Sequence[str]:
        """The columns that the other table adds."""
        return [name for name in self.columns if name not in self.on]

    @property
    def _name(self) -> str:
        """The other table, as errors name it."""
        if self.other.frame is not None:
            return "the table that is joined"
        return public_address(self.other.place)

    @property
    def _format(self) -> TextFormat:
        ending = _PLAIN.endings(self.other.place)[0]
        return _PLAIN if ending in (None, ".parquet") else replace(self.text_format, read_as=None)

    def _list_columns(self) -> list[str]:
        from lastbit.data.files.open_table import list_columns, list_json_keys

        if self.other.frame is not None:
            from lastbit.data.engines import find_spark, open_frame

            if find_spark(self.other.frame) is not None:
                raise ParameterError(
                    "--join reads on one machine, and a table of Spark may lie on many. Bring it here: "
                    "frame.toPandas(). Nothing was read."
                )
            return list(open_frame(self.other.frame)[1])
        place, table = self.other.place, self.other.table
        is_json = _PLAIN.endings(place)[0] in JSON_LINES
        if is_json and self.is_public:
            return list_json_keys(place, self._format)
        if place == "-" or is_json:
            raise ParameterError(
                "--join takes a table that names its columns: CSV, TSV, Parquet, a table of a database, or a table of "
                "a library. Only the lines of a JSON file name them, which are private where they are of the same "
                "people. Save the other table as one. Nothing was read."
            )
        if table is None and self._is_database:
            raise ParameterError(
                f"{self._name} is a database: say which of its tables to join, as in --join clinic.db#drugs. Nothing "
                "was read."
            )
        return list_columns(place, table, self._format)

    @property
    def _is_database(self) -> bool:
        place = self.other.place
        if "://" in place:
            return True
        return _PLAIN.endings(place)[0] is None and Path(place).is_file() and detect_format(Path(place)) != "parquet"

    def source_columns(self, columns: ColumnSelection) -> ColumnSelection:
        """Return the columns that the table must have for the columns wanted."""
        made = self._pick_columns(columns)
        weights = None if columns.weights in (*made, *self.on) else columns.weights
        names = [name for name in columns.names if name not in made and name != weights]
        conditions = tuple(name for name in columns.conditions if name not in made)
        own = tuple(dict.fromkeys((*names, *self.on)))
        return replace(columns, columns=own, weights=weights, conditions=conditions)

    def apply(self, table: OpenTable, selection: ColumnSelection) -> OpenTable:
        """Return the rows with the columns wanted. A row without a match has missing values."""
        try:
            return self._join(table, self._open(table, self._pick_columns(selection)), selection)
        except LastbitError:
            raise
        except Exception as error:
            problem = type(error).__name__
        raise DataError(f"the engine does not join these tables: {problem}. Write their columns alike.")

    def _pick_columns(self, columns: ColumnSelection) -> list[str]:
        return [name for name in dict.fromkeys(columns.names) if name in self.columns and name not in self.on]

    def _open(self, table: OpenTable, names: Sequence[str]) -> OpenTable:
        """Open the other table in the engine that has the table already."""
        from lastbit.data.files.open_table import open_beside, open_table

        selection, other = ColumnSelection((*names, *self.on)), self.other
        if other.frame is not None:
            from lastbit.data.files.frames import open_frame_rows

            more = open_frame_rows(other.frame, selection, units=() if self.is_public else self.unit)
        elif not self.is_public and other.table is None:
            return open_beside(other.place, selection, self._format, table.connection)
        else:
            with_rows = self.is_public or table.with_rows
            more = open_table(other.place, selection, other.table, self._format, with_rows=with_rows)
        with closing(more.connection):
            rows = more.relation.to_arrow_table()
            more.check()
        relation = table.connection.from_arrow(rows)
        if self.is_public:
            own = DuckDBColumns(relation, more)
            self._check_keys(_join_keys([own.key(name) for name in self.on]), relation)
        return replace(more, relation=relation, connection=table.connection, again=lambda: relation)

    def _check_keys(self, key: str, relation: Any) -> None:
        """Refuse public facts with a key twice: one row of a person would become two."""
        keys = relation.project(f"{key} AS lastbit_key").filter("lastbit_key IS NOT NULL")
        ((rows, values),) = keys.aggregate("count(*), count(DISTINCT lastbit_key)").fetchall()
        if rows != values:
            names = " and ".join(map(repr, self.on))
            raise ParameterError(
                f"{self._name} must have each value of {names} once: some value stands in two rows. Leave one of them "
                "out; or join by the column of --unit, where the file holds rows of the same people. Nothing was read "
                "of the table."
            )

    def _join(self, table: OpenTable, other: OpenTable, selection: ColumnSelection) -> OpenTable:
        keys = self._keys(DuckDBColumns(table.relation, table), DuckDBColumns(other.relation, other))
        names = list(dict.fromkeys(selection.names))
        lot = None if self.is_public else PairLot.draw(table, other, distinct=selection.distinct)

        def join(rows: Any, more: Any) -> Any:
            return join_rows(rows, more, keys, self.on, names, lot)

        first, second = table.again, other.again
        again = None if first is None or second is None else lambda: join(first(), second())
        texts = table.text_columns | (other.text_columns & set(self.new_columns))
        return replace(
            table,
            relation=join(table.relation, other.relation),
            again=again,
            problem=lambda: table.problem() or other.problem(),
            text_columns=texts,
            one_row_each=(),
        )

    def _keys(self, mine: DuckDBColumns, theirs: DuckDBColumns) -> tuple[str, str]:
        """Return the normal forms that are compared."""
        pairs = [self._key_pair(name, mine, theirs) for name in self.on]
        return _join_keys([own for own, _ in pairs]), _join_keys([other for _, other in pairs])

    def _key_pair(self, name: str, mine: DuckDBColumns, theirs: DuckDBColumns) -> tuple[str, str]:
        """Return those of one column. Two types are compared only where nothing can be lost."""
        types = mine.column_type(name), theirs.column_type(name)
        keys = mine.key(name), theirs.key(name)
        if types == (INTEGER, INTEGER):
            return f"TRY_CAST({keys[0]} AS HUGEINT)", f"TRY_CAST({keys[1]} AS HUGEINT)"
        if types[0] is None or types[0] is not types[1] or mine.type_name(name) != theirs.type_name(name):
            raise ParameterError(
                f"the column {name!r} must have one type in both tables: it is {mine.type_name(name)} in the "
                f"table and {theirs.type_name(name)} in {self._name}. In CSV files and SQLite all is text: write "
                "both tables with the same types, as Parquet, or both as CSV. Nothing was charged."
            )
        return keys


def _join_keys(keys: Sequence[str]) -> str:
    """Return one key of several: null where one of them is, so that it meets nothing."""
    if len(keys) == 1:
        return keys[0]
    known = " AND ".join(f"({key}) IS NOT NULL" for key in keys)
    parts = ", ".join(f"'k{number}': {key}" for number, key in enumerate(keys))
    return f"CASE WHEN {known} THEN {{{parts}}} END"
