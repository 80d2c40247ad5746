"""Where the model is: address, format, name of the model, key, and how patient to be.

The key is a `Key`, which no repr, traceback, encoder or pickle shows; only `transport` takes it out, to sign
a request. Nothing here knows what is sent.
"""

import re
from typing import Literal, NoReturn, final
from urllib.parse import SplitResult, urlsplit

import msgspec

Format = Literal["openai", "anthropic"]
"""The wire format: OpenAI's chat completions (and the many servers that speak it) or Anthropic's messages."""

# Where each format's requests go, below the base URL's path without its version.
_PATHS: dict[Format, str] = {"openai": "/chat/completions", "anthropic": "/messages"}

# OpenAI's own service retired `max_tokens` for its newer models; elsewhere it is the name that servers know.
_OPENAI_HOST = "api.openai.com"


class EndpointInvalid(Exception):
    """Raised when an address or a key cannot be used.

    `str()` tells a person what to change, and holds no key.
    """


@final
class Key:
    """A secret that does not show:

    not in a repr, a format string, a log or a journal. `reveal()` gives it.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        secret = secret.strip()
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise EndpointInvalid(
                "The endpoint's key is empty or holds characters that a header cannot carry; copy it again."
            )
        self._secret = secret

    def reveal(self) -> str:
        return self._secret

    def __repr__(self) -> str:
        return "Key(hidden)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and other._secret == self._secret

    def __hash__(self) -> int:
        return hash(self._secret)

    def __reduce__(self) -> NoReturn:
        raise TypeError("A key is never written down.")


class Endpoint(msgspec.Struct, frozen=True):
    """One model behind one address.

    `base_url` is with or without the version (`https://api.openai.com/v1`, `http://127.0.0.1:11434`).
    `max_output_tokens` None leaves the limit to the server (Anthropic's format needs one: 16,384). A reply is
    given up when no byte came for `stall_seconds`, a connection when it took `connect_seconds`. `asks_usage`
    False is for servers that refuse `stream_options`. `context_tokens` is how much the model reads, where
    that is known. One that does not take pictures is sent none; one that refuses them is found out.

    Raises:
        EndpointInvalid: when `base_url` is no plain http(s) address, or the model has no name.
    """

    format: Format
    base_url: str
    model: str
    key: Key | None = None
    max_output_tokens: int | None = None
    stall_seconds: float = 120.0
    connect_seconds: float = 15.0
    asks_usage: bool = True
    context_tokens: int | None = None
    takes_pictures: bool = True

    def __post_init__(self) -> None:
        parts = _split(self.base_url)
        if parts is None:
            raise EndpointInvalid(
                f"{self.base_url!r} is no address of an endpoint; give one such as http://127.0.0.1:11434/v1."
            )
        if parts.username is not None or parts.query or parts.fragment:
            # What stands there is often a secret, so it is not repeated.
            raise EndpointInvalid(
                "The endpoint's address holds a user name, a query or a fragment; give scheme, host, port "
                "and path only, and the secret as the key."
            )
        if not self.model.strip():
            raise EndpointInvalid("The endpoint has no model; name one with --model.")

    @property
    def url(self) -> str:
        """Where requests are posted."""
        parts = urlsplit(self.base_url)
        path = parts.path.rstrip("/")
        end = _PATHS[self.format]
        if not path.endswith(end):
            version = "" if path and (self.format == "openai" or path.endswith("/v1")) else "/v1"
            path = f"{path}{version}{end}"
        return parts._replace(path=path).geturl()

    @property
    def models_url(self) -> str:
        """Where it lists its models, if it does."""
        return self.url.removesuffix(_PATHS[self.format]) + "/models"

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).hostname or ""

    @property
    def is_loopback(self) -> bool:
        """Whether it is on this machine, so that no proxy may stand between."""
        return re.fullmatch(r"localhost|127(\.\d+){3}|::1", self.host) is not None

    @property
    def caches_prompts(self) -> bool:
        """Whether a call that follows another with the same beginning is cheaper and faster there."""
        return self.format == "anthropic" or self.host == _OPENAI_HOST

    @property
    def output_limit_name(self) -> str:
        """The field of a chat completions request that `max_output_tokens` goes to."""
        return "max_completion_tokens" if self.host == _OPENAI_HOST else "max_tokens"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable and url.isprintable() and " " not in url else None
