"""The index of all sessions: what was said and run in them, findable at once. Derived; deleting it loses nothing."""
