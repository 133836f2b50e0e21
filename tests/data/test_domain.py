"""Domains that are typed as ranges, and the limit of combinations."""

from __future__ import annotations

import pandas as pd
import pytest

import lastbit as lb
from lastbit.data import domain
from lastbit.data.domain import check_combinations, parse_range
from tests.table_readers import make_items


def test_ranges_of_numbers_and_of_times() -> None:
    assert parse_range("-2..1") == range(-2, 2)
    assert list(parse_range("-5..6:5")) == [-5, 0, 5]
    assert parse_range("2026-02-27..2026-03-01") == ("2026-02-27", "2026-02-28", "2026-03-01")
    assert parse_range("2020-W52..2021-W01") == ("2020-W52", "2020-W53", "2021-W01")
    assert parse_range("2026-01..2026-01") == ("2026-01",)
    assert len(parse_range("1000-01..9999-12")) == 9000 * 12
    for text in ("1..2..3", "a..b", "2026..2026-01", "1.5..3", "1..9:", "٣..٩"):
        assert parse_range(text) is None
    for text in (
        "5..4",
        "1..9:0",
        "2026-02..2026-01",
        "2026-13..2027-01",
        "2026-02-30..2026-03-01",
        "2025-W53..2026-W01",
    ):
        with pytest.raises(lb.ParameterError, match="domain must"):
            parse_range(text)
    with pytest.raises(lb.ParameterError, match="at most 20,000,000 items: got 100,000,001"):
        parse_range("0..100000000")
    assert len(parse_range("0..999999999:10000")) == 100_000


def test_a_product_domain_says_its_limit_before_memory_does() -> None:
    message = "at most 10,000,000 combinations: got 400 x 400 x 400. Name fewer items, or fewer columns"
    with pytest.raises(lb.ParameterError, match=message):
        _ = make_items(by=["a", "b", "c"], domain=["1..400"] * 3).size
    frame = pd.DataFrame({"a": [1], "b": [1], "c": [1]})
    with pytest.raises(lb.ParameterError, match=message):
        lb.count(frame, by=["a", "b", "c"], domain=[range(400)] * 3)
    with pytest.raises(lb.ParameterError, match=message):
        lb.per_unit(frame.assign(d=1), of="d", bounds=(0, 1), by=["a", "b", "c"], domain=[range(400)] * 3)
    check_combinations([10_000, 1_000])
    check_combinations([10**8])
    with pytest.raises(lb.ParameterError, match="combinations"):
        check_combinations([10_000, 1_001])


def test_the_limit_is_asked_before_a_product_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain, "_MOST_COMBINATIONS", 5)
    assert len(domain.combine_domains([(1, 2), (1, 2)])) == 4
    with pytest.raises(lb.ParameterError, match="at most 5 combinations: got 2 x 3"):
        domain.combine_domains([(1, 2), (1, 2, 3)])
