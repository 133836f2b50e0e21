"""Sources of words: no word twice, whoever asks, in whatever process."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
import struct
import threading

import numpy as np
import pytest

import lastbit as lb
from lastbit import bits


def quads(words: np.ndarray) -> set[bytes]:
    """Runs of four words: 256 bits, which two honest sources never share."""
    raw = words.tobytes()
    return {raw[i : i + 32] for i in range(0, len(raw) - 31, 8)}


def from_child(work) -> bytes:
    """What `work` gives in a forked process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "wb") as out:
            out.write(work())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as source:
        data = source.read()
    os.waitpid(child, 0)
    return data


def test_a_forked_child_never_repeats_its_parents_words():
    source = lb.SystemBits()
    source.words(5)  # leaves words in the buffer
    children = [np.frombuffer(from_child(lambda: source.words(500).tobytes()), np.uint64) for _ in range(3)]
    everyone = [quads(source.words(500)), *map(quads, children)]
    assert len(set.union(*everyone)) == sum(map(len, everyone))


def test_grandchildren_and_pools_too():
    source = lb.SystemBits()
    source.words(3)

    def nested() -> bytes:
        return source.words(8).tobytes() + from_child(lambda: source.words(8).tobytes())

    both = np.frombuffer(from_child(nested), np.uint64)
    seen = quads(both) | quads(source.words(8))
    assert len(seen) == len(quads(both)) + 5
    with multiprocessing.get_context("fork").Pool(2) as pool:
        parts = pool.map(_words_of_global, range(8), chunksize=1)
    assert len(set().union(*(quads(np.array(part, np.uint64)) for part in parts))) == 8 * 13


_SHARED = lb.SystemBits()
_SHARED.words(1)


def _words_of_global(_: int) -> list[int]:
    return _SHARED.words(16).tolist()


def test_threads_never_get_the_same_words():
    source, found = lb.SystemBits(), []

    def work() -> None:
        mine = [source.words(size) for size in (1, 7, 64, 1000, 8192, 9000) for _ in range(6)]
        found.append(np.concatenate(mine))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = np.concatenate(found)
    # Aligned pairs of words, so that a pair handed out twice is found wherever the calls began.
    pairs = everything[:-1].astype(object) * (1 << 64) + everything[1:].astype(object)
    assert len(everything) > 800_000
    assert len(set(pairs.tolist())) == len(pairs)


def test_a_signal_handler_may_draw_in_the_middle_of_a_draw():
    source, inner, outer = lb.SystemBits(), [], []
    before = signal.signal(signal.SIGALRM, lambda *_: inner.append(source.words(4)))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        while len(inner) < 40:
            outer.append(source.words(4))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    every = [words.tobytes() for words in inner + outer]
    assert len(set(every)) == len(every)


def test_keys_are_changed_after_their_life(monkeypatch):
    asked = []
    system = os.urandom
    monkeypatch.setattr(bits, "_KEY_LIFE", 1000)
    monkeypatch.setattr(bits.os, "urandom", lambda n: asked.append(n) or system(n))
    source = lb.SystemBits()
    for _ in range(10):
        source.words(400)
    assert asked == [32] * 5


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 8191, 8192, 8193, 50_000])
def test_words_come_in_any_number(n):
    words = lb.SystemBits().words(n)
    assert words.dtype == np.uint64
    assert words.shape == (n,)
    assert len(np.unique(words)) == n
    words[:] = 0  # the array is the caller's own


def test_what_was_handed_out_is_not_handed_out_again_when_written_to():
    source = lb.SystemBits()
    first = source.words(10)
    kept = first.copy()
    first[:] = 7
    assert not np.isin(source.words(10), np.append(kept, np.uint64(7))).any()


def test_copies_and_pickles_carry_no_key():
    source = lb.SystemBits()
    source.words(5)
    others = [copy.copy(source), copy.deepcopy(source), pickle.loads(pickle.dumps(source))]
    seen = [quads(each.words(50)) for each in (source, *others)]
    assert len(set.union(*seen)) == sum(map(len, seen))
    assert repr(source) == "SystemBits()"


def test_a_tape_replays_and_counts():
    tape = lb.Tape([1, 2, 3])
    assert tape.words(2).tolist() == [1, 2]
    assert tape.consumed == 2
    with pytest.raises(lb.TapeEnded):
        tape.words(2)
    assert tape.consumed == 3
    assert repr(tape) == "<Tape: 3 of 3 words consumed>"


@pytest.mark.parametrize("words", [[-1], [1 << 64], [1.5], ["1"], [None]])
def test_a_tape_holds_words_only(words):
    with pytest.raises(lb.ParameterError, match="tape must hold integers"):
        lb.Tape(words)


class Plugged:
    def __init__(self, answer):
        self.answer = answer

    def words(self, n):
        return self.answer(n)


@pytest.mark.parametrize(
    "answer",
    [
        lambda n: np.zeros(n - 1, np.uint64),
        lambda n: np.zeros(n + 1, np.uint64),
        lambda n: np.zeros(n, np.int64),
        lambda n: np.zeros(n, ">u8"),
        lambda n: [0] * n,
        lambda n: None,
        lambda n: np.zeros((n, 1), np.uint64),
    ],
)
def test_a_source_that_breaks_its_word_is_found_out(answer):
    for draw in (lb.Sampler(Plugged(answer)), lb.Reference(Plugged(answer))):
        with pytest.raises(lb.BitsError, match="must give a NumPy array"):
            draw.integer(6)


def test_any_object_with_words_will_do():
    system = lb.SystemBits()
    strided = Plugged(lambda n: system.words(2 * n)[::2])
    assert lb.Sampler(strided).laplace(lb.Rate(1, 1), 20_000).dtype == np.int64


def test_the_keystream_is_aes_256_in_counter_mode(monkeypatch):
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key = bytes(range(32))
    monkeypatch.setattr(bits.os, "urandom", lambda n: key)
    words = np.concatenate([(source := lb.SystemBits()).words(3), source.words(5000), source.words(9000)])
    block = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    blocks = [block.update(struct.pack(">QQ", 0, i)) for i in range(32)]
    assert words[:64].tobytes() == b"".join(blocks)
    assert len(np.unique(words)) == len(words)
