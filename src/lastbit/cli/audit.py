"""`lastbit audit`: the exact law of a mechanism or of your own program, its loss, and a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lastbit.errors import ParameterError

if TYPE_CHECKING:
    from lastbit.privacy.cost import Cost

EXIT = {"holds": 0, "violated": 1, "undecided": 4}

_EXAMPLES = """\b
Example:
  lastbit audit DiscreteLaplace --set eta=1,1,1 --values 3 --neighbour 4
  lastbit audit NoisyMax --set epsilon=1 --set resolution=1 --values 0,1 --all --tolerance 1/1000
  lastbit audit mymechanism.py:program --neighbour other --epsilon 1 --delta 1e-6 --profile profile.png
  lastbit audit NoisyMax --set epsilon=1 --set resolution=1 --values 0,1 --neighbour 1,0 --rho 1/8
  lastbit audit --gallery
\b
The exit code is 0 when the cost holds, 1 when it is violated, and 4 when the audit could not decide."""


def register(app: typer.Typer) -> None:
    """Add the command to an application."""
    app.command("audit", epilog=_EXAMPLES)(audit)


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
    seconds: Annotated[float | None, typer.Option(metavar="NUMBER", help="Stop after this time.")] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the law, or both laws, into a picture.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the exact delta at every epsilon into a picture.")
    ] = None,
    gallery: Annotated[bool, typer.Option("--gallery", help="Run every known broken mechanism and attack.")] = False,
) -> None:
    """Follow every branch of a program with exact probabilities. Show its law, its privacy loss and a verdict."""
    if gallery:
        _gallery()
        return
    if target is None:
        raise ParameterError("audit needs a mechanism, FILE.py:PROGRAM, or --gallery.")
    from lastbit.audit.profile import Profile
    from lastbit.audit.target import Target, plot_laws

    if profile is not None and (every or neighbour is None):
        raise ParameterError("--profile compares two laws: pass --neighbour, and not --all.")
    found = Target.find(target, settings or [], _cost(epsilon, eta, rho, delta))
    if every:
        verdicts = found.check_all(values, tolerance, seconds)
        print(verdicts)
        raise typer.Exit(EXIT[verdicts.worst.verdict])
    laws = found.laws(values, neighbour, tolerance, seconds)
    print("\n\n".join(str(law) for law in laws))
    if plot is not None:
        plot_laws(laws, plot)
    if profile is not None:
        Profile(laws[0], laws[1]).plot(profile, found.cost)
    if neighbour is not None:
        text, answer = found.judge(laws[0], laws[1], tolerance)
        print(f"\n{text}")
        raise typer.Exit(EXIT[answer])


def _cost(epsilon: str | None, eta: str | None, rho: str | None, delta: str | None) -> Cost | None:
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
    apart = Cost.zcdp(1 if rho is None else rho, 0 if delta is None else delta)
    if epsilon is None and parts is None:
        return apart
    pure = Cost.asked(epsilon, None if parts is None else Eta(*parts))
    return Cost(pure.epsilon, None if rho is None else apart.stated_rho, apart.delta)


def _gallery() -> None:
    from lastbit.audit.attacks.everything import all_attacks
    from lastbit.audit.broken.gallery import hearings
    from lastbit.release import text_table

    rows = []
    wrong = 0
    for hearing in hearings():
        repaired = "" if hearing.repaired is None else hearing.repaired.in_bits
        rows.append([hearing.case.name, hearing.published.claims, hearing.published.in_bits, repaired])
        wrong += hearing.published.verdict != "violated" or bool(hearing.repaired and not hearing.repaired.holds)
    print(text_table(["mechanism", "claims", "loses at least", "repaired loses"], rows))
    print()
    for attack in all_attacks():
        print(attack)
        wrong += not (attack.succeeds and attack.withstood)
    raise typer.Exit(1 if wrong else 0)
