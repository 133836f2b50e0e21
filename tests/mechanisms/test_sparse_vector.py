"""Runs of the sparse vector family: what they answer, refuse and hide."""

import asyncio
import copy
import json
import multiprocessing
import pickle
import threading
import traceback
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import lastbit as lb
from lastbit.mechanisms.sparse_vector.mechanism import optimal_share
from lastbit.papers.free_gap_sparse import adaptive_sparse_vector_with_gap

HALF = 1 << 63
NOISES = ["one-sided", "laplace"]


class Centred(lb.Sampler):
    """A draw whose noise is always the centre that a mechanism takes off it."""

    def __init__(self, plan):
        super().__init__()
        self._centres = {branch.rate: branch.centre for branch in plan.branches}
        self._first = [plan.kind.centre(plan.threshold_rate)]

    def geometric(self, rate, size=None):
        centre = self._first.pop() if self._first else self._centres.get(rate, 0)
        return centre if size is None else np.full(size, centre)

    laplace = geometric


def noiseless(mechanism):
    """A run whose noise is all 0."""
    return mechanism.start(Centred(mechanism._plan))


def sparse(**changed):
    return lb.SparseVector(**({"threshold": 10, "limit": 2, "epsilon": 1} | changed))


@pytest.fixture(params=[(kind, noise) for kind in (lb.SparseVector, lb.AdaptiveSparseVector) for noise in NOISES])
def either(request):
    kind, noise = request.param
    return kind(threshold=10, limit=3, epsilon=1, noise=noise)


@pytest.mark.parametrize("noise", NOISES)
def test_answers_gaps_and_spending(noise):
    run = noiseless(sparse(split="even", noise=noise))
    assert run.spent == Fraction(1, 2)
    assert run.ask(9) == lb.Answer(False, None, Fraction(0))
    assert run.ask(10) == lb.Answer(True, Fraction(0), Fraction(1, 4))
    assert run.ask(14) == lb.Answer(True, Fraction(4), Fraction(1, 4))
    assert run.exhausted
    assert run.spent == 1


def test_what_is_spent_with_eta_is_a_multiple_of_it():
    run = noiseless(lb.SparseVector(threshold=0, limit=1, eta=lb.Eta(1, 3, 1), split="1/3"))
    assert (run.spent, run.ask(1).spent, run.spent) == (Fraction(1, 3), Fraction(2, 3), 1)


def test_an_exhausted_run_refuses(either):
    run = either.start()
    run.ask_many([10**6] * 100)
    assert run.exhausted
    for again in (lambda: run.ask(1), lambda: run.ask_many([1]), lambda: run.ask_many([]), lambda: run.stream([1])):
        with pytest.raises(lb.RunExhausted, match="Nothing was drawn"):
            again()


def test_an_exhausted_run_forgets_its_noise():
    run = noiseless(sparse(limit=1))
    run.ask(50)
    assert run._hidden is None


def test_a_threshold_for_each_query():
    run = noiseless(sparse(limit=9))
    assert run.ask(5, threshold=4).gap == 1
    assert not run.ask(5, threshold=6).above
    assert run.ask_many([5, 5, 5], thresholds=[4, 6, 5]).indices == (0, 2)
    assert [answer.above for answer in run.stream([(5, 4), 5, (5, 6)])] == [True, False, False]


def test_gaps_off_or_on_a_grid():
    assert noiseless(sparse(gaps=False)).ask(17) == lb.Answer(True, None, noiseless(sparse()).ask(17).spent)
    run = noiseless(sparse(gaps=[2, 5], limit=9))
    assert [run.ask(10 + gap).gap for gap in (0, 1, 2, 4, 5, 99)] == [0, 0, 2, 2, 5, 5]


def test_the_clamp_brings_the_threshold_near_the_value_and_the_value_into_its_range():
    # The smallest words are the largest noise: here a great deal for the threshold, some for the query.
    for noise in NOISES:
        free, held = (
            sparse(clamp=clamp, noise=noise).start(lb.Sampler(lb.Tape([1 << 20, 1 << 60])))
            for clamp in (None, (-99, 99, 3))
        )
        assert not free.ask(17).above
        assert held.ask(17).above
    for run in (noiseless(sparse(clamp=(-2, 4, 30))), noiseless(sparse(threshold=3, clamp=(-2, 4, 30)))):
        assert run.ask(10**6).gap == 4
        assert run.ask_many([10**6]).gaps == (4,)


def test_values_off_the_grid_are_floored_and_never_raise():
    run = noiseless(sparse(limit=50))
    odd = [10.9, float("nan"), float("inf"), -float("inf"), 10**30, -(10**30), Fraction(31, 3), True]
    above = [run.ask(value).above for value in odd]
    assert above == [True, False, True, False, True, False, True, False]
    assert run.ask(10.9).gap == 0
    assert list(noiseless(sparse(limit=50)).ask_many(odd)) == [noiseless(sparse(limit=50)).ask(value) for value in odd]


def test_adaptive_answers_spend_by_branch():
    mechanism = lb.AdaptiveSparseVector(threshold=0, limit=3, epsilon=1, split="even", sigma=[4, 2], branches=3)
    run = noiseless(mechanism)
    unit = Fraction(1, 2) / 12
    assert [run.ask(value).spent / unit for value in (5, 4, 3, 2, 1)] == [1, 1, 2, 2, 4]
    assert not run.exhausted
    assert (run.spent, run.unspent) == (1 - 2 * unit, 2 * unit)
    # Two units are left: the last branch is out of reach, and the one before it asks for no margin.
    assert [run.ask(value).spent / unit for value in (-1, 0)] == [0, 2]
    assert run.exhausted
    assert (run.spent, run.unspent) == (1, 0)
    assert mechanism.gap_noise(lb.Answer(True, Fraction(5), unit)).query_rate == mechanism._plan.branches[0].rate
    with pytest.raises(lb.ParameterError):
        mechanism.gap_noise(lb.Answer(False, None, Fraction(0)))


@pytest.mark.parametrize("branches", [2, 3])
def test_adaptive_gives_between_limit_and_its_maximum(branches):
    mechanism = lb.AdaptiveSparseVector(threshold=0, limit=4, epsilon=1, branches=branches)
    assert len(mechanism.start().ask_many([10**9] * 99)) == 4 * 2 ** (branches - 1)
    assert len(noiseless(mechanism).ask_many([0] * 99)) == 4


def test_the_noise_of_an_answer_is_that_of_the_branches_that_were_tried():
    mechanism = lb.AdaptiveSparseVector(threshold=0, limit=1, epsilon=1, split="even", sigma=3)
    run = noiseless(mechanism)
    first, second = run.ask(3), run.ask(0)
    assert first.spent == second.spent == second.left == Fraction(1, 4)
    assert first.left == Fraction(1, 2)
    full, alone = mechanism.gap_noise(first), mechanism.gap_noise(second)
    assert (full.margin, len(full.after), alone.margin, alone.after) == (3, 1, 0, ())
    release = mechanism.release([3, 0, 0], draw=Centred(mechanism._plan))
    assert [each.left for each in release.answers[:2]] == [Fraction(1, 2), Fraction(1, 4)]
    assert (release.indices, release.unspent) == ((0, 1), 0)


def test_a_closed_run_forgets_its_noise_and_says_what_is_unspent():
    run = noiseless(sparse(split="even"))
    run.ask(50)
    assert (run.close(), run.unspent, run.spent) == (Fraction(1, 4), Fraction(1, 4), Fraction(3, 4))
    assert run._hidden is None
    assert run.exhausted
    with pytest.raises(lb.RunExhausted):
        run.ask(50)
    assert run.close() == Fraction(1, 4)


def test_an_answer_that_was_cut_short_is_remembered():
    for ask in (lambda run: run.ask(0), lambda run: run.ask_many([0])):
        run = sparse().start(lb.Sampler(lb.Tape([HALF] * 2)))
        run.ask(0)
        assert not run.answers_lost
        with pytest.raises(lb.TapeEnded):
            ask(run)
        assert run.answers_lost
        run._hidden._draw = lb.Sampler()
        ask(run)
        assert run.answers_lost


def test_erratum_b1_the_first_query_below_does_not_end_the_run():
    tape = lb.Tape([HALF - HALF // 1000] * 99)
    assert adaptive_sparse_vector_with_gap(lb.Sampler(tape), [0, 0, 7], 5, 1, 1)[2] is not None
    assert len(noiseless(lb.AdaptiveSparseVector(threshold=5, limit=1, epsilon=1)).ask_many([0, 0, 7])) == 3


def test_release_is_a_table_of_the_queries_above():
    mechanism = sparse(split="even")
    release = mechanism.release([0, 10**6, 0, 10**6, 0], draw=Centred(mechanism._plan))
    assert (release.answered, release.indices) == (4, (1, 3))
    assert "2 of 4 queries above" in str(release)
    assert json.loads(release.to_json())["query"] == [1, 3]
    assert hash(release) == hash(copy.copy(release))


def test_answers_are_a_sequence():
    answers = noiseless(sparse()).ask_many(np.array([0, 10**6, 0]))
    assert [answer.above for answer in answers] == [False, True, False] == answers.above.tolist()
    assert answers[-2] == answers[1] == answers[1:][0]
    assert answers.gaps == (answers[1].gap,)
    assert repr(answers) == "<3 answers, 1 above>"
    assert answers == lb.Answers(3, {1: answers[1]}) != lb.Answers(4, {1: answers[1]})
    assert hash(answers) == hash(lb.Answers(3, {1: answers[1]}))
    with pytest.raises(IndexError):
        answers[3]


# What a run hides

SECRET = 987_654_321


class Rigged(lb.Sampler):
    """A draw whose threshold noise is known, and which fails when the third query comes."""

    def __init__(self, branches):
        super().__init__()
        self.left = 1 + 2 * branches

    def laplace(self, rate, size=None):
        self.left -= 1
        if self.left < 0:
            raise lb.BitsError("no more")
        return SECRET if size is None else np.full(size, SECRET)

    geometric = laplace


def test_the_noisy_threshold_is_never_shown(either, caplog):
    run = either.start(Rigged(len(either._plan.branches)))
    shown = [repr(run), str(run), repr(run._hidden), str(run.__reduce_ex__.__doc__)]
    run.ask(9)
    run.ask_many([9])
    with pytest.raises(lb.BitsError) as caught:
        run.ask(9)
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [frame for frame in frames.stack if "mechanisms" in frame.filename]
    assert ours
    shown += [f"{name}={text}" for frame in ours for name, text in frame.locals.items()]
    shown += [repr(run), caplog.text, str(dir(run)), repr(getattr(run, "__dict__", None))]
    assert not any(str(SECRET)[:6] in text for text in shown)


@pytest.mark.parametrize("away", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_run_cannot_be_copied(either, away):
    run = either.start()
    for secret in (run, run._hidden):
        with pytest.raises(lb.RunBound, match="Start another run"):
            away(secret)


# Every way to ask a run.
WAYS = {
    "ask": lambda run: run.ask(5),
    "ask_many": lambda run: run.ask_many(np.full(40, 5)),
    "ask_many of a list": lambda run: run.ask_many([5, 5.0]),
    "answered": lambda run: run.answer_queries([5, 5], plain=False),
    "answered together": lambda run: run.answer_queries(np.full(40, 5), plain=True),
    "stream": lambda run: next(run.stream(iter([5]))),
    "a stream that is not read": lambda run: run.stream(iter([5])),
}


def _ask_in_child(run, pipe):
    refused = []
    for name, way in WAYS.items():
        try:
            way(run)
        except lb.RunBound:
            refused.append(name)
    pipe.send(refused)


def test_a_forked_run_refuses(either):
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    run = either.start()
    child = context.Process(target=_ask_in_child, args=(run, theirs))
    child.start()
    # Only the child can write now: if it dies, the read ends and the test fails, where it would wait for ever.
    theirs.close()
    assert ours.recv() == [*WAYS]
    child.join()
    run.ask(5)


@pytest.mark.parametrize("way", [name for name in WAYS if "not read" not in name])
def test_noise_is_drawn_under_the_lock(way):
    """Or two threads could get the same noise, and more answers than were paid for."""
    held = []

    class Watching:
        def words(self, n):
            held.append(run is not None and run._lock.locked())
            return np.full(n, HALF, np.uint64)

    run = None
    run = lb.SparseVector(threshold=0, limit=300, epsilon=1).start(lb.Sampler(Watching()))
    held.clear()
    WAYS[way](run)
    assert held
    assert all(held)


def test_threads_share_one_budget():
    run = lb.SparseVector(threshold=0, limit=300, epsilon=1).start()
    above = []

    def work():
        try:
            while True:
                above.append(run.ask(10**9))
        except lb.RunExhausted:
            return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(above) == 300


def test_a_failed_draw_leaves_a_run_that_goes_on():
    tape = lb.Tape([HALF] * 2)
    run = sparse().start(lb.Sampler(tape))
    run.ask(0)
    with pytest.raises(lb.TapeEnded):
        run.ask(0)
    assert not run.exhausted


# Streams


def test_a_stream_takes_no_query_after_the_last_answer():
    queries = iter([0, 50, 0, 50, "never"])
    answers = list(noiseless(sparse()).stream(queries))
    assert [answer.above for answer in answers] == [False, True, False, True]
    assert list(queries) == ["never"]


def test_a_stream_is_live():
    asked = []

    def queries():
        for value in (0, 50, 50):
            asked.append(value)
            yield value

    answers = noiseless(sparse()).stream(queries())
    assert asked == []
    next(answers)
    assert asked == [0]


def test_async_streams_may_share_a_run_too():
    async def queries(value, waits):
        for _ in range(waits):
            await asyncio.sleep(0)
        yield value

    async def collect():
        run = noiseless(sparse(limit=1))
        late, early = run.stream(queries(50, 9)), run.stream(queries(50, 1))

        async def gather(stream):
            return [answer.above async for answer in stream]

        return await asyncio.gather(gather(late), gather(early))

    assert asyncio.run(collect()) == [[], [True]]


def test_an_async_stream():
    async def queries():
        for value in (0, 50, 0, 50, 0):
            await asyncio.sleep(0)
            yield value

    async def collect():
        return [answer.above async for answer in noiseless(sparse()).stream(queries())]

    assert asyncio.run(collect()) == [False, True, False, True]


def test_two_streams_may_share_a_run():
    run = noiseless(sparse(limit=1))
    one, other = run.stream([0, 0, 0]), run.stream([50, 50])
    next(one)
    assert [answer.above for answer in other] == [True]
    assert list(one) == []


def test_memory_stays_where_it_is():
    def peak(n):
        run = sparse(threshold=10**6).start()
        values = np.zeros(n, np.int64)
        tracemalloc.start()
        run.ask_many(values)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    peak(1)
    assert peak(800_000) < peak(80_000) + 20_000


# Parameters


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (lb.SparseVector, {"limit": 0}),
        (lb.SparseVector, {"threshold": "1/2"}),
        (lb.SparseVector, {"threshold": "-1/2"}),
        (lb.SparseVector, {"threshold": 2**62}),
        (lb.SparseVector, {"split": 0}),
        (lb.SparseVector, {"split": 1}),
        (lb.SparseVector, {"split": "best"}),
        (lb.SparseVector, {"gaps": [2, 1]}),
        (lb.SparseVector, {"gaps": [1, 1]}),
        (lb.SparseVector, {"gaps": [-1, 1]}),
        (lb.SparseVector, {"gaps": []}),
        (lb.SparseVector, {"gaps": "12"}),
        (lb.SparseVector, {"gaps": ["1/2"]}),
        (lb.SparseVector, {"clamp": (1, 0, 1)}),
        (lb.SparseVector, {"clamp": (0, 1, -1)}),
        (lb.SparseVector, {"clamp": (0, 1)}),
        (lb.SparseVector, {"clamp": "012"}),
        (lb.SparseVector, {"epsilon": None}),
        (lb.SparseVector, {"monotone": "no"}),
        (lb.SparseVector, {"noise": "gaussian"}),
        (lb.SparseVector, {"noise": None}),
        (lb.SparseVector, {"measure": 0}),
        (lb.SparseVector, {"measure": 1}),
        (lb.SparseVector, {"measure": "half"}),
        (lb.SparseVector, {"measure": "1/2", "gaps": False}),
        (lb.SparseVector, {"measure": "1/2", "clamp": (0, 1, 1)}),
        (lb.AdaptiveSparseVector, {"noise": ["laplace"]}),
        (lb.AdaptiveSparseVector, {"branches": 1}),
        (lb.AdaptiveSparseVector, {"branches": 17}),
        (lb.AdaptiveSparseVector, {"sigma": -1}),
        (lb.AdaptiveSparseVector, {"sigma": [1, 2]}),
        (lb.AdaptiveSparseVector, {"sigma": "1/3"}),
    ],
    ids=str,
)
def test_wrong_parameters_are_refused_when_it_is_built(kind, wrong):
    with pytest.raises(lb.ParameterError):
        kind(**({"threshold": 10, "limit": 2, "epsilon": 1} | wrong))


def test_wrong_queries_are_refused_before_anything_is_drawn():
    tape = lb.Tape([HALF] * 9)
    run = sparse().start(lb.Sampler(tape))
    drawn = tape.consumed
    wrong = [
        lambda: run.ask("five"),
        lambda: run.ask(5, threshold="1/2"),
        lambda: run.ask_many([1, "five"]),
        lambda: run.ask_many([1, 2], thresholds=[1]),
        lambda: run.ask_many([1, 2], thresholds=5),
        lambda: run.stream(5),
        lambda: next(run.stream([(1, 2, 3)])),
    ]
    for each in wrong:
        with pytest.raises(lb.ParameterError):
            each()
    assert tape.consumed == drawn


def test_gap_noise_is_for_exact_gaps_only():
    for changed in ({"gaps": False}, {"gaps": [1]}, {"clamp": (0, 1, 1)}):
        with pytest.raises(lb.ParameterError):
            _ = sparse(**changed).gap_noise


def test_mechanisms_are_plain_values():
    assert sparse(gaps=[1, 2]) == sparse(gaps=(1, 2))
    assert len({sparse(gaps=[1, 2]), sparse(gaps=(1, 2))}) == 1
    assert pickle.loads(pickle.dumps(sparse())) == sparse()
    assert sparse(clamp=[0, 1, "2"]) == sparse(clamp=(0, 1.0, 2))
    assert sparse().parameters["threshold"] == "10"
    assert hash(lb.AdaptiveSparseVector(threshold=0, limit=1, epsilon=1, sigma=[3]))


@pytest.mark.parametrize("limit", [1, 3, 4, 1000])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_optimal_split_is_the_cube_root_to_its_denominator(limit, monotone):
    share = optimal_share(limit, monotone)
    root = (1 / share - 1) * 2**20
    assert root.denominator == 1
    moves = 1 if monotone else 2
    assert root**3 <= (moves * limit) ** 2 * 2**60 < (root + 1) ** 3
