"""The parent session: how it is opened and resumed, its turns, and what a person is asked in one."""
