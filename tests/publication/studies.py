"""A small study for tests: a table where people have several rows, a file about it, and an account that pays."""

from __future__ import annotations

from pathlib import Path

import lastbit as lb

TEXT = """
[study]
title = "Patients 2024"
by = "A hospital"
edition = "2024"
why = "agreed with the board"

[data]
files = "visits.csv"
unit = "patient"
noun = ["patient", "patients"]
about = 400

[budget]
epsilon = 3
delta = 1e-6
ledger = "budget.db"
dataset = "clinic"

[[question]]
name = "patients"
ask = "count"
weight = 3

[[question]]
name = "cost"
ask = "mean"
of = "cost"
bounds = [0, 1000]

[[question]]
name = "regions"
ask = "count"
by = "region"
domain = ["north", "south"]
within = 40

[output]
folder = "report"
formats = ["html", "csv", "svg"]
"""


def make_study(folder: Path, text: str = TEXT, ledger: str = "budget.db") -> Path:
    """Write the table, the file and the ledger into a folder; the path of the file. A ledger may have an address."""
    rows = ["patient,region,cost"]
    for patient in range(400):
        for visit in range(1 + patient % 3):
            rows.append(f"p{patient},{'north' if patient % 4 else 'south'},{(37 * patient + 11 * visit) % 900}")
    (folder / "visits.csv").write_text("\n".join(rows) + "\n")
    path = folder / "study.toml"
    path.write_text(text.replace("budget.db", ledger))
    lb.Ledger(ledger if "://" in ledger else folder / ledger).create("clinic", epsilon=3, delta="1e-6")
    return path
