"""Programs of other people: every form that they may have, and errors that their authors can read."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from lastbit import cli
from lastbit.audit.own_programs import list_draws
from lastbit.chance.draw import Draw

OWN = """
import lastbit as lb

RATE = lb.Rate.from_epsilon(1)

def cut_off(value):
    return lambda draw: value + max(-3, min(3, draw.laplace(RATE)))

def whole(value):
    return lambda draw: value + draw.laplace(RATE)

def on_values(values, draw):
    return values[0] + draw.laplace(RATE)

def wrong_name(draw):
    return draw.uniform(3)

def wrong_later(value):
    return lambda draw: [][value]

def no_program(value):
    return value

def coin(draw):
    return draw.bernoulli("1/2")

def other_coin(draw):
    return draw.bernoulli("2/3")

def too_many(one, two, three):
    return 1
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Any:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)

    def run(command: str) -> tuple[int, str]:
        code = cli._run(shlex.split(f"audit own.py:{command} --tolerance 1e-3"), debug=False)
        shown = capsys.readouterr()
        return code, shown.out + shown.err.splitlines()[-1]

    return run


def test_a_program_of_one_value_is_audited_on_two_values(run: Any) -> None:
    code, text = run("cut_off --values 0 --neighbour 1 --epsilon 1")
    assert (code, text.startswith("violated")) == (1, True)
    assert run("whole --values 0 --neighbour 1 --epsilon 1.001")[0] in (0, 4)
    assert run("on_values --values 0 --neighbour 1 --epsilon 1.001")[0] in (0, 4)
    assert run("coin --neighbour other_coin --epsilon 1")[0] == 0


def test_the_errors_of_a_program_are_shown_with_the_methods_of_a_draw(run: Any) -> None:
    code, text = run("wrong_name --neighbour coin --epsilon 1")
    assert code == 2
    assert "your program raised AttributeError: " in text
    assert "'uniform'" in text
    assert "line 16 of own.py" in text
    assert list_draws() in text
    code, text = run("wrong_later --values 0 --neighbour 1 --epsilon 1")
    assert (code, "your program raised IndexError: list index out of range, line 19" in text) == (2, True)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no_program --values 0 --neighbour 1", "returned a int, and no function of a draw"),
        ("too_many --values 0 --neighbour 1", "got 3 arguments"),
        ("coin --neighbour missing", "there is no program named missing"),
        ("on_values --neighbour 1", "pass --values"),
        ("coin --values 0 --neighbour 1", "'int' object has no attribute 'bernoulli'"),
    ],
)
def test_a_program_of_another_form_is_refused_in_words(run: Any, command: str, message: str) -> None:
    code, text = run(f"{command} --epsilon 1")
    assert (code, message in text) == (2, True), text


def test_the_methods_that_are_listed_are_those_of_a_draw_on_both_pages() -> None:
    for call in list_draws().replace("), ", ")|").split("|"):
        assert hasattr(Draw, call.partition("(")[0])
        for page in ("auditing.md", "howto/auditing.md"):
            assert f"`{call}`" in Path(__file__).parents[2].joinpath("docs", page).read_text()
