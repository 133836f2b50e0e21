"""What a notebook shows of laws and verdicts: the table, and the chart that goes with it."""

import re

import pytest

import lastbit as lb
from lastbit import audit


def bars(html: str) -> list[float]:
    return [float(width) for width in re.findall(r'<rect class="bar"[^>]* width="([\d.]+)"', html)]


def test_a_law_has_a_bar_for_each_outcome_as_long_as_it_is_likely() -> None:
    law = audit.law(lambda draw: draw.index([1, 2, 5]))
    html = law._repr_html_()
    assert html.index("</table>") < html.index("<svg")
    longest, middle, shortest = bars(html)
    assert (middle / longest, shortest / longest) == (pytest.approx(2 / 5, abs=1e-2), pytest.approx(1 / 5, abs=1e-2))


def test_a_verdict_shows_the_loss_beside_the_loss_that_is_allowed() -> None:
    coin = [lambda draw, p=p: draw.bernoulli(p) for p in ("2/3", "1/3")]
    html = audit.compare(*coin, lb.Eta(1, 1, 2))._repr_html_()
    found, most = bars(html)
    assert "holds" in html
    assert found / most == pytest.approx(1 / 2, abs=1e-2)


def test_a_loss_without_an_end_is_a_line_and_no_bar() -> None:
    html = audit.compare(lambda draw: 0, lambda draw: 1, 1)._repr_html_()
    assert len(bars(html)) == 1
    assert html.count('class="interval"') == 1


def test_a_claim_in_rho_shows_what_was_measured() -> None:
    mechanism = lb.NoisyMax(eta=lb.Eta(1, 1, 2), resolution=1)
    html = audit.check(mechanism, [0, 1], [1, 0], "1/10000", cost=lb.Cost.zcdp("0.2403"))._repr_html_()
    found, allowed = bars(html)
    assert found > 2 * allowed
    assert ">divergence<" in html


def test_verdicts_name_their_neighbours_as_people_write_them() -> None:
    mechanism = lb.ExponentialMechanism(epsilon=1, resolution="1/2", sensitivity="1/2", monotone=True)
    verdicts = audit.check_all(mechanism, [0, 1])
    html = verdicts._repr_html_()
    assert "<td>-1/2, 1</td>" in html
    assert len(bars(html)) == len(verdicts.each) + 1  # and what is allowed
