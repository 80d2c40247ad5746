"""How `git diff` is asked so that its answer has one format, whatever the person has configured for their own eyes.

Knows no file and no repository. What has no option of its own is a `-c` switch (git-config(1), `diff.*`).
"""

PINNED = (
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--inter-hunk-context=0",
    "--diff-algorithm=histogram",
    "--indent-heuristic",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--submodule=short",
    "--ignore-submodules=none",
)

SWITCHES = ("diff.suppressBlankEmpty=false",)
