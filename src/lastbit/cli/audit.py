"""`lastbit audit`: the exact law of a mechanism or of your own program, its loss, and a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lastbit.cli.files import check_outputs, replace_file
from lastbit.cli.streams import say
from lastbit.cli.verdicts import Unit, describe_branches, law_data, texts_of
from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.report import print_json

if TYPE_CHECKING:
    from lastbit.audit.laws import Law
    from lastbit.audit.progress import TimeBudget
    from lastbit.audit.target import Target
    from lastbit.audit.verdict import Verdict
    from lastbit.privacy.cost import Cost

SECONDS = 30.0
MANY = 20_000
"""Comparing so many outcomes takes a while, and is announced."""
EXIT = {"holds": 0, "violated": 1, "undecided": 4}

EPILOG = """\b
Example:
  lastbit audit DiscreteLaplace --set eta=1,1,1 --values 3 --neighbour 4
  lastbit audit NoisyMax --set epsilon=1 --set resolution=1 --values 0,1 --all --tolerance 1/1000
  lastbit audit mymechanism.py:program --neighbour other --epsilon 1 --delta 1e-6 --profile profile.png
  lastbit audit NoisyMax --set epsilon=1 --set resolution=1 --values 0,1 --neighbour 1,0 --rho 1/8
  lastbit audit PrivateSelection --set candidate_cost=1 --set most=3 --values 0,0 --all
  lastbit audit --gallery
\b
The exit code is 0 when the cost holds, 1 when it is violated, and 4 when the audit could not decide."""


def audit(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[MECHANISM|FILE.py:PROGRAM]", help="A mechanism of lastbit, or your own program."),
    ] = None,
    values: Annotated[str | None, typer.Option(metavar="A,B,…", help="The values that the program runs on.")] = None,
    neighbour: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Neighbouring values, or the name of another program.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Compare with every neighbour on the grid.")] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the mechanism. Repeat --set for more."),
    ] = None,
    epsilon: Annotated[str | None, typer.Option(metavar="NUMBER", help="The cost that your program claims.")] = None,
    eta: Annotated[str | None, typer.Option(metavar="X,Y,Z", help="The claimed cost in base 2.")] = None,
    rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="The claimed rho of zCDP.")] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The claimed delta, beside an epsilon, an eta or a rho.")
    ] = None,
    tolerance: Annotated[
        str, typer.Option(metavar="NUMBER", help="The probability that may stay unexplored.")
    ] = "1e-9",
    seconds: Annotated[
        float, typer.Option(metavar="NUMBER", help="Stop after this time, and judge by what was found so far.")
    ] = SECONDS,
    unit: Annotated[str, typer.Option(metavar="bits|nats", help="The unit of every loss.")] = "nats",
    table: Annotated[bool, typer.Option("--table", help="Show the laws after the verdict.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the law, or both laws, into a picture.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the exact delta at every epsilon into a picture.")
    ] = None,
    gallery: Annotated[
        bool, typer.Option("--gallery", help="Run every mistake that the auditor must convict, and every attack.")
    ] = False,
) -> None:
    """Follow every branch of a program with exact probabilities. Say whether its privacy loss is within its cost."""
    measure = Unit(unit)
    if gallery:
        _run_gallery(measure, as_json)
        return
    if target is None:
        raise ParameterError("audit needs a mechanism, FILE.py:PROGRAM, or --gallery.")
    from lastbit.audit.profile import Profile
    from lastbit.audit.progress import TimeBudget, show_progress
    from lastbit.audit.target import Target, plot_laws

    if profile is not None and (every or neighbour is None):
        raise ParameterError("--profile compares two laws: pass --neighbour, and not --all.")
    if every and (neighbour is not None or table or plot is not None):
        raise ParameterError("--all compares many laws, and shows none. Leave out --neighbour, --table and --plot.")
    TimeBudget(seconds)  # refuses what is no time
    subject = Target.find(target, settings or [], _parse_cost(epsilon, eta, rho, delta))
    setting_files = [text.partition("=")[2] for text in settings or []]
    check_outputs(
        {"--plot": plot, "--profile": profile},
        [name.rpartition(":")[0] for name in (target, *setting_files) if ":" in name],
    )
    if not every:
        subject.check(values, neighbour, tolerance)
    say(f"following the branches of {target}, for at most {seconds:g} s (--seconds)")
    with show_progress():
        if every:
            _audit_all(subject, values, tolerance, seconds, measure, as_json=as_json)
        budget = TimeBudget(seconds)
        laws = subject.laws(values, neighbour, tolerance, budget)
    answer, line, data = _judge(subject, laws, tolerance, budget, measure)
    data |= {"branches": sum(law.branches for law in laws), "unexplored": max(float(law.unexplored) for law in laws)}
    if table or len(laws) == 1:
        names = ("law", "neighbour_law")
        data |= {name: law_data(law) for name, law in zip(names, laws, strict=False)} if as_json else {}
    if as_json:
        print_json(data)
    else:
        body = "\n\n".join(map(str, laws)) if table or len(laws) == 1 else describe_branches(laws)
        print(f"{line}\n{body}" if line else body)
    if plot is not None:
        with _replace_picture("--plot", plot) as name:
            plot_laws(laws, name)
    if profile is not None:
        with _replace_picture("--profile", profile) as name:
            Profile(laws[0], laws[1]).plot(name, subject.cost)
    if answer == "undecided":
        _say_undecided(tolerance, seconds)
    raise typer.Exit(EXIT[answer])


@contextmanager
def _replace_picture(option: str, path: str) -> Iterator[str]:
    """Give the name to draw into. A full disk takes nothing away: the verdict is printed already."""
    try:
        with replace_file(option, path) as name:
            yield name
    except OSError as error:
        raise LastbitError(f"the picture {path} could not be written: {error.strerror}.") from None


def _judge(
    subject: Target, laws: list[Law], tolerance: str, budget: TimeBudget, unit: Unit
) -> tuple[str, str, dict[str, Any]]:
    """Return the verdict, its line and its data; without a neighbour there is nothing to judge."""
    from lastbit.audit.losses import Loss

    if len(laws) == 1:
        return "holds", "", {"verdict": None}
    outcomes = sum(map(len, laws))
    if outcomes > MANY:
        say(f"comparing {outcomes:,} outcomes")
    judgement = subject.judge(laws[0], laws[1], tolerance, budget)
    if isinstance(judgement, Loss):
        return "holds", f"{unit.loss(judgement)}; no cost was claimed", {"verdict": None, **unit.loss_data(judgement)}
    return judgement.verdict, unit.verdict(judgement), unit.verdict_data(judgement)


def _audit_all(
    subject: Target, values: str | None, tolerance: str, seconds: float, unit: Unit, *, as_json: bool
) -> None:
    """Judge every neighbour, and leave with the worst verdict."""
    verdicts = subject.check_all(values, tolerance, seconds)
    worst = verdicts.worst
    if as_json:
        counts = {"neighbours": len(verdicts.each), "complete": verdicts.complete}
        print_json({**unit.verdict_data(worst), "verdict": verdicts.verdict, **counts})
    else:
        print(f"{verdicts.verdict} on {verdicts.tried}")
        print(f"worst, on {', '.join(texts_of(worst.neighbour) or [])}: {unit.verdict(worst)}")
    if verdicts.verdict == "undecided":
        _say_undecided(tolerance, seconds)
    raise typer.Exit(EXIT[verdicts.verdict])


def _say_undecided(tolerance: str, seconds: float) -> None:
    say(
        f"{seconds:g} s or a tolerance of {tolerance} were not enough. To go on longer: --seconds {10 * seconds:g}. "
        "Fewer branches: smaller values, a coarser grid (--set resolution=1), or --tolerance 1e-3."
    )


def _parse_cost(epsilon: str | None, eta: str | None, rho: str | None, delta: str | None) -> Cost | None:
    from lastbit.exact.numbers import whole
    from lastbit.privacy.cost import Cost
    from lastbit.privacy.eta import Eta

    if epsilon is None and eta is None and rho is None:
        if delta is not None:
            raise ParameterError("--delta needs --epsilon, --eta or --rho beside it.")
        return None
    parts = None if eta is None else [whole(part, "eta") for part in eta.split(",")]
    if parts is not None and len(parts) != 3:
        raise ParameterError(f"eta must be X,Y,Z: got {eta}.")
    zcdp_cost = Cost.zcdp(1 if rho is None else rho, 0 if delta is None else delta)
    if epsilon is None and parts is None:
        return zcdp_cost
    pure_cost = Cost.asked(epsilon, None if parts is None else Eta(*parts))
    return Cost(pure_cost.epsilon, None if rho is None else zcdp_cost.claimed_rho, zcdp_cost.delta)


def _run_gallery(unit: Unit, as_json: bool) -> None:
    from lastbit.audit.attacks.attack import all_attacks
    from lastbit.audit.broken.case import KINDS
    from lastbit.audit.broken.gallery import GALLERY, count_kinds, hear
    from lastbit.release import text_table

    rows, cases, attacks, wrong = [], [], [], 0
    for place, case in enumerate(GALLERY, start=1):
        say(f"{place} of {len(GALLERY)}: {case.name}")
        hearing = hear(case)
        repaired = "" if hearing.repaired is None else _short_text(hearing.repaired, unit)
        claim, lost = unit.claim(hearing.published.cost), _short_text(hearing.published, unit)
        rows.append([case.name, KINDS[case.kind], claim, lost, repaired])
        fixed = None if hearing.repaired is None else unit.verdict_data(hearing.repaired)
        published = unit.verdict_data(hearing.published)
        cases.append({"name": case.name, "kind": KINDS[case.kind], "published": published, "repaired": fixed})
        wrong += hearing.published.verdict != "violated" or bool(hearing.repaired and not hearing.repaired.holds)
    if not as_json:
        names = ["mechanism", "kind", "claims", "loses at least", "repaired loses"]
        print(text_table(names, rows), count_kinds(), sep="\n", end="\n\n", flush=True)
    say("the attacks")
    for attack in all_attacks():
        if not as_json:
            print(attack, flush=True)
        attacks.append({"attack": str(attack), "succeeds": attack.succeeds, "withstood": attack.fails_on_ours})
        wrong += not (attack.succeeds and attack.fails_on_ours)
    if as_json:
        print_json({"cases": cases, "attacks": attacks})
    raise typer.Exit(1 if wrong else 0)


def _short_text(verdict: Verdict, unit: Unit) -> str:
    plain = verdict.measured.claim == "epsilon" and not verdict.cost.delta
    amount = unit.text(verdict.loss.lower, "down") if plain else verdict.measured.short
    return f"{amount} ({verdict.verdict})"
