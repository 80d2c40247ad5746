"""The examinations, in the order in which they are told. Each is a function of the `Patient`; a new one joins the list.

An examination changes nothing and never raises: what it can't look at is what it found.
"""

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import trio

from merge.store.git import GitFailed, GitPlace, ask_git
from merge.store.repository import Repository, children_folder, operation_in_progress
from orchestrator.checks.check_file import read_checks
from orchestrator.config.home import covey_home
from orchestrator.config.layers import Settings
from orchestrator.config.reading import read_settings
from orchestrator.config.toml_lines import KeyPath
from orchestrator.doctor.checkout_ways import look_at_checkouts
from orchestrator.doctor.disk_use import free_bytes, in_words, use_of
from orchestrator.doctor.endpoint import look_at_endpoint
from orchestrator.doctor.findings import Finding
from orchestrator.doctor.language_servers import look_for_servers
from orchestrator.drawing.figures import count
from orchestrator.faults import UserError
from orchestrator.parent.workspace_folder import find_workspace
from orchestrator.review.finding import list_children, open_book
from orchestrator.terms.agents import agent_folders, read_agents
from orchestrator.terms.policy_files import read_policy
from orchestrator.terms.skills import read_skills, skill_folders
from worker.confinement.confinement import Enforced
from worker.confinement.shortfalls import not_enforced
from worker.tools.ripgrep import RipgrepMissing, run_ripgrep

_OLDEST_GIT = (2, 38)
"""The first whose `git merge-tree` has `--write-tree`, by which landings are merged."""

_LITTLE_ROOM_BYTES = 1_000_000_000
"""Less is soon used up by checkouts and build output of several children."""


class Patient(msgspec.Struct, frozen=True):
    """What is examined. `flags` are those of the endpoint; `enforced` what the kernel holds children to."""

    folder: Path
    environment: Mapping[str, str]
    flags: Mapping[KeyPath, str | None]
    enforced: Enforced


def examine(patient: Patient) -> list[Finding]:
    """Everything that there is to find. Blocks."""
    return [finding for examination in EXAMINATIONS for finding in examination(patient)]


def _python(patient: Patient) -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    return [Finding("python", "ok", f"{version} on {sys.platform}")]


def _git(patient: Patient) -> list[Finding]:
    needs = f"Install git {'.'.join(map(str, _OLDEST_GIT))} or newer."
    try:
        said = ask_git(GitPlace(patient.folder), "version").line()
    except GitFailed as error:
        return [Finding("git", "fault", f"it can't be run: {error.error.strip()}", needs)]
    numbers = re.search(r"(\d+)\.(\d+)", said)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < _OLDEST_GIT:
        return [Finding("git", "fault", f"{said} is too old: it can't merge without a working tree", needs)]
    return [Finding("git", "ok", said.removeprefix("git version "))]


def _ripgrep(patient: Patient) -> list[Finding]:
    said = bytearray()

    def take(data: bytes) -> bool:
        said.extend(data)
        return True

    try:
        trio.run(run_ripgrep, ["--version"], take)
    except RipgrepMissing as error:
        return [Finding("ripgrep", "fault", str(error), "Install covey anew: it brings ripgrep with it.")]
    return [
        Finding("ripgrep", "ok", said.decode(errors="replace").partition("\n")[0].removeprefix("ripgrep "))
    ]


def _workspace(patient: Patient) -> list[Finding]:
    try:
        repository = find_workspace(patient.folder)
    except UserError as error:
        return [Finding("workspace", "fault", str(error), "Go to a working tree.")]
    if repository is None:
        says = f"{patient.folder} is in no git repository; covey would keep its own record of it"
        return [Finding("workspace", "note", says, "Run `git init` there for a history of your own.")]
    findings = [Finding("workspace", "ok", str(repository.root))]
    busy = operation_in_progress(repository)
    if busy is not None:
        says = f"{busy} is in progress: nothing can land meanwhile"
        findings.append(Finding("workspace", "note", says, "Finish or abort it."))
    return findings


def _configuration(patient: Patient) -> list[Finding]:
    try:
        settings, root = _settings(patient), _root(patient)
        checks = read_checks(root)
        read_policy(patient.environment, root, settings.configuration.permissions)
    except UserError as error:
        return [
            Finding("configuration", "fault", str(error), "`covey config` shows what is read from where.")
        ]
    findings = [Finding("configuration", "ok", f"{count(len(settings.sources), 'key')} set")]
    named = settings.configuration.tools.skills_dir
    faults = [
        *read_agents(agent_folders(root, patient.environment)).faults,
        *read_skills(skill_folders(root, patient.environment, named)).faults,
    ]
    findings += [Finding("configuration", "note", fault, "Correct that file.") for fault in faults]
    if checks:
        findings.append(Finding("checks", "ok", ", ".join(checks)))
    else:
        remedy = f"Name one in {root / '.covey' / 'check.toml'}, so that results can be verified."
        findings.append(Finding("checks", "note", "no check is configured", remedy))
    return findings


def _endpoint(patient: Patient) -> list[Finding]:
    try:
        configuration = _settings(patient).configuration
    except UserError:
        return []  # told already
    return look_at_endpoint(patient.environment, configuration, patient.flags)


def _sandbox(patient: Patient) -> list[Finding]:
    try:
        sandbox = _settings(patient).configuration.sandbox
    except UserError:
        return []  # told already
    if not sandbox.enabled:
        return [Finding("sandbox", "note", "it is turned off", "Set enabled = true in [sandbox].")]
    short = not_enforced(patient.enforced, sandbox.network)
    if not short:
        return [Finding("sandbox", "ok", "the kernel holds children to their own part")]
    remedy = "A newer kernel, or one that lets users have namespaces of their own, holds more."
    return [
        Finding("sandbox", "note", sentence, remedy if sentence is short[-1] else "") for sentence in short
    ]


def _checkouts(patient: Patient) -> list[Finding]:
    repository = _repository(patient)
    if repository is None:
        return []
    try:
        wish = _settings(patient).configuration.children.checkouts
    except UserError:
        return []  # told already
    return look_at_checkouts(wish, repository, covey_home(patient.environment))


def _children(patient: Patient) -> list[Finding]:
    repository = _repository(patient)
    if repository is None:
        return []
    try:
        with open_book(repository) as ledger:
            known = list_children(repository, ledger)
    except UserError as error:
        return [Finding("children", "fault", str(error), "Move that file away; kept folders stay.")]
    kept = [child for child in known if child.is_for_review]
    if not kept:
        return [Finding("children", "ok", "none is kept for review")]
    empty = sum(not child.is_written for child in kept)
    still = f", the folders of {empty} not filled yet" if empty else ""
    return [Finding("children", "note", f"{len(kept)} kept for review{still}", "`covey review` lists them.")]


def _disk(patient: Patient) -> list[Finding]:
    folders = [covey_home(patient.environment)]
    repository = _repository(patient)
    if repository is not None:
        own = (repository.root / ".covey", repository.common_dir / "covey")
        folders += [*own, children_folder(repository)]
    used = [f"{use.path}  {in_words(use.size_bytes)}" for use in use_of(folders)]
    free = free_bytes(patient.folder)
    says = "\n".join([f"{in_words(free)} free", *used])
    if free < _LITTLE_ROOM_BYTES:
        return [Finding("disk", "note", says, "Make room; `covey gc` forgets what is over.")]
    return [Finding("disk", "ok", says)]


def _language_servers(patient: Patient) -> list[Finding]:
    repository = _repository(patient)
    return look_for_servers(repository.root if repository else patient.folder, patient.environment)


Examination = Callable[[Patient], list[Finding]]

EXAMINATIONS: tuple[Examination, ...] = (
    _python,
    _git,
    _ripgrep,
    _workspace,
    _configuration,
    _endpoint,
    _sandbox,
    _checkouts,
    _language_servers,
    _children,
    _disk,
)


def _repository(patient: Patient) -> Repository | None:
    try:
        return find_workspace(patient.folder)
    except UserError:
        return None  # told already


def _root(patient: Patient) -> Path:
    repository = _repository(patient)
    return repository.root if repository is not None else patient.folder


def _settings(patient: Patient) -> Settings:
    return read_settings(patient.environment, _root(patient))
