"""Pure. Which endpoint is chosen, from flags, environment and configuration, in that order."""

from pathlib import Path

import pytest

from orchestrator.budget import Budget, Price
from orchestrator.config import (
    ANTHROPIC_URL,
    OPENAI_URL,
    ChildrenTable,
    Configuration,
    EndpointTable,
    Limits,
    NoEndpoint,
    choose_endpoint,
    choose_limits,
    read_configuration,
)
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


def test_an_absent_file_says_nothing_and_a_present_one_is_read(tmp_path: Path) -> None:
    environment = {"COVEY_HOME": str(tmp_path)}
    assert read_configuration(environment) == Configuration()
    (tmp_path / "config.toml").write_text('[endpoint]\nurl = "http://x"\nmodel = "m"\nstall_seconds = 9\n')
    configuration = read_configuration(environment)
    assert configuration.endpoint == EndpointTable(url="http://x", model="m", stall_seconds=9.0)
    assert choose_endpoint({}, configuration).stall_seconds == 9.0


LIMITED = """\
[children]
max = 3

[budget]
tokens = 1_000_000
seconds = 600
cost = 5

[prices."box/m-1"]
input = 3
output = 15.0
cached = 0.3
"""


def test_limits_come_from_the_file_and_flags_go_before_it(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(LIMITED)
    configuration = read_configuration({"COVEY_HOME": str(tmp_path)})
    assert configuration.children == ChildrenTable(3)
    price = Price(3.0, 15.0, 0.3)
    assert choose_limits(configuration, "box/m-1") == Limits(Budget(1_000_000, 600.0, 5.0), price, 3)
    flagged = choose_limits(configuration, "box/m-1", tokens=10, seconds=1.5, cost=0.25)
    assert flagged.budget == Budget(10, 1.5, 0.25)
    assert choose_limits(Configuration(), "m") == Limits()


def test_a_cost_is_limited_only_for_a_model_whose_price_is_known() -> None:
    with pytest.raises(UserError, match=r'what m costs is not known; .*prices\."m"'):
        choose_limits(Configuration(prices={"other": Price(1.0, 2.0)}), "m", cost=1.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"[endpoint", "not valid TOML"),
        (b"[endpoint]\ncolour = 1\n", "colour"),
        (b"[endpoint]\nurl = 3\n", "url"),
        (b"\xff\xfe", "can't be read"),
        (b"[children]\nmax = 0\n", "children.max"),
        (b"[budget]\ntokens = -1\n", "budget.tokens"),
        (b'[prices."m"]\ninput = 3.0\n', "output"),
    ],
)
def test_a_file_that_cant_be_understood_is_named(tmp_path: Path, text: bytes, says: str) -> None:
    (tmp_path / "config.toml").write_bytes(text)
    with pytest.raises(UserError, match=says) as caught:
        read_configuration({"COVEY_HOME": str(tmp_path)})
    assert "config.toml" in str(caught.value)
