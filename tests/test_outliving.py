"""Real processes. What a killed test run would leave alive is ended."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.outliving import ended_with_this_process
from worker.processes.process_tree import find_process, wait_gone

_RUN = """
import subprocess, sys, os
from pathlib import Path
from tests.outliving import ended_with_this_process
with ended_with_this_process(Path(os.environ["HOME"])):
    for command in ("sleep 99", "setsid sleep 99", "trap '' TERM; kill -STOP $$; wait"):
        print(subprocess.Popen(["bash", "-c", command], stdout=2).pid, flush=True)
    print("up", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the environment of other processes")
async def test_what_a_killed_run_started_is_ended(tmp_path: Path) -> None:
    process = await trio.lowlevel.open_process(
        [sys.executable, "-c", _RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    async with process.stdin, process.stdout:
        said = b""
        while not said.endswith(b"up\n"):
            said += await process.stdout.receive_some()
        keys = [find_process(int(line)) for line in said.split()[:-1]]
        process.kill()
        await process.wait()
    assert len(keys) == 3
    with trio.fail_after(20):
        await wait_gone(key for key in keys if key is not None)


def test_the_end_of_a_run_ends_its_watcher(tmp_path: Path) -> None:
    with ended_with_this_process(tmp_path):
        left = subprocess.Popen(["sleep", "99"], env={**os.environ, "HOME": str(tmp_path)})
    assert left.wait() != 0
