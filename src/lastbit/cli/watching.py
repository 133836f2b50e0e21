"""`lastbit watch`: which numbers of a stream are over a threshold, answered line by line as they come."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lastbit.cli.streams import discard_output
from lastbit.errors import ParameterError
from lastbit.output.words import several
from lastbit.questions.options import Spending, cost_of
from lastbit.questions.streams import RULE, Stream

if TYPE_CHECKING:
    from lastbit.mechanisms.sparse_vector.answers import Answer
    from lastbit.mechanisms.sparse_vector.run import Run
    from lastbit.output.page import Page

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
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a report to send on when the run ends.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cost. Read nothing and spend nothing.")] = False,
) -> None:
    """Read numbers from standard input, one a line, and say of each at once whether it is above a threshold.

    The whole cost is charged at the start. Answers below cost nothing more, however many there are. A number that is
    above is told with its gap, and the run ends after the last answer that was paid for. A line without a number
    counts as the lowest number there is. No line is ever shown.
    """
    from lastbit.cli.spending import check_folder, started, write_html

    stream = Stream.of(
        threshold=threshold, level=level, adaptive=adaptive, limit=limit, sensitivity=sensitivity, monotone=monotone,
        resolution=resolution, **cost_of(epsilon, rho),
    )  # fmt: skip
    mechanism, answers = stream.mechanism, Answers(stream, as_json)
    if sys.stdin is None and not dry_run:
        raise ParameterError("watch reads numbers from standard input, and it is closed. Nothing was charged.")
    if html is not None:
        check_folder("--html", Path(html))
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
        from lastbit.questions.lines import numbers_of

        try:
            answers.give(run, numbers_of(sys.stdin.buffer, key))
        finally:
            if html is not None:
                write_html(html, answers.page(["lastbit", *sys.argv[1:]]))


@dataclass
class Answers:
    """Writes the answers of a run, and says how the run ended."""

    stream: Stream
    as_json: bool
    asked: int = 0
    above: int = 0
    listed: list[dict[str, Any]] = field(default_factory=list)
    """The answers above."""

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
            discard_output()
            self._end("nobody reads the answers any more")
        except OSError as error:  # such as a full disk
            discard_output()
            self._end(f"a line could not be read or written ({error.strerror})")
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            self._end("stopped")
            raise

    def _line(self, answer: Answer) -> str:
        from lastbit.output.plain import json_text
        from lastbit.questions.showing import shown

        found = self.stream.told(self.asked, answer)
        if found["above"]:
            self.listed.append(found)
        if self.as_json:
            return json_text(found)
        if not found["above"]:
            return f"{self.asked}: below"
        about = shown(Fraction(round(found["estimate"] / self._step)) * self._step)
        least = "" if found["at_least"] is None else f", at least {shown(found['at_least'], 'down')}"
        return f"{self.asked}: above by {shown(found['gap'])}, about {about}{least}"

    def page(self, words: list[str]) -> Page:
        """The answers above as one page to send on; `words` are those of the command."""
        from lastbit.output.chart import chart
        from lastbit.output.page import Page
        from lastbit.output.picture import Panel
        from lastbit.output.table import cells

        mechanism = self.stream.mechanism
        names = ("query", "gap", "estimate", "at_least")
        columns = {name.replace("_", " "): [each[name] for each in self.listed] for name in names}
        bars = Panel("above by", columns["query"], columns["gap"], "query")
        said = [f"{self.above:,} of {self.asked:,} numbers were above {self.stream.threshold}.", RULE]
        return Page(
            f"{mechanism.name}, {mechanism.cost.text}",
            said,
            chart([bars], "Answers above") if self.listed else "",
            list(columns),
            list(zip(*cells(columns), strict=True)),
            texts=[("The same as a command", shlex.join(words))],
        )

    @property
    def _step(self) -> Fraction:
        return Fraction(self.stream.mechanism.resolution)

    def _end(self, how: str) -> None:
        lines = several(self.asked, "line")
        cost = self.stream.mechanism.cost.text
        print(f"lastbit: {how}: {self.above:,} of {lines} above. Another run costs {cost} again.", file=sys.stderr)
