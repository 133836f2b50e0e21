"""What a ledger refuses: costs that are not positive, what is no mechanism, and one name in two spellings."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.ledger.names import normal_form
from lastbit.privacy.cost import Cost


@pytest.fixture
def ledger(tmp_path: Path) -> lb.Ledger:
    made = lb.Ledger(tmp_path / "budget.db")
    made.create("clinic", epsilon=1)
    return made


def is_untouched(ledger: lb.Ledger) -> bool:
    return len(ledger.history("clinic")) == 1 and ledger.account("clinic").spent == 0 and ledger.verify() == ()


@dataclass(frozen=True)
class HandMade(lb.Mechanism[int]):
    """A mechanism that states whatever cost it likes."""

    stated: Any
    cost: Cost = field(init=False)

    def __post_init__(self) -> None:
        self._derive(cost=self.stated)

    def ready(self, values: Any) -> Any:
        return lambda draw: draw.integer(2)


def forge_cost(epsilon: Any) -> Cost:
    """A Cost refuses such a number itself: this one was put into it by force."""
    cost = Cost.of(1)
    object.__setattr__(cost, "epsilon", epsilon)
    return cost


class Odd(Cost):
    amount = Fraction(-1)  # type: ignore[assignment]


@pytest.mark.parametrize(
    "stated",
    [
        Cost(Fraction(0)),
        Cost(Fraction(-1)),
        Cost(Fraction(-1, 10**400)),
        forge_cost(0.5),
        forge_cost(float("nan")),
        forge_cost(float("-inf")),
        forge_cost("1"),
        Odd(Fraction(1)),
        0,
        -1,
        Fraction(1, 2),
        None,
    ],
)
def test_a_cost_that_is_no_positive_cost_is_refused(ledger: lb.Ledger, stated: Any) -> None:
    mechanism, tape = HandMade(stated), lb.Tape([1])
    for use in (
        lambda: ledger.release("clinic", mechanism, [1], draw=lb.Sampler(tape)),
        lambda: ledger.spend("clinic", mechanism, mechanism.ready([1]), draw=lb.Sampler(tape)),
        lambda: ledger.charge("clinic", mechanism),
        lambda: ledger.account("clinic").charged(mechanism.cost),
        lambda: ledger.account("clinic").allows(mechanism.cost),
    ):
        with pytest.raises(lb.MechanismError, match="positive Cost"):
            use()
    assert tape.consumed == 0
    assert is_untouched(ledger)


def test_a_positive_cost_of_a_mechanism_made_by_hand_is_charged(ledger: lb.Ledger) -> None:
    assert ledger.release("clinic", HandMade(Cost.of("1/3")), [1]) in (0, 1)
    assert ledger.account("clinic").spent == Fraction(1, 3)


class NoCost(lb.Mechanism[int]):
    def ready(self, values: Any) -> Any:
        return lambda draw: 1


class Duck:
    """Looks like a mechanism."""

    name, parameters, adjacency = "DiscreteLaplace", {}, None
    cost = Cost.of("1/1000")

    def ready(self, values: Any) -> Any:
        return lambda draw: values

    def start(self, draw: Any) -> Any:
        return 1


class Pretender(Duck):
    """Says to isinstance that it is one."""

    @property
    def __class__(self) -> Any:
        return lb.DiscreteLaplace

    @__class__.setter
    def __class__(self, value: Any) -> None: ...


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (Duck(), "got Duck"),
        (Pretender(), "got Pretender"),
        (Duck, "got the class Duck"),
        (lb.DiscreteLaplace, "got the class DiscreteLaplace. Build one"),
        (lambda draw: 1, "got function"),
        (Cost.of(1), "got Cost"),
        (1, "got int"),
        (None, "got NoneType"),
    ],
)
def test_what_is_no_mechanism_is_refused(ledger: lb.Ledger, thing: Any, message: str) -> None:
    assert isinstance(Pretender(), lb.Mechanism)
    for use in (
        lambda: ledger.release("clinic", thing, [1]),
        lambda: ledger.spend("clinic", thing, lambda draw: 1),
        lambda: ledger.charge("clinic", thing),
        lambda: ledger.start("clinic", thing),
    ):
        with pytest.raises(lb.MechanismError, match=message) as caught:
            use()
        assert "Nothing was drawn and nothing was charged." in str(caught.value)
    assert is_untouched(ledger)


def test_a_class_that_was_only_registered_is_no_mechanism(ledger: lb.Ledger) -> None:
    class Registered(Duck):
        pass

    lb.Mechanism.register(Registered)
    assert isinstance(Registered(), lb.Mechanism)
    with pytest.raises(lb.MechanismError, match="got Registered"):
        ledger.charge("clinic", Registered())  # type: ignore[arg-type]
    assert is_untouched(ledger)


def test_only_a_stream_starts_and_only_a_function_is_ready(ledger: lb.Ledger) -> None:
    with pytest.raises(lb.MechanismError, match=r"such as SparseVector: got DiscreteLaplace\. Use release"):
        ledger.start("clinic", lb.DiscreteLaplace(epsilon=1))  # type: ignore[arg-type]
    with pytest.raises(lb.ParameterError, match="ready must be a function of a Draw"):
        ledger.spend("clinic", lb.DiscreteLaplace(epsilon=1), [1])  # type: ignore[arg-type]
    with pytest.raises(lb.MechanismError, match="positive Cost"):
        ledger.charge("clinic", NoCost())
    assert is_untouched(ledger)


SPELLINGS = [
    ("clinic", "Clinic"),
    ("clinic", " clinic"),
    ("clinic", "clinic\t"),
    ("the clinic", "the  clinic"),
    ("the clinic", "the\u00a0clinic"),
    ("the clinic", "The\u3000\n CLINIC "),
    ("Straße", "STRASSE"),
    ("café", "cafe\u0301"),
    ("clinic", "ｃｌｉｎｉｃ"),
    ("file", "ﬁle"),
    ("clinic", "cli\u200bnic"),
    ("clinic", "\ufeffclinic"),
    ("ΑΣ", "ας"),
    ("Å", "\u212b"),
    ("\u0390", "\u1fd3"),
    ("café", "cafe\u200b\u0301"),
    ("a\u0345\u0301", "a\u0301\u0345"),
]


@pytest.mark.parametrize(("name", "other"), SPELLINGS)
def test_one_name_in_another_spelling_is_refused(tmp_path: Path, name: str, other: str) -> None:
    for first, second in ((name, other), (other, name)):
        ledger = lb.Ledger(tmp_path / f"{len(list(tmp_path.iterdir()))}.db")
        ledger.create("school", epsilon=1)
        ledger.create(first, epsilon=1)
        with pytest.raises(lb.LedgerError) as caught:
            ledger.create(second, epsilon=9)
        assert f"there is an account named {first!r} already, and {second!r} is the same name" in str(caught.value)
        for use in (
            lambda: ledger.account(second),
            lambda: ledger.history(second),
            lambda: ledger.verify(second),
            lambda: ledger.raise_limit(second, epsilon=3),
            lambda: ledger.release(second, lb.DiscreteLaplace(epsilon=1), [1]),
        ):
            with pytest.raises(lb.LedgerError) as caught:
                use()
            assert f"no account named {second!r}. There is one named {first!r}: write it so." in str(caught.value)
        assert {account.dataset for account in ledger.accounts()} == {"school", first}
        assert ledger.account(first).spent == 0


def test_names_that_people_tell_apart_stay_apart(place: str) -> None:
    ledger = lb.Ledger(place)
    apart = ["clinic", "clinic 2", "clinics", "the clinic", "theclinic", "clinic-a", "clínic", "診療所"]
    for name in apart:
        ledger.create(name, epsilon=1)
    assert {account.dataset for account in ledger.accounts()} == set(apart)
    with pytest.raises(lb.LedgerError, match=r"no account named 'school'\. Create it with a limit first"):
        ledger.account("school")


def test_a_normal_form_is_its_own_and_that_of_every_unicode_form() -> None:
    for code in [*range(0x250), *range(0x370, 0x400), *range(0x1E00, 0x2200), *range(0xFB00, 0xFB50)]:
        letter = f"a{chr(code)}b"
        form = normal_form(letter)
        assert normal_form(form) == form
        for kind in ("NFC", "NFD", "NFKC", "NFKD"):
            assert normal_form(unicodedata.normalize(kind, letter)) == form


@pytest.mark.parametrize("name", ["", "  ", "\u200b", "\ufeff\t", None, 5, b"clinic"])
def test_a_data_set_must_have_a_name(ledger: lb.Ledger, name: Any) -> None:
    with pytest.raises(lb.ParameterError, match="must have a name"):
        ledger.create(name, epsilon=1)


@pytest.mark.parametrize("text", ["a\0b", "a\ud800", 5, None])
def test_text_that_a_database_would_change_is_refused(ledger: lb.Ledger, text: Any) -> None:
    for use in (
        lambda: ledger.create("school", epsilon=1, note=text),
        lambda: ledger.raise_limit("clinic", epsilon=2, note=text),
        lambda: ledger.release("clinic", lb.DiscreteLaplace(epsilon="1/2"), [1], note=text),
    ):
        with pytest.raises(lb.ParameterError, match="note must be text"):
            use()
    if isinstance(text, str):
        with pytest.raises(lb.ParameterError, match="the name of a data set must be text"):
            ledger.create(text, epsilon=1)
    assert is_untouched(ledger)
