#!/bin/sh
# The same work as one delegating turn, as a person would script it with git alone:
# a worktree for each child from the same base, an edit and a commit in each, a merge of each, and the worktrees gone.
#
# Usage: reference.sh REPOSITORY WORKTREES PATH...   One child for each PATH, a file in the repository that it edits.
set -eu
repository=$1 worktrees=$2
shift 2

cd "$repository"
child=0
for path in "$@"; do
    child=$((child + 1))
    git worktree add --quiet -b "child-$child" "$worktrees/$child" HEAD
done

child=0
for path in "$@"; do
    child=$((child + 1))
    printf '\n# edited by child %s\n' "$child" >>"$worktrees/$child/$path"
    git -C "$worktrees/$child" add --all
    git -C "$worktrees/$child" commit --quiet --message "child $child"
done

child=0
for path in "$@"; do
    child=$((child + 1))
    git merge --quiet --no-edit "child-$child"
    git worktree remove --force "$worktrees/$child"
    git branch --quiet --delete --force "child-$child"
done
