"""A charged release against one durable commit of bare sqlite3; a ledger of a million entries; many processes at once.

A durable commit of bare sqlite3 is one row, with a connection kept open and the defaults of sqlite3: a rollback journal
and synchronous = FULL, which takes four syncs. Everything lies on one disk, in one folder. The commit with a log (WAL),
which takes one, is shown besides. A PostgreSQL server of this machine has its own defaults, and syncs each commit.
`python -m benchmarks.ledger postgresql://…` measures charges by many processes in a new database of another server.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lastbit as lb
from benchmarks.measure import Work, as_time, compare, heading, machine
from lastbit.ledger import Identity, codec, table_rows
from lastbit.ledger.chain import digest
from lastbit.ledger.price import Price, write_terms
from tests.machine import has_postgres
from tests.postgres_server import Server

MANY = 10**6
PROCESSES = (1, 8, 50)
SECONDS = 5.0
MECHANISM = lb.DiscreteLaplace(epsilon="1/1000")
ASKED = Identity({"version": 1, "query": "visits by day"})
ROW = "x" * 900
"""About as long as an entry with its release."""


def commit(path: Path, journal: str) -> Work:
    """A commit of one row by bare sqlite3."""
    file = sqlite3.connect(path, isolation_level=None)
    file.execute(f"PRAGMA journal_mode = {journal}")
    file.execute("PRAGMA synchronous = FULL")
    file.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, line TEXT)")

    def once() -> None:
        file.execute("BEGIN IMMEDIATE")
        file.execute("INSERT INTO entries (line) VALUES (?)", (ROW,))
        file.execute("COMMIT")

    return once


def open_ledger(place: str) -> lb.Ledger:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=10**9)
    return ledger


def fill_ledger(place: str, entries: int) -> lb.Ledger:
    """A ledger with so many releases. All but the last are written past lastbit, by the same rules."""
    ledger = open_ledger(place)
    account, price = ledger.account("clinic"), Price.of(MECHANISM.cost)
    assert price.epsilon is not None
    text = codec.encode(MECHANISM.release([120, 45])) or ""
    line = {
        "dataset": "clinic",
        "kind": "charge",
        "time": table_rows.now(),
        "mechanism": MECHANISM.name,
        "parameters": json.dumps(MECHANISM.parameters),
        "cost": MECHANISM.cost.text,
        "amount": str(price.epsilon),
        "note": "",
        "adjacency": "add-remove",
        "terms": write_terms(epsilon=price.epsilon, rho=price.rho, delta=price.delta),
        "question": ASKED.text,
        "question_digest": ASKED.digest,
        "about": ASKED.about,
        "protects": ASKED.protects,
        "released": table_rows.now(),
        "published": text,
    }
    last = account.digest

    def rows() -> Any:
        nonlocal last
        for index in range(2, entries + 1):
            last = digest(last, SimpleNamespace(**line, id=index))
            yield (index, *line.values(), last, codec.digest(last, text))

    names = ("id", *line, "digest", "published_digest")
    (in_postgres if "://" in place else in_sqlite)(place, names, rows())
    account = replace(
        account, spent_epsilon=price.epsilon * (entries - 1), spent_rho=price.rho * (entries - 1), digest=last
    )
    with ledger._store.transaction() as connection:
        table_rows.add_entry(
            connection, account.plus(price), "charge", price.epsilon, line["terms"], mechanism=MECHANISM, note=""
        )
    return ledger


def in_sqlite(place: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with sqlite3.connect(place) as file:
        holes = ", ".join("?" * len(names))
        file.executemany(f"INSERT INTO lastbit_entries ({', '.join(names)}) VALUES ({holes})", rows)
    file.close()


def in_postgres(place: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    import psycopg

    with psycopg.connect(place) as connection, connection.cursor() as cursor:
        with cursor.copy(f"COPY lastbit_entries ({', '.join(names)}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        sequence = "pg_get_serial_sequence('lastbit_entries', 'id')"
        cursor.execute(f"SELECT setval({sequence}, (SELECT max(id) FROM lastbit_entries))")
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("ANALYZE lastbit_entries")  # as the server does by itself after a while


def spend(place: str, seconds: float) -> list[float]:
    """How long each charged release took, one after the other."""
    ledger, taken = lb.Ledger(place), []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        ledger.release("clinic", MECHANISM, [120, 45])
        taken.append(time.perf_counter() - start)
    return taken


def spend_bare(place: str, seconds: float) -> list[float]:
    """The same by bare sqlite3: the transactions, statements and syncs of a charged release, and nothing else."""
    file, taken = sqlite3.connect(place, timeout=60, isolation_level=None), []
    found = file.execute("SELECT * FROM lastbit_entries WHERE id = 2")
    entry = dict(zip([column[0] for column in found.description], found.fetchone(), strict=True))
    kept = {name: entry.pop(name) for name in ("released", "published", "published_digest")}
    names = [name for name in entry if name != "id"]
    add = f"INSERT INTO lastbit_entries ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    sums = "UPDATE lastbit_accounts SET spent = ?, spent_rho = ?, digest = ?, seal = ? WHERE dataset = 'clinic'"
    note = "UPDATE lastbit_entries SET released = ?, published = ?, published_digest = ? WHERE id = ?"
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        file.execute("PRAGMA synchronous = EXTRA")
        file.execute("BEGIN IMMEDIATE")
        file.execute("SELECT version FROM lastbit_schema").fetchall()
        file.execute("SELECT * FROM lastbit_accounts WHERE dataset = 'clinic'").fetchall()
        number = file.execute(add, [entry[name] for name in names]).lastrowid
        file.execute("UPDATE lastbit_entries SET digest = ? WHERE id = ?", (entry["digest"], number))
        file.execute(sums, (str(number), str(number), entry["digest"], entry["digest"]))
        file.execute("COMMIT")
        file.execute("PRAGMA synchronous = NORMAL")
        file.execute("BEGIN IMMEDIATE")
        file.execute("SELECT version FROM lastbit_schema").fetchall()
        file.execute(note, (*kept.values(), number))
        file.execute("COMMIT")
        file.execute("PRAGMA busy_timeout = 0")
        with suppress(sqlite3.OperationalError):  # others are at it
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        file.execute("PRAGMA busy_timeout = 60000")
        taken.append(time.perf_counter() - start)
    return taken


def together(
    place: str, processes: int, work: Callable[[str, float], list[float]] = spend
) -> tuple[float, float, float]:
    """Charged releases a second by so many processes on one account; the median and the longest wait."""
    pipes = []
    for _ in range(processes):
        read, write = os.pipe()
        if os.fork() == 0:
            with os.fdopen(write, "w") as answer:
                json.dump(work(place, SECONDS), answer)
            os._exit(0)
        os.close(write)
        pipes.append(read)
    taken: list[float] = []
    for read in pipes:
        with os.fdopen(read) as answer:
            taken += json.load(answer)
        os.wait()
    return len(taken) / SECONDS, statistics.median(taken), max(taken)


def show_together(place: str, name: str) -> None:
    open_ledger(place)
    for processes in PROCESSES:
        rate, median, longest = together(place, processes)
        print(
            f"{name:<34} {rate:7.0f} releases a second, median wait {as_time(median)}, longest {as_time(longest)}; "
            f"{processes} processes, {SECONDS:g} s"
        )


def show_against_bare(folder: Path) -> None:
    """Eight processes, in turn with eight that do the same with bare sqlite3."""
    works = {"lastbit": spend, "bare sqlite3": spend_bare}
    rates: dict[str, list[float]] = {name: [] for name in works}
    for name in works:
        open_ledger(str(folder / f"{name}.db")).release("clinic", MECHANISM, [120, 45])
    for _ in range(3):
        for name, work in works.items():
            rate, _, longest = together(str(folder / f"{name}.db"), 8, work)
            rates[name].append(rate)
            wait = as_time(longest)
            print(f"{name:<34} {rate:7.0f} releases a second, longest wait {wait}; 8 processes, four syncs each")
    ratio = statistics.median(rates["lastbit"]) / statistics.median(rates["bare sqlite3"])
    print(f"{'lastbit / bare sqlite3':<34} {ratio:7.2f}, wanted at least 0.5: {'yes' if ratio >= 0.5 else 'NO'}")


def run() -> None:
    heading("a charged release, against one durable commit of bare sqlite3 on the same disk")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ledger = open_ledger(str(home / "budget.db"))
        for journal, target in (("DELETE", 1.2), ("WAL", None)):
            compare(
                "charge, draw, record",
                lambda: ledger.release("clinic", MECHANISM, [120, 45]),
                commit(home / f"{journal}.db", journal),
                against=f"bare, {journal}",
                target=target,
                runs=101,
            )
        heading("charged releases by many processes")
        show_against_bare(home)
        show_together(str(home / "many.db"), "SQLite, one account")
        if has_postgres():
            with start_server() as address:
                show_together(address("postgres"), "PostgreSQL, one account")
                show_large_ledger("PostgreSQL", address("small"), address("large"))
        show_large_ledger("SQLite", str(home / "small.db"), str(home / "large.db"))


@contextmanager
def start_server() -> Iterator[Callable[[str], str]]:
    """A server with three databases, each at an address."""
    import psycopg

    server = Server(synced=True)
    try:
        address = f"postgresql://lastbit@/{{}}?host={server.home}".format
        with psycopg.connect(address("postgres"), autocommit=True) as connection:
            for name in ("small", "large"):
                connection.execute(f"CREATE DATABASE {name}")
        yield address
    finally:
        server.remove()


def show_large_ledger(database: str, few: str, many: str) -> None:
    heading(f"a ledger with {MANY:,} entries in {database}, against one with 100")
    small, large = fill_ledger(few, 100), fill_ledger(many, MANY)
    works: tuple[tuple[str, Callable[[lb.Ledger], object]], ...] = (
        ("charge, draw, record", lambda each: each.release("clinic", MECHANISM, [120, 45])),
        ("show", lambda each: each.account("clinic")),
        ("history, the last 100", lambda each: each.history("clinic", last=100)),
        (
            "an answer from the books",
            lambda each: each.answer("clinic", MECHANISM, question=Identity({"version": 1, "query": "another"})),
        ),
    )
    for name, work in works:
        compare(name, partial(work, large), partial(work, small), against="100", target=None)
    before = time.perf_counter(), time.process_time()
    assert large.verify() == ()
    print(f"{'verify':<34} {as_time(time.perf_counter() - before[0]):>8}", end="")
    print(f"  {as_time(time.process_time() - before[1])} of processor time")


if __name__ == "__main__":
    print(machine("lastbit", "sqlalchemy", "psycopg"))
    if sys.argv[1:]:
        show_together(sys.argv[1], "PostgreSQL, one account")
    else:
        run()
