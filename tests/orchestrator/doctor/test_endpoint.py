"""Contract, over real HTTP. What is found of the model's endpoint, and what to do where it lacks something."""

import trio

from orchestrator.config.tables import Configuration
from orchestrator.doctor.endpoint import look_at_endpoint
from orchestrator.doctor.findings import Finding
from tests.end_to_end.covey import serving


async def look(url: str | None, model: str | None = "scripted") -> list[Finding]:
    flags = {("endpoint", "url"): url, ("endpoint", "model"): model}
    return await trio.to_thread.run_sync(lambda: look_at_endpoint({}, Configuration(), flags))


async def test_the_endpoint_answers_and_has_the_model() -> None:
    async with serving() as server:
        endpoint, model = await look(server.url)
    assert (endpoint.level, endpoint.says) == ("ok", f"{server.url} (openai) answers")
    assert (model.level, model.says) == ("ok", "scripted")


async def test_a_model_that_is_not_listed_is_a_fault_that_names_those_that_are() -> None:
    async with serving() as server:
        _, model = await look(server.url, "other")
    assert (model.level, model.says) == ("fault", "the endpoint does not list other")
    assert model.remedy == "It lists scripted; name one with --model."


async def test_an_endpoint_where_nothing_listens_is_a_fault() -> None:
    (found,) = await look("http://127.0.0.1:9/v1")
    assert found.level == "fault"
    assert "nothing listens at 127.0.0.1:9" in found.says


async def test_what_is_not_named_is_a_fault_that_says_how_to_name_it() -> None:
    (none,) = await look(None)
    assert (none.level, none.says) == ("fault", "no model endpoint is configured")
    assert "--endpoint URL" in none.remedy
    (nameless,) = await look("http://127.0.0.1:9/v1", None)
    assert (nameless.level, "--model NAME" in nameless.says) == ("fault", True)
