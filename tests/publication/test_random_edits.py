"""Random edits of a study file: each is refused clearly, or gives a valid plan."""

from __future__ import annotations

import os
import random
import shutil

import pytest

import lastbit as lb
from lastbit.errors import LedgerError, StudyError
from tests.publication.studies import TEXT, make_study

RICH = (
    TEXT.replace("bounds = [0, 1000]\n", "")
    .replace('domain = ["north", "south"]\n', "")
    .replace("within = 40", 'within = 40\nrate = { table = "residents.csv", column = "residents", per = 1000 }')
    .replace(
        "[output]",
        """[[question]]
name = "crossed"
ask = "tables"
by = ["region", "cost"]
edges = { cost = [0, 500, 900] }
ways = 2

[[question]]
name = "typical"
ask = "quantile"
at = [0.25, 0.5]
of = "cost"
by = "region"

[[question]]
name = "dear"
ask = "share"
of = "cost > 500"
where = "cost < 900"
rows = true
most_rows = 3

[[question]]
name = "listed"
ask = "top"
by = "cost"
discover = true
most_items = 2
k = 3

[[compare]]
name = "change"
title = "Change since 2023"
of = "regions"
with = "earlier.json"
as = "percent"

[columns.region]
values = "regions.txt"
labels = { north = "North", south = "South" }
one_each = true
[columns.cost]
bounds = [0, 1000]
in = "euros"
label = "Cost"

[output]
registry = true
level = 0.9
hide_below = 10
hide_wider = "50%"
round = 5
non_negative = true""",
    )
)
LET = '\n[let]\nvisits = "count(*)"\nlate = "lag(cost) over (order by cost) > 3"\n'
LETTERS = "abc0159\"[]=.,#-_ \n{}\x00é'"
VALUES = (
    '""', "0", "-1", "1e400", "-1e-400", "10000000000000000000000000000", "nan", "inf", "true", "[]", "{}", "[[1]]",
    "1979-05-27", "07:32:00", '"1/0"', '"1/3"', '"50%"', '"%"', '"\\u0000"', '"a\\nb"', '["a", 1]', "[0, 0]", "[1, 0]",
    '"../x"', '"-"', '"auto"', '"all"', '"row"', '"patient"', '"region"', '"cost"', '{ a = 1 }', "0x10", "1_000",
)  # fmt: skip


@pytest.fixture
def path(tmp_path, earlier):
    path = make_study(tmp_path)
    shutil.copy(earlier / "release.json", tmp_path / "earlier.json")
    (tmp_path / "regions.txt").write_text("north\nsouth\n")
    (tmp_path / "residents.csv").write_text("region,residents\nnorth,5000\nsouth,2000\n")
    return path


def edit(text: str, draw: random.Random) -> str:
    """Change letters, lines or values of a text."""
    kind = draw.choice(("letters", "lines", "values", "values"))
    if kind == "letters":
        for _ in range(draw.randint(1, 3)):
            place, size = draw.randrange(len(text)), draw.choice((0, 1, 1))
            text = text[:place] + draw.choice((draw.choice(LETTERS), "")) + text[place + size :]
        return text
    lines = text.split("\n")
    for _ in range(draw.randint(1, 2)):
        place, other = draw.randrange(len(lines)), draw.randrange(len(lines))
        if kind == "values":
            keys = [number for number, line in enumerate(lines) if " = " in line]
            place = draw.choice(keys)
            lines[place] = f"{lines[place].partition(' = ')[0]} = {draw.choice(VALUES)}"
        elif draw.random() < 0.5:
            lines.insert(place, lines.pop(other))
        else:
            lines[place] = draw.choice(("", lines[other], f"{lines[place]}\n{lines[place]}"))
    return "\n".join(lines)


def test_the_file_that_is_edited_is_valid(path):
    path.write_text(RICH)
    publication = lb.Publication.from_file(path)
    assert publication.check() == ()
    assert len(publication.plan().report.columns["question"]) == 7


@pytest.mark.parametrize("seed", range(500 if "LASTBIT_FUZZ" in os.environ else 12))
def test_random_edits_are_refused_clearly_or_give_a_valid_plan(path, seed):
    draw = random.Random(seed)
    for base in (RICH, RICH + LET):
        text = edit(base, draw)
        path.write_text(text)
        try:
            publication = lb.Publication.from_file(path)
            problems = publication.check()
            if not problems:
                plan = publication.plan()
                assert len(plan.report.columns["question"]) == len(publication.questions)
                assert plan.publication.mechanism.cost is not None
                assert lb.Publication.from_file(path).hash == publication.hash
        except StudyError as error:
            problems = error.problems
        except LedgerError:  # an edited address
            continue
        for problem in problems:
            assert problem.message.strip(), text
            assert problem.key or "TOML" in problem.message, (problem, text)
            assert "Traceback" not in problem.message
