"""The page of JSON keys: what each key of a release holds, as its JSON Schema says."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any


def schema() -> dict[str, Any]:
    """The JSON Schema of a release, as the package holds it."""
    loaded: dict[str, Any] = json.loads(files("lastbit.output").joinpath("release.schema.json").read_bytes())
    return loaded


def json_keys() -> str:
    """The page."""
    rules = schema()
    rows = [f"| `{key}` | {_describe(rules, rule)} |" for key, rule in rules["properties"].items()]
    return "\n".join(
        ["# Keys of the JSON", "", rules["description"], "", "| key | what it holds |", "| --- | --- |", *rows, ""]
    )


def _describe(rules: dict[str, Any], rule: dict[str, Any]) -> str:
    """What a rule says of itself, or else what the definition says that it refers to."""
    if "description" in rule:
        return str(rule["description"])
    return str(rules["$defs"][rule["$ref"].rpartition("/")[2]]["description"])
