"""Real processes. The table of processes says the same whether it is read from /proc or by psutil."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from worker.processes import process_table
from worker.processes.process_table import carries, list_processes, look_up

READERS = pytest.mark.parametrize("has_proc", [True, False], ids=["/proc", "psutil"])


@contextmanager
def running(
    *command: str, start_new_session: bool = False, env: dict[str, str] | None = None
) -> Generator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=start_new_session,
        env=env,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_both_readers_say_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        running("bash", "-c", "exec -a '(odd) na me' sleep 999") as odd,
        running("true") as dead,
        running("cat") as own,
    ):
        os.waitid(os.P_PID, dead.pid, os.WEXITED | os.WNOWAIT)
        pids = {odd.pid, dead.pid, own.pid, os.getpid(), os.getppid()}
        entries = [entry for entry in list_processes() if entry.key.pid in pids]
        assert {entry.key.pid for entry in entries} == pids
        monkeypatch.setattr(process_table, "HAS_PROC", False)
        assert pids <= {entry.key.pid for entry in list_processes()}
        for entry in entries:
            # psutil counts from the moment when the clock says that the system began.
            start = entry.key.start_time + psutil.boot_time()
            assert look_up(entry.key.pid) == entry._replace(key=entry.key._replace(start_time=start))


@READERS
def test_a_process_has_a_parent_a_session_and_a_start(
    monkeypatch: pytest.MonkeyPatch, has_proc: bool
) -> None:
    monkeypatch.setattr(process_table, "HAS_PROC", has_proc)
    with running("cat", start_new_session=True) as process:
        entry = look_up(process.pid)
        assert entry is not None
        assert (entry.parent, entry.session, entry.ended) == (os.getpid(), process.pid, False)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert look_up(process.pid) == entry._replace(ended=True)
    assert look_up(process.pid) is None
    own = look_up(os.getpid())
    assert own is not None
    assert own.key.start_time <= entry.key.start_time


@READERS
def test_an_environment_is_asked_for_a_whole_variable(
    monkeypatch: pytest.MonkeyPatch, has_proc: bool
) -> None:
    monkeypatch.setattr(process_table, "HAS_PROC", has_proc)
    environment = {"PATH": os.environ["PATH"], "NAME": "välue 1", "LAST": "x"}
    with running("bash", "-c", "echo up; read", env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        assert carries(process.pid, "NAME", "välue 1")
        assert carries(process.pid, "LAST", "x")
        assert not carries(process.pid, "NAME", "välue")
        assert not carries(process.pid, "AME", "välue 1")
        assert not carries(process.pid, "HOME", os.environ["HOME"])
    assert not carries(process.pid, "LAST", "x")


def test_a_process_whose_first_thread_has_ended_is_not_dead() -> None:
    script = """
import ctypes, os, threading
def stay():
    print("up", flush=True)
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=stay).start()
ctypes.CDLL(None).pthread_exit(None)
"""
    with running(sys.executable, "-c", script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        entry = look_up(process.pid)
        assert entry is not None
        assert not entry.ended


BECOMES_ANOTHER = """
import os, sys
if len(sys.argv) < 60:
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", sys.orig_argv[4], *sys.argv[1:], "again"])
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere psutil says what it can")
def test_a_process_that_becomes_another_program_carries_what_it_did() -> None:
    with running(
        *(sys.executable, "-I", "-S", "-c", BECOMES_ANOTHER), env={**os.environ, "COVEY_TEST_CARRIED": "1"}
    ) as process:
        while b"again\0" * 59 not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
            assert carries(process.pid, "COVEY_TEST_CARRIED", "1")
