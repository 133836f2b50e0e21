"""Runs that are closed: what comes back, to whom, and how often; and that no adversary gains by it."""

from __future__ import annotations

import multiprocessing
from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit.ledger import Account, store
from lastbit.ledger.chain import digest, seal
from lastbit.ledger.tables import ACCOUNTS, ENTRIES
from lastbit.privacy.cost import Cost
from tests.ledger.test_currencies import KINDS
from tests.ledger.test_verify import change

F = Fraction
FAR = 10**9


def sparse(**changed: Any) -> lb.SparseVector:
    return lb.SparseVector(**({"threshold": 0, "limit": 4, "epsilon": 1, "split": "even"} | changed))


def opened(place: str, **terms: Any) -> lb.Ledger:
    ledger = lb.Ledger(place)
    ledger.create("clinic", **(terms or {"epsilon": 1}))
    return ledger


def test_an_account_of_epsilon_gets_back_what_was_not_spent(place: str) -> None:
    ledger = opened(place)
    run = ledger.start("clinic", sparse())
    assert run.ask(FAR).above
    assert not run.ask(-FAR).above
    assert ledger.account("clinic").remaining == 0
    after = ledger.close(run, note="done")
    assert after == ledger.account("clinic")
    assert (after.spent, after.remaining) == (run.spent, run.unspent) == (F(5, 8), F(3, 8))
    entry = ledger.history("clinic")[-1]
    assert (entry.kind, entry.amount, entry.rho) == ("refund", F(3, 8), 0)
    assert entry.charged == entry.epsilon == -F(3, 8)
    assert (entry.note, entry.mechanism, entry.done) == ("done", "", "")
    assert lb.Ledger(place, verify=True).verify() == ()
    assert after.spent_rho == ledger.history("clinic")[1].rho


def test_what_is_left_can_be_spent_and_no_more(place: str) -> None:
    ledger = opened(place)
    run = ledger.start("clinic", sparse())
    run.ask(FAR)
    ledger.close(run)
    with pytest.raises(lb.BudgetExceeded):
        ledger.charge("clinic", lb.NoisyMax(epsilon="0.376"))
    ledger.charge("clinic", lb.NoisyMax(epsilon="3/8"))
    assert ledger.account("clinic").remaining == 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_each_kind_of_account_gets_back(place: str, kind: str) -> None:
    ledger = opened(place, **KINDS[kind])
    mechanism = sparse(epsilon=None, rho="1/20")
    run = ledger.start("clinic", mechanism)
    charged = ledger.account("clinic")
    run.ask(FAR)
    after = ledger.close(run)
    assert (after.spent_rho, after.spent_delta) == (charged.spent_rho, charged.spent_delta)
    assert charged.spent_epsilon is not None
    back = F(0) if kind.startswith("rho") else charged.spent_epsilon * F(3, 8)
    assert after.spent_epsilon == charged.spent_epsilon - back
    assert len(ledger.history("clinic")) == (2 if kind.startswith("rho") else 3)
    assert ledger.verify() == ()


def test_an_account_whose_epsilons_are_over_gets_nothing_back(place: str) -> None:
    ledger = opened(place, epsilon=3, delta="1e-6")
    ledger.charge("clinic", lb.DiscreteGaussian(rho="1/100", squared_sensitivity=1))
    run = ledger.start("clinic", sparse(epsilon="1/10"))
    before = ledger.account("clinic")
    assert before.spent_epsilon is None
    assert ledger.close(run) == before


def test_costs_for_other_neighbours_come_back_twice_as_they_were_charged(place: str) -> None:
    ledger = opened(place, epsilon=2, adjacency="replace")
    run = ledger.start("clinic", sparse(monotone=True))
    assert ledger.account("clinic").remaining == 0
    run.ask(FAR)
    assert ledger.close(run).remaining == F(3, 4)


def test_an_eta_comes_back_in_the_epsilon_that_was_charged_for_it(place: str) -> None:
    ledger = opened(place, epsilon=3)
    eta = lb.Eta(1, 1, 4)
    run = ledger.start("clinic", sparse(epsilon=None, eta=eta))
    run.ask(FAR)
    assert ledger.close(run).spent == F(eta.epsilon_upper) * F(5, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_gives_back_what_a_run_over_it_would(place: str, kind: str) -> None:
    ledger = opened(place, **KINDS[kind])
    release = ledger.release("clinic", sparse(epsilon=None, rho="1/20"), [FAR, -FAR, FAR, -FAR])
    assert (release.indices, release.answered) == ((0, 2), 4)
    after, (charge, *refunds) = ledger.account("clinic"), ledger.history("clinic")[1:]
    assert charge.epsilon is not None
    assert after.spent_epsilon == charge.epsilon * (1 if kind.startswith("rho") else F(3, 4))
    assert (after.spent_rho, after.spent_delta) == (charge.rho, charge.delta)
    assert [entry.kind for entry in refunds] == ([] if kind.startswith("rho") else ["refund"])
    assert charge.published == release
    assert ledger.verify() == ()


@pytest.mark.parametrize(
    ("mechanism", "back"),
    [
        (sparse(limit=1), 0),
        (sparse(), F(3, 8)),
        (sparse(measure="1/2"), F(9, 16)),  # a quarter for the threshold, a part of the others for each answer
        (lb.AdaptiveSparseVector(threshold=0, limit=2, epsilon=1, split="even"), F(3, 8)),
    ],
    ids=["all is spent", "one of four", "measured", "the cheaper branch"],
)
def test_what_a_list_with_one_answer_gives_back(place: str, mechanism: Any, back: F) -> None:
    ledger = opened(place)
    release = ledger.release("clinic", mechanism, [FAR])
    assert ledger.account("clinic").remaining == release.unspent == back
    assert len(ledger.history("clinic")) == (3 if back else 2)


def test_an_answer_from_the_books_gives_nothing_back(place: str) -> None:
    ledger = opened(place)
    for _ in range(3):
        ledger.release("clinic", sparse(), [FAR], query="fevers", reuse=True)
    assert ledger.account("clinic").remaining == F(3, 8)


def test_the_list_of_another_mechanism_gives_nothing_back(place: str) -> None:
    """Its answers may cost more than the account paid for."""
    ledger = opened(place)
    cheap, dear = sparse(), sparse(split="1/100")
    ledger.spend("clinic", cheap, dear.ready([-FAR]))
    assert ledger.account("clinic").remaining == 0


def test_a_list_whose_draw_fails_gives_nothing_back(place: str) -> None:
    ledger = opened(place)
    with pytest.raises(lb.TapeEnded):
        ledger.release("clinic", sparse(), [-FAR] * 9, draw=lb.Sampler(lb.Tape([1 << 63] * 2)))
    assert ledger.account("clinic").remaining == 0


def test_a_run_is_closed_once(place: str) -> None:
    ledger = opened(place)
    run = ledger.start("clinic", sparse())
    ledger.close(run)
    with pytest.raises(lb.LedgerError, match=r"has not closed yet.*Nothing was given back"):
        ledger.close(run)
    with pytest.raises(lb.RunExhausted):
        run.ask(FAR)
    assert ledger.account("clinic").spent == F(1, 2)


def test_a_refund_that_is_in_the_books_is_not_written_again(place: str) -> None:
    """As after a connection that was lost when the books had it, and the program did not know."""
    ledger = opened(place)
    run = ledger.start("clinic", sparse())
    charge = ledger._runs[run]
    ledger.close(run)
    ledger._runs[run] = charge
    assert ledger.close(run).spent == F(1, 2)
    assert len(ledger.history("clinic")) == 3


def test_other_runs_are_refused(place: str) -> None:
    ledger = opened(place)
    other: Any
    for other in (sparse().start(), None, "a run"):
        with pytest.raises(lb.LedgerError, match="close takes a run that this ledger started"):
            ledger.close(other)
    mechanism, dearer = sparse(epsilon="1/2"), sparse(epsilon=8)
    swapped = ledger.spend("clinic", mechanism, dearer.start)
    with pytest.raises(lb.LedgerError):
        ledger.close(swapped)


def test_a_run_that_spent_all_gives_nothing_back(place: str) -> None:
    ledger = opened(place)
    run = ledger.start("clinic", sparse(limit=1))
    run.ask(FAR)
    assert ledger.close(run).remaining == 0
    assert len(ledger.history("clinic")) == 2


def test_nothing_comes_back_after_an_answer_that_was_cut_short(place: str) -> None:
    ledger = opened(place)
    run = ledger.start("clinic", sparse(), draw=lb.Sampler(lb.Tape([1 << 63] * 2)))
    run.ask(-FAR)
    with pytest.raises(lb.TapeEnded):
        run.ask(-FAR)
    assert ledger.close(run).remaining == 0
    assert run.exhausted


def _close_in_child(ledger: lb.Ledger, run: lb.Run, pipe: Any) -> None:
    try:
        ledger.close(run)
    except lb.RunBound:
        pipe.send("refused")


def test_a_forked_process_cannot_close_a_run(tmp_path: Any) -> None:
    ledger = opened(str(tmp_path / "budget.db"))
    run = ledger.start("clinic", sparse())
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_close_in_child, args=(ledger, run, theirs))
    child.start()
    theirs.close()
    assert ours.recv() == "refused"
    child.join()
    assert ledger.account("clinic").remaining == 0


def resign(place: str) -> None:
    """Write every digest and every seal again, as somebody who knows how would."""
    with store.Store(place).transaction() as table_rows:
        before = ""
        for row in table_rows.execute(ENTRIES.select().order_by(ENTRIES.c.id)).all():
            made = digest(before, row)
            table_rows.execute(ENTRIES.update().where(ENTRIES.c.id == row.id).values(digest=made))
            before = made
        table_rows.execute(ACCOUNTS.update().values(digest=before))
        row = table_rows.execute(ACCOUNTS.select()).one()
        table_rows.execute(ACCOUNTS.update().values(seal=seal(row)))


FORGED = {
    "a second refund": "insert into lastbit_entries select 9, dataset, kind, time, mechanism, parameters, cost, "
    "amount, note, released, adjacency, digest, terms, question, question_digest, about, protects, asker, "
    "published, "
    "published_digest from lastbit_entries where id = 3",
    "of no charge": 'update lastbit_entries set terms = \'{"epsilon": "1/2", "of": "7"}\' where id = 3',
    "of all that was charged": "update lastbit_entries set amount = '1', "
    'terms = \'{"epsilon": "1", "of": "2"}\' where id = 3',
    "of another amount": "update lastbit_entries set amount = '3/4' where id = 3",
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_refunds_are_noticed_though_every_digest_fits(tmp_path: Any, name: str) -> None:
    place = str(tmp_path / "budget.db")
    ledger = opened(place)
    ledger.close(ledger.start("clinic", sparse()))
    assert ledger.verify() == ()
    change(place, FORGED[name])
    resign(place)
    assert any("is none that lastbit writes: its kind is 'refund'" in each for each in lb.Ledger(place).verify())


def test_a_refund_that_fits_is_not_taken_for_a_forged_one(tmp_path: Any) -> None:
    place = str(tmp_path / "budget.db")
    ledger = opened(place)
    ledger.close(ledger.start("clinic", sparse()))
    resign(place)
    assert lb.Ledger(place).verify() == ()


def test_no_adversary_who_closes_runs_beats_an_account_of_epsilon() -> None:
    """An analyst runs a sparse vector, closes it when it likes, and spends what came back on randomized response.

    All transcripts of two queries, both neighbours, exactly: none has larger odds than the account allows.
    """
    from itertools import product

    from tests.laws.one_sided import OneSided

    account = lb.ledger.Account.with_limit(
        "clinic", epsilon=F(3)
    )  # in bits here: 1 for the threshold, 2 for the answer
    law = OneSided(F(1, 2), F(1, 2), ((1, 0, 1),), 1, 2)
    charged = account.charged(lb.Cost.of(3))
    worst = F(0)
    for near, move in product(product((-1, 0, 1), repeat=2), repeat=2):
        other = [a + b for a, b in zip(near, move, strict=True)]
        for length in (1, 2):
            for transcript in law.transcripts(length):
                unspent = F(2) * (1 - law.spent(transcript))
                after = charged.refunded(unspent) if unspent else charged
                left = F(2) ** int(after.remaining)  # the odds of the best randomized response for it
                worst = max(worst, F(law.mass(transcript, near) / law.mass(transcript, other)) * left)
    assert worst == 2**3


def test_no_account_gives_back_more_than_was_spent_of_it() -> None:
    account = Account.with_limit("clinic", epsilon=1).charged(Cost.of("1/4"))
    assert account.refunded(Fraction(1, 4)).spent == 0
    for amount in (Fraction(0), Fraction(-1, 4), Fraction(1, 4) + Fraction(1, 10**9), Fraction(1)):
        with pytest.raises(lb.LedgerError, match="nothing to give back"):
            account.refunded(amount)
    for other in ({"rho": 1}, {"epsilon": 1, "delta": "1e-6"}):
        paid = Account.with_limit("clinic", **other).charged(Cost.zcdp("1/100"))
        with pytest.raises(lb.LedgerError, match="nothing to give back"):
            paid.refunded(Fraction(1, 100))


def test_no_limit_is_lowered() -> None:
    for currency in ("epsilon", "rho"):
        account = Account.with_limit("clinic", **{currency: 3})
        assert account.with_higher_limit(**{currency: 4}).limit == 4
        for limit in (3, 2, "1/2"):
            with pytest.raises(lb.LedgerError, match="the new one must be above that"):
                account.with_higher_limit(**{currency: limit})
