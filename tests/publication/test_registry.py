"""The draft for the public registry of deployments has the fields of its schema, and says what the certificate says."""

from __future__ import annotations

from fractions import Fraction

import pytest
import yaml

import lastbit as lb
from lastbit.publication.registry import write_yaml
from tests.publication.studies import TEXT, make_study

TEXTS = str
FIELDS = {
    "basic": {
        "name": TEXTS, "data_curators": list, "intended_use": TEXTS, "data_product_type": {"Summary statistics"},
        "data_product_region": TEXTS, "description": TEXTS, "publication_date": TEXTS,
    },
    "dp_variant": {
        "variant_name": {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"},
        "data_domain": TEXTS, "unprotected_quantities": TEXTS,
    },
    "privacy_loss": {
        "privacy_unit": TEXTS, "privacy_unit_details": TEXTS, "privacy_parameters": dict,
        "privacy_parameters_details": TEXTS,
    },
    "deployment_model": {
        "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
        "release_type": {"One release", "Many releases"}, "release_type_details": TEXTS,
        "access_type": {"Interactive", "Non-interactive"},
    },
    "accounting": {"post_processing": TEXTS, "composition": TEXTS},
    "implementation": {"preprocessing_and_hyperparameter_tuning": TEXTS, "mechanisms": TEXTS, "justification": TEXTS},
    "administrative": {"sources": TEXTS, "notes": TEXTS, "registry_authors": list},
}  # fmt: skip
"""What the registry's schema allows (schemas/deployments-schema.yaml, at 3e9c812), of the fields that are written."""


def run(folder, text=TEXT):
    path = make_study(folder, text.replace("[output]", "[output]\nregistry = true"))
    written = lb.Publication.from_file(path).run()
    assert lb.verify(written.folder, audit=False).holds
    return yaml.safe_load((written.folder / "deployment.yaml").read_text("utf-8"))


def test_the_draft_fits_the_schema_of_the_registry(tmp_path):
    draft = run(tmp_path)
    assert list(draft) == ["url_slug", "status", "tier", "deployment"]
    assert (draft["url_slug"][:24], draft["status"], draft["tier"]) == ("patients-2024-a-hospital", "Draft", 3)
    assert {name: list(part) for name, part in draft["deployment"].items()} == {
        name: list(part) for name, part in FIELDS.items()
    }
    for name, part in FIELDS.items():
        for field, kind in part.items():
            value = draft["deployment"][name][field]
            assert value in kind if isinstance(kind, set) else isinstance(value, kind), field


def test_the_draft_says_what_the_study_says_and_leaves_the_rest_empty(tmp_path):
    deployment = run(tmp_path)["deployment"]
    basic = deployment["basic"]
    assert (basic["name"], basic["data_curators"]) == ("Patients 2024", ["A hospital"])
    assert (basic["intended_use"], basic["data_product_region"]) == ("", "")
    charge = next(entry for entry in lb.Ledger(tmp_path / "budget.db").history("clinic") if entry.kind == "charge")
    assert basic["publication_date"] == charge.time.date().isoformat()
    assert deployment["dp_variant"]["variant_name"] == "Approximate DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 3, "delta": 1e-6}
    assert deployment["privacy_loss"]["privacy_unit"] == "patient"
    assert "without all rows of one patient" in deployment["privacy_loss"]["privacy_unit_details"]
    assert deployment["implementation"]["justification"] == "agreed with the board"


@pytest.mark.parametrize(
    ("budget", "variant", "parameters"),
    [
        ('epsilon = "2/3"', "Pure DP", {"epsilon": 0.666666666667}),
        ('rho = "1/8"', "Zero-concentrated DP", {"rho": 0.125}),
    ],
)
def test_a_budget_has_the_name_of_the_registry_and_is_never_understated(tmp_path, budget, variant, parameters):
    deployment = run(tmp_path, TEXT.replace("epsilon = 3\ndelta = 1e-6", budget))["deployment"]
    assert deployment["dp_variant"]["variant_name"] == variant
    assert deployment["privacy_loss"]["privacy_parameters"] == parameters


def test_rows_are_protected_where_rows_are_the_unit(tmp_path):
    deployment = run(tmp_path, TEXT.replace('unit = "patient"', 'unit = "row"'))["deployment"]
    assert deployment["privacy_loss"]["privacy_unit_details"].endswith("without one row.")


def test_no_draft_is_written_unless_it_is_asked_for(tmp_path):
    lb.Publication.from_file(make_study(tmp_path)).run()
    assert not (tmp_path / "report" / "deployment.yaml").exists()


ODD = [
    "no",
    "~",
    "1e3",
    "# c",
    '"\\',
    " x ",
    "tab\t",
    "\x85\u2028\ufeff",
    "\U0001f600é",
    "a\n b\n\nc",
    "- a\n- b",
    "{x}",
]


@pytest.mark.parametrize("text", ODD)
def test_every_text_comes_back_from_yaml(text):
    document = {"a": text, "b": {"c": [text, "x"], "d": Fraction(7, 4)}}
    assert yaml.safe_load("\n".join(write_yaml(document))) == {"a": text, "b": {"c": [text, "x"], "d": 1.75}}
