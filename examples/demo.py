"""lastbit at work: `make demo`. The most common diagnoses of a clinic, released until the budget refuses."""

from __future__ import annotations

import csv
import random
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

DIAGNOSES = [
    "influenza", "common cold", "hypertension", "back pain", "asthma", "migraine", "diabetes", "bronchitis", "eczema",
    "gout", "anaemia", "pneumonia", "sinusitis", "tonsillitis", "arthritis", "gastritis", "conjunctivitis", "measles",
]  # fmt: skip
PATIENTS, VISITS = 20_000, 90_000


def write_clinic(folder: Path, patients: int = PATIENTS, visits: int = VISITS) -> None:
    """visits.csv and diagnoses.txt: patients who come often, rows that are doubled, diagnoses nobody lists."""
    chance = random.Random(2026)
    weights = [1 / (rank + 1) for rank in range(len(DIAGNOSES))]
    with (folder / "visits.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["visit", "patient", "date", "diagnosis", "cost"])
        for visit in range(visits):
            patient = f"P{int(patients * chance.random() ** 2):06d}" if chance.random() > 0.01 else ""
            (diagnosis,) = chance.choices(DIAGNOSES, weights)
            if chance.random() < 0.03:
                diagnosis = chance.choice(["see letter", "INFLUENZA?", "", "unknown"])
            date = f"2026-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d}"
            row = [visit, patient, date, diagnosis, chance.randint(20, 400)]
            for _ in range(2 if chance.random() < 0.02 else 1):
                rows.writerow(row)
    (folder / "diagnoses.txt").write_text("\n".join(DIAGNOSES) + "\n", encoding="utf-8")


def lastbit(command: str, folder: Path) -> int:
    """Show a command and run it."""
    print(f"\n$ lastbit {command}", flush=True)
    return subprocess.run([sys.executable, "-m", "lastbit.cli", *shlex.split(command)], cwd=folder).returncode


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_clinic(folder)
        size = (folder / "visits.csv").stat().st_size / 1e6
        print(f"A made-up clinic: {VISITS:,} visits of up to {PATIENTS:,} patients, {size:.1f} MB.")
        release = (
            "top visits.csv --by diagnosis --unit patient --domain diagnoses.txt -k 5 --epsilon 1/2 "
            "--ledger budget.db --dataset clinic"
        )
        lastbit("plan -k 5 --items 18 --epsilon 1/2", folder)
        lastbit("budget create clinic --ledger budget.db --epsilon 1", folder)
        for week in range(1, 10):
            code = lastbit(f"{release} --note 'week {week}'", folder)
            if code:
                print(f"(exit code {code})")
                break
        lastbit("budget history clinic --ledger budget.db", folder)


if __name__ == "__main__":
    main()
