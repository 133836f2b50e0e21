"""Keys that pay once: in every process, after every failure, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import lastbit as lb
from lastbit.ledger.tables import ONCE


def test_of_many_who_use_one_key_at_once_one_pays(place: str) -> None:
    ledger, mechanism = lb.Ledger(place), lb.DiscreteLaplace(epsilon="1/8")
    ledger.create("clinic", epsilon=1)

    def pay(_: int) -> int:
        try:
            return lb.Ledger(place).charge("clinic", mechanism, once="key").id
        except lb.AlreadyCharged as refusal:
            return -refusal.entry

    with ThreadPoolExecutor(8) as pool:
        found = sorted(pool.map(pay, range(8)))
    assert found == [-2] * 7 + [2]
    assert ledger.account("clinic").spent == mechanism.epsilon
    assert ledger.verify() == ()


def test_a_charge_that_is_refused_uses_up_no_key(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    with pytest.raises(lb.BudgetExceeded):
        ledger.charge("clinic", lb.DiscreteLaplace(epsilon=2), once="key")
    assert ledger.charged("key") is None
    release = ledger.spend("clinic", lb.DiscreteLaplace(epsilon=1), lambda draw: 7, once="key")
    assert release == 7
    entry = ledger.charged("key")
    assert entry is not None
    assert entry.done == "yes"


def test_a_release_that_fails_has_paid_and_its_key_pays_no_more(place: str) -> None:
    ledger, mechanism = lb.Ledger(place), lb.DiscreteLaplace(epsilon="1/4")
    ledger.create("clinic", epsilon=1)
    with pytest.raises(ZeroDivisionError):
        ledger.spend("clinic", mechanism, lambda draw: 1 // 0, once="key")
    with pytest.raises(lb.AlreadyCharged):
        ledger.spend("clinic", mechanism, lambda draw: 7, once="key")
    entry = ledger.charged("key")
    assert entry is not None
    assert entry.done == "no"
    assert ledger.account("clinic").spent == mechanism.epsilon


def test_keys_that_name_no_charge_or_the_same_one_are_noticed(place: str) -> None:
    ledger, mechanism = lb.Ledger(place), lb.DiscreteLaplace(epsilon="1/4")
    ledger.create("clinic", epsilon=1)
    for key in ("one", "two"):
        ledger.charge("clinic", mechanism, once=key)
    assert ledger.verify() == ()
    for entry, problem in ((1, "names entry 1, which is no charge"), (9, "names entry 9"), (2, "name entry 2")):
        with ledger._store.transaction() as connection:
            connection.execute(ONCE.update().where(ONCE.c.key == "two").values(entry=entry))
        (found,) = ledger.verify()
        assert problem in found
    with ledger._store.transaction() as connection:
        connection.execute(ONCE.delete().where(ONCE.c.key == "two"))
    assert ledger.verify() == ()  # as docs/books.md says: it pays once more, and gives nothing back
    assert ledger.charge("clinic", mechanism, once="two").id == 4
    assert ledger.account("clinic").spent == 3 * mechanism.epsilon
