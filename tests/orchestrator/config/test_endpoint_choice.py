"""Pure. Which endpoint is chosen, from flags, environment and configuration, in that order."""

import pytest

from orchestrator.config.endpoint_choice import ANTHROPIC_URL, OPENAI_URL, NoEndpoint, choose_endpoint
from orchestrator.config.tables import Configuration, EndpointTable
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Key

LOCAL = "http://127.0.0.1:11434/v1"
FILE = Configuration(EndpointTable(url="http://box/v1", model="from-file", key_variable="BOX_KEY"))


def test_nothing_is_chosen_when_nothing_is_named() -> None:
    with pytest.raises(NoEndpoint, match="--endpoint URL --model NAME"):
        choose_endpoint({}, Configuration())


def test_flags_go_before_the_environment_and_that_before_the_file() -> None:
    environment = {"OPENAI_BASE_URL": "http://env/v1", "COVEY_MODEL": "from-env", "BOX_KEY": "k"}
    assert choose_endpoint(environment, FILE, url=LOCAL, model="m").base_url == LOCAL
    chosen = choose_endpoint(environment, FILE)
    assert (chosen.base_url, chosen.model) == ("http://env/v1", "from-env")
    chosen = choose_endpoint({"BOX_KEY": "k"}, FILE)
    assert (chosen.base_url, chosen.model, chosen.key) == ("http://box/v1", "from-file", Key("k"))


@pytest.mark.parametrize(
    ("environment", "url", "format", "key"),
    [
        ({"OPENAI_API_KEY": "o"}, OPENAI_URL, "openai", "o"),
        ({"ANTHROPIC_API_KEY": "a"}, ANTHROPIC_URL, "anthropic", "a"),
        ({"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": LOCAL}, LOCAL, "openai", "o"),
        ({"OPENAI_BASE_URL": LOCAL}, LOCAL, "openai", ""),
        (
            {"ANTHROPIC_API_KEY": "a", "ANTHROPIC_BASE_URL": "http://h/anthropic"},
            "http://h/anthropic",
            "anthropic",
            "a",
        ),
    ],
)
def test_the_usual_variables_are_understood(
    environment: dict[str, str], url: str, format: str, key: str
) -> None:
    chosen = choose_endpoint(environment, Configuration(), model="m")
    assert (chosen.base_url, chosen.format) == (url, format)
    assert chosen.key == (Key(key) if key else None)


def test_a_key_is_never_sent_to_an_endpoint_of_another_table() -> None:
    table = Configuration(EndpointTable(url="http://box/v1", model="m", key="secret"))
    assert choose_endpoint({}, table, url=LOCAL).key is None


@pytest.mark.parametrize(
    ("environment", "configuration", "url", "says"),
    [
        ({}, Configuration(), LOCAL, "No model is named for"),
        ({"COVEY_MODEL": "m"}, Configuration(), "localhost:1", "is no address of an endpoint"),
        ({}, FILE, None, r"\$BOX_KEY, which is not set"),
    ],
)
def test_what_is_missing_is_named(
    environment: dict[str, str], configuration: Configuration, url: str | None, says: str
) -> None:
    with pytest.raises(UserError, match=says):
        choose_endpoint(environment, configuration, url=url)


def test_the_key_is_in_no_text_of_the_endpoint() -> None:
    chosen = choose_endpoint({"OPENAI_API_KEY": "s3cret-k3y"}, Configuration(), model="m")
    assert "s3cret-k3y" not in f"{chosen} {chosen!r}"
