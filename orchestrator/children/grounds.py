"""What all children of a session stand on, and what those that start together share."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from merge.store.repository import Repository
from orchestrator.children.checkout_ways import CheckoutWays, PlainWays
from orchestrator.children.landing_turn import LandingTurn
from orchestrator.children.ledger import Ledger
from orchestrator.children.slots import Slots
from orchestrator.children.spawning import Spawner
from orchestrator.children.tree_reading import TreeReading
from orchestrator.config.tables import Configuration
from orchestrator.conversation.budget import Purse
from orchestrator.conversation.context_window import ContextWindow
from orchestrator.gateway.gateway import Gateway
from orchestrator.journal import Journal
from orchestrator.parent.permissions import PermissionDesk
from orchestrator.terms.agents import AgentFiles
from worker.policy.rules import Policy
from worker.tool_settings import ToolSettings

if TYPE_CHECKING:
    from merge.snapshots.snapshot import Snapshot


def checkouts_at_once() -> trio.CapacityLimiter:
    """So many checkouts are made at a time: with more, their threads mostly wait for the interpreter, in turns."""
    return trio.CapacityLimiter(max(4, os.cpu_count() or 1))


@dataclass(frozen=True)
class Grounds:
    """The parts of one session that its children use. `logs` is the folder for the logs of their commands."""

    session: str
    repository: Repository
    gateway: Gateway
    journal: Journal
    ledger: Ledger
    spawner: Spawner
    logs: Path
    landing_turn: LandingTurn
    slots: Slots = field(default_factory=Slots)
    purse: Purse = field(default_factory=Purse)
    agents: AgentFiles = field(default_factory=AgentFiles)
    policy: Policy = field(default_factory=Policy)
    tools: ToolSettings = field(default_factory=ToolSettings)
    desk: PermissionDesk = field(default_factory=PermissionDesk)
    configuration: Configuration = field(default_factory=Configuration)
    window: ContextWindow = field(default_factory=ContextWindow)
    ways: CheckoutWays = field(default_factory=PlainWays)
    reading: TreeReading | None = None
    making: trio.CapacityLimiter = field(default_factory=checkouts_at_once)


class SharedSnapshot:
    """The parent's working tree as children that start together find it: taken once, by the first that asks."""

    def __init__(self, repository: Repository, reading: TreeReading | None = None) -> None:
        self._repository = repository
        self._reading = reading
        self._snapshot: Snapshot | None = None
        self._taking = trio.Lock()

    async def take(self) -> "Snapshot":
        """The snapshot.

        Raises:
            SnapshotFailed: when git can't read the working tree.
        """
        async with self._taking:
            if self._snapshot is None:
                self._snapshot = await trio.to_thread.run_sync(
                    take_between_landings, self._repository, self._reading
                )
                if self._reading is not None:
                    self._reading.tidy()
            return self._snapshot


def take_between_landings(repository: Repository, reading: TreeReading | None = None) -> "Snapshot":
    """A snapshot while nothing lands: half a landing is nobody's working tree. `reading` is the session's way to it."""
    # Brings git's libraries, which a first request must not wait for.
    from merge.files.lock import landing_lock
    from merge.snapshots.snapshot import take_snapshot

    with landing_lock(repository):
        return reading.take() if reading is not None else take_snapshot(repository)
