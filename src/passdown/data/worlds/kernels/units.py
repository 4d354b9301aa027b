"""Quantities with units: a table of factors, prefixes, compound units, addition, and writing them."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_TABLE = '''"""The units: name to a pair of dimension and factor. Dimensions are tuples of (base, power), sorted."""

from fractions import Fraction

UNITS = {
    "m": ((("length", 1),), Fraction(1)),
    "in": ((("length", 1),), Fraction(254, 10000)),
    "g": ((("mass", 1),), Fraction(1)),
    "lb": ((("mass", 1),), Fraction(45359237, 100000)),
    "s": ((("time", 1),), Fraction(1)),
    "min": ((("time", 1),), Fraction(60)),
    "h": ((("time", 1),), Fraction(3600)),
    "l": ((("length", 3),), Fraction(1, 1000)),
}
PREFIXES = {"k": Fraction(1000), "c": Fraction(1, 100), "m": Fraction(1, 1000)}


class UnknownUnit(KeyError):
    """There is no such unit."""


def unit(name):
    """Return dimension and factor of a unit, with or without a prefix. A unit of its own wins over a prefix."""
    if name in UNITS:
        return UNITS[name]
    if name[:1] in PREFIXES and name[1:] in UNITS:
        dimension, factor = UNITS[name[1:]]
        return dimension, factor * PREFIXES[name[0]]
    raise UnknownUnit(name)
'''

_COMPOUND = '''"""Compound units such as km/h or m2."""

from fractions import Fraction

from @pkg@.table import unit


def compound(text):
    """Return dimension and factor of units joined by * and /."""
    powers, factor = {}, Fraction(1)
    for number, piece in enumerate(text.split("/")):
        sign = -1 if number else 1
        for word in piece.split("*"):
            name = word.rstrip("0123456789")
            power = sign * int(word[len(name) :] or 1)
            dimension, own = unit(name)
            factor *= own**power
            for base, each in dimension:
                powers[base] = powers.get(base, 0) + each * power
    return tuple(sorted((base, power) for base, power in powers.items() if power)), factor
'''

_CONVERT = '''"""Convert amounts of @thing@s."""

from fractions import Fraction

from @pkg@.compound import compound


class Mismatch(ValueError):
    """The units measure different things."""


def convert(amount, source, target):
    """Return an amount in another unit, exactly."""
    one, by = compound(source)
    other, to = compound(target)
    if one != other:
        raise Mismatch(f"{source} and {target}")
    return Fraction(amount) * by / to


def add(first, second):
    """Return the sum of two pairs (amount, unit) in the unit of the first."""
    return Fraction(first[0]) + convert(second[0], second[1], first[1]), first[1]


def shown(amount, name, places=2):
    """Return text, rounded half up, without zeros at the end."""
    scaled = abs(Fraction(amount)) * 10**places
    whole = int(scaled + Fraction(1, 2))
    digits = str(whole).rjust(places + 1, "0")
    text = digits[: len(digits) - places]
    part = digits[len(digits) - places :].rstrip("0")
    sign = "-" if amount < 0 and whole else ""
    return f"{sign}{text}{'.' + part if part else ''} {name}"
'''

_TESTS = """import unittest

from @pkg@.convert import Mismatch, add, convert, shown
from @pkg@.table import UnknownUnit, unit


class Converting(unittest.TestCase):
    def test_hours(self):
        self.assertEqual(convert(2, "h", "s"), 7200)

    def test_mismatch(self):
        with self.assertRaises(Mismatch):
            convert(1, "m", "s")

    def test_unknown(self):
        with self.assertRaises(UnknownUnit):
            unit("parsec")

    def test_add(self):
        self.assertEqual(add((1, "m"), (1, "m")), (2, "m"))

    def test_shown(self):
        self.assertEqual(shown(3, "m"), "3 m")


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="units",
    task="@pkg@ converts the amounts of @thing@s between units. Open issues, in the order in which they came:",
    files={
        "@pkg@/table.py": _TABLE,
        "@pkg@/compound.py": _COMPOUND,
        "@pkg@/convert.py": _CONVERT,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nExact conversion (fractions): `convert(90, 'km/h', 'm/s')`. Prefixes are k, c and m; "
                     "`min` is a\n"
        "minute. Powers stand behind a unit (`m2`), units are joined by `*` and `/`.\n",
    },
    header="import unittest\nfrom fractions import Fraction\n\nfrom @pkg@.convert import Mismatch, add, convert, "
           "shown\n"
    "from @pkg@.table import UnknownUnit, unit\n",
    keep='''
    def test_exact(self):
        self.assertEqual(convert(1, "s", "h"), Fraction(1, 3600))

    def test_there_and_back(self):
        self.assertEqual(convert(convert(7, "min", "h"), "h", "min"), 7)
''',
    defects=(
        Defect(
            id="prefix", title="know prefixes", ask="Prefixes k, c and m are to be understood: `km`, `cm`, `mg`.",
            swaps=(Swap("@pkg@/table.py", "    raise UnknownUnit(name)\n",
                        "    if name[:1] in PREFIXES and name[1:] in UNITS:\n"
                        "        dimension, factor = UNITS[name[1:]]\n"
                        "        return dimension, factor * PREFIXES[name[0]]\n    raise UnknownUnit(name)\n"),),
            wrong=(Swap("@pkg@/table.py", "    raise UnknownUnit(name)\n",
                        "    if name[:1] in PREFIXES and name[1:] in UNITS:\n        return UNITS[name[1:]]\n"
                        "    raise UnknownUnit(name)\n"),),
            hidden='''
    def test_prefix(self):
        self.assertEqual(convert(2, "km", "cm"), 200000)
        self.assertEqual(convert(1, "min", "s"), 60)
''',
        ),
        Defect(
            id="inch", title="correct the inch", slip="Shorten the table",
            ask="An inch is 2.54 cm; the table has another number.",
            swaps=(Swap("@pkg@/table.py", "Fraction(25, 1000)", "Fraction(254, 10000)"),),
            hidden='''
    def test_inch(self):
        self.assertEqual(convert(100, "in", "m"), Fraction(254, 100))
''',
        ),
        Defect(
            id="powers", title="read powers", ask="`m2` and `m3` are to be understood.",
            swaps=(Swap("@pkg@/compound.py", "            name, power = word, sign\n",
                        '            name = word.rstrip("0123456789")\n'
                        "            power = sign * int(word[len(name) :] or 1)\n"),),
            hidden='''
    def test_powers(self):
        self.assertEqual(convert(1, "m2", "in*in"), Fraction(1) / unit("in")[1] ** 2)
''',
        ),
        Defect(
            id="litre", title="make a litre a volume", after=("powers",),
            ask="A litre is a thousandth of a cubic metre, so that `convert(1, 'm3', 'l')` is 1000.",
            swaps=(Swap("@pkg@/table.py", '"l": ((("volume", 1),), Fraction(1)),',
                        '"l": ((("length", 3),), Fraction(1, 1000)),'),),
            hidden='''
    def test_litre(self):
        self.assertEqual(convert(1, "m*m*m", "l"), 1000)
''',
        ),
        Defect(
            id="cancel", title="leave out what cancels",
            ask="`m*s/s` is a length: a base whose power is 0 counts no more.",
            swaps=(Swap("@pkg@/compound.py", "for base, power in powers.items())",
                        "for base, power in powers.items() if power)"),),
            hidden='''
    def test_cancel(self):
        self.assertEqual(convert(1, "m*s/s", "m"), 1)
''',
        ),
        Defect(
            id="sum", title="add different units",
            ask="`add` adds the bare numbers; the second is to be converted first.",
            swaps=(Swap("@pkg@/convert.py", "Fraction(first[0]) + second[0], first[1]",
                        "Fraction(first[0]) + convert(second[0], second[1], first[1]), first[1]"),),
            wrong=(Swap("@pkg@/convert.py", "Fraction(first[0]) + second[0], first[1]",
                        "convert(first[0], first[1], second[1]) + second[0], first[1]"),),
            hidden='''
    def test_sum(self):
        self.assertEqual(add((1, "h"), (30, "min")), (Fraction(3, 2), "h"))
        with self.assertRaises(Mismatch):
            add((1, "m"), (1, "s"))
''',
        ),
        Defect(
            id="rounding", title="round half up",
            ask="`shown` cuts digits off. It has to round, half up: 0.125 is `0.13`.",
            swaps=(Swap("@pkg@/convert.py", "whole = int(scaled)", "whole = int(scaled + Fraction(1, 2))"),),
            wrong=(Swap("@pkg@/convert.py", "whole = int(scaled)", "whole = round(scaled)"),),
            hidden='''
    def test_rounding(self):
        self.assertEqual([shown(Fraction(1, 8), "m"), shown(Fraction(2, 3), "m")], ["0.13 m", "0.67 m"])
''',
        ),
        Defect(
            id="minus", title="show no minus nothing", after=("rounding",),
            ask="What is shown as nothing has no minus: -0.001 m is `0 m`, and -1.5 m stays `-1.5 m`.",
            swaps=(Swap("@pkg@/convert.py", '"-" if amount < 0 else ""', '"-" if amount < 0 and whole else ""'),),
            hidden='''
    def test_minus(self):
        self.assertEqual([shown(Fraction(-1, 1000), "m"), shown(Fraction(-3, 2), "m")], ["0 m", "-1.5 m"])
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "recipes", "thing": "ingredient"},
                defects=("prefix", "rounding", "sum", "minus"), mess=("todo",)),
        Variant(id="b", names={"pkg": "workshop", "thing": "part"}, defects=("inch", "powers", "cancel"),
                mess=("decision",), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "freight", "thing": "load"}, defects=("powers", "litre", "sum", "rounding"),
                mess=("pin", "expected"), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "weather", "thing": "reading"}, defects=("cancel", "minus", "prefix"),
                mess=("decision", "todo"), shape="libs/@pkg@/"),
    ),
    todo=("@pkg@/convert.py", "    one, by =", "floats are good enough for all of this"),
    decision="Numbers are fractions until they are shown. Floats made 0.1 + 0.2 an error report each week.",
    trap=Swap("@pkg@/convert.py", "if not (one or other):", "if one != other:"),
)  # fmt: skip
