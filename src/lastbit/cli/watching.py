"""`lastbit watch`: which numbers of a stream are over a threshold, answered line by line as they come."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lastbit.errors import ParameterError
from lastbit.questions.options import Spending, cost_of

if TYPE_CHECKING:
    from lastbit.mechanisms.sparse_vector.adaptive import AdaptiveSparseVector
    from lastbit.mechanisms.sparse_vector.answers import Answer
    from lastbit.mechanisms.sparse_vector.run import Run
    from lastbit.mechanisms.sparse_vector.standard import SparseVector

RULE = (
    "A line without a number counts as the lowest number there is, and is answered below. Numbers are rounded down to "
    "whole steps."
)

_USUAL: Final[dict[str, Any]] = {"limit": 1, "sensitivity": "1", "resolution": "1", "key": "value"}
"""The defaults of options, which the books do not write."""


def watch(
    threshold: Annotated[str, typer.Option(metavar="NUMBER", help="Say which numbers are above this one.")],
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="End after this many answers above.")] = 1,
    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The cost of the whole run, such as 1, 0.5 or 1/3.")
    ] = None,
    rho: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The cost of the whole run in zCDP instead.")
    ] = None,
    sensitivity: Annotated[
        str, typer.Option(metavar="NUMBER", help="How far one person can move a number of the stream.")
    ] = "1",
    monotone: Annotated[
        bool,
        typer.Option("--monotone", help="One person who comes moves no number down, as in counts: half the noise."),
    ] = False,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Numbers far above cost less, so that more of them are answered.")
    ] = False,
    resolution: Annotated[
        str, typer.Option(metavar="NUMBER", help="The step of numbers, noise and gaps. The threshold is on a step.")
    ] = "1",
    key: Annotated[str, typer.Option(metavar="NAME", help="The key of the number, where lines are JSON.")] = "value",
    ledger: Annotated[
        str | None, typer.Option(metavar="FILE", help="The ledger to charge first: a file or a postgresql:// address.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="The account to charge.")] = None,
    note: Annotated[str, typer.Option(metavar="TEXT", help="A note for the ledger's history.")] = "",
    level: Annotated[
        str, typer.Option(metavar="NUMBER", help="The probability that an 'at least' is empty or true.")
    ] = "0.95",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object for each line.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cost. Read nothing and spend nothing.")] = False,
) -> None:
    """Read numbers from standard input, one a line, and say of each at once whether it is above a threshold.

    The whole cost is charged at the start. Answers below cost nothing more, however many there are. A number that is
    above is told with its gap, and the run ends after the last answer that was paid for. A line without a number
    counts as the lowest number there is. No line is ever shown.
    """
    import lastbit as lb
    from lastbit.cli.spending import started
    from lastbit.exact.numbers import number

    kind: Any = lb.AdaptiveSparseVector if adaptive else lb.SparseVector
    mechanism = kind(
        threshold=threshold, limit=limit, sensitivity=sensitivity, monotone=monotone, resolution=resolution,
        **cost_of(epsilon, rho),
    )  # fmt: skip
    answers = Answers(mechanism, number(threshold, "threshold"), level, as_json)
    if sys.stdin is None and not dry_run:
        raise ParameterError("watch reads numbers from standard input, and it is closed. Nothing was charged.")
    spending = Spending(
        epsilon=epsilon, rho=rho, ledger=ledger, dataset=dataset, note=note, as_json=as_json, dry_run=dry_run
    )
    asked = {
        "command": "watch", "threshold": threshold, "limit": limit, "adaptive": adaptive, "monotone": monotone,
        "sensitivity": sensitivity, "resolution": resolution, "key": key,
    }  # fmt: skip
    given = {name: each for name, each in asked.items() if _USUAL.get(name) != each}
    object.__setattr__(spending, "asked", given)
    often = f"{mechanism.limit:,} answer{'' if mechanism.limit == 1 else 's'} above {threshold}"
    run = started(spending, mechanism, f"{often}{', or more where numbers are far above' * adaptive}", (RULE,))
    if run is not None:
        from lastbit.cli.lines import numbers_of

        answers.give(run, numbers_of(sys.stdin.buffer, key))


@dataclass
class Answers:
    """Writes the answers of a run, and says how the run ended."""

    mechanism: SparseVector | AdaptiveSparseVector
    threshold: Fraction
    level: str
    as_json: bool
    asked: int = 0
    above: int = 0

    def __post_init__(self) -> None:
        from lastbit.estimate.gaps import confident

        confident(self.level)  # refused before anything is spent

    def give(self, run: Run, numbers: Iterable[Any]) -> None:
        """Answer each number as it comes, until the run is spent, the stream ends, or nobody listens."""
        try:
            for each in numbers:
                answer = run.ask(each)
                self.asked += 1
                self.above += answer.above
                print(self._line(answer), flush=True)
                if run.exhausted:
                    self._end("the run is spent, and ends")
                    return
            self._end("the stream ended")
        except BrokenPipeError:
            # Python would write what is left when it ends, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._end("nobody reads the answers any more")
        except OSError as error:  # such as a full disk
            self._end(f"a line could not be read or written ({error.strerror})")
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            self._end("stopped")
            raise

    def _line(self, answer: Answer) -> str:
        from lastbit.exact.numbers import probability
        from lastbit.output.plain import json_text
        from lastbit.questions.showing import shown

        if answer.gap is None:
            return json_text({"query": self.asked, "above": False}) if self.as_json else f"{self.asked}: below"
        kind: Any = self.mechanism.gap_noise
        noise = kind(answer) if callable(kind) else kind
        estimate = noise.estimate(self.threshold, answer.gap).value
        lowest = noise.listed_bound(self.threshold, answer.gap, self.level)
        if self.as_json:
            numbers = {"gap": answer.gap, "estimate": estimate, "at_least": lowest}
            level = probability(self.level, "level")
            return json_text({"query": self.asked, "above": True, **numbers, "level": level})
        about = shown(Fraction(round(estimate / self._step)) * self._step)
        least = "" if lowest is None else f", at least {shown(lowest, 'down')}"
        return f"{self.asked}: above by {shown(answer.gap)}, about {about}{least}"

    @property
    def _step(self) -> Fraction:
        return Fraction(self.mechanism.resolution)

    def _end(self, how: str) -> None:
        lines = "1 line" if self.asked == 1 else f"{self.asked:,} lines"
        print(
            f"lastbit: {how}: {self.above:,} of {lines} above. Another run costs {self.mechanism.cost.text} again.",
            file=sys.stderr,
        )
