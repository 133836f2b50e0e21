"""The counts the experiments run on: files of `item,count`, or generated Zipf counts of the same sizes."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.chance.draw import Draw

Counts = NDArray[np.int64]

_MANY = 100
"""Fewer items are no question for a top k of hundreds."""


@dataclass(frozen=True)
class Published:
    """A data set as the papers describe it."""

    name: str
    prefix: str
    """How a file of it is named."""
    records: int
    items: int
    source: str
    """Where the public .dat file is; `python -m experiments.convert` counts it."""


PUBLISHED = (
    Published("T40I10D100K", "t40i10d100k", 100_000, 942, "http://fimi.uantwerpen.be/data/T40I10D100K.dat"),
    Published(
        "BMS-POS",
        "bms-pos",
        515_597,
        1_657,
        "https://raw.githubusercontent.com/cpearce/HARM/master/datasets/BMS-POS.csv",
    ),
    Published("Kosarak", "kosarak", 990_002, 41_270, "http://fimi.uantwerpen.be/data/kosarak.dat"),
)


@dataclass(frozen=True)
class Dataset:
    """Counts, largest first, and in words where they come from."""

    name: str
    counts: Counts
    origin: str
    share: Fraction = Fraction(1)
    """The share of the published records behind these counts."""

    def threshold(self) -> int:
        """The 95% quantile, which the free-gap paper compares with."""
        return int(np.quantile(self.counts, 0.95))

    def thresholds(self, runs: int, k: int, draw: Draw, *, by_rank: bool) -> Counts:
        """One threshold a run: always the 95% quantile, or by rank, as the free-gap authors' released code sets it.

        By rank, the threshold is halfway between two neighbouring counts, rounded down. The rank of the upper one is
        drawn from 2k to 8k - 1, the largest count being rank 0. Data with fewer counts than that end at the last pair.
        """
        if not by_rank:
            return np.full(runs, self.threshold())
        upper = np.minimum(2 * k + draw.integer(6 * k, runs).astype(np.int64), len(self.counts) - 2)
        return (self.counts[upper] + self.counts[upper + 1]) // 2

    def enlarge(self) -> Dataset:
        """The counts the published number of records would have, were they all like those that are here."""
        counts = self.counts * self.share.denominator // self.share.numerator
        return Dataset(self.name, counts, f"{self.origin}, times {float(1 / self.share):.3g}")


def load(folder: Path | None, limit: int | None = None) -> tuple[Dataset, ...]:
    """The data sets of a folder, or generated ones. `limit` cuts each to its largest counts, for a quick look."""
    found = _generate() if folder is None else _read_published(folder) or _others(folder)
    if not found:
        raise SystemExit(f"no file with the columns item,count in {folder}. Leave DATA out for generated counts.")
    return tuple(Dataset(each.name, each.counts[:limit], each.origin, each.share) for each in found)


def read_unpublished(folder: Path, limit: int | None = None) -> tuple[Dataset, ...]:
    """The files of at least a hundred items that no paper measured, where the papers' files are beside them."""
    prefixes = tuple(each.prefix for each in PUBLISHED)
    if not _read_published(folder):
        return ()
    read = {
        path.stem: _read_counts(path) for path in sorted(folder.glob("*.csv")) if not path.name.startswith(prefixes)
    }
    return tuple(
        Dataset(name.removesuffix("-counts"), counts[:limit], f"{name}: {len(counts):,} items")
        for name, counts in read.items()
        if len(counts) >= _MANY
    )


def _generate() -> list[Dataset]:
    # The largest item of a Zipf law over as many items as the data set has, one in two records.
    return [
        Dataset(each.name, each.records // 2 // np.arange(1, each.items + 1), f"generated: Zipf counts, {each.items:,}")
        for each in PUBLISHED
    ]


def _read_published(folder: Path) -> list[Dataset]:
    found = []
    for each in PUBLISHED:
        for path in sorted(folder.glob(f"{each.prefix}*.csv"))[:1]:
            counts = _read_counts(path)
            records = _records(path, each.records)
            origin = f"{path.stem}: {len(counts):,} of {each.items:,} items"
            if records < each.records:
                origin += f", {records:,} of {each.records:,} records"
            if len(counts) < each.items:
                # The list of items is public, so an item that no record here has counts zero.
                counts = np.concatenate((counts, np.zeros(each.items - len(counts), np.int64)))
                origin += ", the others counted zero"
            found.append(Dataset(each.name, counts, origin, Fraction(records, each.records)))
    return found


def _records(path: Path, published: int) -> int:
    match = re.search(r"first(\d+)k", path.stem)
    return min(published, int(match[1]) * 1000) if match else published


def _others(folder: Path) -> list[Dataset]:
    read = {path.stem: _read_counts(path) for path in sorted(folder.glob("*.csv"))}
    largest = sorted(read.items(), key=lambda each: -len(each[1]))[:3]
    return [Dataset(name, counts, f"{name}: {len(counts):,} items") for name, counts in largest[::-1] if len(counts)]


def _read_counts(path: Path) -> Counts:
    with path.open(encoding="utf-8", newline="") as file:
        rows: Any = csv.DictReader(file)
        if not {"item", "count"} <= set(rows.fieldnames or ()):
            return np.empty(0, np.int64)
        return np.sort(np.fromiter((int(row["count"]) for row in rows), np.int64))[::-1]
