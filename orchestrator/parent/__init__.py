"""The parent session: how it is opened and resumed, in a worktree too, its turns, and what a person is asked in one."""
