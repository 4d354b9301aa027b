"""R43 and R44: no secret and no structure comes out of any text; the size cap holds; the bytes never vary."""

from __future__ import annotations

import json
import re
import typing
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec import Struct, structs

from passdown.model import packet as records
from passdown.model.evidence import Check, Evidence, Statement
from passdown.model.packet import Environment, Packet
from passdown.packet.boundary import strings_of
from passdown.packet.budget import HARD_CAP, fit
from passdown.packet.build import build_packet
from passdown.packet.caps import LISTS, MAPS, TEXTS
from passdown.packet.encode import decode_packet, encode_packet
from passdown.packet.escape import code, fenced, inline
from passdown.packet.headings import LANGUAGES
from passdown.packet.render import TOKEN_BUDGET, render_markdown
from passdown.packet.schema import packet_schema
from passdown.packet.tokens import estimate_tokens
from passdown.redact.scan import Redactor

SECRETS = {
    "github": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "aws": "AKIA" + "QX7ZP4M2N6R5T3VW",
    "openai": "sk-proj-" + "Zk3Jq8Lw2Xv7Rb9Tn4Mc6Yd1Hf5Gs0Pa",
    "slack": "xoxb-" + "847362910475-847362910476-Zk3Jq8Lw2Xv7Rb9Tn4Mc6Yd1",
    "google": "AIza" + "SyD3k9Lw2Xv7Rb9Tn4Mc6Yd1Hf5Gs0PaQ8z",
    "stripe": "sk_live_" + "Zk3Jq8Lw2Xv7Rb9Tn4Mc6Yd1",
    "gitlab": "glpat-" + "Zk3Jq8Lw2Xv7Rb9Tn4Mc",
    "npm": "npm_" + "Zk3Jq8Lw2Xv7Rb9Tn4Mc6Yd1Hf5Gs0PaQ8zW",
    "url": "postgres://app:" + "hunter2Zk3Jq8Lw" + "@db.example.com/app",
    "jwt": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "assignment": "password = 'Zk3Jq8Lw2Xv7Rb9T'",
    "environment": "correct-horse-battery-91",
}  # fmt: skip
"""A secret of each shape, and the part of it that may not appear in any output."""

LEAKS = SECRETS | {
    "url": "hunter2Zk3Jq8Lw", "assignment": "Zk3Jq8Lw2Xv7Rb9T",
}  # fmt: skip


def fill(value: Any, text: str) -> Any:
    """Put the text into every free string of the evidence, inside out."""
    if isinstance(value, Struct):
        hints = typing.get_type_hints(type(value))
        changes = {}
        for name in value.__struct_fields__:
            fixed = typing.Literal in {typing.get_origin(h) for h in (hints[name], *typing.get_args(hints[name]))}
            if not fixed and name not in ("id", "key", "blob", "sha256", "head", "kind"):
                changes[name] = fill(getattr(value, name), text)
        return structs.replace(value, **changes)
    if isinstance(value, tuple):
        return tuple(fill(item, text) for item in value)
    if isinstance(value, str):
        return f"{value} {text}" if value else text
    return value


@pytest.mark.parametrize("name", SECRETS)
def test_planted_secrets_come_out_nowhere(cases: dict[str, Evidence], name: str) -> None:
    evidence = fill(cases["failed_run"], SECRETS[name])
    redactor = Redactor({"DEPLOY_PASSWORD": SECRETS["environment"]})
    packet = build_packet(evidence, redactor=redactor)
    written = encode_packet(packet).decode() + render_markdown(packet) + render_markdown(packet, language="zh")
    assert LEAKS[name] not in written
    assert LEAKS[name][6:] not in written
    assert sum(packet.redactions.values()) > 5
    assert "Secrets masked" in render_markdown(packet)


def test_secret_cut_by_a_cap_does_not_leak(make_evidence, make_chain, make_run) -> None:  # type: ignore[no-untyped-def]
    secret = SECRETS["github"]
    for pad in range(250, 330, 3):
        text = "x" * pad + " " + secret + " y" * 3000
        run = make_run(
            1, 1, error_line=text, note=text, stderr_tail=text, stdout_tail="z " * 500 + secret + "w " * 1000
        )
        packet = build_packet(make_evidence(chains=(make_chain("make", run, tried_after=(text,)),)))
        data = encode_packet(packet).decode()
        assert secret[:12] not in data
        assert secret[-12:] not in data


# --- Markdown ----------------------------------------------------------------------------------------------------

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
NASTY = st.text(
    alphabet=st.sampled_from([*"#*_`~[]()!<>|\\&-=+.:/@1 \n\t\"'ax$;{}^\u2028\x1b\u202e\u200b\r中\x85"]),
    max_size=60,
)  # fmt: skip
PIECES = st.lists(
    st.sampled_from([
        "[a](http://x.y)", "![i](u)", "<b>", "</b>", "<http://x.y>", "# h", "\n# h\n", "```", "~~~", "`", "``", "\\", "\\`", "&lt;",
        "&#60;", "<!--", "-->", "|", "\n|-|-|\n", "[r]: http://x", "[r]", "http://x.y", "www.x.y", "a@b.cc", "@user", "#12", "1. x",
        "- x", "> q", "---", "===", "    code", "<?php", "<![CDATA[", "javascript:alert(1)", "[x", "](", ")", "*a*", "_b_", "$x$", "a",
        "user/repo#1", "GH-1", "\u2028# h", "<a href='x'>", "`code`", "`a``b`", "[`", "`](u)", "\\[a](u)", "mailto:a@b.cc",
    ]),
    max_size=8,
).map("".join)  # fmt: skip


def structure(markdown: str) -> tuple[list[str], set[str]]:
    """Return the headings, and every kind of token that text must not have made."""
    headings: list[str] = []
    kinds: set[str] = set()
    tokens = PARSER.parse(markdown)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            headings.append(f"{token.tag} {tokens[at + 1].content}")
        elif token.type == "html_block" and not re.fullmatch(
            r"<!-- passdown packet [0-9a-f]{0,64} -->\n?", token.content
        ):
            kinds.add("html_block")
        elif token.type in ("code_block", "table_open", "blockquote_open", "hr", "ordered_list_open"):
            kinds.add(token.type)
        for child in token.children or []:
            if child.type in ("link_open", "image", "html_inline", "s_open", "hardbreak"):
                kinds.add(child.type)
    return headings, kinds


@settings(max_examples=400, deadline=None)
@given(st.one_of(NASTY, PIECES), st.one_of(NASTY, PIECES))
def test_text_stays_text(one: str, two: str) -> None:
    lines = [
        f"- {inline(one)} ({inline(two)})",
        f'- "{inline(two)}"  *x*',
        f"- **{code(one) or 'none'}** {inline(two)}",
    ]
    block = "\n".join(["# ours", inline(one) or "none", "", *lines, "", *fenced(one), "", "end"])
    headings, kinds = structure(block)
    assert headings == ["h1 ours"]
    assert kinds == set()
    tokens = PARSER.parse(block)
    assert [t.type for t in tokens if t.type == "fence"] == ["fence"]
    assert tokens[-2].content == "end"


@settings(max_examples=200, deadline=None)
@given(st.one_of(NASTY, PIECES))
def test_no_bare_address_is_left_to_link(text: str) -> None:
    children = PARSER.parse("- " + inline(text))[2:][0:2]
    texts = [c.content if c.type.startswith("text") else "\0" for t in children for c in t.children or []]
    assert not re.search(r"https?://|www\.\w|(?<!\w)@user|\w@b\.cc|(?<!\w)#12\b", "".join(texts))


def template_headings(packet: Packet) -> set[str]:
    return {f"## {word}" for word in LANGUAGES["en"].values()}


@settings(max_examples=40, deadline=None)
@given(st.one_of(NASTY, PIECES))
def test_no_field_can_make_structure(text: str) -> None:
    packet = hostile_packet(text)
    markdown = render_markdown(packet)
    headings, kinds = structure(markdown)
    assert kinds <= set()
    assert headings[0].startswith("h1 Handoff:")
    ours = set(LANGUAGES["en"].values())
    for heading in headings[1:]:
        assert heading.startswith("h2 ")
        assert heading[3:].split(" (base")[0] in ours
    assert len(headings) == len(set(headings)), "no heading twice"
    assert estimate_tokens(markdown) <= TOKEN_BUDGET
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e\u200b]", markdown)
    assert [line for line in markdown.splitlines()[:10] if line == "## Next step"]


_SAMPLE: list[Packet] = []


@pytest.fixture(autouse=True)
def _sample(cases: dict[str, Evidence]) -> None:
    if not _SAMPLE:
        _SAMPLE.append(build_packet(cases["failed_run"]))


def hostile_packet(text: str) -> Packet:
    """A packet of foreign origin: every string, also those no writer of ours would leave, holds the text."""
    packet = _SAMPLE[0]
    kept = {name: getattr(packet, name) for name in ("packet_id", "schema", "schema_version")}
    return structs.replace(fill_lists(packet, text), **kept)


def fill_lists(value: Any, text: str) -> Any:
    if isinstance(value, list):
        return [fill_lists(item, text) for item in value]
    if isinstance(value, dict):
        return {key if key in Packet.__struct_fields__ else text: fill_lists(item, text) for key, item in value.items()}
    if isinstance(value, Struct):
        hints = typing.get_type_hints(type(value))
        changes = {}
        for name in value.__struct_fields__:
            fixed = typing.Literal in {typing.get_origin(h) for h in (hints[name], *typing.get_args(hints[name]))}
            if not fixed:
                changes[name] = fill_lists(getattr(value, name), text)
        return structs.replace(value, **changes)
    return text if isinstance(value, str) else value


def test_hostile_evidence_renders_flat(cases: dict[str, Evidence]) -> None:
    packet = build_packet(cases["hostile"])
    headings, kinds = structure(render_markdown(packet))
    assert kinds == set()
    assert len(headings) == len(set(headings))
    for text in strings_of(json.loads(encode_packet(packet))):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e\u200b\ud800-\udfff]", text)


# --- size and stability ------------------------------------------------------------------------------------------

WILD = st.one_of(
    st.text(max_size=400), st.text(alphabet="中文字", min_size=200, max_size=900), st.just("\\\"" * 400), st.just("é" * 2000), PIECES
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(WILD, st.integers(1, 40))
def test_cap_holds_and_counts_are_exact_for_any_text(text: str, times: int) -> None:
    evidence = _EVIDENCE[0]
    wide = structs.replace(
        fill(evidence, text),
        directives=tuple(fill(evidence.directives[0], f"{i} {text}") for i in range(times)),
        rejections=tuple(fill(evidence.rejections[0], f"{i} {text}") for i in range(times)),
    )
    packet = build_packet(wide)
    data = encode_packet(packet)
    assert len(data) <= HARD_CAP
    assert len(packet.directives) + packet.omitted.get("directives", 0) == times
    assert len(packet.changed_files) + packet.omitted.get("changed_files", 0) >= len(wide.repository.changes)
    assert decode_packet(data) == packet
    assert encode_packet(build_packet(wide)) == data
    assert VALIDATOR.is_valid(json.loads(data)), [e.message for e in VALIDATOR.iter_errors(json.loads(data))]
    assert estimate_tokens(render_markdown(packet)) <= TOKEN_BUDGET


VALIDATOR = jsonschema_rs.validator_for(packet_schema())
_EVIDENCE: list[Evidence] = []


@pytest.fixture(autouse=True)
def _evidence(cases: dict[str, Evidence]) -> None:
    if not _EVIDENCE:
        _EVIDENCE.append(cases["failed_run"])


def test_everything_droppable_drops_in_order(cases: dict[str, Evidence]) -> None:
    packet = build_packet(cases["failed_run"])
    full = len(encode_packet(packet))
    for cap in range(full, 10_000, -1_000):
        smaller = fit(packet, cap)
        assert len(encode_packet(smaller)) <= cap
        assert smaller.next_action == packet.next_action
        assert smaller.verdict_pointer.verification is not None
        assert [r.code for r in smaller.open_risks if r.severity == "block"] == [
            r.code for r in packet.open_risks if r.severity == "block"
        ]
        for name in ("completed", "decisions", "changed_files", "sources", "commands_run", "clues"):
            kept, dropped = len(getattr(smaller, name)), smaller.omitted.get(name, 0)
            assert kept + dropped == len(getattr(packet, name)), name


def test_the_newest_summary_goes_later_than_the_commands(cases: dict[str, Evidence]) -> None:
    said = tuple(Statement(text=f"{name}: {'word ' * 150}", by="harness") for name in ("first", "second"))
    packet = build_packet(structs.replace(cases["session_only"], harness_summaries=said))
    full = len(encode_packet(packet))
    seen = [fit(packet, full - less) for less in range(0, 4000, 100)]
    assert {tuple(p.text.partition(":")[0] for p in small.harness_summaries) for small in seen} == {
        ("first", "second"), ("second",), (),
    }  # fmt: skip
    assert all(small.harness_summaries or not small.commands_run for small in seen)


def test_order_of_mappings_and_environment_do_not_matter(cases: dict[str, Evidence]) -> None:
    evidence = structs.replace(cases["failed_run"], omitted={"chains": 3, "b": 1, "a": 2})
    shuffled = structs.replace(evidence, omitted={"a": 2, "b": 1, "chains": 3})
    one = build_packet(evidence, environment=Environment(os="linux", tools={"git": "2", "uv": "1"}))
    two = build_packet(shuffled, environment=Environment(os="darwin", tools={"uv": "1", "git": "2"}))
    assert one.packet_id == two.packet_id
    assert one.session_id == two.session_id
    assert re.fullmatch("s-[0-9a-f]{12}", one.session_id)
    assert encode_packet(structs.replace(one, environment=Environment())) == encode_packet(
        structs.replace(two, environment=Environment())
    )


def test_identity_leaves_out_status_chain_and_sessions(cases: dict[str, Evidence]) -> None:
    evidence = cases["session_only"]
    longer = structs.replace(
        evidence, sessions=tuple(structs.replace(s, events=s.events + 9) for s in evidence.sessions)
    )
    assert build_packet(longer).packet_id == build_packet(evidence).packet_id
    assert build_packet(evidence, session_id="mine").packet_id != build_packet(evidence).packet_id
    other = structs.replace(evidence, directives=())
    assert build_packet(other).packet_id != build_packet(evidence).packet_id


def test_paths_are_kept_exactly(make_evidence, make_repository_facts) -> None:  # type: ignore[no-untyped-def]
    from passdown.model.evidence import Change

    names = [
        "e\u0301.txt",
        "\u00e9.txt",
        "a\nb.txt",
        "tab\there",
        "\u202egnp.exe",
        "weird\\\\name\\xff",
        " lead and trail ",
    ]
    changes = tuple(Change(path=name, status="M") for name in names)
    packet = build_packet(make_evidence(repository=make_repository_facts(changes=changes, changes_total=len(changes))))
    shown = {file.path for file in packet.changed_files}
    assert {"e\u0301.txt", "\u00e9.txt", "weird\\\\name\\xff", " lead and trail "} <= shown
    assert {"a\\x0ab.txt", "tab\\x09here", "\\u202egnp.exe"} <= shown


def test_every_text_and_list_has_a_cap() -> None:
    structs_of = [
        r for r in vars(records).values() if isinstance(r, type) and issubclass(r, Struct) and r is not Struct
    ]
    for record in {*structs_of, Check}:
        for name, hint in typing.get_type_hints(record).items():
            parts = typing.get_args(hint) or (hint,)
            owner = f"{record.__name__}.{name}" if record is not Packet else name
            if str in parts and typing.get_origin(hint) is not dict:
                assert name in TEXTS.get(record.__name__, {}), owner
            if typing.get_origin(hint) is list:
                assert owner in LISTS, owner
            if typing.get_origin(hint) is dict and name != "ext":
                assert owner in MAPS, owner


@pytest.mark.parametrize("name", ["session_only", "failed_run", "passed_run", "cjk", "hostile", "empty"])
def test_building_upon_itself_changes_nothing(cases: dict[str, Evidence], name: str) -> None:
    packet = build_packet(cases[name])
    assert build_packet(cases[name], previous=packet).packet_id == packet.packet_id


def test_bytes_do_not_depend_on_the_process(cases: dict[str, Evidence]) -> None:
    import os
    import subprocess
    import sys
    from pathlib import Path

    script = (
        "import importlib.util, sys, hashlib;"
        "spec = importlib.util.spec_from_file_location('c', sys.argv[1]); c = importlib.util.module_from_spec(spec);"
        "spec.loader.exec_module(c);"
        "from passdown.packet.build import build_packet; from passdown.packet.encode import encode_packet;"
        "print([hashlib.sha256(encode_packet(build_packet(make()))).hexdigest() for make in c.CASES.values()])"
    )
    found = set()
    for seed, zone in (("1", "Asia/Tokyo"), ("2", "America/Lima")):
        env = os.environ | {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}
        command = [sys.executable, "-c", script, str(Path(__file__).with_name("conftest.py"))]
        found.add(subprocess.run(command, env=env, capture_output=True, check=True).stdout)
    assert len(found) == 1
