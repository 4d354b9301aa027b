"""Limits on requests: a bucket that fills again, a sliding window, rules by prefix, and the answer's headers."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_BUCKET = '''"""A bucket that fills again. Times are seconds that the caller gives."""


class Bucket:
    def __init__(self, size, rate):
        if size <= 0 or rate <= 0:
            raise ValueError("size and rate have to be above 0")
        self.size = size
        self.rate = rate
        self.level = size
        self.at = None

    def take(self, now, cost=1):
        """Take `cost` out; False, and nothing is taken, when there is not so much."""
        self._fill(now)
        if cost > self.level:
            return False
        self.level -= cost
        return True

    def wait(self, now, cost=1):
        """Return the seconds until `cost` could be taken; None when it never can."""
        if cost > self.size:
            return None
        self._fill(now)
        return max(0, (cost - self.level) / self.rate)

    def _fill(self, now):
        if self.at is not None and now > self.at:
            self.level = min(self.size, self.level + (now - self.at) * self.rate)
        self.at = now if self.at is None else max(self.at, now)
'''

_WINDOW = '''"""At most so many in any stretch of time."""

from collections import deque


class Window:
    def __init__(self, most, seconds):
        self.most = most
        self.seconds = seconds
        self.times = deque()

    def take(self, now):
        """Count one; False when there were too many in the last seconds. A refused one is not counted."""
        while self.times and self.times[0] <= now - self.seconds:
            self.times.popleft()
        if len(self.times) >= self.most:
            return False
        self.times.append(now)
        return True
'''

_RULES = '''"""Which limit holds for which @thing@."""

from @pkg@.bucket import Bucket


class Limiter:
    """`rules` maps a prefix of a path to (size, rate); the longest that fits holds, each client has its own bucket."""

    def __init__(self, rules, most_clients=1000):
        self.rules = dict(rules)
        self.most_clients = most_clients
        self.buckets = {}

    def allow(self, client, path, now, cost=1):
        """Say whether a client may do this now. What no rule is for is always allowed."""
        bucket = self.bucket(client, path)
        return bucket is None or bucket.take(now, cost)

    def bucket(self, client, path):
        """Return the bucket that holds, None where no rule fits."""
        fitting = [prefix for prefix in self.rules if path.startswith(prefix)]
        if not fitting:
            return None
        prefix = max(fitting, key=len)
        name = client, prefix
        found = self.buckets.pop(name, None) or Bucket(*self.rules[prefix])
        self.buckets[name] = found
        while len(self.buckets) > self.most_clients:
            del self.buckets[next(iter(self.buckets))]
        return found
'''

_HEADERS = '''"""What the answer says of limits."""

import math


def headers(bucket, now, cost=1):
    """Return names and values; Retry-After, in whole seconds, only where one has to wait."""
    found = {"RateLimit-Limit": str(int(bucket.size)), "RateLimit-Remaining": str(int(bucket.level))}
    wait = bucket.wait(now, cost)
    if wait:
        found["Retry-After"] = str(math.ceil(wait))
    return found
'''

_TESTS = """import unittest

from @pkg@.bucket import Bucket
from @pkg@.rules import Limiter
from @pkg@.window import Window


class Limits(unittest.TestCase):
    def test_a_bucket_empties(self):
        bucket = Bucket(2, 1)
        self.assertEqual([bucket.take(0), bucket.take(0), bucket.take(0)], [True, True, False])

    def test_it_fills_again(self):
        bucket = Bucket(1, 1)
        bucket.take(0)
        self.assertTrue(bucket.take(2))

    def test_a_window_is_full(self):
        window = Window(1, 10)
        self.assertEqual([window.take(0), window.take(1)], [True, False])

    def test_no_rule(self):
        self.assertTrue(Limiter({}).allow("ann", "/x", 0))


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="limits",
    task="@pkg@ limits how often a @thing@ is asked for. From the reports of the last weeks:",
    files={
        "@pkg@/bucket.py": _BUCKET,
        "@pkg@/window.py": _WINDOW,
        "@pkg@/rules.py": _RULES,
        "@pkg@/headers.py": _HEADERS,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nLimits for each @thing@: a bucket fills with `rate` a second up to `size`. The rule "
                     "with the\n"
        "longest prefix holds. A refused request costs nothing. Clocks may go backwards.\n",
    },
    header="import unittest\n\nfrom @pkg@.bucket import Bucket\nfrom @pkg@.rules import Limiter\nfrom @pkg@.window "
           "import Window\n",
    keep='''
    def test_half_a_second(self):
        bucket = Bucket(4, 2)
        bucket.take(0, 4)
        self.assertEqual([bucket.take(0.5), bucket.take(0.5)], [True, False])

    def test_window_moves(self):
        window = Window(2, 10)
        self.assertEqual([window.take(t) for t in (0, 5, 11, 12)], [True, True, True, False])
''',
    defects=(
        Defect(
            id="overflow", title="never fill above the size", slip="Simplify how buckets fill",
            ask="After a quiet night buckets hold far more than their size. They may never be fuller than that.",
            swaps=(Swap("@pkg@/bucket.py", "self.level = self.level + (now - self.at) * self.rate",
                        "self.level = min(self.size, self.level + (now - self.at) * self.rate)"),),
            hidden='''
    def test_overflow(self):
        bucket = Bucket(2, 1)
        bucket.take(0)
        self.assertEqual([bucket.take(1000) for _ in range(3)], [True, True, False])
''',
        ),
        Defect(
            id="backwards", title="bear clocks that go backwards",
            ask="When the clock goes backwards, buckets lose what they hold, or fill twice. The level may not change "
                "then.",
            swaps=(
                Swap("@pkg@/bucket.py", "if self.at is not None:", "if self.at is not None and now > self.at:"),
                Swap("@pkg@/bucket.py", "        self.at = now\n",
                     "        self.at = now if self.at is None else max(self.at, now)\n"),
            ),
            hidden='''
    def test_backwards(self):
        bucket = Bucket(10, 1)
        bucket.take(100, 5)
        self.assertTrue(bucket.take(90, 5))
        self.assertFalse(bucket.take(100, 1))
''',
        ),
        Defect(
            id="positive", title="refuse senseless sizes",
            ask="A size or a rate of 0 or less is a mistake: ValueError.",
            swaps=(Swap("@pkg@/bucket.py", "        self.size = size\n", "        if size <= 0 or rate <= 0:\n"
                        '            raise ValueError("size and rate have to be above 0")\n'
                        "        self.size = size\n"),),
            wrong=(Swap("@pkg@/bucket.py", "        self.size = size\n", "        if size <= 0 and rate <= 0:\n"
                        '            raise ValueError("size and rate have to be above 0")\n'
                        "        self.size = size\n"),),
            hidden='''
    def test_positive(self):
        for size, rate in ((0, 1), (1, 0), (-1, -1)):
            with self.assertRaises(ValueError):
                Bucket(size, rate)
''',
        ),
        Defect(
            id="wait", title="say how long to wait",
            ask="Add `Bucket.wait(now, cost=1)`: the seconds until so much could be taken, 0 when it can be now, None "
                "when it "
            "never can. Nothing is taken.",
            swaps=(Swap("@pkg@/bucket.py", "    def _fill", "    def wait(self, now, cost=1):\n"
                        '        """Return the seconds until `cost` could be taken; None when it never can."""\n'
                        "        if cost > self.size:\n            return None\n        self._fill(now)\n"
                        "        return max(0, (cost - self.level) / self.rate)\n\n    def _fill"),),
            wrong=(Swap("@pkg@/bucket.py", "    def _fill", "    def wait(self, now, cost=1):\n"
                        '        """Return the seconds until `cost` could be taken."""\n'
                        "        self._fill(now)\n"
                        "        return (cost - self.level) / self.rate\n\n    def _fill"),),
            hidden='''
    def test_wait(self):
        bucket = Bucket(4, 2)
        bucket.take(0, 4)
        self.assertEqual([bucket.wait(0, 3), bucket.wait(10, 3), bucket.wait(10, 5)], [1.5, 0, None])
''',
        ),
        Defect(
            id="headers", title="tell the client", after=("wait",),
            ask="Write @pkg@/headers.py: `headers(bucket, now, cost=1)` returns RateLimit-Limit, RateLimit-Remaining "
                "(whole "
            "numbers, as text) and, only where one has to wait, Retry-After in seconds, rounded up.",
            swaps=(Swap("@pkg@/headers.py", "", _HEADERS),),
            hidden='''
    def test_headers(self):
        from @pkg@.headers import headers
        bucket = Bucket(4, 2)
        bucket.take(0, 3)
        found = headers(bucket, 0, 2)
        self.assertEqual(found, {"RateLimit-Limit": "4", "RateLimit-Remaining": "1", "Retry-After": "1"})
        self.assertNotIn("Retry-After", headers(bucket, 60))
''',
        ),
        Defect(
            id="refused", title="count no refused ones",
            ask="Whoever asks too often never gets through again: refused requests "
            "are counted in windows. They may not be.",
            swaps=(Swap("@pkg@/window.py", "        self.times.append(now)\n        if len(self.times) > self.most:\n"
                        "            return False\n        return True\n",
                        "        if len(self.times) >= self.most:\n            return False\n"
                        "        self.times.append(now)\n        return True\n"),),
            hidden='''
    def test_refused(self):
        window = Window(1, 10)
        self.assertEqual([window.take(t) for t in (0, 8, 12)], [True, False, True])
''',
        ),
        Defect(
            id="longest", title="let the longest prefix hold",
            ask="Of several rules that fit, the one with the longest prefix "
            "holds, wherever it stands.",
            swaps=(Swap("@pkg@/rules.py", "prefix = fitting[0]", "prefix = max(fitting, key=len)"),),
            wrong=(Swap("@pkg@/rules.py", "prefix = fitting[0]", "prefix = min(fitting, key=len)"),),
            hidden='''
    def test_longest(self):
        limiter = Limiter({"/b": (5, 1), "/": (9, 1), "/a/long": (1, 1), "/a": (7, 1)})
        self.assertEqual(limiter.bucket("x", "/a/long/way").size, 1)
        self.assertEqual(limiter.bucket("x", "/b/c").size, 5)
        self.assertEqual(Limiter({"/": (9, 1), "/b": (5, 1)}).bucket("x", "/b").size, 5)
''',
        ),
        Defect(
            id="clients", title="forget clients",
            ask="Memory grows with every client. Keep `most_clients` buckets at most; the "
            "one that was not used for longest goes.",
            swaps=(Swap("@pkg@/rules.py", "        found = self.buckets.get(name) or Bucket(*self.rules[prefix])\n    "
                                          "    self.buckets[name] = found\n",
                        "        found = self.buckets.pop(name, None) or Bucket(*self.rules[prefix])\n"
                        "        self.buckets[name] = found\n        while len(self.buckets) > self.most_clients:\n"
                        "            del self.buckets[next(iter(self.buckets))]\n"),),
            wrong=(Swap("@pkg@/rules.py", "        found = self.buckets.get(name) or Bucket(*self.rules[prefix])\n    "
                                          "    self.buckets[name] = found\n",
                        "        found = self.buckets.get(name) or Bucket(*self.rules[prefix])\n"
                        "        self.buckets[name] = found\n        while len(self.buckets) > self.most_clients:\n"
                        "            del self.buckets[next(iter(self.buckets))]\n"),),
            hidden='''
    def test_clients(self):
        limiter = Limiter({"/": (2, 1)}, most_clients=2)
        for client in "abac":
            limiter.bucket(client, "/")
        self.assertEqual([client for client, _ in limiter.buckets], ["a", "c"])
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "gatekeeper", "thing": "page"}, defects=("overflow", "refused", "longest"),
                mess=("todo",)),
        Variant(id="b", names={"pkg": "doorman", "thing": "room"}, defects=("wait", "headers", "positive", "clients"),
                mess=("decision",), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "slowlane", "thing": "file"}, defects=("backwards", "clients", "refused"),
                mess=("pin", "expected"), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "quotas", "thing": "search"},
                defects=("positive", "backwards", "longest", "wait", "headers"),
                mess=("decision", "todo"), shape="edge/@pkg@/"),
    ),
    todo=("@pkg@/rules.py", "        name = client, prefix", "one bucket for all clients would be enough"),
    decision="Times are given by the caller, in seconds; time.monotonic is called at one place only, in the server.",
    trap=Swap("@pkg@/bucket.py", "        if cost > self.level + 1:", "        if cost > self.level:"),
)  # fmt: skip
