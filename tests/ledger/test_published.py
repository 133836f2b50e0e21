"""What was published is in the books, exactly, and the same question is answered from there for nothing."""

from __future__ import annotations

import datetime as dt
import json
import sys
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.ledger import codec
from lastbit.ledger.identity import Identity
from lastbit.ledger.query_identity import identify_query
from lastbit.mechanisms.tables.people import TablesOfPeople
from lastbit.mechanisms.top_k.noisy_top_k import TopItems
from lastbit.release import Release
from tests import processes
from tests.ledger.test_verify import change

COUNTS: Any = lb.Counts(items=["flu", "cold", "gout"], values=[120, 80, 7], monotone=True)
TOP: Any = lb.NoisyTopK(k=2, epsilon=1).release(COUNTS)


def subclasses(kind: type) -> list[type]:
    return [subclass for one in kind.__subclasses__() for subclass in (one, *subclasses(one))]


WORDS = lb.Unlisted.of({"flu": 500, "cold": 400, "rare": 1}, most_items=2)
TABLES = lb.Tables(domain={"sex": ["f", "m"], "age": ["young", "old"]}, ways=2, rho="1/10")
RELEASES: dict[str, Any] = {
    "NoisyValues": lambda: lb.DiscreteLaplace(epsilon="1/3", resolution="1/10").release([1, 2]),
    "Gaussian values": lambda: lb.DiscreteGaussian(rho="1/10").release([1, 2]),
    "one value": lambda: lb.DiscreteLaplace(eta=lb.Eta(3, 2, 1), bounds=(0, 10)).release(3),
    "large values": lambda: lb.DiscreteLaplace(epsilon=1).release([1 << 200]),
    "MeanAndPeople": lambda: lb.NoisyMean(epsilon=1, bounds=(0, 10)).release([1, 2, 6]),
    "GroupMeanValues": lambda: lb.GroupMeans(groups=["a", 2], epsilon=1, bounds=(0, 9)).release({2: [1, 2.5]}),
    "GroupQuantileValues": lambda: lb.GroupQuantiles(groups=["a", 2], epsilon=1, bounds=(0, 9)).release({2: [1, 2]}),
    "GroupSelections": lambda: lb.GroupTopK(groups=["a", 2], k=1, epsilon=1).release({"a": COUNTS, 2: [1, 2]}),
    "GroupSelections with numbers": lambda: lb.GroupTopK(groups=["a"], k=1, epsilon=1, numbers=True).release(
        {"a": COUNTS}
    ),
    "QuantileValue": lambda: lb.Quantile(q="1/3", rho="1/10", bounds=(0, 10), resolution="1/4").release([1, 2, 6]),
    "QuantileValues": lambda: lb.Quantiles(qs=[0.1, 0.5], epsilon=1, bounds=(0, 10)).release([1, 2, 6]),
    "QuantileValue on a log scale": lambda: lb.Quantile(resolution="1/4", epsilon=1).release([1, 2, 6]),
    "ChosenBounds": lambda: lb.AutomaticBounds(epsilon=1).release([1, 2, 6]),
    "SnappedValue": lambda: lb.Snapping(epsilon=1, bounds=(0, 8)).release(3),
    "DiscoveredTopK": lambda: lb.DiscoverTopK(k=2, epsilon=1, delta="1e-6").release(WORDS),
    "Discovered": lambda: lb.DiscoverRanking(k=2, rho="1/10", delta="1e-6").release(WORDS),
    "DiscoveredHistogram": lambda: lb.DiscoverHistogram(epsilon=1, delta="1e-6", most_items=2).release(WORDS),
    "ConsistentTables": lambda: TABLES.release([[5, 3], [4, 1]]),
    "ConsistentTable": lambda: TABLES.release([[5, 3], [4, 1]]).table("age", "sex"),
    "PartsRelease": lambda: lb.Parts(parts={"people": lb.DiscreteLaplace(epsilon=1)}).release({"people": 5}),
    "Choice": lambda: lb.ExponentialMechanism(epsilon=1).release(COUNTS),
    "Ranking": lambda: lb.ExponentialMechanism(rho="1/10").ranking(COUNTS, 2),
    "TopK": lambda: lb.NoisyTopK(k=2, epsilon=1).release(COUNTS),
    "TopItems": lambda: TopItems(*(getattr(TOP, field.name) for field in fields(TOP))),
    "Maximum": lambda: lb.NoisyMax(rho="1/10").release(COUNTS),
    "MeasuredTopK": lambda: lb.SelectAndMeasure(k=2, epsilon=1).release(COUNTS),
    "MeasuredSet": lambda: lb.SelectAndMeasure(k=2, epsilon=1, selection="set").release(COUNTS),
    "TopSet": lambda: lb.SubsetTopK(k=2, rho="1/10").release(COUNTS),
    "TopSetItems": lambda: lb.TopSetItems("SubsetTopK", lb.Cost.of(1), (0, 1), ("flu", "gout"), 3),
    "MeasuredAbove": lambda: lb.SparseVector(threshold=50, limit=2, epsilon=9, measure="1/2").release(COUNTS),
    "AboveThreshold": lambda: lb.SparseVector(threshold=50, limit=2, epsilon=9).release(COUNTS),
    "Winner": lambda: lb.PrivateSelection(
        candidates=[lambda draw: ((1, "a"), 1.5)], candidate_cost=1, most=4
    ).release(),
    "FoundModel": lambda: lb.PrivateSearch(
        grid={"alpha": [0.1, 1]}, fit_score=lambda parameters, draw: ({"slope": 2.5}, 1), candidate_cost=1, most=4
    ).release(),
    "nobody": lambda: lb.PrivateSelection(
        candidates=[lambda draw: (1, 1)], candidate_cost=1, most=4, threshold=2
    ).release(),
}


def same(one: Any, other: Any) -> bool:
    """Equal in every field, of the same class: in those too that == leaves out."""
    return (
        type(one) is type(other)
        and one == other
        and one.to_dict() == other.to_dict()
        and all(repr(getattr(one, each.name)) == repr(getattr(other, each.name)) for each in fields(one))
    )


@pytest.mark.parametrize("name", RELEASES)
def test_a_release_comes_back_as_it_was(name: str) -> None:
    release = RELEASES[name]()
    text = codec.encode(release)
    assert text is not None
    assert same(codec.decode(text), release)
    assert text.isascii()


def test_no_class_of_releases_is_left_out() -> None:
    codec._load_all()
    own = {kind for kind in subclasses(Release) if kind.__module__.startswith("lastbit.")}
    made = {type(make()) for make in RELEASES.values()}
    concrete = {kind for kind in own if not kind.__abstractmethods__ and not kind.__subclasses__()}  # type: ignore[attr-defined]
    never_kept = {lb.SparkHistogram, TablesOfPeople}  # whose rows stay in Spark, and a view of tables that are kept
    missing = {kind.__name__ for kind in concrete - made - never_kept}
    # A new class of releases must be kept whole too: add it to RELEASES above.
    assert missing == set()


ITEMS: list[Any] = [
    "ü\0\ud800", True, None, 0, -(1 << 63), 1 << 64, -(1 << 20000), 0.1, float("inf"), float("nan"), -0.0,
    Fraction(-1, 3), Fraction(1, 3**9000), b"\xff\0", Decimal("1.50"), Decimal("NaN"), dt.date(2026, 1, 2),
    dt.datetime(2026, 1, 2, 3, 4, 5, 6, dt.UTC), dt.datetime(2026, 10, 25, 2, 30, fold=1), dt.time(1, 2),
    dt.timedelta(-1, 2, 3),
    {"a": {1: b"b"}},
    ("a", ["b", (1,)]), range(3, 9, 2), np.int32(7), np.float64("nan"), np.str_("x"), np.datetime64("2026-01-01"),
    np.bool_(1),
    lb.Eta(1, 1, 3), lb.Rate.from_epsilon("1/10"), lb.Cost.zcdp("1/8", "1e-9"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ITEMS)))
def test_items_of_every_type_come_back_as_they_were(number: int) -> None:
    item = ITEMS[number]
    release = lb.Choice("ExponentialMechanism", lb.Cost.of(1), 0, item)
    text = codec.encode(release)
    assert text is not None
    back = codec.decode(text).outcome
    assert type(back) is type(item)
    if isinstance(item, int | Fraction):  # Python writes no numbers this long in decimal
        assert back == item
    else:
        assert repr(back) == repr(item)


ARRAYS = [
    np.arange(6).reshape(2, 3),
    np.array([1.5, np.nan]),
    np.array([1 << 70, (1, 2)], object),
    np.zeros((0, 3), np.int8),
    np.array(["a", "bc"]),
    np.arange(6)[::2],
]


@pytest.mark.parametrize("array", ARRAYS)
def test_arrays_come_back_as_they_were(array: Any) -> None:
    text = codec.encode(lb.Choice("ExponentialMechanism", lb.Cost.of(1), 0, array))
    assert text is not None
    back = codec.decode(text).outcome
    assert (back.dtype, back.shape, repr(back.tolist())) == (array.dtype, array.shape, repr(array.tolist()))


class Odd:
    def __str__(self) -> str:
        return "odd"


@dataclass(frozen=True, eq=False, repr=False)
class Foreign(Release):
    """A release that lastbit does not have."""

    answer: Any

    def columns(self) -> dict[str, Any]:
        return {"answer": [self.answer]}


class Hopeless(Foreign):
    def to_dict(self) -> Any:
        raise RuntimeError("no")


def test_what_the_codec_does_not_know_is_kept_as_it_is_shown_and_never_lost() -> None:
    cost = lb.Cost.of(1)
    later = lb.Choice("ExponentialMechanism", cost, 0, "flu")  # as a lastbit wrote it whose class has other fields
    text = codec.encode(later)
    assert text is not None
    assert codec.decode(text.replace('"index"', '"place"', 1)) == later.to_dict()
    for release in (lb.Choice("ExponentialMechanism", cost, 0, Odd()), Foreign("Mine", cost, 7)):
        text = codec.encode(release)
        assert text is not None
        assert codec.decode(text) == release.to_dict()
    assert codec.encode(Hopeless("Mine", cost, 7)) is None
    endless: list[Any] = []
    endless.append(endless)
    codec.encode(lb.Choice("ExponentialMechanism", cost, 0, endless))  # raises nothing


def test_a_long_release_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "_LONG", 100)
    release = lb.DiscreteLaplace(epsilon=1).release([1] * 500)
    text = codec.encode(release)
    assert text is not None
    assert list(json.loads(text)) == ["release"]
    assert same(codec.decode(text), release)


def test_a_release_that_is_too_long_for_a_database_is_not_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(codec, "_LARGEST", 100)
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=1)
    assert len(ledger.release("clinic", lb.DiscreteLaplace(epsilon=1), [1] * 500).values) == 500
    entry = ledger.history("clinic")[-1]
    assert entry.released is not None
    assert entry.published is None
    with pytest.raises(lb.LedgerError, match="entry 2 has no published release"):
        ledger.published(2)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"release": {"Choice": {}}}',
        '{"release": {"Nobody": {}}}',
        '{"release": [1]}',
        "1",
        '{"shown": 1}',
        '{"release": {"array": ["O", [1], ""]}}',
    ],
)
def test_text_that_nobody_wrote_is_refused(text: str) -> None:
    with pytest.raises(lb.LedgerError, match="the published release cannot be read") as caught:
        codec.decode(text)
    assert caught.value.__cause__ is caught.value.__context__ is None


def test_a_release_is_found_by_a_program_that_has_loaded_no_mechanism(tmp_path: Path) -> None:
    place = tmp_path / "budget.db"
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    ledger.release("clinic", lb.SelectAndMeasure(k=1, epsilon=1), COUNTS)
    program = f"""
import sys
from lastbit.ledger import Ledger
assert "lastbit.mechanisms.top_k.select_and_measure" not in sys.modules
print(type(Ledger({str(place)!r}).published(2)).__name__)
"""
    done = processes.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("MeasuredTopK\n", "")


def test_the_books_keep_what_was_published_and_nothing_else(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=9)
    top = ledger.release("clinic", lb.NoisyTopK(k=2, epsilon=1, monotone=True), COUNTS)
    ranking = lb.ExponentialMechanism(epsilon=1)
    listed = ledger.spend("clinic", ranking, ranking.ready_ranking(COUNTS, 2))
    ledger.start("clinic", lb.SparseVector(threshold=5, limit=1, epsilon=1))
    charge = ledger.charge("clinic", lb.DiscreteLaplace(epsilon=1))
    other = lb.Ledger(place)
    entries = other.history("clinic")
    assert same(entries[1].published, top)
    assert same(other.published(entries[2].id), listed)
    assert [entry.published for entry in entries[3:]] == [None, None]
    assert entries[3].released is not None
    assert entries[4].released is None
    by_hand = lb.DiscreteLaplace(epsilon=1).release([5])
    ledger.record(charge, by_hand)
    assert same(other.published(charge.id), by_hand)
    assert other.verify() == ()
    with pytest.raises(lb.EntryNotFound, match="there is no entry 999"):
        other.published(999)


def test_what_was_published_cannot_be_changed_unnoticed(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=9)
    mechanism = lb.NoisyMax(epsilon=1)
    ledger.release("clinic", mechanism, COUNTS, query="worst")
    (kept,) = [entry.published_text for entry in ledger.history("clinic") if entry.published_text]
    for forged in (kept.replace('"flu"', '"gout"'), codec.encode(mechanism.release(COUNTS))):
        change(place, f"update lastbit_entries set published = '{forged}' where id = 2")
        assert ledger.verify() == ("what entry 2 of 'clinic' published does not fit its digest: it was changed.",)
        for use in (
            lambda: ledger.published(2),
            lambda: ledger.release("clinic", mechanism, COUNTS, query="worst", reuse=True),
        ):
            with pytest.raises(lb.LedgerError, match="the books of 'clinic' are damaged"):
                use()
    assert ledger.account("clinic").spent == 1


def test_the_releases_of_two_entries_cannot_be_exchanged_with_their_digests(tmp_path: Path) -> None:
    place = str(tmp_path / "budget.db")
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=9)
    for query in ("worst", "worst of all"):
        ledger.release("clinic", lb.NoisyMax(epsilon=1), COUNTS, query=query)
    other = "(select {} from before where before.id = 5 - lastbit_entries.id)"
    columns = ", ".join(f"{column} = {other.format(column)}" for column in ("published", "published_digest"))
    change(place, "create table before as select * from lastbit_entries")
    change(place, f"update lastbit_entries set {columns} where id > 1")
    assert ledger.verify() == tuple(
        f"what entry {entry} of 'clinic' published does not fit its digest: it was changed." for entry in (2, 3)
    )
    with pytest.raises(lb.LedgerError, match="the books of 'clinic' are damaged"):
        ledger.published(3)


def ask(ledger: lb.Ledger, mechanism: Any = None, values: Any = COUNTS, **options: Any) -> Any:
    options = {"query": "visits by diagnosis", "reuse": True} | options
    return ledger.release("clinic", mechanism or lb.NoisyTopK(k=1, epsilon="1/10"), values, **options)


def test_the_same_question_is_paid_once(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon="1/10")
    first = ask(ledger)
    tape = lb.Tape([1, 2, 3])
    # The budget is spent, and the values are others: no private value takes part.
    others = lb.Counts(items=["flu", "cold", "gout"], values=[0, 0, 9], monotone=True)
    for values in (COUNTS, others):
        assert same(ask(lb.Ledger(place), values=values, draw=lb.Sampler(tape), hold="1/1000"), first)
    assert tape.consumed == 0
    assert len(ledger.history("clinic")) == 2
    assert ledger.account("clinic").spent == Fraction(1, 10)
    assert ledger.verify() == ()
    assert json.loads(ledger.history("clinic")[-1].question)["query"] == "visits by diagnosis"
    assert "120" not in ledger.history("clinic")[-1].question


class Renamed(lb.NoisyTopK):
    """Another mechanism with the same parameters."""


OTHERS: dict[str, dict[str, Any]] = {
    "query": {"query": "visits by month"},
    "parameters": {"mechanism": lb.NoisyTopK(k=1, epsilon="1/9")},
    "k": {"mechanism": lb.NoisyTopK(k=2, epsilon="1/10")},
    "mechanism": {"mechanism": Renamed(k=1, epsilon="1/10")},
    "items": {"values": lb.Counts(items=["flu", "cold", "acne"], values=[120, 80, 7], monotone=True)},
    "types of items": {"values": lb.Counts(items=["flu", "cold", b"gout"], values=[120, 80, 7], monotone=True)},
    "order of items": {"values": lb.Counts(items=["cold", "flu", "gout"], values=[120, 80, 7], monotone=True)},
    "sensitivity": {
        "values": lb.Counts(items=COUNTS.items, values=[120, 80, 7], sensitivity=2, monotone=True),
        "mechanism": lb.NoisyTopK(k=1, epsilon="1/10", sensitivity=2),
    },
    "grid": {"values": lb.Counts(items=COUNTS.items, values=[120, 80, 7], resolution="1/2", monotone=True)},
    "bound": {"values": lb.Counts(items=COUNTS.items, values=[120, 80, 7], most_items=2, monotone=True)},
    "bare values": {"values": [120, 80, 7]},
    "without reuse": {"reuse": False},
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_question_is_charged(tmp_path: Path, name: str) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=9)
    ask(ledger)
    ask(ledger, **OTHERS[name])
    assert len(ledger.history("clinic")) == 3
    ask(ledger)
    assert len(ledger.history("clinic")) == 3


def test_another_data_set_and_other_neighbours_are_other_questions(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    for name in ("clinic", "school"):
        ledger.create(name, epsilon=9, adjacency="replace")
    question: dict[str, Any] = {"query": "how many", "reuse": True}
    for _ in range(2):
        for name in ("clinic", "school"):
            ledger.release(name, lb.DiscreteLaplace(epsilon=1), [5], **question)
            ledger.release(name, lb.DiscreteLaplace(epsilon=1), [5], **question, adjacency="add-remove")
    assert [len(ledger.history(name)) for name in ("clinic", "school")] == [3, 3]


def test_long_questions_are_told_apart_to_their_end(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=9)
    for _ in range(2):
        for end in "ab":
            ledger.release("clinic", lb.DiscreteLaplace(epsilon=1), [5], query="long " * 200 + end, reuse=True)
    assert len(ledger.history("clinic")) == 3


def test_only_a_release_that_was_done_is_an_answer(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=9)
    mechanism = lb.DiscreteLaplace(epsilon=1)
    ours = Identity({"version": 1, "query": "ours"})
    charge = ledger.charge("clinic", mechanism, question=ours)
    assert ledger.answer("clinic", mechanism, question=ours) is None
    ledger.record(charge)
    assert ledger.answer("clinic", mechanism, question=ours) is None
    ledger.record(charge, Foreign("Mine", mechanism.cost, 7))  # kept as it is shown only
    assert ledger.answer("clinic", mechanism, question=ours) is None
    release = mechanism.release([5])
    ledger.record(charge, release)
    found = ledger.answer("clinic", mechanism, question=ours)
    assert found is not None
    assert same(found.published, release)
    assert ledger.answer("clinic", mechanism, question=None) is None


def test_items_that_cannot_be_written_down_are_a_question_like_no_other(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=9)
    odd = lb.Counts(items=[Odd(), Odd()], values=[1, 2])
    for _ in range(2):
        ask(ledger, values=odd)
    assert [entry.question for entry in ledger.history("clinic")] == ["", "", ""]


def test_items_that_nobody_listed_are_not_looked_at() -> None:
    def fetch(most: int | None) -> Any:
        raise AssertionError("the items are private")

    one, other = (lb.Unlisted(fetch=fetch, most_items=most) for most in (2, 3))
    assert identify_query("words", (one,), {}) == identify_query("words", (), {"values": one})
    assert identify_query("words", (one,), {}) != identify_query("words", (other,), {})


def test_questions_hold_no_private_value() -> None:
    for values in (
        lb.exact_sum([918_273_645], bounds=(0, 10**9)),
        lb.mean_sums([918_273_645], bounds=(0, 10**9)),
        lb.histogram([918_273_645], bounds=(0, 10**9), bins=2),
        lb.Counts(items="ab", values=[918_273_645, 0]),
    ):
        assert "918273645" not in identify_query("all", (values,), {}).text


def test_reuse_needs_words_and_public_items(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=9)
    exponential = lb.ExponentialMechanism(epsilon=1)
    for options, message in (
        ({"query": None}, "reuse=True needs a query"),
        ({"query": " "}, "query must say what is asked"),
        ({"query": 5}, "query must be text"),
        ({"query": "a\0b"}, "query must be text"),
        ({"reuse": 1}, "reuse must be True or False"),
        ({"mechanism": exponential, "values": [1, 2], "outcomes": ["a", "b"]}, "not outcomes="),
    ):
        with pytest.raises(lb.ParameterError, match=message):
            ask(ledger, **options)
    assert len(ledger.history("clinic")) == 1


def test_two_selections_with_other_candidates_are_not_one_question(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=5)
    one, other = (
        lb.PrivateSelection(candidates=[lambda draw, name=name: (name, 1)], candidate_cost="1/10", most=2)
        for name in ("a", "b")
    )
    assert ledger.release("clinic", one, query="best").output == "a"
    with pytest.raises(lb.ParameterError, match="cannot tell two PrivateSelection apart"):
        ledger.release("clinic", other, query="best", reuse=True)
    assert ledger.release("clinic", other, query="best").output == "b"


def test_another_number_of_bins_is_another_question(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=5)
    for bins in (2, 4):
        ages = lb.histogram([1, 2, 3], bounds=(0, 4), bins=bins)
        release = ledger.release("clinic", lb.DiscreteLaplace.of(ages, epsilon=1), ages, query="ages", reuse=True)
        assert len(release.values) == bins
    assert ledger.account("clinic").spent == 2


def test_a_release_that_states_another_cost_is_not_handed_out(tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=5)
    cheap, dear = lb.DiscreteLaplace(epsilon="1/10"), lb.DiscreteLaplace(epsilon=100)
    with pytest.raises(lb.LedgerError, match="states epsilon 100"):
        ledger.spend("clinic", cheap, dear.ready([3]))
    assert ledger.account("clinic").spent == Fraction(1, 10)
