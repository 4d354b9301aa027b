"""The phrases of scripted agents, by what they are said for. A phrase is chosen by the run's seed."""

WORDS: dict[str, tuple[str, ...]] = {
    "look": (
        "I'll look at the repository first.",
        "Let me see what is here.",
        "Starting with an overview of the files.",
        "First, the layout of the project.",
    ),
    "readme": ("The README may say how this is meant to work.", "Reading the README.", "What does the README promise?"),
    "read": (
        "Reading {path}.",
        "Now {path}, which this is about.",
        "Let me open {path}.",
        "{path} is where I expect the cause.",
    ),
    "baseline": (
        "Before I change anything: do the tests pass as it stands?",
        "A baseline run of the tests.",
        "Let me see which tests fail now.",
    ),
    "plan": ("Keeping a list of what is to do.", "I'll track the parts of this.", "Updating the list."),
    "edit": (
        "Making the change: {what}.",
        "This is the place for it. {what}.",
        "Next: {what}.",
        "Editing now ({what}).",
    ),
    "test": ("Running the tests.", "Let me check that.", "Do the tests still pass?", "Tests again."),
    "grep": ("Where is {word} used?", "Searching for {word}.", "Let me find every place with {word}."),
    "diff": ("A last look at the whole change.", "Reviewing the diff.", "What have I changed in all?"),
    "commit": ("Committing this.", "Tests are as expected, so I commit.", "Putting it into a commit."),
    "done": (
        "All of it is done: {what}. The tests have been run.",
        "Finished. Done were: {what}.",
        "That is everything that was asked: {what}.",
    ),
    "hasty": (
        "That should do it: {what}.",
        "Done, I think; these are simple changes: {what}.",
        "All fixed. I did not run the tests, but the changes are small: {what}.",
    ),
    "wrong": (
        "I suspect that the problem is in {path}.",
        "This looks as if {path} were to blame.",
        "My guess is {path}; let me change that.",
    ),
    "revert": (
        "That was the wrong place: nothing has changed for the better. Taking it back.",
        "No effect, so I was wrong about that file. Reverting.",
        "Not the cause. I restore the file.",
    ),
    "again": ("Still the same. Let me run it again.", "Odd. Once more.", "Hm, trying that again.", "Same result?"),
    "stop": (
        "I have to stop here. Still open: {what}.",
        "Out of time. What is left: {what}.",
        "I leave it at this for now; {what} is not done.",
    ),
    "broke": (
        "While at it I tidy up {path}, which looks odd.",
        "This part of {path} can be simpler.",
        "{path} has a line I would rather write in another way.",
    ),
    "repair": (
        "That broke what worked before, so it was there for a reason. Putting it back.",
        "A regression of my own making: I undo that part.",
        "My tidying was wrong. Restoring the line as it was.",
    ),
    "resume": (
        "I take over. First: what is the state of the tree?",
        "Continuing somebody's work, so I check what is there.",
        "Let me see how far this has got.",
    ),
    "wonder": (
        "I want to understand {path} before I touch anything.",
        "What else depends on this? {path} next.",
        "{path} may matter as well.",
        "Let me also go through {path}.",
    ),
    "past": ("How did this come about?", "The history may tell why it is so.", "What was changed last?"),
    "blame": ("When did {path} change?", "The past of {path}.", "Who touched {path}, and why?"),
    "answer": ("You are right. I mend it: {what}.", "Fair point. Next: {what}.", "I see. Doing it again: {what}."),
    "claim": ("Done: {what}. Please have a look.", "Ready for review: {what}.", "That is my first version of: {what}."),
    "check": ("Is this part done already?", "Comparing {path} with what is asked.", "What does {path} look like now?"),
}
