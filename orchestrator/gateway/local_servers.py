"""Model servers on this machine: which of the ports that they are known by answer as one. Sends no key."""

import msgspec
import trio

# What each server listens on unless told otherwise.
KNOWN_PORTS: dict[str, int] = {"Ollama": 11434, "LM Studio": 1234, "llama.cpp": 8080, "vLLM": 8000}

# A server on this machine answers in a few milliseconds; a person waits for those that don't.
_PATIENCE_SECONDS = 0.25


class LocalServer(msgspec.Struct, frozen=True):
    """A server that lists models at `url`, in OpenAI's format. `name` is a guess by its port."""

    name: str
    url: str
    models: tuple[str, ...]


class _Model(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Model] | None


async def find_local_servers(
    known: dict[str, int] = KNOWN_PORTS, *, patience_seconds: float = _PATIENCE_SECONDS
) -> list[LocalServer]:
    """The servers of `known`, names with ports, that answer `/v1/models` with JSON in time, in its order."""
    # Loaded before the clock starts.
    import httpx

    found: dict[str, LocalServer] = {}

    async def ask(name: str, port: int) -> None:
        # A transport of one's own goes past the environment's proxies.
        transport = httpx.AsyncHTTPTransport(verify=False)
        async with httpx.AsyncClient(transport=transport) as client:
            try:
                answer = await client.get(f"http://127.0.0.1:{port}/v1/models")
            except httpx.HTTPError:
                return
        models = models_in(answer.content) if answer.status_code == 200 else None
        if models is not None:
            found[name] = LocalServer(name, f"http://127.0.0.1:{port}/v1", models)

    with trio.move_on_after(patience_seconds):
        async with trio.open_nursery() as nursery:
            for name, port in known.items():
                nursery.start_soon(ask, name, port)
    return [found[name] for name in known if name in found]


def models_in(body: bytes) -> tuple[str, ...] | None:
    """The models that a server lists, or None when it is no model server."""
    try:
        listed = msgspec.json.decode(body, type=_Models)
    except msgspec.MsgspecError:
        return None
    return tuple(model.id for model in listed.data or ())
