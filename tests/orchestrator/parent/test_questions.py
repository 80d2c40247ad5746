"""Contract. Questions of the model: on record when they are put, and when they wait no more, however that comes."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import cast

import trio

from orchestrator.events import AnyFact, QuestionsAnswered, QuestionsAsked
from orchestrator.journal import Journal, read_entries
from orchestrator.parent.questions import Questions
from worker.tools.ask import AskArguments, Option, Question
from worker.tools.tool import ToolAnswer
from worker.workspace import Workspace

ARGUMENTS = AskArguments((Question("Which?", (Option("a"), Option("b"))), Question("Why?")))


async def waiting(journal: Journal) -> QuestionsAsked:
    """The questions, as soon as they are in the journal."""
    asked: list[QuestionsAsked] = []
    items = journal.follow()
    while not asked:
        item = await anext(items)
        asked += [item.event] if isinstance(item.event, QuestionsAsked) else []
    await cast("AsyncGenerator[object]", items).aclose()
    return asked[0]


def facts(journal: Journal) -> list[AnyFact]:
    return [entry.event for entry in read_entries(journal.path)]


async def test_an_answer_reaches_the_model_and_the_journal_once(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    questions = Questions(journal)
    told: list[ToolAnswer] = []

    async def ask() -> None:
        told.append(await questions.ask(ARGUMENTS, Workspace(tmp_path, tmp_path)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        asked = await waiting(journal)
        assert not questions.answer("another", None)
        assert questions.answer(asked.ask, (("b",), ("Because.",)))
        assert not questions.answer(asked.ask, (("a",), ("Twice.",)))
    assert told == [ToolAnswer("Which?\n- b\n\nWhy?\n- Because.")]
    assert facts(journal) == [asked, QuestionsAnswered(asked.ask, (("b",), ("Because.",)))]
    assert not questions.answer(asked.ask, None)
    journal.close()


async def test_closing_the_dialog_is_told_and_is_no_failure(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    questions = Questions(journal)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(questions.ask, ARGUMENTS, Workspace(tmp_path, tmp_path))
        questions.answer((await waiting(journal)).ask, None)
    assert isinstance(facts(journal)[-1], QuestionsAnswered)
    journal.close()


async def test_a_turn_that_is_stopped_leaves_no_question_open(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(Questions(journal).ask, ARGUMENTS, Workspace(tmp_path, tmp_path))
        asked = await waiting(journal)
        nursery.cancel_scope.cancel()
    assert facts(journal) == [asked, QuestionsAnswered(asked.ask, None)]
    journal.close()
