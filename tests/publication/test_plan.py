"""A plan says before a row is read how accurate each answer will be, and what of it will be hidden."""

from __future__ import annotations

import pytest

import lastbit as lb
from lastbit.errors import StudyError
from lastbit.publication.questions import _apply_output
from lastbit.publication.simulation import simulate_answer
from lastbit.questions.kinds import KINDS
from tests.publication.studies import TEXT, make_study

HIDING = """
[[question]]
name = "named"
ask = "count"
by = "region"
discover = true
one_each = true

[[question]]
name = "sick"
ask = "share"
of = "cost > 500"

[[question]]
name = "crossed"
ask = "tables"
by = ["region", "cost"]
domain = { region = ["north", "south"] }
edges = { cost = [0, 500] }
one_each = true

[[question]]
name = "spent"
ask = "sum"
of = "cost"
bounds = [0, 0.01]

[output]
folder = "report"
hide_below = 10
hide_wider = "50%"
"""


def plan_of(folder, output=HIDING, **changes):
    text = TEXT[: TEXT.index("[output]")] + output
    for old, new in changes.items():
        text = text.replace(old, new)
    return lb.Publication.from_file(make_study(folder, text)).plan()


def test_a_plan_says_how_many_people_an_answer_needs_to_be_shown(tmp_path):
    plan = plan_of(tmp_path)
    hidden = {name: hiding.fewer_than for name, hiding in plan.hidings.items()}
    within = {name: accuracy.within for name, accuracy in plan.accuracies.items()}
    # An interval of 2 * within is half of the number at 4 * within.
    assert hidden["patients"] == max(10, 4 * within["patients"])
    assert hidden["regions"] == 4 * within["regions"]
    assert hidden["crossed"] > 4 * within["crossed"]  # the interval allows for people whom the bound leaves out
    assert hidden["named"] - 1 < within["named"] <= hidden["named"]  # what an item needs to be listed
    assert hidden["cost"] == 10  # a mean has the number of people beside it
    assert hidden["spent"] == 10  # and so has a sum
    columns = plan.report.columns
    texts = dict(zip(columns["question"], columns["hidden if"], strict=True))
    assert texts["regions"] == f"fewer than about {hidden['regions']}"
    assert texts["spent"] == "fewer than about 10"
    assert plan.data["questions"][2]["hidden_below"] == hidden["regions"]


def test_the_size_in_the_plan_is_where_the_answer_is_hidden(tmp_path):
    """The rule itself, on made-up answers: noise moves a number and not the width of its interval."""
    plan = plan_of(tmp_path)
    for name in ("patients", "regions"):
        question = next(question for question in plan.publication.questions if question.name == name)
        least = plan.hidings[name].fewer_than
        for _ in range(20):
            frame = simulate_answer(plan.publication, question).to_frame()
            bare = question.request.change(hide_below=None, hide_wider=None).question.report
            published = simulate_answer(plan.publication, question).published
            view = plan.publication.view(question, published)
            values = bare(published).table["value"]
            assert list(view.to_frame()["shown"]) == [value >= least for value in values]
        assert set(frame["why"]) <= {"", "fewer than 10", "not accurate enough"}


def test_a_question_that_is_too_wide_for_the_guessed_size_is_flagged(tmp_path):
    plan = plan_of(tmp_path)
    assert {name for name, hiding in plan.hidings.items() if hiding.too_wide} == set()
    few = plan_of(tmp_path / "few", **{"about = 400": "about = 40", "within = 40": "within = 11"})
    assert few.hidings["regions"].too_wide  # ± 11 of 20 in each of two regions
    assert few.hidings["patients"].too_wide == (4 * few.accuracies["patients"].within > 40)
    (note,) = [note for note in few.report.notes if "Not accurate enough" in note]
    assert "regions" in note
    assert "40 patients" in note
    assert [question["too_wide"] for question in few.data["questions"]] == [
        hiding.too_wide for hiding in few.hidings.values()
    ]


def test_a_width_in_numbers_hides_all_or_nothing(tmp_path):
    wide = plan_of(tmp_path, **{'hide_wider = "50%"': "hide_wider = 79"})
    assert wide.hidings["regions"].too_wide
    assert wide.hidings["regions"].fewer_than == 10
    narrow = plan_of(tmp_path / "narrow", **{'hide_wider = "50%"': "hide_wider = 80"})
    assert not narrow.hidings["regions"].too_wide


def test_a_small_sum_is_not_taken_for_few_people(tmp_path):
    written = plan_of(tmp_path, **{'hide_wider = "50%"': ""}).publication.run()
    frame = written["spent"].to_frame()
    assert frame["value"][0] < 10
    assert list(frame["shown"]) == [True]
    assert "Hidden" in str(written["patients"])


@pytest.mark.parametrize(
    ("kind", "options", "hidden"),
    [
        ("count", {}, True),
        ("mean", {"of": "cost", "bounds": [0, 9]}, True),
        ("sum", {"of": "cost", "bounds": [0, 9]}, True),
        ("median", {"of": "cost", "bounds": [0, 9]}, False),
        ("count", {"by": "ward", "domain": ["a", "b"]}, True),
        ("count", {"by": "ward", "domain": ["a", "b"], "weights": "cost", "bounds": [0, 9]}, False),
    ],
)
def test_few_are_hidden_where_a_number_says_how_many_there_are(kind, options, hidden):
    request = KINDS[kind].parse({"source": "v.csv", "unit": "patient", "epsilon": 1, **options})
    assert _apply_output(request, {"hide_below": 10})["hide_below"] == ("10" if hidden else None)


def test_what_cannot_be_improved_is_said(tmp_path):
    text = TEXT[: TEXT.index('[[question]]\nname = "cost"')].replace("weight = 3", "within = 4")
    plan = lb.Publication.from_text(text, tmp_path).plan()
    with pytest.raises(StudyError, match="the dearest is 'patients'"):
        _ = plan.improve().report


@pytest.fixture(autouse=True)
def _folders(tmp_path):
    for name in ("few", "narrow"):
        (tmp_path / name).mkdir()
