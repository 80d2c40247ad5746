"""Real processes. What a command writes is kept whole in a log when too much is written to show it all."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.worker.processes.place import Place
from worker.processes.shell_ending import Exited


async def test_there_is_no_log_when_nothing_is_cut(place: Place) -> None:
    ended = await place.run("seq 1000")
    assert not ended.output.shown.cut
    assert ended.output.log is None
    assert not place.logs.exists()


async def test_a_log_holds_everything_and_is_named_by_it(place: Place) -> None:
    first = await place.run("seq 300000")
    again = await place.run("seq 1 300000")
    other = await place.run("seq 300001")
    assert first.output.log is not None
    assert first.output.log.read_bytes() == b"".join(b"%d\n" % number for number in range(1, 300_001))
    assert first == again
    assert {first.output.log, other.output.log} == set(place.logs.iterdir())


async def test_a_log_that_cannot_be_written_is_told_and_harms_nothing(place: Place) -> None:
    place.logs.write_text("a file, where the folder should be")
    ended = await place.run("seq 300000")
    assert ended.ending == Exited(0)
    assert ended.output.shown.text.endswith("\n300000")
    assert ended.output.log is None
    assert ended.output.log_fault == "it could not be written: File exists"


async def test_a_command_that_writes_without_end_does_not_fill_the_disk(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("worker.processes.capture.LOG_LIMIT_BYTES", 2_000_000)
    ended = await place.run("yes | head -c 9000000; echo end")
    assert ended.output.log is not None
    assert ended.output.log.stat().st_size == 2_000_000
    assert ended.output.log_fault == "it holds the first 2,000 KB"
    assert ended.output.shown.text.endswith("\nend")


def test_a_large_output_takes_little_memory(tmp_path: Path) -> None:
    script = """
import resource, sys, trio
from pathlib import Path
from worker.processes.shell import run_shell
here = Path(sys.argv[1])
def run(command):
    return trio.run(lambda: run_shell(command, folder=here, log_folder=here, limit_seconds=60))
run("yes | head -c 3000000")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ended = run("yes | head -c 200000000")
assert ended.output.log.stat().st_size == 200_000_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    grown = subprocess.run(
        [sys.executable, "-c", script, tmp_path], check=True, stdout=subprocess.PIPE
    ).stdout
    for log in tmp_path.iterdir():
        log.unlink()
    assert int(grown) < 4_000  # kilobytes, of 200,000
