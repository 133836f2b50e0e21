"""A made-up year of a hospital, for the study beside it: who came when, why, for how long, and what it cost.

    python make_visits.py          # writes visits-2024.csv and two public files beside study.toml

Nobody in it lives. The same year comes out each time.
"""

from __future__ import annotations

import csv
import random
import sys
from datetime import date, timedelta
from pathlib import Path

PATIENTS = 4_000
REGIONS = {"north": 3, "south": 2, "east": 2, "west": 1}
DEPARTMENTS = {"surgery": 4, "cardiology": 3, "oncology": 2, "paediatrics": 2, "neurology": 1, "burns": 0.02}
DIAGNOSES = ["I10", "J06", "M54", "E11", "K29", "J45", "G43", "F32", "N39", "L20", "H66", "D50", "R07", "Z09", "T30"]
HEADER = "patient,region,sex,age,department,day,left_on,kind,diagnosis,stay,wait,cost"


def make_patient(chance: random.Random, number: int) -> list[list[object]]:
    """Return the visits of one patient: some come often, most come once or twice."""
    age = min(99, max(0, round(chance.gauss(48, 24))))
    region = chance.choices([*REGIONS], [*REGIONS.values()])[0]
    sex = chance.choices(["f", "m", "x"], [52, 47, 1])[0]
    day = date(2024, 1, 1) + timedelta(days=chance.randrange(366))
    visits: list[list[object]] = []
    for _ in range(1 + int(chance.expovariate(0.8))):
        if day.year != 2024:
            break
        department = chance.choices([*DEPARTMENTS], [*DEPARTMENTS.values()])[0]
        department = "paediatrics" if age < 16 and chance.random() < 0.8 else department
        kind = "emergency" if chance.random() < 0.3 else "planned"
        stay = min(90, int(chance.expovariate(1 / (2 + age / 12))))
        wait = "" if kind == "emergency" else min(365, int(chance.expovariate(1 / 35)))
        diagnosis = DIAGNOSES[min(len(DIAGNOSES) - 1, int(chance.expovariate(0.3)))]
        cost = round(180 + 410 * stay + chance.expovariate(1 / 300), 2)
        left_on = day + timedelta(days=stay)
        name = f"P{number:05d}"
        visits.append([name, region, sex, age, department, day, left_on, kind, diagnosis, stay, wait, cost])
        day = left_on + timedelta(days=1 + int(chance.expovariate(1 / 60)))
    return visits


def write_visits(folder: Path, patients: int = PATIENTS) -> int:
    """Write the table, the departments and the residents into a folder; return how many visits there are."""
    chance = random.Random(2024)
    visits = [visit for number in range(patients) for visit in make_patient(chance, number)]
    visits.sort(key=lambda visit: str(visit[5]))
    with (folder / "visits-2024.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(HEADER.split(","))
        rows.writerows(visits)
    (folder / "departments.txt").write_text("\n".join(DEPARTMENTS) + "\n", encoding="utf-8")
    residents = [f"{region},{size * 20_000}" for region, size in REGIONS.items()]
    (folder / "residents.csv").write_text("\n".join(["region,residents", *residents]) + "\n", encoding="utf-8")
    return len(visits)


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    print(f"{write_visits(place):,} visits of {PATIENTS:,} patients in {place / 'visits-2024.csv'}")
