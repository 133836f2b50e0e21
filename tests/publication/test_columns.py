"""Public facts of columns are typed once: every question of the file uses them, and none contradicts them unsaid."""

from __future__ import annotations

import pytest

import lastbit as lb
from tests.publication.studies import TEXT, make_study

FACTS = """
[columns.region]
values = "regions.txt"
one_each = true
[columns.cost]
bounds = [0, 1000]
in = "euros"
"""
STUDY = TEXT.replace("bounds = [0, 1000]\n", "").replace('domain = ["north", "south"]\n', "") + FACTS


@pytest.fixture
def path(tmp_path):
    (tmp_path / "regions.txt").write_text("north\nsouth\n")
    return make_study(tmp_path, STUDY)


def test_facts_are_used_by_every_question_and_verified_without_their_files(tmp_path, path):
    publication = lb.Publication.from_file(path)
    assert publication.check() == ()
    written = publication.run()
    assert "euros" in written["cost"].title
    assert list(written["regions"].to_frame()["region"]) == ["north", "south"]
    (tmp_path / "regions.txt").unlink()
    assert lb.verify(tmp_path / "report", audit=False).holds
    assert "regions.txt" not in (tmp_path / "report" / "release.json").read_text()


def test_a_fact_is_the_same_plan_as_the_option_that_it_stands_for(path):
    typed = STUDY.replace(FACTS, "").replace('of = "cost"', 'of = "cost"\nbounds = [0, 1000]')
    typed = typed.replace('by = "region"', 'by = "region"\ndomain = ["north", "south"]\none_each = true')
    assert lb.Publication.from_text(typed, path.parent).hash == lb.Publication.from_file(path).hash


@pytest.mark.parametrize(
    ("right", "wrong", "key", "words"),
    [
        ("bounds = [0, 1000]", 'bounds = "x"', "columns.cost.bounds", "two values"),
        ('in = "euros"', "inn = 3", "columns.cost", "no fact"),
        ("within = 40", 'within = 40\ndomain = ["north"]', "question[3].domain", "contradicts"),
        ('of = "cost"', 'of = "cost"\nbounds = [0, 9]', "question[2].bounds", "contradicts"),
    ],
)
def test_what_contradicts_or_cannot_be_is_said_once_with_its_key(path, right, wrong, key, words):
    path.write_text(STUDY.replace(right, wrong, 1))
    problems = lb.Publication.from_file(path).check()
    assert [problem.key for problem in problems] == [key]
    assert words in problems[0].message
    assert problems[0].line is not None


def test_a_question_may_override_a_fact_if_it_says_so(path):
    path.write_text(STUDY.replace("within = 40", 'within = 40\ndomain = ["north"]\noverride = true'))
    assert lb.Publication.from_file(path).check() == ()
