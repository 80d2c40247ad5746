"""Contract. What a run without a person tells on standard error, from a journal."""

from pathlib import Path

import pytest
import trio

from orchestrator.drawing.look import Look
from orchestrator.journal import PARENT, Journal
from orchestrator.unattended.reporting import Manner, Reporter
from worker.conversation import CallId
from worker.protocol import ToolFinished

TOLD = "covey: The model tried to delegate to children; it may with --children.\n"


def tries(number: int, tool: str = "task") -> ToolFinished:
    return ToolFinished(CallId(f"call-{number}"), tool, tool, "There is no such tool.", True, 0.0)


@pytest.mark.parametrize(
    ("before", "calls", "manner", "times"),
    [
        ([], ["task", "task"], Manner(keeps_children_back=True), 1),
        ([], ["task"], Manner(json=True, keeps_children_back=True), 1),
        ([], ["task"], Manner(quiet=True, keeps_children_back=True), 0),
        ([], ["task"], Manner(), 0),
        ([], ["agent"], Manner(keeps_children_back=True), 0),
        (["task"], [], Manner(keeps_children_back=True), 0),
    ],
    ids=["once", "with JSON", "quiet", "it may, or is turned off", "another tool", "before it was resumed"],
)
async def test_that_children_are_kept_back_is_told_once_to_whoever_can_change_it(
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    before: list[str],
    calls: list[str],
    manner: Manner,
    times: int,
) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    for number, tool in enumerate(before):
        journal.record(PARENT, tries(number, tool))
    look = Look(live=False, colour=False, unicode=True)
    reporter = Reporter(manner, look, lambda code: None)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(reporter.follow, journal, journal.count)
        for number, tool in enumerate(calls, start=len(before)):
            journal.record(PARENT, tries(number, tool))
        await reporter.catch_up(journal.count)
        journal.close()
    assert capfd.readouterr().err.count(TOLD) == times
