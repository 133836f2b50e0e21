"""Sampler = Reference for every draw, at every scale, alone and in sequence."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lastbit import Eta, Rate
from lastbit.chance import distributions
from tests.twins.pair import WORD, Step, agree, words_for

SCALES = ["1e-2", "1e-1", "1/3", "1", "3", "20", "254", "300", "2000", "1e5", "1e6", "1e8", "1e9", "1e11", "1e12"]
SCALES += ["1e13"]  # two levels
RATES = [Rate.from_epsilon(1 / Fraction(scale)) for scale in SCALES]
RATES += [Rate(1, 1), Rate(3, 2), Rate(255, 8), Rate((1 << 20) - 1, 20), Rate.from_eta(Eta(3, 2, 5), times="2/7")]
RATES += [Rate.from_epsilon(2048), Rate.from_epsilon("1e-18")]

SIZES = st.none() | st.integers(0, 12)
PROBABILITIES = st.fractions(0, 1) | st.sampled_from(
    [Fraction(0), Fraction(1), Fraction(1, WORD), Fraction(1, 2 * WORD), 1 - Fraction(1, 3 * WORD)]
)
WEIGHT = st.integers(0, 9) | st.fractions(0, 3) | st.integers(0, 10**40)
WEIGHTS = st.lists(WEIGHT, min_size=1, max_size=9).filter(any)
BELOWS = st.sampled_from([1, 2, 3, 100, 4096, (1 << 15) + 1, 10**12])
LIMITS = (
    st.integers(1, 20)
    | st.integers(1, 1 << 200)
    | st.sampled_from(
        [WORD // 2 - 1, WORD // 2, WORD // 2 + 1, WORD - 1, WORD, WORD + 1, 10**30, 1 << 128, (1 << 128) + 1]
    )
)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{rate.loss_upper:.2g}")
@pytest.mark.parametrize("name", ["geometric", "laplace"])
@settings(max_examples=12)
@given(data=st.data(), size=SIZES)
def test_noise(name: str, rate: Rate, data: st.DataObject, size: int | None) -> None:
    words = data.draw(words_for(getattr(distributions, name)(rate)))
    agree(words, lambda draw: getattr(draw, name)(rate, size))


@pytest.mark.parametrize(
    "rate", [rate for rate in RATES if rate.scale < 1 << 20], ids=lambda rate: f"{rate.loss_upper:.2g}"
)
@settings(max_examples=12)
@given(data=st.data(), size=SIZES)
def test_gaussian(rate: Rate, data: st.DataObject, size: int | None) -> None:
    words = data.draw(words_for(distributions.gaussian(rate)))
    agree(words, lambda draw: draw.gaussian(rate, size))


@given(data=st.data(), rate=st.sampled_from(RATES), below=BELOWS, size=SIZES)
def test_truncated_geometric(data: st.DataObject, rate: Rate, below: int, size: int | None) -> None:
    words = data.draw(words_for(distributions.truncated_geometric(rate, below)))
    agree(words, lambda draw: draw.truncated_geometric(rate, below, size))


@given(data=st.data(), p=PROBABILITIES, size=SIZES)
def test_bernoulli(data: st.DataObject, p: Fraction, size: int | None) -> None:
    words = data.draw(words_for(distributions.categorical((p, 1 - p))))
    agree(words, lambda draw: draw.bernoulli(p, size))


@given(data=st.data(), weights=WEIGHTS, size=SIZES)
def test_index(data: st.DataObject, weights: list[int | Fraction], size: int | None) -> None:
    words = data.draw(words_for(distributions.categorical(weights)))
    agree(words, lambda draw: draw.index(weights, size))


@given(data=st.data(), n=LIMITS, size=SIZES)
def test_integer(data: st.DataObject, n: int, size: int | None) -> None:
    words = data.draw(words_for(distributions.uniform(n)))
    agree(words, lambda draw: draw.integer(n, size))


@given(data=st.data(), n=st.integers(0, 12))
def test_permutation(data: st.DataObject, n: int) -> None:
    words = [
        data.draw(
            st.sampled_from([min(cut * WORD // (i + 1) + step, WORD - 1) for cut in range(i + 1) for step in (0, 1)])
        )
        for i in range(1, n)
    ]
    agree(words + data.draw(st.lists(st.integers(0, WORD - 1), max_size=8)), lambda draw: draw.permutation(n))


@st.composite
def steps(draw: st.DrawFn) -> Step:
    name = draw(
        st.sampled_from(["geometric", "laplace", "truncated", "bernoulli", "index", "integer", "permutation", "words"])
    )
    size = draw(SIZES)
    if name in ("geometric", "laplace"):
        rate = draw(st.sampled_from(RATES))
        return lambda source: getattr(source, name)(rate, size)
    if name == "truncated":
        rate, below = draw(st.sampled_from(RATES)), draw(BELOWS)
        return lambda source: source.truncated_geometric(rate, below, size)
    if name == "bernoulli":
        p = draw(PROBABILITIES)
        return lambda source: source.bernoulli(p, size)
    if name == "index":
        weights = draw(WEIGHTS)
        return lambda source: source.index(weights, size)
    n = draw(LIMITS) if name == "integer" else draw(st.integers(0, 9))
    if name == "integer":
        return lambda source: source.integer(n, size)
    return lambda source: getattr(source, name)(n)


@given(
    words=st.lists(st.integers(0, WORD - 1) | st.sampled_from([0, WORD - 1, WORD // 2]), max_size=120),
    program=st.lists(steps(), max_size=8),
)
def test_sequences(words: list[int], program: list[Step]) -> None:
    agree(words, *program)


@pytest.mark.parametrize("bad", [-1, 1.5, "x", True, None, float("nan")])
def test_refusals(bad: object) -> None:
    rate, tape = RATES[3], [5, 6, 7]
    steps: list[Step] = [
        lambda draw: draw.words(bad),
        lambda draw: draw.permutation(bad),
        lambda draw: draw.integer(bad),
        lambda draw: draw.bernoulli(bad),
        lambda draw: draw.index([bad]),
        lambda draw: draw.truncated_geometric(rate, bad),
        lambda draw: draw.truncated_geometric(bad, 3),
        lambda draw: draw.geometric(bad),
        lambda draw: draw.laplace(bad),
    ]
    if bad is not None:
        steps.append(lambda draw: draw.geometric(rate, size=bad))
    for value, consumed in agree(tape, *steps):
        assert value[0].__name__ == "ParameterError"
        assert consumed == 0


@pytest.mark.parametrize("word", [0, WORD - 1])
@pytest.mark.parametrize("length", [0, 1, 5, 18])
@pytest.mark.parametrize("size", [None, 1, 3])
def test_constant_words(word: int, length: int, size: int | None) -> None:
    noise: list[Step] = [
        lambda draw, rate=rate, name=name: getattr(draw, name)(rate, size)
        for rate in RATES[: len(SCALES) + 2]
        for name in ("geometric", "laplace")
    ]
    others: list[Step] = [
        lambda draw: draw.truncated_geometric(RATES[3], 100, size),
        lambda draw: draw.bernoulli("1/3", size),
        lambda draw: draw.integer(3, size),
        lambda draw: draw.integer(3**50, size),
        lambda draw: draw.index([0, 1, 2, 0], size),
        lambda draw: draw.permutation(4),
    ]
    for step in noise + others:
        agree([word] * length, step)
