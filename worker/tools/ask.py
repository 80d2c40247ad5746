"""`ask`: put one to four questions to the person, who picks options or answers in their own words.

The module holds what the model is told, the shape of a question and how answers are told back. The parent of an
interactive session hands in the function that asks (`dataclasses.replace(TOOL, run=…)`); where nobody can answer the
tool is not offered, and a child's call is refused by text.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from worker.tools.schema import OLDER
from worker.tools.tool import Tool, ToolAnswer, failed
from worker.workspace import Workspace

DESCRIPTION = """\
Put one to four questions to the person and wait for the answers. For decisions that are theirs (what they want, which
of several ways to go) and that you can't find out with the other tools; not for permission to go on with what was
asked. Offer two to six options a question, the one you would take first, and no "other": the person can always answer
in their own words. Set `several` where more than one option may be picked. Questions that depend on each other's
answers go into calls of their own."""

Text = Annotated[str, msgspec.Meta(min_length=1)]


class Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One answer that may be picked."""

    label: Annotated[Text, msgspec.Meta(description="One to five words.")]
    description: Annotated[str, msgspec.Meta(description="What picking it means.")] = ""


Label = Annotated[str, msgspec.Meta(min_length=1), OLDER]
"""An option that is nothing but its label, as many models write it."""


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question. Without options the person answers in their own words. `options` is as the model wrote it."""

    question: Text
    options: Annotated[tuple[Option | Label, ...], msgspec.Meta(max_length=9)] = ()
    several: Annotated[bool, msgspec.Meta(description="Whether several options may be picked.")] = False

    @property
    def choices(self) -> tuple[Option, ...]:
        """What may be picked."""
        return tuple(Option(each) if isinstance(each, str) else each for each in self.options)


class AskArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an `ask` call says."""

    questions: Annotated[tuple[Question, ...], msgspec.Meta(min_length=1, max_length=4)]


Answers = tuple[tuple[str, ...], ...]
"""For each question what was picked or written."""


def title(arguments: AskArguments, workspace: Workspace) -> str:
    """`ask: THE FIRST QUESTION`, and how many more there are."""
    more = len(arguments.questions) - 1
    return f"ask: {arguments.questions[0].question}" + (f" (and {more} more)" if more else "")


def tell_answers(questions: Sequence[Question], answers: Answers | None) -> str:
    """What the model reads: each question with its answer, or that there is none."""
    if answers is None:
        return (
            "The person closed the questions without an answer. Go on with what you can decide yourself, and say"
            " in your answer what you assumed."
        )
    told: list[str] = []
    for question, given in zip(questions, answers, strict=True):
        told.append(f"{question.question}\n" + "\n".join(f"- {answer}" for answer in given))
    return "\n\n".join(told)


async def refuse(arguments: AskArguments, workspace: Workspace) -> ToolAnswer:
    return failed("There is no one to ask here; decide it yourself, and say in your answer what you assumed.")


TOOL = Tool("ask", DESCRIPTION, AskArguments, "ask", title, refuse)
