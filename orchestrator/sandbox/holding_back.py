"""What one child's worker is given to begin with: its environment, and the steps by which it holds itself back.

Puts the sandbox, the environment and the folder for temporary files together, for as long as the worker lives.
"""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import trio

from merge.checkouts.checkout import Checkout, linked_caches
from orchestrator.children.grounds import Grounds
from orchestrator.sandbox.environment import child_environment, temporary_variables, without_services
from orchestrator.sandbox.sandbox import OwnFolders, confinement_of
from orchestrator.sandbox.temporary_folder import make_temporary_folder
from worker.confinement.first_steps import AnyStep, Confine


@dataclass(frozen=True)
class HeldBack:
    """How a worker begins."""

    environment: dict[str, str]
    steps: tuple[AnyStep, ...] = ()


@asynccontextmanager
async def hold_back(
    grounds: Grounds, marker: tuple[str, str], checkout: Checkout | None, logs: Path
) -> AsyncGenerator[HeldBack]:
    """How the worker of the child with this `marker` begins; without a `checkout` it may only read.

    What is made for it is there while the block lasts, but for `logs`, the folder of its commands' logs.

    Raises:
        OSError: when its folders can't be made.
    """
    table, repository = grounds.configuration.sandbox, grounds.repository
    environment = child_environment(os.environ, marker, table.environment)
    if not table.enabled or sys.platform != "linux":
        yield HeldBack(environment)
        return
    environment = without_services(environment, table.environment)
    if checkout is None:
        confinement = await trio.to_thread.run_sync(confinement_of, table, repository, None, os.environ)
        yield HeldBack(environment, (Confine(confinement),))
    else:
        temporary = await trio.to_thread.run_sync(make_temporary_folder, marker[1])
        try:
            yield await trio.to_thread.run_sync(
                _hold_back_with_folders, grounds, temporary.path, environment, checkout, logs
            )
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(temporary.remove)


def _hold_back_with_folders(
    grounds: Grounds, temporary: Path, environment: dict[str, str], checkout: Checkout, logs: Path
) -> HeldBack:
    logs.mkdir(parents=True, exist_ok=True)
    own = OwnFolders(Path(checkout.path), linked_caches(grounds.repository, checkout), logs, temporary)
    confinement = confinement_of(grounds.configuration.sandbox, grounds.repository, own, os.environ)
    return HeldBack({**environment, **temporary_variables(temporary, environment)}, (Confine(confinement),))
