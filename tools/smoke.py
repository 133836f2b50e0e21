"""What every installed lastbit must do, with nothing of the repository: `python smoke.py`, or `… smoke.py command`."""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import lastbit as lb


def library() -> None:
    """A selection, a stream, an audit; the list of public names; the compiled modules."""
    counts = lb.Counts(items=["flu", "gout"], values=[100_000, 3], monotone=True)
    assert lb.NoisyTopK.of(counts, k=1, epsilon=1).release(counts).items == ("flu",)
    run = lb.SparseVector(threshold=0, limit=1, epsilon=1).start()
    assert [run.ask(-100_000).above, run.ask(100_000).above] == [False, True]
    assert lb.audit.check(lb.NoisyMax(eta=lb.Eta(1, 1, 1), resolution=1), [1, 0], [0, 1], tolerance="1/1000").holds
    total = lb.exact_sum([0.5, 0.25] * 1000, bounds=(0, 1), resolution="1/4")
    assert 700 < lb.DiscreteLaplace.of(total, epsilon=1).release(total).values[0] < 800
    for name in ("chance._draws", "values._floors", "audit._tree", "_outcomes"):
        found = importlib.util.find_spec(f"lastbit.{name}")
        assert found is not None, name
        assert not str(found.origin).endswith(".py"), name
    assert "site-packages" in lb.__file__, f"lastbit is taken from {lb.__file__}"


def command() -> None:
    """A budget, a release from a file, and a refusal."""
    lastbit = str(Path(sys.executable).with_name("lastbit"))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "visits.csv").write_text("patient,diagnosis\n1,flu\n2,flu\n", encoding="utf-8")
        Path(folder, "domain.txt").write_text("flu\ngout\n", encoding="utf-8")
        books = ["--ledger", "budget.db"]
        top = [lastbit, "top", "visits.csv", "--by", "diagnosis", "--unit", "patient", "--domain", "domain.txt"]
        top += ["-k", "1", "--epsilon", "1", *books, "--dataset", "clinic", "--json"]
        subprocess.run([lastbit, "budget", "create", "clinic", *books, "--epsilon", "1"], cwd=folder, check=True)
        first, second = (subprocess.run(top, cwd=folder, text=True, capture_output=True) for _ in range(2))
        assert first.returncode == 0, first.stderr
        assert second.returncode != 0
        assert "the budget of" in second.stderr, second.stderr


(command if sys.argv[1:] == ["command"] else library)()
