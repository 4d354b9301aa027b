"""Reviews: how their comments come into a run, and what they say."""
