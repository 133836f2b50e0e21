"""Asking one by one, many at a time, fast and by the reference: the same words, the same answers."""

import numpy as np
import pytest

import lastbit as lb
from lastbit.chance.distributions import geometric, laplace
from lastbit.chance.threshold_table import ThresholdTable
from lastbit.mechanisms.sparse_vector.noise import LARGEST, SINGLES

BUILT = {
    "plain": (lb.SparseVector, {"threshold": 40, "limit": 3, "epsilon": 1}),
    "fine": (lb.SparseVector, {"threshold": 40, "limit": 2, "epsilon": 1, "resolution": "1/1000"}),
    "clamped": (
        lb.SparseVector,
        {"threshold": 40, "limit": 3, "epsilon": 1, "clamp": (-40, 2, 25), "gaps": [1, 5, 20]},
    ),
    "measured": (lb.SparseVector, {"threshold": 40, "limit": 3, "epsilon": 1, "measure": "1/2"}),
    "two branches": (lb.AdaptiveSparseVector, {"threshold": 10, "limit": 5, "epsilon": 3}),
    "adaptive": (lb.AdaptiveSparseVector, {"threshold": 40, "limit": 3, "epsilon": 1, "branches": 3}),
    "huge noise": (lb.SparseVector, {"threshold": 0, "limit": 2, "epsilon": "1e-19"}),
    "huge margin": (lb.AdaptiveSparseVector, {"threshold": 0, "limit": 2, "epsilon": "1e-19"}),
}
NOISES = ["one-sided", "laplace"]
MECHANISMS = {
    (name, noise): kind(**parameters, noise=noise) for name, (kind, parameters) in BUILT.items() for noise in NOISES
}


def words(n, seed):
    return np.random.Generator(np.random.PCG64(seed)).integers(0, 2**64, n, np.uint64).tolist()


def one_by_one(run, values, thresholds=None):
    pairs = zip(values, thresholds or [None] * len(values), strict=True)
    answers = []
    for value, threshold in pairs:
        if run.exhausted:
            break
        answers.append(run.ask(value, threshold))
    return answers


@pytest.mark.parametrize(
    ("name", "seed"), [(name, seed) for name in BUILT for seed in range(1 if "huge" in name else 4)]
)
@pytest.mark.parametrize("noise", NOISES)
def test_asking_one_by_one_is_asking_many(name, seed, noise):
    mechanism = MECHANISMS[name, noise]
    n, few = (12, 5) if "huge" in name else (300, 60)
    values = np.random.Generator(np.random.PCG64(seed)).integers(-100, 15 + 10 * seed, n).tolist()
    thresholds = [40 + value % 3 for value in values] if seed % 2 else None
    tape_words = words(4_000, seed)
    results = []
    for interpreter, ask in (
        (lb.Sampler, lambda run: one_by_one(run, values, thresholds)),
        (lb.Sampler, lambda run: list(run.ask_many(values, thresholds))),
        (lb.Sampler, lambda run: list(run.ask_many(np.array(values), thresholds))),
        (lb.Sampler, lambda run: list(run.ask_many(np.array(values, float), thresholds))),
        (lb.Reference, lambda run: list(run.ask_many(values[:few], thresholds and thresholds[:few]))),
        (lb.Reference, lambda run: one_by_one(run, values[:few], thresholds and thresholds[:few])),
    ):
        tape = lb.Tape(tape_words)
        run = mechanism.start(interpreter(tape))
        results.append((ask(run), run.spent, run.exhausted, tape.consumed))
    *fast, slow, slow_too = results
    assert all(each == fast[0] for each in fast)
    assert slow == slow_too
    assert slow[0] == fast[0][0][:few]


@pytest.mark.parametrize("noise", NOISES)
def test_some_of_these_runs_are_exhausted_and_some_are_not(noise):
    values = np.random.Generator(np.random.PCG64(3)).integers(-100, 45, 300)
    mechanism = MECHANISMS["plain", noise]
    ends = {mechanism.start(lb.Sampler(lb.Tape(words(999, seed)))).ask_many(values).indices for seed in range(9)}
    assert len(ends) > 3


@pytest.mark.parametrize("cut", [1, 3, 4, 5, 70, 8_000])
@pytest.mark.parametrize("noise", NOISES)
def test_parts_of_a_stream_may_be_asked_either_way(cut, noise):
    values = np.full(9_000, -(10**6))
    values[8_900] = 10**6
    mechanism = MECHANISMS["plain", noise]
    whole_tape, parts_tape = lb.Tape(words(20_000, 1)), lb.Tape(words(20_000, 1))
    whole = mechanism.start(lb.Sampler(whole_tape)).ask_many(values)
    run = mechanism.start(lb.Sampler(parts_tape))
    parts = [*run.ask_many(values[:cut]), *(run.ask(int(value)) for value in values[cut : cut + 9])]
    parts += list(run.ask_many(values[cut + 9 :]))
    assert (parts, parts_tape.consumed) == (list(whole), whole_tape.consumed)


@pytest.mark.parametrize(("noise", "law"), [("one-sided", geometric), ("laplace", laplace)])
def test_words_in_doubt_are_settled_alike(noise, law):
    """A word that equals a threshold of the table decides nothing: the sample reads on, after its block."""
    mechanism = MECHANISMS["plain", noise]
    table = ThresholdTable.of(law(mechanism._plan.branches[0].rate).levels[0])
    doubt = int(table.thresholds[len(table.thresholds) // 2])
    tape_words = words(40, 5)
    for place in (1, 3, 6, 9, 12):
        tape_words[place] = doubt
    low = -(10**4)
    values = [low, 90, low, low, 90, low, low, low]
    one, many, slow = lb.Tape(tape_words), lb.Tape(tape_words), lb.Tape(tape_words)
    answers = one_by_one(mechanism.start(lb.Sampler(one)), values)
    assert answers == list(mechanism.start(lb.Sampler(many)).ask_many(values))
    assert answers == list(mechanism.start(lb.Reference(slow)).ask_many(values))
    assert one.consumed == many.consumed == slow.consumed > 1 + 4 + 2 + 4


@pytest.mark.parametrize(("noise", "law"), [("one-sided", "geometric"), ("laplace", "laplace")])
def test_the_blocks_are_as_documented(noise, law):
    asked = []

    class Spy(lb.Sampler):
        def laplace(self, rate, size=None):
            asked.append(("laplace", size))
            return super().laplace(rate, size)

        def geometric(self, rate, size=None):
            asked.append(("geometric", size))
            return super().geometric(rate, size)

    run = lb.SparseVector(threshold=10**9, limit=1, epsilon=1, noise=noise).start(Spy())
    run.ask_many(np.zeros(40_000, np.int64))
    doubling = [2**k for k in range(1, 14)]
    assert asked == [(law, size) for size in (None, *[None] * SINGLES, *doubling, LARGEST, LARGEST)]


def test_one_sided_noise_reads_one_word_for_the_threshold_and_one_for_a_query():
    tape = lb.Tape(words(40, 8))
    run = MECHANISMS["plain", "one-sided"].start(lb.Sampler(tape))
    assert tape.consumed == 1
    for asked in range(SINGLES):
        run.ask(0)
        assert tape.consumed == 2 + asked
