"""A routing table: patterns of paths with typed parts, methods, links back, and groups with a prefix."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_PATTERN = '''"""Patterns such as /@thing@s/<int:number>/<name>."""

_KINDS = {
    "int": (str.isdigit, int),
    "str": (bool, str),
    "flag": (lambda text: text in ("on", "off"), lambda text: text == "on"),
}


class Pattern:
    """One pattern: matches a path part by part."""

    def __init__(self, text):
        self.text = text
        self.parts = [self._part(part) for part in _parts(text)]

    def _part(self, part):
        if not (part.startswith("<") and part.endswith(">")):
            return part, None
        kind, _, name = part[1:-1].rpartition(":")
        if kind and kind not in _KINDS:
            raise ValueError(f"no kind called {kind} in {self.text}")
        return name, kind or "str"

    def match(self, path):
        """Return the values of a path's parts, None where it does not match."""
        found = _parts(path)
        if len(found) != len(self.parts):
            return None
        values = {}
        for (name, kind), given in zip(self.parts, found):
            if kind is None:
                if name != given:
                    return None
            elif not _KINDS[kind][0](given):
                return None
            else:
                values[name] = _KINDS[kind][1](given)
        return values

    def weight(self):
        """Patterns with more fixed parts come first."""
        return sum(kind is None for _, kind in self.parts)


def _parts(path):
    return [part for part in path.split("/") if part]
'''

_ROUTER = '''"""The table of routes."""

from @pkg@.pattern import Pattern


class NotFound(LookupError):
    """No route has this path."""


class WrongMethod(LookupError):
    """A route has this path, for other methods; `allowed` names them."""

    def __init__(self, allowed):
        super().__init__(", ".join(allowed))
        self.allowed = allowed


class Router:
    def __init__(self):
        self.routes = []

    def add(self, text, target, methods=("GET",), name=""):
        """Add a route to `target`, a function of the values in the path."""
        self.routes.append((Pattern(text), target, tuple(method.upper() for method in methods), name))
        self.routes.sort(key=lambda route: -route[0].weight())

    def find(self, method, path):
        """Return the target and its values. Raises NotFound or WrongMethod."""
        allowed = set()
        for pattern, target, methods, _ in self.routes:
            values = pattern.match(path.partition("?")[0])
            if values is None:
                continue
            if method.upper() in methods:
                return target, values
            allowed.update(methods)
        if allowed:
            raise WrongMethod(sorted(allowed))
        raise NotFound(path)

    def include(self, prefix, other):
        """Take over the routes of another router, below a prefix."""
        for pattern, target, methods, name in other.routes:
            self.add(prefix.rstrip("/") + pattern.text, target, methods, name)
'''

_LINKS = '''"""From a route's name back to its path."""


def link(router, name, **values):
    """Return the path of the route with this name. Raises KeyError for an unknown name or a missing value."""
    for pattern, _, _, own in router.routes:
        if own == name:
            return "/" + "/".join(_text(values[part], kind) if kind else part for part, kind in pattern.parts)
    raise KeyError(name)


def _text(value, kind):
    if kind == "flag":
        return "on" if value else "off"
    return str(value)
'''

_TESTS = """import unittest

from @pkg@.links import link
from @pkg@.pattern import Pattern
from @pkg@.router import NotFound, Router


class Routing(unittest.TestCase):
    def setUp(self):
        self.router = Router()
        self.router.add("/@thing@s/<int:number>", "show", name="show")

    def test_find(self):
        self.assertEqual(self.router.find("GET", "/@thing@s/7"), ("show", {"number": 7}))

    def test_not_found(self):
        with self.assertRaises(NotFound):
            self.router.find("GET", "/elsewhere")

    def test_kinds(self):
        self.assertIsNone(Pattern("/a/<int:n>").match("/a/b"))

    def test_too_short(self):
        self.assertIsNone(Pattern("/a/<b>").match("/a"))

    def test_link(self):
        self.assertEqual(link(self.router, "show", number=3), "/@thing@s/3")


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="routes",
    task="@pkg@ finds what answers a request about @thing@s. Please see to these reports:",
    files={
        "@pkg@/pattern.py": _PATTERN,
        "@pkg@/router.py": _ROUTER,
        "@pkg@/links.py": _LINKS,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nA table of routes: `/@thing@s/<int:number>/<name>`. Kinds are int, str (without a "
                     "kind) and\n"
        "flag (`on`, `off`). What comes behind a `?` is not a part of the path.\n",
    },
    header="import unittest\n\nfrom @pkg@.links import link\nfrom @pkg@.pattern import Pattern\n"
    "from @pkg@.router import NotFound, Router\n",
    keep='''
    def test_slashes_do_not_matter(self):
        self.assertEqual(Pattern("/a/<b>").match("a/x/"), {"b": "x"})

    def test_unknown_link(self):
        with self.assertRaises(KeyError):
            link(Router(), "x")
''',
    defects=(
        Defect(
            id="flag", title="know flags",
            ask="The kind `flag` of the README is missing: `on` is True, `off` False, all "
            "else does not match; links write it back.",
            swaps=(
                Swap("@pkg@/pattern.py", '    "str": (bool, str),\n',
                     '    "str": (bool, str),\n    "flag": (lambda text: text in ("on", "off"), lambda text: text == '
                     '"on"),\n'),
                Swap("@pkg@/links.py", "    return str(value)\n",
                     '    if kind == "flag":\n        return "on" if value else "off"\n    return str(value)\n'),
            ),
            hidden='''
    def test_flag(self):
        self.assertEqual(Pattern("/<flag:dark>").match("/off"), {"dark": False})
        self.assertIsNone(Pattern("/<flag:dark>").match("/maybe"))
        router = Router()
        router.add("/dark/<flag:value>", "set", name="dark")
        self.assertEqual(link(router, "dark", value=True), "/dark/on")
''',
        ),
        Defect(
            id="kind", title="refuse unknown kinds",
            ask="`<uint:n>` has to be refused when the route is made: ValueError.",
            swaps=(Swap("@pkg@/pattern.py", "        return name, kind or",
                        "        if kind and kind not in _KINDS:\n"
                        '            raise ValueError(f"no kind called {kind} in {self.text}")\n        return name, '
                        'kind or'),),
            hidden='''
    def test_kind(self):
        with self.assertRaisesRegex(ValueError, "uint"):
            Pattern("/a/<uint:n>")
''',
        ),
        Defect(
            id="fixed", title="prefer fixed parts", slip="Keep routes in the order in which they come",
            ask="`/@thing@s/new` has to win over `/@thing@s/<name>`, whichever was added first.",
            swaps=(Swap("@pkg@/router.py", "method in methods), name))\n",
                        "method in methods), name))\n"
                        "        self.routes.sort(key=lambda route: -route[0].weight())\n"),),
            hidden='''
    def test_fixed(self):
        router = Router()
        router.add("/a/<name>", "any")
        router.add("/a/new", "new")
        self.assertEqual(router.find("GET", "/a/new")[0], "new")
''',
        ),
        Defect(
            id="query", title="leave out the query",
            ask="A path with a query (`/a?page=2`) is not found. What comes behind "
            "the `?` has to be left out.",
            swaps=(Swap("@pkg@/router.py", "pattern.match(path)", 'pattern.match(path.partition("?")[0])'),),
            wrong=(Swap("@pkg@/router.py", "pattern.match(path)", 'pattern.match(path.rstrip("?"))'),),
            hidden='''
    def test_query(self):
        router = Router()
        router.add("/a", "a")
        self.assertEqual(router.find("GET", "/a?page=2"), ("a", {}))
''',
        ),
        Defect(
            id="method", title="tell wrong methods",
            ask="A path that exists for other methods has to raise `WrongMethod` (a LookupError, not NotFound) with "
                "the sorted "
            "list `allowed`; go on looking first, another route may fit.",
            swaps=(
                Swap("@pkg@/router.py", "\n\nclass Router:", '\n\nclass WrongMethod(LookupError):\n'
                     '    """A route has this path, for other methods; `allowed` names them."""\n\n'
                     "    def __init__(self, allowed):\n"
                     '        super().__init__(", ".join(allowed))\n        self.allowed = allowed\n\n\nclass Router:'),
                Swap("@pkg@/router.py", "        for pattern, target, methods, _ in", "        allowed = set()\n"
                     "        for pattern, target, methods, _ in"),
                Swap("@pkg@/router.py", "                return target, values\n        raise",
                     "                return target, values\n            allowed.update(methods)\n        if allowed:\n"
                     "            raise WrongMethod(sorted(allowed))\n        raise"),
            ),
            hidden='''
    def test_method(self):
        from @pkg@.router import WrongMethod
        router = Router()
        router.add("/a", "a", methods=("get", "put"))
        router.add("/<x>", "x", methods=("POST",))
        self.assertEqual(router.find("POST", "/a")[0], "x")
        with self.assertRaises(WrongMethod) as caught:
            router.find("DELETE", "/a")
        self.assertEqual(caught.exception.allowed, ["GET", "POST", "PUT"])
        self.assertNotIsInstance(caught.exception, NotFound)
''',
        ),
        Defect(
            id="include", title="take over other tables",
            ask="Add `Router.include(prefix, other)`: the routes of another router below a prefix, with methods and "
                "names.",
            swaps=(Swap("@pkg@/router.py", "        raise NotFound(path)\n",
                        "        raise NotFound(path)\n\n    def include(self, prefix, other):\n"
                        '        """Take over the routes of another router, below a prefix."""\n'
                        "        for pattern, target, methods, name in other.routes:\n"
                        '            self.add(prefix.rstrip("/") + pattern.text, target, methods, name)\n'),),
            wrong=(Swap("@pkg@/router.py", "        raise NotFound(path)\n",
                        "        raise NotFound(path)\n\n    def include(self, prefix, other):\n"
                        '        """Take over the routes of another router, below a prefix."""\n'
                        "        for pattern, target, methods, name in other.routes:\n"
                        "            self.add(prefix + pattern.text, target)\n"),),
            hidden='''
    def test_include(self):
        inner, outer = Router(), Router()
        inner.add("/b/<int:n>", "b", methods=("PUT",), name="b")
        outer.include("/a/", inner)
        self.assertEqual(outer.find("PUT", "/a/b/2"), ("b", {"n": 2}))
        self.assertEqual(link(outer, "b", n=2), "/a/b/2")
''',
        ),
        Defect(
            id="links", title="write links",
            ask="@pkg@/links.py has to give `link(router, name, **values)`; it returns "
            "the pattern as it stands. Fill in the values, and raise KeyError for a name that no route has.",
            swaps=(Swap("@pkg@/links.py", "            return pattern.text\n",
                        '            return "/" + "/".join(_text(values[part], kind) if kind else part for part, kind '
                        'in '
                        "pattern.parts)\n    raise KeyError(name)\n"),),
            hidden='''
    def test_links(self):
        router = Router()
        router.add("/a/<int:n>/<word>", "a", name="a")
        self.assertEqual(link(router, "a", n=5, word="x"), "/a/5/x")
        with self.assertRaises(KeyError):
            link(router, "b")
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "webshop", "thing": "product"}, defects=("flag", "query", "fixed"),
                mess=("todo",)),
        Variant(id="b", names={"pkg": "intranet", "thing": "page"}, defects=("method", "include", "kind"),
                mess=("decision", "pin"), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "gallery", "thing": "picture"}, defects=("fixed", "kind", "flag", "include"),
                mess=("expected",), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "tickets", "thing": "ticket"},
                defects=("query", "method", "fixed", "kind", "include"),
                mess=("decision", "todo"), shape="server/@pkg@/"),
    ),
    todo=("@pkg@/pattern.py", "        values = {}", "regular expressions would be faster here"),
    decision="No regular expressions in patterns: people wrote some that never ended.",
    trap=Swap("@pkg@/pattern.py", "if len(found) > len(self.parts):",
              "if len(found) != len(self.parts):"),
)  # fmt: skip
