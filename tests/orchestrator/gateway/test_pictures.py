"""Real HTTP. Endpoints that take no pictures: the conversation goes on, with words in their place."""

from collections.abc import Sequence
from random import Random

import pytest

from orchestrator.gateway.endpoint import Endpoint, Format
from orchestrator.gateway.gateway import open_gateway
from orchestrator.gateway.pictures import NOT_SHOWN, has_pictures, is_about_pictures, without_pictures
from orchestrator.scripted.scenario import Reply as Said
from orchestrator.scripted.scenario import Status
from tests.orchestrator.gateway.conversations import SYSTEM, TOOLS, answer, call
from tests.orchestrator.gateway.places import FORMATS, QUICK, breaks, script, serving
from worker.conversation import AnyMessage, AssistantMessage, Image, UserMessage
from worker.model import Overloaded, Refused, Reply, ServerFailed

LOOKED: Sequence[AnyMessage] = (
    UserMessage("Hello."),
    AssistantMessage("Looking.", (call("c1"),)),
    answer("c1", "[a.png: PNG picture]", Image("image/png", b"\x89PNG")),
)

NO_PICTURES = Status(
    400, body='{"error": {"message": "This model does not support image input.", "type": "x"}}'
)


@pytest.mark.parametrize("format", FORMATS)
async def test_an_endpoint_that_refuses_a_picture_is_asked_again_without_and_never_sent_one_again(
    format: Format,
) -> None:
    scenario = script(Said(text="Looking."), breaks(NO_PICTURES), Said(text="A pity."))
    async with (
        serving(scenario) as server,
        open_gateway(
            Endpoint(format, server.url, "small"), SYSTEM, TOOLS, policy=QUICK, randomness=Random(1)
        ) as gateway,
    ):
        assert said_by(await gateway.reply(LOOKED)) == "A pity."
        assert said_by(await gateway.reply(LOOKED)) == "A pity."
        bodies = [request.body for request in server.requests]
    assert [b"image" in body and NOT_SHOWN.encode() not in body for body in bodies] == [True, False, False]
    assert all(b"a.png: PNG picture" in body for body in bodies)


def said_by(outcome: object) -> str:
    assert isinstance(outcome, Reply), outcome
    return outcome.message.text


def test_a_sentence_stands_where_the_picture_stood() -> None:
    shown = without_pictures(LOOKED)
    assert not has_pictures(shown)
    assert shown[:2] == list(LOOKED[:2])
    assert shown[2] == answer("c1", f"[a.png: PNG picture]\n{NOT_SHOWN}")


@pytest.mark.parametrize(
    ("outcome", "about"),
    [
        (Refused(400, "image_url is only supported by certain models"), True),
        (ServerFailed(500, "image input is not supported - hint: you may need to provide the mmproj"), True),
        (Refused(400, "unknown model"), False),
        (Refused(400, "imagination is not supported"), False),
        (Overloaded(429, "too many images"), False),
    ],
)
def test_a_refusal_is_known_by_its_words(outcome: object, about: bool) -> None:
    assert is_about_pictures(outcome) is about
