"""`lastbit publish` and `lastbit verify`: a whole study from one file, and the check of what came out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lastbit.cli import REFUSED
from lastbit.cli.budget import Json, check_text
from lastbit.cli.streams import say
from lastbit.errors import ParameterError, StudyError

if TYPE_CHECKING:
    from lastbit.publication import Publication
    from lastbit.publication.folder import Written

StudyFile = Annotated[str, typer.Argument(metavar="FILE", help="The study, a TOML file.", callback=check_text)]
Folder = Annotated[
    str | None,
    typer.Option(metavar="FOLDER", help="Where to write, instead of [output] folder.", callback=check_text),
]
Key = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="The private key that signs: publish key makes it.", callback=check_text),
]


Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="The file to write. Without it: print.", callback=check_text),
]


def new(
    source: Annotated[str, typer.Argument(metavar="TABLE", help="A file, or an address.", callback=check_text)],
    output: Output = None,
    unit: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column that says whom a row belongs to.", callback=check_text),
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table, when TABLE is a database.", callback=check_text)
    ] = None,
) -> None:
    """Write a first study file from the names of the columns. No row is read."""
    from lastbit.publication.first_file import write_first_file

    folder = Path() if output is None else Path(output).resolve().parent
    text = write_first_file(source, unit=unit, table=table, folder=folder)
    write_once(output, text, f"Check the unit and the budget in it, then: lastbit publish plan {output}")


def write_once(output: str | None, text: str, advice: str) -> None:
    """Write a text into a new file, or print it. A file that is there stays as it is."""
    if output is None:
        print(text, end="")
        return
    try:
        with Path(output).open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise ParameterError(f"{output} is there already, and is not overwritten. Name another file.") from None
    except OSError as error:
        raise ParameterError(f"{output} cannot be written: {error.strerror}.") from None
    say(f"wrote {output}. {advice}")


def check(file: StudyFile, as_json: Json = False) -> None:
    """Say everything in a study file that cannot be, with its key and line. No row is read."""
    publication = _open(file, as_json=as_json)
    problems = publication.check()
    _show_problems(problems, as_json=as_json)
    if not problems:
        from lastbit.output.words import plural

        title = f"{file} can be run: {plural(len(publication.questions), 'question')}. No row was read."
        _print(title, {"problems": [], "plan": publication.hash}, as_json=as_json)


def plan(
    file: StudyFile,
    improve: Annotated[
        bool, typer.Option("--improve", help="Show the plan in which the least accurate question is twice as good.")
    ] = False,
    simulate: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write a report with made-up numbers, to see what it looks like.", callback=check_text
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what every question costs and how accurate it will be. No row is read and nothing is spent."""
    publication = _open(file, as_json=as_json)
    _show_problems(publication.check(), as_json=as_json)
    result = publication.plan()
    if improve:
        result = result.improve()
    result.report.show(as_json=as_json)
    if simulate is not None:
        from lastbit.cli.files import check_outputs, replace_file
        from lastbit.publication.simulation import simulate_report

        check_outputs({"--html": simulate}, [])
        with replace_file("--html", simulate) as name:
            Path(name).write_text(simulate_report(publication), "utf-8", "backslashreplace")
        say(f"wrote {simulate}, with made-up numbers")
    if result.refusal and not result.paid:
        raise typer.Exit(REFUSED)


def run(file: StudyFile, folder: Folder = None, key: Key = None, as_json: Json = False) -> None:
    """Charge the whole study at once, answer every question, and write the folder. A second run costs nothing."""
    from lastbit.publication.run import run_publication

    publication = _open(file, as_json=as_json)
    try:
        written = run_publication(publication, folder, key=key, step=_say_step)
    except StudyError as error:
        _show_problems(error.problems, as_json=as_json)
        raise
    _print_folder(written, as_json=as_json)


def render(file: StudyFile, folder: Folder = None, key: Key = None, as_json: Json = False) -> None:
    """Write the folder again from the books, for nothing: with other titles, or in other formats."""
    publication = _open(file, as_json=as_json)
    _show_problems(publication.check(tables=False), as_json=as_json)
    _print_folder(publication.render(folder, key=key), as_json=as_json)


def create_key(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file of the private key.", callback=check_text)],
    as_json: Json = False,
) -> None:
    """Make the pair of keys that signs publications. The public one is written beside it, ending in .pub."""
    from lastbit.publication.signature import create_keys

    private_file, public_file, fingerprint = create_keys(file)
    lines = [
        f"{private_file} signs: keep it outside of the folder, and away from others.",
        f"{public_file} checks: publish it, and its fingerprint, on your own page.",
    ]
    data = {"private": str(private_file), "public": str(public_file), "fingerprint": fingerprint}
    _print(f"Fingerprint {fingerprint}", data, lines, as_json=as_json)


def verify(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A published folder.", callback=check_text)],
    key: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The publisher's public key: the folder must be signed with it."),
    ] = None,
    audit: Annotated[bool, typer.Option(help="Run the exact auditor on small instances of the mechanisms.")] = True,
    as_json: Json = False,
) -> None:
    """Check a published folder without the data: its costs, intervals, books and signature."""
    from lastbit.publication import verify as verify_folder
    from lastbit.questions.report import Report

    verdict = verify_folder(folder, key=key, audit=audit)
    columns = {
        "": [
            *("wrong" for _ in verdict.problems),
            *("proved" for _ in verdict.proved),
            *("not proved" for _ in verdict.not_proved),
        ],
        "what": [*verdict.problems, *verdict.proved, *verdict.not_proved],
    }
    title = f"{verdict.title}: {'every check passed' if verdict.holds else 'NOT as it was published'}"
    Report(title, columns, [], verdict.to_dict()).show(as_json=as_json)
    if not verdict.holds:
        raise typer.Exit(1)


def _open(file: str, *, as_json: bool) -> Publication:
    from lastbit.publication import Publication

    try:
        return Publication.from_file(file)
    except StudyError as error:
        _show_problems(error.problems, as_json=as_json)
        raise


def _show_problems(problems: Any, *, as_json: bool) -> None:
    """Print what cannot be, and end; go on where there is nothing."""
    if not problems:
        return
    if as_json:
        data = [{"key": problem.key, "line": problem.line, "message": problem.message} for problem in problems]
        _print("", {"problems": data}, as_json=True)
    else:
        for problem in problems:
            say(str(problem))
    raise typer.Exit(2)


def _print_folder(written: Written, *, as_json: bool) -> None:
    from lastbit.output.words import plural

    answers = written.answers
    paid = (
        "It was paid for before: this cost nothing, and the answers are those of the books."
        if answers.was_paid
        else f"Charged {answers.publication.mechanism.cost.text} to {answers.publication.dataset}."
    )
    signed = f"Signed: {written.fingerprint}." if written.fingerprint else "Unsigned: --key FILE signs it."
    data = {
        "folder": str(written.folder),
        "files": list(written.files),
        "plan": answers.publication.hash,
        "paid_before": answers.was_paid,
        "fingerprint": written.fingerprint,
    }
    title = f"{answers.publication.study.title}: {plural(len(answers.parts), 'answer')} in {written.folder}"
    _print(title, data, [paid, signed, f"lastbit verify {written.folder} checks it without the data."], as_json=as_json)


def _print(title: str, data: dict[str, Any], notes: list[str] | None = None, *, as_json: bool) -> None:
    from lastbit.questions.report import Report

    Report(title, {}, notes or [], data).show(as_json=as_json)


def _say_step(step: str) -> None:
    if step.startswith("read ") or step == "charge":
        say("charging the whole study" if step == "charge" else f"reading the table for {step[5:]}")
