"""Contract. `covey config` tells every value and where it comes from, and no secret."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from orchestrator.cli import run

FILE = """\
[endpoint]
url = "http://box/v1"
model = "of-the-file"
key = "s3cret-k3y"

[prices."box/m-1"]
input = 3
output = 15.0
"""


@pytest.fixture
def there(tmp_path: Path, covey_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    covey_home.mkdir(parents=True)
    (covey_home / "config.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    return covey_home / "config.toml"


def test_each_value_stands_with_its_source(
    there: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COVEY_MODEL", "of-the-environment")
    monkeypatch.setenv("COVEY_CHILDREN_MAX", "4")
    assert run(["--max-secs", "30", "config"]) == 0
    output = capsys.readouterr().out
    assert tomllib.loads(output)["budget"] == {"seconds": 30.0}, "it is a file that could be read"
    lines = [" ".join(line.split()) for line in output.splitlines()]
    assert f'url = "http://box/v1" # {there}, line 2' in lines
    assert 'model = "of-the-environment" # $COVEY_MODEL' in lines
    assert f'key = "(hidden)" # {there}, line 4' in lines
    assert "max = 4 # $COVEY_CHILDREN_MAX" in lines
    assert "seconds = 30.0 # --max-secs" in lines
    assert "# cost = # not set" in lines
    assert lines[:3] == ['permissions = "allow" # default', "", "[endpoint]"]
    assert '[prices."box/m-1"]' in lines
    assert not any("s3cret" in line for line in lines)


def test_the_same_as_data(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "--json", "--endpoint", "http://flag/v1"]) == 0
    rows = msgspec.json.decode(capsys.readouterr().out, type=list[dict[str, object]])
    by_key = {row["key"]: row for row in rows}
    assert by_key["endpoint.url"] == {
        "key": "endpoint.url",
        "value": "http://flag/v1",
        "source": "flag",
        "where": "--endpoint",
        "workspace": "",
    }
    assert by_key["budget.tokens"] == {
        "key": "budget.tokens",
        "value": None,
        "source": "default",
        "where": "",
        "workspace": "lower",
    }
    assert by_key["landing.verify"]["workspace"] == "turn on"
    assert by_key["modules.task"]["workspace"] == "turn off"
    assert by_key["endpoint.key"]["value"] == "(hidden)"


def test_a_fault_of_a_file_is_one_sentence(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there.write_text("[endpoint]\ncolor = 1\n")
    assert run(["config"]) == 1
    assert capsys.readouterr().err.startswith(f"covey: {there}, line 2: [endpoint] has no key 'color'")
