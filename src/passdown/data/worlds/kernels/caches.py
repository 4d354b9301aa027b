"""A cache: the least recently used value goes first, values can expire, a decorator and numbers on top."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_STORE = '''"""Keep @thing@s, at most so many; the one that was not used for longest goes first."""


class Store:
    """`clock` is a function that returns the seconds."""

    def __init__(self, capacity, clock):
        if capacity < 1:
            raise ValueError("capacity has to be at least 1")
        self.capacity = capacity
        self.clock = clock
        self.items = {}
        self.hits = self.misses = 0

    def get(self, key, default=None):
        entry = self.items.get(key)
        if entry is None or self._expired(entry):
            self.items.pop(key, None)
            self.misses += 1
            return default
        self.hits += 1
        self.items[key] = self.items.pop(key)
        return entry[0]

    def put(self, key, value, ttl=None):
        self.items.pop(key, None)
        expires = None if ttl is None else self.clock() + ttl
        self.items[key] = (value, expires)
        while len(self.items) > self.capacity:
            del self.items[next(iter(self.items))]

    def __contains__(self, key):
        return key in self.items and not self._expired(self.items[key])

    def __len__(self):
        return sum(not self._expired(entry) for entry in self.items.values())

    def _expired(self, entry):
        return entry[1] is not None and entry[1] <= self.clock()
'''

_MEMO = '''"""Remember what a function returned."""

import functools

_MISSING = object()


def memo(store):
    """Return a decorator that keeps results in `store`."""

    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            key = (function.__qualname__, args, tuple(sorted(kwargs.items())))
            found = store.get(key, _MISSING)
            if found is _MISSING:
                found = function(*args, **kwargs)
                store.put(key, found)
            return found

        return call

    return wrap
'''

_NUMBERS = '''"""Say how well the store of @thing@s does."""


def ratio(store):
    """Return the share of hits, 0..1."""
    total = store.hits + store.misses
    if not total:
        return 0.0
    return store.hits / total


def report(store):
    """Return one line for people."""
    return f"{len(store)}/{store.capacity} @thing@s, {ratio(store):.0%} hits"
'''

_TESTS = """import unittest

from @pkg@.memo import memo
from @pkg@.store import Store


class Storing(unittest.TestCase):
    def setUp(self):
        self.now = 0
        self.store = Store(2, lambda: self.now)

    def test_what_was_put_is_there(self):
        self.store.put("a", 1)
        self.assertEqual(self.store.get("a"), 1)
        self.assertIsNone(self.store.get("b"))

    def test_the_first_goes_when_it_is_full(self):
        for key in "abc":
            self.store.put(key, key)
        self.assertNotIn("a", self.store)
        self.assertIn("c", self.store)

    def test_a_function_is_called_once(self):
        calls = []
        double = memo(self.store)(lambda x: calls.append(x) or x * 2)
        self.assertEqual([double(3), double(3)], [6, 6])
        self.assertEqual(calls, [3])


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="caches",
    task="The package @pkg@ caches @thing@s. These points are open; please work through them.",
    files={
        "@pkg@/store.py": _STORE,
        "@pkg@/memo.py": _MEMO,
        "@pkg@/numbers.py": _NUMBERS,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nA cache of @thing@s. `Store(capacity, clock)` keeps them, `memo(store)` decorates a\n"
        "function, `report(store)` in numbers.py tells how well it does.\n",
    },
    header="import unittest\n\nfrom @pkg@.memo import memo\nfrom @pkg@.store import Store\n\n\n"
    "def made(capacity=3):\n    now = [0]\n    return Store(capacity, lambda: now[0]), now\n",
    keep='''
    def test_default(self):
        store, now = made()
        self.assertEqual(store.get("x", 7), 7)
        self.assertEqual(store.misses, 1)

    def test_no_ttl_never_expires(self):
        store, now = made()
        store.put("a", 1)
        now[0] = 10**9
        self.assertEqual(store.get("a"), 1)
''',
    defects=(
        Defect(
            id="capacity", title="refuse a capacity below 1", ask="`Store(0, clock)` makes no sense: raise ValueError.",
            swaps=(Swap("@pkg@/store.py", "        self.capacity = capacity\n", "        if capacity < 1:\n"
                        '            raise ValueError("capacity has to be at least 1")\n'
                        "        self.capacity = capacity\n"),),
            hidden='''
    def test_capacity(self):
        for wrong in (0, -1):
            with self.assertRaises(ValueError):
                made(wrong)
''',
        ),
        Defect(
            id="recency", title="count reading as use", slip="Reading leaves the order alone",
            ask="Reading has to count as use: what was read last goes last.",
            swaps=(Swap("@pkg@/store.py", "        self.hits += 1\n", "        self.hits += 1\n"
                        "        self.items[key] = self.items.pop(key)\n"),),
            hidden='''
    def test_recency(self):
        store, now = made(2)
        store.put("a", 1)
        store.put("b", 2)
        store.get("a")
        store.put("c", 3)
        self.assertIn("a", store)
        self.assertNotIn("b", store)
''',
        ),
        Defect(
            id="again", title="count writing again as use",
            ask="What is put again counts as new: it may not be the next one to go.",
            swaps=(Swap("@pkg@/store.py", "        expires = None if",
                        "        self.items.pop(key, None)\n        expires = None if"),),
            hidden='''
    def test_again(self):
        store, now = made(2)
        store.put("a", 1)
        store.put("b", 2)
        store.put("a", 3)
        store.put("c", 4)
        self.assertIn("a", store)
        self.assertNotIn("b", store)
''',
        ),
        Defect(
            id="edge", title="expire at the last second",
            ask="With a ttl of 5, what is put at 0 is there until 5, and at 5 it is gone.",
            swaps=(Swap("@pkg@/store.py", "entry[1] < self.clock()", "entry[1] <= self.clock()"),),
            wrong=(Swap("@pkg@/store.py", "entry[1] < self.clock()", "entry[1] < self.clock() - 1"),),
            hidden='''
    def test_edge(self):
        store, now = made()
        store.put("a", 1, ttl=5)
        now[0] = 4.9
        self.assertIn("a", store)
        now[0] = 5
        self.assertNotIn("a", store)
''',
        ),
        Defect(
            id="length", title="leave expired ones out of the length", after=("edge",),
            ask="`len(store)` counts what can still be read, not what has expired.",
            swaps=(Swap("@pkg@/store.py", "return len(self.items)",
                        "return sum(not self._expired(entry) for entry in self.items.values())"),),
            hidden='''
    def test_length(self):
        store, now = made()
        store.put("a", 1, ttl=5)
        store.put("b", 1)
        now[0] = 6
        self.assertEqual(len(store), 1)
''',
        ),
        Defect(
            id="keywords", title="tell keyword arguments apart",
            ask="`memo` mixes up calls that differ only in keyword arguments; their order may not matter.",
            swaps=(Swap("@pkg@/memo.py", "args)\n            found", "args, tuple(sorted(kwargs.items())))\n"
                        "            found"),),
            wrong=(Swap("@pkg@/memo.py", "args)\n            found", "args, tuple(kwargs.items()))\n"
                        "            found"),),
            hidden='''
    def test_keywords(self):
        store, now = made()
        calls = []
        both = memo(store)(lambda **names: calls.append(names) or sum(names.values()))
        self.assertEqual((both(a=1, b=2), both(a=2, b=2)), (3, 4))
        self.assertEqual((both(b=2, a=1), len(calls)), (3, 2))
''',
        ),
        Defect(
            id="none", title="remember None as well", ask="A function that returns None is called every time. Keep it.",
            swaps=(
                Swap("@pkg@/memo.py", "import functools\n", "import functools\n\n_MISSING = object()\n"),
                Swap("@pkg@/memo.py", "store.get(key)\n            if found is None:",
                     "store.get(key, _MISSING)\n            if found is _MISSING:"),
            ),
            hidden='''
    def test_none(self):
        store, now = made()
        calls = []
        nothing = memo(store)(lambda: calls.append(1))
        nothing()
        nothing()
        self.assertEqual(calls, [1])
''',
        ),
        Defect(
            id="numbers", title="report the numbers",
            ask="@pkg@/numbers.py is missing: `ratio(store)` is the share of hits (0.0 before the first look), "
            "`report(store)` a line such as `2/10 @thing@s, 50% hits`.",
            swaps=(Swap("@pkg@/numbers.py", "", _NUMBERS),),
            hidden='''
    def test_numbers(self):
        from @pkg@.numbers import ratio, report
        store, now = made(10)
        self.assertEqual(ratio(store), 0.0)
        store.put("a", 1)
        store.put("b", 1)
        store.get("a")
        store.get("x")
        self.assertEqual(report(store), "2/10 @thing@s, 50% hits")
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "pagecache", "thing": "page"}, defects=("recency", "keywords", "edge", "length"),
                mess=("todo",)),
        Variant(id="b", names={"pkg": "thumbs", "thing": "thumbnail"}, defects=("capacity", "numbers", "none"),
                mess=("decision", "pin"), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "lookups", "thing": "answer"}, defects=("again", "recency", "none"),
                mess=("expected",), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "tilestore", "thing": "map tile"},
                defects=("edge", "capacity", "length", "keywords", "numbers"), mess=("todo", "decision"),
                shape="services/@pkg@/"),
    ),
    todo=("@pkg@/store.py", "        self.items = {}", "use an OrderedDict and move_to_end, plain dicts have no order"),
    decision="The clock is always given, never time.time: tests that slept took minutes.",
    trap=Swap("@pkg@/store.py", "if len(self.items) > self.capacity + 1:", "while len(self.items) > self.capacity:"),
)  # fmt: skip
