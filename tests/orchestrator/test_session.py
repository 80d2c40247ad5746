"""End to end. A session in this process, with a scripted model: what a person says to it while a turn runs."""

from pathlib import Path

import trio

from merge.repository import find_repository
from orchestrator.events import Stopped
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.opening import open_session
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, says, serving, talk

TIDY_UP_SLOWLY = (
    "trap 'sleep 0.4; echo tidy >tidied; exit' TERM; echo up >up; while :; do sleep 99 & wait; done"
)


async def test_a_kill_gives_the_sessions_own_command_no_time_to_end_by_itself(
    repository_of: RepositoryOf,
) -> None:
    root = repository_of("python_package")
    async with (
        serving(talk(REQUEST, says("", call("run_command", command=TIDY_UP_SLOWLY)))) as server,
        open_session(find_repository(root), Endpoint("openai", server.url, "scripted")) as session,
        trio.open_nursery() as nursery,
    ):

        @nursery.start_soon
        async def _() -> None:
            await wait_until_there(root / "up")
            session.interrupt()
            session.kill()

        finished = await session.run_turn(REQUEST)
    assert finished.ending == Stopped("the person")
    assert not (root / "tidied").exists()


async def wait_until_there(path: Path) -> None:
    """The file system tells nobody, so it is looked at."""
    with trio.fail_after(30):
        while not path.exists():  # noqa: ASYNC110
            await trio.sleep(0.01)
