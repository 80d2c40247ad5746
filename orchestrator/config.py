"""Which model endpoint to use and how much of it: flags, then environment, then `~/.covey/config.toml`.

Nothing is chosen silently. Pure but for reading that one file. Opens no connection and knows nothing of how an
endpoint is spoken to.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from orchestrator.budget import Budget, Price
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Endpoint, EndpointInvalid, Format, Key

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"


class EndpointTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[endpoint]` of the configuration file. `key_variable` names an environment variable that holds the key."""

    url: str | None = None
    model: str | None = None
    format: Format | None = None
    key: str | None = None
    key_variable: str | None = None
    max_output_tokens: int | None = None
    stall_seconds: float | None = None


class ChildrenTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`[children]`: `max` are at work at once, the others are queued."""

    max: Annotated[int, msgspec.Meta(gt=0)] | None = None


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of `~/.covey/config.toml`. `prices` are by the model's name, for a million tokens."""

    endpoint: EndpointTable = EndpointTable()
    children: ChildrenTable = ChildrenTable()
    budget: Budget = Budget()
    prices: dict[str, Price] = {}


class Limits(msgspec.Struct, frozen=True):
    """What one session may use. `children` are at work at once, None for as many as the machine serves well."""

    budget: Budget = Budget()
    price: Price | None = None
    children: int | None = None


class NoEndpoint(UserError):
    """Raised when no endpoint is configured at all; `str()` says how to configure one."""


def covey_home(environment: Mapping[str, str]) -> Path:
    """The folder of a person's own settings: `$COVEY_HOME`, else `~/.covey`."""
    named = environment.get("COVEY_HOME")
    return Path(named) if named else Path.home() / ".covey"


def read_configuration(environment: Mapping[str, str]) -> Configuration:
    """What the person's configuration file says; an absent file says nothing.

    Raises:
        UserError: when the file can't be read, is not TOML, or says something unknown.
    """
    path = covey_home(environment) / "config.toml"
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        return Configuration()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} can't be read: {error}.") from error
    try:
        return msgspec.convert(tomllib.loads(text), Configuration)
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not valid TOML: {error}.") from error
    except msgspec.ValidationError as error:
        raise UserError(f"{path} says something covey does not know: {error}.") from error


def choose_endpoint(
    environment: Mapping[str, str],
    configuration: Configuration,
    *,
    url: str | None = None,
    model: str | None = None,
    format: Format | None = None,
) -> Endpoint:
    """The endpoint that flags (`url`, `model`, `format`), environment and configuration name together.

    Raises:
        NoEndpoint: when none of them names one.
        UserError: when the endpoint is known but the model or a key variable is not.
    """
    table = configuration.endpoint
    url = url or _url_of_environment(environment) or table.url
    if url is None:
        raise NoEndpoint(
            "No model endpoint is configured. Name one with --endpoint URL --model NAME, set OPENAI_API_KEY or"
            f" ANTHROPIC_API_KEY, or write an [endpoint] table into {covey_home(environment) / 'config.toml'}."
        )
    model = model or environment.get("COVEY_MODEL") or table.model
    if model is None:
        raise UserError(f"No model is named for {url}; give --model NAME or set COVEY_MODEL.")
    format = format or (table.format if url == table.url else None) or _guess_format(url)
    key = _key(environment, table, url, format)
    try:
        endpoint = Endpoint(format, url, model, Key(key) if key else None, table.max_output_tokens)
        if table.stall_seconds is not None:
            endpoint = msgspec.structs.replace(endpoint, stall_seconds=table.stall_seconds)
    except EndpointInvalid as error:
        raise UserError(str(error)) from error
    return endpoint


def choose_limits(
    configuration: Configuration,
    model: str,
    *,
    tokens: int | None = None,
    seconds: float | None = None,
    cost: float | None = None,
) -> Limits:
    """What flags (`tokens`, `seconds`, `cost`) and configuration let a session with `model` use.

    Raises:
        UserError: when the cost is limited and the model has no price.
    """
    table = configuration.budget
    budget = Budget(
        table.tokens if tokens is None else tokens,
        table.seconds if seconds is None else seconds,
        table.cost if cost is None else cost,
    )
    price = configuration.prices.get(model)
    if budget.cost is not None and price is None:
        raise UserError(
            f"The cost is limited, and what {model} costs is not known; write its price for a million tokens into"
            f' config.toml, such as: [prices."{model}"] with input = 3.0 and output = 15.0.'
        )
    return Limits(budget, price, configuration.children.max)


def _url_of_environment(environment: Mapping[str, str]) -> str | None:
    if environment.get("OPENAI_BASE_URL"):
        return environment["OPENAI_BASE_URL"]
    if environment.get("ANTHROPIC_BASE_URL"):
        return environment["ANTHROPIC_BASE_URL"]
    if environment.get("OPENAI_API_KEY"):
        return OPENAI_URL
    if environment.get("ANTHROPIC_API_KEY"):
        return ANTHROPIC_URL
    return None


def _guess_format(url: str) -> Format:
    return "anthropic" if "anthropic" in url.lower() else "openai"


def _key(environment: Mapping[str, str], table: EndpointTable, url: str, format: Format) -> str:
    """The key for the endpoint, perhaps empty: a server on this machine asks for none."""
    if url == table.url:
        if table.key is not None:
            return table.key
        if table.key_variable is not None:
            if not environment.get(table.key_variable):
                raise UserError(
                    f"The configuration reads the key from ${table.key_variable}, which is not set."
                )
            return environment[table.key_variable]
    return environment.get("ANTHROPIC_API_KEY" if format == "anthropic" else "OPENAI_API_KEY", "")
