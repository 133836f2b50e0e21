"""More than one core: the same results in the same order, and one setting that turns it off."""

import os
import threading
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb
from lastbit.chance import cores
from lastbit.chance.bits import SystemBits, Words
from lastbit.values.grid import Grid


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets the number of cores, and lets short work use them."""
    monkeypatch.setattr(cores, "MANY", 1000)
    return lambda number: monkeypatch.setenv("LASTBIT_CORES", number)


def test_parts_are_all_places_in_order(few: Callable[[str], None]) -> None:
    for number in ("1", "2", "3", "7"):
        few(number)
        for n in (0, 1, 999, 1000, 1001, 8192, 8193, 50_000):
            parts = cores.parts_of(n, 64)
            assert [place for part in parts for place in part] == list(range(n))
            assert len(parts) <= (int(number) if n > 1000 else 1)
            assert all(len(part) % 64 == 0 for part in parts[:-1])


def test_results_come_in_order_and_from_threads_that_end(few: Callable[[str], None]) -> None:
    few("3")
    before = threading.active_count()
    found = cores.side_by_side(lambda part: (part.start, threading.get_ident()), cores.parts_of(3000, 1))
    assert [start for start, _ in found] == [0, 1000, 2000]
    assert threading.get_ident() not in {thread for _, thread in found}
    assert threading.active_count() == before
    few("1")
    assert cores.side_by_side(lambda _: threading.get_ident(), cores.parts_of(3000, 1)) == [threading.get_ident()]


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, number in (("1", 1), ("5", 5), ("0", 1)):
        monkeypatch.setenv("LASTBIT_CORES", text)
        assert cores.cores() == number
    for text in ("", "many", "-3"):
        monkeypatch.setenv("LASTBIT_CORES", text)
        assert 1 <= cores.cores() <= (os.cpu_count() or 1)


def test_an_error_in_a_part_comes_out(few: Callable[[str], None]) -> None:
    few("2")
    with pytest.raises(ZeroDivisionError):
        cores.side_by_side(lambda part: 1 // (part.start - 1024), cores.parts_of(2048, 1024))


@pytest.mark.parametrize("scale", [20, 2_000, 10**13])
def test_draws_are_those_of_their_words(
    few: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, scale: int
) -> None:
    # Words that say where they are from: every call gives the words of one chunk, whichever thread asks for it.
    rate = lb.Rate.from_epsilon(Fraction(1, scale))
    words = np.random.PCG64(scale).random_raw(8192)
    asked: list[int] = []

    def chunk(_: SystemBits, n: int) -> Words:
        asked.append(n)
        return words[:n].copy()

    monkeypatch.setattr(SystemBits, "words", chunk)
    found = {}
    for number in ("1", "2", "3"):
        few(number)
        asked.clear()
        found[number] = lb.Sampler().laplace(rate, 40_000).tolist(), sum(asked)
    assert found["1"] == found["2"] == found["3"]


def test_sums_are_the_same(few: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lastbit.values.grid._BLOCK", 512)
    values = np.random.default_rng(1).normal(50, 20, 10_000)
    values[::97] = np.nan
    found = set()
    for number in ("1", "2", "5"):
        few(number)
        found.add(Grid("1/1024").total_of_floats(values, 0, 100 << 10))
    assert len(found) == 1
