"""Pure. What a child finds in its environment."""

from pathlib import Path

import pytest

from orchestrator.sandbox.environment import (
    child_environment,
    child_marker,
    is_credential,
    temporary_variables,
    without_services,
)
from worker.protocol import ChildId

MARKER = ("COVEY_CHILD", "x of /repo/.git")


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "openai_api_key",
        "TOKEN",
        "AZURE_CLIENT_SECRET",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "PGPASSWORD",
        "MYSQL_PWD",
        "SIGNING_KEYS",
        "GPG_PASSPHRASE",
        "NPM_CONFIG__AUTH",
        "NPM_CONFIG__AUTHTOKEN",
        "DOCKER_AUTH_CONFIG",
        "VAULT_ADDR",
        "GH_PAT",
    ],
)
def test_a_credential_is_known_by_its_name(name: str) -> None:
    assert is_credential(name)
    assert name not in child_environment({name: "s3cret"}, MARKER)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "HOME",
        "KEYBOARD",
        "TOKENIZERS_PARALLELISM",
        "MONKEY",
        "LANG",
        "PWD",
        "OLDPWD",
        "PYTHONPATH",
        "COMPASS",
        "GIT_EXEC_PATH",
    ],
)
def test_what_only_looks_like_one_stays(name: str) -> None:
    assert child_environment({name: "v"}, MARKER)[name] == "v"


def test_a_childs_processes_are_marked_with_its_id_and_its_repository() -> None:
    marker = child_marker(Path("/repo/.git"), ChildId("x"))
    assert marker == MARKER
    assert child_environment({}, marker) == dict([marker])


def test_variables_that_pin_a_repository_are_taken_away_and_who_commits_stays() -> None:
    found = child_environment({"GIT_DIR": "/x", "GIT_INDEX_FILE": "/y", "GIT_AUTHOR_NAME": "A"}, MARKER)
    assert found == {"GIT_AUTHOR_NAME": "A", "COVEY_CHILD": "x of /repo/.git"}


def test_what_a_person_names_stays_whatever_it_looks_like() -> None:
    theirs = {"NPM_TOKEN": "t", "GH_TOKEN": "g", "SSH_AUTH_SOCK": "/a", "DOCKER_HOST": "/d", "GIT_DIR": "/x"}
    allowed = ("NPM_TOKEN", "SSH_AUTH_SOCK")
    found = without_services(child_environment(theirs, MARKER, allowed), allowed)
    assert found == {"NPM_TOKEN": "t", "SSH_AUTH_SOCK": "/a", "COVEY_CHILD": "x of /repo/.git"}


def test_every_program_is_told_where_temporary_files_go() -> None:
    told = temporary_variables(Path("/t/1"), {"JAVA_TOOL_OPTIONS": "-Xmx1g"})
    assert [told[name] for name in ("TMPDIR", "TMP", "TEMP", "TMUX_TMPDIR")] == ["/t/1"] * 4
    assert told["JAVA_TOOL_OPTIONS"] == "-Xmx1g -Djava.io.tmpdir=/t/1"
