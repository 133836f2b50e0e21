"""An operating system that gives no random words: known before the charge where it can be, and always a BitsError."""

from __future__ import annotations

import os
from typing import Any

import pytest

import lastbit as lb
from lastbit.chance import bits

MECHANISM = lb.DiscreteLaplace(epsilon="1/4")


def fail(*_: Any) -> bytes:
    raise OSError(24, "Too many open files")


@pytest.mark.parametrize("error", [OSError, NotImplementedError])
def test_nothing_is_charged_where_there_is_no_randomness(
    error: type[Exception], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(n: int) -> bytes:
        raise error

    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    monkeypatch.setattr(os, "urandom", missing)
    for work in (
        lambda: ledger.release("clinic", MECHANISM, [1, 2, 3], draw=lb.Sampler()),
        lambda: ledger.start("clinic", lb.SparseVector(threshold=10, limit=1, epsilon="1/4"), draw=lb.Sampler()),
    ):
        with pytest.raises(
            lb.BitsError, match=r"gives no random words\..* Nothing was drawn and nothing was charged\."
        ):
            work()
    assert (ledger.account("clinic").spent, len(ledger.history("clinic"))) == (0, 1)


def test_a_source_of_ones_own_needs_no_system(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    monkeypatch.setattr(bits, "check_system", fail)
    ledger.release("clinic", MECHANISM, [1], draw=lb.Sampler(lb.Tape(range(1, 2**64, 2**60))))
    assert ledger.account("clinic").spent == MECHANISM.cost.epsilon


@pytest.mark.parametrize("size", [1, 40, 100_000])
def test_randomness_that_fails_in_the_middle_is_a_bits_error_and_stays_charged(
    size: int, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    system, calls = os.urandom, []

    def once(n: int) -> bytes:
        calls.append(n)
        if len(calls) > 1:
            raise OSError(5, "Input/output error")
        return system(n)

    monkeypatch.setattr(os, "urandom", once)
    draw = lb.Sampler(lb.SystemBits())  # without a keystream that is open already
    with pytest.raises(lb.BitsError, match="gives no random words") as caught:
        ledger.release("clinic", MECHANISM, [1] * size, draw=draw)
    assert "nothing was charged" not in str(caught.value)
    assert caught.value.__notes__ == ["Entry 2 of 'clinic' is charged, and stays so: to ask again costs again."]
    assert caught.value.__cause__ is None
    assert ledger.account("clinic").spent == MECHANISM.cost.epsilon
