"""Runs Python code in a process that holds itself to a confinement first, and says what is the process's own."""

import subprocess
import sys
from pathlib import Path

import msgspec

from worker.confinement.confinement import Confinement, Enforced
from worker.confinement.enforced import what_is_enforced
from worker.confinement.first_steps import Confine, encode_steps

DEVICES = tuple(b"/dev/" + name for name in (b"null", b"zero", b"urandom", b"tty", b"ptmx"))

WITHOUT_MOUNTS = Enforced(landlock=what_is_enforced().landlock) if sys.platform == "linux" else Enforced()

BEGIN = """
import sys
from worker.confinement.confinement import Enforced
from worker.confinement.first_steps import decode_steps, take_steps
import msgspec
take_steps(decode_steps(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Enforced | None))
"""


def confined(
    confinement: Confinement, code: str, *words: object, enforced: Enforced | None = None, begin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Python code, with `words` as its arguments, in a process that is held to `confinement`."""
    steps = encode_steps((Confine(confinement),))
    command = [sys.executable, "-P", "-c", f"{begin}\n{BEGIN}\nargs = sys.argv[3:]\n{code}"]
    found = msgspec.json.encode(enforced).decode()
    return subprocess.run(
        [*command, steps, found, *map(str, words)], capture_output=True, text=True, check=False, timeout=30
    )


def make_place(folder: Path) -> Path:
    """A folder of one's own, and one outside with a file in it."""
    (folder / "own").mkdir()
    (folder / "outside").mkdir()
    (folder / "outside/file.txt").write_text("safe\n")
    return folder


def own_of(place: Path) -> Confinement:
    """What a child is held to there."""
    return Confinement(writable=(bytes(place / "own"),), devices=DEVICES)
