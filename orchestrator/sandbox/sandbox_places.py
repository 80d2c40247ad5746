"""Which places children's commands need, and which are nobody's business: data, a line each.

A path begins with `~` for the person's home. What a person adds or opens is in `[sandbox]` of the configuration
(`orchestrator.sandbox.sandbox`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ToolCache:
    """Where a tool keeps what it downloads and builds for all projects.

    `variable` names another place for `folder`, where it is set. `parts` are what of it is for writing: all, where
    there are none. `fixed` are not for writing though they are in there. A folder that is missing is made where
    `program` is installed, as the program itself would.
    """

    folder: str
    variable: str = ""
    program: str = ""
    parts: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()


TOOL_CACHES = (
    # pip, uv, poetry, go-build, yarn, bazel, ccache, sccache, coursier, deno, zig and many more
    ToolCache("~/.cache", "XDG_CACHE_HOME", "sh"),
    ToolCache(
        "~/.cargo",
        "CARGO_HOME",
        "cargo",
        # What runs as a program, and what names programs to run.
        fixed=("bin", "env", "config", "config.toml"),
    ),
    ToolCache("~/.npm", "npm_config_cache", "npm"),
    ToolCache("~/.yarn/berry"),
    ToolCache("~/.local/share/pnpm/store"),
    ToolCache("~/.bun/install/cache", "BUN_INSTALL_CACHE_DIR"),
    ToolCache("~/go", "GOPATH", "go", parts=("pkg",)),
    ToolCache(
        "~/.gradle", "GRADLE_USER_HOME", "gradle", fixed=("init.d", "init.gradle", "gradle.properties")
    ),
    ToolCache("~/.m2", "", "mvn", parts=("repository",)),
    ToolCache("~/.ivy2"),
    ToolCache("~/.sbt"),
    ToolCache("~/.nuget/packages", "NUGET_PACKAGES"),
    ToolCache("~/.ccache", "CCACHE_DIR"),
    ToolCache("~/.composer/cache", "COMPOSER_CACHE_DIR"),
    ToolCache("~/.bundle/cache"),
    ToolCache("~/.cabal/packages"),
    ToolCache("~/.stack", "STACK_ROOT"),
    ToolCache("~/.hex", "HEX_HOME"),
    ToolCache("~/.pub-cache", "PUB_CACHE"),
    ToolCache("~/.conda/pkgs", "CONDA_PKGS_DIRS"),
    ToolCache("~/.julia/compiled"),
)

SECRETS = (
    "~/.ssh",
    "~/.aws",
    "~/.gnupg",
    "~/.azure",
    "~/.kube",
    "~/.oci",
    "~/.config/gcloud",
    "~/.config/doctl",
    "~/.config/gh",
    "~/.config/glab-cli",
    "~/.config/hub",
    "~/.config/op",
    "~/.config/rclone",
    "~/.config/github-copilot",
    "~/.docker/config.json",
    "~/.netrc",
    "~/.git-credentials",
    "~/.config/git/credentials",
    "~/.pypirc",
    "~/.pgpass",
    "~/.vault-token",
    "~/.terraform.d/credentials.tfrc.json",
    "~/.cargo/credentials",
    "~/.cargo/credentials.toml",
    "~/.claude/.credentials.json",
    "~/.codex/auth.json",
    "~/.password-store",
    "~/.local/share/keyrings",
    "~/.local/share/kwalletd",
    "~/.mozilla",
    "~/.config/google-chrome",
    "~/.config/chromium",
    "~/.config/BraveSoftware",
    "~/.config/microsoft-edge",
)
"""Keys and the sessions of a browser. Not `~/.npmrc` or pip's configuration: installing needs them."""

CONTROLS = (
    "/run/user",
    "/run/dbus",
    "/run/docker",
    "/run/docker.sock",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/libvirt",
    "/run/screen",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/tmp/.X11-unix",
)
"""What rules other processes, by sockets that may come to be after a child was started."""

DEVICES = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/dri",
    "/dev/kfd",
    "/dev/kvm",
    "/dev/nvidia*",
)
"""The devices that commands may open; graphics cards among them, for what computes with them."""

ADDRESSES_OF_SERVICES = (
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_CONTROL",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_SYSTEM_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "CONTAINER_HOST",
    "KUBECONFIG",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "VSCODE_IPC_HOOK",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
    "NVIM",
    "KRB5CCNAME",
    "SUDO_ASKPASS",
)
"""Environment variables that lead to an agent, a daemon, a screen or an editor of the person's."""
