"""End to end. `covey resume` where there is nothing to resume, and where the session runs elsewhere."""

import pytest

from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, open_covey, run_covey, says, serving, talk


async def test_a_session_that_runs_elsewhere_cant_be_resumed(repository_of: RepositoryOf) -> None:
    repository = repository_of("python_package")
    async with (
        serving(talk(REQUEST, says("hello", delay_ms=600))) as server,
        open_covey(repository, server=server) as process,
    ):
        assert process.stdin is not None
        await process.stdin.send_all(f"{REQUEST}\n".encode())
        await server.recording.wait_for(1)
        done = await run_covey(repository, "resume", server=server)
        await process.stdin.aclose()
        await process.wait()
    assert done.status == 1
    assert "runs in another process; end it there first." in done.errors


@pytest.mark.parametrize(
    ("words", "says_so"), [((), "No session was held in"), (("2020",), "No session was held in")]
)
async def test_nothing_to_resume(repository_of: RepositoryOf, words: tuple[str, ...], says_so: str) -> None:
    done = await run_covey(
        repository_of("python_package"), "resume", *words, "--endpoint", "http://127.0.0.1:9", "--model", "m"
    )
    assert done.status == 1
    assert says_so in done.errors
