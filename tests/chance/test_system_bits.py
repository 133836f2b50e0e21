"""The real SystemBits under forks, threads and signals: no word is handed out twice.

Random words can agree by chance, so these tests compare what cannot, or not within 2^-60: two words in a row
(128 bits), or three repeats among a million.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count

import numpy as np
import pytest

from lastbit import Sampler, SystemBits
from lastbit.chance import bits

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
"""Python 3.12 warns of forks where there are threads, which pytest-xdist has."""


def pairs(words: np.ndarray) -> set[bytes]:
    """Every two words in a row."""
    return {words[i : i + 2].tobytes() for i in range(len(words) - 1)}


def in_child(work: Callable[[], np.ndarray]) -> Callable[[], np.ndarray]:
    """Fork; the child works and sends its words. Call the result to have them, once the parent has done its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(work().tobytes())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)

    def answer() -> np.ndarray:
        with os.fdopen(reader, "rb") as pipe:
            words = np.frombuffer(pipe.read(), np.uint64)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        return words

    return answer


@pytest.mark.parametrize("before", [0, 1, 63, 64, 100, 5000, 8192])
def test_a_child_repeats_nothing_of_its_parent(before: int) -> None:
    source = SystemBits()
    earlier = source.words(before)
    answer = in_child(lambda: source.words(4000))
    parent = source.words(4000)
    child = answer()
    assert len(child) == 4000
    assert not pairs(child) & pairs(parent)
    assert not pairs(child) & pairs(earlier)


def test_a_child_repeats_no_single_word() -> None:
    source = SystemBits()
    source.words(1)
    answer = in_child(lambda: source.words(4))
    parent = source.words(4)
    assert not set(answer().tolist()) & set(parent.tolist())  # by chance: 16 in 2^64


def test_many_children_and_grandchildren_all_differ() -> None:
    source = SystemBits()
    source.words(3)

    def family() -> np.ndarray:
        own = source.words(200)
        grandchild = in_child(lambda: source.words(200))
        return np.concatenate((own, source.words(200), grandchild()))

    answers = [in_child(family) for _ in range(6)]
    everyone = [source.words(600), *(answer() for answer in answers)]
    parts = [pairs(part) for words in everyone for part in words.reshape(3, 200)]
    assert sum(len(part) for part in parts) == len(set().union(*parts)) == 21 * 199


@pytest.mark.parametrize("n", [4, 32, 33, 1000, 20_000])
def test_a_snapshot_that_is_resumed_twice_repeats_nothing(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    # A child that cannot tell that it is one has all of its parent's state, as a virtual machine resumed again has.
    source = SystemBits()
    monkeypatch.setattr(bits, "current_process", lambda: (1, 0))
    source.words(5)
    source.words(500)
    answer = in_child(lambda: source.words(n))
    parent = source.words(n)
    assert not pairs(answer()) & pairs(parent)


def test_the_parent_keeps_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: asked.append(n) or real(n))
    source = SystemBits()
    source.words(50)
    in_child(lambda: source.words(50))()
    source.words(50)
    assert asked == [32, 16, 16]


def test_a_sampler_made_before_the_fork() -> None:
    sampler = Sampler()
    sampler.words(10)
    answer = in_child(lambda: sampler.words(300))
    assert not pairs(sampler.words(300)) & pairs(answer())


def _words_of(source: SystemBits, n: int, sender: "multiprocessing.connection.Connection") -> None:
    sender.send_bytes(source.words(n).tobytes())


def test_multiprocessing_by_fork() -> None:
    context = multiprocessing.get_context("fork")
    source = SystemBits()
    source.words(7)
    workers, receivers = [], []
    for _ in range(3):
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_words_of, args=(source, 500, sender))
        worker.start()
        sender.close()  # or a worker that dies leaves this test waiting for its words
        workers.append(worker)
        receivers.append(receiver)
    words = [np.frombuffer(receiver.recv_bytes(), np.uint64) for receiver in receivers]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    parts = [pairs(part) for part in [*words, source.words(500)]]
    assert len(set().union(*parts)) == 4 * 499


@pytest.mark.parametrize(("n", "blocks"), [(100, 0), (100_000, 0), (100_000, 5), (100_000, 12)])
def test_a_fork_while_the_words_are_made(monkeypatch: pytest.MonkeyPatch, n: int, blocks: int) -> None:
    # As from a signal handler: both processes come back from the cipher with the same words in hand, those of
    # the blocks before and of this one.
    source, original, forked = SystemBits(), bits._Stream.take, []
    reader, writer = os.pipe()
    calls = count()

    def take(self: bits._Stream, size: int) -> np.ndarray:
        words = original(self, size)
        if next(calls) == blocks:
            forked.append(os.fork())
        return words

    monkeypatch.setattr(bits._Stream, "take", take)
    monkeypatch.setattr(bits, "_BLOCK", 8192)
    words = source.words(n)
    if forked[0] == 0:
        try:
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(words.tobytes())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        child = np.frombuffer(pipe.read(), np.uint64)
    os.waitpid(forked[0], 0)
    assert len(child) == n
    assert not pairs(child) & pairs(words)


@pytest.mark.parametrize("sign", ["process id", "fork count"])
def test_either_sign_of_a_fork_is_enough(monkeypatch: pytest.MonkeyPatch, sign: str) -> None:
    # A fork Python did not see changes the id; an id that is used again comes with another count.
    keys = []
    real = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: keys.append(n) or real(n))
    source = SystemBits()
    source.words(100)
    if sign == "process id":
        other = os.getpid() + 1
        monkeypatch.setattr(os, "getpid", lambda: other)
    else:
        monkeypatch.setattr(bits, "_forks", bits._forks + 1)
    source.words(100)
    source.words(100)
    # The place that the old key was asked for is dropped with the key.
    assert keys == [32, 16, 16, 32, 16, 16]


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_threads_share_a_source_but_no_word(impatient: None) -> None:
    source, start = SystemBits(), threading.Barrier(8, timeout=600)
    taken: list[list[np.ndarray]] = [[] for _ in range(8)]

    def work(mine: list[np.ndarray], sizes: list[int]) -> None:
        start.wait()
        for n in sizes:
            mine.append(source.words(n))

    sizes = [1, 2, 3, 5, 50, 63, 64, 65, 500, 4096, 1, 8192, 100] * 9
    threads = [threading.Thread(target=work, args=(mine, sizes[i:] + sizes[:i])) for i, mine in enumerate(taken)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate([words for mine in taken for words in mine])
    assert len(words) == 8 * sum(sizes)
    # Three repeats among 10^6 words: less than 2^-70 by chance.
    assert len(words) - len(np.unique(words)) <= 2


def test_threads_that_fork(impatient: None) -> None:
    source, stop = SystemBits(), threading.Event()
    taken: list[np.ndarray] = []

    def work() -> None:
        while not stop.is_set() and len(taken) < 20_000:
            taken.append(source.words(20))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        children = [in_child(lambda: source.words(500))() for _ in range(10)]
    finally:
        stop.set()
        thread.join()
    seen = [pairs(child) for child in children]
    assert len(set().union(*seen)) == 10 * 499
    assert not set().union(*seen) & {pair for words in taken for pair in pairs(words)}


def test_a_call_within_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    # What a signal handler does, at the worst moment: the cipher is at work on the outer call's words.
    source, original = SystemBits(), bits._Stream.take
    inner: list[np.ndarray] = []
    calls = iter(range(20))

    def interrupt() -> None:
        if next(calls, None) is not None:
            inner.append(source.words(40))

    def take(self: bits._Stream, n: int) -> np.ndarray:
        interrupt()
        words = original(self, n)
        interrupt()
        return words

    monkeypatch.setattr(bits._Stream, "take", take)
    outer = [source.words(n) for n in (1, 70, 5000, 9000, 3)]
    assert len(inner) == 20
    parts = [pairs(words) for words in outer + inner]
    assert sum(len(part) for part in parts) == len(set().union(*parts))


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals need the main thread")
def test_a_signal_handler_that_draws() -> None:
    source = SystemBits()
    handled: list[np.ndarray] = []
    before = signal.signal(signal.SIGALRM, lambda *_: handled.append(source.words(33)))
    taken = []
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
        for i in range(20_000):
            taken.append(source.words(1 + i % 90))
            if len(handled) >= 100:
                break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    words = np.concatenate(taken + handled)
    assert len(words) - len(np.unique(words)) <= 2


def test_words_look_like_words() -> None:
    # Every bit is sometimes 0 and sometimes 1: among 4096 words this fails with probability 2^-4089.
    words = SystemBits().words(4096)
    assert int(np.bitwise_or.reduce(words)) == (1 << 64) - 1
    assert int(np.bitwise_and.reduce(words)) == 0
