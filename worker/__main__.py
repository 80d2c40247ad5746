"""The worker process: takes its pipes, says `Ready`, is told `Start`, works one turn, says `Finished`.

Run by the parent as `python -P -m worker`, where there are steps to take first with these as a word more. Standard
input and output are the wire; they are moved aside first, so that a stray print or a command's output can never enter a
frame. The end of the wire means stop.
"""

import os
import signal
import sys
import traceback
from pathlib import Path

import trio

from worker.agent import Agent
from worker.catalogue import every_tool, offered
from worker.confinement.first_steps import begin_with, decode_steps
from worker.conversation import UserMessage
from worker.pipe.pipe_model import PipeModel
from worker.pipe.pipe_permission import PipePermission
from worker.pipe.wire import PeerGone, Wire
from worker.policy.permission import Permits
from worker.protocol import (
    AnyCommand,
    AnyOutcome,
    AnyReport,
    Failed,
    Finished,
    ModelFailed,
    ModelReplied,
    PermissionDecided,
    Ready,
    Start,
    Steer,
    ToolFinished,
    ToolStarted,
)
from worker.toolbox import Toolbox
from worker.tools.foreseen import foresee
from worker.tools.tool import Access
from worker.workspace import Workspace

_NOT_FOR_A_CHILD = "a child session can't delegate; do the work yourself with the other tools."
_NOBODY_TO_ASK = (
    "there is no one to ask in a child session; decide it yourself, and say in your answer what you assumed."
)
_READ_ONLY = (
    "this is a read-only research session; read and search, and put what should change into your answer."
)

REFUSALS: dict[str, dict[Access, str]] = {
    "implement": {"delegate": _NOT_FOR_A_CHILD, "ask": _NOBODY_TO_ASK},
    "research": {
        "delegate": _NOT_FOR_A_CHILD,
        "ask": _NOBODY_TO_ASK,
        "write": _READ_ONLY,
        "shell": _READ_ONLY,
    },
}
"""What a child of each kind is told when it calls a tool that it may not use."""


class SteeringInbox:
    """What the parent said to the child while it worked."""

    def __init__(self) -> None:
        self._waiting: list[UserMessage] = []

    def put(self, text: str) -> None:
        self._waiting.append(UserMessage(text))

    def take(self) -> list[UserMessage]:
        taken, self._waiting = self._waiting, []
        return taken

    async def wait_for_more(self) -> list[UserMessage]:
        await trio.lowlevel.checkpoint()
        return self.take()


def take_standard_streams() -> tuple[int, int]:
    """Move the pipes on fds 0 and 1 to fresh ones; 0 then reads nothing and 1 writes to stderr."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return incoming, outgoing


def stay_below(checkout: Path) -> dict[str, str]:
    """The variables that keep git in `checkout`: without its `.git`, a repository above is none of the child's."""
    # git(1): git does not go up into these folders. Where a command begins in one of them, the next one holds.
    above = (checkout.parent, checkout.parent.parent)
    return {"GIT_CEILING_DIRECTORIES": os.pathsep.join(map(os.fspath, above))}


async def work(
    start: Start,
    wire: Wire[AnyReport, AnyCommand],
    model: PipeModel,
    permission: PipePermission,
    inbox: SteeringInbox,
) -> AnyOutcome:
    """Do the work that `start` describes, to its end."""
    workspace = Workspace(
        root=Path(os.fsdecode(start.workspace)),
        temporary=Path(os.fsdecode(start.temporary)),
        read_only=start.kind == "research",
        command_limit_seconds=start.command_limit_seconds,
        search_limit_seconds=start.search_limit_seconds,
    )
    permits = Permits(start.policy, permission.ask, foresee)
    tools = every_tool(start.tools)
    toolbox = Toolbox(
        tools,
        workspace,
        REFUSALS[start.kind],
        limit=start.limit,
        permits=permits,
        told=[tool.name for tool in offered(tools, start.tools)],
    )

    async def tell(report: ToolStarted | ToolFinished) -> None:
        await wire.send(report)

    agent = Agent(list(start.conversation), model, toolbox, inbox, tell)
    if start.kind == "implement":
        os.environ.update(stay_below(workspace.root))
    try:
        os.chdir(workspace.root)
        return await agent.run_turn()
    except Exception:
        return Failed(traceback.format_exc())


async def serve(wire: Wire[AnyReport, AnyCommand]) -> None:
    """Live the life of one worker on `wire`."""
    await wire.send(Ready(os.getpid()))
    start = await wire.receive()
    if not isinstance(start, Start):
        return
    model = PipeModel(wire, known=len(start.conversation))
    permission = PipePermission(wire)
    inbox = SteeringInbox()

    async with trio.open_nursery() as nursery:

        async def listen() -> None:
            while (command := await wire.receive()) is not None:
                match command:
                    case ModelReplied() | ModelFailed():
                        model.take_answer(command)
                    case PermissionDecided():
                        permission.take_answer(command)
                    case Steer(text=text):
                        inbox.put(text)
                    case Start():
                        raise AssertionError("A worker is started once.")
            nursery.cancel_scope.cancel()  # the parent closed the pipe: stop

        nursery.start_soon(listen)
        outcome = await work(start, wire, model, permission, inbox)
        await wire.send(Finished(outcome))
        nursery.cancel_scope.cancel()


async def run(incoming: int, outgoing: int) -> None:
    async with trio.lowlevel.FdStream(incoming) as reader, trio.lowlevel.FdStream(outgoing) as writer:
        wire: Wire[AnyReport, AnyCommand] = Wire(writer, reader, AnyCommand)
        try:
            await serve(wire)
        except* PeerGone:
            sys.exit(1)  # the parent is gone; there is no one to tell


def main(steps: str = "") -> None:
    if steps:
        begin_with(decode_steps(steps))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the terminal is the parent's affair
    incoming, outgoing = take_standard_streams()
    trio.run(run, incoming, outgoing)


if __name__ == "__main__":
    main(*sys.argv[1:])
