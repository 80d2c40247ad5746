"""The JSON schema of an argument struct, in the plain form that model endpoints take.

msgspec writes references into a table of definitions; endpoints want one object without references, so they are put
in place here. Argument structs are not recursive, and this relies on it.
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
    return {key: _inline(value, definitions) for key, value in table.items() if key != "title"}
