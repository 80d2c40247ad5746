"""The JSON schema of an argument struct, in the plain form that model endpoints take.

msgspec writes references into a table of definitions; endpoints want one object without references, so they are put
in place here. Argument structs are not recursive, and this relies on it. What a model learns nothing from is left out:
it is sent with every request of every agent.
"""

from typing import Any, cast

import msgspec

_TEMPLATE = "#/$defs/{name}"


def schema_of(arguments: type[msgspec.Struct]) -> bytes:
    """The JSON schema of `arguments`, encoded: an object with `properties`, `required`, no `$ref`."""
    (schema,), definitions = msgspec.json.schema_components((arguments,), ref_template=_TEMPLATE)
    return msgspec.json.encode(_inline(schema, definitions))


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
    return _without_null(plain)


def _without_null(table: dict[str, Any]) -> dict[str, Any]:
    """An argument that may be left out as its kind alone: a null, which would be taken as well, says nothing more."""
    kinds: list[Any] = [kind for kind in table.get("anyOf", ()) if kind != {"type": "null"}]
    if table.get("default", ...) is not None or "anyOf" not in table:
        return table
    rest = {key: value for key, value in table.items() if key not in ("anyOf", "default")}
    return {**kinds[0], **rest} if len(kinds) == 1 else {"anyOf": kinds, **rest}
