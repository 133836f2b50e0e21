"""Plain words of a question are parsed as the library of commands parses them, or are left to it."""

from __future__ import annotations

import random
import shlex
import sys
from typing import Any

import pytest
import typer

from lastbit import cli
from lastbit.cli.app import make_app
from lastbit.cli.catalog import Command
from lastbit.cli.commands import make_command
from lastbit.cli.grammar import spell_plainly
from lastbit.cli.plain_words import (
    COMPLETION,
    expand_arguments,
    find_plain_question,
    list_options,
    parse_plain_words,
    refuse_flags,
)
from lastbit.errors import LastbitError
from lastbit.questions.kinds import KINDS
from tests import processes

OPERANDS = [
    "visits.csv",
    "-",
    "a b",
    "0",
    "-1",
    "--",
    "",
    "x=1",
    "--help",
    "--unknown",
    "--of=cost",
    "-k3",
    "=",
    "auto",
]


def parse_with_library(name: str, words: list[str]) -> dict[str, Any] | None:
    """What the library of commands makes of the words; None where it refuses them, or shows its help."""
    seen: list[dict[str, Any]] = []
    command = make_command(list_options(KINDS[name]), seen.append, name, "")
    app: Any = typer.main.get_command(make_app([Command((name,), "", lambda: (command, ""))]))
    try:
        app(args=[name, *words], prog_name="lastbit", standalone_mode=False)
    except Exception:
        return None
    return seen[0] if seen else None


def parse_plainly(name: str, words: list[str]) -> dict[str, Any] | None:
    """What the plain parser makes of them, with all that a command does to its words before."""
    try:
        values = parse_plain_words(list_options(KINDS[name]), spell_plainly(words, names_json=True))
        if values is not None:
            refuse_flags(list_options(KINDS[name]), values)
    except LastbitError:
        return None
    return values


@pytest.mark.parametrize("name", KINDS)
def test_every_example_is_plain_and_read_alike(name: str) -> None:
    for example in KINDS[name].examples:
        words = expand_arguments(shlex.split(example))[1:]
        assert parse_plainly(name, words) is not None
        assert parse_plainly(name, words) == parse_with_library(name, words)


@pytest.mark.parametrize("name", KINDS)
def test_random_words_are_read_alike_or_left_to_the_library(name: str, capsys: Any) -> None:
    chance = random.Random(f"words of {name}")
    options = list_options(KINDS[name])
    plain = 0
    for _ in range(60):
        words: list[str] = []
        for _ in range(chance.randrange(1, 7)):
            option = chance.choice(options)
            if not option.positional and chance.random() < 0.8:
                size = option.type.words if chance.random() < 0.9 else chance.randrange(3)
                words += [option.flag, *chance.choices(["7", "cost", *OPERANDS], k=size)]
            else:
                words.append(chance.choice(OPERANDS))
        values = parse_plainly(name, words)
        if values is not None:
            plain += 1
            assert values == parse_with_library(name, words), words
    assert plain > 10


@pytest.mark.parametrize("words", ["--help", "v.csv --unit", "v.csv --unknown 1", "v.csv --unit=a", "v.csv -- a"])
def test_words_that_are_not_plain_are_left_to_the_library(words: str) -> None:
    assert find_plain_question(["count", *shlex.split(words)]) is None
    assert find_plain_question(["count"]) is None
    assert find_plain_question(["budget", "show"]) is None


def test_a_shell_that_completes_gets_its_answer_from_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_plain_question(["count", "v.csv"]) is not None
    monkeypatch.setenv(COMPLETION, "complete_bash")
    assert find_plain_question(["count", "v.csv"]) is None


def test_a_plain_question_does_not_load_the_library_and_its_errors_read_the_same(capsys: Any) -> None:
    program = "import sys; from lastbit.cli import main; main()"
    done = processes.run(
        [sys.executable, "-c", f"import sys; sys.modules['typer'] = None; {program}", "count", "no.csv"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == cli.USAGE
    assert cli._run(["count", "no.csv"], debug=False) == cli.USAGE
    assert done.stderr == capsys.readouterr().err
    assert "--epsilon" in done.stderr
