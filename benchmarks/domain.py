"""`lastbit top` with a public list of items, against the same count in bare DuckDB: time and memory of whole processes.

Of many texts in a table a few are listed, or the list has more items than the table.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.discover import ITEMS, ROWS, side_by_side, write
from benchmarks.measure import heading

FEW, MANY = 1_001, 10**7

BARE = """
import duckdb, sys
plain = "header=false, delim='\\x01', quote='', all_varchar=true"
listed = f"(select column0 as item from read_csv('{sys.argv[2]}', {plain}))"
query = f"select item, count(distinct unit) as units from '{sys.argv[1]}' semi join {listed} using (item) group by item"
duckdb.sql(query).fetchnumpy()
"""


def run() -> None:
    with tempfile.TemporaryDirectory() as name:
        path, items = Path(name) / "visits.parquet", Path(name) / "items.txt"
        write(path)
        top = ("-m", "lastbit.cli", "top", str(path), "--by", "item", "--unit", "unit", "-k", "10", "--json")
        for listed in (FEW, MANY):
            heading(f"lastbit top --domain: {ROWS:,} rows, {ITEMS:,} texts, {listed:,} of a list, whole processes")
            with items.open("w", encoding="utf-8") as file:
                file.writelines(f"https://example.org/page/{number}\n" for number in range(listed))
            ours = (*top, "--domain", str(items), "--epsilon", "1")
            runs = 5 if listed == FEW else 1
            side_by_side({"DuckDB alone": ("-c", BARE, str(path), str(items)), "lastbit top --domain": ours}, runs)
