"""The processes of a tree as tests ask for them; the product ends trees and never only lists one."""

from worker.processes.process_look import Look
from worker.processes.process_table import ProcessKey
from worker.processes.process_tree import find_process


def list_tree(root: int) -> tuple[ProcessKey, ...]:
    """What is alive of the process `root` and of all that it started, as `end_tree` finds it."""
    key = find_process(root)
    return () if key is None else Look().tree_of({root: key}, None)
