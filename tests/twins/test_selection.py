"""A selection in one pass on Sampler, and draw by draw on Reference: the same on every tape, in doubt too."""

from random import Random
from typing import Any

import numpy as np
import pytest

from lastbit import NoisyMax, NoisyTopK, Reference, Sampler, SelectAndMeasure, Tape, TapeEnded
from lastbit.chance import distributions
from lastbit.chance.bits import ReadAhead
from lastbit.mechanisms.top_k import selector
from tests.twins.pair import edges

WORD = 1 << 64


def both(mechanism: Any, values: Any, words: list[int]) -> tuple[Any, int]:
    results = []
    for twin in (Sampler, Reference):
        tape = Tape(words)
        results.append((mechanism.release(values, twin(tape)), tape.consumed))
    assert results[0] == results[1]
    assert results[0][0].indices == results[1][0].indices
    return results[0]


def tapes(mechanism: Any, n: int, random: Random) -> dict[str, list[int]]:
    """Plain words; a noise in doubt; a pick in doubt; both; everyone with the same noise."""
    plain = [random.getrandbits(64) for _ in range(4 * n + 60)]
    edge = next(word for word in edges(distributions.geometric(mechanism._selector.rate))[0] if word)
    noise, pick, equal = plain.copy(), plain.copy(), plain.copy()
    noise[n // 2] = edge
    contenders = n if n <= mechanism._selector.few else mechanism._selector.width
    # A multiple of 1/m lies inside this word for every odd m above 1: the pick below m is in doubt.
    m = contenders - (contenders % 2 == 0)
    pick[n + m - 2] = WORD // m
    equal[:n] = [plain[0]] * n
    together = [noise[i] if i < n else pick[i] for i in range(len(plain))]
    return {"plain": plain, "noise": noise, "pick": pick, "together": together, "equal": equal}


@pytest.mark.parametrize("epsilon", ["2", "1/2"])
@pytest.mark.parametrize("n", [5, 64, 65, 300])
def test_words_that_do_not_decide_are_settled_as_draw_by_draw(
    n: int, epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = []
    exact = Sampler.resume
    monkeypatch.setattr(Sampler, "resume", lambda self, words: again.append(len(words)) or exact(self, words))
    random = Random(n)
    mechanism = NoisyTopK(k=3, epsilon=epsilon)
    counts = np.array([random.randrange(40) for _ in range(n)])
    for name, words in tapes(mechanism, n, random).items():
        for values in (counts, counts.tolist(), counts + 0.25, counts.astype(np.int32), np.zeros(n, np.int64)):
            again.clear()
            both(mechanism, values, words)
            kernel = not isinstance(values, np.ndarray) or values.dtype == np.int64
            if kernel and name in ("noise", "pick", "together"):
                assert len(again) == 1
            if kernel and name == "plain":
                assert not again


@pytest.mark.parametrize("n", [3, 70])
def test_a_tape_that_ends_ends_both(n: int) -> None:
    mechanism, values = NoisyTopK(k=2, epsilon=1), np.arange(n)
    for length in (0, 1, n - 1, n, n + 1):
        ends = []
        for twin in (Sampler, Reference):
            tape = Tape(range(5, 5 + length))
            with pytest.raises(TapeEnded):
                mechanism.release(values, twin(tape))
            ends.append(tape.consumed)
        assert ends[0] == ends[1] == length


def test_other_selections_take_the_same_way() -> None:
    words = [Random(4).getrandbits(64) for _ in range(400)]
    for mechanism in (NoisyMax(epsilon=1), SelectAndMeasure(k=3, epsilon=1)):
        tape, other = Tape(words), Tape(words)
        values = np.array([9, 4, 400, 2, 7])
        assert mechanism.release(values, Sampler(tape)) == mechanism.release(values, Reference(other))
        assert tape.consumed == other.consumed


def test_one_pass_and_several_select_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(6)
    for n, k in ((2, 1), (10, 10), (64, 5), (66, 1), (500, 20)):
        mechanism = NoisyTopK(k=k, epsilon=1)
        values = np.array([random.choice([5, 90, -(1 << 63), (1 << 63) - 1, 1 << 58]) for _ in range(n)])
        words = [random.getrandbits(64) for _ in range(3 * n)]
        at_once = mechanism.release(values, Sampler(Tape(words)))
        with monkeypatch.context() as slow:
            slow.setattr(selector, "_AT_ONCE", 0)
            assert mechanism.release(values, Sampler(Tape(words))) == at_once


def test_words_read_ahead_are_given_once() -> None:
    source = Tape([7, 8, 9])
    ahead = ReadAhead(np.array([1, 2, 3], np.uint64), source)
    first = ahead.words(2)
    assert first.tolist() == [1, 2]
    first[:] = 0
    assert [ahead.words(0).tolist(), ahead.words(2).tolist(), ahead.words(2).tolist()] == [[], [3, 7], [8, 9]]
