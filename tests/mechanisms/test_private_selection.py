"""Private selection: what is refused, and what a failing candidate can tell (nothing)."""

from __future__ import annotations

import functools
import json
import operator
import sys
import traceback
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb

GOOD = {"candidates": [lambda draw: ("x", 1)], "candidate_cost": 1, "most": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": []}, "at least one"),
        ({"candidates": ["model"]}, "callables"),
        ({"candidate_cost": 0}, "positive"),
        ({"most": 0}, "most must be a whole number"),
        ({"law": -1}, "law must be above -1"),
        ({"law": "geometric"}, "needs stop"),
        ({"stop": "1/2"}, "stop is for law='geometric'"),
        (
            {"law": 2, "threshold": 0},
            "law must be at most 1 with a threshold: got 2. .* and to find as much a larger most",
        ),
        ({"constant": 1}, "constant must be True or False"),
        ({"threshold": "high"}, "threshold must be a finite number"),
    ],
)
def test_bad_parameters_are_refused_when_it_is_built(change, message):
    with pytest.raises(lb.ParameterError, match=message):
        lb.PrivateSelection(**{**GOOD, **change})


@pytest.mark.parametrize(
    ("options", "cost"),
    [
        ({"threshold": 0}, Fraction(2)),
        ({"threshold": 0, "law": "1/2"}, Fraction(2)),
        ({"threshold": 0, "law": "-1/2"}, Fraction(3, 2)),
        ({}, Fraction(3)),
        ({"law": 1}, Fraction(3)),
        ({"law": "geometric", "stop": "1/10"}, Fraction(3)),
        ({"law": 0}, Fraction(2)),
        ({"law": 0.5}, Fraction(5, 2)),
        ({"law": 2}, Fraction(4)),
        ({"threshold": 0, "candidate_cost": lb.Eta(3, 2, 1)}, lb.Eta(3, 2, 2)),
        ({"candidate_cost": lb.Eta(3, 2, 1)}, lb.Eta(3, 2, 3)),
        ({"candidate_cost": lb.Eta(3, 2, 2), "law": "-1/2"}, lb.Eta(3, 2, 3)),
        ({"candidate_cost": lb.Eta(3, 2, 1), "law": "1/2"}, lb.Cost.of(lb.Eta(3, 2, 1)).widened(Fraction(5, 2))),
    ],
)
def test_each_law_states_its_cost(options, cost):
    assert lb.PrivateSelection(**{**GOOD, **options}).cost == cost


def failing(draw):
    raise ValueError("patient 17 has no weight")


def test_a_failure_is_the_lowest_score_and_is_not_seen(caplog, capsys):
    fails = lb.PrivateSelection(**{**GOOD, "candidates": [failing]})
    release = fails.release()
    assert release.output is release.score is release.candidate is None
    shown = f"{release}{release!r}{release.to_json()}{caplog.text}{''.join(capsys.readouterr())}"
    assert "patient" not in shown


@pytest.mark.parametrize("score", [float("nan"), float("-inf"), "high", None])
def test_a_score_that_is_no_number_is_the_lowest_too(score):
    mixed = [lambda draw: ("bad", score), lambda draw: ("good", -(10**9))]
    # Two rounds (a word of ones), the first candidate (a word of zeros), then the second.
    tape = lb.Tape([2**64 - 1, 0, 2**64 - 1])
    chosen = lb.PrivateSelection(**{**GOOD, "candidates": mixed}).release(draw=lb.Sampler(tape))
    assert (chosen.output, chosen.candidate) == ("good", 1)


LARGEST = Fraction(sys.float_info.max)
STEP = Fraction(1, 1 << 1074)


@pytest.mark.parametrize(
    ("score", "published"),
    [
        (float("inf"), float("inf")),
        (Decimal("inf"), float("inf")),
        (Decimal("1e100000"), LARGEST),
        (Decimal("-1e100000"), -LARGEST),
        (Decimal("1e308"), Fraction(10**308)),
        (Decimal("1e309"), LARGEST),
        (10**5000, LARGEST),
        (-(10**5000), -LARGEST),
        (Fraction(10**5000, 3), LARGEST),
        (sys.float_info.max, LARGEST),
        (5e-324, STEP),
        (Fraction(1, 3), Fraction(1, 3)),
        (Fraction(1, (1 << 4096) - 1), Fraction(1, (1 << 4096) - 1)),
        (Fraction(1, 1 << 4096), 0),
        (Fraction(1, 10**5000), 0),
        (Fraction(-1, 10**5000), -STEP),
        (1 + Fraction(1, 10**5000), 1),
        (Decimal("1e-100000"), 0),
        (Decimal("-1e-100000"), -STEP),
    ],
    ids=lambda value: f"{str(value)[:12] if isinstance(value, float | Decimal) else value.__class__.__name__}",
)
def test_every_score_can_be_shown_and_stays_what_the_rules_say(score, published):
    release = lb.PrivateSelection(**{**GOOD, "candidates": [lambda draw: ("x", score)]}).release()
    assert release.score == published
    assert f"{release}{release!r}{release.to_html()}"
    assert release.to_numpy()["score"][0] == float(published)
    given = json.loads(release.to_json())
    (number,), (written,) = given["score"], given.get("exact", given)["score"]
    assert (Fraction(written) if written != "inf" else float("inf")) == published
    assert number is None if written == "inf" else float(number) == float(published)


def test_the_largest_finite_score_is_below_infinity():
    mixed = [lambda draw: ("finite", Decimal("1e100000")), lambda draw: ("infinite", float("inf"))]
    tape = lb.Tape([2**64 - 1, 2**64 - 1, 0])  # two rounds, the second candidate, then the first
    assert lb.PrivateSelection(**{**GOOD, "candidates": mixed}).release(draw=lb.Sampler(tape)).output == "infinite"


def test_a_failure_cannot_reach_the_threshold():
    fails = lb.PrivateSelection(**{**GOOD, "candidates": [failing], "threshold": -(10**9), "most": 1})
    assert fails.release().output is None


def test_a_source_that_ends_is_not_a_failing_candidate():
    hungry = lb.PrivateSelection(**{**GOOD, "candidates": [lambda draw: (draw.integer(2), 1)]})
    with pytest.raises(lb.TapeEnded):
        hungry.release(draw=lb.Sampler(lb.Tape([0, 0])))


class OfTheirOwn(BaseException):
    """No Exception, as what the auditor ends a run with."""


@pytest.mark.parametrize(
    "error",
    [
        SystemExit("patient 17"),
        SystemExit(0),
        GeneratorExit(),
        OfTheirOwn("patient 17"),
        MemoryError(),
        lb.LastbitError("patient 17"),
        lb.ParameterError("patient 17"),
        lb.AuditError("patient 17"),
        lb.BitsError("patient 17"),
        lb.TapeEnded("patient 17"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_whatever_a_candidate_raises_stays_inside(error):
    def leaves(draw):
        draw.integer(2)
        raise error

    for threshold in (None, -(10**9)):
        choice = lb.PrivateSelection(**{**GOOD, "candidates": [leaves], "threshold": threshold, "most": 1})
        assert choice.release().candidate is None


def test_an_error_from_a_source_of_the_candidates_own_stays_inside_too():
    own = lb.Sampler(lb.Tape([]))

    def leaves(draw):
        return "x", own.integer(2)

    def asks_too_much(draw):
        return "x", draw.integer(2, size=1 << 62)

    for candidate in (leaves, asks_too_much):
        assert lb.PrivateSelection(**{**GOOD, "candidates": [candidate]}).release().candidate is None


def test_the_same_error_twice_is_the_candidates_the_second_time():
    """The draw raised one object; the candidate caught it and raises a new one of the same class."""

    def catches(draw):
        try:
            draw.integer(2)
        except lb.TapeEnded:
            raise lb.TapeEnded("patient 17") from None

    choice = lb.PrivateSelection(**{**GOOD, "candidates": [catches]})
    # Two rounds; one word picks the first candidate, which fails. The word that picks the second is not there.
    with pytest.raises(lb.TapeEnded, match="the tape ended"):
        choice.release(draw=lb.Sampler(lb.Tape([2**64 - 1, 0])))


def test_the_keyboard_stops_the_program_and_shows_nothing_of_what_was_handled():
    def interrupt(draw):
        try:
            raise ValueError("patient 17")
        except ValueError:
            raise KeyboardInterrupt  # noqa: B904  # the context is the point

    with pytest.raises(KeyboardInterrupt) as caught:
        lb.PrivateSelection(**{**GOOD, "candidates": [interrupt]}).release()
    assert caught.value.__context__ is caught.value.__cause__ is None


@pytest.mark.parametrize("search", [False, True])
@pytest.mark.parametrize("more", [{}, {"constant": True}, {"threshold": 2}])
def test_the_keyboard_leaves_no_secret_in_the_variables_of_a_traceback(search, more):
    runs = []

    def interrupt(draw):
        row = "patient 17"
        runs.append(row)
        if len(runs) == 3:
            raise KeyboardInterrupt
        return f"output that lost, {row}", 1

    def fit_score(parameters, draw):
        return interrupt(draw)

    given = {"candidate_cost": 1, "most": 999_983, **more}
    made = (
        lb.PrivateSearch(grid={"depth": [1]}, fit_score=fit_score, **given)
        if search
        else lb.PrivateSelection(candidates=[interrupt], **given)
    )
    with pytest.raises(KeyboardInterrupt) as caught:
        made.release(draw=lb.Sampler(lb.Tape([2**64 - 1, *[0] * 20])))
    # Without this test's own frame. The frames below that of the selection have nothing left.
    frames = [frame for frame, _ in traceback.walk_tb(caught.tb)][1:]
    names = [frame.f_code.co_name for frame in frames]
    assert all(frame.f_locals == {} for frame in frames[names.index("_run") + 1 :])
    assert names[-1] == "interrupt"
    shown = "".join(f"{value!r}" for frame in frames for name, value in frame.f_locals.items() if name != "error")
    assert "output that lost" not in shown
    assert "patient" not in shown


class FailsOnce:
    """A source that raises once, on the call inside the candidate: an error that is swallowed is never seen again."""

    def __init__(self, error: BaseException) -> None:
        self.error, self.asked = error, 0

    def words(self, n: int) -> Any:
        self.asked += 1
        if self.asked == 3:  # after the number of rounds and the number of the candidate
            raise self.error
        return lb.Tape([0] * n).words(n)


ASKING = {
    "one": lambda draw: draw.integer(2),
    "many": lambda draw: draw.integer(2, size=3).tolist(),
    "permutation": lambda draw: draw.permutation(3).tolist(),
    "words": lambda draw: draw.words(1).tolist(),
}


@pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING)
@pytest.mark.parametrize("kind", [lb.AuditError, lb.BitsError, lb.TapeEnded, OfTheirOwn])
def test_what_ends_the_draw_ends_the_run_and_shows_nothing_of_what_was_handled(kind, ask):
    def candidate(draw):
        try:
            raise ValueError("patient 17")
        except ValueError:
            return ask(draw), 1

    error = kind("the source")
    with pytest.raises(kind) as caught:
        lb.PrivateSelection(**{**GOOD, "candidates": [candidate], "most": 1}).release(draw=lb.Sampler(FailsOnce(error)))
    assert caught.value is error
    assert error.__context__ is error.__cause__ is None


def test_another_error_of_the_draw_is_a_failing_candidate():
    asking = lb.PrivateSelection(**{**GOOD, "candidates": [lambda draw: (draw.integer(2), 1)], "most": 1})
    assert asking.release(draw=lb.Sampler(FailsOnce(OverflowError()))).candidate is None


@pytest.mark.parametrize("draws", ["integer", "words", "permutation", "geometric"])
def test_the_auditor_ends_runs_inside_candidates(draws):
    """A candidate that tosses for ever is put off; one that reads raw words is refused, whatever it catches."""

    def candidate(draw):
        if draws == "integer":
            while draw.integer(2):
                pass
        elif draws == "words":
            draw.words(1)
        elif draws == "permutation":
            return tuple(draw.permutation(3).tolist()), 1
        else:
            return tuple(draw.integer(2, size=2).tolist()), 1
        return "x", 1

    choice = lb.PrivateSelection(**{**GOOD, "candidates": [candidate], "most": 1})
    if draws == "words":
        with pytest.raises(lb.AuditError, match="raw words"):
            lb.audit.law(choice.program())
        return
    found = lb.audit.law(choice.program(), "1/1000")
    outcomes = {"integer": 1, "permutation": 6, "geometric": 4}[draws]
    assert len({release.output for release in found.masses}) == outcomes
    assert None not in {release.output for release in found.masses}


def test_a_selection_inside_a_candidate_hands_errors_of_the_draw_on():
    inner = lb.PrivateSelection(**{**GOOD, "candidates": [lambda draw: (draw.integer(2), 1)]})
    outer = lb.PrivateSelection(**{**GOOD, "candidates": [lambda draw: (inner.release(draw=draw).output, 1)]})
    with pytest.raises(lb.TapeEnded):
        outer.release(draw=lb.Sampler(lb.Tape([0, 0, 0, 0])))


class Called:
    def __call__(self, draw, data):
        return data, 1


@pytest.mark.parametrize(
    "candidate", [lambda: ("x", 1), lambda draw, data: ("x", 1), lambda *, draw: ("x", 1), Called()]
)
def test_a_candidate_that_does_not_take_a_draw_is_refused_when_it_is_built(candidate):
    with pytest.raises(lb.ParameterError, match=r"candidate 1 takes \(.*\)\. Bind the others first"):
        lb.PrivateSelection(**{**GOOD, "candidates": [*GOOD["candidates"], candidate]})


def test_candidates_that_take_a_draw_and_what_may_be_left_out_are_fine():
    fine = [
        lambda draw, data=3: (data, 1),
        lambda *anything: ("x", 1),
        functools.partial(Called(), data=3),
        operator.itemgetter(0),
        type,  # says nothing of its signature
    ]
    assert len(lb.PrivateSelection(**{**GOOD, "candidates": fine}).candidates) == 5
    assert len(lb.PrivateSelection(**{**GOOD, "candidates": (each for each in fine)}).candidates) == 5


@pytest.mark.parametrize("more", [{}, {"threshold": 1}, {"constant": True}, {"constant": True, "threshold": 1}])
def test_the_number_of_rounds_is_not_published(more):
    selection = lb.PrivateSelection(**{**GOOD, "most": 4, **more})
    # The first word alone decides the number of rounds.
    releases = [selection.release(draw=lb.Sampler(lb.Tape([word, *[0] * 20]))) for word in (0, 1 << 63, 2**64 - 1)]
    assert len({f"{release!r}{release.to_json()}{release.to_html()}{vars(release)}" for release in releases}) == 1


@pytest.mark.parametrize("threshold", [None, 1])
@pytest.mark.parametrize("later", [100, 0, 1, float("nan"), None])
def test_the_rounds_that_do_not_count_change_nothing(later, threshold):
    """One round of four counts. What the others return, and whether they fail, is not seen; all four run."""
    runs = []

    def candidate(draw):
        runs.append(draw.integer(2))
        if len(runs) == 1:
            return "first", 1
        if later is None:
            raise ValueError("patient 17")
        return "later", later

    choice = lb.PrivateSelection(candidates=[candidate], candidate_cost=1, most=4, constant=True, threshold=threshold)
    winner = choice.release(draw=lb.Sampler(lb.Tape([0] * 20)))
    assert (winner.output, winner.score, len(runs)) == ("first", 1, 4)


def test_laws_are_compared_as_numbers():
    one, other = (lb.PrivateSelection(**{**GOOD, "law": law}) for law in (1, "uniform"))
    assert one == other
    assert one.parameters == {
        "candidates": "1",
        "candidate_cost": "1",
        "most": "2",
        "law": "uniform",
        "constant": "False",
    }
    stopped = lb.PrivateSelection(**{**GOOD, "law": "geometric", "stop": 0.25})
    assert (stopped.parameters["law"], stopped.parameters["stop"]) == ("geometric", "1/4")
    assert lb.PrivateSelection(**{**GOOD, "law": -0.5}).parameters["law"] == "-1/2"


def test_the_release_prints_as_a_table():
    release = lb.PrivateSelection(**{**GOOD, "threshold": 1}).release()
    assert str(release).splitlines()[1].split() == ["candidate", "output", "score"]
    assert release.to_json().startswith('{"mechanism": "PrivateSelection"')


def test_scored_refuses_bounds_that_do_not_rise():
    with pytest.raises(lb.ParameterError, match="bounds must rise"):
        lb.scored(lambda draw: 1, lambda output: 1, epsilon=1, bounds=(3, 3))
    with pytest.raises(lb.ParameterError, match="resolution must divide"):
        lb.scored(lambda draw: 1, lambda output: 1, epsilon=1, resolution="2/3", bounds=(0, 4))
