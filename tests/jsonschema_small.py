# SPDX-License-Identifier: Apache-2.0
"""Enough of JSON Schema (draft 7) for audit/schema.json. Gives all faults, each with its place."""
import re

KNOWN = {"$schema", "title", "description", "definitions", "$ref", "const", "enum", "type", "pattern", "minimum",
         "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "anyOf", "oneOf"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(schema, value, root=None, at="$"):
    root = schema if root is None else root
    unknown = set(schema) - KNOWN
    if unknown:
        raise ValueError(f"this validator does not know {unknown}")
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/definitions/")
        return faults(root["definitions"][name], value, root, at)
    found = plain_faults(schema, value, at)
    for part in ("anyOf", "oneOf"):
        if part in schema:
            found += choice_faults(schema[part], value, root, at, part)
    if isinstance(value, dict):
        found += object_faults(schema, value, root, at)
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            found.append(f"{at}: {len(value)} items")
        for i, item in enumerate(value):
            found += faults(schema.get("items", {}), item, root, f"{at}[{i}]")
    return found


def plain_faults(schema, value, at):
    found = []
    types = schema.get("type", [])
    if types and not any(is_type(value, t) for t in ([types] if isinstance(types, str) else types)):
        found.append(f"{at}: {value!r:.80} is no {types}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{at}: {value!r:.80} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at}: {value!r:.80} is none of {schema['enum']}")
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        found.append(f"{at}: {value!r:.80} does not match {schema['pattern']}")
    if "minimum" in schema and isinstance(value, int) and value < schema["minimum"]:
        found.append(f"{at}: {value} is too small")
    return found


def choice_faults(choices, value, root, at, part):
    results = [faults(choice, value, root, at) for choice in choices]
    good = sum(not result for result in results)
    if good == 1 or (good > 1 and part == "anyOf"):
        return []
    return [f"{at}: fits {good} of the choices"] + min(results, key=len)


def object_faults(schema, value, root, at):
    found = [f"{at}: no {name}" for name in schema.get("required", []) if name not in value]
    known, more = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, member in value.items():
        if name in known:
            found += faults(known[name], member, root, f"{at}.{name}")
        elif more is False:
            found.append(f"{at}: {name} is not expected")
        elif isinstance(more, dict):
            found += faults(more, member, root, f"{at}.{name}")
    return found
