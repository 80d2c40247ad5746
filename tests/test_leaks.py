"""Real processes. What a test leaves behind is found, and what it does not leave is not."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.leaks import checkouts_left, leaks_since, look

_SLEEPER = "import sys, time; print('up', flush=True); time.sleep(60)"

_ORPHAN_MAKER = """
import os, subprocess, sys
command = [sys.executable, "-c", {sleeper!r}]
sleeper = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
sleeper.stdout.readline()
print(sleeper.pid, flush=True)
"""

_CULPRITS = """
import os

def test_that_leaves_a_pipe_open():
    os.pipe()

def test_that_leaves_a_checkout(tmp_path):
    (tmp_path / "repo-children").mkdir()

def test_that_leaves_nothing(tmp_path):
    pass
"""


@contextmanager
def _running(*command: str) -> Generator[subprocess.Popen[str]]:
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_clean_test_leaves_nothing(temporary: Path, tmp_path: Path) -> None:
    before = look(temporary)
    (tmp_path / "note").write_text("written and closed")
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    assert leaks_since(before, temporary) == []


def test_a_child_that_runs_on_is_named_and_killed(temporary: Path) -> None:
    before = look(temporary)
    process = subprocess.Popen([sys.executable, "-c", _SLEEPER], stdout=subprocess.DEVNULL)
    leaks = leaks_since(before, temporary, parting_seconds=0)
    assert len(leaks) == 1
    assert f"process {process.pid} was still running" in leaks[0]
    process.returncode = 0  # the look reaped it; nobody is left to wait for


def test_a_child_that_nobody_waited_for_is_named(temporary: Path) -> None:
    before = look(temporary)
    process = os.posix_spawn(sys.executable, [sys.executable, "-c", "pass"], os.environ)
    leaks = leaks_since(before, temporary)
    assert len(leaks) == 1
    assert f"process {process} ended but was never waited for" in leaks[0]


def test_an_orphan_in_a_session_of_its_own_is_found_by_its_environment(temporary: Path) -> None:
    before = look(temporary)
    maker = [sys.executable, "-c", _ORPHAN_MAKER.format(sleeper=_SLEEPER)]
    orphan = int(subprocess.run(maker, stdout=subprocess.PIPE, check=True).stdout)
    leaks = leaks_since(before, temporary, parting_seconds=0)
    assert len(leaks) == 1
    assert f"process {orphan} was still running" in leaks[0]


def test_an_orphan_without_an_environment_is_found_by_its_folder(temporary: Path, tmp_path: Path) -> None:
    before = look(temporary)
    maker = [sys.executable, "-c", _ORPHAN_MAKER.format(sleeper=_SLEEPER)]
    orphan = int(subprocess.run(maker, stdout=subprocess.PIPE, check=True, env={}, cwd=tmp_path).stdout)
    leaks = leaks_since(before, temporary, parting_seconds=0)
    assert len(leaks) == 1
    assert f"process {orphan} was still running" in leaks[0]


def test_a_process_of_another_run_is_not_ours(temporary: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    before = look(temporary)
    maker = [sys.executable, "-c", _ORPHAN_MAKER.format(sleeper=_SLEEPER)]
    stranger = int(subprocess.run(maker, stdout=subprocess.PIPE, check=True, env={}, cwd="/").stdout)
    handle = os.pidfd_open(stranger)
    try:
        assert [line for line in leaks_since(before, elsewhere) if "process" in line] == []
    finally:
        os.kill(stranger, 9)
        os.close(handle)


def test_a_process_from_before_is_not_this_tests(temporary: Path) -> None:
    with _running("-c", _SLEEPER):
        before = look(temporary)
        assert leaks_since(before, temporary) == []


def test_an_open_file_is_named(temporary: Path, tmp_path: Path) -> None:
    before = look(temporary)
    number = os.open(tmp_path / "left open", os.O_CREAT | os.O_WRONLY)
    try:
        assert leaks_since(before, temporary) == [
            f"file descriptor {number} is still open: {tmp_path / 'left open'}"
        ]
    finally:
        os.close(number)


def test_a_file_that_only_a_cycle_holds_is_not_leaked(temporary: Path) -> None:
    class Holder:
        def __init__(self) -> None:
            self.reading, self.writing = (os.fdopen(number, "rb", buffering=0) for number in os.pipe())
            self.itself = self

        def __del__(self) -> None:
            self.reading.close()
            self.writing.close()

    before = look(temporary)
    Holder()
    assert leaks_since(before, temporary) == []


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may mount")
def test_a_mount_is_named(temporary: Path, tmp_path: Path) -> None:
    before = look(temporary)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "none", tmp_path], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"this machine lets nobody mount: {mounted.stderr.strip()}")
    try:
        assert leaks_since(before, temporary) == [f"{tmp_path} is still mounted"]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.keeps_checkouts
def test_a_checkout_is_named(tmp_path: Path) -> None:
    (tmp_path / "repo-children" / "ab12").mkdir(parents=True)
    (tmp_path / "deeper" / "repo-children").mkdir(parents=True)
    assert sorted(checkouts_left(tmp_path)) == [
        f"{tmp_path}/deeper/repo-children is still there, with nothing in it",
        f"{tmp_path}/repo-children is still there, with ['ab12']",
    ]


def test_the_checks_run_for_every_test(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    keeps_checkouts\n")
    (tmp_path / "test_culprits.py").write_text(_CULPRITS)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--basetemp", "base", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 passed, 2 errors" in run.stdout.splitlines()[-1], run.stdout
    assert "is still open: pipe:[" in run.stdout
    assert "repo-children is still there, with nothing in it" in run.stdout
