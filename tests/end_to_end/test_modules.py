"""End to end. A session without a module neither offers its tools nor runs them."""

from pathlib import Path

from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, journal_of, run_covey, says, serving, talk, task
from worker.protocol import ToolFinished


async def test_a_session_without_modules(repository_of: RepositoryOf, covey_home: Path) -> None:
    repository = repository_of("python_package")
    covey_home.mkdir(parents=True)
    (covey_home / "config.toml").write_text("[modules]\ntask = false\njobs = false\n")
    calls = says("", task("research", "look", "Look."), call("run_command", command="ls", background=True))
    async with serving(talk(REQUEST, calls, says("Neither."))) as server:
        done = await run_covey(repository, server=server)
        assert b'"name":"task"' not in server.requests[0].body.replace(b": ", b":")
    assert done.status == 0
    answers = {e.event.name: e.event for e in journal_of(repository) if isinstance(e.event, ToolFinished)}
    assert answers["task"].text.startswith("There is no tool named 'task'.")
    assert answers["run_command"].failed
