"""What the workspace's own file may do with a key: set it, only tighten it, or (without a rule) nothing.

A workspace comes with a repository that somebody else may have written, so a key says what it allows in its
annotation: `Annotated[bool, WORKSPACE_TURNS_OFF]`. Pure. Knows no key.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True)
class WorkspaceRule:
    """`allows(person, workspace)` compares what the layers below say with what the workspace says.

    `may` is how a refusal tells it: "a workspace may only {may} it".
    """

    may: str
    allows: Callable[[object, object], bool]


def _is_lower(person: object, workspace: object) -> bool:
    if not isinstance(workspace, int | float):
        return False
    return not isinstance(person, int | float) or workspace <= person


def _keeps_all(person: object, workspace: object) -> bool:
    if not isinstance(workspace, Sequence):
        return False
    held = cast("Sequence[object]", person) if isinstance(person, Sequence) else ()
    return all(each in cast("Sequence[object]", workspace) for each in held)


WORKSPACE_SETS = WorkspaceRule("set", lambda person, workspace: True)
"""It is the workspace's own affair."""

WORKSPACE_LOWERS = WorkspaceRule("lower", _is_lower)
"""A number: the person's is the most, where the person names one."""

WORKSPACE_TURNS_OFF = WorkspaceRule(
    "turn off", lambda person, workspace: workspace is False or person is True
)
"""A switch: false, or true where it is on anyway."""

WORKSPACE_TURNS_ON = WorkspaceRule("turn on", lambda person, workspace: workspace is True or person is False)
"""A switch that guards: true, or false where it is off anyway."""

WORKSPACE_ADDS = WorkspaceRule("add to", _keeps_all)
"""A list that guards: all that the person's holds, and perhaps more."""


def workspace_tightens(*loosest_first: object) -> WorkspaceRule:
    """A choice among words: the person's own, or one that stands after it in `loosest_first`."""

    def allows(person: object, workspace: object) -> bool:
        start = loosest_first.index(person) if person in loosest_first else 0
        return workspace in loosest_first[start:]

    return WorkspaceRule("tighten", allows)
