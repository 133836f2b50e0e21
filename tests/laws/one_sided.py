"""The law of a sparse vector with one-sided noise, in closed form: written from the definition, not from the code.

Given the threshold noise z, the probability of a transcript is a product of powers of the rates. The rates of all
branches are powers of the first, r. So from some z on the product is a polynomial in r^z, and the sum over z is exact.
"""

from fractions import Fraction
from math import floor

from gmpy2 import mpq

BELOW = None
BITS = "bits"


class OneSided:
    """Threshold rate s; a branch is (its rate as a power of r, margin, units); `left` units in all; whole steps.

    A transcript is a tuple of answers: BELOW, or (branch, gap). `gaps` says how many gaps are told apart from the
    margin on; BITS means that none is published, and then an answer is (branch, None).
    """

    def __init__(self, s, r, branches, left, gaps):
        self.s, self.r, self.branches, self.left, self.gaps = mpq(s), mpq(r), branches, left, gaps
        rates = [Fraction(r) ** power for power, _, _ in branches]
        # E X - E Z to the nearest step, a half up.
        self.shifts = [floor(rate / (1 - rate) - Fraction(s) / (1 - Fraction(s)) + Fraction(1, 2)) for rate in rates]
        self._known = {}

    def transcripts(self, n, left=None):
        """Every transcript of n queries, or fewer where the units run out."""
        left = self.left if left is None else left
        tried = self.tried(left)
        if n == 0 or not tried:
            yield ()
            return
        for rest in self.transcripts(n - 1, left):
            yield BELOW, *rest
        for branch, (_, margin, units) in enumerate(tried):
            for gap in [None] if self.gaps == BITS else range(margin, margin + self.gaps):
                for rest in self.transcripts(n - 1, left - units):
                    yield (branch, gap), *rest

    def tried(self, left):
        """The branches that can be paid; a query that fails the last of them is below, so that one has no margin."""
        payable = [branch for branch in self.branches if branch[2] <= left]
        return [*payable[:-1], (payable[-1][0], 0, payable[-1][2])] if payable else []

    def spent(self, transcript):
        """The units that the answers of a transcript spend."""
        return sum(0 if answer is BELOW else self.branches[answer[0]][2] for answer in transcript)

    def mass(self, transcript, distances):
        """P(transcript) where query i is distances[i] steps above the threshold."""
        asked = transcript, tuple(distances[: len(transcript)])
        if asked not in self._known:
            self._known[asked] = self._mass(*asked)
        return self._known[asked]

    def mass_given_noise(self, transcript, distances, z):
        """P(transcript, given that the threshold noise is z)."""
        return _product(self._value(factor, z) for factor in self._all_factors(transcript, distances))

    def _all_factors(self, transcript, distances):
        left = self.left
        for answer, distance in zip(transcript, distances, strict=False):
            yield from self._factors(answer, distance, left)
            left -= self.spent([answer])

    def _mass(self, transcript, distances):
        start = max(0, *(distance - min(self.shifts) for distance in distances))
        s, near = self.s, mpq(0)
        for z in range(start):
            near += (1 - s) * s**z * self.mass_given_noise(transcript, distances, z)
        polynomial = {0: mpq(1)}
        for sign, scale, power, needed in self._all_factors(transcript, distances):
            term = scale * self.r ** (power * needed)
            polynomial = _times(polynomial, {0: mpq(1), power: -term} if sign < 0 else {power: term})
        ratios = {power: s * self.r**power for power in polynomial}
        return near + sum((1 - s) * by * ratios[p] ** start / (1 - ratios[p]) for p, by in polynomial.items())

    def _factors(self, answer, distance, left):
        """The factors of an answer's probability: (sign, scale, power, needed) is P(X >= z + needed) for sign 1 and
        P(X < z + needed) for sign -1, where r^power is the rate of X; with scale 1 - rate, P(X = z + needed)."""
        for branch, ((power, margin, _), shift) in enumerate(zip(self.tried(left), self.shifts, strict=False)):
            if answer is BELOW or branch < answer[0]:
                yield -1, 1, power, shift - distance + margin
            elif answer[1] is None:
                yield 1, 1, power, shift - distance + margin
                return
            else:
                yield 1, 1 - self.r**power, power, shift - distance + answer[1]
                return

    def _value(self, factor, z):
        sign, scale, power, needed = factor
        if scale != 1 and z + needed < 0:
            return mpq(0)
        reached = scale * self.r ** (power * max(0, z + needed))
        return reached if sign > 0 else 1 - reached


def _product(factors):
    result = mpq(1)
    for factor in factors:
        result *= factor
    return result


def _times(one, other):
    result = {}
    for i, a in one.items():
        for j, b in other.items():
            result[i + j] = result.get(i + j, 0) + a * b
    return result


def worst_odds(law, one, other):
    """The largest ratio of the probabilities of a transcript, between two inputs, either way."""
    pairs = [(law.mass(transcript, one), law.mass(transcript, other)) for transcript in law.transcripts(len(one))]
    assert all(p > 0 and q > 0 for p, q in pairs)
    return max(max(p / q, q / p) for p, q in pairs)
