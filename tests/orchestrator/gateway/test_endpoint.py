"""Pure. Addresses that can be used and those that can't, and a key that does not show."""

import copy
import io
import pickle
import traceback

import msgspec
import pytest
from rich.console import Console
from rich.pretty import pretty_repr

from orchestrator.gateway.endpoint import Endpoint, EndpointInvalid, Format, Key

SECRET = "sk-very-secret"


@pytest.mark.parametrize(
    ("format", "base_url", "url"),
    [
        ("openai", "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        ("openai", "https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
        ("openai", "http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"),
        ("openai", "http://localhost:8080/", "http://localhost:8080/v1/chat/completions"),
        ("openai", "https://host/api/openai", "https://host/api/openai/chat/completions"),
        ("openai", "https://host/v1/chat/completions", "https://host/v1/chat/completions"),
        ("openai", "http://[::1]:80/v1", "http://[::1]:80/v1/chat/completions"),
        ("anthropic", "https://api.anthropic.com", "https://api.anthropic.com/v1/messages"),
        ("anthropic", "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages"),
        ("anthropic", "https://host/anthropic", "https://host/anthropic/v1/messages"),
        ("anthropic", "https://host/v1/messages", "https://host/v1/messages"),
    ],
)
def test_requests_go_where_the_format_puts_them(format: Format, base_url: str, url: str) -> None:
    assert Endpoint(format, base_url, "m").url == url


@pytest.mark.parametrize(
    "base_url",
    ["", "localhost:8080", "ftp://host", "http://", "http://ho st", "http://h:99999", "http://h\n", "x"],
)
def test_what_is_no_address_is_named_with_an_example(base_url: str) -> None:
    with pytest.raises(EndpointInvalid, match=r"is no address of an endpoint; give one such as http://"):
        Endpoint("openai", base_url, "m")


@pytest.mark.parametrize(
    "base_url", [f"https://me:{SECRET}@h/v1", f"https://h/v1?key={SECRET}", f"https://h/#{SECRET}"]
)
def test_an_address_that_holds_a_secret_is_refused_without_repeating_it(base_url: str) -> None:
    with pytest.raises(EndpointInvalid) as caught:
        Endpoint("openai", base_url, "m")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_model_needs_a_name() -> None:
    with pytest.raises(EndpointInvalid, match="--model"):
        Endpoint("openai", "http://h", " ")


@pytest.mark.parametrize("secret", ["", " ", "a b", "ключ", "a\nb", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it(secret: str) -> None:
    with pytest.raises(EndpointInvalid, match="copy it again") as caught:
        Key(secret)
    assert secret.strip() == "" or secret not in str(caught.value)


def test_white_space_round_a_key_is_no_part_of_it() -> None:
    assert Key(f" {SECRET}\n").reveal() == SECRET
    assert Key(SECRET) == Key(f"{SECRET} ")
    assert hash(Key(SECRET)) == hash(Key(SECRET))
    assert Key(SECRET) != Key("other")


def test_a_key_shows_nowhere_and_is_never_written_down() -> None:
    endpoint = Endpoint("openai", "http://h", "m", Key(SECRET))
    console = Console(record=True, width=200, file=io.StringIO())
    console.print(endpoint, endpoint.key, {"key": endpoint.key})
    for shown in (
        repr(endpoint),
        str(endpoint.key),
        f"{endpoint.key}",
        pretty_repr(endpoint),
        console.export_text(),
    ):
        assert SECRET not in shown
    assert "Key(hidden)" in repr(endpoint)
    for encode in (msgspec.json.encode, msgspec.msgpack.encode, pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError) as caught:
            encode(endpoint)
        assert SECRET not in str(caught.value)


def test_an_endpoint_knows_whether_it_is_here_and_whether_it_caches() -> None:
    here = Endpoint("openai", "http://127.0.0.1:8080", "m")
    assert here.is_loopback
    assert Endpoint("openai", "http://localhost", "m").is_loopback
    assert Endpoint("openai", "http://[::1]:8", "m").is_loopback
    assert not Endpoint("openai", "http://127.example.org", "m").is_loopback
    assert not Endpoint("openai", "https://api.openai.com/v1", "m").is_loopback
    assert not here.caches_prompts
    assert Endpoint("openai", "https://api.openai.com/v1", "m").caches_prompts
    assert Endpoint("anthropic", "http://127.0.0.1:8080", "m").caches_prompts
