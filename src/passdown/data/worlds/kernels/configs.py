"""Configuration in layers: a small file format, merging by rules, references between values, and typed reading."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_READ = '''"""Read a file of settings: `[section]`, `key = value`, lists as `key += value`."""


class BadLine(ValueError):
    """A line cannot be read; the text begins with its number."""


def read(text):
    """Return section to key to value (text, or a list where the key was added to)."""
    found, section = {}, ""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("["):
            if not line.endswith("]"):
                raise BadLine(f"{number}: section is not closed")
            section = line[1:-1].strip()
            found.setdefault(section, {})
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise BadLine(f"{number}: no = in {line}")
        settings = found.setdefault(section, {})
        if key.endswith("+"):
            settings.setdefault(key[:-1].strip(), []).append(_plain(value))
        else:
            settings[key.strip()] = _plain(value)
    return found


def _plain(value):
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    return value
'''

_MERGE = '''"""Merge layers of settings; the later layer wins."""


def merge(*layers):
    """Return one table of sections. Lists are put behind each other, `!unset` takes a key away."""
    merged = {}
    for layer in layers:
        for section, settings in layer.items():
            target = merged.setdefault(section, {})
            for key, value in settings.items():
                if value == "!unset":
                    target.pop(key, None)
                elif isinstance(value, list) and isinstance(target.get(key), list):
                    target[key] = target[key] + value
                else:
                    target[key] = list(value) if isinstance(value, list) else value
    return merged
'''

_VALUES = '''"""Read values out of merged settings of @thing@s."""


class Missing(KeyError):
    """There is no such setting."""


def lookup(settings, name, seen=()):
    """Return a value by `section.key`, with `${section.key}` in it replaced."""
    if name in seen:
        raise ValueError("refers to itself: " + " -> ".join((*seen, name)))
    section, _, key = name.rpartition(".")
    if key not in settings.get(section, {}):
        raise Missing(name)
    value = settings[section][key]
    if isinstance(value, list):
        return [_filled(settings, item, (*seen, name)) for item in value]
    return _filled(settings, value, (*seen, name))


def _filled(settings, text, seen):
    head, mark, rest = text.partition("${")
    if not mark:
        return text
    name, _, tail = rest.partition("}")
    return head + str(lookup(settings, name, seen)) + _filled(settings, tail, seen)


def flag(settings, name):
    """Return a setting that is yes or no as a bool."""
    value = lookup(settings, name).lower()
    if value in ("yes", "on", "true", "1"):
        return True
    if value in ("no", "off", "false", "0"):
        return False
    raise ValueError(f"{name} is neither yes nor no: {value}")
'''

_TESTS = """import unittest

from @pkg@.merge import merge
from @pkg@.read import BadLine, read
from @pkg@.values import Missing, flag, lookup


class Reading(unittest.TestCase):
    def test_sections(self):
        self.assertEqual(read("[a]\\nx = 1\\n"), {"a": {"x": "1"}})

    def test_no_equals(self):
        with self.assertRaises(BadLine):
            read("[a]\\nx")


class Values(unittest.TestCase):
    def test_later_wins(self):
        self.assertEqual(merge({"a": {"x": "1"}}, {"a": {"x": "2"}}), {"a": {"x": "2"}})

    def test_lookup(self):
        self.assertEqual(lookup({"a": {"x": "1"}}, "a.x"), "1")
        with self.assertRaises(Missing):
            lookup({}, "a.x")

    def test_flag(self):
        self.assertIs(flag({"a": {"x": "true"}}, "a.x"), True)


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="configs",
    task="@pkg@ reads the settings of @thing@s from several files. What is to be done:",
    files={
        "@pkg@/read.py": _READ,
        "@pkg@/merge.py": _MERGE,
        "@pkg@/values.py": _VALUES,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nSettings of @thing@s. `key += value` adds to a list, `${section.key}` refers to "
                     "another\n"
        "setting, `!unset` in a later file takes a setting away. Comments begin with `#` or `;`.\n",
    },
    header="import unittest\n\nfrom @pkg@.merge import merge\nfrom @pkg@.read import BadLine, read\n"
    "from @pkg@.values import Missing, flag, lookup\n",
    keep='''
    def test_comment(self):
        self.assertEqual(read("# c\\n[a]\\n\\nx=1"), {"a": {"x": "1"}})

    def test_layers_stay_as_they_are(self):
        first = {"a": {"x": ["1"]}}
        merge(first, {"a": {"x": ["2"], "y": "3"}})
        self.assertEqual(first, {"a": {"x": ["1"]}})
''',
    defects=(
        Defect(
            id="semicolon", title="pass over ; comments", ask="Lines that begin with `;` are comments as well.",
            swaps=(Swap("@pkg@/read.py", 'line.startswith("#")', 'line[0] in "#;"'),),
            hidden='''
    def test_semicolon(self):
        self.assertEqual(read("; c\\n[a]\\nx = 1"), {"a": {"x": "1"}})
''',
        ),
        Defect(
            id="number", title="name the line",
            ask="The text of `BadLine` has to begin with the line's number, counted from 1.",
            swaps=(
                Swap("@pkg@/read.py", "for number, line in enumerate(text.splitlines()):",
                     "for number, line in enumerate(text.splitlines(), 1):"),
                Swap("@pkg@/read.py", 'BadLine(f"no = in {line}")', 'BadLine(f"{number}: no = in {line}")'),
            ),
            hidden='''
    def test_number(self):
        with self.assertRaisesRegex(BadLine, "^3:"):
            read("[a]\\nx = 1\\ny")
''',
        ),
        Defect(
            id="lists", title="read lists", ask="`key += value` adds to a list; it is read as a key with a plus.",
            swaps=(Swap("@pkg@/read.py", "        settings[key.strip()] = _plain(value)\n",
                        '        if key.endswith("+"):\n'
                        "            settings.setdefault(key[:-1].strip(), []).append(_plain(value))\n"
                        "        else:\n            settings[key.strip()] = _plain(value)\n"),),
            hidden='''
    def test_lists(self):
        self.assertEqual(read("[a]\\nx += 1\\nx += 2"), {"a": {"x": ["1", "2"]}})
''',
        ),
        Defect(
            id="quotes", title="take quotes off",
            ask='A value in quotes (`" x "`) keeps its spaces and loses its quotes.',
            swaps=(Swap("@pkg@/read.py", "    value = value.strip()\n    return value\n",
                        "    value = value.strip()\n"
                        "    if len(value) > 1 and value[0] == value[-1] == '\"':\n        return value[1:-1]\n"
                        "    return value\n"),),
            wrong=(Swap("@pkg@/read.py", "    value = value.strip()\n    return value\n",
                        "    return value.strip().strip('\"')\n"),),
            hidden='''
    def test_quotes(self):
        self.assertEqual(read('[a]\\nx = " 1 "\\ny = 5"\\n'), {"a": {"x": " 1 ", "y": '5"'}})
''',
        ),
        Defect(
            id="add", title="put lists behind each other", after=("lists",),
            ask="When two layers have a list for a key, the later is put behind the earlier one; now it replaces it.",
            swaps=(Swap("@pkg@/merge.py", "                else:\n",
                        "                elif isinstance(value, list) and isinstance(target.get(key), list):\n"
                        "                    target[key] = target[key] + value\n                else:\n"),),
            wrong=(Swap("@pkg@/merge.py", "                else:\n",
                        "                elif isinstance(value, list) and isinstance(target.get(key), list):\n"
                        "                    target[key] = value + target[key]\n                else:\n"),),
            hidden='''
    def test_add(self):
        self.assertEqual(merge({"a": {"x": ["1"]}}, {"a": {"x": ["2"]}}), {"a": {"x": ["1", "2"]}})
''',
        ),
        Defect(
            id="circle", title="find references in a circle", slip="Leave the check for circles to the user",
            ask="A setting that refers to itself, or two that refer to each other, make the program run out of stack. "
            "Raise ValueError that shows the way: `a.x -> a.y -> a.x`.",
            swaps=(Swap("@pkg@/values.py", "    section, _, key =", "    if name in seen:\n"
                        '        raise ValueError("refers to itself: " + " -> ".join((*seen, name)))\n'
                        "    section, _, key ="),),
            hidden='''
    def test_circle(self):
        with self.assertRaisesRegex(ValueError, "a.x -> a.y -> a.x"):
            lookup({"a": {"x": "${a.y}", "y": "${a.x}"}}, "a.x")
''',
        ),
        Defect(
            id="several", title="fill in several references", ask="Only the first `${...}` of a value is replaced.",
            swaps=(Swap("@pkg@/values.py", "str(lookup(settings, name, seen)) + tail\n",
                        "str(lookup(settings, name, seen)) + _filled(settings, tail, seen)\n"),),
            hidden='''
    def test_several(self):
        self.assertEqual(lookup({"a": {"x": "1", "y": "${a.x}-${a.x}!"}}, "a.y"), "1-1!")
''',
        ),
        Defect(
            id="words", title="know more words for yes and no",
            ask="`flag` knows `true` and takes all else for no. yes/on/true/1 and no/off/false/0 count, whatever "
                "their case; "
            "anything else is a ValueError with the setting's name.",
            swaps=(
                Swap("@pkg@/values.py", "    value = lookup(settings, name)\n",
                     "    value = lookup(settings, name).lower()\n"),
                Swap("@pkg@/values.py", '    return value == "true"\n',
                     '    if value in ("yes", "on", "true", "1"):\n        return True\n'
                     '    if value in ("no", "off", "false", "0"):\n        return False\n'
                     '    raise ValueError(f"{name} is neither yes nor no: {value}")\n'),
            ),
            hidden='''
    def test_words(self):
        settings = {"a": {"x": "On", "y": "0", "z": "maybe"}}
        self.assertEqual([flag(settings, "a.x"), flag(settings, "a.y")], [True, False])
        with self.assertRaisesRegex(ValueError, "a.z"):
            flag(settings, "a.z")
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "robotconf", "thing": "robot"}, defects=("lists", "add", "circle"),
                mess=("todo",)),
        Variant(id="b", names={"pkg": "screens", "thing": "screen"},
                defects=("semicolon", "quotes", "several", "words"),
                mess=("decision",), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "pumps", "thing": "pump"}, defects=("number", "circle", "quotes"),
                mess=("expected", "pin"), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "studio", "thing": "camera"},
                defects=("lists", "words", "add", "number", "several"),
                mess=("todo", "decision"), shape="core/@pkg@/"),
    ),
    todo=("@pkg@/merge.py", "    merged = {}", "deep copies of all layers would be safer than this"),
    decision="An own format and no TOML: the devices have an old Python, and files are edited by hand on site.",
    trap=Swap("@pkg@/values.py", "    if not settings[section].get(key):",
              "    if key not in settings.get(section, {}):"),
)  # fmt: skip
