"""What a cut knows: the task as it had been told by then."""

from __future__ import annotations

from passdown.data.prefix import cut


def test_a_task_that_is_told_after_the_cut_is_not_known_at_it(script):
    run = script().asks("hi").says("Hello.").asks("Add a function `slug` to src/slug.py.").runs("cat src/slug.py")
    made = run.trajectory()
    assert made.task_text == "Add a function `slug` to src/slug.py."
    assert cut(made, 2).task_text == "hi"
    assert cut(made, 3).task_text == made.task_text


def test_a_task_that_no_message_tells_is_known_from_the_beginning(script):
    from msgspec.structs import replace

    made = replace(script().asks("hi").runs("ls").trajectory(), task_text="Mend `slug`.")
    assert cut(made, 1).task_text == "Mend `slug`."


def test_each_cut_tells_which_message_is_its_task(script):
    from passdown.data.views.shared import Shared
    from passdown.data.views.trace import text_of

    run = (
        script().asks("hi").says("Hello.").asks("Add a function `slug` to src/slug.py.").runs("ls", "src").trajectory()
    )
    shared = Shared(run.root)
    early, late = text_of(cut(run, 2), shared), text_of(cut(run, 4), shared)
    assert early.count("(the task, as it stands above)") == late.count("(the task, as it stands above)") == 1
    assert "[0 | user | message]\nhi\n" in late


def test_what_a_harness_glues_to_a_result_is_taken_off(script):
    told = "     1\tx = 1\n\n<system-reminder>\nDo not do this.\n</system-reminder>\n\n<system-reminder>\nNor that.\n</system-reminder>\n"
    quoted = "<system-reminder>\nquoted in a file\n</system-reminder>\ny = 2"
    run = script().asks("Look.").runs("cat a.py", told).runs("cat b.py", quoted).trajectory()
    texts = [event.text for step in run.steps for event in step.events if event.__class__.__name__ == "ToolResult"]
    assert texts == ["     1\tx = 1", quoted]
