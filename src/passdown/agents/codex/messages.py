"""Rows that somebody said something with."""

from __future__ import annotations

from passdown.agents.codex import events as ev
from passdown.agents.codex import items as it
from passdown.agents.codex.prompts import folder_of, images_of, origin_of, parts_of
from passdown.agents.codex.state import Events, State
from passdown.model.session import AnyEvent, AssistantMessage, UserMessage


def message(state: State, item: it.Message) -> Events:
    """A message of any role."""
    parts = parts_of(item)
    text = parts[0] if len(parts) == 1 else "\n".join(parts)
    if item.role == "assistant":
        state.compacted = False
        events = state.dialogue.agent_item()
        if text:
            place = state.place
            said = AssistantMessage(
                text=text, model=state.model, at=place.at(), offset=place.offset, line=place.line,
                active=place.active, copied=place.copied,
            )  # fmt: skip
            events.append(said)
        return events
    origin = origin_of(item, text)
    if origin is not None:
        given: list[AnyEvent] = [UserMessage(text=text, origin=origin, **state.place.stamp())]
        if not state.cwd and text.startswith("<environment_context>"):
            given += state.moved(folder_of(text))
        return given
    prompt = UserMessage(text="".join(parts), origin=state.asker(), images=images_of(item), **state.place.stamp())
    if (prompt.text or prompt.images) and not state.dialogue.user_item(prompt):
        state.ignored["response_item/message (repeat)"] += 1
    return ()


def user_said(state: State, event: ev.UserSaid) -> Events:
    """The event of a prompt."""
    if event.kind in ("user_instructions", "environment_context"):
        state.ignored["event_msg/user_message (injected)"] += 1
        return ()
    images = len(event.images or ()) + len(event.local_images or ())
    return _prompt(state, event.message, images)


def _prompt(state: State, text: str, images: int) -> Events:
    return state.dialogue.user_event(UserMessage(text=text, origin=state.asker(), images=images, **state.place.stamp()))


def agent_said(state: State, event: ev.AgentSaid) -> Events:
    """The event of an answer."""
    state.ignored["event_msg/agent_message"] += 1
    if state.dialogue.items:
        return state.dialogue.settle() if state.dialogue.waiting else ()
    return state.dialogue.agent_event(AssistantMessage(text=event.message, model=state.model, **state.place.stamp()))


def reasoning(state: State, item: it.Reasoning) -> Events:
    """Thinking, when any of it can be read."""
    events = state.went_on()
    texts = [part.text for part in item.summary or () if part.text]
    if not texts and item.content:
        texts = [part.text for part in item.content if part.text]
    if texts:
        text = "\n\n".join(texts)
        events.append(AssistantMessage(text=text, model=state.model, reasoning=True, **state.place.stamp()))
    else:
        state.ignored["response_item/reasoning"] += 1
    return events


def letter(state: State, item: it.AgentLetter) -> Events:
    """A message between agents: the task of a subagent, or its report."""
    text = "\n".join(part.text for part in item.content or () if part.text)
    if not text:
        state.ignored["response_item/agent_message"] += 1
        return ()
    return [UserMessage(text=text, origin="subagent" if state.subagent else "injected", **state.place.stamp())]


def review(state: State, event: ev.ReviewStarted) -> Events:
    """A review somebody asked for with a slash command."""
    return [UserMessage(text=event.hint or event.prompt or "", origin="command", **state.place.stamp())]


def item_user(state: State, item: ev.Item) -> Events:
    """The item of a prompt, in paginated history."""
    content = item.content or []
    images = sum("image" in part.type.lower() for part in content)
    text = "".join(part.text or "" for part in content)
    return _prompt(state, text, images) if text or images else ()


def item_agent(state: State, item: ev.Item) -> Events:
    """The item of an answer, in paginated history."""
    return agent_said(state, ev.AgentSaid(message="".join(part.text or "" for part in item.content or ())))
