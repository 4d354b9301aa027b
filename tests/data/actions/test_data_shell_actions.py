"""Shell texts and the actions that they come to: a table written by hand."""

from __future__ import annotations

import pytest

from passdown.data.actions.canonical import Canonicalizer
from passdown.data.actions.keys import key
from passdown.model.session import ToolCall

PATCH = """*** Begin Patch
*** Update File: src/a.py
@@
-a
+b
*** Add File: n.py
+x
*** Delete File: o.py
*** End Patch
"""

LOOKING = [
    ("cat src/a.py", "READ src/a.py"),
    ("cat /testbed/src/a.py", "READ src/a.py"),
    ("cat ./src/../src/a.py", "READ src/a.py"),
    ("cat a.py b.py", "READ a.py | READ b.py"),
    ("cat -n src/a.py | head -50", "READ src/a.py[0:50]"),
    ("cat src/a.py | head", "READ src/a.py[0:50]"),
    ("cat src/a.py | grep -n foo | head", "READ src/a.py"),
    ("nl -ba src/a.py | sed -n '60,90p'", "READ src/a.py[50:100]"),
    ("sed -n '1,50p' a.py", "READ a.py[0:50]"),
    ("sed -n '51,60p' a.py", "READ a.py[50:100]"),
    ("sed -n 10,60p a.py", "READ a.py[0:100]"),
    ("sed -n '10,60p;200,230p' a.py", "READ a.py[0:250]"),
    ("sed -n '120,$p' a.py", "READ a.py[100:]"),
    ("sed -n '/def foo/,/^def/p' a.py", "READ a.py"),
    ("sed '5q' a.py", "READ a.py[0:50]"),
    ("awk 'NR>=120 && NR<=180' a.py", "READ a.py[100:200]"),
    ("awk '{print $1}' a.txt", "READ a.txt"),
    ("head -n 120 a.py", "READ a.py[0:150]"),
    ("head -3 a.py", "READ a.py[0:50]"),
    ("head a.py", "READ a.py[0:50]"),
    ("tail -n 20 a.py", "READ a.py[-50:]"),
    ("tail -n +200 a.py", "READ a.py[150:]"),
    ("tail -f log.txt", "READ log.txt[-50:]"),
    ("wc -l a.py", "READ a.py"),
    ("jq '.a' x.json", "READ x.json"),
    ("diff a.py b.py", "READ a.py | READ b.py"),
    ("cat < a.py", "READ a.py"),
    ("grep -rn 'def foo' src | head -20", "SEARCH def foo @ src"),
    ("grep -n foo a.py", "SEARCH foo @ a.py"),
    ("grep -e foo -e bar a.py", "SEARCH foo @ a.py"),
    ("grep -A 3 -B3 foo a.py", "SEARCH foo @ a.py"),
    ("grep -rn foo", "SEARCH foo @ ."),
    ("rg -n 'foo bar' -g '*.ts' src test", "SEARCH foo bar @ src test"),
    ("rg --files -g '*.py'", "SEARCH *.py @ ."),
    ("git grep -n foo -- src", "SEARCH foo @ src"),
    ("find . -name '*.py' -not -path './v/*'", "SEARCH *.py @ ."),
    ("find src tests -type f", "SEARCH src tests"),
    ("find . -name '*.py' | xargs grep foo", "SEARCH *.py @ ."),
    ("find . -name '*.py' -exec grep -l foo {} \\;", "SEARCH *.py @ ."),
    ("fd foo src", "SEARCH foo @ src"),
    ("ls", "SEARCH ."),
    ("ls -la /testbed/src", "SEARCH src"),
    ("tree -L 2", "SEARCH ."),
    ("which python", "SEARCH program python"),
    ("command -v uv", "SEARCH program uv"),
    ("pwd", "READ env:pwd"),
    ("env | grep FOO", "READ env:env"),
    ("python --version", "READ env:python"),
    ("pip list | grep django", "READ env:pip list"),
    ("curl -s https://x.org/a | jq .b", "READ url:https://x.org/a"),
    ("curl -X POST -d '{}' https://x.org/a", "RUN curl https://x.org/a"),
    ("x=$(cat a.py); echo \"$x\"", "READ a.py"),
    ("diff <(cat a) <(cat b)", "READ a | READ b | READ <(cat a) | READ <(cat b)"),
]  # fmt: skip

CHANGING = [
    ("sed -i 's/a/b/' src/a.py", "EDIT src/a.py"),
    ("sed -i.bak -e 's/x/y/' -e '/z/d' f1 f2", "EDIT f1 | EDIT f2"),
    ("sed -i '' 's/a/b/' a.py", "EDIT a.py"),
    ("perl -pi -e 's/a/b/' a.py", "EDIT a.py"),
    ("cat > f.py <<'EOF'\nprint('(')\nEOF\npython f.py", "CREATE f.py | RUN f.py"),
    ("cat >> f.py <<EOF\nx\nEOF", "EDIT f.py"),
    ("cat <<'EOF' > f.py\n# it's\nEOF", "CREATE f.py"),
    ("tee f.py <<'EOF'\nx\nEOF", "CREATE f.py"),
    ("cat <<'EOF' | tee f.py\nx\nEOF", "CREATE f.py"),
    ("echo 'x = 1' > f.py", "CREATE f.py"),
    ("echo 'x = 1' >> f.py", "EDIT f.py"),
    ("printf 'a\\n' > f && printf 'b\\n' >> f", "CREATE f | EDIT f"),
    ("> empty.txt", "CREATE empty.txt"),
    ("cp a.py b.py", "CREATE b.py"),
    ("mv a.py lib/", "CREATE lib/a.py | DELETE a.py"),
    ("git mv a.py b.py", "CREATE b.py | DELETE a.py"),
    ("git rm a.py", "DELETE a.py"),
    ("rm -rf build dist", "DELETE build | DELETE dist"),
    ("find . -name '*.pyc' -delete", "DELETE *.pyc @ ."),
    ("mkdir -p src/x && touch src/x/__init__.py", "CREATE src/x/ | CREATE src/x/__init__.py"),
    ("chmod +x run.sh", "EDIT run.sh"),
    ("patch -p1 <<'EOF'\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-a\n+b\nEOF", "EDIT src/a.py"),
    ("git apply <<'EOF'\n--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+b\nEOF", "CREATE n.py"),
    (
        f"apply_patch <<'EOF'\n{PATCH}EOF",
        "EDIT src/a.py | CREATE n.py | DELETE o.py",
    ),
    ("python3 - <<'PY'\np='src/a.py'\ns=open(p).read()\nopen(p,'w').write(s.replace('a','b'))\nPY", "EDIT src/a.py"),
    ("python -c \"open('out.txt', 'w').write('x')\"", "CREATE out.txt"),
    ("pytest > log.txt 2>&1", "TEST pytest"),
]  # fmt: skip

RUNNING = [
    ("python -m pytest -q", "TEST pytest"),
    ("pytest", "TEST pytest"),
    ("pytest -xvs tests/test_a.py::TestA::test_b", "TEST tests/test_a.py::TestA::test_b"),
    ("python -W ignore -m pytest /testbed/tests/test_a.py -k 'foo and bar'", "TEST tests/test_a.py -k foo and bar"),
    ("uv run pytest tests -n 4 2>&1 | tail -5", "TEST tests"),
    ("poetry run python -m pytest tests", "TEST tests"),
    ("timeout 60 pytest tests || true", "TEST tests"),
    ("PYTHONPATH=. pytest tests", "TEST tests"),
    ("coverage run -m pytest tests", "TEST tests"),
    ("python -m unittest tests.test_a -v", "TEST tests.test_a"),
    ("./tests/runtests.py --settings=x admin.tests", "TEST tests/runtests.py admin.tests"),
    ("python tests/runtests.py admin.tests", "TEST tests/runtests.py admin.tests"),
    ("python manage.py test app", "TEST manage.py test app"),
    ("bin/test sympy/core/tests/test_a.py", "TEST bin/test sympy/core/tests/test_a.py"),
    ("tox -e py39", "TEST tox py39"),
    ("npm test", "TEST npm test"),
    ("npm run test:unit", "TEST npm run test:unit"),
    ("pnpm vitest run src/a.test.ts", "TEST src/a.test.ts"),
    ("Invoke-Pester -Path scripts/tests -PassThru -Output None", "TEST Invoke-Pester scripts/tests"),
    ("npx jest a.test.js", "TEST a.test.js"),
    ("cargo test foo", "TEST cargo test foo"),
    ("go test ./pkg/... -run TestX", "TEST go test pkg/... -run TestX"),
    ("make test", "TEST make test"),
    ("mypy src", "BUILD mypy src"),
    ("npx tsc --noEmit", "BUILD tsc"),
    ("ruff check . --fix", "BUILD ruff check"),
    ("npm run build", "BUILD npm run build"),
    ("cargo build --release", "BUILD cargo build"),
    ("make", "BUILD make"),
    ("docker build -t x .", "BUILD docker build"),
    ("pip install -e '.[dev]' 'numpy<2' -r requirements.txt", "INSTALL .[dev] | INSTALL numpy | INSTALL requirements.txt"),
    ("python -m pip install Django==4.2", "INSTALL django"),
    ("sudo apt-get update && sudo apt-get install -y vim", "INSTALL apt-get | INSTALL vim"),
    ("npm ci", "INSTALL npm"),
    ("yarn add left-pad@1.0 @types/node@20", "INSTALL left-pad | INSTALL @types/node"),
    ("uv pip install foo", "INSTALL foo"),
    ("uv sync", "INSTALL uv"),
    ("pip uninstall -y foo", "INSTALL -foo"),
    ("git status", "VCS status"),
    ("git -C /testbed --no-pager diff HEAD~1 -- a.py", "VCS diff"),
    ("git stash && git stash pop", "VCS stash | VCS stash pop"),
    ("git commit -m 'a; b && c'", "VCS commit"),
    ("git commit -m \"$(cat <<'EOF'\nit's (done)\nEOF\n)\"", "VCS commit"),
    ("gh pr create --title x", "VCS gh pr create"),
    ("python repro.py", "RUN repro.py"),
    ("/testbed/.venv/bin/python /testbed/repro.py --x", "RUN repro.py"),
    ("node script.js", "RUN script.js"),
    ("./run.sh --fast", "RUN run.sh"),
    ("bash scripts/run.sh", "RUN scripts/run.sh"),
    ("sleep 5", "RUN sleep 5"),
    ("docker run --rm image", "RUN docker run image"),
    ("echo hello", "NOTE echo"),
    ("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "SUBMIT"),
    ("submit", "SUBMIT"),
]  # fmt: skip

SHAPES = [
    ("cd src && cat a.py", "READ src/a.py"),
    ("cd /testbed; ls; cd src; ls", "SEARCH . | SEARCH src"),
    ("(cd src && ls); ls", "SEARCH src | SEARCH ."),
    ("cd src && cat a.py && cd - && cat b.py", "READ src/a.py | READ b.py"),
    ("bash -lc 'cd src && ls'; ls", "SEARCH src | SEARCH ."),
    ("sudo -E env A=1 timeout 5 bash -c \"pytest tests\"", "TEST tests"),
    ("eval 'ls src'", "SEARCH src"),
    ("for f in a.py b.py; do cat $f; done", "READ a.py | READ b.py"),
    ("for f in $(ls src); do python $f; done", "SEARCH src | RUN $f"),
    ("for f in a b\ndo\n  rm \"$f\"\ndone", "DELETE a | DELETE b"),
    ("while ! test -f x; do sleep 1; done", "RUN sleep 1"),
    ("if grep -q x f; then rm f; else echo no; fi", "SEARCH x @ f | DELETE f"),
    ("[ -f a ] && cat a || echo none", "READ a"),
    ("[[ -f a && -d b ]] && cat a", "READ a"),
    ("case $x in a) ls src;; b|c) pwd;; *) ;; esac; git status", "SEARCH src | READ env:pwd | VCS status"),
    ("run() { pytest tests; }; run", "TEST tests | RUN run"),
    ("P=src; cat $P/a.py ${P}/b.py", "READ src/a.py | READ src/b.py"),
    ("cat src/{a,b}.py", "READ src/a.py | READ src/b.py"),
    ("ls # the files", "SEARCH ."),
    ("# only a comment", ""),
    ("cat a \\\n  b", "READ a | READ b"),
    ("ls;;", "SEARCH ."),
    ("a=(1 2); ls", "SEARCH ."),
    ("(( i++ )); ls", "SEARCH ."),
    ("export A=1; source venv/bin/activate; python x.py", "RUN x.py"),
    ("cd packages/a && npm test", "TEST npm test @ packages/a"),
    ("cd tests && pytest test_a.py", "TEST tests/test_a.py"),
    ("cd src", ""),
    ("true", ""),
    ("echo --- ; ls; echo --- ; pwd", "SEARCH . | READ env:pwd"),
    ("pytest & sleep 1; kill %1", "TEST pytest | RUN sleep 1 | RUN kill %1"),
    ("ls |& tee log.txt", "SEARCH . | CREATE log.txt"),
    ("echo 'unclosed", "OTHER"),
]  # fmt: skip


def actions_of(*commands: str, agent: str = "chat", tool: str = "bash") -> list[str]:
    canonicalizer = Canonicalizer("/testbed", agent)
    return [
        key(action)
        for number, command in enumerate(commands)
        for action in canonicalizer.actions(
            ToolCall(call_id=str(number), tool=tool, action="run", command=command, arguments={"command": command})
        )
    ]


@pytest.mark.parametrize(("command", "expected"), LOOKING + CHANGING + RUNNING + SHAPES)
def test_a_command_comes_to_its_actions(command: str, expected: str) -> None:
    assert " | ".join(actions_of(command)) == expected


def test_the_table_is_long() -> None:
    assert len(LOOKING + CHANGING + RUNNING + SHAPES) >= 150


def test_a_shell_that_lives_on_stays_where_it_was_left() -> None:
    assert actions_of("cd src", "cat a.py", "cd ..", "cat a.py") == ["READ src/a.py", "READ a.py"]


def test_a_shell_that_begins_anew_does_not() -> None:
    assert actions_of("cd src && ls", "cat a.py", agent="mini_swe_agent") == ["SEARCH src", "READ a.py"]


def test_the_editor_of_swe_agent_knows_its_open_file() -> None:
    assert actions_of(
        "open src/a.py 100", "edit 3:4\n    return \"it's\"\nend_of_edit", "scroll_down", "goto 250",
        "search_file foo", "search_dir foo src", "find_file a.py", "create new.py", "edit 1:1\nx\nend_of_edit",
    ) == [
        "READ src/a.py[0:150]", "EDIT src/a.py", "READ src/a.py", "READ src/a.py[150:300]", "SEARCH foo @ src/a.py",
        "SEARCH foo @ src", "SEARCH a.py @ .", "CREATE new.py", "EDIT new.py",
    ]  # fmt: skip


def test_a_file_that_was_there_is_edited_not_created() -> None:
    assert actions_of("cat > a.py <<'E'\nx\nE", "cat > a.py <<'E'\ny\nE", "rm a.py", "echo z > a.py") == [
        "CREATE a.py", "EDIT a.py", "DELETE a.py", "CREATE a.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("Get-Content C:\\w\\a.txt | Select-Object -First 5", ["READ a.txt"]),
        ("Set-Location sub; Get-ChildItem", ["SEARCH sub"]),
        ("$x = 'a'; git status; Remove-Item b.txt -Force", ["VCS status", "DELETE b.txt"]),
        ("'x' | Set-Content -Path a.txt; 'y' | Out-File a.txt -Append", ["CREATE a.txt", "EDIT a.txt"]),
        ("Select-String -Pattern foo -Path a.txt", ["SEARCH foo @ a.txt"]),
    ],
)
def test_powershell_has_its_own_quotes(command: str, expected: list[str]) -> None:
    call = ToolCall(call_id="1", tool="powershell", action="run", command=command, cwd="C:\\w")
    assert [key(action) for action in Canonicalizer("C:\\w").actions(call)] == expected


def test_two_ways_to_say_it_have_one_key_at_every_level() -> None:
    canonicalizer = Canonicalizer("/testbed")
    said = [
        canonicalizer.actions(ToolCall(call_id="1", tool="bash", action="run", command=command))[-1]
        for command in (
            "cd /testbed && python -m pytest -x -q tests/a.py",
            "pytest -q -x /testbed/tests/a.py | tail -3",
        )
    ]
    assert key(said[0], 2) == key(said[1], 2)
    assert key(said[0], 0) == "TEST"
