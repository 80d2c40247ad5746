"""Pure. What a child finds in its environment."""

import pytest

from orchestrator.environment import child_environment, is_credential
from worker.protocol import ChildId


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
    assert name not in child_environment({name: "s3cret"}, ChildId("x"))


@pytest.mark.parametrize("name", ["PATH", "HOME", "KEYBOARD", "TOKENIZERS_PARALLELISM", "MONKEY", "LANG"])
def test_what_only_looks_like_one_stays(name: str) -> None:
    assert child_environment({name: "v"}, ChildId("x"))[name] == "v"


def test_a_childs_processes_are_marked_with_its_id() -> None:
    assert child_environment({}, ChildId("fix-1")) == {"COVEY_CHILD": "fix-1"}


def test_variables_that_pin_a_repository_are_taken_away_and_who_commits_stays() -> None:
    found = child_environment({"GIT_DIR": "/x", "GIT_INDEX_FILE": "/y", "GIT_AUTHOR_NAME": "A"}, ChildId("x"))
    assert found == {"GIT_AUTHOR_NAME": "A", "COVEY_CHILD": "x"}
