"""One run without a person, from its first request to its exit code and receipt.

Signals are taken from before the session opens until after it has closed, so that whenever one comes, children are
ended, landings finished, and the code is the signal's.
"""

import dataclasses
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial

import trio

from merge.checkouts.unwritten import unwritten_checkouts
from merge.store.trees import ObjectId
from orchestrator.checks.results import CheckResult, is_verified
from orchestrator.children.first_message import describe_ending, last_text
from orchestrator.children.workspace_changes import paths_changed, tree_now
from orchestrator.drawing.look import look_at
from orchestrator.events import ErrorRecorded, Stopped, TurnFinished
from orchestrator.faults import UserError
from orchestrator.journal import PARENT
from orchestrator.parent.session import Session
from orchestrator.unattended.courses import Course
from orchestrator.unattended.exit_codes import AnyRunEnding, Signalled, exit_code, why
from orchestrator.unattended.receipts import (
    Receipt,
    ReceiptTurn,
    checks_told,
    children_told,
    write_receipt,
)
from orchestrator.unattended.reporting import Manner, Reporter
from worker.protocol import ChildId

OpenSession = Callable[[], AbstractAsyncContextManager[Session]]


async def run_unattended(open_session: OpenSession, course: Course, mode: str, manner: Manner) -> int:
    """Work off `course` in a session; the exit code of the program. `mode` names it in the receipt.

    Raises:
        UserError: when the session can't begin, or standard output can't be written.
    """
    signals = _Signals()
    async with trio.open_nursery() as nursery:
        await nursery.start(signals.obey)
        async with open_session() as session:
            code = await _run(session, course, mode, manner, signals)
        nursery.cancel_scope.cancel()
    return code if signals.received is None else exit_code(Signalled(signals.received), (), ())


async def _run(session: Session, course: Course, mode: str, manner: Manner, signals: "_Signals") -> int:
    look = look_at(sys.stderr or sys.stdout, os.environ)
    look = dataclasses.replace(look, preview_lines=manner.preview_lines)
    reporter = Reporter(manner, look, signals.nobody_reads)
    work = SessionAtWork(session, reporter, signals)

    def interrupt() -> None:
        session.interrupt()
        session.is_left(at_once=True)
        reporter.hurry()

    signals.interrupt = interrupt
    if signals.received is not None:
        interrupt()  # it came before there was a session
    async with trio.open_nursery() as nursery:
        nursery.start_soon(reporter.follow, session.journal, session.journal.count)
        before = await tree_now(session.repository)
        ending = await course(work)
        await work.wait_for_kept()
        receipt = await work.receipt(mode, ending, before)
        await reporter.catch_up(session.journal.count)
        code = await _hand_over(session, reporter, receipt)
        nursery.cancel_scope.cancel()
    if reporter.gone is not None:
        if not reporter.gone.is_silent:
            raise UserError(f"Standard output can't be written: {reporter.gone}.")
        return reporter.gone.exit_code
    return code


async def _hand_over(session: Session, reporter: Reporter, receipt: Receipt) -> int:
    """Write the receipt down, print it, and say what went wrong."""
    try:
        await trio.to_thread.run_sync(write_receipt, session.folder, receipt)
    except OSError as error:
        fault = f"{session.folder} takes no receipt: {error.strerror}"
        await reporter.say(f"{fault}; make room there.")
        session.journal.record(PARENT, ErrorRecorded("the receipt", fault))
    await reporter.receipt(receipt)
    if receipt.reason:
        await reporter.say(f"{receipt.reason}.")
    return receipt.exit_code


class _Signals:
    """The signal that ended the run, or that its reader went away (SIGPIPE, in effect)."""

    def __init__(self) -> None:
        self.received: int | None = None
        self.interrupt: Callable[[], None] = lambda: None
        self.is_unread = False

    def nobody_reads(self, _code: int) -> None:
        self.is_unread = True
        self.interrupt()

    async def obey(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Take signals until cancelled. One that whoever started us had ignored (`nohup`) stays ignored."""
        names = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not everywhere
        known = [getattr(signal, name) for name in names if hasattr(signal, name)]
        heard = [number for number in known if signal.getsignal(number) != signal.SIG_IGN]
        if not heard:
            task_status.started()
            return
        with trio.open_signal_receiver(*heard) as received:
            task_status.started()
            async for number in received:
                if self.received is None:
                    self.received = number
                self.interrupt()


class SessionAtWork:
    """A session as a course sees it (`orchestrator.unattended.courses.Work`); it remembers what the receipt tells."""

    def __init__(self, session: Session, reporter: Reporter, signals: _Signals) -> None:
        self._session = session
        self._reporter = reporter
        self._signals = signals
        self._turns: list[ReceiptTurn] = []
        self._results: dict[str, CheckResult] = {}
        self._answer = ""
        self._began = trio.current_time()

    @property
    def signal(self) -> int | None:
        return signal.SIGPIPE if self._signals.is_unread else self._signals.received

    @property
    def has_checks(self) -> bool:
        return bool(self._session.checks.configured)

    async def take_turn(self, request: str) -> TurnFinished:
        """See `Work`."""
        return await self._take(request, partial(self._session.run_turn, request))

    async def send_back(self, child: ChildId, message: str) -> TurnFinished:
        """See `Work`."""
        return await self._take(message, partial(self._session.send_back, child, message))

    async def _take(self, request: str, turn: Callable[[], Awaitable[TurnFinished]]) -> TurnFinished:
        if self.signal is not None:
            return TurnFinished(Stopped("a signal"), 0.0)
        finished = await turn()
        await self._reporter.catch_up(self._session.journal.count)
        self._results |= self._reporter.picture.checks
        self._answer = last_text(finished.ending)
        told = describe_ending(finished.ending)
        self._turns.append(ReceiptTurn(request, self._answer, told, finished.seconds))
        return finished

    async def check(self) -> Sequence[CheckResult]:
        """See `Work`."""
        if self.signal is not None:
            return ()
        results = await self._session.check()
        self._results = {result.name: result for result in results}
        return results

    async def tree(self) -> str | None:
        """See `Work`."""
        return await tree_now(self._session.repository)

    def unmerged(self) -> tuple[str, ...]:
        """See `Work`."""
        return self._session.children.unmerged()

    async def answer(self, text: str) -> None:
        """See `Work`."""
        self._answer = text
        await self._reporter.answer(text)

    async def wait_for_kept(self) -> None:
        """Wait until what is kept is in folders, which the receipt names; a signal ends that."""
        kept = self._session.children.kept
        names = kept.unfinished()
        if names:
            await self._reporter.say(f"Writing out the files of what is kept ({', '.join(names)}).")
            await kept.finish()

    async def receipt(self, mode: str, ending: AnyRunEnding, before: ObjectId | None) -> Receipt:
        """What the run has come to."""
        session, results, unmerged = self._session, list(self._results.values()), self.unmerged()
        after = await tree_now(session.repository)
        commands = {name: check.command for name, check in session.checks.configured.items()}
        purse = session.purse
        return Receipt(
            session.id,
            mode,
            type(ending).__name__,
            exit_code(ending, results, unmerged),
            why(ending, results, unmerged),
            self._answer,
            await paths_changed(session.repository, before, after),
            checks_told(commands, self._results),
            is_verified(results) and len(results) == len(commands),
            unmerged,
            children_told(
                self._reporter.picture.all_children().values(), unwritten_checkouts(session.repository)
            ),
            tuple(self._turns),
            purse.usage,
            purse.cost,
            trio.current_time() - self._began,
        )
