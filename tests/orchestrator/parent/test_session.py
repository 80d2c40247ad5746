"""End to end. A session in this process, with a scripted model: what a person says to it while a turn runs."""

from pathlib import Path

import msgspec
import pytest
import trio

from merge.store.repository import find_repository
from orchestrator.config.limits import Limits
from orchestrator.config.tables import Configuration
from orchestrator.conversation import budget
from orchestrator.conversation.budget import Budget, Price
from orchestrator.events import ChildFinished, Stopped
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.journal import read_entries
from orchestrator.parent.opening import open_session
from orchestrator.sessions.listing import summary_of
from orchestrator.view.blocks import Note
from orchestrator.view.story import Stories
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, says, serving, talk, task
from worker.model import OutOfBudget
from worker.protocol import ModelGaveUp

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


async def test_another_model_answers_from_the_next_call_on_children_too(repository_of: RepositoryOf) -> None:
    place = find_repository(repository_of("python_package"))
    prices = {"scripted": Price(1.0, 1.0), "other": Price(2.0, 2.0)}
    limits = Limits(Budget(cost=1_000.0), prices["scripted"])
    async with (
        serving(
            talk(REQUEST, says("One."), says("", task("research", "look", "Look.")), says("Two.")),
            talk("Look.", says("Seen.")),
        ) as server,
        open_session(
            place,
            Endpoint("openai", server.url, "scripted", context_tokens=9_000),
            limits,
            configuration=Configuration(prices=prices),
        ) as session,
    ):
        await session.run_turn(REQUEST)
        before, usage = session.purse.cost, session.purse.usage
        with pytest.raises(UserError, match="what dear costs is not known"):
            session.switch_model("dear")
        session.switch_model("other")
        await session.run_turn("And now?")
        asked = [msgspec.json.decode(request.body)["model"] for request in server.requests]
        rest = session.purse.usage.total_tokens - usage.total_tokens
        assert session.purse.cost == pytest.approx((before or 0.0) + rest * 2e-6)
        assert session.endpoint.model == "other"
    assert asked == ["scripted", "other", "other", "other"]
    summary = summary_of(session.id, read_entries(session.journal.path), "ended")
    assert summary.model == "other"
    stories = Stories()
    for entry in read_entries(session.journal.path):
        stories.take(entry)
    notes = [block.text for block in stories.parent.blocks if isinstance(block, Note)]
    assert notes.count("other answers from here on.") == 1


async def wait_until_there(path: Path) -> None:
    """The file system tells nobody, so it is looked at."""
    with trio.fail_after(30):
        while not path.exists():  # noqa: ASYNC110
            await trio.sleep(0.01)


@pytest.mark.keeps_checkouts
async def test_what_still_runs_a_while_after_the_time_is_over_is_stopped(
    repository_of: RepositoryOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child whose worker stands still says nothing any more; whoever set the time is not there to notice."""
    monkeypatch.setattr(budget, "LATE_SECONDS", 0.2)
    place = find_repository(repository_of("python_package"))
    stands_still = call("run_command", command="kill -STOP $(awk '/^PPid/ {print $2}' /proc/$PPID/status)")
    async with (
        serving(
            talk(
                REQUEST,
                says(
                    "",
                    task("implement", "cold", "Stand still."),
                    task("implement", "ice", "Stand still, too.", background=True),
                ),
            ),
            talk("Stand still.", says("", stands_still)),
            talk("Stand still, too.", says("", stands_still)),
        ) as server,
        open_session(
            place, Endpoint("openai", server.url, "scripted"), Limits(Budget(seconds=4.0))
        ) as session,
    ):
        with trio.fail_after(40):
            finished = await session.run_turn(REQUEST)
        events = [entry.event for entry in read_entries(session.journal.path)]
    assert isinstance(finished.ending, ModelGaveUp)
    assert isinstance(finished.ending.failure, OutOfBudget)
    assert "of 4.0 seconds" in str(finished.ending.failure)
    ends = [event.ending for event in events if isinstance(event, ChildFinished)]
    assert ends == [Stopped("the end of the session's time")] * 2
