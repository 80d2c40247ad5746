"""Runs a test as someone to whom the system can say no: where this process has capabilities, in one that has none.

Root may open what no mode bit lets anyone open, so a test of what happens then would test nothing. One that is marked
`unprivileged` is run by root as well (see `tests/conftest.py`).
"""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_OVERRIDES_MODE_BITS = 1  # CAP_DAC_OVERRIDE
_LAST_CAPABILITY = 63  # capabilities(7); the kernel refuses the numbers that it does not know
_DROP_FROM_BOUNDING_SET = 24  # PR_CAPBSET_DROP, prctl(2)


def may_do_everything() -> bool:
    """Whether mode bits hold this process back from nothing."""
    if sys.platform != "linux":
        return False
    status = Path("/proc/self/status").read_text()
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(effective.split()[1], 16) & 1 << _OVERRIDES_MODE_BITS)


def run_unprivileged(test: str, root: Path) -> str | None:
    """Run one test, by its id, in a process without capabilities; None when it passed, else what pytest said."""
    folder = tempfile.mkdtemp(prefix="unprivileged-")
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider")
    try:
        done = subprocess.run(
            (*words, "--override-ini=addopts=", f"--basetemp={folder}/base", test),
            cwd=root,
            preexec_fn=_drop_capabilities,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return None if done.returncode == 0 else done.stdout + done.stderr


def _drop_capabilities() -> None:
    # What is started next has, of all that root gets, what is in the bounding set: nothing.
    prctl = ctypes.CDLL(None).prctl
    for capability in range(_LAST_CAPABILITY + 1):
        prctl(_DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
