"""How a tool is told to a model: its name, its description and the JSON schema of its arguments.

The worker's side makes these from its argument structs; the gateway encodes them once, for parent and
children alike.
"""

import msgspec


class ToolSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One tool as advertised.

    `parameters` is a JSON schema of an object, already encoded; it is spliced as it is.
    """

    name: str
    description: str
    parameters: bytes
