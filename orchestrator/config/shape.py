"""The tables as data: which keys there are, of which type, by which rule, and how a type is told to a person.

Pure. Reads the annotations of `orchestrator.config.tables`; knows no value and no layer.
"""

import functools
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from orchestrator.config.rules import WorkspaceRule


class Key(msgspec.Struct, frozen=True):
    """One key of a table. `hint` is its type without annotations of ours; `rule` None keeps it from a workspace."""

    hint: object
    rule: WorkspaceRule | None = None

    @property
    def table(self) -> type[msgspec.Struct] | None:
        """The struct behind it, where its value is a table with keys of its own."""
        bare = _bare(self.hint)
        return bare if isinstance(bare, type) and issubclass(bare, msgspec.Struct) else None

    @property
    def is_list(self) -> bool:
        return get_origin(_bare(self.hint)) in (tuple, list)

    @property
    def named(self) -> "Key | None":
        """The key of each entry, where its value is a table whose names are the person's: `[prices."m"]`."""
        bare = _bare(self.hint)
        return Key(get_args(bare)[1], self.rule) if get_origin(bare) is dict else None


@functools.cache
def keys_of(table: type[msgspec.Struct]) -> Mapping[str, Key]:
    """The keys of a table, by the name that a file gives them."""
    hints = get_type_hints(table, include_extras=True)
    return {field.encode_name: _key(hints[field.name]) for field in msgspec.structs.fields(table)}


def rule_of(table: type[msgspec.Struct], path: Sequence[str]) -> WorkspaceRule | None:
    """The rule of the key at `path` below `table`: its own, or that of the nearest table around it."""
    rule: WorkspaceRule | None = None
    key = Key(table)
    for name in path:
        key = key.named or (keys_of(key.table)[name] if key.table is not None else key)
        rule = key.rule or rule
    return rule


def _key(hint: object) -> Key:
    if get_origin(hint) is not Annotated:
        return Key(hint)
    bare, *notes = get_args(hint)
    rules = [note for note in notes if isinstance(note, WorkspaceRule)]
    kept = tuple(note for note in notes if isinstance(note, msgspec.Meta))
    return Key(Annotated[bare, *kept] if kept else bare, rules[0] if rules else None)


def expected(hint: object) -> str:
    """What a value of this type looks like, for a sentence: `a whole number above 0`."""
    if get_origin(hint) is Annotated:
        bare, *notes = get_args(hint)
        bounds = [_bound(note) for note in notes if isinstance(note, msgspec.Meta)]
        return " ".join([expected(bare), *filter(None, bounds)])
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(expected(each) for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(f'"{word}"' for word in get_args(hint))
    if get_origin(hint) in (tuple, list):
        return f"a list; each of it {expected(get_args(hint)[0])}"
    plain = {str: "text in quotes", int: "a whole number", float: "a number", bool: "true or false"}
    return plain.get(cast("type", hint), "a table")


def _bound(meta: msgspec.Meta) -> str:
    if meta.gt is not None:
        return f"above {meta.gt}"
    if meta.ge is not None and meta.le is not None:
        return f"from {meta.ge} to {meta.le}"
    if meta.ge is not None:
        return f"of at least {meta.ge}"
    if meta.pattern is not None:
        return meta.description or f"like {meta.pattern}"
    if meta.min_length is not None:
        return "that is not empty"
    return f"of at most {meta.le}" if meta.le is not None else ""


def _bare(hint: object) -> object:
    """The type without annotations and without `| None`."""
    if get_origin(hint) is Annotated:
        return _bare(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        others = [each for each in get_args(hint) if each is not type(None)]
        return _bare(others[0]) if len(others) == 1 else hint
    return hint
