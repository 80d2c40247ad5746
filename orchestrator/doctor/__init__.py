"""`covey doctor`: what covey needs and finds on this machine and in this workspace, and what to do where it lacks.

`findings` is what an examination comes to, `examinations` are they, `verbs` runs and prints them.
"""
