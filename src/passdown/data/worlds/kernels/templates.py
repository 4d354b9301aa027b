"""A template language: names with dots, filters, conditions and loops, and errors that name the line."""

from passdown.data.worlds.model import Defect, Kernel, Swap, Variant

_TOKENS = '''"""Cut a template into pieces."""

import re

_MARK = re.compile(r"({{.*?}}|{%.*?%}|{#.*?#})", re.S)


class BadTemplate(ValueError):
    """The text begins with `line N:`."""


def tokens(text):
    """Yield (kind, content, line): kinds are text, value, tag."""
    line = 1
    for piece in _MARK.split(text):
        if piece.startswith("{{"):
            yield "value", piece[2:-2].strip(), line
        elif piece.startswith("{%"):
            yield "tag", piece[2:-2].strip(), line
        elif piece and not piece.startswith("{#"):
            yield "text", piece, line
        line += piece.count("\\n")
'''

_TREE = '''"""From pieces to a tree of blocks."""

from @pkg@.tokens import BadTemplate, tokens


def tree(text):
    """Return a list of nodes: ("text", s), ("value", s), ("if", condition, yes, no), ("for", name, source, body)."""
    stack = [("", 0, [])]
    for kind, content, line in tokens(text):
        words = content.split()
        if kind != "tag":
            stack[-1][2].append((kind, content))
        elif words[:1] == ["if"] and len(words) > 1:
            node = ("if", content[2:].strip(), [], [])
            stack[-1][2].append(node)
            stack.append(("if", line, node[2], node))
        elif words == ["else"] and stack[-1][0] == "if":
            node = stack.pop()[3]
            stack.append(("else", line, node[3]))
        elif words[:1] == ["for"] and words[2:3] == ["in"] and len(words) == 4:
            node = ("for", words[1], words[3], [])
            stack[-1][2].append(node)
            stack.append(("for", line, node[3]))
        elif words in (["endif"], ["endfor"]) and stack[-1][0] in _ENDS[words[0]]:
            stack.pop()
        else:
            raise BadTemplate(f"line {line}: {content}")
    if len(stack) > 1:
        raise BadTemplate(f"line {stack[-1][1]}: {stack[-1][0]} has no end")
    return stack[0][2]


_ENDS = {"endif": ("if", "else"), "endfor": ("for",)}
'''

_FILTERS = '''"""What can stand behind a | in a value."""

import html


def _default(value, argument):
    return argument if value is None or value == "" else value


FILTERS = {
    "upper": lambda value, argument: str(value).upper(),
    "default": _default,
    "join": lambda value, argument: argument.join(str(item) for item in value),
    "safe": lambda value, argument: Safe(value),
    "escape": lambda value, argument: value if isinstance(value, Safe) else Safe(html.escape(str(value))),
}


class Safe(str):
    """Text that is not escaped again."""


def apply(value, text):
    """Apply a filter such as `join:", "`."""
    name, _, argument = text.partition(":")
    return FILTERS[name.strip()](value, argument.strip().strip('"'))
'''

_RENDER = '''"""Render the templates of @thing@s."""

from @pkg@.filters import apply
from @pkg@.tree import tree


def render(text, escape=True, **values):
    """Return the text of a template. Values are escaped for HTML unless `escape` is off or they went through `safe`."""
    return "".join(_nodes(tree(text), values, escape))


def _nodes(nodes, values, escape):
    for node in nodes:
        if node[0] == "text":
            yield node[1]
        elif node[0] == "value":
            yield str(_value(node[1], values, escape))
        elif node[0] == "if":
            yield from _nodes(node[2] if _true(node[1], values) else node[3], values, escape)
        else:
            for number, item in enumerate(lookup(node[2], values) or (), 1):
                yield from _nodes(node[3], {**values, node[1]: item, "number": number}, escape)


def _value(text, values, escape):
    name, *filters = text.split("|")
    value = lookup(name.strip(), values)
    for one in filters:
        value = apply(value, one)
    value = "" if value is None else value
    return apply(value, "escape") if escape else value


def _true(condition, values):
    if condition.startswith("not "):
        return not _true(condition[4:].strip(), values)
    return bool(lookup(condition, values))


def lookup(name, values):
    """Return what a name with dots means: keys or attributes; None where there is nothing."""
    value = values
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else getattr(value, part, None)
    return value
'''

_TESTS = """import unittest

from @pkg@.render import render
from @pkg@.tokens import BadTemplate


class Rendering(unittest.TestCase):
    def test_value(self):
        self.assertEqual(render("Hello {{ name }}!", name="Ann"), "Hello Ann!")

    def test_missing(self):
        self.assertEqual(render("<{{ name }}>"), "<>")

    def test_if(self):
        self.assertEqual(render("{% if a %}yes{% endif %}", a=1), "yes")

    def test_for(self):
        self.assertEqual(render("{% for x in all %}{{ x }},{% endfor %}", all=[1, 2]), "1,2,")

    def test_unknown_tag(self):
        with self.assertRaises(BadTemplate):
            render("{% what %}")


if __name__ == "__main__":
    unittest.main()
"""

KERNEL = Kernel(
    id="templates",
    task="@pkg@ makes the texts of @thing@s of templates. Its authors have these requests:",
    files={
        "@pkg@/tokens.py": _TOKENS,
        "@pkg@/tree.py": _TREE,
        "@pkg@/filters.py": _FILTERS,
        "@pkg@/render.py": _RENDER,
        "tests/test_@pkg@.py": _TESTS,
        "README.md": "# @pkg@\n\nTemplates: `{{ name.part | filter }}`, `{% if x %} {% else %} {% endif %}`,\n"
        "`{% for x in xs %} {% endfor %}`, `{# comment #}`. Mistakes are told with `line N:`.\n",
    },
    header="import unittest\n\nfrom @pkg@.render import lookup, render\nfrom @pkg@.tokens import BadTemplate\n",
    keep='''
    def test_plain_text(self):
        self.assertEqual(render("a\\nb { } %"), "a\\nb { } %")

    def test_nested_blocks(self):
        self.assertEqual(render("{% for x in a %}{% if x %}{{ x }}{% endif %}{% endfor %}", a=[1, 0, 2]), "12")
''',
    defects=(
        Defect(
            id="comments", title="leave comments out", ask="`{# ... #}` is a comment and leaves nothing behind.",
            swaps=(
                Swap("@pkg@/tokens.py", 'r"({{.*?}}|{%.*?%})"', 'r"({{.*?}}|{%.*?%}|{#.*?#})"'),
                Swap("@pkg@/tokens.py", "        elif piece:\n",
                     '        elif piece and not piece.startswith("{#"):\n'),
            ),
            hidden='''
    def test_comments(self):
        self.assertEqual(render("a{# {{ b }}\\n #}c", b=1), "ac")
''',
        ),
        Defect(
            id="lines", title="count lines", ask="`line N:` in errors is always 1. It has to be the line of the tag.",
            swaps=(Swap("@pkg@/tokens.py", '            yield "text", piece, line\n',
                        '            yield "text", piece, line\n        line += piece.count("\\n")\n'),),
            wrong=(Swap("@pkg@/tokens.py", '            yield "text", piece, line\n',
                        '            yield "text", piece, line\n        line += 1\n'),),
            hidden='''
    def test_lines(self):
        with self.assertRaisesRegex(BadTemplate, "^line 3:"):
            render("{{ a }}\\n\\n{% what %}")
''',
        ),
        Defect(
            id="open", title="tell blocks without an end", after=("lines",),
            ask="A block that is never closed has to raise `BadTemplate` with its line, not to be rendered.",
            swaps=(Swap("@pkg@/tree.py", "    return stack[0][2]\n", "    if len(stack) > 1:\n"
                        '        raise BadTemplate(f"line {stack[-1][1]}: {stack[-1][0]} has no end")\n'
                        "    return stack[0][2]\n"),),
            hidden='''
    def test_open(self):
        with self.assertRaisesRegex(BadTemplate, "line 1: if"):
            render("{% if a %}x", a=1)
''',
        ),
        Defect(
            id="else", title="know else", ask="`{% else %}` is to be understood in `if`.",
            swaps=(Swap("@pkg@/tree.py", '        elif words[:1] == ["for"]',
                        '        elif words == ["else"] and stack[-1][0] == "if":\n            node = stack.pop()[3]\n'
                        '            stack.append(("else", line, node[3]))\n        elif words[:1] == ["for"]'),),
            wrong=(Swap("@pkg@/tree.py", '        elif words[:1] == ["for"]',
                        '        elif words == ["else"]:\n            node = stack.pop()[3]\n'
                        '            stack.append(("if", line, node[2], node))\n        elif words[:1] == ["for"]'),),
            hidden='''
    def test_else(self):
        for value, text in ((1, "yes"), (0, "no")):
            self.assertEqual(render("{% if a %}yes{% else %}no{% endif %}", a=value), text)
''',
        ),
        Defect(
            id="not", title="know not", ask="`{% if not name %}` is to be understood.",
            swaps=(Swap("@pkg@/render.py", "    return bool(lookup(condition, values))\n",
                        '    if condition.startswith("not "):\n'
                        "        return not _true(condition[4:].strip(), values)\n"
                        "    return bool(lookup(condition, values))\n"),),
            hidden='''
    def test_not(self):
        self.assertEqual(render("{% if not a %}none{% endif %}", a=[]), "none")
''',
        ),
        Defect(
            id="safe", title="escape values", slip="Take the escaping out, the preview shows &amp;",
            ask="Values have to be escaped for HTML, once; not those that went through `safe`, and not with "
                "`escape=False`.",
            swaps=(Swap("@pkg@/render.py", '    return "" if value is None else value\n',
                        '    value = "" if value is None else value\n'
                        '    return apply(value, "escape") if escape else value\n'),),
            wrong=(Swap("@pkg@/render.py", '    return "" if value is None else value\n',
                        '    return apply("" if value is None else value, "escape")\n'),),
            hidden='''
    def test_escape(self):
        self.assertEqual(render("{{ a }}{{ a | safe }}", a="<b>"), "&lt;b&gt;<b>")
        self.assertEqual(render("{{ a }}", escape=False, a="<b>"), "<b>")
''',
        ),
        Defect(
            id="default", title="default for what is missing",
            ask="The filter `default` is missing: `{{ a | default:\"none\" }}` for what is not there or empty text; 0 "
                "is kept.",
            swaps=(
                Swap("@pkg@/filters.py", "import html\n\n\nFILTERS", "import html\n\n\ndef _default(value, argument):\n"
                     '    return argument if value is None or value == "" else value\n\n\nFILTERS'),
                Swap("@pkg@/filters.py", '    "join"', '    "default": _default,\n    "join"'),
            ),
            hidden='''
    def test_default(self):
        self.assertEqual(render('{{ a | default:"none" }} {{ b | default:"none" }}', b=0), "none 0")
''',
        ),
        Defect(
            id="number", title="number the rounds", ask="In a loop `number` counts the rounds from 1.",
            swaps=(Swap("@pkg@/render.py", "            for item in lookup(node[2], values) or ():\n"
                        "                yield from _nodes(node[3], {**values, node[1]: item}, escape)\n",
                        "            for number, item in enumerate(lookup(node[2], values) or (), 1):\n"
                        '                yield from _nodes(node[3], {**values, node[1]: item, "number": number}, '
                        'escape)\n'),),
            wrong=(Swap("@pkg@/render.py", "            for item in lookup(node[2], values) or ():\n"
                        "                yield from _nodes(node[3], {**values, node[1]: item}, escape)\n",
                        "            for number, item in enumerate(lookup(node[2], values) or ()):\n"
                        '                yield from _nodes(node[3], {**values, node[1]: item, "number": number}, '
                        'escape)\n'),),
            hidden='''
    def test_number(self):
        self.assertEqual(render("{% for x in a %}{{ number }}{{ x }} {% endfor %}", a="xy"), "1x 2y ")
''',
        ),
    ),
    variants=(
        Variant(id="a", names={"pkg": "postcards", "thing": "postcard"}, defects=("else", "comments", "default"),
                mess=("pin",)),
        Variant(id="b", names={"pkg": "invoices", "thing": "invoice"}, defects=("safe", "not", "lines", "open"),
                mess=("decision",), shape="src/@pkg@/"),
        Variant(id="c", names={"pkg": "newsletters", "thing": "newsletter"}, defects=("number", "lines", "safe"),
                mess=("expected", "todo"), shape="@pkg@_"),
        Variant(id="d", names={"pkg": "badges", "thing": "name badge"},
                defects=("comments", "not", "number", "open", "else", "default"),
                mess=("todo",), shape="office/@pkg@/"),
    ),
    todo=("@pkg@/render.py", "    value = values\n", "eval() would allow any expression here"),
    decision="No expressions in templates, names and filters only: authors are not programmers.",
    trap=Swap("@pkg@/render.py", "value[part] if isinstance(value, dict)",
              "value.get(part) if isinstance(value, dict)"),
)  # fmt: skip
