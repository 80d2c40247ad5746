"""Ways to read what is nobody's business: each prints what it finds, and where nothing holds it back, that is a secret.

`$SECRET` is the secret's path, `$HOME` is the person's, `$PID` is a process of the person's that has a secret in its
environment and holds one open as its descriptor 9.
"""

SHELL = {
    "by its path": "cat $SECRET",
    "a link": "ln -s $SECRET link; cat link",
    "a link to its folder": "ln -s $(dirname $SECRET) folder; cat folder/*",
    "a hard link": "ln $SECRET hard; cat hard",
    "a copy of the folder": "cp -r $(dirname $SECRET) copied; cat copied/*",
    "tar": "tar -cO $SECRET",
    "git": "git hash-object -w --stdin --path=x < $SECRET | xargs git cat-file -p",
    "going there": "cd $(dirname $SECRET) && cat *",
    "the root of this process": "cat /proc/self/root$SECRET",
    "the root of another": "cat /proc/$PID/root$SECRET",
    "what another holds open": "cat /proc/$PID/fd/9",
    "what another has in its environment": "cat /proc/$PID/environ",
    "a user namespace": "unshare -Ur cat $SECRET",
    "unmounting": "umount $(dirname $SECRET); cat $SECRET",
    "unmounting in mounts of its own": "unshare -Urm bash -c 'umount $(dirname $SECRET); cat $SECRET'",
    "mounting it here": "mkdir here; mount --bind $(dirname $SECRET) here; cat here/*; umount here",
    "entering another's namespaces": "nsenter --target $PID --mount cat $SECRET",
    "its own environment": "env",
}
