"""More than one core: the same results in the same order, and one setting that turns it off."""

import math
import os
import signal
import threading
from collections.abc import Callable
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

import lastbit as lb
from lastbit.chance import parallel
from lastbit.chance.bits import SystemBits, Words
from lastbit.values.grid import Grid


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sets the number of cores, and lets short work use them."""
    monkeypatch.setattr(parallel, "MANY", 1000)
    return lambda number: monkeypatch.setenv("LASTBIT_CORES", number)


def test_parts_are_all_places_in_order(few: Callable[[str], None]) -> None:
    for number in ("1", "2", "3", "7"):
        few(number)
        for n in (0, 1, 999, 1000, 1001, 8192, 8193, 50_000):
            parts = parallel.split_range(n, 64)
            assert [place for part in parts for place in part] == list(range(n))
            assert len(parts) <= (int(number) if n > 1000 else 1)
            assert all(len(part) % 64 == 0 for part in parts[:-1])


def test_results_come_in_order_and_from_threads_that_end(few: Callable[[str], None]) -> None:
    few("3")
    found = parallel.run_parallel(lambda part: (part.start, threading.current_thread()), parallel.split_range(3000, 1))
    assert [start for start, _ in found] == [0, 1000, 2000]
    assert len({id(thread) for _, thread in found} | {id(threading.current_thread())}) == 3  # numbers are used again
    assert not any(thread.is_alive() for _, thread in found if thread is not threading.current_thread())
    few("1")
    assert parallel.run_parallel(lambda _: threading.get_ident(), parallel.split_range(3000, 1)) == [
        threading.get_ident()
    ]


def test_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, number in (("1", 1), ("5", 5), ("0", 1), ("99999", 256), ("9" * 5000, 256)):
        monkeypatch.setenv("LASTBIT_CORES", text)
        assert parallel.core_count() == number
    for text in ("", "many", "-3"):
        monkeypatch.setenv("LASTBIT_CORES", text)
        assert 1 <= parallel.core_count() <= (os.cpu_count() or 1)


def test_an_error_in_a_part_comes_out(few: Callable[[str], None]) -> None:
    few("2")
    with pytest.raises(ZeroDivisionError):
        parallel.run_parallel(lambda part: 1 // (part.start - 1024), parallel.split_range(2048, 1024))


@pytest.mark.parametrize("number", ["1", "2", "3"])
@pytest.mark.parametrize(("scale", "step"), [(20, 1), (2_000, 1), (10**13, 2)])
def test_every_word_is_used_once_whichever_core_takes_it(
    few: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, scale: int, step: int, number: str
) -> None:
    few(number)
    monkeypatch.setattr("lastbit.chance.sampler._CHUNK", 8192)
    rate, n, chunk = lb.Rate.from_epsilon(Fraction(1, scale)), 40_000, 8192 // step
    source, lock = iter(np.random.PCG64(step).random_raw(n * step)), threading.Lock()  # none leaves a doubt
    given: list[list[int]] = []

    def fresh(_: SystemBits, count: int) -> Words:
        with lock:
            given.append([int(word) for word in islice(source, count)])
            return np.array(given[-1], np.uint64)

    monkeypatch.setattr(SystemBits, "words", fresh)
    found = lb.Sampler().laplace(rate, n).tolist()
    # Cores take their words in any order: each chunk of samples must be that of one call, and of no other.
    expected = [lb.Sampler(lb.Tape(words)).laplace(rate, len(words) // step).tolist() for words in given]
    assert sorted(found[i : i + chunk] for i in range(0, n, chunk)) == sorted(expected)
    assert sum(map(len, given)) == n * step


@pytest.mark.parametrize("number", ["1", "3"])
def test_a_tape_is_read_by_one_core(few: Callable[[str], None], number: str) -> None:
    few(number)
    readers: set[int] = set()

    class Watched(lb.Tape):
        def words(self, n: int) -> Words:
            readers.add(threading.get_ident())
            return super().words(n)

    rate, words = lb.Rate.from_epsilon("1/20"), np.random.PCG64(5).random_raw(40_000).tolist()
    found = lb.Sampler(Watched(words)).laplace(rate, 40_000)
    assert readers == {threading.get_ident()}
    assert found[:100].tolist() == lb.Reference(lb.Tape(words[:100])).laplace(rate, 100).tolist()


def test_sums_are_the_same(few: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lastbit.values.grid._BLOCK", 512)
    values = np.random.default_rng(1).normal(50, 20, 10_000)
    values[::97] = np.nan
    steps = [max(0, min(100 << 10, math.floor(value * 1024))) for value in values.tolist() if value == value]
    for number in ("1", "2", "5"):
        few(number)
        assert Grid("1/1024").total_of_floats(values, 0, 100 << 10) == (sum(steps), 104)


def test_an_interrupt_comes_out_when_all_parts_have_ended(few: Callable[[str], None]) -> None:
    few("3")
    ended = []

    def work(part: range) -> None:
        if part.start == 0:
            raise KeyboardInterrupt
        ended.append(part.start)

    with pytest.raises(KeyboardInterrupt):
        parallel.run_parallel(work, parallel.split_range(3000, 1))
    assert sorted(ended) == [1000, 2000]


def test_the_error_of_the_first_part_comes_out(few: Callable[[str], None]) -> None:
    few("3")

    def work(part: range) -> None:
        raise ValueError(f"part {part.start}")

    for _ in range(20):
        with pytest.raises(ValueError, match="part 0"):
            parallel.run_parallel(work, parallel.split_range(3000, 1))


def test_parts_are_done_where_the_system_gives_no_threads(
    few: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    few("4")
    started = []

    def start(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        real(thread)

    real = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", start)
    assert parallel.run_parallel(lambda part: part.start, parallel.split_range(4000, 1)) == [0, 1000, 2000, 3000]
    assert len(started) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_threads_work_does_not_leave_the_child_waiting(few: Callable[[str], None]) -> None:
    few("2")
    gate, children = threading.Event(), []

    def fork(*_: object) -> None:
        children.append(os.fork())
        if not children[0]:
            # The child ends itself where it would wait for ever.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(600)
        gate.set()

    def work(part: range) -> int:
        if part.start:
            if not children:
                # The main thread runs the handler, while it waits for this one.
                os.kill(os.getpid(), signal.SIGALRM)
            gate.wait(600)
        return part.start

    before = signal.signal(signal.SIGALRM, fork)
    try:
        found = parallel.run_parallel(work, parallel.split_range(2000, 1))
        if children == [0]:
            os._exit(0 if found == [0, 1000] else 1)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert found == [0, 1000]
    assert os.waitpid(children[0], 0)[1] == 0
