"""Runs the checks of a session in the parent's tree, each in a process tree of its own, and remembers what each tree
came to.

However a check ends (by itself, at its limit, cancelled, or with covey), nothing that it started lives on: see
`worker.processes.shell`. Its output is kept in memory only at its ends. Knows no child and no landing.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import trio

from merge.store.repository import Repository
from orchestrator.checks.check_file import Check
from orchestrator.checks.results import (
    AnyCheckEnding,
    CheckResult,
    ExitedWith,
    Interrupted,
    Killed,
    NotRun,
    RanTooLong,
)
from orchestrator.events import CheckFinished, CheckStarted
from orchestrator.journal import PARENT, Journal
from orchestrator.sandbox.environment import clean_environment
from worker.processes.hurry import Hurry

if TYPE_CHECKING:
    from worker.processes.shell_ending import ShellEnded, ShellEnding

_OUTPUT_CHARACTERS = 4_000
"""The end of its output that goes to the journal and to the model: where test programs say what failed."""


class Checks:
    """The checks of one session, by name, and the results so far by tree."""

    def __init__(
        self,
        checks: Mapping[str, Check],
        repository: Repository,
        journal: Journal,
        logs: Path,
        hurry: Hurry | None = None,
    ) -> None:
        self.configured = checks
        self._repository = repository
        self._journal = journal
        self._logs = logs
        self._hurry = hurry
        self._known: dict[tuple[str, str], CheckResult] = {}
        self._one_run = trio.Lock()

    async def run(self) -> tuple[CheckResult, ...]:
        """Run every check on the tree as it is; one whose result on that tree is known is not run again.

        Cancelled, the checks that did not end are `Interrupted`, and the cancellation goes on.
        """
        async with self._one_run:
            return tuple([await self._run(name, check) for name, check in self.configured.items()])

    async def _run(self, name: str, check: Check) -> CheckResult:
        before = await self._tree()
        if before is not None and (known := self._known.get((name, before))) is not None:
            result = msgspec.structs.replace(known, known=True, seconds=0.0)
            self._journal.record(PARENT, CheckFinished(result))
            return result
        self._journal.record(PARENT, CheckStarted(name, check.command))
        began = trio.current_time()
        result = CheckResult(name, check.command, Interrupted(), 0.0)
        try:
            result = await self._in_a_shell(name, check, began)
            after = await self._tree()
            # What changes the tree while it is checked says nothing of the tree before.
            if before is not None and after == before:
                result = msgspec.structs.replace(result, tree=before)
                if not isinstance(result.ending, NotRun):
                    self._known[name, before] = result
        finally:
            if isinstance(result.ending, Interrupted):
                result = msgspec.structs.replace(result, seconds=trio.current_time() - began)
            self._journal.record(PARENT, CheckFinished(result))
        return result

    async def _in_a_shell(self, name: str, check: Check, began: float) -> CheckResult:
        # Imported where it is used: a session without checks does not pay for it.
        from worker.processes.shell import run_shell
        from worker.processes.shell_ending import ShellNotStarted

        try:
            ended = await run_shell(
                check.command,
                folder=self._repository.root,
                log_folder=self._logs,
                limit_seconds=check.seconds,
                environment=clean_environment(os.environ),
                hurry=self._hurry,
            )
        except ShellNotStarted as error:
            return CheckResult(name, check.command, NotRun(str(error)), trio.current_time() - began)
        log = ended.output.log
        return CheckResult(
            name,
            check.command,
            _ending(ended),
            trio.current_time() - began,
            ended.output.shown.text[-_OUTPUT_CHARACTERS:],
            str(log) if log is not None else None,
        )

    async def _tree(self) -> str | None:
        """The tree that the workspace holds now, or None where git can't tell."""
        from orchestrator.children.workspace_changes import tree_now  # brings git's libraries

        return await tree_now(self._repository)


def _ending(ended: "ShellEnded") -> AnyCheckEnding:
    if ended.left:
        return NotRun(f"it left processes that can't be ended: {', '.join(map(str, ended.left))}")
    return _of_shell(ended.ending)


def _of_shell(ending: "ShellEnding") -> AnyCheckEnding:
    from worker.processes.shell_ending import Exited, GuardLost, OutOfTime, Signalled

    match ending:
        case Exited(status):
            return ExitedWith(status)
        case Signalled(number):
            return Killed(number)
        case OutOfTime(seconds):
            return RanTooLong(seconds)
        case GuardLost():
            return NotRun("it killed the process that ran it")
