"""What a session costs, out of its canonical events: totals, growth, model switches, how full its context is."""
