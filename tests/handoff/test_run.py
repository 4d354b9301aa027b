"""`passdown run`: what the user sees is the command; what is kept is a record without secrets, wherever it belongs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

LOCAL = ".git/passdown/feedback_record.jsonl"


def records(repository: Any, path: str = LOCAL) -> list[dict[str, Any]]:
    """The rows of a log."""
    file = repository.root / path
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_output_exit_code_and_record(passdown: Any, repository: Any) -> None:
    done = passdown(
        "run", "--note", "expect three", "--", "sh", "-c", "echo out; echo err >&2; exit 3", folder=repository.root
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, b"out\n", b"err\n")
    (row,) = records(repository)
    assert row["command"] == ["sh", "-c", "echo out; echo err >&2; exit 3"]
    assert (row["exit_code"], row["stdout_tail"], row["stderr_tail"]) == (3, "out", "err")
    assert (row["agent_note"], row["error"], row["cwd"]) == ("expect three", None, ".")
    assert row["truncations"] == row["redactions"] == {"stdout": 0, "stderr": 0}
    assert len(row["command_id"]) == 12
    assert row["head"] == repository.git("rev-parse", "HEAD")
    assert row["branch"] == "main"
    assert "tree_after" not in row
    assert (repository.root / LOCAL).stat().st_mode & 0o777 == 0o600
    assert repository.git("status", "--porcelain") == ""


def test_options_of_the_command_are_its_own(passdown: Any, repository: Any) -> None:
    done = passdown("run", "echo", "--note", "-x", "--help", folder=repository.root)
    assert done.stdout == b"--note -x --help\n"
    done = passdown("run", "--shell", "--", "echo $((6*7)) | tr 4 5", folder=repository.root)
    assert done.stdout == b"52\n"
    assert records(repository)[-1]["command"] == "echo $((6*7)) | tr 4 5"
    assert passdown("run", folder=repository.root).returncode == 2


def test_the_folder_is_where_the_user_stands(passdown: Any, repository: Any) -> None:
    repository.write("sub/x", "")
    done = passdown("run", "--", "pwd", folder=repository.root / "sub")
    assert done.stdout.strip().endswith(b"/sub")
    passdown("-C", "sub", "run", "--", "pwd", folder=repository.root)
    assert [row["cwd"] for row in records(repository)] == ["sub", "sub"]


@pytest.mark.parametrize(("words", "code", "said"), [
    (["no-such-thing"], 127, b"command not found"), (["./README.md"], 126, b"cannot be run"),
    (["--timeout", "0.2", "--", "sleep", "30"], 124, b"timed out after 0.2 s"),
])  # fmt: skip
def test_no_result_says_why(words: list[str], code: int, said: bytes, passdown: Any, repository: Any) -> None:
    done = passdown("run", *words, folder=repository.root)
    assert done.returncode == code
    assert said in done.stderr
    (row,) = records(repository)
    assert row["exit_code"] == (None if code == 124 else code)
    assert said.decode() in row["error"]


def test_death_by_signal_is_ours_too(passdown: Any, repository: Any) -> None:
    for number in (signal.SIGKILL, signal.SIGTERM):
        done = passdown("run", "--", "sh", "-c", f"kill -{int(number)} $$", folder=repository.root)
        assert done.returncode == -number
        assert records(repository)[-1]["exit_code"] == 128 + number


def test_stdin_passes_through(repository: Any, isolated_home: Path) -> None:
    argv = [sys.executable, "-m", "passdown", "run", "--", "cat"]
    data = b"a\xff\0" + os.urandom(300_000)
    done = subprocess.run(argv, cwd=repository.root, input=data, capture_output=True, check=True)
    assert done.stdout == data


def test_both_ends_of_a_long_output_are_kept(passdown: Any, repository: Any) -> None:
    done = passdown("run", "--", "seq", "100000", folder=repository.root)
    assert len(done.stdout.split()) == 100_000
    (row,) = records(repository)
    lines = row["stdout_tail"].splitlines()
    assert lines[:5] == ["1", "2", "3", "4", "5"]
    assert lines[5] == "[... 99965 lines truncated ...]"
    assert lines[6:] == [str(number) for number in range(99_971, 100_001)]
    assert row["truncations"] == {"stdout": 99_965, "stderr": 0}


def test_secrets_never_touch_the_disk(passdown: Any, repository: Any) -> None:
    token = "ghp_" + "Zx8Lq2Vt9Rw4Ny7Kc1Pd5Hs3Jm6Bf0Ga2Te8"
    value = "Kw93-vLq8-PzX2-unlikely"
    lines = ["MIIEowIBAAKCAQEAxd" + "Qk9" * 14] * 4000
    key = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *lines, "-----END RSA " + "PRIVATE KEY-----"])
    repository.write("out.txt", f"\x1b[31mtoken {token[:20]}\x1b[0m{token[20:]}\nvalue {value}\n" + "x\n" * 50)
    repository.write("key.txt", f"{key}\nend\n")
    script = 'cat out.txt; cat key.txt >&2; echo "$1"'
    done = passdown(
        "run", "--note", f"with {token}", "--", "sh", "-c", script, "sh", token, "--password", value,
        folder=repository.root, SERVICE_PASSWORD=value,
    )  # fmt: skip
    assert token.encode() in done.stdout  # the user sees what the command printed
    text = (repository.root / LOCAL).read_text()
    for secret in (token, value, "Qk9Qk9Qk9Qk9"):
        assert secret not in text
    (row,) = records(repository)
    assert "[redacted:" in row["agent_note"]
    assert sum(row["redactions"].values()) >= 2
    for file in (repository.root / ".git/passdown").iterdir():
        assert value.encode() not in file.read_bytes()


def test_bytes_that_are_no_text_and_progress_bars(passdown: Any, repository: Any) -> None:
    repository.write("out.bin", b"caf\xe9 \xff\n" + b"".join(b"\r%3d %%" % n for n in range(100)) + b"\nend\x1b[0m\n")
    done = passdown("run", "--", "cat", "out.bin", folder=repository.root)
    assert done.stdout == (repository.root / "out.bin").read_bytes()
    assert records(repository)[0]["stdout_tail"] == "caf\ufffd \ufffd\n 99 %\nend"


def test_a_line_without_an_end_is_bounded(passdown: Any, repository: Any) -> None:
    passdown("run", "--", "head", "-c", "3000000", "/dev/zero", folder=repository.root)
    passdown("run", "--", "sh", "-c", "yes | tr -d '\\n' | head -c 3000000", folder=repository.root)
    assert (repository.root / LOCAL).stat().st_size < 80_000
    assert all(row["truncations"]["stdout"] >= 0 for row in records(repository))


def test_what_the_run_does_to_the_tree_is_recorded(passdown: Any, repository: Any) -> None:
    passdown("run", "--", "sh", "-c", "echo new >made.txt", folder=repository.root)
    passdown("run", "--", "sh", "-c", "echo more >>README.md", folder=repository.root)
    passdown("run", "--", "true", folder=repository.root)
    made, edited, plain = records(repository)
    assert made["tree_after"] == edited["tree"] != made["tree"]
    assert (made["edited"], edited["edited"]) == (0, 1)
    assert "tree_after" not in plain
    assert plain["tree"] == edited["tree_after"]


def test_the_project_log_is_used_when_git_ignores_it_or_the_configuration_names_it(
    passdown: Any, repository: Any
) -> None:
    repository.write("feedback_record.jsonl", "")
    passdown("run", "--", "true", folder=repository.root)
    assert len(records(repository)) == 1  # an own log that git sees would get dirty
    repository.write(".gitignore", "feedback_record.jsonl\n")
    passdown("run", "--", "true", folder=repository.root)
    assert len(records(repository, "feedback_record.jsonl")) == 1
    repository.write("passdown.toml", '[artifacts]\nfeedback = "logs/runs.jsonl"\n')
    passdown("run", "--", "true", folder=repository.root)
    assert len(records(repository, "logs/runs.jsonl")) == 1
    assert len(records(repository)) == 1


def test_a_torn_line_is_closed_first(passdown: Any, repository: Any) -> None:
    (repository.root / ".git/passdown").mkdir()
    (repository.root / LOCAL).write_text('{"command": ["tor')
    passdown("run", "--", "true", folder=repository.root)
    lines = (repository.root / LOCAL).read_text().splitlines()
    assert lines[0] == '{"command": ["tor'
    assert json.loads(lines[1])["exit_code"] == 0


def test_the_local_log_rotates(passdown: Any, repository: Any) -> None:
    (repository.root / ".git/passdown").mkdir()
    for number in range(1, 6):
        (repository.root / f"{LOCAL}.{number}").write_text(f'{{"command": "old {number}", "exit_code": 0}}\n')
    (repository.root / LOCAL).write_text(
        ('{"command": "x", "exit_code": 0, "stdout_tail": "' + "y" * 1000 + '"}\n') * 1100
    )
    passdown("run", "--", "true", folder=repository.root)
    assert len(records(repository)) == 1
    assert len(records(repository, f"{LOCAL}.1")) == 1100
    assert records(repository, f"{LOCAL}.5")[0]["command"] == "old 4"


@pytest.mark.parametrize("spoil", ["no repository", "link", "folder", "read only", "bad configuration"])
def test_a_record_that_cannot_be_written_changes_nothing_else(
    spoil: str, passdown: Any, repository: Any, tmp_path: Path
) -> None:
    folder = repository.root
    if spoil == "no repository":
        folder = tmp_path / "plain"
        folder.mkdir()
    elif spoil == "link":
        (folder / ".git/passdown").mkdir()
        (folder / LOCAL).symlink_to(tmp_path / "elsewhere")
    elif spoil == "folder":
        (folder / LOCAL).mkdir(parents=True)
    elif spoil == "read only":
        (folder / ".git/passdown").write_text("")
    else:
        repository.write("passdown.toml", "nonsense = ")
    done = passdown("run", "--", "sh", "-c", "echo hi; exit 5", folder=folder)
    assert (done.returncode, done.stdout) == (5, b"hi\n")
    assert done.stderr.startswith(b"passdown: not recorded: ")
    assert not (tmp_path / "elsewhere").exists()


def test_many_runs_at_once_are_all_recorded(passdown: Any, repository: Any) -> None:
    codes: list[int] = []

    def one(number: int) -> None:
        codes.append(passdown("run", "--", "sh", "-c", f"seq 500; exit {number}", folder=repository.root).returncode)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == sorted(row["exit_code"] for row in records(repository)) == list(range(6))


def test_a_run_of_another_worktree_or_branch_is_no_evidence_here(
    passdown: Any, repository: Any, tmp_path: Path
) -> None:
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    passdown("run", "--", "sh", "-c", "exit 1", folder=tmp_path / "side")
    passdown("run", "--", "sh", "-c", "exit 2", folder=repository.root)
    repository.git("switch", "-q", "-c", "other")
    repository.commit("on the other branch")
    passdown("run", "--", "sh", "-c", "exit 4", folder=repository.root)
    repository.git("switch", "-q", "main")
    assert [row["exit_code"] for row in records(repository)] == [1, 2, 4]  # one log for all
    assert ran(passdown, repository.root) == [2]
    assert ran(passdown, tmp_path / "side") == [1]
    repository.git("merge", "-q", "other")
    assert ran(passdown, repository.root) == [2, 4]


def ran(passdown: Any, folder: Path) -> list[int]:
    """Exit codes of the commands in the packet that would be written."""
    done = passdown(
        "wrap", "--interim", "--dry-run", "--json", "--next", "Write docs/limits.md for the limits", folder=folder
    )
    assert done.returncode == 0, done.stderr
    return sorted(entry["last_exit"] for entry in json.loads(done.stdout)["commands_run"])
