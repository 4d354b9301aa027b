"""Codex's messages: who said it, and once only."""

from __future__ import annotations

from codex_rows import Events, Row, event, meta, of, prompt, said

from passdown.model.session import AssistantMessage, Unknown, UserMessage


def test_a_prompt_is_counted_once_and_only_prompts_are(events: Events) -> None:
    found = events(
        meta(),
        said("developer", "<permissions instructions>…"),
        said("user", "# AGENTS.md instructions for /w"),
        said("user", "A text that some version puts in"),
        *prompt("Do it."),
        said("user", "<skill>\n<name>x</name></skill>"),
        said("assistant", "Done."),
        event("user_message", message="And this?", images=["data:…"], local_images=[]),
        said("user", "And this?"),
        said("assistant", "Yes."),
        said("user", "<user_shell_command>\nls\n</user_shell_command>"),
        event("entered_review_mode", target={"type": "uncommittedChanges"}, user_facing_hint="current changes"),
    )
    assert [(one.origin, one.text[:9]) for one in of(found, UserMessage)] == [
        ("injected", "<permissi"), ("injected", "# AGENTS."), ("injected", "A text th"), ("human", "Do it."),
        ("injected", "<skill>\n<"), ("human", "And this?"), ("shell", "<user_she"), ("command", "current c"),
    ]  # fmt: skip
    assert of(found, UserMessage)[5].images == 1
    assert [one.text for one in of(found, AssistantMessage)] == ["Done.", "Yes."]


def test_hooks_and_the_harness_are_told_by_their_marks(events: Events) -> None:
    def marked(role: str, text: str, kind: str) -> Row:
        one = said(role, text)
        one["payload"]["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": [kind]}
        return one

    done = {"type": "UserMessage", "id": "u", "content": [{"type": "text", "text": "Fix it."}]}
    found = events(
        meta(history_mode="paginated"),
        marked("user", "whatever", "environments.environment_context"),
        marked("user", "Fix it.", "user.text"),
        event("item_completed", item=done),
        marked("developer", "from a hook", "hooks.additional_context"),
        event("item_completed", item={"type": "AgentMessage", "id": "a", "content": [{"type": "Text", "text": "Ok."}]}),
        said("assistant", "Ok."),
    )
    assert [one.origin for one in of(found, UserMessage)] == ["injected", "human", "hook"]
    assert len(of(found, AssistantMessage)) == 1


def test_messages_of_paginated_history_stand_in_items_alone(events: Events) -> None:
    def done(number: int, kind: str, text: str) -> Row:
        item = {"type": kind, "id": f"i{number}", "content": [{"type": "text", "text": text}]}
        return event("item_completed", item=item, thread_id="t", turn_id="u") | {"ordinal": number}

    found = events(
        meta(history_mode="paginated") | {"ordinal": 0},
        done(1, "UserMessage", "Fix it."),
        done(2, "AgentMessage", "Fixed."),
        done(3, "UserMessage", "Thanks, now the tests."),
        done(4, "AgentMessage", "They pass."),
    )
    assert [(one.origin, one.text) for one in of(found, UserMessage)] == [
        ("human", "Fix it."), ("human", "Thanks, now the tests."),
    ]  # fmt: skip
    assert [one.text for one in of(found, AssistantMessage)] == ["Fixed.", "They pass."]
    assert not of(found, Unknown)


def test_answers_that_stand_in_events_only_are_read(events: Events) -> None:
    found = events(
        meta(), *prompt("Hello"), event("agent_message", message="One."), event("agent_message", message="Two.")
    )
    assert [one.text for one in of(found, AssistantMessage)] == ["One.", "Two."]


def test_an_editors_context_is_not_the_persons_words(events: Events) -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix a.py\n"
    assert of(events(meta(), *prompt(text)), UserMessage)[0].text == "Fix a.py"
    text = "\n# Review findings:\n\n## Finding 1 (a.py:1) [added]\n[P1] Bad\n\n## My request for Codex:\nCommit it\n"
    assert of(events(meta(), *prompt(text)), UserMessage)[0].text == "Commit it"


def test_an_answers_event_before_a_prompt_and_its_item(events: Events) -> None:
    found = events(meta(), event("agent_message", message="A"), said("user", "Hm"), said("assistant", "A"))
    assert [one.text for one in found if isinstance(one, UserMessage | AssistantMessage)] == ["Hm", "A"]
