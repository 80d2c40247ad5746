"""What a person hears when a session ends: what runs on without it, and what of it is still being written.

On standard error, after the screen is gone. A signal meanwhile ends the waiting, and takes nothing that was done.
"""

import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import trio

from merge.checkouts.unwritten import is_unwritten
from merge.store.repository import Repository
from orchestrator.children.kept_folders import KeptFolders
from orchestrator.parent.job_words import in_short
from orchestrator.parent.session import Session


@asynccontextmanager
async def with_last_words(
    begin: Callable[..., AbstractAsyncContextManager[Session]], **more: object
) -> AsyncGenerator[Session]:
    """The session that `begin` opens; at its end the person hears what there is to say."""
    async with begin(**more) as session:
        yield session
        for job in session.jobs.running():
            _say(f"{job.record.id} ({in_short(job)}) runs on; see `covey jobs`.")
        await _finish(session.repository, session.children.kept)


async def _finish(repository: Repository, kept: KeptFolders) -> None:
    """Wait until what is kept is in folders, or until the person does not want to."""
    names = kept.unfinished()
    if names:
        async with trio.open_nursery() as nursery:
            await nursery.start(_give_up_when_told, kept)
            who = ", ".join(names)
            _say(f"writing out the files of what is kept ({who}); Ctrl-C leaves that to the next start.")
            await kept.finish()
            nursery.cancel_scope.cancel()
    left = [name for name in kept.left() if is_unwritten(repository, name)]
    if left:
        _say(
            f"the folders of {', '.join(left)} are still empty; what was done is safe, and `covey review ID`"
            " or the next start writes them out."
        )


async def _give_up_when_told(
    kept: KeptFolders, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not everywhere
    known = [getattr(signal, name) for name in names if hasattr(signal, name)]
    with trio.open_signal_receiver(*known) as received:
        task_status.started()
        async for _ in received:
            kept.give_up()


def _say(sentence: str) -> None:
    print(f"covey: {sentence}", file=sys.stderr)
