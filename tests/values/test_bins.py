"""Bins: the kernel that counts puts every number where exact comparisons put it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.values._bins import Thresholds
from lastbit.values.bins import BinLabels, Bins, format_edge

EDGES: dict[str, dict[str, Any]] = {
    "one bin": {"bounds": (0, 1), "bins": 1},
    "tenths": {"bounds": (0, 1), "bins": 10},
    "thirds below zero": {"bounds": (-7, "1/2"), "bins": 9},
    "many": {"bounds": (-50, 50), "bins": 3000},
    "uneven": {"edges": [-(2**40), "-1/3", 0, "1e-4", "0.1", "0.3", 1, 2**30, 2**40 + 1]},
    "beyond short floats": {"edges": [-(2**60), -70000, 65504, 65510, 70000, 2**60]},
    "closer than floats": {"edges": [2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3, 2**60 + 200]},
    "crowded": {"edges": [*(Fraction(k, 10**9) for k in range(40)), 10**9]},
}
KINDS = ["float64", "float32", "float16", "int64", "int8", "uint64", "bool"]


def _exact_place(bins: Bins, value: Any, nearest: tuple[float, ...] | None) -> int:
    """The number of edges at or below a value, or whose nearest float is."""
    if value != value:
        return len(bins)
    if value in (np.inf, -np.inf):
        return len(bins) - 1 if value > 0 else sum(edge == -np.inf for edge in nearest or ())
    exact, inner = Fraction(value), bins.edges[1:-1]
    at = [value >= edge for edge in nearest] if nearest else [False] * len(inner)
    return sum(exact >= edge or near for edge, near in zip(inner, at, strict=True))


def _values(bins: Bins, kind: str) -> np.ndarray[Any, Any]:
    dtype = np.dtype(kind)
    if dtype.kind != "f":
        lowest, highest = (0, 1) if kind == "bool" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
        near = {int(edge) + off for edge in bins.edges[:60] for off in (-1, 0, 1, 2)} | {lowest, highest}
        return np.array([value for value in sorted(near) if lowest <= value <= highest], dtype)
    at = np.array(bins.floats(kind)[:60], dtype)
    with np.errstate(over="ignore"):
        around = [at, np.nextafter(at, dtype.type(np.inf)), np.nextafter(at, dtype.type(-np.inf))]
    largest = np.finfo(dtype).max
    odd = [0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).smallest_subnormal, largest, -largest]
    return np.concatenate([*around, np.array(odd, dtype)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EDGES)
def test_an_array_is_counted_where_its_numbers_are_exactly(name: str, kind: str) -> None:
    bins = Bins.of(**EDGES[name])
    values = _values(bins, kind)
    nearest = bins.floats(kind) if np.dtype(kind).kind == "f" else None
    places = [_exact_place(bins, value, nearest) for value in values.tolist()]
    assert bins.count(values).tolist() == np.bincount(places, minlength=len(bins) + 1).tolist()


@pytest.mark.parametrize("name", EDGES)
def test_a_list_is_counted_as_its_array(name: str) -> None:
    bins = Bins.of(**EDGES[name])
    for kind in ("float64", "int64"):
        values = _values(bins, kind)
        assert bins.count(values.tolist()).tolist() == bins.count(values).tolist()


def test_every_part_and_block_of_a_long_array_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bins = Bins.of(bounds=(0, 7), bins=7)
    values = np.arange(1_200_001) % 7
    for cores in ("1", "3"):
        monkeypatch.setenv("LASTBIT_CORES", cores)
        for array in (values, values.astype(np.float32), values[::-1]):
            assert bins.count(array).tolist() == [*np.bincount(values).tolist(), 0]


def test_empty_arrays_are_in_no_bin() -> None:
    assert lb.histogram(np.array([]), bounds=(0, 3), bins=3).values.tolist() == [0, 0, 0]


def test_the_kernel_wants_a_count_for_each_bin_and_one_for_nan() -> None:
    with pytest.raises(ValueError, match="a count for each"):
        Thresholds(np.array([1.0, 2.0])).count(np.array([1.0]), np.zeros(3, np.int64))


def test_labels_are_a_sequence_like_their_tuple() -> None:
    bins = Bins.of(bounds=(0, 1), bins=4)
    labels = BinLabels(bins, ("missing",))
    texts = ("0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1", "missing")
    assert tuple(labels) == texts
    assert labels == texts
    assert hash(labels) == hash(texts)
    assert repr(labels) == repr(texts)
    assert [labels[place] for place in range(-5, 5)] == [texts[place] for place in range(-5, 5)]
    assert labels[1:4] == texts[1:4]
    assert labels != list(texts)
    with pytest.raises(IndexError):
        labels[5]


@pytest.mark.parametrize(
    ("edge", "text"), [("-0.05", "-0.05"), ("1/8", "0.125"), ("1e-9", "0.000000001"), ("1e-10", "1/10000000000")]
)
def test_edges_are_written_with_as_few_digits_as_they_have(edge: str, text: str) -> None:
    assert format_edge(Fraction(edge)) == text
