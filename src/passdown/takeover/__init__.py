"""The reader's side: judge a packet against this repository, and make the brief for the successor."""
