"""Sends one line of a script to a client, at the pace and with the fault that the script says."""

from collections.abc import Sequence
from typing import Literal, Protocol, assert_never

import trio

from orchestrator.scripted.connection import Connection, ConnectionOver
from orchestrator.scripted.scenario import Cut, ErrorEvent, Hang, Html, Malformed, Scenario, Stall, Status
from orchestrator.scripted.script import Asked, Line

JSON = "application/json"


class Speech(Protocol):
    """One wire format, as a module."""

    def read_request(self, body: bytes) -> Asked: ...

    def write_events(self, line: Line, asked: Asked, model: str) -> list[bytes]: ...

    def write_error_event(self, fault: ErrorEvent) -> bytes: ...

    def write_error(self, message: str, type: str) -> bytes: ...


async def play(
    connection: Connection, line: Line, asked: Asked, *, speech: Speech, scenario: Scenario
) -> None:
    """Answer a request with `line`.

    Raises:
        ConnectionOver: when the client left while it was kept waiting, or the script ends the connection.
        trio.BrokenResourceError: when it left while it was sent to.
    """
    reply = line.reply
    delay_ms = scenario.delay_ms if reply.delay_ms is None else reply.delay_ms
    if delay_ms:
        await trio.sleep(delay_ms / 1000)
    match reply.fault:
        case Status(status=status, headers=headers, body=body):
            await connection.answer(status, body.encode(), content_type=JSON, headers=headers)
        case Html(body=body):
            await connection.answer(200, body.encode(), content_type="text/html; charset=utf-8")
        case Hang():
            await connection.wait_gone()
        case None if not reply.pace_ms and reply.dribble_bytes is None:
            # The usual case, and the one that benchmarks lean on: one write.
            await connection.stream_whole(b"".join(speech.write_events(line, asked, scenario.model)))
        case fault:
            await connection.begin_stream()
            await _stream(connection, speech.write_events(line, asked, scenario.model), line, fault, speech)


async def _stream(
    connection: Connection,
    events: Sequence[bytes],
    line: Line,
    fault: Stall | Cut | Malformed | ErrorEvent | None,
    speech: Speech,
) -> None:
    middle = len(events) // 2
    match fault:
        case None:
            await _send(connection, events, line)
            await connection.end_stream()
        case Stall(after_bytes=after_bytes):
            await _send(connection, [_beginning(events, after_bytes)], line)
            await connection.wait_gone()
        case Cut(after_bytes=after_bytes, how=how):
            await _send(connection, [_beginning(events, after_bytes)], line)
            await _break_off(connection, how)
        case Malformed(data=data):
            odd = f"data: {data}\n\n".encode()
            await _send(connection, [*events[:middle], odd, *events[middle:]], line)
            await connection.end_stream()
        case ErrorEvent():
            await _send(connection, [*events[:middle], speech.write_error_event(fault)], line)
            await connection.end_stream()
        case _:
            assert_never(fault)


async def _send(connection: Connection, pieces: Sequence[bytes], line: Line) -> None:
    """Send the pieces as one, or at the pace and in the portions that the reply asks for."""
    pace, portion = line.reply.pace_ms, line.reply.dribble_bytes
    if not pace:
        pieces = [b"".join(pieces)]
    for piece in pieces:
        if pace:
            await trio.sleep(pace / 1000)
        step = portion or max(1, len(piece))
        for start in range(0, len(piece), step):
            await connection.send_piece(piece[start : start + step])


async def _break_off(connection: Connection, how: Literal["reset", "close", "end"]) -> None:
    match how:
        case "end":
            await connection.end_stream()
        case "reset":
            connection.reset_on_close()
            raise ConnectionOver
        case "close":
            raise ConnectionOver
        case _:
            assert_never(how)


def _beginning(events: Sequence[bytes], after_bytes: int | None) -> bytes:
    """The stream up to where a fault begins; the middle, when the script does not say."""
    whole = b"".join(events)
    return whole[: len(whole) // 2 if after_bytes is None else after_bytes]
