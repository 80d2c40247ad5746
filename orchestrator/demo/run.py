"""The demo from its first line to its last: sets a repository up, has one request done in it, and shows what is left.

Nothing is faked but the model: a real session, real children, real HTTP to the scripted endpoint on this machine. The
folder stays, so that a person can look around in it.
"""

import tempfile
from pathlib import Path

import trio

from merge.landings.landing import Conflicted, Held
from merge.store.git import GitPlace, run_git
from merge.store.repository import Repository, find_repository
from orchestrator.children.kept import for_shell
from orchestrator.demo.sample import make_sample
from orchestrator.gateway.endpoint import Endpoint
from orchestrator.parent.opening import open_session
from orchestrator.scripted.scenario import load_scenario
from orchestrator.scripted.server import serve_scenario
from orchestrator.terminal.run import run_terminal
from worker.path_text import unquote_path

REQUEST = "Get tally ready for the spring release: better errors, the new discount step, and check the docs."

_SCENARIO = Path(__file__).with_name("scenario.toml")


def run_demo() -> int:
    """Play the demo; the exit code of the session in it."""
    folder = Path(tempfile.mkdtemp(prefix="covey-demo-"))
    sample = folder / "tally"
    make_sample(sample)
    print(f"A sample repository with a person's work half done in it: {sample}")
    print(f"A scripted model plays the parent and its children. The request is:\n\n  {REQUEST}\n", flush=True)
    code, kept = trio.run(_play, find_repository(sample))
    _show_what_is_left(sample, kept)
    return code


async def _play(repository: Repository) -> tuple[int, list[str]]:
    """Have the request done; the exit code, and the checkouts that were kept."""
    async with trio.open_nursery() as nursery:
        server = await nursery.start(serve_scenario, load_scenario(_SCENARIO))
        async with open_session(repository, Endpoint("openai", server.url, "scripted")) as session:
            with tempfile.TemporaryFile("w+") as requests:
                requests.write(f"{REQUEST}\n")
                requests.seek(0)
                code = await run_terminal(session, stdin=requests)
            landings = [child.report.landing for child in session.children.roster.values() if child.report]
        nursery.cancel_scope.cancel()
    return code, [landing.checkout for landing in landings if isinstance(landing, Conflicted | Held)]


def _show_what_is_left(sample: Path, kept: list[str]) -> None:
    print(
        "\nThe parent's tree now (git status): the person's own changes and what landed, nothing staged by covey\n"
    )
    status = run_git(GitPlace(sample), "status", "--short", "--untracked-files=all")
    print("\n".join(f"  {line}" for line in status.output.decode(errors="replace").splitlines()))
    print("\nWhat to type next")
    steps = [(f"cd {for_shell(str(sample))}", "go there"), ("git diff", "see what landed")]
    for checkout in kept:
        child = Path(unquote_path(checkout)).name
        steps.append((f"covey review {child}", "see what the kept child did, and what it conflicts with"))
        steps.append((f"covey review {child} --theirs tally/defaults.py", "take its line after all"))
        steps.append((f"covey review {child} --drop", "or throw it away"))
    steps.append(("covey undo", "take back the last landing"))
    for command, meaning in steps:
        print(f"  {command}    # {meaning}")
