"""Checks that the OpenAPI document is valid, and that its examples are what their schemas say."""

import json
import sys

from jsonschema import Draft202012Validator, FormatChecker
from openapi_spec_validator import validate

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
validate(document)

checked = 0
wrong = []


def resolved(value):
    while isinstance(value, dict) and "$ref" in value:
        target = document
        for name in value["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        value = target
    return value


def check(place, schema, example):
    global checked
    checked += 1
    whole = {**document, "$ref": "#/schema", "schema": schema}
    for error in Draft202012Validator(whole, format_checker=FormatChecker()).iter_errors(example):
        wrong.append(f"{place}: {error.json_path}: {error.message[:200]}")


def walk(place, value):
    if isinstance(value, list):
        for index, element in enumerate(value):
            walk(f"{place}/{index}", element)
    if not isinstance(value, dict):
        return
    schema = value.get("schema")
    if schema is not None and "example" in value:
        check(place, schema, value["example"])
    if schema is not None:
        for name, example in value.get("examples", {}).items():
            check(f"{place}/{name}", schema, resolved(example)["value"])
    for name, element in value.items():
        if name not in ("example", "examples"):
            walk(f"{place}/{name}", element)


walk("", document)
for line in wrong:
    print(line, file=sys.stderr)
print(f"{checked} examples checked, {len(wrong)} of them wrong.")
sys.exit(1 if wrong else 0)
