"""By which rules the numbers of a release are read, in sentences: said before anything is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastbit.output.words import Words, capitalize, plural

if TYPE_CHECKING:
    from lastbit.questions.request import Request


def describe_weights(request: Request) -> list[str]:
    """Return how stated counts, or the weights of rows, are read; nothing where people are counted.

    >>> from lastbit.questions.kinds import KINDS
    >>> options = {"source": "v.csv", "by": "item", "weights": "cost", "bounds": [0, 9], "domain": "a,b", "epsilon": 1}
    >>> describe_weights(KINDS["measure"].parse(options))
    ['A row whose cost is missing, or is text that is no number, is left out.']
    """
    items, sentences = request.items, []
    if items.counts is not None:
        sentences.append(
            f"A row whose {items.counts} is missing, negative, or text that is no number, counts 0. Other counts are "
            "rounded down to whole numbers, up to 2,147,483,647. Of several rows of an item the largest counts. One "
            f"person moves each count by at most {items.sensitivity}, as --sensitivity says."
        )
    elif items.weights is not None:
        how = {"leave-out": "is left out", "lowest": "counts as the lower bound"}
        rule = how.get(items.missing, f"counts as {items.missing}")
        sentences.append(f"A row whose {items.weights} is missing, or is text that is no number, {rule}.")
    return sentences + _decimal_comma(request) if sentences else []


def describe_all(size: int, noun: str, words: Words) -> list[str]:
    """Return that a person may count in all groups, and what would make the noise smaller; nothing for a single group.

    >>> describe_all(12, "bin", Words())
    ['A person may count in all 12 bins, and the noise is for as many. Where a person is in one bin, --one-each makes \
the noise smaller; --most-items does so for a few.']
    """
    if size == 1:
        return []
    return [
        f"{words.one} may count in all {plural(size, noun)}, and the noise is for as many. Where {words.a_person} is "
        f"in one {noun}, --one-each makes the noise smaller; --most-items does so for a few."
    ]


def describe_numbers(request: Request, rule: str) -> list[str]:
    """Return which number a person has, and how rows without one are read."""
    of, most_rows, missing, words = request["of"], request["most_rows"], request["missing"], request.words
    if request.rows.unit is None:
        sentence = f"Each {words.row} has one number, its {of}."
    elif rule == "row":
        most = count_rows_of(words, most_rows or 0)
        sentence = f"Each {words.row} has one number, its {of}; at most {most}, picked at random."
    else:
        own = {"mean": f"the mean of their {of}", "total": f"the total of their {of}"}
        latest = f"their {of} with the largest {request['latest_by']}"
        where = " in each of their groups" if request["by"] else ""
        sentence = f"Each {words.person} has one number{where}, {own.get(rule, latest)}{' there' if where else ''}."
    if missing == "leave-out":
        missing_note = f"{capitalize(words.rows)} whose {of} is missing are left out."
    else:
        missing_note = f"A missing {of} counts as {'the lower bound' if missing == 'lowest' else missing}."
    return [f"{sentence} {missing_note}", f"Text in {of} that is no number is missing.", *_decimal_comma(request)]


def count_rows_of(words: Words, most: int) -> str:
    """Return that so many rows of a person count, in the middle of a sentence.

    >>> count_rows_of(Words("patient", "patients", "visit", "visits"), 3)
    '3 visits of a patient count'
    """
    return plural(most, f"{words.row} of {words.a_person} counts", f"{words.rows} of {words.a_person} count")


def _decimal_comma(request: Request) -> list[str]:
    return ["Numbers in text are written as 1.234,5."] if request.rows.decimal_comma else []
