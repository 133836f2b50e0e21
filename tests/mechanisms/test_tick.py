"""Holding a release back, on a clock of our own: no test waits."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import lastbit as lb
from lastbit.mechanisms import tick

SECOND = 10**9


class Clock:
    """Time passes when a release sleeps, or works. Sleeps end a little early, once. Other threads keep their clock."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 12_345
        self.slept: list[float] = []
        patch.setattr(tick, "time", self)

    def monotonic_ns(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += round(seconds * SECOND) - (1000 if len(self.slept) == 1 else 0)


class Working(lb.Mechanism[int]):
    """Takes as long as it is told."""

    cost = lb.NoisyMax(epsilon=1).cost

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work

    def ready(self, values: object) -> Callable[[lb.Draw], int]:
        self.work()
        return lambda draw: 7


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.parametrize(
    ("hold", "takes", "until"),
    [
        ("1/10", 0, 100_000_000),
        ("1/10", 1, 100_000_000),
        ("1/10", 99_999_999, 100_000_000),
        ("1/10", 100_000_000, 100_000_000),
        ("1/10", 100_000_001, 200_000_000),
        (0.25, 600_000_000, 750_000_000),
        (Fraction(1, 3), 5, 333_333_334),
        (2, 7 * SECOND, 8 * SECOND),
    ],
)
def test_a_release_comes_on_a_tick(clock: Clock, hold: object, takes: int, until: int) -> None:
    begun = clock.now

    def work() -> None:
        clock.now += takes

    assert Working(work).release([1], hold=hold) == 7
    assert clock.now - begun == until


def test_without_hold_nobody_waits(clock: Clock) -> None:
    assert Working(lambda: None).release([1]) == 7
    assert clock.slept == []


@pytest.mark.parametrize("hold", [0, -1, "-1/10", float("nan")])
def test_a_hold_is_positive(clock: Clock, hold: object) -> None:
    def work() -> None:
        raise AssertionError("refused before anything is read")

    with pytest.raises(lb.ParameterError, match="hold must be"):
        Working(work).release([1], hold=hold)


def test_a_hold_is_no_option_of_ready(clock: Clock) -> None:
    best = lb.ExponentialMechanism(epsilon=100).release([0, 50], outcomes=["a", "b"], hold="1/1000")
    assert (best.outcome, clock.now) == ("b", 12_345 + 1_000_000)


def test_a_ledger_holds_a_release_back_too(clock: Clock, tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=1)
    begun = clock.now
    best = ledger.release("clinic", lb.NoisyMax(epsilon=1), [0, 900], hold="1/10")
    assert (best.index, clock.now - begun) == (1, 100_000_000)
