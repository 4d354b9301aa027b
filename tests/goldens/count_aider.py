"""Count the runs of an Aider chat history a second way: standard library only, regular expressions over each run.

Written from the format's description and on purpose without looking at passdown's own reader.
Run `python tests/goldens/count_aider.py FILE` to print the counts.
"""

import json
import re
import sys
from pathlib import Path

HEADING = re.compile(r"^# aider chat started at (\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)$", re.MULTILINE)
TYPED = re.compile(r"(?:^#### ?.*  \n)+", re.MULTILINE)
TOKENS = re.compile(
    r"^> Tokens: ([\d.,]+[kM]?) sent(?:, ([\d.,]+[kM]?) cache write)?(?:, ([\d.,]+[kM]?) (?:cache hit|cached))?"
    r", ([\d.,]+[kM]?) received",
    re.MULTILINE,
)
PUT_IN = ("# Fix any errors below", "I ran this command")
FENCES = ("```", "<source>", "</source>")
REQUESTS = ("ask", "code", "architect", "context", "help", "chat-mode")


def number(text):
    if not text:
        return 0
    scale = {"k": 1000, "M": 1000000}.get(text[-1], 1)
    return round(float(text.rstrip("kM").replace(",", "")) * scale)


def runs(path):
    text = Path(path).read_text("utf-8", "replace")
    found = list(HEADING.finditer(text))
    for match, after in zip(found, [*found[1:], None], strict=True):
        year, month, day, hour, minute, second = match.groups()
        yield f"aider-{year}{month}{day}-{hour}{minute}{second}", text[match.end() : after.start() if after else None]


def requests(run):
    """What a person typed, without commands, and without the echo that follows a request made by a command."""
    human, echo = 0, ""
    for match in TYPED.finditer(run):
        text = "\n".join(line[4:].strip() for line in match.group().splitlines()).strip()
        command = re.match(r"/([a-z-]+)\s*(.*)\Z", text, re.DOTALL)
        if command or text.startswith(("!", *PUT_IN)):
            echo = command.group(2).strip() if command and command.group(1) in REQUESTS else ""
            continue
        human += text != echo and text not in ("", "<blank>")
        echo = ""
    return human


def edits(run):
    """Blocks that were written to their end, whole files that were edited, and how many blocks did not fit."""
    lines, whole, broken, paths, failed = run.split("\n"), 0, 0, set(), 0
    inside, place = False, ""
    extra = 0
    for at, line in enumerate(lines):
        ends = line.startswith(("> Tokens: ", "> ^C")) or (line.startswith(("> ", "#### ")) and line.endswith("  "))
        if inside and re.match(r">{5,9} REPLACE\s*$", line):
            whole, inside = whole + 1, False
        elif inside and ends:
            broken, inside = broken + 1, False
        elif not inside and re.match(r"<{5,9} SEARCH", line):
            inside = True
            above = [text for text in lines[max(0, at - 4) : at] if text.strip() and not text.startswith(FENCES)]
            place = above[-1].strip().strip("`*:#").strip() if above else place
            paths.add(place)
        if line.startswith("> Applied edit to ") and line[18:].strip() not in paths:
            extra += 1
        failed += "NoExactMatch: This SEARCH block failed" in line and line.startswith("> ")
    return whole + broken + (1 if inside else 0) + extra, failed + broken + (1 if inside else 0)


def count_run(run):
    calls, failures = edits(run)
    spent = [[number(text) for text in match.groups()] for match in TOKENS.finditer(run)]
    models = re.findall(r"^> (?:Main model|Models?): (\S+) with ", run, re.MULTILINE)
    if "--test-cmd" in run and "> Attempt to fix test errors?" in run:
        failed_tests = run.count("> Attempt to fix test errors?")
        calls, failures = calls + failed_tests, failures + failed_tests
    if "--test-cmd" in run:  # what passed is asked nothing about: the summary is the last thing before a person speaks
        for part in re.split(r"^#### .*  $", run, flags=re.MULTILINE):
            last = part.rstrip().rsplit("\n", 1)[-1].strip()
            calls += re.match(r"=+ \d+ passed\b.* in [\d.]+s =+$", last) is not None and "failed" not in last
    if "> Run shell command" in run:
        calls += len(re.findall(r"^> Running \S", run.split("> Run shell command", 1)[1], re.MULTILINE))
    return {
        "human_messages": requests(run),
        "tool_calls": calls,
        "failures": failures,
        "responses": len(spent),
        "tokens_input": sum(max(0, sent - written) for sent, written, _, _ in spent),
        "tokens_cache_read": sum(read for _, _, read, _ in spent),
        "tokens_cache_write": sum(written for _, written, _, _ in spent),
        "tokens_output": sum(output for _, _, _, output in spent),
        "compactions": 0,
        "models": sorted(set(models)) if spent else [],
        "subagents": 0,
    }


def count(path, names=()):
    return {name: count_run(run) for name, run in runs(path) if not names or name in names}


if __name__ == "__main__":
    print(json.dumps(count(sys.argv[1], sys.argv[2:]), indent=1))
