"""A domain is read once: what is counted and what the books keep are the same items, wherever they come from."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.domain import Domain
from lastbit.questions.domains import Domains
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from tests import processes


def feed(path: Path, first: str, then: str) -> threading.Event:
    """Write a text to who opens the pipe, and another to who opens it after the event."""
    read = threading.Event()

    def write() -> None:
        path.write_text(first)
        read.wait(600)
        path.write_text(then)

    threading.Thread(target=write, daemon=True).start()
    return read


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the machine has no named pipes")
def test_a_domain_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "items"
    os.mkfifo(pipe)
    read = feed(pipe, "flu\ncold\n", "other\nitems\n")
    asked = {"source": "visits.csv", "by": "item", "domain": str(pipe), "epsilon": 1, "k": 1}
    request = KINDS["top"].parse(asked)
    read.set()
    assert request.items.names == ("flu", "cold")
    assert identity_of(request)["options"]["domain"] == {"item": Domain.parse(["flu", "cold"]).digest}
    assert request.items.names == ("flu", "cold")
    assert pipe.read_text() == "other\nitems\n"  # nobody has read it


def test_a_file_that_changes_is_what_it_was_when_it_was_read(tmp_path: Path) -> None:
    file = tmp_path / "items.txt"
    file.write_text("flu\ncold\n")
    domain = Domain.parse(str(file))
    file.write_text("other\nitems\n")
    assert domain.items == ("flu", "cold")
    assert domain.digest == Domain.parse(["flu", "cold"]).digest


@pytest.mark.skipif(sys.platform == "win32", reason="no shell with <( )")
def test_a_list_through_a_pipe_is_charged_and_known_again(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("patient,item\n" + "".join(f"{place},flu\n" for place in range(200)))
    (tmp_path / "items.txt").write_text("flu\ncold\n")
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=2)
    command = (
        f"{sys.executable} -m lastbit top visits.csv --by item --unit patient -k 1 --epsilon 1 "
        "--ledger budget.db --dataset clinic --reuse --json --domain {}"
    )
    for items in ("<(cat items.txt)", "items.txt", "flu,cold"):
        done = processes.run(
            ["bash", "-c", command.format(items)], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert '"flu"' in done.stdout
    assert lb.Ledger(tmp_path / "budget.db").account("clinic").spent == 1


@pytest.mark.parametrize(
    ("value", "face", "items"),
    [
        ("1..3", "command", [range(1, 4)]),
        (["1..3", "a,b"], "command", [range(1, 4), ("a", "b")]),
        (["1..3", "a,b"], "python", [("1..3", "a,b")]),
        (["1..3"], "service", [range(1, 4)]),
        ([["1..3"], ["a", "b"]], "service", [range(1, 4), ("a", "b")]),
        ({"x": "1..3", "y": ["a"]}, "python", [range(1, 4), ("a",)]),
        (range(1, 4), "python", [(1, 2, 3)]),
        ([1, 2.5, "a"], "python", [(1, 2.5, "a")]),
    ],
)
def test_texts_lists_and_mappings(value: Any, face: Any, items: list[Any]) -> None:
    assert [domain.items for domain in Domains().parse(value, "--domain", face)] == items


def test_what_is_written_is_read_back() -> None:
    """The same in Python asks the same, whatever the list is like."""
    for domain in (["flu"], ["1..3"], ["a, b", "", " c "], {"x": "1..3", "y": ["a,b", "c"]}, "1..3", [1, 2]):
        parsed = Domains().parse(domain, "--domain", "python")
        again = Domains().parse(Domains().plain(parsed), "--domain", "python")
        assert [item.digest for item in again] == [item.digest for item in parsed]


@pytest.mark.parametrize("text", ["D1..D8", "2024-1..2024-12", "0.5..2.5", "a..c"])
@pytest.mark.parametrize("face", ["command", "python", "page"])
def test_what_is_written_as_a_range_and_is_none_is_refused(text: str, face: Any) -> None:
    """As an item of this name it would be paid for, and find nobody."""
    with pytest.raises(lb.ParameterError, match="has ranges of whole numbers, days, weeks and months"):
        Domain.parse(text, face=face)
    assert Domain.parse([text, "other"]).items == (text, "other")
