"""lastbit at work: `make demo`. Diagnoses released until the budget refuses, and then a whole study from one file."""

from __future__ import annotations

import csv
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DIAGNOSES = [
    "influenza", "common cold", "hypertension", "back pain", "asthma", "migraine", "diabetes", "bronchitis", "eczema",
    "gout", "anaemia", "pneumonia", "sinusitis", "tonsillitis", "arthritis", "gastritis", "conjunctivitis", "measles",
]  # fmt: skip
PATIENTS, VISITS = 20_000, 90_000
STUDY = Path(__file__).resolve().parent / "study"
BUILD = STUDY.parents[1] / "build" / "study"


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


def truth(folder: Path, diagnosis: str | None = None) -> int:
    """How many patients there are, or how many have a diagnosis. Only who makes up a table may look."""
    with (folder / "visits.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["patient"]]
    return len({row["patient"] for row in rows if diagnosis in (None, row["diagnosis"])})


def lastbit(command: str, folder: Path, typed: str = "") -> int:
    """Show a command and run it; `typed` is its standard input."""
    numbers = " ".join(typed.split())
    piped = f"printf '%s\\n' {numbers} | " if typed else ""
    print(f"\n$ {piped}lastbit {command}", flush=True)
    program = [sys.executable, "-m", "lastbit", *shlex.split(command)]
    return subprocess.run(program, cwd=folder, input=typed, text=True).returncode


def publish_study(folder: Path) -> None:
    """Plan, run and verify the study of examples/study in a folder, which stays: its report is there to look at."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(STUDY / "study.toml", folder)
    subprocess.run([sys.executable, str(STUDY / "make_visits.py"), str(folder)], check=True)
    lastbit("budget create clinic --ledger budget.db --epsilon 3 --delta 1e-6", folder)
    lastbit("publish plan study.toml", folder)
    lastbit("publish key signing.key", folder)
    lastbit("publish run study.toml --key signing.key", folder)
    lastbit("verify report-2024 --key signing.key.pub", folder)
    table = folder / "report-2024" / "answers" / "patients_by_month.csv"
    print(f"\nOne of its answers, {table.name}:\n{table.read_text('utf-8')}")
    print(f"The report, to read and to print: {folder / 'report-2024' / 'report.html'}")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_clinic(folder)
        size = (folder / "visits.csv").stat().st_size / 1e6
        print(f"A made-up clinic: {VISITS:,} visits of up to {PATIENTS:,} patients, {size:.1f} MB.")
        table = "visits.csv --by diagnosis --unit patient --domain diagnoses.txt"
        paid = "--ledger budget.db --dataset clinic"
        print("\nHow close will a count of patients be? Plan it, and give the clinic a budget.")
        lastbit("plan count --epsilon 1/4", folder)
        lastbit("budget create clinic --ledger budget.db --epsilon 1", folder)
        print("\nHow many patients are there?")
        lastbit(f"count visits.csv --unit patient --epsilon 1/4 {paid} --note patients", folder)
        print(f"\nIn truth there are {truth(folder):,}: the table is made up, so we may look.")
        print("\nThe three most common diagnoses, and how many patients have each:")
        lastbit(f"measure {table} -k 3 --epsilon 1/4 {paid} --note diagnoses", folder)
        print(f"\nIn truth {truth(folder, 'influenza'):,} patients have influenza.")
        print("\nWhich numbers of a stream are above 1000? The whole run is paid for when it starts.")
        lastbit(f"watch --threshold 1000 --limit 1 --epsilon 1/4 {paid} --note stream", folder, "120\n90\n2500\n")
        print("\nA quarter is left. What costs more is refused:")
        code = lastbit(f"top {table} -k 5 --epsilon 1/2 {paid}", folder)
        print(f"(exit code {code})")
        lastbit("budget history clinic --ledger budget.db", folder)
    print("\nPeople publish studies, and not single questions. A study is one file, examples/study/study.toml:")
    publish_study(BUILD)


if __name__ == "__main__":
    main()
