"""End to end. `covey watch`: what another terminal sees of a session."""

import trio

from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, open_covey, run_covey, says, serving, talk, task


async def test_a_session_is_watched_while_it_runs_and_read_when_it_is_over(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    async with (
        serving(
            talk(REQUEST, says("", task("research", "look around", "Look around.")), says("Seen.")),
            talk("Look around.", says("I read.", call("read", path=".")), says("All seen.")),
        ) as server,
        open_covey(repository, server=server) as session,
    ):
        assert session.stdin is not None
        assert session.stdout is not None
        await session.stdout.receive_some()  # its first line: from now on it can be found
        async with open_covey(repository, "watch") as watching:
            await session.stdin.send_all(f"{REQUEST}\n".encode())
            await session.stdin.aclose()
            assert watching.stdout is not None
            with trio.fail_after(60):
                live = b"".join([bytes(data) async for data in watching.stdout]).decode()
                assert await watching.wait() == 0
                await session.wait()
    later = await run_covey(repository, "watch", requests=())
    assert later.output == live
    assert later.status == 0
    assert "📄 read" in live
    assert "Seen." in live
    unknown = await run_covey(repository, "watch", "nonsense", requests=())
    assert unknown.status == 1
    assert "names no session" in unknown.errors
