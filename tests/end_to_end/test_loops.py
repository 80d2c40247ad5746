"""End to end. A model that repeats one call is warned, then stopped, as child and as parent; the next turn goes on."""

from orchestrator.events import ChildFinished, Told, TurnFinished
from orchestrator.journal import PARENT
from tests.conftest import RepositoryOf
from tests.end_to_end.covey import REQUEST, call, journal_of, run_covey, says, serving, talk, task
from worker.conversation import ToolMessage
from worker.loop_detector import LOOP_WARNING
from worker.protocol import LoopStopped


async def test_a_loop_is_warned_of_and_ended_in_a_child_and_in_the_parent(
    repository_of: RepositoryOf,
) -> None:
    repository = repository_of("python_package")
    missing = call("edit_file", path="README.md", edits=[{"old": "nowhere", "new": "x"}])
    async with serving(
        talk(
            REQUEST,
            says("", task("implement", "the child", "Loop on.")),
            *(says("", missing) for _ in range(6)),
            says("on I go"),
        ),
        talk(
            "Loop on.", *(says("", call("bash", command="echo same")) for _ in range(6)), says("never said")
        ),
    ) as server:
        done = await run_covey(repository, server=server, requests=(REQUEST, "go on"))
    error = (
        "[error: the model repeated the same edit_file call 6 times in a row with the same failing result —"
        " turn stopped by the loop detector; rephrase the request, or fix what the tool kept reporting]"
    )
    assert f"\n{error}\n" in done.output
    assert "on I go" in done.output
    entries = journal_of(repository)
    (child,) = (entry.event for entry in entries if isinstance(entry.event, ChildFinished))
    assert isinstance(child.ending, LoopStopped)
    assert "the same bash call 6 times in a row with the same result" in child.ending.detail
    stopped, answered = (entry.event.ending for entry in entries if isinstance(entry.event, TurnFinished))
    assert isinstance(stopped, LoopStopped)
    assert not isinstance(answered, LoopStopped)
    told = {
        own: [
            message.text
            for entry in entries
            if (entry.who == PARENT) == own and isinstance(entry.event, Told)
            for message in entry.event.messages
            if isinstance(message, ToolMessage)
        ]
        for own in (True, False)
    }
    assert [LOOP_WARNING in text for text in told[True]] == [False, False, False, True, True, True, False]
    assert told[True][-1] == error
    assert [LOOP_WARNING in text for text in told[False]] == [False, False, True, True, True]
