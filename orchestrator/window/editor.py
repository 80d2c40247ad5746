"""The person's own editor, in the terminal that a window has given away: what it is run with, and how it ended."""

import asyncio
import os
from pathlib import Path

from orchestrator.review.programs import persons_environment

_PROGRAM_FAILED = 127


async def run_editor(command: str, path: Path) -> int:
    """Let the person edit `path` with a shell's `command`; its exit status when it has ended.

    The terminal is its own meanwhile: whoever calls has given it away.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            "sh",
            "-c",
            f'{command} "$@"',
            command,
            str(path),
            cwd=path.parent,
            env=persons_environment(os.environ),
        )
    except OSError:
        return _PROGRAM_FAILED
    return await process.wait()
