"""The sparse vector paper's two listings that break privacy when followed to the letter: errata A1 and A2."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.papers.sparse_vector import Gaps, Inputs, disc_sv, sim_gap_sv
from lastbit.papers.sparse_vector_sampling import clamp, cond_lazy_threshold, lazy_threshold
from lastbit.privacy.eta import Eta

ETA1, ETA2, TOTAL = Eta(1, 1, 1), Eta(1, 2, 1), Eta(1, 3, 1)
"""η₁ = 1, η₂ = 2, and their sum: the cost that both listings state."""


def printed_sim_gap_sv(draw: Draw, inputs: Inputs) -> tuple[Gaps, ...]:
    """Run SIMGAPSV, Algorithm 5, as printed: line 11 conditions every gap on the noisy threshold itself."""
    answers: list[Gaps] = []
    base = inputs.query_rate.fraction
    rho = inputs.draw_clamped_rho(draw)
    count = 0
    for query in inputs.queries:
        rho_i = clamp(rho, query, inputs.w)
        above = [lazy_threshold(draw, base, rho_i - query)]
        if above[0]:
            for gap in inputs.gaps:
                tau_c = rho_i - query
                tau = gap + tau_c
                above.append(above[-1] and cond_lazy_threshold(draw, base, tau, tau_c))
            answers.append(tuple(above))
            count += 1
            if count >= inputs.c:
                break
        else:
            answers.append((False,))
    return tuple(answers)


def printed_disc_sv(draw: Draw, inputs: Inputs) -> tuple[bool, ...]:
    """Run DISCSV, Algorithm 2, with line 7 as section 4 replaces it: ρ̂ - q is not clamped around the query."""
    answers: list[bool] = []
    base = inputs.query_rate.fraction
    rho = inputs.draw_clamped_rho(draw)
    count = 0
    for query in inputs.queries:
        answer = lazy_threshold(draw, base, rho - query)
        answers.append(answer)
        if answer:
            count += 1
        if count >= inputs.c:
            break
    return tuple(answers)


def gap_instance(mechanism: Callable[[Draw, Inputs], Hashable], gaps: int) -> tuple[Program, Program]:
    """Return erratum A1's neighbours, with gaps 1, 2, …"""
    return _pair(mechanism, [0, 0, 2], [1, 1, 1], (-4, 4), 8, range(1, gaps + 1))


def no_clamp_instance(mechanism: Callable[[Draw, Inputs], Hashable], n: int) -> tuple[Program, Program]:
    """Return the programs on the neighbours of erratum A2, with n queries."""
    return _pair(mechanism, [0] * n, [1] * n, (0, 1), 1, ())


def _pair(
    mechanism: Callable[[Draw, Inputs], Hashable],
    values: list[int],
    neighbour: list[int],
    query_range: tuple[int, int],
    width: int,
    gaps: range | tuple[()],
) -> tuple[Program, Program]:
    def program(queries: list[int]) -> Program:
        inputs = Inputs(queries, query_range, width=width, limit=1, eta1=ETA1, eta2=ETA2, gaps=gaps)
        return lambda draw: mechanism(draw, inputs)

    return program(values), program(neighbour)


PRINTED_GAPS = Case(
    "sparse vector with gaps, as printed",
    "Ilvento, sparse vector, Algorithm 5 line 11",
    "Every gap is drawn given only that the query is above, and not that the query reached the gap before. So each ⊤ "
    "after the first is a new look at the query. The budget pays for one look only.",
    *gap_instance(printed_sim_gap_sv, 3),
    TOTAL,
    gap_instance(sim_gap_sv, 3),
    kind="misprint",
    erratum="A1",
)

PRINTED_UNCLAMPED = Case(
    "sparse vector with an unclamped threshold",
    "Ilvento, sparse vector, section 4",
    "The noisy threshold ends at Q_max + w, so near its end it cannot move up when the queries move up. Then every ⊥ "
    "tells a little, without limit. The clamp around each query hides the end.",
    *no_clamp_instance(printed_disc_sv, 10),
    TOTAL,
    no_clamp_instance(disc_sv, 10),
    kind="misprint",
    erratum="A2",
)

CASES = (PRINTED_GAPS, PRINTED_UNCLAMPED)
