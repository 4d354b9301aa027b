"""Many processes wrap, supersede, archive and restore in one repository at once; afterwards everything must be there.

    python tests/store/lifecycle_load.py [OPERATIONS] [PROCESSES] [SEED]

Prints one line of JSON and exits with 1 when a packet was lost, two are active at once, or a file cannot be read.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOPICS = ("api", "docs", "limits")


def git(root: Path, *arguments: str) -> None:
    """Run git."""
    name = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)


def make_repository(root: Path) -> None:
    """A repository on a branch with one commit of work."""
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("a\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "start")
    git(root, "switch", "-q", "-c", "feat/load")
    (root / "a.txt").write_text("b\n")
    git(root, "commit", "-q", "-a", "-m", "work")


class Worker:
    """One process: it wraps, archives, takes back and restores, in an order of its own."""

    def __init__(self, root: Path, number: int) -> None:
        from passdown.handoff.draft import draft
        from passdown.handoff.options import Options
        from passdown.handoff.shelves import place_of

        self.random = random.Random(number)
        self.number, self.root = number, root
        self.drafted = draft(root, Options(interim=True))
        self.place = place_of(root)
        self.written: set[str] = set()
        words = ("wrap", "back", "again", "archive", "undo", "sweep", "restore", "refused")
        self.counts = dict.fromkeys(words, 0)

    def run(self, operations: int) -> None:
        """Do so many operations."""
        words = ["wrap"] * 3 + ["back"] + ["again"] * 7 + ["archive"] * 14 + ["undo"] * 12 + ["restore"] + ["sweep"]
        for at in range(operations):
            word = self.random.choice(words) if self.written else "wrap"
            if word == "wrap":
                self.wrap(f"step {at} of process {self.number}", self.random.choice(TOPICS))
            else:
                getattr(self, word)()
            self.counts[word] += 1

    def wrap(self, summary: str, topic: str, *, local: bool | None = None) -> None:
        """Publish a packet over the active one of its topic, as often as somebody else was faster."""
        from msgspec import structs

        from passdown.errors import ConflictError
        from passdown.handoff.gather import previous_packet
        from passdown.handoff.publish import publish
        from passdown.io.files import read_bounded
        from passdown.packet.encode import decode_packet, encode_packet
        from passdown.packet.identity import packet_id, same_content
        from passdown.store.shelves import read_store

        while True:
            before = previous_packet(read_store(self.place.shelves).packets, self.place.branch, topic)
            data = read_bounded(before.path, 1 << 20) if before else b""
            previous = decode_packet(data) if before else None
            said = summary or (previous.summary if previous else "nothing yet")
            packet = structs.replace(self.drafted.packet, summary=said, topic=topic, supersedes=None)
            packet = structs.replace(packet, packet_id=packet_id(packet))
            same = before is not None and previous is not None and same_content(packet, previous)
            if previous is not None:
                packet = previous if same else structs.replace(packet, supersedes=previous.packet_id)
            gathered = structs.replace(
                self.drafted.gathered, topic=topic, previous=previous, previous_path=before.path if before else None,
                previous_json=data,
            )  # fmt: skip
            drafted = structs.replace(
                self.drafted, gathered=gathered, packet=packet, json=data if same else encode_packet(packet),
                same_as=before.path if same and before else None,
            )  # fmt: skip
            try:
                local = self.random.random() < 0.3 if local is None else local
                self.written.add(publish(drafted, local=local).packet.packet_id)
            except ConflictError as error:
                if "in the meantime" not in error.what and "is writing here" not in error.what:
                    raise
                self.counts["refused"] += 1
            else:
                return

    def back(self) -> None:
        """Wrap a content that was there before, as when an edit is taken back."""
        self.wrap(f"step {self.random.randrange(3)} of process {self.number}", self.random.choice(TOPICS))

    def again(self) -> None:
        """Wrap what the active packet says already; one on the local shelf is promoted."""
        self.wrap("", self.random.choice(TOPICS), local=False)

    def archive(self) -> None:
        """Archive a packet that this process wrote."""
        from passdown.handoff.archive import archive

        self._once_free(lambda: archive(self.root, [self.random.choice(sorted(self.written))]))

    def undo(self) -> None:
        """Take an archiving back."""
        from passdown.handoff.archive import archive

        self._once_free(lambda: archive(self.root, [self.random.choice(sorted(self.written))], undo=True))

    def sweep(self) -> None:
        """Archive all that is superseded."""
        from passdown.handoff.archive import archive

        self._once_free(lambda: archive(self.root, all_superseded=True))

    def restore(self) -> None:
        """Make an old packet active again."""
        from passdown.handoff.restore import restore

        done = self._once_free(lambda: restore(self.root, self.random.choice(sorted(self.written))))
        self.written.add(done.packet.packet_id)

    def _once_free(self, act: Callable[[], Any]) -> Any:
        """Act; wait longer where the lock was never free, and leave it where another packet is in the way."""
        from passdown.errors import ConflictError

        while True:
            try:
                return act()
            except ConflictError as error:
                self.counts["refused"] += 1
                if "would be active beside" in error.what:
                    return None
                if "is writing here" not in error.what:
                    raise


def judge(root: Path, written: set[str]) -> list[str]:
    """Return what is wrong with the store: nothing, one hopes."""
    from passdown.handoff.shelves import place_of
    from passdown.io.files import read_bounded
    from passdown.packet.encode import decode_plain
    from passdown.packet.identity import packet_id
    from passdown.store.chain import Chain, conflicts, heads
    from passdown.store.shelves import read_store

    place = place_of(root)
    store = read_store(place.shelves)
    wrong = [f"{finding.code}: {finding.detail}" for finding in store.findings]
    wrong += [f"left behind: {path}" for path in store.leftovers]
    wrong += [f"lost: {name}" for name in sorted(written - {packet.packet_id for packet in store.packets})]
    wrong += [f"several active: {group[0].head.topic}" for group in conflicts(heads(store.packets, place.branch))]
    chain = Chain(store.packets)
    for packet in store.packets:
        if packet.packet_id in chain.ancestors(packet.head.behind()):
            wrong.append(f"a circle at {packet.packet_id}")
        for path in (packet.path, *packet.copies):
            if packet_id(decode_plain(read_bounded(path, 1 << 20))) != packet.packet_id:
                wrong.append(f"not what its id says: {path}")
    return wrong


def main(operations: int, processes: int, seed: int) -> int:
    """Run the load and print what came of it."""
    began = time.monotonic()
    # In memory where there is such a place: what is tested is what processes see of each other, not the disk.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        root = Path(folder).resolve()
        make_repository(root)
        workers = [_start(root, seed * processes + number, operations // processes) for number in range(processes)]
        results = [json.loads(worker.communicate()[0] or b"{}") for worker in workers]
        failed = [worker.returncode for worker in workers if worker.returncode]
        written = {name for result in results for name in result.get("written", [])}
        wrong = [f"process exited with {code}" for code in failed] + judge(root, written)
    counts: dict[str, int] = {}
    for result in results:
        for word, count in result.get("counts", {}).items():
            counts[word] = counts.get(word, 0) + count
    report: dict[str, Any] = {
        "operations": sum(count for word, count in counts.items() if word != "refused"), "processes": processes,
        "counts": counts, "packets": len(written), "cpu_s": round(sum(os.times()[:4]), 1),
        "wall_s": round(time.monotonic() - began, 1), "wrong": wrong[:20],
    }  # fmt: skip
    print(json.dumps(report))
    return 1 if wrong else 0


def _start(root: Path, number: int, operations: int) -> subprocess.Popen[bytes]:
    words = [sys.executable, str(Path(__file__).resolve()), "--worker", str(root), str(number), str(operations)]
    return subprocess.Popen(words, stdout=subprocess.PIPE)


def work(root: Path, number: int, operations: int) -> None:
    """Be one of the processes."""
    worker = Worker(root, number)
    worker.run(operations)
    print(json.dumps({"written": sorted(worker.written), "counts": worker.counts}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
    else:
        operations, processes, seed = [*map(int, sys.argv[1:4]), *(8000, 8, 0)[len(sys.argv) - 1 :]]
        sys.exit(main(operations, processes, seed))
