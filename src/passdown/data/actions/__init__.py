"""What an agent did, in canonical form: shell texts and tool calls as atomic actions, their keys, their file edits."""
