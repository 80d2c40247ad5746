"""Real processes. The scripted endpoint as a program: its first line, its signals, its refusals."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

PROGRAM = (
    "import sys; from pathlib import Path; from orchestrator.scripted.run import run_scripted; "
    "sys.exit(run_scripted(Path(sys.argv[1]), int(sys.argv[2]), record=Path(sys.argv[3]) if sys.argv[3:] else None))"
)

SCENARIO = """
[[conversations]]
marker = "Hello"
replies = [{ text = "Hi." }]
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return path


@asynccontextmanager
async def _running(*arguments: object) -> AsyncGenerator[tuple[trio.Process, str]]:
    """The program and its first line; killed, should it still run at the end of the block."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    async with process.stdout, process.stderr:
        try:
            line = b""
            while not line.endswith(b"\n") and (part := await process.stdout.receive_some()):
                line += part
            yield process, line.decode().strip()
        finally:
            with trio.CancelScope(shield=True):
                if process.returncode is None:
                    process.kill()
                await process.wait()


def _run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


async def _ask(url: str) -> bytes:
    body = b'{"messages": [{"role": "user", "content": "Hello."}], "stream": true}'
    port = int(url.rpartition(":")[2].partition("/")[0])
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        head = f"POST /v1/messages HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        await stream.send_all(head.encode() + body)
        return b"".join([bytes(part) async for part in stream])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_tells_its_address_plays_and_ends_by_a_signal(
    scenario: Path, tmp_path: Path, number: signal.Signals
) -> None:
    async with _running(scenario, 0, tmp_path / "recorded") as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert url.endswith("/v1")
        assert b'"text":"Hi."' in await _ask(url)
        process.send_signal(number)
        assert await process.wait() == 128 + number
    assert sorted(os.listdir(tmp_path / "recorded")) == ["00001.headers", "00001.json"]


def test_a_scenario_that_cannot_be_played_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text("x = 1")
    run = _run(path, 0)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith(f"{path}: the top level: ")
    assert run.stderr.count("\n") == 1


async def test_a_port_that_is_taken_is_told_with_the_remedy(scenario: Path) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        port = listener.socket.getsockname()[1]
        run = await trio.to_thread.run_sync(_run, scenario, port)
    assert run.returncode == 1
    assert f"cannot start on port {port}: " in run.stderr
    assert "Give another --port, or 0 for a free one." in run.stderr


def test_a_folder_that_cannot_be_made_is_told(scenario: Path) -> None:
    run = _run(scenario, 0, scenario / "recorded")
    assert run.returncode == 1
    assert "Not a directory" in run.stderr
    assert "--port" not in run.stderr
