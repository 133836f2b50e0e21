"""Counts from files, and generated ones."""

import numpy as np
import pytest

from experiments.datasets import PUBLISHED, load, read_unpublished


def write(path, counts):
    path.write_text("item,count\n" + "".join(f"{i},{count}\n" for i, count in enumerate(counts)), encoding="utf-8")


def test_generated_counts_have_the_published_sizes():
    for made, published in zip(load(None), PUBLISHED, strict=True):
        assert len(made.counts) == published.items
        assert (np.diff(made.counts) <= 0).all()
        assert made.counts[0] <= published.records


def test_a_partial_copy_is_filled_up_and_says_so(tmp_path):
    write(tmp_path / "kosarak-first100k-counts.csv", [7, 90, 3])
    (kosarak,) = load(tmp_path)
    assert kosarak.counts[:4].tolist() == [90, 7, 3, 0]
    assert len(kosarak.counts) == 41_270
    assert "3 of 41,270 items, 100,000 of 990,002 records" in kosarak.origin
    assert kosarak.enlarge().counts[:2].tolist() == [90 * 990_002 // 100_000, 7 * 990_002 // 100_000]


def test_any_other_folder_gives_its_three_largest_files(tmp_path):
    for size in (5, 9, 7, 8):
        write(tmp_path / f"set{size}.csv", range(1, size))
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert [each.name for each in load(tmp_path)] == ["set7", "set8", "set9"]


def test_a_folder_without_counts_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="item,count"):
        load(tmp_path)


def test_files_that_no_paper_measured_come_beside_the_papers(tmp_path):
    write(tmp_path / "names-counts.csv", range(1, 151))
    write(tmp_path / "short-counts.csv", range(1, 100))
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert read_unpublished(tmp_path) == ()
    write(tmp_path / "kosarak-first100k-counts.csv", range(1, 201))
    (names,) = read_unpublished(tmp_path, 5)
    assert (names.name, names.counts.tolist()) == ("names", [150, 149, 148, 147, 146])
    assert [each.name for each in load(tmp_path)] == ["Kosarak"]
