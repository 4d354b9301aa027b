"""Small repositories of our own with tasks, hidden tests, and scripted agents that really work on them."""
