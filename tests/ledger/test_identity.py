"""Questions as the books know them: by all their facts, whatever people read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.ledger import Identity
from tests.ledger.test_verify import change

MECHANISM = lb.DiscreteLaplace(epsilon="1/10")
FACTS: dict[str, Any] = {"version": 1, "command": "top", "source": ["sha256:00"], "by": ["ward"], "k": 3, "all": False}


def test_every_fact_counts_and_their_order_does_not() -> None:
    asked = Identity(FACTS)
    assert Identity(dict(reversed(FACTS.items()))).text == asked.text
    others = [FACTS | {name: other} for name, other in (("version", 2), ("k", "3"), ("by", "ward"), ("all", None))]
    others += [{name: fact for name, fact in FACTS.items() if name != left} for left in FACTS if left != "version"]
    assert len({Identity(facts).digest for facts in (FACTS, *others)}) == 1 + len(others)


def test_what_people_read_is_kept_and_not_compared(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    asked = Identity(FACTS, about="top visits.csv", protects="person")
    noisy = ledger.spend("clinic", MECHANISM, MECHANISM.ready([5]), question=asked)
    found = ledger.answer("clinic", MECHANISM, question=Identity(FACTS, about="top ./visits.csv"))
    assert found is not None
    assert (found.published, found.question, found.about, found.protects) == (
        noisy, asked.text, "top visits.csv", "person",
    )  # fmt: skip
    assert ledger.answer("clinic", MECHANISM, question=Identity(FACTS | {"k": 4}, about="top visits.csv")) is None
    assert ledger.verify() == ()


def test_a_digest_that_was_changed_by_hand_finds_no_other_answer(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    ledger.spend("clinic", MECHANISM, MECHANISM.ready([5]), question=Identity(FACTS))
    other = Identity(FACTS | {"k": 4})
    change(place, f"update lastbit_entries set question_digest = '{other.digest}' where id = 2")
    assert ledger.answer("clinic", MECHANISM, question=other) is None
    assert "entry 2 of 'clinic' does not fit its digest" in ledger.verify()[0]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({}, "must have a version"),
        ({"version": "1"}, "must have a version"),
        ({"version": True}, "must have a version"),
        ({"version": 0}, "must have a version"),
        ({"version": 1, "of": {1, 2}}, "what JSON can hold"),
        ({"version": 1, "of": Path("a")}, "what JSON can hold"),
        ({"version": 1, "of": float("nan")}, "what JSON can hold"),
        ({"version": 1, 2: 3}, "what JSON can hold"),
    ],
)
def test_facts_that_two_programs_could_write_differently_are_refused(facts: Any, message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        Identity(facts)


def test_what_people_read_must_be_text_that_every_database_keeps() -> None:
    with pytest.raises(lb.ParameterError, match="about must be text"):
        Identity({"version": 1}, about="a\0b")
    with pytest.raises(lb.ParameterError, match="protects must be person, row, empty, or columns"):
        Identity({"version": 1}, protects="everybody")


def test_a_question_that_is_no_identity_is_refused_and_not_charged(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=9)
    for use in (
        lambda: ledger.charge("clinic", MECHANISM, question="visits"),  # type: ignore[arg-type]
        lambda: ledger.answer("clinic", MECHANISM, question={"version": 1}),  # type: ignore[arg-type]
    ):
        with pytest.raises(lb.ParameterError, match="question must be an Identity"):
            use()
    assert ledger.account("clinic").spent == 0


def test_the_values_of_a_query_are_known_by_their_public_facts(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=9)
    counts = {"items": ["flu", "cold"], "values": [3, 4]}
    asked = [
        lb.Counts(**counts),
        lb.Counts(**counts, most_items=1),
        lb.Counts(**counts, monotone=True),
        lb.Counts(**counts, resolution="1/2"),
        lb.Counts(items=["flu", "gout"], values=[3, 4]),
    ]
    for _ in range(2):
        for values in asked:
            ledger.release("clinic", lb.NoisyMax(epsilon=1), values, query="worst", reuse=True)
    assert len(ledger.history("clinic")) == 1 + len(asked)
