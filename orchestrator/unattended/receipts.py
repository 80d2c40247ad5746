"""The receipt of a run without a person: what the model said, apart from what was changed and what checks found.

A model's text is a claim; the changed paths come from comparing trees, the checks from running them. `verified` is
true only when at least one check ran and all passed. Written durably into the session's folder.
"""

import os
from collections.abc import Container, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from merge.landings.landing import AnyLanding, Conflicted, Held, Landed
from orchestrator.checks.results import CheckResult, describe
from orchestrator.children.first_message import describe_ending
from orchestrator.roster import ChildRow
from worker.model import Usage
from worker.protocol import ChildId, Kind
from worker.sayable import encode_sayable

FILE_NAME = "receipt.json"


class ReceiptCheck(msgspec.Struct, frozen=True):
    """One configured check: its last result, in words; `ran` is false where it was never reached."""

    name: str
    command: str
    ran: bool
    passed: bool
    result: str
    seconds: float = 0.0
    output: str = ""
    log: str | None = None


class ReceiptChild(msgspec.Struct, frozen=True):
    """One child: how it ended, and what became of its edits. `checkout` is there when they are kept.

    `checkout_written` is false where that folder is still empty, and the next start writes it out.
    """

    id: ChildId
    kind: Kind
    title: str
    state: str
    ending: str
    landed: tuple[str, ...] = ()
    landing: str | None = None
    checkout: str | None = None
    checkout_written: bool = True
    reason: str = ""
    seconds: float = 0.0
    tokens: int = 0


class ReceiptTurn(msgspec.Struct, frozen=True):
    """One turn of the run: what was asked, what the model said, how it ended."""

    request: str
    model_text: str
    ending: str
    seconds: float


class Receipt(msgspec.Struct, frozen=True):
    """A run. `reason` says why it is no success; `changed_paths` is None where before and after can't be compared."""

    session: str
    mode: str
    ending: str
    exit_code: int
    reason: str
    model_text: str
    changed_paths: tuple[str, ...] | None
    checks: tuple[ReceiptCheck, ...]
    verified: bool
    unmerged: tuple[str, ...]
    children: tuple[ReceiptChild, ...]
    turns: tuple[ReceiptTurn, ...]
    usage: Usage
    cost: float | None
    seconds: float


def checks_told(
    configured: Mapping[str, str], results: Mapping[str, CheckResult]
) -> tuple[ReceiptCheck, ...]:
    """Every configured check, by its name and command, with its last result."""
    return tuple(
        _check_told(results[name])
        if name in results
        else ReceiptCheck(name, command, False, False, "not run")
        for name, command in configured.items()
    )


def _check_told(result: CheckResult) -> ReceiptCheck:
    return ReceiptCheck(
        result.name,
        result.command,
        True,
        result.passed,
        describe(result.ending),
        result.seconds,
        result.output,
        result.log,
    )


def children_told(
    rows: Iterable[ChildRow], unwritten: Container[str] = frozenset()
) -> tuple[ReceiptChild, ...]:
    """The children of the session. `unwritten` are those whose checkouts are empty folders still."""
    return tuple(_child_told(row, is_written=row.id not in unwritten) for row in rows)


def _child_told(row: ChildRow, *, is_written: bool) -> ReceiptChild:
    landing = row.landing
    return ReceiptChild(
        row.id,
        row.kind,
        row.title,
        row.state,
        describe_ending(row.ending) if row.ending is not None else "running",
        landing.paths if isinstance(landing, Landed) else (),
        landing.landing if isinstance(landing, Landed) else None,
        landing.checkout if isinstance(landing, Conflicted | Held) else None,
        is_written,
        _reason(landing),
        row.seconds(row.began_at),
        row.usage.total_tokens,
    )


def _reason(landing: AnyLanding | None) -> str:
    match landing:
        case Held(reason=reason):
            return reason
        case Conflicted(conflicts=conflicts):
            return "; ".join(conflicts)
        case _:
            return ""


def write_receipt(folder: Path, receipt: Receipt) -> Path:
    """Write it into the session's folder, whole or not at all; it is on the disk when this returns.

    Raises:
        OSError: when it can't be written; a receipt of before is as it was.
    """
    path = folder / FILE_NAME
    part = folder / f"{FILE_NAME}.part"
    try:
        with part.open("wb") as file:
            file.write(encode_sayable(receipt, msgspec.json.encode) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return path
