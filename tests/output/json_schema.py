"""The part of JSON Schema that release.schema.json uses, and no more: an unknown word is an error."""

from __future__ import annotations

from typing import Any

TYPES: dict[str, Any] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
WORDS = {
    "$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "required", "properties", "items",
    "additionalProperties",
}  # fmt: skip


def problems(value: Any, schema: Any, whole: Any = None, place: str = "release") -> list[str]:
    """Every place where a value is not as the schema says."""
    whole = schema if whole is None else whole
    if schema is False:
        return [f"{place} is not known"]
    assert set(schema) <= WORDS
    if schema.get("$ref") == "#":
        return problems(value, whole, whole, place)
    if "$ref" in schema:
        return problems(value, whole["$defs"][schema["$ref"].removeprefix("#/$defs/")], whole, place)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    found = []
    if kinds and not any(TYPES[kind](value) for kind in kinds):
        found.append(f"{place} is no {' or '.join(kinds)}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{place} is not {schema['const']}")
    if isinstance(value, dict):
        found += [f"{place}.{name} is missing" for name in schema.get("required", ()) if name not in value]
        known = schema.get("properties", {})
        for name, each in value.items():
            other = known.get(name, schema.get("additionalProperties", {}))
            found += problems(each, other, whole, f"{place}.{name}")
    if isinstance(value, list) and "items" in schema:
        found += [text for each in value for text in problems(each, schema["items"], whole, f"{place}[]")]
    return found
