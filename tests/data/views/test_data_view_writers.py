"""Writers: what a model may say is held against the evidence, and an endpoint is asked with care."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest

from passdown.data.engine.shards import Row
from passdown.data.engine.stages import cuts_in
from passdown.data.engine.viewing import writing_views
from passdown.data.prefix import cut
from passdown.data.records import Cut, Cuts, Graph, Point, Reject, Trajectory
from passdown.data.views.endpoint import KEY, URL, ModelWriter, model_writer
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
        code, data, headers = self.server.replies.pop(0)
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
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
    endpoint.replies = [(500, b"", {})] * 3
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
        ModelWriter("small", base_url=endpoint.url)(REQUEST)


def test_an_answer_too_long_to_be_one_is_refused(endpoint: Endpoint) -> None:
    endpoint.says("x" * (1 << 20))
    with pytest.raises(WriterError, match="no chat completion"):
        ModelWriter("small", base_url=endpoint.url)(REQUEST)


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


def test_a_model_that_fails_costs_a_cut_its_summary_and_one_that_never_answered_the_run(
    endpoint: Endpoint, rich: Trajectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URL, endpoint.url)
    at = tuple(Cut(point=Point(trajectory_id=rich.trajectory_id, k=k, kind="mid")) for k in (2, edited(rich)))
    cuts = Cuts(trajectory=rich, graph=Graph(), cuts=at)
    row = Row(id="a", trajectory_id=rich.trajectory_id, record=msgspec.json.encode(cuts))
    work = writing_views(["repo", "summary"], None, git_status=False, model="small")
    endpoint.says("", 401)
    with pytest.raises(WriterError, match="HTTP 401"):
        list(work([row]))
    endpoint.says(GOOD)
    endpoint.says("", 401)
    lost, kept = list(work([row]))
    assert isinstance(lost, Reject)
    assert (lost.reason, "HTTP 401" in lost.detail) == ("the model wrote no summary", True)
    assert isinstance(kept, Row)
    written = [[(view.name, view.writer) for view in cut.views] for cut in cuts_in(kept).cuts]
    assert written == [[("repo", ""), ("summary", "model:small")], [("repo", "")]]
