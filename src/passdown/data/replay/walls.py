"""The walls around commands of a log: Linux namespaces, set up by the process that goes into them.

This text is handed to a bare interpreter (`python -I -S -c`), which never sees passdown itself: the standard library
only.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
from typing import Any

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_ALL = _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_KEPT = {1: _RDONLY, 2: _NOSUID, 4: _NODEV, 8: _NOEXEC, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""Flags of a file system (`statvfs`) that a namespace may not take from a mount, and how `mount` calls them."""
_DETACH = 2
_PDEATHSIG, _DUMPABLE, _SECCOMP, _CAPBSET_DROP, _NO_NEW_PRIVS, _CAP_AMBIENT = 1, 4, 22, 24, 38, 47
_NOBODY = 65534
_MACHINES: dict[str, tuple[int, tuple[int, ...], int]] = {
    "x86_64": (0xC000003E, (319, 447, 29, 272, 308, 165, 321, 298, 323, 425, 250, 248, 249), 56),
    "aarch64": (0xC00000B7, (279, 447, 194, 97, 268, 40, 280, 241, 282, 425, 219, 217, 218), 220),
}
"""By machine: how its calls are marked; memfd_create, memfd_secret and shmget (memory that no process is seen to
hold), unshare, setns, mount, bpf, perf_event_open, userfaultfd, io_uring_setup, keyctl, add_key, request_key; clone."""
_CLONE3 = 435
_STAGE = "/tmp"  # noqa: S108 - a folder that is there everywhere; what is mounted over it is seen by this process alone


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    done = _libc().mount(source.encode(), target.encode(), kind and kind.encode(), flags, data.encode() or None)
    _checked(done, f"mount {target}")


def enter(config: dict[str, Any]) -> None:
    """Go behind the walls and come back as the first process there, without any right left.

    The process that was started stays outside and ends as that one does. Root builds the walls as root and gives up
    its number after that; anybody else builds them in a user namespace. Raises `OSError` where neither can be.
    """
    libc = _libc()
    libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    rooted = os.getuid() == 0 and libc.unshare(_ALL) == 0
    if not rooted:
        _become_nobody()
        _unshare_user(_ALL)
    if child := os.fork():
        _end_like(child)
    libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _build(config, f",uid={_NOBODY},gid={_NOBODY}" if rooted else "")
    _loopback()
    if rooted:
        _become_nobody()
        with contextlib.suppress(OSError):  # a namespace of its own, in which there are no further ones
            _unshare_user(0)
    with contextlib.suppress(OSError), open("/proc/sys/user/max_user_namespaces", "w") as stream:  # noqa: PTH123
        stream.write("0")
    give_up()
    libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _become_nobody() -> None:
    """Take another number than root's, which has powers without any capability: files of root, /proc/sys."""
    if os.getuid() == 0:
        libc = _libc()
        for number in range(64):
            libc.prctl(_CAPBSET_DROP, number, 0, 0, 0)
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        libc.prctl(_DUMPABLE, 1, 0, 0, 0)


def _unshare_user(flags: int) -> None:
    user, group = os.getuid(), os.getgid()
    _checked(_libc().unshare(_NEWUSER | flags), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w") as stream:  # noqa: PTH123 - a bare interpreter loads nothing more
            stream.write(text)


def _end_like(child: int) -> None:
    for number in (0, 1):
        os.close(number)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _build(config: dict[str, Any], owner: str) -> None:
    """Make a root of its own: what is lent, read-only; a few devices; the workspace and /tmp, of a bounded size."""
    _mount("none", "/", None, _REC | _PRIVATE)
    lent = [(os.open(path, os.O_PATH), target) for path, target in config["lend"]]
    _mount("tmpfs", _STAGE, "tmpfs", _NOSUID | _NODEV, "size=16m,mode=755,nr_inodes=4096")
    for target, size in config["writable"]:
        os.makedirs(f"{_STAGE}{target}", exist_ok=True)  # noqa: PTH103
        _mount("tmpfs", f"{_STAGE}{target}", "tmpfs", _NOSUID | _NODEV, f"size={size},mode=755,nr_inodes=100000{owner}")
    for descriptor, target in lent:
        _lend(descriptor, f"{_STAGE}{target}")
        os.close(descriptor)
    for target, link in config["links"]:
        os.symlink(link, f"{_STAGE}{target}")  # noqa: PTH211
    for target, text in config["files"]:
        os.makedirs(os.path.dirname(f"{_STAGE}{target}"), exist_ok=True)  # noqa: PTH103, PTH120
        with open(f"{_STAGE}{target}", "w") as stream:  # noqa: PTH123
            stream.write(text)
        os.chmod(f"{_STAGE}{target}", 0o755)  # noqa: PTH101, S103
    os.makedirs(f"{_STAGE}/proc", exist_ok=True)  # noqa: PTH103
    with contextlib.suppress(OSError):  # inside of a container that hides parts of it there is none
        _mount("proc", f"{_STAGE}/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    os.mkdir(f"{_STAGE}/.old")  # noqa: PTH102
    libc = _libc()
    _checked(libc.pivot_root(_STAGE.encode(), f"{_STAGE}/.old".encode()), "pivot_root")
    os.chdir("/")
    _checked(libc.umount2(b"/.old", _DETACH), "umount")
    os.rmdir("/.old")  # noqa: PTH106
    _mount("none", "/", None, _REMOUNT | _RDONLY | _NOSUID | _NODEV)


def _lend(descriptor: int, target: str) -> None:
    source = f"/proc/self/fd/{descriptor}"
    if os.path.isdir(source):  # noqa: PTH112
        os.makedirs(target, exist_ok=True)  # noqa: PTH103
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    _mount(source, target, None, _BIND | _REC)
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as stream:  # noqa: PTH123
        places = [line.split(" ")[4].encode().decode("unicode_escape") for line in stream]
    device = target.startswith(f"{_STAGE}/dev/")
    for place in places:
        if place == target or place.startswith(f"{target}/"):
            now = os.statvfs(place).f_flag
            kept = sum(flag for bit, flag in _KEPT.items() if now & bit)
            _mount("none", place, None, _BIND | _REMOUNT | kept | _NOSUID | (_NOEXEC if device else _RDONLY | _NODEV))


def _loopback() -> None:
    """Turn on the loopback interface, the only one there is."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        request = struct.pack("16sh14x", b"lo", 1)
        fcntl.ioctl(one.fileno(), 0x8914, request)


def _filter_calls() -> None:
    """Refuse the system calls that hold memory out of sight, make namespaces, or that no command of a log needs."""
    if os.uname().machine not in _MACHINES:
        return
    mark, refused, clone = _MACHINES[os.uname().machine]
    load, equal, above, bits, done = 0x20, 0x15, 0x35, 0x45, 0x06
    tail = [
        (equal, 0, 1, _CLONE3), (done, 0, 0, 0x50000 | errno.ENOSYS),  # the C library then takes clone
        (equal, 0, 2, clone), (load, 0, 0, 16), (bits, 1, 0, _NEWUSER),
        (done, 0, 0, 0x7FFF0000), (done, 0, 0, 0x50000 | errno.EPERM),
    ]  # fmt: skip
    count = len(refused) + len(tail)
    rows = [(load, 0, 0, 4), (equal, 0, count + 1, mark), (load, 0, 0, 0), (above, count - 1, 0, 0x40000000)]
    rows += [(equal, count - 2 - place, 0, number) for place, number in enumerate(refused)]
    program = b"".join(struct.pack("HBBI", *row) for row in (*rows, *tail))
    held = ctypes.create_string_buffer(program)
    whole = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(held))
    _checked(_libc().prctl(_SECCOMP, 2, ctypes.c_char_p(whole), 0, 0), "seccomp")


def give_up() -> None:
    """Give up every capability for good, and let nobody look into this process."""
    libc = _libc()
    libc.prctl(_CAP_AMBIENT, 4, 0, 0, 0)
    number = 0
    while libc.prctl(_CAPBSET_DROP, number, 0, 0, 0) == 0:
        number += 1
    header, nothing = struct.pack("=Ii", 0x20080522, 0), bytes(24)
    _checked(libc.capset(header, nothing), "capset")
    _checked(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    _filter_calls()
    libc.prctl(_DUMPABLE, 0, 0, 0, 0)
    if libc.prctl(_CAPBSET_DROP, 0, 0, 0, 0) == 0:
        raise OSError(errno.EPERM, "capabilities are still there")
