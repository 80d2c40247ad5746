"""The review's own screen, opened from terminal mode: another covey has the terminal until the person is done.

textual needs a loop and the terminal to itself, and this process has a session to run meanwhile. What the other
can't do, because it has no session, it writes down for this one: the child that is to be sent back.
"""

import os
import sys
import tempfile
from pathlib import Path

import trio

from orchestrator.commands.typed import SendBack

ANSWER_VARIABLE = "COVEY_SEND_BACK_TO"
"""Names the file in which the review says which child is to be sent back, and with which words."""

_COVEY = (sys.executable, "-P", "-c", "import sys; from orchestrator.cli import main; main()")


async def review_elsewhere(root: Path, child: str) -> SendBack | None:
    """Have the person review; what the session is to do then, if anything."""
    with tempfile.TemporaryDirectory(prefix="covey-") as folder:
        answer = Path(folder, "send-back")
        words = [*_COVEY, "review", *([child] if child else [])]
        await trio.run_process(
            words, cwd=root, env={**os.environ, ANSWER_VARIABLE: str(answer)}, stdin=None, check=False
        )
        return read_answer(answer)


def write_answer(file: Path, wanted: SendBack) -> None:
    file.write_text(f"{wanted.child}\n{wanted.text}", encoding="utf-8")


def read_answer(file: Path) -> SendBack | None:
    try:
        child, _, text = file.read_text(encoding="utf-8").partition("\n")
    except FileNotFoundError:
        return None
    return SendBack(child, text)
