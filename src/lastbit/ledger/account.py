"""`Account`: what a data set may cost in all, what it has cost so far, and the one rule that accepts or refuses.

Why an account of epsilon and delta holds. Call a run of the account good if no mechanism leaves the part of its law
that its ε and ρ are for. A run is not good with probability at most Σδ ≤ δ/2. Split the good runs by how they end.
Where Σε ≤ ε, the probability of each run changes by at most e^ε between neighbours. On the others Σρ ≤ ρ*, and the
account does what one that enforces ρ* alone does. That one is ρ*-zCDP however analysts choose (Feldman and Zrnic 2021;
Whitehouse et al. 2023), so it is (ε, δ/2)-private. Add the parts: e^ε once, δ/2 for the rhos, δ/2 for the deltas. The
tests follow every analyst of up to four small mechanisms, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from lastbit.errors import ASK_FOR_LESS, BudgetExceeded, LedgerError, ParameterError
from lastbit.exact.numbers import Number, number, positive, probability
from lastbit.exact.rounding import short_upper
from lastbit.ledger.price import Price, format_down, format_up
from lastbit.privacy import zcdp
from lastbit.privacy.cost import Cost
from lastbit.values.adjacency import Adjacency, parse_adjacency

Currency = Literal["epsilon", "rho", "epsilon and delta"]

_ZERO: Final = Fraction(0)

_LONGEST_BITS: Final = 8192
"""The bits of a denominator that a sum keeps: some 2,500 digits, as databases and Python write them."""
_USELESS: Final = "An account that allows nothing is of no use."


@dataclass(frozen=True, repr=False)
class Account:
    """What a data set may cost in all, and what it has cost so far: exact sums of epsilon, rho and delta.

    `limit`, `spent`, `remaining` and `price` are in the account's own currency: in rho for an account that was created
    with rho, in epsilon for all others. `left` says what is left in each currency.

    >>> account = Account("clinic", Fraction(3), Fraction(1), "replace")
    >>> account.remaining, account.price(Cost.of(1)), account.price(Cost.of(1), "add-remove")
    (Fraction(2, 1), Fraction(1, 1), Fraction(2, 1))
    >>> Account.with_limit("clinic", rho="1/10").charged(Cost.zcdp("1/50")).left
    {'rho': Fraction(2, 25), 'delta': Fraction(0, 1)}
    """

    dataset: str
    epsilon_limit: Fraction | None
    """What the epsilons may add up to; None in an account that was created with rho."""
    spent_epsilon: Fraction | None
    """The sum of all epsilons; None once a release was charged that has none."""
    adjacency: Adjacency = "add-remove"
    """For which neighbours the sums hold: for data sets that differ by one person more, or by one replaced record."""
    digest: str = ""
    """The digest of the last entry: whoever writes it down elsewhere can check later that nothing before it changed."""
    rho_limit: Fraction | None = None
    """What the rhos may add up to; None in an account of epsilon alone."""
    delta_limit: Fraction = _ZERO
    """The delta that the account was created with."""
    delta_of_rho: Fraction = _ZERO
    """The part of `delta_limit` that turns the rhos into an epsilon. The deltas may add up to the rest."""
    spent_rho: Fraction = _ZERO
    spent_delta: Fraction = _ZERO
    protects: str = ""
    """What all charges protect: "person", or the columns whose combination is protected, such as "day and user"; ""
    where no charge has said so yet. A row is one person."""

    @classmethod
    def with_limit(
        cls,
        dataset: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        adjacency: Adjacency = "add-remove",
    ) -> Account:
        """Return a new account with a limit in epsilon, in rho, or in epsilon and delta; rho may come with a delta.

        Half of the delta of an (epsilon, delta) goes to the conversion: `rho_limit` is the largest rho that proves
        epsilon at this half. Both are fixed here, once, before anything was published.

        >>> account = Account.with_limit("clinic", epsilon=3, delta="1e-6")
        >>> account.text, float(account.rho_limit), account.delta_of_rho
        ('epsilon 3, delta 1/1000000', 0.17574990868935..., Fraction(1, 2000000))
        """
        if (epsilon is None) == (rho is None):
            raise ParameterError(
                "an account has a limit in epsilon or in rho, each with a delta or without. Write exactly one of "
                "epsilon=3, rho='1/10'; and delta='1e-6' where releases may have a delta or no epsilon."
            )
        delta_limit = _ZERO if delta is None or number(delta, "delta") == 0 else probability(delta, "delta")
        account = cls(dataset, None, _ZERO, parse_adjacency(adjacency), delta_limit=delta_limit)
        if epsilon is None:
            return replace(account, rho_limit=positive(rho, "rho", _USELESS))
        account = replace(account, epsilon_limit=positive(epsilon, "epsilon", _USELESS))
        if not delta_limit:
            return account
        return replace(account, delta_of_rho=delta_limit / 2, rho_limit=zcdp.largest_rho(epsilon, delta_limit / 2))

    @property
    def within(self) -> bool:
        """Whether the sums are within the limits: the one rule that accepts and refuses.

        Deltas must fit. Besides, the epsilons must fit, or the rhos: docs/budget.md proves that this holds
        for analysts who choose each release by the releases before it.
        """
        deltas = self.spent_delta <= self.delta_limit - self.delta_of_rho
        epsilons = (
            self.epsilon_limit is not None
            and self.spent_epsilon is not None
            and self.spent_epsilon <= self.epsilon_limit
        )
        rhos = self.rho_limit is not None and self.spent_rho <= self.rho_limit
        return deltas and (epsilons or rhos)

    @property
    def currency(self) -> Currency:
        """The kind of the limit: epsilon, rho, or epsilon and delta."""
        if self.epsilon_limit is None:
            return "rho"
        return "epsilon" if self.rho_limit is None else "epsilon and delta"

    @property
    def text(self) -> str:
        """The limit in words.

        >>> Account.with_limit("clinic", rho="1/10").text
        'rho 1/10'
        """
        loss = "rho" if self.currency == "rho" else "epsilon"
        return f"{loss} {self.limit}" + (f", delta {self.delta_limit}" if self.delta_limit else "")

    @property
    def limit(self) -> Fraction:
        """The limit in the account's own currency."""
        limit = self.rho_limit if self.epsilon_limit is None else self.epsilon_limit
        return _ZERO if limit is None else limit

    @property
    def spent(self) -> Fraction:
        """What was spent, in the account's own currency.

        In an account of epsilon and delta: of the epsilon. It is the whole limit where the epsilons do not fit any
        more, or where a release has none: from then on the rhos decide.
        """
        if self.currency == "rho":
            return self.spent_rho
        if self.spent_epsilon is None:
            return self.limit
        return self.spent_epsilon if self.currency == "epsilon" else min(self.spent_epsilon, self.limit)

    @property
    def remaining(self) -> Fraction:
        """What may still be spent, in the account's own currency."""
        return self.limit - self.spent

    @property
    def left(self) -> dict[str, Fraction]:
        """What is left in each currency that has a limit. Where epsilon and rho are named, one of the two must fit.

        >>> Account.with_limit("clinic", epsilon=3).left
        {'epsilon': Fraction(3, 1)}
        """
        amounts = {}
        if self.epsilon_limit is not None:
            amounts["epsilon"] = self.remaining
        if self.rho_limit is not None:
            amounts["rho"] = max(_ZERO, self.rho_limit - self.spent_rho)
            amounts["delta"] = self.delta_limit - self.delta_of_rho - self.spent_delta
        return amounts

    def prices(self, cost: Cost | None, adjacency: Adjacency | None = None) -> Price:
        """Return what a release costs here in each currency; `cost` holds for neighbours of `adjacency`, None: our own.

        To replace a record is to remove one and to add one: a cost for add-remove counts twice where neighbours
        replace (`Cost.of_two`). The other way round nothing is promised, and the release is refused. An account of
        epsilon alone refuses costs with a delta or without an epsilon. See docs/budget.md.
        """
        price = Price.of(cost)
        if adjacency is not None and parse_adjacency(adjacency) != self.adjacency:
            if self.adjacency == "add-remove":
                raise LedgerError(
                    f"the account {self.dataset!r} adds up what is promised when a person comes or goes (add-remove). "
                    "This release promises something only when a person replaces a record, as the number of records is "
                    "public. Use values with a private number of records (exact_sum or histogram without "
                    "replaces=True, mean_sums with NoisyMean), or an account created with adjacency='replace'. Nothing "
                    "was drawn and nothing was charged."
                )
            price = self._price_of_two(cost)
        if self.currency == "epsilon" and (price.epsilon is None or price.delta):
            raise LedgerError(
                f"the account {self.dataset!r} adds up epsilon alone, and this release costs {price.text}. Use a "
                "mechanism with epsilon= and without a delta, or an account that was created with rho='1/10', or with "
                "epsilon=3 and delta='1e-6' (lastbit budget create NAME --epsilon 3 --delta 1e-6). Nothing was drawn "
                "and nothing was charged."
            )
        return price

    def _price_of_two(self, cost: Cost | None) -> Price:
        try:
            return Price.of(cost.of_two() if isinstance(cost, Cost) else cost)
        except ParameterError:
            pass
        raise LedgerError(
            f"the account {self.dataset!r} is for neighbours that replace a record, and this release has a delta and "
            "no epsilon for people who come or go: nothing is known of what it costs there. Use a mechanism with "
            "epsilon=, or an account created with adjacency='add-remove'. Nothing was drawn and nothing was charged."
        )

    def price(self, cost: Cost | None, adjacency: Adjacency | None = None) -> Fraction:
        """Return what a release costs here, in the account's own currency: see `prices`.

        In an account of epsilon and delta: its epsilon, or its rho where it has no epsilon.
        """
        return self.amount_of(self.prices(cost, adjacency))

    def amount_of(self, price: Price) -> Fraction:
        """Return a price in the account's own currency."""
        return price.rho if self.currency == "rho" or price.epsilon is None else price.epsilon

    def allows(self, cost: Cost | None, adjacency: Adjacency | None = None) -> bool:
        """Return whether the limit leaves room for a cost."""
        return self.plus(self.prices(cost, adjacency)).within

    def charged(self, cost: Cost | None, adjacency: Adjacency | None = None) -> Account:
        """Return the account as it would be after a charge, or raise BudgetExceeded. This writes nothing."""
        return self.after_price(self.prices(cost, adjacency))

    def protecting(self, protects: str) -> Account:
        """Return the account as one whose charges protect this, or raise LedgerError where others protect other things.

        An account adds up one promise. What protects one day of a user does not protect the user: many days add up.
        And a cost for users who come or go is none for users who have one day less.

        >>> account = Account.with_limit("clinic", epsilon=3).protecting("day and user")
        >>> account.protecting("").protects, Account.with_limit("clinic", epsilon=3).protecting("row").protects
        ('day and user', 'person')
        """
        own = "person" if protects == "row" else protects
        if own in ("", self.protects):
            return self
        if not self.protects:
            return replace(self, protects=own)
        raise LedgerError(
            f"the account {self.dataset!r} adds up what is promised to {_whom(self.protects)}, and this release "
            f"protects {_whom(own)}. Ask with the unit of the account, or create another account for this one: lastbit "
            f"budget create NAME. {_MOST if self.protects == 'person' else ''}"
            "Nothing was drawn and nothing was charged."
        )

    def after_price(self, price: Price) -> Account:
        """Return the account after a price was taken from it, or raise BudgetExceeded."""
        account = self.plus(price)
        if not account.within:
            raise self._refusal(price)
        return account

    def gives_back(self, epsilon: Fraction) -> Fraction:
        """Return how much of an epsilon that a closed run has not spent
        comes back: all of it, or nothing where rho counts.

        In an account of epsilon and delta only the sum of epsilons goes down. What a run spent bounds the loss of every
        single transcript, and so an epsilon; a rho is a mean over transcripts, and bounds none: see docs/budget.md.
        """
        return _ZERO if self.currency == "rho" or self.spent_epsilon is None else epsilon

    def refunded(self, epsilon: Fraction) -> Account:
        """Return the account after a closed run gave back an epsilon that it has not spent.

        >>> account = Account.with_limit("clinic", epsilon=1).charged(Cost.of(1))
        >>> account.refunded(Fraction(1, 4)).remaining
        Fraction(1, 4)
        """
        if self.spent_epsilon is None or not 0 < self.gives_back(epsilon) <= self.spent_epsilon:
            raise LedgerError(f"the account {self.dataset!r} has nothing to give back. Nothing was changed.")
        return replace(self, spent_epsilon=total(self.spent_epsilon, -epsilon))

    def plus(self, price: Price) -> Account:
        """Return the account with a price added to its sums, whether it fits or not."""
        epsilons = self.spent_epsilon, price.epsilon
        return replace(
            self,
            spent_epsilon=None if None in epsilons else total(*(term for term in epsilons if term is not None)),
            spent_rho=total(self.spent_rho, price.rho),
            spent_delta=total(self.spent_delta, price.delta),
        )

    def with_higher_limit(self, *, epsilon: Number | None = None, rho: Number | None = None) -> Account:
        """Return the account with a higher limit, in its own currency."""
        if self.currency == "epsilon and delta":
            raise LedgerError(
                f"the limit of {self.dataset!r} is {self.text}, and such a limit cannot be raised: which sums it "
                "allows was decided when it was created, before anything was published. Open another account; its "
                "limit adds to this one."
            )
        limits = {"epsilon": epsilon, "rho": rho}
        own_limit = limits.pop(self.currency)
        if own_limit is None or any(other is not None for other in limits.values()):
            raise ParameterError(f"the limit of {self.dataset!r} is in {self.currency}: give {self.currency} alone.")
        limit = positive(own_limit, self.currency, _USELESS)
        if limit <= self.limit:
            raise LedgerError(
                f"the limit of {self.dataset!r} is {self.limit}: the new one must be above that, got {limit}."
            )
        return replace(self, epsilon_limit=limit) if self.currency == "epsilon" else replace(self, rho_limit=limit)

    def _refusal(self, price: Price) -> BudgetExceeded:
        """Return the error that says why a price does not fit, in the currency that it does not fit in."""
        if self.currency == "epsilon" and price.epsilon is not None:
            return BudgetExceeded(self.dataset, price.epsilon, self.spent, self.limit)
        delta_room, rho_limit = self.delta_limit - self.delta_of_rho, self.rho_limit or _ZERO
        if self.spent_delta + price.delta > delta_room:
            advice = "" if self.delta_limit else " An account that allows a delta is created with one."
            return self._refusal_in("delta", price.delta, self.spent_delta, delta_room, f"Ask for less.{advice}")
        if self.currency == "rho":
            return self._refusal_in("rho", price.rho, self.spent_rho, rho_limit, ASK_FOR_LESS)
        hint = ""
        if price.epsilon is not None and self.spent_epsilon is not None:
            hint = (
                f"Nor do the epsilons fit: requested {format_up(price.epsilon)}, {format_down(self.remaining)} left. "
            )
        return self._refusal_in("rho", price.rho, self.spent_rho, rho_limit, f"{hint}Ask for less.")

    def _refusal_in(
        self, currency: str, requested: Fraction, spent: Fraction, limit: Fraction, advice: str
    ) -> BudgetExceeded:
        left = format_down(max(_ZERO, limit - spent))
        message = (
            f"the budget of {self.dataset!r} allows no more than {currency} {left}: requested {format_up(requested)}, "
            f"spent {format_up(spent)}, limit {format_down(limit)}. Nothing was drawn and nothing was charged. {advice}"
        )
        return BudgetExceeded(self.dataset, requested, spent, limit, currency, message)

    def __repr__(self) -> str:
        if self.currency == "epsilon":
            sums = f"limit={self.limit!r}, spent={self.spent!r}"
        else:
            sums = f"limit={self.text!r}, left={ {name: format_down(amount) for name, amount in self.left.items()}!r}"
        return f"Account(dataset={self.dataset!r}, {sums}, adjacency={self.adjacency!r})"


_MOST: Final = (
    "Or say how many combinations of one person count, with --most-units: then the account pays for all of them. "
)


def _whom(protects: str) -> str:
    return "people with all their rows" if protects == "person" else f"each combination of {protects}"


def total(*terms: Fraction) -> Fraction:
    """Return the exact sum, or a sum rounded up where thousands of unlike denominators make it too long to store."""
    exact = sum(terms, _ZERO)
    return exact if exact.denominator.bit_length() <= _LONGEST_BITS else short_upper(exact, _LONGEST_BITS // 2)
