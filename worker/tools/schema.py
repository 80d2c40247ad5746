"""The JSON schema of an argument struct, in the plain form that model endpoints take.

msgspec writes references into a table of definitions; endpoints want one object without references, so they are put
in place here. Argument structs are not recursive, and this relies on it. What a model learns nothing from is left out:
it is sent with every request of every agent.
"""

from typing import Any, cast

import msgspec

_TEMPLATE = "#/$defs/{name}"

OLDER = msgspec.Meta(extra_json_schema={"deprecated": True})
"""Marks an argument, or a form of one, that is taken and that no model is told of: learned elsewhere."""


class _Object(msgspec.Struct):
    properties: dict[str, Any]


def schema_of(arguments: type[msgspec.Struct]) -> bytes:
    """The JSON schema of `arguments`, encoded: an object with `properties`, `required`, no `$ref`."""
    (schema,), definitions = msgspec.json.schema_components((arguments,), ref_template=_TEMPLATE)
    whole = _inline(schema, definitions)
    whole["properties"] = {
        name: told for name, told in whole["properties"].items() if not told.get("deprecated")
    }
    return msgspec.json.encode(whole)


def told_arguments(arguments: type[msgspec.Struct]) -> list[str]:
    """The names of the arguments that a model is told of."""
    schema = msgspec.json.decode(schema_of(arguments), type=_Object)
    return list(schema.properties)


def _inline(schema: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_inline(item, definitions) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    table = cast("dict[str, Any]", schema)
    reference = table.get("$ref")
    if reference is not None:
        target = _inline(definitions[str(reference).removeprefix("#/$defs/")], definitions)
        rest = {key: value for key, value in table.items() if key != "$ref"}
        return {**target, **rest}
    # "title" tells a model nothing that the tool's name and the property's key don't.
    plain = {key: _inline(value, definitions) for key, value in table.items() if key != "title"}
    return _without_null(_without_older(plain))


def _without_older(table: dict[str, Any]) -> dict[str, Any]:
    """An argument that may be of several kinds with those alone that a model is told of."""
    kinds: list[Any] = [kind for kind in table.get("anyOf", ()) if not kind.get("deprecated")]
    return _of_kinds(table, kinds) if len(kinds) < len(table.get("anyOf", ())) else table


def _without_null(table: dict[str, Any]) -> dict[str, Any]:
    """An argument that may be left out as its kind alone: a null, which would be taken as well, says nothing more."""
    kinds: list[Any] = [kind for kind in table.get("anyOf", ()) if kind != {"type": "null"}]
    if table.get("default", ...) is not None or "anyOf" not in table:
        return table
    return _of_kinds({key: value for key, value in table.items() if key != "default"}, kinds)


def _of_kinds(table: dict[str, Any], kinds: list[Any]) -> dict[str, Any]:
    rest = {key: value for key, value in table.items() if key != "anyOf"}
    return {**kinds[0], **rest} if len(kinds) == 1 else {"anyOf": kinds, **rest}
