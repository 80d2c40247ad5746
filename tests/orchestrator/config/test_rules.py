"""Pure. What a workspace may do with a key."""

import pytest

from orchestrator.config.rules import (
    WORKSPACE_ADDS,
    WORKSPACE_LOWERS,
    WORKSPACE_SETS,
    WORKSPACE_TURNS_OFF,
    WORKSPACE_TURNS_ON,
    WorkspaceRule,
    workspace_tightens,
)

NETWORK = workspace_tightens("on", "ask", "off")


@pytest.mark.parametrize(
    ("rule", "person", "workspace", "may"),
    [
        (WORKSPACE_SETS, 1, 2, True),
        (WORKSPACE_LOWERS, None, 9, True),
        (WORKSPACE_LOWERS, 5, 5, True),
        (WORKSPACE_LOWERS, 5, 6, False),
        (WORKSPACE_TURNS_OFF, True, False, True),
        (WORKSPACE_TURNS_OFF, False, True, False),
        (WORKSPACE_TURNS_OFF, True, True, True),
        (WORKSPACE_TURNS_ON, False, True, True),
        (WORKSPACE_TURNS_ON, True, False, False),
        (WORKSPACE_ADDS, ("a",), ("a", "b"), True),
        (WORKSPACE_ADDS, ("a",), ("b",), False),
        (WORKSPACE_ADDS, None, ("b",), True),
        (NETWORK, "ask", "off", True),
        (NETWORK, "ask", "ask", True),
        (NETWORK, "ask", "on", False),
    ],
)
def test_a_rule(rule: WorkspaceRule, person: object, workspace: object, may: bool) -> None:
    assert rule.allows(person, workspace) is may
