"""Real processes. What the benchmarks stand on measures what it says; no figure is asserted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cost import CommandFailed, bare_python, run_measured
from benchmarks.memory import sample_memory, tree_memory
from benchmarks.reference import run_reference
from benchmarks.repository import make_repository, open_scratch, path_of, write_files
from benchmarks.table import megabytes, milliseconds, render_table, times
from tests.real_git import git_lines

_HOLD_50_MB = "import sys; held = bytearray(b'x') * 50_000_000; print('up', flush=True); sys.stdin.read()"


def test_the_repository_is_the_same_each_time(tmp_path: Path) -> None:
    one, two = make_repository(tmp_path / "one", 40), make_repository(tmp_path / "two", 40)
    assert git_lines(one, "rev-parse", "HEAD^{tree}") == git_lines(two, "rev-parse", "HEAD^{tree}")
    assert git_lines(one, "ls-files") == [path_of(number) for number in range(40)]


def test_a_thousand_files_hold_close_to_nine_megabytes(tmp_path: Path) -> None:
    assert 8_000_000 < write_files(tmp_path) < 9_500_000


def test_the_reference_merges_what_each_child_did(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "repo", 40)
    cost = run_reference(3, repository)
    assert cost.wall_seconds > 0
    assert cost.cpu_seconds > 0
    for number in range(3):
        assert (repository / path_of(number)).read_text().endswith(f"# edited by child {number + 1}\n")
    assert git_lines(repository, "status", "--porcelain") == []
    assert git_lines(repository, "branch", "--format=%(refname:short)") == ["main"]
    assert [path.name for path in tmp_path.iterdir()] == ["repo"]


def test_a_command_that_fails_has_no_cost(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('why it failed'); raise SystemExit(3)"]
    with pytest.raises(CommandFailed, match=r"ended with 3:\nwhy it failed"):
        run_measured(command, folder=tmp_path, environment=os.environ)


def test_a_command_is_fed_and_its_work_counted(tmp_path: Path) -> None:
    work = "import sys; words = sys.stdin.read(); assert words == 'go'; sum(range(10**6))"
    cost = run_measured([sys.executable, "-c", work], folder=tmp_path, environment=os.environ, feed=b"go")
    assert cost.cpu_seconds > 0
    assert bare_python(1).wall_seconds > 0


def test_memory_is_that_of_the_whole_tree() -> None:
    command = [sys.executable, "-c", _HOLD_50_MB]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        with sample_memory(os.getpid()) as peak:
            process.stdout.readline()
            now = tree_memory(os.getpid())
        process.communicate()
    held = {part.pid: part for part in now}
    assert held[process.pid].pss_bytes > 50_000_000
    assert "bytearray" in held[process.pid].command
    assert os.getpid() in held
    assert peak.samples >= 1
    assert peak.pss_bytes > 0


def test_a_tree_that_is_gone_holds_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        pass
    assert tree_memory(process.pid) == ()


def test_a_scratch_folder_goes_with_its_block() -> None:
    with open_scratch() as folder:
        (folder / "file").write_text("something")
    assert not folder.exists()


def test_a_table_lines_up() -> None:
    rows = [("covey", milliseconds(0.0042), times(1, 2)), ("git", milliseconds(12.3456), times(1, 0))]
    assert render_table(("what", "wall", "ratio"), rows).splitlines() == [
        "| what  |      wall |  ratio |",
        "| ----- | --------: | -----: |",
        "| covey |    4.2 ms | 0.50 × |",
        "| git   | 12,346 ms |      – |",
    ]
    assert megabytes(20_500_000) == "20.5 MB"
