"""A publication is charged once, kept before it is shown, and goes on where it was, whenever it is killed."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

import lastbit as lb
from lastbit.errors import BudgetExceeded, LedgerError, ParameterError
from lastbit.publication.run import answer_publication
from lastbit.publication.signature import create_keys
from tests import processes
from tests.publication.studies import TEXT, make_study

STEPS = (
    "read patients", "read cost", "read regions", "charge",
    "draw patients", "keep patients", "kept patients", "draw cost", "keep cost", "kept cost",
    "draw regions", "keep regions", "kept regions", "write",
)  # fmt: skip
_RUN = """
import os, sys
import lastbit as lb
from lastbit.publication.run import run_publication

def step(name):
    if name == sys.argv[2]:
        os.kill(os.getpid(), 9)
    print(name, flush=True)

run_publication(lb.Publication.from_file(sys.argv[1]), step=step)
"""
_FORKS = """
import os, sys
import duckdb, psycopg, pyarrow.parquet
import lastbit as lb
from lastbit.publication.run import run_publication

def step(name):
    if name == moment:
        os.kill(os.getpid(), 9)

for line in sys.stdin:
    path, moment = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if not child:
        run_publication(lb.Publication.from_file(path), step=step)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Runs studies, each in a process of its own that is killed at a step: to load lastbit takes longer than a run."""


def values(written):
    return {name: written[name].published for name in written.answers.parts}


def test_the_steps_are_in_the_order_that_privacy_needs(tmp_path):
    seen: list[str] = []
    answer_publication(lb.Publication.from_file(make_study(tmp_path)), seen.append)
    assert tuple(seen) == STEPS[:-1]


MOMENTS = ("read cost", "charge", "draw patients", "keep patients", "kept patients", "draw regions", "write")


@pytest.fixture(scope="module")
def forks():
    command = [sys.executable, "-c", _FORKS]
    with processes.start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        yield program
        program.stdin.close()


@pytest.mark.parametrize("moment", STEPS if "LASTBIT_FUZZ" in os.environ else MOMENTS)
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path, place, moment, forks):
    path = make_study(tmp_path, ledger=place)
    forks.stdin.write(f"{path}\t{moment}\n")
    forks.stdin.flush()
    assert int(forks.stdout.readline()) == -signal.SIGKILL
    ledger = lb.Ledger(place)
    publication = lb.Publication.from_file(path)
    before = STEPS.index(moment)
    charge, kept = look(ledger, publication)
    assert (charge is not None) == (before > STEPS.index("charge"))
    assert list(kept) == [name for name in NAMES if before >= STEPS.index(f"kept {name}")]
    assert not (tmp_path / "report").exists()
    go_on(ledger, publication, kept)


NAMES = ("patients", "cost", "regions")


def look(ledger, publication):
    """What the books have of a plan: the charge, and the answers that they keep."""
    charge = ledger.charged(publication.key)
    parts = {} if charge is None else ledger.parts(charge.id)
    return charge, {name: entry.published for name, entry in parts.items()}


def go_on(ledger, publication, kept):
    """Run again after a kill: only what was not kept is drawn, and nothing is charged twice."""
    seen: list[str] = []
    answers = answer_publication(publication, seen.append)
    drawn = {step.removeprefix("draw ") for step in seen if step.startswith("draw ")}
    assert drawn == {name for name in NAMES if name not in kept}
    assert all(answers.parts[name].published == published for name, published in kept.items())
    assert ledger.account("clinic").spent_rho == publication.mechanism.cost.rho
    assert ledger.verify() == ()
    assert [entry.kind for entry in ledger.history("clinic")] == ["create", "charge", "part", "part", "part"]


@pytest.mark.skipif("LASTBIT_FUZZ" not in os.environ, reason="takes a minute for each kind of ledger")
def test_a_run_that_is_killed_at_any_moment_goes_on_where_it_was(tmp_path, place):
    path = make_study(tmp_path, ledger=place)
    command = [sys.executable, "-c", _RUN, str(path), ""]
    hits: Counter[str] = Counter()
    draw = random.Random(11)
    for edition in range(60):
        text = (tmp_path / "study.toml").read_text()
        path.write_text(re.sub(r'edition = "\w+"', f'edition = "e{edition}"', text))
        account = f"clinic{edition}"
        path.write_text(re.sub(r'dataset = "\w+"', f'dataset = "{account}"', path.read_text()))
        ledger = lb.Ledger(place)
        ledger.create(account, epsilon=3, delta="1e-6")
        with processes.start(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
            while running.stdout.readline() not in ("charge\n", ""):
                pass
            time.sleep(draw.uniform(0, 0.15))
            running.kill()
        publication = lb.Publication.from_file(path)
        charge, kept = look(ledger, publication)
        written = (tmp_path / "report" / "release.json").exists() and publication.hash in (
            (tmp_path / "report" / "release.json").read_text()
        )
        hits["written" if written else "not charged" if charge is None else f"{len(kept)} kept"] += 1
        answers = answer_publication(publication)
        assert all(answers.parts[name].published == published for name, published in kept.items())
        assert [entry.kind for entry in ledger.history(account)] == ["create", "charge", "part", "part", "part"]
        assert ledger.account(account).spent_rho == publication.mechanism.cost.rho
    assert ledger.verify() == ()
    print("where the kills hit:", dict(sorted(hits.items())))


def test_a_second_run_costs_nothing_and_shows_the_same_although_the_data_changed(tmp_path):
    path = make_study(tmp_path)
    first = lb.Publication.from_file(path).run()
    spent = lb.Ledger(tmp_path / "budget.db").account("clinic").spent_rho
    (tmp_path / "visits.csv").write_text("patient,region,cost\n1,north,3\n")
    second = lb.Publication.from_file(path).run()
    assert values(second) == values(first)
    assert (first.answers.was_paid, second.answers.was_paid) == (False, True)
    assert lb.Ledger(tmp_path / "budget.db").account("clinic").spent_rho == spent


def test_a_second_run_does_not_even_look_at_the_table(tmp_path):
    path = make_study(tmp_path)
    first = lb.Publication.from_file(path).run()
    (tmp_path / "visits.csv").write_text("other,columns\n1,2\n")
    assert lb.Publication.from_file(path).check()[0].key == "data.unit"
    assert values(lb.Publication.from_file(path).run()) == values(first)


def test_the_level_shows_answers_and_changes_no_price(tmp_path):
    path = make_study(tmp_path)
    first = lb.Publication.from_file(path).run()
    path.write_text(path.read_text().replace('folder = "report"', 'folder = "report"\nlevel = 0.5'))
    second = lb.Publication.from_file(path).run()
    assert values(second) == values(first)
    assert second.answers.was_paid
    widths = [view.to_frame()["high"][0] - view.to_frame()["low"][0] for view in (first["cost"], second["cost"])]
    assert widths[1] < widths[0]


def test_what_is_shown_of_every_answer_is_said_once_and_costs_nothing(tmp_path):
    path = make_study(tmp_path)
    first = lb.Publication.from_file(path).run()
    text = path.read_text().replace('folder = "report"', 'folder = "report"\nhide_below = 390\nround = 100')
    (tmp_path / "residents.csv").write_text("region,area,residents\nnorth,1,5000\nsouth,2,2000\n")
    rate = 'rate = { table = "residents.csv", column = "residents", per = 100 }'
    path.write_text(text.replace("within = 40", f"within = 40\n{rate}"))
    second = lb.Publication.from_file(path).run()
    assert values(second) == values(first)
    assert second.answers.was_paid
    assert "per 100 residents" in second["regions"].title
    assert list(second["patients"].to_frame()["value"]) == [400]
    document = json.loads((tmp_path / "report" / "release.json").read_text())
    assert document["plan"]["questions"][2]["rate"]["columns"]["residents"] == ["5000", "2000"]
    (tmp_path / "residents.csv").unlink()
    assert lb.verify(tmp_path / "report", audit=False).holds


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("{ table = 3 }", "must look like"),
        ('{ table = "nowhere.csv" }', "cannot be read"),
        ('{ table = "residents.csv", column = "men" }', "must have the columns region, men"),
        ('{ table = "residents.csv", column = "residents", per = 0 }', "positive"),
        ('{ table = "residents.csv", column = "name" }', "number"),
    ],
)
def test_a_rate_that_cannot_be_is_refused_before_the_charge(tmp_path, rate, words):
    path = make_study(tmp_path, TEXT.replace("within = 40", f"within = 40\nrate = {rate}"))
    (tmp_path / "residents.csv").write_text("region,residents,name\nnorth,5000,a\nsouth,2000,b\n")
    (problem,) = lb.Publication.from_file(path).check()
    assert problem.key == "question[3].rate"
    assert words in problem.message


def test_two_runs_at_once_show_one_answer_and_pay_once(tmp_path):
    path = make_study(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: answer_publication(lb.Publication.from_file(path)), range(4)))
    shown = [{name: entry.published for name, entry in each.parts.items()} for each in answers]
    assert all(other == shown[0] for other in shown)
    ledger = lb.Ledger(tmp_path / "budget.db")
    assert [entry.kind for entry in ledger.history("clinic")] == ["create", "charge", "part", "part", "part"]
    assert ledger.verify() == ()


def test_another_edition_pays_again_and_a_title_does_not(tmp_path):
    path = make_study(tmp_path, TEXT.replace("epsilon = 3", "epsilon = 1"))
    first = lb.Publication.from_file(path).run()
    path.write_text(path.read_text().replace("Patients 2024", "Patients of 2024"))
    assert values(lb.Publication.from_file(path).run()) == values(first)
    assert "Patients of 2024" in (tmp_path / "report" / "report.html").read_text()
    path.write_text(path.read_text().replace('edition = "2024"', 'edition = "2025"'))
    lb.Publication.from_file(path).run()
    kinds = [entry.kind for entry in lb.Ledger(tmp_path / "budget.db").history("clinic")]
    assert kinds.count("charge") == 2


def test_what_cannot_be_paid_is_refused_before_a_row_is_read(tmp_path):
    path = make_study(tmp_path, TEXT.replace("epsilon = 3", "epsilon = 4"))
    (tmp_path / "visits.csv").write_text("patient,region,cost\n")
    with pytest.raises(BudgetExceeded):
        lb.Publication.from_file(path).run()
    assert not (tmp_path / "report").exists()


def test_a_folder_with_something_else_is_not_touched(tmp_path):
    path = make_study(tmp_path)
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "thesis.txt").write_text("mine")
    with pytest.raises(ParameterError, match="something else"):
        lb.Publication.from_file(path).run()
    assert (tmp_path / "report" / "thesis.txt").read_text() == "mine"
    assert lb.Ledger(tmp_path / "budget.db").account("clinic").spent_rho == 0


def test_files_that_somebody_put_into_a_published_folder_are_not_lost(tmp_path):
    path = make_study(tmp_path)
    lb.Publication.from_file(path).run()
    (tmp_path / "report" / "answers" / "thesis.txt").write_text("mine")
    with pytest.raises(ParameterError, match=r"answers/thesis\.txt"):
        lb.Publication.from_file(path).run()
    assert (tmp_path / "report" / "answers" / "thesis.txt").read_text() == "mine"


def test_the_private_key_is_never_in_the_folder(tmp_path):
    path = make_study(tmp_path)
    create_keys(tmp_path / "key")
    lb.Publication.from_file(path).run(key=tmp_path / "key")
    with pytest.raises(ParameterError, match="is not published"):
        create_keys(tmp_path / "report" / "key")
    shutil.copy(tmp_path / "key", tmp_path / "report" / "key")
    with pytest.raises(ParameterError, match="lies in the folder"):
        lb.Publication.from_file(path).render(key=tmp_path / "report" / "key")


def test_to_write_the_same_again_keeps_its_signature_and_another_text_has_none(tmp_path):
    path = make_study(tmp_path)
    create_keys(tmp_path / "key")
    first = lb.Publication.from_file(path).run(key=tmp_path / "key")
    assert first.fingerprint
    assert lb.Publication.from_file(path).run().fingerprint == first.fingerprint
    assert lb.verify(tmp_path / "report", key=tmp_path / "key.pub", audit=False).holds
    path.write_text(path.read_text().replace("Patients 2024", "All patients"))
    assert lb.Publication.from_file(path).render().fingerprint == ""
    assert "it is unsigned" in str(lb.verify(tmp_path / "report", audit=False))


def test_the_books_are_a_file_of_their_own(tmp_path):
    path = make_study(tmp_path, TEXT.replace("visits.csv", "budget.db"))
    (problem,) = lb.Publication.from_file(path).check(tables=False)
    assert problem.key == "budget.ledger"
    assert "a file of its own" in problem.message


def test_render_needs_a_run_and_reads_no_table(tmp_path):
    path = make_study(tmp_path)
    with pytest.raises(LedgerError, match="run it first"):
        lb.Publication.from_file(path).render()
    first = lb.Publication.from_file(path).run()
    (tmp_path / "visits.csv").unlink()
    again = lb.Publication.from_file(path).render(tmp_path / "again")
    assert values(again) == values(first)
    assert Path(tmp_path, "again", "report.html").read_bytes() == Path(tmp_path, "report", "report.html").read_bytes()


def test_an_answer_of_a_publication_is_reused_by_the_same_question(tmp_path):
    path = make_study(tmp_path)
    publication = lb.Publication.from_file(path)
    written = publication.run()
    price = publication.questions[0].request.cost
    release = lb.ask(
        "count", tmp_path / "visits.csv", unit="patient", **price, ledger=str(tmp_path / "budget.db"),
        dataset="clinic", reuse=True,
    )  # fmt: skip
    assert release.published == written["patients"].published


def test_the_wished_accuracy_is_bought_and_weights_share_the_rest(tmp_path):
    publication = lb.Publication.from_file(make_study(tmp_path))
    patients, cost, regions = publication.questions
    assert regions.request.question.accuracy(400).within <= 40
    assert abs(patients.price - 3 * cost.price) <= patients.price / 1000
    assert sum(question.price for question in publication.questions) <= publication.budget.total
    cheaper = regions.request.change(
        **{name: Fraction(value) * 98 / 100 for name, value in regions.request.cost.items()}
    )
    assert cheaper.question.accuracy(400).within >= 40


def test_improving_the_plan_halves_the_worst(tmp_path):
    plan = lb.Publication.from_file(make_study(tmp_path)).plan()
    better = plan.improve()
    assert better.accuracies[plan.worst].within <= plan.accuracies[plan.worst].within / 2
    assert better.publication.mechanism.cost.rho <= plan.publication.budget.total
