"""The converter of public .dat files, and that the experiments find what it writes."""

import csv
from fractions import Fraction

import numpy as np

import lastbit as lb
from experiments import convert, datasets, free_gap


def test_a_dat_file_becomes_counts_that_the_experiments_read(tmp_path, capsys):
    (tmp_path / "kosarak.dat").write_text("1 2 3\n2 3 3\n\n3\n", encoding="utf-8")
    (tmp_path / "BMS-POS.csv").write_text("7,8\n8\n", encoding="utf-8")
    (tmp_path / "own.dat").write_text("a\tb\na\n", encoding="utf-8")
    folder = tmp_path / "counts"
    names = [str(tmp_path / name) for name in ("kosarak.dat", "BMS-POS.csv", "own.dat")]
    convert.main([*names, "--to", str(folder)])
    said = capsys.readouterr().err
    assert "3 records, 3 items, the papers state 990,002 and 41,270" in said
    assert "own-counts.csv: 2 records, 2 items\n" in said
    with (folder / "kosarak-counts.csv").open(encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["item", "count"], ["3", "3"], ["2", "2"], ["1", "1"]]
    found = {each.name: each for each in datasets.load(folder)}
    assert found["Kosarak"].counts[:4].tolist() == [3, 2, 1, 0]
    assert len(found["Kosarak"].counts) == 41_270
    assert found["BMS-POS"].counts[:2].tolist() == [2, 1]


def test_the_published_sizes_are_recognised(tmp_path):
    data = datasets.PUBLISHED[0]
    lines = [f"{i % data.items}\n" for i in range(data.records)]
    (tmp_path / "T40I10D100K.dat").write_text("".join(lines), encoding="utf-8")
    assert convert.convert(tmp_path / "T40I10D100K.dat", tmp_path).endswith("as the papers state")
    assert all(each.source.startswith("http") for each in datasets.PUBLISHED)


def test_joint_estimates_in_floats_are_those_of_the_law():
    law = lb.SparseVector(threshold=0, limit=4, epsilon=1, measure="1/2").reported_law
    owners = np.array([0, 0, 0, 2])
    alpha = [3, 7, 1, 9]
    gaps = [5, 4, 8, 2]
    moves = free_gap.joint_moves(law, owners, np.array(gaps) - np.array(alpha), 3)
    for run in (0, 2):
        mine = [i for i, owner in enumerate(owners) if owner == run]
        exact = law.estimates([Fraction(alpha[i]) for i in mine], [Fraction(gaps[i]) for i in mine])
        assert np.allclose([alpha[i] + moves[i] for i in mine], [float(each) for each in exact])
