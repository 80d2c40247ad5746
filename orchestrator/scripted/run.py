"""The scripted endpoint as a program: one scenario file, one port, until a signal ends it."""

import errno
import signal
import sys
from pathlib import Path

import trio

from orchestrator.scripted.recording import Recording
from orchestrator.scripted.scenario import Scenario, ScenarioInvalid, load_scenario
from orchestrator.scripted.server import open_server


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
    server, listeners = await open_server(scenario, port, Recording(record, keep=False))
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
