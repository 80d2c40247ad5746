"""Real processes. A worker spoken to over its pipes, with the test in the parent's place."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import trio

from worker.conversation import AssistantMessage, CallId, ToolCall, ToolMessage, UserMessage
from worker.model import Refused, Reply
from worker.pipe.frames import encode_frame
from worker.pipe.wire import Wire
from worker.protocol import (
    Answered,
    AnyCommand,
    AnyReport,
    ChildId,
    Finished,
    Kind,
    ModelAsked,
    ModelFailed,
    ModelGaveUp,
    ModelReplied,
    Ready,
    Start,
    Steer,
    ToolFinished,
    ToolLimit,
    ToolStarted,
)

COMMAND = (sys.executable, "-P", "-E", "-m", "worker")
ALONE = {"PATH": os.environ["PATH"], "COVEY_CHILD": "test-1"}


class Peer:
    """The parent's end of one worker."""

    def __init__(self, process: trio.Process, folder: Path) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.wire: Wire[AnyCommand, AnyReport] = Wire(process.stdin, process.stdout, AnyReport)
        self._folder = folder

    async def receive(self) -> AnyReport | None:
        return await self.wire.receive()

    async def start(self, kind: Kind = "implement", limit: ToolLimit | None = None) -> None:
        assert isinstance(await self.receive(), Ready)
        conversation = (UserMessage("go"),)
        await self.wire.send(
            Start(
                ChildId("test-1"),
                kind,
                os.fsencode(self._folder),
                os.fsencode(self._folder / "tmp"),
                conversation,
                limit=limit,
            )
        )

    async def asked(self) -> ModelAsked:
        report = await self.receive()
        assert isinstance(report, ModelAsked), report
        return report

    async def reply(self, asked: ModelAsked, text: str, *calls: tuple[str, dict[str, object]]) -> None:
        made = tuple(
            ToolCall(CallId(f"{asked.ask}-{n}"), name, msgspec.json.encode(words).decode())
            for n, (name, words) in enumerate(calls)
        )
        await self.wire.send(ModelReplied(asked.ask, Reply(AssistantMessage(text, made))))


@asynccontextmanager
async def open_peer(folder: Path, stderr: int = subprocess.DEVNULL) -> AsyncGenerator[Peer]:
    process = await trio.lowlevel.open_process(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=ALONE, cwd=folder
    )
    assert process.stdin is not None
    try:
        with trio.fail_after(30):
            yield Peer(process, folder)
            await process.stdin.aclose()
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
            await process.stdin.aclose()
            assert process.stdout is not None
            await process.stdout.aclose()


async def test_a_worker_goes_on_with_the_conversation_that_comes_with_a_reply(tmp_path: Path) -> None:
    async with open_peer(tmp_path) as peer:
        await peer.start()
        await peer.reply(await peer.asked(), "", ("read", {"path": "."}))
        assert isinstance(await peer.receive(), ToolStarted)
        assert isinstance(await peer.receive(), ToolFinished)
        asked = await peer.asked()
        assert (asked.kept, len(asked.messages)) == (2, 1)
        call = ToolCall(CallId("again"), "read", '{"path": "."}')
        shorter = (UserMessage("go"), UserMessage("a summary"), UserMessage("hurry"), UserMessage("please"))
        await peer.wire.send(ModelReplied(asked.ask, Reply(AssistantMessage("", (call,))), shorter))
        assert isinstance(await peer.receive(), ToolStarted)
        assert isinstance(await peer.receive(), ToolFinished)
        asked = await peer.asked()
        assert asked.kept == len(shorter) + 1
        assert [type(message) for message in asked.messages] == [ToolMessage]
        await peer.reply(asked, "done")
        assert await peer.receive() == Finished(Answered("done"))


async def test_a_worker_asks_runs_the_tools_and_says_how_it_ended(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    async with open_peer(tmp_path) as peer:
        await peer.start()
        asked = await peer.asked()
        assert (asked.kept, asked.messages) == (1, ())
        await peer.reply(asked, "reading", ("read", {"path": "a.txt"}))
        assert await peer.receive() == ToolStarted(CallId("1-0"), "read", "read a.txt")
        finished = await peer.receive()
        assert isinstance(finished, ToolFinished)
        assert "hello" in finished.text
        asked = await peer.asked()
        assert asked.kept == 2
        assert asked.messages == (ToolMessage(CallId("1-0"), finished.text),)
        await peer.reply(asked, "it says hello")
        assert await peer.receive() == Finished(Answered("it says hello"))
        assert await peer.receive() is None
        assert await peer.process.wait() == 0


async def test_a_failed_model_call_ends_the_work(tmp_path: Path) -> None:
    async with open_peer(tmp_path) as peer:
        await peer.start()
        asked = await peer.asked()
        await peer.wire.send(ModelFailed(asked.ask, Refused(401, "no key")))
        assert await peer.receive() == Finished(ModelGaveUp(Refused(401, "no key")))


async def test_steering_is_read_before_the_next_reply(tmp_path: Path) -> None:
    async with open_peer(tmp_path) as peer:
        await peer.start()
        asked = await peer.asked()
        await peer.wire.send(Steer("and the other file"))
        await peer.reply(asked, "", ("read", {"path": "."}))
        await peer.receive()
        await peer.receive()
        assert (await peer.asked()).messages[-1] == UserMessage("and the other file")


async def test_the_end_of_the_pipe_stops_a_worker_in_the_middle_of_a_command(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never")
    async with open_peer(tmp_path) as peer:
        await peer.start()
        await peer.reply(await peer.asked(), "", ("run_command", {"command": "echo $$ > pid; cat never"}))
        assert isinstance(await peer.receive(), ToolStarted)
    assert peer.process.returncode is not None


async def test_interrupt_at_the_terminal_does_not_reach_a_worker(tmp_path: Path) -> None:
    async with open_peer(tmp_path) as peer:
        await peer.start()
        asked = await peer.asked()
        peer.process.send_signal(signal.SIGINT)
        await peer.reply(asked, "still here")
        assert await peer.receive() == Finished(Answered("still here"))


async def test_a_command_that_prints_to_every_descriptor_cant_break_a_frame(tmp_path: Path) -> None:
    async with open_peer(tmp_path) as peer:
        await peer.start()
        noise = "for fd in 0 1 2 3 4 5 6 7 8 9; do (printf 'garbage' >&$fd) 2>/dev/null; done; true"
        await peer.reply(await peer.asked(), "", ("run_command", {"command": noise}))
        assert isinstance(await peer.receive(), ToolStarted)
        assert isinstance(await peer.receive(), ToolFinished)
        await peer.reply(await peer.asked(), "fine")
        assert await peer.receive() == Finished(Answered("fine"))


async def test_a_folder_named_worker_in_the_workspace_is_not_what_runs(tmp_path: Path) -> None:
    (tmp_path / "worker").mkdir()
    (tmp_path / "worker" / "__init__.py").write_text("raise SystemExit('not ours')")
    (tmp_path / "trio.py").write_text("raise SystemExit('not ours')")
    async with open_peer(tmp_path) as peer:
        assert isinstance(await peer.receive(), Ready)


@pytest.mark.parametrize(
    "garbage",
    [b"\xff" * 64, encode_frame({"type": "Unheard"}), encode_frame(Steer("first"))[:-1]],
    ids=["oversized", "unknown tag", "truncated"],
)
async def test_garbage_from_a_parent_ends_the_worker(tmp_path: Path, garbage: bytes) -> None:
    async with open_peer(tmp_path) as peer:
        assert isinstance(await peer.receive(), Ready)
        assert peer.process.stdin is not None
        await peer.process.stdin.send_all(garbage)
        await peer.process.stdin.aclose()
        assert await peer.process.wait() != 0


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("edit", {"path": "a.txt", "old": "hello", "new": "bye"}),
        ("write", {"path": "b.txt", "content": "x"}),
        ("run_command", {"command": "touch b.txt"}),
    ],
)
async def test_a_research_child_is_told_that_it_only_reads(
    tmp_path: Path, tool: str, arguments: dict[str, object]
) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    async with open_peer(tmp_path) as peer:
        await peer.start("research")
        await peer.reply(await peer.asked(), "", (tool, arguments))
        await peer.receive()
        finished = await peer.receive()
        assert isinstance(finished, ToolFinished)
        assert finished.failed
        assert "read-only" in finished.text
    assert (tmp_path / "a.txt").read_text() == "hello\n"
    assert not (tmp_path / "b.txt").exists()


@pytest.mark.parametrize("kind", ["research", "implement"])
async def test_a_child_cant_delegate(tmp_path: Path, kind: Kind) -> None:
    async with open_peer(tmp_path) as peer:
        await peer.start(kind)
        await peer.reply(await peer.asked(), "", ("task", {"kind": "research", "prompt": "you do it"}))
        await peer.receive()
        finished = await peer.receive()
        assert isinstance(finished, ToolFinished)
        assert finished.failed
        assert "can't delegate" in finished.text


async def test_a_limit_is_told_in_its_own_words_and_the_rest_may_be_called(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    calls: list[tuple[str, dict[str, object]]] = [
        ("write", {"path": "b.txt", "content": "x"}),
        ("read", {"path": "a.txt"}),
    ]
    async with open_peer(tmp_path) as peer:
        await peer.start(limit=ToolLimit(("read", "read_file"), "only read is yours."))
        await peer.reply(await peer.asked(), "", *calls)
        reports = [await peer.receive() for _ in range(4)]
        texts = {report.name: report.text for report in reports if isinstance(report, ToolFinished)}
    assert texts["write"] == "write: only read is yours."
    assert "hello" in texts["read"]
    assert not (tmp_path / "b.txt").exists()


def test_a_worker_imports_none_of_the_parents_libraries() -> None:
    heavy = ("orchestrator", "merge", "git", "pygit2", "httpx", "rich", "prompt_toolkit", "psutil")
    code = f"import sys, worker.__main__; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
