"""Encodes a message whatever text it holds: half a surrogate pair, which UTF-8 can't carry, becomes U+FFFD.

Python reads a file name that is no UTF-8 as text with lone surrogates. Names are quoted before they are told
(`worker.path_text`); this is for what comes by another way, such as an error's text, so that no text can end a worker
or a journal. Costs nothing for a message that is plain.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec


def encode_sayable(message: object, encode: Callable[[object], bytes]) -> bytes:
    """What `encode` makes of `message`, or of the same message with its lone surrogates replaced."""
    try:
        return encode(message)
    except UnicodeEncodeError:
        return encode(_sayable(msgspec.to_builtins(message, builtin_types=(bytes,))))


def _sayable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_sayable(key): _sayable(each) for key, each in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_sayable(each) for each in cast("list[Any]", value)]
    return value
