"""The skill: made for the project's own paths, its commands run as they stand in it, and the folder goes as it came."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from passdown.agents.table import TABLE
from passdown.handoff.writing.layout import read_layout_of
from passdown.handoff.writing.rows import EXAMPLES, rows_schema
from passdown.handoff.writing.skill import DESCRIPTION, MAIN, NAME, PACKET, ROWS, own_digests, skill_files
from passdown.handoff.writing.words import agents_block
from passdown.model.workbench import ClueRow, DecisionRow, FeedbackRow, NoteRow, QuestionRow
from passdown.workbench.document import Notes
from passdown.workbench.load import load_workbench

ROOT = Path(__file__).resolve().parent.parent.parent
FILLED = {
    "<what you chose>": "Cut at n-1", "<why>": "the ellipsis counts", "<what you turned down>": "Cut at n",
    "<the wish>": "Keep the names", "<what you tried>": "Cutting at n", "<why it failed>": "one too long",
    "<what is wrong, with the test's name>": "test_truncate stays red", "<the question>": "May titles be empty?",
    "<what you do until it is answered>": "Allow it", "<what you found out>": "The ellipsis is one character",
    "<path:line>": "src/slug.py:1", "<the test command>": "false", "<the next step>": "Cut at n-1 in src/slug.py",
    "<its last lines>": "AssertionError",
}  # fmt: skip
LESSON = {
    "outputs/decisions.jsonl": "", "outputs/questions.jsonl": "", "outputs/clues.jsonl": "",
    "outputs/feedback_record.jsonl": "", "agent_state.json": '{"active_task_id": "T-1", "next_action": "Go on"}',
    "task_board.json": '[{"id": "T-1", "title": "Slugs", "status": "in_progress"}]', ".gitignore": "outputs/feedback*\n",
}  # fmt: skip
DOCS = {
    "passdown.toml": 'output = "docs/handoff"\nmirror = ".ai/STATE.md"\ntest-command = "python3 -m unittest none"\n'
    '[artifacts]\ndecisions = "docs/agent/decisions.jsonl"\nquestions = "docs/agent/questions.jsonl"\n'
    'clues = "docs/agent notes/clues.jsonl"\nfeedback = "docs/agent/feedback_record.jsonl"\n',
    "docs/agent-rules.md": "# Rules\n\n## no-new-names\n\nKeep the names.\n",
}
LAYOUTS: dict[str, dict[str, str]] = {"lesson": LESSON, "plain": {}, "docs": DOCS}


@pytest.fixture(params=LAYOUTS)
def project(request: Any, repository: Any) -> Any:
    """A repository in one of the three layouts."""
    for path, text in (LAYOUTS[request.param] | {"src/slug.py": "def slug(text): ...\n"}).items():
        repository.write(path, text)
    repository.commit("Begin")
    return repository


def section(text: str, title: str) -> str:
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def commands(text: str) -> list[str]:
    """Return the commands of a Markdown text, its places filled in."""
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    for place, words in FILLED.items():
        lines = [line.replace(place.replace("'", "'\\''"), words).replace(place, words) for line in lines]
    assert "<" not in "".join(lines)
    return lines


def obey(root: Path, line: str) -> int:
    """Run a line in bash, with passdown on the path."""
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(["bash", "-c", line], cwd=root, env=env, capture_output=True, check=False).returncode


def main_text(root: Path) -> str:
    return skill_files(read_layout_of(root))[MAIN].decode()


def judge(project: Any, passdown: Callable[..., Any]) -> dict[str, Any]:
    """Return the packet made of what was left, after its schema was asked."""
    done = passdown("wrap", "--interim", "--json", folder=project.root)
    assert done.returncode == 0, done.stderr.decode()
    place = next(path for path in json.loads(done.stdout)["paths"] if path.endswith(".json"))
    packet: dict[str, Any] = json.loads((project.root / place).read_bytes())
    schema = json.loads((ROOT / "schema/handoff-v1.schema.json").read_bytes())
    jsonschema_rs.validator_for(schema).validate(packet)
    return packet


def wanted_in(packet: dict[str, Any]) -> None:
    assert [(d["choice"], d["why"], d["rejected"]) for d in packet["decisions"]] == [
        ("Cut at n-1", "the ellipsis counts", ["Cut at n"])
    ]
    assert [p["text"] for p in packet["preferences"]] == ["Keep the names"]
    assert "Cutting at n" in [f["what"] for f in packet["failed_attempts"]]
    assert "test_truncate stays red" in [r["detail"] for r in packet["open_risks"]]
    assert [(q["question"], q["default"]) for q in packet["questions_for_human"]] == [
        ("May titles be empty?", "Allow it")
    ]
    assert [(c["text"], c["anchors"]) for c in packet["clues"]] == [
        ("The ellipsis is one character", ["src/slug.py:1"])
    ]
    assert packet["next_action"]["text"] == "Cut at n-1 in src/slug.py"
    assert {item.get("by", "agent") for key in ("decisions", "clues") for item in packet[key]} == {"agent"}


def test_its_commands_leave_what_the_packet_needs(project: Any, passdown: Callable[..., Any]) -> None:
    text = main_text(project.root)
    assert obey(project.root, commands(section(text, "Start"))[0]) == 4
    for line in commands(section(text, "During the work")):
        # An agent asks; here a person would.
        code = obey(project.root, f"CLAUDECODE=1 {line}")
        assert code == 0 or line.startswith("passdown run"), line
    step, check = commands(section(text, "Before you stop"))[:2]
    assert obey(project.root, f"CLAUDECODE=1 {step}") == 0
    assert obey(project.root, check) in (0, 3)
    wanted_in(judge(project, passdown))
    layout = read_layout_of(project.root)
    log = project.root / (layout.feedback if layout.recorded else ".git/passdown/feedback_record.jsonl")
    assert json.loads(log.read_text().splitlines()[-1])["exit_code"] != 0


def read_config(root: Path) -> Any:
    from passdown.config import load_config

    return load_config(root)


def test_its_rows_by_hand_leave_the_same(project: Any, passdown: Callable[..., Any]) -> None:
    for line in commands(section(main_text(project.root), "Without passdown")):
        assert obey(project.root, line) == 0
    bench = load_workbench(project.root, read_config(project.root))
    assert [finding for finding in bench.findings if finding.severity != "info"] == []
    assert [row.exit_code for row in bench.feedback or ()] == [1]
    wanted_in(judge(project, passdown))


def test_it_names_this_projects_paths(project: Any) -> None:
    layout, text = read_layout_of(project.root), main_text(project.root)
    for path in (*layout.logs.values(), layout.output, layout.mirror, *(path for path, _ in layout.plans)):
        assert path in text
        assert path in agents_block(layout) or path in (layout.output, layout.feedback)
    assert text.count("\n") <= 120
    assert max(len(line) for line in text.splitlines() if not line.startswith(("printf", "description"))) <= 120


def test_its_front_matter_is_what_agents_require(project: Any) -> None:
    front = main_text(project.root).split("---\n")[1].splitlines()
    assert front[0] == f"name: {NAME}"
    assert re.fullmatch(r"[a-z0-9-]{1,64}", NAME)
    assert json.loads(front[1].removeprefix("description: ")) == DESCRIPTION  # a quoted YAML text without escapes
    assert 50 < len(DESCRIPTION) <= 1024


def test_the_schemas_are_the_shipped_one_and_that_of_the_readers(project: Any) -> None:
    files = skill_files(read_layout_of(project.root))
    assert files[PACKET] == (ROOT / "schema/handoff-v1.schema.json").read_bytes()
    assert json.loads(files[ROWS]) == rows_schema()
    validator = jsonschema_rs.validator_for(rows_schema())
    for example in EXAMPLES:
        validator.validate(example.row)
    assert not validator.is_valid({"kind": "next"})
    records = {"decision": DecisionRow, "note": NoteRow, "question": QuestionRow, "clue": ClueRow}
    for name, record in records.items():
        known = {field.name for field in msgspec.structs.fields(record)} - {"line"}
        said = set(rows_schema()["$defs"][name]["properties"])
        assert said - {"state"} == known - {"withdrawn", "state"} | (said & {"withdrawn"}), name
    assert set(rows_schema()["$defs"]["feedback"]["properties"]) <= {
        f.name for f in msgspec.structs.fields(FeedbackRow)
    }


def test_every_row_of_the_schema_is_read_without_a_word(repository: Any) -> None:
    from passdown.workbench.clues import read_clues
    from passdown.workbench.notes import read_log
    from passdown.workbench.questions import read_questions

    values = {"kind": None, "by": "agent", "scored_by": "agent", "answered_by": "human", "at": "2026-01-02T03:04:05Z",
              "asked_at": 1, "id": "X-1", "head": "ab" * 20, "score": 1, "impact": 1, "irreversibility": 1, "authority": 2,
              "severity": "warn", "status": "answered", "state": "made", "pinned": True, "withdrawn": False}  # fmt: skip
    readers: dict[str, Any] = {"decision": read_log, "note": read_log, "question": read_questions, "clue": read_clues}
    for name, read in readers.items():
        body = rows_schema()["$defs"][name]["properties"]
        row = {key: values.get(key, ["a"] if kind.get("type") == "array" else "a") for key, kind in body.items()}
        kinds = body.get("kind", {"enum": [None]})["enum"]
        for kind in kinds:
            notes = Notes("x")
            line = json.dumps({key: value for key, value in (row | {"kind": kind}).items() if value is not None})
            read(line.encode(), notes)
            assert notes.findings == [], (name, kind)


# --- the files ---------------------------------------------------------------------------------------------------


def tree(root: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*")) if ".git" not in path.relative_to(root).parts
    }  # fmt: skip


def test_installed_twice_and_removed_nothing_is_left(project: Any, passdown: Callable[..., Any]) -> None:
    project.write(".claude/settings.json", "{}")
    before = tree(project.root)
    dry = passdown("skill", "install", "--all", "--dry-run", folder=project.root)
    assert b"+name: passdown" in dry.stdout
    assert tree(project.root) == before
    done = passdown("skill", "install", "--all", folder=project.root)
    assert done.returncode == 0, done.stderr.decode()
    after = tree(project.root)
    folders = sorted({row.skills for row in TABLE if row.skills})
    assert [path for path in after if path.endswith(MAIN)] == [f"{folder}/{NAME}/{MAIN}" for folder in folders]
    again = passdown("skill", "install", "--all", folder=project.root)
    assert (again.stdout, tree(project.root)) == (b"", after)
    places = json.loads(passdown("skill", "status", "--json", folder=project.root).stdout)["places"]
    assert {place["state"] for place in places} == {"installed"}
    assert passdown("skill", "uninstall", folder=project.root).returncode == 0
    assert tree(project.root) == before


def test_what_it_commits_is_clean_and_removed_in_another_clone(
    repository: Any, passdown: Callable[..., Any], tmp_path: Path
) -> None:
    before = tree(repository.root)
    hint = passdown("skill", "install", "claude", folder=repository.root).stderr.decode()
    assert (
        "git add -- .claude/skills/passdown && git commit -q -m 'Add the skill of passdown' -- .claude/skills/passdown"
        in hint
    )
    repository.commit("Teach agents")
    clone = tmp_path / "clone"
    repository.git("clone", "-q", str(repository.root), str(clone))
    done = passdown("skill", "uninstall", folder=clone, XDG_STATE_HOME=str(tmp_path / "elsewhere"))
    assert done.returncode == 0
    left = tree(clone)
    assert {path for path, data in left.items() if data is not None} == {p for p, d in before.items() if d is not None}
    assert not (clone / ".claude/skills/passdown").exists()


def test_a_persons_own_skill_and_an_edited_one_are_left(repository: Any, passdown: Callable[..., Any]) -> None:
    own = repository.write(".claude/skills/passdown/SKILL.md", "---\nname: passdown\n---\nMine.\n")
    done = passdown("skill", "install", "claude", "codex", folder=repository.root)
    assert done.returncode == 7
    assert b"was not written by passdown" in done.stderr
    assert own.read_text() == "---\nname: passdown\n---\nMine.\n"
    assert not (own.parent / "references").exists()
    edited = repository.root / ".agents/skills/passdown/SKILL.md"  # the others are done all the same
    text = edited.read_text()
    edited.write_text(text.replace("# Handing work over", "# Ours"))
    kept = tree(repository.root)
    for verb in ("install", "uninstall"):
        done = passdown("skill", verb, "codex", folder=repository.root)
        assert (done.returncode, b"SKILL.md: was edited" in done.stderr) == (7, True)
        assert tree(repository.root) == kept
    states = json.loads(passdown("skill", "status", "--json", folder=repository.root).stdout)["places"]
    assert {place["path"]: place["state"] for place in states} == {
        ".claude/skills/passdown": "foreign", ".agents/skills/passdown": "edited", ".qwen/skills/passdown": "missing",
    }  # fmt: skip
    edited.write_text(text + "One more word.\n")  # behind our last line
    for verb in ("install", "uninstall"):
        done = passdown("skill", verb, "codex", folder=repository.root)
        assert (done.returncode, b"SKILL.md: was edited" in done.stderr) == (7, True)
    edited.write_bytes(text.replace("\n", "\r\n").encode())  # another system's line ends are no edit
    assert passdown("skill", "uninstall", "codex", folder=repository.root).returncode == 0
    assert not (repository.root / ".agents").exists()


def test_it_is_renewed_when_the_project_changed(repository: Any, passdown: Callable[..., Any]) -> None:
    passdown("skill", "install", "codex", folder=repository.root)
    place = repository.root / ".agents/skills/passdown"
    repository.write("passdown.toml", 'test-command = "make proof"\n[artifacts]\nclues = "notes/clues.jsonl"\n')
    (place / ROWS).unlink()
    assert b"old" in passdown("skill", "status", folder=repository.root).stdout
    assert passdown("skill", "install", "codex", folder=repository.root).returncode == 0
    text = (place / MAIN).read_text()
    assert "passdown run -- make proof" in text
    assert "notes/clues.jsonl" in text
    assert own_digests(text.encode())
    assert (place / ROWS).exists()


def test_folders_that_are_one_and_a_link_that_leads_out(
    repository: Any, passdown: Callable[..., Any], tmp_path: Path
) -> None:
    (repository.root / ".agents/skills").mkdir(parents=True)
    (repository.root / ".claude").mkdir()
    (repository.root / ".claude/skills").symlink_to("../.agents/skills")
    (repository.root / ".qwen").symlink_to(tmp_path)
    done = passdown("skill", "install", "--all", folder=repository.root)
    assert done.returncode == 8
    assert b"leads out of the project" in done.stderr
    assert list(tmp_path.glob("**/SKILL.md")) == [repository.root / ".agents/skills/passdown/SKILL.md"]
    assert passdown("skill", "uninstall", "claude", "codex", folder=repository.root).returncode == 0
    assert list((repository.root / ".agents/skills").iterdir()) == []


def test_hostile_paths_of_a_configuration_stay_words(repository: Any, passdown: Callable[..., Any]) -> None:
    repository.write("passdown.toml", '[artifacts]\nclues = "a`\\n## Start\\n$(touch x)\'/c.jsonl"\n')
    text = main_text(repository.root)
    assert text.count("\n## Start\n") == 1
    for line in commands(section(text, "Without passdown")):
        obey(repository.root, line)
    assert not (repository.root / "x").exists()


@pytest.mark.parametrize("path", ["../out/clues.jsonl", "/tmp/clues.jsonl", "a/../../clues.jsonl"])
def test_no_agent_is_taught_to_write_outside(path: str, repository: Any, passdown: Callable[..., Any]) -> None:
    repository.write("passdown.toml", f'[artifacts]\nclues = "{path}"\n')
    for words in (("skill", "install", "codex"), ("skill", "show"), ("init", "--agents-md")):
        assert passdown(*words, folder=repository.root).returncode == 8
    assert not (repository.root / ".agents").exists()
    assert not (repository.root / "AGENTS.md").exists()


def test_show_and_init(repository: Any, passdown: Callable[..., Any]) -> None:
    shown = passdown("skill", "show", folder=repository.root).stdout.decode()
    assert shown == main_text(repository.root)
    assert json.loads(passdown("skill", "show", "--rows", folder=repository.root).stdout) == rows_schema()
    files = json.loads(passdown("skill", "show", "--json", folder=repository.root).stdout)["files"]
    assert sorted(files) == sorted([MAIN, ROWS, PACKET])
    done = passdown("init", "--skill", folder=repository.root)
    assert done.returncode == 0
    assert (repository.root / ".agents/skills/passdown/SKILL.md").read_text() != ""
    assert passdown("skill", "install", "nobody", folder=repository.root).returncode == 2


def test_the_block_is_replaced_when_the_project_changed(repository: Any, passdown: Callable[..., Any]) -> None:
    repository.write("AGENTS.md", "# Rules\n\nBe kind.\n")
    passdown("init", "--agents-md", folder=repository.root)
    repository.write("outputs/decisions.jsonl", "")
    passdown("init", "--agents-md", folder=repository.root)
    text = (repository.root / "AGENTS.md").read_text("utf-8")
    assert text.count("passdown:begin") == 1
    assert text.startswith("# Rules\n\nBe kind.\n\n")
    assert "`outputs/decisions.jsonl`" in text
