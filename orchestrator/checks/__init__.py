"""Checks: a project's own commands that say whether the work is right, run in the parent's tree.

`check_file` reads which there are, `running` runs them, `results` is what they come to, `verified_landing` holds a
child back that breaks one.
"""
