"""Writers: what a model may say is held against the evidence, and an endpoint is asked with care."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from msgspec import structs

from passdown.data.engine.shards import Row, written
from passdown.data.engine.stages import cuts_in
from passdown.data.engine.viewing import writing_views
from passdown.data.prefix import cut
from passdown.data.records import Cut, Cuts, Graph, Point, Reject, Trajectory
from passdown.data.views.endpoint import KEY, URL, EndpointError, ModelWriter, model_writer
from passdown.data.views.material import material_of
from passdown.data.views.preamble import parts
from passdown.data.views.summary import request_for
from passdown.data.views.table import build_view
from passdown.data.views.writers import Request, WriterError, problems
from passdown.errors import UsageError

GOOD = "- Asked: make the bucket refill.\n- src/bucket.py was edited.\n- The test still fails, so cap the refill next."


class Says:
    """A writer with answers of its own, which keeps what it was asked."""

    name = "model:scripted"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> str:
        self.asked.append(request)
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("text", "changed", "validation", "wrong"),
    [
        (GOOD, ("a.py",), "failed", ""),
        ("No changes have been made so far, look at the parser first.", ("a.py",), "none", "nothing was changed"),
        ("No changes have been made so far, look at the parser first.", (), "none", ""),
        ("The agent has not yet changed any files of the project.", ("a.py",), "none", "nothing was changed"),
        ("Done.", ("a.py",), "passed", "bare word"),
        ("", (), "none", "bare word"),
        ("Notes on the work so far follow here.\nStatus: complete", ("a.py",), "failed", "calls the work done"),
        ("Notes on the work so far follow here.\nStatus: complete", ("a.py",), "passed", ""),
        ("The edit is made and all tests pass now, submit it.", ("a.py",), "failed", "all tests pass"),
        ("The edit is made and all tests pass now, submit it.", ("a.py",), "passed", ""),
        ("The edit is made but the tests still fail with an error.", ("a.py",), "passed", "tests fail"),
        ("word " * 501, (), "none", "more than 500"),
    ],
)
def test_contradictions_are_found(text: str, changed: tuple[str, ...], validation: str, wrong: str) -> None:
    found = problems(text, Request(instructions="", evidence="", changed_files=changed, validation=validation))
    assert (wrong in " ".join(found)) if wrong else not found


def edited(rich: Trajectory) -> int:
    """Return the cut behind the first failed test after an edit."""
    runs = [s.idx for s in rich.steps for e in s.events if "-q tests/test_bucket.py" in getattr(e, "command", "")]
    return runs[1] + 1


def test_a_writer_s_text_is_the_summary_and_the_view_says_whose_it_is(rich: Trajectory) -> None:
    writer = Says(GOOD)
    view = build_view("summary", cut(rich, edited(rich)), writer=writer)
    assert parts(view.text).notes == GOOD
    assert view.writer == "model:scripted"
    assert [fact.key for fact in view.facts if fact.type == "file_changed"] == ["src/bucket.py"]
    assert writer.asked[0].changed_files == ("src/bucket.py",)
    assert writer.asked[0].validation == "failed"


def test_a_contradiction_is_sent_back_once_with_what_was_wrong(rich: Trajectory) -> None:
    writer = Says("No changes have been made so far by anybody.", GOOD)
    view = build_view("summary", cut(rich, edited(rich)), writer=writer)
    assert parts(view.text).notes == GOOD
    assert "files were: src/bucket.py" in writer.asked[1].instructions


def test_a_writer_that_insists_gives_no_view(rich: Trajectory) -> None:
    writer = Says("Done.", "All done!")
    with pytest.raises(WriterError, match="bare word"):
        build_view("summary", cut(rich, edited(rich)), writer=writer)
    assert writer.answers == []


def test_a_writer_is_given_the_last_events_cut_short_and_nothing_later(rich: Trajectory) -> None:
    request = request_for(material_of(cut(rich, edited(rich))))
    assert "1 failed, 3 passed" in request.evidence
    assert "elapsed" not in request.evidence
    assert max(map(len, request.evidence.split("\n\n["))) < 1400


class Endpoint(ThreadingHTTPServer):
    """An endpoint on this machine that answers as it is told, and writes down what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies: list[tuple[int, bytes, dict[str, str]]] = []
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.answer: Callable[[str], tuple[int, str]] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def says(self, text: str, code: int = 200) -> None:
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()
        self.replies.append((code, body, {}))


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers), body))
        if self.server.answer is not None:
            code, text = self.server.answer(json.dumps(body))
            self.server.says(text, code)
        code, data, headers = self.server.replies.pop(0)
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any, **more: Any) -> None:
        return None


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A running endpoint."""
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


REQUEST = Request(instructions="Write notes.", evidence="[1 | agent | action]\nls")


def test_a_model_is_asked_as_openai_s_api_has_it(endpoint: Endpoint) -> None:
    endpoint.says(GOOD)
    writer = model_writer("small", {URL: endpoint.url, KEY: "k-1"})
    assert writer(REQUEST) == GOOD
    path, headers, body = endpoint.seen[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer k-1"
    assert body["model"] == "small"
    assert body["temperature"] == 0
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", "Write notes."), ("user", "[1 | agent | action]\nls"),
    ]  # fmt: skip


def test_a_busy_endpoint_is_asked_again_and_a_refusal_is_not(endpoint: Endpoint) -> None:
    endpoint.says("", 503)
    endpoint.says("", 429)
    endpoint.says(GOOD)
    writer = ModelWriter("small", base_url=endpoint.url, pause=0.001)
    assert writer(REQUEST) == GOOD
    endpoint.says("", 401)
    with pytest.raises(WriterError, match="HTTP 401"):
        writer(REQUEST)
    assert len(endpoint.seen) == 4
    endpoint.replies = [(500, b"", {})] * 4
    with pytest.raises(WriterError, match="HTTP 500"):
        writer(REQUEST)


def test_the_key_is_not_carried_to_another_host(endpoint: Endpoint) -> None:
    endpoint.replies.append((302, b"", {"Location": "http://127.0.0.1:9/v1/chat/completions"}))
    writer = ModelWriter("small", base_url=endpoint.url, key="k-1", pause=0.001)
    with pytest.raises(WriterError, match="HTTP 302"):
        writer(REQUEST)


@pytest.mark.parametrize("data", [b"no json", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": 1}}]}'])
def test_an_answer_that_is_none_is_refused(endpoint: Endpoint, data: bytes) -> None:
    endpoint.replies.append((200, data, {}))
    with pytest.raises(WriterError, match="no chat completion"):
        ModelWriter("small", base_url=endpoint.url, tries=1)(REQUEST)


def test_an_answer_too_long_to_be_one_is_refused(endpoint: Endpoint) -> None:
    endpoint.says("x" * (1 << 20))
    with pytest.raises(WriterError, match="no chat completion"):
        ModelWriter("small", base_url=endpoint.url, tries=1)(REQUEST)


def test_nobody_there_is_a_writer_s_error() -> None:
    with pytest.raises(WriterError, match="did not answer"):
        ModelWriter("small", base_url="http://127.0.0.1:9/v1", tries=2, pause=0.001)(REQUEST)


@pytest.mark.parametrize(
    "url",
    ["http://example.com/v1", "ftp://127.0.0.1/v1", "https://me:pw@example.com/v1", "https://", "x", "https://[/v1"],
)
def test_an_unsafe_url_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        ModelWriter("small", base_url=url)


def test_no_endpoint_is_assumed() -> None:
    with pytest.raises(UsageError, match="no endpoint is named"):
        model_writer("small", {})


def cuts_of(trajectory: Trajectory, *ks: int) -> Row:
    at = tuple(Cut(point=Point(trajectory_id=trajectory.trajectory_id, k=k, kind="mid")) for k in ks)
    cuts = Cuts(trajectory=trajectory, graph=Graph(), cuts=at)
    return Row(id="a", trajectory_id=trajectory.trajectory_id, record=msgspec.json.encode(cuts))


def written_by(row: Row) -> list[list[tuple[str, str]]]:
    return [[(view.name, view.writer) for view in cut.views] for cut in cuts_in(row).cuts]


def test_a_text_that_is_refused_or_does_not_hold_costs_its_cut_the_summary_and_no_more(
    endpoint: Endpoint, rich: Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, endpoint.url)
    work = writing_views(["repo", "summary"], None, git_status=False, model="small")
    for code, text in ((403, ""), (200, "yes"), (200, GOOD), (200, "Done."), (200, "Done.")):
        endpoint.says(text, code)
    first, second, kept = list(work([cuts_of(rich, 2, edited(rich), edited(rich) + 1)]))
    assert isinstance(first, Reject)
    assert isinstance(second, Reject)
    assert isinstance(kept, Row)
    assert (first.reason, "HTTP 403" in first.detail) == ("summary.endpoint", True)
    assert (second.reason, "bare word" in second.detail) == ("summary.contradicts", True)
    assert written_by(kept) == [[("repo", "")], [("repo", ""), ("summary", "model:small")], [("repo", "")]]
    assert "yes" in endpoint.seen[1][2]["messages"][0]["content"]


def test_a_key_that_was_withdrawn_stops_the_work(
    endpoint: Endpoint, rich: Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, endpoint.url)
    work = writing_views(["repo", "summary"], None, git_status=False, model="small")
    endpoint.says("", 401)
    endpoint.says("", 401)
    with pytest.raises(EndpointError, match="HTTP 401"):
        list(work([cuts_of(rich, 2)]))


def test_a_server_that_asks_to_be_left_alone_is_for_so_long(endpoint: Endpoint) -> None:
    endpoint.replies.append((429, b"", {"Retry-After": "1"}))
    endpoint.says(GOOD)
    began = time.monotonic()
    assert ModelWriter("small", base_url=endpoint.url, pause=0.001)(REQUEST) == GOOD
    assert time.monotonic() - began >= 1


def test_one_that_is_gone_is_not_waited_for_at_every_cut(endpoint: Endpoint) -> None:
    writer = ModelWriter("small", base_url=endpoint.url, tries=3, pause=0.001)
    endpoint.replies = [(503, b"", {})] * 11
    for _ in range(5):
        with pytest.raises(EndpointError, match="HTTP 503"):
            writer(REQUEST)
    assert len(endpoint.seen) == 3 * 3 + 2
    endpoint.says(GOOD)
    assert writer(REQUEST) == GOOD
    endpoint.replies = [(503, b"", {})] * 2
    endpoint.says(GOOD)
    assert writer(REQUEST) == GOOD  # and it is trusted again


def test_an_answer_that_breaks_off_is_asked_for_again(endpoint: Endpoint) -> None:
    endpoint.replies.append((200, b"{", {"Content-Length": "500", "Connection": "close"}))
    endpoint.says(GOOD)
    assert ModelWriter("small", base_url=endpoint.url, pause=0.001)(REQUEST) == GOOD


class Run(NamedTuple):
    """A working folder with three shards of cuts, one run each."""

    folder: Path

    def views(self, url: str, *more: str) -> subprocess.CompletedProcess[bytes]:
        """Run the command in two processes, each of which asks for the first time."""
        words = ["data", "views", str(self.folder), "--model", "small", "--workers", "2", "--json", *more]
        environ = {**os.environ, URL: url}
        return subprocess.run([sys.executable, "-m", "passdown", *words], env=environ, capture_output=True, check=False)


@pytest.fixture
def run(rich: Trajectory, tmp_path: Path) -> Run:
    for number in range(3):
        with written(tmp_path / f"points/part-{number:05}.parquet") as writer:
            writer.write(cuts_of(structs.replace(rich, task_text=f"Task {number}."), edited(rich)))
    return Run(tmp_path)


def test_what_fails_at_first_in_a_new_process_is_counted_and_the_run_goes_on(run: Run, endpoint: Endpoint) -> None:
    endpoint.answer = lambda asked: (200, GOOD) if "Task 2." in asked or "the word yes" in asked else (400, "")
    done = run.views(endpoint.url)
    assert (done.returncode, done.stderr) == (0, b"")
    told = json.loads(done.stdout)["steps"]["views"]
    assert (told["rows"], told["rejected"]) == (3, {"summary.endpoint": 2})
    asked = [body["messages"][0]["content"] for _, _, body in endpoint.seen]
    assert asked.count("Answer with the word yes.") == 3  # before the work, and after each refusal
    endpoint.answer = lambda _: (401, "")
    again = run.views(endpoint.url)
    assert (json.loads(again.stdout)["steps"]["views"]["kept"], len(endpoint.seen)) == (3, len(asked))
    endpoint.answer = lambda _: (200, GOOD)
    told = json.loads(run.views(endpoint.url, "--again").stdout)["steps"]["views"]
    assert (told["made"], told["kept"], told["rejected"]) == (2, 1, {})


@pytest.mark.parametrize("code", [401, 404])
def test_wrong_settings_stop_a_run_before_it_begins(run: Run, endpoint: Endpoint, code: int) -> None:
    endpoint.answer = lambda _: (code, "")
    done = run.views(endpoint.url)
    assert (done.returncode, len(endpoint.seen), list((run.folder / "views").glob("part-*"))) == (1, 1, [])
    assert f"did not answer: HTTP {code}".encode() in done.stderr
    assert f"Look at {URL}".encode() in done.stderr


def test_a_host_that_nobody_reaches_stops_a_run_before_it_begins(run: Run) -> None:
    done = run.views("http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert b"127.0.0.1:9: the writer model:small did not answer" in done.stderr
