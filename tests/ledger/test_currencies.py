"""Accounts in epsilon, in rho, and in epsilon and delta: what they take, what they refuse, and what they say."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import lastbit as lb
from lastbit.ledger import store
from lastbit.ledger.price import Price, write_terms
from lastbit.privacy.cost import Cost
from lastbit.privacy.zcdp import epsilon_at, largest_rho, rho_of
from tests.ledger.test_processes import Child
from tests.ledger.test_verify import change, rewrite_digests
from tests.ledger.worker import spend

F = Fraction


@dataclass(frozen=True)
class Priced(lb.Mechanism[int]):
    """A mechanism of any cost."""

    stated: Cost
    cost: Cost = field(init=False)

    def __post_init__(self) -> None:
        self._derive(cost=self.stated)

    def ready(self, values: Any) -> Any:
        return lambda draw: draw.integer(2)


def at_cost(epsilon: Any = None, rho: Any = None, delta: Any = 0) -> Priced:
    return Priced(Cost(None if epsilon is None else F(epsilon), None if rho is None else F(rho), F(delta)))


KINDS: dict[str, dict[str, Any]] = {
    "epsilon": {"epsilon": 3},
    "rho": {"rho": "1/10"},
    "rho and delta": {"rho": "1/10", "delta": "1e-6"},
    "epsilon and delta": {"epsilon": 3, "delta": "1e-6"},
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_account_comes_back_as_it_was_created(place: str, kind: str) -> None:
    ledger = lb.Ledger(place)
    made = ledger.create("clinic", **KINDS[kind])
    assert ledger.account("clinic") == made
    assert made.currency == kind.removesuffix(" and delta") or kind == "epsilon and delta"
    assert made.limit == F(KINDS[kind].get("rho", 3))
    assert made.remaining == made.limit
    assert (made.spent, made.spent_epsilon, made.spent_rho, made.spent_delta) == (0, 0, 0, 0)
    assert made.delta_limit == F(KINDS[kind].get("delta", 0))
    ledger.charge("clinic", at_cost(epsilon="1/7"))
    after = ledger.account("clinic")
    assert (after.spent_epsilon, after.spent_rho) == (F(1, 7), rho_of(F(1, 7)))
    entry = ledger.history("clinic")[-1]
    assert (entry.epsilon, entry.rho, entry.delta) == (F(1, 7), rho_of(F(1, 7)), 0)
    assert entry.amount == (entry.rho if made.currency == "rho" else entry.epsilon)
    assert lb.Ledger(place, verify=True).verify() == ()


def test_the_filter_is_fixed_at_creation_and_in_the_books(place: str) -> None:
    account = lb.Ledger(place).create("clinic", epsilon=3, delta="1e-6")
    assert account.delta_of_rho == F(1, 2 * 10**6)
    assert account.rho_limit == largest_rho(3, F(1, 2 * 10**6))
    assert epsilon_at(account.rho_limit, account.delta_of_rho) <= 3
    with store.Store(place).transaction() as connection:
        terms = connection.execute(sa.text("select terms from lastbit_entries")).scalar_one()
    assert terms == write_terms(
        epsilon=F(3), rho=account.rho_limit, delta=account.delta_limit, delta_of_rho=account.delta_of_rho
    )
    assert account.left == {"epsilon": 3, "rho": account.rho_limit, "delta": F(1, 2 * 10**6)}


RHO = largest_rho(3, F(1, 2 * 10**6))
HALF = F(1, 2 * 10**6)
TINY = F(1, 2**60)

DECISIONS: list[tuple[dict[str, Any], list[Priced], Priced, bool]] = [
    # epsilon
    ({"epsilon": 1}, [at_cost("1/2")], at_cost("1/2"), True),
    ({"epsilon": 1}, [at_cost("1/2")], at_cost(F(1, 2) + TINY), False),
    # rho
    ({"rho": "1/10"}, [at_cost(rho="1/20")], at_cost(rho="1/20"), True),
    ({"rho": "1/10"}, [at_cost(rho="1/20")], at_cost(rho=F(1, 20) + TINY), False),
    ({"rho": "1/10"}, [at_cost(rho="1/100")] * 9, at_cost(rho="1/100"), True),
    ({"rho": "1/10"}, [], at_cost(rho="1/100", delta="1e-9"), False),
    ({"rho": "1/10", "delta": "1e-6"}, [at_cost(rho="1/100", delta="6e-7")], at_cost(rho="1/100", delta="4e-7"), True),
    ({"rho": "1/10", "delta": "1e-6"}, [at_cost(rho="1/100", delta="6e-7")], at_cost(rho="1/100", delta="5e-7"), False),
    # epsilon and delta: by the epsilons, though their rho is far too large
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost("3/2")], at_cost("3/2"), True),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost("3/2")], at_cost(F(3, 2) + TINY), False),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost("3/2")], at_cost("3/2", delta=HALF), True),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost("3/2")], at_cost("3/2", delta=HALF + TINY), False),
    # ... or by the rhos, though there is no epsilon, or the sum of the epsilons is too large
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost(rho=RHO / 2)], at_cost(rho=RHO / 2), True),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost(rho=RHO / 2)], at_cost(rho=RHO / 2 + F(1, 2**50)), False),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost(rho=RHO)], at_cost("1/1000"), False),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost("1/10")] * 30, at_cost("1/10"), True),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost("1/10")] * 35, at_cost("1/10"), False),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost("2")], at_cost(rho="1/100"), False),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost(rho=RHO / 2, delta=HALF)], at_cost(rho=RHO / 2), True),
    ({"epsilon": 3, "delta": "1e-6"}, [at_cost(rho=RHO / 4, delta=HALF)], at_cost(rho=RHO / 4, delta=TINY), False),
]


@pytest.mark.parametrize("number", range(len(DECISIONS)))
def test_an_account_takes_what_fits_and_refuses_what_does_not(tmp_path: Path, number: int) -> None:
    limits, before, last, taken = DECISIONS[number]
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", **limits)
    for mechanism in before:
        ledger.charge("clinic", mechanism)
    account = ledger.account("clinic")
    assert account.allows(last.cost) == taken
    if taken:
        ledger.charge("clinic", last)
        assert ledger.account("clinic").within
    else:
        tape = lb.Tape([1])
        with pytest.raises(lb.BudgetExceeded) as caught:
            ledger.release("clinic", last, [1], draw=lb.Sampler(tape))
        assert tape.consumed == 0
        assert ledger.account("clinic") == account
        refusal = caught.value
        assert f"allows no more than {refusal.currency} " in str(refusal)
        assert refusal.spent + refusal.requested > refusal.limit
        copy = pickle.loads(pickle.dumps(refusal))
        assert (str(copy), copy.currency, copy.requested) == (str(refusal), refusal.currency, refusal.requested)
    assert ledger.verify() == ()


@pytest.mark.parametrize("mechanism", [at_cost(rho="1/100"), at_cost("1/2", delta="1e-9")])
def test_an_account_of_epsilon_says_what_to_type_instead(tmp_path: Path, mechanism: Priced) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=3)
    with pytest.raises(lb.LedgerError, match=r"adds up epsilon alone.*--epsilon 3 --delta 1e-6") as caught:
        ledger.charge("clinic", mechanism)
    assert not isinstance(caught.value, lb.BudgetExceeded)
    assert len(ledger.history("clinic")) == 1


def test_left_is_in_each_currency_and_never_below_nothing() -> None:
    account = lb.Account.with_limit("clinic", epsilon=3, delta="1e-6").charged(Cost.of(2))
    assert account.left == {"epsilon": 1, "rho": 0, "delta": HALF}
    assert account.spent_rho > RHO
    by_rho = lb.Account.with_limit("clinic", epsilon=3, delta="1e-6").charged(Cost.zcdp("1/100"))
    assert by_rho.spent_epsilon is None
    assert (by_rho.spent, by_rho.remaining) == (3, 0)
    assert by_rho.left["rho"] == RHO - F(1, 100)
    many = lb.Account.with_limit("clinic", epsilon="1/2", delta="1/5")
    for _ in range(3):
        many = many.charged(Cost.of("1/5"))
    assert (many.spent_epsilon, many.spent, many.remaining) == (F(3, 5), F(1, 2), 0)


def test_long_terms_are_rounded_up_and_short_ones_are_exact() -> None:
    long = F(1, 3**80)
    price = Price.of(Cost(None, F(1, 7), long))
    assert price.rho == F(1, 7)
    assert long < price.delta < long * (1 + F(1, 2**90))
    assert price.delta.denominator & (price.delta.denominator - 1) == 0
    assert Price.of(Cost.of("1e-100")).epsilon == F(1, 10**100)


@pytest.mark.parametrize(
    "stated",
    [
        (None, F(0), F(0)),
        (None, F(-1), F(0)),
        (None, 0.5, F(0)),
        (F(1), F(-1), F(0)),
        (F(1), None, F(-1)),
        (F(1), None, F(1)),
        (F(1), None, 0.1),
    ],
)
def test_a_cost_that_is_no_positive_cost_is_refused_in_every_currency(stated: tuple[Any, Any, Any]) -> None:
    # A Cost refuses such numbers itself: these were put into one by force.
    forged = Cost.of(1)
    for name, value in zip(("epsilon", "stated_rho", "delta"), stated, strict=True):
        object.__setattr__(forged, name, value)
    for limits in KINDS.values():
        with pytest.raises(lb.MechanismError, match="positive Cost"):
            lb.Account.with_limit("clinic", **limits).charged(forged)


@pytest.mark.parametrize(
    "limits",
    [{}, {"epsilon": 1, "rho": 1}, {"delta": "1e-6"}, {"epsilon": 1, "delta": 1}, {"rho": 0}, {"rho": 1, "delta": -1}],
)
def test_limits_that_make_no_account(tmp_path: Path, limits: dict[str, Any]) -> None:
    with pytest.raises(lb.ParameterError):
        lb.Ledger(tmp_path / "budget.db").create("clinic", **limits)
    assert not (tmp_path / "budget.db").exists()


def test_no_delta_is_an_account_of_epsilon() -> None:
    assert lb.Account.with_limit("clinic", epsilon=1, delta=0).currency == "epsilon"


def test_limits_rise_in_their_own_currency_and_that_of_epsilon_and_delta_does_not(place: str) -> None:
    ledger = lb.Ledger(place)
    for name, limits in KINDS.items():
        ledger.create(name, **limits)
    assert ledger.raise_limit("rho", rho="1/5").limit == F(1, 5)
    assert ledger.raise_limit("rho and delta", rho="1/5").delta_limit == F(1, 10**6)
    with pytest.raises(lb.ParameterError, match="is in rho: give rho alone"):
        ledger.raise_limit("rho", epsilon=5)
    with pytest.raises(lb.ParameterError, match="is in epsilon: give epsilon alone"):
        ledger.raise_limit("epsilon", epsilon=4, rho=4)
    with pytest.raises(lb.LedgerError, match="must be above that, got 1/10"):
        ledger.raise_limit("rho", rho="1/10")
    for limits in ({"epsilon": 9}, {"rho": 9}):
        with pytest.raises(lb.LedgerError, match="cannot be raised: which sums it allows was decided when it was crea"):
            ledger.raise_limit("epsilon and delta", **limits)
    assert ledger.verify() == ()


def test_a_release_for_add_remove_is_charged_for_two_where_neighbours_replace(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    account = ledger.create("survey", rho=1, delta="1e-6", adjacency="replace")
    ledger.charge("survey", at_cost(rho="1/100"), adjacency="add-remove")
    assert ledger.account("survey").spent_rho == F(4, 100)
    ledger.charge("survey", at_cost("1/10", delta="1e-9"), adjacency="add-remove")
    entry = ledger.history("survey")[-1]
    two = at_cost("1/10", delta="1e-9").cost.of_two()
    assert (entry.epsilon, entry.rho, entry.delta) == (F(1, 5), two.rho, two.delta)
    assert entry.delta > F(2, 10**9)
    with pytest.raises(lb.LedgerError, match="nothing is known of what it costs there") as caught:
        account.charged(at_cost(rho="1/100", delta="1e-9").cost, "add-remove")
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert ledger.verify() == ()


FORGED = {
    "a larger rho": ("rho", str(RHO * 2)),
    "no part for the rhos": ("delta_of_rho", "0"),
    "all of delta for the rhos": ("delta_of_rho", "1/1000000"),
    "another epsilon": ("epsilon", "4"),
}


@pytest.mark.parametrize("name", FORGED)
def test_verify_decides_the_filter_again(tmp_path: Path, name: str) -> None:
    """Somebody who rewrites the limits with all digests is noticed where the limits prove nothing."""
    place = str(tmp_path / "budget.db")
    ledger = lb.Ledger(place)
    account = ledger.create("clinic", epsilon=3, delta="1e-6")
    limits = {
        "epsilon": account.epsilon_limit,
        "rho": account.rho_limit,
        "delta": account.delta_limit,
        "delta_of_rho": account.delta_of_rho,
    }
    what, value = FORGED[name]
    column = {"epsilon": "budget", "rho": "rho_budget"}.get(what, what)
    change(
        place,
        f"update lastbit_entries set terms = '{write_terms(**limits | {what: F(value)})}'",
        f"update lastbit_accounts set {column} = '{value}'",
    )
    rewrite_digests(place, "clinic")
    assert "entry 1 of 'clinic' is none that lastbit writes" in ledger.verify()[0]


def test_verify_follows_the_filter_charge_by_charge(tmp_path: Path) -> None:
    place = str(tmp_path / "budget.db")
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=3, delta="1e-6")
    ledger.charge("clinic", at_cost(rho="1/100"))
    ledger.charge("clinic", at_cost("1/100", delta=HALF))
    terms = write_terms(epsilon=F(1, 100), rho=rho_of(F(1, 100)), delta=HALF + TINY)
    change(place, f"update lastbit_entries set terms = '{terms}' where id = 3")
    rewrite_digests(place, "clinic")
    found = ledger.verify()
    assert any("entry 3 of 'clinic' goes over the limit" in each for each in found)
    assert any("differ in: spent delta" in each for each in found)


@pytest.mark.parametrize("kind", ["rho", "epsilon and delta"])
def test_processes_that_charge_at_once_never_go_over_any_limit(place: str, tmp_path: Path, kind: str) -> None:
    ledger = lb.Ledger(place)
    price = rho_of(F(1, 7))
    made = ledger.create("clinic", **({"epsilon": 1, "delta": "1e-3"} if "epsilon" in kind else KINDS[kind]))
    for child in [Child(spend, place, tmp_path / "draws") for _ in range(2)]:
        child.result()
    account = lb.Ledger(place, verify=True).account("clinic")
    assert account.within
    by_rho = made.rho_limit // price if made.rho_limit is not None else 0
    by_epsilon = made.epsilon_limit // F(1, 7) if made.epsilon_limit is not None else 0
    charges = len(ledger.history("clinic")) - 1
    assert charges == max(by_rho, by_epsilon) > 5
    assert len((tmp_path / "draws").read_text().splitlines()) == charges


def test_gaussian_noise_is_paid_in_rho(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    for name, limits in KINDS.items():
        ledger.create(name, **limits)
    mechanism = lb.DiscreteGaussian(rho="1/100")
    with pytest.raises(lb.LedgerError, match="adds up epsilon alone, and this release costs rho 1/100"):
        ledger.release("epsilon", mechanism, [5])
    for name in ("rho", "epsilon and delta"):
        noisy = [ledger.release(name, mechanism, [5], query="how many", reuse=True) for _ in range(3)]
        assert noisy[0] == noisy[2]
        account = ledger.account(name)
        assert (account.spent_rho, account.spent_epsilon) == (Fraction(1, 100), None)
    assert ledger.verify() == ()


def test_sums_of_many_unlike_denominators_stay_short_and_never_below() -> None:
    account, exact = lb.Account.with_limit("clinic", epsilon=10**6), Fraction(0)
    for number in range(10**60 + 7, 10**60 + 7 + 2 * 200, 2):
        account = account.charged(lb.Cost.of(Fraction(1, number)))
        exact += Fraction(1, number)
        assert account.spent_epsilon >= exact  # each time that it is shortened
    assert account.spent_epsilon.denominator.bit_length() <= 8192 < exact.denominator.bit_length()
    assert 0 <= account.spent_epsilon - exact < Fraction(1, 1 << 2000)
    str(account.spent_epsilon)
