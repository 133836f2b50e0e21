"""Every experiment at a tiny size: it measures, keeps, draws and reports, and the page is made of what it kept."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from experiments import __main__ as command
from experiments import datasets, harness, page
from lastbit import SystemBits
from tests.fixed_words import FixedWords


@pytest.fixture(autouse=True)
def fixed_chance(request, monkeypatch):
    """Experiments draw with the system's randomness: in so few runs there may be, by chance, nothing to average."""
    tape, generator = FixedWords(request.node.name), np.random.default_rng
    monkeypatch.setattr(SystemBits, "words", lambda self, n: tape.words(n))
    monkeypatch.setattr(SystemBits, "raw", lambda self, n: tape.words(n))
    monkeypatch.setattr(np.random, "default_rng", lambda seed=0: generator(seed))


@pytest.fixture
def setting() -> harness.Setting:
    whole, *_, partial = datasets.load(None, command.TINY_ITEMS)
    return harness.Setting((whole, replace(partial, share=Fraction(1, 10))), tiny=True, workers=1)


@pytest.mark.parametrize("name", harness.EXPERIMENTS)
def test_runs_and_reports(name, setting, tmp_path):
    folder = tmp_path / "experiments"
    harness.record(name, setting, folder)
    harness.draw(name, folder)
    page.write(folder)
    rows = harness.read_rows(folder / f"{name}.csv")
    facts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    assert f"(experiments/{name}.md)" in (tmp_path / "experiments.md").read_text(encoding="utf-8")
    assert rows
    assert "lastbit 0" in facts["machine"]
    assert harness.module_of(name).TITLE in text
    assert facts["repetitions"] in text
    assert facts["machine"] in text
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / f"{name}.svg").read_text(encoding="utf-8")
    assert not re.search(r"\bnan\b|\binf\b", text)


@pytest.mark.parametrize("name", harness.EXPERIMENTS)
def test_the_files_in_the_docs_are_there_and_small(name):
    for kind in ("csv", "json", "png", "svg"):
        assert 0 < (harness.FIGURES / f"{name}.{kind}").stat().st_size < 300_000
    assert json.loads((harness.FIGURES / f"{name}.json").read_text(encoding="utf-8"))["tiny"] is False


def test_the_pages_are_what_the_files_say():
    written = page.pages(harness.FIGURES)
    assert {path: path.read_text(encoding="utf-8") for path in written} == written
    assert {*harness.FIGURES.glob("*.md")} < written.keys()


def test_a_loaded_machine_is_said_to_be(setting):
    calm = {"processor_share": 0.99, "load": 0.1}
    assert "other work" not in page._company(calm)
    assert "other work" in page._company(calm | {"processor_share": 0.6})


def test_processes_give_what_one_gives(tmp_path):
    paths = [tmp_path / f"{n}.csv" for n in range(4)]
    for n, path in enumerate(paths):
        harness.write_rows(path, [{"n": n}, {"n": -n}])
    alone, together = (
        harness.spread_out(harness.read_rows, paths, harness.Setting((), workers=workers), "files")
        for workers in (1, 2)
    )
    assert together == alone == [{"n": n} for index in range(4) for n in (index, -index)]


def test_rows_survive_a_file(tmp_path):
    rows = [{"name": "a", "whole": 3, "real": 0.25}, {"name": "b", "whole": 4}]
    harness.write_rows(tmp_path / "rows.csv", rows)
    assert harness.read_rows(tmp_path / "rows.csv") == rows


def test_the_command_names_what_it_has(capsys):
    with pytest.raises(SystemExit):
        command.main(["nonsense"])
    assert "gap_figure1" in capsys.readouterr().err
