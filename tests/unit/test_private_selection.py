"""Private selection: what is refused, and what a failing candidate can tell (nothing)."""

from __future__ import annotations

from fractions import Fraction

import pytest

import lastbit as lb

GOOD = {"candidates": [lambda draw: ("x", 1)], "candidate_cost": 1, "stop": "1/2"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"candidates": []}, "at least one"),
        ({"candidates": ["model"]}, "callables"),
        ({"candidate_cost": 0}, "positive"),
        ({"stop": 0}, "stop must be positive"),
        ({"stop": 2}, "stop must be at most 1"),
        ({"slack": 2}, "slack must be at most 1"),
        ({"slack": 0}, "slack must be positive"),
        ({"rounds": 100}, "needs slack"),
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
        ({"threshold": 0, "slack": "1/10"}, Fraction(21, 10)),
        ({}, Fraction(3)),
        ({"slack": "1/10"}, Fraction(33, 10)),
        ({"threshold": 0, "candidate_cost": lb.Eta(3, 2, 1)}, lb.Eta(3, 2, 2)),
        ({"candidate_cost": lb.Eta(3, 2, 1)}, lb.Eta(3, 2, 3)),
    ],
)
def test_each_way_to_stop_states_its_cost(options, cost):
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
    # Words of zero: the first candidate, no stop, the second candidate (all ones pick it), then stop.
    tape = lb.Tape([0, 2**64 - 1, 2**64 - 1, 0])
    chosen = lb.PrivateSelection(**{**GOOD, "candidates": mixed}).release(draw=lb.Sampler(tape))
    assert (chosen.output, chosen.candidate) == ("good", 1)


def test_a_failure_cannot_reach_the_threshold():
    fails = lb.PrivateSelection(**{**GOOD, "candidates": [failing], "threshold": -(10**9), "stop": 1})
    assert fails.release().output is None


def test_a_source_that_ends_is_not_a_failing_candidate():
    hungry = lb.PrivateSelection(**{**GOOD, "candidates": [lambda draw: (draw.integer(2), 1)]})
    with pytest.raises(lb.TapeEnded):
        hungry.release(draw=lb.Sampler(lb.Tape([0])))


def test_the_release_prints_as_a_table():
    release = lb.PrivateSelection(**{**GOOD, "threshold": 1}).release()
    assert str(release).splitlines()[1].split() == ["candidate", "output", "score"]
    assert release.to_json().startswith('{"mechanism": "PrivateSelection"')


def test_scored_refuses_bounds_that_do_not_rise():
    with pytest.raises(lb.ParameterError, match="bounds must rise"):
        lb.scored(lambda draw: 1, lambda output: 1, epsilon=1, bounds=(3, 3))
    with pytest.raises(lb.ParameterError, match="resolution must divide"):
        lb.scored(lambda draw: 1, lambda output: 1, epsilon=1, resolution="2/3", bounds=(0, 4))
