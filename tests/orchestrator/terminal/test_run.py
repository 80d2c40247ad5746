"""Real processes. A session fed from a pipe, and what only a process of its own can show: signals, exit codes."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import trio

from orchestrator.faults import UserError
from orchestrator.terminal.run import run_terminal
from tests.orchestrator.terminal.played_session import PlayedSession, answer_at_once
from worker.protocol import Answered, AnyOutcome

PLAYED = (sys.executable, "-m", "tests.orchestrator.terminal.played_session")
HERE = Path(__file__).resolve().parents[3]


def run(play: str, requests: bytes, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PLAYED, play],
        input=requests,
        capture_output=True,
        check=False,
        cwd=HERE,
        env={**os.environ, **variables},
    )


@contextmanager
def running(play: str) -> Generator[subprocess.Popen[bytes]]:
    """A session that reads requests from a pipe, in a process group of its own."""
    with subprocess.Popen(
        [*PLAYED, play],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=HERE,
        process_group=0,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[bytes], text: bytes) -> bytes:
    assert process.stdout is not None
    read = b""
    while text not in read:
        line = process.stdout.readline()
        assert line, f"{text!r} was not written: {read!r}"
        read += line
    return read


def test_each_line_is_a_request_and_the_end_of_input_ends_the_session() -> None:
    ended = run("answer_at_once", b"first\n\n  \nsecond")
    assert ended.returncode == 0
    assert ended.stderr == b""
    lines = ended.stdout.decode().splitlines()
    said = [line for line in lines if line and "tokens" not in line]
    assert said == [
        "covey in /home/ada/parser",
        "model tiny at http://127.0.0.1:1/v1; /help lists the commands",
        "› first",
        "You said: first",
        "› second",
        "You said: second",
    ]


def test_a_log_holds_children_landings_and_receipt_and_no_escape_sequence() -> None:
    ended = run("delegate", b"do it\n", FORCE_COLOR="1")
    text = ended.stdout.decode()
    assert "\x1b" not in text
    assert "\r" not in text
    lines = text.splitlines()
    for line in (
        "◌ starting fix-tabs-ab12 (implement) Fix the tabs",
        "  fix-tabs-ab12  📄 read src/parser.py",
        "    landed 2 files: src/parser.py, README.md",
        "    kept /home/ada/parser-children/fix-width-cd34: conflicts with the parent",
        "      rm -rf /home/ada/parser-children/fix-width-cd34  # removes it when you are done with it",
        "🛠️  run_command: pytest -q",
        "Both are done, **one** is kept.",
        "2 children: 1 landed, 1 conflict · 2 files landed",
    ):
        assert line in lines, text
    assert ended.returncode == 0, "a conflict is no failure"


def test_a_plain_locale_gets_ascii() -> None:
    ended = run("delegate", b"do it\n", LANG="C")
    assert ended.stdout.isascii()
    assert b"! conflict fix-width-cd34" in ended.stdout


def test_another_encoding_gets_what_it_can_hold() -> None:
    ended = run("answer_at_once", "café → ü\n".encode(), PYTHONIOENCODING="iso8859-1")
    assert b"You said: caf\xe9 ? \xfc\n" in ended.stdout
    assert ended.stderr == b""


def test_bytes_that_are_no_text_and_very_long_lines_are_requests_like_others() -> None:
    ended = run("answer_at_once", b"caf\xe9 \x00\x1b[2J\n" + b"x" * 300_000 + b"\n")
    assert ended.returncode == 0
    assert "You said: caf\ufffd ^@^[[2J\n".encode() in ended.stdout
    assert b"You said: " + b"x" * 300_000 + b"\n" in ended.stdout


def test_commands_work_through_a_pipe_in_their_order() -> None:
    ended = run("delegate", b"/children\ndo it\n/children\n/steer fix-t hello\n/quit\nnever read\n")
    lines = ended.stdout.decode().splitlines()
    assert "No child has been started in this session." in lines
    assert [line.split()[1] for line in lines if re.search(r" \d:\d\d$", line)] == [
        "landed",
        "conflict",
    ]
    assert "fix-tabs-ab12 has ended; it no longer reads messages." in lines
    assert "› never read" not in lines
    assert ended.returncode == 0


def test_a_mistyped_command_is_told_and_ends_in_a_fault() -> None:
    ended = run("answer_at_once", b"/kil x\nhello\n")
    assert "There is no command /kil; did you mean /kill?" in ended.stdout.decode()
    assert "You said: hello" in ended.stdout.decode(), "the rest is still done"
    assert ended.returncode == 1


def test_a_request_without_an_answer_ends_in_a_fault() -> None:
    ended = run("give_up", b"hello\n")
    assert ended.stdout.decode().splitlines()[-2] == (
        "The turn ended early. The model's endpoint could not be reached: connection refused."
    )
    assert ended.returncode == 1


@pytest.mark.parametrize(
    ("number", "exit_code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_stops_the_turn_and_ends_the_session(number: signal.Signals, exit_code: int) -> None:
    with running("wait_forever") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"go\nnever begun\n")
        process.stdin.flush()
        read_until(process, b"starting slow-ab12")
        process.send_signal(number)
        rest = read_until(process, b"The turn was stopped by the person.")
        assert b"stopped slow-ab12" in rest
        assert process.wait() == exit_code
        assert process.stderr.read() == b""


def test_a_signal_while_a_request_is_awaited_ends_the_session() -> None:
    with running("answer_at_once") as process:
        read_until(process, b"/help lists the commands")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130


def test_when_nobody_reads_the_turn_is_stopped_without_a_word() -> None:
    with running("talk_until_nobody_reads") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"go\nnever begun\n")
        process.stdin.flush()
        read_until(process, b"go go go")
        process.stdout.close()
        assert process.wait() == 141
        assert process.stderr.read() == b""


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*PLAYED, "answer_at_once"],
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            cwd=HERE,
        )
    assert b"Standard output can't be written: [Errno 28] No space left on device." in ended.stderr
    assert ended.returncode == 1


def test_closed_standard_streams_are_no_crash() -> None:
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *PLAYED, "answer_at_once"],
        capture_output=True,
        check=False,
        cwd=HERE,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *PLAYED, "answer_at_once"],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
        cwd=HERE,
    )
    assert b"Standard output is closed; give covey a terminal, a pipe or a file to write to." in ended.stderr


def test_a_pipe_pays_for_neither_the_line_editor_nor_the_drawing() -> None:
    code = (
        "import sys, tests.orchestrator.terminal.played_session as played\n"
        "sys.argv[1:] = ['delegate']\n"
        "code = played.main()\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(code, sorted(loaded & {'rich', 'prompt_toolkit', 'asyncio', 'pygments'}), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], input=b"go\n", capture_output=True, check=False, cwd=HERE
    )
    assert ended.stderr == b"0 []\n"


async def test_a_closed_standard_output_is_a_fault_of_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    session = PlayedSession(tmp_path, answer_at_once)
    with pytest.raises(UserError, match="Standard output is closed"):
        await run_terminal(session)
    session.journal.close()


async def test_a_reader_that_does_not_read_holds_up_no_turn(tmp_path: Path) -> None:
    done = trio.Event()

    async def talk_at_length(session: PlayedSession, request: str) -> AnyOutcome:
        for number in range(200):
            session.reply(f"reply {number}: " + "x" * 4_000)
            await trio.lowlevel.checkpoint()
        done.set()
        return Answered("")

    (requests, giving), (reading, writing) = os.pipe(), os.pipe()
    os.write(giving, b"go\n")
    os.close(giving)
    session = PlayedSession(tmp_path, talk_at_length)
    with os.fdopen(requests) as stdin, os.fdopen(writing, "w") as stdout, os.fdopen(reading, "rb") as reader:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(run_terminal, session, stdin=stdin, stdout=stdout))
            await done.wait()
            written = b""
            while b"tokens" not in written:
                written += await trio.to_thread.run_sync(os.read, reader.fileno(), 65_536)
    session.journal.close()
    assert b"reply 199: " in written
