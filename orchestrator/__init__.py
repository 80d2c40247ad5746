"""The parent: the session, its children, the door to the model, and what a person sees.

At this level stand the command line (`cli`, `options`, verbs without a folder of their own) and the record that the
folders share: `events` are written to the `journal`, `seeing` folds them into a `roster`, `watching` reads another
process's. `faults` is what a person is told when something can't be done, `screen_choice` which screen there can be.
"""
