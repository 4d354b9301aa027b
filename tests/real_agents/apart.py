"""A process of its own for each scene: where it is allowed, in namespaces where there is the loopback and nothing else."""

from __future__ import annotations

import functools
import subprocess
import sys

_KINDS = (
    ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"],
    ["unshare", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"],
    ["unshare", "--net"],
    ["unshare", "--map-root-user", "--net"],
)
_UP = ["--", "sh", "-c", 'ip link set lo up && exec "$0" "$@"']


@functools.cache
def apart() -> tuple[str, ...]:
    """Return the words before a command that keep it apart: no network but the loopback, mounts and processes of its own.

    What a scene leaves running ends with it. Empty, and said so, where the system allows none of it: then the agents have
    the network, of which their settings make no use, and scenes are played one after the other.
    """
    for words in _KINDS:
        line = [*words, *_UP]
        try:
            if subprocess.run([*line, "true"], capture_output=True, check=False).returncode == 0:
                return tuple(line)
        except FileNotFoundError:
            break
    print("no network namespace can be made here: the agents run with the machine's own network", file=sys.stderr)
    return ()
