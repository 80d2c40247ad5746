"""Pure. What a child finds in its environment."""

from pathlib import Path

import pytest

from orchestrator.environment import child_environment, child_marker, is_credential
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
    ],
)
def test_a_credential_is_known_by_its_name(name: str) -> None:
    assert is_credential(name)
    assert name not in child_environment({name: "s3cret"}, MARKER)


@pytest.mark.parametrize("name", ["PATH", "HOME", "KEYBOARD", "TOKENIZERS_PARALLELISM", "MONKEY", "LANG"])
def test_what_only_looks_like_one_stays(name: str) -> None:
    assert child_environment({name: "v"}, MARKER)[name] == "v"


def test_a_childs_processes_are_marked_with_its_id_and_its_repository() -> None:
    marker = child_marker(Path("/repo/.git"), ChildId("x"))
    assert marker == MARKER
    assert child_environment({}, marker) == dict([marker])


def test_variables_that_pin_a_repository_are_taken_away_and_who_commits_stays() -> None:
    found = child_environment({"GIT_DIR": "/x", "GIT_INDEX_FILE": "/y", "GIT_AUTHOR_NAME": "A"}, MARKER)
    assert found == {"GIT_AUTHOR_NAME": "A", "COVEY_CHILD": "x of /repo/.git"}
