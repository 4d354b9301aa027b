"""Tasks that depend on each other: read from text, put in order, cycles told, the longest chain, a drawing."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_READ = '''"""Read @thing@s: a line is `name(minutes): what, it, needs`."""


class Nodes(dict):
    """Name to a pair: minutes, names of what is needed."""


def read(text):
    """Return the @thing@s of a text."""
    nodes = Nodes()
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        head, _, needs = line.partition(":")
        name, minutes = _head(head.strip(), number)
        if name in nodes:
            raise ValueError(f"line {number}: {name} again")
        nodes[name] = (minutes, [one.strip() for one in needs.split(",") if one.strip()])
    return nodes


def _head(head, number):
    name, _, rest = head.partition("(")
    if not rest:
        return name, 1
    if not rest.endswith(")") or not rest[:-1].isdigit():
        raise ValueError(f"line {number}: minutes are a number in brackets")
    return name.strip(), int(rest[:-1])
'''

_ORDER = '''"""Put @thing@s in an order in which each comes behind what it needs."""


class Cycle(ValueError):
    """Some need each other; `names` tells which, in a circle."""

    def __init__(self, names):
        super().__init__(" -> ".join(names))
        self.names = names


def order(nodes):
    """Return names; where there is a choice the alphabet decides."""
    for name, (_, needs) in nodes.items():
        for need in needs:
            if need not in nodes:
                raise KeyError(f"{name} needs {need}, which is not there")
    done, out = set(), []
    while len(out) < len(nodes):
        ready = [name for name in sorted(nodes) if name not in done and all(n in done for n in nodes[name][1])]
        if not ready:
            raise Cycle(_circle(nodes, done))
        done.add(ready[0])
        out.append(ready[0])
    return out


def _circle(nodes, done):
    name = min(set(nodes) - done)
    path = []
    while name not in path:
        path.append(name)
        name = min(need for need in nodes[name][1] if need not in done)
    return path[path.index(name) :] + [name]
'''

_TIMES = '''"""When each @thing@ can begin, and which chain takes longest."""

from @pkg@.order import order


def starts(nodes):
    """Return name to the minute in which it can begin, when any number can go on at once."""
    begin = {}
    for name in order(nodes):
        begin[name] = max((begin[need] + nodes[need][0] for need in nodes[name][1]), default=0)
    return begin


def total(nodes):
    """Return the minutes until all is done."""
    begin = starts(nodes)
    return max((begin[name] + nodes[name][0] for name in nodes), default=0)


def longest(nodes):
    """Return the chain that decides how long it takes, from its first to its last."""
    begin = starts(nodes)
    ends = {name: begin[name] + nodes[name][0] for name in nodes}
    name = max(sorted(ends), key=ends.get)
    chain = [name]
    while nodes[name][1]:
        name = max(sorted(nodes[name][1]), key=ends.get)
        chain.append(name)
    return chain[::-1]
'''

_TESTS = """import unittest

from @pkg@.order import order
from @pkg@.read import read
from @pkg@.times import total


class Ordering(unittest.TestCase):
    def test_what_is_needed_comes_first(self):
        self.assertEqual(order({"b": (1, ["a"]), "a": (1, [])}), ["a", "b"])

    def test_the_alphabet_decides(self):
        self.assertEqual(order({"c": (1, []), "a": (1, []), "b": (1, [])}), ["a", "b", "c"])


class Reading(unittest.TestCase):
    def test_a_line(self):
        self.assertEqual(read("cook(20): buy, wash"), {"cook": (20, ["buy", "wash"])})

    def test_a_chain_adds_up(self):
        self.assertEqual(total({"a": (5, []), "b": (7, ["a"])}), 12)


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="graphs",
    task="@pkg@ plans @thing@s that need each other. The following is wrong or missing:",
    files={
        "@pkg@/read.py": _READ,
        "@pkg@/order.py": _ORDER,
        "@pkg@/times.py": _TIMES,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nPlans @thing@s. A line reads `cook(20): buy, wash  # by hand`; without minutes it is "
                     "one.\n"
        "`order` puts them in order, `starts`, `total` and `longest` count minutes.\n",
    },
    header="import unittest\n\nfrom @pkg@.order import order\nfrom @pkg@.read import read\nfrom @pkg@.times import "
           "starts, total\n",
    keep='''
    def test_nothing_to_do(self):
        self.assertEqual(order({}), [])
        self.assertEqual(total({}), 0)

    def test_one_minute(self):
        self.assertEqual(read("a"), {"a": (1, [])})
''',
    defects=(
        Defect(
            id="comments", title="pass over comments",
            ask="What follows a `#` is a comment, and empty lines are allowed.",
            swaps=(Swap("@pkg@/read.py", "        line = line.strip()\n        head",
                        '        line = line.partition("#")[0].strip()\n        if not line:\n            continue\n  '
                        '      head'),),
            hidden='''
    def test_comments(self):
        self.assertEqual(read("a: b # why\\n\\n# c\\n"), {"a": (1, ["b"])})
''',
        ),
        Defect(
            id="again", title="refuse a name twice",
            ask="A name that comes twice is a mistake: ValueError with the line's number.",
            swaps=(Swap("@pkg@/read.py", "        nodes[name] =", "        if name in nodes:\n"
                        '            raise ValueError(f"line {number}: {name} again")\n        nodes[name] ='),),
            hidden='''
    def test_again(self):
        with self.assertRaisesRegex(ValueError, "line 2"):
            read("a\\na: b")
''',
        ),
        Defect(
            id="minutes", title="check the minutes",
            ask="`cook(soon)` fails with a bare int() error. Raise ValueError with "
            "the line's number, as for other mistakes in the file.",
            swaps=(Swap("@pkg@/read.py", "    return name.strip(), int",
                        '    if not rest.endswith(")") or not rest[:-1].isdigit():\n'
                        '        raise ValueError(f"line {number}: minutes are a number in brackets")\n'
                        "    return name.strip(), int"),),
            hidden='''
    def test_minutes(self):
        for wrong in ("a(soon)", "a(5", "a(-1)"):
            with self.assertRaisesRegex(ValueError, "line 1"):
                read(wrong)
''',
        ),
        Defect(
            id="unknown", title="name what is not there",
            ask="What needs something that is not there has to raise KeyError "
            "with both names; at present it looks like a circle.",
            swaps=(Swap("@pkg@/order.py", "    done, out =",
                        "    for name, (_, needs) in nodes.items():\n        for need in needs:\n"
                        "            if need not in nodes:\n"
                        '                raise KeyError(f"{name} needs {need}, which is not there")\n    done, out ='),
                        ),
            hidden='''
    def test_unknown(self):
        with self.assertRaisesRegex(KeyError, "a needs b"):
            order({"a": (1, ["b"])})
''',
        ),
        Defect(
            id="circle", title="tell the circle", slip="One message for all that cannot be ordered",
            ask="`Cycle` has to name only those that are in the circle, closed: `a -> b -> a`.",
            swaps=(
                Swap("@pkg@/order.py", "raise Cycle(sorted(set(nodes) - done))", "raise Cycle(_circle(nodes, done))"),
                Swap("@pkg@/order.py", "    return out\n",
                     "    return out\n\n\ndef _circle(nodes, done):\n    name = min(set(nodes) - done)\n    path = []\n"
                     "    while name not in path:\n        path.append(name)\n"
                     "        name = min(need for need in nodes[name][1] if need not in done)\n"
                     "    return path[path.index(name) :] + [name]\n"),
            ),
            hidden='''
    def test_circle(self):
        from @pkg@.order import Cycle
        with self.assertRaises(Cycle) as caught:
            order({"a": (1, ["c"]), "b": (1, ["c"]), "c": (1, ["b"]), "d": (1, [])})
        self.assertEqual(caught.exception.names, ["c", "b", "c"])
''',
        ),
        Defect(
            id="parallel", title="wait for the slowest",
            ask="What needs several waits for the slowest of them, not for all "
            "one after another.",
            swaps=(Swap("@pkg@/times.py", "begin[name] = sum(nodes[need][0] for need in nodes[name][1])",
                        "begin[name] = max((begin[need] + nodes[need][0] for need in nodes[name][1]), default=0)"),),
            wrong=(Swap("@pkg@/times.py", "begin[name] = sum(nodes[need][0] for need in nodes[name][1])",
                        "begin[name] = max((nodes[need][0] for need in nodes[name][1]), default=0)"),),
            hidden='''
    def test_parallel(self):
        nodes = {"a": (5, []), "b": (9, []), "c": (1, ["a", "b"]), "d": (1, ["c"])}
        self.assertEqual(starts(nodes), {"a": 0, "b": 0, "c": 9, "d": 10})
''',
        ),
        Defect(
            id="longest", title="find the longest chain", after=("parallel",),
            ask="Add `longest(nodes)` to times.py: the chain that decides how long all takes, from first to last.",
            swaps=(Swap("@pkg@/times.py", "for name in nodes), default=0)\n",
                        "for name in nodes), default=0)\n" + _TIMES[_TIMES.index("\n\ndef longest") :]),),
            hidden='''
    def test_longest(self):
        from @pkg@.times import longest
        nodes = {"a": (5, []), "b": (9, []), "c": (1, ["a", "b"]), "d": (12, ["a"])}
        self.assertEqual(longest(nodes), ["a", "d"])
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "kitchenplan", "thing": "kitchen task"},
                defects=("comments", "unknown", "parallel", "longest"),
                mess=("decision",)),
        Variant(id="b", names={"pkg": "builds", "thing": "build step"}, defects=("circle", "minutes", "again"),
                mess=("pin", "todo"), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "roadworks", "thing": "site"},
                defects=("again", "parallel", "comments", "circle"),
                mess=("expected", "decision"), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "courses", "thing": "course"},
                defects=("minutes", "unknown", "circle", "longest"),
                mess=("todo",), shape="planning/@pkg@/"),
    ),
    todo=("@pkg@/order.py", "    while len(out)", "sort by minutes first, the alphabet is of no use to anybody"),
    decision="Where there is a choice the alphabet decides, so that plans can be compared day by day.",
    trap=Swap("@pkg@/order.py", "for name in sorted(nodes, reverse=True) if", "for name in sorted(nodes) if"),
)  # fmt: skip
