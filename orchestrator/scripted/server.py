"""The scripted endpoint as a server on loopback: a task for each connection, kept alive between requests.

It routes: a path chooses the wire format, the script chooses the line, `playing` sends it. Ending the task
that serves ends every connection.
"""

import errno
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import trio

from orchestrator.scripted import anthropic_replies, openai_replies
from orchestrator.scripted.connection import BadRequest, Connection, ConnectionOver, Request
from orchestrator.scripted.playing import JSON, Speech, play
from orchestrator.scripted.recording import Recording
from orchestrator.scripted.scenario import Scenario, ScenarioInvalid, load_scenario
from orchestrator.scripted.script import Asked, Line, Script, Unplayable

_HOST = "127.0.0.1"

_SPEECHES: dict[str, Speech] = {"/chat/completions": openai_replies, "/messages": anthropic_replies}


class ScriptedServer:
    """A running endpoint. `recording` holds what it was asked, without keys."""

    def __init__(self, scenario: Scenario, port: int, recording: Recording) -> None:
        self.recording = recording
        self.port = port
        self._scenario = scenario
        self._script = Script(scenario)

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
        async with stream:
            try:
                while (request := await connection.next_request()) is not None:
                    await self._answer(connection, request)
            except BadRequest as error:
                await _last_word(connection, str(error))
            except (ConnectionOver, trio.BrokenResourceError):
                # A client may leave at any moment; what it left is of no use to anyone.
                pass

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
    server, listeners = await _open(scenario, port, Recording(record, keep=keep_requests))
    async with trio.open_nursery() as nursery:
        await nursery.start(trio.serve_listeners, server.serve_connection, listeners)
        task_status.started(server)


def run_scripted(path: Path, port: int, *, record: Path | None = None) -> int:
    """Play the scenario file at `path` until a signal ends it, and return the exit code of the program.

    The first line of standard output is the address, and nothing else is printed there.
    """
    try:
        return trio.run(_serve_until_signal, load_scenario(path), port, record)
    except ScenarioInvalid as error:
        print(error, file=sys.stderr)
    except OSError as error:
        hint = " Give another --port, or 0 for a free one." if error.errno == errno.EADDRINUSE else ""
        print(f"The scripted endpoint cannot start on port {port}: {error}.{hint}", file=sys.stderr)
    return 1


async def _serve_until_signal(scenario: Scenario, port: int, record: Path | None) -> int:
    # One that runs for long must not grow: what it was asked goes to the folder or nowhere.
    server, listeners = await _open(scenario, port, Recording(record, keep=False))
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, server.serve_connection, listeners)
            print(server.url, flush=True)
            print(
                f"Playing {len(scenario.conversations)} conversations as the model {scenario.model!r}, in "
                "OpenAI's format and Anthropic's. Ctrl-C ends it.",
                file=sys.stderr,
                flush=True,
            )
            number = await anext(aiter(signals))
            nursery.cancel_scope.cancel()
    return 128 + number


async def _open(
    scenario: Scenario, port: int, recording: Recording
) -> tuple[ScriptedServer, list[trio.SocketListener]]:
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
