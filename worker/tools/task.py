"""`task`: delegate work to fresh child sessions, ask for a child, steer it, stop it.

The module holds what the model is told and the shape of the arguments; the parent hands in the function that does
the work (`dataclasses.replace(TOOL, run=…)`), because only it knows children. Elsewhere the call is refused by text.
"""

from typing import Annotated

import msgspec

from worker.protocol import Kind
from worker.tools.tool import Tool, ToolAnswer, failed
from worker.workspace import Workspace

DESCRIPTION = """\
Delegate work to fresh child sessions that run in parallel. Several task calls in one reply run at the same time.

Start a child with `kind`, `title` and `prompt`:
- kind "research": reads and searches this workspace and answers; it cannot write or run commands.
- kind "implement": edits an isolated checkout that starts from the working tree as it is now, uncommitted changes
  included. When it finishes, its edits are merged back into this workspace by themselves.
Only so many children are at work at once; the others are queued and start by themselves.
A child sees nothing of this conversation: put everything it needs into `prompt`. Children started together do not
see each other's edits; give them different files where you can. A child whose edits conflict keeps its checkout for
review and the others still land. You verify the combined result after they finish.

With `background: true` the call returns the child's id at once; the child's report reaches you when it finishes.
With `child: ID`: its state while it runs, its whole result once it has finished. `wait_secs` waits at most that long
for it to finish. `prompt` together with `child` is a message to the running child. `kill: true` stops it.
Without arguments: how many children run, are queued and have ended, and the list of them."""


class TaskArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a task call may say. Either it starts a child, or it names one."""

    kind: Annotated[Kind | None, msgspec.Meta(description="What the new child may do.")] = None
    title: Annotated[str | None, msgspec.Meta(description="Three to six words for the person's screen.")] = (
        None
    )
    prompt: Annotated[
        str | None,
        msgspec.Meta(description="The new child's whole task; with `child`, a message to that child."),
    ] = None
    background: Annotated[bool, msgspec.Meta(description="Return at once; the report comes later.")] = False
    child: Annotated[str | None, msgspec.Meta(description="The id of a child that was started before.")] = (
        None
    )
    agent: Annotated[
        str | None,
        msgspec.Meta(description="The agent whose instructions and tools the new child gets, by its name."),
    ] = None
    kill: Annotated[bool, msgspec.Meta(description="With `child`: stop it and everything it started.")] = (
        False
    )
    wait_secs: Annotated[
        Annotated[float, msgspec.Meta(ge=0)] | None,
        msgspec.Meta(description="With `child`: wait at most this long for it to finish."),
    ] = None


def title(arguments: TaskArguments, workspace: Workspace) -> str:
    """`task: TITLE` for a new child, `task: child ID` for one that is named."""
    if arguments.child is not None:
        verb = "stop" if arguments.kill else "tell" if arguments.prompt is not None else "ask for"
        return f"task: {verb} {arguments.child}"
    return f"task: {arguments.title or arguments.kind or 'list children'}"


async def refuse(arguments: TaskArguments, workspace: Workspace) -> ToolAnswer:
    return failed("There is no one to delegate to here; do the work yourself with the other tools.")


TOOL = Tool("task", DESCRIPTION, TaskArguments, "delegate", title, refuse)
