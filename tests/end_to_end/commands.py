"""Children that run shell commands: to say so in a script, to meet one in the middle, to read what was printed."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from merge.store.repository import find_repository
from orchestrator.children.ledger import open_ledger
from orchestrator.children.mounting import seen_at
from orchestrator.scripted.scenario import Call
from tests.end_to_end.covey import call, journal_of
from worker.protocol import ToolFinished

AT_WORK = "mkfifo go && read -r word < go; rm go"
"""A command that goes on when somebody writes a line to the pipe `go` in the checkout."""


def shell(command: str) -> Call:
    return call("run_command", command=command)


def told_by_commands(repository: Path) -> dict[str, str]:
    """What each child's last command printed, by the slug of its title; the parent's is at ``."""
    return {
        entry.who.rpartition("-")[0]: entry.event.text
        for entry in journal_of(repository)
        if isinstance(entry.event, ToolFinished) and entry.event.name == "run_command"
    }


def seen(repository: Path) -> list[Path]:
    """The checkouts of the children of a repository, as their own processes see them."""
    with open_ledger(find_repository(repository)) as ledger:
        rows = ledger.rows()
    return [
        seen_at(Path(row.checkout), row.worker.pid) if row.worker is not None else Path(row.checkout)
        for row in rows
        if row.checkout is not None
    ]


@asynccontextmanager
async def at_work(repository: Path) -> AsyncGenerator[Path]:
    """The checkout of the one child that came to `AT_WORK`; it goes on when the block is left."""
    with trio.fail_after(30):
        while not (found := [folder / "go" for folder in seen(repository) if (folder / "go").exists()]):  # noqa: ASYNC110
            await trio.sleep(0.01)
    (pipe,) = found
    yield pipe.parent
    # Opened like this it blocks nobody: the child may be between two steps, or gone.
    descriptor = os.open(pipe, os.O_RDWR)
    try:
        os.write(descriptor, b"on\n")
        with trio.fail_after(30):
            while pipe.exists():  # noqa: ASYNC110
                await trio.sleep(0.01)
    finally:
        os.close(descriptor)
