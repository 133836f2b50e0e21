"""The top items in each group: one release at one cost, whatever face asks, and a lot among the groups of a person."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.data.duckdb.ranked import count_ranked
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.frames import open_frame_rows
from lastbit.questions.identity import identity_of, rebuild_request
from lastbit.questions.kinds import KINDS
from lastbit.values.contribution_bound import one_key

WARDS = {"north": ("flu", "cold"), "south": ("gout", "flu"), "east": ("burn", "rash")}
ITEMS = ["flu", "cold", "gout", "burn", "rash"]


def rows() -> Iterator[tuple[str, str, str, int]]:
    """In each ward most people have its first item, fewer the second; every third person is in all wards."""
    for person in range(600):
        for place, (ward, (first, second)) in enumerate(WARDS.items()):
            if person % 3 in (0, place):
                yield f"p{person}", ward, first, person % 50
                if person % 2:
                    yield f"p{person}", ward, second, 5


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(rows(), columns=["patient", "ward", "diagnosis", "cost"])
    frame.to_csv("visits.csv", index=False)
    Path("study.toml").write_text(
        f"[columns.diagnosis]\nvalues = {ITEMS}\n[columns.ward]\nvalues = {list(WARDS)}\nmost_items = 2\n"
    )
    return frame


ASKED: dict[str, Any] = {
    "unit": "patient", "by": "diagnosis", "in_each": "ward", "k": 2, "noun": "patient,patients",
    "domain": {"diagnosis": ITEMS, "ward": list(WARDS)},
}  # fmt: skip
COMMAND = (
    f"lastbit top visits.csv --unit patient --by diagnosis --domain {','.join(ITEMS)} --in-each ward --domain "
    f"{','.join(WARDS)} -k 2 --noun patient,patients"
)


@pytest.mark.parametrize("numbers", [False, True])
def test_each_group_has_its_own_items(visits: pd.DataFrame, numbers: bool) -> None:
    answer = lb.ask("top", visits, **ASKED, numbers=numbers, epsilon=90)
    assert answer.title == "The 2 most common diagnoses of patients, in each ward"
    frame = answer.to_frame()
    more = ["value", "low", "high", "gap"] if numbers else ["gap", "gap_low", "gap_high"]
    assert list(frame.columns) == ["ward", "rank", "diagnosis", *more]
    found = list(zip(frame["ward"], frame["rank"], frame["diagnosis"], strict=True))
    assert found == [(ward, rank, item) for ward, own in WARDS.items() for rank, item in enumerate(own, 1)]
    counted = visits.drop_duplicates(["patient", "ward", "diagnosis"]).groupby(["ward", "diagnosis"]).size()
    if numbers:
        for row in frame.itertuples():
            assert row.low <= counted[row.ward, row.diagnosis] <= row.high
            assert row.high - row.low < 20
    for row in frame.itertuples():
        later = counted[row.ward].get(WARDS[row.ward][1], 0) if row.rank == 1 else 0
        assert abs(row.gap - (counted[row.ward, row.diagnosis] - later)) < 20
    assert answer.chart.count('class="bar"') == 6
    assert "north: flu" in answer.chart
    assert answer.data["groups"]["ward"] == frame["ward"].tolist()
    assert "in each group" in answer.methods()


@pytest.mark.parametrize("cost", [{"epsilon": "1/2"}, {"rho": "1/10"}])
@pytest.mark.parametrize(
    ("bound", "most"), [({}, 3), ({"one_each": True}, 1), ({"most_items": 2}, 2), ({"most_items": 7}, 3)]
)
def test_a_person_pays_for_the_groups_that_they_count_in(bound: Any, most: int, cost: Any) -> None:
    mechanism = KINDS["top"].parse({"source": "v.csv", **ASKED, **bound, **cost}).question.mechanism
    ((name, paid),) = cost.items()
    assert getattr(mechanism.cost, "claimed_" + name) == Fraction(paid)
    share = Fraction(9, 10) if most < 3 else 1  # a bound is measured too
    main = mechanism.parts["answer"] if most < 3 else mechanism
    assert main.most_groups == most
    assert main._one_group == lb.NoisyTopK(k=2, monotone=True, **{name: Fraction(paid) * share / most})
    each_row = KINDS["top"].parse({"source": "v.csv", **ASKED, **cost, "unit": "row"}).question.mechanism
    assert each_row.most_groups == 1  # a row is in one group


def read(frame: pd.DataFrame, key: int, **sums: Any) -> Any:
    table = open_frame_rows(
        frame, ColumnSelection(("diagnosis", "ward", "patient"), sums.get("weights")), None, "patient"
    )
    with one_key(key):
        return count_ranked(
            table, by=["diagnosis", "ward"], unit="patient", domain=[ITEMS, list(WARDS)], lot_of_groups=True, **sums
        )


@pytest.mark.parametrize("sums", [{}, {"weights": "cost", "bounds": (0, 20)}])
def test_the_lot_is_among_groups_and_a_persons_own(visits: pd.DataFrame, sums: Any) -> None:
    """What one person counts in depends on their own rows: the table is the sum of its people's."""
    some = visits[visits["patient"].isin([f"p{person}" for person in range(12)])]
    for key in range(5):
        alone: dict[int, Any] = defaultdict(lambda: np.zeros(len(ITEMS) * len(WARDS)))
        groups = []
        for _, own in some.groupby("patient"):
            read_alone = read(own, key, **sums)
            has = own["ward"].nunique()
            groups.append(has)
            assert read_alone.numbers_of_items.tolist() == [0] * has + [1]
            for most in (1, 2, 3):
                numbers = np.array([int(value) for value in read_alone.keep_first(most).values])
                alone[most] += numbers
                if not sums:  # all items of as many wards as the bound allows, and of no other
                    in_wards = numbers.reshape(len(ITEMS), len(WARDS)).sum(axis=0)
                    own_items = [own[own["ward"] == ward]["diagnosis"].nunique() for ward in WARDS]
                    assert all(n in (0, full) for n, full in zip(in_wards, own_items, strict=True))
                    assert np.count_nonzero(in_wards) == min(most, has)
        whole = read(some, key, **sums)
        for most, numbers in alone.items():
            assert [int(value) for value in whole.keep_first(most).values] == numbers.tolist()
        assert whole.spread([(1, 2), (3, None)]).values.tolist() == [sum(n <= 2 for n in groups), groups.count(3)]
        assert len({tuple(read(some, key).keep_first(1).values.tolist()) for key in range(5)}) > 1


@pytest.mark.parametrize("most", [1, 2])
def test_what_is_selected_from_is_what_the_lot_leaves(visits: pd.DataFrame, most: int) -> None:
    """Everybody has the first item of each of their wards: it is counted as often as the bound allows."""
    question = KINDS["top"].parse({"source": "visits.csv", **ASKED, "most_items": most, "epsilon": 1}).question
    values = question.reading.run()  # type: ignore[union-attr]
    assert list(values) == ["spread", "answer"]
    first = sum(counts.values[ITEMS.index(WARDS[ward][0])] for ward, counts in values["answer"].items())
    wards = visits.groupby("patient")["ward"].nunique()
    assert first == sum(min(most, own) for own in wards)


def test_the_command_says_the_same_and_the_books_know_it_again(visits: pd.DataFrame, capsys: Any) -> None:
    assert cli._run([*shlex.split(COMMAND)[1:], "--epsilon", "9", "--json"], debug=False) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["groups"]["diagnosis"] == [item for own in WARDS.values() for item in own]
    assert data["rank"] == [1, 2] * 3
    request = KINDS["top"].parse({"source": "visits.csv", **ASKED, "epsilon": 1})
    facts = identity_of(request)
    assert facts["options"]["in_each"] == "ward"
    assert set(facts["options"]["domain"]) == {"diagnosis", "ward"}
    found = {domain.digest: domain for domain in request.typed_domains}
    rebuilt = rebuild_request(json.dumps(facts), ["visits.csv"], found.get, epsilon=1)
    assert rebuilt is not None
    assert identity_of(rebuilt) == facts
    assert shlex.split(request.command) == shlex.split(
        "lastbit top visits.csv --unit patient --by diagnosis --domain flu,cold,gout,burn,rash --domain "
        "north,south,east --epsilon 1 --noun patient,patients -k 2 --in-each ward"
    )
    assert identity_of(KINDS["top"].parse({"source": "visits.csv", **ASKED, "epsilon": 1, "in_each": "diagnosis",
                                           "by": "ward"})) != facts  # fmt: skip
    columns = {name: value for name, value in ASKED.items() if name != "domain"}
    known = KINDS["top"].parse({"source": "visits.csv", **columns, "columns": "study.toml", "epsilon": 1})
    assert (known["most_items"], known.question.mechanism.parts["answer"].most_groups) == (2, 2)
    assert cli._run([*shlex.split(COMMAND)[1:], "--epsilon", "9", "--dry-run"], debug=False) == 0
    assert "In each ward, with probability 95% no item left out has" in capsys.readouterr().out


def test_months_and_edges_can_be_the_groups() -> None:
    asked = {"source": "v.csv", "unit": "who", "by": "item", "domain": {"item": "a,b"}, "k": 1, "epsilon": 1}
    aged = KINDS["top"].parse({**asked, "in_each": "age", "edges": {"age": [0, 18, 65]}})
    assert aged.question.mechanism.groups == ("under 18", "18 to 64", "65 and over")
    assert aged.items.by == ("item", "age")
    monthly = KINDS["top"].parse(
        {**asked, "in_each": "day", "month": "day", "domain": {"item": "a,b", "day": "2024-01..2024-02"}}
    )
    assert monthly.question.mechanism.groups == ("2024-01", "2024-02")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"set": True}, "leave --set and --form out"),
        ({"domain": {"diagnosis": ITEMS}}, "--domain must be given once for each --by"),
        ({"domain": None, "discover": True, "delta": "1e-6"}, "--in-each needs the items and the groups listed"),
        ({"domain": {"ward": ["north"]}, "discover": True, "delta": "1e-6"}, "as --domain diagnosis=a,b,c"),
        ({"delta": "1e-6"}, "Leave --delta out"),
        ({"k": 6}, "-k must be at most the number of items of a group: got 6 of 5"),
        ({"in_each": "diagnosis"}, "each column once"),
        ({"counts": "n", "unit": None, "sensitivity": 1}, "leave --counts out"),
        ({"in_each": 7}, "--in-each must be text: got 7"),
        ({"one_each": True, "most_items": 2}, "--one-each is --most-items 1"),
    ],
)
def test_what_cannot_be_asked_says_what_to_do(options: Any, message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        _ = KINDS["top"].parse({"source": "v.csv", **ASKED, "epsilon": 1, **options}).question
    with pytest.raises(lb.ParameterError, match="--most-items and --one-each must be left out of top"):
        _ = KINDS["top"].parse({"source": "v.csv", "by": "x", "domain": "a,b", "k": 1, "one_each": True,
                                "unit": "who", "epsilon": 1}).question  # fmt: skip
