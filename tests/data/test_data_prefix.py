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
