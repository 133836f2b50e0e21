"""Count a public .dat file of transactions, so that the experiments run on the papers' real data.

`python -m experiments.convert kosarak.dat BMS-POS.csv T40I10D100K.dat --to counts` writes counts/kosarak-counts.csv and
so on, with the columns item,count: in how many records each item is. Then: `make experiments DATA=counts`. A record is
a line, and its items are separated by spaces, commas or tabs. Where the files are, `datasets.PUBLISHED` says; the
papers name the Frequent Itemset Mining repository, fimi.uantwerpen.be, for two of them.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from experiments.datasets import PUBLISHED, Published


def count_items(lines: Iterable[str]) -> tuple[Counter[str], int]:
    """In how many records each item is, and how many records there are. An item counts once in a record.

    >>> count_items(["1 2 2", "", "2,3"])
    (Counter({'2': 2, '1': 1, '3': 1}), 2)
    """
    counts: Counter[str] = Counter()
    records = 0
    for line in lines:
        items = {item for item in re.split(r"[\s,]+", line) if item}
        if items:
            counts.update(items)
            records += 1
    return counts, records


def published_as(path: Path) -> Published | None:
    """The published data set that a file is named after; None where no paper has it."""
    plain = re.sub(r"[^a-z0-9]", "", path.stem.lower())
    return next((each for each in PUBLISHED if plain.startswith(re.sub(r"[^a-z0-9]", "", each.prefix))), None)


def convert(path: Path, folder: Path) -> str:
    """Write the counts of a file, and say how they compare with what the papers state."""
    with path.open(encoding="utf-8") as file:
        counts, records = count_items(file)
    data = published_as(path)
    written = folder / f"{path.stem.lower() if data is None else data.prefix}-counts.csv"
    with written.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("item", "count"))
        rows.writerows(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
    said = f"{written}: {records:,} records, {len(counts):,} items"
    if data is None:
        return said
    same = (records, len(counts)) == (data.records, data.items)
    stated = "as the papers state" if same else f"the papers state {data.records:,} and {data.items:,}"
    return f"{said}, {stated}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.convert", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a .dat file of transactions")
    parser.add_argument("--to", type=Path, default=Path("counts"), help="the folder for the counts; it is made")
    given = parser.parse_args(arguments)
    given.to.mkdir(parents=True, exist_ok=True)
    for path in given.files:
        print(convert(path, given.to), file=sys.stderr)


if __name__ == "__main__":
    main()
