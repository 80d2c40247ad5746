"""The scripted endpoint as a server on loopback: a task for each connection, kept alive between requests.

It routes: a path chooses the wire format, the script chooses the line, `playing` sends it. Ending the task
that serves ends every connection.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import trio

from orchestrator.scripted import anthropic_replies, openai_replies
from orchestrator.scripted.connection import BadRequest, Connection, ConnectionOver, Request
from orchestrator.scripted.playing import JSON, Speech, play
from orchestrator.scripted.recording import Recording
from orchestrator.scripted.scenario import Scenario
from orchestrator.scripted.script import Asked, Line, Script, Unplayable

_HOST = "127.0.0.1"

_SPEECHES: dict[str, Speech] = {"/chat/completions": openai_replies, "/messages": anthropic_replies}


class ScriptedServer:
    """A running endpoint. `recording` holds what it was asked, without keys; `connections` counts all there were."""

    def __init__(self, scenario: Scenario, port: int, recording: Recording) -> None:
        self.recording = recording
        self.port = port
        self.connections = 0
        self._scenario = scenario
        self._script = Script(scenario)
        self._clients = 0
        self._client_left = trio.Event()

    @property
    def url(self) -> str:
        """The address to give a client, for either format."""
        return f"http://{_HOST}:{self.port}/v1"

    @property
    def requests(self) -> list[Request]:
        """What clients posted so far, oldest first."""
        return self.recording.requests

    async def serve_connection(self, stream: trio.SocketStream) -> None:
        """Answer one client until it goes."""
        connection = Connection(stream)
        self.connections += 1
        self._clients += 1
        async with stream:
            try:
                while (request := await connection.next_request()) is not None:
                    await self._answer(connection, request)
            except BadRequest as error:
                await _last_word(connection, str(error))
            except (ConnectionOver, trio.BrokenResourceError):
                # A client may leave at any moment; what it left is of no use to anyone.
                pass
            finally:
                self._clients -= 1
                self._client_left.set()
                self._client_left = trio.Event()

    async def wait_deserted(self) -> None:
        """Wait until no client is connected."""
        while self._clients:
            await self._client_left.wait()

    async def _answer(self, connection: Connection, request: Request) -> None:
        if request.method == "POST":
            await self.recording.add(request)
        match self._decide(request):
            case _Whole(status=status, body=body):
                await connection.answer(status, body, content_type=JSON)
            case _Played(line=line, asked=asked, speech=speech):
                await play(connection, line, asked, speech=speech, scenario=self._scenario)

    def _decide(self, request: Request) -> "_Whole | _Played":
        if request.path.endswith("/models") or request.path == "/":
            if request.method in ("GET", "HEAD"):
                return _Whole(200, self._models())
            return _refusal(openai_replies, 405, f"{request.path} answers GET only.")
        speech = next((speech for end, speech in _SPEECHES.items() if request.path.endswith(end)), None)
        if speech is None:
            paths = " and ".join(f"/v1{end}" for end in _SPEECHES)
            return _refusal(openai_replies, 404, f"{request.path} is not played; {paths} are.")
        if request.method != "POST":
            return _refusal(speech, 405, f"{request.path} answers POST only.")
        try:
            asked = speech.read_request(request.body)
        except msgspec.MsgspecError as error:
            return _refusal(speech, 400, f"The request is none of this format: {error}.")
        if not asked.streams:
            return _refusal(speech, 400, "A scripted endpoint only streams; set stream to true.")
        line = self._script.next_line(asked)
        if isinstance(line, Unplayable):
            return _refusal(speech, 500, f"Scripted endpoint: {line.detail}.")
        return _Played(line, asked, speech)

    def _models(self) -> bytes:
        model = {"id": self._scenario.model, "object": "model", "created": 0, "owned_by": "covey"}
        return msgspec.json.encode({"object": "list", "data": [model]})


async def serve_scenario(
    scenario: Scenario,
    *,
    port: int = 0,
    record: Path | None = None,
    keep_requests: bool = True,
    task_status: trio.TaskStatus[ScriptedServer] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Play `scenario` on loopback until cancelled; `nursery.start` gives the running `ScriptedServer`.

    `port` 0 takes a free one. Requests are kept in memory, unless `keep_requests` is false, and written to
    the folder `record`, which is made.

    Raises:
        OSError: when the port is taken or the folder cannot be made.
    """
    server, listeners = await open_server(scenario, port, Recording(record, keep=keep_requests))
    async with trio.open_nursery() as nursery:
        await nursery.start(trio.serve_listeners, server.serve_connection, listeners)
        task_status.started(server)


async def open_server(
    scenario: Scenario, port: int, recording: Recording
) -> tuple[ScriptedServer, list[trio.SocketListener]]:
    """A server that listens on loopback, and the listeners that `trio.serve_listeners` needs beside it.

    Raises:
        OSError: when the port is taken or the recording's folder cannot be made.
    """
    await recording.prepare()
    listeners = await trio.open_tcp_listeners(port, host=_HOST)
    taken: int = listeners[0].socket.getsockname()[1]
    return ScriptedServer(scenario, taken, recording), listeners


@dataclass(frozen=True)
class _Whole:
    """An answer that is sent at once."""

    status: int
    body: bytes


@dataclass(frozen=True)
class _Played:
    """A line that is streamed."""

    line: Line
    asked: Asked
    speech: Speech


def _refusal(speech: Speech, status: int, message: str) -> _Whole:
    return _Whole(status, speech.write_error(message, "scripted_endpoint"))


async def _last_word(connection: Connection, message: str) -> None:
    """Tell a client that does not speak HTTP so, if it still listens."""
    with suppress(trio.BrokenResourceError):
        await connection.answer(400, message.encode(), content_type="text/plain; charset=utf-8")
