"""The one door to ripgrep: where it is, and how it is run and stopped.

It runs in a process group of its own, its output is handed on as it comes, and it is gone when the call ends, however
that ends. Knows no search; what the output means is read by `worker.tools.ripgrep_output`.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import trio

# A process that a broken disk holds can't be killed; it is left to the system.
_LET_GO_SECONDS = 2.0

_MOST_COMPLAINTS = 64 * 1024
_CHUNK = 256 * 1024


class RipgrepMissing(Exception):
    """Raised when there is no ripgrep to run. `str()` says what to do."""


class Ended(msgspec.Struct, frozen=True):
    """How a run ended. `code` is None where it was stopped; 0 found something, 1 nothing, 2 was in trouble."""

    code: int | None
    complaints: str


async def run_ripgrep(arguments: Sequence[str], take: Callable[[bytes], bool], *, folder: str = "/") -> Ended:
    """Run ripgrep in `folder` and hand its output to `take`, piece by piece, until `take` answers False.

    Raises:
        RipgrepMissing: when it can't be started.
    """
    command = [where_ripgrep_is(), "--no-config", "--color=never", *arguments]
    try:
        process = await trio.lowlevel.open_process(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            process_group=0,
        )
    except OSError as error:
        if error.filename == folder:
            raise RipgrepMissing(f"{folder} can't be searched any more: {error.strerror}.") from None
        raise RipgrepMissing(f"ripgrep can't be started ({error.strerror}); install it again.") from None
    assert process.stdout is not None
    assert process.stderr is not None
    complaints = bytearray()

    async def listen(errors: trio.abc.ReceiveStream) -> None:
        while piece := await errors.receive_some(_CHUNK):
            complaints.extend(piece[: _MOST_COMPLAINTS - len(complaints)])

    stopped = False
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen, process.stderr)
            while piece := await process.stdout.receive_some(_CHUNK):
                if not take(bytes(piece)):
                    stopped = True
                    process.kill()
                    break
        await process.wait()
    finally:
        with trio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
                with trio.move_on_after(_LET_GO_SECONDS):
                    await process.wait()
            await process.stdout.aclose()
            await process.stderr.aclose()
    return Ended(None if stopped else process.returncode, complaints.decode(errors="replace"))


def where_ripgrep_is() -> str:
    """The program: the one beside Python, else the one on the path.

    Raises:
        RipgrepMissing: when there is none.
    """
    beside = Path(sys.executable).with_name("rg.exe" if sys.platform == "win32" else "rg")
    found = str(beside) if beside.is_file() else shutil.which("rg")
    if found is None:
        raise RipgrepMissing(
            "search needs ripgrep, and there is no rg; install it: pip install 'ripgrep==14.1.0'."
        )
    return found
