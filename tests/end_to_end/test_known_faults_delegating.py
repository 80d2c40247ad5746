"""End to end. Ways in which what was delegated got out of hand or got lost elsewhere, and that must not be here."""

import msgspec
import pytest

from orchestrator.scripted.scenario import Reply
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, run_covey, says, serving, talk, task


@pytest.mark.parametrize("background", [True, False])
async def test_a_report_longer_than_a_reply_may_be_is_told_whole(
    repository_of: RepositoryOf, background: bool
) -> None:
    repository = repository_of("python_package")
    first, last = "".join(f"finding {number}\n" for number in range(6_000)), "that is all of them"
    async with serving(
        talk(
            REQUEST,
            says("", task("research", "long", "Be long.", background=background)),
            *([says("I wait.")] if background else []),
            says("I have read it."),
        ),
        talk("Be long.", Reply(text=first, cut_off=True), says(last)),
    ) as server:
        done = await run_covey(repository, "-p", REQUEST, "--children", requests=(), server=server)
        conversation = msgspec.json.decode(server.requests[-1].body)["messages"]
    assert (done.status, done.output) == (0, "I have read it.\n"), done
    (report,) = (told for message in conversation if last in (told := str(message["content"])))
    assert report.endswith(f"\n\n{first}{last}")
