"""Answers of a study against those of an earlier one: for nothing, said before the charge where they cannot be."""

from __future__ import annotations

import json
import shutil

import pytest

import lastbit as lb
from tests.publication.studies import TEXT, make_study
from tests.publication.test_verify import forge

COMPARE = """
[[compare]]
name = "change"
title = "Change since 2023"
of = "regions"
with = "earlier/release.json"
as = "percent"
"""


@pytest.fixture
def path(tmp_path, earlier):
    shutil.copytree(earlier, tmp_path / "earlier")
    return make_study(tmp_path, TEXT.replace("epsilon = 3", "epsilon = 1") + COMPARE)


def test_a_comparison_is_published_beside_the_answers_and_verified(tmp_path, path):
    publication = lb.Publication.from_file(path)
    assert publication.check() == ()
    spent = publication.mechanism.cost
    written = publication.run()
    assert publication.mechanism.cost == spent
    frame = written["change"].to_frame()
    assert list(frame["region"]) == ["north", "south"]
    assert (frame["low"] <= frame["value"]).all()
    assert (frame["value"] <= frame["high"]).all()
    assert "Change since 2023" in (tmp_path / "report" / "report.html").read_text()
    assert (tmp_path / "report" / "answers" / "change.csv").exists()
    verdict = lb.verify(tmp_path / "report", audit=False)
    assert verdict.holds, verdict
    assert any("earlier numbers" in line for line in verdict.not_proved)
    forge(tmp_path / "report", lambda document: document["comparisons"][0]["columns"].update(value=[0.0, 0.0]))
    assert "the numbers of change" in str(lb.verify(tmp_path / "report", audit=False))


def test_a_comparison_is_no_part_of_the_plan(path):
    with_it = lb.Publication.from_file(path).hash
    path.write_text(path.read_text().replace(COMPARE, ""))
    assert lb.Publication.from_file(path).hash == with_it


@pytest.mark.parametrize(
    ("right", "wrong", "key", "words"),
    [
        ('with = "earlier/release.json"', 'with = "nowhere.json"', "with", "cannot be read"),
        ('with = "earlier/release.json"', 'with = "visits.csv"', "with", "no JSON"),
        ('with = "earlier/release.json"', 'with = "other.json"', "with", "--of must name"),
        ('of = "regions"', 'of = "nobody"', "of", "name of a question"),
        ('as = "percent"', 'as = "times"', "as", "difference, ratio or percent"),
        ('name = "change"', 'name = "regions"', "name", "two have the name"),
        ('title = "Change since 2023"', "title = 3", "title", "text"),
        ('as = "percent"', 'by = "x"', "by", "no such key"),
    ],
)
def test_what_cannot_be_compared_is_said_before_the_charge(tmp_path, path, right, wrong, key, words):
    document = json.loads((tmp_path / "earlier" / "release.json").read_text())
    document["answers"]["other"] = document["answers"].pop("regions")
    (tmp_path / "other.json").write_text(json.dumps(document))
    path.write_text(path.read_text().replace(COMPARE, COMPARE.replace(right, wrong)))
    problems = lb.Publication.from_file(path).check()
    assert [problem.key for problem in problems if words in problem.message] == [f"compare[1].{key}"]


def test_a_certificate_reads_no_file_of_its_reader(tmp_path, path):
    lb.Publication.from_file(path).run()
    forge(tmp_path / "report", lambda document: document["comparisons"][0].update(earlier="/etc/hosts"))
    assert "must be in the certificate" in str(lb.verify(tmp_path / "report", audit=False))
