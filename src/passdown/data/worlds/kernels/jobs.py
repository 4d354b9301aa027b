"""A queue of jobs: priorities, delays, retries with growing waits, and leases that run out."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_JOB = '''"""One @thing@ that waits to be done."""


class Job:
    def __init__(self, name, priority=0, ready=0, tries=3):
        if tries < 1:
            raise ValueError("a job needs at least one try")
        self.name = name
        self.priority = priority
        self.ready = ready
        self.tries = tries
        self.failed = 0
        self.error = ""

    def __repr__(self):
        return f"<{self.name} {self.priority}>"
'''

_QUEUE = '''"""The queue of @thing@s. Times are seconds that the caller gives."""

import heapq

from @pkg@.backoff import wait


class Queue:
    def __init__(self, lease=60):
        self.heap = []
        self.count = 0
        self.lease = lease
        self.running = {}
        self.dead = []

    def put(self, job):
        """Add a job; a name can wait or run only once."""
        if job.name in self.running or any(job.name == other.name for *_, other in self.heap):
            raise ValueError(job.name + " is there already")
        self._push(job)

    def _push(self, job):
        self.count += 1
        heapq.heappush(self.heap, (-job.priority, self.count, job))

    def take(self, now):
        """Return the most urgent job that is ready, None when there is none. Equal ones in the order they came."""
        self._expire(now)
        later, found = [], None
        while self.heap and found is None:
            entry = heapq.heappop(self.heap)
            if entry[2].ready <= now:
                found = entry[2]
            else:
                later.append(entry)
        for entry in later:
            heapq.heappush(self.heap, entry)
        if found is not None:
            self.running[found.name] = (found, now + self.lease)
        return found

    def done(self, name):
        """A job was done."""
        del self.running[name]

    def fail(self, name, now, error=""):
        """A job failed: it comes back after a wait, or is dead when it has had its tries."""
        job, _ = self.running.pop(name)
        job.failed += 1
        job.error = error
        if job.failed >= job.tries:
            self.dead.append(job)
        else:
            job.ready = now + wait(job.failed)
            self._push(job)

    def _expire(self, now):
        for name, (_, until) in sorted(self.running.items()):
            if until <= now:
                self.fail(name, now, "lease ran out")

    def __len__(self):
        return len(self.heap)
'''

_BACKOFF = '''"""How long to wait after failures."""


def wait(failed, first=10, most=600):
    """Return seconds: twice as long after each failure, at most `most`."""
    return min(most, first * 2 ** (failed - 1))
'''

_STATUS = '''"""Tell people about the queue."""


def status(queue, now):
    """Return lines: what runs, what waits (the most urgent first), what is dead and why."""
    lines = [f"running {name}, {until - now} s left" for name, (_, until) in sorted(queue.running.items())]
    for _, _, job in sorted(queue.heap, key=lambda entry: entry[:2]):
        lines.append(f"waiting {job.name}" + (f", ready in {job.ready - now} s" if job.ready > now else ""))
    return lines + [f"dead {job.name}: {job.error or 'no reason'}" for job in queue.dead]
'''

_TESTS = """import unittest

from @pkg@.backoff import wait
from @pkg@.job import Job
from @pkg@.queue import Queue


class Queueing(unittest.TestCase):
    def test_urgent_first(self):
        queue = Queue()
        queue.put(Job("a"))
        queue.put(Job("b", priority=5))
        self.assertEqual(queue.take(0).name, "b")

    def test_nothing_to_take(self):
        self.assertIsNone(Queue().take(0))

    def test_a_failed_one_comes_back(self):
        queue = Queue()
        queue.put(Job("a"))
        queue.fail(queue.take(0).name, 0)
        self.assertEqual(queue.take(100).name, "a")

    def test_first_wait(self):
        self.assertEqual(wait(1), 10)


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="jobs",
    task="@pkg@ is the queue in which @thing@s wait to be done. After a bad night these were written down:",
    files={
        "@pkg@/backoff.py": _BACKOFF,
        "@pkg@/job.py": _JOB,
        "@pkg@/queue.py": _QUEUE,
        "@pkg@/status.py": _STATUS,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nA queue of @thing@s: the most urgent first, equal ones as they came. A failed one "
                     "waits 10, 20,\n"
        "40 ... seconds (at most 600) and is dead after its tries. A running one has a lease.\n",
    },
    header="import unittest\n\nfrom @pkg@.backoff import wait\nfrom @pkg@.job import Job\nfrom @pkg@.queue import "
           "Queue\n",
    keep='''
    def test_done_is_gone(self):
        queue = Queue()
        queue.put(Job("a"))
        queue.done(queue.take(0).name)
        self.assertIsNone(queue.take(10**6))

    def test_ready_later_keeps_its_place(self):
        queue = Queue()
        queue.put(Job("a", priority=9, ready=50))
        queue.put(Job("b"))
        self.assertEqual([queue.take(0).name, queue.take(50).name], ["b", "a"])
''',
    defects=(
        Defect(
            id="order", title="keep the order of equal ones", slip="What came last is what people look at",
            ask="Those @thing@s that have the same priority have to be taken in the order in which they came.",
            swaps=(Swap("@pkg@/queue.py", "(-job.priority, -self.count, job)", "(-job.priority, self.count, job)"),),
            hidden='''
    def test_order(self):
        queue = Queue()
        for name in "cab":
            queue.put(Job(name))
        self.assertEqual([queue.take(0).name for _ in "cab"], ["c", "a", "b"])
''',
        ),
        Defect(
            id="twice", title="refuse a name twice",
            ask="A name that waits or runs already may not be put again: ValueError.",
            swaps=(Swap("@pkg@/queue.py", "        self._push(job)\n\n    def _push",
                        "        if job.name in self.running or any(job.name == other.name for *_, other in "
                        "self.heap):\n"
                        '            raise ValueError(job.name + " is there already")\n'
                        "        self._push(job)\n\n    def _push"),),
            wrong=(Swap("@pkg@/queue.py", "        self._push(job)\n\n    def _push",
                        "        if any(job.name == other.name for *_, other in self.heap):\n"
                        '            raise ValueError(job.name + " is there already")\n'
                        "        self._push(job)\n\n    def _push"),),
            hidden='''
    def test_twice(self):
        queue = Queue()
        queue.put(Job("a"))
        for _ in range(2):
            with self.assertRaises(ValueError):
                queue.put(Job("a"))
            queue.take(0)
''',
        ),
        Defect(
            id="waits", title="wait longer each time",
            ask="The wait after a failure is always 10 seconds; it has to double, "
            "as the README says, and never be more than 600.",
            swaps=(Swap("@pkg@/backoff.py", "return min(most, first)", "return min(most, first * 2 ** (failed - 1))"),),
            wrong=(Swap("@pkg@/backoff.py", "return min(most, first)", "return min(most, first * failed)"),),
            hidden='''
    def test_waits(self):
        self.assertEqual([wait(n) for n in (1, 2, 3, 9)], [10, 20, 40, 600])
''',
        ),
        Defect(
            id="dead", title="give up in the end",
            ask="What has failed as often as it has tries goes to the list `dead`, with "
            "its last error, and does not come back.",
            swaps=(Swap("@pkg@/queue.py", "        job.failed += 1\n        job.ready = now + wait(job.failed)\n      "
                                          "  self._push(job)\n",
                        "        job.failed += 1\n        job.error = error\n        if job.failed >= job.tries:\n"
                        "            self.dead.append(job)\n        else:\n"
                        "            job.ready = now + wait(job.failed)\n            self._push(job)\n"),),
            hidden='''
    def test_dead(self):
        queue = Queue()
        queue.put(Job("a", tries=1))
        queue.fail(queue.take(0).name, 0, "broken")
        self.assertEqual([(job.name, job.error) for job in queue.dead], [("a", "broken")])
        self.assertIsNone(queue.take(10**6))
''',
        ),
        Defect(
            id="lease", title="take back what nobody finished",
            ask="What runs longer than the lease counts as failed when the next one is taken, with the error `lease "
                "ran out`.",
            swaps=(
                Swap("@pkg@/queue.py", "    def __len__", "    def _expire(self, now):\n"
                     "        for name, (_, until) in sorted(self.running.items()):\n            if until <= now:\n"
                     '                self.fail(name, now, "lease ran out")\n\n    def __len__'),
                Swap("@pkg@/queue.py", "        later, found =", "        self._expire(now)\n        later, found ="),
            ),
            hidden='''
    def test_lease(self):
        queue = Queue(lease=5)
        queue.put(Job("a"))
        queue.take(0)
        self.assertIsNone(queue.take(4))
        self.assertIsNone(queue.take(5))
        self.assertEqual(queue.take(5 + wait(1)).name, "a")
''',
        ),
        Defect(
            id="tries", title="refuse jobs without a try", ask="A job with less than one try is a mistake: ValueError.",
            swaps=(Swap("@pkg@/job.py", "        self.name = name\n", "        if tries < 1:\n"
                        '            raise ValueError("a job needs at least one try")\n        self.name = name\n'),),
            hidden='''
    def test_tries(self):
        with self.assertRaises(ValueError):
            Job("a", tries=0)
''',
        ),
        Defect(
            id="status", title="tell how things stand", after=("dead",),
            ask="Write @pkg@/status.py: `status(queue, now)` returns lines `running NAME, 5 s left` (by name), "
                "`waiting NAME` "
            "(the most urgent first; `, ready in 10 s` where it is not ready), `dead NAME: error` (or `no reason`).",
            swaps=(Swap("@pkg@/status.py", "", _STATUS),),
            hidden='''
    def test_status(self):
        from @pkg@.status import status
        queue = Queue(lease=60)
        for name, ready in (("a", 0), ("b", 0), ("c", 25)):
            queue.put(Job(name, priority=-ord(name), ready=ready, tries=5))
        queue.take(0)
        self.assertEqual(status(queue, 10), ["running a, 50 s left", "waiting b", "waiting c, ready in 15 s"])
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "printshop", "thing": "print job"}, defects=("order", "waits", "dead", "status"),
                mess=("todo",)),
        Variant(id="b", names={"pkg": "mailer", "thing": "mail"}, defects=("twice", "lease", "tries"),
                mess=("decision", "pin"), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "renders", "thing": "render"}, defects=("waits", "tries", "order", "lease"),
                mess=("expected",), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "backups", "thing": "backup"}, defects=("dead", "twice", "status"),
                mess=("todo", "decision"), shape="daemon/@pkg@/"),
    ),
    todo=("@pkg@/queue.py", "        later, found =", "a plain list and min() would do"),
    decision="Times are given by the caller. Nothing in here sleeps or looks at a clock.",
    trap=Swap("@pkg@/queue.py", "        if found is None:\n            self.running[found",
              "        if found is not None:\n            self.running[found"),
)  # fmt: skip
