"""Contract. What a child may touch, as a value, from the person's settings and what is on disk."""

import os
import socket
from pathlib import Path

import pytest

from merge.store.repository import Repository
from orchestrator.config.tables import SandboxTable
from orchestrator.sandbox.sandbox import OwnFolders, confinement_of
from worker.confinement.confinement import Confinement


class Place:
    """A home with some of what homes have, a repository in it, and a child's folders."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.root = self.home / "work/repo"
        self.children = self.home / "work/repo-children"
        for name in (".ssh", ".cargo", ".gradle/caches", ".cache", "go/pkg", "work/repo/.git"):
            (self.home / name).mkdir(parents=True)
        git_dir = self.root / ".git"
        self.repository = Repository(self.root, git_dir, git_dir)
        self.own = OwnFolders(self.children / "a", (), folder / "logs", folder / "temporary")
        self.environment = {
            "HOME": str(self.home),
            "PATH": "/nowhere",
            "COVEY_HOME": str(self.home / ".covey"),
        }

    def confinement(self, table: SandboxTable | None = None, *, reads_only: bool = False) -> Confinement:
        own = None if reads_only else self.own
        return confinement_of(table or SandboxTable(), self.repository, own, self.environment)

    def __call__(self, name: str) -> bytes:
        return os.fsencode(self.home / name)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_an_implement_child_writes_its_own_and_the_caches_that_are_there(place: Place) -> None:
    found = place.confinement()
    own = {os.fsencode(path) for path in (place.own.checkout, place.own.logs, place.own.temporary)}
    caches = {place(name) for name in (".cargo", ".gradle", ".cache", "go/pkg")}
    assert set(found.writable) == own | caches
    assert place(".cargo/bin") in found.fixed


def test_a_research_child_writes_nothing_and_checkouts_may_appear_beside_it(place: Place) -> None:
    found = place.confinement(SandboxTable(writable=("/data",), network="deny"), reads_only=True)
    assert found.writable == found.fixed == ()
    assert found.appearing == (os.fsencode(place.children),)
    assert found.network == "allow", "it has no commands; the web tool is its own"


def test_keys_settings_and_other_checkouts_are_unreadable_and_ones_own_is_not(place: Place) -> None:
    found = place.confinement()
    shut = {place(".ssh"), place(".covey"), place(".cache/covey"), os.fsencode(place.children)}
    assert shut <= set(found.unreadable)
    assert os.fsencode(place.own.checkout) in found.writable


def test_what_a_person_names_comes_beside_and_before_what_covey_has(place: Place) -> None:
    table = SandboxTable(
        writable=("~/.kube",), readable=("~/.ssh",), unreadable=("~/customers", "/data"), network="deny"
    )
    found = place.confinement(table)
    assert {place("customers"), b"/data", place(".aws")} <= set(found.unreadable)
    assert not {place(".ssh"), place(".kube")} & set(found.unreadable)
    assert place(".kube") in found.writable
    assert place(".ssh") in found.readable
    assert found.network == "deny"


def test_variables_name_other_places_for_caches_and_a_missing_one_is_made_for_an_installed_tool(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/npm").touch(mode=0o755)
    place.environment |= {"CARGO_HOME": str(tmp_path / "elsewhere"), "PATH": str(tmp_path / "bin")}
    found = place.confinement()
    assert place(".cargo") not in found.writable, "there is none, and cargo is not installed"
    assert place(".npm") in found.writable
    assert (place.home / ".npm").is_dir()
    assert not (tmp_path / "elsewhere").exists()


def test_a_secret_that_is_a_link_is_shut_where_it_leads(place: Place, tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (place.home / ".aws").symlink_to(tmp_path / "vault")
    assert os.fsencode(tmp_path / "vault") in place.confinement().unreadable


def test_a_workspace_in_a_shut_folder_can_be_read(place: Place) -> None:
    found = place.confinement(SandboxTable(unreadable=("~/work",)))
    assert place("work/repo") in found.readable
    assert place("work") in found.unreadable


def test_the_record_of_a_plain_folder_can_be_read_though_it_is_in_coveys_own(place: Place) -> None:
    record = place.home / ".covey/folders/1/git"
    place.repository = Repository(place.root, record, record)
    assert os.fsencode(record) in place.confinement().readable


def test_an_agent_whose_variable_is_allowed_can_be_reached(place: Place, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(tmp_path / "agent"))
        place.environment["SSH_AUTH_SOCK"] = str(tmp_path / "agent")
        assert os.fsencode(tmp_path / "agent") not in place.confinement().readable
        assert (
            os.fsencode(tmp_path / "agent")
            in place.confinement(SandboxTable(environment=("SSH_AUTH_SOCK",))).readable
        )
