"""`deployment.yaml`: a publication as a draft for the public registry of deployments of differential privacy.

The fields are those of github.com/opendp/deployments-registry-data. Only what the certificate says is written: the rest
is left empty for the publisher, with a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from lastbit.exact.numbers import number
from lastbit.output.words import plural
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.unit_types import find_protected

_HEAD: Final = """\
# A draft for the registry of deployments of differential privacy: github.com/opendp/deployments-registry-data
# Copy this file, fill in what is empty, and send the copy. This one is part of the publication, and stays as it is.
"""
_DIGITS: Final = 12
"""A number that no decimal fraction is has so many decimal places, rounded up. The details have it exactly."""


def render_registry(certificate: Mapping[str, Any], views: Mapping[str, AnswerView]) -> str:
    """Return the draft of a publication. The certificate and the answers decide every byte of it."""
    return _HEAD + "".join(f"{line}\n" for line in write_yaml(_describe(certificate, views)))


def _describe(certificate: Mapping[str, Any], views: Mapping[str, AnswerView]) -> dict[str, Any]:
    """Return the fields of the registry, in its order."""
    words, plan = certificate["study"], certificate["plan"]
    people = certificate["nouns"][1]
    date = _charge_date(certificate)
    curator = words.get("by", "")
    options = plan["questions"][0]["options"]
    unit, protected = options.get("unit"), find_protected(options, certificate["nouns"])[0]
    unit = unit if unit is None or options.get("most_units") is None else protected
    rows = "one row" if unit is None else f"all rows of one {protected}, which have one value of {_name_columns(unit)}"
    variant, parameters = _describe_loss(plan["budget"])
    titles = "".join(f"\n- {view.title}" for view in views.values())
    done = [f"- {view.title}: {text}" for view in views.values() for text in view.report.post_processing]
    rates = " Numbers that answers are divided by are public." if any(q["rate"] for q in plan["questions"]) else ""
    edition = f"Edition {plan['edition']}. " if plan["edition"] else ""
    return {
        "url_slug": "-".join(_slug(text) for text in (words["title"], curator, date[:4]) if text),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": words["title"],
                "data_curators": [curator],
                "intended_use": "",
                "data_product_type": "Summary statistics",
                "data_product_region": "",
                "description": f"{plural(len(views), 'answer')} about {people}, with intervals:{titles}",
                "publication_date": date,
            },
            "dp_variant": {
                "variant_name": variant,
                "data_domain": f"Tables of rows that belong to {people}"
                + (f", of which the rows where {plan['where']} are asked about." if plan["where"] else "."),
                "unprotected_quantities": f"None. Lists, bounds and conditions are declared beforehand.{rates}",
            },
            "privacy_loss": {
                "privacy_unit": protected,
                "privacy_unit_details": f"Two tables are adjacent where one is the other without {rows}.",
                "privacy_parameters": parameters,
                "privacy_parameters_details": f"All questions together cost {plan['cost']}, which is within the budget "
                f"of {' and '.join(f'{name} {amount}' for name, amount in parameters.items())}.",
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "release_type_details": f"{edition}The plan, {plan['hash'][:16]}, is paid for and answered once.",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": "\n".join(done) or "None but the intervals.",
                "composition": f"The costs of {plural(len(plan['questions']), 'question')} are added up, and were "
                "charged as a whole before the first draw.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": "To make the plan no row is read: it is the file that the "
                "publisher typed.",
                "mechanisms": "\n".join(f"- {view.methods()}" for view in views.values()),
                "justification": words.get("why", ""),
            },
            "administrative": {
                "sources": "release.json has every parameter and cost; lastbit verify checks it without the data.",
                "notes": "The date is that of the charge."
                + (f" Contact: {words['contact']}" if words.get("contact") else ""),
                "registry_authors": [curator],
            },
        },
    }


def _charge_date(certificate: Mapping[str, Any]) -> str:
    """Return the day on which the account paid, as the books have it."""
    (charge,) = [entry for entry in certificate["books"]["entries"] if entry.get("kind") == "charge"]
    return str(charge["time"])[:10]


def _describe_loss(budget: Mapping[str, str]) -> tuple[str, dict[str, Fraction]]:
    """Return the registry's name for a budget, and its parameters.

    >>> _describe_loss({"epsilon": "3", "delta": "1/1000000"})
    ('Approximate DP', {'epsilon': Fraction(3, 1), 'delta': Fraction(1, 1000000)})
    """
    names = {
        frozenset(("epsilon",)): "Pure DP",
        frozenset(("epsilon", "delta")): "Approximate DP",
        frozenset(("rho",)): "Zero-concentrated DP",
    }
    amounts = {name: number(budget[name], name) for name in ("epsilon", "rho", "delta") if name in budget}
    return names.get(frozenset(amounts), "Custom"), amounts


def _name_columns(unit: Any) -> str:
    names = [unit] if isinstance(unit, str) else unit
    return f"the column{'s' * (len(names) > 1)} {', '.join(map(str, names))}"


def _slug(text: str) -> str:
    """Return a text as a part of an address.

    >>> _slug("St. Mary's, 2024")
    'st-mary-s-2024'
    """
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def write_yaml(value: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Yield the lines of a document: tables of texts, numbers and lists of texts. What is empty is to be filled in.

    >>> print(*write_yaml({"name": "No: 1", "of": {"by": [""], "epsilon": Fraction(1, 8), "text": "a\\nb"}}), sep="\\n")
    name: "No: 1"
    of:
      by:
        - "" # Fill in.
      epsilon: 0.125
      text: |-
        a
        b
    """
    for name, part in value.items():
        if isinstance(part, Mapping):
            yield f"{indent}{name}:"
            yield from write_yaml(part, f"{indent}  ")
        elif isinstance(part, list):
            yield f"{indent}{name}:"
            yield from (f"{indent}  - {_write_text(str(text))}" for text in part)
        elif isinstance(part, str) and _is_block(part):
            yield f"{indent}{name}: |-"
            yield from (f"{indent}  {line}" for line in part.split("\n"))
        else:
            yield f"{indent}{name}: {_write_text(part) if isinstance(part, str) else _write_number(part)}"


def _is_block(text: str) -> bool:
    """Return whether a text has several lines that YAML takes as they are."""
    lines = text.split("\n")
    return len(lines) > 1 and all(line.isprintable() and line.strip() and line[0] != " " for line in lines)


def _write_text(text: str) -> str:
    return f'"{"".join(map(_write_letter, text))}"' if text else '"" # Fill in.'


def _write_letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


def _write_number(value: Any) -> str:
    """Return a number without an exponent, which some readers of YAML take for a text; rounded up, if it must be.

    >>> _write_number(Fraction(1, 10**6)), _write_number(Fraction(1, 3)), _write_number(3)
    ('0.000001', '0.333333333334', '3')
    """
    exact = Fraction(value)
    places = next((n for n in range(64) if 10**n % exact.denominator == 0), _DIGITS)
    steps = -(-exact.numerator * 10**places // exact.denominator)
    text = f"{steps:0{places + 1}d}"
    return text if not places else f"{text[:-places]}.{text[-places:]}"
