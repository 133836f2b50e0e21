"""All n! orders are equally likely: every sequence of picks gives another order, and picks are uniform."""

from itertools import product
from math import factorial

import numpy as np
import pytest

from lastbit import Reference, Sampler, Tape
from tests import oracle
from tests.oracle import WORD


def middle(cell: int, n: int) -> int:
    """A word that decides this cell of n equal ones."""
    return (2 * cell + 1) * WORD // (2 * n)


@pytest.mark.parametrize("draws", [Reference, Sampler])
@pytest.mark.parametrize("n", range(7))
def test_every_order_comes_from_exactly_one_sequence_of_picks(draws: type, n: int) -> None:
    orders = set()
    for picks in product(*(range(i + 1) for i in range(1, n))):
        tape = Tape(middle(pick, i + 1) for i, pick in enumerate(picks, start=1))
        order = draws(tape).permutation(n)
        assert order.dtype == np.int64
        assert tape.consumed == len(picks)
        assert sorted(order) == list(range(n))
        orders.add(tuple(order.tolist()))
    # A sequence of picks has probability 1/2 · 1/3 · … · 1/n, whichever it is.
    assert len(orders) == factorial(n)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_picks_are_uniform_to_the_last_bit(n: int) -> None:
    # With all other picks fixed, the order follows the pick that `Even` says, read on where it says.
    fixed = [middle(0, i + 1) for i in range(1, n)]
    for i in range(1, n):
        by_pick = []
        for pick in range(i + 1):
            words = fixed.copy()
            words[i - 1] = middle(pick, i + 1)
            by_pick.append(Reference(Tape(words)).permutation(n).tolist())
        for cut in range(1, i + 1):
            edge = cut * WORD // (i + 1)
            deep = (cut * WORD * WORD // (i + 1)) % WORD
            for word, more in [
                (edge - 1, []),
                (edge, [deep - 1]),
                (edge, [deep, 0]),
                (edge, [deep + 1]),
                (edge + 1, []),
            ]:
                if any(not 0 <= extra < WORD for extra in more):
                    continue
                words = fixed.copy()
                words[i - 1] = word
                pick, used = oracle.Even(i + 1).follow([word, *more, 7])
                tape = Tape([*words, *more, 7])
                assert Reference(tape).permutation(n).tolist() == by_pick[pick]
                assert tape.consumed == n - 1 + used - 1
