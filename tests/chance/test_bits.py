"""Words: replayed from a tape, or AES-256-CTR keyed by the system, and never trusted from a source that errs."""

import copy
import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from lastbit import BitsError, ParameterError, Rate, Reference, Sampler, SystemBits, Tape, TapeEnded
from lastbit.chance import bits
from tests.oracle import WORD

BLOCK = 8192


@pytest.fixture(autouse=True, scope="module")
def short_blocks() -> Iterator[None]:
    """Shorter blocks: long answers need not be as long here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "_BLOCK", BLOCK)
        yield


def keystream(key: bytes, place: bytes, n: int) -> list[int]:
    """n words under a key from a place on, from AES on the counters: no CTR mode here."""
    block = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    first = int.from_bytes(place, "big")
    counters = b"".join(((first + i) % (1 << 128)).to_bytes(16, "big") for i in range(-(-n // 2)))
    return np.frombuffer(block.update(counters), np.uint64)[:n].tolist()


class System:
    """An operating system whose random bytes are known, and no two answers alike."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    def urandom(self, n: int) -> bytes:
        self.asked.append(hashlib.shake_256(str(len(self.asked)).encode()).digest(n))
        return self.asked[-1]

    @property
    def keys(self) -> list[bytes]:
        return [answer for answer in self.asked if len(answer) == 32]

    def expected(self, sizes: list[int], life: int = bits._KEY_LIFE) -> list[list[int]]:
        """What calls of these sizes give: a few words as they come, more from a fresh place under the key."""
        answers, key, left, words = iter(self.asked), b"", 0, []
        for n in sizes:
            if n <= bits._FEW:
                words.append(np.frombuffer(next(answers), np.uint64, n).tolist())
                continue
            words.append([])
            for start in range(0, n, BLOCK):
                part = min(BLOCK, n - start)
                if left < part:
                    key, left = next(answers), life
                words[-1] += keystream(key, next(answers), part)
                left -= part
        assert list(answers) == []
        return words


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    known = System()
    monkeypatch.setattr(os, "urandom", known.urandom)
    return known


# -- Tape ------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, WORD - 1), max_size=30), st.lists(st.integers(0, 8), max_size=12))
def test_a_tape_replays_and_counts(words: list[int], sizes: list[int]) -> None:
    tape, at = Tape(words), 0
    for n in sizes:
        if at + n > len(words):
            with pytest.raises(
                TapeEnded,
                match=rf"^the tape ended: {at} words were read, {n} more asked, {len(words)} there\.$",
            ):
                tape.words(n)
            at = len(words)
        else:
            got = tape.words(n)
            assert got.dtype == np.uint64
            assert got.tolist() == words[at : at + n]
            at += n
        assert tape.consumed == at


def test_a_tape_is_not_written_through() -> None:
    source = np.array([1, 2, 3], np.uint64)
    tape = Tape(source)
    source[:] = 9
    tape.words(1)[:] = 7
    assert tape.words(2).tolist() == [2, 3]


@pytest.mark.parametrize("words", [[-1], [WORD], [1.0], ["1"], [None], 5, [[1]]])
def test_tapes_refused(words: Any) -> None:
    with pytest.raises((ParameterError, TypeError)) as caught:
        Tape(words)
    assert words == 5 or str(caught.value) == "a tape must hold integers from 0 to 2^64 - 1, one for each word."


def test_a_tape_takes_any_integers() -> None:
    assert Tape(iter([np.uint64(WORD - 1), np.int8(3), 0])).words(3).tolist() == [WORD - 1, 3, 0]
    assert Tape([]).words(0).tolist() == []


@pytest.mark.parametrize("n", [-1, -5])
def test_a_tape_does_not_run_backwards(n: int) -> None:
    tape = Tape([1, 2, 3])
    tape.words(2)
    with pytest.raises(ParameterError):
        tape.words(n)
    assert tape.consumed == 2


def test_a_tape_does_not_show_its_words() -> None:
    tape = Tape([123456789, 987654321])
    tape.words(1)
    assert repr(tape) == "<Tape: 1 of 2 words consumed>"


# -- SystemBits: the words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes",
    [
        [1] * 300,
        [3, 5, 0, 64, 1, 100, 4096, 1, 8192, 7],
        [31, 32, 33, 34],
        [8192, 8192],
        [8193, 1],
        [5, 20_000, 5],
        [4095, 4096, 4097, 1],
        [0, 0, 1, 0],
        [63, 2, 250, 3, 1000, 20, 4000, 100],
    ],
)
def test_every_call_starts_at_a_fresh_place(system: System, sizes: list[int]) -> None:
    source = SystemBits()
    got = [source.words(n) for n in sizes]
    assert all(words.dtype == np.uint64 and words.shape == (n,) for words, n in zip(got, sizes, strict=True))
    assert [words.tolist() for words in got] == system.expected(sizes)


@given(st.lists(st.integers(0, 300) | st.integers(0, 20_000), max_size=20))
def test_any_sizes(sizes: list[int]) -> None:
    system = System()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", system.urandom)
        source = SystemBits()
        got = [source.words(n).tolist() for n in sizes]
    assert got == system.expected(sizes)
    joined = [word for words in got for word in words]
    assert len(set(joined)) == len(joined)


def test_a_key_serves_its_life_and_no_longer(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "_KEY_LIFE", 150)
    source = SystemBits()
    got = [source.words(40).tolist() for _ in range(10)]
    # Three times 40 words fit in 150: the tenth call is the first under the fourth key.
    assert len(system.keys) == 4
    assert got == system.expected([40] * 10, life=150)


def test_a_key_is_used_to_its_end(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "_KEY_LIFE", 160)
    source = SystemBits()
    for _ in range(4):
        source.words(40)
    assert len(system.keys) == 1
    assert source.words(0).tolist() == []
    source.words(33)
    assert len(system.keys) == 2


def test_long_answers_change_keys_too(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bits, "_KEY_LIFE", 10_000)
    words = SystemBits().words(50_000).tolist()
    assert len(system.keys) == 6  # blocks of 8192, of which no two fit in one life; the rest of 848 fits in the last
    assert [words] == system.expected([50_000], life=10_000)


def test_the_real_key_life_holds(system: System) -> None:
    source = SystemBits()
    for _ in range(257):
        source.words(8192)
    assert len(system.keys) == 2


def test_two_sources_have_two_keys(system: System) -> None:
    SystemBits().words(100)
    SystemBits().words(100)
    assert len(set(system.keys)) == 2


def test_answers_belong_to_the_caller(system: System) -> None:
    source, sizes = SystemBits(), [3, 5, 64, 100, 5000, 3, 9000]
    got = []
    for n in sizes:
        words = source.words(n)
        got.append(words.tolist())
        assert words.flags.writeable
        words[:] = 0
    assert got == system.expected(sizes)


@pytest.mark.parametrize("n", [1, 3, 32, 33, 100, 8191, 8192, 8193, 20_000])
def test_an_answer_shows_no_other_words(n: int) -> None:
    """Neither the array nor the memory that it is a view of: who holds an answer must not see what comes next."""
    for source in (SystemBits(), Tape(range(3 * n))):
        root: Any = source.words(n)
        while getattr(root, "base", None) is not None:
            root = root.base
        shown = memoryview(root.obj if isinstance(root, memoryview) else root)
        assert shown.nbytes <= 8 * (n + bits._SLACK)
        seen = np.frombuffer(shown, np.uint64)[n:].tolist()
        assert not set(seen) & {*source.words(n).tolist()} - {0}


def test_nothing_is_asked_before_it_is_needed(system: System) -> None:
    source = SystemBits()
    assert system.asked == []
    source.words(1)
    assert [len(answer) for answer in system.asked] == [8]


@pytest.mark.parametrize("n", [-1, -(10**6)])
def test_fewer_than_no_words(n: int) -> None:
    with pytest.raises(ParameterError, match=rf"^words\(n\) needs n of at least 0: got {n}\."):
        SystemBits().words(n)


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_carry_no_state(system: System, duplicate: Callable[[SystemBits], SystemBits]) -> None:
    source = SystemBits()
    source.words(100)
    assert len(pickle.dumps(source)) == len(pickle.dumps(SystemBits()))
    other = duplicate(source)
    assert type(other) is SystemBits
    other.words(100)
    assert len(system.keys) == 2


def test_a_sampler_copies_without_state(system: System) -> None:
    sampler = Sampler()
    sampler.words(100)
    pickle.loads(pickle.dumps(sampler)).words(100)
    copy.deepcopy(sampler).words(100)
    assert len(system.keys) == 3


def test_reprs_show_nothing(system: System) -> None:
    source = SystemBits()
    source.words(100)
    assert repr(source) == str(source) == "SystemBits()"
    assert repr(Sampler(source)) == "Sampler(SystemBits())"
    assert not hasattr(source, "__dict__")


# -- A source of one's own -------------------------------------------------------------------------------


class Source:
    """Answers as it is told."""

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self.words = answer


WRONG = {
    "short": lambda n: np.zeros(max(n - 1, 0), np.uint64),
    "long": lambda n: np.zeros(n + 1, np.uint64),
    "empty": lambda _: np.empty(0, np.uint64),
    "signed": lambda n: np.zeros(n, np.int64),
    "narrow": lambda n: np.zeros(n, np.uint32),
    "float": lambda n: np.zeros(n),
    "object": lambda n: np.zeros(n, object),
    "swapped": lambda n: np.zeros(n, np.dtype(np.uint64).newbyteorder()),
    "column": lambda n: np.zeros((n, 1), np.uint64),
    "list": lambda n: [0] * n,
    "bytes": lambda n: bytes(8 * n),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("draws", [Sampler, Reference])
def test_wrong_answers_are_refused(draws: type[Sampler] | type[Reference], wrong: str) -> None:
    draw, rate = draws(Source(WRONG[wrong])), Rate.from_epsilon(1)
    for ask in (
        lambda: draw.words(3),
        lambda: draw.geometric(rate),
        lambda: draw.geometric(rate, 5),
        lambda: draw.laplace(rate, 5),
        lambda: draw.bernoulli("1/2"),
        lambda: draw.integer(6, 3),
        lambda: draw.index([1, 2]),
        lambda: draw.permutation(4),
    ):
        with pytest.raises(
            BitsError,
            match=r"^words\(\d+\) must give a NumPy array of \d+ uint64\. Nothing was drawn; mend the",
        ):
            ask()


def test_a_strided_answer_is_as_good() -> None:
    words = np.arange(1, 41, dtype=np.uint64) << np.uint64(58)
    strided, plain = (
        Sampler(Source(lambda n: words[: 2 * n : 2])),
        Sampler(Source(lambda n: words[: 2 * n : 2].copy())),
    )
    rate = Rate.from_epsilon("1/2000")
    assert strided.laplace(rate, 8).tolist() == plain.laplace(rate, 8).tolist()
    assert strided.integer(6, 8).tolist() == plain.integer(6, 8).tolist()


def test_a_frozen_answer_is_as_good() -> None:
    words = np.arange(8, dtype=np.uint64) << np.uint64(60)
    words.flags.writeable = False
    assert Sampler(Source(lambda n: words[:n])).integer(16, 8).tolist() == list(range(8))


def test_a_failing_source_fails_the_draw() -> None:
    def fail(_: int) -> None:
        raise OSError("unplugged")

    for draws in (Sampler, Reference):
        with pytest.raises(OSError, match="unplugged"):
            draws(Source(fail)).integer(6)


def test_raw_words_are_the_words(system: System) -> None:
    source, sizes = SystemBits(), [1, 0, 32, 33, 1024, 1025, 9000]
    got = [source.raw(n) for n in sizes]
    assert [type(answer) for answer in got] == [bytes] * 5 + [np.ndarray] * 2
    assert [np.frombuffer(answer, np.uint64).tolist() for answer in got] == system.expected(sizes)
