"""A check of OCSF events against the committed excerpt of the schema: names, types, requirements, enums, constraints."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

EXCERPT = Path(__file__).resolve().parents[1] / "schemas" / "ocsf-1.8.0-data-security-finding.json"
SCHEMA: dict[str, Any] = json.loads(EXCERPT.read_text())
_PYTHON = {"string_t": str, "integer_t": int, "long_t": int, "timestamp_t": int, "boolean_t": bool, "float_t": float}


def faults(event: dict[str, Any]) -> list[str]:
    """What of the event is not as the schema has it."""
    described = SCHEMA["class"]
    profiles = event.get("metadata", {}).get("profiles", [])
    found = list(_object(event, described, "event", profiles))
    for name in ("category_uid", "class_uid"):
        if event.get(name) != described[name]:
            found.append(f"{name} is not {described[name]}")
    if event.get("type_uid") != event.get("class_uid", 0) * 100 + event.get("activity_id", 0):
        found.append("type_uid is not class_uid * 100 + activity_id")
    if event.get("metadata", {}).get("version") != SCHEMA["version"]:
        found.append("metadata.version is another version")
    return found


def _object(value: Any, described: dict[str, Any], path: str, profiles: list[str]) -> Any:
    if not isinstance(value, dict):
        yield f"{path} is no object"
        return
    attributes = {
        name: a for name, a in described["attributes"].items() if a.get("profile") is None or a["profile"] in profiles
    }
    for name, attribute in attributes.items():
        if attribute["requirement"] == "required" and name not in value:
            yield f"{path}.{name} is required"
    for name, item in value.items():
        if name not in attributes:
            yield f"{path}.{name} is not in the schema"
            continue
        attribute = attributes[name]
        if attribute.get("deprecated"):
            yield f"{path}.{name} is deprecated"
        if attribute.get("is_array"):
            if not isinstance(item, list):
                yield f"{path}.{name} is no array"
                continue
            for index, one in enumerate(item):
                yield from _value(one, attribute, f"{path}.{name}[{index}]", profiles)
        else:
            yield from _value(item, attribute, f"{path}.{name}", profiles)
            if "enum" in attribute and str(item) in attribute["enum"]:
                # The caption of an enum, where given, is that of its number.
                sibling = name.removesuffix("_id")
                caption = attribute["enum"][str(item)]
                if sibling != name and sibling in value and item not in (0, 99) and value[sibling] != caption:
                    yield f"{path}.{sibling} is not {caption}"
    for group in described.get("constraints", {}).get("at_least_one", []) and [
        described["constraints"]["at_least_one"]
    ]:
        if not any(name in value for name in group):
            yield f"{path} has none of {group}"


def _value(item: Any, attribute: dict[str, Any], path: str, profiles: list[str]) -> Any:
    kind = attribute["type"]
    if kind in SCHEMA["objects"]:
        yield from _object(item, SCHEMA["objects"][kind], path, profiles)
        return
    if kind in ("json_t", "object", "object_t"):
        return
    base = SCHEMA["types"].get(kind, {}).get("type", kind)
    expected = _PYTHON.get(kind, _PYTHON.get(base))
    if expected is None:
        yield f"{path}: the excerpt does not describe {kind}"
    elif not isinstance(item, expected) or (expected is int and isinstance(item, bool)):
        yield f"{path} is no {kind}"
    else:
        pattern = SCHEMA["types"].get(kind, {}).get("regex")
        if pattern and not re.search(pattern, str(item)):
            yield f"{path} does not look like a {kind}"
    enum = attribute.get("enum")
    if (
        enum is not None
        and str(item) not in enum
        and attribute["type"] != "long_t"
        and path not in ("event.class_uid", "event.category_uid")
    ):
        yield f"{path}: {item} is not among the values"
