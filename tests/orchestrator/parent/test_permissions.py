"""Pure, but for the clock of trio. Questions wait for the person, each is settled once, and none outlives its asker."""

import trio
import trio.testing

from orchestrator.events import PermissionAnswered, PermissionAsked, QuestionId
from orchestrator.parent.permissions import PermissionDesk
from worker.conversation import CallId
from worker.policy.question import Permission, Question

PUSH = Question(CallId("c"), "run_command", "$ git push", "git push", ("commands that begin with git push",))
BOTH = Question(
    CallId("d"), "run_command", "$ x", "x", ("commands that begin with git push", "the command x")
)


class Desk:
    """An attended desk whose records are kept."""

    def __init__(self) -> None:
        self.desk = PermissionDesk()
        self.desk.is_attended = True
        self.record: list[PermissionAsked | PermissionAnswered] = []
        self.came: dict[str, Permission] = {}

    async def ask(self, name: str, question: Question = PUSH) -> None:
        self.came[name] = await self.desk.ask(question, self.record.append)

    def answers(self) -> list[str]:
        return [event.answer for event in self.record if isinstance(event, PermissionAnswered)]


async def test_a_question_waits_for_its_answer() -> None:
    it = Desk()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(it.ask, "one")
        await trio.testing.wait_all_tasks_blocked()
        assert it.came == {}
        assert it.desk.answer(QuestionId("q1"), "rejected")
    assert it.came == {"one": "rejected"}
    assert it.record == [
        PermissionAsked(QuestionId("q1"), CallId("c"), "run_command", "$ git push", "git push", PUSH.grants),
        PermissionAnswered(QuestionId("q1"), "rejected"),
    ]


async def test_what_is_granted_for_the_session_is_not_asked_again_and_settles_what_waits() -> None:
    it = Desk()
    async with trio.open_nursery() as nursery:
        for name, question in (("one", PUSH), ("alike", PUSH), ("more", BOTH)):
            nursery.start_soon(it.ask, name, question)
            await trio.testing.wait_all_tasks_blocked()
        assert it.desk.answer(QuestionId("q1"), "approved for this session")
        await trio.testing.wait_all_tasks_blocked()
        assert it.came == {"one": "approved", "alike": "approved"}
        await it.ask("later")
        assert it.desk.answer(QuestionId("q3"), "rejected")
    assert it.came == {"one": "approved", "alike": "approved", "later": "approved", "more": "rejected"}
    assert sum(isinstance(event, PermissionAsked) for event in it.record) == 3


async def test_approved_once_is_asked_again() -> None:
    it = Desk()
    for _ in range(2):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(it.ask, "one")
            await trio.testing.wait_all_tasks_blocked()
            assert any(it.desk.answer(QuestionId(f"q{n}"), "approved") for n in (1, 2))
    assert it.answers() == ["approved", "approved"]


async def test_a_question_dies_with_who_asked_it() -> None:
    it = Desk()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(it.ask, "one")
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert it.answers() == ["withdrawn"]
    assert not it.desk.answer(QuestionId("q1"), "approved")


async def test_with_nobody_there_the_answer_comes_at_once_and_is_on_record() -> None:
    it = Desk()
    it.desk.is_attended = False
    await it.ask("one")
    assert it.came == {"one": "nobody"}
    assert it.answers() == ["nobody there"]


async def test_only_the_first_answer_counts() -> None:
    it = Desk()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(it.ask, "one")
        await trio.testing.wait_all_tasks_blocked()
        assert it.desk.answer(QuestionId("q1"), "rejected")
        assert not it.desk.answer(QuestionId("q1"), "approved")
        assert not it.desk.answer(QuestionId("q9"), "approved")
    assert it.came == {"one": "rejected"}
