"""Contract, on a real repository. What the examinations find together."""

import os
from pathlib import Path

from orchestrator.doctor.examinations import Patient, examine
from tests.conftest import RepositoryOf
from worker.confinement.confinement import Enforced


def test_a_configuration_that_can_not_be_read_is_told_once(
    repository_of: RepositoryOf, covey_home: Path
) -> None:
    covey_home.mkdir(parents=True)
    (covey_home / "config.toml").write_text("[children]\nmax = no\n")
    found = examine(Patient(repository_of("python_package"), os.environ, {}, Enforced()))
    assert [(each.about, "is not valid TOML" in each.says) for each in found if each.level == "fault"] == [
        ("configuration", True)
    ]
