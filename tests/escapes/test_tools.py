"""Real processes. The tools that people work with do their work in a child that is held back, in its real shell."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import RepositoryOf
from tests.end_to_end.commands import shell
from tests.end_to_end.covey import says
from tests.escapes.machine import everything_is_here  # noqa: F401  # pyright: ignore[reportUnusedImport]
from tests.escapes.test_escapes import WAYS_TO_START
from tests.escapes.world import World, live
from tests.programs import cargo_or_skip, node_program, require_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what holds a child back")

CHEAP = {
    "git": """
set -e
git init -q . && git add -A && git -c user.name=A -c user.email=a@b commit -qm one
git switch -qc other && echo more >> README.md && git stash -q && git stash pop -q && git commit -qam two
git clone -q . ../at-clone && git -C ../at-clone log --format=%s && rm -rf ../at-clone .git
""",
    "here documents and pipes": """
set -e
cat <<EOF > doc
one
EOF
cat <<< two >> doc
diff <(sort doc) doc > /dev/null && tee >(cat > copy) < doc > /dev/null
until cmp -s doc copy; do sleep 0.01; done && cat copy
mkfifo p && (echo three > p &) && cat p && rm p
""",
    "temporary files": """
set -e
file=$(mktemp) && echo kept > $file && mv $file here && cat here
folder=$(mktemp -d) && cp -a . $folder && ls $folder/here | xargs -n1 basename && rm -r $folder
$PYTHON -c 'import tempfile as t; f = t.NamedTemporaryFile(); f.write(b"x"); print(t.gettempdir() != "/tmp")'
""",
    "python": """
set -e
$PYTHON -I - <<'EOF'
import multiprocessing, os, socket, sqlite3, subprocess, threading
multiprocessing.Semaphore()
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
sqlite3.connect("a.db").execute("create table t (n)")
print(subprocess.run(["/bin/echo", "sub"], capture_output=True, text=True).stdout.strip())
with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
    server.bind("socket"); server.listen(); client.connect("socket"); print("socket of its own")
os.unlink("socket")
os.openpty(); print("terminal of its own")
EOF
""",
    "pytest": """
set -e
echo 'def test_it(tmp_path): (tmp_path / "a").write_text("x")' > test_it.py
$PYTHON -m pytest -q -p no:cacheprovider -c /dev/null test_it.py | tail -1 | cut -d' ' -f1-2
""",
    "processes": """
set -e
sleep 60 & kill $! && wait $! || true
trap 'echo caught' USR1; kill -USR1 $$; ps -o pid= -p $$ | wc -l; ulimit -n 100; ulimit -n
""",
    "descriptors": """
$PYTHON -I -S - <<'EOF'
import os
held = [number for number in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{number}")]
print(sorted(held))
EOF
""",
    "archives": "tar -czf a.tgz README.md && tar -tzf a.tgz && gzip -c README.md | gunzip | head -c 0 && echo done",
}

WANTED = {
    "git": "two\none\n",
    "here documents and pipes": "one\ntwo\nthree\n",
    "temporary files": "kept\nhere\nTrue\n",
    "python": "[1, 2]\nsub\nsocket of its own\nterminal of its own\n",
    "pytest": "1 passed\n",
    "processes": "caught\n1\n100\n",
    "descriptors": "['0', '1', '2']\n",
    "archives": "README.md\ndone\n",
}

C_PROGRAM = """
set -e
printf 'int puts(const char *); int main(void) { return puts("compiled") < 0; }' > a.c
printf 'a: a.c\\n\\t@cc -pipe -o $@ a.c\\n' > Makefile && make && ./a && cc -o b a.c && ./b
"""

NODE = """
set -e
printf '{"name": "a", "version": "1.0.0", "scripts": {"go": "node go.js"}}' > package.json
cat > go.js <<'EOF'
const fs = require("fs"), os = require("os"), path = require("path")
fs.mkdtempSync(path.join(os.tmpdir(), "a"))
require("child_process").execFileSync(process.execPath, ["-e", ""])
console.log("ran")
EOF
"""

VENV = """
set -e
$PYTHON -m venv env
mkdir -p pkg && printf '[project]\\nname = "thing"\\nversion = "1"\\n[project.scripts]\\nthing = "thing:main"\\n' \
  > pkg/pyproject.toml && echo 'def main(): print("installed")' > pkg/thing.py
printf '[build-system]\\nrequires = []\\nbuild-backend = "backend"\\nbackend-path = ["."]\\n' >> pkg/pyproject.toml
cat > pkg/backend.py <<'EOF'
import zipfile
def build_wheel(folder, settings=None, metadata=None):
    name, info = "thing-1-py3-none-any.whl", "thing-1.dist-info/"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.write("thing.py")
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: thing\\nVersion: 1\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(info + "entry_points.txt", "[console_scripts]\\nthing = thing:main\\n")
        wheel.writestr(info + "RECORD", "")
    return name
EOF
env/bin/pip install -q --no-index ./pkg && env/bin/thing && rm -rf env
"""


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository_of: RepositoryOf) -> World:
    """A person's repository, and a home in which hardly anything is yet."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return World(tmp_path, repository_of("python_package"))


async def run(world: World, *, way: str = "as it is") -> dict[str, str]:
    """What each script printed, and where that is not wanted, what it said."""
    world.commit()
    await live(world.repository, says("", shell(world.run_all)), worker=WAYS_TO_START[way])
    return {name: world.got(name) or world.said(name) for name in world.scripts}


@pytest.mark.parametrize("way", [pytest.param("as it is", marks=pytest.mark.soak), "unprivileged"])
async def test_everyday_tools_work(world: World, way: str) -> None:
    for name, script in CHEAP.items():
        world.add(name, script)
    wanted = dict(WANTED)
    if shutil.which("cc") and shutil.which("make"):
        world.add("make and a compiler", C_PROGRAM)
        wanted["make and a compiler"] = "compiled\ncompiled\n"
    assert await run(world, way=way) == wanted


async def test_javascript_runs(world: World) -> None:
    folder = Path(node_program()).parent
    world.add("node", f"{NODE}\nPATH={folder}:$PATH node go.js")
    wanted = {"node": "ran\n"}
    if npm := shutil.which("npm"):
        world.add("npm", f"{NODE}\n{npm} run --silent go")
        wanted["npm"] = "ran\n"
    assert await run(world) == wanted


@pytest.mark.soak
async def test_a_virtual_environment_is_made_and_installed_into(world: World) -> None:
    world.add("venv", VENV)
    assert await run(world) == {"venv": "installed\n"}


@pytest.mark.soak
async def test_a_crate_is_built(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cargo, environment = cargo_or_skip()
    monkeypatch.setenv("HOME", environment["HOME"])
    world.add(
        "cargo",
        f"{cargo} -q new --vcs none hello && cd hello && {cargo} --offline -q run && rm -rf target",
    )
    assert await run(world) == {"cargo": "Hello, world!\n"}


@pytest.mark.soak
async def test_java_keeps_its_temporary_files_where_it_is_told(world: World) -> None:
    require_program("java")
    program = (
        "class A { public static void main(String[] a) throws Exception { "
        'System.out.println(java.io.File.createTempFile("abc", "d").exists()); } }'
    )
    world.add("java", f"echo '{program}' > A.java && java A.java")
    assert await run(world) == {"java": "true\n"}
