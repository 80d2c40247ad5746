"""The real program, run as a person runs it: `covey` in a repository, with a scripted endpoint as its model.

`serving` plays a scenario on loopback; `run_covey` pipes requests in and gives back what came out.
"""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import trio

from orchestrator.journal import Entry, read_entries
from orchestrator.scripted.scenario import AnyFault, Call, Conversation, Reply, Scenario
from orchestrator.scripted.server import ScriptedServer, serve_scenario

COVEY = str(Path(sys.executable).with_name("covey"))

WITHOUT_A_FORK_SERVER = (
    sys.executable,
    "-c",
    "import sys, orchestrator.children.spawning as spawning; spawning.can_fork_warm = lambda: False;"
    "from orchestrator.cli import main; sys.exit(main())",
)
"""The program on a system that has no fork server."""

REQUEST = "please do the work"
"""What the person says; the marker of the parent's conversation."""


@dataclass(frozen=True)
class Done:
    """How a run of the program ended."""

    status: int
    output: str
    errors: str


def call(name: str, /, **arguments: object) -> Call:
    return Call(name, arguments)


def task(kind: str, title: str, prompt: str, **more: object) -> Call:
    return call("task", kind=kind, title=title, prompt=prompt, **more)


def says(text: str, *calls: Call, delay_ms: int | None = None) -> Reply:
    return Reply(text=text, calls=calls, delay_ms=delay_ms)


def breaks(fault: AnyFault, times: int = 1) -> Reply:
    return Reply(fault=fault, times=times)


def talk(marker: str, *replies: Reply, **captures: str) -> Conversation:
    return Conversation(marker, replies, captures)


@asynccontextmanager
async def serving(*conversations: Conversation) -> AsyncGenerator[ScriptedServer]:
    """A scripted endpoint that plays `conversations`, until the block is left."""
    async with trio.open_nursery() as nursery:
        yield await nursery.start(serve_scenario, Scenario(conversations))
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_covey(
    folder: Path,
    *words: str,
    environment: Mapping[str, str] | None = None,
    server: ScriptedServer | None = None,
    program: Sequence[str] = (COVEY,),
) -> AsyncGenerator[trio.Process]:
    """The program in `folder` with its three streams piped; killed, should it still run at the end of the block."""
    command = [*program, *words]
    if server is not None:
        command += ["--endpoint", server.url, "--model", "scripted"]
    process = await trio.lowlevel.open_process(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with trio.CancelScope(shield=True):
            if process.returncode is None:
                process.send_signal(signal.SIGKILL)
            await process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    await stream.aclose()


async def read_all(stream: trio.abc.ReceiveStream | None) -> str:
    assert stream is not None
    return b"".join([bytes(data) async for data in stream]).decode()


async def run_covey(
    folder: Path,
    *words: str,
    requests: Sequence[str] = (REQUEST,),
    server: ScriptedServer | None = None,
    environment: Mapping[str, str] | None = None,
) -> Done:
    """Run the program to its end with one request a line on its standard input."""
    output = {"stdout": "", "stderr": ""}

    async def collect(name: str, stream: trio.abc.ReceiveStream | None) -> None:
        output[name] = await read_all(stream)

    with trio.fail_after(60):
        async with open_covey(folder, *words, server=server, environment=environment) as process:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(collect, "stdout", process.stdout)
                nursery.start_soon(collect, "stderr", process.stderr)
                assert process.stdin is not None
                with suppress(trio.BrokenResourceError):  # it ended before it read: its exit status tells why
                    await process.stdin.send_all("".join(f"{line}\n" for line in requests).encode())
                await process.stdin.aclose()
            return Done(await process.wait(), output["stdout"], output["stderr"])


def journal_of(folder: Path) -> list[Entry]:
    """The entries of the one session that ran in `folder`."""
    (path,) = (folder / ".covey" / "sessions").glob("*/journal.jsonl")
    return list(read_entries(path))
