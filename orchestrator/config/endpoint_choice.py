"""Which model endpoint is used: flags, then the usual variables of the environment, then `[endpoint]`.

Pure. Nothing is chosen silently, and a key goes to no endpoint but its own. Opens no connection and knows nothing of
how an endpoint is spoken to.
"""

from collections.abc import Mapping

import msgspec

from orchestrator.config.home import covey_home
from orchestrator.config.tables import Configuration, EndpointTable
from orchestrator.faults import UserError
from orchestrator.gateway.endpoint import Endpoint, EndpointInvalid, Format, Key

OPENAI_URL = "https://api.openai.com/v1"
ANTHROPIC_URL = "https://api.anthropic.com"

MODEL_VARIABLE = "COVEY_MODEL"


class NoEndpoint(UserError):
    """Raised when no endpoint is configured at all; `str()` says how to configure one."""


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
    variable = url_variable(environment)
    url = url or (url_of_variable(environment, variable) if variable is not None else table.url)
    if url is None:
        raise NoEndpoint(
            "No model endpoint is configured. Name one with --endpoint URL --model NAME, set OPENAI_API_KEY or"
            f" ANTHROPIC_API_KEY, or write an [endpoint] table into {covey_home(environment) / 'config.toml'}."
        )
    model = model or environment.get(MODEL_VARIABLE) or table.model
    if model is None:
        raise UserError(f"No model is named for {url}; give --model NAME or set {MODEL_VARIABLE}.")
    format = format or (table.format if url == table.url else None) or _guess_format(url)
    key = _key(environment, table, url, format)
    try:
        endpoint = Endpoint(format, url, model, Key(key) if key else None, table.max_output_tokens)
        endpoint = msgspec.structs.replace(
            endpoint, context_tokens=table.context_tokens, takes_pictures=table.images
        )
        if table.stall_seconds is not None:
            endpoint = msgspec.structs.replace(endpoint, stall_seconds=table.stall_seconds)
    except EndpointInvalid as error:
        raise UserError(str(error)) from error
    return endpoint


def url_variable(environment: Mapping[str, str]) -> str | None:
    """The variable that names the endpoint, by its address or by being its service's key."""
    return next((name for name in _URL_VARIABLES if environment.get(name)), None)


def url_of_variable(environment: Mapping[str, str], variable: str) -> str:
    """The address that `url_variable` stands for."""
    return _URL_VARIABLES[variable] or environment[variable]


_URL_VARIABLES = {
    "OPENAI_BASE_URL": "",
    "ANTHROPIC_BASE_URL": "",
    "OPENAI_API_KEY": OPENAI_URL,
    "ANTHROPIC_API_KEY": ANTHROPIC_URL,
}
"""In the order in which they count; the value is the address where the variable itself is none."""


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
